"""Platt scaling: a logistic curve through scores, with targets that keep it from certainty."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.special import expit

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot.calibration._base import (
    ScoreCalibrator,
    check_probabilities,
    least_share,
    logit,
)
from sklearn_pairboot.calibration._logistic import fit_logistic

_CHOICES = ("auto", True, False)


class PlattCalibrator(ScoreCalibrator):
    """Map decision values or logits to probabilities by a logistic curve.

    Right where scores of each class are roughly normal with equal spread, as those of support
    vector machines and boosted trees often are. It keeps the order of the scores, and so AUC,
    unless low scores go with the positive class.

    Parameters
    ----------
    probabilities : "auto" or bool, default="auto"
        Whether the scores are probabilities, which are turned into logits first: a logistic curve
        through probabilities themselves fits badly. ``"auto"`` takes scores that all lie between
        0 and 1 for probabilities, and warns.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Both classes in sorted order; the later one is the positive one.
    slope_ : float
        Slope of the logistic curve.
    intercept_ : float
        Its intercept.
    converted_ : bool
        Whether the scores were taken for probabilities.
    least_ : float
        What a probability of 0 counts as, and the distance from 1 of a probability of 1: half the
        least one among the calibration rows that is not 0, and 2**-54 at least. NaN where nothing
        was converted.
    n_features_in_ : int
        1.

    See Also
    --------
    BetaCalibrator : A more flexible curve for probabilities.
    IsotonicCalibrator : Any rising step function, for many rows.

    Notes
    -----
    The targets are (N+ + 1) / (N+ + 2) and 1 / (N- + 2) in place of 1 and 0 [1]_, which makes the
    fit finite for classes that scores separate. Counts are sums of weights.

    References
    ----------
    .. [1] J. Platt (1999). "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods". Advances in Large Margin Classifiers, 61-74.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import PlattCalibrator
    >>> calibrator = PlattCalibrator().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    >>> calibrator.predict_proba([-2, -1, 1, 2])[:, 1].round(4).tolist()
    [0.2062, 0.3376, 0.6624, 0.7938]
    """

    def __init__(self, *, probabilities: bool | str = "auto") -> None:
        self.probabilities = probabilities

    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        choice = self.probabilities
        if not (isinstance(choice, bool | np.bool_) or choice == "auto"):
            raise ValueError(f"`probabilities` must be 'auto', True or False, got {choice!r}.")
        within = bool(scores.min() >= 0 and scores.max() <= 1)
        if choice == "auto" and within:
            warnings.warn(
                "All scores lie between 0 and 1 and are taken for probabilities: their logits are "
                "calibrated. Pass `probabilities=True` if they are, `probabilities=False` if they "
                "are decision values.",
                UserWarning,
                stacklevel=3,
            )
        self.converted_ = within if choice == "auto" else bool(choice)
        self.least_ = least_share(np.append(scores, 1 - scores)) if self.converted_ else math.nan
        n_positive, n_negative = float(weight @ positive), float(weight @ ~positive)
        target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        (self.slope_,), self.intercept_ = fit_logistic(self._scale(scores)[:, None], target, weight)

    def _probability(self, scores: FloatArray) -> FloatArray:
        value: FloatArray = expit(self.slope_ * self._scale(scores) + self.intercept_)
        return value

    def _scale(self, scores: FloatArray) -> FloatArray:
        if not self.converted_:
            return scores
        check_probabilities(scores, "where `probabilities` holds")
        return logit(scores, self.least_)
