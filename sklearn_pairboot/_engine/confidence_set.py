"""The model confidence set: which models cannot be told from the best (Hansen et al. 2011)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.sample import RELATIVE_TOLERANCE
from sklearn_pairboot._engine.simultaneous import OrderedMaxima
from sklearn_pairboot._engine.weights import BoolArray, FloatArray


class ConfidenceSet(NamedTuple):
    """P-values of the models, and the order in which they are eliminated.

    ``order`` ends with the model that stays, whose p-value is 1.
    """

    p_values: FloatArray
    order: tuple[int, ...]


def confidence_set(
    distribution: BootstrapDistribution, metric: int, greater_is_better: bool
) -> ConfidenceSet:
    """Eliminate models one by one, with p-values from the joint resamples.

    The statistic is T_R, the largest ``|t_ij|`` over the pairs of models that are left; the model
    with the largest ``t_ij`` against any of them is the next to go. Standard errors are root mean
    squares of the resampled differences about the observed ones. The p-value of a model is the
    largest of all tests up to its own; each counts the observed data as one more resample.

    Identical models have ``t = 0``. A difference that is not zero and does not vary is infinite
    in standard errors.
    """
    pairs = _Pairs(distribution, metric, -1.0 if greater_is_better else 1.0)
    n_models = distribution.observed.shape[1]
    left = list(range(n_models))
    gone: list[tuple[int, float]] = []
    while len(left) > 1:
        of_left = pairs.t[np.ix_(left, left)]
        worst = left[int(np.argmax(of_left.max(axis=1)))]
        gone.append((worst, float(np.max(of_left - pairs.tolerance[np.ix_(left, left)]))))
        left.remove(worst)
    # The tests in reverse: every model that comes back adds its pairs to the largest deviations.
    p_values = np.ones(n_models)
    largest = np.zeros(pairs.n_kept)
    for model, reached in reversed(gone):
        for other in left:
            np.maximum(largest, pairs.deviations(model, other), out=largest)
        p_values[model] = OrderedMaxima(largest, pairs.weights).p_value(reached)
        left.append(model)
    order = [model for model, _ in gone] + left[:1]
    p_values[order] = np.maximum.accumulate(p_values[order])
    return ConfidenceSet(p_values, tuple(order))


class _Pairs:
    """Studentised differences of losses of all pairs of models, in resamples that all share."""

    def __init__(self, distribution: BootstrapDistribution, metric: int, sign: float) -> None:
        self.distribution = distribution
        self.metric = metric
        self.kept: BoolArray = ~np.any(distribution.undefined[:, metric], axis=1)
        counts = distribution.multiplicities
        self.weights = None if counts is None else counts[self.kept]
        n_models = distribution.observed.shape[1]
        self.errors = np.zeros((n_models, n_models))
        self.t = np.zeros((n_models, n_models))
        self.tolerance = np.zeros((n_models, n_models))
        for i in range(n_models):
            for j in range(i):
                self._measure(i, j, sign)

    @property
    def n_kept(self) -> int:
        """Number of replicates in which every model is defined."""
        return int(np.count_nonzero(self.kept))

    def _measure(self, i: int, j: int, sign: float) -> None:
        deviation, scale = self._deviation(i, j)
        error = float(np.sqrt(np.average(deviation**2, weights=self.weights)))
        estimate = self.distribution.difference_estimate(self.metric, i, j)
        if error <= RELATIVE_TOLERANCE * scale:
            t = 0.0 if estimate == 0 else np.copysign(np.inf, sign * estimate)
            tolerance, error = 0.0, 0.0
        else:
            t, tolerance = sign * estimate / error, RELATIVE_TOLERANCE * scale / error
        self.errors[i, j] = self.errors[j, i] = error
        self.t[i, j], self.t[j, i] = t, -t
        self.tolerance[i, j] = self.tolerance[j, i] = tolerance

    def _deviation(self, i: int, j: int) -> tuple[FloatArray, float]:
        values, scale = self.distribution.difference_values(self.metric, i, j)
        estimate = self.distribution.difference_estimate(self.metric, i, j)
        return values[self.kept] - estimate, scale

    def deviations(self, i: int, j: int) -> FloatArray:
        """Absolute studentised deviations of one pair; zero where it does not vary."""
        if self.errors[i, j] == 0:
            return np.zeros(self.n_kept)
        size: FloatArray = np.abs(self._deviation(i, j)[0]) / self.errors[i, j]
        return size
