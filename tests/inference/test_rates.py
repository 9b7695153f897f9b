"""Intervals of one rate, against their closed forms and tails."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from sklearn_pairboot.inference import rate_interval

rates = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(rates, st.sampled_from([0.8, 0.95, 0.99]))
def test_req_B18_wilson_by_its_closed_form(rate, level):
    k, n = rate
    z = stats.norm.ppf((1 + level) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    test = rate_interval(k, n, confidence_level=level)
    assert (test.ci_low, test.ci_high) == pytest.approx((centre - half, centre + half), abs=1e-12)
    assert test.estimate == k / n


@given(rates)
def test_clopper_pearson_by_inverting_both_tails(rate):
    k, n = rate
    test = rate_interval(k, n, method="clopper-pearson")
    if k:
        root = optimize.brentq(lambda p: stats.binom.sf(k - 1, n, p) - 0.025, 0, 1)
        assert test.ci_low == pytest.approx(root, abs=1e-8)
    else:
        assert test.ci_low == 0
    if k < n:
        root = optimize.brentq(lambda p: stats.binom.cdf(k, n, p) - 0.025, 0, 1)
        assert test.ci_high == pytest.approx(root, abs=1e-8)
    else:
        assert test.ci_high == 1


def test_published_example():
    # Newcombe (1998), Statistics in Medicine 17, 857-872, 81 of 263: Wilson 0.2553 to 0.3662,
    # Clopper-Pearson 0.2527 to 0.3676.
    wilson, exact = (rate_interval(81, 263, method=m) for m in ("wilson", "clopper-pearson"))
    assert (round(wilson.ci_low, 4), round(wilson.ci_high, 4)) == (0.2553, 0.3662)
    assert (round(exact.ci_low, 4), round(exact.ci_high, 4)) == (0.2527, 0.3676)


def test_clopper_pearson_covers_at_least_what_it_says():
    n = 15
    tests = [rate_interval(k, n, method="clopper-pearson") for k in range(n + 1)]
    low, high = np.array([(test.ci_low, test.ci_high) for test in tests]).T
    for p in np.linspace(0.001, 0.999, 333):
        covered = stats.binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum()
        assert covered >= 0.95 - 1e-9


@given(rates, st.sampled_from(["wilson", "clopper-pearson"]))
def test_rights_and_wrongs_mirror_each_other(rate, method):
    k, n = rate
    first, second = (rate_interval(x, n, method=method) for x in (k, n - k))
    assert first.ci_low == pytest.approx(1 - second.ci_high, abs=1e-9)
    assert first.ci_low <= first.estimate <= first.ci_high
    assert first.std_error == pytest.approx(second.std_error)


def test_req_A14_req_B12_a_perfect_rate_is_no_certainty():
    test = rate_interval(20, 20)
    assert (test.estimate, test.std_error, test.ci_high) == (1, 0, 1)
    assert test.ci_low == pytest.approx(20 / (20 + stats.norm.ppf(0.975) ** 2), rel=1e-12)


def test_req_E21_standard_error():
    test = rate_interval(np.int64(425), np.int64(500))
    assert test.std_error == pytest.approx(math.sqrt(0.85 * 0.15 / 500), rel=1e-14)
    assert (test.n_correct, test.n, test.variant) == (425, 500, "Wilson")
    assert type(test.n) is int


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 0), r"`n` must be a whole number at least 1, got 0"),
        ((6, 5), r"`n_correct` must be a whole number from 0 to 5, the rows, got 6"),
        ((0.85, 100), r"`n_correct` must be a whole number .* got 0\.85"),
        ((True, 5), r"`n_correct` must be a whole number .* got True"),
        ((-1, 5), r"`n_correct` must be .* got -1"),
    ],
)
def test_bad_counts_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        rate_interval(*arguments)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"`method` must be one of .* got 'wald'"):
        rate_interval(1, 2, method="wald")
    with pytest.raises(ValueError, match=r"`confidence_level` must be .* got 1\.0"):
        rate_interval(1, 2, confidence_level=1.0)
