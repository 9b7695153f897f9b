"""Rows of the result's tables, how they are read off the replicates, and their verdicts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn_pairboot._engine.intervals import alpha_of


class Row:
    """A row of a table: columns are attributes and also items, as in ``row["p_value"]``.

    Rows are equal if their values are, and here NaN equals NaN, as in `numpy.testing` and the
    ``equals`` of dataframes: it stands for a column that a row does not have. Subclasses are
    dataclasses with ``eq=False``.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, column) for column in self.columns())
        return tuple(None if value != value else value for value in values)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(cls.column_types())

    @classmethod
    def column_types(cls) -> dict[str, str]:
        """Names of the columns with those of their types: str, float, int or bool."""
        return {field.name: str(field.type) for field in dataclasses.fields(cls)}  # type: ignore[arg-type]

    def __getitem__(self, column: str) -> Any:
        if column not in self.columns():
            raise KeyError(f"`column` must be one of {list(self.columns())}, got {column!r}.")
        return getattr(self, column)

    def asdict(self) -> dict[str, Any]:
        """
        Return the row as a dictionary.

        Returns
        -------
        dict
            Values by the names of the columns, in order.
        """
        return {column: getattr(self, column) for column in self.columns()}


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRow(Row):
    """One model on one metric: the estimate and its interval, in the metric's natural units."""

    metric: str
    model: str
    estimate: float
    std_error: float
    ci_low: float
    ci_high: float
    greater_is_better: bool
    n_undefined: int
    n_zero_division: int
    status: str


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceRow(Row):
    """One model against the baseline on one metric: ``difference`` is model minus baseline."""

    metric: str
    model: str
    baseline: str
    difference: float
    std_error: float
    ci_low: float
    ci_high: float
    greater_is_better: bool
    p_value: float
    p_adjusted: float
    p_permutation: float
    verdict: str
    status: str


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceRow(DifferenceRow):
    """A difference with a margin: further columns after the usual ones.

    The interval from ``equivalence_low`` to ``equivalence_high`` has the level 1 - 2 alpha.
    ``p_equivalence`` and ``p_not_worse`` are those of the single comparison. All are NaN for a
    metric without a margin.
    """

    margin: float = math.nan
    equivalence_low: float = math.nan
    equivalence_high: float = math.nan
    p_equivalence: float = math.nan
    p_equivalence_adjusted: float = math.nan
    p_not_worse: float = math.nan
    p_not_worse_adjusted: float = math.nan


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Name, direction and way of computing (``"sums"``, ``"ranks"``, ``"replay"``) of a metric.

    ``interval_rule`` is empty, or ``"normal"`` where replicates are not centred at the value, or
    ``"biased"`` where values of models differ by more than the models do.
    """

    name: str
    greater_is_better: bool
    path: str
    interval_rule: str = ""

    @property
    def direction(self) -> str:
        """The direction in words."""
        return f"{'higher' if self.greater_is_better else 'lower'} is better"

    @property
    def title(self) -> str:
        """Name and direction."""
        return f"{self.name} ({self.direction})"


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be changed without drawing again: how the replicates are read."""

    baseline: str
    confidence_level: float = 0.95
    method: str = "percentile"
    alternative: str = "two-sided"
    correction: str | None = "holm"
    margin: float | Mapping[str, float] | None = None
    margin_relative: float | Mapping[str, float] | None = None
    family: str = "metric"
    pairs: str = "baseline"

    @property
    def alpha(self) -> float:
        """Error level that belongs to the confidence level: 0.05 for 0.95, to the last digit."""
        return alpha_of(self.confidence_level)

    def side(self, greater_is_better: bool) -> str:
        """Translate "better" and "worse" into "greater" and "less" for one metric."""
        if self.alternative == "two-sided":
            return "two-sided"
        return "greater" if (self.alternative == "better") == greater_is_better else "less"

    @property
    def has_margin(self) -> bool:
        """Whether some metric has a margin."""
        return self.margin is not None or self.margin_relative is not None

    @property
    def row_type(self) -> type[DifferenceRow]:
        """Kind of the rows in the table of differences."""
        return EquivalenceRow if self.has_margin else DifferenceRow

    def margin_of(self, metric: str) -> float | None:
        """Margin of one metric in its units, if it has one of that kind."""
        return _of_metric(self.margin, metric)

    def margin_relative_of(self, metric: str) -> float | None:
        """Margin of one metric as a share of the baseline, if it has one of that kind."""
        return _of_metric(self.margin_relative, metric)


def _of_metric(margin: float | Mapping[str, float] | None, metric: str) -> float | None:
    return margin.get(metric) if isinstance(margin, Mapping) else margin


@dataclass(frozen=True, slots=True)
class SlicePart:
    """One metric in one subgroup: the rows with one label of one slice variable.

    ``place`` is its number among the metrics of the joint distribution, which has the metrics of
    all rows first; ``None`` where it could not be computed. ``reason`` says why it is not
    compared, if it is not.
    """

    metric: str
    slice: str
    label: str
    n_rows: int
    n_units: int
    place: int | None
    reason: str = ""

    @property
    def name(self) -> str:
        """Name of metric and subgroup."""
        return f"{self.metric} where {self.slice} = {self.label}"


class Comparison(NamedTuple):
    """Two models on one metric, by their numbers; ``info`` describes the metric.

    In a subgroup, ``part``, the number of the metric is that of the metric there.
    """

    metric: int
    info: MetricInfo
    model: int
    other: int
    part: SlicePart | None = None

    @property
    def name(self) -> str:
        """Name of the metric and, if it is one, of the subgroup."""
        return self.info.name if self.part is None else self.part.name

    def place(self, models: Sequence[str]) -> str:
        """Name what is compared, and where."""
        return f"{self.name} ({models[self.model]} - {models[self.other]})"


class Tables(NamedTuple):
    """All tables and the notes that their numbers call for."""

    scores: tuple[ScoreRow, ...]
    differences: tuple[DifferenceRow, ...]
    notes: tuple[str, ...]
    slices: tuple[Any, ...] = ()


def verdict_word(row: DifferenceRow, alpha: float, n_units: int) -> str:
    """Say "equivalent", which wins, or what `direction_word` says; never that models are equal."""
    return (
        "equivalent" if is_equivalent(row, alpha, n_units) else direction_word(row, alpha, n_units)
    )


def is_equivalent(row: DifferenceRow, alpha: float, n_units: int) -> bool:
    """Tell whether a difference is shown to lie within its margin.

    The adjusted p-value decides, unless there are too few units, or the estimate itself lies
    outside the margin.
    """
    if not isinstance(row, EquivalenceRow) or too_few_units(n_units, alpha):
        return False
    shown = row.p_equivalence_adjusted <= alpha  # False for NaN
    return shown and abs(row.difference) < row.margin


def is_not_worse(row: DifferenceRow, alpha: float, n_units: int) -> bool:
    """Tell whether a model is shown to be worse by less than its margin, if at all."""
    if not isinstance(row, EquivalenceRow) or too_few_units(n_units, alpha):
        return False
    gain = row.difference if row.greater_is_better else -row.difference
    return row.p_not_worse_adjusted <= alpha and gain > -row.margin


def direction_word(row: DifferenceRow, alpha: float, n_units: int) -> str:
    """Say "better", "worse" or "inconclusive", whatever the margin.

    The adjusted p-value decides. Two things overrule it: fewer units than could show anything
    even if all agreed, and an estimate that its own interval contradicts.
    """
    if too_few_units(n_units, alpha) or not row.p_adjusted <= alpha:  # "not <=" catches NaN
        return "inconclusive"
    if not side_of_zero(row) or contradicts_itself(row):
        return "inconclusive"
    return "better" if (row.ci_low > 0) == row.greater_is_better else "worse"


def side_of_zero(row: DifferenceRow) -> int:
    """Tell where the interval lies: 1 above zero, -1 below, 0 around it."""
    return int(row.ci_low > 0) - int(row.ci_high < 0)


def contradicts_itself(row: DifferenceRow) -> bool:
    """Tell whether the interval excludes zero on the side where the estimate is not."""
    return side_of_zero(row) != 0 and side_of_zero(row) * row.difference <= 0


def too_few_units(n_units: int, alpha: float) -> bool:
    """Tell whether units that all agree could still be chance: each agrees with probability 1/2."""
    return 2.0 ** (1 - n_units) > alpha


def format_count(count: int) -> str:
    """Write a count, an astronomical one by its size alone."""
    return str(count) if count < 10**15 else f"about 1e{math.floor(math.log10(count))}"


def write_record(record: Any) -> str:
    """Write a dataclass as Python does, but counts of thousands of digits by their size alone."""
    values = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
    parts = (
        f"{name}={format_count(value) if type(value) is int else repr(value)}"
        for name, value in values
    )
    return f"{type(record).__name__}({', '.join(parts)})"
