"""The 5x2 cv F test, against formulas written anew and its own inversion."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot.inference import five_by_two_cv_f_test

tables = st.lists(
    st.lists(st.floats(-1, 1).map(lambda v: round(v, 4)), min_size=2, max_size=2),
    min_size=5,
    max_size=5,
)
EXAMPLE = [[0.02, 0.05], [0.04, 0.01], [0.03, 0.03], [-0.01, 0.04], [0.02, 0.06]]


def f_by_formula(differences):
    """F with plain sums, and its denominator."""
    above = math.fsum(d * d for pair in differences for d in pair)
    below = 0.0
    for first, second in differences:
        mean = (first + second) / 2
        below += (first - mean) ** 2 + (second - mean) ** 2
    return above / (2 * below) if below > 1e-12 else None


@given(tables)
def test_equals_the_formula(differences):
    f = f_by_formula(differences)
    if f is None:
        return
    test = five_by_two_cv_f_test(differences)
    assert test.statistic == pytest.approx(f, rel=1e-10)
    assert test.p_value == pytest.approx(stats.f.sf(f, 10, 5), rel=1e-8)
    assert test.estimate == pytest.approx(np.mean(differences), abs=1e-15)


def test_example_by_hand():
    # Numerator 0.0121 of squares; pairs differ by 3, 3, 0, 5, 4 hundredths: halves of squares.
    test = five_by_two_cv_f_test(EXAMPLE)
    below = (9 + 9 + 0 + 25 + 16) / 2
    above = 4 + 25 + 16 + 1 + 9 + 9 + 1 + 16 + 4 + 36
    assert test.statistic == pytest.approx(above / (2 * below), rel=1e-12)
    # The 95 % point of F(10, 5) in printed tables is 4.74.
    assert (test.p_value < 0.05) == (test.statistic > 4.735)
    assert round(stats.f.isf(0.05, *test.df), 2) == 4.74


@given(tables)
def test_interval_holds_the_common_differences_that_are_not_rejected(differences):
    f = f_by_formula(differences)
    if f is None:
        return
    test = five_by_two_cv_f_test(differences, confidence_level=0.9)
    if math.isnan(test.ci_low):
        rest = np.array(differences) - test.estimate  # the best that any shift can do
        assert five_by_two_cv_f_test(rest).p_value < 0.1 + 1e-9
        assert test.p_value < 0.1 + 1e-9
        return
    for end in (test.ci_low, test.ci_high):
        at_end = five_by_two_cv_f_test(np.array(differences) - end)
        assert at_end.p_value == pytest.approx(0.1, abs=1e-6)
    if abs(test.p_value - 0.1) > 1e-6:
        assert (test.ci_low > 0 or test.ci_high < 0) == (test.p_value < 0.1)


@given(tables)
def test_swapping_methods_repeats_or_folds(differences):
    first = five_by_two_cv_f_test(differences)
    second = five_by_two_cv_f_test(-np.array(differences)[::-1, ::-1])
    assert second.estimate == pytest.approx(-first.estimate, abs=1e-15)
    assert second.statistic == pytest.approx(first.statistic, rel=1e-9)
    assert second.p_value == pytest.approx(first.p_value, rel=1e-9, nan_ok=True)


def test_no_difference_at_all_is_no_evidence():
    test = five_by_two_cv_f_test(np.zeros((5, 2)))
    assert (test.estimate, test.statistic, test.p_value) == (0, 0, 1)
    assert (test.ci_low, test.ci_high) == (0, 0)


def test_req_A31_equal_differences_have_no_p_value():
    # The two folds of each repeat differ in the last digit only.
    test = five_by_two_cv_f_test([[0.3 - 0.2, 0.4 - 0.3]] * 5)
    assert (test.statistic, test.ci_low) == (math.inf, pytest.approx(0.1))
    assert math.isnan(test.p_value)
    uneven = five_by_two_cv_f_test([[0.1, 0.1]] * 4 + [[0.2, 0.2]])
    assert math.isnan(uneven.p_value) and math.isnan(uneven.ci_low)
    assert "NaN where both differences of every repeat are equal but not zero" in " ".join(
        type(test).__doc__.split()
    )


def test_dataframes_and_integers_are_taken():
    pd = pytest.importorskip("pandas")
    expected = five_by_two_cv_f_test(EXAMPLE)
    assert five_by_two_cv_f_test(pd.DataFrame(EXAMPLE)) == expected
    assert five_by_two_cv_f_test([[1, 2]] * 5).statistic == 5.0


@pytest.mark.parametrize(
    ("differences", "message"),
    [
        (np.zeros(10), r"of shape \(5, 2\).* got shape \(10,\).* by \.reshape\(5, 2\)"),
        (np.zeros((2, 5)), r"got shape \(2, 5\)"),
        ([["a", "b"]] * 5, r"of dtype <U1"),
        ([[1, math.nan]] + [[0, 1]] * 4, r"`differences` must be finite .* in row\(s\) 0"),
    ],
)
def test_bad_differences_are_named(differences, message):
    with pytest.raises(ValueError, match=message):
        five_by_two_cv_f_test(differences)
