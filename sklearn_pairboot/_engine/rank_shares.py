"""Ranks of the models in each resample, ties shared evenly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import FloatArray


class RankShares(NamedTuple):
    """Share of the resamples in which each model has each rank, shape (n_models, n_models)."""

    shares: FloatArray
    n_kept: int


def rank_shares(
    values: FloatArray, noise: FloatArray, weights: NDArray[Any] | None = None
) -> RankShares:
    """Rank models in each resample, the largest value first.

    Parameters
    ----------
    values : ndarray of shape (n_replicates, n_models)
        NaN where undefined; such resamples are left out.
    noise : ndarray of shape (n_replicates,)
        Values that differ by no more are tied. Models that share the ranks r to r + t - 1 get
        1 / t of the resample at each of them.
    weights : ndarray of shape (n_replicates,) or None, default=None
        How many sequences of an enumeration each replicate stands for.

    Returns
    -------
    RankShares
        Rows and columns of the shares sum to 1; ``n_kept`` counts replicates, not sequences.
    """
    kept = ~np.isnan(values).any(axis=1)
    values, noise = values[kept], noise[kept]
    n_replicates, n_models = values.shape
    shares = np.full((n_models, n_models), np.nan)
    if n_replicates == 0:
        return RankShares(shares, 0)
    weight = np.ones(n_replicates) if weights is None else weights[kept].astype(np.float64)
    for model in range(n_models):
        ahead = values - values[:, [model]]
        n_better = np.count_nonzero(ahead > noise[:, None], axis=1)
        n_tied = np.count_nonzero(np.abs(ahead) <= noise[:, None], axis=1)  # itself included
        portion = weight / n_tied
        for rank in range(n_models):
            here = (n_better <= rank) & (rank < n_better + n_tied)
            shares[model, rank] = portion[here].sum() / weight.sum()
    return RankShares(shares, n_replicates)
