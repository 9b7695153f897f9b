"""Numbers as text: the one place that decides how many digits are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sklearn_pairboot._tables.rows import DifferenceRow, ScoreRow
from sklearn_pairboot._tables.slices import SliceRow


@dataclass(frozen=True)
class NumberFormat:
    """One format for numbers that stand under each other: as precise as their standard error."""

    decimals: int
    scientific: bool = False

    @classmethod
    def from_errors(cls, std_errors: Iterable[float], values: Iterable[float]) -> NumberFormat:
        """Keep two digits of the smallest standard error; four of the values if there is none."""
        errors = [error for error in std_errors if math.isfinite(error) and error > 0]
        sizes = [abs(value) for value in values if math.isfinite(value) and value != 0]
        largest = math.floor(math.log10(max(sizes))) if sizes else 0
        if errors:
            decimals = 1 - math.floor(math.log10(min(errors)))
        else:
            decimals = 3 - largest if sizes else 1
        if decimals > 7 or largest >= 9:
            return cls(min(max(largest + decimals, 1), 15), scientific=True)
        return cls(max(decimals, 0))

    def __call__(self, value: float, *, signed: bool = False, keep: bool = False) -> str:
        """Write one number; with ``keep``, one that is not zero is not rounded to zero."""
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        sign, kind = "+" if signed else "", "e" if self.scientific else "f"
        text = f"{value:{sign}.{self.decimals}{kind}}"
        if float(text) != 0:
            return text
        if keep and value != 0:
            return f"{value:{sign}.1g}"
        return f"{0.0:.{self.decimals}{kind}}"

    def interval(self, low: float, high: float) -> str:
        """Write an interval; an end at infinity is open. There is none where both ends are NaN."""
        if math.isnan(low) and math.isnan(high):
            return "-"
        left, right = "(["[low > -math.inf], ")]"[high < math.inf]
        return f"{left}{self(low, keep=True)}, {self(high, keep=True)}{right}"


def format_p(p_value: float, alpha: float) -> str:
    """Write a p-value: never 0, and never rounded across the level it is judged by."""
    if math.isnan(p_value):
        return "-"
    if p_value < 0.0001:
        return "< 0.0001"
    for decimals in range(4, 17):
        text = f"{p_value:.{decimals}f}"
        if (float(text) <= alpha) == (p_value <= alpha):
            return text
    return repr(p_value)


def format_percent(share: float) -> str:
    """Write a share as per cent."""
    return f"{100 * share:.10g} %"


def format_share(share: float) -> str:
    """Write an estimated share as whole per cents."""
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def difference_format(rows: Sequence[DifferenceRow] | Sequence[SliceRow]) -> NumberFormat:
    """Choose the number format of the differences in one metric."""
    return NumberFormat.from_errors(
        (row.std_error for row in rows),
        (value for row in rows for value in (row.difference, row.ci_low, row.ci_high)),
    )


def score_format(rows: Sequence[ScoreRow]) -> NumberFormat:
    """Choose the number format of the scores in one metric."""
    return NumberFormat.from_errors(
        (row.std_error for row in rows),
        (value for row in rows for value in (row.estimate, row.ci_low, row.ci_high)),
    )
