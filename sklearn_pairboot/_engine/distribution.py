"""The joint bootstrap distribution: all models and metrics on the same weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.blas import one_blas_thread
from sklearn_pairboot._engine.degenerate import chance_variance, without_excess
from sklearn_pairboot._engine.design import Design, MeanSquares, correlation_of
from sklearn_pairboot._engine.influence import Draws, jackknife_variance, of_contrast
from sklearn_pairboot._engine.intervals import acceleration
from sklearn_pairboot._engine.inversion import Basis, Expansion
from sklearn_pairboot._engine.rank_shares import rank_shares
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    Kernel,
    LeaveOneOut,
    Weights,
)

# Differences this small relative to the scale of the metric are rounding: they decide tails.
_NOISE = 1e-12
# Share of resamples without a standard error beyond which there is no studentised interval.
_MOST_WITHOUT_ERROR = 0.05

# Gives the kernel of a metric with every row its own unit, and the cluster of each row, if known.
RowKernels = Callable[[int], tuple[Kernel, IntArray] | None]


@dataclass
class BootstrapDistribution:
    """Replicates of every metric and model, and what was observed.

    ``replicates`` and the masks have shape (n_replicates, n_metrics, n_models). In the exact mode
    ``multiplicities`` says how many of the ``n_sequences`` equally likely sequences of units each
    replicate stands for. ``scales`` holds the largest absolute item score of metrics that are
    means, NaN for others. Models are drawn together, or ``independent`` of each other. Some laws of
    weights have no jackknife, which leaves out one unit. ``part_designs`` are those of metrics in
    subgroups.
    """

    observed: FloatArray
    replicates: FloatArray
    undefined: BoolArray
    zero_division: BoolArray
    n_units: int
    n_sequences: int
    multiplicities: NDArray[Any] | None = None
    scales: FloatArray = field(default_factory=lambda: np.empty(0))
    stratum: NDArray[np.int64] | None = None
    messages: tuple[tuple[int, str, int], ...] = ()
    kernels: tuple[Kernel, ...] = ()
    jackknives: dict[int, LeaveOneOut] = field(default_factory=dict)
    has_jackknife: bool = True
    independent: bool = False
    design: Design | None = None
    part_designs: dict[int, Design] = field(default_factory=dict)
    draws: Draws | None = None
    row_kernels: RowKernels | None = None
    kept_variances: dict[int, FloatArray | None] = field(default_factory=dict)
    kept_squares: dict[int, MeanSquares | None] = field(default_factory=dict)
    resampled_variances: dict[int, FloatArray | None] = field(default_factory=dict)
    kept_chance: dict[int, FloatArray | None] = field(default_factory=dict)

    @property
    def is_joint(self) -> bool:
        """Whether there are replicates of all models at once."""
        return True

    @property
    def has_counts(self) -> bool:
        """Whether shares of the replicates are counts of independent resamples."""
        return True

    def design_of(self, metric: int | None = None) -> Design | None:
        """Give the units of a metric: those of its subgroup, or all, if that is known."""
        return self.design if metric is None else self.part_designs.get(metric, self.design)

    def expansion_of(self, metric: int | None = None) -> Expansion | None:
        """Tell how far percentiles are to be moved out for so few units, if that is known."""
        design = self.design_of(metric)
        return None if design is None else design.expansion

    def __getstate__(self) -> dict[str, Any]:
        """Leave kernels that call user code out of pickles, and what can be had again."""
        for metric in range(self.observed.shape[0]):
            self.mean_squares(metric)
            self.chance_variance(metric)
        state = {**self.__dict__, "row_kernels": None, "resampled_variances": {}}
        replayed = any(kernel.path == "replay" for kernel in self.kernels)
        return {**state, "kernels": (), "draws": None} if replayed else state

    def only(self, chosen: BoolArray) -> BootstrapDistribution:
        """Return what some of the random resamples say."""
        return replace(
            self,
            replicates=self.replicates[chosen],
            undefined=self.undefined[chosen],
            zero_division=self.zero_division[chosen],
            n_sequences=int(np.count_nonzero(chosen)),
            draws=None,
            resampled_variances={
                metric: None if of_all is None else of_all[chosen]
                for metric, of_all in self.resampled_variances.items()
            },
        )

    def model_sample(self, metric: int, model: int) -> Sample:
        """Replicates of one model's value."""
        return self._sample(*self.model_values(metric, model), n_models=1)

    def model_values(self, metric: int, model: int) -> tuple[FloatArray, float]:
        """Values of a model in all resamples, NaN where undefined, and the scale of rounding."""
        values = self.replicates[:, metric, model].copy()
        values[self.undefined[:, metric, model]] = np.nan
        estimate = float(self.observed[metric, model])
        scale = self._scale(metric, np.abs(values), abs(estimate))
        values = np.where(np.abs(values - estimate) <= _NOISE * scale, estimate, values)
        return values, float(np.nanmax(scale, initial=0.0))

    def difference_estimate(
        self, metric: int, model: int, baseline: int, factor: float = 1.0
    ) -> float:
        """Observed value of a model less ``factor`` times that of the baseline."""
        a, b = self.observed[metric, model], factor * self.observed[metric, baseline]
        scale = float(self._scale(metric, max(abs(a), abs(b)), 0.0))
        return 0.0 if abs(a - b) <= _NOISE * scale else float(a - b)

    def difference_values(
        self, metric: int, model: int, baseline: int, factor: float = 1.0
    ) -> tuple[FloatArray, float]:
        """Differences in all resamples, NaN where undefined in either, and the scale of rounding.

        What rounding alone keeps from zero or from the estimate is set to it. Differences of
        debiased squares get their spread: see `without_excess`.
        """
        a, b = self.replicates[:, metric, model], factor * self.replicates[:, metric, baseline]
        lost = self.undefined[:, metric, model] | self.undefined[:, metric, baseline]
        values = np.where(lost, np.nan, a - b)
        chance = self.chance_variance(metric)
        if chance is not None:
            own = of_contrast(chance, model, baseline, factor)
            values = without_excess(values, own, self.multiplicities)
        scale = self._scale(metric, np.fmax(np.abs(a), np.abs(b)), 0.0)
        estimate = self.difference_estimate(metric, model, baseline, factor)
        values = np.where(np.abs(values - estimate) <= _NOISE * scale, estimate, values)
        values = np.where(np.abs(values) <= _NOISE * scale, 0.0, values)
        return values, float(np.nanmax(scale, initial=0.0))

    def difference_sample(
        self, metric: int, model: int, baseline: int, factor: float = 1.0
    ) -> Sample:
        """Replicates of a difference, defined where both models are; rounding is removed."""
        values, scale = self.difference_values(metric, model, baseline, factor)
        return self._sample(values, scale, n_models=2)

    def ranks(self, metric: int, greater_is_better: bool) -> tuple[FloatArray, int]:
        """Share of resamples in which each model has each rank, and how many were left out."""
        values = np.where(self.undefined[:, metric], np.nan, self.replicates[:, metric])
        noise = _NOISE * self._scale(metric, np.abs(values).max(axis=1), 0.0)
        found = rank_shares(values if greater_is_better else -values, noise, self.multiplicities)
        return found.shares, self._count(np.any(np.isnan(values), axis=1))

    def acceleration(
        self, metric: int, model: int, baseline: int | None = None, factor: float = 1.0
    ) -> float | None:
        """Acceleration of a model's value or of a difference; ``None`` without a jackknife."""
        jackknife = self.jackknife(metric)
        if jackknife is None:
            return None
        values = jackknife.values[:, model]
        if baseline is not None and self.independent:
            # Units of two samples are left out in turn, as if these were two strata.
            others = -factor * jackknife.values[:, baseline]
            return acceleration(*_one_after_the_other(values, others, self.stratum))
        scale = float(np.nanmax(np.abs(values), initial=0.0))
        if baseline is not None:
            others = factor * jackknife.values[:, baseline]
            scale = max(scale, float(np.nanmax(np.abs(others), initial=0.0)))
            values = values - others
        if not np.isnan(values).any() and np.ptp(values) <= _NOISE * scale:
            return 0.0
        stratum = jackknife.stratum if jackknife.grouped else self.stratum
        return acceleration(values, stratum)

    def basis(
        self, method: str, metric: int, model: int, baseline: int | None = None, factor: float = 1.0
    ) -> Basis:
        """Give what an interval method needs beside the replicates of a value or a difference.

        BCa, ``"t"`` and ``"studentized"`` need units of which one can be left out, and ``"t"`` and
        ``"expanded"`` their number: resampling plans without them are told apart here.
        """
        if method == "bca":
            return Basis(acceleration=self.acceleration(metric, model, baseline, factor))
        if method == "expanded":
            return Basis(expansion=self.expansion_of(metric))
        if method not in ("t", "studentized"):
            return Basis()
        if self.independent and baseline is not None:
            return Basis(obstacle="the models were drawn apart")
        variance = self.variance(metric)
        if variance is None:
            return Basis()
        std_error = math.sqrt(max(float(of_contrast(variance, model, baseline, factor)), 0.0))
        basis = Basis(std_error=std_error)
        if method == "t":
            return basis._replace(df=self._df(metric, model, baseline, factor))
        return self._with_pivots(basis, metric, model, baseline, factor)

    def variance(self, metric: int) -> FloatArray | None:
        """Variance matrix of the models' values by influence, else by the jackknife."""
        if metric not in self.kept_variances and self.draws is not None:
            with one_blas_thread():
                found = self.draws.observed_variance(metric)
            if found is None and (jackknife := self.jackknife(metric)) is not None:
                stratum = jackknife.stratum if jackknife.grouped else self.stratum
                found = jackknife_variance(jackknife, stratum)
            self.kept_variances[metric] = found
        return self.kept_variances.get(metric)

    def chance_variance(self, metric: int) -> FloatArray | None:
        """Variance matrices of squared chance, for debiased squares of units drawn as a whole."""
        if metric not in self.kept_chance and self.kernels:
            plain = self.has_jackknife and not self.independent
            with one_blas_thread():
                kernel = self.kernels[metric]
                self.kept_chance[metric] = chance_variance(kernel, self.stratum) if plain else None
        return self.kept_chance.get(metric)

    def mean_squares(self, metric: int) -> MeanSquares | None:
        """Analysis of variance of the rows' influence, needed for clusters of different sizes."""
        if metric not in self.kept_squares and self.row_kernels is not None:
            self.kept_squares[metric] = None
            if (of_rows := self.row_kernels(metric)) is not None:
                kernel, cluster = of_rows
                influence = kernel.influence(Weights(np.ones((1, len(cluster)), dtype=np.uint8)))
                if influence is not None:
                    self.kept_squares[metric] = MeanSquares.of(influence[0].T, cluster)
        return self.kept_squares.get(metric)

    def _df(self, metric: int, model: int, baseline: int | None, factor: float) -> float:
        """Degrees of freedom of the standard error, at most those of the jackknife's groups.

        Where the influence of single rows is not known, rows of a cluster count as alike.
        """
        design = self.design_of(metric)
        if design is None:
            return math.inf
        correlation, squares = 1.0, self.mean_squares(metric)
        if squares is not None:
            between, within = (
                float(of_contrast(part, model, baseline, factor))
                for part in (squares.between, squares.within)
            )
            ratio = between / within if within > 0 else math.inf
            correlation = correlation_of(ratio, squares.size)
        most = self.df_most(metric)
        return min(design.df(correlation), math.inf if most is None else most)

    def df_most(self, metric: int) -> int | None:
        """Degrees of freedom of a jackknife that leaves out groups; ``None`` without groups."""
        replayed = bool(self.kernels) and self.kernels[metric].path == "replay"
        jackknife = self.jackknife(metric) if replayed else None
        if jackknife is None or not jackknife.grouped:
            return None
        return len(jackknife.values) - (
            1 if jackknife.stratum is None else len(np.unique(jackknife.stratum))
        )

    def _with_pivots(
        self, basis: Basis, metric: int, model: int, baseline: int | None, factor: float
    ) -> Basis:
        """Add the replicates of "estimate - standard error x studentised deviation"."""
        if metric not in self.resampled_variances and self.draws is not None:
            with one_blas_thread():
                self.resampled_variances[metric] = self.draws.variances(metric)
        resampled = self.resampled_variances.get(metric)
        if resampled is None:
            return basis._replace(
                obstacle="a scorer that is called on rows tells no standard error of a resample"
            )
        if baseline is None:
            values, scale = self.model_values(metric, model)
            estimate = float(self.observed[metric, model])
        else:
            values, scale = self.difference_values(metric, model, baseline, factor)
            estimate = self.difference_estimate(metric, model, baseline, factor)
        squares = of_contrast(resampled, model, baseline, factor)
        # What rounding leaves of resamples whose units are all alike is no standard error.
        usable = np.isfinite(squares) & (squares > (_NOISE * scale) ** 2)
        lost = ~np.isnan(values) & ~usable
        errors = np.sqrt(np.where(usable, squares, np.nan))
        n_lost, n_defined = self._count(lost), self._count(~np.isnan(values))
        if n_lost > _MOST_WITHOUT_ERROR * n_defined:
            return basis._replace(
                obstacle=f"the standard error is zero or undefined in {n_lost / n_defined:.0%} of "
                "the resamples"
            )
        pivots = estimate - float(basis.std_error or 0.0) * ((values - estimate) / errors)
        pivots = np.where(np.abs(pivots) <= _NOISE * scale, 0.0, pivots)
        remark = (
            f"{n_lost} resamples whose standard error is zero or undefined are left out"
            if n_lost
            else ""
        )
        n_models = 1 if baseline is None else 2
        return basis._replace(pivots=self._sample(pivots, scale, n_models=n_models), remark=remark)

    def jackknife(self, metric: int) -> LeaveOneOut | None:
        """Leave-one-unit-out values of a metric, computed once and kept."""
        if self.has_jackknife and metric not in self.jackknives and self.kernels:
            self.jackknives[metric] = self.kernels[metric].leave_one_out()
        return self.jackknives.get(metric)

    def n_undefined(self, metric: int, *models: int) -> int:
        """Count the resamples (exact mode: sequences) in which some of the values is undefined."""
        return self._count(np.any(self.undefined[:, metric, models], axis=1))

    def n_zero_division(self, metric: int, model: int) -> int:
        """Count the resamples (exact mode: sequences) in which 0/0 got its convention."""
        return self._count(self.zero_division[:, metric, model])

    def _count(self, mask: BoolArray) -> int:
        if self.multiplicities is None:
            return int(np.count_nonzero(mask))
        if self.multiplicities.dtype.kind == "f":
            # The number of sequences may be beyond float64.
            return round(Fraction(float(self.multiplicities[mask].sum())) * self.n_sequences)
        return int(self.multiplicities[mask].sum())

    def _scale(self, metric: int, values: Any, least: float) -> Any:
        fixed = self.scales[metric] if len(self.scales) else np.nan
        return np.fmax(values, least) if np.isnan(fixed) else np.fmax(values * 0.0, fixed)

    def _sample(self, values: FloatArray, scale: float, *, n_models: int) -> Sample:
        """Make the sample of a statistic of so many models."""
        if self.multiplicities is None:
            return Sample.from_replicates(values, scale=scale)
        sample = Sample.from_exact(values, self.multiplicities, scale=scale)
        counts = sample.multiplicities
        if not self.independent or counts is None or counts.dtype.kind == "f":
            return sample
        # Each sequence of the models in question is there once for every one of all others.
        n_others = self.observed.shape[1] - n_models
        of_one = round(self.n_sequences ** (1 / self.observed.shape[1]))
        return replace(sample, multiplicities=counts // of_one**n_others)


def _one_after_the_other(
    one: FloatArray, other: FloatArray, stratum: NDArray[np.int64] | None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Put two samples one after the other, their strata apart."""
    of_one = np.zeros(len(one), dtype=np.int64) if stratum is None else stratum
    of_other = of_one + int(of_one.max()) + 1
    return np.concatenate([one, other]), np.concatenate([of_one, of_other])


def join_messages(
    blocks: Sequence[Sequence[tuple[int, str, int]]],
) -> tuple[tuple[int, str, int], ...]:
    """Add up the counts of equal messages of equal metrics."""
    counts: dict[tuple[int, str], int] = {}
    for block in blocks:
        for metric, text, count in block:
            counts[metric, text] = counts.get((metric, text), 0) + count
    return tuple((metric, text, count) for (metric, text), count in counts.items())
