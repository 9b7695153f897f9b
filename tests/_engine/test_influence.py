"""Variances by influence against written-out sums, R's package boot and the jackknife (req_A15)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.design import Design, MeanSquares, correlation_of
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.influence import Draws, jackknife_variance, of_contrast, variances
from sklearn_pairboot._engine.intervals import check_alpha, interval
from sklearn_pairboot._engine.inversion import Basis, Expansion
from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._engine.merging import merge
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import LeaveOneOut, Weights

# --- variances ----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), stratified=st.booleans())
def test_variances_against_units_written_out(seed, stratified):
    rng = np.random.default_rng(seed)
    stratum = np.array([0, 0, 0, 1, 1, 1, 1, 2]) if stratified else None
    influence = rng.normal(size=(3, 2, 8))
    counts = np.vstack([rng.multinomial(8, np.full(8, 1 / 8), size=2), np.ones((1, 8), int)])
    if stratified:
        counts[:2] = [[2, 1, 0, 0, 3, 1, 0, 1], [0, 0, 3, 1, 1, 1, 1, 1]]
    found = variances(influence, counts, stratum)
    for resample in range(3):
        expected = np.zeros((2, 2))
        for number in range(3) if stratified else [None]:
            units = np.flatnonzero(np.ones(8) if number is None else stratum == number)
            drawn = np.repeat(units, counts[resample, units])
            if len(drawn) > 1:
                # n / (n - 1) times a sum of squares is n times the sample variance.
                expected += len(drawn) * np.cov(influence[resample][:, drawn])
        np.testing.assert_allclose(found[resample], expected, atol=1e-12)


def test_the_standard_error_of_a_mean_is_that_of_the_textbook():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 2))
    units = Units(30, 30)
    kernel = item_means(scores, np.ones(30), units)
    variance = variances(kernel.influence(Weights(np.ones((1, 30)))), np.ones((1, 30)))[0]
    for model in (0, 1):
        expected = stats.sem(scores[:, model])
        assert of_contrast(variance, model) ** 0.5 == pytest.approx(expected, rel=1e-12)
    expected = stats.sem(scores[:, 1] - 0.9 * scores[:, 0])
    assert of_contrast(variance, 1, 0, 0.9) ** 0.5 == pytest.approx(expected, rel=1e-12)
    assert of_contrast(variance, 1, 1) == 0


@pytest.mark.parametrize("stratum", [None, np.repeat([0, 1, 2], [4, 15, 1])])
def test_the_jackknife_of_a_mean_gives_the_same_variance(stratum):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20, 2))
    units = Units(20, 20, None, stratum)
    kernel = item_means(scores, np.ones(20), units)
    ones = np.ones((1, 20))
    by_influence = variances(kernel.influence(Weights(ones)), ones, stratum)[0]
    found = jackknife_variance(kernel.leave_one_out(), stratum)
    if stratum is None:
        np.testing.assert_allclose(found, by_influence, rtol=1e-10)
    else:  # a stratum that lost a unit counts less: the difference is of the order 1 / n
        np.testing.assert_allclose(found, by_influence, rtol=0.4)


def test_the_jackknife_knows_nothing_where_a_value_is_undefined():
    values = np.array([[0.1], [np.nan], [0.3]])
    assert np.isnan(jackknife_variance(LeaveOneOut(values), None)).all()
    alone = jackknife_variance(LeaveOneOut(values), np.array([0, 1, 0]))
    assert np.isfinite(alone).all()


# --- degrees of freedom -------------------------------------------------------------------------


@given(
    n_units=st.integers(2, 30), size=st.integers(1, 9), correlation=st.sampled_from([-0.1, 0, 0.4])
)
def test_units_of_one_size_have_their_number_less_one(n_units, size, correlation):
    units = Units(n_units * size, n_units, np.repeat(np.arange(n_units), size))
    design = Design.of(units)
    assert design.is_balanced
    assert design.df(correlation) == pytest.approx(n_units - 1)
    assert design.expansion == Expansion(n_units, 1)


def test_unequal_units_count_as_fewer():
    sizes = np.array([1, 2, 3, 10])
    design = Design.of(Units(16, 4, np.repeat(np.arange(4), sizes)))
    for rho in (0.0, 0.3, 1.0):
        variance = sizes * (1 + (sizes - 1) * rho)
        expected = variance.sum() ** 2 / (variance**2).sum() - 1
        assert design.df(rho) == pytest.approx(expected)
    assert design.df(0.0) > design.df(0.3) > design.df(1.0) > 0
    assert design.df(-0.2) == design.df(0.0)


def test_strata_add_up_and_single_units_do_not_count():
    stratum = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    design = Design.of(Units(8, 8, None, stratum))
    assert design.df(0.0) == pytest.approx(2 + 3)
    assert design.expansion == Expansion(7, 2)
    assert design.expansion.df == 5


def test_mean_squares_of_contrasts_are_those_of_differences():
    """The F ratio is SciPy's one-way analysis of variance."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(5), [2, 3, 4, 5, 6])
    values = rng.normal(size=(20, 2)) + rng.normal(size=5)[cluster][:, None] * [1, 2]
    squares = MeanSquares.of(values, cluster)
    difference = values[:, 1] - values[:, 0]
    expected = stats.f_oneway(*(difference[cluster == k] for k in range(5))).statistic
    ratio = of_contrast(squares.between, 1, 0) / of_contrast(squares.within, 1, 0)
    assert ratio == pytest.approx(expected, rel=1e-10)
    assert correlation_of(np.inf, 3.0) == 1.0
    assert correlation_of(1.0, 3.0) == 0.0


# --- methods ------------------------------------------------------------------------------------

# R 4.2.2 with boot 1.3-28.1:
#
#     library(boot)
#     x <- c(2.1, 3.7, 1.4, 5.9, 4.4, 2.8, 7.3, 3.1, 6.6, 1.9, 4.8, 2.2)
#     n <- length(x); R <- 999; s <- 12345
#     draw <- function() { s <<- (16807 * s) %% 2147483647; s }
#     idx <- matrix(0L, R, n)
#     for (r in 1:R) for (i in 1:n) idx[r, i] <- 1L + as.integer(draw() %% n)
#     t <- apply(idx, 1, function(i) mean(x[i]))
#     v <- apply(idx, 1, function(i) var(x[i]) / n)
#     b <- structure(list(t0 = c(mean(x), var(x) / n), t = cbind(t, v), R = R, data = x,
#                         sim = "ordinary"), class = "boot")
#     for (conf in c(0.9, 0.95, 0.99))
#       cat(sprintf("%.17g, %.17g\n", boot.ci(b, conf, "stud")$student[4],
#                   boot.ci(b, conf, "stud")$student[5]))
X = np.array([2.1, 3.7, 1.4, 5.9, 4.4, 2.8, 7.3, 3.1, 6.6, 1.9, 4.8, 2.2])
BOOT_STUDENTIZED = [  # level in R, order statistic that it takes, ends
    (0.90, 50, (2.9163124158695721, 4.9836001871852416)),
    (0.95, 25, (2.6637386087678339, 5.3593777867051591)),
    (0.99, 5, (2.2779426834571508, 7.0068181137240551)),
]


class GivenDraws(Draws):
    """Draws whose counts are not random."""

    counts: np.ndarray

    def blocks(self):
        yield self.counts


def distribution_of(scores, counts):
    """Bootstrap distribution of means for counts that are given."""
    n_units = len(scores)
    units = Units(n_units, n_units)
    kernel = item_means(scores, np.ones(n_units), units)
    replicates = kernel.evaluate(Weights(counts)).values[:, None]
    draws = GivenDraws((kernel,), CountSource(n_units), None, len(counts))
    object.__setattr__(draws, "counts", counts)
    return BootstrapDistribution(
        observed=observe([kernel], units),
        replicates=replicates,
        undefined=np.isnan(replicates),
        zero_division=np.zeros(replicates.shape, dtype=bool),
        n_units=n_units,
        n_sequences=len(counts),
        scales=np.array([kernel.scale]),
        kernels=(kernel,),
        design=Design.of(units),
        draws=draws,
    )


def lehmer_counts():
    """Counts of the rows that R drew, from Lehmer's generator."""
    state, rows = 12345, np.empty(999 * len(X), dtype=np.int64)
    for draw in range(rows.size):
        state = 16807 * state % 2147483647
        rows[draw] = state % len(X)
    return np.array([np.bincount(drawn, minlength=len(X)) for drawn in rows.reshape(999, -1)])


@pytest.mark.parametrize(("level", "k", "ends"), BOOT_STUDENTIZED)
def test_studentized_ends_equal_those_of_boot(level, k, ends):
    found = distribution_of(X[:, None], lehmer_counts())
    assert (1 - level) / 2 * 1000 == pytest.approx(k)
    # The same order statistics by NumPy's rule, which counts from 0 to B - 1.
    ours = interval(
        found.model_sample(0, 0),
        X.mean(),
        method="studentized",
        confidence_level=1 - 2 * (k - 1) / 998,
        basis=found.basis("studentized", 0, 0),
    )
    assert (ours.low, ours.high) == pytest.approx(ends, rel=1e-9)
    assert ours.std_error == pytest.approx(stats.sem(X), rel=1e-12)
    assert (ours.method, ours.status, ours.reason) == ("studentized", "ok", "")


def test_expanded_levels_are_those_of_the_package_resample():
    """Hesterberg's ``pnorm(qt(probs, n-1) * sqrt(n / (n-1)))``, printed by R 4.2.2."""
    printed = {5: 0.00095410055188248875, 10: 0.0085506390244063698, 40: 0.020257536362843845}
    for n_units, share in printed.items():
        expansion = Expansion(n_units)
        assert expansion.share(0.025) == pytest.approx(share, rel=1e-7)
        assert expansion.tail(share) == pytest.approx(0.025, rel=1e-7)
        sample = Sample.from_replicates(np.linspace(0, 1, 100_001))
        found = interval(
            sample, 0.5, method="expanded", confidence_level=0.95, basis=Basis(expansion=expansion)
        )
        assert (found.low, found.high) == pytest.approx((share, 1 - share), abs=1e-6)


def test_expanded_percentiles_of_a_normal_law_are_students_interval():
    """Replicates with variance (n - 1) / n s^2 / n, as those of a mean have."""
    n_units, s = 8, 1.7
    z = stats.norm.ppf((np.arange(200_001) + 0.5) / 200_001)
    replicates = 0.3 + z * s * np.sqrt((n_units - 1) / n_units / n_units)
    found = interval(
        Sample.from_replicates(replicates),
        0.3,
        method="expanded",
        confidence_level=0.95,
        basis=Basis(expansion=Expansion(n_units)),
    )
    expected = stats.t.interval(0.95, n_units - 1, 0.3, s / np.sqrt(n_units))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-3)
    p_value = 2 * stats.t.sf(0.3 / (s / np.sqrt(n_units)), n_units - 1)
    assert found.p_value == pytest.approx(p_value, rel=1e-3)


@pytest.mark.parametrize("n_units", [4, 5, 10, 50])
def test_expanded_percentiles_need_more_resamples(n_units):
    expansion = Expansion(n_units)
    least = int(np.ceil(1 / expansion.share(0.025))) - 1
    check_alpha(least, 0.95, expansion=expansion)
    with pytest.raises(ValueError, match=f"must be at least {least} for `method`='expanded'"):
        check_alpha(least - 1, 0.95, expansion=expansion)
    assert least > 39


def test_no_number_of_resamples_expands_the_percentiles_of_two_units():
    with pytest.raises(ValueError, match=r"more than can be drawn.*Pass method='t'"):
        check_alpha(10**7, 0.95, expansion=Expansion(2))


def test_each_resample_has_its_own_standard_error():
    rng = np.random.default_rng(3)
    scores = rng.gamma(1.0, size=(12, 2))
    counts = rng.multinomial(12, np.full(12, 1 / 12), size=199)
    found = distribution_of(scores, counts)
    difference = scores[:, 1] - 0.9 * scores[:, 0]
    drawn = [np.repeat(difference, of_resample) for of_resample in counts]
    t = np.array([(d.mean() - difference.mean()) / stats.sem(d) for d in drawn])
    pivots = difference.mean() - stats.sem(difference) * t
    basis = found.basis("studentized", 0, 1, 0, 0.9)
    np.testing.assert_allclose(basis.pivots.values, np.sort(pivots), rtol=1e-9)
    assert basis.moved(0.25).pivots.values == pytest.approx(np.sort(pivots) + 0.25)


def test_resamples_without_a_standard_error_are_left_out_or_too_many():
    """Differences of 0 and 1: some resamples draw only one of them."""
    for n_ones, few in ((4, True), (1, False)):
        n_rows = 10
        scores = np.zeros((n_rows, 2))
        scores[:n_ones, 1] = 1.0
        rng = np.random.default_rng(4)
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=1999)
        n_lost = int((np.isin(counts[:, :n_ones].sum(axis=1), [0, n_rows])).sum())
        assert 0 < n_lost
        assert (n_lost < 0.05 * 1999) == few
        found = distribution_of(scores, counts)
        row = interval(
            found.difference_sample(0, 1, 0),
            n_ones / n_rows,
            method="studentized",
            confidence_level=0.95,
            basis=found.basis("studentized", 0, 1, 0),
        )
        if few:
            assert (row.method, row.status) == ("studentized", "ok")
            assert row.reason.startswith(f"{n_lost} resamples whose standard error is zero")
        else:
            assert (row.method, row.status) == ("percentile", "percentile (studentized undefined)")
            assert row.reason.startswith(f"the standard error is zero or undefined in {35}%")


@pytest.mark.parametrize("n_resamples", ["exact", 4000])
def test_draws_come_again_exactly(n_resamples):
    """What is drawn again gives the replicates again: several blocks, strata, merged units."""
    rng = np.random.default_rng(5)
    for stratum in (None, np.repeat([0, 1], [2, 4])):
        scores = rng.integers(0, 2, size=(6, 2)).astype(float)
        units = Units(6, 6, None, stratum)
        kernel = item_means(scores, np.ones(6), units)
        found = bootstrap(
            [kernel],
            units,
            observe([kernel], units),
            n_resamples=n_resamples,
            entropy=7,
            scales=np.array([1.0]),
            merged=merge([kernel], units, always=True),
        )
        again = [
            found.draws.kernels[0].evaluate(Weights(counts)).values
            for counts in found.draws.blocks()
        ]
        np.testing.assert_array_equal(np.concatenate(again), found.replicates[:, 0])
        assert len(found.draws.variances(0)) == len(found.replicates)


def test_the_exact_studentized_interval_weighs_every_sequence():
    """Against all 4^4 sequences of four rows, one by one."""
    scores = np.array([[0.0, 0.3], [0.0, 0.7], [0.0, 1.9], [0.0, 2.3]])
    units = Units(4, 4)
    kernel = item_means(scores, np.ones(4), units)
    found = bootstrap(
        [kernel],
        units,
        observe([kernel], units),
        n_resamples="exact",
        entropy=0,
        scales=np.array([kernel.scale]),
    )
    x = scores[:, 1]
    sequences = [x[list(rows)] for rows in itertools.product(range(4), repeat=4)]
    t = np.array([(s.mean() - x.mean()) / stats.sem(s) for s in sequences if np.ptp(s) > 0])
    pivots = found.basis("studentized", 0, 1, 0).pivots
    assert pivots.size == len(t) == 256 - 4
    ends = x.mean() - stats.sem(x) * np.quantile(t, [0.9, 0.1])
    assert [pivots.quantile(0.1), pivots.quantile(0.9)] == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("n_large", [3, 5000])
def test_kinds_of_units_are_counted(n_large):
    """Whether codes are few enough to be counted in place or have to be sorted."""
    stratum = np.repeat(np.arange(40), 2)
    size = np.where(np.arange(80) == 79, n_large, 1 + np.arange(80) % 2)
    units = Units(int(size.sum()), 80, np.repeat(np.arange(80), size), stratum)
    found = Design.of(units)
    expected = np.unique(np.column_stack([stratum, size]), axis=0, return_counts=True)
    np.testing.assert_array_equal(np.column_stack([found.stratum, found.size]), expected[0])
    np.testing.assert_array_equal(found.count, expected[1])
