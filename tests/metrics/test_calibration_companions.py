"""Calibration test, decompositions, recalibration, smooth error and reliability curve."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

from examples import max_examples
from sklearn_pairboot.metrics import (
    brier_decomposition,
    calibration_slope_intercept,
    calibration_test,
    expected_calibration_error,
    reliability_curve,
    score_decomposition,
    smooth_calibration_error,
    spiegelhalter_z,
)

rows = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.05, 0.2, 0.3, 0.55, 0.8, 0.95])),
    min_size=2,
    max_size=25,
)


def calibrated(n, seed, power=1.0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < p**power).astype(int), p


# The test by consistency resampling


def test_null_distribution_by_enumeration():
    # Two rows with p = 0.5 in one bin: the error is |k / 2 - 0.5| for k = 0, 1, 2 of Bin(2, 0.5).
    test = calibration_test([1, 1], [0.5, 0.5], n_resamples=20_000, random_state=0)
    assert test.estimate == 0.5
    assert test.p_value == pytest.approx(0.5, abs=0.02)
    assert test.null_mean == pytest.approx(0.25, abs=0.01)
    assert (test.null_low, test.null_high) == (0, 0.5)


@pytest.mark.newest
def test_p_values_are_uniform_under_calibration():
    p_values = []
    for seed in range(400):
        y, p = calibrated(60, seed)
        test = calibration_test(y, p, n_resamples=199, random_state=seed)
        p_values.append(test.p_value - np.random.default_rng(seed).random() / 200)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    y, p = calibrated(300, 0, power=2)
    assert calibration_test(y, p, n_resamples=199, random_state=0).p_value == 1 / 200


@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "l2", "debias": True}, {"norm": "max", "n_bins": 5}, {"strategy": "quantile"}],
)
def test_resamples_in_bins_are_those_of_the_metric(options):
    y, p = calibrated(80, 1)
    weight = np.random.default_rng(2).random(80)
    metric = partial(expected_calibration_error, **options)
    common = {"n_resamples": 99, "random_state": 0, "sample_weight": weight}
    fast = calibration_test(y, p, metric=metric, **common)
    slow = calibration_test(y, p, metric=lambda *args, **kwargs: metric(*args, **kwargs), **common)
    assert fast.estimate == slow.estimate == metric(y, p, sample_weight=weight)
    assert fast.p_value == slow.p_value
    for name in ("null_mean", "null_low", "null_high"):
        assert getattr(fast, name) == pytest.approx(getattr(slow, name), rel=1e-9)


def test_case_C111_reference_of_a_single_value():
    y, p = calibrated(200, 3)
    p = np.random.default_rng(5).random(200)
    test = calibration_test(y, p, random_state=0)
    assert test.null_mean == pytest.approx(0.086, abs=0.006)


def test_several_classes_and_any_metric():
    rng = np.random.default_rng(0)
    table = rng.dirichlet([1, 1, 1], 150)
    y = (rng.random((150, 1)) >= np.cumsum(table, axis=1)[:, :-1]).sum(axis=1)
    metric = partial(expected_calibration_error, kind="classwise", n_bins=5)
    good = calibration_test(y, table, metric=metric, n_resamples=99, random_state=0)
    assert good.p_value > 0.05
    bad = calibration_test(np.zeros(150), table, metric=metric, n_resamples=99, random_state=0)
    assert bad.p_value == 0.01
    y, p = calibrated(200, 1, power=2)
    smooth = calibration_test(y, p, metric=smooth_calibration_error, n_resamples=99, random_state=0)
    assert smooth.p_value == 0.01


def test_refusals():
    with pytest.raises(ValueError, match="`groups` must be None, got clusters"):
        calibration_test([0, 1], [0.2, 0.7], groups=[0, 1])
    with pytest.raises(ValueError, match="`y_true` must hold the labels 0 to 1"):
        calibration_test([1, 2], [0.2, 0.7])
    with pytest.raises(ValueError, match="`n_resamples` must be a positive integer"):
        calibration_test([0, 1], [0.2, 0.7], n_resamples=0)
    with pytest.raises(TypeError, match="`metric` must be a function"):
        calibration_test([0, 1], [0.2, 0.7], metric="ece")


# Decompositions


@given(rows, st.integers(1, 9), st.sampled_from(["uniform", "quantile", "sweep"]), st.randoms())
@max_examples(25)
def test_murphys_parts_add_up(table, n_bins, strategy, random):
    y, p = map(np.array, zip(*table, strict=True))
    weight = np.array([random.uniform(0.1, 3) for _ in y])
    found = brier_decomposition(y, p, n_bins=n_bins, strategy=strategy, sample_weight=weight)
    total = np.average((p - y) ** 2, weights=weight)
    assert found.brier == pytest.approx(total)
    parts = (
        found.reliability
        - found.resolution
        + found.uncertainty
        + found.within_bin_variance
        - found.within_bin_covariance
    )
    assert parts == pytest.approx(total, abs=1e-13)
    assert found.reliability == pytest.approx(
        expected_calibration_error(
            y, p, n_bins=n_bins, strategy=strategy, norm="l2", sample_weight=weight
        )
        ** 2,
        abs=1e-9,
    )


def test_murphys_parts_by_hand():
    found = brier_decomposition([0, 1, 1, 1, 0], [0.2, 0.4, 0.8, 0.9, 0.7], n_bins=2)
    # Bins {0.2, 0.4} and {0.8, 0.9, 0.7}: means 0.3 and 0.8, rates 1/2 and 2/3, base rate 3/5.
    assert found.reliability == pytest.approx(0.4 * 0.2**2 + 0.6 * (2 / 15) ** 2)
    assert found.resolution == pytest.approx(0.4 * 0.1**2 + 0.6 * (1 / 15) ** 2)
    assert found.uncertainty == pytest.approx(0.24)
    assert found.within_bin_variance == pytest.approx((2 * 0.01 + 2 * 0.01) / 5)
    covariance = (-0.1 * -0.5 + 0.1 * 0.5) + (0.1 / 3 - 0.1 * -2 / 3)
    assert found.within_bin_covariance == pytest.approx(2 * covariance / 5)


@given(rows, st.randoms())
@max_examples(25)
def test_corp_parts(table, random):
    y, p = map(np.array, zip(*table, strict=True))
    weight = np.array([random.randint(1, 3) for _ in y])
    # Pool the ties, then the adjacent violators.
    distinct, places = np.unique(p, return_inverse=True)
    mass = np.bincount(places, weight)
    rates = np.bincount(places, weight * y) / mass
    recalibrated = _pool(rates, mass)[places]
    for score, metric in (("brier", brier_score_loss), ("log_loss", log_loss)):
        found = score_decomposition(y, p, score=score, sample_weight=weight)
        assert found.miscalibration >= -1e-15 and found.discrimination >= -1e-15
        parts = found.miscalibration - found.discrimination + found.uncertainty
        assert parts == pytest.approx(found.score)
        base = np.full(len(y), np.average(y, weights=weight))
        options = {"labels": [0, 1]} if score == "log_loss" else {"pos_label": 1}
        if len(set(y.tolist())) == 2:
            expected = metric(y, base, sample_weight=weight, **options)
            assert found.uncertainty == pytest.approx(expected)
            assert found.score == pytest.approx(metric(y, p, sample_weight=weight, **options))
        if score == "brier":
            best = np.average((recalibrated - y) ** 2, weights=weight)
            assert found.miscalibration == pytest.approx(found.score - best, abs=1e-12)
        copies = score_decomposition(np.repeat(y, weight), np.repeat(p, weight), score=score)
        assert copies.miscalibration == pytest.approx(found.miscalibration, abs=1e-12)


def _pool(rates, mass):
    blocks = []
    for rate, weight in zip(rates, mass, strict=True):
        blocks.append([rate, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (rate_2, weight_2, n_2), (rate_1, weight_1, n_1) = blocks.pop(), blocks.pop()
            total = weight_1 + weight_2
            blocks.append([(rate_1 * weight_1 + rate_2 * weight_2) / total, total, n_1 + n_2])
    return np.concatenate([np.full(n, rate) for rate, _, n in blocks])


def test_corp_parts_by_hand():
    # Isotonic fit of (0.1: 0), (0.3: 0, 1), (0.9: 1): 0, 0.5, 0.5, 1.
    found = score_decomposition([0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9])
    assert found.score == pytest.approx((0.01 + 0.09 + 0.49 + 0.01) / 4)
    assert found.miscalibration == pytest.approx(0.15 - 0.5 / 4)
    assert found.discrimination == pytest.approx(0.25 - 0.125)
    loss = score_decomposition([0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9], score="log_loss")
    assert loss.discrimination == pytest.approx(np.log(2) / 2)
    assert loss.uncertainty == pytest.approx(np.log(2))
    wrong = score_decomposition([0, 1], [0.2, 0.0], score="log_loss")
    assert np.isinf(wrong.score) and np.isinf(wrong.miscalibration)


def test_recalibration_leaves_no_miscalibration_and_any_monotone_map_the_discrimination():
    y, p = calibrated(200, 4)
    found = score_decomposition(y, p)
    other = score_decomposition(y, p**3)
    assert other.discrimination == pytest.approx(found.discrimination)
    assert other.miscalibration > found.miscalibration


# Recalibration


def test_slope_and_intercept_solve_the_likelihood_equations():
    y, p = calibrated(500, 5, power=1.5)
    weight = np.random.default_rng(0).integers(1, 4, 500)
    x = np.log(p / (1 - p))
    found = calibration_slope_intercept(y, p, sample_weight=weight)
    fitted = 1 / (1 + np.exp(-found.intercept - found.slope * x))
    assert np.sum(weight * (fitted - y)) == pytest.approx(0, abs=1e-7)
    assert np.sum(weight * (fitted - y) * x) == pytest.approx(0, abs=1e-7)
    fitted = 1 / (1 + np.exp(-found.in_the_large - x))
    assert np.sum(weight * (fitted - y)) == pytest.approx(0, abs=1e-7)
    model = LogisticRegression(C=1e10, tol=1e-10).fit(x[:, None], y, sample_weight=weight)
    assert found.slope == pytest.approx(model.coef_[0, 0], rel=1e-4)
    assert found.intercept == pytest.approx(model.intercept_[0], rel=1e-3)


def test_slope_of_sharpened_predictions():
    y, p = calibrated(300, 6)
    x = np.log(p / (1 - p))
    found = calibration_slope_intercept(y, p)
    sharp = calibration_slope_intercept(y, 1 / (1 + np.exp(-3 * x - 1)))
    assert sharp.slope == pytest.approx(found.slope / 3)
    assert sharp.intercept == pytest.approx(found.intercept - found.slope / 3)


def test_refusals_of_the_fit():
    for y, p, message in (
        ([0, 1], [0.0, 0.5], "`y_prob` must lie above 0 and below 1, got 1"),
        ([1, 1], [0.4, 0.5], "`y_true` must hold both classes"),
        ([0, 1], [0.5, 0.5], "`y_prob` must vary"),
        ([0, 0, 1], [0.1, 0.2, 0.5], "`y_prob` must not separate the classes"),
    ):
        with pytest.raises(ValueError, match=message):
            calibration_slope_intercept(y, p)


def test_spiegelhalter_by_hand_and_under_calibration():
    y, p = np.array([0, 1, 1]), np.array([0.1, 0.2, 0.9])
    score, expected = np.sum((y - p) ** 2), np.sum(p * (1 - p))
    sd = np.sqrt(sum((1 - 2 * q) ** 2 * q * (1 - q) for q in p))
    found = spiegelhalter_z(y, p)
    assert found.statistic == pytest.approx((score - expected) / sd)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.statistic)))
    rng = np.random.default_rng(0)
    p = rng.random((400, 300))
    y = rng.random(p.shape) < p
    p_values = [spiegelhalter_z(*one).p_value for one in zip(y, p, strict=True)]
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert np.isnan(spiegelhalter_z([0, 1], [0.5, 0.5]).statistic)


# Smooth error


@pytest.mark.parametrize("power", [1, 0.6, 3])
def test_smooth_error_equals_its_definition_by_quadrature(power):
    y, p = calibrated(40, 7, power=power)
    p[:2] = 0, 1
    weight = np.random.default_rng(1).random(40)
    weight /= weight.sum()
    t = np.linspace(0, 1, 2001)

    def literal(bandwidth):
        kernel = sum(
            stats.norm.pdf(t[:, None] - p + 2 * k, 0, bandwidth)
            + stats.norm.pdf(t[:, None] + p + 2 * k, 0, bandwidth)
            for k in range(-4, 5)
        )
        sizes = np.abs(kernel @ (weight * (p - y)))
        return np.mean((sizes[1:] + sizes[:-1]) / 2)

    expected = brentq(lambda s: literal(s) - s, 0.005, 1.5, xtol=1e-8)
    found = smooth_calibration_error(y, p, sample_weight=weight)
    assert found == pytest.approx(expected, abs=2e-5)


def test_smooth_error_identities():
    y, p = calibrated(100, 8)
    value = smooth_calibration_error(y, p)
    order = np.random.default_rng(0).permutation(100)
    assert smooth_calibration_error(y[order], p[order]) == pytest.approx(value, abs=1e-9)
    assert smooth_calibration_error(1 - y, 1 - p) == pytest.approx(value, abs=1e-9)
    weight = np.arange(100) % 3 + 1
    copies = smooth_calibration_error(np.repeat(y, weight), np.repeat(p, weight))
    assert copies == pytest.approx(smooth_calibration_error(y, p, sample_weight=weight), abs=1e-9)
    assert smooth_calibration_error([0, 1], [0, 1]) == pytest.approx(0, abs=1e-15)
    assert smooth_calibration_error([1, 0], [0, 1]) <= 1


# Reliability curve


def test_curve_in_bins_by_hand():
    y, p = [0, 1, 1, 1, 0], [0.2, 0.4, 0.8, 1.0, 0.7]
    curve = reliability_curve(y, p, n_bins=2, sample_weight=[1, 2, 1, 1, 1], random_state=0)
    np.testing.assert_allclose(curve.mean_predicted, [1 / 3, 2.5 / 3])
    np.testing.assert_allclose(curve.observed_rate, [2 / 3, 2 / 3])
    assert curve.count.tolist() == [2, 3]
    assert reliability_curve(y, p, n_bins=10, random_state=0).count.tolist() == [1, 1, 1, 1, 1]


@pytest.mark.newest
def test_bands_against_literal_resampling():
    y, p = calibrated(150, 9)
    curve = reliability_curve(y, p, n_bins=3, n_resamples=4000, random_state=0)
    rng = np.random.default_rng(1)
    bins = np.minimum((p * 3).astype(int), 2)
    drawn = []
    for _ in range(4000):
        chosen = rng.integers(0, 150, 150)
        drawn.append([y[chosen][bins[chosen] == k].mean() for k in range(3)])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(curve.ci_low, low, atol=0.02)
    np.testing.assert_allclose(curve.ci_high, high, atol=0.02)
    fresh = rng.random((4000, 150)) < p
    rates = np.stack([fresh[:, bins == k].mean(axis=1) for k in range(3)], axis=1)
    low, high = np.quantile(rates, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(curve.consistency_low, low, atol=0.02)
    np.testing.assert_allclose(curve.consistency_high, high, atol=0.02)


def test_clusters_widen_the_band_and_take_the_consistency_band_away():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 10)
    p = np.repeat(rng.random(30), 10)
    y = np.repeat(rng.random(30) < p[::10], 10)
    rows_alone = reliability_curve(y, p, n_bins=2, random_state=0)
    clusters = reliability_curve(y, p, n_bins=2, groups=group, random_state=0)
    assert (clusters.consistency_low, clusters.consistency_high) == (None, None)
    assert (clusters.unit, rows_alone.unit) == ("clusters", "rows")
    width = rows_alone.ci_high - rows_alone.ci_low
    assert (clusters.ci_high - clusters.ci_low > 1.8 * width).all()
    alone = reliability_curve(y, p, n_bins=2, groups=np.arange(300), random_state=0)
    np.testing.assert_array_equal(alone.ci_low, rows_alone.ci_low)


def test_bins_without_weight_are_left_out():
    curve = reliability_curve(
        [0, 1, 1], [0.1, 0.5, 0.9], n_bins=3, sample_weight=[1, 0, 1], random_state=0
    )
    assert curve.mean_predicted.tolist() == [0.1, 0.9]
    assert curve.count.tolist() == [1, 1]
