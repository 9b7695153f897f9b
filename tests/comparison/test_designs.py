"""What counts the same, which test sets are averaged, which population is meant."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    mean_squared_error,
    roc_auc_score,
)

from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot.resampling import (
    ClusterBootstrap,
    CrossedBootstrap,
    RowBootstrap,
    StratifiedBootstrap,
)

GROUPS = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 7, 12])
N = len(GROUPS)


def answers(seed=0):
    """Truths of two classes and two models' probabilities, with some signal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    y[:2] = 0, 1
    return y, {
        name: np.clip(0.5 * y + 0.5 * rng.random(N) * scale, 0.01, 0.99)
        for name, scale in (("old", 1.0), ("new", 0.9))
    }


def mean_of_clusters(values, groups, weight=None):
    weight = np.ones(len(values)) if weight is None else weight
    means = [
        np.average(values[groups == group], weights=weight[groups == group])
        for group in np.unique(groups)
    ]
    return np.mean(means)


# What counts the same


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=10)
def test_clusters_count_the_same_req_A19(seed, weighted):
    rng = np.random.default_rng(seed)
    scores = {"a": rng.normal(size=N), "b": rng.normal(size=N)}
    weight = rng.integers(1, 5, N) if weighted else None
    result = compare_scores(
        scores,
        groups=GROUPS,
        estimand="clusters",
        sample_weight=weight,
        n_resamples=99,
        random_state=seed,
    )
    for row in result.scores:
        expected = mean_of_clusters(scores[row.model], GROUPS, weight)
        assert row.estimate == pytest.approx(expected, rel=1e-12, abs=1e-12)
    # Each resample is the mean of the drawn clusters' means.
    means = {
        name: [np.average(v[GROUPS == g], weights=None if weight is None else weight[GROUPS == g])
               for g in range(8)]
        for name, v in scores.items()
    }  # fmt: skip
    of_clusters = compare_scores(means, n_resamples=99, random_state=seed)
    np.testing.assert_allclose(result.replicates, of_clusters.replicates, rtol=0, atol=1e-12)
    assert (result.estimand, result.weighted) == ("clusters", weighted)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "roc_auc", "neg_log_loss"])
def test_equal_clusters_make_no_difference(scoring):
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 98), np.repeat(np.arange(49), 2)
    scores = {name: rng.random(98) for name in "ab"}
    if scoring in ("accuracy", "f1_macro"):
        scores = {name: (of_model > 0.5).astype(int) for name, of_model in scores.items()}
    options = {"scoring": scoring, "groups": groups, "n_resamples": 199, "random_state": 0}
    rows = compare_predictions(y, scores, **options)
    clusters = compare_predictions(y, scores, estimand="clusters", **options)
    np.testing.assert_array_equal(rows.replicates, clusters.replicates)
    assert repr(rows.differences) == repr(clusters.differences)  # NaN is not equal to itself


def test_metrics_are_those_of_the_weights_req_C10():
    y, probabilities = answers()
    weight = 1 / np.bincount(GROUPS)[GROUPS]
    result = compare_predictions(
        y,
        probabilities,
        scoring=["roc_auc", "neg_log_loss"],
        groups=GROUPS,
        estimand="clusters",
        n_resamples=99,
        random_state=0,
        permutation=True,
    )
    for row in result.scores:
        metric = {"roc_auc": roc_auc_score, "log_loss": log_loss}[row.metric]
        expected = metric(y, probabilities[row.model], sample_weight=weight)
        assert row.estimate == pytest.approx(expected, rel=1e-12)
    # Clusters are swapped, and the statistic stays the weighted one.
    by_hand = compare_predictions(
        y,
        probabilities,
        scoring=["roc_auc", "neg_log_loss"],
        groups=GROUPS,
        sample_weight=weight,
        n_resamples=99,
        random_state=0,
        permutation=True,
    )
    for row, expected in zip(result.differences, by_hand.differences, strict=True):
        assert row.p_permutation == pytest.approx(expected.p_permutation, rel=1e-9)
        assert row.ci_low == pytest.approx(expected.ci_low, rel=1e-9)


def test_replayed_scorers_get_the_weights():
    y, probabilities = answers()
    targets = {name: of_model + y for name, of_model in probabilities.items()}
    weight = 1 / np.bincount(GROUPS)[GROUPS]

    def scorer(model, X, y, sample_weight=None):
        return mean_squared_error(y, model.predict(X), sample_weight=sample_weight)

    result = compare_predictions(
        y + 0.5,
        targets,
        scoring={"replayed": scorer, "kernel": "neg_mean_squared_error"},
        groups=GROUPS,
        estimand="clusters",
        n_resamples=99,
        random_state=0,
    )
    assert result.paths == {"replayed": "replay", "kernel": "sums"}
    np.testing.assert_allclose(result.replicates[:, 0], result.replicates[:, 1], rtol=1e-12)
    expected = mean_squared_error(y + 0.5, targets["new"], sample_weight=weight)
    assert result.scores[1].estimate == pytest.approx(expected)


def test_the_result_says_what_counts_the_same():
    scores = {"a": np.arange(N) % 2, "b": np.arange(N) % 3 == 0}
    scores = {name: np.asarray(values, dtype=int) for name, values in scores.items()}
    options = {"groups": GROUPS, "n_resamples": 99, "random_state": 0}
    rows = compare_scores(scores, **options)
    assert rows.estimand == "rows"
    assert "larger clusters count more" in " ".join(rows.summary().split())
    clusters = compare_scores(scores, estimand="clusters", **options)
    text = "clusters count alike, whatever their size: a row weighs its share of its cluster"
    assert text in " ".join(clusters.summary().split())
    read = ComparisonResult.from_json(clusters.to_json(replicates=True))
    again = read.replace(confidence_level=0.9)
    assert (read.estimand, again.estimand, again.factors) == ("clusters", "clusters", ())
    assert read.summary() == clusters.summary()
    assert again.scores[0] == clusters.replace(confidence_level=0.9).scores[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimand": "clusters"},
            "`estimand` must be 'rows' without `groups`, got 'clusters'. Pass the cluster of each "
            "row.",
        ),
        (
            {"estimand": "users", "groups": GROUPS},
            "`estimand` must be one of 'rows', 'clusters', got 'users'.",
        ),
        (
            {"estimand": "clusters", "groups": GROUPS, "sample_weight": (GROUPS != 2) * 1.0},
            "`sample_weight` must be positive somewhere in every cluster, got zeros only in 2. "
            "Leave out its rows.",
        ),
    ],
)
def test_bad_estimands_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        compare_scores({"a": np.arange(N)}, **options)


def test_scorers_without_weights_are_refused():
    y, probabilities = answers()

    def scorer(model, X, y):
        return 0.0

    for options, what in (
        ({"estimand": "clusters", "groups": GROUPS}, "`estimand` must be 'rows'"),
        (
            {"resampling": StratifiedBootstrap(y, shares={0: 0.5, 1: 0.5})},
            "`shares` must be None",
        ),
    ):
        message = f"{what} for scorer, whose scorer does not take weights."
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            compare_predictions(y, probabilities, scoring=scorer, **options)


def test_the_comparator_counts_clusters_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    models = [("l2", LogisticRegression()), ("strong", LogisticRegression(C=0.01))]
    weight = 1 / np.bincount(GROUPS)[GROUPS]
    frozen = [(name, FrozenEstimator(model.fit(X, y))) for name, model in models]
    options = {"scoring": "accuracy", "n_resamples": 99, "random_state": 0}
    direct = PairedBootstrapComparator(frozen, estimand="clusters", **options).fit(
        X, y, groups=GROUPS
    )
    assert (direct.result_.estimand, direct.result_.weighted) == ("clusters", False)
    for row in direct.result_.scores:
        expected = accuracy_score(y, dict(frozen)[row.model].predict(X), sample_weight=weight)
        assert row.estimate == pytest.approx(expected)
    halves = [(np.flatnonzero(GROUPS < 7), np.flatnonzero(GROUPS == 7)),
              (np.flatnonzero(GROUPS == 7), np.flatnonzero(GROUPS < 7))]  # fmt: skip
    crossed = PairedBootstrapComparator(models, estimand="clusters", cv=halves, **options)
    crossed.fit(X, y, groups=GROUPS)
    for train, test in halves:
        # Models are fitted without these weights, and scored with them.
        model = LogisticRegression().fit(X[train], y[train])
        expected = accuracy_score(y[test], model.predict(X[test]), sample_weight=weight[test])
        assert np.isclose(expected, crossed.split_scores_["accuracy"][:, 0]).any()
    with pytest.raises(ValueError, match=re.escape("`estimand` must be 'rows' for scorer")):
        PairedBootstrapComparator(
            frozen, estimand="clusters", scoring={"scorer": lambda m, X, y: 0.0}, refit=False
        ).fit(X, y, groups=GROUPS)
    two = np.column_stack([GROUPS, np.arange(N) % 4])
    assert PairedBootstrapComparator(frozen, **options).fit(X, y, groups=two).result_.factors
    with pytest.raises(ValueError, match="two crossed factors: no split keeps both apart"):
        PairedBootstrapComparator(models, cv=halves, **options).fit(X, y, groups=two)


# Two crossed factors, as passed


def test_two_columns_in_many_forms():
    pd = pytest.importorskip("pandas")
    users, items = GROUPS, np.arange(N) % 5
    scores = {"a": np.arange(N) % 2, "b": np.arange(N) % 3}
    options = {"n_resamples": 99, "random_state": 0}
    expected = compare_scores(scores, groups=np.column_stack([users, items]), **options)
    assert expected.factors == (("column 1", 5), ("column 0", 8))
    for groups in (
        [[int(u), int(i)] for u, i in zip(users, items, strict=True)],
        pd.DataFrame({"user": users, "item": items}),
    ):
        for plan in ("auto", CrossedBootstrap()):
            result = compare_scores(scores, groups=groups, resampling=plan, **options)
            np.testing.assert_array_equal(result.replicates, expected.replicates)
    assert result.factors == (("item", 5), ("user", 8))
    assert "39 test rows" not in result.summary().splitlines()[0]
    assert "of 5 levels of item x 8 levels of user" in result.summary().splitlines()[0]
    # Tuples are labels, as ever: those of the cells.
    cells = compare_scores(scores, groups=list(zip(users, items, strict=True)), **options)
    assert cells.n_units == len({*zip(users, items, strict=True)})
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"user": [f"u{user}" for user in users], "item": items})
    result = compare_scores(scores, groups=frame, **options)
    np.testing.assert_array_equal(result.replicates, expected.replicates)


def test_crossed_results_are_kept_and_read_anew():
    pd = pytest.importorskip("pandas")
    users, items = GROUPS, np.arange(N) % 5
    scores = {"a": np.arange(N) % 2, "b": np.arange(N) % 3}
    result = compare_scores(
        scores,
        groups=pd.DataFrame({"u*": users, "item": items}),
        n_resamples=99,
        random_state=0,
        margin=0.5,
        correction="max-t",
    )
    assert "levels of u\\*" in result.to_markdown()
    read = ComparisonResult.from_json(result.to_json(replicates=True))
    assert (read.factors, read.summary()) == (result.factors, result.summary())
    for method in ("basic", "normal"):
        assert read.replace(method=method).scores == result.replace(method=method).scores
    with pytest.raises(ValueError, match="^`method` must not need a jackknife"):
        read.replace(method="bca")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bca"}, "`method` must not need a jackknife"),
        ({"n_resamples": "exact"}, "`n_resamples` must be an integer where"),
        ({"permutation": True}, "`permutation` must be False where"),
        ({"estimand": "clusters"}, "`estimand` must be 'rows' where"),
        ({"resampling": ClusterBootstrap()}, "`groups` must be one-dimensional"),
        ({"resampling": RowBootstrap()}, "`groups` must be None with `RowBootstrap`"),
        ({"test_sets": np.arange(N) % 2}, "`resampling` must draw rows or clusters"),
    ],
)
def test_crossed_factors_refuse(options, message):
    groups = np.column_stack([GROUPS, np.arange(N) % 5])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        compare_scores({"a": np.arange(N)}, groups=groups, **options)


def test_crossed_factors_follow_dropped_items():
    pd = pytest.importorskip("pandas")
    users, items = GROUPS, np.arange(N) % 5
    scores = {"a": (np.arange(N) % 2).astype(float), "b": (np.arange(N) % 3).astype(float)}
    kept = np.arange(N) != 4
    options = {"n_resamples": 99, "random_state": 0}
    expected = compare_scores(
        {name: values[kept] for name, values in scores.items()},
        groups=np.column_stack([users, items])[kept],
        **options,
    )
    scores["a"] = np.where(kept, scores["a"], np.nan)
    for groups in (
        np.column_stack([users, items]),
        pd.DataFrame({"u": users, "i": items}),
        [[u, i] for u, i in zip(users.tolist(), items.tolist(), strict=True)],
    ):
        result = compare_scores(scores, groups=groups, missing="drop", **options)
        np.testing.assert_array_equal(result.replicates, expected.replicates)


# Several test sets

SETS = np.array(["math", "code", "law"])[np.arange(N) % 3]


@pytest.mark.parametrize("weights", [None, {"law": 2.0, "math": 1.0, "code": 1.0}])
def test_average_over_test_sets(weights):
    y, probabilities = answers()
    scoring = ["roc_auc", "neg_log_loss"]
    result = compare_predictions(
        y,
        probabilities,
        scoring=scoring,
        test_sets=SETS,
        test_set_weights=weights,
        n_resamples=99,
        random_state=0,
    )
    declared = dict.fromkeys(SETS.tolist(), 1.0) if weights is None else weights
    total = sum(declared.values())
    for row in result.scores:
        metric = {"roc_auc": roc_auc_score, "log_loss": log_loss}[row.metric]
        expected = sum(
            weight / total * metric(y[SETS == name], probabilities[row.model][SETS == name])
            for name, weight in declared.items()
        )
        assert row.estimate == pytest.approx(expected, rel=1e-12)
    assert result.notes[0].startswith("Scores are averages over 3 test sets: 'code' (weight 0.")
    assert not result.stratified
    assert ComparisonResult.from_json(result.to_json()).notes == result.notes


def test_each_test_set_is_drawn_on_its_own():
    scores = {"a": np.arange(N) ** 1.5, "b": np.arange(N) % 7}
    result = compare_scores(scores, test_sets=SETS, n_resamples=4999, random_state=0, method="bca")
    row = result.differences[0]
    difference = scores["b"] - scores["a"]
    variance = sum(difference[SETS == s].var() / (SETS == s).sum() for s in set(SETS)) / 9
    assert row.std_error**2 == pytest.approx(variance, rel=0.06)
    sets = [difference[SETS == name] for name in ("code", "law", "math")]
    # The acceleration within strata, of influence values that are deviations from set means.
    influence = [(part - part.mean()) / 3 for part in sets]
    cubes = sum((part**3).sum() / len(part) ** 3 for part in influence)
    squares = sum((part**2).sum() / len(part) ** 2 for part in influence)
    found = result._distribution.acceleration(0, 1, 0)
    assert found == pytest.approx(cubes / squares**1.5 / 6, rel=1e-9)


def test_one_test_set_is_none():
    scores = {"a": np.arange(N) % 2, "b": np.arange(N) % 3}
    options = {"groups": GROUPS, "n_resamples": 99, "random_state": 0, "permutation": True}
    one = compare_scores(scores, test_sets=["all"] * N, **options)
    plain = compare_scores(scores, **options)
    np.testing.assert_allclose(one.replicates, plain.replicates, rtol=1e-12)
    assert one.differences[0].p_permutation == plain.differences[0].p_permutation


def test_permutation_of_an_average_over_test_sets():
    rng = np.random.default_rng(0)
    difference, sets = rng.integers(-1, 2, 9), np.array(list("aaabbbbbb"))
    scores = {"a": np.zeros(9), "b": difference.astype(float)}
    result = compare_scores(
        scores, test_sets=sets, permutation=True, n_resamples=99, random_state=0
    )
    signs = 1 - 2 * ((np.arange(2**9)[:, None] >> np.arange(9)) & 1)
    by_item = difference / np.where(sets == "a", 2 * 3, 2 * 6)
    statistics = np.abs(signs @ by_item)
    expected = np.mean(statistics >= abs(by_item.sum()) - 1e-12)
    assert result.differences[0].p_permutation == pytest.approx(expected)


def test_estimators_on_test_sets_of_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] + rng.normal(size=N) > 0, "yes", "no")
    models = {"a": LogisticRegression().fit(X, y), "b": LogisticRegression(C=0.01).fit(X, y)}
    sets = np.where(GROUPS < 5, "small", "large")
    y[sets == "small"] = np.where(np.arange((sets == "small").sum()) == 0, "yes", "no")

    def own(model, X, y):
        return np.mean(model.predict(X) == y)

    result = compare_estimators(
        models,
        X,
        y,
        scoring={"f1": get_scorer("f1_macro"), "accuracy": "accuracy", "own": own},
        groups=GROUPS,
        test_sets=sets,
        n_resamples=99,
        random_state=0,
        method="bca",
    )
    assert result.paths["own"] == "replay"
    np.testing.assert_allclose(result.replicates[:, 1], result.replicates[:, 2], rtol=1e-12)
    parts = [sets == "large", sets == "small"]
    expected = np.mean(
        [f1_score(y[part], models["b"].predict(X[part]), average="macro") for part in parts]
    )
    assert result.scores[1].estimate == pytest.approx(expected)
    assert "clusters" in result.notes[0]


def test_a_resample_without_a_value_on_some_set_is_left_out():
    y = np.array([0, 1, 0, 0, 0, 1, 0, 1])
    sets = np.array(list("aaaabbbb"))
    result = compare_predictions(
        y,
        {"m": np.linspace(0, 1, 8)},
        scoring="roc_auc",
        test_sets=sets,
        n_resamples=400,
        random_state=0,
    )
    # Set a lacks a positive with probability (3/4)^4, or a negative; b lacks either with 2/16.
    defined = (1 - 0.75**4 - 0.25**4) * (1 - 2 / 16)
    assert result.scores[0].n_undefined == pytest.approx(400 * (1 - defined), abs=40)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"test_set_weights": {"a": 1}}, ValueError, "`test_set_weights` must be None without"),
        ({"test_sets": SETS, "test_set_weights": {"law": 1}}, ValueError,
         "`test_set_weights` must name every label of the data and no other"),
        ({"test_sets": SETS, "test_set_weights": {"law": 1, "code": 0, "math": 1}}, ValueError,
         "`test_set_weights` must be positive numbers, got 0 for 'code'."),
        ({"test_sets": SETS, "test_set_weights": [1, 2, 3]}, TypeError,
         "`test_set_weights` must be a mapping"),
        ({"test_sets": SETS[1:]}, ValueError, "`test_sets` must have one entry per row"),
        ({"test_sets": np.arange(N)}, ValueError,
         "`test_sets` must have at least 2 rows or clusters each, got 1 in 0"),
        ({"test_sets": SETS, "groups": GROUPS}, ValueError,
         "`test_sets` must be constant inside each cluster of `groups`"),
        ({"test_sets": SETS,
          "resampling": StratifiedBootstrap(SETS, {"law": 0.2, "code": 0.3, "math": 0.5})},
         ValueError,
         "`resampling` must draw rows or clusters"),
    ],
)  # fmt: skip
def test_bad_test_sets_are_refused(options, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        compare_scores({"a": np.arange(N)}, **options)


def test_a_test_set_without_a_value_is_named():
    y, probabilities = answers()
    sets = np.where(y == 1, "ones", "mixed")
    with pytest.raises(ValueError, match="^roc_auc must be defined in every test set, got no "):
        compare_predictions(y, probabilities, scoring="roc_auc", test_sets=sets)
    with pytest.raises(ValueError, match="^`permutation` must be False with `test_sets`"):
        compare_predictions(
            y, probabilities, scoring="roc_auc", test_sets=SETS, permutation=True
        )  # fmt: skip


# A target population


def test_declared_shares_req_A26_req_C23():
    y, probabilities = answers()
    strata = SETS
    shares = {"math": 0.5, "code": 0.3, "law": 0.2}
    given_weight = np.arange(N) % 3 + 1.0
    for weight in (None, given_weight):
        result = compare_scores(
            probabilities,
            sample_weight=weight,
            resampling=StratifiedBootstrap(strata, shares=shares),
            n_resamples=99,
            random_state=0,
        )
        for row in result.scores:
            expected = sum(
                share * np.average(
                    probabilities[row.model][strata == name],
                    weights=None if weight is None else weight[strata == name],
                )
                for name, share in shares.items()
            )  # fmt: skip
            assert row.estimate == pytest.approx(expected, rel=1e-12)
    assert any("'math' 0.5, 'code' 0.3, 'law' 0.2" in note for note in result.notes)
    assert result.stratified
    # Of the classes: another prevalence.
    result = compare_predictions(
        y,
        {name: (of_model > 0.6).astype(int) for name, of_model in probabilities.items()},
        scoring="accuracy",
        resampling=StratifiedBootstrap(shares={0: 0.9, 1: 0.1}),
        n_resamples=99,
        random_state=0,
    )
    right = (probabilities["new"] > 0.6) == y
    expected = 0.9 * right[y == 0].mean() + 0.1 * right[y == 1].mean()
    assert result.scores[1].estimate == pytest.approx(expected)


def test_observed_shares_change_nothing():
    scores = {"a": np.arange(N) % 2, "b": np.arange(N) % 5}
    observed = {name: float(np.mean(name == SETS)) for name in set(SETS.tolist())}
    results = [
        compare_scores(
            scores, resampling=StratifiedBootstrap(SETS, shares), n_resamples=99, random_state=0
        )
        for shares in (None, observed)
    ]
    np.testing.assert_allclose(results[0].replicates, results[1].replicates, rtol=1e-12)


def test_shares_follow_dropped_items():
    kept = np.arange(N) != 3
    values = (np.arange(N) % 5).astype(float)
    shares = {"math": 0.5, "code": 0.3, "law": 0.2}
    dropped = compare_scores(
        {"a": np.where(kept, values, np.nan)},
        missing="drop",
        resampling=StratifiedBootstrap(SETS, shares=shares),
        n_resamples=99,
        random_state=0,
    )
    expected = sum(
        share * values[kept & (name == SETS)].mean() for name, share in shares.items()
    )  # fmt: skip
    assert dropped.scores[0].estimate == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shares", "error", "message"),
    [
        ({"math": 0.5, "code": 0.3, "law": 0.1}, ValueError, "`shares` must have sum 1, got 0.9."),
        ({"math": 0.5, "code": 0.5}, ValueError, "`shares` must name every label"),
        ({"math": 0.5, "code": 0.7, "law": -0.2}, ValueError, "`shares` must be positive numbers"),
        ([0.5, 0.5], TypeError, "`shares` must be a mapping"),
    ],
)
def test_bad_shares_are_refused(shares, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        compare_scores(
            {"a": np.arange(N)}, resampling=StratifiedBootstrap(SETS, shares=shares)
        )  # fmt: skip


DESIGNS = [
    {"groups": GROUPS, "estimand": "clusters"},
    {"groups": np.column_stack([GROUPS, np.arange(N) % 5])},
    {"test_sets": SETS, "test_set_weights": {"law": 3, "code": 2, "math": 1}},
    {"groups": GROUPS, "test_sets": np.where(GROUPS < 5, "small", "large"), "estimand": "clusters"},
    {"resampling": StratifiedBootstrap(SETS, shares={"math": 0.5, "code": 0.3, "law": 0.2})},
]


@pytest.mark.parametrize("design", DESIGNS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=4)
def test_designs_are_fair(design, seed):
    """Models that swap names swap their results, and equal ones do not differ."""
    y, probabilities = answers(seed)
    one, other = probabilities["old"], probabilities["new"]
    options = {"scoring": "neg_brier_score", "n_resamples": 99, "random_state": seed, **design}
    forth = compare_predictions(y, {"a": one, "b": other}, **options).differences[0]
    back = compare_predictions(y, {"b": other, "a": one}, **options).differences[0]
    assert (back.difference, back.ci_low, back.ci_high, back.p_value) == pytest.approx(
        (-forth.difference, -forth.ci_high, -forth.ci_low, forth.p_value), abs=1e-9
    )
    same = compare_predictions(y, {"a": one, "b": one}, **options).differences[0]
    assert (same.difference, same.ci_low, same.ci_high, same.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize("design", DESIGNS)
def test_order_of_rows_is_nothing_to_estimates(design):
    y, probabilities = answers(1)
    rows = np.random.default_rng(0).permutation(N)
    results = []
    for order in (np.arange(N), rows):
        moved = {
            name: value if isinstance(value, str | dict) else StratifiedBootstrap(
                SETS[order], value.shares
            ) if name == "resampling" else value[order]
            for name, value in design.items()
        }  # fmt: skip
        results.append(
            compare_predictions(
                y[order],
                {name: of_model[order] for name, of_model in probabilities.items()},
                scoring="roc_auc",
                n_resamples=99,
                random_state=0,
                **moved,
            )
        )
    estimates = [[row.estimate for row in result.scores] for result in results]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-12)
    if "groups" in design:  # clusters are numbered by their labels
        np.testing.assert_allclose(results[0].replicates, results[1].replicates, rtol=1e-9)


def test_repeated_rows_equal_their_weight():
    values, strata = (np.arange(N) % 5).astype(float), SETS
    weight = np.arange(N) % 3 + 1
    rows = np.repeat(np.arange(N), weight)
    shares = {"math": 0.5, "code": 0.3, "law": 0.2}
    for options in (
        {"estimand": "clusters"},
        {"resampling": StratifiedBootstrap},
    ):
        estimates = []
        for which, given_weight in ((np.arange(N), weight), (rows, None)):
            plan = options.get("resampling")
            found = compare_scores(
                {"a": values[which]},
                sample_weight=given_weight,
                groups=None if plan else GROUPS[which],
                estimand=options.get("estimand", "rows"),
                resampling=plan(strata[which], shares=shares) if plan else "auto",
                n_resamples=99,
                random_state=0,
            )
            estimates.append(found.scores[0].estimate)
        assert estimates[0] == pytest.approx(estimates[1], rel=1e-12)


def test_fractions_of_unequal_clusters():
    clusters = [[1], [0, 1], [-1, 0, 1], [1, 1, 0, 0]]
    values = np.array([value for cluster in clusters for value in cluster])
    groups = np.repeat(np.arange(4), [1, 2, 3, 4])
    result = compare_scores(
        {"zero": np.zeros(10), "d": values},
        groups=groups,
        estimand="clusters",
        n_resamples="exact",
    )
    means = [Fraction(sum(cluster), len(cluster)) for cluster in clusters]
    drawn = [
        sum((means[i], means[j], means[k], means[m])) / 4
        for i in range(4) for j in range(4) for k in range(4) for m in range(4)
    ]  # fmt: skip
    row = result.differences[0]
    assert row.difference == float(sum(means) / 4)
    assert row.std_error == pytest.approx(np.std(np.array(drawn, dtype=float)), rel=1e-12)
    assert row.ci_low == pytest.approx(np.quantile(np.array(drawn, dtype=float), 0.025), abs=1e-12)
