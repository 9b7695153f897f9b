"""Calibrate a model: the calibrators around an estimator, for two classes and for more."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_labels,
    check_length,
    check_same_index,
    check_target,
    shown,
)
from sklearn_pairboot._scoring.rows import keys_of_rows
from sklearn_pairboot.calibration.beta import BetaCalibrator
from sklearn_pairboot.calibration.binning import HistogramCalibrator
from sklearn_pairboot.calibration.isotonic import IsotonicCalibrator
from sklearn_pairboot.calibration.platt import PlattCalibrator
from sklearn_pairboot.calibration.temperature import TemperatureCalibrator
from sklearn_pairboot.calibration.venn_abers import VennAbersCalibrator

_CALIBRATORS = {
    "platt": PlattCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "beta": BetaCalibrator(),
    "histogram": HistogramCalibrator(),
    "temperature": TemperatureCalibrator(),
    "venn-abers": VennAbersCalibrator(),
}
METHODS = tuple(_CALIBRATORS)
_BY_SCIKIT_LEARN = {"platt": "sigmoid", "isotonic": "isotonic"}


def calibrate(
    estimator: Any,
    X_cal: Any,
    y_cal: Any,
    *,
    method: str = "platt",
    groups: Any = None,
    cv: Any = None,
    sample_weight: Any = None,
    X_train: Any = None,
) -> Any:
    """Put a calibrator around a classifier, so that its probabilities mean what they say.

    A fitted classifier stays as it is: the calibrator alone learns from the rows given, which
    must be none of those that the classifier was trained on. Scores of training rows are too
    good, and a map learned from them makes a good model worse.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier; with ``cv`` one to be fitted.
    X_cal : array-like of shape (n_rows, n_features)
        Rows to calibrate on.
    y_cal : array-like of shape (n_rows,)
        Their truths, labels of any kind. At least two classes.
    method : {"platt", "isotonic", "beta", "temperature", "venn-abers", "histogram"}, \
default="platt"
        The map. Platt scaling for decision values and few rows, beta for probabilities,
        isotonic or Venn-Abers for thousands of rows, temperature for several classes.
    groups : array-like of shape (n_rows,), default=None
        Cluster of each row, for the splitter ``cv``, so that no cluster is both trained and
        calibrated on.
    cv : int, splitter or iterable, default=None
        ``None`` calibrates the fitted classifier. Otherwise the classifier is fitted on each
        training part and calibrated on the rest, and the calibrated classifiers are averaged;
        for ``"platt"`` and ``"isotonic"``.
    sample_weight : array-like of shape (n_rows,), default=None
        Importance weights of the rows.
    X_train : array-like of shape (n_train, n_features), default=None
        Rows that the classifier was trained on, if at hand: rows that are in both sets are
        counted, and warned of.

    Returns
    -------
    classifier
        A fitted classifier with ``predict_proba`` and ``classes_``: a `CalibratedModel`, or with
        ``cv`` scikit-learn's `sklearn.calibration.CalibratedClassifierCV`.

    See Also
    --------
    CalibratedModel : The classifier that is returned without ``cv``.

    Notes
    -----
    More than two classes are calibrated one against the rest, and brought to the sum 1;
    temperature scaling takes all of them at once. Calibration holds for rows like those that it
    was learned from: where the share of the classes changes, see `adjust_prior`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_pairboot.calibration import calibrate
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> model = GaussianNB().fit(X[:200], y[:200])
    >>> calibrated = calibrate(model, X[200:400], y[200:400], method="beta")
    >>> calibrated.predict_proba(X[400:]).shape
    (200, 2)
    """
    check_choice("method", method, METHODS)
    check_same_index(
        {
            "`X_cal`": X_cal,
            "`y_cal`": y_cal,
            "`groups`": groups,
            "`sample_weight`": sample_weight,
        }
    )
    truth = check_target(y_cal, "y_cal")
    classes = np.unique(truth)
    if len(classes) == 1:
        raise ValueError(
            f"`y_cal` must hold at least two classes, got only {classes.tolist()[0]!r} in the "
            "calibration data. Calibrate on rows of all classes."
        )
    if groups is not None:
        check_labels(groups, len(truth), "groups")
    _warn_of_training_rows(X_cal, X_train)
    if cv is None:
        if groups is not None:
            raise ValueError(
                "`groups` must be None without `cv`: they keep clusters together in its splits. A "
                "fitted classifier is calibrated on all rows given."
            )
        check_is_fitted(estimator)
        model = CalibratedModel(FrozenEstimator(estimator), _CALIBRATORS[method])
        return model.fit(X_cal, y_cal, sample_weight=sample_weight)
    if method not in _BY_SCIKIT_LEARN:
        raise ValueError(
            f"`cv` must be None for `method`={method!r}, got {cv!r}. Fit the classifier, and "
            "calibrate it on other rows."
        )
    if method == "platt" and not hasattr(estimator, "decision_function"):
        raise ValueError(
            "`method` must be 'isotonic' with `cv` for a classifier without `decision_function`, "
            f"got 'platt' for {type(estimator).__name__}: the logistic curve would be fitted to "
            "raw probabilities in place of their logits. Or fit the classifier, and calibrate it "
            "on other rows."
        )
    # Splits made here need no routing of the groups.
    splitter = check_cv(cv, truth, classifier=True)
    splits = list(splitter.split(X_cal, truth, groups))
    around = CalibratedClassifierCV(estimator, method=_BY_SCIKIT_LEARN[method], cv=splits)
    return around.fit(X_cal, y_cal, sample_weight=sample_weight)


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
        absent = [label for label in classes.tolist() if label not in set(truth.tolist())]
        if absent:
            raise ValueError(
                f"`y` must hold all classes of the estimator, got none of {shown(absent)}. "
                "Calibrate on rows of all classes."
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
            raise ValueError(
                "`estimator` must have `predict_proba` for this calibrator, which "
                f"{type(self.estimator).__name__} has not. Use method='platt'."
            )
        found = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        return found[:, 1] if found.shape[1] == 2 else found


def _warn_of_training_rows(X_cal: Any, X_train: Any) -> None:
    if X_train is None:
        return
    seen = set(keys_of_rows(X_train))
    keys = keys_of_rows(X_cal)
    shared = sum(key in seen for key in keys)
    if shared:
        warnings.warn(
            f"{shared} of {len(keys)} calibration rows are among the training rows. The model's "
            "scores of these are too good; calibrate on rows that it has not seen.",
            UserWarning,
            stacklevel=3,
        )
