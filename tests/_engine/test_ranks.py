"""Rank kernels and concordance against literal loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from sklearn_pairboot._engine import jackknife, ranks
from sklearn_pairboot._engine.concordance import auc_without_each, concordance_matrix
from sklearn_pairboot._engine.ranks import AUCKernel, AveragePrecisionKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights, Workspace


@st.composite
def clustered(draw):
    n = draw(st.integers(4, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    positive = rng.random(n) < 0.5
    positive[:2] = [False, True]
    scores = np.round(rng.random(n), draw(st.sampled_from([1, 9])))
    of_row = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
    weight = rng.choice([0.5, 1.0, 3.0], n) if draw(st.booleans()) else None
    return scores, positive, weight, Units(n, int(of_row.max()) + 1, of_row)


def literal_matrix(scores, positive, weight, units):
    weight = np.ones(len(scores)) if weight is None else weight
    matrix = np.zeros((units.n_units, units.n_units))
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            share = (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
            matrix[units.of_row[i], units.of_row[j]] += weight[i] * weight[j] * share
    return matrix


@given(clustered())
def test_concordance_matrix_equals_a_loop_over_pairs(case):
    np.testing.assert_allclose(concordance_matrix(*case), literal_matrix(*case), atol=1e-12)


@given(clustered())
def test_auc_without_each_unit_equals_the_matrix_without_its_row_and_column(case):
    scores, positive, weight, units = case
    matrix = literal_matrix(*case)
    row_weight = np.ones(len(scores)) if weight is None else weight
    found = auc_without_each(*case)
    for unit in range(units.n_units):
        keep = np.arange(units.n_units) != unit
        rows = units.of_row != unit
        pairs = row_weight[rows & positive].sum() * row_weight[rows & ~positive].sum()
        if pairs == 0:
            assert np.isnan(found[unit])
        else:
            assert found[unit] == pytest.approx(matrix[np.ix_(keep, keep)].sum() / pairs, rel=1e-12)


@given(clustered())
def test_matrix_and_row_forms_of_clustered_auc_agree(case):
    scores, positive, weight, units = case
    forms = []
    for most_units in (0, 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ranks, "_MATRIX_UNITS", most_units)
            patch.setattr(ranks, "_MATRIX_PAIRS_PER_ROW", 1024)
            kernel = AUCKernel((scores, -scores), positive, units, weight)
            assert (kernel.matrices is None) == (most_units == 0)
            forms.append(kernel)
    by_rows, by_matrix = forms
    rng = np.random.default_rng(0)
    counts = rng.multinomial(units.n_units, np.full(units.n_units, 1 / units.n_units), size=8)
    weights = Weights(counts.astype(np.uint8))
    first, second = by_rows.evaluate(weights), by_matrix.evaluate(weights)
    np.testing.assert_array_equal(first.undefined, second.undefined)
    np.testing.assert_allclose(first.values, second.values, rtol=1e-12)


def test_the_matrix_form_is_taken_for_few_large_clusters():
    rng = np.random.default_rng(0)
    of_row = rng.integers(0, 10, 1000)
    scores, positive = rng.random(1000), rng.random(1000) < 0.5
    assert AUCKernel((scores,), positive, Units(1000, 10, of_row)).matrices
    assert not AUCKernel((scores,), positive, Units(1000, 1000)).matrices


def test_counts_beyond_int32_are_summed_in_int64():
    """Merged units drawn 100,000 times each: products of counts leave 32 bits."""
    scores = np.array([0.1, 0.5, 0.5, 0.9])
    positive = np.array([False, False, True, True])
    kernel = AUCKernel((scores,), positive, Units(4, 4))
    counts = np.full((1, 4), 100_000, dtype=np.int64)
    assert kernel.evaluate(Weights(counts)).values[0, 0] == 0.875
    small = np.full((1, 4), 255, dtype=np.uint8)
    assert kernel.evaluate(Weights(small)).values[0, 0] == 0.875


def test_sums_that_may_overflow_are_found():
    weight = np.array([2**26], dtype=np.int32)
    assert ranks._sums_overflow(weight, np.array([[1]], dtype=np.uint8))
    assert not ranks._sums_overflow(weight - 1, np.array([[1]], dtype=np.uint8))


def test_case_C22_auc_of_perfect_separation_is_exactly_one():
    for m in range(1, 12):
        for n in range(1, 12):
            scores = np.concatenate([np.arange(n), 100.0 + np.arange(m)])
            kernel = AUCKernel((scores,), np.arange(n + m) >= n, Units(n + m, n + m))
            ones = Weights(np.ones((1, n + m), dtype=np.uint8))
            assert kernel.evaluate(ones).values[0, 0] == 1.0


def test_average_precision_leaves_out_groups_where_units_are_too_many(monkeypatch):
    rng = np.random.default_rng(0)
    n = 400
    of_row = np.arange(n) // 2
    scores, positive = rng.random(n), rng.random(n) < 0.5
    units = Units(n, 200, of_row)
    kernel = AveragePrecisionKernel((scores,), positive, units)
    literal = kernel.leave_one_out()
    assert not literal.grouped and literal.values.shape == (200, 1)
    for unit in (0, 17, 199):
        rows = of_row != unit
        expected = average_precision_score(positive[rows], scores[rows])
        assert literal.values[unit, 0] == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(jackknife, "_LITERAL_WEIGHTS", 10)
    monkeypatch.setattr(jackknife, "MOST_GROUPS", 20)
    grouped = kernel.leave_one_out()
    assert grouped.grouped and grouped.values.shape == (20, 1)
    rows = (of_row % 20) != 3
    expected = average_precision_score(positive[rows], scores[rows])
    assert grouped.values[3, 0] == pytest.approx(expected, rel=1e-12)


def test_a_reused_workspace_changes_nothing():
    rng = np.random.default_rng(0)
    n = 50
    positive = rng.random(n) < 0.4
    scores = np.round(rng.random((2, n)), 1)
    auc = AUCKernel(tuple(scores), positive, Units(n, n))
    precision = AveragePrecisionKernel(tuple(scores), positive, Units(n, n))
    workspace = Workspace()
    for _ in range(3):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=7).astype(np.uint8)
        for kernel in (auc, precision):
            shared = kernel.evaluate(Weights(counts, workspace)).values
            np.testing.assert_array_equal(shared, kernel.evaluate(Weights(counts)).values)
        for resample, drawn in enumerate(counts):
            rows = np.repeat(np.arange(n), drawn)
            expected = roc_auc_score(positive[rows], scores[0][rows])
            assert auc.evaluate(Weights(counts)).values[resample, 0] == pytest.approx(expected)
