"""Which model to keep: the incumbent unless another is shown better, or the best estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._engine.multiplicity import adjust, without_replicates
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._splits import Split
from sklearn_pairboot.inference.corrected_t import (
    CorrectedTTestResult,
    corrected_resampled_ttest,
)
from sklearn_pairboot.result import ComparisonResult

SELECTIONS = ("incumbent", "best")
_NOISE = 1e-12
_LISTED = 5


@dataclass(frozen=True)
class SplitTests:
    """Corrected resampled t tests of challengers against the baseline, by name."""

    tests: Mapping[str, CorrectedTTestResult] = field(default_factory=dict)
    p_adjusted: Mapping[str, float] = field(default_factory=dict)


def split_tests(
    values: FloatArray,
    models: Sequence[str],
    baseline: str,
    splits: Sequence[Split],
    options: Options,
) -> SplitTests:
    """Test differences between splits; ``values`` are greater-is-better, (n_splits, n_models)."""
    challengers = [model for model in models if model != baseline]
    defined = np.flatnonzero(~np.isnan(values).any(axis=1)).tolist()
    values, splits = values[defined], [splits[number] for number in defined]
    if len(splits) < 2 or not challengers:
        return SplitTests()
    side = {"two-sided": "two-sided", "better": "greater", "worse": "less"}[options.alternative]
    reference = values[:, models.index(baseline)]
    tests = {}
    for model in challengers:
        tests[model] = corrected_resampled_ttest(
            _without_noise(values[:, models.index(model)], reference),
            n_train=float(np.mean([len(split.train) for split in splits])),
            n_test=float(np.mean([len(split.test) for split in splits])),
            alternative=side,
            confidence_level=float(options.confidence_level),
        )
    correction = without_replicates(options.correction)
    adjusted = adjust([test.p_value for test in tests.values()], correction)
    return SplitTests(tests, dict(zip(tests, map(float, adjusted), strict=True)))


def _without_noise(a: FloatArray, b: FloatArray) -> FloatArray:
    """Differences, equal where they differ by rounding of the scores only."""
    differences = a - b
    noise = _NOISE * np.maximum(np.abs(a), np.abs(b))
    differences[np.abs(differences) <= noise] = 0.0
    same = np.abs(differences - differences[0]) <= noise.max()
    return np.where(same, differences[0], differences)


def note_on_selection(
    selection: str, metric: str, options: Options, tests: SplitTests | None, n_models: int
) -> list[str]:
    """Say what the selection goes by. ``tests`` is ``None`` where models were not trained here."""
    if n_models == 1:
        return []
    if selection == "best":
        return [f"Selection takes the best estimate of {metric}, however uncertain it is."]
    rule = f"Selection keeps the baseline unless the verdict on another model is better on {metric}"
    if tests is None:
        return [f"{rule}."]
    if not tests.tests:
        return [
            f"{rule} and a corrected resampled t test of the splits agrees. A single split allows "
            "no such test, so the baseline is kept."
        ]
    listed = ", ".join(f"{name} {p:.3g}" for name, p in list(tests.p_adjusted.items())[:_LISTED])
    more = len(tests.p_adjusted) - _LISTED
    return [
        f"{rule} and the corrected resampled t test of the splits agrees, with p <= "
        f"{alpha_of(options.confidence_level):.10g} in that direction: the bootstrap is about the "
        f"fitted fold models, the test about training too. Its p, adjusted like the others: "
        f"{listed}{f' and {more} more' if more > 0 else ''}."
    ]


def select(
    result: ComparisonResult,
    metric: str,
    selection: str,
    tests: SplitTests | None,
) -> str:
    """Choose a model by one metric."""
    rows = {row.model: row for row in result.scores if row.metric == metric}
    sign = 1.0 if rows[result.baseline].greater_is_better else -1.0
    candidates = list(rows)
    if selection == "incumbent":
        verdicts = {
            row.model: row.verdict
            for row in result.differences
            if row.metric == metric and row.baseline == result.baseline
        }
        alpha = alpha_of(result.confidence_level)
        candidates = [
            model
            for model, verdict in verdicts.items()
            if verdict == "better" and (tests is None or _agrees(tests, model, alpha))
        ]
    # The baseline first: it wins a tie.
    candidates.sort(key=lambda model: model != result.baseline)
    return max(candidates, key=lambda model: sign * rows[model].estimate, default=result.baseline)


def _agrees(tests: SplitTests, model: str, alpha: float) -> bool:
    if model not in tests.tests:
        return False
    return tests.tests[model].estimate > 0 and tests.p_adjusted[model] <= alpha
