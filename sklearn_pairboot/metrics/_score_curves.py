"""What curves of several models' scores share: checked input, resamples, percentiles."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.curves import CurveKernel, Measure
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.thresholds import Sweep
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot._scoring.checks import check_names, check_resampling, check_same_index
from sklearn_pairboot.metrics._ranked import check_ranked
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap

_MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class ScoredRows:
    """Checked truths and scores of several models, and how they are to be resampled."""

    models: tuple[str, ...]
    positive: BoolArray
    scores: tuple[NDArray[Any], ...]
    sample_weight: FloatArray | None
    units: Units
    n_resamples: int
    confidence_level: float
    entropy: int

    @property
    def weight(self) -> NDArray[Any]:
        """Weight of every row, one by default."""
        if self.sample_weight is None:
            return np.ones(len(self.positive), dtype=np.int64)
        return self.sample_weight

    @property
    def positive_rate(self) -> float:
        """Share of the positive rows."""
        return float(np.average(self.positive, weights=self.weight))

    @property
    def unit(self) -> str:
        """Name of what is resampled."""
        return self.units.drawn.name

    @property
    def levels(self) -> tuple[float, float]:
        """Levels of the percentiles that bound a band."""
        return (1 - self.confidence_level) / 2, (1 + self.confidence_level) / 2


class Band(NamedTuple):
    """Observed heights of curves and percentiles of resampled ones, all of the same shape."""

    curve: FloatArray
    low: FloatArray
    high: FloatArray


def check_scored_rows(
    y_true: Any,
    predictions: Any,
    *,
    groups: Any,
    sample_weight: Any,
    pos_label: Any,
    n_resamples: Any,
    confidence_level: Any,
    random_state: Any,
) -> ScoredRows:
    """Check everything before anything is drawn."""
    n_resamples, level = check_resampling(n_resamples, confidence_level, random_state)
    if not isinstance(predictions, Mapping):
        raise TypeError(
            "`predictions` must be a mapping from names of models to scores of the positive "
            f"class, got {type(predictions).__name__}. For one model pass {{'model': scores}}."
        )
    models = check_names(list(predictions))
    check_same_index({"`y_true`": y_true, "`groups`": groups})
    ranked = [
        check_ranked(
            y_true,
            predictions[name],
            pos_label=pos_label,
            sample_weight=sample_weight,
            name=f"`predictions[{name!r}]`",
        )
        for name in models
    ]
    positive, weight = ranked[0].positive, ranked[0].sample_weight
    counted = np.ones(len(positive), dtype=bool) if weight is None else weight > 0
    if len(np.unique(positive[counted])) < 2:
        raise ValueError(
            "`y_true` must hold rows of both classes with positive weight, got "
            f"{'only positive' if positive[counted][0] else 'only negative'} rows."
        )
    plan = RowBootstrap() if groups is None else ClusterBootstrap()
    units = plan.resampling_units(len(positive), groups=groups)
    scores = tuple(of_model.scores for of_model in ranked)
    return ScoredRows(
        models, positive, scores, weight, units, n_resamples, level, entropy_of(random_state)
    )


def resample(
    rows: ScoredRows, sweeps: Sequence[Sweep], measures: Sequence[Measure], n_points: int
) -> tuple[FloatArray, FloatArray]:
    """Give observed and resampled heights, shape (n_resamples, n_models, n_measures, n_points)."""
    kernel = CurveKernel(sweeps, measures, n_points, rows.units, rows.sample_weight)
    observed = observe([kernel], rows.units)
    found = bootstrap(
        [kernel],
        rows.units,
        observed,
        n_resamples=rows.n_resamples,
        entropy=rows.entropy,
        scales=np.array([1.0]),
    )
    return observed.reshape(kernel.shape), found.replicates.reshape(-1, *kernel.shape)


def band(rows: ScoredRows, curve: FloatArray, replicates: FloatArray) -> Band:
    """Take percentiles of the resampled heights where they are defined, point by point."""
    low, high = np.full((2, *curve.shape), np.nan)
    lost = np.isnan(replicates)
    whole = ~np.isnan(curve) & ~lost.any(axis=0)
    if whole.any():
        low[whole], high[whole] = np.quantile(replicates[:, whole], rows.levels, axis=0)
    partly = ~np.isnan(curve) & lost.any(axis=0) & ~lost.all(axis=0)
    if partly.any():
        low[partly], high[partly] = np.nanquantile(replicates[:, partly], rows.levels, axis=0)
    return Band(curve, low, high)


def check_defined(undefined: BoolArray, what: str) -> int:
    """Count resamples without curves, and warn where they are many."""
    n_undefined, n_resamples = int(np.count_nonzero(undefined)), len(undefined)
    if n_undefined == n_resamples:
        raise ValueError(
            f"`y_true` must leave some resamples with {what}, got none in {n_resamples}. Pass more "
            "rows or clusters."
        )
    if n_undefined > _MOST_UNDEFINED * n_resamples:
        warnings.warn(
            f"{n_undefined} of {n_resamples} resamples have no curve, since they lack {what}. They "
            "are left out, and the bands may be too narrow.",
            UndefinedMetricWarning,
            stacklevel=4,
        )
    return n_undefined
