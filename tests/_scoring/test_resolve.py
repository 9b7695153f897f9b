"""From what users pass as ``scoring`` to metrics."""

import functools
import re

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import accepts, resolve_scoring, shared_responses


def one(scoring):
    (metric,) = resolve_scoring(scoring)
    return metric


def own_scorer(model, X, y):
    return 1.0


class Scorer:
    def __call__(self, model, X, y, sample_weight=None):
        return 1.0


# --- Names, directions, functions ---------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(metrics.get_scorer_names()))
def test_every_name_that_scikit_learn_knows(name):
    metric, scorer = one(name), metrics.get_scorer(name)
    loss = name.startswith("neg_")
    assert metric.name == name.removeprefix("neg_")
    assert metric.greater_is_better is not loss
    assert metric.sign == (-1 if loss else 1)
    assert callable(metric.function)
    assert set(metric.responses) <= {"predict", "predict_proba", "decision_function"}
    assert metric.responses
    assert type(metric.scorer) is type(scorer)


@pytest.mark.parametrize(
    ("scoring", "name", "greater"),
    [
        (make_scorer(metrics.f1_score, average="macro"), "f1_score", True),
        (make_scorer(metrics.max_error, greater_is_better=False), "max_error", False),
        (own_scorer, "own_scorer", True),
        (Scorer(), "Scorer", True),
        (lambda model, X, y: 1.0, "scorer", True),
        ({"mine": "neg_log_loss"}, "mine", False),
        ({"neg_mine": "neg_log_loss"}, "mine", False),
        ({"neg_mine": "accuracy"}, "neg_mine", True),
    ],
)
def test_names_and_directions(scoring, name, greater):
    metric = one(scoring)
    assert (metric.name, metric.greater_is_better) == (name, greater)


def test_functions_and_their_arguments_are_recognised():
    metric = one(make_scorer(metrics.fbeta_score, beta=2, response_method="predict"))
    assert metric.function is metrics.fbeta_score
    assert metric.kwargs == {"beta": 2}
    assert metric.responses == ("predict",)
    assert one("roc_auc").responses == ("decision_function", "predict_proba")
    bare = one(own_scorer)
    assert (bare.function, bare.responses, dict(bare.kwargs)) == (None, (), {})


def test_several_metrics_keep_their_order():
    assert [m.name for m in resolve_scoring(["r2", "neg_max_error"])] == ["r2", "max_error"]
    assert [m.name for m in resolve_scoring(("f1", own_scorer))] == ["f1", "own_scorer"]
    named = {"b": "accuracy", "a": make_scorer(metrics.f1_score)}
    assert [m.name for m in resolve_scoring(named)] == ["b", "a"]
    assert {m.name for m in resolve_scoring({"accuracy", "f1"})} == {"accuracy", "f1"}


def test_weights_are_known_to_be_taken_or_not():
    assert one("accuracy").accepts_sample_weight
    assert not one("neg_max_error").accepts_sample_weight
    assert not one(own_scorer).accepts_sample_weight
    assert one(Scorer()).accepts_sample_weight
    assert one(functools.partial(Scorer(), sample_weight=None)).accepts_sample_weight


def test_accepts():
    assert accepts(lambda a, b: 0, "b")
    assert not accepts(lambda a: 0, "b")
    assert accepts(lambda **keywords: 0, "b")
    assert not accepts(print, "b") or True  # whatever Python says of builtins, it does not fail
    assert not accepts(object(), "b")


@pytest.mark.parametrize(
    "function",
    [
        metrics.accuracy_score,
        metrics.roc_auc_score,
        metrics.adjusted_rand_score,
        metrics.mean_squared_error,
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: {"mine": f}, lambda f: ["r2", f]])
def test_metric_functions_are_refused(function, wrap):
    with pytest.raises(ValueError, match=f"got the metric function {function.__name__}, which"):
        resolve_scoring(wrap(function))


# --- The estimators' own score ------------------------------------------------------------------


class Own(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y, bonus=0):
        return 3.0 + bonus


def fitted(estimator):
    return estimator.fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (make_pipeline(StandardScaler(), Own()), "score"),
        (Own(), "score"),
        (KMeans(2, n_init=1), "score"),
    ],
)
def test_other_scores_are_called(estimator, name):
    (metric,) = resolve_scoring(None, {"a": fitted(estimator)})
    assert (metric.name, metric.function, metric.greater_is_better) == (name, None, True)
    assert metric.accepts_sample_weight
    assert metric.scorer(Own(), None, None, bonus=1) == 4


def test_standard_scores_are_recognised_behind_pipelines_frozen_and_recorded_estimators():
    from sklearn.linear_model import LinearRegression, LogisticRegression

    X = np.arange(8.0).reshape(4, 2)
    for estimator, name in ((LogisticRegression(), "accuracy"), (LinearRegression(), "r2")):
        fitted(estimator)
        forms = {
            "plain": estimator,
            "pipeline": fitted(make_pipeline(StandardScaler(), estimator)),
            "frozen": FrozenEstimator(estimator),
            "record": RecordedEstimator.from_estimator(estimator, X),
            "frozen record": RecordedEstimator.from_estimator(FrozenEstimator(estimator), X),
        }
        (metric,) = resolve_scoring(None, forms)
        assert metric.name == name


def test_recorded_scores_of_other_kinds_are_those_of_the_estimator():
    record = RecordedEstimator.from_estimator(Own().fit([[0]]), [[0.0], [1.0]])
    (metric,) = resolve_scoring(None, {"a": Own(), "b": record})
    assert metric.name == "score"
    arrays = RecordedEstimator.from_arrays(predict=[0, 1], classes=[0, 1])
    (metric,) = resolve_scoring(None, {"a": arrays})
    assert metric.name == "accuracy"


def test_scores_of_different_meaning_are_refused():
    with pytest.raises(ValueError, match="^`scoring` must be given where the models' own `score`"):
        resolve_scoring(None, {"a": fitted(DummyRegressor()), "b": Own()})


def test_models_without_score_are_refused():
    class Bare:
        def predict(self, X):
            return X

    message = "`scoring` must be given where a model has no `score` method, got Bare."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        resolve_scoring(None, {"a": Bare()})
    with pytest.raises(ValueError, match="must name a metric where there are no estimators"):
        resolve_scoring(None)


# --- Responses that one array can give ----------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "responses"),
    [
        (["accuracy", "f1"], ("predict",)),
        (["roc_auc"], ("decision_function", "predict_proba")),
        (["roc_auc", "neg_log_loss"], ("predict_proba",)),
        (["neg_log_loss", "average_precision"], ("predict_proba",)),
        (["accuracy", "roc_auc"], ()),
        ([own_scorer, "accuracy"], ("predict",)),
    ],
)
def test_shared_responses(scoring, responses):
    assert shared_responses(resolve_scoring(scoring)) == responses
