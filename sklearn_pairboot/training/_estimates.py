"""From replicates of all fits to the estimates of every target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import optimize, stats

from sklearn_pairboot._engine.components import (
    Components,
    MeanSquares,
    bootstrap_covariance,
    crossed_weights,
    jackknife_covariance,
)
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.exact import count_vectors
from sklearn_pairboot._engine.intervals import alpha_of, interval
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._engine.sample import LARGEST_COUNT, Sample
from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._tables import MetricInfo, too_few_units
from sklearn_pairboot.training.result import MethodEstimate, TargetEstimate, VarianceShare

_MOST_CROSSED = 2_000_000
_NOISE = 1e-12
_SHARE_DRAWS = 9_999
# Streams of random numbers beside those of the blocks of resamples, which have a key of one number.
_STREAM_OF_FITS, _STREAM_OF_SHARES = (1, 0), (1, 1)


@dataclass(frozen=True)
class Fits:
    """The fits of all methods, paired: fit k of every method has one training set and seed.

    ``columns`` has shape (n_models, n_fits) and says which column of the kernels holds a fit:
    methods without randomness have one for several seeds. ``set_of_fit`` numbers training sets;
    seeds alone are each a set of their own. ``sources`` names what sets are, and what fits of a
    set are.
    """

    columns: IntArray
    set_of_fit: IntArray
    sources: tuple[str, ...]
    resampled: bool = False


@dataclass(frozen=True)
class _Values:
    """Values of one method or difference: of every fit observed, in resamples, and jackknifed."""

    observed: FloatArray
    replicates: FloatArray
    covariance: FloatArray
    scale: float


@dataclass(frozen=True)
class Estimator:
    """Estimates everything about the methods from the joint distribution of their fits."""

    distribution: BootstrapDistribution
    metrics: Sequence[MetricInfo]
    models: tuple[str, ...]
    baseline: str
    fits: Fits
    unit: str
    confidence_level: float
    correction: str | None
    entropy: int

    def scores(self) -> tuple[MethodEstimate, ...]:
        """Estimate the score of every method in every metric."""
        return tuple(
            self._estimate(number, metric, model, None)
            for number, metric in enumerate(self.metrics)
            for model in range(len(self.models))
        )

    def differences(self) -> tuple[MethodEstimate, ...]:
        """Estimate the differences from the baseline, p-values adjusted within each metric."""
        other = self.models.index(self.baseline)
        found: list[MethodEstimate] = []
        for number, metric in enumerate(self.metrics):
            rows = [
                self._estimate(number, metric, model, other)
                for model in range(len(self.models))
                if model != other
            ]
            adjusted = adjust([row.average.p_value for row in rows], self.correction).tolist()
            for row, p_adjusted in zip(rows, adjusted, strict=True):
                verdict = self._verdict(row, p_adjusted)
                found.append(replace(row, p_adjusted=p_adjusted, verdict=verdict))
        return tuple(found)

    def _verdict(self, row: MethodEstimate, p_adjusted: float) -> str:
        alpha = alpha_of(self.confidence_level)
        if too_few_units(self.distribution.n_units, alpha) or not p_adjusted <= alpha:
            return "inconclusive"
        return "better" if (row.estimate > 0) == row.greater_is_better else "worse"

    def _estimate(
        self, number: int, metric: MetricInfo, model: int, other: int | None
    ) -> MethodEstimate:
        values = self._values(number, model, other)
        set_of_fit = self.fits.set_of_fit
        sizes = np.bincount(set_of_fit)
        weights = 1 / (len(sizes) * sizes[set_of_fit])
        estimate = float(weights @ values.observed)
        squares = MeanSquares.of(
            values.observed,
            values.covariance,
            set_of_fit,
            self.distribution.n_units,
            values.scale,
        )
        components = Components(squares, self.fits.resampled)
        targets = {
            "average": self._average(estimate, components),
            "one_model": self._pooled(values, estimate),
            "crossed": self._crossed(values, estimate),
            "test_rows_only": self._read(values, values.replicates @ weights, estimate),
        }
        if other is None:  # nobody asks whether a score is zero
            targets = {key: replace(found, p_value=math.nan) for key, found in targets.items()}
        return MethodEstimate(
            metric=metric.name,
            model=self.models[model],
            baseline=None if other is None else self.models[other],
            estimate=estimate,
            greater_is_better=metric.greater_is_better,
            **targets,
            variances=self._variances(components),
            p_adjusted=math.nan,
            verdict="",
            n_undefined=self._n_undefined(number, model, other),
            components=components,
        )

    def _values(self, number: int, model: int, other: int | None) -> _Values:
        drawn, columns = self.distribution, self.fits.columns[model]
        observed = drawn.observed[number, columns]
        others = None if other is None else self.fits.columns[other]
        if others is None:
            undefined = drawn.undefined[:, number, columns]
            replicates = np.where(undefined, np.nan, drawn.replicates[:, number, columns])
            scale = float(np.abs(observed).max())
        else:
            pairs = list(zip(columns.tolist(), others.tolist(), strict=True))
            observed = np.array([drawn.difference_estimate(number, a, b) for a, b in pairs])
            of_pairs = [drawn.difference_values(number, a, b) for a, b in pairs]
            replicates = np.column_stack([values for values, _ in of_pairs])
            scale = max(scale for _, scale in of_pairs)
        return _Values(
            observed, replicates, self._covariance(number, columns, others, replicates), scale
        )

    def _covariance(
        self, number: int, columns: IntArray, others: IntArray | None, replicates: FloatArray
    ) -> FloatArray:
        """Covariance over test units: exact for means, and free of Monte Carlo error elsewhere.

        Metrics that have to be called on rows have no such jackknife, and take the replicates.
        """
        if self.distribution.kernels[number].path != "replay":
            jackknife = self.distribution.jackknife(number)
            if jackknife is not None and not jackknife.grouped:
                left = jackknife.values[:, columns]
                if others is not None:
                    left = left - jackknife.values[:, others]
                if not np.isnan(left).any():
                    return jackknife_covariance(left)
        multiplicities = self.distribution.multiplicities
        return bootstrap_covariance(replicates, self.distribution.n_units, multiplicities)

    def _average(self, estimate: float, components: Components) -> TargetEstimate:
        std_error, df = components.std_error(), components.degrees_of_freedom()
        name = "variance components"
        if std_error == 0:
            p_value = 1.0 if estimate == 0 else math.nan
            return TargetEstimate(0.0, estimate, estimate, p_value, name)
        if components.adds_differences:
            return self._pivotal(estimate, components)
        margin = float(stats.t.isf((1 - self.confidence_level) / 2, df)) * std_error
        p_value = float(2 * stats.t.sf(abs(estimate) / std_error, df))
        return TargetEstimate(std_error, estimate - margin, estimate + margin, p_value, name, df)

    def _pivotal(self, estimate: float, components: Components) -> TargetEstimate:
        """Mix normal laws over what the mean squares allow the variance to be."""
        std_error = components.std_error()
        generator = self._generator(_STREAM_OF_SHARES)
        drawn = components.draw_contributions(generator, _SHARE_DRAWS).sum(axis=1)
        spreads = np.sqrt(np.maximum(drawn, np.finfo(np.float64).tiny)) / std_error

        def tails(size: float) -> float:
            return float(2 * stats.norm.sf(size / spreads).mean())

        alpha = 1 - self.confidence_level
        # Beyond the limit of the widest law the mixture has less than alpha in its tails.
        most = 1.01 * float(stats.norm.isf(alpha / 2) * spreads.max())
        margin = std_error * float(optimize.brentq(lambda size: tails(size) - alpha, 0.0, most))
        return TargetEstimate(
            std_error,
            estimate - margin,
            estimate + margin,
            tails(abs(estimate) / std_error),
            "generalized pivot",
        )

    def _pooled(self, values: _Values, estimate: float) -> TargetEstimate:
        """Mixture over fits: every resample of rows with every fit."""
        n_fits = len(values.observed)
        many = self.distribution.multiplicities
        many = None if many is None else np.repeat(many, n_fits)
        return self._read(values, values.replicates.ravel(), estimate, many, "pooled")

    def _crossed(self, values: _Values, estimate: float) -> TargetEstimate:
        """Training sets, seeds within them, and test units all drawn with replacement."""
        name, replicates = "crossed bootstrap", values.replicates
        of_units = self.distribution.multiplicities
        if of_units is None:
            generator = self._generator(_STREAM_OF_FITS)
            weights = crossed_weights(self.fits.set_of_fit, generator, len(replicates))
            crossed = np.einsum("bf,bf->b", replicates, weights)
            return self._read(values, crossed, estimate, None, name)
        n_fits = len(values.observed)
        drawn = count_vectors(np.ones(n_fits, dtype=np.int64), None)
        of_fits = drawn.multiplicities
        if len(of_fits) * len(of_units) > _MOST_CROSSED:
            raise ValueError(
                "`n_resamples` must be an integer for these data, got 'exact'. Fits and units "
                f"together have {len(of_fits) * len(of_units):,} different resamples, and "
                f"{_MOST_CROSSED:,} are the most that are enumerated."
            )
        if of_units.dtype.kind == "i" and self._is_countable(n_fits**n_fits):
            many = np.multiply.outer(of_units, of_fits)
        else:
            many = np.multiply.outer(of_units / of_units.sum(), of_fits / of_fits.sum())
        crossed = replicates @ (drawn.counts / n_fits).T
        return self._read(values, crossed.ravel(), estimate, many.ravel(), name)

    def _is_countable(self, n_sequences_of_fits: int) -> bool:
        return self.distribution.n_sequences * n_sequences_of_fits <= LARGEST_COUNT

    def _read(
        self,
        values: _Values,
        replicates: FloatArray,
        estimate: float,
        multiplicities: Any = None,
        variant: str = "test rows only",
    ) -> TargetEstimate:
        """Read a percentile interval off replicates."""
        # What differs from zero or from the estimate by rounding decides tails.
        for value in (estimate, 0.0):
            near = np.abs(replicates - value) <= _NOISE * values.scale
            replicates = np.where(near, value, replicates)
        if self.distribution.multiplicities is None:
            sample = Sample.from_replicates(replicates, scale=values.scale)
            least_p = 2 / (len(values.replicates) + 1)
        else:
            many = self.distribution.multiplicities if multiplicities is None else multiplicities
            sample = Sample.from_exact(replicates, many, scale=values.scale)
            least_p = 0.0
        found = interval(
            sample, estimate, method="percentile", confidence_level=self.confidence_level
        )
        # Pooled values are more than resamples of rows, but know no smaller probabilities.
        p_value = max(found.p_value, least_p)
        return TargetEstimate(found.std_error, found.low, found.high, p_value, variant)

    def _variances(self, components: Components) -> tuple[VarianceShare, ...]:
        contributions = components.contributions()
        total = float(contributions.sum())
        generator = self._generator(_STREAM_OF_SHARES)
        drawn = components.draw_contributions(generator, _SHARE_DRAWS)
        totals = drawn.sum(axis=1, keepdims=True)
        tail = (1 - self.confidence_level) / 2
        if total > 0:
            shares = drawn / np.where(totals > 0, totals, 1.0)
            low, high = np.quantile(shares, [tail, 1 - tail], axis=0).tolist()
        else:
            low = high = [math.nan] * len(contributions)
        n_units = self.distribution.n_units
        sets, *seeds = self.fits.sources
        units = f"test {self.unit}"
        names = [sets, units, f"{sets} x {units}"]
        names += [name for seed in seeds for name in (seed, f"{seed} x {units}")]
        shown = [sets, *seeds, units]
        variances = [
            value * (n_units if units in name else 1)
            for name, value in zip(names, components.values.tolist(), strict=True)
        ]
        found = [
            VarianceShare(name, variance, part, part / total if total > 0 else math.nan, *ends)
            for name, variance, part, *ends in zip(
                names, variances, contributions.tolist(), low, high, strict=True
            )
        ]
        return tuple(sorted(found, key=lambda part: (shown + names).index(part.source)))

    def _n_undefined(self, number: int, model: int, other: int | None) -> int:
        used = [model] if other is None else [model, other]
        columns = self.fits.columns[used].ravel()
        lost = np.any(self.distribution.undefined[:, number, columns], axis=1)
        return int(np.count_nonzero(lost))

    def _generator(self, stream: tuple[int, int]) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=stream))
