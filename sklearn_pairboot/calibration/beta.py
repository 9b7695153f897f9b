"""Beta calibration: a monotone curve of three parameters for probabilities."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot.calibration._base import (
    ScoreCalibrator,
    check_probabilities,
    least_share,
)
from sklearn_pairboot.calibration._logistic import fit_logistic

_WHERE = "for `BetaCalibrator`"
_REMEDY = "For decision values or logits use `PlattCalibrator`."


class BetaCalibrator(ScoreCalibrator):
    """Map probabilities to better ones by a beta curve, which never falls.

    It suits probabilities, whose distribution in each class is no normal one: it bends both ends
    on their own, and unlike Platt scaling can leave probabilities as they are that are right
    already. The identity is among its curves.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Both classes in sorted order; the later one is the positive one.
    a_ : float
        Coefficient of log p, at least 0.
    b_ : float
        Coefficient of -log(1 - p), at least 0.
    c_ : float
        Intercept.
    least_ : float
        What a probability of 0 counts as, and the distance from 1 of a probability of 1: half the
        least one among the calibration rows that is not 0, and 2**-54 at least.
    n_features_in_ : int
        1.

    See Also
    --------
    PlattCalibrator : For decision values and logits.

    Notes
    -----
    The log odds are a log p - b log(1 - p) + c [1]_, fitted by maximum likelihood with a and b
    kept at 0 or above: the curve then never falls. Probabilities of 0 and 1
    count as ``least_`` away from there: logarithms of them would be infinite.

    References
    ----------
    .. [1] M. Kull, T. Silva Filho and P. Flach (2017). "Beta calibration: a well-founded and easily
       implemented improvement on logistic calibration for binary classifiers". AISTATS 2017,
       623-631.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import BetaCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1]
    >>> calibrator = BetaCalibrator().fit(p, y)
    >>> p_of_positive = calibrator.predict_proba([0.2, 0.8])[:, 1]
    >>> bool(p_of_positive[0] < 0.5 < p_of_positive[1])
    True
    """

    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        check_probabilities(scores, _WHERE, _REMEDY)
        negative, found = scores[~positive & (weight > 0)], scores[positive & (weight > 0)]
        if negative.max() <= found.min() and negative.min() < found.max():
            warnings.warn(
                "The probabilities separate the classes: the likelihood has no maximum, and the "
                "curve is all but a step from 0 to 1. Calibrate on more rows, or use "
                "`PlattCalibrator`, whose targets keep it from certainty.",
                UserWarning,
                stacklevel=3,
            )
        self.least_ = least_share(np.append(scores, 1 - scores))
        (self.a_, self.b_), self.c_ = fit_logistic(
            self._features(scores), positive.astype(np.float64), weight, not_negative=True
        )

    def _probability(self, scores: FloatArray) -> FloatArray:
        check_probabilities(scores, _WHERE, _REMEDY)
        value: FloatArray = expit(self._features(scores) @ np.array([self.a_, self.b_]) + self.c_)
        return value

    def _features(self, p: FloatArray) -> FloatArray:
        below, above = (np.maximum(share, self.least_) for share in (p, 1 - p))
        return np.column_stack([np.log(below), -np.log(above)])
