"""Temperature scaling: one number that makes probabilities of any classes bolder or milder."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_finite,
    check_length,
    check_same_index,
    check_sample_weight,
    check_target,
    plain,
)
from sklearn_pairboot.calibration._base import check_probabilities, check_scores, least_share, logit

# Multiples of the largest logit: beyond them probabilities are as good as certain, or equal.
_LOG_TEMPERATURES = (-30.0, 10.0)
_ROUNDING = 1e-6


class TemperatureCalibrator(ClassifierMixin, BaseEstimator):
    """Divide logits by a number, so that their probabilities are neither too bold nor too mild.

    The class that is most probable stays so, and accuracy as it was. One number cannot mend
    probabilities that favour some classes; it is what networks that are merely over-confident
    need, and it takes few rows.

    Parameters
    ----------
    scores : {"logits", "probabilities"}, default="logits"
        What the scores are. Probabilities are turned into logits.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes in sorted order, which is the order of the columns of scores.
    temperature_ : float
        Above 1 where the scores were over-confident.
    least_ : float
        What a probability of 0 counts as: half the least one among the calibration rows that is not
        0, and 2**-54 at least. NaN for logits.
    n_features_in_ : int
        Number of columns of the scores.

    See Also
    --------
    PlattCalibrator : For two classes, with an intercept.

    Notes
    -----
    The temperature minimises the log loss of the calibration rows [1]_.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger (2017). "On calibration of modern neural
       networks". ICML 2017, 1321-1330.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import TemperatureCalibrator
    >>> logits = [[6, 0, 0], [0, 6, 0], [0, 0, 6], [6, 0, 0]]
    >>> calibrator = TemperatureCalibrator().fit(logits, ["a", "b", "c", "b"])
    >>> calibrator.predict_proba(logits).max(axis=1).round(2).tolist()
    [0.75, 0.75, 0.75, 0.75]
    """

    def __init__(self, *, scores: str = "logits") -> None:
        self.scores = scores

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """
        Learn the temperature.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_classes) or (n_rows,)
            Scores of rows that the model was not trained on, a column for each class in sorted
            order; for two classes also those of the positive class alone.
        y : array-like of shape (n_rows,)
            Truths.
        sample_weight : array-like of shape (n_rows,), default=None
            Importance weights of the rows.

        Returns
        -------
        object
            The calibrator itself.
        """
        check_choice("scores", self.scores, ("logits", "probabilities"))
        check_same_index({"`X`": X, "`y`": y, "`sample_weight`": sample_weight})
        numbers = self._numbers(X)
        several = numbers if numbers.ndim == 2 else np.append(numbers, 1 - numbers)
        self.least_ = least_share(several) if self.scores == "probabilities" else math.nan
        logits = self._logits(numbers)
        truth = check_target(y, "y")
        if truth.ndim != 1:
            raise ValueError(f"`y` must be one-dimensional, got shape {truth.shape}.")
        check_length(truth, len(logits), "`y`")
        weight = check_sample_weight(sample_weight, len(logits))
        weight = np.ones(len(logits)) if weight is None else weight
        classes, codes = np.unique(truth, return_inverse=True)
        if len(classes) == 1:
            raise ValueError(
                f"`y` must hold several classes, got only {classes.tolist()[0]!r} in the "
                "calibration data. Calibrate on rows of all classes."
            )
        if len(classes) != logits.shape[1]:
            raise ValueError(
                f"`X` must have one column for each of the {len(classes)} classes of `y`, got "
                f"{logits.shape[1]}. Calibrate on rows of all classes."
            )
        rows, codes = np.arange(len(logits)), codes.reshape(-1)
        logits = logits - logits.max(axis=1, keepdims=True)
        largest = float(-logits.min()) or 1.0
        logits = logits / largest

        def loss(log_temperature: float) -> float:
            log_p = log_softmax(logits * np.exp(-log_temperature), axis=1)
            return float(-(weight @ log_p[rows, codes]) / weight.sum())

        found = optimize.minimize_scalar(
            loss, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 1e-10}
        )
        self.classes_ = classes
        self.temperature_ = largest * float(np.exp(found.x))
        self.n_features_in_ = np.shape(X)[1] if np.ndim(X) == 2 else 1
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """
        Give the probabilities of all classes.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_classes) or (n_rows,)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "temperature_")
        logits = self._logits(self._numbers(X))
        if logits.shape[1] != len(self.classes_):
            raise ValueError(
                f"`X` must have {len(self.classes_)} columns as in `fit`, got {logits.shape[1]}."
            )
        probabilities: FloatArray = softmax(logits / self.temperature_, axis=1)
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """
        Give the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_classes) or (n_rows,)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows,)
            The same as without the temperature.
        """
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def _numbers(self, X: Any) -> FloatArray:
        """Check scores: one column for two classes, else a column for each class."""
        array = plain(X)
        if array.ndim != 2 or array.shape[1] == 1:
            floats = check_scores(X)
        elif array.dtype.kind not in "iufb":
            raise TypeError(f"`X` must be numbers, got {array.dtype}.")
        else:
            check_finite(array, "`X`")
            floats = array.astype(np.float64)
        if self.scores == "probabilities":
            _check_rows(floats)
        return floats

    def _logits(self, numbers: FloatArray) -> FloatArray:
        of_probabilities = self.scores == "probabilities"
        if numbers.ndim == 1:
            column = logit(numbers, self.least_) if of_probabilities else numbers
            return np.column_stack([np.zeros(len(column)), column])
        return np.log(np.maximum(numbers, self.least_)) if of_probabilities else numbers


def _check_rows(numbers: FloatArray) -> None:
    check_probabilities(numbers, "where `scores` is 'probabilities'")
    if numbers.ndim == 2:
        sums = numbers.sum(axis=1)
        if np.abs(sums - 1).max() > _ROUNDING:
            row = int(np.abs(sums - 1).argmax())
            raise ValueError(f"`X` must sum to 1 in every row, got {sums[row]:.6g} in row {row}.")
