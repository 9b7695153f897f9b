"""What a report states besides the rows of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sklearn_pairboot._tables import PLAIN, MetricInfo, MonteCarloRow, Settings, SliceRow
from sklearn_pairboot.report.permutations import PermutationRow
from sklearn_pairboot.report.split_tests import SplitTestRow


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything a report states besides the rows of its tables."""

    models: tuple[str, ...]
    metrics: tuple[MetricInfo, ...]
    settings: Settings
    unit: str
    n_units: int
    n_rows: int
    unit_sizes: tuple[float, float, float]
    n_resamples: int | str
    n_sequences: int
    held_fixed: str = "the trained models"
    scheme: str = PLAIN
    stratified: bool = False
    weighted: bool = False
    estimand: str = "rows"
    factors: tuple[tuple[str, int], ...] = ()
    paired: bool = True
    exact_by: str | None = None
    random_state_entropy: int | None = None
    notes: tuple[str, ...] = ()
    permutations: tuple[PermutationRow, ...] = ()
    monte_carlo: tuple[MonteCarloRow, ...] = ()
    slices: tuple[SliceRow, ...] = ()
    split_tests: tuple[SplitTestRow, ...] = ()


def family_size(facts: Facts) -> int:
    """Count the comparisons that are corrected for one another."""
    n_models = len(facts.models)
    n_pairs = n_models - 1
    if facts.settings.pairs == "all":
        n_pairs = n_models * (n_models - 1) // 2
    if facts.settings.family == "metric":
        return n_pairs
    return n_pairs * len(facts.metrics) + _n_tested(facts.slices)


def slice_family_size(facts: Facts, metric: str) -> int:
    """Count the comparisons that those in subgroups are corrected with, on one metric."""
    if facts.settings.family == "all":
        return family_size(facts)
    return _n_tested(row for row in facts.slices if row.metric == metric)


def _n_tested(slices: Iterable[SliceRow]) -> int:
    return sum(not math.isnan(row.p_value) for row in slices)


def adjusted_apart(facts: Facts) -> bool:
    """Whether adjusted p-values stand beside those of single comparisons."""
    return facts.settings.correction not in (None, "max-t")


class Described:
    """What a result tells of itself, read off its facts."""

    _facts: Facts

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self._facts.models

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(metric.name for metric in self._facts.metrics)

    @property
    def paths(self) -> dict[str, str]:
        """Way of computing each metric: ``"sums"``, ``"ranks"`` or ``"replay"``."""
        return {metric.name: metric.path for metric in self._facts.metrics}

    @property
    def baseline(self) -> str:
        """Name of the model that the others are compared with."""
        return self._facts.settings.baseline

    @property
    def confidence_level(self) -> float:
        """Confidence level of the intervals."""
        return self._facts.settings.confidence_level

    @property
    def method(self) -> str:
        """Interval method asked for; a row's ``status`` names a fall-back."""
        return self._facts.settings.method

    @property
    def alternative(self) -> str:
        """Alternative of the comparisons, in terms of better and worse."""
        return self._facts.settings.alternative

    @property
    def correction(self) -> str | None:
        """Correction of the p-values for the number of comparisons."""
        return self._facts.settings.correction

    @property
    def margin(self) -> float | Mapping[str, float] | None:
        """The smallest difference that would matter, in units of the metric."""
        return self._facts.settings.margin

    @property
    def margin_relative(self) -> float | Mapping[str, float] | None:
        """The same as a share of the baseline's score."""
        return self._facts.settings.margin_relative

    @property
    def family(self) -> str:
        """What is corrected for one another: comparisons of one ``"metric"``, or ``"all"``."""
        return self._facts.settings.family

    @property
    def pairs(self) -> str:
        """What is compared: models with the ``"baseline"``, or ``"all"`` with one another."""
        return self._facts.settings.pairs

    @property
    def unit(self) -> str:
        """What is drawn: ``"rows"``, ``"clusters"``, or blocks such as ``"blocks of 5 rows"``."""
        return self._facts.unit

    @property
    def scheme(self) -> str:
        """How weights are drawn: ``"bootstrap"``, ``"two-stage"``, ``"moving blocks"`` and so on.

        ``"bootstrap"`` stands for counts of whole units, drawn with replacement.
        """
        return self._facts.scheme

    @property
    def n_units(self) -> int:
        """Number of resampling units."""
        return self._facts.n_units

    @property
    def n_rows(self) -> int:
        """Number of test rows."""
        return self._facts.n_rows

    @property
    def unit_sizes(self) -> tuple[float, float, float]:
        """Rows per unit: smallest, median, largest."""
        return self._facts.unit_sizes

    @property
    def stratified(self) -> bool:
        """Whether units were drawn within strata."""
        return self._facts.stratified

    @property
    def weighted(self) -> bool:
        """Whether the scores are weighted."""
        return self._facts.weighted

    @property
    def estimand(self) -> str:
        """What counts the same in a score: ``"rows"``, or ``"clusters"`` of any size."""
        return self._facts.estimand

    @property
    def factors(self) -> tuple[tuple[str, int], ...]:
        """Names of two crossed factors and how many levels they have; empty without."""
        return self._facts.factors

    @property
    def paired(self) -> bool:
        """Whether all models were evaluated on the same resamples."""
        return self._facts.paired

    @property
    def exact_by(self) -> str | None:
        """How all resamples were taken: by ``"enumeration"``, ``"convolution"`` or not (None)."""
        return self._facts.exact_by

    @property
    def n_resamples(self) -> int | str:
        """Number of resamples, or ``"exact"``."""
        return self._facts.n_resamples

    @property
    def slices(self) -> tuple[SliceRow, ...]:
        """Table of subgroups: one row for each metric, subgroup and comparison of two models."""
        return self._facts.slices

    @property
    def split_tests(self) -> tuple[SplitTestRow, ...]:
        """Corrected resampled t test of each comparison where models were trained on splits.

        It is about the methods, trained on other rows of the same kind, where ``differences`` are
        about the fitted models. Empty where nothing was trained on splits, or on one alone.
        """
        return self._facts.split_tests

    @property
    def permutations(self) -> tuple[PermutationRow, ...]:
        """How each ``p_permutation`` was found; empty without ``permutation=True``."""
        return self._facts.permutations

    @property
    def held_fixed(self) -> str:
        """What the resamples do not vary."""
        return self._facts.held_fixed

    @property
    def random_state_entropy(self) -> int | None:
        """Seed that repeats the draws."""
        return self._facts.random_state_entropy

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about the input and the numbers, one sentence or two per cause."""
        return self._facts.notes
