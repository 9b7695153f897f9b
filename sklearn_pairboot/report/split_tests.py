"""The corrected resampled t test of every comparison, on the scores of the splits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.multiplicity import adjust, without_replicates
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables import DifferenceRow, Row, Settings, compared_pairs, listed
from sklearn_pairboot._tables.numbers import NumberFormat, format_p
from sklearn_pairboot.inference.corrected_t import corrected_resampled_ttest

_NOISE = 1e-12
_LISTED = 5


@dataclass(frozen=True)
class SplitScores:
    """Score of every model on every split, and how many rows each split trained and tested on.

    ``values`` are in natural units, shape (n_metrics, n_splits, n_models), NaN where there is
    none. Of ``n_train`` and ``n_test``, shape (n_splits,), only the ratio counts.
    """

    values: FloatArray
    n_train: FloatArray
    n_test: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Give plain lists."""
        return {name: getattr(self, name).tolist() for name in ("values", "n_train", "n_test")}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SplitScores:
        """Read what `to_dict` gave; ``None`` is NaN."""
        names = ("values", "n_train", "n_test")
        return cls(*(np.array(stored[name], dtype=np.float64) for name in names))


@dataclass(frozen=True, slots=True, eq=False)
class SplitTestRow(Row):
    """The corrected resampled t test of one comparison, ``df`` + 1 splits long.

    ``difference`` is the mean over the splits of model minus baseline, in natural units;
    ``std_error`` has the correction. ``p_value`` and the interval are those of the single
    comparison.
    """

    metric: str
    model: str
    baseline: str
    difference: float
    std_error: float
    ci_low: float
    ci_high: float
    greater_is_better: bool
    statistic: float
    df: int
    p_value: float
    p_adjusted: float

    @property
    def is_better(self) -> bool:
        """Whether the model has the better mean."""
        return self.difference > 0 if self.greater_is_better else self.difference < 0


def split_test_rows(
    scores: SplitScores | None,
    models: Sequence[str],
    metrics: Iterable[tuple[str, bool]],
    settings: Settings,
) -> tuple[SplitTestRow, ...]:
    """Test every comparison on the splits where its metric has a value for all models.

    ``metrics`` are names and whether greater is better. A metric with fewer than two such splits
    has no test. P-values are adjusted in the families of the settings, by Holm's method where
    these say max-T, which needs resamples.
    """
    if scores is None:
        return ()
    found: list[list[dict[str, Any]]] = []
    for number, (metric, greater) in enumerate(metrics):
        of_metric = scores.values[number]
        defined = ~np.isnan(of_metric).any(axis=1)
        values, rows = of_metric[defined], []
        for model, other in compared_pairs(models, settings) if len(values) > 1 else ():
            test = corrected_resampled_ttest(
                _without_noise(values[:, model], values[:, other]),
                n_train=float(scores.n_train[defined].mean()),
                n_test=float(scores.n_test[defined].mean()),
                alternative=settings.side(greater),
                confidence_level=settings.confidence_level,
            )
            rows.append(
                {
                    "metric": metric,
                    "model": models[model],
                    "baseline": models[other],
                    "difference": test.estimate,
                    "std_error": test.std_error,
                    "ci_low": test.ci_low,
                    "ci_high": test.ci_high,
                    "greater_is_better": greater,
                    "statistic": test.statistic,
                    "df": test.df,
                    "p_value": test.p_value,
                }
            )
        found.append(rows)
    if settings.family == "all":
        found = [[row for rows in found for row in rows]]
    correction = without_replicates(settings.correction)
    return tuple(
        SplitTestRow(**row, p_adjusted=float(p_adjusted))
        for rows in found
        for row, p_adjusted in zip(
            rows, adjust([row["p_value"] for row in rows], correction), strict=True
        )
    )


def _without_noise(a: FloatArray, b: FloatArray) -> FloatArray:
    """Differences, equal where they differ by rounding of the scores only."""
    differences = a - b
    noise = _NOISE * np.maximum(np.abs(a), np.abs(b))
    differences[np.abs(differences) <= noise] = 0.0
    same = np.abs(differences - differences[0]) <= noise.max()
    return np.where(same, differences[0], differences)


def split_test_statement(
    rows: Sequence[SplitTestRow], differences: Sequence[DifferenceRow], settings: Settings
) -> str:
    """Say what the test is about, what it found, and which verdicts it does not support."""
    one_baseline = len({row.baseline for row in rows}) == 1
    parts = []
    for row in rows[:_LISTED]:
        pair = row.model if one_baseline else f"{row.model} - {row.baseline}"
        number = NumberFormat.from_errors(
            [row.std_error], [row.difference, row.ci_low, row.ci_high]
        )
        parts.append(
            f"{row.metric} ({pair}) {number(row.difference, signed=True, keep=True)} "
            f"{number.interval(row.ci_low, row.ci_high)}, {_p(row, settings)}"
        )
    more = len(rows) - _LISTED
    splits = "/".join(str(number) for number in sorted({row.df + 1 for row in rows}))
    return (
        f"corrected resampled t test of {splits} splits, which is about methods trained on other "
        f"rows too, while the verdict is about these fitted models: {'; '.join(parts)}"
        f"{f'; and {more} more' if more > 0 else ''}{_unsupported(rows, differences, settings)}"
    )


def supports(test: SplitTestRow, difference: DifferenceRow, settings: Settings) -> bool:
    """Tell whether the test shows for the methods that a model is better, or worse, as it was."""
    agrees = test.is_better == (difference.verdict == "better")
    return agrees and test.p_adjusted <= settings.alpha  # never where it is NaN


def _unsupported(
    rows: Sequence[SplitTestRow], differences: Sequence[DifferenceRow], settings: Settings
) -> str:
    tests = {(row.metric, row.model, row.baseline): row for row in rows}
    found = []
    for difference in differences:
        test = tests.get((difference.metric, difference.model, difference.baseline))
        if test is None or difference.verdict not in ("better", "worse"):
            continue
        if not supports(test, difference, settings):
            found.append(f"{difference.metric} ({difference.model} - {difference.baseline})")
    if not found:
        return ""
    return f". Not shown to hold for the methods: the verdict(s) on {listed(found)}"


def _p(row: SplitTestRow, settings: Settings) -> str:
    p, adjusted = (format_p(p, settings.alpha) for p in (row.p_value, row.p_adjusted))
    text = f"p {p}" if p.startswith("<") else f"p = {p}"
    return text if adjusted == p else f"{text}, adjusted {adjusted}"
