"""Tarone's correction, against its definition and the enumerated probability of an error."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot.inference import mcnemar_test, tarone_correction

families = st.lists(
    st.tuples(st.floats(1e-6, 1), st.floats(0, 1)).map(lambda t: (t[0] + t[1] * (1 - t[0]), t[0])),
    min_size=1,
    max_size=12,
)


def by_definition(p_values, p_mins, alpha):
    """K by trying all, and the rejections."""
    factors = range(1, len(p_values) + 1)
    k = next(k for k in factors if sum(least <= alpha / k for least in p_mins) <= k)
    return k, [p <= alpha / k for p in p_values]


@given(families, st.sampled_from([0.01, 0.05, 0.2]))
def test_equals_the_definition(family, alpha):
    p_values, p_mins = np.transpose(family)
    corrected = tarone_correction(p_values, p_mins, alpha=alpha)
    k, rejected = by_definition(p_values, p_mins, alpha)
    assert corrected.factor == k
    assert corrected.threshold == alpha / k
    assert corrected.rejected.tolist() == rejected
    assert corrected.n_testable == corrected.testable.sum() <= k
    np.testing.assert_allclose(corrected.p_adjusted, np.minimum(k * p_values, 1))
    assert not (corrected.rejected & ~corrected.testable).any()


@given(families)
def test_between_bonferroni_and_no_correction(family):
    p_values, p_mins = np.transpose(family)
    corrected, stepwise = (
        tarone_correction(p_values, p_mins, variant=variant)
        for variant in ("tarone", "tarone-holm")
    )
    assert (corrected.p_adjusted >= p_values).all()
    assert (corrected.p_adjusted <= adjust(p_values, "bonferroni") + 1e-15).all()
    assert (stepwise.p_adjusted <= corrected.p_adjusted).all()
    assert (stepwise.rejected >= corrected.rejected).all()


@given(st.lists(st.floats(1e-4, 1), min_size=1, max_size=12))
def test_without_smallest_p_values_it_is_bonferroni_and_holm(p_values):
    p_mins = [1e-9] * len(p_values)
    for variant, correction in (("tarone", "bonferroni"), ("tarone-holm", "holm")):
        corrected = tarone_correction(p_values, p_mins, variant=variant)
        expected = adjust(p_values, correction)
        assert corrected.rejected.tolist() == (expected <= 0.05).tolist()
        if variant == "tarone":
            np.testing.assert_allclose(corrected.p_adjusted, expected)


def test_step_down_rejects_more():
    p_values, p_mins = [0.001, 0.02, 0.03, 0.5], [0.001, 0.001, 0.001, 0.5]
    first = tarone_correction(p_values, p_mins)
    assert (first.factor, first.rejected.tolist()) == (3, [True, False, False, False])
    second = tarone_correction(p_values, p_mins, variant="tarone-holm")
    # Without the first K is 2, without the second it is 1.
    assert second.rejected.tolist() == [True, True, True, False]
    np.testing.assert_allclose(second.p_adjusted, [0.003, 0.04, 0.04, 0.5])


@pytest.mark.parametrize("variant", ["tarone", "tarone-holm"])
@pytest.mark.parametrize("sizes", [(2, 3, 6), (5, 5, 5), (1, 4, 7), (6, 6, 8)])
def test_req_A32_req_C21_probability_of_any_error_is_never_above_alpha(variant, sizes):
    tests = [[mcnemar_test([[1, n - b], [b, 0]]) for b in range(n + 1)] for n in sizes]
    chances = [stats.binom.pmf(np.arange(n + 1), n, 0.5) for n in sizes]
    p_mins = [of_size[0].p_min for of_size in tests]
    for alpha in (0.05, 0.1):
        error = 0.0
        for outcome in itertools.product(*(range(n + 1) for n in sizes)):
            p_values = [of_size[b].p_value for of_size, b in zip(tests, outcome, strict=True)]
            corrected = tarone_correction(p_values, p_mins, alpha=alpha, variant=variant)
            if corrected.rejected.any():
                error += np.prod([chance[b] for chance, b in zip(chances, outcome, strict=True)])
        assert error <= alpha + 1e-12


def test_nothing_testable_rejects_nothing():
    corrected = tarone_correction([0.25, 0.5], [0.25, 0.125])
    assert (corrected.factor, corrected.n_testable) == (1, 0)
    assert not corrected.rejected.any()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"p_values": [0.0, 0.1]}, r"`p_values` must lie above 0, not above 1, got 0"),
        ({"p_mins": [0.1, 1.5]}, r"`p_mins` must lie above 0, not above 1, got 1\.5"),
        ({"p_values": [0.01, 0.5]}, r"must not lie below `p_mins`, got 0\.01 below 0\.1 in test 0"),
        ({"p_mins": [0.1]}, r"`p_mins` must have one entry .* 2, got 1"),
        ({"p_values": [np.nan, 0.5]}, r"`p_values` must be finite .* Leave out tests"),
        ({"p_values": "0.1"}, r"`p_values` must be a one-dimensional array"),
        ({"alpha": 5}, r"`alpha` must be a number between 0 and 1, got 5\. For 5 % pass 0\.05"),
        ({"variant": "holm"}, r"`variant` must be one of 'tarone', 'tarone-holm', got 'holm'"),
    ],
)
def test_bad_arguments_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        tarone_correction(**{"p_values": [0.2, 0.5], "p_mins": [0.1, 0.2], **changed})
