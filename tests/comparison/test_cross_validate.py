"""From the output of cross_validate, or of a search, to a comparison."""

import warnings

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    compare_cross_validate,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot.inference import corrected_resampled_ttest

CALL = r"Call cross_validate\(\.\.\., return_indices=True, return_estimator=True\)\."


def tree(depth=2):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


MODELS = {"shallow": tree(1), "deep": tree(4)}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        n_samples=150, n_features=5, n_informative=3, flip_y=0.1, random_state=3
    )
    return X, y, np.random.default_rng(0).integers(0, 20, 150)


def validated(X, y, cv, models=MODELS, scoring=None, **options):
    return {
        name: cross_validate(
            model,
            X,
            y,
            cv=cv,
            scoring=scoring,
            return_indices=True,
            return_estimator=True,
            **options,
        )
        for name, model in models.items()
    }


def compared(results, X, y, scoring="accuracy", **options):
    options = {"n_resamples": 99, "random_state": 0} | options
    return compare_cross_validate(results, X, y, scoring=scoring, **options)


def notes_of(result):
    return " | ".join(result.notes)


class Given(ClassifierMixin, BaseEstimator):
    """Answers with what the first column of X says, however it was trained."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


# Point estimates


SPLITTERS = {
    "folds": KFold(4),
    "shuffled": KFold(4, shuffle=True, random_state=1),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "groups": GroupKFold(5),
    "group shuffles": GroupShuffleSplit(4, test_size=0.3, random_state=0),
    "time": TimeSeriesSplit(4),
    "overlapping": ShuffleSplit(6, test_size=0.3, random_state=0),
}


def made_splits(name, X, y, groups):
    grouped = name.startswith("group")
    return list(SPLITTERS[name].split(X, y, groups if grouped else None))


METRICS = ["accuracy", "neg_log_loss", "roc_auc", "f1"]


@pytest.mark.parametrize("name", SPLITTERS)
def test_estimates_are_those_of_cross_validate_req_E19(data, name):
    X, y, groups = data
    splits = made_splits(name, X, y, groups)
    results = validated(X, y, splits, scoring=METRICS)
    result = compared(results, X, y, METRICS)
    assert len(result.scores) == len(METRICS) * len(MODELS)
    for row in result.scores:
        key = f"test_{row.metric}" if row.greater_is_better else f"test_neg_{row.metric}"
        reported = results[row.model][key].mean() * (1 if row.greater_is_better else -1)
        assert row.estimate == pytest.approx(reported, rel=1e-15, abs=1e-15)
    assert "are not the" not in notes_of(result)


def test_own_score_of_regressors(data):
    X, y, _ = data
    models = {"mean": DummyRegressor(), "line": LinearRegression()}
    results = validated(X, X[:, 0] + y, 4, models)
    result = compared(results, X, X[:, 0] + y, None)
    for row in result.scores:
        assert row.metric == "r2_score" or row.metric == "r2"
        assert row.estimate == pytest.approx(results[row.model]["test_score"].mean(), rel=1e-14)


def several(estimator, X, y):
    answers = estimator.predict(X)
    return {"right": float(np.mean(answers == y)), "ones": float(np.mean(answers))}


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_all_forms_of_keys_case_C138(data, aggregate):
    X, y, _ = data
    cv = KFold(3)
    single = validated(X, y, cv, scoring="accuracy")
    multiple = validated(X, y, cv, scoring={"mine": "accuracy"})
    by_name = validated(X, y, cv, scoring=several)
    assert "test_score" in single["deep"]
    assert "test_right" in by_name["deep"]
    assert isinstance(single["deep"]["indices"]["test"], tuple)
    a = compared(single, X, y, "accuracy", aggregate=aggregate)
    b = compared(multiple, X, y, {"mine": "accuracy"}, aggregate=aggregate)
    c = compared(by_name, X, y, several, aggregate=aggregate)
    assert c.metrics == compared(single, X, y, several).metrics == ("right", "ones")
    np.testing.assert_array_equal(a.replicates, b.replicates)
    np.testing.assert_allclose(c.replicates[:, :1], a.replicates, rtol=1e-12)
    for row in c.scores if aggregate == "folds" else ():
        reported = by_name[row.model][f"test_{row.metric}"].mean()
        assert row.estimate == pytest.approx(reported, rel=1e-15)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_comparator_says_the_same(data, scoring, clustered):
    X, y, groups = data
    groups = groups if clustered else None
    splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y))
    result = compared(validated(X, y, splits), X, y, scoring, groups=groups)
    fitted = PairedBootstrapComparator(
        list(MODELS.items()), scoring=scoring, cv=splits, refit=False, n_resamples=99,
        random_state=0,
    ).fit(X, y, groups=groups)  # fmt: skip
    np.testing.assert_array_equal(result.replicates, fitted.result_.replicates)
    assert result.split_tests == fitted.result_.split_tests
    assert result.held_fixed == fitted.result_.held_fixed


# What is estimated


def out_of_fold(results, X, y):
    """Rows, answers and probabilities of all folds, one after the other."""
    rows = np.concatenate(results["indices"]["test"])
    parts = list(zip(results["estimator"], results["indices"]["test"], strict=True))
    labels = np.concatenate([model.predict(X[test]) for model, test in parts])
    scores = np.concatenate([model.predict_proba(X[test]) for model, test in parts])
    return rows, labels, scores


@pytest.mark.parametrize("name", SPLITTERS)
def test_pooled_is_scikit_learns_metric_with_shared_weights_case_C72(data, name):
    X, y, groups = data
    splits = made_splits(name, X, y, groups)
    results = validated(X, y, splits)
    result = compared(results, X, y, ["accuracy", "neg_log_loss", "roc_auc"], aggregate="pooled")
    found = {(row.metric, row.model): row.estimate for row in result.scores}
    for model in MODELS:
        rows, labels, scores = out_of_fold(results[model], X, y)
        weight = 1 / np.bincount(rows)[rows]
        expected = {
            "accuracy": accuracy_score(y[rows], labels, sample_weight=weight),
            "log_loss": log_loss(y[rows], scores, sample_weight=weight),
            "roc_auc": roc_auc_score(y[rows], scores[:, 1], sample_weight=weight),
        }
        for metric, value in expected.items():
            assert found[metric, model] == pytest.approx(value, rel=1e-12)
    assert result.n_rows == result.n_units == len(np.unique(rows))
    assert result.unit == "rows"
    assert "(pooled)" in result.summary()


def test_pooled_answers_are_those_of_cross_val_predict(data):
    """The documented route from cross_val_predict, which leads to the same numbers."""
    X, y, groups = data
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    pooled = compared(
        validated(X, y, splits), X, y, groups=groups, aggregate="pooled", permutation=True
    )
    answers = {name: cross_val_predict(model, X, y, cv=splits) for name, model in MODELS.items()}
    options = {"scoring": "accuracy", "groups": groups, "n_resamples": 99, "random_state": 0}
    same = compare_predictions(y, answers, permutation=True, **options)
    np.testing.assert_array_equal(pooled.replicates, same.replicates)
    assert pooled.differences == same.differences
    assert same.split_tests == ()


def test_repeated_answers_of_cross_val_predict_go_by_row_number(data):
    X, y, _ = data
    runs = [list(KFold(3, shuffle=True, random_state=seed).split(X)) for seed in range(2)]
    results = validated(X, y, runs[0] + runs[1])
    pooled = compared(results, X, y, aggregate="pooled", method="bca")
    answers = {
        name: np.concatenate([cross_val_predict(model, X, y, cv=run) for run in runs])
        for name, model in MODELS.items()
    }
    same = compare_predictions(
        np.tile(y, 2), answers, groups=np.tile(np.arange(len(y)), 2), scoring="accuracy",
        n_resamples=99, random_state=0, method="bca",
    )  # fmt: skip
    np.testing.assert_allclose(pooled.replicates, same.replicates, rtol=1e-13)
    for a, b in zip(pooled.differences, same.differences, strict=True):
        assert (a.ci_low, a.ci_high) == pytest.approx((b.ci_low, b.ci_high), rel=1e-12)


def test_a_row_tested_twice_is_one_row_case_C72():
    """Correct [1,0,1,0] and then [1,1,1,0]: per row [1, .5, 1, 0], SE .2073 and not .1712."""
    y = np.ones(4, dtype=int)
    splits = [(np.arange(4, 8), np.arange(4))] * 2
    X, truths = np.zeros((8, 1)), np.array([1, 1, 1, 1, 0, 1, 0, 1])
    results = validated(X, truths, splits, {"m": DummyClassifier(strategy="most_frequent")})
    answers = ([1, 0, 1, 0], [1, 1, 1, 0])
    for number, given in enumerate(answers):
        results["m"]["estimator"][number] = Fixed(given)
    result = compared(results, X, truths, aggregate="pooled", n_resamples="exact")
    (row,) = result.scores
    assert row.estimate == 0.625
    assert row.std_error == pytest.approx(np.std(np.mean(answers, axis=0)) / 2, rel=1e-12)
    assert round(row.std_error, 4) == 0.2073
    by_item = compare_scores({"m": np.mean(answers, axis=0)}, n_resamples="exact")
    assert row.std_error == pytest.approx(by_item.scores[0].std_error, rel=1e-12)
    assert "Rows are tested 2 times on average" in notes_of(result)
    assert y.sum() == 4


class Fixed(ClassifierMixin, BaseEstimator):
    """Answers with given labels."""

    def __init__(self, answers=()):
        self.answers = answers
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.array(self.answers)[: len(X)]


def test_unequal_folds_case_C79():
    """One fold of one right row, one of nine wrong ones: .5 by folds and .1 pooled."""
    y = np.array([1, *[0] * 9])
    splits = [(np.arange(1, 10), np.array([0])), (np.array([0]), np.arange(1, 10))]
    X = np.ones((10, 1))
    results = validated(X, y, splits, {"m": Given()})
    (by_fold,) = compared(results, X, y).scores
    (pooled,) = compared(results, X, y, aggregate="pooled").scores
    assert by_fold.estimate == 0.5
    assert pooled.estimate == pytest.approx(0.1, rel=1e-15)


def test_rows_that_are_never_tested_are_not_filled_case_C71():
    X, y = np.array([[1.0], [0], [1], [0], [1], [1]]), np.array([1, 0, 1, 1, 1, 1])
    results = validated(X, y, TimeSeriesSplit(2), {"m": Given()})
    assert [list(rows) for rows in results["m"]["indices"]["test"]] == [[2, 3], [4, 5]]
    for aggregate in ("folds", "pooled"):
        result = compared(results, X, y, aggregate=aggregate)
        assert result.scores[0].estimate == 0.75
        assert result.n_rows == result.n_units == 4
        assert "4 of 6 rows were tested; 2 are in no test fold" in notes_of(result)
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(Given(), X, y, cv=TimeSeriesSplit(2))


def test_what_is_estimated_is_said_req_A28(data):
    X, y, _ = data
    results = validated(X, y, KFold(3))
    by_folds = " ".join(compared(results, X, y).summary().split())
    pooled = " ".join(compared(results, X, y, "roc_auc", aggregate="pooled").summary().split())
    assert "Estimated is the mean over 3 test folds of each fold's score" in by_folds
    assert "every fold counts the same" in by_folds
    assert "Estimated is the score of all 150 out-of-fold answers together (pooled)" in pooled
    assert "Ranks compare answers of models of different folds" in pooled
    assert "the models fitted on 3 training part(s), and the splits; retraining" in by_folds


def test_the_docstring_answers_what_is_believed_of_folds_req_A29_req_D22_req_E20():
    text = " ".join(compare_cross_validate.__doc__.split())
    assert "is no 95 % confidence interval. Fold scores share training rows" in text
    assert "two of k folds have (k - 2) / (k - 1) of them in common" in text
    assert "from 1/k to 1/k + n_test/n_train" in text
    assert "Cross-validation that has chosen a model" in text
    assert "would these fitted models differ on other rows" in text


def test_weights_are_those_of_scikit_learn(data):
    X, y, _ = data
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    results = validated(X, y, KFold(3))
    result = compared(results, X, y, ["accuracy", "neg_log_loss"], sample_weight=weight)
    scorer = get_scorer("accuracy")
    folds = list(zip(results["deep"]["estimator"], results["deep"]["indices"]["test"], strict=True))
    values = [scorer(m, X[rows], y[rows], sample_weight=weight[rows]) for m, rows in folds]
    assert result.scores[1].estimate == pytest.approx(np.mean(values), rel=1e-14)
    assert result.weighted
    pooled = compared(results, X, y, sample_weight=weight, aggregate="pooled").scores[1]
    expected = cross_val_predict(tree(4), X, y, cv=KFold(3))
    assert pooled.estimate == pytest.approx(
        accuracy_score(y, expected, sample_weight=weight), rel=1e-13
    )


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_replayed_scorers_equal_the_fast_ones(data, aggregate):
    X, y, groups = data
    splits = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X))
    results = validated(X, y, splits)

    def right(estimator, X, y):
        assert X.shape[1] == 5
        return float(np.mean(estimator.predict(X) == y))

    options = {"aggregate": aggregate, "groups": groups, "n_resamples": 40, "confidence_level": 0.9}
    slow = compared(results, X, y, right, **options)
    fast = compared(results, X, y, **options)
    assert slow.paths == {"right": "replay"}
    np.testing.assert_allclose(slow.replicates, fast.replicates, rtol=1e-12)


def test_swapping_models_mirrors_the_result(data):
    X, y, _ = data
    results = validated(X, y, KFold(3))
    a = compared(results, X, y)
    b = compared(dict(reversed(results.items())), X, y)
    assert a.differences[0].difference == -b.differences[0].difference
    assert a.split_tests[0].statistic == pytest.approx(-b.split_tests[0].statistic)
    twins = compared({"a": results["deep"], "b": results["deep"]}, X, y)
    (row,), (test,) = twins.differences, twins.split_tests
    assert (row.difference, row.ci_low, row.ci_high, row.p_value) == (0, 0, 0, 1)
    assert (test.difference, test.p_value) == (0, 1)


# Splits


def test_models_on_other_splits_are_refused_case_C75(data):
    X, y, _ = data
    cv = KFold(2, shuffle=True, random_state=np.random.RandomState(0))
    results = validated(X, y, cv)
    message = (
        r"same splits, got other test rows in fold 0 \(counted from 0\) for model 'deep' than for "
        r"model 'shallow'\. .* splits = list\(cv\.split\(X, y, groups\)\), and pass cv=splits"
    )
    with pytest.raises(ValueError, match=message):
        compared(results, X, y)
    shared = list(cv.split(X, y))
    assert compared(validated(X, y, shared), X, y).n_rows == len(y)
    fewer = validated(X, y, KFold(3), {"shallow": tree(1)}) | validated(
        X, y, KFold(4), {"deep": tree(4)}
    )
    with pytest.raises(ValueError, match="another number of folds, 4 and not 3, for model 'deep'"):
        compared(fewer, X, y)


def test_splits_of_the_case_C75():
    cv = KFold(2, shuffle=True, random_state=np.random.RandomState(0))
    first, second = ([test.tolist() for _, test in cv.split(np.zeros(6))] for _ in range(2))
    assert first == [[1, 2, 5], [0, 3, 4]]
    assert second == [[1, 3, 4], [0, 2, 5]]


@pytest.mark.parametrize("missing", ["indices", "estimator"])
def test_what_is_missing_is_asked_for_case_C138(data, missing):
    X, y, _ = data
    results = validated(X, y, 3)
    del results["deep"][missing]
    with pytest.raises(ValueError, match=f"'{missing}' for model 'deep', got .*{CALL}"):
        compared(results, X, y)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda results: [1], TypeError, "`results` must be a mapping from model names"),
        (lambda results: {}, ValueError, "At least one model"),
        (lambda results: results["deep"], ValueError, "got that of one model. Pass"),
        (lambda results: {"a": 1}, TypeError, "got int for model 'a'"),
    ],
)
def test_bad_results_are_refused(data, change, kind, message):
    X, y, _ = data
    with pytest.raises(kind, match=message):
        compared(change(validated(X, y, 3)), X, y)


def test_bad_choices_are_refused(data):
    X, y, groups = data
    results = validated(X, y, 3)
    with pytest.raises(ValueError, match=r"`X` must hold all rows .* got 100 where .* reach row"):
        compared(results, X[:100], y[:100])
    with pytest.raises(ValueError, match="`X`"):
        compared(results, X, y[:-1])
    with pytest.raises(ValueError, match="`aggregate` must be one of 'folds', 'pooled', got 'me"):
        compared(results, X, y, aggregate="mean")
    with pytest.raises(ValueError, match="`permutation` must be False .* aggregate='pooled'"):
        compared(results, X, y, permutation=True)
    with pytest.raises(ValueError, match="`groups`"):
        compared(results, X, y, groups=groups[:-1])
    with pytest.raises(ValueError, match="`baseline` must be the name of a model"):
        compared(results, X, y, baseline="best")
    results["deep"]["estimator"] = results["deep"]["estimator"][:2]
    with pytest.raises(ValueError, match="one estimator a fold, got 2 for the 3 folds of .*'deep'"):
        compared(results, X, y)


def test_rows_in_another_order_are_noticed(data):
    X, y, _ = data
    named = validated(X, y, 3, scoring=["accuracy"])
    with pytest.warns(UserWarning, match=r"accuracy: \d of 6 fold scores are not the 'test_accu"):
        compared(named, X[::-1], y[::-1], ["accuracy"])
    single = compared(validated(X, y, 3), X, y, "f1")  # another metric than was recorded
    assert "f1: 6 of 6 fold scores are not the 'test_score'" in notes_of(single)


def test_groups_torn_apart_are_noted(data):
    X, y, groups = data
    splits = list(KFold(3).split(X))
    result = compared(validated(X, y, splits), X, y, groups=groups)
    assert result.unit == "clusters"
    assert result.n_units == 20
    assert "tears them apart" in notes_of(result)


def test_nothing_given_is_changed(data):
    X, y, groups = (np.array(part) for part in data)
    results = validated(X, y, 3)
    keys = {name: set(of_model) for name, of_model in results.items()}
    for part in (X, y, groups):
        part.setflags(write=False)
    compared(results, X, y, groups=groups, aggregate="pooled")
    assert {name: set(of_model) for name, of_model in results.items()} == keys


# Failures


def failing(X, y, rows):
    """Results of which one model's fits fail wherever the given row is trained on."""
    splits = list(KFold(3).split(X))
    results = validated(X, y, splits)
    for number, (train, _) in enumerate(splits):
        if np.isin(rows, train).any():
            results["deep"]["estimator"][number] = tree(4)  # as scikit-learn leaves it
            results["deep"]["test_score"][number] = np.nan
    return results


def test_a_failed_fit_leaves_its_fold_out_for_all_case_C77(data):
    X, y, _ = data
    results = failing(X, y, [])
    results["deep"]["estimator"][1] = tree(4)
    message = r"Fits failed: deep in fold\(s\) 1 \(counted from 0\)\. 1 of 3 folds are left out"
    with pytest.warns(FitFailedWarning, match=message):
        result = compared(results, X, y)
    for row in result.scores:
        kept = np.delete(results[row.model]["test_score"], 1)
        assert row.estimate == pytest.approx(kept.mean(), rel=1e-15)
    assert result.n_rows == 100
    assert result.split_tests[0].df == 1
    with pytest.warns(FitFailedWarning):
        pooled = compared(results, X, y, aggregate="pooled")
    assert pooled.n_rows == 100


def test_all_fits_failed_case_C77(data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"got none\. Fits failed: deep in fold\(s\) 0, 1, 2"):
        compared(failing(X, y, np.arange(150)), X, y)


def test_scikit_learn_leaves_what_failed_unfitted_case_C77(data):
    X, y, _ = data

    class Sometimes(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None, check_input=True):
            if X[0, 0] == first:
                raise ValueError("no")
            return super().fit(X, y)

    first = X[50, 0]  # the first training row of fold 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = validated(X, y, KFold(3), {"a": tree(), "b": Sometimes()})
    assert np.isnan(results["b"]["test_score"]).tolist() == [True, False, False]
    with pytest.warns(FitFailedWarning, match=r"b in fold\(s\) 0"):
        compared(results, X, y)


def test_one_scorer_fails_and_the_other_metrics_are_kept_case_C77(data):
    X, y, _ = data
    models = {"svc": LinearSVC(), "tree": tree()}
    results = validated(X, y, 3, models)
    for of_model in results.values():
        of_model["test_accuracy"] = of_model.pop("test_score")
        of_model["test_neg_brier_score"] = np.zeros(3)
    results["svc"]["test_neg_brier_score"] = np.full(3, np.nan)
    scoring = ["accuracy", "neg_brier_score"]
    for aggregate in ("folds", "pooled"):
        with pytest.warns(UndefinedMetricWarning, match="brier_score has no value in any .*left o"):
            result = compared(results, X, y, scoring, aggregate=aggregate)
        assert result.metrics == ("accuracy",)
        assert "needs predict_proba, which model 'svc'" in notes_of(result)
    with pytest.raises(AttributeError, match="brier_score needs predict_proba, which model 'svc'"):
        compared(validated(X, y, 3, models), X, y, "neg_brier_score")


def test_a_scorer_that_failed_in_one_fold_is_told_of_case_C77(data):
    X, y, _ = data

    def moody(estimator, X, y):
        if X[0, 0] == first:
            raise RuntimeError("bad mood")
        return float(np.mean(estimator.predict(X) == y))

    first = X[50, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = validated(X, y, KFold(3), scoring={"moody": moody})
    assert np.isnan(results["deep"]["test_moody"]).tolist() == [False, True, False]
    message = r"moody is undefined in 1 of 3 test folds, 1 .* Scoring failed in fold\(s\) 1, .*mood"
    with pytest.warns(UndefinedMetricWarning, match=message):
        result = compared(results, X, y, {"moody": moody})
    for row in result.scores:
        assert row.estimate == pytest.approx(np.nanmean(results[row.model]["test_moody"]))


def test_a_class_with_one_member_case_C81():
    X, y = np.arange(10.0).reshape(-1, 1), np.array([0] * 9 + [1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = validated(X, y, KFold(3), {"m": LogisticRegression()}, "roc_auc")
    assert np.isnan(results["m"]["test_score"]).all()
    message = (
        r"roc_auc must be defined in some test fold, got no value in any for model\(s\) 'm'\. "
        r"All truths are equal in fold\(s\) 0, 1\."
    )
    with (
        pytest.warns(FitFailedWarning, match=r"m in fold\(s\) 2"),
        pytest.raises(ValueError, match=message),
    ):
        compared(results, X, y, "roc_auc")


def test_pooled_needs_no_class_in_every_fold(data):
    X, y, _ = data
    X, y = X[:40], y[:40]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = validated(X, y, LeaveOneOut())
    result = compared(results, X, y, "roc_auc", aggregate="pooled")
    scores = cross_val_predict(tree(4), X, y, cv=LeaveOneOut(), method="predict_proba")[:, 1]
    assert result.scores[1].estimate == pytest.approx(roc_auc_score(y, scores), rel=1e-14)
    assert result.split_tests == ()


def test_models_that_know_fewer_classes_give_them_no_probability():
    X = np.arange(9.0).reshape(-1, 1)
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 0])
    known, all_classes = np.array([0, 1, 3, 4]), np.array([2, 5, 6, 7, 8])
    splits = [(known, all_classes), (all_classes, known)]
    results = validated(X, y, splits, {"m": tree()})
    result = compared(results, X, y, "accuracy", aggregate="pooled")
    rows = np.concatenate(results["m"]["indices"]["test"])
    answers = np.empty(9, dtype=int)
    answers[rows] = np.concatenate(
        [m.predict(X[test]) for m, (_, test) in zip(results["m"]["estimator"], splits, strict=True)]
    )
    assert result.scores[0].estimate == pytest.approx(np.mean(answers == y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cross_val_predict(tree(), X, y, cv=splits, method="predict_proba")
    pooled = compared(results, X, y, "neg_log_loss", aggregate="pooled")
    assert pooled.scores[0].estimate == pytest.approx(log_loss(y, expected), rel=1e-12)


# The test of the splits


def test_split_tests_are_nadeau_and_bengios_req_D14_req_E20(data):
    X, y, _ = data
    splits = list(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0).split(X))
    results = validated(X, y, splits, scoring="neg_log_loss")
    result = compared(results, X, y, "neg_log_loss", aggregate="pooled")
    (row,) = result.split_tests
    losses = {name: -of_model["test_score"] for name, of_model in results.items()}
    d = losses["deep"] - losses["shallow"]
    t = d.mean() / np.sqrt((1 / 10 + 30 / 120) * d.var(ddof=1))
    assert row.difference == pytest.approx(d.mean(), rel=1e-12)
    assert (row.statistic, row.df) == (pytest.approx(t, rel=1e-10), 9)
    assert row.p_value == pytest.approx(2 * stats.t(9).sf(abs(t)), rel=1e-9)
    assert not row.greater_is_better
    assert row.is_better == (d.mean() < 0)
    naive = stats.ttest_1samp(d, 0).pvalue
    assert row.p_value > naive  # folds that share rows are not independent
    text = " ".join(result.summary().split())
    assert "corrected resampled t test of 10 splits, which is about methods trained on" in text


def test_split_tests_follow_the_reading_and_survive_json(data):
    X, y, _ = data
    models = MODELS | {"middle": tree(2)}
    result = compared(validated(X, y, KFold(4), models), X, y, pairs="all", correction="max-t")
    assert [(row.model, row.baseline) for row in result.split_tests] == [
        (row.model, row.baseline) for row in result.differences
    ]
    p = np.array([row.p_value for row in result.split_tests])
    order = np.argsort(p)
    holm = np.empty(3)
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * [3, 2, 1]), 1)
    assert [row.p_adjusted for row in result.split_tests] == pytest.approx(holm.tolist())
    for replicates in (False, True):
        again = ComparisonResult.from_json(result.to_json(replicates=replicates))
        assert again.split_tests == result.split_tests
        assert again.summary() == result.summary()
        assert again.to_markdown() == result.to_markdown()
    other = again.replace(baseline="middle", pairs="baseline", alternative="better")
    assert {row.baseline for row in other.split_tests} == {"middle"}
    assert other.split_tests[0].ci_high == np.inf
    narrow = again.replace(confidence_level=0.5).split_tests[0]
    assert narrow.ci_high < result.split_tests[0].ci_high
    both = again.replace(family="all")
    assert both.split_tests == result.split_tests  # one metric is one family


def test_verdicts_that_are_not_shown_for_the_methods_are_named(data):
    """Two splits leave one degree of freedom: the t test cannot agree."""
    X, y, _ = data
    models = {"prior": DummyClassifier(strategy="constant", constant=0), "deep": tree(4)}
    sentence = "Not shown to hold for the methods: the verdict(s) on accuracy (deep - prior)"
    few = compared(validated(X, y, StratifiedKFold(2), models), X, y)
    assert few.differences[0].verdict == "better"
    assert few.split_tests[0].p_adjusted > 0.05
    assert sentence in " ".join(few.summary().split())
    more = compared(validated(X, y, StratifiedKFold(10), models), X, y)
    assert more.differences[0].verdict == "better"
    assert more.split_tests[0].p_adjusted < 0.05
    assert "Not shown to hold" not in more.summary()


def test_a_split_without_a_value_takes_no_part_in_its_test(data):
    X, y, _ = data
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    splits = [split for _, split in zip(range(3), KFold(3).split(X), strict=False)]
    splits += list(StratifiedKFold(3).split(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = validated(X, y, splits)
    with pytest.warns(UndefinedMetricWarning, match=r"undefined in 2 of 6 test folds, 0, 2"):
        result = compared(results, X, y, "roc_auc")
    fitted = {name: of_model["estimator"] for name, of_model in results.items()}
    values = [
        [
            roc_auc_score(y[test], fitted[name][k].predict_proba(X[test])[:, 1])
            for k, (_, test) in enumerate(splits)
            if len(np.unique(y[test])) == 2
        ]
        for name in MODELS
    ]
    test = corrected_resampled_ttest(np.subtract(values[1], values[0]), n_train=100, n_test=50)
    assert result.split_tests[0].df == 3
    assert result.split_tests[0].p_value == pytest.approx(test.p_value, rel=1e-9)


def test_scorers_without_weights_need_equally_often_tested_rows(data):
    X, y, _ = data
    splits = list(ShuffleSplit(3, test_size=0.5, random_state=0).split(X))
    results = validated(X, y, splits)
    unweighted = make_scorer(lambda y, p: float(np.mean(y == p)))
    with pytest.raises(
        ValueError, match=r"cannot share the weight .*takes no weights.*aggregate='folds'"
    ):
        compared(results, X, y, unweighted, aggregate="pooled")


# Metadata routing


@pytest.mark.parametrize("routing", [False, True])
def test_groups_of_nested_searches_and_splitters_case_C83_case_C84(data, routing):
    X, y, groups = data
    inner = GridSearchCV(tree(), {"max_depth": [1, 3]}, cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=routing):
        given = {"params": {"groups": groups}} if routing else {"groups": groups}
        results = validated(X, y, GroupKFold(4), **given)
        assert compared(results, X, y, groups=groups).unit == "clusters"
        if routing:
            nested = validated(X, y, GroupKFold(4), {"search": inner, "tree": tree()}, **given)
            result = compared(nested, X, y, groups=groups)
            assert nested["search"]["estimator"][0].n_splits_ == 3
            assert result.scores[0].estimate == pytest.approx(
                nested["search"]["test_score"].mean(), rel=1e-14
            )
        else:
            with pytest.raises(ValueError, match="groups"):
                validated(X, y, GroupKFold(4), {"search": inner}, error_score="raise", **given)


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_req_E05_few_distinct_scores_are_noted(data, aggregate):
    X, y, _ = data
    models = {"shallow": tree(1), "logistic": LogisticRegression()}
    results = validated(X, y, StratifiedKFold(5), models)
    splits = zip(results["shallow"]["estimator"], StratifiedKFold(5).split(X, y), strict=True)
    scores = [model.predict_proba(X[test])[:, 1] for model, (_, test) in splits]
    n_distinct = sum(len(np.unique(of_fold)) for of_fold in scores)
    where = " in 5 test folds, counted in each"
    if aggregate == "pooled":
        n_distinct, where = len(np.unique(np.concatenate(scores))), ""
    noted = f"Distinct scores behind roc_auc: shallow {n_distinct}, on 150 rows{where}. "
    assert noted in notes_of(compared(results, X, y, "roc_auc", aggregate=aggregate))
    assert "Distinct scores" not in notes_of(compared(results, X, y, aggregate=aggregate))
