"""Exact distributions of means and of their differences, each by itself.

The joint distribution of many rows has too many resamples to be listed. That of one mean, or of
one difference of means, has not: it is that of a sum of independent draws, or of a ratio of two
such sums where the weights of units differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.convolution import (
    MOST_POINTS,
    Draws,
    TooManyPointsError,
    law_of_sum,
)
from sklearn_pairboot._engine.design import Design, MeanSquares
from sklearn_pairboot._engine.distribution import BootstrapDistribution, RowKernels
from sklearn_pairboot._engine.exact import TooManyResamplesError, count_sequences
from sklearn_pairboot._engine.influence import variances
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.lattice import common_step
from sklearn_pairboot._engine.merging import Merged
from sklearn_pairboot._engine.sample import LEAST_TAIL, RELATIVE_TOLERANCE, Sample
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, LeaveOneOut

_NO_STEP = (
    "a convolution needs scores, or sums of them in clusters, that are whole multiples of a common "
    f"step, not below 1/{MOST_POINTS:,} of their range"
)
_NO_WEIGHT = "a convolution needs positive weights of all rows or clusters"
_TWO_RATIOS = (
    "the difference of two models that are drawn apart is found by convolution only where all "
    "rows, or clusters, have the same weight"
)


class NoConvolutionError(ValueError):
    """A distribution that is not found by convolution."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"`n_resamples` must be an integer for these data, got 'exact': {reason}. Pass an "
            "integer such as `n_resamples=9999`."
        )


class DistinctUnits(NamedTuple):
    """How many units are like each distinct one, and in which stratum (numbered from zero)."""

    multiplicity: IntArray
    stratum: IntArray

    @property
    def n_units(self) -> int:
        """Number of units, which is that of the draws."""
        return int(self.multiplicity.sum())


class _Lattice(NamedTuple):
    """Numbers as origin + step x whole numbers."""

    origin: float
    step: float
    numbers: IntArray


@dataclass
class MarginalDistribution(BootstrapDistribution):
    """Exact distribution of every model's mean and of every difference; none that is joint.

    ``terms`` has for each metric an array of shape (n_distinct, 1 + n_models): the weight of each
    distinct unit, and the weighted sum of each model's scores in it.
    """

    terms: tuple[FloatArray, ...] = ()
    distinct: DistinctUnits = DistinctUnits(np.ones(1, np.int64), np.zeros(1, np.int64))

    @property
    def is_joint(self) -> bool:
        """Whether there are replicates of all models at once."""
        return False

    @classmethod
    def of_means(
        cls,
        terms: Sequence[FloatArray],
        distinct: DistinctUnits,
        observed: FloatArray,
        scales: FloatArray,
        *,
        n_sequences: int,
        independent: bool,
        design: Design | None = None,
        row_kernels: RowKernels | None = None,
        kept_squares: dict[int, MeanSquares | None] | None = None,
    ) -> MarginalDistribution:
        """Make it of the units' terms; distributions are found when they are asked for."""
        nowhere = np.zeros((1, *observed.shape), dtype=bool)  # means are defined in all resamples
        return cls(
            observed=observed,
            replicates=np.empty((0, *observed.shape)),
            undefined=nowhere,
            zero_division=nowhere,
            n_units=distinct.n_units,
            n_sequences=n_sequences,
            scales=scales,
            stratum=np.repeat(distinct.stratum, distinct.multiplicity),
            independent=independent,
            design=design,
            row_kernels=None if design is None or design.is_balanced else row_kernels,
            kept_squares=kept_squares or {},
            terms=tuple(terms),
            distinct=distinct,
        )

    def model_sample(self, metric: int, model: int) -> Sample:
        """Give the distribution of one model's value."""
        values = self.terms[metric][:, 1 + model]
        return self._sample_of_sum(metric, [values], float(self.observed[metric, model]))

    def difference_sample(
        self, metric: int, model: int, baseline: int, factor: float = 1.0
    ) -> Sample:
        """Give the distribution of a difference."""
        values = self.terms[metric][:, 1 + model]
        others = -factor * self.terms[metric][:, 1 + baseline]
        estimate = self.difference_estimate(metric, model, baseline, factor)
        drawn = [values, others] if self.independent else [values + others]
        return self._sample_of_sum(metric, drawn, estimate)

    def variance(self, metric: int) -> FloatArray:
        """Variance matrix of the models' means, by the influence of the units."""
        found = self.kept_variances.get(metric)
        if found is None:
            weight, sums = self.terms[metric][:, :1], self.terms[metric][:, 1:]
            multiplicity, stratum = self.distinct
            influence = (sums - self.observed[metric] * weight) / (multiplicity @ weight)
            found = variances(influence.T[np.newaxis], multiplicity[np.newaxis], stratum)[0]
            self.kept_variances[metric] = found
        return found

    def jackknife(self, metric: int) -> LeaveOneOut:
        """Leave-one-unit-out values of a metric."""
        terms, multiplicity = self.terms[metric], self.distinct.multiplicity
        left = multiplicity @ terms - terms
        return LeaveOneOut(np.repeat(left[:, 1:] / left[:, :1], multiplicity, axis=0))

    def check_models(self) -> None:
        """Refuse models whose distribution is not found, before any work."""
        for metric, terms in enumerate(self.terms):
            for values in terms.T[1:]:
                self._on_lattices(metric, [values])

    def _sample_of_sum(self, metric: int, drawn: Sequence[FloatArray], estimate: float) -> Sample:
        """Give the distribution of a sum of means, each with draws of its own."""
        sums, weight = self._on_lattices(metric, drawn)
        numbers = [lattice.numbers[:, None] for lattice in sums]
        is_ratio = bool(np.any(weight.numbers))
        if is_ratio:
            numbers = [np.column_stack([numbers[0], weight.numbers])]
        try:
            law = law_of_sum([part for of_one in numbers for part in self._parts(of_one)])
        except TooManyPointsError as error:
            raise NoConvolutionError(str(error)) from None
        places = np.nonzero(law.weights)
        probabilities = law.weights[places]
        steps = [first + place for first, place in zip(law.lowest, places, strict=True)]
        total = self.n_units * sum(lattice.origin for lattice in sums) + sums[0].step * steps[0]
        drawn_weight = self.n_units * weight.origin
        if is_ratio:
            drawn_weight = drawn_weight + weight.step * steps[1]
        values = total / drawn_weight
        scale = self._scale_of_means(metric)
        noise = RELATIVE_TOLERANCE * scale
        values[np.abs(values - estimate) <= noise] = estimate
        values[np.abs(values) <= noise] = 0.0
        sample = Sample.from_exact(values, probabilities, scale=scale)
        return replace(sample, least_tail=LEAST_TAIL if probabilities.dtype.kind == "f" else 0.0)

    def _on_lattices(
        self, metric: int, drawn: Sequence[FloatArray]
    ) -> tuple[list[_Lattice], _Lattice]:
        """Write sums of scores and weights of the units as whole multiples of their steps."""
        weights = self.terms[metric][:, 0]
        if weights.min() <= 0:
            raise NoConvolutionError(_NO_WEIGHT)
        noise = RELATIVE_TOLERANCE * float(weights.max())
        sums = _in_common_steps(drawn, noise * self._scale_of_means(metric))
        weight = _in_common_steps([weights], noise)
        if sums is None or weight is None:
            raise NoConvolutionError(_NO_STEP)
        if len(drawn) > 1 and np.any(weight[0].numbers):
            raise NoConvolutionError(_TWO_RATIOS)
        return sums, weight[0]

    def _scale_of_means(self, metric: int) -> float:
        terms = self.terms[metric]
        return float(self._scale(metric, np.abs(terms[:, 1:] / terms[:, :1]).max(), 0.0))

    def _parts(self, numbers: IntArray) -> list[Draws]:
        """Draws of each stratum."""
        multiplicity, stratum = self.distinct
        by_stratum = [np.flatnonzero(stratum == number) for number in np.unique(stratum)]
        return [Draws(numbers[of_it], multiplicity[of_it]) for of_it in by_stratum]


def _in_common_steps(several: Sequence[FloatArray], noise: float) -> list[_Lattice] | None:
    """Find the origin of each array and the step that all share; ``None`` where there is none."""
    origins = [float(values.min()) for values in several]
    distances = np.concatenate(
        [values - origin for values, origin in zip(several, origins, strict=True)]
    )
    distances[distances <= noise] = 0.0
    positive = np.unique(distances[distances > 0])
    step: float | None = 1.0
    if positive.size:
        step = common_step(positive, float(positive[-1]) / MOST_POINTS)
    if step is None:
        return None
    numbers = np.rint(distances / step)
    # A mean of draws is then no further off than that either.
    if np.abs(distances - numbers * step).max() > noise / 2:
        return None
    parts = np.split(numbers.astype(np.int64), len(several))
    return [_Lattice(origin, step, of_it) for origin, of_it in zip(origins, parts, strict=True)]


def exact_marginals(
    merged: Merged,
    units: Units,
    observed: FloatArray,
    scales: FloatArray,
    refusal: TooManyResamplesError,
    *,
    independent: bool = False,
    row_kernels: RowKernels | None = None,
) -> MarginalDistribution:
    """Find exact distributions by convolution where there are too many resamples to be listed."""
    terms = []
    for kernel in merged.kernels:
        of_kernel = kernel.mean_terms if isinstance(kernel, SumsKernel) else None
        if of_kernel is None:
            raise refusal.because(
                "beyond that only means over all rows are served, by convolution, not those of "
                "subgroups or averages of test sets"
            )
        terms.append(of_kernel)
    multiplicity = merged.multiplicities(units)
    stratum = merged.stratum
    distinct = DistinctUnits(
        multiplicity, np.zeros_like(multiplicity) if stratum is None else stratum
    )
    draws = np.bincount(distinct.stratum, weights=multiplicity).astype(np.int64)
    # Two models drawn apart have a sequence each.
    n_drawn = 2 if independent and observed.shape[1] > 1 else 1
    distribution = MarginalDistribution.of_means(
        terms,
        distinct,
        observed,
        scales,
        n_sequences=count_sequences(draws.tolist() * n_drawn),
        independent=independent,
        design=Design.of(units),
        row_kernels=row_kernels,
    )
    try:
        distribution.check_models()
    except NoConvolutionError as error:
        raise refusal.because(error.reason) from None
    return distribution
