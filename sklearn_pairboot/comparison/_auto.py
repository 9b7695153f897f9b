"""Drawing resamples until the interval ends and the verdicts are known well enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.halves import N_HALVES
from sklearn_pairboot._engine.intervals import check_alpha
from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.multiplicity import ADJUSTMENTS, adjust
from sklearn_pairboot._engine.stopping import (
    END_TOLERANCE,
    RISK,
    TOTALS,
    Bounds,
    decided,
    ends_known,
    p_bounds,
    spent,
)
from sklearn_pairboot._tables import (
    DifferenceRow,
    MetricInfo,
    MonteCarloRow,
    Settings,
    SlicePart,
    build_tables,
    is_share,
    listed,
    monte_carlo_rows,
    n_tails,
)


class Stopped(NamedTuple):
    """The distribution at which the drawing stopped, and why it did."""

    distribution: BootstrapDistribution
    note: str


def totals_for(confidence_level: float, expansion: Expansion | None = None) -> tuple[int, ...]:
    """Numbers of resamples at which to look, as many as the confidence level needs."""
    totals = []
    for total in TOTALS:
        try:
            check_alpha(total, confidence_level, expansion=expansion)
        except ValueError:
            if total == TOTALS[-1]:
                raise
            continue
        totals.append(total)
    return tuple(totals)


def draw_until_known(
    distributions: Iterator[BootstrapDistribution],
    totals: Sequence[int],
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    settings: Settings,
    slices: Sequence[SlicePart] = (),
) -> Stopped:
    """Take the first distribution that leaves nothing open, or the last."""
    bounds: dict[str, Bounds] = {}
    used = 0.0
    for distribution, total in zip(distributions, totals, strict=True):
        tables = build_tables(distribution, models, metrics, settings, slices=slices)
        errors = monte_carlo_rows(distribution, models, metrics, settings, tables, slices)
        open_ends = [
            _place(error)
            for row, error in zip((*tables.scores, *tables.differences), errors, strict=True)
            if not ends_known((error.se_ci_low, error.se_ci_high), row["std_error"])
        ]
        open_p = []
        risk = spent(total) - used
        used = spent(total)
        of_differences = errors[len(tables.scores) :]
        for family, rows, row_errors in _families(tables.differences, of_differences, settings):
            now = _bounds(rows, row_errors, settings, risk * len(rows) / len(tables.differences))
            bounds[family] = now.within(bounds[family]) if family in bounds else now
            for place, is_decided in zip(
                map(_place, row_errors), _decided(bounds[family], settings), strict=True
            ):
                if not is_decided:
                    open_p.append(place)
        if total == totals[-1] or not (open_ends or open_p):
            return Stopped(distribution, _note(total, open_ends, open_p, settings))
    raise ValueError("`totals` must not be empty.")


def _families(
    rows: Sequence[DifferenceRow], errors: Sequence[MonteCarloRow], settings: Settings
) -> Iterator[tuple[str, list[DifferenceRow], list[MonteCarloRow]]]:
    names = ["" if settings.family == "all" else row.metric for row in rows]
    for name in dict.fromkeys(names):
        members = [number for number, of_row in enumerate(names) if of_row == name]
        yield name, [rows[k] for k in members], [errors[k] for k in members]


def _bounds(
    rows: Sequence[DifferenceRow], errors: Sequence[MonteCarloRow], settings: Settings, risk: float
) -> Bounds:
    freedom = [np.inf if is_share(row, settings) else N_HALVES for row in rows]
    return p_bounds(
        np.array([row.p_value for row in rows]),
        np.array([error.se_p_value for error in errors]),
        n_tails(settings),
        risk,
        np.array(freedom),
    )


def _decided(bounds: Bounds, settings: Settings) -> list[bool]:
    """Tell which p-values lie on one side of alpha, by themselves and adjusted.

    Those of max-T are adjusted as they are, or by the resamples themselves.
    """
    correction = settings.correction if settings.correction in ADJUSTMENTS else None
    alone = decided(bounds, partial(adjust, correction=None), settings.alpha)
    adjusted = decided(bounds, partial(adjust, correction=correction), settings.alpha)
    both: list[bool] = (alone & adjusted).tolist()
    return both


def _note(total: int, open_ends: list[str], open_p: list[str], settings: Settings) -> str:
    alpha, share = f"{settings.alpha:.10g}", f"{100 * END_TOLERANCE:g} %"
    start = f"`n_resamples='auto'` stopped at {total} resamples"
    if not open_ends and not open_p:
        return (
            f"{start}: the ends of every interval have a Monte Carlo error of at most {share} of "
            f"its standard error, and p-values, adjusted ones too, are on their side of {alpha} "
            f"but for a risk of {RISK:g}."
        )
    left = []
    if open_p:
        left.append(f"on which side of {alpha} the p-value lies for {listed(open_p)}")
    if open_ends:
        left.append(f"the interval ends of {listed(open_ends)} to {share} of the standard error")
    return f"{start}, its limit, without having found {', nor '.join(left)}."


def _place(row: MonteCarloRow) -> str:
    return f"{row.metric} ({f'{row.model} - {row.baseline}' if row.baseline else row.model})"
