"""From a fitted search to tests of its candidates."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import compare_cv_results
from sklearn_pairboot.inference import corrected_resampled_ttest


def tree(depth=2):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_classification(
        n_samples=150, n_features=5, n_informative=3, flip_y=0.1, random_state=3
    )


@pytest.fixture(scope="module")
def search(data):
    X, y = data
    grid = {"max_depth": [1, 2, 4]}
    return GridSearchCV(tree(), grid, cv=KFold(5), scoring="f1").fit(X, y)


def test_candidates_of_a_search(search):
    found = compare_cv_results(search)
    scores = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(5)])
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    names = [f"max_depth={search.cv_results_['params'][row]['max_depth']}" for row in order]
    assert found.candidates == tuple(names)
    assert found.metric == "f1"
    assert found.mean_scores == pytest.approx(scores.mean(axis=0)[order].tolist())
    for column, row in zip(order[1:], found.split_tests, strict=True):
        test = corrected_resampled_ttest(
            scores[:, column] - scores[:, order[0]], n_train=4, n_test=1
        )
        assert (row.difference, row.p_value) == pytest.approx((test.estimate, test.p_value))
        assert row.baseline == names[0]
    text = " ".join(found.summary().split())
    assert "A search keeps no answers to single rows, so no rows or clusters can be resam" in text
    assert "The baseline was chosen as the best on these splits" in text


def test_chosen_candidates_of_a_search(search):
    named = compare_cv_results(search, candidates={"old": 0, "new": 2}, alternative="better")
    (row,) = named.split_tests
    assert (row.model, row.baseline, row.ci_high) == ("new", "old", np.inf)
    assert not any("chosen" in note for note in named.notes)
    plain = compare_cv_results(search.cv_results_, candidates=[0, 2], n_train=120, n_test=30)
    both = compare_cv_results(search, candidates=[0, 2])
    assert plain.split_tests[0].p_value == pytest.approx(both.split_tests[0].p_value)
    every = compare_cv_results(search, pairs="all")
    assert len(every.split_tests) == 3


def test_sizes_of_listed_splits_are_read(data):
    X, y = data
    splits = list(ShuffleSplit(4, test_size=0.2, random_state=0).split(X))
    grid = {"max_depth": [1, 2]}
    searches = [
        GridSearchCV(tree(), grid, cv=cv, scoring=["accuracy", "neg_log_loss"], refit=False)
        for cv in (splits, ShuffleSplit(4, test_size=0.2, random_state=0))
    ]
    listed, other = (search.fit(X, y) for search in searches)
    a = compare_cv_results(listed, metric="neg_log_loss")
    with pytest.raises(ValueError, match="`n_train` and `n_test` must both be given"):
        compare_cv_results(other, metric="neg_log_loss")
    b = compare_cv_results(other, metric="neg_log_loss", n_train=120, n_test=30)
    assert a.split_tests == b.split_tests
    with pytest.raises(ValueError, match="`metric` must be the name .* 'neg_log_loss', got None"):
        compare_cv_results(listed)


@pytest.mark.parametrize("kind", [RepeatedKFold, RepeatedStratifiedKFold])
def test_repeated_folds_have_the_sizes_of_one_repeat(data, kind):
    X, y = data
    cv = kind(n_splits=4, n_repeats=3, random_state=0)
    search = GridSearchCV(tree(), {"max_depth": [1, 3]}, cv=cv).fit(X, y)
    (row,) = compare_cv_results(search, candidates=[0, 1]).split_tests
    scores = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(12)])
    gaps = scores[:, 1] - scores[:, 0]
    statistic = gaps.mean() / np.sqrt(gaps.var(ddof=1) * (1 / 12 + 1 / 3))
    assert row.df == 11
    assert row.statistic == pytest.approx(statistic, rel=1e-12)
    assert row.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 11), rel=1e-12)


def test_failed_splits_of_a_search_are_left_out(search):
    results = dict(search.cv_results_)
    results["split1_test_score"] = np.array([np.nan, 0.5, 0.5])
    found = compare_cv_results(results, n_train=4, n_test=1)
    assert found.split_tests[0].df == 3
    assert any("no score in 1 of 5 splits, 1 (counted" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"search": tree()}, TypeError, "`search` must be a fitted search"),
        ({"candidates": [0, 9]}, ValueError, "`candidates` must be rows .* 0 to 2, got 9"),
        ({"candidates": [0]}, ValueError, "`candidates` must be at least 2"),
        ({"correction": "max-t"}, ValueError, "`correction` must be one of 'holm'"),
        ({"n_train": -1, "n_test": 2}, ValueError, "`n_train` must be a positive number of rows"),
        ({"n_train": 3}, ValueError, "must both be given"),
        ({"baseline": "no"}, ValueError, "`baseline` must be"),
        ({"confidence_level": 2}, ValueError, "`confidence_level` must be"),
    ],
)
def test_bad_choices_of_candidates_are_refused(search, change, kind, message):
    with pytest.raises(kind, match=message):
        compare_cv_results(**({"search": search} | change))
