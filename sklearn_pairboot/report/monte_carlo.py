"""What the Monte Carlo error of a result amounts to, in one statement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sklearn_pairboot._tables import MonteCarloRow, listed


def monte_carlo_statement(rows: Sequence[MonteCarloRow], several_metrics: bool) -> str:
    """Say how far another seed would move ends and p-values, and which verdicts hang on that."""
    errors = [error for row in rows for error in (row.se_ci_low, row.se_ci_high, row.se_p_value)]
    known = [error for error in errors if not math.isnan(error)]
    if known and not any(known):
        return "none: half-samples of the resamples give the same interval ends and p-values"
    by_metric: dict[str, list[MonteCarloRow]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    if any(map(_has_ends, by_metric.values())):  # a biased metric has no interval to speak of
        by_metric = {name: its for name, its in by_metric.items() if _has_ends(its)}
    ends = [
        (f"{metric} " if several_metrics else "")
        + _size(of_metric, lambda row: max(row.se_ci_low, row.se_ci_high))
        for metric, of_metric in by_metric.items()
    ]
    text = f"interval ends are known to {', '.join(ends)} (largest standard error)"
    differences = [row for row in rows if row.baseline]
    if differences:
        text += f", p-values to {_size(differences, lambda row: row.se_p_value)}"
        text += "; other seeds differ by that much, so do not choose among them"
    unstable = [row for row in differences if not row.verdict_stable]
    if unstable:
        places = [f"{row.metric} ({row.model} - {row.baseline})" for row in unstable]
        which = "verdict" if len(places) == 1 else "verdicts"
        hangs = "hangs" if len(places) == 1 else "hang"
        text += (
            f". The {which} of {listed(places)} {hangs} on the Monte Carlo error: draw more "
            "resamples"
        )
    return text


def _has_ends(rows: Sequence[MonteCarloRow]) -> bool:
    return not all(math.isnan(row.se_ci_low) and math.isnan(row.se_ci_high) for row in rows)


def _size(rows: Sequence[MonteCarloRow], error_of: Callable[[MonteCarloRow], float]) -> str:
    errors = [error for row in rows if not math.isnan(error := error_of(row))]
    return f"+-{max(errors):.1g}" if errors else "an unknown error"
