"""Two crossed factors: the variance V1 + V2 - V12 of every statistic, on joint replicates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score

from examples import max_examples
from literal import kernel_of, problem_of, quiet, rows_of
from sklearn_pairboot import RecordedEstimator, compare_predictions, compare_scores
from sklearn_pairboot._engine.bootstrap import bootstrap
from sklearn_pairboot._engine.crossed import (
    CrossedUnits,
    _by_levels,
    crossed_bootstrap,
    entropies,
    recombine,
)
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot.resampling import ClusterBootstrap, CrossedBootstrap


def crossed_data(seed, n_users=12, n_items=9, share=1.0):
    """Users by items with effects of both; with a share below one, some cells are empty."""
    rng = np.random.default_rng(seed)
    users, items = np.repeat(np.arange(n_users), n_items), np.tile(np.arange(n_items), n_users)
    kept = rng.random(len(users)) < share
    users, items = users[kept], items[kept]
    one = rng.normal(size=n_users)[users] + rng.normal(size=n_items)[items]
    one = one + rng.normal(size=len(users))
    other = one + 0.3 + 0.4 * rng.normal(size=n_users)[users] + rng.normal(size=len(users))
    return users, items, one, other


def two_way_variance(values, users, items):
    """Cameron, Gelbach and Miller's variance of a mean, in full: all pairs of related rows."""
    deviations = values - values.mean()
    related = (users[:, None] == users) | (items[:, None] == items)
    return float(deviations @ related @ deviations) / len(values) ** 2


@pytest.mark.newest
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_variance_is_the_two_way_cluster_robust_one(share):
    users, items, one, other = crossed_data(0, 30, 24, share)
    result = compare_scores(
        {"one": one, "other": other}, groups=np.column_stack([users, items]), random_state=0
    )
    for values, row in (
        (one, result.scores[0]),
        (other, result.scores[1]),
        (other - one, result.differences[0]),
    ):
        # Monte Carlo error of 9999 resamples; where cells are missing the formula is linearised.
        expected = two_way_variance(values, users, items)
        assert row.std_error**2 == pytest.approx(expected, rel=0.05)
    # Users alone see a part of it.
    alone = np.bincount(users, one - one.mean())
    assert result.scores[0].std_error ** 2 > 1.2 * float(alone @ alone) / len(one) ** 2
    assert (result.n_units, result.factors) == (24, (("column 1", 24), ("column 0", 30)))
    assert "24 levels of column 1 x 30 levels of column 0" in result.summary()
    assert "variance V1 + V2 - V12" in " ".join(result.to_markdown().split())


def test_covariance_is_exactly_that_of_the_three_bootstraps():
    users, items, one, other = crossed_data(1)
    data = {"one": one, "other": other, "third": one**2}
    crossed = compare_scores(
        data, groups=np.column_stack([users, items]), n_resamples=499, random_state=5
    )
    covariances = [
        np.cov(
            compare_scores(
                data,
                groups=groups,
                resampling=ClusterBootstrap(),
                n_resamples=499,
                random_state=seed,
            ).replicates[:, 0],
            rowvar=False,
        )
        # Items are fewer, so they are the first factor.
        for groups, seed in zip((items, users, items * 100 + users), entropies(5), strict=True)
    ]
    expected = covariances[0] + covariances[1] - covariances[2]
    assert np.linalg.eigvalsh(expected)[0] > 0
    found = crossed.replicates[:, 0]
    np.testing.assert_allclose(np.cov(found, rowvar=False), expected, rtol=1e-9)
    estimates = [row.estimate for row in crossed.scores]
    np.testing.assert_allclose(found.mean(axis=0), estimates, rtol=0, atol=1e-12)
    assert not any("negative" in note for note in crossed.notes)


@given(st.integers(0, 10_000))
@max_examples(15)
def test_recombined_replicates_have_the_covariance(seed):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(3, 3))
    scale = 10.0 ** rng.integers(-6, 6, size=3)
    first, second = (rng.normal(size=(200, 3)) @ mix * scale for _ in range(2))
    cells = 0.5 * first + 0.3 * rng.normal(size=(200, 3)) * scale
    cells *= 0.1
    wanted = sum(sign * np.cov(part.T) for sign, part in ((1, first), (1, second), (-1, cells)))
    found, n_negative = recombine(first, second, cells)
    assert n_negative == int(np.linalg.eigvalsh(wanted / np.outer(scale, scale))[0] < 0)
    if n_negative == 0:
        found_scaled = np.cov(found.T) / np.outer(scale, scale)
        np.testing.assert_allclose(found_scaled, wanted / np.outer(scale, scale), atol=1e-8)
    # The order of the values is nothing to it, and neither is that of the factors.
    order = [2, 0, 1]
    again, _ = recombine(second[:, order], first[:, order], cells[:, order])
    np.testing.assert_allclose(again / scale[order], found[:, order] / scale[order], atol=1e-7)


def test_negative_variances_count_as_zero():
    rng = np.random.default_rng(0)
    first, second, cells = rng.normal(size=(3, 400, 2))
    cells[:, 1] *= 3  # more than both factors together
    found, n_negative = recombine(first, second, cells)
    assert n_negative == 1
    wanted = np.cov(first.T) + np.cov(second.T) - np.cov(cells.T)
    # The nearest covariance without negative directions is larger in every direction.
    assert np.linalg.eigvalsh(np.cov(found.T) - wanted)[0] > -1e-8
    assert np.linalg.matrix_rank(np.cov(found.T), tol=1e-8) == 1
    constant, none = recombine(np.ones((50, 2)), np.full((50, 2), 3.0), np.ones((50, 2)))
    assert (np.abs(constant).max(), none) == (0, 0)


def test_a_negative_variance_is_told_of():
    # A latin square without effects of rows and columns: both factors have no variance.
    square = (np.arange(6)[:, None] + np.arange(6)) % 6
    users, items = np.indices((6, 6)).reshape(2, -1)
    noise = np.random.default_rng(0).normal(size=36)
    scores = {"a": square.ravel() + 1e-3 * noise, "b": noise}
    result = compare_scores(
        scores, groups=np.column_stack([users, items]), n_resamples=199, random_state=0
    )
    assert any("was negative in 1 of 2 direction(s)" in note for note in result.notes)


@pytest.mark.parametrize(
    ("scoring", "path", "metric"),
    [
        ("balanced_accuracy", "sums", lambda y, s: balanced_accuracy_score(y, s > 0)),
        ("roc_auc", "ranks", roc_auc_score),
        ("average_precision", "ranks", average_precision_score),
        (lambda model, X, y: average_precision_score(y, model.decision_function(X)), "replay",
         average_precision_score),
    ],
)  # fmt: skip
def test_levels_are_drawn_with_all_their_rows(scoring, path, metric):
    users, items, one, other = crossed_data(3, share=0.8)
    y = (one + np.random.default_rng(0).normal(size=len(one)) > 0).astype(int)
    units = CrossedBootstrap().resampling_units(len(y), groups=np.column_stack([users, items]))
    records = [
        RecordedEstimator.from_arrays(
            predict=(scores > 0).astype(int), decision_function=scores, classes=[0, 1]
        )
        for scores in (one, other)
    ]
    kernel = kernel_of(scoring, problem_of(y, records, units), path)
    for number in (0, 1):
        factor = units.factor(number)
        counts = np.random.default_rng(1).multinomial(
            factor.n_units, np.full(factor.n_units, 1 / factor.n_units), size=5
        )
        found = _by_levels(kernel, units.levels[number]).evaluate(Weights(counts))
        for resample, drawn in enumerate(counts):
            rows = rows_of(factor, drawn)
            expected = [quiet(metric, y[rows], scores[rows]) for scores in (one, other)]
            np.testing.assert_allclose(found.values[resample], expected, rtol=1e-12)


def test_nested_factors_are_clusters_of_the_outer_one():
    users, items, one, other = crossed_data(4)
    own = users * 100 + items  # each item belongs to one user
    scores = {"one": one, "other": other}
    crossed = compare_scores(scores, groups=np.column_stack([own, users]), random_state=3)
    clusters = compare_scores(scores, groups=users, random_state=3)
    np.testing.assert_allclose(crossed.replicates, clusters.replicates, rtol=1e-12)
    assert crossed.differences[0].ci_low == pytest.approx(clusters.differences[0].ci_low)
    assert any("lies in one level of 'column 1'" in note for note in crossed.notes)


@given(st.integers(0, 1000))
@settings(max_examples=5)
def test_order_of_columns_rows_and_models_is_nothing_to_it(seed):
    users, items, one, other = crossed_data(seed, 7, 7, share=0.8)
    columns = np.column_stack([users, items])
    options = {"n_resamples": 99, "random_state": 0}
    result = compare_scores({"a": one, "b": other}, groups=columns, **options)
    rows = np.random.default_rng(seed).permutation(len(one))
    for again in (
        compare_scores({"a": one, "b": other}, groups=columns[:, ::-1], **options),
        compare_scores({"a": one[rows], "b": other[rows]}, groups=columns[rows], **options),
    ):
        if sorted(np.bincount(users)) == sorted(np.bincount(items)):
            continue  # nothing tells the factors apart
        np.testing.assert_allclose(again.replicates, result.replicates, rtol=1e-9, atol=1e-9)
    swapped = compare_scores({"b": other, "a": one}, groups=columns, **options).differences[0]
    row = result.differences[0]
    assert (swapped.difference, swapped.ci_low, swapped.ci_high, swapped.p_value) == pytest.approx(
        (-row.difference, -row.ci_high, -row.ci_low, row.p_value), abs=1e-9
    )


def test_equal_models_do_not_differ():
    users, items, one, _ = crossed_data(5)
    result = compare_scores(
        {"a": one, "b": one, "c": one.copy()},
        groups=np.column_stack([users, items]),
        correction="max-t",
        random_state=0,
    )
    for row in result.differences:
        assert (row.ci_low, row.ci_high, row.p_value, row.std_error) == (0, 0, 1, 0)


@pytest.mark.newest
def test_jobs_change_nothing():
    users, items, one, other = crossed_data(6)
    results = [
        compare_predictions(
            one,
            {"a": 0.5 * one, "b": other},
            scoring="neg_median_absolute_error",
            groups=np.column_stack([users, items]),
            n_resamples=210,
            random_state=0,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    ]
    assert results[0].paths == {"median_absolute_error": "replay"}
    np.testing.assert_array_equal(results[0].replicates, results[1].replicates)


def test_undefined_in_either_factor_is_undefined():
    users, items, one, other = crossed_data(7, 5, 4)
    y = ((users == 0) & (items < 2)).astype(int)
    units = CrossedBootstrap().resampling_units(len(y), groups=np.column_stack([users, items]))
    assert isinstance(units, CrossedUnits)
    records = [
        RecordedEstimator.from_arrays(
            predict=(s > 0).astype(int), decision_function=s, classes=[0, 1]
        )
        for s in (one, other)
    ]
    kernels = [kernel_of(name, problem_of(y, records, units)) for name in ("roc_auc", "accuracy")]
    observed = np.stack([k.evaluate(Weights(np.ones((1, units.n_units), np.uint8))).values[0]
                         for k in kernels])  # fmt: skip
    options = {"n_resamples": 400, "scales": np.full(2, np.nan)}
    found = crossed_bootstrap(kernels, units, observed, entropy=1, **options)
    lost = np.zeros(400, dtype=bool)
    for number, seed in enumerate(entropies(1)[:2]):
        factor = units.factor(number)
        alone = [kernel_of("roc_auc", problem_of(y, records, factor))]
        part = bootstrap(alone, factor, observed[:1], entropy=seed, n_resamples=400,
                         scales=np.full(1, np.nan))  # fmt: skip
        lost |= part.undefined[:, 0, 0]
    assert 0 < lost.sum() < 400
    assert found.undefined[:, 0].tolist() == np.column_stack([lost, lost]).tolist()
    assert found.n_undefined(1, 0) == 0
    assert (found.n_units, found.jackknife(0)) == (4, None)


def test_few_resamples_are_refused():
    users, items, one, other = crossed_data(8)
    with pytest.raises(ValueError, match="more than twice the number of metrics and models"):
        compare_scores(
            {f"m{k}": one + k * other for k in range(30)},
            groups=np.column_stack([users, items]),
            n_resamples=59,
            random_state=0,
        )


@pytest.mark.slow
def test_coverage_against_clusters_of_one_factor():
    covered = {"crossed": 0, "users": 0, "items": 0}
    n_simulations = 400
    for seed in range(n_simulations):
        users, items, one, _ = crossed_data(seed, 30, 30)
        plans = {"crossed": np.column_stack([users, items]), "users": users, "items": items}
        for name, groups in plans.items():
            row = compare_scores(
                {"m": one}, groups=groups, n_resamples=499, random_state=0, method="normal"
            ).scores[0]
            covered[name] += row.ci_low <= 0 <= row.ci_high
    shares = {name: count / n_simulations for name, count in covered.items()}
    # Simulation error at 93 %: 1.3 points; one factor alone sees half of the variance.
    assert 0.90 <= shares["crossed"] <= 0.975
    assert max(shares["users"], shares["items"]) < 0.87
