"""What all calibrators of scores share: checks, classes, and the two kinds of prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot._scoring.checks import (
    check_finite,
    check_length,
    check_same_index,
    check_sample_weight,
    check_target,
    plain,
    shown,
)

# Half the distance from 1 to the next float below.
_LEAST = 2.0**-54


class ScoreCalibrator(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of two classes whose only feature is a score."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """
        Learn the map from scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1)
            Scores of rows that the model was not trained on; higher for the positive class.
        y : array-like of shape (n_rows,)
            Truths, of two classes. The positive class is the later one in sorted order.
        sample_weight : array-like of shape (n_rows,), default=None
            Importance weights of the rows. Whole numbers equal that many copies.

        Returns
        -------
        object
            The calibrator itself.
        """
        check_same_index({"`X`": X, "`y`": y, "`sample_weight`": sample_weight})
        scores = check_scores(X)
        truth = check_target(y, "y")
        if truth.ndim != 1:
            raise ValueError(f"`y` must be one-dimensional, got shape {truth.shape}.")
        check_length(truth, len(scores), "`y`")
        weight = check_sample_weight(sample_weight, len(scores))
        weight = np.ones(len(scores)) if weight is None else weight
        self.classes_ = two_classes(truth, weight)
        self.n_features_in_ = 1
        self._fit(scores, truth == self.classes_[1], weight)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """
        Give the probabilities of both classes.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "classes_")
        positive = self._probability(check_scores(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """
        Give the more probable class.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows,)
            The positive class from a probability of one half on.
        """
        positive = self.predict_proba(X)[:, 1] >= 0.5
        labels: NDArray[Any] = self.classes_[positive.astype(int)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags

    @abstractmethod
    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        """Learn the map; both classes have weight."""

    @abstractmethod
    def _probability(self, scores: FloatArray) -> FloatArray:
        """Map scores to probabilities of the positive class."""


def check_scores(X: Any) -> FloatArray:
    """Check scores, one a row."""
    array = plain(X)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) == 0:
        hint = ""
        if array.ndim == 2 and array.shape[1] == 2:
            hint = " Of two columns of probabilities pass that of the positive class."
        raise ValueError(
            "`X` must have one score for each row, shape (n_rows,) or (n_rows, 1), got shape "
            f"{array.shape}.{hint}"
        )
    if array.dtype.kind == "O":
        check_finite(array, "`X`")
        array = array.astype(np.float64)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"`X` must be numbers, got {array.dtype}.")
    check_finite(array, "`X`")
    return array.astype(np.float64)


def two_classes(truth: NDArray[Any], weight: FloatArray) -> NDArray[Any]:
    """Find both classes, of which each must have weight."""
    classes = np.unique(truth[weight > 0])
    if len(classes) == 1:
        raise ValueError(
            f"`y` must hold two classes, got only {classes.tolist()[0]!r} in the calibration data. "
            "Calibrate on rows of both classes."
        )
    if len(classes) > 2:
        raise ValueError(
            f"`y` must hold two classes, got {len(classes)}: {shown(classes.tolist())}. For more, "
            "`calibrate` a model, or use `TemperatureCalibrator`."
        )
    return classes


def check_probabilities(scores: FloatArray, where: str, remedy: str = "") -> None:
    """Refuse scores that are no probabilities; ``where`` says what makes them to be such."""
    if scores.min() < 0 or scores.max() > 1:
        worst = scores.min() if scores.min() < 0 else scores.max()
        raise ValueError(
            f"`X` must be probabilities between 0 and 1 {where}, got {worst:.6g}."
            + (f" {remedy}" if remedy else "")
        )


def least_share(probabilities: FloatArray) -> float:
    """Give what 0 counts as where logarithms are taken: half of the least that is above it.

    Zeros are rounded or counted, such as votes of trees; logarithms of much smaller numbers would
    outweigh all other rows.
    """
    inside = probabilities[probabilities > 0]
    return max(float(inside.min(initial=1.0)) / 2, _LEAST)


def logit(probability: FloatArray, least: float) -> FloatArray:
    """Log odds, bounded on both sides alike."""
    below, above = (np.maximum(p, least) for p in (probability, 1 - probability))
    odds: FloatArray = np.log(below) - np.log(above)
    return odds
