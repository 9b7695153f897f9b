"""A fit that fails inside a cross-validated comparison: which model, which fold, and why."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from sklearn_pairboot import PairedBootstrapComparator


class Refusing(ClassifierMixin, BaseEstimator):
    """Refuses to be fitted without row ``needed``."""

    def __init__(self, needed=0):
        self.needed = needed

    def fit(self, X, y):
        if self.needed not in X[:, 0]:
            raise KeyError("no such row")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


X = np.arange(20.0)[:, np.newaxis]
Y = np.arange(20) % 2


def comparator(needed, **options):
    models = [("good", LogisticRegression()), ("bad", Refusing(needed))]
    return PairedBootstrapComparator(
        models, cv=KFold(4), scoring="accuracy", n_resamples=99, random_state=0, **options
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("refit", [True, False])
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
