"""How each permutation p-value was found: one row a difference, and a sentence for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn_pairboot._engine.permutation import MONTE_CARLO, SwapTests, find_test
from sklearn_pairboot._tables import (
    DifferenceRow,
    Row,
    Settings,
    format_count,
    listed,
    write_record,
)

# Larger smallest p-values than this are a reason why a p-value is not small.
_WORTH_MENTIONING = 0.005


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PermutationRow(Row):
    """The permutation test of one difference.

    ``mode`` is ``"exact enumeration"``, ``"exact counting"`` or ``"Monte Carlo"``. Of
    ``n_assignments`` arrangements, all of them or those drawn, ``n_extreme`` are at least as
    extreme as the observed one; the ``n_undefined`` without a value are among them. ``p_min`` is
    the smallest p-value that these units could give, ``std_error`` that of the p-value by drawing.
    ``approximate`` marks rank metrics, whose mid-ranks are swapped.
    """

    metric: str
    model: str
    baseline: str
    p_value: float
    mode: str
    n_extreme: int
    n_assignments: int
    p_min: float
    std_error: float
    n_undefined: int
    approximate: bool

    def __repr__(self) -> str:
        return write_record(self)  # Python refuses to write integers of thousands of digits


def permutation_rows(
    tests: SwapTests, differences: Sequence[DifferenceRow], settings: Settings
) -> tuple[PermutationRow, ...]:
    """Read the tests of these differences, for the alternative that they are read for."""
    rows = []
    for row in differences:
        test = find_test(tests, row.metric, row.model, row.baseline)
        if test is None:
            continue
        side = settings.side(row.greater_is_better)
        rows.append(
            PermutationRow(
                metric=row.metric,
                model=row.model,
                baseline=row.baseline,
                p_value=test.p_value(side),
                mode=test.mode,
                n_extreme=test.n_extreme(side),
                n_assignments=test.n_assignments,
                p_min=test.p_min(side),
                std_error=test.std_error(side),
                n_undefined=test.n_undefined,
                approximate=test.approximate,
            )
        )
    return tuple(rows)


def permutation_statement(
    rows: Sequence[PermutationRow], differences: Sequence[DifferenceRow], unit: str
) -> str:
    """Say what was swapped, what that tests, and how it was counted."""
    ways: dict[str, list[str]] = {}
    one_baseline = len({row.baseline for row in rows}) == 1
    for row in rows:
        pair = row.model if one_baseline else f"{row.model} - {row.baseline}"
        ways.setdefault(_way(row), []).append(f"{row.metric} ({pair})")
    if len(ways) == 1:
        how = next(iter(ways))
    else:
        how = "; ".join(f"{listed(places)}: {way}" for way, places in ways.items())
    text = (
        f"perm. p is the share of arrangements, with the two models' answers swapped in some "
        f"{unit}, whose difference is at least as large. Its null hypothesis is that the models "
        "are exchangeable, which is more than equal metrics; the verdict does not use it. Found "
        f"by {how}"
    )
    undefined = sum(row.n_undefined for row in rows)
    if undefined:
        text += f". {format_count(undefined)} arrangements have no value and count as extreme"
    if len(rows) < len(differences):
        text += ". Differences without one were not tested"
    return text


def _way(row: PermutationRow) -> str:
    if row.mode == MONTE_CARLO:
        way = f"{row.n_assignments} random arrangements (standard error {row.std_error:.1g})"
    else:
        way = f"{row.mode} of {format_count(row.n_assignments)} arrangements"
    if row.approximate:
        way += ", approximate: mid-ranks are swapped"
    if row.p_min > _WORTH_MENTIONING:
        way += f", smallest possible p {row.p_min:.2g}"
    return way
