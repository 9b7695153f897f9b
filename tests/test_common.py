"""scikit-learn's own checks of estimators, none of them expected to fail."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_pairboot.comparator import PairedBootstrapComparator

COMPARATORS = [
    PairedBootstrapComparator(
        [("lr", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))],
        cv=3,
        n_resamples=39,
        random_state=0,
    ),
    PairedBootstrapComparator(  # of models that take several labels
        [("ridge", RidgeClassifier()), ("tree", DecisionTreeClassifier(random_state=0))],
        cv=3,
        n_resamples=39,
        random_state=0,
    ),
    PairedBootstrapComparator(
        [("ridge", Ridge()), ("tree", DecisionTreeRegressor(random_state=0))],
        n_resamples=39,
        random_state=0,
    ),
]


def checks():
    """Every check of every estimator. `parametrize_with_checks` of 1.6 is too old for pytest 9."""
    for estimator in COMPARATORS:
        kind = type(estimator.estimators[0][1]).__name__
        for instance, check in estimator_checks_generator(estimator):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            yield pytest.param(instance, check, id=f"{kind}-{name}")


# The checks' data are tiny: folds with equal truths, classes with fewer members than folds.
@pytest.mark.filterwarnings("ignore:r2 is undefined in")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_case_C132_comparator_passes_check_of_scikit_learn(estimator, check):
    check(estimator)
