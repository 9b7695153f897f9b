"""Subgroups of cross-validated rows: the same as of the answers of `cross_val_predict`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from sklearn_pairboot import RecordedEstimator, compare_cross_validate, compare_predictions

X, Y = make_classification(120, 5, n_informative=2, flip_y=0.3, random_state=0)
REGION = np.where(np.random.default_rng(0).random(120) < 0.3, "north", "south")
MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
OPTIONS = {"scoring": ["accuracy", "roc_auc"], "n_resamples": 99, "random_state": 0}


def results_of(splits):
    kept = {"return_estimator": True, "return_indices": True}
    return {n: cross_validate(m, X, Y, cv=splits, **kept) for n, m in MODELS.items()}


def pooled(splits, **options):
    given = {"aggregate": "pooled", "slices": {"region": REGION}} | OPTIONS | options
    return compare_cross_validate(results_of(splits), X, Y, **given)


def numbers(rows):
    return [(r.metric, r.label, r.difference, r.ci_low, r.ci_high, r.n_rows) for r in rows]


@pytest.mark.parametrize("groups", [None, np.arange(120) // 4])
def test_equal_those_of_cross_val_predict(groups):
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    answers = {}
    for name, model in MODELS.items():
        probabilities = cross_val_predict(model, X, Y, cv=splits, method="predict_proba")
        answers[name] = RecordedEstimator.from_arrays(
            predict=probabilities.argmax(axis=1), predict_proba=probabilities, classes=[0, 1]
        )
    expected = compare_predictions(Y, answers, groups=groups, slices={"region": REGION}, **OPTIONS)
    found = pooled(splits, groups=groups)
    assert len(found.slices) == 4
    for one, other in zip(numbers(found.slices), numbers(expected.slices), strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], rel=1e-9)


def test_rows_that_are_tested_twice_have_two_answers_and_count_once():
    splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, Y))
    found = pooled(splits)
    for metric, score, method in (
        ("accuracy", accuracy_score, "predict"),
        ("roc_auc", roc_auc_score, "predict_proba"),
    ):
        for label in ("north", "south"):
            differences = []
            for model in (MODELS["bayes"], MODELS["logistic"]):
                truths, answers = [], []
                for train, test in splits:
                    rows = test[REGION[test] == label]
                    answer = getattr(model.fit(X[train], Y[train]), method)(X[rows])
                    truths.append(Y[rows])
                    answers.append(answer if answer.ndim == 1 else answer[:, 1])
                differences.append(score(np.concatenate(truths), np.concatenate(answers)))
            row = next(r for r in found.slices if (r.metric, r.label) == (metric, label))
            assert row.difference == pytest.approx(differences[0] - differences[1], abs=1e-12)
            assert row.n_rows == np.count_nonzero(REGION == label)
            assert row.ci_low <= row.difference <= row.ci_high


def test_rows_that_no_fold_tests_are_in_no_subgroup():
    """case_C71"""
    splits = list(TimeSeriesSplit(3).split(X))
    tested = np.concatenate([test for _, test in splits])
    found = pooled(splits)
    sizes = {row.label: row.n_rows for row in found.slices}
    assert sizes == {label: np.count_nonzero(REGION[tested] == label) for label in sizes}
    assert sum(sizes.values()) == len(tested) == 90


def test_means_of_folds_have_none():
    splits = list(KFold(4).split(X))
    with pytest.raises(
        ValueError, match="`slices` must be None where scores of folds are averaged"
    ):
        pooled(splits, aggregate="folds")
