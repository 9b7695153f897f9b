"""Attacks on cross-validation and on methods that are trained several times."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_validate
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import (
    PairedBootstrapComparator,
    bias_corrected_selection,
    compare_cross_validate,
    compare_cv_results,
    compare_methods,
    compare_runs,
)
from sklearn_pairboot.resampling import BayesianBootstrap, CrossedBootstrap, TwoStageBootstrap

MODELS = {
    "logistic": LogisticRegression(),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
}
FEW = {"n_resamples": 99, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_classification(60, n_features=5, flip_y=0.2, random_state=0)


def recorded(X, y, cv, scoring="accuracy", models=MODELS):
    return {
        name: cross_validate(
            model, X, y, cv=cv, scoring=scoring, return_indices=True, return_estimator=True
        )
        for name, model in models.items()
    }


@pytest.mark.parametrize("correction", ["max-t", "max-t-step-down"])
def test_every_max_t_leaves_the_splits_to_holm(data, correction):
    results = recorded(*data, KFold(4))

    def adjusted(correction):
        found = compare_cross_validate(
            results, *data, scoring="accuracy", correction=correction, **FEW
        )
        return [row.p_adjusted for row in found.split_tests]

    assert adjusted(correction) == adjusted("holm")
    comparator = PairedBootstrapComparator(
        list(MODELS.items()), cv=KFold(4), correction=correction, **FEW
    )
    of_comparator = comparator.fit(*data).result_
    assert [row.p_adjusted for row in of_comparator.split_tests] == adjusted("holm")
    assert of_comparator.replace(correction="holm").replace(correction=correction).split_tests


@pytest.mark.parametrize("correction", ["max-t", "max-t-step-down"])
def test_a_search_has_no_max_t(data, correction):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3).fit(*data)
    expected = "`correction` must be one of 'holm', 'bonferroni', 'fdr', None, got"
    with pytest.raises(ValueError, match=expected):
        compare_cv_results(search, correction=correction)


def test_iterations_of_a_halving_search_are_not_paired(data):
    pytest.importorskip("sklearn.experimental.enable_halving_search_cv")
    from sklearn.model_selection import HalvingGridSearchCV

    grid = {"C": [0.01, 0.1, 1, 10]}
    search = HalvingGridSearchCV(LogisticRegression(), grid, cv=3, min_resources=20, factor=2)
    search.fit(*data)
    assert len(set(search.cv_results_["iter"])) > 1
    with pytest.raises(ValueError, match="must be of one iteration of a halving search"):
        compare_cv_results(search)
    first = np.flatnonzero(search.cv_results_["iter"] == 0).tolist()
    found = compare_cv_results(search, candidates=first)
    assert found.mean_scores == pytest.approx(search.cv_results_["mean_test_score"][first])


def test_candidates_of_a_search_that_are_no_rows(data):
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3).fit(*data)
    with pytest.raises(TypeError, match=r"`candidates` must be a mapping .* got 1\."):
        compare_cv_results(search, candidates=1)


def test_candidates_without_any_score_are_named(data):
    search = GridSearchCV(LogisticRegression(), {"C": [-1, 0.1, 1]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*data)
    with pytest.raises(ValueError, match=r"Without any score: 'C=-1'\. Leave them out"):
        compare_cv_results(search)
    assert len(compare_cv_results(search, candidates=[1, 2]).split_tests) == 1


def test_tests_of_rows_that_were_trained_on_are_noted(data):
    rows = np.arange(60)
    splits = [(rows, rows[:30]), (rows[:30], rows[30:])]
    result = compare_cross_validate(recorded(*data, splits), *data, scoring="accuracy", **FEW)
    expected = "30 of 60 tests are of rows that the same split trains on, in 1 of 2 splits"
    assert any(expected in note for note in result.notes)
    apart = compare_cross_validate(recorded(*data, KFold(2)), *data, scoring="accuracy", **FEW)
    assert not any("trains on" in note for note in apart.notes)


def test_folds_that_scikit_learn_counts_as_zero_are_told_of_case_C07(data):
    X, y = data
    y = np.where(np.arange(60) < 15, 0, y)  # no positive in the first of four folds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = recorded(X, y, KFold(4), "average_precision")
        result = compare_cross_validate(results, X, y, scoring="average_precision", **FEW)
    assert results["tree"]["test_score"][0] == 0
    estimate = {row.model: row.estimate for row in result.scores}["tree"]
    assert estimate == pytest.approx(results["tree"]["test_score"][1:].mean(), abs=1e-15)
    assert any("counts fold(s) 0, in which it is undefined, as 0" in n for n in result.notes)


def test_rows_must_be_given_again(data):
    with pytest.raises(ValueError, match="`X` must be the rows that `cross_validate` was given"):
        compare_cross_validate(recorded(*data, KFold(2)), None, data[1], scoring="accuracy")


@pytest.mark.parametrize(
    ("plan", "groups", "reason"),
    [
        (BayesianBootstrap(), None, "it leaves nothing out"),
        (BayesianBootstrap(), np.arange(30) // 3, "it leaves nothing out"),
        (TwoStageBootstrap(), np.arange(30) // 3, "share a cluster"),
        (CrossedBootstrap(), np.column_stack([np.arange(30) // 3, np.arange(30) % 3]), "share"),
        ("auto", np.column_stack([np.arange(30) // 3, np.arange(30) % 3]), "share a cluster"),
    ],
)
def test_selection_needs_units_that_are_left_out(plan, groups, reason):
    y = np.arange(30) % 2
    answers = {"a": y, "b": 1 - y}
    with pytest.raises(ValueError, match=f"`resampling` must draw whole rows .*{reason}"):
        bias_corrected_selection(
            y, answers, scoring="accuracy", resampling=plan, groups=groups, **FEW
        )


class OnOneTrainingSet(ClassifierMixin, BaseEstimator):
    """Guesses at random, and can be fitted on certain rows alone; keeps what it was fitted on."""

    met = []

    def __init__(self, rows=None, random_state=None):
        self.rows = rows
        self.random_state = random_state

    def fit(self, X, y):
        self.met.append(X)
        if self.rows is not None and not np.array_equal(X, self.rows):
            raise ValueError("other rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.default_rng(self.random_state).choice(self.classes_, len(X))


def test_one_training_resample_that_is_left_is_not_taken_for_several(data):
    X, y = data
    options = {"scoring": "accuracy", "n_seeds": 3, "n_train_resamples": 3, **FEW}
    compare_methods({"guess": OnOneTrainingSet()}, X, y, X, y, **options)
    only = OnOneTrainingSet(OnOneTrainingSet.met[0])
    with pytest.warns(FitFailedWarning, match="other rows"):
        found = compare_methods({"guess": only}, X, y, X, y, **options)
    assert (found.n_sets, found.n_seeds, found.resampled_training) == (1, 3, False)
    assert any("on one resample of the training rows alone" in note for note in found.notes)
    # The same table, of seeds alone, says how large the error is.
    scores = np.array(
        [
            np.random.default_rng(fit["seed"]).choice([0, 1], len(y)) == y
            for fit in found.training["fits"]
        ]
    )
    alone = compare_runs({"guess": scores.astype(int)}, **FEW)
    row, of_table = found.scores[0], alone.scores[0]
    assert row.estimate == pytest.approx(of_table.estimate)
    assert row.average.std_error == pytest.approx(of_table.average.std_error)


def test_one_training_set_is_no_resample_of_others():
    table = np.arange(24.0).reshape(1, 3, 8)
    with pytest.raises(ValueError, match="`resampled_training` must be False where the scores are"):
        compare_runs({"a": table, "b": table**2}, resampled_training=True, **FEW)


def test_masked_scores_are_missing():
    table = np.arange(24.0).reshape(3, 8)
    masked = np.ma.masked_greater(table, 22)
    with pytest.raises(ValueError, match="Scores of method 'a' must be present .* got 1 masked"):
        compare_runs({"a": masked, "b": table}, **FEW)
    nothing_masked = np.ma.masked_greater(table, 99)
    assert compare_runs({"a": nothing_masked}, **FEW).scores[0].estimate == table.mean()


def test_runs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="must have the same number of items in every run"):
        compare_runs({"a": [[1, 2, 3], [1, 2]], "b": [[1, 2, 3], [1, 2, 3]]}, **FEW)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_items_of_frames_are_not_paired_across_names(library):
    frames = pytest.importorskip(library)
    table = {"q1": [1.0, 0.0], "q2": [0.0, 1.0], "q3": [1.0, 1.0]}
    first = frames.DataFrame(table)
    other = frames.DataFrame({name: table[name] for name in ("q2", "q1", "q3")})
    with pytest.raises(ValueError, match="'a' and 'b' have different columns"):
        compare_runs({"a": first, "b": other}, **FEW)
    same = compare_runs({"a": first, "b": first}, **FEW).differences[0]
    assert (same.estimate, same.average.p_value) == (0, 1)


@pytest.mark.parametrize("splitter", [KFold(3, shuffle=True), ShuffleSplit(3, test_size=0.3)])
def test_splitters_inside_methods_are_seeded(data, splitter):
    X, y = data
    grid = {"max_depth": [1, 2, 3]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=splitter)
    seeds = []

    def inner_seed(estimator, X, y):
        seeds.append((estimator.cv.random_state, estimator.estimator.random_state))
        return estimator.score(X, y)

    options = {"scoring": inner_seed, "n_seeds": 3, **FEW}
    first, second = (compare_methods({"search": search}, X, y, X, y, **options) for _ in "ab")
    assert repr(first) == repr(second)
    assert len(set(seeds)) == 3
    assert all(inner is not None and inner != of_tree for inner, of_tree in seeds)
    assert splitter.random_state is None


def test_splitters_that_do_not_shuffle_are_no_randomness(data):
    X, y = data
    search = GridSearchCV(LinearDiscriminantAnalysis(), {"shrinkage": [None]}, cv=KFold(3))
    with pytest.raises(ValueError, match="nothing of training would vary"):
        compare_methods({"search": search}, X, y, X, y, scoring="accuracy", **FEW)
    shuffled = clone(search).set_params(cv=KFold(3, shuffle=True))
    found = compare_methods({"search": shuffled}, X, y, X, y, scoring="accuracy", **FEW)
    assert found.n_seeds == 5


@pytest.mark.parametrize("name", ["X_train", "X_test"])
def test_missing_rows_are_named(data, name):
    X, y = data
    rows = {"X_train": X, "y_train": y, "X_test": X, "y_test": y} | {name: None}
    with pytest.raises(ValueError, match=f"`{name}` must be a table of rows, got None"):
        compare_methods({"tree": DecisionTreeClassifier()}, **rows, scoring="accuracy", **FEW)
