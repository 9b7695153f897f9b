"""A fit that fails inside a cross-validated comparison: which model, which fold, and why."""

from __future__ import annotations

import re

import numpy as np
import pytest
from models import Refusing
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate

from sklearn_pairboot import PairedBootstrapComparator, compare_cross_validate, selection_report

X = np.arange(20.0)[:, np.newaxis]
Y = np.arange(20) % 2


def comparator(needed, **options):
    models = [("good", LogisticRegression()), ("bad", Refusing(needed))]
    return PairedBootstrapComparator(
        models, cv=KFold(4), scoring="accuracy", n_resamples=99, random_state=0, **options
    )


@pytest.mark.parametrize(
    ("n_jobs", "refit"),
    [(None, True), (None, False), pytest.param(2, True, marks=pytest.mark.newest)],
)
def test_the_error_names_model_fold_and_cause(n_jobs, refit):
    message = (
        "Model 'bad' could not be fitted on the training part of fold 2 (counted from 0): "
        "KeyError: 'no such row'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$") as caught:
        comparator(12.0, n_jobs=n_jobs, refit=refit).fit(X, Y)
    assert caught.value.__cause__ is not None
    if n_jobs is None:
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_failure_on_all_rows_keeps_its_words_and_names_the_model():
    with pytest.raises(KeyError) as caught:
        comparator(99.0).fit(X, Y)
    assert caught.value.args == ("no such row",)
    assert caught.value.__notes__ == ["This was met while model 'bad' was fitted on all rows."]


def test_a_failed_fold_is_not_called_a_missing_one():
    """Rows of folds that are left out were tested, if in vain: they are not said to be in none."""
    X = np.arange(30.0)[:, None]
    y = np.tile([0, 1], 15)
    results = {
        "m": cross_validate(
            DummyClassifier(), X, y, cv=3, return_indices=True, return_estimator=True
        )
    }
    results["m"]["estimator"][2] = DummyClassifier()
    results["m"]["test_score"][2] = np.nan
    with pytest.warns(FitFailedWarning, match="1 of 3 folds are left out"):
        result = compare_cross_validate(
            results, X, y, scoring="accuracy", n_resamples=39, random_state=0
        )
    assert any("10 are in no test fold of those kept" in note for note in result.notes)


def test_a_splitter_by_groups_asks_for_them():
    X, y = np.zeros((12, 1)), np.tile([0, 1], 6)
    models = [("a", DummyClassifier()), ("b", DummyClassifier(strategy="uniform"))]
    message = r"`groups` must be given where `cv` splits by groups, as GroupKFold\(.*\) does, got"
    with pytest.raises(ValueError, match=message):
        PairedBootstrapComparator(models, cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match=message):
        selection_report(dict(models), X, y, cv=GroupKFold(3))


def test_the_own_rule_of_a_search_is_not_passed_over():
    X, y = np.arange(12.0)[:, None], np.tile([0, 1], 6)
    grid = {"strategy": ["prior", "uniform"]}
    search = GridSearchCV(DummyClassifier(random_state=0), grid, refit=lambda results: 0, cv=3)
    with pytest.raises(ValueError, match="`scoring` must be given .* a rule of its own, got None"):
        selection_report(search, X, y)
    report = selection_report(search, X, y, scoring="accuracy", n_resamples=39, random_state=0)
    assert len(report.result.models) == 2
