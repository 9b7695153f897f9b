"""Consistency resampling: labels drawn from the predictions themselves."""

from __future__ import annotations

import numpy as np

from sklearn_pairboot._engine.binned import Forecast
from sklearn_pairboot._engine.weights import FloatArray

_NUMBERS_AT_ONCE = 2**20


def refuse_groups(groups: object) -> None:
    """Refuse clusters, whose rows have labels that depend on each other."""
    if groups is not None:
        raise ValueError(
            "`groups` must be None, got clusters: consistency resampling draws the labels of rows "
            "independently, which those of a cluster are not. Compare models, or intervals, with "
            "groups instead."
        )


def generator_of(entropy: int) -> np.random.Generator:
    """Give draws of their own: data may have been simulated from the same seed."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(0, 0)))


def outcome_sums(
    forecast: Forecast,
    row_weight: FloatArray | None,
    n_resamples: int,
    generator: np.random.Generator,
) -> FloatArray:
    """Sum weighted outcomes in each bin, of samples that are calibrated by construction.

    The draws are those of one call a sample.
    """
    bins, n_rows = forecast.bins, len(forecast.bins)
    order = np.argsort(bins, kind="stable")
    filled, starts = np.unique(bins[order], return_index=True)
    weight = np.ones(n_rows) if row_weight is None else row_weight[order]
    sums = np.zeros((n_resamples, int(bins.max()) + 1))
    n_at_once = max(1, _NUMBERS_AT_ONCE // n_rows)
    for start in range(0, n_resamples, n_at_once):
        block = sums[start : start + n_at_once]
        came = (generator.random((len(block), n_rows)) < forecast.predictions)[:, order] * weight
        block[:, filled] = np.add.reduceat(came, starts, axis=1)
    return sums
