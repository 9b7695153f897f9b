"""Metadata routing of PairedBootstrapComparator: weights, groups and what else users pass."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot.comparator import PairedBootstrapComparator


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    return X, y, rng.integers(0, 15, 120), rng.uniform(0.5, 2, 120)


class Spy(ClassifierMixin, BaseEstimator):
    """Keeps what its fit was given; all its copies share one list."""

    seen = []

    def __init__(self, strategy="prior"):
        self.strategy = strategy

    def fit(self, X, y, sample_weight=None, price=None, currency=None):
        self.seen.append((len(y), sample_weight, price, currency))
        self.model_ = DummyClassifier(strategy=self.strategy).fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.fixture
def seen():
    Spy.seen.clear()
    return Spy.seen


def tree(**requests):
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    return model.set_fit_request(**requests) if requests else model


def comparator(estimators, **params):
    return PairedBootstrapComparator(estimators, **{"n_resamples": 39, "random_state": 0, **params})


def weighted_accuracy():
    return make_scorer(accuracy_score).set_score_request(sample_weight=True)


def unweighted_accuracy():
    return make_scorer(accuracy_score).set_score_request(sample_weight=False)


def test_each_consumer_gets_what_it_requests(data, seen):
    X, y, _, weight = data
    spy = Spy().set_fit_request(sample_weight="exposure", price=True, currency=True)
    fitted = comparator(
        [("spy", spy), ("tree", tree(sample_weight=False))], scoring=weighted_accuracy(), cv=3
    )
    price = np.arange(120)
    fitted.fit(X, y, sample_weight=weight, exposure=weight * 2, price=price, currency="EUR")
    assert [n for n, *_ in seen] == [120, 80, 80, 80]
    splits = [np.arange(120), *(train for train, _ in _splits(X, y))]
    for rows, (_, got_weight, got_price, currency) in zip(splits, seen, strict=True):
        np.testing.assert_array_equal(got_weight, 2 * weight[rows])
        np.testing.assert_array_equal(got_price, price[rows])
        assert currency == "EUR"
    assert fitted.result_.weighted
    unweighted = tree().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(fitted.named_estimators_["tree"].predict_proba(X), unweighted)


def _splits(X, y):
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(3).split(X, y)


def test_weighted_estimate_is_the_mean_of_cross_validate(data):
    X, y, _, weight = data
    model, scorer = tree(sample_weight=True), weighted_accuracy()
    fitted = comparator([("tree", model)], scoring=scorer, cv=4).fit(X, y, sample_weight=weight)
    expected = cross_validate(model, X, y, scoring=scorer, cv=4, params={"sample_weight": weight})
    assert fitted.result_.scores[0].estimate == pytest.approx(
        expected["test_score"].mean(), rel=1e-14
    )
    assert fitted.score(X, y, sample_weight=weight) == accuracy_score(
        y, fitted.predict(X), sample_weight=weight
    )


def test_metrics_may_differ_in_what_they_request(data):
    X, y, _, weight = data
    scoring = {"weighted": weighted_accuracy(), "plain": unweighted_accuracy()}
    models = [("tree", tree(sample_weight=False))]
    fitted = comparator(models, scoring=scoring, refit="plain", cv=3)
    fitted.fit(X, y, sample_weight=weight)
    alone = comparator(models, scoring=unweighted_accuracy(), cv=3).fit(X, y)
    assert fitted.result_.scores[1].estimate == alone.result_.scores[0].estimate
    assert fitted.result_.scores[0].estimate != fitted.result_.scores[1].estimate
    assert any(note.startswith("plain: scored without") for note in fitted.result_.notes)


def test_own_score_follows_the_requests_of_the_estimators(data):
    X, y, _, weight = data
    plain = tree(sample_weight=False).set_score_request(sample_weight=False)
    weighted = tree(sample_weight=False).set_score_request(sample_weight=True)
    lr = LogisticRegression().set_fit_request(sample_weight=True)
    lr.set_score_request(sample_weight=True)
    fitted = comparator([("tree", weighted), ("lr", lr)]).fit(X, y, sample_weight=weight)
    assert fitted.result_.weighted
    assert fitted.score(X, y, sample_weight=weight) == accuracy_score(
        y, fitted.predict(X), sample_weight=weight
    )
    assert not comparator([("tree", plain)]).fit(X, y, sample_weight=weight).result_.weighted
    with pytest.raises(ValueError, match="own `score` methods request different metadata"):
        comparator([("tree", plain), ("lr", lr)]).fit(X, y, sample_weight=weight)
    with pytest.raises(UnsetMetadataPassedError, match="DecisionTreeClassifier"):
        comparator([("tree", tree(sample_weight=False))]).fit(X, y, sample_weight=weight)


def test_what_nobody_has_decided_on_is_an_error_case_C84(data):
    X, y, _, weight = data
    with pytest.raises(UnsetMetadataPassedError, match="DecisionTreeClassifier"):
        comparator([("t", tree())], scoring=weighted_accuracy()).fit(X, y, sample_weight=weight)
    by_name = comparator([("t", tree(sample_weight=True))], scoring="accuracy")
    if sklearn.__version__.startswith("1.6"):  # whose scorers are not asked before they are used
        notes = by_name.fit(X, y, sample_weight=weight).result_.notes
        assert any(note.startswith("accuracy: scored without `sample_weight`") for note in notes)
    else:
        with pytest.raises(UnsetMetadataPassedError, match="accuracy"):
            by_name.fit(X, y, sample_weight=weight)
    with pytest.raises(TypeError, match="unexpected argument.*'price'"):
        comparator([("t", tree())], scoring="accuracy").fit(X, y, price=weight)


def test_without_metadata_nothing_needs_requests(data):
    X, y, _, _ = data
    with sklearn.config_context(enable_metadata_routing=False):
        expected = comparator([("t", tree())]).fit(X, y).result_
    found = comparator([("t", tree())]).fit(X, y).result_
    np.testing.assert_array_equal(found.replicates, expected.replicates)


@pytest.mark.parametrize("cv", [None, 4, StratifiedGroupKFold(5)])
def test_groups_reach_splitter_and_bootstrap(data, cv):
    X, y, groups, _ = data
    with sklearn.config_context(enable_metadata_routing=False):
        expected = comparator([("t", tree())], cv=cv).fit(X, y, groups=groups)
    found = comparator([("t", tree())], cv=cv).fit(X, y, groups=groups)
    assert found.result_.unit == "clusters"
    assert found.result_.n_units == 15
    np.testing.assert_array_equal(found.result_.replicates, expected.result_.replicates)


def test_groups_do_not_bother_a_splitter_without_groups(data):
    X, y, groups, _ = data
    result = comparator([("t", tree())], cv=KFold(3)).fit(X, y, groups=groups).result_
    assert result.unit == "clusters"
    assert any("tears them apart" in note for note in result.notes)


def test_nested_search_gets_its_groups_case_C83(data):
    X, y, groups, _ = data
    inner = GridSearchCV(tree(), {"max_depth": [1, 3]}, cv=GroupKFold(3))
    fitted = comparator([("search", inner), ("tree", tree())], scoring="accuracy")
    fitted.fit(X, y, groups=groups)
    assert fitted.named_estimators_["search"].n_splits_ == 3
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(ValueError, match="groups"),
    ):
        fitted.fit(X, y, groups=groups)


def test_pipelines_pass_on(data, seen):
    X, y, _, _ = data
    pipeline = make_pipeline(StandardScaler(), Spy().set_fit_request(price=True))
    comparator([("pipe", pipeline)], cv=2).fit(X, y, price=np.arange(120))
    assert [n for n, *_ in seen] == [120, 60, 60]
    assert all(len(price) == n for n, _, price, _ in seen)


def test_scorer_gets_the_metadata_of_the_drawn_rows(data):
    X, y, _, _ = data
    price = np.random.default_rng(1).integers(1, 9, 120)

    def revenue(y_true, y_pred, price):
        return float(np.mean(price * (y_true == y_pred)))

    def revenue_of_model(estimator, X, y, price):
        return revenue(y, estimator.predict(X), price)

    class Revenue(BaseEstimator):
        """A scorer that is no product of make_scorer."""

        def score(self, estimator, X, y, *, price=None):
            return revenue_of_model(estimator, X, y, price)

        def __call__(self, estimator, X, y, *, price=None):
            return revenue_of_model(estimator, X, y, price)

    made = make_scorer(revenue).set_score_request(price=True)
    own = Revenue().set_score_request(price=True)
    models = [("prior", DummyClassifier()), ("tree", tree())]
    fitted = comparator(models, scoring={"made": made, "own": own}, refit="made", cv=3)
    fitted.fit(X, y, price=price)
    expected = cross_validate(tree(), X, y, scoring=made, cv=3, params={"price": price})
    assert fitted.result_.scores[1].estimate == pytest.approx(expected["test_score"].mean())
    replicates = fitted.result_.replicates
    np.testing.assert_array_equal(replicates[:, 0], replicates[:, 1])
    assert fitted.score(X, y, price=price) == revenue(y, fitted.predict(X), price)
    frozen = [(name, FrozenEstimator(model.fit(X, y))) for name, model in models]
    direct = comparator(frozen, scoring=made).fit(X, y, price=price).result_
    assert direct.scores[0].estimate == pytest.approx(revenue(y, models[0][1].predict(X), price))
    # Each price with its row: the mean over resamples is near the estimate.
    assert direct.replicates[:, 0, 1].mean() == pytest.approx(direct.scores[1].estimate, rel=0.1)


def test_inside_a_search_with_groups_of_its_own(data):
    X, y, groups, _ = data
    inner = comparator([("a", tree()), ("b", DummyClassifier())], cv=GroupKFold(3))
    inner.set_fit_request(groups=True)
    search = GridSearchCV(inner, {"a__max_depth": [1, 2]}, cv=GroupKFold(3))
    search.fit(X, y, groups=groups)
    assert search.best_estimator_.result_.unit == "clusters"
    inner = comparator([("a", tree()), ("b", DummyClassifier())], cv=GroupKFold(3))
    with pytest.raises(UnsetMetadataPassedError, match="groups"):
        GridSearchCV(inner, {"a__max_depth": [1, 2]}, cv=GroupKFold(3)).fit(X, y, groups=groups)


def test_inside_a_pipeline_with_weights(data):
    X, y, _, weight = data
    inner = comparator(
        [("a", tree(sample_weight=True)), ("b", tree(sample_weight=False))],
        scoring=weighted_accuracy(),
    ).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
    pipeline.fit(X, y, sample_weight=weight)
    assert pipeline[-1].result_.weighted


def test_requests_need_routing(data):
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(RuntimeError, match="enable_metadata_routing"),
    ):
        comparator([("a", tree())]).set_fit_request(groups=True)
    X, y, _, weight = data
    with sklearn.config_context(enable_metadata_routing=False):
        fitted = comparator([("a", tree())]).fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match="`score` must get no further metadata"):
            fitted.score(X, y, price=weight)
        assert fitted.score(X, y, sample_weight=weight) == accuracy_score(
            y, fitted.predict(X), sample_weight=weight
        )


def test_names_of_models_and_metrics_do_not_collide(data):
    X, y, groups, _ = data
    fitted = comparator(
        [("splitter", tree()), ("accuracy", tree()), ("scorer", tree())],
        scoring={"accuracy": "accuracy", "splitter": "roc_auc"},
        refit="splitter",
        cv=GroupKFold(3),
    ).fit(X, y, groups=groups)
    assert fitted.best_name_ == "splitter"
