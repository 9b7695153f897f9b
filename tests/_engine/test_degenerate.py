"""What chance alone makes of debiased squares, and how much of it replicates lose."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot import ECE, ComparisonResult, compare_predictions
from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.binned import BinnedKernel, BinSums, Forecast
from sklearn_pairboot._engine.degenerate import chance_variance, without_excess
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.units import Units

N_BINS = 4


def kernel_of(p, y, units, weight=None, n_models=2):
    """A kernel of the debiased square; ``p`` has one row a model and class."""
    forecasts = tuple(
        Forecast(one, y.astype(float), np.minimum((one * N_BINS).astype(int), N_BINS - 1))
        for one in p
    )
    return BinnedKernel(BinSums(forecasts, units, weight), n_models, "l2", True, True)


def some_rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    p = rng.random((2, n))
    return p, (rng.random(n) < p[0]).astype(int), rng


def literal_variance(p, y, unit, stratum, weight, contrast, of_pairs=False):
    """2 tr(A S A S) with whole matrices, for a contrast of models."""
    n_columns = len(p) * N_BINS
    added = np.zeros((unit.max() + 1, n_columns))
    shares = np.zeros(n_columns)
    for number, one in enumerate(p):
        for b in range(N_BINS):
            rows = np.flatnonzero(np.minimum((one * N_BINS).astype(int), N_BINS - 1) == b)
            if len(rows) == 0:
                continue
            column = number * N_BINS + b
            w = weight[rows]
            gap = np.average(one[rows] - y[rows], weights=w)
            shares[column] = contrast[number] * w.sum() / weight.sum()
            n_pairs = w.sum() ** 2 - sum(
                weight[rows[unit[rows] == each]].sum() ** 2 for each in set(unit[rows])
            )
            scale = (w.sum() ** 2 / n_pairs) ** 0.75 if of_pairs and n_pairs > 1e-9 else 1.0
            for row in rows:
                deviation = one[row] - y[row] - gap
                added[unit[row], column] += scale * weight[row] * deviation / w.sum()
    covariance = np.zeros((n_columns, n_columns))
    for of_stratum in np.unique(stratum):
        part = added[stratum == of_stratum]
        part = part - part.mean(axis=0)
        covariance += part.T @ part
    product = np.diag(shares) @ covariance
    return 2 * np.trace(product @ product)


@pytest.mark.parametrize("clusters", [None, 12])
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("contrast", [(1, 0), (1, -1), (1, -0.8)])
def test_chance_variance_is_the_trace(clusters, stratified, weighted, contrast):
    p, y, rng = some_rows()
    unit = np.arange(60) if clusters is None else rng.permutation(np.arange(60) % clusters)
    n_units = unit.max() + 1
    stratum = np.arange(n_units) % 3 if stratified else np.zeros(n_units, dtype=int)
    weight = rng.random(60) if weighted else np.ones(60)
    units = Units(60, n_units, None if clusters is None else unit)
    kernel = kernel_of(p, y, units, weight if weighted else None)
    found = chance_variance(kernel, stratum if stratified else None)
    c = np.array(contrast)
    for matrix, of_pairs in zip(found, (False, True), strict=True):
        expected = literal_variance(p, y, unit, stratum, weight, contrast, of_pairs)
        assert c @ matrix @ c == pytest.approx(expected, rel=1e-10)


def test_it_is_the_variance_of_replicates_where_gaps_are_zero():
    # One bin, predictions 0.5, half of the labels 1: gaps of resamples are those of a binomial.
    n = 600
    y = np.arange(n) % 2
    kernel = kernel_of(np.full((1, n), 0.5), y, Units(n, n), n_models=1)
    count = np.arange(n + 1)
    share, chance = count / n, stats.binom.pmf(count, n, 0.5)
    values = (share - 0.5) ** 2 - share * (1 - share) / (n - 1)
    variance = chance @ values**2 - (chance @ values) ** 2
    np.testing.assert_allclose(chance_variance(kernel)[:, 0, 0], variance, rtol=0.01)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_few_rows_of_a_bin_by_all_their_labels(n):
    """Exact mean of the second variance, beside the exact variance of the value."""
    values, found = [], []
    for labels in itertools.product([0, 1], repeat=n):
        y = np.array(labels)
        kernel = kernel_of(np.full((1, n), 0.5), y, Units(n, n), n_models=1)
        share = y.mean()
        values.append((share - 0.5) ** 2 - share * (1 - share) / (n - 1))
        found.append(chance_variance(kernel)[:, 0, 0])
    plain, of_pairs = np.mean(found, axis=0)
    variance = np.var(values)
    assert plain < 0.75 * variance or n > 4
    assert variance <= of_pairs < 2.1 * variance


def test_parts_and_folds():
    p, y, _ = some_rows(1)
    whole = chance_variance(kernel_of(p, y, Units(60, 60)))
    places = np.arange(60) + 5
    np.testing.assert_allclose(
        chance_variance(PartKernel(kernel_of(p, y, Units(60, 60)), places, 70)), whole
    )
    folds = [
        Fold(kernel_of(p[:, rows], y[rows], Units(30, 30)), rows)
        for rows in (np.arange(30), np.arange(30, 60))
    ]
    first, second = (chance_variance(fold.kernel) for fold in folds)
    found = chance_variance(AverageKernel(tuple(folds), 60))
    np.testing.assert_allclose(found, (first + second) / 4)
    weighted = AverageKernel(tuple(folds), 60, weights=(0.7, 0.3))
    np.testing.assert_allclose(chance_variance(weighted), 0.49 * first + 0.09 * second)
    # The same rows in two repetitions are no further rows.
    twice = AverageKernel((Fold(kernel_of(p, y, Units(60, 60)), np.arange(60)),) * 2, 60)
    np.testing.assert_allclose(chance_variance(twice), whole)


def test_several_classes_are_averaged():
    p, y, _ = some_rows(2)
    one = chance_variance(kernel_of(p, y, Units(60, 60)))
    as_classes = chance_variance(kernel_of(p, y, Units(60, 60), n_models=1))
    np.testing.assert_allclose(as_classes[:, 0, 0], one.sum(axis=(1, 2)) / 4)


def test_other_kernels_have_none():
    p, y, _ = some_rows()
    sums = kernel_of(p, y, Units(60, 60)).sums
    assert chance_variance(BinnedKernel(sums, 2)) is None
    assert chance_variance(BinnedKernel(sums, 2, "l2", True)) is None
    average = AverageKernel((Fold(BinnedKernel(sums, 2), np.arange(60)),), 60)
    assert chance_variance(average) is None


@max_examples(30)
@given(st.integers(0, 10**6), st.floats(0.01, 2), st.floats(1, 4))
def test_what_is_taken_out(seed, share, more):
    values = np.random.default_rng(seed).normal(size=200)
    variance = values.var()
    found = without_excess(values, np.array([share, more * share]) * variance)
    kept = min(max(1 - 5 * share**2, more * share), 2)
    assert found.var() == pytest.approx(kept * variance)
    assert found.mean() == pytest.approx(values.mean())
    assert np.array_equal(np.argsort(found), np.argsort(values))


def test_four_ninths_of_the_variance_are_left_where_no_model_has_gaps():
    values = np.random.default_rng(0).normal(size=50)
    found = without_excess(values, np.full(2, values.var() / 3))
    assert found.var() == pytest.approx(values.var() * 4 / 9)


def test_undefined_replicates_stay_and_multiplicities_are_repetitions():
    values = np.array([1.0, 2.0, np.nan, 4.0])
    times = np.array([3, 2, 5, 1])
    found = without_excess(values, np.full(2, 0.2), times)
    repeated = without_excess(np.repeat(values, times), np.full(2, 0.2))
    np.testing.assert_allclose(np.repeat(found, times), repeated)
    assert np.isnan(found).tolist() == [False, False, True, False]
    for nothing in (np.full(3, np.nan), np.array([1.0, np.nan]), np.ones(4)):
        np.testing.assert_array_equal(without_excess(nothing, np.full(2, 0.1)), nothing)


# In comparisons


def calibrated_pair(seed, n=400):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, n))
    y = (rng.random(n) < 1 / (1 + np.exp(-u - v))).astype(int)
    return y, {"a": 1 / (1 + np.exp(-u - v)), "b": np.clip(y.mean() + 0.2 * np.tanh(u), 0, 1)}


@pytest.mark.parametrize("correction", ["holm", "max-t"])
def test_interval_error_and_p_value_go_together(correction):
    y, answers = calibrated_pair(3)
    result = compare_predictions(
        y, answers, scoring=ECE(n_bins=8), n_resamples=999, random_state=0, correction=correction
    )
    row = result.differences[1]
    raw = np.diff(result.replicates[:, 1], axis=1)[:, 0].std(ddof=1)
    assert row.std_error < 0.97 * raw
    if correction == "holm":
        assert row.ci_high - row.difference == pytest.approx(stats.norm.ppf(0.975) * row.std_error)
        assert row.p_value == pytest.approx(2 * stats.norm.sf(abs(row.difference) / row.std_error))
    same = ComparisonResult.from_json(result.to_json(replicates=True))
    one, other = (found.replace(confidence_level=0.8).differences[1] for found in (result, same))
    assert (one.ci_low, one.ci_high, one.p_value) == (other.ci_low, other.ci_high, other.p_value)


def test_other_laws_of_weights_keep_their_spread():
    from sklearn_pairboot.resampling import BayesianBootstrap

    y, answers = calibrated_pair(4)
    result = compare_predictions(
        y,
        answers,
        scoring=ECE(n_bins=8),
        n_resamples=99,
        random_state=0,
        resampling=BayesianBootstrap(),
    )
    raw = np.diff(result.replicates[:, 1], axis=1)[:, 0].std(ddof=1)
    assert result.differences[1].std_error == pytest.approx(raw)


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_at_zero_are_not_much_too_wide(clustered):
    """Both models are calibrated; the standard errors are held against the spread of estimates."""
    estimates, errors, raw = [], [], []
    for seed in range(40):
        y, answers = calibrated_pair(seed)
        result = compare_predictions(
            y,
            {"a": answers["a"], "b": np.full(len(y), 0.5)},
            scoring=ECE(n_bins=8),
            groups=np.arange(len(y)) // 4 if clustered else None,
            n_resamples=99,
            random_state=seed,
        )
        estimates.append(result.differences[1].difference)
        errors.append(result.differences[1].std_error)
        raw.append(np.diff(result.replicates[:, 1], axis=1).std(ddof=1))
    spread = np.std(estimates)
    assert 0.85 * spread < np.mean(errors) < 1.45 * spread < np.mean(raw)
