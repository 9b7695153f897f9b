"""Fitted estimators: they predict once, and answer as they would to the drawn rows."""

import re
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import make_scorer, max_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_pairboot import RecordedEstimator, compare_estimators, compare_predictions

OPTIONS = {"n_resamples": 60, "random_state": 0}


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(n_samples=120, n_features=5, random_state=0)
    models = {
        "logistic": LogisticRegression().fit(X[:60], y[:60]),
        "tree": DecisionTreeClassifier(min_samples_leaf=12, random_state=0).fit(X[:60], y[:60]),
    }
    return models, X[60:], y[60:]


@pytest.fixture(scope="module")
def continuous():
    X, y = make_regression(n_samples=80, n_features=4, noise=20, random_state=0)
    models = {
        "linear": LinearRegression().fit(X[:40], y[:40]),
        "tree": DecisionTreeRegressor(max_depth=3, random_state=0).fit(X[:40], y[:40]),
    }
    return models, X[40:], y[40:]


def compare(data, scoring="accuracy", models=None, **options):
    fitted, X, y = data
    return compare_estimators(models or fitted, X, y, scoring=scoring, **OPTIONS | options)


def refused(error, message, *args, **options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        compare_estimators(*args, **options)


def test_all_response_methods_at_once(binary):
    models, X, y = binary
    scoring = ["accuracy", "f1", "roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"]
    result = compare(binary, scoring)
    for row in result.scores:
        name = row.metric if row.greater_is_better else f"neg_{row.metric}"
        expected = metrics.get_scorer(name)(models[row.model], X, y)
        assert row.estimate == pytest.approx(abs(expected), rel=1e-12)
    assert set(result.paths.values()) == {"sums", "ranks"}


def test_every_model_predicts_once(binary):
    calls = []

    class Counted(LogisticRegression):
        def predict_proba(self, X):
            calls.append(len(X))
            return super().predict_proba(X)

    _, X, y = binary
    model = Counted().fit(X, y)
    calls.clear()
    d2 = make_scorer(metrics.d2_log_loss_score, response_method="predict_proba")
    scoring = {"loss": "neg_log_loss", "brier": "neg_brier_score", "d2": d2}
    compare((None, X, y), scoring, {"m": model})
    assert calls == [60]


@pytest.mark.parametrize("form", ["mapping", "list of tuples", "list of lists", "tuple"])
def test_forms_of_estimators(binary, form):
    models, X, y = binary
    given = {
        "mapping": models,
        "list of tuples": list(models.items()),
        "list of lists": [list(pair) for pair in models.items()],
        "tuple": tuple(models.items()),
    }[form]
    found = compare_estimators(given, X, y, scoring="accuracy", **OPTIONS)
    np.testing.assert_array_equal(found.replicates, compare(binary).replicates)
    assert found.models == ("logistic", "tree")


def test_one_and_four_models(binary):
    models, X, y = binary
    one = compare(binary, models={"logistic": models["logistic"]})
    assert (len(one.scores), len(one.differences)) == (1, 0)
    more = models | {
        "majority": DummyClassifier().fit(X, y),
        "svm": LinearSVC().fit(X, y),
    }
    four = compare(binary, models=more, baseline="majority")
    assert [row.model for row in four.differences] == ["logistic", "tree", "svm"]
    adjusted = [row.p_adjusted for row in four.differences]
    assert all(p >= row.p_value for p, row in zip(adjusted, four.differences, strict=True))


def test_same_as_predictions(binary):
    models, X, y = binary
    answers = {name: model.predict(X) for name, model in models.items()}
    expected = compare_predictions(y, answers, scoring=["accuracy", "f1"], **OPTIONS)
    found = compare(binary, ["accuracy", "f1"])
    np.testing.assert_array_equal(found.replicates, expected.replicates)


def test_models_on_different_features(binary):
    models, X, y = binary
    narrow = LogisticRegression().fit(X[:, :2], y)
    record = RecordedEstimator.from_estimator(narrow, X[:, :2])
    result = compare(binary, ["accuracy", "roc_auc"], {"all": models["logistic"], "two": record})
    assert result.scores[1].estimate == narrow.score(X[:, :2], y)

    def depth(model, X, y):
        return float(X.shape[1])

    seen = compare(binary, depth, {"all": models["logistic"], "two": record})
    np.testing.assert_array_equal(seen.replicates[:, 0], np.tile([5.0, 2.0], (60, 1)))


def test_scorers_that_look_at_rows_get_the_drawn_ones(binary):
    models, X, y = binary
    number = np.arange(60.0)
    X = np.column_stack([X, number])
    wide = {name: make_pipeline(_Columns(5), model).fit(X, y) for name, model in models.items()}

    def of_rows(model, X, y):
        rows = X[:, 5].astype(int)
        assert (binary[2][rows] == y).all()
        return float(np.mean(rows))

    def perturbed(model, X, y):  # asked about other rows, the real model answers
        return float(np.mean(model.predict(X + 0.0) == y))

    result = compare_estimators(
        wide, X, y, scoring={"rows": of_rows, "again": perturbed, "accuracy": "accuracy"}, **OPTIONS
    )
    np.testing.assert_array_equal(result.replicates[:, 1], result.replicates[:, 2])
    assert len(np.unique(result.replicates[:, 0, 0])) > 30


class _Columns(BaseEstimator):
    def __init__(self, n):
        self.n = n

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[:, : self.n]


# --- The estimators' own score ------------------------------------------------------------------


def test_scoring_none_is_accuracy_or_r2(binary, continuous):
    for data, name in ((binary, "accuracy"), (continuous, "r2")):
        models, X, y = data
        result = compare(data, None)
        assert result.metrics == (name,)
        assert result.paths[name] == "sums"
        expected = [model.score(X, y) for model in models.values()]
        assert [row.estimate for row in result.scores] == pytest.approx(expected, rel=1e-12)


def test_scoring_none_sees_through_pipelines_and_frozen_estimators(binary):
    models, X, y = binary
    wrapped = {
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
        "frozen": FrozenEstimator(models["tree"]),
    }
    result = compare(binary, None, wrapped)
    assert result.metrics == ("accuracy",)
    assert [row.estimate for row in result.scores] == [m.score(X, y) for m in wrapped.values()]


class _Balanced(ClassifierMixin, BaseEstimator):
    """A classifier whose score is not accuracy."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)

    def score(self, X, y, sample_weight=None):
        return metrics.balanced_accuracy_score(y, self.predict(X), sample_weight=sample_weight)


def test_other_scores_are_replayed(binary):
    _, X, y = binary
    model = _Balanced().fit(X, y)
    result = compare(binary, None, {"m": model})
    assert (result.metrics, result.paths) == (("score",), {"score": "replay"})
    assert result.scores[0].estimate == model.score(X, y)
    weight = np.arange(60) % 3 + 1.0
    weighted = compare(binary, None, {"m": model}, sample_weight=weight)
    assert weighted.scores[0].estimate == pytest.approx(model.score(X, y, weight))


def test_scores_of_different_meaning_are_refused(binary):
    models, X, y = binary
    with pytest.raises(
        ValueError, match="own `score` methods differ in meaning, got a: accuracy, b"
    ):
        compare(binary, None, {"a": models["tree"], "b": _Balanced().fit(X, y)})


def test_scoring_none_with_recorded_answers(binary):
    models, X, y = binary
    records = {name: RecordedEstimator.from_estimator(model, X) for name, model in models.items()}
    found = compare(binary, None, records)
    np.testing.assert_array_equal(found.replicates, compare(binary, None).replicates)
    mixed = compare(binary, None, {"a": models["logistic"], "b": records["tree"]})
    np.testing.assert_array_equal(mixed.replicates, found.replicates)
    own = {
        "a": _Balanced().fit(X, y),
        "b": RecordedEstimator.from_estimator(_Balanced().fit(X, y), X),
    }
    replayed = compare(binary, None, own)
    assert replayed.paths == {"score": "replay"}
    assert replayed.scores[1].estimate == own["a"].score(X, y)
    np.testing.assert_array_equal(replayed.replicates[..., 0], replayed.replicates[..., 1])
    arrays = {"m": RecordedEstimator.from_arrays(predict=models["tree"].predict(X), classes=[0, 1])}
    assert compare(binary, None, arrays).metrics == ("accuracy",)


# --- Inputs -------------------------------------------------------------------------------------


def test_labels_in_words(binary):
    _, X, y = binary
    words = np.array(["ill", "well"])[y]
    models = {
        "logistic": LogisticRegression().fit(X, words),
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, words),
    }
    scoring = ["accuracy", "f1", "roc_auc", "average_precision", "neg_log_loss"]
    result = compare_estimators(models, X, words, scoring=scoring, **OPTIONS)
    numbers = {
        "logistic": LogisticRegression().fit(X, y),
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y),
    }
    expected = compare_estimators(numbers, X, y, scoring=scoring, **OPTIONS)
    np.testing.assert_array_equal(result.replicates, expected.replicates)
    ill = make_scorer(metrics.f1_score, pos_label="ill")
    chosen = compare_estimators(models, X, words, scoring=ill, **OPTIONS)
    assert chosen.scores[0].estimate == pytest.approx(
        metrics.f1_score(words, models["logistic"].predict(X), pos_label="ill")
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes(binary, library):
    module = pytest.importorskip(library)
    models, X, y = binary
    names = [f"x{k}" for k in range(5)]
    frame = module.DataFrame({name: X[:, k] for k, name in enumerate(names)})
    target, groups = module.Series(y), module.Series(np.arange(60) // 6)
    named = {
        name: type(model)(**model.get_params()).fit(frame, target) for name, model in models.items()
    }

    def of_frame(model, X, y):
        assert type(X) is type(frame)
        return float(np.mean(model.predict(X) == np.asarray(y)))

    scoring = {"accuracy": "accuracy", "frame": of_frame}
    result = compare_estimators(named, frame, target, scoring=scoring, groups=groups, **OPTIONS)
    np.testing.assert_allclose(result.replicates[:, 0], result.replicates[:, 1], rtol=1e-12)
    assert result.n_units == 10


def test_indexes_of_pandas_must_agree(binary):
    pandas = pytest.importorskip("pandas")
    models, X, y = binary
    frame = pandas.DataFrame(X)
    message = "`X` and `y` have different pandas indexes, but rows are paired by position."
    with pytest.raises(ValueError, match=re.escape(message)):
        compare_estimators(models, frame, pandas.Series(y, index=np.arange(60)[::-1]))


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_rows(binary, form):
    _, X, y = binary
    model = LogisticRegression().fit(X, y)
    found = compare((None, form(X), y), ["accuracy", "roc_auc"], {"m": model})
    expected = compare((None, X, y), ["accuracy", "roc_auc"], {"m": model})
    np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-12)


def test_lists_and_memory_maps(binary, tmp_path):
    models, X, y = binary
    expected = compare(binary).replicates
    listed = compare_estimators(models, X.tolist(), y.tolist(), scoring="accuracy", **OPTIONS)
    np.testing.assert_array_equal(listed.replicates, expected)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = compare((models, mapped, y), {"a": "accuracy", "own": _own_accuracy})
    np.testing.assert_array_equal(found.replicates[:, 0], expected[:, 0])
    np.testing.assert_allclose(found.replicates[:, 1], expected[:, 0], rtol=1e-12)


def _own_accuracy(model, X, y):
    return float(np.mean(model.predict(X) == y))


def test_column_of_truths(continuous):
    models, X, y = continuous
    column = compare_estimators(models, X, y[:, None], scoring="r2", **OPTIONS)
    np.testing.assert_array_equal(column.replicates, compare(continuous, "r2").replicates)


def test_regressors_that_answer_in_columns(continuous):
    _, X, y = continuous
    model = Ridge().fit(X, y[:, None])
    assert model.predict(X).shape in ((40, 1), (40,))
    result = compare_estimators({"m": model}, X, y, scoring="r2", **OPTIONS)
    assert result.scores[0].estimate == pytest.approx(metrics.r2_score(y, model.predict(X)))


# --- Bad values ---------------------------------------------------------------------------------


def test_bad_estimators(binary):
    models, X, y = binary
    refused(
        TypeError,
        "`estimators` must be a mapping or a list of (name, estimator) pairs, got DummyClassifier.",
        DummyClassifier().fit(X, y),
        X,
        y,
    )
    with pytest.raises(TypeError, match="list of .name, estimator. pairs, got a list with "):
        compare_estimators([models["tree"]], X, y)
    refused(ValueError, "At least one model must be given, got none.", {}, X, y)
    refused(
        ValueError,
        "Names of models must be unique, got 'a' more than once.",
        [("a", models["tree"]), ("a", models["logistic"])],
        X,
        y,
    )
    with pytest.raises(NotFittedError):
        compare_estimators({"m": LogisticRegression()}, X, y)
    with pytest.raises(TypeError, match="`estimator` must be a fitted estimator with a method"):
        compare_estimators({"m": LogisticRegression}, X, y, scoring="accuracy")


def test_lengths_must_agree(binary):
    models, X, y = binary
    refused(
        ValueError,
        "The answers of model 'logistic' must have one entry per row, 59, got 60.",
        models,
        X,
        y[:-1],
    )
    short = RecordedEstimator.from_estimator(models["tree"], X[:10])
    with pytest.raises(ValueError, match="The answers of model 'short' must have one entry"):
        compare_estimators({"short": short}, X, y, scoring="accuracy")
    with pytest.raises(ValueError, match="`y` must be finite and present in every row"):
        compare_estimators(models, X, np.where(y == 0, np.nan, y))


def test_models_without_a_response_are_named(binary):
    _, X, y = binary
    refused(
        AttributeError,
        "log_loss needs predict_proba, which model 'svm' (RecordedEstimator(LinearSVC, n_rows=60, "
        "responses=['predict', 'decision_function'])) does not have. It offers 'predict', "
        "'decision_function'.",
        {"svm": LinearSVC().fit(X, y)},
        X,
        y,
        scoring="neg_log_loss",
    )


@pytest.mark.parametrize(
    ("name", "value"), [("method", "bc"), ("n_resamples", 5.5), ("random_state", -1), ("n_jobs", 0)]
)
def test_common_parameters_are_checked_before_anything_is_predicted(binary, name, value):
    class Unasked(LogisticRegression):
        def predict(self, X):
            raise AssertionError("asked")

    _, X, y = binary
    with pytest.raises(ValueError, match=f"`{name}` must be "):
        compare((None, X, y), "accuracy", {"m": Unasked().fit(X, y)}, **{name: value})


def test_not_finite_answers_are_refused(continuous):
    class Broken(LinearRegression):
        def predict(self, X):
            answer = super().predict(X)
            answer[3] = np.nan
            return answer

    _, X, y = continuous
    with pytest.raises(ValueError, match=r"`Broken.predict` must be finite, got .* \(row 3\)"):
        compare((None, X, y), "r2", {"m": Broken().fit(X, y)})


class Locked(LogisticRegression):
    """A model that cannot be sent to another process."""

    def fit(self, X, y):
        self.lock_ = threading.RLock()
        return super().fit(X, y)


def test_what_cannot_be_sent_to_other_processes_is_noted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 2)), np.arange(900) % 2
    models = {"locked": Locked().fit(X, y)}
    scoring = {
        "own": lambda model, X, y: float(np.mean(model.predict(X) == y)),
        "largest": make_scorer(max_error, greater_is_better=False),
    }
    run = {"n_resamples": 300, "random_state": 0, "scoring": scoring}
    alone = compare_estimators(models, X, y, **run)
    together = compare_estimators(models, X, y, n_jobs=2, **run)
    np.testing.assert_array_equal(together.replicates, alone.replicates)
    assert [note for note in together.notes if note not in alone.notes] == [
        "own: its scorer, or a model or data that it needs, cannot be sent to other processes "
        "(pickled), so every resample was scored in this one, whatever `n_jobs`."
    ]
