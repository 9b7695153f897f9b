"""From the answers of cross_val_predict and their splits to a comparison."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import (
    ComparisonResult,
    RecordedEstimator,
    compare_cross_validate,
    compare_predictions,
    selection_report,
)

MODELS = {
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "line": LogisticRegression(),
}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        n_samples=120, n_features=5, n_informative=3, flip_y=0.1, random_state=3
    )
    return X, y, np.random.default_rng(0).integers(0, 20, 120)


def validated(X, y, splits, scoring, models=MODELS):
    return {
        name: cross_validate(
            model, X, y, cv=splits, scoring=scoring, return_indices=True, return_estimator=True
        )
        for name, model in models.items()
    }


def answered(X, y, splits, method="predict", models=MODELS):
    return {
        name: {
            "predictions": cross_val_predict(model, X, y, cv=splits, method=method),
            "indices": splits,
        }
        for name, model in models.items()
    }


def compared(results, X, y, scoring, **options):
    options = {"n_resamples": 99, "random_state": 0} | options
    return compare_cross_validate(results, X, y, scoring=scoring, **options)


SPLITTERS = [
    KFold(4),
    StratifiedKFold(4, shuffle=True, random_state=1),
    GroupKFold(5),
]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=["plain", "shuffled", "grouped"])
@pytest.mark.parametrize(
    ("method", "scoring"),
    [
        ("predict", ["accuracy", "f1", "matthews_corrcoef"]),
        ("predict_proba", ["roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"]),
    ],
)
def test_estimates_are_those_of_cross_validate(data, splitter, method, scoring):
    X, y, groups = data
    splits = list(splitter.split(X, y, groups if isinstance(splitter, GroupKFold) else None))
    reference = validated(X, y, splits, scoring)
    result = compared(answered(X, y, splits, method), None, y, scoring)
    for row in result.scores:
        key = f"test_{row.metric}" if row.greater_is_better else f"test_neg_{row.metric}"
        reported = reference[row.model][key].mean() * (1 if row.greater_is_better else -1)
        assert row.estimate == pytest.approx(reported, rel=1e-15, abs=1e-15)
    by_models = compared(reference, X, y, scoring)
    assert result.split_tests == by_models.split_tests
    assert result.notes == by_models.notes
    assert result.held_fixed == by_models.held_fixed


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_the_bootstrap_is_that_of_the_models(data, aggregate, scoring):
    X, y, groups = data
    splits = list(GroupKFold(5).split(X, y, groups))
    method = "predict" if scoring == "accuracy" else "predict_proba"
    of_models, answers = validated(X, y, splits, scoring), answered(X, y, splits, method)
    options = {"aggregate": aggregate, "groups": groups, "method": "bca"}
    expected = compared(of_models, X, y, scoring, **options)
    mixed = {"tree": of_models["tree"], "line": answers["line"]}
    for results, rows in ((answers, None), (answers, X), (mixed, X)):
        result = compared(results, rows, y, scoring, **options)
        np.testing.assert_array_equal(result.replicates, expected.replicates)
        assert result.differences[0].ci_low == expected.differences[0].ci_low
        assert result.n_units == 20
    assert ComparisonResult.from_json(result.to_json()).split_tests == result.split_tests


def test_pooled_answers_are_compared_as_predictions(data):
    X, y, _ = data
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    answers = answered(X, y, splits, "predict_proba")
    pooled = compared(answers, None, y, "roc_auc", aggregate="pooled", permutation=True)
    same = compare_predictions(
        y,
        {name: one["predictions"] for name, one in answers.items()},
        scoring="roc_auc",
        permutation=True,
        n_resamples=99,
        random_state=0,
    )
    assert pooled.differences == same.differences
    assert pooled.scores[0].estimate == pytest.approx(
        roc_auc_score(y, answers["tree"]["predictions"][:, 1]), rel=1e-14
    )
    assert len(pooled.split_tests) == 1
    assert same.split_tests == ()


def test_splits_have_the_form_of_cross_validate_too(data):
    X, y, _ = data
    results = validated(X, y, KFold(3), "accuracy")
    answers = {
        name: {
            "predictions": cross_val_predict(model, X, y, cv=KFold(3)),
            "indices": results[name]["indices"],
        }
        for name, model in MODELS.items()
    }
    masks = [
        (np.isin(np.arange(len(y)), train), np.isin(np.arange(len(y)), test))
        for train, test in KFold(3).split(X)
    ]
    expected = compared(results, X, y, "accuracy").replicates
    np.testing.assert_array_equal(compared(answers, None, y, "accuracy").replicates, expected)
    for one in answers.values():
        one["indices"] = masks
    np.testing.assert_array_equal(compared(answers, None, y, "accuracy").replicates, expected)


def test_several_responses_are_recorded(data):
    X, y, _ = data
    splits = list(KFold(4).split(X))
    answers = {
        name: {
            "predictions": RecordedEstimator.from_arrays(
                predict=cross_val_predict(model, X, y, cv=splits),
                predict_proba=cross_val_predict(model, X, y, cv=splits, method="predict_proba"),
            ),
            "indices": splits,
        }
        for name, model in MODELS.items()
    }
    scoring = ["accuracy", "neg_log_loss"]
    expected = compared(validated(X, y, splits, scoring), X, y, scoring)
    result = compared(answers, None, y, scoring)
    np.testing.assert_array_equal(result.replicates, expected.replicates)


def test_text_labels_need_no_positive_class(data):
    """As for estimators: classes are sorted, and scores speak of the second one."""
    X, y, _ = data
    y = np.where(y == 1, "benign", "malign")
    splits = list(StratifiedKFold(4).split(X, y))
    models = {"line": LogisticRegression()}
    expected = validated(X, y, splits, "roc_auc", models)["line"]["test_score"].mean()
    for method in ("predict_proba", "decision_function"):
        answers = answered(X, y, splits, method, models)
        row = compared(answers, None, y, "roc_auc").scores[0]
        assert row.estimate == pytest.approx(expected, rel=1e-15)
    answers["line"]["predictions"] = cross_val_predict(models["line"], X, y, cv=splits)
    row = compared(answers, None, y, "accuracy").scores[0]
    assert row.estimate == pytest.approx(accuracy_score(y, answers["line"]["predictions"]))


def test_regression_with_frames(data):
    pandas = pytest.importorskip("pandas")
    X, y = make_regression(80, 4, noise=20, random_state=0)
    index = pandas.Index(np.arange(80) + 7)
    splits = list(KFold(4).split(X))
    models = {"ols": LinearRegression(), "ridge": Ridge(50)}
    y = pandas.Series(y, index=index)
    answers = answered(X, y, splits, models=models)
    for one in answers.values():
        one["predictions"] = pandas.Series(one["predictions"], index=index)
    scoring = ["r2", "neg_root_mean_squared_error"]
    result = compared(answers, None, y, scoring)
    expected = compared(validated(X, y, splits, scoring, models), X, y, scoring)
    np.testing.assert_array_equal(result.replicates, expected.replicates)
    answers["ridge"]["predictions"] = answers["ridge"]["predictions"].sort_values()
    with pytest.raises(ValueError, match="predictions of 'ridge'"):
        compared(answers, None, y, "r2")


def by_rows(estimator, X, y):
    """Look at the rows of X themselves."""
    assert len(X) == len(y)
    return float(np.average(estimator.predict(X) == y, weights=1 + np.abs(X[:, 0])))


def by_name(estimator, X, y):
    return {
        "right": float(np.mean(estimator.predict(X) == y)),
        "weighted": by_rows(estimator, X, y),
    }


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
@pytest.mark.parametrize("scorer", [by_rows, by_name])
def test_scorers_that_look_at_rows_are_given_them(data, aggregate, scorer):
    X, y, _ = data
    splits = list(KFold(3).split(X))
    options = {"aggregate": aggregate, "n_resamples": 39}
    result = compared(answered(X, y, splits), X, y, scorer, **options)
    expected = compared(validated(X, y, splits, scorer), X, y, scorer, **options)
    assert result.metrics == expected.metrics
    np.testing.assert_allclose(result.replicates, expected.replicates, rtol=1e-13)


def test_rows_that_no_split_tests_need_no_answer_case_C71(data):
    X, y, _ = data
    splits = list(TimeSeriesSplit(4).split(X))
    expected = validated(X, y, splits, "accuracy")
    answers = {}
    for name, found in expected.items():
        given = np.full(len(y), np.nan)
        for model, (_, test) in zip(found["estimator"], splits, strict=True):
            given[test] = model.predict(X[test])
        answers[name] = {"predictions": given, "indices": splits}
    for aggregate in ("folds", "pooled"):
        result = compared(answers, None, y, "accuracy", aggregate=aggregate)
        same = compared(expected, X, y, "accuracy", aggregate=aggregate)
        np.testing.assert_array_equal(result.replicates, same.replicates)
        assert "24 are in no test fold" in " ".join(result.notes)
    answers["tree"]["predictions"][splits[1][1][2]] = np.nan
    with pytest.raises(ValueError, match="answers of model 'tree' must be finite"):
        compared(answers, None, y, "accuracy")


def test_several_tests_of_a_row_are_refused_case_C72(data):
    X, y, _ = data
    answers = answered(X, y, list(KFold(3).split(X)))
    for one in answers.values():
        one["indices"] = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X))
    message = r"`indices` must test every row at most once .* row\(s\) 0, 1, .* Compare one repeat"
    with pytest.raises(ValueError, match=message):
        compared(answers, None, y, "accuracy")


def test_bad_answers_are_refused(data):
    X, y, _ = data
    splits = list(KFold(3).split(X))
    answers = answered(X, y, splits)

    def refused(change, match, kind=ValueError, scoring="accuracy", rows=None):
        with pytest.raises(kind, match=match):
            compared(answers | {"line": change}, rows, y, scoring)

    line = answers["line"]
    refused({"predictions": line["predictions"]}, "'indices' for model 'line'.* cross_val_predict")
    refused(line | {"indices": splits[:2]}, "another number of folds, 2 and not 3")
    refused(line | {"indices": 3}, "`indices` must give pairs", ValueError)
    refused(line | {"indices": {"train": splits[0]}}, "as many training parts")
    refused(line | {"estimator": []}, "either 'estimator'.* both for model 'line'")
    refused(line | {"predictions": line["predictions"][:-1]}, "'line' must have one entry per")
    refused(line | {"predictions": {"predict": [0]}}, "RecordedEstimator.from_arrays", TypeError)
    refused(line | {"predictions": line["predictions"] + 0.5}, "must be labels for accuracy")
    refused(line, "`scoring` must name a metric where there are no estimators", scoring=None)
    refused(line, "`predictions` must hold recorded answers", scoring=["accuracy", "roc_auc"])
    refused(validated(X, y, splits, None)["line"], "`X` must be the rows .* 'line'|line")
    with pytest.warns(UserWarning, match="roc_auc got only two distinct scores from tree, line"):
        compared(answers, None, y, "roc_auc")


def test_a_selection_can_be_reported_from_answers(data):
    X, y, _ = data
    splits = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    options = {"scoring": "roc_auc", "n_resamples": 99, "random_state": 0}
    report = selection_report(answered(X, y, splits, "predict_proba"), None, y, **options)
    expected = selection_report(validated(X, y, splits, "roc_auc"), X, y, **options)
    assert report.selection == expected.selection
    np.testing.assert_array_equal(report.result.replicates, expected.result.replicates)
