"""ReplayKernel: what the scorer itself gives on literally drawn rows."""

import pickle
import threading
import warnings
from itertools import product

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, get_scorer, make_scorer, median_absolute_error
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from examples import max_examples
from sklearn_pairboot._engine.jackknife import jackknife_groups
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel

N = 30


def rows_alone(n, stratum=None):
    return Units(n_rows=n, n_units=n, stratum=stratum)


def classification(seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(N, 3))
    y = np.where(X[:, 0] + generator.normal(size=N) > 0, "yes", "no")
    models = [LogisticRegression().fit(X, y), DecisionTreeClassifier(max_depth=2).fit(X, y)]
    return X, y, models


def kernel_of(models, X, y, scorer, *, uses_row_numbers=False, name="m", labels=None, **options):
    return ReplayKernel(
        [RecordedEstimator.from_estimator(model, X) for model in models],
        y,
        scorer,
        units=rows_alone(len(y)),
        uses_row_numbers=uses_row_numbers,
        name=name,
        models=labels,
        **options,
    )


def of_arrays(y, scorer, *, units=None, **options):
    record = RecordedEstimator.from_arrays(predict=np.zeros(len(y)))
    units = rows_alone(len(y)) if units is None else units
    return ReplayKernel(
        [record], y, scorer, units=units, uses_row_numbers=False, name="mine", **options
    )


def mean_truth(estimator, X, y):
    return y.mean()


def drawn(n_units, n_resamples, seed=0):
    generator = np.random.default_rng(seed)
    return generator.multinomial(n_units, np.full(n_units, 1 / n_units), n_resamples)


@pytest.mark.parametrize("uses_row_numbers", [True, False])
@pytest.mark.parametrize(
    ("scorer", "sign"),
    [
        ("accuracy", 1.0),
        ("roc_auc", 1.0),
        ("neg_log_loss", -1.0),
        ("matthews_corrcoef", 1.0),
        (make_scorer(f1_score, pos_label="yes"), 1.0),
    ],
)
def test_values_are_those_of_drawn_rows(scorer, sign, uses_row_numbers):
    X, y, models = classification()
    scorer = get_scorer(scorer)
    kernel = kernel_of(models, X, y, scorer, sign=sign, uses_row_numbers=uses_row_numbers)
    counts = drawn(N, 4).astype(np.uint8)
    got = kernel.evaluate(Weights(counts))
    expected = [
        [sign * scorer(model, X[rows], y[rows]) for model in models]
        for rows in (np.repeat(np.arange(N), count) for count in counts)
    ]
    np.testing.assert_allclose(got.values, expected, rtol=1e-12)
    assert not got.undefined.any()
    assert not got.zero_division.any()
    assert got.messages == ()
    observed = kernel.observed()
    np.testing.assert_allclose(observed, [sign * scorer(model, X, y) for model in models])
    all_once = kernel.evaluate(Weights(np.ones((1, N), dtype=np.uint8)))
    np.testing.assert_array_equal(all_once.values[0], observed)
    assert (kernel.path, kernel.n_models, kernel.n_units) == ("replay", 2, N)


def test_losses_have_no_negative_zero():
    X, _, _ = classification()
    model = LinearRegression().fit(X, X[:, 0])
    kernel = kernel_of([model], X, model.predict(X), get_scorer("neg_max_error"), sign=-1.0)
    assert str(kernel.observed()[0]) == "0.0"


def test_case_C45_clusters_drawn_twice_count_twice():
    y = np.array([0, 1, 1])
    units = Units(n_rows=3, n_units=3, of_row=np.arange(3))
    kernel = of_arrays(y, mean_truth, units=units)
    counts = np.array([np.bincount(draw, minlength=3) for draw in product(range(3), repeat=3)])
    values = kernel.evaluate(Weights(counts)).values[:, 0]
    assert len(values) == 27
    assert values.std() == pytest.approx(0.27217, abs=5e-6)
    assert values[counts.tolist().index([2, 1, 0])] == pytest.approx(1 / 3)


@max_examples(30)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=20), st.integers(0, 10))
def test_rows_of_a_cluster_come_as_often_as_it_was_drawn(cluster, seed):
    of_row = np.unique(cluster, return_inverse=True)[1]
    n_units = of_row.max() + 1
    y = np.arange(len(of_row)) ** 2

    seen = []

    def keep(estimator, X, y):
        seen.append(y)
        return 0.0

    units = Units(n_rows=len(y), n_units=n_units, of_row=of_row)
    counts = drawn(n_units, 1, seed).astype(np.uint8)
    of_arrays(y, keep, units=units).evaluate(Weights(counts))
    drawn_units = np.repeat(np.arange(n_units), counts[0])
    literal = np.concatenate([y[of_row == unit] for unit in drawn_units])
    np.testing.assert_array_equal(seen[0], np.sort(literal))


def test_a_scorer_that_looks_at_X_gets_the_drawn_rows():
    X, y, models = classification()

    def look(estimator, X, y):
        moved = estimator.predict(X + 1.0) == y  # not recorded: the model is asked
        return float(X[:, 1].sum() + moved.mean() + estimator.predict(X[::2]).size)

    for form in (np.asarray, sparse.coo_array):  # case_C96
        if form is np.asarray:
            scorer = look
        else:

            def scorer(estimator, X, y):
                return look(estimator, X.toarray(), y)

        counts = drawn(N, 5)
        got = kernel_of(models, form(X), y, scorer).evaluate(Weights(counts))
        assert got.messages == ()
        for row, count in zip(got.values, counts, strict=True):
            rows = np.repeat(np.arange(N), count)
            np.testing.assert_allclose(row, [look(model, X[rows], y[rows]) for model in models])


def test_frames_of_truths_stay_frames():
    pandas = pytest.importorskip("pandas")
    X, y, models = classification()
    frame = pandas.DataFrame(X, columns=list("abc"))
    models = [model.fit(frame, y) for model in models]

    def look(estimator, X, y):
        assert isinstance(y, pandas.Series)
        return float((X["a"][y == "yes"]).mean())

    counts = drawn(N, 3)
    got = kernel_of(models, frame, pandas.Series(y), look).evaluate(Weights(counts))
    for value, count in zip(got.values[:, 0], counts, strict=True):
        rows = np.repeat(np.arange(N), count)
        assert value == pytest.approx(X[rows, 0][y[rows] == "yes"].mean())


@pytest.mark.parametrize(
    "y",
    [
        np.arange(6),
        np.array(list("abcabc")),
        np.array(list("abcabc"), dtype=object),
        np.arange(12).reshape(6, 2),
        [1, 2, 3, 4, 5, 6],
        None,
    ],
)
def test_truths_of_any_kind(y):
    seen = []

    def keep(estimator, X, y):
        seen.append(y)
        return 1

    record = RecordedEstimator.from_arrays(predict=np.zeros(6))
    kernel = ReplayKernel(
        [record], y, keep, uses_row_numbers=False, units=rows_alone(6), name="keep"
    )
    kernel.evaluate(Weights(np.array([[2, 0, 0, 1, 0, 3]])))
    if y is None:
        assert seen == [None]
    else:
        np.testing.assert_array_equal(seen[0], np.asarray(y)[[0, 0, 3, 5, 5, 5]])
        assert type(seen[0]) is type(y)


def test_sample_weights_go_along():
    X, y, models = classification()
    weight = np.random.default_rng(3).uniform(1, 2, N)
    scorer = get_scorer("roc_auc")
    kernel = kernel_of(models, X, y, scorer, uses_row_numbers=True, sample_weight=weight)
    counts = drawn(N, 3)
    got = kernel.evaluate(Weights(counts)).values[:, 0]
    for value, count in zip(got, counts, strict=True):
        rows = np.repeat(np.arange(N), count)
        assert value == pytest.approx(
            scorer(models[0], X[rows], y[rows], sample_weight=weight[rows]), rel=1e-12
        )
    expected = scorer(models[0], X, y, sample_weight=weight)
    assert kernel.observed()[0] == pytest.approx(expected, rel=1e-12)


def test_case_C85_signs_turn_scores_into_losses():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    records = [RecordedEstimator.from_arrays(predict=y + shift) for shift in (2, 1)]
    kernel = ReplayKernel(
        records,
        y,
        get_scorer("neg_mean_squared_error"),
        sign=-1.0,
        uses_row_numbers=True,
        units=rows_alone(4),
        name="mean_squared_error",
    )
    np.testing.assert_allclose(kernel.observed(), [4, 1])


@pytest.mark.parametrize(
    "value",
    [1, 1.0, True, np.float32(1), np.int64(1), np.bool_(True), np.array(1.0), np.array(1)],
)
def test_real_numbers_are_accepted(value):
    kernel = of_arrays(np.arange(3), lambda estimator, X, y: value)
    assert kernel.observed()[0] == 1
    assert kernel.evaluate(Weights(np.ones((1, 3), int))).values[0, 0] == 1


@pytest.mark.parametrize(
    ("value", "described"),
    [
        ({"a": 1.0}, "dict"),
        (None, "NoneType"),
        ("0.5", "str"),
        (1j, "complex"),
        (np.ones(1), r"ndarray of shape \(1,\)"),
        ([1.0], "list"),
    ],
)
def test_anything_else_is_refused(value, described):
    kernel = of_arrays(np.arange(3), lambda estimator, X, y: value)
    message = f"^The scorer 'mine' must return one real number, got {described}. Pass several"
    with pytest.raises(TypeError, match=message):
        kernel.observed()
    with pytest.raises(TypeError, match=message):
        kernel.evaluate(Weights(np.ones((1, 3), int)))


def test_failures_and_values_that_are_not_finite_are_undefined():
    def moody(estimator, X, y):
        if len(y) == 1:
            return np.nan
        if len(y) == 2:
            return -np.inf
        if len(y) == 3:
            raise ZeroDivisionError("three\n  rows")
        if len(y) == 4:
            return np.ma.masked
        return 0.5

    counts = np.zeros((7, 5), dtype=int)
    counts[:, 0] = [1, 2, 3, 4, 5, 3, 0]
    got = of_arrays(np.arange(5), moody).evaluate(Weights(counts))
    np.testing.assert_array_equal(got.values[:, 0], [np.nan] * 4 + [0.5] + [np.nan] * 2)
    np.testing.assert_array_equal(got.undefined[:, 0], [1, 1, 1, 1, 0, 1, 1])
    assert got.messages == (("ZeroDivisionError: three rows", 2),)


def test_memory_errors_are_not_swallowed():
    def greedy(estimator, X, y):
        raise MemoryError

    with pytest.raises(MemoryError):
        of_arrays(np.arange(3), greedy).evaluate(Weights(np.ones((1, 3), int)))


def test_case_C128_warnings_are_counted_and_not_shown():
    def loud(estimator, X, y):
        for _ in range(2):
            warnings.warn("too loud", ConvergenceWarning, stacklevel=1)
        np.log(np.zeros(1))
        return 0.5

    before = (warnings.filters[:], warnings.showwarning)
    kernel = of_arrays(np.arange(4), loud)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        got = kernel.evaluate(Weights(drawn(4, 50)))
    assert shown == []
    assert got.messages == (
        ("ConvergenceWarning: too loud", 100),
        ("RuntimeWarning: divide by zero encountered in log", 50),
    )
    assert not got.zero_division.any()
    assert (warnings.filters[:], warnings.showwarning) == before
    with np.errstate(divide="ignore"):
        kernel.observed()  # kept for the one note that is made of all calls
    assert kernel.observed_warnings == ("ConvergenceWarning: too loud",)


def test_case_C128_warnings_of_overlapping_threads():
    X, y, models = classification()
    kernel = kernel_of(models, X, y, get_scorer("f1_macro"), uses_row_numbers=True)
    kernel.observed()
    before = (warnings.filters[:], warnings.showwarning)
    parts = [drawn(N, 5, seed) for seed in range(4)]
    results = {}

    def work(number):
        results[number] = kernel.evaluate(Weights(parts[number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (warnings.filters[:], warnings.showwarning) == before
    for number, part in enumerate(parts):
        again = kernel.evaluate(Weights(part))
        np.testing.assert_array_equal(results[number].values, again.values)


def test_zero_division_is_flagged_per_resample_and_model():
    y = np.array([1, 1, 0, 0])
    records = [
        RecordedEstimator.from_arrays(predict=labels, classes=[0, 1])
        for labels in ([1, 0, 0, 0], [0, 0, 1, 0])
    ]
    kernel = ReplayKernel(
        records,
        y,
        get_scorer("precision"),
        uses_row_numbers=True,
        units=rows_alone(4),
        name="precision",
    )
    counts = np.array([[2, 2, 0, 0], [0, 2, 2, 0], [0, 2, 0, 2]])
    got = kernel.evaluate(Weights(counts))
    np.testing.assert_array_equal(got.values, [[1, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(got.zero_division, [[0, 1], [1, 0], [1, 1]])
    assert not got.undefined.any()
    assert got.messages == ()


def test_undefined_is_not_a_zero_division():
    def undefined(estimator, X, y):
        warnings.warn("only one class", UndefinedMetricWarning, stacklevel=1)
        return np.nan

    got = of_arrays(np.arange(3), undefined).evaluate(Weights(np.ones((2, 3), int)))
    assert got.undefined.all()
    assert not got.zero_division.any()
    assert got.messages == ()


def test_case_C90_model_without_the_method_is_named_before_drawing():
    X, y, models = classification()
    svc = LinearSVC().fit(X, y)
    kernel = kernel_of(
        [models[0], svc],
        X,
        y,
        get_scorer("neg_log_loss"),
        uses_row_numbers=True,
        name="log_loss",
        labels=["lr", "svc"],
    )
    message = (
        r"^Model 'svc' \(LinearSVC\) cannot be scored with 'log_loss': AttributeError: .*"
        r"predict_proba\.? The model answers to predict, decision_function\.$"
    )
    with pytest.raises(ValueError, match=message) as raised:
        kernel.observed()
    assert isinstance(raised.value.__cause__, AttributeError)


def test_errors_on_the_observed_rows_are_explained():
    def write(estimator, X, y):
        X[:, 0] = 0
        return 0.0

    def fail(estimator, X, y):
        raise KeyError("age")

    X, y, models = classification()
    with pytest.raises(ValueError, match="read-only. The scorer must not write into X: let it"):
        kernel_of(models, X, y, write).observed()
    assert X.any(axis=0).all()
    message = r"^Model number 0 \(LogisticRegression\) cannot be scored with 'm': KeyError: 'age'$"
    with pytest.raises(ValueError, match=message):
        kernel_of(models, X, y, fail).observed()
    with pytest.raises(ValueError, match=r"`records` must have 4 rows like the units, got 3\."):
        of_arrays(np.arange(3), mean_truth, units=rows_alone(4))


def test_real_weights_are_handed_to_the_scorer_with_all_rows():
    def weighted_truth(estimator, X, y, sample_weight):
        return np.average(y, weights=sample_weight)

    real = Weights(np.array([[0.5, 1.5, 1.0], [0.25, 0.25, 2.5]]))
    values = of_arrays(np.arange(3), weighted_truth).evaluate(real).values
    np.testing.assert_allclose(values[:, 0], [3.5 / 3, 5.25 / 3], rtol=1e-14)


def test_a_scorer_may_write_into_truths_and_answers():
    def overwrite(estimator, X, y):
        value = float(np.sum(y + estimator.predict(X)))
        y[:] = -7
        estimator.predict(X)[:] = 5
        return value

    records = [RecordedEstimator.from_arrays(predict=np.arange(3.0)) for _ in range(2)]
    kernel = ReplayKernel(
        records,
        np.ones(3),
        overwrite,
        uses_row_numbers=True,
        units=rows_alone(3),
        name="overwrite",
    )
    got = kernel.evaluate(Weights(np.ones((2, 3), int))).values
    np.testing.assert_array_equal(got, np.full((2, 2), 6.0))


@pytest.mark.newest
def test_case_C127_lambda_scorer_in_worker_processes():
    X, y, models = classification()
    kernels = [
        kernel_of(models, X, y, lambda estimator, X, y: float((estimator.predict(X) == y).mean())),
        kernel_of(
            models,
            X,
            y,
            make_scorer(lambda y, answer: float((y == answer).mean())),
            uses_row_numbers=True,
        ),
    ]
    block = Weights(drawn(N, 5))
    for kernel in kernels:
        kernel.observed()
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(kernel.evaluate)(block) for kernel in kernels)
    for kernel, values in zip(kernels, there, strict=True):
        np.testing.assert_array_equal(values.values, kernel.evaluate(block).values)


class Locked(BaseEstimator):
    """A model that cannot be pickled."""

    def fit(self, X, y):
        self.lock_ = threading.RLock()
        return self

    def predict(self, X):
        return X[:, 0]


def test_case_C127_a_model_that_cannot_be_pickled_stays_at_home():
    X, y = np.random.default_rng(0).normal(size=(N, 2)), np.arange(N, dtype=float)
    scorer = make_scorer(median_absolute_error, greater_is_better=False)
    kernel = kernel_of([Locked().fit(X, y)], X, y, scorer, sign=-1.0, uses_row_numbers=True)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(kernel)  # nothing is recorded yet
    kernel.observed()
    sent = pickle.dumps(kernel)
    assert X.tobytes() not in sent
    block = Weights(drawn(N, 4))
    np.testing.assert_array_equal(
        pickle.loads(sent).evaluate(block).values, kernel.evaluate(block).values
    )
    with pytest.raises(TypeError, match="cannot pickle"):  # here the scorer may want the model
        pickle.dumps(kernel_of([Locked().fit(X, y)], X, y, scorer))


def test_jackknife_leaves_out_each_unit():
    y = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])
    of_row = np.array([0, 0, 1, 2, 2, 2])
    units = Units(n_rows=6, n_units=3, of_row=of_row, stratum=np.array([0, 0, 1]))
    got = of_arrays(y, mean_truth, units=units).leave_one_out()
    np.testing.assert_allclose(got.values[:, 0], [y[of_row != unit].mean() for unit in range(3)])
    np.testing.assert_array_equal(got.stratum, [0, 0, 1])
    assert not got.grouped
    assert of_arrays(y, mean_truth).leave_one_out().stratum is None


def test_jackknife_marks_what_is_undefined():
    y = np.array([0, 0, 0, 1])
    record = RecordedEstimator.from_arrays(decision_function=np.arange(4.0), classes=[0, 1])
    kernel = ReplayKernel(
        [record], y, get_scorer("roc_auc"), uses_row_numbers=True, units=rows_alone(4), name="auc"
    )
    np.testing.assert_array_equal(kernel.leave_one_out().values[:, 0], [1, 1, 1, np.nan])


def test_jackknife_of_many_units_is_grouped():
    n = 1001
    y = np.random.default_rng(0).normal(size=n)
    got = of_arrays(y, mean_truth).leave_one_out()
    assert got.values.shape == (200, 1)
    assert got.grouped
    assert got.stratum is None
    expected = [y[np.arange(n) % 200 != group].mean() for group in range(200)]
    np.testing.assert_allclose(got.values[:, 0], expected)


def test_jackknife_groups_stay_within_strata():
    stratum = np.random.default_rng(1).permutation(np.repeat([0, 1, 2, 3], [700, 297, 2, 1]))
    group_of, of_group, grouped = jackknife_groups(rows_alone(1000, stratum))
    assert grouped
    np.testing.assert_array_equal(np.bincount(of_group), [140, 59, 2, 1])
    np.testing.assert_array_equal(of_group[group_of], stratum)
    sizes = np.bincount(group_of)
    assert sizes.min() >= 1
    for number in range(4):
        assert np.ptp(sizes[of_group == number]) <= 1


def test_units_are_never_merged():
    kernel = of_arrays(np.arange(3), mean_truth)
    assert kernel.unit_keys() is None
    with pytest.raises(NotImplementedError, match="units cannot be merged"):
        kernel.take_units(np.arange(2))


def test_a_scorer_may_itself_replay():
    X, y, models = classification()
    inner = kernel_of(models[:1], X, y, get_scorer("accuracy"), uses_row_numbers=True)
    block = Weights(drawn(N, 2))

    def nested(estimator, X, y):
        warnings.warn("outside", UserWarning, stacklevel=1)
        return float(inner.evaluate(block).values.mean())

    got = kernel_of(models[:1], X, y, nested).evaluate(block)
    np.testing.assert_allclose(got.values, inner.evaluate(block).values.mean())
    assert got.messages == (("UserWarning: outside", 2),)
