"""Targets of several columns: kernels equal scikit-learn's metric on literally drawn rows."""

from __future__ import annotations

import pickle
from inspect import signature

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import make_scorer

from examples import max_examples
from literal import kernel_of, problem_of, quiet, rows_of
from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring

N_LABELS = 3


def check(kernel, problem, counts, reference, undefined=lambda drawn: False):
    """Compare with ``reference(rows, model, weight)``; NaN and ``undefined(truths)`` are masked.

    ``undefined`` is told the truths of positive weight. The jackknife is compared with the
    kernel's own values without each unit, and a copy from another process with the original.
    """
    units = problem.units
    counts = np.vstack([counts, np.ones_like(counts[:1])])
    result = kernel.evaluate(Weights(counts))
    copy = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(copy.evaluate(Weights(counts)).values, result.values)
    for resample, drawn in enumerate(counts):
        rows = rows_of(units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        seen = problem.y[rows] if weight is None else problem.y[rows][weight > 0]
        for model in range(kernel.n_models):
            lost = len(seen) == 0 or undefined(seen)
            expected = np.nan if lost else quiet(reference, rows, model, weight)
            assert result.values[resample, model] == pytest.approx(
                expected, rel=1e-12, abs=1e-12, nan_ok=True
            ), (rows, model)
    assert np.array_equal(np.isnan(result.values), result.undefined)
    assert not (result.undefined & result.zero_division).any()
    without = kernel.evaluate(Weights(1 - np.eye(units.n_units, dtype=np.uint8))).values
    np.testing.assert_allclose(kernel.leave_one_out().values, without, rtol=1e-9, atol=1e-11)
    return result


@st.composite
def designs(draw, least=0.0):
    """Random numbers, units, counts and row weights; few units, so that labels go missing."""
    n = draw(st.integers(4, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    units = Units(n, n)
    if draw(st.booleans()):
        groups = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
        units = Units(n, int(groups.max()) + 1, groups)
    k = units.n_units
    counts = rng.multinomial(k, np.full(k, 1 / k), size=3).astype(np.uint8)
    counts[0] = 0
    counts[0, rng.integers(k)] = k
    weight = rng.choice([least, 0.3, 1.0, 2.25], n) if draw(st.booleans()) else None
    return n, rng, units, counts, weight


@st.composite
def labelled(draw):
    """Multilabel truths and two models' predictions, some of them without any label."""
    n, rng, units, counts, weight = draw(designs())
    y, *predictions = (rng.random((3, n, N_LABELS)) < rng.uniform(0.1, 0.9, N_LABELS)).astype(int)
    kinds = [bool, float, int]
    records = [
        RecordedEstimator.from_arrays(predict=p.astype(kinds[rng.integers(3)])) for p in predictions
    ]
    return problem_of(y, records, units, weight), predictions, counts


@st.composite
def ranked(draw):
    """Multilabel truths and two models' scores of the labels, with ties or without."""
    n, rng, units, counts, weight = draw(designs())
    y = (rng.random((n, N_LABELS)) < 0.5).astype(int)
    y[:2] = np.eye(N_LABELS, dtype=int)[:2]
    scores = list(
        rng.integers(0, 4, (2, n, N_LABELS)) / 4
        if draw(st.booleans())
        else rng.random((2, n, N_LABELS))
    )
    both = [np.stack([1 - scores[1][:, k], scores[1][:, k]], axis=1) for k in range(N_LABELS)]
    records = [RecordedEstimator.from_arrays(predict_proba=p) for p in (scores[0], both)]
    records = [record.with_classes([[0, 1]] * N_LABELS) for record in records]
    return problem_of(y, records, units, weight), scores, counts


# Labels

SIMPLE = {
    "accuracy": (metrics.accuracy_score, {}),
    "right rows": (metrics.accuracy_score, {"normalize": False}),
    "zero-one": (metrics.zero_one_loss, {}),
    "wrong rows": (metrics.zero_one_loss, {"normalize": False}),
    "hamming": (metrics.hamming_loss, {}),
}


@pytest.mark.parametrize("name", list(SIMPLE))
@max_examples(20)
@given(case=labelled())
def test_shares_of_rows_and_labels(name, case):
    function, kwargs = SIMPLE[name]
    problem, predictions, counts = case

    def reference(rows, model, weight):
        return function(problem.y[rows], predictions[model][rows], sample_weight=weight, **kwargs)

    check(kernel_of(make_scorer(function, **kwargs), problem, "sums"), problem, counts, reference)


SET_SCORES = [
    (metrics.precision_score, {}),
    (metrics.recall_score, {}),
    (metrics.f1_score, {}),
    (metrics.fbeta_score, {"beta": 0.5}),
    (metrics.fbeta_score, {"beta": np.inf}),
    (metrics.jaccard_score, {}),
]
ZERO_DIVISIONS = [("warn", None), (0, [2, 0]), (1, None), (np.nan, [1, 2])]


@pytest.mark.parametrize(("function", "kwargs"), SET_SCORES)
@max_examples(20)
@given(
    case=labelled(),
    average=st.sampled_from(["micro", "macro", "weighted", "samples"]),
    chosen=st.sampled_from(ZERO_DIVISIONS),
)
def test_set_scores(function, kwargs, case, average, chosen):
    zero, labels = chosen
    assume(not (function is metrics.jaccard_score and zero is np.nan))  # which it does not take
    problem, predictions, counts = case
    kwargs = {**kwargs, "average": average, "zero_division": zero, "labels": labels}

    def reference(rows, model, weight):
        return function(problem.y[rows], predictions[model][rows], sample_weight=weight, **kwargs)

    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")
    result = check(kernel, problem, counts, reference)
    if zero == "warn" and labels is None:
        assert_zero_division(result, problem, predictions, counts, function, kwargs)


def assert_zero_division(result, problem, predictions, counts, function, kwargs):
    """What counts as 0/0 is what scikit-learn says would be NaN, of labels and of rows."""
    if function is metrics.jaccard_score:
        return
    own = {key: value for key, value in kwargs.items() if key == "beta"}
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        if weight is not None:
            rows, weight = rows[weight > 0], weight[weight > 0]
        if len(rows) == 0:
            continue
        for model in range(2):
            y, predicted = problem.y[rows], predictions[model][rows]
            if kwargs["average"] == "micro":
                y, predicted = y.reshape(-1, 1), predicted.reshape(-1, 1)
            if kwargs["average"] == "samples":
                y, predicted = y.T, predicted.T
            by_label = [
                quiet(function, y[:, k], predicted[:, k], zero_division=np.nan, **own)
                for k in range(y.shape[1])
            ]
            assert result.zero_division[resample, model] == np.isnan(by_label).any()


@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        (metrics.f1_score, {}),
        (metrics.f1_score, {"average": None}),
        (metrics.f1_score, {"average": "macro", "labels": [0, 3]}),
        (metrics.f1_score, {"average": "macro", "labels": [-1]}),
        (metrics.f1_score, {"average": "macro", "labels": ["a"]}),
        (metrics.f1_score, {"average": "macro", "labels": []}),
        (metrics.f1_score, {"average": "macro", "labels": [1, 1]}),
        (metrics.balanced_accuracy_score, {}),
        (metrics.matthews_corrcoef, {}),
    ],
)
def test_what_is_not_served_for_labels_is_left_to_the_scorer(function, kwargs):
    y = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=1 - y)])
    kernel_of(make_scorer(function, **kwargs), problem, "replay")


@pytest.mark.parametrize("predict", [np.full((4, 3), 2), np.full((4, 2), 1), np.full(4, 1)])
def test_predictions_that_are_no_indicators_are_left_to_the_scorer(predict):
    y = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=predict)])
    for name in ("accuracy", "f1_samples"):
        kernel_of(name, problem, "replay")


# Ranks


@pytest.mark.parametrize("max_fpr", [None, 0.4])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@max_examples(12)
@given(case=ranked())
def test_auc_of_labels(average, max_fpr, case):
    problem, scores, counts = case
    kwargs = {"average": average, "max_fpr": max_fpr}

    def reference(rows, model, weight):
        return metrics.roc_auc_score(
            problem.y[rows], scores[model][rows], sample_weight=weight, **kwargs
        )

    def undefined(seen):
        columns = [seen.ravel()] if average == "micro" else list(seen.T)
        return any(len(np.unique(column)) < 2 for column in columns)

    scorer = make_scorer(metrics.roc_auc_score, response_method="predict_proba", **kwargs)
    check(kernel_of(scorer, problem, "ranks"), problem, counts, reference, undefined)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@max_examples(12)
@given(case=ranked())
def test_average_precision_of_labels(average, case):
    problem, scores, counts = case

    def reference(rows, model, weight):
        return metrics.average_precision_score(
            problem.y[rows], scores[model][rows], sample_weight=weight, average=average
        )

    def undefined(seen):
        columns = [seen.ravel()] if average == "micro" else list(seen.T)
        return any(not column.any() for column in columns)

    scorer = make_scorer(
        metrics.average_precision_score, response_method="predict_proba", average=average
    )
    check(kernel_of(scorer, problem, "ranks"), problem, counts, reference, undefined)


@max_examples(25)
@given(case=ranked())
def test_average_precision_of_rows_is_zero_by_convention_without_labels(case):
    problem, scores, counts = case

    def reference(rows, model, weight):
        return metrics.average_precision_score(
            problem.y[rows], scores[model][rows], sample_weight=weight, average="samples"
        )

    scorer = make_scorer(
        metrics.average_precision_score, response_method="predict_proba", average="samples"
    )
    result = check(kernel_of(scorer, problem, "sums"), problem, counts, reference)
    weight = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        rows = rows[weight[rows] > 0]
        bare = (problem.y[rows].sum(axis=1) == 0).any()
        assert result.zero_division[resample].tolist() == [bool(bare)] * 2


@max_examples(25)
@given(case=ranked(), choice=st.integers(0, 2**16))
def test_auc_of_rows(case, choice):
    problem, scores, counts = case
    y = np.eye(N_LABELS, dtype=int)[np.random.default_rng(choice).integers(0, 3, len(problem.y))]
    y[::2] = 1 - y[::2]
    whole = problem_of(y, problem.records, problem.units, problem.sample_weight)

    def reference(rows, model, weight):
        return metrics.roc_auc_score(
            y[rows], scores[model][rows], sample_weight=weight, average="samples"
        )

    scorer = make_scorer(metrics.roc_auc_score, response_method="predict_proba", average="samples")
    check(kernel_of(scorer, whole, "sums"), whole, counts, reference)
    y = y.copy()
    y[1] = 1  # a row with all labels has no AUC: what scikit-learn makes of it, it makes of it
    kernel_of(scorer, problem_of(y, problem.records), "replay")


def test_scores_that_are_no_columns_of_labels_are_left_to_the_scorer():
    y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    three = [np.full((4, 3), 1 / 3)] * 2
    for proba in (np.full((4, 3), 0.5), three):
        record = RecordedEstimator.from_arrays(predict_proba=proba)
        for name in ("roc_auc", "average_precision"):
            kernel_of(name, problem_of(y, [record]), "replay")
        samples = make_scorer(
            metrics.roc_auc_score, response_method="predict_proba", average="samples"
        )
        kernel_of(samples, problem_of(y, [record]), "replay")
    with pytest.raises(ValueError, match="must give one array, or for each of several outputs"):
        record.response("predict_proba")


# Values

VALUES = [
    (metrics.mean_squared_error, {}),
    (metrics.root_mean_squared_error, {}),
    (metrics.mean_absolute_error, {}),
    (metrics.mean_absolute_percentage_error, {}),
    (metrics.mean_squared_log_error, {}),
    (metrics.root_mean_squared_log_error, {}),
    (metrics.mean_pinball_loss, {"alpha": 0.2}),
    (metrics.r2_score, {}),
    (metrics.explained_variance_score, {}),
]
AVERAGES = {"uniform": "uniform_average", "weights": [0.5, 2.0, 1.0], "some": [1.0, 0.0, 3.0]}


@st.composite
def valued(draw):
    """Positive truths of several outputs, in a few values so that they may be constant."""
    n, rng, units, counts, weight = draw(designs())
    y = rng.integers(1, 4, (n, 3)) + (rng.random((n, 3)) if draw(st.booleans()) else 0)
    predictions = [y + rng.normal(size=(n, 3)) * [0.1, 0.3, 0.5] for _ in range(2)]
    predictions = [np.abs(predicted) for predicted in predictions]
    records = [RecordedEstimator.from_arrays(predict=predicted) for predicted in predictions]
    return problem_of(y, records, units, weight), predictions, counts


@pytest.mark.parametrize("average", list(AVERAGES))
@pytest.mark.parametrize(("function", "kwargs"), VALUES)
@settings(max_examples=8)
@given(case=valued())
def test_values_of_several_outputs(function, kwargs, average, case):
    problem, predictions, counts = case
    kwargs = {**kwargs, "multioutput": AVERAGES[average]}
    explains = function in (metrics.r2_score, metrics.explained_variance_score)

    def reference(rows, model, weight):
        return function(problem.y[rows], predictions[model][rows], sample_weight=weight, **kwargs)

    def undefined(seen):
        counted = [0, 2] if average == "some" else [0, 1, 2]
        return explains and any(len(np.unique(seen[:, k])) == 1 for k in counted)

    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")
    check(kernel, problem, counts, reference, undefined)


@pytest.mark.parametrize("function", [metrics.r2_score, metrics.explained_variance_score])
@max_examples(20)
@given(case=valued())
def test_by_variance_constant_outputs_do_not_count(function, case):
    problem, predictions, counts = case

    def reference(rows, model, weight):
        # Left to itself scikit-learn may take the rounding of a mean for the variance of constants.
        varied = [k for k in range(3) if len(np.unique(problem.y[rows, k])) > 1]
        return function(
            problem.y[rows][:, varied],
            predictions[model][rows][:, varied],
            sample_weight=weight,
            multioutput="variance_weighted",
        )

    def undefined(seen):
        return all(len(np.unique(column)) == 1 for column in seen.T)

    kernel = kernel_of(make_scorer(function, multioutput="variance_weighted"), problem, "sums")
    check(kernel, problem, counts, reference, undefined)


@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        (metrics.mean_squared_error, {"multioutput": "raw_values"}),
        (metrics.mean_squared_error, {"multioutput": "variance_weighted"}),
        (metrics.mean_squared_error, {"multioutput": [1.0, 2.0]}),
        (metrics.mean_squared_error, {"multioutput": [1.0, -1.0, 0.0]}),
        (metrics.r2_score, {"multioutput": "raw_values"}),
        (metrics.r2_score, {"multioutput": "variance_weighted", "force_finite": False}),
        (metrics.r2_score, {"multioutput": [1.0, 0.0, 1.0], "force_finite": False}),
        (metrics.mean_poisson_deviance, {}),
        (metrics.d2_tweedie_score, {}),
        (metrics.d2_absolute_error_score, {}),
        (metrics.median_absolute_error, {}),
        (metrics.max_error, {}),
    ],
)
def test_what_is_not_served_for_outputs_is_left_to_the_scorer(function, kwargs):
    y = np.random.default_rng(0).random((5, 3)) + 1
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=y + 0.1)])
    kernel_of(make_scorer(function, **kwargs), problem, "replay")


def test_huge_values_are_left_to_the_scorer():
    y = np.random.default_rng(0).random((5, 2)) * 1e200
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=-y)])
    for name in ("neg_mean_squared_error", "neg_root_mean_squared_error", "r2"):
        kernel_of(name, problem, "replay")
    kernel_of("neg_mean_absolute_error", problem, "sums")


def test_outputs_far_from_zero_lose_no_digits():
    rng = np.random.default_rng(0)
    y = rng.random((30, 2)) * 1e-3 + [1e9, -3e8]
    predicted = y + rng.normal(size=(30, 2)) * 1e-4
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=predicted)])
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(np.uint8)
    for function in (metrics.r2_score, metrics.explained_variance_score):
        kernel = kernel_of(make_scorer(function), problem, "sums")
        for drawn, value in zip(counts, kernel.evaluate(Weights(counts)).values, strict=True):
            rows = np.repeat(np.arange(30), drawn)
            centre = y[rows[0]]
            expected = function(y[rows] - centre, predicted[rows] - centre)
            assert value == pytest.approx(expected, rel=1e-9)


# Identities

ONE_OF_EACH = {
    "labels": ["accuracy", "f1_micro", "f1_macro", "f1_weighted", "f1_samples", "jaccard_macro"],
    "scores": ["roc_auc", "average_precision", "roc_auc_ovr_weighted"],
    "values": ["neg_mean_squared_error", "neg_root_mean_squared_error", "r2", "explained_variance"],
}


def cases():
    return st.one_of(
        st.tuples(st.sampled_from(ONE_OF_EACH["labels"]), labelled()),
        st.tuples(st.sampled_from(ONE_OF_EACH["scores"]), ranked()),
        st.tuples(st.sampled_from(ONE_OF_EACH["values"]), valued()),
    )


def with_answers(problem, change, y=None):
    """Give the same problem with every answer changed."""
    records = []
    for record in problem.records:
        (name,) = record.responses
        records.append(RecordedEstimator.from_arrays(**{name: change(record.response(name))}))
    return problem_of(change(problem.y) if y is None else y, records, problem.units)


def values_of(name, problem, counts):
    (metric,) = resolve_scoring(name)
    return build_kernel(metric, problem, ("a", "b")).evaluate(Weights(counts)).values


@max_examples(60)
@given(case=cases(), data=st.data())
def test_whole_weights_equal_repetition(case, data):
    name, (problem, _, counts) = case
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    times = rng.integers(1, 4, len(problem.y))
    weighted = problem_of(problem.y, problem.records, problem.units, times.astype(float))
    of_row = problem.units.of_row
    of_row = np.arange(len(problem.y)) if of_row is None else of_row
    repeated = with_answers(problem, lambda answers: np.repeat(answers, times, axis=0))
    units = Units(int(times.sum()), problem.units.n_units, np.repeat(of_row, times))
    repeated = problem_of(repeated.y, repeated.records, units)
    np.testing.assert_allclose(
        values_of(name, weighted, counts), values_of(name, repeated, counts), rtol=1e-12, atol=1e-12
    )


@max_examples(60)
@given(case=cases(), order=st.permutations(range(3)))
def test_order_of_columns_does_not_matter(case, order):
    name, (problem, _, counts) = case
    as_it_is = with_answers(problem, np.array)
    permuted = with_answers(problem, lambda answers: np.ascontiguousarray(answers[:, order]))
    np.testing.assert_allclose(
        values_of(name, permuted, counts), values_of(name, as_it_is, counts), rtol=1e-12, atol=1e-12
    )


@max_examples(60)
@given(case=cases(), column=st.integers(0, 2))
def test_equal_columns_equal_the_metric_of_one(case, column):
    name, (problem, _, counts) = case
    if name.startswith("jaccard") or name.startswith("f1"):
        name = name.split("_")[0] + "_macro"
    thrice = with_answers(problem, lambda answers: answers[:, [column] * 3])
    single = {"f1_macro": "f1", "jaccard_macro": "jaccard"}.get(name, name)
    if single.startswith("roc_auc"):
        single = "roc_auc"
    if len(np.unique(problem.y[:, column])) == 1:
        return  # of one column nothing says which class is positive
    records = []
    for record in problem.records:
        (response,) = record.responses
        answers = record.response(response)[:, column]
        classes = [0, 1] if response != "predict" else None
        records.append(RecordedEstimator.from_arrays(**{response: answers}, classes=classes))
    one = problem_of(problem.y[:, column], records, problem.units)
    values = values_of(name, thrice, counts)
    np.testing.assert_allclose(values, values_of(single, one, counts), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for names in ONE_OF_EACH.values() for name in names])
def test_merged_rows_give_the_same_distribution(name):
    rng = np.random.default_rng(1)
    distinct = rng.permutation(8)[:4]
    y = (distinct[:, None] >> np.arange(3)) & 1
    answers = rng.random((2, 4, 3))
    times = np.array([2, 1, 2, 1])
    response = "predict" if name in ONE_OF_EACH["labels"] + ONE_OF_EACH["values"] else None
    if name in ONE_OF_EACH["labels"]:
        answers = (answers > 0.5).astype(int)
    records = [
        RecordedEstimator.from_arrays(
            **{response or "predict_proba": np.repeat(of_model, times, axis=0)}
        )
        for of_model in answers
    ]
    problem = problem_of(np.repeat(y, times, axis=0), records)
    (metric,) = resolve_scoring(name)
    kernel = build_kernel(metric, problem, ("a", "b"))
    run = {"n_resamples": "exact", "entropy": 0, "scales": np.array([np.nan])}
    units = problem.units
    merged = bootstrap([kernel], units, observe([kernel], units), **run)
    assert merged.n_sequences == 6**6
    assert len(merged.replicates) <= 84  # vectors of six draws from four distinct rows
    literal = np.array(list(np.ndindex(*(6,) * 6)))[:: 6**3 + 1]
    counts = np.stack([np.bincount(rows, minlength=6) for rows in literal]).astype(np.uint8)
    values = kernel.evaluate(Weights(counts)).values
    known = merged.replicates[:, 0, 0]
    for value in values[~np.isnan(values[:, 0]), 0]:
        assert np.isclose(known, value, rtol=1e-12, atol=1e-12).any()


def test_every_builder_of_several_columns_is_known_to_these_tests():
    from sklearn_pairboot._scoring.builtin import OF_COLUMNS

    tested = {function for function, *_ in [*SIMPLE.values(), *SET_SCORES, *VALUES]}
    tested |= {metrics.roc_auc_score, metrics.average_precision_score}
    one_output = {
        function
        for function in OF_COLUMNS
        if "multioutput" not in signature(function).parameters and function not in tested
    }
    assert {function.__name__ for function in one_output} == {
        "mean_tweedie_deviance",
        "mean_poisson_deviance",
        "mean_gamma_deviance",
        "d2_tweedie_score",
    }
    assert set(OF_COLUMNS) == tested | one_output
