"""Calibrate a model: the calibrators around an estimator, for two classes and for more."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._scoring.checks import (
    check_choice,
    check_labels,
    check_same_index,
    check_target,
)
from sklearn_pairboot._scoring.rows import keys_of_rows
from sklearn_pairboot.calibration.beta import BetaCalibrator
from sklearn_pairboot.calibration.binning import HistogramCalibrator
from sklearn_pairboot.calibration.calibrated_model import CalibratedModel
from sklearn_pairboot.calibration.cross_fitting import CrossCalibratedModel
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
        Cluster of each row, with ``cv``: no cluster is both trained and calibrated on in a split.
    cv : int, splitter or iterable, default=None
        ``None`` calibrates the fitted classifier. Otherwise copies of it are fitted on each
        training part and calibrated on the rest, and the calibrated copies are averaged. A
        number makes stratified folds that keep groups together.
    sample_weight : array-like of shape (n_rows,), default=None
        Importance weights of the rows.
    X_train : array-like of shape (n_train, n_features), default=None
        Rows that the classifier was trained on, if at hand: rows that are in both sets are
        counted, and warned of.

    Returns
    -------
    classifier
        A fitted classifier with ``predict_proba`` and ``classes_``: a `CalibratedModel`, or with
        ``cv`` a `CrossCalibratedModel`.

    See Also
    --------
    CalibratedModel : The classifier that is returned without ``cv``.
    CrossCalibratedModel : The classifier that is returned with ``cv``.

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
        frozen = FrozenEstimator(estimator)
        return CalibratedModel(frozen, _CALIBRATORS[method]).fit(X_cal, y_cal, sample_weight)
    model = CrossCalibratedModel(estimator, _CALIBRATORS[method], cv=cv)
    return model.fit(X_cal, y_cal, groups=groups, sample_weight=sample_weight)


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
