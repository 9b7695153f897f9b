"""How far the numbers of both tables would move if other resamples had been drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.halves import halves, standard_error
from sklearn_pairboot._engine.intervals import N_TAILS
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables.build import build_tables
from sklearn_pairboot._tables.rows import (
    DifferenceRow,
    EquivalenceRow,
    MetricInfo,
    Row,
    ScoreRow,
    Settings,
    SlicePart,
    Tables,
    too_few_units,
)

# Methods whose p-value is a share of the resamples, times the number of tails.
_SHARES = ("percentile", "basic")
_P_COLUMNS = ("p_value", "p_adjusted", "p_equivalence", "p_equivalence_adjusted")


@dataclass(frozen=True, slots=True, eq=False)
class MonteCarloRow(Row):
    """Monte Carlo standard errors of one row of a table.

    ``baseline`` is empty for a score. ``verdict_stable`` is false where an adjusted p-value lies
    within two of its standard errors of alpha, so that another seed might turn the verdict.
    """

    metric: str
    model: str
    baseline: str
    se_std_error: float
    se_ci_low: float
    se_ci_high: float
    se_p_value: float
    verdict_stable: bool


def monte_carlo_rows(
    distribution: BootstrapDistribution,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    settings: Settings,
    tables: Tables,
    slices: Sequence[SlicePart] = (),
) -> tuple[MonteCarloRow, ...]:
    """Give every score and then every difference its Monte Carlo standard errors.

    Both tables are read again off balanced half-samples of the resamples, so that the errors are
    those of whatever method and correction the tables used. P-values that are shares of the
    resamples have the binomial standard error.
    """
    rows: tuple[ScoreRow | DifferenceRow, ...] = (*tables.scores, *tables.differences)
    if distribution.multiplicities is not None or not distribution.is_joint:
        return tuple(_row(row, dict.fromkeys(row.columns(), 0.0), True) for row in rows)
    columns = ("std_error", "ci_low", "ci_high", *_P_COLUMNS)
    again = []
    for chosen in halves(len(distribution.replicates)):
        half = distribution.only(chosen)
        if not _has_values(half, len(metrics)):
            return tuple(_row(row, dict.fromkeys(row.columns(), math.nan), True) for row in rows)
        found = build_tables(half, models, metrics, settings, slices=slices)
        again.append(_numbers((*found.scores, *found.differences), columns))
    errors = standard_error(np.array(again), _numbers(rows, columns))
    found_rows = []
    for row, values in zip(rows, errors.tolist(), strict=True):
        of_row = dict(zip(columns, values, strict=True))
        if isinstance(row, DifferenceRow) and row.status != "degenerate":
            if distribution.has_counts and is_share(row, settings):
                of_row |= _binomial(distribution, row, models, metrics, settings)
            # A zero among the half-samples is no certainty: all of them may be at the smallest p.
            of_row["p_value"] = max(of_row["p_value"], _at_the_floor(row, distribution, settings))
        found_rows.append(_row(row, of_row, _is_stable(row, of_row, settings, distribution)))
    return tuple(found_rows)


def is_share(row: DifferenceRow, settings: Settings) -> bool:
    """Tell whether a row's p-value is a share of the resamples, times the number of tails."""
    return (
        settings.correction == "max-t"
        or settings.method in _SHARES
        or row.status.startswith("percentile")
    )


def n_tails(settings: Settings) -> int:
    """Give the number of tails that a p-value counts: max-T counts largest deviations."""
    two_sided = settings.alternative == "two-sided" and settings.correction != "max-t"
    return N_TAILS["two-sided"] if two_sided else 1


def _has_values(distribution: BootstrapDistribution, n_metrics: int) -> bool:
    """Tell whether every metric is defined for all models at once in some resample.

    Subgroups, which follow the metrics, may have no values.
    """
    lost = np.any(distribution.undefined[:, :n_metrics], axis=2)
    return not np.all(lost, axis=0).any()


def _numbers(rows: Sequence[Any], columns: Sequence[str]) -> FloatArray:
    return np.array([[float(getattr(row, column, math.nan)) for column in columns] for row in rows])


def _binomial(
    distribution: BootstrapDistribution,
    row: DifferenceRow,
    models: Sequence[str],
    metrics: Sequence[MetricInfo],
    settings: Settings,
) -> dict[str, float]:
    metric = [info.name for info in metrics].index(row.metric)
    pair = [list(models).index(name) for name in (row.model, row.baseline)]
    n_defined = int(np.count_nonzero(~distribution.undefined[:, metric][:, pair].any(axis=1)))
    tails = n_tails(settings)
    share = min(row.p_value / tails, 1.0)
    error = tails * math.sqrt(share * (1 - share) / n_defined)
    factor = row.p_adjusted / row.p_value if row.p_value > 0 else 1.0
    return {"p_value": error, "p_adjusted": error * factor}


def _at_the_floor(
    row: DifferenceRow, distribution: BootstrapDistribution, settings: Settings
) -> float:
    floor = n_tails(settings) / (distribution.n_sequences + 1)
    return row.p_value if row.p_value <= floor * (1 + 1e-9) else 0.0


def _is_stable(
    row: Row, errors: dict[str, float], settings: Settings, distribution: BootstrapDistribution
) -> bool:
    if isinstance(row, ScoreRow) or too_few_units(distribution.n_units, settings.alpha):
        return True
    judged = ["p_adjusted"]
    if isinstance(row, EquivalenceRow):
        judged.append("p_equivalence_adjusted")
    near = (abs(row[name] - settings.alpha) < 2 * errors[name] for name in judged)
    return not any(near)  # NaN is near nothing


def _row(row: Any, errors: dict[str, float], stable: bool) -> MonteCarloRow:
    is_score = isinstance(row, ScoreRow)
    return MonteCarloRow(
        metric=row.metric,
        model=row.model,
        baseline="" if is_score else row.baseline,
        se_std_error=errors["std_error"],
        se_ci_low=errors["ci_low"],
        se_ci_high=errors["ci_high"],
        se_p_value=math.nan if is_score else errors["p_value"],
        verdict_stable=stable,
    )
