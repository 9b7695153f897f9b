"""Isotonic calibration: the best rising step function, and what it does to ties."""

from __future__ import annotations

import numpy as np

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot.calibration._base import ScoreCalibrator
from sklearn_pairboot.metrics._isotonic import best_rising


class IsotonicCalibrator(ScoreCalibrator):
    """Map scores to probabilities by the best rising function, clipped outside its range.

    It assumes nothing but order, and needs many rows for it: with a few hundred it follows noise.
    Scores that it maps to one value become ties, so AUC can change, and rows at the ends get
    probabilities of exactly 0 or 1, whose log loss is infinite when they are wrong.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Both classes in sorted order; the later one is the positive one.
    scores_ : ndarray of shape (n_distinct_scores,)
        Distinct scores of the calibration rows that have weight, in ascending order.
    probabilities_ : ndarray of shape (n_distinct_scores,)
        The probability that each of them is mapped to.
    n_distinct_scores_ : int
        Distinct scores of the calibration rows.
    n_distinct_probabilities_ : int
        Distinct probabilities that they are mapped to: what is missing became ties.
    n_certain_ : int
        Calibration rows that got a probability of exactly 0 or 1.
    n_features_in_ : int
        1.

    See Also
    --------
    PlattCalibrator : A smooth curve, for few rows.
    VennAbersCalibrator : Isotonic regression that keeps from certainty.

    Notes
    -----
    Between calibration scores it is linear, outside of their range constant, as in
    `sklearn.isotonic.IsotonicRegression`, which does the work; but scores are compared exactly,
    where scikit-learn takes those for equal that differ by less than 1e-15. Strictly rising maps
    leave AUC alone; this one does not rise strictly.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import IsotonicCalibrator
    >>> calibrator = IsotonicCalibrator().fit([0.2, 0.4, 0.8], [0, 0, 1])
    >>> calibrator.predict_proba([0.1, 0.6, 0.9])[:, 1].round(3).tolist()
    [0.0, 0.5, 1.0]
    >>> calibrator.n_distinct_scores_, calibrator.n_distinct_probabilities_
    (3, 2)
    """

    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        self.scores_, self.probabilities_ = best_rising(scores, positive.astype(np.float64), weight)
        found = self._probability(scores)
        self.n_distinct_scores_ = len(np.unique(scores))
        self.n_distinct_probabilities_ = len(np.unique(found))
        self.n_certain_ = int(np.count_nonzero((found == 0) | (found == 1)))

    def _probability(self, scores: FloatArray) -> FloatArray:
        found: FloatArray = np.interp(scores, self.scores_, self.probabilities_)
        return found
