"""What displays read off a result, whatever class it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._tables import (
    BAYESIAN,
    DifferenceRow,
    MonteCarloRow,
    ScoreRow,
    SliceRow,
    check_choice,
)
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.plotting._names import shortened

AnyRow = TypeVar("AnyRow", ScoreRow, DifferenceRow)


class Result(Protocol):
    """Tables of a comparison, and its replicates where they are at hand."""

    @property
    def scores(self) -> tuple[ScoreRow, ...]:
        """Table of scores."""

    @property
    def differences(self) -> tuple[DifferenceRow, ...]:
        """Table of differences."""

    @property
    def slices(self) -> tuple[SliceRow, ...]:
        """Table of subgroups."""

    @property
    def monte_carlo(self) -> tuple[MonteCarloRow, ...]:
        """Monte Carlo standard errors of scores and differences."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""

    @property
    def confidence_level(self) -> float:
        """Confidence level of the intervals."""

    @property
    def correction(self) -> str | None:
        """Correction for the number of comparisons."""

    @property
    def family(self) -> str:
        """What is corrected for one another."""

    @property
    def scheme(self) -> str:
        """How weights are drawn."""

    def _require_joint(self, what: str) -> BootstrapDistribution: ...


def drawn_by(result: Result) -> str:
    """Say what the replicates of a result are."""
    return "posterior draws" if result.scheme == BAYESIAN else "resamples"


def hold_at_once(result: Result, rows: Sequence[ScoreRow | DifferenceRow | SliceRow]) -> bool:
    """Whether the intervals of rows hold for a family of several comparisons at once."""
    if result.correction != "max-t" or any(isinstance(row, ScoreRow) for row in rows):
        return False
    if result.family == "all":
        rows = [*result.differences, *result.slices]
    return len(rows) > 1


def rows_beside(
    result: Result, row: ScoreRow | DifferenceRow
) -> Sequence[ScoreRow | DifferenceRow]:
    """Give the rows of the same table and metric."""
    rows: Sequence[ScoreRow | DifferenceRow] = result.scores
    if isinstance(row, DifferenceRow):
        rows = result.differences
    return [other for other in rows if other.metric == row.metric]


def interval_name(confidence_level: float, simultaneous: bool) -> str:
    """Name an interval by its level, and say whether it holds for one comparison or for all."""
    return f"{'simultaneous ' * simultaneous}{format_percent(confidence_level)} interval"


def direction(greater_is_better: bool) -> str:
    """Say which way a metric points."""
    return f"{'higher' if greater_is_better else 'lower'} is better"


def title(metric: str, model: str, baseline: str | None, greater_is_better: bool) -> str:
    """Say what is drawn, in which metric, and which way it points."""
    what = (
        shortened(model) if baseline is None else f"{shortened(model)} minus {shortened(baseline)}"
    )
    return f"{shortened(metric)}: {what}; {direction(greater_is_better)}"


def chosen(name: str, value: Any, names: Iterable[str]) -> str:
    """Check the choice of a metric or model; ``None`` where there is only one."""
    names = list(dict.fromkeys(names))
    if value is None and len(names) == 1:
        return names[0]
    check_choice(name, value, names)
    return str(value)


def table_of(result: Result, which: str | None) -> str:
    """Choose scores or differences; ``None`` is the differences where there are any."""
    if which is None:
        return "differences" if result.differences else "scores"
    check_choice("which", which, ("differences", "scores"))
    if which == "differences" and not result.differences:
        raise ValueError(
            "`which` must be 'scores' where there is a single model, got 'differences'. There is "
            "nothing to compare it with."
        )
    return which


def chosen_row(
    result: Result, which: str | None, metric: str | None, model: str | None, baseline: str | None
) -> ScoreRow | DifferenceRow:
    """Find one row of a table by its names, which may be left out where there is one choice."""
    name = chosen("metric", metric, result.metrics)
    if table_of(result, which) == "scores":
        if baseline is not None:
            raise ValueError(f"`baseline` must be None for a score, got {baseline!r}.")
        return _of_model([row for row in result.scores if row.metric == name], model)
    rows = [row for row in result.differences if row.metric == name]
    of = [row.baseline for row in rows]
    other = of[0] if baseline is None else chosen("baseline", baseline, of)
    return _of_model([row for row in rows if row.baseline == other], model)


def _of_model(rows: Sequence[AnyRow], model: str | None) -> AnyRow:
    name = chosen("model", model, [row.model for row in rows])
    return next(row for row in rows if row.model == name)
