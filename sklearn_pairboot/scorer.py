"""A scorer for scikit-learn's own tools whose value may be a bound of a bootstrap interval."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._scoring.groups import named_groups
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring
from sklearn_pairboot._tables import check_choice
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._single import (
    KEYS,
    NoValue,
    bootstrap_score,
    name_of,
    score_of,
)

__all__ = ["ClusterBootstrapScorer"]

RETURNS = ("score", "lower", "upper", "interval")
KEY_OF = {"score": "score", "lower": "ci_low", "upper": "ci_high"}


def _wraps_an_estimator(self: ClusterBootstrapScorer) -> bool:
    return self.estimator is not None


def _wrapped_has(name: str) -> Callable[[ClusterBootstrapScorer], bool]:
    """Offer a method where the wrapped estimator has it, else raise its own AttributeError."""

    def check(self: ClusterBootstrapScorer) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return check


class ClusterBootstrapScorer(MetaEstimatorMixin, BaseEstimator):
    """Score a model with the sampling error of its test rows or clusters in view.

    It goes wherever scikit-learn takes ``scoring=``: `cross_validate`, `GridSearchCV`,
    `permutation_test_score` and others. It returns the score itself, one end of its bootstrap
    interval, to select by what a model surely reaches, or the whole interval. Everything is in
    scikit-learn's sign: greater is better, also for losses and their bounds.

    Parameters
    ----------
    scoring : str, scorer, callable or None
        The metric: a name that scikit-learn knows, a scorer of `make_scorer`, a callable
        ``scorer(estimator, X, y)``, or ``None`` for the estimator's own ``score``.
    estimator : estimator object, default=None
        With one, this object is itself an estimator: `fit` fits a clone of it, and `score` is
        this score. Without one there is neither `fit` nor `score`.
    groups : str, mapping or pandas Series, default=None
        Cluster of each row, for callers that cannot pass groups on: the name of a column of X,
        or a mapping or Series that is looked up by the labels of X's index. The column stays in
        X. Groups that are passed when scoring win. Without any, rows are resampled, and intervals
        are too narrow where rows of one cluster are alike.
    returns : {"score", "lower", "upper", "interval"}, default="score"
        ``"score"`` is the score as scikit-learn computes it, and draws nothing. ``"lower"`` and
        ``"upper"`` are the ends of its interval. ``"interval"`` is a dict of floats ``score``,
        ``ci_low``, ``ci_high``, ``std_error``, ``n_units`` and ``n_undefined``, which
        `cross_validate` spreads into ``test_score``, ``test_ci_low`` and so on.
    n_resamples : int or "exact", default=999
        Number of bootstrap resamples. With 999 the ends of a 95 % interval carry a Monte Carlo
        error of about a tenth of the standard error, the same draws for all candidates of a
        search; take 9999 for numbers to be reported. ``"exact"`` takes them all: of few units, or
        of means.
    confidence_level : float, default=0.95
        Level of the two-sided interval, in (0, 1). Read alone, ``"lower"`` is a one-sided bound
        of level (1 + ``confidence_level``) / 2: 97.5 % by default.
    method : {"percentile", "basic", "normal", "bca", "studentized", "t", "expanded"}, \
default="percentile"
        Kind of interval, as in `compare_estimators`. Where one is undefined, ``"percentile"``
        takes its place.
    random_state : int, Generator, RandomState or None, default=0
        Seed. With an int all models scored on the same rows meet the same resamples, so that a
        search compares candidates and not draws. ``None`` gives fresh ones in every call.
    n_jobs : int, default=None
        Number of parallel jobs, as joblib takes it. Results do not depend on it.

    Attributes
    ----------
    estimator_ : estimator object
        The fitted clone; like the following ones only with ``estimator`` and after `fit`.
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        Class labels of a classifier.
    n_features_in_ : int
        Number of features, if the estimator knows it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the estimator knows them.

    See Also
    --------
    sklearn_pairboot.compare_estimators : Compare models on test rows, with p-values.

    Notes
    -----
    The interval says how the score of *this trained model* would vary over other test rows or
    clusters of the same kind. It says nothing of other training rows.

    *Where groups come from.* ``cross_validate(..., groups=groups)`` and
    ``GridSearchCV.fit(..., groups=groups)`` hand groups to the splitter alone: a scorer cannot
    see them, and this one would resample rows. There are two ways:

    - Metadata routing: enable it, and request groups as in the second example. Groups that are
      passed but not requested are then an error.
    - Without routing: name the groups at construction as in the third example.

    *Degenerate test rows*, such as a fold with one cluster, or a metric that is undefined on the
    rows or in every resample, give NaN for every key, and one warning with the reason; so a
    cross-validation goes on. Wrong parameters raise.

    ``returns="interval"`` gives several numbers, so `GridSearchCV` needs a key to refit by, for
    example ``refit="ci_low"``, and it cannot be one of several metrics.
    `TunedThresholdClassifierCV` accepts only scikit-learn's own scorers.

    Examples
    --------
    Select by the lower bound:

    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
    >>> from sklearn_pairboot import ClusterBootstrapScorer
    >>> X, y = make_classification(n_samples=240, random_state=0)
    >>> patient = np.arange(240) // 4
    >>> lower = ClusterBootstrapScorer("roc_auc", returns="lower")
    >>> search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, scoring=lower, cv=3)
    >>> search.fit(X, y).best_params_
    {'C': 1}

    Whole clusters by metadata routing; each of three folds holds 20 of 60 patients:

    >>> import sklearn
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer = ClusterBootstrapScorer("roc_auc", returns="interval")
    ...     results = cross_validate(
    ...         LogisticRegression(), X, y, cv=GroupKFold(3),
    ...         scoring=scorer.set_score_request(groups=True), params={"groups": patient},
    ...     )
    >>> results["test_n_units"].tolist()
    [20.0, 20.0, 20.0]

    The same without routing, by a column of X that the model leaves out:

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> frame = pd.DataFrame(X).add_prefix("x").assign(patient=patient)
    >>> model = make_pipeline(
    ...     make_column_transformer(("drop", ["patient"]), remainder="passthrough"),
    ...     LogisticRegression(),
    ... )
    >>> scorer = ClusterBootstrapScorer("roc_auc", returns="interval", groups="patient")
    >>> results = cross_validate(
    ...     model, frame, y, scoring=scorer, cv=GroupKFold(3), groups=patient
    ... )
    >>> results["test_n_units"].tolist()
    [20.0, 20.0, 20.0]
    """

    def __init__(
        self,
        scoring: Any,
        *,
        estimator: Any = None,
        groups: Any = None,
        returns: str = "score",
        n_resamples: int | str = 999,
        confidence_level: float = 0.95,
        method: str = "percentile",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.scoring = scoring
        self.estimator = estimator
        self.groups = groups
        self.returns = returns
        self.n_resamples = n_resamples
        self.confidence_level = confidence_level
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> float | dict[str, float]:
        """Score a fitted estimator on test rows.

        Parameters
        ----------
        estimator : estimator object
            The fitted estimator.
        X : array-like or dataframe of shape (n_rows, n_features)
            Test rows.
        y : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Their truths.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row; ``None`` falls back on the groups named at construction.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row; it multiplies the number of times that the row was drawn.

        Returns
        -------
        float or dict
            What ``returns`` asks for.
        """
        return self._evaluate(self.returns, estimator, X, y, groups, sample_weight)

    @property
    def __name__(self) -> str:
        """Name of the metric, as displays of scikit-learn show it."""
        try:
            name = "score" if self.scoring is None else name_of(self._metric())
        except (TypeError, ValueError):  # a name must not fail; the call says what is wrong
            return type(self).__qualname__
        return f"{name}_{self.returns}" if self.returns in ("lower", "upper") else name

    def _accept_sample_weight(self) -> bool:
        # Asked by scikit-learn from 1.7 on; of the estimator's own `score` nothing is known here.
        return self.scoring is None or self._metric().accepts_sample_weight

    @available_if(_wraps_an_estimator)
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> ClusterBootstrapScorer:
        """Fit a clone of ``estimator``.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
            Their truths.
        **fit_params : dict
            Passed to ``estimator.fit``, under metadata routing as it requests.

        Returns
        -------
        ClusterBootstrapScorer
            This object.
        """
        self._options()
        if self.scoring is not None:
            self._metric()
        if get_config().get("enable_metadata_routing"):
            fit_params = process_routing(self, "fit", **fit_params)["estimator"]["fit"]
        fitted = clone(self.estimator).fit(X, y, **fit_params)
        self.estimator_ = fitted
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        return self

    @available_if(_wrapped_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the fitted estimator.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_columns)
            Its predictions.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_wrapped_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Give the fitted estimator's class probabilities.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or list of such arrays
            Probabilities, columns in the order of ``classes_``; for several outputs as the
            estimator gives them.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_wrapped_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Give the fitted estimator's decision values.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    # Its signature makes `set_score_request` and the default request, also where it is hidden.
    @available_if(_wraps_an_estimator)
    def score(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> float:
        """Score the fitted estimator on test rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_rows, n_features)
            Test rows.
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            Their truths.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row; ``None`` falls back on the groups named at construction.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.

        Returns
        -------
        float
            What ``returns`` asks for; of ``"interval"`` the score alone.
        """
        check_is_fitted(self, "estimator_")
        check_choice("returns", self.returns, RETURNS)
        returns = "score" if self.returns == "interval" else self.returns
        value = self._evaluate(returns, self.estimator_, X, y, groups, sample_weight)
        return float(value)  # type: ignore[arg-type]  # only "interval" gives a dict

    @property
    def classes_(self) -> Any:
        """Class labels of the fitted classifier."""
        return self.estimator_.classes_

    def get_metadata_routing(self) -> Any:
        """Say which metadata this object takes, and which it passes to ``estimator``.

        Returns
        -------
        MetadataRequest or MetadataRouter
            A router with ``estimator``, otherwise the request of `score` alone.
        """
        own = super().get_metadata_routing()
        if self.estimator is None:
            return own
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(own)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            wrapped = get_tags(self.estimator)
            tags.estimator_type = wrapped.estimator_type
            tags.classifier_tags = wrapped.classifier_tags
            tags.regressor_tags = wrapped.regressor_tags
            tags.target_tags = wrapped.target_tags
            tags.input_tags = wrapped.input_tags
            tags.non_deterministic = wrapped.non_deterministic
        return tags

    def _options(self) -> Options:
        """Check everything but ``scoring`` and ``groups``."""
        check_choice("returns", self.returns, RETURNS)
        if isinstance(self.n_resamples, str) and self.n_resamples == "auto":
            raise ValueError(
                "`n_resamples` must be an integer or 'exact' in a scorer, got 'auto'. All "
                "candidates of a search are to meet the same resamples."
            )
        return Options(
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            method=self.method,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _metric(self, estimator: Any = None) -> Metric:
        """Resolve ``scoring``; ``None`` needs the estimator that is scored."""
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise TypeError(
                "`scoring` must be a scorer name, a scorer or None, got "
                f"{self.scoring!r}. For several metrics pass a dict of ClusterBootstrapScorers to "
                "the caller."
            )
        (metric,) = resolve_scoring(self.scoring, {type(estimator).__name__: estimator})
        return metric

    def _evaluate(
        self, returns: str, estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any
    ) -> float | dict[str, float]:
        options, metric = self._options(), self._metric(estimator)
        if groups is None and self.groups is not None:
            groups = named_groups(self.groups, X)
        if sample_weight is not None and not metric.accepts_sample_weight:
            raise ValueError(
                f"`sample_weight` must be None for {name_of(metric)}, which does not take weights."
            )
        try:
            if returns == "score":
                return score_of(metric, estimator, X, y, sample_weight)
            found = bootstrap_score(metric, estimator, X, y, groups, sample_weight, options)
        except NoValue as reason:
            warnings.warn(
                f"{name_of(metric)}: {reason}. NaN is returned.",
                UndefinedMetricWarning,
                stacklevel=3,
            )
            found = dict.fromkeys(KEYS, np.nan)
        return found if returns == "interval" else found[KEY_OF[returns]]
