"""Sums of lines in stripes against NumPy's cumulative sums in plain order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._engine.stripes import (
    N_STEPS,
    n_stripes,
    slots_of,
    sum_lines,
    sums_before,
    sums_upto,
    type_of_total,
)
from sklearn_pairboot._engine.weights import Workspace

seeds = st.integers(0, 2**32 - 1)


def in_stripes(lines):
    """Lay lines out slot by slot; padding has no weight."""
    stripes = n_stripes(len(lines) + 1)
    laid_out = np.zeros((N_STEPS * stripes, lines.shape[1]), dtype=lines.dtype)
    for number, line in enumerate(lines):
        laid_out[number % N_STEPS * stripes + number // N_STEPS] = line
    return laid_out


@given(
    seeds,
    st.integers(0, 200),
    st.integers(1, 20),
    st.sampled_from([(np.uint8, 3), (np.uint8, 15), (np.uint8, 16), (np.uint8, 255)])
    | st.sampled_from([(np.uint32, 2**20), (np.int64, 2**40), (np.float64, 1)]),
)
def test_sums_before_each_line_and_of_all(seed, n_lines, n_resamples, kind):
    dtype, largest = kind
    rng = np.random.default_rng(seed)
    size = (n_lines, n_resamples)
    lines = rng.random(size) if dtype is np.float64 else rng.integers(0, largest + 1, size)
    lines = lines.astype(dtype)
    laid_out = in_stripes(lines)
    before, total = sums_before(Workspace(), "lines", laid_out)
    exact = np.vstack([np.zeros((1, n_resamples)), np.cumsum(lines, axis=0, dtype=np.float64)])
    slots = slots_of(np.arange(n_lines + 1), n_stripes(n_lines + 1))
    np.testing.assert_allclose(before[slots], exact, rtol=1e-13)
    np.testing.assert_allclose(total, exact[-1], rtol=1e-13)
    upto, total = sums_upto(Workspace(), "lines", laid_out)
    np.testing.assert_allclose(upto[slots[:-1]], exact[1:], rtol=1e-13)
    np.testing.assert_allclose(total, exact[-1], rtol=1e-13)
    wide = np.result_type(dtype, np.int32)
    np.testing.assert_allclose(sum_lines(laid_out, wide), exact[-1], rtol=1e-13)


def test_slots_hold_every_line_once():
    for n_lines in (1, 15, 16, 17, 160):
        stripes = n_stripes(n_lines)
        slots = slots_of(np.arange(n_lines), stripes)
        assert len(set(slots.tolist())) == n_lines
        assert slots.max() < N_STEPS * stripes < n_lines + N_STEPS


@pytest.mark.parametrize(
    ("dtype", "n_lines", "expected"),
    [
        (np.uint8, 2**23 - 1, np.int32),
        (np.uint8, 2**23, np.int64),
        (np.uint32, 1, np.int64),
        (np.int64, 1, np.int64),
        (np.float64, 1, np.float64),
    ],
)
def test_totals_have_a_type_that_holds_them(dtype, n_lines, expected):
    lines = np.broadcast_to(np.zeros(1, dtype=dtype), (n_lines, 1))
    assert type_of_total(lines) is expected


def test_sums_of_one_step_reach_the_end_of_a_byte():
    lines = np.full((N_STEPS * 3, 2), 15, dtype=np.uint8)
    before, total = sums_before(Workspace(), "lines", lines)
    assert total.tolist() == [720, 720]
    assert before[slots_of(np.array([47]), 3)].tolist() == [[705, 705]]
