"""ClusterBootstrapScorer: values, bounds, groups and bad input, alone and inside scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn import metrics
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import check_scoring, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot.comparison import compare_estimators
from sklearn_pairboot.scorer import ClusterBootstrapScorer

KEYS = ["score", "ci_low", "ci_high", "std_error", "n_units", "n_undefined"]

CLASSIFICATION = [
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f1",
    "f1_macro",
    "jaccard",
    "matthews_corrcoef",
    "neg_log_loss",
    "neg_brier_score",
    "roc_auc",
    "average_precision",
    "roc_auc_ovr",
    "positive_likelihood_ratio",
]
REGRESSION = [
    "r2",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_median_absolute_error",
    "neg_max_error",
    "explained_variance",
]


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(n_samples=120, n_features=6, flip_y=0.2, random_state=0)
    return LogisticRegression().fit(X, y), X, y


@pytest.fixture(scope="module")
def continuous():
    X, y = make_regression(n_samples=90, n_features=3, noise=30, random_state=1)
    return LinearRegression().fit(X, y), X, y


@pytest.fixture(scope="module")
def grouped():
    """60 clusters of four rows."""
    X, y = make_classification(n_samples=240, n_features=6, flip_y=0.2, random_state=2)
    return X, y, np.arange(240) // 4


def problem_of(name, binary, continuous):
    return binary if name in CLASSIFICATION else continuous


def undefined_warnings(caught):
    return [w for w in caught if issubclass(w.category, UndefinedMetricWarning)]


# Values


@pytest.mark.parametrize("name", CLASSIFICATION + REGRESSION)
def test_score_is_that_of_scikit_learn(name, binary, continuous):
    model, X, y = problem_of(name, binary, continuous)
    value = ClusterBootstrapScorer(name)(model, X, y)
    assert type(value) is float
    assert value == get_scorer(name)(model, X, y)


@pytest.mark.parametrize("name", CLASSIFICATION + REGRESSION)
def test_interval_has_the_same_score_inside(name, binary, continuous):
    model, X, y = problem_of(name, binary, continuous)
    scorer = ClusterBootstrapScorer(name, returns="interval", n_resamples=99)
    found = scorer(model, X, y)
    assert list(found) == KEYS
    assert all(type(value) is float for value in found.values())
    assert found["score"] == get_scorer(name)(model, X, y)
    assert found["ci_low"] <= found["score"] <= found["ci_high"]
    assert found["std_error"] > 0
    assert found["n_units"] == len(y)
    low = clone(scorer).set_params(returns="lower")(model, X, y)
    high = clone(scorer).set_params(returns="upper")(model, X, y)
    assert (low, high) == (found["ci_low"], found["ci_high"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["roc_auc", "neg_log_loss", "r2", "neg_median_absolute_error"])
def test_bounds_are_those_of_compare_estimators(name, method, binary, continuous):
    model, X, y = problem_of(name, binary, continuous)
    groups = np.arange(len(y)) // 3
    keywords = {"n_resamples": 199, "method": method, "confidence_level": 0.9, "random_state": 5}
    result = compare_estimators({"m": model}, X, y, scoring=name, groups=groups, **keywords)
    (row,) = result.scores
    scorer = ClusterBootstrapScorer(name, returns="interval", **keywords)
    found = scorer(model, X, y, groups=groups)
    natural = (row.ci_low, row.ci_high)
    expected = (-row.ci_high, -row.ci_low) if name.startswith("neg_") else natural
    assert (found["ci_low"], found["ci_high"]) == expected
    assert found["std_error"] == row.std_error
    assert (found["n_units"], found["n_undefined"]) == (result.n_units, row.n_undefined)


@pytest.mark.newest
def test_bounds_are_quantiles_of_scores_of_drawn_rows(binary):
    """Independent of the engine: literally drawn clusters, scikit-learn's metric, numpy's rule."""
    model, X, y = binary
    groups = np.arange(len(y)) // 4
    members = [np.flatnonzero(groups == group) for group in range(30)]
    rng = np.random.default_rng(0)
    values = []
    for _ in range(500):
        rows = np.concatenate([members[unit] for unit in rng.integers(30, size=30)])
        values.append(get_scorer("accuracy")(model, X[rows], y[rows]))
    scorer = ClusterBootstrapScorer("accuracy", returns="interval", n_resamples=4999)
    found = scorer(model, X, y, groups=groups)
    error = 4 * np.std(values) * np.sqrt(0.025 * 0.975 * (1 / 500 + 1 / 4999)) / 0.0584
    assert found["ci_low"] == pytest.approx(np.quantile(values, 0.025), abs=error + 1 / 120)
    assert found["ci_high"] == pytest.approx(np.quantile(values, 0.975), abs=error + 1 / 120)
    assert found["std_error"] == pytest.approx(np.std(values, ddof=1), rel=0.15)


def test_a_loss_has_negated_and_swapped_bounds(continuous):
    model, X, y = continuous
    loss = make_scorer(metrics.mean_absolute_error)
    gain = make_scorer(metrics.mean_absolute_error, greater_is_better=False)
    natural = ClusterBootstrapScorer(loss, returns="interval", n_resamples=99)(model, X, y)
    negated = ClusterBootstrapScorer(gain, returns="interval", n_resamples=99)(model, X, y)
    assert negated["score"] == -natural["score"] < 0
    assert (negated["ci_low"], negated["ci_high"]) == (-natural["ci_high"], -natural["ci_low"])
    assert negated["std_error"] == natural["std_error"]


def test_perfect_loss_has_no_negative_zero():
    X = np.arange(20.0)[:, None]
    model = LinearRegression().fit(X, np.zeros(20))
    found = ClusterBootstrapScorer("neg_mean_squared_error", returns="interval")(
        model, X, np.zeros(20)
    )
    assert np.copysign(1, found["ci_low"]) == np.copysign(1, found["ci_high"]) == 1


def test_case_C50_rows_treated_as_independent_give_a_smaller_error():
    y = np.repeat([1, 1, 0, 0], 5)
    X = np.zeros((20, 1))

    def share_of_ones(model, X, y):
        return float(np.mean(y))

    patients = np.repeat(np.arange(4), 5)
    scorer = ClusterBootstrapScorer(share_of_ones, returns="interval", n_resamples="exact")
    model = Ridge().fit(X, y)
    assert scorer(model, X, y, groups=patients)["std_error"] == pytest.approx(0.25, rel=1e-12)
    rows = clone(scorer).set_params(n_resamples=1999)
    assert rows(model, X, y)["std_error"] == pytest.approx(np.sqrt(0.25 / 20), rel=0.1)


def test_sample_weight_multiplies_rows(binary):
    model, X, y = binary
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    scorer = ClusterBootstrapScorer("roc_auc", returns="interval", n_resamples=99)
    found = scorer(model, X, y, groups=np.arange(len(y)), sample_weight=weight)
    repeated = scorer(model, X[copies], y[copies], groups=copies)
    assert found == pytest.approx(repeated, rel=1e-12)


def test_scoring_none_is_the_estimators_own_score(binary, continuous):
    for model, X, y in (binary, continuous):
        assert ClusterBootstrapScorer(None)(model, X, y) == model.score(X, y)
        found = ClusterBootstrapScorer(None, returns="interval", n_resamples=99)(model, X, y)
        assert found["score"] == model.score(X, y)


def test_models_without_truths_and_with_several_outputs():
    X = np.random.default_rng(0).normal(size=(60, 2))
    density = KernelDensity().fit(X)

    def mean(model, X, y=None):
        return model.score(X) / len(X)

    found = ClusterBootstrapScorer(mean, returns="interval", n_resamples=99)(density, X)
    assert found["score"] == pytest.approx(density.score_samples(X).mean(), rel=1e-12)
    assert found["ci_low"] < found["score"] < found["ci_high"]
    Y = np.column_stack([X[:, 0], X[:, 1] + 1])
    model = Ridge().fit(X, Y)
    found = ClusterBootstrapScorer("r2", returns="interval", n_resamples=99)(model, X, Y)
    assert found["score"] == model.score(X, Y)
    of_lists = ClusterBootstrapScorer("r2", returns="interval", n_resamples=99)(
        model, X, Y.tolist()
    )
    assert of_lists == found


class Fixed:
    """A model that gives the same answers whatever it is asked."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers


def test_seed_is_fixed_by_default_and_draws_do_not_depend_on_the_model():
    n_rows, n_resamples = 4000, 32
    X, truth = np.zeros((n_rows, 1)), np.arange(n_rows) % 2
    source = CountSource(n_rows)
    assert source.block_size >= n_resamples
    counts = source.draw(np.random.SeedSequence(0, spawn_key=(0,)))[:n_resamples]
    scorer = ClusterBootstrapScorer(
        "accuracy", returns="interval", n_resamples=n_resamples, confidence_level=0.9
    )
    for wrong in (slice(0, 40), slice(30, 500)):  # few distinct rows, yet no other draws
        answers = truth.copy()
        answers[wrong] = 1 - answers[wrong]
        found = scorer(Fixed(answers), X, truth)
        values = 1 - counts[:, wrong].sum(axis=1) / n_rows
        assert found["std_error"] == pytest.approx(values.std(ddof=1), rel=1e-12)
        assert found["ci_low"] == pytest.approx(np.quantile(values, 0.05), rel=1e-12)
        assert scorer(Fixed(answers), X, truth) == found
    fresh = clone(scorer).set_params(random_state=None)
    assert fresh(Fixed(answers), X, truth) != fresh(Fixed(answers), X, truth)


def test_n_jobs_changes_nothing(binary):
    model, X, y = binary
    values = [
        ClusterBootstrapScorer(
            "neg_median_absolute_error", returns="interval", n_resamples=249, n_jobs=n_jobs
        )(model, X, y)
        for n_jobs in (None, 2)
    ]
    assert values[0] == values[1]


# Inside scikit-learn


def test_cross_validate_spreads_the_interval(grouped):
    X, y, _ = grouped
    scorer = ClusterBootstrapScorer("accuracy", returns="interval", n_resamples=99)
    results = cross_validate(LogisticRegression(), X, y, scoring=scorer, cv=3)
    assert {f"test_{key}" for key in KEYS} < set(results)
    expected = cross_val_score(LogisticRegression(), X, y, scoring="accuracy", cv=3)
    np.testing.assert_array_equal(results["test_score"], expected)
    assert (results["test_ci_low"] < results["test_ci_high"]).all()
    np.testing.assert_array_equal(results["test_n_units"], [80, 80, 80])


def test_grid_search_selects_by_the_lower_bound_in_processes(grouped):
    X, y, _ = grouped
    scorer = ClusterBootstrapScorer("roc_auc", returns="lower", n_resamples=99)
    grid = {"C": [1e-4, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scorer, cv=KFold(3), n_jobs=2)
    search.fit(X, y)
    means = [
        np.mean(
            [
                scorer(LogisticRegression(C=C).fit(X[train], y[train]), X[test], y[test])
                for train, test in KFold(3).split(X)
            ]
        )
        for C in grid["C"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert search.best_params_ == {"C": grid["C"][int(np.argmax(means))]}
    assert search.score(X, y) == scorer(search, X, y)


def test_several_metrics_one_of_them_ours(grouped):
    X, y, _ = grouped
    scoring = {
        "low": ClusterBootstrapScorer("neg_log_loss", returns="lower", n_resamples=99),
        "acc": "accuracy",
    }
    results = cross_validate(LogisticRegression(), X, y, scoring=scoring, cv=3)
    expected = cross_val_score(LogisticRegression(), X, y, scoring="neg_log_loss", cv=3)
    assert (results["test_low"] < expected).all()
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, scoring=scoring, refit="low", cv=3
    ).fit(X, y, sample_weight=np.ones(len(y)))
    assert set(search.best_params_) == {"C"}


def test_interval_in_grid_search_is_refitted_by_a_key(grouped):
    X, y, _ = grouped
    scorer = ClusterBootstrapScorer("accuracy", returns="interval", n_resamples=99)
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer, refit="ci_low", cv=3
    ).fit(X, y)
    assert "mean_test_ci_high" in search.cv_results_


def test_parameters_are_nested_and_clones_and_pickles_are_equal(binary):
    model, X, y = binary
    scorer = ClusterBootstrapScorer("roc_auc", returns="lower", n_resamples=99)
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, scoring=scorer)
    assert search.get_params()["scoring__n_resamples"] == 99
    box = 'class="sk-toggleable__control'
    plain = clone(search).set_params(scoring="roc_auc")
    assert search._repr_html_().count(box) == plain._repr_html_().count(box) > 0
    search.set_params(scoring__returns="upper")
    assert scorer.returns == "upper"
    value = scorer(model, X, y)
    assert clone(scorer)(model, X, y) == pickle.loads(pickle.dumps(scorer))(model, X, y) == value
    assert check_scoring(model, scoring=scorer) is scorer
    assert get_scorer(scorer) is scorer


def test_permutation_test_score_works(grouped):
    X, y, _ = grouped
    scorer = ClusterBootstrapScorer("accuracy", returns="lower", n_resamples=99)
    score, permuted, p_value = permutation_test_score(
        LogisticRegression(), X, y, scoring=scorer, cv=3, n_permutations=5, random_state=0
    )
    assert score > permuted.max()
    assert p_value == pytest.approx(1 / 6)


def test_names():
    def own(model, X, y):
        return 1.0

    assert ClusterBootstrapScorer("neg_log_loss").__name__ == "neg_log_loss"
    assert ClusterBootstrapScorer("accuracy", returns="lower").__name__ == "accuracy_lower"
    assert ClusterBootstrapScorer(own, returns="upper").__name__ == "own_upper"
    assert ClusterBootstrapScorer(None, returns="interval").__name__ == "score"
    loss = make_scorer(metrics.mean_absolute_error, greater_is_better=False)
    assert ClusterBootstrapScorer(loss).__name__ == "neg_mean_absolute_error"
    assert ClusterBootstrapScorer("no such metric").__name__ == "ClusterBootstrapScorer"
    assert ClusterBootstrapScorer.__name__ == "ClusterBootstrapScorer"


def test_learning_curve_display_finds_the_name(grouped):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from sklearn.model_selection import LearningCurveDisplay

    X, y, _ = grouped
    pyplot.switch_backend("agg")
    display = LearningCurveDisplay.from_estimator(
        LogisticRegression(),
        X,
        y,
        scoring=ClusterBootstrapScorer("accuracy", returns="lower", n_resamples=39),
        train_sizes=[0.5, 1.0],
        cv=2,
    )
    assert display.ax_.get_ylabel() == "Accuracy lower"
    pyplot.close("all")


def test_accept_sample_weight_says_what_the_metric_does():
    def without(model, X, y):
        return 1.0

    assert ClusterBootstrapScorer("accuracy")._accept_sample_weight() is True
    assert ClusterBootstrapScorer("neg_max_error")._accept_sample_weight() is False
    assert ClusterBootstrapScorer(without)._accept_sample_weight() is False
    assert ClusterBootstrapScorer(None)._accept_sample_weight() is True


# Groups


def folds_seen(results):
    return results["test_n_units"].tolist()


def interval_scorer(**keywords):
    return ClusterBootstrapScorer("accuracy", returns="interval", n_resamples=39, **keywords)


def test_routed_groups_reach_the_scorer(grouped):
    X, y, groups = grouped
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = interval_scorer().set_score_request(groups=True)
        assert clone(scorer).get_metadata_routing().score.requests["groups"] is True
        results = cross_validate(
            LogisticRegression(),
            X,
            y,
            scoring=scorer,
            cv=GroupKFold(3),
            params={"groups": groups},
        )
        assert folds_seen(results) == [20, 20, 20]


def test_routed_groups_with_an_alias_and_in_several_metrics(grouped):
    X, y, groups = grouped
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = interval_scorer().set_score_request(groups="patient")
        results = cross_validate(
            LogisticRegression(),
            X,
            y,
            scoring=scorer,
            cv=KFold(3),
            params={"patient": groups},
        )
        assert folds_seen(results) == [20, 20, 20]
        low = ClusterBootstrapScorer("accuracy", returns="lower", n_resamples=39)
        search = GridSearchCV(
            LogisticRegression(),
            {"C": [0.1, 1]},
            scoring={"low": low.set_score_request(groups=True), "acc": "accuracy"},
            refit="low",
            cv=GroupKFold(3),
        ).fit(X, y, groups=groups)
        train, test = next(GroupKFold(3).split(X, y, groups))
        model = LogisticRegression(C=0.1).fit(X[train], y[train])
        expected = low(model, X[test], y[test], groups=groups[test])
        assert search.cv_results_["split0_test_low"][0] == pytest.approx(expected, rel=1e-12)


def test_routed_sample_weight_reaches_the_scorer(grouped):
    X, y, _ = grouped
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = ClusterBootstrapScorer("accuracy").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        results = cross_validate(
            model, X, y, scoring=scorer, cv=KFold(2), params={"sample_weight": weight}
        )
        train, test = next(KFold(2).split(X))
        expected = (
            LogisticRegression().fit(X[train], y[train]).score(X[test], y[test], weight[test])
        )
        assert results["test_score"][0] == pytest.approx(expected)


def test_groups_that_nobody_requested_are_refused_by_name(grouped):
    X, y, groups = grouped
    scorer = ClusterBootstrapScorer("accuracy", returns="lower")
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, scoring=scorer, cv=GroupKFold(3))
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(UnsetMetadataPassedError, match="ClusterBootstrapScorer"),
    ):
        search.fit(X, y, groups=groups)


def test_without_routing_groups_reach_only_the_splitter(grouped):
    X, y, groups = grouped
    results = cross_validate(
        LogisticRegression(), X, y, scoring=interval_scorer(), cv=GroupKFold(3), groups=groups
    )
    assert folds_seen(results) == [80, 80, 80]
    with pytest.raises(RuntimeError, match="metadata routing is enabled"):
        interval_scorer().set_score_request(groups=True)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_named_by_a_column(grouped, library):
    backend = pytest.importorskip(library)
    X, y, groups = grouped
    columns = {f"x{number}": X[:, number] for number in range(6)}
    frame = backend.DataFrame({**columns, "patient": [f"p{group:02d}" for group in groups]})
    seen = []

    def features(frame):
        seen.append(list(frame.columns))
        return np.asarray(frame[list(columns)])

    model = make_pipeline(FunctionTransformer(features), LogisticRegression())
    results = cross_validate(
        model,
        frame,
        y,
        scoring=interval_scorer(groups="patient"),
        cv=GroupKFold(3),
        groups=groups,
    )
    assert folds_seen(results) == [20, 20, 20]
    assert all("patient" in names for names in seen)  # it stays in X
    arrays = interval_scorer()
    for fold, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        fitted = LogisticRegression().fit(X[train], y[train])
        expected = arrays(fitted, X[test], y[test], groups=groups[test])
        assert results["test_ci_low"][fold] == pytest.approx(expected["ci_low"])


@pytest.mark.parametrize("form", ["series", "dict"])
def test_groups_looked_up_by_the_index_of_shuffled_frames(grouped, form):
    pandas = pytest.importorskip("pandas")
    X, y, groups = grouped
    labels = [f"row{number}" for number in range(240)]
    frame = pandas.DataFrame(X, index=labels).add_prefix("x")
    model = LogisticRegression().fit(frame, y)
    known = pandas.Series(groups, index=labels)
    known = known.sample(frac=1, random_state=3)  # its order does not matter
    scorer = interval_scorer(groups=known if form == "series" else known.to_dict())
    order = np.random.default_rng(0).permutation(240)
    expected = interval_scorer()(model, frame, y, groups=groups)
    assert scorer(model, frame, y)["n_units"] == 60
    assert scorer(model, frame.iloc[order], y[order]) == pytest.approx(expected, rel=1e-12)
    results = cross_validate(
        LogisticRegression(), frame, y, scoring=scorer, cv=GroupKFold(3), groups=groups
    )
    assert folds_seen(results) == [20, 20, 20]


def test_series_of_groups_may_repeat_a_label_but_not_contradict_itself(grouped):
    pandas = pytest.importorskip("pandas")
    X, y, groups = grouped
    frame = pandas.DataFrame(X, index=groups)  # the patient is the index
    model = LogisticRegression().fit(X, y)
    hospital = pandas.Series(groups % 5, index=groups)
    assert interval_scorer(groups=hospital)(model, frame.to_numpy(), y, groups=groups)
    model = LogisticRegression().fit(frame.add_prefix("x"), y)
    assert interval_scorer(groups=hospital)(model, frame.add_prefix("x"), y)["n_units"] == 5
    hospital.iloc[1] = 4
    with pytest.raises(ValueError, match="every index label one group, got several for 0"):
        interval_scorer(groups=hospital)(model, frame.add_prefix("x"), y)


def test_groups_of_the_call_win(binary):
    pandas = pytest.importorskip("pandas")
    _, X, y = binary
    frame = pandas.DataFrame(X).add_prefix("x")
    model = LogisticRegression().fit(frame, y)
    scorer = interval_scorer(groups=dict.fromkeys(range(len(y)), "all"))
    assert scorer(model, frame, y, groups=np.arange(len(y)) // 4)["n_units"] == 30


# Degenerate rows


def check_nan_and_one_warning(scorer, *arguments, match, **keywords):
    for returns in ("interval", "lower", "upper"):
        scorer = clone(scorer).set_params(returns=returns)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = scorer(*arguments, **keywords)
        assert len(caught) == 1
        assert caught[0].category is UndefinedMetricWarning
        message = str(caught[0].message)
        assert match in message
        assert message.endswith("NaN is returned.")
        if returns == "interval":
            assert list(found) == KEYS
            assert np.isnan(list(found.values())).all()
        else:
            assert np.isnan(found)


def test_case_C46_one_cluster_gives_nan_and_the_reason(binary):
    model, X, y = binary
    check_nan_and_one_warning(
        interval_scorer(),
        model,
        X,
        y,
        groups=["a"] * len(y),
        match="accuracy: all rows belong to the one group 'a'",
    )
    # The score alone needs no clusters.
    score = ClusterBootstrapScorer("accuracy")(model, X, y, groups=["a"] * len(y))
    assert score == model.score(X, y)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_undefined_on_the_rows_gives_nan_and_one_warning(name, binary):
    model, X, y = binary
    rows = np.flatnonzero(y == 0)
    scorer = ClusterBootstrapScorer(name, n_resamples=39)
    check_nan_and_one_warning(
        scorer,
        model,
        X[rows],
        y[rows],
        match=f"{name}: it is undefined on these rows, whose truths",
    )


@pytest.mark.parametrize("name", ["neg_log_loss", "roc_auc_ovr", "roc_auc_ovo_weighted"])
def test_missing_class_gives_nan_and_one_warning(name):
    X, y = make_classification(
        n_samples=120, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    model = LogisticRegression().fit(X, y)
    rows = np.flatnonzero(y != 2)
    scorer = ClusterBootstrapScorer(name, n_resamples=39)
    check_nan_and_one_warning(scorer, model, X[rows], y[rows], match=f"{name}: it is undefined")
    with pytest.warns(UndefinedMetricWarning, match="undefined where classes are missing"):
        assert np.isnan(scorer(model, X[rows], y[rows]))


def test_single_row_gives_nan_and_one_warning(binary):
    model, X, y = binary
    check_nan_and_one_warning(
        interval_scorer(), model, X[:1], y[:1], match="at least 2 rows are needed"
    )


def test_undefined_in_every_resample_gives_nan_and_one_warning(binary):
    model, X, y = binary

    def only_on_all_rows(model, X, y):
        return 1.0 if len(np.unique(X[:, 0])) == len(X) else np.nan

    def fails_on_resamples(model, X, y):
        if len(np.unique(X[:, 0])) < len(X):
            raise RuntimeError("no such rows")
        return 1.0

    for scoring, told in ((only_on_all_rows, ""), (fails_on_resamples, " (RuntimeError: no such")):
        scorer = ClusterBootstrapScorer(scoring, n_resamples=39)
        check_nan_and_one_warning(
            scorer,
            model,
            X,
            y,
            match=f"{scoring.__name__}: it is undefined in every resample{told}",
        )


def test_undefined_resamples_are_counted_and_failures_warned_of_once(binary):
    model, X, y = binary
    rows = np.append(np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1])
    scorer = ClusterBootstrapScorer("roc_auc", returns="interval", n_resamples=199)
    found = scorer(model, X[rows], y[rows])
    assert 0.25 < found["n_undefined"] / 199 < 0.5  # (1 - 1 / n) ** n, about 0.36

    def fails_at_times(model, X, y):
        if X[0, 0] == X[1, 0]:
            raise RuntimeError("the first two rows are equal")
        return float(np.mean(y))

    scorer = ClusterBootstrapScorer(fails_at_times, returns="interval", n_resamples=99)
    with pytest.warns(
        UserWarning, match="fails_at_times: RuntimeError: the first two rows are equal .met "
    ):
        found = scorer(model, X, y)
    assert 0 < found["n_undefined"] < 99


def test_a_degenerate_fold_does_not_stop_a_cross_validation(grouped):
    X, y, _ = grouped
    folds = [
        (np.arange(80, 240), np.flatnonzero(y[:80] == 0)),
        (np.arange(160), np.arange(160, 240)),
    ]
    scorer = ClusterBootstrapScorer("roc_auc", returns="interval", n_resamples=39)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = cross_validate(LogisticRegression(), X, y, scoring=scorer, cv=folds)
    assert len(caught) == len(undefined_warnings(caught)) == 1
    for key in KEYS:
        assert np.isnan(results[f"test_{key}"]).tolist() == [True, False]


def test_warnings_of_the_metric_are_passed_on_once(binary):
    model, X, y = binary
    rows = np.flatnonzero((y == 0) & (model.predict(X) == 0))
    scorer = ClusterBootstrapScorer("precision", returns="interval", n_resamples=39)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = scorer(model, X[rows], y[rows])
    assert found["score"] == 0
    assert len(undefined_warnings(caught)) == 1


# Bad input


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"returns": "bound"}, "`returns` must be one of 'score', 'lower', .*, got 'bound'"),
        ({"scoring": "acuracy"}, "`scoring` must be a scorer name .*, got 'acuracy'"),
        ({"scoring": metrics.accuracy_score}, "got the metric function accuracy_score"),
        ({"method": "bootstrap"}, "`method` must be one of .*, got 'bootstrap'"),
        ({"confidence_level": 95}, "`confidence_level` must be a number between 0 and 1, got 95"),
        ({"n_resamples": 38}, "`n_resamples` must be at least 39 for `confidence_level`=0.95"),
        ({"n_resamples": 99.0}, "`n_resamples` must be an integer"),
        ({"random_state": "seed"}, "`random_state` must be"),
        ({"n_jobs": 0}, "`n_jobs` must be"),
    ],
)
@pytest.mark.parametrize("returns", ["score", "interval"])
def test_bad_parameters_are_refused_when_called(keywords, message, returns, binary):
    model, X, y = binary
    scorer = ClusterBootstrapScorer(**{"scoring": "accuracy", "returns": returns, **keywords})
    with pytest.raises(ValueError, match=message):
        scorer(model, X, y)
    whole = clone(scorer).set_params(estimator=LogisticRegression())
    with pytest.raises(ValueError, match=message):
        whole.fit(X, y)


@pytest.mark.parametrize("scoring", [["accuracy", "f1"], {"a": "accuracy"}, 3])
def test_scoring_is_one_metric(scoring, binary):
    with pytest.raises(TypeError, match="`scoring` must be a scorer name, a scorer or None, got"):
        ClusterBootstrapScorer(scoring)(*binary)


def test_scorers_of_several_numbers_are_refused(binary):
    def several(model, X, y):
        return {"a": 1.0}

    for returns in ("score", "lower"):
        with pytest.raises(TypeError, match="must return one (real )?number, got dict"):
            ClusterBootstrapScorer(several, returns=returns)(*binary)


@pytest.mark.parametrize("returns", ["score", "interval"])
def test_bad_groups_are_refused(returns, binary):
    pandas = pytest.importorskip("pandas")
    _, X, y = binary
    frame = pandas.DataFrame(X).add_prefix("x")
    model = LogisticRegression().fit(frame, y)

    def score(groups, X=frame):
        ClusterBootstrapScorer("accuracy", groups=groups, returns=returns)(model, X, y)

    with pytest.raises(ValueError, match="must name a column of X, got 'patient'. X has .*'x0'"):
        score("patient")
    with pytest.raises(TypeError, match="`X` must be a dataframe for `groups`='patient'"):
        score("patient", X)
    known = {number: number // 4 for number in range(len(y)) if number != 7}
    for groups in (known, pandas.Series(known)):
        with pytest.raises(ValueError, match="every label of X's index, got none for 7"):
            score(groups)
        with pytest.raises(TypeError, match="`X` must be a pandas DataFrame for `groups`"):
            score(groups, X)
    with pytest.raises(TypeError, match="`groups` must be the name of a column .*, got ndarray"):
        score(np.arange(len(y)))


def test_bad_data_are_refused_when_drawing(binary):
    pandas = pytest.importorskip("pandas")
    model, X, y = binary
    scorer = interval_scorer()
    with pytest.raises(ValueError, match="`groups` must have one entry per row, 120, got 2"):
        scorer(model, X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="`y` must have one entry per row, 120, got 119"):
        scorer(model, X, y[1:])
    with pytest.raises(ValueError, match="`groups` must be finite and present in every row"):
        scorer(model, X, y, groups=[None] + [1] * 119)
    with pytest.raises(ValueError, match="`sample_weight` must not be negative"):
        scorer(model, X, y, sample_weight=-np.ones(120))
    with pytest.raises(ValueError, match="different pandas indexes"):
        scorer(
            model,
            X,
            pandas.Series(y),
            groups=pandas.Series(np.arange(120), index=np.arange(1, 121)),
        )
    with pytest.raises(NotFittedError):
        scorer(LogisticRegression(), X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        ClusterBootstrapScorer("neg_log_loss", returns="lower")(KMeans(2, n_init=1).fit(X), X, y)


@pytest.mark.parametrize("returns", ["score", "lower"])
def test_weights_for_a_scorer_without_weights_are_refused(returns, binary):
    model, X, y = binary

    def without(model, X, y):
        return 1.0

    with pytest.raises(ValueError, match="`sample_weight` must be None for without, which does"):
        ClusterBootstrapScorer(without, returns=returns)(model, X, y, sample_weight=np.ones(120))


# As an estimator


def test_without_estimator_there_is_no_fit_and_no_score():
    scorer = ClusterBootstrapScorer("accuracy")
    for name in ("fit", "score", "predict", "predict_proba", "decision_function", "classes_"):
        assert not hasattr(scorer, name)
    assert hasattr(scorer, "set_score_request")


def test_with_estimator_it_is_one(grouped):
    X, y, groups = grouped
    wrapped = LogisticRegression()
    whole = ClusterBootstrapScorer("roc_auc", estimator=wrapped, returns="lower", n_resamples=99)
    assert hasattr(whole, "fit")
    assert not hasattr(whole, "classes_")
    with pytest.raises(NotFittedError):
        whole.score(X, y)
    assert whole.fit(X, y) is whole
    assert whole.estimator is wrapped
    assert not hasattr(wrapped, "coef_")
    np.testing.assert_array_equal(whole.classes_, [0, 1])
    assert whole.n_features_in_ == X.shape[1]
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(whole, name)(X), getattr(whole.estimator_, name)(X))
    scorer = ClusterBootstrapScorer("roc_auc", returns="lower", n_resamples=99)
    assert whole.score(X, y, groups=groups) == scorer(whole.estimator_, X, y, groups=groups)
    whole.set_params(returns="interval")
    assert whole.score(X, y) == get_scorer("roc_auc")(whole, X, y)
    assert whole(whole, X, y)["score"] == whole.score(X, y)


def test_estimator_without_probabilities_has_none(continuous):
    _, X, y = continuous
    whole = ClusterBootstrapScorer("r2", estimator=Ridge())
    assert hasattr(whole, "predict")
    assert not hasattr(whole, "predict_proba")
    assert not hasattr(whole.fit(X, y), "classes_")


def test_frozen_estimator_is_kept(binary):
    model, X, y = binary
    whole = ClusterBootstrapScorer("accuracy", estimator=FrozenEstimator(model))
    assert whole.fit(X[:10], y[:10]).score(X, y) == model.score(X, y)


def test_fit_passes_parameters_on(grouped):
    X, y, _ = grouped
    weight = np.where(y == 1, 5.0, 1.0)
    expected = LogisticRegression().fit(X, y, sample_weight=weight).coef_
    whole = ClusterBootstrapScorer("accuracy", estimator=LogisticRegression())
    np.testing.assert_array_equal(whole.fit(X, y, sample_weight=weight).estimator_.coef_, expected)
    with sklearn.config_context(enable_metadata_routing=True):
        wrapped = LogisticRegression().set_fit_request(sample_weight=True)
        whole = ClusterBootstrapScorer("accuracy", estimator=wrapped)
        whole.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(whole.estimator_.coef_, expected)
        whole.fit(X, y)
        assert not np.array_equal(whole.estimator_.coef_, expected)


def test_names_of_features_follow_the_last_fit(grouped):
    pandas = pytest.importorskip("pandas")
    X, y, _ = grouped
    whole = ClusterBootstrapScorer("accuracy", estimator=LogisticRegression())
    whole.fit(pandas.DataFrame(X).add_prefix("x"), y)
    assert whole.feature_names_in_[0] == "x0"
    assert not hasattr(whole.fit(X, y), "feature_names_in_")


def test_groups_are_routed_to_the_score_of_the_whole(grouped):
    X, y, groups = grouped
    whole = ClusterBootstrapScorer(
        "accuracy",
        estimator=make_pipeline(StandardScaler(), LogisticRegression()),
        returns="lower",
        n_resamples=99,
    )
    with sklearn.config_context(enable_metadata_routing=True):
        whole.set_score_request(groups=True)
        results = cross_validate(whole, X, y, cv=GroupKFold(3), params={"groups": groups})
        train, test = next(GroupKFold(3).split(X, y, groups))
        expected = clone(whole).fit(X[train], y[train]).score(X[test], y[test], groups=groups[test])
        assert results["test_score"][0] == pytest.approx(expected, rel=1e-12)
