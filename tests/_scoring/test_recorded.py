"""RecordedEstimator: the same answers as the model itself, computed once."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.cluster import DBSCAN, KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    check_scoring,
    get_scorer,
    get_scorer_names,
    make_scorer,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._scoring.answers import SeveralArrays, standard_score
from sklearn_pairboot._scoring.recorded import RecordedEstimator

N = 40


def data(kind, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N, 3))
    signal = X[:, 0] + generator.normal(size=N)
    if kind == "regression":
        return X, np.abs(signal) + 1.0
    if kind == "binary":
        return X, (signal > 0).astype(int)
    if kind == "string":
        return X, np.where(signal > 0, "yes", "no")
    return X, np.digitize(signal, [-0.7, 0.7])


MODELS = {
    "regression": (LinearRegression(), "regression"),
    "binary": (LogisticRegression(), "binary"),
    "string": (LogisticRegression(), "string"),
    "three": (LogisticRegression(), "three"),
    "pipeline": (make_pipeline(StandardScaler(), LogisticRegression()), "binary"),
    "svc": (LinearSVC(), "binary"),
    "clusters": (KMeans(3, n_init=2, random_state=0), "three"),
}


def outcome(call):
    """What a scorer makes of it: a value, or an error's type."""
    with np.errstate(all="ignore"):
        try:
            return call()
        except Exception as error:
            return type(error).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", list(MODELS))
def test_every_builtin_scorer_gives_the_same_on_drawn_rows(case):
    model, kind = MODELS[case]
    X, y = data(kind)
    model = clone(model).fit(X, y)
    record = RecordedEstimator.from_estimator(model, X)
    rows = np.random.default_rng(1).integers(0, N, N)
    n_numbers = 0
    for name in get_scorer_names():
        scorer = get_scorer(name)
        literal = outcome(lambda: scorer(model, X[rows], y[rows]))  # noqa: B023
        numbered = outcome(lambda: scorer(*record._take_numbers(rows), y[rows]))  # noqa: B023
        real = outcome(lambda: scorer(*record.take(rows), y[rows]))  # noqa: B023
        if isinstance(literal, str):
            assert (numbered, real) == (literal, literal), name
        else:
            np.testing.assert_allclose([numbered, real], literal, rtol=1e-12, err_msg=name)
            n_numbers += 1
    assert n_numbers >= {"regression": 20, "clusters": 11, "svc": 30}.get(case, 32)


class Counting(ClassifierMixin, BaseEstimator):
    """Counts how often, and about how many rows, it is asked."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.asked_ = []
        return self

    def predict(self, X):
        self.asked_.append(("predict", len(X)))
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]

    def predict_proba(self, X):
        self.asked_.append(("predict_proba", len(X)))
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack((1 - p, p))


def test_answers_are_computed_once_and_only_when_needed():
    X, y = data("binary")
    model = Counting().fit(X, y)
    record = RecordedEstimator.from_estimator(model, X)
    assert model.asked_ == []
    for seed in range(5):
        view, X_rows = record.take(np.random.default_rng(seed).integers(0, N, N))
        view.predict(X_rows)
        view.predict(X_rows)
    assert model.asked_ == [("predict", N)]
    record.response("predict_proba")
    record.with_classes([0, 1]).response("predict_proba")
    view, numbers = record._take_numbers(np.array([3, 3]))
    np.testing.assert_array_equal(
        view.predict_proba(numbers), record.response("predict_proba")[[3, 3]]
    )
    assert model.asked_ == [("predict", N), ("predict_proba", N)]


def test_only_the_methods_of_the_model_are_offered():
    X, y = data("binary")
    svc = RecordedEstimator.from_estimator(LinearSVC().fit(X, y), X)
    assert svc.responses == ("predict", "decision_function")
    view, _ = svc.take([0])
    for thing in (svc, view):
        assert hasattr(thing, "predict")
        assert hasattr(thing, "decision_function")
        assert not hasattr(thing, "predict_proba")
        assert hasattr(thing, "coef_")
        assert not hasattr(thing, "feature_importances_")
    assert not hasattr(RecordedEstimator.from_arrays(predict=[1.0]), "decision_function")


def test_case_C90_missing_method_names_estimator_and_method():
    X, y = data("binary")
    record = RecordedEstimator.from_estimator(LinearSVC().fit(X, y), X)
    message = "'LinearSVC' has no method 'predict_proba'; it answers to predict, decision_function"
    with pytest.raises(AttributeError, match=f"^{message}$"):
        record.response("predict_proba")
    with pytest.raises(AttributeError, match=f"^{message}$"):
        record.take([0])[0].predict_proba  # noqa: B018
    assert get_scorer("roc_auc")(*record.take(np.arange(N)), y) == get_scorer("roc_auc")(
        record, X, y
    )


def test_case_C91_two_columns_of_probabilities():
    columns = [[0.9, 0.1], [0.2, 0.8]]
    record = RecordedEstimator.from_arrays(predict_proba=columns, classes=[0, 1])
    assert get_scorer("roc_auc")(*record.take([0, 1]), [0, 1]) == 1.0
    later = RecordedEstimator.from_arrays(predict_proba=columns).with_classes([0, 1])
    np.testing.assert_array_equal(later.response("predict_proba"), columns)
    with pytest.raises(ValueError, match=r"must have shape \(n_rows,\) for 2 classes, got \(2, 2"):
        RecordedEstimator.from_arrays(decision_function=columns, classes=[0, 1])


def test_case_C92_one_column_is_ravelled():
    record = RecordedEstimator.from_arrays(
        predict=[[1], [2], [3]], predict_proba=[[0.1], [0.2], [0.3]]
    )
    assert record.response("predict").shape == (3,)
    assert record.response("predict_proba").shape == (3, 2)
    view, rows = record.take([0, 1, 2])
    assert mean_squared_error([1, 2, 3], view.predict(rows)) == 0
    X, y = data("regression")
    model = LinearRegression().fit(X, y[:, np.newaxis])
    assert model.predict(X).shape == (N, 1)
    assert RecordedEstimator.from_estimator(model, X).response("predict").shape == (N,)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("decision_function", np.array([0.1, np.nan, 0.9])),
        ("decision_function", np.array([0.1, np.inf, 0.9], dtype=np.float16)),
        ("predict_proba", np.array([[0.5, 0.5], [np.nan, 0.5], [0.1, 0.9]])),
        ("predict", np.array([1.0, -np.inf, 2.0])),
        ("predict", np.array(["a", None, "b"], dtype=object)),
        ("predict", np.array(["a", np.nan, "b"], dtype=object)),
        ("predict", np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="datetime64[D]")),
    ],
)
def test_case_C97_missing_answers_are_named(name, bad):
    message = f"^`{name}` must be finite, got NaN, infinite or missing values in 1 of 3 rows"
    with pytest.raises(ValueError, match=message + r" \(row 1\)\. Dropping a row"):
        RecordedEstimator.from_arrays(**{name: bad})


def test_case_C97_missing_answers_of_an_estimator_and_of_pandas():
    class Broken(Counting):
        def predict_proba(self, X):
            return np.where(np.arange(len(X))[:, None] % 4 == 1, np.nan, 0.5) * np.ones((1, 2))

    X, y = data("binary")
    record = RecordedEstimator.from_estimator(Broken().fit(X, y), X)
    message = r"^`Broken.predict_proba` must be finite.*in 10 of 40 rows \(row 1, 5, 9, 13, 17, .."
    with pytest.raises(ValueError, match=message):
        record.response("predict_proba")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"in 1 of 2 rows \(row 1\)"):
        RecordedEstimator.from_arrays(predict=pandas.array([1, None], dtype="Int64"))
    with pytest.raises(ValueError, match=r"in 1 of 2 rows \(row 0\)"):
        RecordedEstimator.from_arrays(predict=np.array([pandas.NA, "a"], dtype=object))
    with pytest.raises(ValueError, match=r"in 1 of 2 rows \(row 1\)"):
        RecordedEstimator.from_arrays(predict=np.ma.masked_array([1.0, 2.0], [False, True]))


def draw_from(X):
    rows = np.array([5, 5, 0, 17])
    return rows, np.asarray(X)[rows]


def test_case_C96_sparse_rows_of_every_format():
    X, y = data("binary")
    rows, expected = draw_from(X)
    model = LogisticRegression().fit(X, y)
    for form in ("coo", "csr", "csc", "lil", "dok", "bsr", "dia"):
        for container in (sparse.csr_matrix, sparse.csr_array):
            record = RecordedEstimator.from_estimator(model, container(X).asformat(form))
            assert record.n_rows == N
            view, X_rows = record.take(rows)
            np.testing.assert_array_equal(X_rows.toarray(), expected)
            np.testing.assert_array_equal(view.predict(X_rows), model.predict(expected))


def test_case_C96_lists_and_frames():
    X, y = data("binary")
    rows, expected = draw_from(X)
    record = RecordedEstimator.from_estimator(LogisticRegression().fit(X, y), X.tolist())
    assert record.take(rows)[1] == expected.tolist()

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"), index=np.arange(N)[::-1])
    model = LogisticRegression().fit(frame, y)
    view, X_rows = RecordedEstimator.from_estimator(model, frame).take(rows)
    pandas.testing.assert_frame_equal(X_rows, frame.iloc[rows])
    np.testing.assert_array_equal(view.predict(X_rows), model.predict(frame.iloc[rows]))
    np.testing.assert_array_equal(view.feature_names_in_, list("abc"))


def test_case_C95_polars():
    polars = pytest.importorskip("polars")
    X, y = data("string")
    rows, expected = draw_from(X)
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    model = LogisticRegression().fit(frame, polars.Series(y))
    view, X_rows = RecordedEstimator.from_estimator(model, frame).take(rows)
    assert isinstance(X_rows, polars.DataFrame)
    np.testing.assert_array_equal(X_rows.to_numpy(), expected)
    np.testing.assert_array_equal(view.predict(X_rows), model.predict(frame[rows.tolist()]))
    record = RecordedEstimator.from_arrays(predict=polars.Series(["a", "b"]), classes=["b", "a"])
    assert record.response("predict").tolist() == ["a", "b"]


def test_anything_but_the_drawn_rows_goes_to_the_model():
    X, y = data("binary")
    model = LogisticRegression().fit(X, y)
    record = RecordedEstimator.from_estimator(model, X)
    rows = np.arange(10, 20)
    view, X_rows = record.take(rows)
    noise = 3 * np.random.default_rng(0).normal(size=X_rows.shape)
    for other in (X_rows + noise, X_rows[::2], X_rows.copy(), X):
        np.testing.assert_array_equal(view.predict_proba(other), model.predict_proba(other))
    with pytest.raises(ValueError, match="read-only"):
        X_rows[:, 0] = 0  # would otherwise get the answers to the old rows
    assert X.flags.writeable


def test_arrays_refuse_other_rows():
    record = RecordedEstimator.from_arrays(predict=[1.0, 2.0, 3.0])
    view, numbers = record.take([2, 0])
    np.testing.assert_array_equal(numbers, [2, 0])
    for other in (numbers + 1, numbers.copy(), None):
        with pytest.raises(ValueError, match="can only be asked about the very rows that `take`"):
            view.predict(other)
    with pytest.raises(ValueError, match="needs RecordedEstimator.from_estimator"):
        record.predict(None)
    X, y = data("binary")
    numbered, rows = RecordedEstimator.from_estimator(
        LogisticRegression().fit(X, y), X
    )._take_numbers(np.arange(5))
    with pytest.raises(ValueError, match="row numbers stand for X"):
        numbered.predict(rows + 0)
    with pytest.raises(AttributeError, match="predict_log_proba is not recorded, and row numbers"):
        numbered.predict_log_proba(rows)


def test_arguments_of_a_method_reach_the_model():
    class Spread(LinearRegression):
        def predict(self, X, times=1.0):
            return times * super().predict(X)

    X, y = data("regression")
    model = Spread().fit(X, y)
    view, X_rows = RecordedEstimator.from_estimator(model, X).take([1, 2])
    np.testing.assert_array_equal(view.predict(X_rows, times=2.0), 2 * model.predict(X[[1, 2]]))


def test_tags_fit_and_clone():
    X, y = data("three")
    cases = [
        (LogisticRegression(), True, False),
        (make_pipeline(StandardScaler(), LogisticRegression()), True, False),
        (LinearRegression(), False, True),
        (KMeans(2, n_init=1), False, False),
    ]
    for model, classifies, regresses in cases:
        record = RecordedEstimator.from_estimator(model.fit(X, y), X)
        for thing in (record, record.take([0, 1])[0], record._take_numbers(np.arange(2))[0]):
            assert is_classifier(thing) is classifies
            assert is_regressor(thing) is regresses
            assert get_tags(thing).estimator_type == get_tags(model).estimator_type
            check_is_fitted(thing)
            with pytest.raises(TypeError, match="must not be fitted again"):
                thing.fit(X, y)
        copy_ = clone(record.take([0])[0])
        assert type(copy_) is type(model)
        with pytest.raises(NotFittedError):
            check_is_fitted(copy_)
    assert not hasattr(record, "set_params")
    assert record.get_params()["n_clusters"] == 2

    unknown = RecordedEstimator.from_arrays(predict=[0, 1])
    assert is_regressor(unknown)
    assert not hasattr(unknown, "classes_")
    known = unknown.with_classes([0, 1])
    assert is_classifier(known)
    assert known.with_classes([7, 8]) is known
    with pytest.raises(AttributeError, match="knows no classes; `with_classes` gives a record"):
        unknown.classes_  # noqa: B018


def test_classes_are_sorted_with_everything_that_depends_on_them():
    p, s = np.array([0.1, 0.6, 0.9]), np.array([-1.0, 0.5, 2.0])
    record = RecordedEstimator.from_arrays(
        predict=["yes", "no", "no"], predict_proba=p, decision_function=s, classes=["yes", "no"]
    )  # "no" is the second class, whose probability p is
    np.testing.assert_array_equal(record.classes_, ["no", "yes"])
    np.testing.assert_array_equal(record.response("predict_proba"), np.column_stack((p, 1 - p)))
    np.testing.assert_array_equal(record.response("decision_function"), -s)
    y = np.array(["yes", "no", "no"])
    rows = np.arange(3)
    assert get_scorer("roc_auc")(*record.take(rows), y) == 1.0
    losses = make_scorer(
        lambda y, p: np.mean((p - (y == "yes")) ** 2), response_method="predict_proba"
    )
    assert losses(*record.take(rows), y) == pytest.approx(np.mean([0.1**2, 0.4**2, 0.1**2]))

    columns = np.array([[0.2, 0.3, 0.5]])
    three = RecordedEstimator.from_arrays(
        predict_proba=columns, decision_function=columns, classes=[3, 1, 2]
    )
    for name in ("predict_proba", "decision_function"):
        np.testing.assert_array_equal(three.response(name), [[0.3, 0.5, 0.2]])


def test_numbers_become_float64_copies_and_inputs_stay_as_they_are():
    for dtype in (np.float16, np.float32, np.float64):
        given = np.array([0.25, 0.5], dtype=dtype)
        record = RecordedEstimator.from_arrays(
            predict=given, predict_proba=given, decision_function=given
        )
        for name in record.responses:
            answers = record.response(name)
            assert answers.dtype == np.float64
            assert not answers.flags.writeable
            assert not np.shares_memory(answers, given)
        assert given.flags.writeable
        view, rows = record.take([0, 1])
        view.predict(rows)[:] = 0  # a scorer may write into what it is given
        np.testing.assert_array_equal(view.predict(rows), [0.25, 0.5])
    labels = RecordedEstimator.from_arrays(predict=np.array([1, 2], dtype=np.int8))
    assert labels.response("predict").dtype == np.int8
    certain = RecordedEstimator.from_arrays(predict_proba=[True, False])
    np.testing.assert_array_equal(certain.response("predict_proba"), [[0, 1], [1, 0]])


def test_probabilities_are_clipped_by_a_few_ulp_and_no_more():
    eps = np.finfo(float).eps
    record = RecordedEstimator.from_arrays(predict_proba=[1 + eps, -eps, 0.5])
    np.testing.assert_array_equal(record.response("predict_proba")[:, 1], [1, 0, 0.5])
    single = np.array([1 + np.finfo(np.float32).eps, 0.5], dtype=np.float32)
    assert RecordedEstimator.from_arrays(predict_proba=single).response("predict_proba")[0, 1] == 1
    message = (
        r"^`predict_proba` must lie between 0 and 1, got values from -0.5 to 1.5, outside in 2 of "
    )
    with pytest.raises(ValueError, match=message):
        RecordedEstimator.from_arrays(predict_proba=[1.5, -0.5, 0.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"^At least one of `predict`, `predict_proba` and `decision_function` must be given"),
        (
            {"predict": [1, 2], "decision_function": [1.0]},
            r"^`decision_function` must have 2 rows, got 1\.$",
        ),
        ({"predict": []}, r"with at least one row, got \(0,\)"),
        ({"predict": 3}, r"got \(\)"),
        ({"predict": np.zeros((2, 2, 2))}, r"got \(2, 2, 2\)"),
        ({"decision_function": ["a", "b"]}, r"`decision_function` must hold numbers, got .*'a'"),
        ({"predict": [0, 1], "classes": [0, 0]}, r"^`classes` must be unique, got \[0, 0\]"),
        ({"predict": [0, 1], "classes": [1, "1"]}, r"all of them strings or none"),
        ({"predict": [0, 1], "classes": [0, np.nan]}, r"without missing ones"),
        ({"predict": [0, 1], "classes": 3}, r"one-dimensional list of labels"),
        (
            {"predict_proba": np.full((2, 3), 1 / 3), "classes": [0, 1]},
            r"^`predict_proba` must have one column for each of the 2 classes, got shape \(2, 3\)",
        ),
        ({"predict_proba": [0.1, 0.2], "classes": [0, 1, 2]}, r"second of two classes\.$"),
        ({"decision_function": [1.0, 2.0], "classes": [0, 1, 2]}, r"shape \(n_rows, 3\) for 3"),
    ],
)
def test_arrays_are_validated(arguments, message):
    with pytest.raises(ValueError, match=message):
        RecordedEstimator.from_arrays(**arguments)


def test_rows_are_validated():
    record = RecordedEstimator.from_arrays(predict=[1.0, 2.0])
    with pytest.raises(TypeError, match=r"For a mask pass np.flatnonzero\(mask\)"):
        record.take([True, False])
    with pytest.raises(IndexError, match=r"`rows` must lie between 0 and 1, got -1 to 0\."):
        record.take([-1, 0])
    with pytest.raises(IndexError, match=r"between 0 and 1, got 0 to 2\."):
        record.take(np.array([0, 2], dtype=np.uint64))
    view, rows = record.take([])
    assert view.predict(rows).shape == (0,)


def test_estimators_are_validated():
    X, y = data("binary")
    with pytest.raises(NotFittedError, match="LogisticRegression instance is not fitted yet"):
        RecordedEstimator.from_estimator(LogisticRegression(), X)
    with pytest.raises(NotFittedError):
        RecordedEstimator.from_estimator(make_pipeline(StandardScaler(), LogisticRegression()), X)
    for wrong in (LogisticRegression, "lr", DBSCAN().fit(X)):
        with pytest.raises(TypeError, match="^`estimator` must be a fitted estimator with a met"):
            RecordedEstimator.from_estimator(wrong, X)
    with pytest.raises(ValueError, match="`X` must hold the test rows, got None"):
        RecordedEstimator.from_estimator(LogisticRegression().fit(X, y), None)
    with pytest.raises(ValueError, match="`X` must have at least one row"):
        RecordedEstimator.from_estimator(LogisticRegression().fit(X, y), X[:0])
    with pytest.raises(TypeError, match="not by calling the class"):
        RecordedEstimator(LogisticRegression())
    with pytest.raises(ValueError, match="`classes` must be sorted"):
        RecordedEstimator.from_estimator(LinearRegression().fit(X, y), X).with_classes([1, 0])

    class WrongLength(Counting):
        def predict(self, X):
            return np.zeros(3)

    record = RecordedEstimator.from_estimator(WrongLength().fit(X, y), X)
    with pytest.raises(ValueError, match=r"^`WrongLength.predict` must have 40 rows, got 3\.$"):
        record.response("predict")


def test_models_that_only_look_like_estimators():
    class Plain:
        """Neither tags nor fitted attributes."""

        def fit(self, X, y):
            return self

        def predict(self, X):
            return X[:, 0]

    class Unusual(ClassifierMixin, BaseEstimator):
        """Keeps what it learned under names without underscore."""

        def fit(self, X, y):
            self.classes = np.unique(y)
            return self

        def predict(self, X):
            return self.classes[(X[:, 0] > 0).astype(int)]

    class OnlyMixed(ClassifierMixin):
        """Tags that lead nowhere, for want of BaseEstimator."""

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > 0).astype(int)]

    X, y = data("binary")
    mixed = RecordedEstimator.from_estimator(OnlyMixed().fit(X, y), X)
    assert is_classifier(mixed)
    assert mixed.standard_score == "accuracy"
    plain = RecordedEstimator.from_estimator(Plain(), X)
    assert is_regressor(plain)
    np.testing.assert_array_equal(plain.response("predict"), X[:, 0])
    with pytest.raises(NotFittedError):
        RecordedEstimator.from_estimator(Unusual(), X)
    unusual = RecordedEstimator.from_estimator(Unusual().fit(X, y), X).with_classes([0, 1])
    assert get_scorer("accuracy")(*unusual.take(np.arange(N)), y) == np.mean((X[:, 0] > 0) == y)


def test_score_keeps_the_meaning_of_the_model():
    class ByWeight(LogisticRegression):
        """A score of its own that looks at what was learned and at X."""

        def score(self, X, y, sample_weight=None):
            return float(self.coef_[0] @ X.sum(axis=0))

    X, y = data("binary")
    rows = np.array([3, 3, 8, 30, 31])
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    models = [
        (LogisticRegression(), "accuracy"),
        (pipeline, "accuracy"),
        (LinearRegression(), "r2"),
        (ByWeight(), None),
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="roc_auc"), None),
        (KNeighborsClassifier(3), "accuracy"),
        (KMeans(2, n_init=1, random_state=0), None),
    ]
    for model, standard in models:
        model.fit(X, y)
        record = RecordedEstimator.from_estimator(model, X)
        assert record.standard_score == standard
        view, X_rows = record.take(rows)
        assert view.score(X_rows, y[rows]) == pytest.approx(model.score(X[rows], y[rows]))
        assert check_scoring(model)(view, X_rows, y[rows]) == view.score(X_rows, y[rows])
        if not isinstance(model, GridSearchCV):
            assert view.score(X_rows, y[rows], sample_weight=weight) == pytest.approx(
                model.score(X[rows], y[rows], sample_weight=weight)
            )
    assert standard_score(FrozenEstimator(pipeline)) == "accuracy"
    instance = LogisticRegression().fit(X, y)
    instance.score = lambda X, y: 0.5
    assert standard_score(instance) is None
    with pytest.raises(ValueError, match="row numbers stand for X"):
        numbered, numbers = record._take_numbers(rows)
        numbered.score(numbers, y[rows])

    labels = RecordedEstimator.from_arrays(predict=[0, 1, 1], classes=[0, 1])
    view, X_rows = labels.take([0, 1, 2])
    assert view.score(X_rows, [0, 1, 0]) == accuracy_score([0, 1, 0], [0, 1, 1])
    values = RecordedEstimator.from_arrays(predict=[0.5, 1, 1])
    view, X_rows = values.take([0, 1, 2])
    assert view.score(X_rows, [0, 1, 2]) == r2_score([0, 1, 2], [0.5, 1, 1])
    assert not hasattr(RecordedEstimator.from_arrays(predict_proba=[0.5]), "score")


def test_standard_score_of_a_pipeline_costs_no_prediction():
    X, y = data("binary")
    counting = Counting().fit(X, y)
    record = RecordedEstimator.from_estimator(make_pipeline("passthrough", counting), X)
    for seed in range(3):
        rows = np.random.default_rng(seed).integers(0, N, N)
        view, X_rows = record.take(rows)
        assert view.score(X_rows, y[rows]) == np.mean((X[rows, 0] > 0) == y[rows])
    assert counting.asked_ == [("predict", N)]


def test_steps_of_a_pipeline_can_be_reached():
    X, y = data("binary")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    view, X_rows = RecordedEstimator.from_estimator(model, X).take(np.arange(7))
    assert view.named_steps is not None
    np.testing.assert_array_equal(view[:-1].transform(X_rows), model[:-1].transform(X[:7]))
    assert view[-1] is model[-1]


def test_several_outputs():
    X, y = data("three")
    two = np.column_stack((y > 0, y > 1)).astype(int)
    model = RandomForestClassifier(5, random_state=0).fit(X, two)
    record = RecordedEstimator.from_estimator(model, X)
    rows = np.array([1, 1, 4, 30, 8, 9, 22])
    view, X_rows = record.take(rows)
    np.testing.assert_array_equal(view.predict(X_rows), model.predict(X[rows]))
    parts = view.predict_proba(X_rows)
    assert isinstance(parts, list)
    np.testing.assert_array_equal(parts, model.predict_proba(X[rows]))
    second = np.column_stack([part[:, 1] for part in model.predict_proba(X)])
    np.testing.assert_array_equal(record.response("predict_proba"), second)
    model.fit(X, np.column_stack((y, y > 1)))
    record = RecordedEstimator.from_estimator(model, X)
    with pytest.raises(SeveralArrays, match=r"probabilities of two classes, got shapes \(\d+, 3\)"):
        record.response("predict_proba")


def test_pickle_copy_and_deepcopy():
    X, y = data("string")
    record = RecordedEstimator.from_estimator(LogisticRegression().fit(X, y), X)
    arrays = RecordedEstimator.from_arrays(predict_proba=np.linspace(0, 1, N), classes=["a", "b"])
    rows = np.array([2, 2, 9])
    for original in (record, arrays):
        for again in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
            other = again(original)
            np.testing.assert_array_equal(
                other.response("predict_proba"), original.response("predict_proba")
            )
            assert other.responses == original.responses
            view, X_rows = again(original.take(rows))  # together: the view knows its rows
            np.testing.assert_array_equal(
                view.predict_proba(X_rows), original.response("predict_proba")[rows]
            )
            assert is_classifier(again(view))
    assert repr(record) == (
        "RecordedEstimator(LogisticRegression, n_rows=40, "
        "responses=['predict', 'predict_proba', 'decision_function'])"
    )
    assert repr(arrays.take(rows)[0]).startswith("RecordedView(RecordedEstimator, n_rows=3, ")
    assert not hasattr(record, "_repr_html_")


def test_answers_only_leaves_model_and_rows_behind():
    X, y = data("binary")
    model = LogisticRegression().fit(X, y)
    model.unpicklable_ = lambda: None
    record = RecordedEstimator.from_estimator(model, X)
    record.response("predict")
    light = pickle.loads(pickle.dumps(record._answers_only()))
    rows = np.array([0, 7, 7, 39])
    view, numbers = light._take_numbers(rows)
    assert is_classifier(view)
    np.testing.assert_array_equal(view.classes_, [0, 1])
    assert get_scorer("accuracy")(view, numbers, y[rows]) == model.score(X[rows], y[rows])
    with pytest.raises(ValueError, match="has no recorded answers of `predict_proba`"):
        view.predict_proba(numbers)


def test_a_record_is_asked_like_its_model():
    X, y = data("binary")
    model = LogisticRegression().fit(X, y)
    record = RecordedEstimator.from_estimator(model, X)
    assert get_scorer("roc_auc")(record, X, y) == roc_auc_score(y, model.decision_function(X))
    view, X_all = record._take_all()
    assert np.shares_memory(X_all, X)
    np.testing.assert_array_equal(view.predict(X_all), model.predict(X))
    of_list = RecordedEstimator.from_estimator(model, X.tolist())
    view, X_all = of_list._take_all()
    np.testing.assert_array_equal(view.predict(X_all), model.predict(X))
    folded = RecordedEstimator.from_estimator(model, X[5:])
    np.testing.assert_array_equal(folded.response("predict"), model.predict(X)[5:])
