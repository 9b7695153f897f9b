"""A fitted classifier with calibrators of its scores, for two classes and for more."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_length, check_sample_weight, check_target, shown
from sklearn_pairboot.calibration.beta import BetaCalibrator
from sklearn_pairboot.calibration.platt import PlattCalibrator
from sklearn_pairboot.calibration.temperature import TemperatureCalibrator


class CalibratedModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores a calibrator turns into probabilities.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier, frozen or not; `fit` leaves it alone.
    calibrator : calibrator
        One of this package; a copy is fitted for every class, or one for all if it is a
        `TemperatureCalibrator`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes of the estimator.
    calibrators_ : list
        The fitted calibrators.

    See Also
    --------
    calibrate : Makes it, with all checks.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_pairboot.calibration import BetaCalibrator, CalibratedModel
    >>> X, y = [[0], [1], [2], [3], [4], [5]], list("aababb")
    >>> model = CalibratedModel(LogisticRegression().fit(X, y), BetaCalibrator()).fit(X, y)
    >>> model.predict([[0], [5]]).tolist()
    ['a', 'b']
    """

    def __init__(self, estimator: Any, calibrator: Any) -> None:
        self.estimator = estimator
        self.calibrator = calibrator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """
        Fit the calibrators, not the estimator.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to calibrate on.
        y : array-like of shape (n_rows,)
            Their truths.
        sample_weight : array-like of shape (n_rows,), default=None
            Importance weights of the rows.

        Returns
        -------
        object
            The model itself.
        """
        check_is_fitted(self.estimator)
        truth = check_target(y, "y")
        classes = self.estimator.classes_
        unknown = np.setdiff1d(truth, classes)
        if len(unknown):
            raise ValueError(
                "`y` must hold classes of the estimator, got "
                f"{unknown.tolist()[0]!r}, which is none of {classes.tolist()}."
            )
        weight = check_sample_weight(sample_weight, len(truth))
        absent = np.setdiff1d(classes, truth if weight is None else truth[weight > 0]).tolist()
        if absent:
            counted = "" if weight is None else " with positive weight"
            raise ValueError(
                f"`y` must hold all classes of the estimator, got none of {shown(absent)}{counted}."
                " Calibrate on rows of all classes."
            )
        scores = self._scores(X)
        check_length(truth, len(scores), "`y`")
        if isinstance(self.calibrator, TemperatureCalibrator):
            kind = "logits" if self._has_decisions else "probabilities"
            calibrator = clone(self.calibrator).set_params(scores=kind)
            self.calibrators_ = [calibrator.fit(scores, truth, sample_weight)]
        else:
            calibrator = clone(self.calibrator)
            if isinstance(calibrator, PlattCalibrator):
                calibrator.set_params(probabilities=not self._has_decisions)
            positives = classes[1:] if len(classes) == 2 else classes
            columns = scores.reshape(len(scores), -1)
            self.calibrators_ = [
                clone(calibrator).fit(column, truth == label, sample_weight)
                for label, column in zip(positives, columns.T, strict=True)
            ]
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """
        Give calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "calibrators_")
        scores = self._scores(X)
        if isinstance(self.calibrator, TemperatureCalibrator):
            found: FloatArray = self.calibrators_[0].predict_proba(scores)
            return found
        columns = scores.reshape(len(scores), -1).T
        positive = np.column_stack(
            [
                calibrator.predict_proba(column)[:, 1]
                for calibrator, column in zip(self.calibrators_, columns, strict=True)
            ]
        )
        if len(self.classes_) == 2:
            return np.column_stack([1 - positive, positive])
        total = positive.sum(axis=1, keepdims=True)
        even = np.full(positive.shape, 1 / positive.shape[1])
        np.divide(positive, total, out=even, where=total > 0)
        return even

    def predict(self, X: Any) -> NDArray[Any]:
        """
        Give the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    @property
    def _has_decisions(self) -> bool:
        return hasattr(self.estimator, "decision_function")

    def _scores(self, X: Any) -> FloatArray:
        """Give what the calibrator takes: probabilities for beta, decision values where known."""
        if self._has_decisions and not isinstance(self.calibrator, BetaCalibrator):
            return np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        if not hasattr(self.estimator, "predict_proba"):
            model = self.estimator
            model = model.estimator if isinstance(model, FrozenEstimator) else model
            raise ValueError(
                "`estimator` must have `predict_proba` for this calibrator, which "
                f"{type(model).__name__} has not. Use method='platt'."
            )
        found = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        return found[:, 1] if found.shape[1] == 2 else found
