"""What is easily misread in a result: reminders where they apply, and a guide for new readers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sklearn_pairboot._tables import BAYESIAN, PLAIN, DifferenceRow, ScoreRow, listed
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.report.facts import Facts

_FEW_UNITS = 30


def reminders(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> list[tuple[str, str]]:
    """Give what this result calls for, as pairs of a label and a text; most need none."""
    pairs = []
    if found := _overlapping(facts, scores, differences):
        pairs.append(
            (
                "Overlap",
                f"the intervals of two scores overlap on {listed(found)}, yet the difference is "
                "clear: only its own interval takes in how scores on the same rows vary together",
            )
        )
    if facts.split_tests:
        pairs.append(
            (
                "Folds",
                "scores of folds share training rows: their spread is no confidence interval; the "
                "corrected t test widens it by its factor 1/k + n_test/n_train",
            )
        )
    if names := [metric.name for metric in facts.metrics if metric.interval_rule == "biased"]:
        pairs.append(
            (
                "Calibration",
                f"{listed(names)} depends on its bins and definition, is above 0 by chance even "
                "for a perfectly calibrated model, and says nothing of discrimination",
            )
        )
    if found := _below_chance(scores):
        pairs.append(
            (
                "Direction",
                f"{listed(found)} below 0.5 with the whole interval: worse than chance, as when "
                "scores or labels are upside down (see `pos_label`)",
            )
        )
    return pairs


def guide(facts: Facts, differences: Sequence[DifferenceRow]) -> list[str]:
    """Explain what the numbers mean and do not mean, in the order in which readers meet them."""
    unit = "row" if facts.unit == "rows" else "resampling unit"
    lines = []
    if differences:
        lines.append(
            "A difference is model minus baseline in units of the metric: 0.02 on a share are two "
            "percentage points, not two per cent. Where lower is better, a negative difference is "
            "an improvement; the verdict says so in words."
        )
    level = format_percent(facts.settings.confidence_level)
    if facts.scheme == BAYESIAN:
        lines.append(
            f"An interval holds {level} of the posterior draws, under a prior by which values that "
            "were not seen do not occur (Rubin 1981). How often such intervals cover the true "
            f"value is another question: about {level} with many {unit}s, fewer with few."
        )
    else:
        lines.append(
            f"Of intervals made in this way again and again, about {level} cover the true value; "
            f"fewer where {unit}s are few, or where nearly all values are the same, as with scores "
            "near 0 or 1. That is no probability that this one does."
        )
    wide = f"An interval too wide to decide means too few {unit}s"
    if facts.n_units < _FEW_UNITS:
        wide += f" (there are {facts.n_units})"
    wide += "; more resamples do not narrow it."
    if facts.unit == "rows" and facts.scheme == PLAIN:
        wide += (
            " One that is surprisingly narrow calls for a look at the rows: those of one patient, "
            "document or user depend on one another, and are to be drawn together (`groups`). "
            "Or the metric itself varies little."
        )
    lines.append(wide)
    if any(row.verdict == "inconclusive" for row in differences):
        lines.append(
            "Inconclusive means that these data cannot separate the models. It does not mean that "
            "they are equal: gaps beyond the interval are excluded, those within are not. "
            "Equivalence takes a margin that was chosen beforehand (`margin`)."
        )
    if any(row.verdict in ("better", "worse") for row in differences):
        lines.append(
            "Better and worse say that 0 is excluded, not that the difference is large enough to "
            "matter, nor that it holds for models that are trained again, with other seeds, or "
            "under another way of collecting rows."
        )
    return lines


def _overlapping(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> list[str]:
    """Name clear differences between two models whose own intervals overlap."""
    if not facts.paired:
        return []
    of = {(row.metric, row.model): row for row in scores}
    found = []
    for row in differences:
        pair = of.get((row.metric, row.model)), of.get((row.metric, row.baseline))
        if row.verdict not in ("better", "worse") or pair[0] is None or pair[1] is None:
            continue
        if max(s.ci_low for s in pair if s) <= min(s.ci_high for s in pair if s):
            place = f"{row.metric} ({row.model} - {row.baseline}"
            r = _correlation(row, pair[0], pair[1])
            found.append(f"{place})" if math.isnan(r) else f"{place}, correlation {r:.2f})")
    return found


def _correlation(difference: DifferenceRow, a: ScoreRow, b: ScoreRow) -> float:
    """Correlation of two scores, from Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b)."""
    product = a.std_error * b.std_error
    if not product > 0:  # also where one of them is NaN
        return math.nan
    covariance = (a.std_error**2 + b.std_error**2 - difference.std_error**2) / 2
    return max(-1.0, min(1.0, covariance / product))


def _below_chance(scores: Sequence[ScoreRow]) -> list[str]:
    return [
        f"{row.metric} of {row.model}"
        for row in scores
        if "roc_auc" in row.metric and row.greater_is_better and row.ci_high < 0.5
    ]
