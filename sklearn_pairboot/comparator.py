"""The meta-estimator: several estimators compared by a paired bootstrap, one of them kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import Bunch, Tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_pairboot._engine.progress import one_bar
from sklearn_pairboot._scoring.checks import (
    check_same_index,
    check_sample_weight,
    check_target,
    shown,
)
from sklearn_pairboot._scoring.resolve import Metric, resolve_scoring, with_companions
from sklearn_pairboot._tables import check_baseline, check_choice
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._flow import bound_scorer, compare_by_splits, compare_directly
from sklearn_pairboot.comparison._folds import Data
from sklearn_pairboot.comparison._named import (
    NamedEstimators,
    check_estimators,
    common_tags,
    is_frozen,
    pairs_of,
)
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._plans import check_not_crossed, units_of
from sklearn_pairboot.comparison._routing import (
    add_consumers,
    check_weighted_scores,
    route_fit,
    route_score,
)
from sklearn_pairboot.comparison._selected import SelectedModel, offered
from sklearn_pairboot.comparison._selection import SELECTIONS, select
from sklearn_pairboot.comparison._splits import Task, check_cv_option, fit_models

__all__ = ["PairedBootstrapComparator"]


@dataclass(frozen=True)
class _Checked:
    """Parameters that have been checked, before anything is fitted."""

    options: Options
    estimators: dict[str, Any]
    metrics: list[Metric]
    deciding: Metric | None
    direct: bool


class PairedBootstrapComparator(MetaEstimatorMixin, SelectedModel, NamedEstimators):
    """Compare estimators by a paired bootstrap of test rows, and keep one of them.

    Unfitted estimators are cross-validated on the same splits; frozen ones
    (`sklearn.frozen.FrozenEstimator`) are scored on all rows given. The bootstrap draws test
    rows, or whole clusters, anew; every estimator and metric sees the same ones. Afterwards the
    comparator predicts with the selected estimator, by default the baseline unless another one
    is shown to be better.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Classifiers or regressors by name. They are cloned; one that was fitted before is fitted
        again unless it is frozen. A single one is allowed, and has nothing to be compared with.
    scoring : str, scorer, callable, list, dict or None, default=None
        One or several metrics: names that scikit-learn knows, scorers of `make_scorer`, callables
        ``scorer(estimator, X, y)``; a list of these, or a dict that names them. ``None`` is the
        estimators' own ``score``.
    cv : int, splitter, iterable or None, default=None
        Splits into training and test rows, made once and shared by all estimators. ``None`` means
        5 folds, an int that many. They never tear ``groups`` apart: `StratifiedGroupKFold` for
        classifiers and `GroupKFold` otherwise, where groups are given. If all estimators are
        frozen, ``None`` scores them on all rows at once. Frozen and other estimators together
        need a ``cv``.
    baseline : str, default=None
        Name of the estimator that the others are compared with, ``None`` for the first.
    estimand : {"rows", "clusters"}, default="rows"
        What counts the same in a score: every row, or every cluster of the ``groups`` given to
        `fit`, where rows weigh 1 / (rows of their cluster). Estimators are fitted without these
        weights.
    resampling : "auto" or plan, default="auto"
        What is drawn: clusters if ``groups`` are given to `fit`, else rows; or a plan of
        `sklearn_pairboot.resampling`.
    n_resamples : int, "exact" or "auto", default=9999
        Number of bootstrap resamples. More of them reduce the Monte Carlo error of the interval's
        ends, not its width. ``"exact"`` enumerates all resamples, for few units only. ``"auto"``
        draws up to 127,999 of them, until interval ends and verdicts are known well enough, as in
        `compare_estimators`.
    confidence_level : float, default=0.95
        Level of the intervals, in (0, 1).
    method : {"percentile", "basic", "normal", "bca", "studentized", "t", "expanded"}, \
default="percentile"
        Kind of interval, as in `compare_estimators`. The p-value inverts the same interval.
    alternative : {"two-sided", "better", "worse"}, default="two-sided"
        Direction in which a difference counts, better for this metric.
    margin : float or dict of str to float, default=None
        The smallest difference that would matter, in units of the metric; a mapping by metric
        where there are several. With it the verdict "equivalent" is possible, which keeps the
        baseline. Choose it before looking at the data.
    margin_relative : float or dict of str to float, default=None
        The same as a share of the baseline's score, between 0 and 1, for positive scores.
    correction : {"holm", "max-t", "max-t-step-down", "bonferroni", "fdr"} or None, default="holm"
        Adjustment of the p-values of a family of comparisons, also of the corrected resampled t
        tests, which take Holm's in place of ``"max-t"``.
    family : {"metric", "all"}, default="metric"
        What is corrected for one another: the comparisons of one metric, or those of all metrics.
    pairs : {"baseline", "all"}, default="baseline"
        What is compared: every estimator with the baseline, or every one with every other. The
        selection goes by comparisons with the baseline.
    permutation : bool, default=False
        Whether to add the p-values of permutation tests, which swap models' answers. Only where
        all estimators are frozen and scored on all rows: models that were trained on splits are
        not exchangeable row by row. Selection does not follow it.
    selection : {"incumbent", "best"}, default="incumbent"
        ``"incumbent"`` keeps the baseline unless another estimator is shown to be better: the
        bootstrap's verdict is "better", and where models were trained on splits, the corrected
        resampled t test of the splits agrees. Of several such the best estimate is taken.
        ``"best"`` takes the best estimate, however uncertain it is.
    refit : bool or str, default=True
        Whether to fit the estimators on all rows. With several metrics, the name of the one that
        decides. With ``False`` the comparator does not predict.
    n_jobs : int, default=None
        Number of parallel jobs, as joblib takes it. Results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the resampling, not of estimators or splits.
    verbose : int, default=0
        Above zero, one bar on standard error or in the notebook shows what is done. It needs tqdm,
        the extra ``progress``.

    Attributes
    ----------
    result_ : ComparisonResult
        Estimates, intervals, p-values and verdicts. A cross-validated estimate is the mean over
        the test folds, as in `sklearn.model_selection.cross_validate`. Its ``split_tests`` are the
        corrected resampled t tests on the splits, whose ``p_adjusted`` the selection goes by; none
        where nothing was trained on splits, or on one split only.
    best_name_ : str
        Name of the selected estimator. Only where a metric decides.
    best_estimator_ : estimator
        The selected estimator, fitted on all rows. Not with ``refit=False``.
    estimators_ : list of estimators
        All estimators, fitted on all rows; frozen ones as they were. Not with ``refit=False``.
    named_estimators_ : Bunch
        The same by name.
    scorer_ : callable
        Scorer of the deciding metric, which `score` calls.
    split_scores_ : dict of str to ndarray of shape (n_splits, n_estimators)
        Score in every test fold by metric, in scikit-learn's sign: greater is better. Empty where
        frozen models were scored directly.
    n_splits_ : int
        Number of splits, 0 where frozen models were scored directly.
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        Class labels, if the selected estimator has them; for several outputs as it has them.
    n_features_in_ : int
        Number of features, if the selected estimator knows it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the selected estimator knows them.

    See Also
    --------
    compare_estimators : The same for fitted estimators, as a function.
    compare_cross_validate : The same for what `cross_validate` returned.
    sklearn_pairboot.inference.corrected_resampled_ttest : The test of the splits.
    sklearn.model_selection.cross_validate : Scores of one estimator.

    Notes
    -----
    The bootstrap holds the fitted fold models fixed: it asks whether these models would differ
    on other test rows. For two methods that are equally good its verdict alone would be wrong
    far more often than the nominal level says, since training varies too. Hence the second test
    in the selection. Tests cost power: with the selection ``"incumbent"`` the baseline stays
    where data are few.

    Every row has one weight in a resample, however many folds test it. Folds in which a metric
    is undefined in a resample are left out of that resample's mean and counted in the notes.

    Splitters for groups inside an estimator, as in ``GridSearchCV(..., cv=GroupKFold())``, get the
    groups by metadata routing alone: ``sklearn.set_config(enable_metadata_routing=True)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import PairedBootstrapComparator
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> comparator = PairedBootstrapComparator(
    ...     [
    ...         ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ...         ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ...     ],
    ...     scoring="roc_auc",
    ...     random_state=0,
    ... )
    >>> comparator.fit(X, y).best_name_
    'logistic'
    >>> row = comparator.result_.differences[0]
    >>> row.model, row.baseline, round(row.difference, 3), row.verdict
    ('logistic', 'tree', 0.09, 'better')
    >>> round(comparator.result_.split_tests[0].p_value, 3)
    0.004
    >>> comparator.set_params(tree__max_depth=2).get_params()["tree__max_depth"]
    2
    """

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        baseline: str | None = None,
        estimand: str = "rows",
        resampling: Any = "auto",
        n_resamples: int | str = 9999,
        confidence_level: float = 0.95,
        method: str = "percentile",
        alternative: str = "two-sided",
        margin: Any = None,
        margin_relative: Any = None,
        correction: str | None = "holm",
        family: str = "metric",
        pairs: str = "baseline",
        permutation: bool = False,
        selection: str = "incumbent",
        refit: bool | str = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.cv = cv
        self.baseline = baseline
        self.estimand = estimand
        self.resampling = resampling
        self.n_resamples = n_resamples
        self.confidence_level = confidence_level
        self.method = method
        self.alternative = alternative
        self.margin = margin
        self.margin_relative = margin_relative
        self.correction = correction
        self.family = family
        self.pairs = pairs
        self.permutation = permutation
        self.selection = selection
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @one_bar()
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> PairedBootstrapComparator:
        """
        Compare the estimators, select one, and fit them on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The rows; estimators get it as it is. For frozen estimators, test rows.
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            Their truths; several columns, as labels of multilabel targets or as outputs, where
            the estimators take them.
        sample_weight : array-like of shape (n_rows,), default=None
            Importance weight of each row, for scores and for estimators whose ``fit`` takes
            weights. With metadata routing, for those who request it.
        groups : array-like of shape (n_rows,), default=None
            Cluster of each row, such as the patient it came from. Clusters are resampled whole,
            and by default not torn apart by the splits. Two columns are two crossed factors,
            only where frozen estimators are scored without splits.
        **fit_params : dict
            Further metadata, only with metadata routing, for those who request it.

        Returns
        -------
        self : PairedBootstrapComparator
            The fitted comparator.
        """
        checked = self._check_parameters()
        options = checked.options
        plan = options.plan(groups)
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        check_same_index({"`X`": X, "`y`": y, "`groups`": groups, "`sample_weight`": sample_weight})
        X, y = indexable(X, y)
        if np.ndim(y) < 2 or np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        else:
            y = check_target(y, "y")
        if len(y) < 2:
            raise ValueError(
                f"At least 2 rows are needed to compare models, got n_samples={len(y)}."
            )
        units, _ = units_of(plan, options, len(y), y=y, groups=groups, metrics=checked.metrics)
        if not checked.direct:
            check_not_crossed(units)
        routed = route_fit(
            self,
            checked.estimators,
            checked.metrics,
            fit_params,
            sample_weight=check_sample_weight(sample_weight, len(y)),
            groups=groups,
            by_own_score=self.scoring is None,
        )
        weighing = Weighing.of(plan, options.estimand, groups, len(y), check_target(y, "y"))
        check_weighted_scores(checked.metrics, routed, weighing)
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)  # a second fit must not show anything of the first
        fitted: list[Any] = []
        if self.refit is not False:
            # First of all: bad data are then reported in the estimators' own words.
            tasks = [Task(n, e, None, routed.fit[n]) for n, e in checked.estimators.items()]
            fitted = fit_models(tasks, X, y, n_jobs=options.n_jobs, verbose=options.verbose)
        data = Data(X, y, check_target(y, "y"), groups, units, weighing)
        arguments = (data, checked.estimators, checked.metrics, checked.deciding, options, routed)
        if checked.direct:
            compared = compare_directly(*arguments, selection=self.selection)
        else:
            compared = compare_by_splits(*arguments, cv=self.cv, selection=self.selection)
        self.result_ = compared.result
        self.n_splits_ = compared.n_splits
        self.split_scores_ = compared.split_scores
        if checked.deciding is not None:
            self.best_name_ = select(
                compared.result,
                checked.deciding.name,
                self.selection,
                trained_on_splits=compared.trained,
            )
        if fitted and checked.deciding is not None:
            self.estimators_ = fitted
            self.named_estimators_ = Bunch(**dict(zip(checked.estimators, fitted, strict=True)))
            self.best_estimator_ = self.named_estimators_[self.best_name_]
            self.scorer_ = bound_scorer(checked.deciding, data, self.best_estimator_)
        return self

    def _check_parameters(self) -> _Checked:
        """Check every parameter before anything is fitted."""
        options = Options(
            baseline=self.baseline,
            estimand=self.estimand,
            resampling=self.resampling,
            n_resamples=self.n_resamples,
            confidence_level=self.confidence_level,
            method=self.method,
            alternative=self.alternative,
            margin=self.margin,
            margin_relative=self.margin_relative,
            correction=self.correction,
            family=self.family,
            pairs=self.pairs,
            permutation=self.permutation,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
        )
        estimators = check_estimators(self.estimators, self.get_params(deep=False))
        check_baseline(self.baseline, tuple(estimators))
        check_choice("selection", self.selection, SELECTIONS)
        check_cv_option(self.cv)
        frozen = [name for name, estimator in estimators.items() if is_frozen(estimator)]
        if self.cv is None and 0 < len(frozen) < len(estimators):
            raise ValueError(
                "`cv` must be given where some estimators are frozen and others are not, got None "
                f"with {shown(frozen)} frozen. All models must be tested on the same rows."
            )
        metrics = resolve_scoring(self.scoring, estimators)
        options.check_metrics(tuple(estimators), with_companions(metrics))
        direct = self.cv is None and len(frozen) == len(estimators)
        if options.permutation and not direct:
            raise ValueError(
                "`permutation` must be False where estimators are cross-validated, got True. Pass "
                "frozen estimators without `cv`, or the answers of all folds to "
                "compare_predictions."
            )
        return _Checked(options, estimators, metrics, self._deciding(metrics), direct)

    def _deciding(self, metrics: list[Metric]) -> Metric | None:
        """Find the metric that selects, and that `score` computes."""
        names = [metric.name for metric in metrics]
        if isinstance(self.refit, str):
            # A loss is known by two names: as the scorer's and as the result's.
            for metric in metrics:
                if self.refit in (metric.name, f"neg_{metric.name}"):
                    return metric
        elif isinstance(self.refit, bool):
            if len(metrics) == 1:
                return metrics[0]
            if not self.refit:
                return None
        allowed = (
            "True, False or the name of a metric"
            if len(names) == 1
            else ("the name of the metric that decides where there are several, or False")
        )
        raise ValueError(
            f"`refit` must be {allowed}, got {self.refit!r}. The metrics are {shown(names, 20)}."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Tags:
        estimators = [estimator for _, estimator in pairs_of(self.estimators)]
        return common_tags(super().__sklearn_tags__(), estimators)

    def get_metadata_routing(self) -> MetadataRouter:
        """
        Say who requests which metadata.

        Returns
        -------
        routing : MetadataRouter
            Requests of the comparator, the estimators, the scorers and the splitter.
        """
        router = MetadataRouter(owner=type(self).__name__)
        router.add_self_request(super().get_metadata_routing())
        estimators = dict(pairs_of(self.estimators))
        metrics = resolve_scoring(self.scoring, estimators)
        deciding = self._deciding(metrics)
        return add_consumers(
            router,
            estimators,
            metrics,
            self.cv,
            deciding=None if deciding is None else deciding.name,
            by_own_score=self.scoring is None,
        )

    @offered("score")
    def score(self, X: Any, y: Any, *, sample_weight: Any = None, **score_params: Any) -> float:
        """
        Score the selected estimator by the deciding metric.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            Their truths.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.
        **score_params : dict
            Further metadata, only with metadata routing, for a scorer that requests it.

        Returns
        -------
        score : float
            In scikit-learn's sign: greater is better.
        """
        check_is_fitted(self, "best_estimator_")
        deciding = self._deciding(resolve_scoring(self.scoring, dict(pairs_of(self.estimators))))
        params = route_score(
            self,
            self.best_name_,
            "" if deciding is None else deciding.name,
            score_params,
            sample_weight=sample_weight,
            by_own_score=self.scoring is None,
        )
        return cast("float", self.scorer_(self.best_estimator_, X, y, **params))
