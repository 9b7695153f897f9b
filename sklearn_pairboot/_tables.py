"""Rows of the result's tables, the words of the verdict, the notes that the numbers call for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import METHODS, IntervalEstimate, alpha_of, interval
from sklearn_pairboot._engine.multiplicity import CORRECTIONS, adjust
from sklearn_pairboot._engine.sample import Sample

ALTERNATIVES = ("two-sided", "better", "worse")
# A larger share of undefined resamples than this is worth a note.
UNDEFINED_SHARE = 0.05


class Row:
    """A row of a table: columns are attributes and also items, as in ``row["p_value"]``."""

    __slots__ = ()

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
        """Return the row as a dictionary, columns in order."""
        return {column: getattr(self, column) for column in self.columns()}


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Name, direction and way of computing (``"sums"``, ``"ranks"``, ``"replay"``) of a metric."""

    name: str
    greater_is_better: bool
    path: str

    @property
    def direction(self) -> str:
        """The direction in words."""
        return f"{'higher' if self.greater_is_better else 'lower'} is better"


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be changed without drawing again: how the replicates are read."""

    baseline: str
    confidence_level: float = 0.95
    method: str = "percentile"
    alternative: str = "two-sided"
    correction: str | None = "holm"

    @property
    def alpha(self) -> float:
        """Error level that belongs to the confidence level: 0.05 for 0.95, to the last digit."""
        return alpha_of(self.confidence_level)

    def side(self, greater_is_better: bool) -> str:
        """Translate "better" and "worse" into "greater" and "less" for one metric."""
        if self.alternative == "two-sided":
            return "two-sided"
        return "greater" if (self.alternative == "better") == greater_is_better else "less"


class Tables(NamedTuple):
    """Both tables and the notes that their numbers call for."""

    scores: tuple[ScoreRow, ...]
    differences: tuple[DifferenceRow, ...]
    notes: tuple[str, ...]


def check_settings(settings: Settings, models: Sequence[str]) -> None:
    """Raise unless every setting is one that the tables know."""
    check_baseline(settings.baseline, models)
    check_reading(
        settings.confidence_level, settings.method, settings.alternative, settings.correction
    )


def check_baseline(baseline: Any, models: Sequence[str]) -> str:
    """Find the baseline: the named model, or the first."""
    if baseline is None:
        return models[0]
    if not isinstance(baseline, str) or baseline not in models:
        raise ValueError(
            "`baseline` must be the name of a model, one of "
            f"{', '.join(map(repr, models))}, got {baseline!r}."
        )
    return str(baseline)


def check_reading(confidence_level: Any, method: Any, alternative: Any, correction: Any) -> None:
    """Raise unless these say how replicates can be read."""
    level = confidence_level
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(
            f"`confidence_level` must be a number between 0 and 1, got {level!r}. For 95 % pass "
            "0.95."
        )
    check_choice("method", method, METHODS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("correction", correction, CORRECTIONS)


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is one of the choices, which may include None."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"`{name}` must be one of {listed}, got {value!r}.")


def build_tables(
    distribution: BootstrapDistribution,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    settings: Settings,
) -> Tables:
    """Read both tables off the joint replicates, and say what a reader must know about them."""
    models, metrics = tuple(models), tuple(metrics)
    baseline = models.index(settings.baseline)
    findings = _Findings(distribution.n_sequences)
    scores: list[ScoreRow] = []
    differences: list[DifferenceRow] = []
    for number, metric in enumerate(metrics):
        for model in range(len(models)):
            scores.append(
                _score_row(distribution, number, model, metric, models, settings, findings)
            )
        rows = [
            _difference_row(
                distribution, number, model, baseline, metric, models, settings, findings
            )
            for model in range(len(models))
            if model != baseline
        ]
        differences += _with_verdicts(rows, settings, distribution.n_units)
        findings.add_undefined(distribution, number, metric.name, baseline)
    findings.add_contradictions(differences)
    return Tables(tuple(scores), tuple(differences), findings.notes(settings, distribution.n_units))


def verdict_word(row: DifferenceRow, alpha: float, n_units: int) -> str:
    """Say "better", "worse" or "inconclusive"; never that models are equal.

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


def _score_row(
    distribution: BootstrapDistribution,
    metric: int,
    model: int,
    info: MetricInfo,
    models: Sequence[str],
    settings: Settings,
    findings: _Findings,
) -> ScoreRow:
    name = models[model]
    if distribution.undefined[:, metric, model].all():
        raise ValueError(
            f"`{info.name}` of {name!r} is undefined in every resample, so it has no interval. "
            "Use a metric that is defined on resamples of these rows, or more rows."
        )
    estimate = float(distribution.observed[metric, model])
    sample = distribution.model_sample(metric, model)
    found = interval(
        sample,
        estimate,
        method=settings.method,
        confidence_level=settings.confidence_level,
        acceleration=(
            distribution.acceleration(metric, model) if settings.method == "bca" else None
        ),
    )
    n_zero_division = int(distribution.n_zero_division(metric, model))
    findings.add(f"{info.name} ({name})", estimate, found)
    findings.add_support(f"{info.name} ({name})", sample, settings.alpha)
    if n_zero_division:
        findings.zero_division.append(f"{info.name} ({name}, {format_count(n_zero_division)})")
    return ScoreRow(
        metric=info.name,
        model=name,
        estimate=estimate,
        std_error=float(found.std_error),
        ci_low=float(found.low),
        ci_high=float(found.high),
        greater_is_better=info.greater_is_better,
        n_undefined=int(distribution.n_undefined(metric, model)),
        n_zero_division=n_zero_division,
        status=found.status,
    )


def _difference_row(
    distribution: BootstrapDistribution,
    metric: int,
    model: int,
    baseline: int,
    info: MetricInfo,
    models: Sequence[str],
    settings: Settings,
    findings: _Findings,
) -> DifferenceRow:
    name, other = models[model], models[baseline]
    if _undefined_in_either(distribution, metric, model, baseline).all():
        raise ValueError(
            f"The difference of {name!r} and {other!r} on `{info.name}` is undefined in every "
            "resample. Use a metric that is defined on resamples of these rows, or more rows."
        )
    difference = float(distribution.difference_estimate(metric, model, baseline))
    sample = distribution.difference_sample(metric, model, baseline)
    found = interval(
        sample,
        difference,
        method=settings.method,
        confidence_level=settings.confidence_level,
        alternative=settings.side(info.greater_is_better),
        acceleration=(
            distribution.acceleration(metric, model, baseline) if settings.method == "bca" else None
        ),
    )
    findings.add(f"{info.name} ({name} - {other})", difference, found)
    findings.add_support(f"{info.name} ({name} - {other})", sample, settings.alpha)
    return DifferenceRow(
        metric=info.name,
        model=name,
        baseline=other,
        difference=difference,
        std_error=float(found.std_error),
        ci_low=float(found.low),
        ci_high=float(found.high),
        greater_is_better=info.greater_is_better,
        p_value=float(found.p_value),
        p_adjusted=float("nan"),
        p_permutation=float("nan"),
        verdict="inconclusive",
        status=found.status,
    )


def _with_verdicts(
    rows: Sequence[DifferenceRow], settings: Settings, n_units: int
) -> list[DifferenceRow]:
    """Adjust the p-values of one family, the comparisons of one metric, and judge each row."""
    if not rows:
        return []
    adjusted = adjust(np.array([row.p_value for row in rows]), settings.correction)
    rows = [
        dataclasses.replace(row, p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)
    ]
    return [
        dataclasses.replace(row, verdict=verdict_word(row, settings.alpha, n_units)) for row in rows
    ]


def _undefined_in_either(
    distribution: BootstrapDistribution, metric: int, model: int, baseline: int
) -> NDArray[np.bool_]:
    undefined = distribution.undefined[:, metric]
    either: NDArray[np.bool_] = undefined[:, model] | undefined[:, baseline]
    return either


@dataclass
class _Findings:
    """Collects what rows have to say, so that each cause becomes one note with its places."""

    n_sequences: int
    degenerate: list[str] = dataclasses.field(default_factory=list)
    outside: list[str] = dataclasses.field(default_factory=list)
    contradicted: list[str] = dataclasses.field(default_factory=list)
    zero_division: list[str] = dataclasses.field(default_factory=list)
    undefined: list[str] = dataclasses.field(default_factory=list)
    unsupported: list[str] = dataclasses.field(default_factory=list)
    n_intervals: int = 0
    fallbacks: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)
    remarks: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)

    def add(self, place: str, estimate: float, found: IntervalEstimate) -> None:
        """Record status and position of one interval."""
        self.n_intervals += 1
        if found.status == "degenerate":
            self.degenerate.append(place)
        elif found.status != "ok":
            self.fallbacks.setdefault((found.status, found.reason), []).append(place)
        elif found.reason:
            self.remarks.setdefault((found.method, found.reason), []).append(place)
        # Quantiles are interpolated, so an end may miss an equal estimate by rounding.
        rounding = 1e-12 * max(abs(estimate), found.std_error)
        if not found.low - rounding <= estimate <= found.high + rounding:
            self.outside.append(place)

    def add_support(self, place: str, sample: Sample, alpha: float) -> None:
        """Record fewer defined resamples than the confidence level needs."""
        if sample.multiplicities is None and 2 * sample.p_floor > alpha:
            self.unsupported.append(f"{place}, {format_count(sample.size)}")

    def add_undefined(
        self, distribution: BootstrapDistribution, metric: int, name: str, baseline: int
    ) -> None:
        """Record a metric that is undefined in more than 5 % of the resamples."""
        n_models = distribution.undefined.shape[2]
        weights = distribution.multiplicities
        share = max(
            float(np.average(_undefined_in_either(distribution, metric, m, baseline), 0, weights))
            for m in range(n_models)
        )  # model == baseline gives the baseline's own share
        if share <= UNDEFINED_SHARE:
            return
        counts = [int(distribution.n_undefined(metric, model)) for model in range(n_models)]
        low, high = min(counts), max(counts)
        span = format_count(high)
        if low != high:
            span = f"{format_count(low)} to {span}, by model,"
        self.undefined.append(f"{name} ({span} of {format_count(self.n_sequences)})")

    def add_contradictions(self, rows: Iterable[DifferenceRow]) -> None:
        """Record differences whose interval lies wholly on the other side of zero."""
        for row in rows:
            if contradicts_itself(row):
                self.contradicted.append(f"{row.metric} ({row.model} - {row.baseline})")

    def notes(self, settings: Settings, n_units: int) -> tuple[str, ...]:
        """Put each cause into one sentence."""
        notes = [
            f"Interval of {self._intervals(places)}: {status}, because {reason}."
            for (status, reason), places in self.fallbacks.items()
        ]
        notes += [
            f"Interval of {self._intervals(places)}: {method}, where {reason}."
            for (method, reason), places in self.remarks.items()
        ]
        if self.undefined:
            notes.append(
                "More than 5 % of the resamples have no value of the metric: "
                f"{_listed(self.undefined)}. They are left out, and the interval is conditional "
                "on the rest."
            )
        if self.unsupported:
            notes.append(
                "Fewer resamples have a value than the confidence level needs: "
                f"{_listed(self.unsupported)}. The ends of these intervals lie among the extreme "
                "resamples, and no verdict follows. Draw more resamples."
            )
        if self.zero_division:
            notes.append(
                "0/0 got the metric's conventional value (zero_division) in some of the "
                f"{format_count(self.n_sequences)} resamples, which are kept: "
                f"{_listed(self.zero_division)}."
            )
        if self.degenerate:
            notes.append(
                f"Zero-width interval of {_listed(self.degenerate)}: every resample of these data "
                "gives one value. This says nothing about unseen rows."
            )
        if self.outside:
            notes.append(
                f"The estimate lies outside its own interval for {_listed(self.outside)}: the "
                "resampling distribution is biased there. Compare the intervals of other methods."
            )
        if self.contradicted:
            notes.append(
                f"Estimate and interval of {_listed(self.contradicted)} lie on different sides of "
                "0, so the verdict is inconclusive whatever the p-value."
            )
        if too_few_units(n_units, settings.alpha):
            chance = 2.0 ** (1 - n_units)
            notes.append(
                f"{n_units} resampling units are too few for a verdict at this level: even if all "
                f"of them agreed, chance alone would do that with probability {chance:.3g}."
            )
        return tuple(notes)

    def _intervals(self, places: Sequence[str]) -> str:
        if len(places) == self.n_intervals > 1:
            return f"all {len(places)} estimates"
        return _listed(places)


def format_count(count: int) -> str:
    """Write a count, an astronomical one by its size alone."""
    return str(count) if count < 10**15 else f"about 1e{math.floor(math.log10(count))}"


def _listed(places: Sequence[str], limit: int = 6) -> str:
    """Join names with commas, the ones past ``limit`` as a number."""
    if len(places) <= limit:
        return ", ".join(places)
    return f"{', '.join(places[:limit])} and {len(places) - limit} more"
