"""Prior shift: exact odds, maximum likelihood by scipy, known shares of simulated rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn.metrics import roc_auc_score

from sklearn_pairboot.calibration import adjust_prior, calibration_in_the_large, estimate_prior


def rows_of(share, n, seed, prior_old=0.3):
    """Truths and probabilities that are calibrated where the share is the old one."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(1.5 * y)
    logit = 1.5 * x - 1.125 + np.log(prior_old / (1 - prior_old))
    return y, 1 / (1 + np.exp(-logit))


def test_req_E12_exact_odds():
    assert adjust_prior([0.5], 0.3, 0.1)[0] == pytest.approx(float(Fraction(7, 34)), rel=1e-15)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
)
def test_adjusting_there_and_back_and_both_columns(p, old, new):
    there = adjust_prior(p, old, new)
    np.testing.assert_allclose(adjust_prior(there, new, old), p, atol=1e-9)
    np.testing.assert_allclose(adjust_prior(p, old, old), p, atol=1e-12)
    both = adjust_prior(np.column_stack([np.subtract(1, p), p]), [1 - old, old], [1 - new, new])
    np.testing.assert_allclose(both[:, 1], there, atol=1e-12)
    np.testing.assert_allclose(both.sum(axis=1), 1, rtol=1e-12)


def test_req_E12_a_changed_share_breaks_calibration_and_not_auc():
    y, p = rows_of(0.1, 20_000, seed=0)
    adjusted = adjust_prior(p, 0.3, 0.1)
    assert roc_auc_score(y, adjusted) == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert calibration_in_the_large(y, p).p_value < 1e-10
    assert abs(calibration_in_the_large(y, adjusted).statistic) < 3
    # Where the share is the old one, the map fits.
    assert abs(calibration_in_the_large(*rows_of(0.3, 20_000, seed=1)).statistic) < 3


@pytest.mark.parametrize("seed", range(3))
def test_em_reaches_the_maximum_of_the_likelihood(seed):
    _, p = rows_of(0.15, 300, seed=seed)

    def minus_log_likelihood(share):
        return -np.log(share * p / 0.3 + (1 - share) * (1 - p) / 0.7).sum()

    best = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    found = estimate_prior(p, 0.3, n_resamples=99, random_state=0)
    assert found.estimate == pytest.approx(best.x, abs=1e-5)
    ratio = 2 * (minus_log_likelihood(0.3) - best.fun)
    assert found.statistic == pytest.approx(ratio, abs=1e-6)
    assert found.p_value == pytest.approx(stats.chi2.sf(ratio, 1), abs=1e-6)


def test_interval_is_that_of_literally_drawn_rows():
    _, p = rows_of(0.15, 200, seed=3)
    found = estimate_prior(p, 0.3, n_resamples=999, random_state=0)
    rng = np.random.default_rng(0)
    drawn = [
        estimate_prior(p[rng.integers(0, 200, 200)], 0.3, n_resamples=39, random_state=0).estimate
        for _ in range(40)
    ]
    assert found.std_error == pytest.approx(np.std(drawn, ddof=1), rel=0.3)
    low, high = found.ci_low, found.ci_high
    assert low < found.estimate < high
    assert high - low == pytest.approx(2 * 1.96 * found.std_error, rel=0.1)


def test_intervals_cover_and_p_values_reject_at_their_level():
    covered, rejected = 0, 0
    for seed in range(60):
        _, p = rows_of(0.3, 300, seed=100 + seed)
        found = estimate_prior(p, 0.3, n_resamples=199, random_state=seed)
        covered += found.ci_low <= 0.3 <= found.ci_high
        rejected += found.p_value <= 0.05
    assert covered >= 50  # binomial(60, .95): below 51 once in 500
    assert rejected <= 9


def test_three_classes():
    rng = np.random.default_rng(5)
    shares, old = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    y = rng.choice(3, 3000, p=shares)
    centres = np.array([[0, 0], [2, 0], [0, 2]])
    x = centres[y] + rng.normal(size=(3000, 2))
    likelihood = np.exp(-((x[:, None] - centres) ** 2).sum(axis=2) / 2)
    p = likelihood * old / (likelihood @ old)[:, None]
    found = estimate_prior(p, old, n_resamples=99, random_state=0)
    assert np.all(np.abs(found.estimate - shares) < 4 * found.std_error)
    assert np.all(found.ci_low < found.estimate)
    assert found.p_value < 1e-10
    assert found.estimate.sum() == pytest.approx(1)


def test_clusters_of_one_row_are_rows_and_copies_are_no_information():
    _, p = rows_of(0.2, 100, seed=6)
    alone = estimate_prior(p, 0.3, n_resamples=199, random_state=0)
    ones = estimate_prior(p, 0.3, groups=np.arange(100), n_resamples=199, random_state=0)
    copies = estimate_prior(
        np.repeat(p, 4), 0.3, groups=np.repeat(np.arange(100), 4), n_resamples=199, random_state=0
    )
    for other in (ones, copies):
        assert (other.ci_low, other.ci_high) == pytest.approx((alone.ci_low, alone.ci_high))
        assert np.isnan(other.p_value)


def test_certain_probabilities_are_counted():
    found = estimate_prior([0.0] * 19 + [1.0], 0.3, n_resamples=199, random_state=0)
    assert found.estimate == pytest.approx(1 / 20)
    assert found.ci_low == pytest.approx(0, abs=1e-8)


def test_certain_probabilities_are_tested_too():
    assert calibration_in_the_large([0, 1, 1], [0.0, 1.0, 1.0]).p_value == 1
    assert calibration_in_the_large([0, 0, 1], [0.0, 1.0, 1.0]).p_value == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adjust_prior([0.5, 1.5], 0.3, 0.1), "`y_prob` must lie between 0 and 1, got 1.5"),
        (lambda: adjust_prior([0.5, np.nan], 0.3, 0.1), "`y_prob` must be finite"),
        (lambda: adjust_prior([0.5], 0, 0.1), "`prior_old` must be a number between 0 and 1"),
        (lambda: adjust_prior([0.5], 0.3, True), "`prior_new` must be a number between 0 and 1"),
        (lambda: adjust_prior([[0.5, 0.4]], 0.3, 0.1), "`y_prob` must sum to 1 in every row"),
        (lambda: adjust_prior([[0.2, 0.3, 0.5]], 0.3, 0.1), "3 positive shares that sum to 1"),
        (lambda: adjust_prior([], 0.3, 0.1), r"`y_prob` must have shape \(n_rows,\)"),
        (lambda: estimate_prior([0.5, 0.6], 0.3, n_resamples=3), "`n_resamples` must be at least"),
        (lambda: calibration_in_the_large([0, 2], [0.5, 0.6]), "`y_true` must hold 0 and 1, got 2"),
        (lambda: calibration_in_the_large([0, 1, 1], [0.5, 0.6]), "of equal length"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_words_are_no_probabilities():
    with pytest.raises(TypeError, match="`y_prob` must be numbers"):
        adjust_prior(["a", "b"], 0.3, 0.1)
