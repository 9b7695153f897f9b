"""Comparisons under blocks, two stages and Dirichlet weights."""

from __future__ import annotations

import re

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    make_scorer,
    median_absolute_error,
)
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

from literal import N_TRAINED, quiet, trained, weights_of
from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine import bootstrap as engine
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.resampling import (
    BayesianBootstrap,
    BlockBootstrap,
    ClusterBootstrap,
    TwoStageBootstrap,
)

N = N_TRAINED
GROUPS = np.arange(N) // 4
PLANS = {
    "moving": (BlockBootstrap(5), None),
    "circular": (BlockBootstrap(5, "circular"), None),
    "stationary": (BlockBootstrap(5, "stationary"), None),
    "two-stage": (TwoStageBootstrap(), GROUPS),
    "Bayesian": (BayesianBootstrap(), None),
    "Bayesian clusters": (BayesianBootstrap(), GROUPS),
}
COUNTED = [name for name in PLANS if "Bayesian" not in name]


@pytest.mark.parametrize("name", COUNTED)
def test_values_are_those_of_literally_drawn_rows(name):
    plan, groups = PLANS[name]
    drawn = weights_of(plan, groups, 5)
    for kind, scoring in {
        "binary": ["accuracy", "f1", "roc_auc", "average_precision", "neg_log_loss", "rand_score"],
        "multiclass": ["f1_macro", "balanced_accuracy"],
        "regression": ["r2", "neg_mean_absolute_error", "neg_median_absolute_error"],
    }.items():
        X, y, models = trained(kind)
        result = compare_estimators(
            models,
            X,
            y,
            scoring=scoring,
            resampling=plan,
            groups=groups,
            n_resamples=5,
            confidence_level=0.5,
            random_state=0,
        )
        for number, metric in enumerate(resolve_scoring(scoring)):
            for column, model in enumerate(models.values()):
                for resample, counts in enumerate(drawn):
                    rows = np.repeat(np.arange(N), counts)
                    value = metric.sign * quiet(metric.scorer, model, X[rows], y[rows])
                    assert result.replicates[resample, number, column] == pytest.approx(
                        value, rel=1e-12, abs=1e-12, nan_ok=True
                    ), (metric.name, rows)


def scores_of(seed=0, n_rows=N, n_models=2):
    values = np.random.default_rng(seed).normal(size=(n_rows, n_models))
    return {str(k): column for k, column in enumerate(values.T)}


@pytest.mark.parametrize("name", PLANS)
def test_results_survive_json_replace_and_pickle_free_reading(name):
    plan, groups = PLANS[name]
    result = compare_scores(
        scores_of(), resampling=plan, groups=groups, n_resamples=99, random_state=0
    )
    for replicates in (False, True):
        read = ComparisonResult.from_json(result.to_json(replicates))
        assert read.summary() == result.summary()
        assert (read.scheme, read.unit) == (result.scheme, result.unit)
    again = read.replace(confidence_level=0.9, correction="max-t")
    assert again.summary() == result.replace(confidence_level=0.9, correction="max-t").summary()
    with pytest.raises(ValueError, match="`method` must do without leaving out one unit"):
        read.replace(method="bca")
    assert result.scheme in result.to_markdown() or result.scheme in ("two-stage", "Bayesian")


@pytest.mark.parametrize("name", PLANS)
def test_jobs_and_longer_runs_change_nothing(monkeypatch, name):
    plan, groups = PLANS[name]
    monkeypatch.setattr(engine, "_PARALLEL_WEIGHTS", 0)
    run = {"resampling": plan, "groups": groups, "random_state": 0}
    serial = compare_scores(scores_of(), n_resamples=700, **run)
    with joblib.parallel_config(backend="threading"):
        parallel = compare_scores(scores_of(), n_resamples=700, n_jobs=2, **run)
    np.testing.assert_array_equal(parallel.replicates, serial.replicates)
    longer = compare_scores(scores_of(), n_resamples=900, **run)
    np.testing.assert_array_equal(longer.replicates[:700], serial.replicates)


@given(st.sampled_from(list(PLANS)), st.integers(0, 100))
@settings(max_examples=10)
def test_swapping_models_mirrors_and_a_model_equals_itself(name, seed):
    plan, groups = PLANS[name]
    run = {"resampling": plan, "groups": groups, "n_resamples": 79, "random_state": seed}
    scores = scores_of(seed)
    row = compare_scores(scores, **run).differences[0]
    back = compare_scores(dict(reversed(scores.items())), **run).differences[0]
    mirrored = -row.difference, -row.ci_high, -row.ci_low
    assert (back.difference, back.ci_low, back.ci_high) == pytest.approx(mirrored, rel=1e-12)
    assert back.p_value == pytest.approx(row.p_value, rel=1e-9)
    same = compare_scores({"a": scores["0"], "b": scores["0"]}, **run).differences[0]
    assert (same.ci_low, same.ci_high, same.p_value) == (0, 0, 1)


def test_two_stages_are_wider_than_clusters_by_the_variance_within():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 4)) + rng.normal(size=(30, 1))
    run = {"groups": np.repeat(np.arange(30), 4), "random_state": 0}
    cluster, two_stage = (
        compare_scores({"m": scores.ravel()}, resampling=plan, **run).scores[0].std_error
        for plan in (ClusterBootstrap(), TwoStageBootstrap())
    )
    assert cluster**2 == pytest.approx(scores.mean(axis=1).var() / 30, rel=0.05)
    within = scores.var(axis=1).mean() / 120
    assert two_stage**2 == pytest.approx(scores.mean(axis=1).var() / 30 + within, rel=0.05)


def test_blocks_show_the_error_of_a_series_that_rows_hide_req_A17():
    """AR(1) with coefficient 0.8: the variance of a mean is nine times that of independent rows."""
    rng = np.random.default_rng(1)
    series = np.zeros(4000)
    for time in range(1, 4000):
        series[time] = 0.8 * series[time - 1] + rng.normal()
    run = {"n_resamples": 999, "random_state": 0}
    rows = compare_scores({"m": series}, **run).scores[0]
    truth = 1 / (1 - 0.8) / np.sqrt(4000)
    assert rows.std_error == pytest.approx(truth / 3, rel=0.1)
    for kind in ("moving", "circular", "stationary"):
        blocks = compare_scores({"m": series}, resampling=BlockBootstrap(kind=kind), **run)
        assert blocks.scores[0].std_error == pytest.approx(truth, rel=0.2)


def test_the_length_of_blocks_comes_from_all_series():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=300)
    smooth = np.convolve(rng.normal(size=320), np.ones(21), mode="valid")
    plan = BlockBootstrap()
    own = {
        name: plan.with_length_of(values).length
        for name, values in {"noise": noise, "smooth": smooth, "difference": smooth - noise}.items()
    }
    assert own["noise"] < own["smooth"]
    run = {"resampling": plan, "n_resamples": 99, "random_state": 0}
    result = compare_scores({"a": noise, "b": smooth}, **run)
    assert result.unit == f"blocks of {max(own.values())} rows"
    assert result.notes[0].startswith(f"Blocks of {max(own.values())}: the length that the rule")
    # Two series whose common part is gone from the difference, and the other way round.
    together = compare_scores({"a": noise + smooth, "b": noise - smooth}, **run)
    assert together.unit == result.unit
    # The same from predictions: residuals, and whether each class is right.
    y = rng.normal(size=300)
    predicted = compare_predictions(y, {"a": y - noise, "b": y - smooth}, scoring="r2", **run)
    assert predicted.unit == result.unit
    right = {"a": noise > 0, "b": smooth > 0}
    expected = compare_scores({name: 1.0 * wrong for name, wrong in right.items()}, **run).unit
    truths = rng.integers(0, 3, 300)
    labels = {name: (truths + wrong) % 3 for name, wrong in right.items()}
    assert compare_predictions(truths, labels, scoring="accuracy", **run).unit == expected
    # Of probabilities alone, those of the true class.
    y = rng.integers(0, 2, 300)
    shares = {name: 1 / (1 + np.exp(-values)) for name, values in (("a", noise), ("b", smooth))}
    records = {
        name: RecordedEstimator.from_arrays(
            predict_proba=np.column_stack([1 - share, share]), classes=[0, 1]
        )
        for name, share in shares.items()
    }
    expected = compare_scores(
        {name: np.where(y == 1, share, 1 - share) for name, share in shares.items()}, **run
    ).unit
    assert compare_predictions(y, records, scoring="roc_auc", **run).unit == expected
    decisions = {
        name: RecordedEstimator.from_arrays(decision_function=values, classes=[0, 1])
        for name, values in (("a", noise), ("b", smooth))
    }
    expected = compare_scores(
        {"a": np.where(y == 1, noise, -noise), "b": np.where(y == 1, smooth, -smooth)}, **run
    ).unit
    assert compare_predictions(y, decisions, scoring="roc_auc", **run).unit == expected


def test_labels_of_several_columns_have_a_block_length():
    y = np.random.default_rng(0).integers(0, 2, (60, 3))
    run = {"resampling": BlockBootstrap(), "n_resamples": 99, "random_state": 0}
    wrong = np.roll(y, 1, axis=0)
    result = compare_predictions(y, {"m": wrong}, scoring="f1_macro", **run)
    series = (y != wrong).sum(axis=1)
    length = BlockBootstrap().with_length_of(series).length
    assert result.unit == f"blocks of {length} row{'s' * (length > 1)}"


def test_text_and_numbers_are_compared_and_what_cannot_be_is_refused():
    y = np.array(["0", "1"] * 10)
    run = {"resampling": BlockBootstrap(), "n_resamples": 99, "random_state": 0}
    same = compare_predictions(y, {"m": np.roll(y, 3)}, scoring="accuracy", **run)
    assert same.unit == "blocks of 1 row"
    two = RecordedEstimator.from_arrays(predict=np.ones((20, 2)))

    def spread(model, X, y):
        return float(np.ptp(model.predict(X) - y[:, np.newaxis]))

    with pytest.raises(ValueError, match="^`length` must be given to `BlockBootstrap` where ans"):
        compare_predictions(np.arange(20.0), {"m": two}, scoring=spread, **run)
    run["resampling"] = BlockBootstrap(2)
    assert compare_predictions(np.arange(20.0), {"m": two}, scoring=spread, **run).n_units == 10


def test_reports_say_what_was_drawn():
    def text(name, **options):
        plan, groups = PLANS[name]
        result = compare_scores(
            scores_of(), resampling=plan, groups=groups, n_resamples=99, random_state=0, **options
        )
        return " ".join(result.summary().split())

    moving = text("moving")
    assert "10 blocks of 5 rows (moving blocks) make up a resample of 48 rows in time" in moving
    assert "only which test blocks of 5 rows are drawn" in moving
    two_stage = text("two-stage")
    assert "12 clusters of 4-4-4 rows (min-median-max), drawn with replacement, and" in two_stage
    assert "the variation within clusters counts about twice" in two_stage
    bayesian = text("Bayesian")
    assert "99 posterior draws of the Bayesian bootstrap (Rubin 1981)" in bayesian
    assert "p is the two-sided tail share of the posterior draws beyond 0, not a test" in bayesian
    assert "48 rows, each with a random real weight, Dirichlet(1, ..., 1)" in bayesian
    clusters = text("Bayesian clusters")
    assert "only how much weight each of the test clusters has" in clusters


def test_few_blocks_and_clusters_are_noted():
    run = {"n_resamples": 99, "random_state": 0}
    blocks = compare_scores(scores_of(), resampling=BlockBootstrap(10), **run)
    assert "Only 5 blocks of 10 rows: with fewer than 10" in blocks.notes[0]
    two_stage = compare_scores(
        scores_of(), resampling=TwoStageBootstrap(), groups=np.arange(N) // 6, **run
    )
    assert "Only 8 clusters: with fewer than 10" in two_stage.notes[0]
    # Five blocks that all agree may do so by chance.
    better = {"old": np.zeros(N), "new": np.ones(N) + np.arange(N) % 2}
    result = compare_scores(better, resampling=BlockBootstrap(10), **run)
    assert result.differences[0].verdict == "inconclusive"


@pytest.mark.parametrize("name", PLANS)
def test_what_plans_cannot_serve_is_refused_before_any_work(name):
    plan, groups = PLANS[name]

    def scorer(model, X, y, sample_weight=None):
        raise AssertionError("called")

    X, y, models = trained("binary")
    run = {"scoring": scorer, "resampling": plan, "groups": groups, "random_state": 0}
    message = (
        "`method` must do without leaving out one unit at a time, and without its influence, with "
    )
    with pytest.raises(ValueError, match=f"^{message}.*got 'bca'. Pass 'percentile'"):
        compare_estimators(models, X, y, method="bca", **run)
    with pytest.raises(ValueError, match=r"^`n_resamples` must be an integer with .* resampling"):
        compare_estimators(models, X, y, n_resamples="exact", **run)


def test_refusals_name_the_remedy():
    X, y, models = trained("binary")

    def refused(message, **options):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            compare_estimators(models, X, y, **options)

    refused(
        "`permutation` must be False with `BlockBootstrap`, got True: where neighbours are alike",
        resampling=BlockBootstrap(4),
        permutation=True,
    )
    refused(
        "`resampling` must draw whole numbers of rows for own, whose scorer takes no "
        "`sample_weight`, got `BayesianBootstrap`, which draws real weights. Leave the metric "
        "out, or let the scorer take `sample_weight`.",
        scoring={"own": lambda model, X, y: 1 / 0},
        resampling=BayesianBootstrap(),
    )
    refused(
        "`groups` must be None with `BlockBootstrap`", resampling=BlockBootstrap(), groups=GROUPS
    )


@pytest.mark.parametrize("plan", [TwoStageBootstrap(), BayesianBootstrap()])
def test_permutations_swap_whole_clusters(plan):
    X, y, models = trained("binary")
    run = {
        "groups": GROUPS,
        "permutation": True,
        "n_resamples": 99,
        "random_state": 0,
        "scoring": ["accuracy", "roc_auc"],
    }
    result = compare_estimators(models, X, y, resampling=plan, **run)
    clusters = compare_estimators(models, X, y, **run)
    assert [row.p_permutation for row in result.differences] == [
        row.p_permutation for row in clusters.differences
    ]
    assert result.permutations == clusters.permutations
    scores = {"run": run.pop("scoring")}
    scores = scores_of()
    result = compare_scores(scores, resampling=plan, **run)
    assert result.permutations == compare_scores(scores, **run).permutations


@pytest.mark.parametrize("name", PLANS)
def test_comparators_take_plans_with_and_without_folds(name):
    plan, groups = PLANS[name]
    X, y, models = trained("regression")
    fresh = [
        ("tree", DecisionTreeRegressor(max_depth=2, random_state=0)),
        ("line", LinearRegression()),
    ]
    median = make_scorer(median_absolute_error, greater_is_better=False)
    options = {
        "scoring": {"mse": "neg_mean_squared_error", "median": median},
        "refit": False,
        "resampling": plan,
        "n_resamples": 39,
        "random_state": 0,
    }
    folds = list(KFold(3).split(X))  # as a list it takes groups without a warning
    result = PairedBootstrapComparator(fresh, cv=folds, **options).fit(X, y, groups=groups).result_
    assert result.scheme == plan.resampling_units(N, groups=groups).scheme.name
    drawn = weights_of(plan, groups, 39)
    for column, (_, model) in enumerate(fresh):
        errors = np.empty(N)
        for train, test in folds:
            errors[test] = (model.fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2
        for resample, weight in enumerate(drawn):
            values = [
                np.average(errors[test], weights=weight[test])
                for _, test in folds
                if weight[test].any()
            ]
            assert result.replicates[resample, 0, column] == pytest.approx(np.mean(values))


def test_folds_that_leave_rows_out_keep_the_scheme():
    X, y, _ = trained("regression")
    fresh = [
        ("tree", DecisionTreeRegressor(max_depth=2, random_state=0)),
        ("line", LinearRegression()),
    ]

    def fitted(plan, groups=None):
        comparator = PairedBootstrapComparator(
            fresh,
            cv=list(TimeSeriesSplit(3).split(X)),
            resampling=plan,
            n_resamples=39,
            random_state=0,
        )
        return comparator.fit(X, y, groups=groups).result_

    blocks = fitted(BlockBootstrap(4))
    assert (blocks.unit, blocks.n_rows, blocks.n_units) == ("blocks of 4 rows", 36, 9)
    two_stage = fitted(TwoStageBootstrap(), GROUPS)
    assert (two_stage.scheme, two_stage.n_units) == ("two-stage", 9)
    weights = fitted(BayesianBootstrap())
    assert (weights.scheme, weights.n_units) == ("Bayesian", 36)
    with pytest.raises(ValueError, match="^`length` must be given to `BlockBootstrap` where no"):
        fitted(BlockBootstrap())
