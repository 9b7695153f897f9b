"""The keywords that all comparisons share: their checks and their one docstring source."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sklearn_pairboot._engine.intervals import check_alpha
from sklearn_pairboot._engine.seeds import check_random_state, is_integer
from sklearn_pairboot._scoring.groups import crossed_columns
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._tables import (
    FAMILIES,
    PAIRS,
    Settings,
    check_baseline,
    check_choice,
    check_crossed_method,
    check_margin_names,
    check_margins,
    check_margins_by_rule,
    check_reading,
    check_unpaired_method,
    plain_margin,
)
from sklearn_pairboot.comparison._auto import totals_for
from sklearn_pairboot.comparison._design import ESTIMANDS
from sklearn_pairboot.resampling import ClusterBootstrap, CrossedBootstrap, RowBootstrap
from sklearn_pairboot.resampling._whole import ResamplingPlan

MOST_RESAMPLES = 10_000_000

_COMMON = """\
baseline : str, default=None
    Name of the model that the others are compared with, ``None`` for the first.
groups : array-like of shape (n_rows,), default=None
    Cluster of each row, such as the patient, document or user it came from. With it, whole
    clusters are resampled. Without it rows count as independent, and intervals are too narrow
    where they are not. Two columns, shape (n_rows, 2), are two crossed factors, such as user and
    item or prompt and judge: see `sklearn_pairboot.resampling.CrossedBootstrap`.
estimand : {"rows", "clusters"}, default="rows"
    What counts the same in a score. ``"rows"``: every row, so that larger clusters count more.
    ``"clusters"``: every cluster of ``groups``; rows weigh 1 / (rows of their cluster), or their
    share of the ``sample_weight`` of their cluster, so that a mean is the mean of cluster means.
    It needs a metric that takes weights. Choose it by the question, before looking.
test_sets : array-like of shape (n_rows,), default=None
    Test set of each row, such as the benchmark that it belongs to. The scores are then averages
    over test sets of the metric on each, and each set is resampled on its own rows or clusters.
    A resample in which the metric is undefined on some set is undefined. Clusters must lie in
    one set each. ``resampling`` may be rows, clusters, or either within strata; permutation tests
    are then those of `compare_scores` alone.
test_set_weights : mapping of label to float, default=None
    Weight of each test set in the average, positive; they are divided by their sum. ``None``
    weighs all alike.
sample_weight : array-like of shape (n_rows,), default=None
    Importance weight of each row, not negative. It multiplies the number of times that a row
    was drawn, so an integer weight equals that many copies of the row inside its unit.
slices : mapping of str to array-like of shape (n_rows,) or dataframe, default=None
    Slice variables by name: labels of the rows, such as regions, lengths cut into ranges, or a
    boolean mask. Every label of every variable is a subgroup, in which the models are compared on
    the rows with that label, in the same resamples; ``result.slices`` shows it. The subgroups of
    one metric are a family of their own for the correction, margins do not apply to them. Plan
    them before looking at the data: of many that are searched, some look good by chance. Two
    subgroups with different verdicts need not differ; their difference is not tested. Rows keep
    the weights that they have among all rows, those of ``estimand="clusters"`` included, and the
    score of a subgroup is one over all its rows, whatever ``test_sets`` they are from. Two crossed
    factors have no subgroups.
resampling : "auto" or plan, default="auto"
    What is drawn: clusters if ``groups`` are given, the levels of both factors if these have two
    columns, else rows; or a plan of `sklearn_pairboot.resampling`.
n_resamples : int, "exact" or "auto", default=9999
    Number of bootstrap resamples. More of them reduce the Monte Carlo error of the interval's
    ends, not its width. ``"exact"`` takes all resamples in place of random ones, which removes
    Monte Carlo error and nothing else. Up to 2 million different ones are enumerated. Beyond
    that, means of scores (accuracy among them) have the distribution of each model and of each
    difference found by convolution, to within 1e-12, where scores, or their sums in clusters, are
    whole multiples of a common step and the sums within reach are at most 4,194,304, those of
    weights included where weights or cluster sizes differ. It has no joint resamples, which
    ``correction="max-t"`` and ranks need. All else is refused. ``"auto"`` draws
    1,999, 3,999, 7,999 and so on up to 127,999 resamples, until the Monte Carlo error of every
    interval's end is at most 4 % of the standard error, and every p-value, adjusted or not, lies on
    one side of 1 - ``confidence_level`` but for a risk of 0.001. The result is that of as many
    resamples asked for by number, and a note says why it stopped. Subgroups of ``slices`` are not
    looked at for that. Give a number where a scorer has to be called on rows, which takes long.
confidence_level : float, default=0.95
    Level of the intervals, in (0, 1).
method : {"percentile", "basic", "normal", "bca", "studentized", "t", "expanded"}, \
default="percentile"
    Kind of interval. The p-value inverts the same interval. ``"expanded"`` moves the percentiles
    out for few units (Hesterberg 2015), and needs more resamples the fewer they are.
    ``"studentized"`` (bootstrap-t) and ``"t"`` take the standard error from the influence of the
    units on the metric: the first with the quantiles of the resampled deviations, each divided by
    its own standard error, the second with those of Student's t. Its degrees of freedom are the
    number of units less one, and fewer where clusters differ in size, by the intraclass
    correlation of the rows' influence. Scorers that are called on rows have no ``"studentized"``
    interval, and ``"t"`` by the jackknife. Plans that do not draw whole units (blocks, two stages,
    Bayesian weights) have none of ``"bca"``, ``"studentized"`` and ``"t"``; two crossed factors
    have ``"t"``, with the spread of the replicates.
alternative : {"two-sided", "better", "worse"}, default="two-sided"
    Direction in which a difference counts, better for this metric. A one-sided interval of the
    difference has one infinite end; intervals of the scores stay two-sided.
margin : float or dict of str to float, default=None
    The smallest difference that would matter, in units of the metric; a mapping by metric where
    there are several, in which some may be absent. With it the verdict "equivalent" is possible,
    and the table of differences tells how well each model is shown to be equivalent, and not
    worse. Choose it before looking at the data.
margin_relative : float or dict of str to float, default=None
    The same as a share of the baseline's score, between 0 and 1, for positive scores.
correction : {"holm", "max-t", "max-t-step-down", "bonferroni", "fdr"} or None, default="holm"
    Adjustment of the p-values of a family of comparisons. The verdict follows the adjusted
    p-value, while ``p_value`` and the interval stay per comparison. ``"max-t"`` uses the joint
    resamples, and so gains where models are alike: it gives intervals that hold for the whole
    family at once, estimate +- c standard errors, in place of those of ``method``, and the
    p-values that belong to them. ``"max-t-step-down"`` adjusts p-values in the same way, yet step
    by step, which finds no less and often more; ``p_value`` and intervals stay per comparison,
    and no adjusted p-value is below its own.
family : {"metric", "all"}, default="metric"
    What is corrected for one another: the comparisons of one metric, or those of all metrics,
    then with their subgroups.
pairs : {"baseline", "all"}, default="baseline"
    What is compared: every model with the baseline, or every model with every other.
permutation : bool, default=False
    Whether to add the p-value of a permutation test of each difference, ``p_permutation``: the
    two models' answers are swapped in whole rows or clusters. Its null hypothesis, that models
    are exchangeable, says more than that a metric is equal. The verdict does not follow it. All
    arrangements are counted where that is feasible, else ``n_resamples`` are drawn, at most 999
    where a scorer has to be called on rows; mid-ranks are swapped in rank metrics, which is
    approximate. ``result.permutations`` says how each was found. It is refused for two crossed
    factors and for blocks, whose rows do not exchange answers one by one.
n_jobs : int, default=None
    Number of parallel jobs, as joblib takes it. Results do not depend on it.
random_state : int, Generator, RandomState or None, default=None
    Seed of the resampling. An int gives the same resamples in every call; ``None`` fresh ones.
verbose : int, default=0
    Above zero, one bar on standard error or in the notebook shows fits and blocks of resamples as
    they are done. It needs tqdm, the extra ``progress``."""

_F = TypeVar("_F", bound=Callable[..., Any])


def with_common_parameters(function: _F) -> _F:
    """Insert the shared parameters that it has where the docstring says ``{common}``."""
    text = inspect.getdoc(function)
    if text is not None:
        known = inspect.signature(function).parameters
        entries = re.split(r"\n(?=\S)", _COMMON)
        common = "\n".join(
            entry
            for entry in entries
            if any(name.strip() in known for name in entry.partition(" : ")[0].split(","))
        )
        function.__doc__ = text.replace("{common}", common)
    return function


@dataclass(frozen=True)
class Options:
    """Checked keywords of a comparison."""

    baseline: str | None = None
    estimand: str = "rows"
    resampling: Any = "auto"
    n_resamples: int | str = 9999
    confidence_level: float = 0.95
    method: str = "percentile"
    alternative: str = "two-sided"
    margin: Any = None
    margin_relative: Any = None
    correction: str | None = "holm"
    family: str = "metric"
    pairs: str = "baseline"
    permutation: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    paired: bool = True

    def __post_init__(self) -> None:
        named = isinstance(self.n_resamples, str) and self.n_resamples in ("exact", "auto")
        if not named and not is_integer(self.n_resamples, least=2):
            raise ValueError(
                "`n_resamples` must be an integer of at least 2, 'exact' or 'auto', got "
                f"{self.n_resamples!r}."
            )
        if not named and int(self.n_resamples) > MOST_RESAMPLES:
            raise ValueError(
                f"`n_resamples` must be at most {MOST_RESAMPLES:,}, got {self.n_resamples!r}. All "
                "replicates are kept, and far fewer make the Monte Carlo error negligible."
            )
        check_reading(self.confidence_level, self.method, self.alternative, self.correction)
        check_choice("estimand", self.estimand, ESTIMANDS)
        check_choice("family", self.family, FAMILIES)
        check_choice("pairs", self.pairs, PAIRS)
        check_margins(self.margin, self.margin_relative, self.confidence_level)
        if not isinstance(self.permutation, bool | np.bool_):
            raise TypeError(f"`permutation` must be True or False, got {self.permutation!r}.")
        if not isinstance(self.paired, bool | np.bool_):
            raise TypeError(f"`paired` must be True or False, got {self.paired!r}.")
        if not self.paired:
            check_unpaired_method(self.method)
        if self.permutation and not self.paired:
            raise ValueError(
                "`permutation` must be False with `paired=False`, got True: the test swaps the two "
                "models' answers to the same item, and samples drawn apart have no item in common."
            )
        if self.n_jobs is not None and (not is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"`n_jobs` must be a non-zero integer or None, got {self.n_jobs!r}.")
        if not is_integer(self.verbose, least=0):
            raise ValueError(f"`verbose` must be an integer >= 0, got {self.verbose!r}.")
        check_random_state(self.random_state)
        if not named:
            # Intervals of the scores are two-sided whatever the alternative.
            check_alpha(int(self.n_resamples), self.confidence_level)
        elif self.n_resamples == "auto":
            totals_for(self.confidence_level)

    def settings(self, models: Sequence[str], metrics: Sequence[str]) -> Settings:
        """Say how the replicates of these models and metrics are to be read."""
        check_margin_names(self.margin, self.margin_relative, models, metrics)
        return Settings(
            baseline=check_baseline(self.baseline, models),
            confidence_level=float(self.confidence_level),
            method=self.method,
            alternative=self.alternative,
            correction=self.correction,
            margin=plain_margin(self.margin),
            margin_relative=plain_margin(self.margin_relative),
            family=self.family,
            pairs=self.pairs,
        )

    def check_metrics(self, models: Sequence[str], metrics: Sequence[Metric]) -> None:
        """Raise unless the replicates of these models and metrics can be read as asked for."""
        rules = {metric.name: metric.interval_rule for metric in metrics}
        check_margins_by_rule(self.margin, self.margin_relative, rules)
        self.settings(models, list(rules))

    def plan(self, groups: Any) -> ResamplingPlan:
        """Choose the resampling plan."""
        plan = self._plan(crossed_columns(groups) is not None, groups is not None)
        if self.estimand == "clusters" and groups is None:
            raise ValueError(
                "`estimand` must be 'rows' without `groups`, got 'clusters'. Pass the cluster of "
                "each row."
            )
        if isinstance(plan, CrossedBootstrap):
            self._check_crossed()
        return plan

    def _plan(self, crossed: bool, clustered: bool) -> ResamplingPlan:
        if isinstance(self.resampling, str):
            if self.resampling != "auto":
                raise ValueError(
                    "`resampling` must be 'auto' or a plan of sklearn_pairboot.resampling, such "
                    f"as BlockBootstrap(), got {self.resampling!r}."
                )
            if crossed:
                return CrossedBootstrap()
            return ClusterBootstrap() if clustered else RowBootstrap()
        if not hasattr(self.resampling, "resampling_units") or isinstance(self.resampling, type):
            raise TypeError(
                "`resampling` must be 'auto' or a plan such as ClusterBootstrap(), got "
                f"{self.resampling!r}."
            )
        plan: ResamplingPlan = self.resampling
        return plan

    def _check_crossed(self) -> None:
        """Refuse what two crossed factors do not allow."""
        check_crossed_method(self.method)
        one_column = "Pass one column of `groups` for one factor."
        if isinstance(self.n_resamples, str):
            raise ValueError(
                "`n_resamples` must be an integer where `groups` are two crossed factors, got "
                f"{self.n_resamples!r}: their replicates are joined from three sets of resamples. "
                f"{one_column}"
            )
        if self.estimand == "clusters":
            raise ValueError(
                "`estimand` must be 'rows' where `groups` are two crossed factors, got "
                f"'clusters': it says not which of them. {one_column}"
            )
        if self.permutation:
            raise ValueError(
                "`permutation` must be False where `groups` are two crossed factors, got True: "
                "answers cannot be swapped within the levels of one factor as if those of the "
                f"other were independent. {one_column}"
            )
