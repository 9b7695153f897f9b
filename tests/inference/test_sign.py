"""The sign test, against enumeration and exact references."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot.inference import mcnemar_test, sign_test

ALTERNATIVES = ["two-sided", "greater", "less"]
several_differences = st.lists(st.integers(-3, 3), min_size=1, max_size=25)


def test_req_E26_twenty_benchmarks():
    # exact.json, multiplicity, twenty_benchmarks.
    of_twelve = sign_test([1] * 12 + [-1] * 8, alternative="greater")
    assert of_twelve.expected_wins == 10
    assert of_twelve.sd_wins == pytest.approx(2.23606797749979, rel=1e-15)
    assert of_twelve.p_value == pytest.approx(131975 / 524288, rel=1e-12)
    of_fifteen = sign_test([1] * 15 + [-1] * 5, alternative="greater")
    assert of_fifteen.p_value == pytest.approx(5425 / 262144, rel=1e-12)
    # With a tie the leads to expect are fewer, and ties are counted.
    tied = sign_test([1] * 12 + [-1] * 7 + [0])
    assert (tied.n_zeros, tied.expected_wins, tied.n_wins + tied.n_losses) == (1, 9.5, 19)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n_losses", range(7))
def test_equals_the_enumeration_of_all_signs(n_losses, alternative):
    signs = np.array(list(itertools.product([-1, 1], repeat=6)))
    observed = 6 - 2 * n_losses
    total = signs.sum(axis=1)
    extreme = {
        "two-sided": np.abs(total) >= abs(observed),
        "greater": total >= observed,
        "less": total <= observed,
    }[alternative]
    differences = [0.3] * (6 - n_losses) + [-0.1] * n_losses + [0.0] * 3
    test = sign_test(differences, alternative=alternative)
    assert test.p_value == pytest.approx(extreme.mean(), rel=1e-13)
    assert test.p_min == pytest.approx(2 / 64 if alternative == "two-sided" else 1 / 64)


@given(several_differences, st.sampled_from(ALTERNATIVES))
def test_is_mcnemars_exact_test_of_the_signs(differences, alternative):
    test = sign_test(differences, alternative=alternative)
    of_table = mcnemar_test(
        [[1, sum(d < 0 for d in differences)], [sum(d > 0 for d in differences), 0]],
        alternative=alternative,
    )
    assert test.p_value == pytest.approx(of_table.p_value, rel=1e-10)
    assert test.p_min == pytest.approx(of_table.p_min, rel=1e-10)


@given(several_differences, st.sampled_from(ALTERNATIVES))
def test_interval_of_clopper_and_pearson(differences, alternative):
    test = sign_test(differences, alternative=alternative, confidence_level=0.9)
    wins, n = test.n_wins, test.n_wins + test.n_losses
    assert 0 <= test.ci_low <= test.ci_high <= 1
    if not n:
        assert (test.ci_low, test.ci_high) == (0, 1)
        return
    tail = 0.05 if alternative == "two-sided" else 0.1
    low = stats.beta.ppf(tail, wins, n - wins + 1) if wins and alternative != "less" else 0
    high = stats.beta.isf(tail, wins + 1, n - wins) if wins < n and alternative != "greater" else 1
    assert (test.ci_low, test.ci_high) == pytest.approx((low, high), abs=1e-9)
    # The same tails: the interval leaves out 1/2 where the test rejects.
    if abs(test.p_value - 0.1) > 1e-9:
        assert (not test.ci_low <= 0.5 <= test.ci_high) == (test.p_value < 0.1)


@given(several_differences, st.sampled_from(ALTERNATIVES))
def test_turning_the_differences_mirrors_everything(differences, alternative):
    other = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    first = sign_test(differences, alternative=alternative)
    second = sign_test([-d for d in differences], alternative=other)
    assert (first.n_wins, first.n_losses) == (second.n_losses, second.n_wins)
    assert first.p_value == pytest.approx(second.p_value, rel=1e-12)
    assert first.ci_low == pytest.approx(1 - second.ci_high, abs=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_no_difference_anywhere_is_no_evidence(alternative):
    test = sign_test([0, 0.0, 0], alternative=alternative)
    assert (test.p_value, test.p_min, test.n_zeros, test.statistic) == (1, 1, 3, 0)
    assert math.isnan(test.estimate)
    assert "NaN where all differences are zero" in " ".join(type(test).__doc__.split())


def test_rounding_errors_are_no_wins():
    pd = pytest.importorskip("pandas")
    # 0.1 + 0.2 - 0.3 is 5.6e-17.
    test = sign_test(pd.Series([0.1 + 0.2 - 0.3, 0.02, -0.01]))
    assert (test.n_wins, test.n_losses, test.n_zeros) == (1, 1, 1)


def test_req_C11_never_zero():
    assert 0 < sign_test([1] * 5000).p_value < 1e-300


@pytest.mark.parametrize(
    ("differences", "message"),
    [
        ([], r"`differences` must be a one-dimensional array of numbers"),
        ([[1, 2]], r"got shape \(1, 2\)"),
        (["1"], r"`differences` must be .* dtype <U1"),
        ([1, math.nan], r"`differences` must be finite .* in row\(s\) 1\. Leave a benchmark out"),
    ],
)
def test_bad_differences_are_named(differences, message):
    with pytest.raises(ValueError, match=message):
        sign_test(differences)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"`alternative` must be one of .* got 'more'"):
        sign_test([1], alternative="more")
    with pytest.raises(ValueError, match=r"`confidence_level` must be .* got True"):
        sign_test([1], confidence_level=True)
