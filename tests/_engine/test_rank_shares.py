"""Shares of ranks against a literal ranking of every resample by SciPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from sklearn_pairboot._engine.rank_shares import rank_shares


def literal(values, weights):
    """Each resample ranked by itself; models that tie share the ranks they span."""
    n_models = values.shape[1]
    shares = np.zeros((n_models, n_models))
    for row, weight in zip(values, weights, strict=True):
        low, high = rankdata(-row, method="min"), rankdata(-row, method="max")
        for model in range(n_models):
            for rank in range(int(low[model]), int(high[model]) + 1):
                shares[model, rank - 1] += weight / (high[model] - low[model] + 1)
    return shares / weights.sum()


@given(
    seed=st.integers(0, 10**6),
    n_models=st.integers(1, 5),
    steps=st.sampled_from([2, 5, 1000]),
    weighted=st.booleans(),
)
def test_every_resample_ranked_by_itself(seed, n_models, steps, weighted):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, steps, (50, n_models)) / 10
    weights = rng.integers(1, 9, 50) if weighted else None
    found = rank_shares(values, np.full(50, 1e-12), weights)
    expected = literal(values, np.ones(50) if weights is None else weights)
    np.testing.assert_allclose(found.shares, expected, atol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    mean = found.shares @ np.arange(1, n_models + 1)
    middle = np.average(rankdata(-values, axis=1), axis=0, weights=weights)
    np.testing.assert_allclose(mean, middle)  # mid-ranks
    assert found.n_kept == 50


def test_rounding_is_a_tie():
    values = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]])
    np.testing.assert_array_equal(rank_shares(values, np.full(2, 1e-12)).shares, 0.5)


def test_resamples_undefined_in_any_model_are_left_out():
    values = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 2.0], [3.0, 1.0]])
    found = rank_shares(values, np.zeros(4))
    np.testing.assert_allclose(found.shares, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert found.n_kept == 3
    assert np.isnan(rank_shares(values[1:2], np.zeros(1)).shares).all()
