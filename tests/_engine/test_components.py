"""Variance components against textbook analyses of variance, R, and exact expectations."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot._engine.components import (
    Components,
    Layout,
    MeanSquares,
    bootstrap_covariance,
    crossed_weights,
    jackknife_covariance,
)
from sklearn_pairboot._engine.exact import count_vectors

TOLERANCE = 1e-12

# Five items, two seeds for each of three training sets, the item running fastest.
SCORES = np.array(
    [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7],
    dtype=float,
).reshape(6, 5)
# R 4.2: d <- expand.grid(item=factor(1:5), seed=factor(1:2), set=factor(1:3)); d$y <- y
# anova(lm(y ~ set + set:seed + item + set:item, d)); rows set, item, set:item, set:seed, Residuals
R_NESTED = [9.7, 1.866666666666667, 4.616666666666667, 14.966666666666667, 6.133333333333333]
# anova(lm(y[1:20] ~ factor(rep(1:4, each=5)) + factor(rep(1:5, 4))))
R_CROSSED = [20.85, 3.325, 5.225]


def mean_squares(table, set_of_fit):
    n_items = table.shape[1]
    return MeanSquares.of(
        table.mean(axis=1), np.cov(table) / n_items, np.asarray(set_of_fit), n_items
    )


def test_mean_squares_are_those_of_r():
    nested = mean_squares(SCORES, np.repeat([0, 1, 2], 2))
    n_sets, n_seeds, n_items = 3, 2, 5
    divisors = [n_seeds * n_items, n_sets * n_seeds * n_items, n_seeds * n_items, n_items, n_items]
    np.testing.assert_allclose(nested.values * divisors, R_NESTED, rtol=TOLERANCE)
    assert nested.df.tolist() == [2, 4, 8, 3, 12]
    crossed = mean_squares(SCORES[:4], range(4))
    np.testing.assert_allclose(crossed.values * [5, 20, 5], R_CROSSED, rtol=TOLERANCE)
    assert crossed.df.tolist() == [3, 4, 12]


def test_crossed_components_are_those_of_the_textbook():
    components = Components(mean_squares(SCORES[:4], range(4)))
    seeds, items, rest = R_CROSSED
    assert items < rest  # a negative component, which is set to zero
    expected = [(seeds - rest) / 5, 0.0, rest / 5]
    np.testing.assert_allclose(components.values, expected, rtol=TOLERANCE)
    assert components.std_error() ** 2 == pytest.approx(seeds / 20, rel=TOLERANCE)
    assert components.degrees_of_freedom() == pytest.approx(3, rel=TOLERANCE)


def test_satterthwaite_of_three_mean_squares():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4, 1)) + rng.normal(size=(1, 30)) + rng.normal(size=(4, 30))
    K, n = table.shape
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    ms_seed = n * sum((rows - table.mean()) ** 2) / (K - 1)
    ms_item = K * sum((columns - table.mean()) ** 2) / (n - 1)
    ms_rest = sum(
        (table[k, i] - rows[k] - columns[i] + table.mean()) ** 2 for k in range(K) for i in range(n)
    ) / ((K - 1) * (n - 1))
    components = Components(mean_squares(table, range(K)))
    variance = (ms_seed + ms_item - ms_rest) / (K * n)
    assert components.std_error() ** 2 == pytest.approx(variance, rel=TOLERANCE)
    df = (ms_seed + ms_item - ms_rest) ** 2 / (
        ms_seed**2 / (K - 1) + ms_item**2 / (n - 1) + ms_rest**2 / ((K - 1) * (n - 1))
    )
    assert components.degrees_of_freedom() == pytest.approx(df, rel=TOLERANCE)
    assert components.contributions().sum() == pytest.approx(variance, rel=TOLERANCE)


def factors(set_of_fit, n_items, variances):
    """Columns whose squares sum to the covariance matrix of all scores, one source after another.

    Sources: training set, item, set x item, fit, fit x item.
    """
    sets, n_fits = np.asarray(set_of_fit), len(set_of_fit)
    fit, item = np.divmod(np.arange(n_fits * n_items), n_items)
    labels = [sets[fit], item, sets[fit] * n_items + item, fit, fit * n_items + item]
    for label, variance in zip(labels, variances, strict=True):
        for value in np.unique(label):
            yield np.sqrt(variance) * (label == value)


@max_examples(15)
@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
    st.integers(2, 4),
    st.lists(st.floats(0.1, 4), min_size=5, max_size=5),
    st.booleans(),
)
def test_components_are_unbiased_whatever_the_numbers_of_fits(sizes, n_items, true, resampled):
    """A quadratic form has the expectation that its values for the factors sum to."""
    set_of_fit = np.repeat(np.arange(len(sizes)), sizes)
    n_sets, n_fits = len(sizes), len(set_of_fit)
    nested = n_fits > n_sets
    if not nested:  # fits are sets: their own part and that of the set are one
        true = [true[0], true[1], true[2], 0.0, 0.0]
    weights = np.repeat(1 / (n_sets * np.array(sizes)), sizes)
    expected, variance_of_mean, extra = 0.0, 0.0, true[0] if resampled else 0.0
    for column in factors(set_of_fit, n_items, true):
        table = column.reshape(n_fits, n_items)
        found = mean_squares(table, set_of_fit)
        expected = expected + found.values
        variance_of_mean += float(weights @ table.mean(axis=1)) ** 2
    components = Components(MeanSquares(expected, found.df, found.layout), resampled)
    by_items = [true[0], true[1] / n_items, true[2] / n_items, true[3], true[4] / n_items]
    np.testing.assert_allclose(components.values, by_items if nested else by_items[:3], rtol=1e-9)
    assert components.std_error() ** 2 == pytest.approx(variance_of_mean + extra, rel=1e-9)


def test_standard_error_for_other_numbers():
    components = Components(mean_squares(SCORES * 1.5 + np.arange(6)[:, None], [0, 0, 1, 1, 2, 2]))
    of_set, item, set_item, seed, rest = components.values * [1, 5, 5, 1, 5]
    for M, K, n in [(3, 2, 5), (10, 2, 5), (3, 7, 5), (3, 2, 400), (1, 1, 1)]:
        expected = of_set / M + item / n + set_item / (M * n) + seed / (M * K) + rest / (M * K * n)
        assert components.std_error(Layout(M, K, n)) ** 2 == pytest.approx(expected, rel=TOLERANCE)


def test_covariance_of_means_by_jackknife_and_by_enumeration():
    table = SCORES[:3]
    n = table.shape[1]
    exact = np.cov(table) / n
    left = np.column_stack([np.delete(table, i, axis=1).mean(axis=1) for i in range(n)]).T
    np.testing.assert_allclose(jackknife_covariance(left), exact, rtol=TOLERANCE)
    draws = np.array(list(itertools.product(range(n), repeat=n)))
    means = table[:, draws].mean(axis=2).T
    found = bootstrap_covariance(means, n, np.ones(len(means)))
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    # The same from distinct vectors of counts and how often each occurs.
    counts = count_vectors(np.ones(n, dtype=np.int64))
    found = bootstrap_covariance(counts.counts @ table.T / n, n, counts.multiplicities)
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    drawn = means[np.random.default_rng(0).integers(len(means), size=200_000)]
    with_lost = np.vstack([drawn, [np.nan, 1.0, 1.0]])
    found = bootstrap_covariance(with_lost, n)
    np.testing.assert_allclose(found, exact, atol=0.02)


def test_crossed_weights_follow_the_nested_draw():
    """All 64 ways to draw two of two sets, and two of two fits in each drawn set."""
    set_of_fit = np.array([0, 0, 1, 1])
    ways = []
    for sets in itertools.product(range(2), repeat=2):
        for fits in itertools.product(range(2), repeat=4):
            weight = np.zeros(4)
            for place, chosen in enumerate(sets):
                for fit in fits[2 * place : 2 * place + 2]:
                    weight[2 * chosen + fit] += 1 / 4
            ways.append(weight)
    values, counts = np.unique(np.array(ways), axis=0, return_counts=True)
    n_drawn = 100_000
    drawn = crossed_weights(set_of_fit, np.random.default_rng(0), n_drawn)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=TOLERANCE)
    met, times = np.unique(drawn, axis=0, return_counts=True)
    np.testing.assert_array_equal(met, values)
    expected_times = counts / len(ways) * n_drawn
    assert stats.chisquare(times, expected_times).pvalue > 1e-4


def test_pivotal_draws_of_one_mean_square_are_chi_squared():
    squares = MeanSquares(np.array([2.0, 0.0, 0.0]), np.array([4.0, 9.0, 36.0]), Layout(5, 1, 10))
    drawn = Components(squares).draw_contributions(np.random.default_rng(0), 50_000)
    assert drawn[:, 1:].max() == 0
    low, high = np.quantile(drawn[:, 0], [0.025, 0.975])
    exact = 2.0 * 4 / stats.chi2(4).ppf([0.975, 0.025]) / 5
    np.testing.assert_allclose([low, high], exact, rtol=0.03)


def test_rounding_is_no_variance():
    values = np.array([0.1 + 0.2, 0.3, 0.3])
    squares = MeanSquares.of(values, np.zeros((3, 3)), np.arange(3), 10, scale=1.0)
    components = Components(squares)
    assert components.std_error() == 0
    assert np.isnan(components.degrees_of_freedom())


def test_degrees_of_freedom_do_not_fall_below_the_fewest():
    # Of resampled sets the between-set mean square enters much larger than the whole.
    squares = np.array([1.0, 0.001, 0.0005, 1.9, 0.001])
    df = np.array([9.0, 99.0, 891.0, 10.0, 990.0])
    components = Components(MeanSquares(squares, df, Layout(10, 2.0, 100)), resampled=True)
    assert components.degrees_of_freedom() == 9


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_a_difference_of_equal_mean_squares_is_nought_at_any_scale(scale):
    squares = np.array([3.0 * (1 + 1e-15), 0.7, 3.0]) * scale
    found = Components(MeanSquares(squares, np.array([3.0, 4.0, 12.0]), Layout(4, 1.0, 5)))
    assert squares[0] > squares[2]
    assert (found.values[0], found.values[2]) == (0, squares[2])
    # A component that is more than rounding stays.
    squares = np.array([3.0 * (1 + 1e-10), 0.7, 3.0]) * scale
    found = Components(MeanSquares(squares, np.array([3.0, 4.0, 12.0]), Layout(4, 1.0, 5)))
    assert found.values[0] == pytest.approx(3e-10 * scale, rel=1e-5)
