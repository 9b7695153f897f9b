"""The release gate: is every challenger what is required of it, and why or why not."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.output import neutral
from sklearn_pairboot._cli.usage import metric_name
from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._tables import DifferenceRow, format_count, is_not_worse
from sklearn_pairboot._tables.numbers import difference_format, format_p, format_percent
from sklearn_pairboot.report.names import escaped_note
from sklearn_pairboot.result import ComparisonResult

# What is said of a model that passes, and of one that does not.
_CLAIMS = {
    "better": ("is better than {}", "is not shown to be better than {}"),
    "not-worse": ("is not worse than {} by {} or more", "may be worse than {} by {} or more"),
    "equivalent": ("is less than {1} apart from {0}", "may be {1} or more apart from {0}"),
}
REQUIREMENTS = tuple(_CLAIMS)


@dataclass(frozen=True)
class Decision:
    """Whether the gate opens, and one line for each comparison that was judged."""

    require: str
    passed: bool
    reasons: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines to print, the last of which decides."""
        if len(self.reasons) == 1:
            return self.reasons
        held = sum(reason.startswith("PASS") for reason in self.reasons)
        word = "PASS" if self.passed else "FAIL"
        return (
            *self.reasons,
            f"{word}: {held} of {len(self.reasons)} comparisons hold, and the gate asks for all.",
        )

    def in_markdown(self, report: str) -> str:
        """Put the decision above a report in markdown."""
        return "\n".join(f"- {escaped_note(line)}" for line in self.lines) + f"\n\n{report}"

    def in_json(self, report: str) -> str:
        """Put the decision into a result in JSON, which stays one that can be read."""
        gate = {"require": self.require, "passed": self.passed, "reasons": list(self.lines)}
        return json.dumps({**json.loads(report), "gate": gate}, allow_nan=False) + "\n"


def decide(result: ComparisonResult, options: argparse.Namespace) -> Decision:
    """Judge every challenger on every metric, or on those that are named."""
    if not result.differences:
        raise InputError("gate needs two models or more: one that is judged, and its baseline.")
    if options.require == "better" and result.alternative == "worse":
        raise InputError(
            "--require better must not come with the alternative 'worse', which asks only whether "
            "a model is worse, and never shows that it is better."
        )
    metrics = [metric_name(name, options.metric) for name in options.gate_metric or ()]
    _check_names("--gate-metric", metrics, list(result.metrics))
    models = [neutral(name) for name in options.gate_model or ()]
    _check_names("--gate-model", models, [m for m in result.models if m != result.baseline])
    rows = [
        row
        for row in result.differences
        if row.baseline == result.baseline
        and (not metrics or row.metric in metrics)
        and (not models or row.model in models)
    ]
    if options.require != "better":
        without = [row.metric for row in rows if math.isnan(_column(row, "margin"))]
        if without:
            raise InputError(
                f"--require {options.require} needs --margin or --margin-relative for every metric "
                f"that is judged, got none for {shown(list(dict.fromkeys(without)))}. A margin "
                "counts only if it was chosen before the data were seen."
            )
    judged = [(row, _holds(row, result, options.require)) for row in rows]
    return Decision(
        options.require,
        all(holds for _, holds in judged),
        tuple(_reason(row, result, options.require, holds) for row, holds in judged),
    )


def _check_names(option: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{option} must be among {shown(known, 20)}, got {name!r}.")


def _column(row: DifferenceRow, name: str) -> Any:
    """Give a column that a row has only with a margin."""
    return getattr(row, name, math.nan)


def _holds(row: DifferenceRow, result: ComparisonResult, require: str) -> bool:
    if require == "not-worse":
        return is_not_worse(row, alpha_of(result.confidence_level), result.n_units)
    return row.verdict == require


def _reason(row: DifferenceRow, result: ComparisonResult, require: str, holds: bool) -> str:
    """Say in one line what was found, and all that the decision rests on."""
    alpha = alpha_of(result.confidence_level)
    number = difference_format([row])
    margin = _column(row, "margin")
    size = number(margin, keep=True)
    claim = _CLAIMS[require][not holds].format(row.baseline, size)
    if require == "better":
        low, high, level = row.ci_low, row.ci_high, result.confidence_level
        p, adjusted = row.p_value, row.p_adjusted
    else:
        low, high = _column(row, "equivalence_low"), _column(row, "equivalence_high")
        level = 1 - 2 * alpha
        column = "p_not_worse" if require == "not-worse" else "p_equivalence"
        p, adjusted = _column(row, column), _column(row, f"{column}_adjusted")
    parts = [
        f"difference {number(row.difference, signed=True, keep=True)}",
        f"{format_percent(level)} interval {number.interval(low, high)}",
        *([] if math.isnan(margin) else [f"margin {size}"]),
        f"p = {format_p(p, alpha)}",
        *([f"adjusted {format_p(adjusted, alpha)}"] if adjusted > p else []),
        f"verdict {row.verdict}" + _status(row),
        *_undefined(row, result),
    ]
    direction = "higher" if row.greater_is_better else "lower"
    return (
        f"{'PASS' if holds else 'FAIL'}: {row.model} {claim} on {row.metric} ({direction} is "
        f"better): {', '.join(parts)}; {result.n_units} {result.unit}."
    )


def _status(row: DifferenceRow) -> str:
    if row.status == "degenerate":
        return (
            " (status degenerate: every resample gives this difference, which says nothing about "
            "unseen rows)"
        )
    return "" if row.status == "ok" else f" (status {row.status})"


def _undefined(row: DifferenceRow, result: ComparisonResult) -> list[str]:
    """Say how many resamples have no value of the two models, and are left out."""
    counts = {
        score.model: score.n_undefined
        for score in result.scores
        if score.metric == row.metric and score.model in (row.model, row.baseline)
    }
    if not any(counts.values()):
        return []
    listed = ", ".join(f"{model} {format_count(count)}" for model, count in counts.items())
    total = format_count(result._facts.n_sequences)
    return [f"undefined resamples left out: {listed} of {total}"]
