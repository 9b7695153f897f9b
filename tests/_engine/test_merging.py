"""Merged units against the units themselves: equal terms, numbers of the distinct, and values."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.bootstrap import observe, observe_merged
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.merging import keep_apart, merge, number_rows, number_values
from sklearn_pairboot._engine.ranks import AUCKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights

seeds = st.integers(0, 2**32 - 1)
mean = partial(formulas.mean, root=False)

KEYS = [
    [True, False, True],
    [3, -1, 3],
    [0, 255, 0],
    [2**40, 0, 2**40],
    [-(2**63), 2**63 - 1, -(2**63)],
    [0.5, -0.5, 0.5],
    [0.0, -0.0, 0.0],
    ["a", "bb", "a"],
]


@pytest.mark.parametrize("values", KEYS)
def test_equal_values_get_equal_numbers(values):
    codes, n_distinct = number_values(np.array(values))
    assert codes[0] == codes[2]
    assert (codes[0] == codes[1]) == (values[0] == values[1])
    assert set(codes.tolist()) == set(range(n_distinct))


@given(seeds, st.integers(1, 3), st.sampled_from([np.uint8, np.int64, np.float64]))
def test_numbers_tell_combinations_apart(seed, n_keys, dtype):
    rng = np.random.default_rng(seed)
    keys = [rng.integers(0, 3, 40).astype(dtype) / dtype(1) for _ in range(n_keys)]
    codes, n_distinct = number_rows(keys)
    rows = list(zip(*keys, strict=True))
    assert len(set(rows)) == n_distinct
    assert len(set(zip(rows, codes.tolist(), strict=True))) == n_distinct


def test_values_beyond_the_first_sample_are_numbered_too():
    values = np.concatenate([np.full(20_000, 0.5), [0.25]])
    codes, n_distinct = number_values(values)
    assert n_distinct == 2
    assert codes[-1] != codes[0]


@given(seeds, st.booleans(), st.booleans())
def test_cells_have_the_terms_of_their_rows(seed, weighted, clustered):
    rng = np.random.default_rng(seed)
    n = 60
    cells = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
    table = rng.normal(size=(cells.max() + 1, 2))
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    units = Units(n, 7, np.arange(n) % 7) if clustered else Units(n, n)
    formula = formulas.total
    by_cells = SumsKernel.from_cells(table, cells, formula, 2, units, row_weight=weight)
    ones = np.ones(n) if weight is None else weight
    by_rows = SumsKernel.from_rows(ones[:, None] * table[cells], formula, 2, units, row_weight=ones)
    counts = rng.multinomial(units.n_units, np.full(units.n_units, 1 / units.n_units), size=5)
    for first, second in (
        (by_cells.evaluate(Weights(counts)), by_rows.evaluate(Weights(counts))),
        (by_cells.leave_one_out(), by_rows.leave_one_out()),
    ):
        np.testing.assert_allclose(first.values, second.values, rtol=1e-12, atol=1e-12)


def test_kernels_that_share_their_cells_are_merged_by_them_alone():
    rng = np.random.default_rng(0)
    cells = np.concatenate([np.arange(3), rng.integers(0, 3, 10_000)])
    units = Units(len(cells), len(cells))
    kernels = [
        SumsKernel.from_cells(rng.normal(size=(3, 1)), cells, formulas.total, 1, units)
        for _ in range(2)
    ]
    merged = merge(kernels, units)
    np.testing.assert_array_equal(merged.multiplicity, np.bincount(cells))
    np.testing.assert_allclose(observe_merged(merged, units), observe(kernels, units), rtol=1e-11)


def test_observed_values_do_not_depend_on_merging():
    rng = np.random.default_rng(1)
    n = 20_000
    positive = rng.random(n) < 0.4
    scores = tuple(np.round(rng.random(n) + 0.2 * positive, 1) for _ in range(2))
    units = Units(n, n, None, (np.arange(n) % 2).astype(np.int64))
    kernels = [AUCKernel(scores, positive, units)]
    merged = merge(kernels, units)
    assert merged.multiplicity is not None
    assert merged.multiplicity.sum() == n
    np.testing.assert_array_equal(
        np.bincount(merged.stratum, merged.multiplicity), [n // 2, n // 2]
    )
    np.testing.assert_allclose(
        observe_merged(merged, units), observe_merged(keep_apart(kernels, units), units), rtol=1e-13
    )


def test_units_that_differ_too_much_stay_apart():
    units = Units(500, 500)
    kernel = SumsKernel(np.arange(1000.0).reshape(500, 2), mean, 1)
    assert merge([kernel], units).multiplicity is None
    merged = merge([kernel], units, always=True)
    assert merged.multiplicity.tolist() == [1] * 500
