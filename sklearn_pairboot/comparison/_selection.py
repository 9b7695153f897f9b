"""Which model to keep: the incumbent unless another is shown better, or the best estimate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._tables import check_baseline
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.report.split_tests import SplitTestRow
from sklearn_pairboot.result import ComparisonResult

SELECTIONS = ("incumbent", "best")
_LISTED = 5


def note_on_selection(
    selection: str,
    metric: str,
    options: Options,
    tests: Sequence[SplitTestRow] | None,
    models: Sequence[str],
) -> list[str]:
    """Say what the selection goes by. ``tests`` is ``None`` where models were not trained here."""
    if len(models) == 1:
        return []
    if selection == "best":
        return [f"Selection takes the best estimate of {metric}, however uncertain it is."]
    rule = f"Selection keeps the baseline unless the verdict on another model is better on {metric}"
    if tests is None:
        return [f"{rule}."]
    baseline = check_baseline(options.baseline, models)
    of_metric = _of_metric(tests, metric, baseline)
    if not of_metric:
        return [
            f"{rule} and a corrected resampled t test of the splits agrees. A single split allows "
            "no such test, and neither does a biased metric, so the baseline is kept."
        ]
    listed = ", ".join(f"{row.model} {row.p_adjusted:.3g}" for row in of_metric[:_LISTED])
    more = len(of_metric) - _LISTED
    return [
        f"{rule} and the corrected resampled t test of the splits agrees, with p <= "
        f"{alpha_of(options.confidence_level):.10g} in that direction: the bootstrap is about the "
        f"fitted fold models, the test about training too. Its p, adjusted like the others: "
        f"{listed}{f' and {more} more' if more > 0 else ''}."
    ]


def select(
    result: ComparisonResult, metric: str, selection: str, *, trained_on_splits: bool
) -> str:
    """Choose a model by one metric."""
    rows = {row.model: row for row in result.scores if row.metric == metric}
    sign = 1.0 if rows[result.baseline].greater_is_better else -1.0
    candidates = list(rows)
    if selection == "incumbent":
        against = [
            row
            for row in result.differences
            if row.metric == metric and row.baseline == result.baseline
        ]
        if any(row.status == "biased" for row in against):
            warnings.warn(
                f"Selection by {metric} keeps the baseline {result.baseline!r}: differences of "
                "this metric are biased and have no verdict. Let another one decide, such as the "
                "Brier score, the log loss or `squared_calibration_error`.",
                UserWarning,
                stacklevel=3,
            )
        candidates = [row.model for row in against if row.verdict == "better"]
        if trained_on_splits:
            alpha = alpha_of(result.confidence_level)
            agreeing = {
                row.model
                for row in _of_metric(result.split_tests, metric, result.baseline)
                if row.is_better and row.p_adjusted <= alpha
            }
            candidates = [model for model in candidates if model in agreeing]
    # The baseline first: it wins a tie.
    candidates.sort(key=lambda model: model != result.baseline)
    return max(candidates, key=lambda model: sign * rows[model].estimate, default=result.baseline)


def _of_metric(tests: Sequence[SplitTestRow], metric: str, baseline: str) -> list[SplitTestRow]:
    return [row for row in tests if row.metric == metric and row.baseline == baseline]
