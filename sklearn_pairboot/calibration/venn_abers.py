"""Venn-Abers calibration: isotonic regression with the new row in both classes in turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot.calibration._base import ScoreCalibrator, check_scores


class VennAbersCalibrator(ScoreCalibrator):
    """Map scores to probabilities that a guarantee comes with.

    A row is added to the calibration rows once as a negative and once as a positive; isotonic
    regression then gives it two probabilities. If rows are exchangeable, the one that belongs to
    the row's true class is perfectly calibrated, whatever the scores. They are close where
    calibration rows are many, and are merged into one. Unlike isotonic regression it never says
    exactly 0 or 1.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Both classes in sorted order; the later one is the positive one.
    n_features_in_ : int
        1.

    See Also
    --------
    IsotonicCalibrator : One isotonic regression, without the new row.

    Notes
    -----
    This is the inductive Venn-Abers predictor [1]_; p0 and p1 are merged into p1 / (1 - p0 + p1),
    which minimises the worst log loss. Weights of calibration rows count them as copies; the new
    row has weight 1.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova (2015). "Large-scale probabilistic predictors with and
       without guarantees of validity". Advances in Neural Information Processing Systems 28.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import VennAbersCalibrator
    >>> calibrator = VennAbersCalibrator().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    >>> calibrator.predict_proba([-3, 3])[:, 1].round(3).tolist()
    [0.25, 0.75]
    >>> calibrator.predict_bounds([3]).round(3).tolist()
    [[0.667, 1.0]]
    """

    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        self._scores, of_row = np.unique(scores, return_inverse=True)
        of_row = of_row.reshape(-1)
        n_all = np.bincount(of_row, weight).astype(np.float64)
        n_positive = np.bincount(of_row, weight * positive).astype(np.float64)
        self._left = _Pools.of(n_all, n_positive)
        # The mirror image: scores from the right, in which negatives count.
        self._right = _Pools.of(n_all[::-1], (n_all - n_positive)[::-1])

    def predict_bounds(self, X: Any) -> NDArray[np.float64]:
        """
        Give both probabilities of the positive class, before they are merged.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The row added as a negative, and as a positive. Their gap says how well calibration
            is known at this score.
        """
        scores, of_row = np.unique(check_scores(X), return_inverse=True)
        starts = np.searchsorted(self._scores, scores, side="left")
        ends = np.searchsorted(self._scores, scores, side="right")
        places, of_score = np.unique(np.column_stack([starts, ends]), axis=0, return_inverse=True)
        bounds = np.array(
            [[self._value(first, last, label) for label in (0, 1)] for first, last in places]
        )
        found: FloatArray = bounds[of_score.reshape(-1)[of_row.reshape(-1)]]
        return found

    def _probability(self, scores: FloatArray) -> FloatArray:
        low, high = self.predict_bounds(scores).T
        merged: FloatArray = high / (1 - low + high)
        return merged

    def _value(self, first: int, last: int, label: int) -> float:
        """Isotonic value of a new row between the scores before `first` and from `last` on."""
        left, right = self._left, self._right
        weight, positive = 1.0, float(label)
        if last > first:  # it ties with a calibration score
            weight += left.weights[last] - left.weights[first]
            positive += left.sums[last] - left.sums[first]
        end, other = int(first), len(self._scores) - int(last)
        while True:
            # A pool is merged with its neighbour while their rates do not rise.
            if end > 0 and left.sum_of(end) * weight >= positive * left.weight_of(end):
                weight, positive = weight + left.weight_of(end), positive + left.sum_of(end)
                end = left.start_of(end)
            elif other > 0 and (
                right.sum_of(other) * weight >= (weight - positive) * right.weight_of(other)
            ):
                of_pool = right.weight_of(other)
                weight, positive = weight + of_pool, positive + of_pool - right.sum_of(other)
                other = right.start_of(other)
            else:
                return positive / weight


class _Pools(NamedTuple):
    """Pools of adjacent violators of every prefix, as a stack that remembers all its states.

    ``starts[k]`` is where the last pool of the first k entries starts; the pools before it are
    those of the first ``starts[k]`` entries.
    """

    starts: list[int]
    weights: list[float]
    sums: list[float]

    @classmethod
    def of(cls, weight: FloatArray, total: FloatArray) -> _Pools:
        weights = [0.0, *np.cumsum(weight).tolist()]
        sums = [0.0, *np.cumsum(total).tolist()]
        starts = [0]
        for end in range(1, len(weights)):
            start = end - 1
            while start > 0:
                before = starts[start]
                rate_before = (sums[start] - sums[before]) * (weights[end] - weights[start])
                if rate_before < (sums[end] - sums[start]) * (weights[start] - weights[before]):
                    break
                start = before
            starts.append(start)
        return cls(starts, weights, sums)

    def start_of(self, end: int) -> int:
        return self.starts[end]

    def weight_of(self, end: int) -> float:
        return self.weights[end] - self.weights[self.starts[end]]

    def sum_of(self, end: int) -> float:
        return self.sums[end] - self.sums[self.starts[end]]
