"""PairedBootstrapComparator: what it estimates, what it selects, how it behaves as an estimator."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError, UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, median_absolute_error, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_pairboot import compare_estimators
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot.comparator import PairedBootstrapComparator
from sklearn_pairboot.comparison import _cross_validated
from sklearn_pairboot.inference import corrected_resampled_ttest
from sklearn_pairboot.resampling import RowBootstrap, StratifiedBootstrap


def stump(depth=1):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


TWO = [("stump", stump()), ("tree", stump(3))]
THREE = [*TWO, ("lr", logistic())]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:240]
    return X[order, :6], y[order]


@pytest.fixture(scope="module")
def clusters():
    return np.random.default_rng(1).integers(0, 40, size=240)


def comparator(estimators=TWO, **params):
    return PairedBootstrapComparator(estimators, **{"n_resamples": 99, "random_state": 0, **params})


def estimates(fitted, metric=None):
    """Estimates by model, in scikit-learn's sign."""
    metric = metric or fitted.result_.metrics[0]
    return {
        row.model: row.estimate if row.greater_is_better else -row.estimate
        for row in fitted.result_.scores
        if row.metric == metric
    }


# What is estimated


@pytest.mark.parametrize(
    "cv",
    [
        None,
        3,
        KFold(4, shuffle=True, random_state=3),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(4, test_size=0.3, random_state=0),
        TimeSeriesSplit(3),
    ],
)
def test_estimates_are_the_means_of_cross_validate(cancer, cv):
    X, y = cancer
    scoring = {
        name: name for name in ("accuracy", "roc_auc", "f1", "log_loss", "matthews_corrcoef")
    }
    scoring |= {"log_loss": "neg_log_loss", "replayed": make_scorer(roc_auc_score, max_fpr=0.5)}
    few = {"n_resamples": 4, "confidence_level": 0.5}  # not looked at
    fitted = comparator(scoring=scoring, cv=cv, refit=False, **few).fit(X, y)
    for column, (name, estimator) in enumerate(TWO):
        expected = cross_validate(estimator, X, y, scoring=scoring, cv=cv)
        for metric in scoring:
            scores = expected[f"test_{metric}"]
            np.testing.assert_allclose(
                fitted.split_scores_[metric][:, column], scores, rtol=1e-15, atol=1e-15
            )
            assert estimates(fitted, metric)[name] == pytest.approx(
                scores.mean(), rel=1e-15, abs=1e-15
            )


@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error", "neg_max_error"])
def test_estimate_is_the_mean_of_cross_validate_for_regressors(scoring):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    two = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    fitted = comparator(two, scoring=scoring, cv=4).fit(X, y)
    for name, estimator in two:
        expected = cross_validate(estimator, X, y, scoring=scoring, cv=4)["test_score"].mean()
        assert estimates(fitted)[name] == pytest.approx(expected, rel=1e-14)


def test_a_fold_with_a_class_missing_is_scored_as_by_cross_validate():
    X, y = load_wine(return_X_y=True)
    X = X[:, :3]  # sorted by class: most folds lack two of the three
    two = [("stump", stump()), ("tree", stump(4))]
    for scoring in ("accuracy", "f1_macro", "balanced_accuracy", "recall_weighted"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # precision, recall of classes that are not there
            fitted = comparator(two, scoring=scoring, cv=KFold(9), refit=False).fit(X, y)
            for name, estimator in two:
                expected = cross_validate(estimator, X, y, scoring=scoring, cv=KFold(9))
                assert estimates(fitted)[name] == pytest.approx(
                    expected["test_score"].mean(), rel=1e-14
                )


def test_default_scoring_is_the_estimators_own(cancer):
    X, y = cancer
    assert comparator().fit(X, y).result_.metrics == ("accuracy",)
    two = [("mean", DummyRegressor()), ("ridge", Ridge())]
    assert comparator(two).fit(X, y.astype(float) + X[:, 0]).result_.metrics == ("r2",)


def test_several_metrics_share_weights_and_one_of_them_decides(cancer):
    X, y = cancer
    scoring = ["accuracy", "neg_log_loss"]
    fitted = comparator(scoring=scoring, refit="neg_log_loss", selection="best").fit(X, y)
    assert fitted.result_.metrics == ("accuracy", "log_loss")
    losses = estimates(fitted, "log_loss")
    assert fitted.best_name_ == max(losses, key=losses.get)
    assert fitted.score(X, y) == get_scorer("neg_log_loss")(fitted.best_estimator_, X, y)
    alone = comparator(scoring="accuracy").fit(X, y)
    np.testing.assert_array_equal(fitted.result_.replicates[:, 0], alone.result_.replicates[:, 0])
    assert comparator(scoring=scoring, refit="log_loss").fit(X, y).best_name_


# The replicates: literal rows, drawn once for all folds


def literal_replicates(fitted, X, y, splits, counts, scoring, of_row=None, weight=None):
    """Fit on folds, repeat test rows as often as drawn, average scikit-learn's scores."""
    scorer = get_scorer(scoring)
    of_row = np.arange(len(y)) if of_row is None else of_row
    values = np.full((len(counts), len(splits), len(fitted.estimators)), np.nan)
    for number, (train, test) in enumerate(splits):
        for model, (_, estimator) in enumerate(fitted.estimators):
            fold_model = clone(estimator).fit(X[train], y[train])
            for resample, count in enumerate(counts):
                rows = np.repeat(test, count[of_row[test]])
                if len(rows) == 0 or (scoring == "roc_auc" and len(np.unique(y[rows])) < 2):
                    continue
                given = {} if weight is None else {"sample_weight": weight[rows]}
                values[resample, number, model] = scorer(fold_model, X[rows], y[rows], **given)
    defined = ~np.isnan(values).any(axis=2)
    total = np.where(defined[:, :, None], values, 0).sum(axis=1)
    return total / defined.sum(axis=1)[:, None]


@pytest.fixture
def kernels(monkeypatch):
    """Kernels that a comparator makes its result from."""
    seen = []
    compare_kernels = _cross_validated.compare_kernels

    def spy(found, *args, **kwargs):
        seen.extend(found)
        return compare_kernels(found, *args, **kwargs)

    monkeypatch.setattr(_cross_validated, "compare_kernels", spy)
    return seen


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "balanced_accuracy"])
@pytest.mark.parametrize("clustered", [False, True])
def test_replicates_are_means_over_folds_of_repeated_rows(
    cancer, clusters, kernels, scoring, clustered
):
    X, y, groups = cancer[0][:90], cancer[1][:90], clusters[:90]
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    splits = list(cv.split(X, y))
    _, of_row = np.unique(groups, return_inverse=True)
    fitted = comparator(scoring=scoring, cv=splits, refit=False)
    fitted.fit(X, y, groups=groups if clustered else None)
    n_units = of_row.max() + 1 if clustered else len(y)
    rng = np.random.default_rng(5)
    counts = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=10)
    found = kernels[0].evaluate(Weights(counts)).values
    expected = literal_replicates(
        fitted, X, y, splits, counts, scoring, of_row if clustered else None
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sample_weight_multiplies_the_counts_in_every_fold(cancer, kernels):
    X, y = cancer[0][:60], cancer[1][:60]
    weight = np.random.default_rng(2).uniform(0.5, 2, size=60)
    splits = list(StratifiedKFold(3).split(X, y))
    two = [("a", NoWeights(1)), ("b", NoWeights(3))]
    fitted = comparator(two, scoring="accuracy", cv=splits, refit=False)
    fitted.fit(X, y, sample_weight=weight)
    counts = np.random.default_rng(5).multinomial(60, np.full(60, 1 / 60), size=20)
    found = kernels[0].evaluate(Weights(counts)).values
    expected = literal_replicates(fitted, X, y, splits, counts, "accuracy", weight=weight)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert fitted.result_.weighted
    assert any("a, b: fitted without `sample_weight`" in note for note in fitted.result_.notes)


class NoWeights(ClassifierMixin, BaseEstimator):
    """A tree whose fit takes no weights."""

    def __init__(self, max_depth=1):
        self.max_depth = max_depth

    def fit(self, X, y):
        self.tree_ = stump(self.max_depth).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_sample_weight_reaches_estimators_that_take_it(cancer):
    X, y = cancer
    weight = np.where(y == 1, 100.0, 0.01)
    fitted = comparator(
        [("prior", DummyClassifier(strategy="most_frequent")), ("a", NoWeights())], cv=3
    ).fit(X, 1 - y, sample_weight=weight)
    # Unweighted, the other class is the more frequent one among 1 - y.
    assert set(fitted.estimators_[0].predict(X)) == {0}
    assert any("a: fitted without `sample_weight`" in note for note in fitted.result_.notes)


def test_rows_that_are_never_tested_take_no_part_case_C71(cancer):
    X, y = cancer
    fitted = comparator(cv=TimeSeriesSplit(3, test_size=20)).fit(X, y)
    assert fitted.result_.n_rows == fitted.result_.n_units == 60
    assert any(
        note.startswith("60 of 240 rows were tested; 180 are") for note in fitted.result_.notes
    )


def test_repeated_tests_of_a_row_are_no_new_rows_case_C72(cancer):
    X, y = cancer
    once = comparator(cv=StratifiedKFold(4)).fit(X, y).result_
    splits = list(StratifiedKFold(4).split(X, y))
    thrice = comparator(cv=splits * 3).fit(X, y).result_
    assert thrice.n_units == once.n_units == 240
    np.testing.assert_allclose(thrice.replicates, once.replicates, rtol=1e-12)
    assert any(note.startswith("Rows are tested 3 times on average") for note in thrice.notes)


def test_unequal_folds_count_the_same_case_C79():
    # One fold of one right row, one of nine wrong ones: 0.5, not 0.1.
    y = np.array([1, *[0] * 9])
    splits = [(np.arange(1, 10), [0]), ([0], np.arange(1, 10))]
    constant = DummyClassifier(strategy="constant", constant=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X_all, y_all = np.zeros((12, 1)), np.array([*y, 0, 1])
        splits = [(np.append(train, [10, 11]), test) for train, test in splits]
        fitted = comparator([("one", constant)], cv=splits).fit(X_all, y_all)
    assert estimates(fitted) == {"one": 0.5}


def test_small_folds_are_noted(cancer):
    X, y = cancer[0][:40], cancer[1][:40]
    notes = comparator(scoring="accuracy", cv=LeaveOneOut()).fit(X, y).result_.notes
    assert any(note.startswith("A test fold holds only 1 of the rows.") for note in notes)


def test_a_fold_without_a_value_is_named_case_C81(cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable")
    with pytest.warns(UndefinedMetricWarning, match=r"roc_auc is undefined in \d of 4 test folds"):
        fitted = comparator(scoring="roc_auc", cv=KFold(4)).fit(X[order], y[order])
    assert any("All truths are equal in fold(s)" in note for note in fitted.result_.notes)
    scores = fitted.split_scores_["roc_auc"]
    assert estimates(fitted)["tree"] == pytest.approx(np.nanmean(scores[:, 1]), rel=1e-14)
    splits = [(np.r_[0:5, 235:240], np.arange(10, 40)), (np.r_[0:5, 235:240], np.arange(40, 60))]
    with pytest.raises(ValueError, match=r"roc_auc must be defined in some test fold.*\[?0, 1"):
        comparator(scoring="roc_auc", cv=splits).fit(X[order], y[order])


def test_bca_works_in_folds_too_large_to_replay_without_each_row(cancer):
    X, y = load_breast_cancer(return_X_y=True)
    fitted = comparator(
        scoring=make_scorer(lambda y, p: float(np.mean(y == p))), method="bca", cv=2
    ).fit(X[:, :4], y)
    direct = comparator(scoring="accuracy", method="bca", cv=2).fit(X[:, :4], y)
    for a, b in zip(fitted.result_.scores, direct.result_.scores, strict=True):
        assert a.status == b.status == "ok"
        assert (a.ci_low, a.ci_high) == pytest.approx((b.ci_low, b.ci_high), abs=0.01)


def test_stratified_bootstrap_holds_the_classes_in_all_folds(cancer):
    X, y = cancer
    result = comparator(resampling=StratifiedBootstrap(), method="bca").fit(X, y).result_
    assert result.stratified
    assert {row.status for row in result.scores} == {"ok"}


# Splits


def test_groups_are_not_torn_apart_by_default(cancer, clusters):
    X, y = cancer
    fitted = comparator().fit(X, y, groups=clusters)
    same = comparator(cv=StratifiedGroupKFold(5)).fit(X, y, groups=clusters)
    np.testing.assert_array_equal(fitted.split_scores_["accuracy"], same.split_scores_["accuracy"])
    assert fitted.result_.unit == "clusters"
    assert fitted.result_.n_units == len(np.unique(clusters))
    two = [("mean", DummyRegressor()), ("ridge", Ridge())]
    y = X[:, 1] + 0.5 * X[:, 2]
    by_number = comparator(two, cv=4).fit(X[:, :1], y, groups=clusters)
    same = comparator(two, cv=GroupKFold(4)).fit(X[:, :1], y, groups=clusters)
    np.testing.assert_array_equal(by_number.split_scores_["r2"], same.split_scores_["r2"])
    assert not any("tears" in note for note in by_number.result_.notes)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_torn_apart_by_the_given_cv_are_noted(cancer, clusters):
    X, y = cancer
    notes = comparator(cv=KFold(3)).fit(X, y, groups=clusters).result_.notes
    assert any("groups have rows in the training and the test part" in note for note in notes)


def test_one_cluster_a_fold(cancer, clusters):
    X, y = cancer
    fitted = comparator(cv=LeaveOneGroupOut()).fit(X, y, groups=clusters % 8)
    assert fitted.n_splits_ == fitted.result_.n_units == 8


def test_splits_are_made_once_and_shared_case_C75_case_C76(cancer):
    X, y = cancer
    random = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    twins = [("a", stump(2)), ("b", stump(2))]
    fitted = comparator(twins, cv=random).fit(X, y)
    assert fitted.result_.differences[0].difference == 0
    generator = KFold(3).split(X)
    listed = comparator(cv=list(KFold(3).split(X))).fit(X, y)
    once = comparator(cv=generator).fit(X, y)
    np.testing.assert_array_equal(once.result_.replicates, listed.result_.replicates)
    with pytest.raises(ValueError, match="`cv` must give at least one split, got none. A gener"):
        once.fit(X, y)


def test_splits_may_be_masks(cancer):
    X, y = cancer
    masks = [(np.arange(240) % 2 == k, np.arange(240) % 2 != k) for k in (0, 1)]
    rows = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
    a, b = (comparator(cv=cv).fit(X, y).result_.replicates for cv in (masks, rows))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "`cv` must be None, an integer of at least 2"),
        (True, "`cv` must be None, an integer of at least 2"),
        ("5", "`cv` must be None, an integer of at least 2"),
        ({"a": 1}, "`cv` must be None, an integer of at least 2"),
        (KFold, "`cv` must be None, an integer of at least 2"),
        (2.5, "`cv` must be None, an integer of at least 2"),
        ([([0, 1], [])], "`cv` must give no empty part, got no test rows in split 0"),
        ([([0, 1], [240])], "`cv` must give pairs of training and test rows.*as split 0"),
        ([[0, 1, 2]], "`cv` must give pairs of training and test rows.*as split 0"),
        ([([0.5], [1])], "`cv` must give pairs of training and test rows.*as split 0"),
        ([(np.arange(9), [9])], "`cv` must test at least 2 rows, got 1"),
    ],
)
def test_bad_splits_are_refused(cancer, cv, message):
    with pytest.raises(ValueError, match=message):
        comparator(cv=cv).fit(*cancer)


# Frozen models


def frozen(X, y, estimators=TWO):
    return [(name, FrozenEstimator(clone(model).fit(X, y))) for name, model in estimators]


def test_frozen_models_are_scored_once_on_all_rows(cancer):
    X, y = cancer
    # A tree of depth 1 has two scores, and that would be warned of.
    models = frozen(X[:120], y[:120], [("a", stump(2)), ("b", stump(4))])
    fitted = comparator(models, scoring=["roc_auc", "accuracy"], refit="roc_auc")
    fitted.fit(X[120:], y[120:])
    expected = compare_estimators(
        models,
        X[120:],
        y[120:],
        scoring=["roc_auc", "accuracy"],
        n_resamples=99,
        random_state=0,
    )
    np.testing.assert_array_equal(fitted.result_.replicates, expected.replicates)
    assert str(fitted.result_.differences) == str(expected.differences)
    assert fitted.result_.held_fixed == expected.held_fixed == "the trained models"
    assert fitted.estimators_[1] is models[1][1]
    assert (fitted.n_splits_, fitted.result_.split_tests, fitted.split_scores_) == (0, (), {})


def test_frozen_models_can_be_scored_in_folds(cancer):
    X, y = cancer
    models = frozen(X[:120], y[:120])
    fitted = comparator(models, cv=4).fit(X[120:], y[120:])
    scores = cross_validate(models[1][1], X[120:], y[120:], cv=4)["test_score"]
    assert estimates(fitted)["tree"] == pytest.approx(scores.mean(), rel=1e-14)
    assert fitted.result_.split_tests == ()  # nothing was trained on the splits
    assert fitted.estimators_[0] is models[0][1]


def test_frozen_and_unfrozen_need_a_cv(cancer):
    X, y = cancer
    mixed = [*frozen(X[:120], y[:120], TWO[:1]), TWO[1]]
    with pytest.raises(ValueError, match="`cv` must be given where some .* with 'stump' frozen"):
        comparator(mixed).fit(X[120:], y[120:])
    fitted = comparator(mixed, cv=3).fit(X[120:], y[120:])
    assert fitted.estimators_[0] is mixed[0][1]
    assert [row.model for row in fitted.result_.split_tests] == ["tree"]


def test_a_fitted_model_that_is_not_frozen_is_fitted_again(cancer):
    X, y = cancer
    before = stump(2).fit(X[:40], y[:40])
    nodes = before.tree_.node_count
    fitted = comparator([("a", before), TWO[0]]).fit(X, y)
    assert fitted.estimators_[0] is not before
    assert before.tree_.node_count == nodes


# Selection


@pytest.fixture(scope="module")
def noisy():
    return make_classification(
        n_samples=400, n_features=6, n_informative=4, flip_y=0.05, class_sep=1.5, random_state=0
    )


def test_incumbent_stays_unless_another_is_shown_better(noisy):
    X, y = noisy
    prior = ("prior", DummyClassifier())
    assert comparator([prior, ("lr", logistic())]).fit(X, y).best_name_ == "lr"
    assert comparator([("lr", logistic()), prior]).fit(X, y).best_name_ == "lr"
    close = [("lr", logistic()), ("lr2", LogisticRegression(C=0.01))]
    for estimators in (close, close[::-1]):
        fitted = comparator(estimators).fit(X, y)
        assert fitted.best_name_ == estimators[0][0]
        assert fitted.result_.differences[0].verdict == "inconclusive"
    assert comparator(close, baseline="lr2").fit(X, y).best_name_ == "lr2"


def test_of_several_better_ones_the_best_estimate_is_taken(noisy):
    X, y = noisy
    models = [("prior", DummyClassifier()), ("stump", stump()), ("tree", stump(6))]
    fitted = comparator(models).fit(X, y)
    assert {row.verdict for row in fitted.result_.differences} == {"better"}
    better = estimates(fitted)
    assert fitted.best_name_ == max(better, key=better.get)


def test_the_bootstrap_alone_does_not_dethrone_the_incumbent(noisy):
    # Two splits leave one degree of freedom: the t test cannot agree.
    X, y = noisy
    models = [("stump", stump()), ("tree", stump(6))]
    fitted = comparator(models, cv=2).fit(X, y)
    assert fitted.result_.differences[0].verdict == "better"
    assert fitted.result_.split_tests[0].p_adjusted > 0.05
    assert fitted.best_name_ == "stump"
    assert comparator(models, cv=2, selection="best").fit(X, y).best_name_ == "tree"
    half = len(y) // 2
    alone = comparator(frozen(X[:half], y[:half], models)).fit(X[half:], y[half:])
    assert alone.best_name_ == "tree"


def test_a_single_split_keeps_the_incumbent(noisy):
    X, y = noisy
    models = [("prior", DummyClassifier()), ("tree", stump(6))]
    fitted = comparator(models, cv=ShuffleSplit(1, random_state=0)).fit(X, y)
    assert fitted.result_.differences[0].verdict == "better"
    assert (fitted.best_name_, fitted.result_.split_tests) == ("prior", ())
    assert any("A single split allows no such test" in note for note in fitted.result_.notes)


def test_t_tests_are_those_of_the_split_scores(noisy):
    X, y = noisy
    models = [("prior", DummyClassifier()), ("stump", stump()), ("lr", logistic())]
    fitted = comparator(models, scoring="neg_log_loss", cv=5).fit(X, y)
    scores = fitted.split_scores_["log_loss"]
    assert (scores < 0).all()  # scikit-learn's sign
    found = {row.model: row for row in fitted.result_.split_tests}
    for column, name in ((1, "stump"), (2, "lr")):
        expected = corrected_resampled_ttest(
            scores[:, column] - scores[:, 0], n_train=320, n_test=80
        )
        assert found[name].p_value == pytest.approx(expected.p_value, rel=1e-9)
        # In natural units a smaller loss is better.
        assert found[name].difference == pytest.approx(-expected.estimate, rel=1e-9)
        assert found[name].difference < 0
        assert found[name].is_better
    low, high = sorted(row.p_value for row in found.values())
    adjusted = sorted(row.p_adjusted for row in found.values())
    assert adjusted == pytest.approx([2 * low, max(2 * low, high)])  # Holm
    one_sided = comparator(models, scoring="neg_log_loss", alternative="better").fit(X, y)
    assert one_sided.result_.split_tests[1].p_value == pytest.approx(found["lr"].p_value / 2)


def test_best_takes_the_best_estimate_in_the_direction_of_the_metric(cancer):
    X, y = cancer
    for scoring in ("neg_brier_score", "roc_auc"):
        fitted = comparator(THREE, scoring=scoring, selection="best").fit(X, y)
        found = estimates(fitted)
        assert fitted.best_name_ == max(found, key=found.get)
        assert any("takes the best estimate" in note for note in fitted.result_.notes)


def test_baseline_wins_a_tie(cancer):
    X, y = cancer
    twins = [("a", stump(2)), ("b", stump(2))]
    assert comparator(twins, baseline="b", selection="best").fit(X, y).best_name_ == "b"


def test_a_single_estimator_is_allowed(cancer):
    fitted = comparator(TWO[:1]).fit(*cancer)
    assert fitted.result_.differences == ()
    assert fitted.best_name_ == "stump"
    assert not any("Selection" in note for note in fitted.result_.notes)


# The selected model


def test_delegates_to_the_selected_model(cancer):
    X, y = cancer
    fitted = comparator(THREE, baseline="lr").fit(X, y)
    assert fitted.best_name_ == "lr"
    model = fitted.best_estimator_
    assert model is fitted.estimators_[2] is fitted.named_estimators_["lr"]
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(fitted, method)(X), getattr(model, method)(X))
    np.testing.assert_array_equal(model.predict(X), logistic().fit(X, y).predict(X))
    assert fitted.score(X, y) == model.score(X, y)
    assert fitted.n_features_in_ == 6
    np.testing.assert_array_equal(fitted.classes_, [0, 1])
    assert not hasattr(comparator(THREE, baseline="tree").fit(X, y), "decision_function")


def test_before_fit_methods_are_offered_that_all_have():
    assert hasattr(comparator(THREE), "predict_proba")
    assert not hasattr(comparator(THREE), "decision_function")
    assert not hasattr(comparator(), "classes_")
    with pytest.raises(NotFittedError):
        comparator().predict([[0.0]])
    with pytest.raises(NotFittedError):
        comparator().score([[0.0]], [0])


def test_without_refit_there_is_no_prediction(cancer):
    fitted = comparator(refit=False, selection="best").fit(*cancer)
    for name in ("predict", "predict_proba", "score", "best_estimator_", "estimators_", "classes_"):
        assert not hasattr(fitted, name)
    with pytest.raises(AttributeError):
        fitted.predict(cancer[0])
    assert fitted.best_name_ in ("stump", "tree")
    several = comparator(scoring=["accuracy", "roc_auc"], refit=False).fit(*cancer)
    assert not hasattr(several, "best_name_")


def test_a_second_fit_does_not_see_the_first_case_C130(cancer):
    pd = pytest.importorskip("pandas")
    X, y = cancer
    fitted = comparator().fit(pd.DataFrame(X).add_prefix("x"), y)
    assert hasattr(fitted, "feature_names_in_")
    fitted.fit(X[:100, :3], y[:100])
    fresh = comparator().fit(X[:100, :3], y[:100])
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.n_features_in_ == 3
    np.testing.assert_array_equal(fitted.result_.replicates, fresh.result_.replicates)
    fitted.set_params(refit=False).fit(X, y)
    assert not hasattr(fitted, "best_estimator_")
    assert set(vars(fitted)) == set(vars(comparator(refit=False).fit(X, y)))


# Containers and labels


def test_dataframes_of_pandas_and_polars_case_C95(cancer):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = cancer
    names = [f"x{k}" for k in range(6)]
    expected = comparator(THREE, cv=3).fit(X, y).result_.replicates
    for frame, truth in (
        (pd.DataFrame(X, columns=names, index=np.arange(240)[::-1]), y),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        fitted = comparator(THREE, cv=3).fit(frame, truth)
        np.testing.assert_array_equal(fitted.result_.replicates, expected)
        assert fitted.feature_names_in_.tolist() == names
        fitted.predict(frame)
    with pytest.raises(ValueError, match="different pandas indexes"):
        comparator().fit(pd.DataFrame(X), pd.Series(y, index=np.arange(240)[::-1]))


@pytest.mark.parametrize("dtype", [str, object, "category"])
def test_string_labels(cancer, dtype):
    X, y = cancer
    labels = np.where(y == 1, "yes", "no")
    if dtype == "category":
        labels = pytest.importorskip("pandas").Series(labels).astype(dtype)
    else:
        labels = labels.astype(dtype)
    scoring = ["accuracy", "f1", "roc_auc", "neg_log_loss"]
    fitted = comparator(scoring=scoring, refit="f1").fit(X, labels)
    numbers = comparator(scoring=scoring, refit="f1").fit(X, y)
    np.testing.assert_allclose(fitted.result_.replicates, numbers.result_.replicates, rtol=1e-12)
    assert set(fitted.result_.paths.values()) == {"sums", "ranks"}
    assert fitted.score(X, labels) == numbers.score(X, y)
    assert set(fitted.predict(X)) == {"yes", "no"}


def test_sparse_rows_and_kernel_matrices(cancer):
    from scipy.sparse import csr_matrix

    X, y = cancer
    lr = [("a", LogisticRegression(C=0.1)), ("b", LogisticRegression())]
    X = StandardScaler().fit_transform(X)
    dense, sparse = (comparator(lr, cv=3).fit(rows, y) for rows in (X, csr_matrix(X)))
    assert estimates(dense) == pytest.approx(estimates(sparse), abs=0.02)
    gram = rbf_kernel(X, gamma=0.1)
    kernel = [("a", SVC(kernel="precomputed")), ("b", SVC(kernel="precomputed", C=10))]
    fitted = comparator(kernel, cv=3).fit(gram, y)
    expected = cross_validate(SVC(gamma=0.1, C=10), X, y, cv=3)["test_score"].mean()
    assert estimates(fitted)["b"] == pytest.approx(expected, abs=1e-12)


# As an estimator


def test_parameters_reach_into_the_list():
    fresh = comparator()
    params = fresh.get_params()
    assert params["stump__max_depth"] == 1
    assert params["stump"] is fresh.estimators[0][1]
    assert "stump__max_depth" not in fresh.get_params(deep=False)
    given = list(fresh.estimators)
    other = stump(7)
    fresh.set_params(tree=other, tree__max_depth=5, n_resamples=50)
    assert fresh.estimators[1] == ("tree", other)
    assert (other.max_depth, fresh.n_resamples) == (5, 50)
    assert given[1][1] is TWO[1][1]  # the list that was passed is not written to
    fresh.set_params(estimators=[("new", stump(2))], new__max_depth=4)
    assert fresh.get_params()["new__max_depth"] == 4
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        fresh.set_params(nothing=1)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        fresh.set_params(new__nothing=1)


def test_clone_is_unfitted_and_independent(cancer):
    fitted = comparator(THREE).fit(*cancer)
    copy = clone(fitted)
    assert not hasattr(copy, "result_")
    copy.set_params(stump__max_depth=9)
    assert fitted.get_params()["stump__max_depth"] == 1
    assert repr(copy)


@pytest.mark.parametrize("bad", [None, 3, "ab", [], [("a",)], [stump()], {"a": stump()}, stump()])
def test_bad_lists_can_be_shown_and_cloned_but_not_fitted(cancer, bad):
    wrong = PairedBootstrapComparator(bad)
    assert wrong.get_params()["estimators"] is bad
    assert repr(wrong)
    wrong.__sklearn_tags__()
    with pytest.raises((TypeError, ValueError), match="`estimators` must|At least one model"):
        wrong.fit(*cancer)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimators": [("a", stump()), ("a", stump())]}, "must be unique, got 'a'"),
        ({"estimators": [("a__b", stump())]}, "must not contain '__', got 'a__b'"),
        ({"estimators": [("cv", stump())]}, "must not be those of parameters, got 'cv'"),
        ({"estimators": [("a", stump()), ("b", Ridge())]}, "must all be of one kind"),
        ({"n_resamples": 10}, "39"),
        ({"confidence_level": 95}, "`confidence_level` must"),
        ({"method": "student"}, "`method` must be one of"),
        ({"correction": "none"}, "`correction` must be one of"),
        ({"alternative": "greater"}, "`alternative` must be one of"),
        ({"selection": "first"}, "`selection` must be one of 'incumbent', 'best', got 'first'"),
        ({"baseline": "c"}, "`baseline` must be the name of a model"),
        ({"random_state": "0"}, "`random_state` must"),
        ({"n_jobs": 0}, "`n_jobs` must"),
        ({"scoring": "speed"}, "`scoring` must be a scorer name"),
        ({"refit": "f1"}, "`refit` must be True, False or the name of a metric, got 'f1'"),
        ({"refit": None}, "`refit` must be"),
        (
            {"scoring": ["f1", "roc_auc"]},
            "`refit` must be the name of the metric that decides where there are several, or "
            "False, got True. The metrics are 'f1', 'roc_auc'",
        ),
        ({"resampling": "rows"}, "`resampling` must"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_fitted(cancer, params, message):
    class Explosive(NoWeights):
        def fit(self, X, y):
            raise AssertionError("was fitted")

    params = {"estimators": [("a", Explosive()), ("b", Explosive())], **params}
    with pytest.raises(ValueError, match=message):
        comparator(**params).fit(*cancer)


def test_bad_data_are_refused_before_anything_is_fitted(cancer):
    X, y = cancer

    class Explosive(NoWeights):
        def fit(self, X, y):
            raise AssertionError("was fitted")

    fresh = comparator([("a", Explosive()), ("b", Explosive())])
    for y_bad, given, message in (
        (None, {}, "requires y to be passed, but the target y is None"),
        (y[:-1], {}, "inconsistent numbers of samples"),
        (np.stack([y, y], axis=1)[:, :, None], {}, r"`y` must have shape \(n_rows,\), or"),
        (y, {"sample_weight": -np.ones(240)}, "`sample_weight` must not be negative"),
        (y, {"groups": [None, *range(239)]}, r"`groups` must be finite and present.*row\(s\) 0"),
        (y, {"groups": [1, 2]}, "`groups` must have one entry per row, 240, got 2"),
        (y, {"price": y}, "`fit` must get no further metadata unless.*got 'price'"),
    ):
        with pytest.raises(ValueError, match=message):
            fresh.fit(X, y_bad, **given)
    with pytest.raises(ValueError, match="`groups` must be None with `RowBootstrap`"):
        comparator(resampling=RowBootstrap()).fit(X, y, groups=y)
    with pytest.raises(ValueError, match="`sample_weight` must be None for"):
        fresh.set_params(scoring=lambda model, X, y: 0.5).fit(X, y, sample_weight=np.ones(240))


def test_results_do_not_depend_on_n_jobs(cancer):
    X, y = cancer
    scorer = make_scorer(median_absolute_error, greater_is_better=False)
    one, two = (
        comparator(
            THREE, scoring={"auc": "roc_auc", "median": scorer}, refit="auc", n_jobs=n_jobs
        ).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert one.result_.replicates.tobytes() == two.result_.replicates.tobytes()
    assert str(one.result_.differences) == str(two.result_.differences)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_warning_is_shown_once_wherever_it_was_met(cancer):
    X, y = cancer
    models = [("lr", LogisticRegression(max_iter=2)), TWO[0]]
    for n_jobs in (1, 2):
        with pytest.warns(ConvergenceWarning) as caught:
            comparator(models, n_jobs=n_jobs, refit=False).fit(X, y)
        assert len(caught) == 1
        assert "(met in 5 fit(s) of lr)" in str(caught[0].message)


def test_pickle(cancer):
    X, y = cancer
    fitted = comparator(THREE, scoring=["roc_auc", "accuracy"], refit="accuracy").fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(copy.result_.replicates, fitted.result_.replicates)
    assert copy.result_.replace(baseline="lr").baseline == "lr"
    assert str(copy.result_) == str(fitted.result_)


def test_global_random_state_is_left_alone(cancer):
    np.random.seed(7)
    before = np.random.get_state()[1].copy()
    comparator(random_state=None).fit(*cancer)
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_kind_follows_the_estimators():
    assert is_classifier(comparator())
    assert is_regressor(comparator([("ridge", Ridge())]))
    tags = comparator(THREE).__sklearn_tags__()
    assert not tags.input_tags.allow_nan  # the tree takes NaN, logistic regression does not
    assert comparator(TWO).__sklearn_tags__().input_tags.allow_nan
    assert tags.target_tags.required


def test_inside_pipeline_search_and_cross_validation(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), comparator(n_resamples=39))
    assert pipeline.fit(X, y).predict(X).shape == (240,)
    search = GridSearchCV(
        comparator(n_resamples=39), {"tree__max_depth": [1, 4], "stump": [stump(1), stump(2)]}, cv=2
    ).fit(X, y)
    assert set(search.best_params_) == {"tree__max_depth", "stump"}
    assert search.predict(X).shape == (240,)
    scores = cross_validate(comparator(n_resamples=39), X, y, cv=2)["test_score"]
    assert scores.shape == (2,)
    nested = comparator([("inner", comparator(n_resamples=39)), TWO[1]], scoring="f1", cv=2)
    nested.fit(X, y)
    assert nested.get_params()["inner__tree__max_depth"] == 3


def test_result_says_what_is_held_fixed(cancer):
    text = comparator(cv=4).fit(*cancer).result_.summary()
    assert "the models fitted on 4 training part(s), and the splits" in " ".join(text.split())
