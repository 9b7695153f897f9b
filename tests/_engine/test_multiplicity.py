"""Adjusted p-values against the reference file, literal definitions and identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_pairboot._engine.multiplicity import adjust

P = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
ADJUSTED = {
    "bonferroni": [0.01, 0.08, 0.39, 0.41, 0.42, 0.6, 0.74, 1, 1, 1],
    "holm": [0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615],
    "fdr": [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.74 / 7, 0.216, 0.216, 0.216],
    None: P,
}
CORRECTIONS = list(ADJUSTED)

families = st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 0.05]), max_size=12)


def literal(p_values, correction):
    """Each correction by its definition, one hypothesis at a time."""
    m = len(p_values)
    adjusted = []
    for p in p_values:
        if correction == "bonferroni":
            value = m * p
        elif correction == "holm":
            value = max(q * sum(other >= q for other in p_values) for q in p_values if q <= p)
        else:
            value = min(q * m / sum(other <= q for other in p_values) for q in p_values if q >= p)
        adjusted.append(min(1.0, value))
    return adjusted


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_reference_values(correction):
    assert_allclose(adjust(P, correction), ADJUSTED[correction], rtol=1e-14)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr"])
@given(p_values=families)
def test_literal_definition(correction, p_values):
    assert_allclose(adjust(p_values, correction), literal(p_values, correction), rtol=1e-14)


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(p_values=families, seed=st.integers(0, 100))
def test_order_does_not_matter(correction, p_values, seed):
    order = np.random.default_rng(seed).permutation(len(p_values))
    shuffled = adjust(np.array(p_values)[order], correction)
    assert_array_equal(shuffled, adjust(p_values, correction)[order])


@pytest.mark.parametrize("correction", CORRECTIONS)
@given(p_values=families)
def test_undefined_values_stay_and_do_not_count(correction, p_values):
    with_nan = [math.nan, *p_values, math.nan]
    adjusted = adjust(with_nan, correction)
    assert np.isnan(adjusted[[0, -1]]).all()
    assert_array_equal(adjusted[1:-1], adjust(p_values, correction))


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_one_comparison_needs_no_adjustment(correction):
    for p in (0.05, math.nextafter(0.05, 1), 1.0):
        assert adjust([p], correction)[0] == p


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_input_is_not_changed(correction):
    p_values = np.array(P)
    adjust(p_values, correction)[:] = 0
    assert_array_equal(p_values, P)


def test_all_undefined():
    assert np.isnan(adjust([math.nan, math.nan], "holm")).all()


def test_unknown_correction():
    message = r"^`correction` must be one of \('holm', 'bonferroni', 'fdr', None\), got 'sidak'\.$"
    with pytest.raises(ValueError, match=message):
        adjust(P, "sidak")
