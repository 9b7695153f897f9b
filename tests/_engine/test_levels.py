"""Rank metrics summed by distinct scores, against scikit-learn on literally drawn rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from examples import max_examples
from sklearn_pairboot._engine import levels
from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights

METRICS = [(AUCKernel, roc_auc_score), (AveragePrecisionKernel, average_precision_score)]


def tied(rng, n, n_levels):
    """Scores of two models and the truths of their rows."""
    scores = tuple(rng.integers(0, n_levels, n) / n_levels for _ in range(2))
    positive = rng.random(n) < 0.4
    positive[:2] = [False, True]
    return scores, positive


@pytest.mark.parametrize(("kind", "metric"), METRICS)
@max_examples(25)
@given(seed=st.integers(0, 2**16), clusters=st.booleans(), weighted=st.booleans())
def test_equals_scikit_learn_on_the_rows_drawn(kind, metric, seed, clusters, weighted):
    rng = np.random.default_rng(seed)
    n = 60
    scores, positive = tied(rng, n, 4)
    of_row = np.unique(rng.integers(0, 20, n), return_inverse=True)[1] if clusters else None
    units = Units(n, n if of_row is None else int(of_row.max()) + 1, of_row)
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    kernel = kind(scores, positive, units, weight)
    assert all(kernel.levels)
    counts = rng.multinomial(units.n_units, np.full(units.n_units, 1 / units.n_units), size=5)
    found = kernel.evaluate(Weights(counts.astype(np.uint8)))
    for resample, of_units in enumerate(counts):
        of_rows = of_units if of_row is None else of_units[of_row]
        drawn = np.repeat(np.arange(n), of_rows)
        own = None if weight is None else weight[drawn]
        for model, of_model in enumerate(scores):
            want = metric(positive[drawn], of_model[drawn], sample_weight=own)
            assert found.values[resample, model] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64, np.float64])
@pytest.mark.parametrize(("kind", "_"), METRICS)
def test_rows_and_levels_agree_for_every_type_of_weights(kind, _, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    scores, positive = tied(rng, 3000, 5)
    counts = rng.poisson(1, (4, 3000)).astype(dtype)
    if dtype != np.uint8:
        counts[0] *= 90  # sums beyond 16 bits
    by_level = kind(scores, positive, Units(3000, 3000))
    assert all(by_level.levels)
    monkeypatch.setattr(levels, "_ROWS_PER_LEVEL", 10_000)
    by_row = kind(scores, positive, Units(3000, 3000))
    assert not any(by_row.levels)
    want, found = (kernel.evaluate(Weights(counts)) for kernel in (by_row, by_level))
    np.testing.assert_allclose(found.values, want.values, rtol=1e-12)


def test_sums_that_16_bits_do_not_hold_are_made_in_more():
    n = 2**16
    positive = np.arange(n) % 2 == 0
    kernel = AUCKernel((np.repeat([0.0, 1.0], n // 2),), positive, Units(n, n))
    counts = np.full((1, n), 3, dtype=np.uint8)  # 98,304 on each level
    assert kernel.evaluate(Weights(counts)).values[0, 0] == 0.5
    assert int(kernel.levels[0].sums(Weights(counts))[0].sum()) == 3 * n // 2


@pytest.mark.parametrize(("kind", "_"), METRICS)
def test_a_class_without_weight_makes_a_value_undefined(kind, _):
    rng = np.random.default_rng(0)
    scores, positive = tied(rng, 100, 3)
    counts = np.where(positive, 0, 1).astype(np.uint8)[np.newaxis]
    found = kind(scores, positive, Units(100, 100)).evaluate(Weights(counts))
    assert found.undefined.all() and np.isnan(found.values).all()


def test_many_levels_are_left_to_the_rows():
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.5
    units = Units(300, 300)
    for scores in (rng.random(300), np.r_[np.zeros(250), rng.random(50)]):
        assert levels.Levels.of(scores, positive, None, units) is None
