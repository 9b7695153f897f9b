"""Methods compared from tables of scores: model x training set x seed x item."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot import compare_runs, compare_scores
from sklearn_pairboot._engine.components import Components, MeanSquares

TOLERANCE = 1e-12
TARGETS = ("average", "one_model", "crossed", "test_rows_only")


@pytest.fixture(scope="module")
def tables():
    """Two methods, four seeds each, on 60 items of varied ease."""
    rng = np.random.default_rng(0)
    ease = rng.normal(size=60)
    old, new = (
        rng.normal(skill, 0.3, size=(4, 1)) + ease + rng.normal(size=(4, 60))
        for skill in (0.0, 0.5)
    )
    return {"old": old, "new": new}


@pytest.fixture(scope="module")
def nested():
    """Two methods, three training sets with two seeds each, 40 items."""
    rng = np.random.default_rng(1)
    ease = rng.normal(size=40)
    return {
        name: rng.normal(size=(3, 1, 1))
        + rng.normal(0, 0.3, size=(3, 2, 1))
        + ease
        + rng.normal(size=(3, 2, 40))
        for name in ("old", "new")
    }


def ends(found):
    return found.ci_low, found.ci_high


def words(result):
    return " ".join(result.summary().split())


def linear_quantiles(values, level):
    return np.quantile(values, [(1 - level) / 2, (1 + level) / 2])


# --- Exact distributions ------------------------------------------------------------------------


def test_req_D15_pooled_crossed_and_test_rows_only_are_those_of_the_reference(shared):
    reference = json.loads((shared / "reference/exact.json").read_text(encoding="utf-8"))
    case = reference["nested_seeds_items"]
    names = {
        "one_model": "pooled_KxB_article_4_1",
        "crossed": "crossed_seeds_and_items",
        "test_rows_only": "items_only_seed_mean",
    }
    for level in ("0.9", "0.95", "0.99"):
        result = compare_runs(
            {"B": case["B"], "A": case["A"]}, n_resamples="exact", confidence_level=float(level)
        )
        row = result.differences[0]
        assert row.estimate == case["estimate"]["float"]
        for target, name in names.items():
            found, expected = getattr(row, target), case[name]
            low, high = (end["float"] for end in expected["ci"][level]["linear"])
            assert ends(found) == pytest.approx((low, high), abs=TOLERANCE)
            assert found.std_error == pytest.approx(expected["sd"], rel=TOLERANCE)


def all_resamples(difference):
    """Every difference that the pooled and the crossed bootstrap can give, one a sequence."""
    n_seeds, n_items = difference.shape
    items = np.array(list(itertools.product(range(n_items), repeat=n_items)))
    means = difference[:, items].mean(axis=2)  # (n_seeds, n_sequences)
    seeds = np.array(list(itertools.product(range(n_seeds), repeat=n_seeds)))
    return means.ravel(), means[seeds].mean(axis=1).ravel()


def test_whole_distribution_of_the_reference(shared):
    """Quantiles at many levels are the distribution; shares of it are those of the reference."""
    reference = json.loads((shared / "reference/exact.json").read_text(encoding="utf-8"))
    case = reference["nested_seeds_items"]
    literal = all_resamples(np.subtract(case["A"], case["B"]).astype(float))
    names = ("pooled_KxB_article_4_1", "crossed_seeds_and_items")
    for values, name, target in zip(literal, names, ("one_model", "crossed"), strict=True):
        expected = case[name]
        counted = {number_of(value): count for value, count in expected["dist"]}
        assert dict(zip(*np.unique(values, return_counts=True), strict=True)) == counted
        assert np.mean(values > 0) == expected["p_positive"]["float"]
        assert np.mean(values == 0) == expected["p_zero"]["float"]
        for level in np.linspace(0.05, 0.999, 12):
            row = compare_runs(
                {"B": case["B"], "A": case["A"]},
                n_resamples="exact",
                confidence_level=float(level),
            ).differences[0]
            np.testing.assert_allclose(
                ends(getattr(row, target)), linear_quantiles(values, level), atol=TOLERANCE
            )


def number_of(text):
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_variance_of_the_crossed_bootstrap_in_mean_squares(values):
    """Seeds shrink by (K - 1) / K, and the interaction enters about three times (Owen 2007)."""
    table = np.array(values, dtype=float).reshape(3, 4)
    K, n = table.shape
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    ms_seed = n * np.sum((rows - table.mean()) ** 2) / (K - 1)
    ms_item = K * np.sum((columns - table.mean()) ** 2) / (n - 1)
    ms_rest = np.sum((table - rows - columns + table.mean()) ** 2) / ((K - 1) * (n - 1))
    expected = (
        (K - 1) / K * ms_seed + (n - 1) / n * ms_item + (K - 1) * (n - 1) / (K * n) * ms_rest
    ) / (K * n)
    row = compare_runs({"m": table}, n_resamples="exact").scores[0]
    assert row.crossed.std_error**2 == pytest.approx(expected, rel=1e-10, abs=TOLERANCE)
    _, crossed = all_resamples(table)
    assert row.crossed.std_error**2 == pytest.approx(crossed.var(), rel=1e-10, abs=TOLERANCE)
    # In expectation the three mean squares hold the interaction e2 once each.
    share = (K - 1) / K + (n - 1) / n + (K - 1) * (n - 1) / (K * n)
    assert share == pytest.approx(3 - 2 / K - 2 / n + 1 / (K * n))


def test_case_C53_seeds_are_the_unit_and_not_their_episodes():
    row = compare_runs({"m": [[0, 0, 0], [1, 1, 1]]}, n_resamples="exact").scores[0]
    assert row.crossed.std_error == pytest.approx(0.5 / math.sqrt(2), rel=TOLERANCE)
    # Unbiased: the variance between two seeds has denominator one.
    assert row.average.std_error == pytest.approx(np.std([0, 1], ddof=1) / math.sqrt(2))
    stacked = compare_scores({"m": [0, 0, 0, 1, 1, 1]}, n_resamples="exact").scores[0]
    assert stacked.std_error == pytest.approx(0.5 / math.sqrt(6), rel=TOLERANCE)


# --- The method's average -----------------------------------------------------------------------


def test_interval_of_the_average_is_students_with_satterthwaites_df(tables):
    d = tables["new"] - tables["old"]
    K, n = d.shape
    ms_seed = n * d.mean(axis=1).var(ddof=1)
    ms_item = K * d.mean(axis=0).var(ddof=1)
    rest = d - d.mean(axis=1, keepdims=True) - d.mean(axis=0, keepdims=True) + d.mean()
    ms_rest = np.sum(rest**2) / ((K - 1) * (n - 1))
    assert ms_seed > ms_rest
    assert ms_item > ms_rest
    error = math.sqrt((ms_seed + ms_item - ms_rest) / (K * n))
    df = (ms_seed + ms_item - ms_rest) ** 2 / (
        ms_seed**2 / (K - 1) + ms_item**2 / (n - 1) + ms_rest**2 / ((K - 1) * (n - 1))
    )
    row = compare_runs(tables, random_state=0).differences[0]
    found = row.average
    assert (found.std_error, found.df) == pytest.approx((error, df), rel=1e-9)
    assert ends(found) == pytest.approx(stats.t(df, d.mean(), error).interval(0.95), rel=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t(df).sf(d.mean() / error), rel=1e-9)
    by_source = {part.source: part.variance for part in row.variances}
    expected = {
        "seed": (ms_seed - ms_rest) / n,
        "test rows": (ms_item - ms_rest) / K,
        "seed x test rows": ms_rest,
    }
    assert by_source == pytest.approx(expected, rel=1e-9)


def test_shares_add_up_and_their_intervals_hold_them(tables, nested):
    for scores in (tables, nested):
        row = compare_runs(scores, random_state=0).differences[0]
        assert sum(part.share for part in row.variances) == pytest.approx(1)
        total = sum(part.contribution for part in row.variances)
        assert total == pytest.approx(row.average.std_error**2)
        for part in row.variances:
            assert 0 <= part.share_low <= part.share_high <= 1


def test_clusters_of_one_size_are_items_of_their_means(tables):
    groups = np.repeat(np.arange(20), 3)
    shuffled = np.random.default_rng(0).permutation(60)
    clustered = compare_runs(
        {name: table[:, shuffled] for name, table in tables.items()}, groups=groups[shuffled]
    )
    means = compare_runs(
        {name: table.reshape(4, 20, 3).mean(axis=2) for name, table in tables.items()}
    )
    a, b = clustered.differences[0], means.differences[0]
    assert a.estimate == pytest.approx(b.estimate)
    assert a.average.std_error == pytest.approx(b.average.std_error)
    assert a.average.df == pytest.approx(b.average.df)
    assert (clustered.unit, clustered.n_units) == ("clusters", 20)
    assert [part.source for part in a.variances] == [
        "seed",
        "test clusters",
        "seed x test clusters",
    ]


def test_clusters_of_one_item_are_items(tables):
    plain = compare_runs(tables, random_state=0).differences[0]
    single = compare_runs(tables, groups=np.arange(60), random_state=0).differences[0]
    for target in TARGETS:
        assert ends(getattr(plain, target)) == pytest.approx(ends(getattr(single, target)))


def test_unequal_clusters_are_left_out_one_by_one(tables):
    groups = np.repeat(np.arange(12), np.arange(12) % 3 * 2 + 3)[:60]
    d = tables["new"] - tables["old"]
    labels = np.unique(groups)
    left = np.array([d[:, groups != g].mean(axis=1) for g in labels])
    covariance = np.cov(left.T, ddof=0) * (len(labels) - 1)
    fits, K = d.mean(axis=1), len(d)
    of_items = covariance.mean()
    rest = (np.trace(covariance) - K * of_items) / (K - 1)
    variance = max(fits.var(ddof=1) - rest, 0) / K + max(of_items - rest / K, 0) + rest / K
    row = compare_runs(tables, groups=groups).differences[0]
    assert row.average.std_error == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_seeds_within_training_sets_and_other_numbers(nested):
    row = compare_runs(nested, random_state=0).differences[0]
    part = {part.source: part.variance for part in row.variances}
    assert list(part) == [
        "training data",
        "seed",
        "test rows",
        "training data x test rows",
        "seed x test rows",
    ]

    def expected(M, K, n):
        return math.sqrt(
            part["training data"] / M
            + part["seed"] / (M * K)
            + part["test rows"] / n
            + part["training data x test rows"] / (M * n)
            + part["seed x test rows"] / (M * K * n)
        )

    assert row.predict_std_error() == pytest.approx(row.average.std_error)
    assert row.average.std_error == pytest.approx(expected(3, 2, 40))
    predicted = row.predict_std_error(n_sets=10, n_seeds=1, n_items=500)
    assert predicted == pytest.approx(expected(10, 1, 500))


def test_one_training_set_is_a_table_of_seeds(tables):
    flat = compare_runs(tables, random_state=0).differences[0]
    one = {name: table[np.newaxis] for name, table in tables.items()}
    deep = compare_runs(one, random_state=0).differences[0]
    assert flat.to_dict() == deep.to_dict()
    assert flat.predict_std_error(n_seeds=16) < flat.average.std_error
    with pytest.raises(ValueError, match="`n_sets` must be None where only one training set"):
        flat.predict_std_error(n_sets=3)


def test_one_seed_a_training_set_is_not_told_apart(tables):
    sets = {name: table[:, np.newaxis] for name, table in tables.items()}
    row = compare_runs(sets, random_state=0).differences[0]
    assert row.variances[0].source == "training data and seed"
    flat = compare_runs(tables, random_state=0).differences[0]
    assert row.average == flat.average
    assert row.predict_std_error(n_sets=16) == flat.predict_std_error(n_seeds=16)
    with pytest.raises(ValueError, match="`n_seeds` must be None where seeds were not varied"):
        row.predict_std_error(n_seeds=3)


def test_req_D16_req_D17_resampled_training_counts_the_sample_once_more(nested):
    fresh = compare_runs(nested, random_state=0).differences[0]
    resampled = compare_runs(nested, resampled_training=True, random_state=0).differences[0]
    of_training = fresh.variances[0].variance
    assert of_training > 0
    expected = fresh.average.std_error**2 + of_training
    assert resampled.average.std_error**2 == pytest.approx(expected)
    # However many resamples, the sample's own part stays.
    assert resampled.predict_std_error(n_sets=10**6) ** 2 > of_training
    assert fresh.predict_std_error(n_sets=10**6, n_items=10**9) == pytest.approx(0, abs=1e-2)
    assert resampled.one_model == fresh.one_model


# --- Identities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_resamples", [999, "exact"])
def test_swapping_methods_mirrors(n_resamples):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, size=(2, 3, 5))
    options = {"n_resamples": n_resamples, "random_state": 0}
    ahead = compare_runs({"a": a, "b": b}, **options).differences[0]
    back = compare_runs({"b": b, "a": a}, **options).differences[0]
    assert back.estimate == pytest.approx(-ahead.estimate)
    for target in TARGETS:
        one, other = getattr(ahead, target), getattr(back, target)
        assert ends(other) == pytest.approx((-one.ci_high, -one.ci_low))
        assert other.p_value == pytest.approx(one.p_value)


def test_a_method_against_itself(tables):
    result = compare_runs({"a": tables["old"], "b": tables["old"]}, n_resamples=999)
    row = result.differences[0]
    for target in TARGETS:
        found = getattr(row, target)
        assert (found.p_value, *ends(found)) == (1.0, 0.0, 0.0)
    assert (row.verdict, row.average.std_error) == ("inconclusive", 0.0)
    assert all(math.isnan(part.share) for part in row.variances)
    assert "Nothing varies" in result.summary()


def test_constant_difference_is_certain_and_untested(tables):
    shifted = {"old": tables["old"], "new": tables["old"] + 0.25}
    row = compare_runs(shifted, n_resamples=999).differences[0]
    assert row.estimate == pytest.approx(0.25)
    assert math.isnan(row.average.p_value)
    assert row.average.std_error == 0
    assert row.verdict == "inconclusive"


def test_order_of_seeds_and_items_is_of_no_account(nested):
    rng = np.random.default_rng(0)
    items = rng.permutation(40)
    moved = {name: table[::-1, ::-1][:, :, items] for name, table in nested.items()}
    a = compare_runs(nested, random_state=0).differences[0]
    b = compare_runs(moved, random_state=0).differences[0]
    assert (a.average.std_error, a.average.df) == pytest.approx((b.average.std_error, b.average.df))
    assert [p.share for p in a.variances] == pytest.approx([p.share for p in b.variances])
    same_items = {name: table[::-1, ::-1] for name, table in nested.items()}
    c = compare_runs(same_items, random_state=0).differences[0]
    assert ends(a.one_model) == pytest.approx(ends(c.one_model))


def test_n_jobs_changes_nothing_and_a_seed_repeats(tables):
    first = compare_runs(tables, random_state=7)
    second = compare_runs(tables, random_state=7, n_jobs=2)
    again = compare_runs(tables, random_state=first.random_state_entropy)
    assert first.to_dict() == second.to_dict() == again.to_dict()
    other = compare_runs(tables, random_state=8)
    assert other.differences[0].average == first.differences[0].average
    assert other.differences[0].one_model != first.differences[0].one_model


def test_monte_carlo_goes_to_the_enumeration():
    rng = np.random.default_rng(0)
    scores = {"a": rng.integers(0, 2, size=(3, 6)), "b": rng.integers(0, 3, size=(3, 6))}
    exact = compare_runs(scores, n_resamples="exact").differences[0]
    drawn = compare_runs(scores, n_resamples=40_000, random_state=0).differences[0]
    for target in ("one_model", "crossed", "test_rows_only"):
        a, b = getattr(exact, target), getattr(drawn, target)
        assert a.std_error == pytest.approx(b.std_error, rel=0.02)


# --- Words, records, multiplicity ---------------------------------------------------------------


def test_req_D14_req_D17_summary_names_targets_and_what_varies(tables):
    text = words(compare_runs(tables, random_state=0))
    assert "The method new is better on average" in text
    assert "of the average over 4 seeds" in text
    assert "of one model drawn from each method [" in text
    assert "Varies seed and test rows: 4 seeds, 60 test rows" in text
    assert "counts their interaction about three times" in text
    assert "only which test rows are drawn varies; retraining is not covered" in text
    assert "Only 4 seeds: with fewer than 5" in text
    assert "p-values verdicts follow" not in text


def test_req_D18_summary_says_what_more_would_buy(nested):
    result = compare_runs(nested, resampled_training=True, random_state=0)
    text = words(result)
    assert "with twice the test rows" in text
    assert "twice the training sets" in text
    assert "counted once on top" in text


def test_several_methods_are_corrected(tables):
    three = {**tables, "third": tables["old"] + np.random.default_rng(3).normal(size=(4, 60))}
    result = compare_runs(three, baseline="third", random_state=0)
    p_values = [row.average.p_value for row in result.differences]
    assert [row.model for row in result.differences] == ["old", "new"]
    expected = np.minimum(1, np.maximum.accumulate(np.sort(p_values) * [2, 1]))
    assert sorted(row.p_adjusted for row in result.differences) == pytest.approx(expected)
    assert "adjusted by Holm" in words(result)
    raw = compare_runs(three, baseline="third", correction=None)
    assert [row.p_adjusted for row in raw.differences] == p_values


def test_p_values_of_bootstraps_know_no_less_than_their_resamples(tables):
    apart = {"old": tables["old"], "new": tables["new"] + 100}
    row = compare_runs(apart, n_resamples=199, random_state=0).differences[0]
    for target in TARGETS[1:]:
        assert getattr(row, target).p_value == pytest.approx(2 / 200)
    assert row.average.p_value < 1e-6
    assert np.isnan(compare_runs(apart, n_resamples=199).scores[0].average.p_value)


def test_losses_are_better_when_lower(tables):
    row = compare_runs(tables, greater_is_better=False).differences[0]
    assert row.estimate > 0
    assert row.verdict == "worse"


def test_result_is_plain_data(nested):
    result = compare_runs(nested, random_state=0, n_resamples=999)
    stored = json.loads(json.dumps(result.to_dict()))
    assert stored["differences"][0]["average"]["variant"] == "variance components"
    assert stored["differences"][0]["variances"][0]["source"] == "training data"
    assert stored["n_sets"] == 3
    assert str(result) == result.summary()
    alone = compare_runs({"m": nested["old"]}, n_resamples=999)
    assert alone.differences == ()
    assert "Scores of a method: m" in alone.summary()


def test_input_is_not_changed(tables):
    before = {name: table.copy() for name, table in tables.items()}
    compare_runs(tables, n_resamples=99)
    for name, table in tables.items():
        np.testing.assert_array_equal(table, before[name])


GOOD = {"a": np.eye(3), "b": np.ones((3, 3))}


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1, 2], {}, "`scores` must be a mapping from names of methods"),
        ({}, {}, "At least one model must be given"),
        ({"a": [1, 2, 3]}, {}, r"must have shape \(n_seeds, n_items\) or .*got \(3,\)"),
        ({"a": [[1, 2, 3]]}, {}, "at least 2 seeds or training sets and 2 items"),
        ({"a": [[1], [2]]}, {}, "at least 2 seeds or training sets and 2 items"),
        ({"a": np.eye(3), "b": np.ones((2, 3))}, {}, "must have one shape for all methods"),
        ({"a": np.eye(3) > 0}, {}, "must be numbers, got booleans"),
        ({"a": [["x", "y"], ["x", "y"]]}, {}, "must be numbers"),
        ({"a": [[1, np.nan], [1, 2]]}, {}, "must be finite and present in every row"),
        (GOOD, {"groups": [1, 2]}, "`groups` must have one entry per row"),
        (GOOD, {"baseline": "c"}, "`baseline` must be the name of a model"),
        (GOOD, {"n_resamples": 5}, "`n_resamples` must be at least 39"),
        (
            GOOD,
            {"n_resamples": "auto"},
            "`n_resamples` must be an integer of at least 2 or 'exact', got 'auto'",
        ),
        (GOOD, {"correction": "max-t"}, "`correction` must be one of"),
        (GOOD, {"confidence_level": 95}, "`confidence_level` must be a number between 0 and 1"),
        (GOOD, {"resampled_training": True}, "`resampled_training` must be False where"),
        (GOOD, {"greater_is_better": "yes"}, "`greater_is_better` must be True or False"),
        ({"a": np.ones((2, 2, 3))}, {"n_resamples": "exact"}, "must be an integer where training"),
        (
            {"a": np.random.default_rng(0).normal(size=(5, 9))},
            {"n_resamples": "exact"},
            "`n_resamples` must be an integer for these data",
        ),
    ],
)
def test_bad_input_is_refused(scores, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compare_runs(scores, **options)


def test_bad_numbers_are_refused(tables):
    row = compare_runs(tables, n_resamples=99).differences[0]
    with pytest.raises(ValueError, match="`n_items` must be an integer of at least 1, got 0"):
        row.predict_std_error(n_items=0)


# --- Coverage -----------------------------------------------------------------------------------


def tables_of(rng, n_seeds, spread):
    """A linear model with a true mean of zero."""
    of_seed, of_item, of_both = spread
    return (
        rng.normal(0, of_seed, size=(n_seeds, 1))
        + rng.normal(0, of_item, size=(1, 50))
        + rng.normal(0, of_both, size=(n_seeds, 50))
    )


@pytest.mark.newest
def test_interval_of_the_average_covers_in_a_small_simulation():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(100):
        table = tables_of(rng, 5, (0.2, 1.0, 1.0))
        found = compare_runs({"m": table}, n_resamples=39, random_state=0).scores[0].average
        low, high = interval_of(table)
        assert ends(found) == pytest.approx((low, high))
        hits += low <= 0 <= high
    assert stats.binomtest(hits, 100, 0.955).pvalue > 0.001


def interval_of(table):
    """Interval of the average by the parts that `compare_runs` is made of, without a bootstrap."""
    n_seeds, n_items = table.shape
    values, covariance = table.mean(axis=1), np.cov(table) / n_items
    components = Components(MeanSquares.of(values, covariance, np.arange(n_seeds), n_items))
    error, df = components.std_error(), components.degrees_of_freedom()
    return stats.t(df, values.mean(), error).interval(0.95)


def covered(n_seeds, spread):
    """Share of 3,000 tables whose interval holds the true mean."""
    rng = np.random.default_rng(1)
    ends = np.array([interval_of(tables_of(rng, n_seeds, spread)) for _ in range(3000)])
    return np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0))


@pytest.mark.slow
@pytest.mark.parametrize("n_seeds", [5, 10])
@pytest.mark.parametrize("spread", [(0, 1, 1), (0.1, 1, 1), (0.3, 1, 1), (1, 1, 1), (0.1, 0.3, 2)])
def test_interval_of_the_average_covers_93_to_98_percent_from_five_seeds(n_seeds, spread):
    assert 0.93 <= covered(n_seeds, spread) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("n_seeds", [2, 3])
@pytest.mark.parametrize("spread", [(0.1, 1, 1), (0.3, 1, 1), (1, 1, 1)])
def test_interval_of_the_average_with_two_or_three_seeds(n_seeds, spread):
    """Fewer than five seeds: not much less than 90 %, as the note says."""
    assert 0.88 <= covered(n_seeds, spread) <= 0.98


def test_components_that_are_rounding_are_nought(shared):
    """Mean squares between seeds and of the interaction are equal: no variance of seeds."""
    reference = json.loads((shared / "reference/exact.json").read_text(encoding="utf-8"))
    case = reference["nested_seeds_items"]
    table = np.subtract(case["A"], case["B"]).astype(float)
    n_seeds, n_items = table.shape
    of_seeds, of_items = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    rest = np.sum((table - of_seeds - of_items + table.mean()) ** 2) / (n_items - 1) / (n_seeds - 1)
    assert n_items * of_seeds.var(ddof=1) == pytest.approx(rest, rel=1e-15)
    result = compare_runs({"B": case["B"], "A": case["A"]}, n_resamples="exact")
    parts = {part.source: part for part in result.differences[0].variances}
    seed = parts["seed"]
    assert (seed.variance, seed.contribution, seed.share) == (0, 0, 0)
    assert sum(part.share for part in parts.values()) == pytest.approx(1, abs=1e-15)
    assert "e-17" not in result.summary()
