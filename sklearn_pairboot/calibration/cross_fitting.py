"""Train and calibrate on the same rows: each calibrator learns from rows its model has not seen."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_pairboot._scoring.checks import (
    check_labels,
    check_sample_weight,
    check_target,
    shown,
)
from sklearn_pairboot.calibration.calibrated_model import CalibratedModel

Rows = NDArray[np.intp]


class CrossCalibratedModel(ClassifierMixin, BaseEstimator):
    """A classifier trained and calibrated on the same rows, by cross-fitting.

    In each split a copy of the classifier is trained on one part, and a calibrator learns from
    its scores of the rest. The probabilities of all of them are averaged.

    Parameters
    ----------
    estimator : classifier
        The classifier; copies of it are fitted.
    calibrator : calibrator
        One of this package; copies of it are fitted.
    cv : int, splitter or iterable, default=None
        Number of stratified folds, ``None`` for 5, a splitter, or pairs of training and
        calibration rows. A number keeps groups together.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes in sorted order.
    models_ : list of CalibratedModel
        The calibrated copies, one a split.

    See Also
    --------
    calibrate : Makes it, with all checks.
    CalibratedModel : Calibrates a classifier that is fitted already.

    Notes
    -----
    For Platt scaling and isotonic regression this is what
    `sklearn.calibration.CalibratedClassifierCV` does with ``ensemble=True``, for classifiers with
    a ``decision_function``; without one Platt scaling takes logits of the probabilities.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_pairboot.calibration import BetaCalibrator, CrossCalibratedModel
    >>> X, y = make_classification(n_samples=300, random_state=0)
    >>> model = CrossCalibratedModel(GaussianNB(), BetaCalibrator(), cv=3).fit(X, y)
    >>> len(model.models_), model.predict_proba(X).shape
    (3, (300, 2))
    """

    def __init__(self, estimator: Any, calibrator: Any, *, cv: Any = None) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """
        Fit a copy of the classifier and its calibrators in every split.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to train and calibrate on.
        y : array-like of shape (n_rows,)
            Their truths.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row. None may be trained and calibrated on in one split.
        sample_weight : array-like of shape (n_rows,), default=None
            Importance weights of the rows, for the calibrators, and for the classifier if its
            ``fit`` takes them.

        Returns
        -------
        object
            The model itself.
        """
        if isinstance(self.estimator, FrozenEstimator):
            raise ValueError(
                "`estimator` must not be frozen with `cv`, which fits copies of it, got "
                f"{self.estimator!r}. Calibrate a fitted classifier without `cv`."
            )
        truth = check_target(y, "y")
        weight = check_sample_weight(sample_weight, len(truth))
        splits = self._splits(X, truth, groups)
        weighs = weight is not None and has_fit_parameter(self.estimator, "sample_weight")
        if weight is not None and not weighs:
            warnings.warn(
                f"`sample_weight` is for the calibrators alone: {type(self.estimator).__name__} "
                "does not take it in `fit`.",
                UserWarning,
                stacklevel=2,
            )
        self.classes_ = np.unique(truth)
        self.models_ = []
        for train, rest in splits:
            of_train = {"sample_weight": weight[train]} if weighs and weight is not None else {}
            fitted = clone(self.estimator).fit(_safe_indexing(X, train), truth[train], **of_train)
            model = CalibratedModel(fitted, self.calibrator)
            of_rest = None if weight is None else weight[rest]
            self.models_.append(model.fit(_safe_indexing(X, rest), truth[rest], of_rest))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """
        Give calibrated probabilities, the mean over the splits.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "models_")
        mean: NDArray[np.float64] = np.mean([model.predict_proba(X) for model in self.models_], 0)
        return mean

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

    def _splits(self, X: Any, truth: NDArray[Any], groups: Any) -> list[tuple[Rows, Rows]]:
        """Make the splits; both parts of each hold all classes, and share no row or group."""
        codes = np.arange(len(truth))
        if groups is not None:
            codes, _ = check_labels(groups, len(truth), "groups")
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):
            splitter: Any = StratifiedGroupKFold(5 if self.cv is None else int(self.cv))
        else:
            splitter = check_cv(self.cv, truth, classifier=True)
        found = [
            (np.arange(len(truth))[train], np.arange(len(truth))[rest])
            for train, rest in splitter.split(X, truth, groups)
        ]
        if not found:
            raise ValueError(f"`cv` must give at least one split, got none from {self.cv!r}.")
        what = "row" if groups is None else "group"
        for number, (train, rest) in enumerate(found):
            shared = np.intersect1d(codes[train], codes[rest])
            if len(shared):
                raise ValueError(
                    f"`cv` must keep apart the {what}s that are trained and calibrated on, got "
                    f"{len(shared)} {what}{'s' if len(shared) > 1 else ''} in both parts of split "
                    f"{number}. Pass a number of folds, or a splitter of groups such as "
                    "GroupKFold."
                )
            for part, rows in (("training", train), ("calibration", rest)):
                absent = np.setdiff1d(truth, truth[rows])
                if len(absent):
                    raise ValueError(
                        "`cv` must leave all classes in both parts of every split, got none of "
                        f"{shown(absent.tolist())} in the {part} part of split {number}. Use fewer "
                        "folds, or stratified ones."
                    )
        return found
