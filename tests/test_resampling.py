"""Resampling plans: which rows are drawn together, and from which stratum."""

import re

import numpy as np
import pytest

from sklearn_pairboot import compare_predictions, compare_scores, resampling
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot.resampling import (
    BayesianBootstrap,
    BlockBootstrap,
    ClusterBootstrap,
    CrossedBootstrap,
    RowBootstrap,
    StratifiedBootstrap,
    TwoStageBootstrap,
    optimal_block_length,
)


def refused(error, message, plan, *args, **options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        plan.resampling_units(*args, **options)


PLANS = {
    "BayesianBootstrap",
    "BlockBootstrap",
    "ClusterBootstrap",
    "CrossedBootstrap",
    "RowBootstrap",
    "StratifiedBootstrap",
    "TwoStageBootstrap",
}


def test_public_names():
    assert set(resampling.__all__) == PLANS | {"optimal_block_length"}
    for name in PLANS:
        assert repr(getattr(resampling, name)()).startswith(name)


def test_the_choice_of_units_is_documented_req_A17():
    text = " ".join(resampling.__doc__.split())
    assert "in time order, neighbours alike `BlockBootstrap`: neither rows" in text
    for name in PLANS:
        assert f"`{name}`" in text
        assert "Do not use it" in getattr(resampling, name).__doc__ or name in (
            "RowBootstrap",
            "ClusterBootstrap",
            "StratifiedBootstrap",
        )


def test_rows_are_units():
    units = RowBootstrap().resampling_units(5, y=np.arange(5))
    assert (units.n_rows, units.n_units, units.of_row, units.stratum) == (5, 5, None, None)
    np.testing.assert_array_equal(units.rows_per_unit, np.ones(5))
    assert RowBootstrap() == RowBootstrap()


@pytest.mark.parametrize(
    ("groups", "codes"),
    [
        (list("baba"), [1, 0, 1, 0]),
        ([30, 10, 30, 20], [2, 0, 2, 1]),
        ([2.5, -1.0, 2.5, 0.0], [2, 0, 2, 1]),
        ([("b", 1), ("a", 2), ("a", 1), ("b", 1)], [2, 1, 0, 2]),
        ([True, False, True, False], [1, 0, 1, 0]),
        (np.array(["2020-01-02", "2020-01-01"] * 2, dtype="M8[D]"), [1, 0, 1, 0]),
        (np.array([[3], [1], [3], [2]]), [2, 0, 2, 1]),
        (np.array(["b", "a", "b", "a"], dtype=object), [1, 0, 1, 0]),
    ],
)
def test_clusters_are_numbered_by_sorted_labels(groups, codes):
    units = ClusterBootstrap().resampling_units(4, groups=groups)
    np.testing.assert_array_equal(units.of_row, codes)
    assert units.n_units == max(codes) + 1
    assert units.rows_per_unit.sum() == 4


def test_labels_of_several_types_are_kept_apart():
    groups = np.array([1, "1", 2, "1", 1, None], dtype=object)[:5]
    forth = ClusterBootstrap().resampling_units(5, groups=groups)
    assert forth.n_units == 3
    assert forth.of_row[0] == forth.of_row[4] != forth.of_row[1] == forth.of_row[3]
    # The order that such labels get does not depend on that of the rows.
    back = ClusterBootstrap().resampling_units(5, groups=groups[::-1])
    np.testing.assert_array_equal(back.of_row[::-1], forth.of_row)
    mixed = ClusterBootstrap().resampling_units(3, groups=[1, "1", 1])
    np.testing.assert_array_equal(mixed.of_row, [0, 1, 0])


def test_integers_and_equal_floats_are_one_cluster():
    units = ClusterBootstrap().resampling_units(3, groups=np.array([1, 1.0, 2], dtype=object))
    assert units.n_units == 2


def test_strata_of_rows_and_of_clusters():
    by_class = StratifiedBootstrap().resampling_units(5, y=np.array(list("babab")))
    np.testing.assert_array_equal(by_class.stratum, [1, 0, 1, 0, 1])
    assert by_class.of_row is None
    # Strata that are given come before the classes of the truths.
    given = StratifiedBootstrap(list("xxyyy")).resampling_units(5, y=np.arange(5))
    np.testing.assert_array_equal(given.stratum, [0, 0, 1, 1, 1])
    clusters = StratifiedBootstrap(list("yyxxx")).resampling_units(5, groups=[7, 7, 3, 5, 5])
    np.testing.assert_array_equal(clusters.of_row, [2, 2, 0, 1, 1])
    np.testing.assert_array_equal(clusters.stratum, [0, 0, 1])


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        (
            StratifiedBootstrap(list("xyxx")),
            {"groups": [1, 1, 2, 2]},
            "`strata` must be constant inside each cluster of `groups`, got several strata in 1.",
        ),
        (
            StratifiedBootstrap(list("xyxy")),
            {"groups": list("ppqq")},
            "`strata` must be constant inside each cluster of `groups`, got several strata in 'p', "
            "'q'.",
        ),
        (
            StratifiedBootstrap(list("xy")),
            {},
            "`strata` must have one entry per row, 4, got 2.",
        ),
        (
            StratifiedBootstrap(["x", None, "y", "y"]),
            {},
            "`strata` must be finite and present in every row, got 1 missing or infinite, in "
            "row(s) 1. Give every row the label of its group.",
        ),
        (
            StratifiedBootstrap(),
            {},
            "`strata` must be given to `StratifiedBootstrap` where there are no truths whose "
            "classes could serve: one stratum label per row.",
        ),
        (
            ClusterBootstrap(),
            {},
            "`groups` must be given with `ClusterBootstrap`: one cluster label per row.",
        ),
        (
            ClusterBootstrap(),
            {"groups": [("a", 1), ("a", np.nan), ("b", 1), ("b", None)]},
            "`groups` must be finite and present in every row, got 2 missing or infinite, in "
            "row(s) 1, 3. Give every row the label of its group.",
        ),
        (
            ClusterBootstrap(),
            {"groups": [3, 3, 3, 3]},
            "`groups` must hold at least 2 clusters, got only the group 3: what varies between "
            "clusters cannot be seen in one.",
        ),
        (
            StratifiedBootstrap(list("xxxx")),
            {"groups": [3, 3, 3, 3]},
            "`groups` must hold at least 2 clusters, got only the group 3: what varies between "
            "clusters cannot be seen in one.",
        ),
        (
            RowBootstrap(),
            {"groups": [1, 1, 2, 2]},
            "`groups` must be None with `RowBootstrap`, which draws single rows. Pass "
            "`ClusterBootstrap()` to draw whole groups, or leave `groups` out.",
        ),
        (
            TwoStageBootstrap(),
            {},
            "`groups` must be given with `TwoStageBootstrap`: one cluster label per row.",
        ),
        (
            TwoStageBootstrap(),
            {"groups": [3, 3, 3, 3]},
            "`groups` must hold at least 2 clusters, got only the group 3: what varies between "
            "clusters cannot be seen in one.",
        ),
        (
            BlockBootstrap(2),
            {"groups": [1, 1, 2, 2]},
            "`groups` must be None with `BlockBootstrap`, which draws neighbouring rows. Cluster "
            "ids already say which rows are alike: pass `ClusterBootstrap()`, or leave `groups` "
            "out. Blocks of clusters are not offered.",
        ),
        (
            BlockBootstrap(3),
            {},
            "`length` must be at most half the number of rows, 2, got 3: a single block shows no "
            "variation.",
        ),
        (
            BlockBootstrap(),
            {},
            "`length` must be given to `BlockBootstrap` where no series of the rows is known "
            "before models are fitted, got None. Pass the number of rows of a block, for example "
            "that of `BlockBootstrap().with_length_of(errors)`.",
        ),
        (
            BayesianBootstrap(),
            {"groups": [3, 3, 3, 3]},
            "`groups` must hold at least 2 clusters, got only the group 3: what varies between "
            "clusters cannot be seen in one.",
        ),
    ],
)
def test_bad_input(plan, options, message):
    refused(ValueError, message, plan, 4, **options)


@pytest.mark.parametrize("plan", [RowBootstrap(), BlockBootstrap(1), BayesianBootstrap()])
def test_one_row_is_not_enough(plan):
    refused(ValueError, "At least 2 rows are needed to resample, got 1.", plan, 1)


@pytest.mark.parametrize("length", [0, -1, 2.0, True, "auto"])
def test_lengths_of_blocks_are_whole_numbers(length):
    with pytest.raises(ValueError, match="^`length` must be a positive integer or None, got"):
        BlockBootstrap(length)


def test_kinds_of_blocks_have_names():
    with pytest.raises(ValueError, match="^`kind` must be one of 'moving', 'circular', 'statio"):
        BlockBootstrap(3, "overlapping")


def test_the_length_of_a_series_is_rounded_and_leaves_two_blocks():
    rng = np.random.default_rng(0)
    series = np.convolve(rng.normal(size=210), np.ones(11), mode="valid")
    found = optimal_block_length(series)
    assert BlockBootstrap().with_length_of(series) == BlockBootstrap(round(found.circular))
    stationary = BlockBootstrap(kind="stationary").with_length_of(series)
    assert stationary == BlockBootstrap(round(found.stationary), "stationary")
    both = np.column_stack([rng.normal(size=200), series])
    assert BlockBootstrap().with_length_of(both) == BlockBootstrap().with_length_of(series)
    assert BlockBootstrap().with_length_of([1.0, 2.0]).length == 1
    assert BlockBootstrap().with_length_of(np.ones(9)).length == 1


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([[1.0, 2.0]], "`series` must be one-dimensional and hold at least 2 numbers, got shape"),
        ([1.0], "`series` must be one-dimensional and hold at least 2 numbers, got shape (1,)"),
        (list("ab"), "`series` must be one-dimensional and hold at least 2 numbers, got shape"),
        ([1.0, np.nan, 2.0], "`series` must be finite and present in every row, got 1 missing"),
    ],
)
def test_series_are_finite_numbers(series, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        optimal_block_length(series)


def test_a_series_of_pandas_is_taken():
    pandas = pytest.importorskip("pandas")
    values = np.arange(30.0) % 7
    assert optimal_block_length(pandas.Series(values)) == optimal_block_length(values)


def test_other_plans_make_units_with_a_scheme():
    clusters = [5, 5, 3, 3]
    two_stage = TwoStageBootstrap().resampling_units(4, groups=clusters)
    assert (two_stage.n_units, two_stage.of_row) == (4, None)
    assert two_stage.scheme.of_row.tolist() == [1, 1, 0, 0]
    weights = BayesianBootstrap().resampling_units(4, groups=clusters)
    assert (weights.n_units, weights.of_row.tolist()) == (2, [1, 1, 0, 0])
    assert weights.scheme.n_units == 2
    blocks = BlockBootstrap(2, "circular").resampling_units(5)
    assert (blocks.n_units, blocks.scheme.length, blocks.scheme.kind) == (5, 2, "circular")


@pytest.mark.parametrize("n_rows", [30, 300])
def test_strata_keep_their_numbers_of_units_req_D05(n_rows):
    strata = np.arange(n_rows) % 3 % 2  # twice as many of one kind
    scores = {"m": strata.astype(float)}
    result = compare_scores(
        scores, resampling=StratifiedBootstrap(strata), n_resamples=200, random_state=0
    )
    np.testing.assert_allclose(result.replicates, 1 / 3, rtol=1e-12)
    assert result.scores[0].status == "degenerate"
    free = compare_scores(scores, n_resamples=200, random_state=0)
    assert free.scores[0].std_error > 0.02


def test_strata_have_a_smaller_error_where_they_differ():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    predicted = np.where(rng.random(200) < np.where(y == 1, 0.95, 0.4), y, 1 - y)
    rows, strata = (
        compare_predictions(
            y, {"m": predicted}, scoring="accuracy", resampling=plan, n_resamples=9999
        ).scores[0]
        for plan in (RowBootstrap(), StratifiedBootstrap())
    )
    shares = np.array([np.mean(predicted[y == k] == k) for k in (0, 1)])
    # Law of total variance: strata take the spread between the classes out.
    within = np.sqrt((shares * (1 - shares)).mean() / 200)
    assert strata.std_error == pytest.approx(within, rel=0.05)
    whole = np.sqrt(shares.mean() * (1 - shares.mean()) / 200)
    assert rows.std_error == pytest.approx(whole, rel=0.05)


def test_own_plans_can_be_passed():
    class Halves:
        def resampling_units(self, n_rows, *, y=None, groups=None):
            return ClusterBootstrap().resampling_units(n_rows, groups=np.arange(n_rows) // 2)

    result = compare_scores(
        {"m": np.arange(8.0)}, resampling=Halves(), n_resamples=99, random_state=0
    )
    expected = compare_scores(
        {"m": np.arange(8.0)}, groups=np.arange(8) // 2, n_resamples=99, random_state=0
    )
    np.testing.assert_array_equal(result.replicates, expected.replicates)


def test_result_names_the_units():
    result = compare_scores(
        {"m": np.arange(6.0)},
        groups=[1, 1, 1, 2, 3, 3],
        resampling=StratifiedBootstrap([0, 0, 0, 0, 1, 1]),
        n_resamples=99,
    )
    assert (result.unit, result.n_units, result.stratified) == ("clusters", 3, True)
    assert result.unit_sizes == (1, 2, 3)


def test_a_stratum_of_one_unit_is_always_drawn_once():
    counts = CountSource(5, stratum=np.array([0, 0, 0, 0, 1])).draw(np.random.SeedSequence(0))
    np.testing.assert_array_equal(counts[:, 4], 1)
    np.testing.assert_array_equal(counts[:, :4].sum(axis=1), 4)


def test_cells_of_crossed_factors_know_their_levels():
    users, items = list("bbaacc"), [3, 1, 1, 3, 3, 3]
    groups = [list(pair) for pair in zip(users, items, strict=True)]
    units = CrossedBootstrap().resampling_units(6, groups=groups)
    # Items are fewer and come first; cells are (1, a), (1, b), (3, a), (3, b), (3, c).
    assert units.names == ("column 1", "column 0")
    np.testing.assert_array_equal(units.of_row, [3, 1, 0, 2, 4, 4])
    assert [level.tolist() for level in units.levels] == [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]
    first, second = units.factor(0), units.factor(1)
    np.testing.assert_array_equal(first.of_row, [1, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(second.of_row, [1, 1, 0, 0, 2, 2])
    assert (first.n_units, second.n_units, units.n_units) == (2, 3, 5)
    assert not units.is_nested
    swapped = CrossedBootstrap().resampling_units(6, groups=[pair[::-1] for pair in groups])
    np.testing.assert_array_equal(swapped.of_row, units.of_row)
    # 1 and "1" are different levels.
    mixed = [[1, "x"], ["1", "x"], [1, "y"], ["1", "y"]]
    assert CrossedBootstrap().resampling_units(4, groups=mixed).n_units == 4
    for groups, message in (
        (users, "`groups` must have two columns with `CrossedBootstrap`"),
        ([["a", 1], ["a", 2]] * 3, "`groups` must hold at least 2 levels in each column"),
        ([["a", 1], [None, 2]] * 3, "`groups['column 0']` must be finite and present"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            CrossedBootstrap().resampling_units(6, groups=groups)


def test_shares_of_strata_are_shares_of_the_weight():
    strata, shares = list("xxyyyy"), {"x": 0.6, "y": 0.4}
    weight = StratifiedBootstrap(strata, shares).row_weight(6)
    np.testing.assert_allclose(weight, np.repeat([0.6 / (2 / 6), 0.4 / (4 / 6)], [2, 4]))
    given = np.array([1.0, 3.0, 1.0, 1.0, 0.0, 2.0])
    weight = StratifiedBootstrap(strata, shares).row_weight(6, sample_weight=given)
    assert (weight[:2].sum(), weight[2:].sum()) == pytest.approx((0.6 * 8, 0.4 * 8))
    np.testing.assert_allclose(weight[:2], [1.2, 3.6])
    assert StratifiedBootstrap(strata).row_weight(6, sample_weight=given) is given
    of_classes = StratifiedBootstrap(shares={0: 0.5, 1: 0.5}).row_weight(3, y=np.array([0, 0, 1]))
    np.testing.assert_allclose(of_classes, [0.75, 0.75, 1.5])
