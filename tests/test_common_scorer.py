"""scikit-learn's own checks of estimators, for ClusterBootstrapScorer."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from sklearn_pairboot.scorer import ClusterBootstrapScorer

# The checks that need no `fit`, which a bare scorer does not have.
CHECKS_OF_A_SCORER = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
]


ESTIMATORS = [
    ClusterBootstrapScorer("accuracy", estimator=LogisticRegression()),
    ClusterBootstrapScorer(
        "neg_log_loss",
        estimator=DecisionTreeClassifier(max_depth=2, random_state=0),
        returns="lower",
        n_resamples=39,
    ),
    ClusterBootstrapScorer(None, estimator=Ridge(), returns="interval", n_resamples=39),
]


def name_of(check):
    return getattr(check, "func", check).__name__


# As parametrize_with_checks does, whose generator in scikit-learn 1.6 the newest pytest warns of.
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(*case, id=f"{case[0].scoring}-{name_of(case[1])}")
        for estimator in ESTIMATORS
        for case in estimator_checks_generator(estimator)
    ],
)
def test_case_C132_scorer_with_an_estimator_is_an_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CHECKS_OF_A_SCORER)
@pytest.mark.parametrize("scoring", ["accuracy", None])
def test_bare_scorer_keeps_the_rules_of_parameters(name, scoring):
    scorer = ClusterBootstrapScorer(scoring, returns="lower")
    checks = [
        (instance, check)
        for instance, check in estimator_checks_generator(scorer)
        if name_of(check) == name
    ]
    assert checks
    for instance, check in checks:
        check(instance)
