"""What a new user types first, and inputs that scorers must not spoil: one clear error."""

from __future__ import annotations

import re
import warnings
from decimal import Decimal

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import cross_validate

from sklearn_pairboot import (
    ClusterBootstrapScorer,
    PairedBootstrapComparator,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 60)
X = RNG.normal(size=(60, 2)) + Y[:, None]
MODEL = LogisticRegression().fit(X, Y)
OTHER = LogisticRegression(C=1e-3).fit(X[:, :1] @ [[1.0, 1.0]], Y)
PROBABILITY = MODEL.predict_proba(X)[:, 1]
SCORES = {"a": [1, 0, 1], "b": [1, 1, 1]}
FAST = {"n_resamples": 40, "random_state": 0}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: compare_scores(SCORES, groups="patient"),
            TypeError,
            "`groups` must be an array with one entry per row, got 'patient'. For a column of "
            "a dataframe pass frame[column].",
        ),
        (
            lambda: compare_estimators({"m": MODEL}, X, Y, scoring="roc_auc", groups="patient"),
            TypeError,
            "`groups` must be an array with one entry per row, got 'patient'. For a column of "
            "a dataframe pass frame[column].",
        ),
        (
            lambda: compare_scores(SCORES, ids="item"),
            TypeError,
            "`ids` must be an array with one entry per row, got 'item'. For a column of a "
            "dataframe pass frame[column].",
        ),
        (
            lambda: compare_scores(SCORES, ids={"a": [1, 2, 3], "b": None}),
            TypeError,
            "`ids['b']` must be a one-dimensional array of keys, got None.",
        ),
        (
            lambda: compare_predictions(Y, {"m": MODEL}, scoring="roc_auc"),
            TypeError,
            "`predictions` must hold arrays or recorded answers, got LogisticRegression for model "
            "'m'. For fitted estimators use compare_estimators.",
        ),
        (
            lambda: compare_predictions(Y, {"m": 1}, scoring="accuracy"),
            TypeError,
            "The answers of model 'm' must be an array with one entry per row, got 1. For a "
            "column of a dataframe pass frame[column].",
        ),
        (
            lambda: compare_scores({"a": [1, 2j], "b": [1, 2]}),
            TypeError,
            "Scores of model 'a' must be numbers, got 2j in row 1.",
        ),
        (
            lambda: compare_scores({"a": [1, 10**400], "b": [1, 2]}),
            ValueError,
            "Scores of model 'a' must fit into float64, got a larger number in row 1.",
        ),
        (
            lambda: compare_scores(SCORES, groups=[Decimal("nan"), 1, 2]),
            ValueError,
            "`groups` must be finite and present in every row, got 1 missing or infinite, in "
            "row(s) 0. Give every row the label of its group.",
        ),
        (
            lambda: compare_scores(SCORES, n_resamples=10**12),
            ValueError,
            "`n_resamples` must be at most 10,000,000, got 1000000000000. All replicates are kept, "
            "and far fewer make the Monte Carlo error negligible.",
        ),
        (
            lambda: compare_scores(SCORES, baseline=np.array(["a", "b"])),
            ValueError,
            "`baseline` must be the name of a model, one of 'a', 'b', got array(['a', 'b'], "
            "dtype='<U1').",
        ),
        (
            lambda: compare_predictions(Y, {"m": Y}, scoring="f1", pos_label=np.array([1])),
            ValueError,
            "`pos_label` must be one label, got array([1]).",
        ),
        (
            lambda: compare_predictions(np.where(Y, "a", "b"), {"m": Y}, scoring="accuracy"),
            TypeError,
            "`predictions` must be labels of the same kind as `y_true` for accuracy, got "
            f"{int(Y[0])} for model 'm' where a truth is '{'a' if Y[0] else 'b'}'.",
        ),
        (
            lambda: compare_predictions(
                Y,
                {"m": RecordedEstimator.from_arrays(predict_proba=PROBABILITY, classes=["n", "p"])},
                scoring="roc_auc",
            ),
            ValueError,
            "The classes of model 'm' must be those of the truths, got 'n', 'p' where the truths "
            "are 0, 1.",
        ),
        (
            lambda: compare_scores({" ": [1, 2], "b": [1, 2]}),
            TypeError,
            "Names of models must be non-empty strings, got ' '.",
        ),
    ],
)
def test_first_mistakes_get_one_clear_error(call, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        call()


def test_columns_of_a_frame_are_named_by_unique_strings():
    pandas = pytest.importorskip("pandas")
    for columns in ([0, 1], ["a", "a"]):
        with pytest.raises(ValueError, match="`scores` must have columns named by unique strings"):
            compare_scores(pandas.DataFrame([[1, 0], [0, 1], [1, 1]], columns=columns))


def test_indexes_of_ids_and_strata_must_agree_too():
    pandas = pytest.importorskip("pandas")
    from sklearn_pairboot.resampling import StratifiedBootstrap

    scores = {name: pandas.Series(values) for name, values in SCORES.items()}
    shuffled = pandas.Series([1, 2, 3], index=[2, 1, 0])
    with pytest.raises(ValueError, match="different pandas indexes"):
        compare_scores(scores, ids=shuffled)
    with pytest.raises(ValueError, match="different pandas indexes"):
        compare_scores(scores, resampling=StratifiedBootstrap(shuffled))


def test_a_scorer_that_writes_into_what_it_gets_spoils_nothing():
    def sorting(estimator, X, y):
        y.sort()
        return float(np.mean(y == estimator.predict(X)))

    def plain(estimator, X, y):
        return float(np.mean(y == estimator.predict(X)))

    truths = Y.copy()
    result = compare_estimators({"m": MODEL}, X, truths, scoring=[sorting, plain], **FAST)
    np.testing.assert_array_equal(truths, Y)
    assert result.scores[1].estimate == MODEL.score(X, Y)


def test_one_warning_for_a_scorer_that_warns():
    def noisy(estimator, X, y):
        warnings.warn("mind the gap", RuntimeWarning, stacklevel=1)
        return float(np.mean(y == estimator.predict(X)))

    with pytest.warns(UserWarning) as caught:
        compare_estimators({"m": MODEL, "o": OTHER}, X, Y, scoring=noisy, **FAST)
    assert [str(warning.message) for warning in caught] == [
        "noisy: RuntimeWarning: mind the gap (met 80 times while scoring resamples)"
    ]


def test_case_C27_labels_of_a_model_as_scores_are_warned_of():
    scorer = make_scorer(metrics.roc_auc_score)
    with pytest.warns(UserWarning, match="roc_auc_score got only two distinct scores from m"):
        compare_estimators({"m": MODEL}, X, Y, scoring=scorer, **FAST)


RESPONSES = [
    (metrics.roc_auc_score, "predict", True),
    (metrics.roc_auc_score, "predict_proba", True),
    (metrics.log_loss, "predict", False),
    (metrics.brier_score_loss, "predict", False),
    (metrics.mean_squared_error, "decision_function", False),
    (metrics.mean_squared_error, "predict_proba", False),
]


@pytest.mark.parametrize(("function", "method", "greater"), RESPONSES)
def test_every_entry_asks_models_for_what_the_scorer_asks(function, method, greater):
    scorer = make_scorer(function, response_method=method, greater_is_better=greater)
    expected = scorer(MODEL, X, Y)
    sign = 1 if greater else -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        direct = compare_estimators({"m": MODEL}, X, Y, scoring=scorer, **FAST).scores[0]
        of_scorer = ClusterBootstrapScorer(scorer, returns="interval", n_resamples=40)(MODEL, X, Y)
    assert sign * direct.estimate == pytest.approx(expected, rel=1e-12)
    assert of_scorer["score"] == pytest.approx(expected, rel=1e-12)
    assert of_scorer["ci_low"] <= expected <= of_scorer["ci_high"]
    models = [("m", LogisticRegression())]
    comparator = PairedBootstrapComparator(models, scoring=scorer, cv=2, **FAST).fit(X, Y)
    splits = comparator.split_scores_
    folds = cross_validate(LogisticRegression(), X, Y, scoring=scorer, cv=2)["test_score"]
    np.testing.assert_allclose(next(iter(splits.values()))[:, 0], folds, rtol=1e-12)


def test_r2_of_clusters_is_exact_in_the_exact_mode():
    """Clusters are not numbered like rows: representatives must take their own rows along."""
    y = np.array([0.0, 10.0, 10.0, 0.2, 3.0, 7.0])
    answers = np.array([0.5, 9.0, 11.0, 0.0, 2.0, 8.0])
    groups = [2, 0, 0, 2, 1, 1]
    result = compare_predictions(
        y, {"m": answers}, scoring="r2", groups=groups, n_resamples="exact"
    )
    rows_of = [np.flatnonzero(np.array(groups) == group) for group in range(3)]
    expected = []
    for a in range(3):
        for b in range(3):
            for c in range(3):
                rows = np.concatenate([rows_of[a], rows_of[b], rows_of[c]])
                if np.ptp(y[rows]) > 0:
                    expected.append(get_scorer("r2")._score_func(y[rows], answers[rows]))
    values = np.repeat(result.replicates[:, 0, 0], result.multiplicities)
    np.testing.assert_allclose(np.sort(values[~np.isnan(values)]), np.sort(expected), rtol=1e-9)
