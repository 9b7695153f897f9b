"""Fast kernels equal scikit-learn's metric on literally drawn rows, with the full data's labels."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import make_scorer

from examples import max_examples
from literal import kernel_of, problem_of, quiet, rows_of
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.recorded import RecordedEstimator

LABELS = {"numbers": np.array([0, 1, 2]), "strings": np.array(["a", "b", "c"])}


def assert_equals_drawn_rows(kernel, problem, reference, counts, undefined=lambda rows: False):
    """Compare with ``reference(rows, model, weight)`` on literally drawn rows."""
    result = kernel.evaluate(Weights(counts))
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        for model in range(kernel.n_models):
            value = result.values[resample, model]
            expected = np.nan if undefined(rows) else quiet(reference, rows, model, weight)
            if np.isnan(expected):
                assert result.undefined[resample, model], (drawn, expected)
                assert np.isnan(value)
            else:
                assert not result.undefined[resample, model], (drawn, expected)
                scale = max(1.0, abs(expected))
                assert value == pytest.approx(expected, rel=1e-12, abs=1e-12 * scale)
    return result


@st.composite
def labelled(draw, n_classes):
    """Truths, predictions of two models, counts and weights; classes may be missing."""
    n = draw(st.integers(3, 14))
    element = st.integers(0, n_classes - 1)
    codes = [np.array(draw(st.lists(element, min_size=n, max_size=n))) for _ in range(3)]
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    labels = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    groups = rng.integers(0, 4, n) if draw(st.booleans()) else None
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    units = Units(n, n) if groups is None else Units(n, groups.max() + 1, groups)
    counts = rng.multinomial(
        units.n_units, np.full(units.n_units, 1 / units.n_units), size=3
    ).astype(np.uint8)
    weight = rng.choice([0.5, 1.0, 2.25], n) if draw(st.booleans()) else None
    y, a, b = (labels[part] for part in codes)
    records = [RecordedEstimator.from_arrays(predict=answers) for answers in (a, b)]
    return problem_of(y, records, units, weight), (a, b), counts


MULTICLASS = {
    "accuracy": ("accuracy", metrics.accuracy_score),
    "correct rows": (
        make_scorer(metrics.accuracy_score, normalize=False),
        partial(metrics.accuracy_score, normalize=False),
    ),
    "balanced": ("balanced_accuracy", metrics.balanced_accuracy_score),
    "matthews": ("matthews_corrcoef", metrics.matthews_corrcoef),
    "kappa": (make_scorer(metrics.cohen_kappa_score), metrics.cohen_kappa_score),
}
AVERAGED = {
    "precision": (metrics.precision_score, {}),
    "recall": (metrics.recall_score, {}),
    "f1": (metrics.f1_score, {}),
    "f0.5": (metrics.fbeta_score, {"beta": 0.5}),
}


@pytest.mark.parametrize("name", list(MULTICLASS))
@settings(max_examples=10)
@given(case=labelled(3))
def test_label_metrics_equal_scikit_learn_on_drawn_rows(name, case):
    scoring, function = MULTICLASS[name]
    problem, answers, counts = case
    kernel = kernel_of(scoring, problem, "sums")

    def reference(rows, model, weight):
        return function(problem.y[rows], answers[model][rows], sample_weight=weight)

    assert_equals_drawn_rows(kernel, problem, reference, counts)


@pytest.mark.parametrize("name", list(AVERAGED))
@max_examples(30)
@given(
    case=labelled(3),
    average=st.sampled_from(["micro", "macro", "weighted"]),
    zero=st.sampled_from([0.0, 1.0, np.nan]),
)
def test_averaged_label_metrics_equal_scikit_learn_with_all_labels(name, case, average, zero):
    function, own = AVERAGED[name]
    kwargs = {**own, "average": average, "zero_division": zero}
    problem, answers, counts = case
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")

    def reference(rows, model, weight):
        labels = np.unique(np.concatenate([problem.y, answers[model]]))
        return function(
            problem.y[rows], answers[model][rows], labels=labels, sample_weight=weight, **kwargs
        )

    assert_equals_drawn_rows(kernel, problem, reference, counts)


@pytest.mark.parametrize(
    "function",
    [metrics.precision_score, metrics.recall_score, metrics.f1_score, metrics.jaccard_score],
)
@max_examples(30)
@given(zero=st.sampled_from(["warn", 0.0, 1.0]), case=labelled(2))
def test_binary_label_metrics_equal_scikit_learn_and_count_zero_division(function, zero, case):
    problem, answers, counts = case
    labels = np.unique(np.concatenate([problem.y, *answers]))
    if len(np.unique(problem.y)) < 2:
        return
    positive = labels[1]
    kernel = kernel_of(
        make_scorer(function, pos_label=positive, zero_division=zero), problem, "sums"
    )

    def reference(rows, model, weight):
        return function(
            problem.y[rows],
            answers[model][rows],
            labels=[positive],
            average="macro",
            zero_division=zero,
            sample_weight=weight,
        )

    result = assert_equals_drawn_rows(kernel, problem, reference, counts)
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        for model in (0, 1):
            true = problem.y[rows] == positive
            predicted = answers[model][rows] == positive
            empty = {
                "precision_score": not predicted.any(),
                "recall_score": not true.any(),
            }.get(function.__name__, not (true | predicted).any())
            assert result.zero_division[resample, model] == empty


@given(case=labelled(3))
def test_balanced_accuracy_adjusted_is_undefined_with_one_class(case):
    problem, answers, counts = case
    scorer = make_scorer(metrics.balanced_accuracy_score, adjusted=True)
    kernel = kernel_of(scorer, problem, "sums")

    def reference(rows, model, weight):
        with np.errstate(all="ignore"):
            return metrics.balanced_accuracy_score(
                problem.y[rows], answers[model][rows], adjusted=True, sample_weight=weight
            )

    def one_class(rows):
        return len(np.unique(problem.y[rows])) == 1

    assert_equals_drawn_rows(kernel, problem, reference, counts, undefined=one_class)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_equals_scikit_learn_with_all_labels(weights):
    rng = np.random.default_rng(3)
    y, a, b = rng.integers(0, 4, (3, 30))
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=p) for p in (a, b)])
    scorer = make_scorer(metrics.cohen_kappa_score, weights=weights)
    kernel = kernel_of(scorer, problem, "sums")
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(np.uint8)

    def reference(rows, model, weight):
        answers = (a, b)[model]
        return metrics.cohen_kappa_score(
            y[rows], answers[rows], weights=weights, labels=np.arange(4)
        )

    assert_equals_drawn_rows(kernel, problem, reference, counts)


@st.composite
def scored(draw, ties=None):
    """Binary truths, scores with or without ties, counts and weights."""
    n = draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    decimals = draw(st.sampled_from([1, 12]))
    scores = [np.round(rng.random(n), decimals) for _ in range(2)]
    groups = np.unique(rng.integers(0, 5, n), return_inverse=True)[1]
    if draw(st.booleans()):
        groups = None
    units = Units(n, n) if groups is None else Units(n, groups.max() + 1, groups)
    counts = rng.multinomial(
        units.n_units, np.full(units.n_units, 1 / units.n_units), size=3
    ).astype(np.uint8)
    weight = rng.choice([0.5, 1.0, 2.25], n) if draw(st.booleans()) else None
    strings = draw(st.booleans())
    labels = np.array(["no", "yes"]) if strings else np.array([0, 1])
    records = [RecordedEstimator.from_arrays(predict_proba=s, classes=labels) for s in scores]
    return problem_of(labels[y], records, units, weight), y, scores, counts


PROBABILISTIC = {
    "roc_auc": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
    "neg_brier_score": partial(metrics.brier_score_loss, pos_label=1),
    "neg_log_loss": partial(metrics.log_loss, labels=[0, 1]),
}


@pytest.mark.parametrize("name", list(PROBABILISTIC))
@given(case=scored())
def test_score_metrics_equal_scikit_learn_on_drawn_rows(name, case):
    problem, y, scores, counts = case
    kernel = kernel_of(name, problem, "ranks" if name[:3] in ("roc", "ave") else "sums")

    def reference(rows, model, weight):
        return PROBABILISTIC[name](y[rows], scores[model][rows], sample_weight=weight)

    undefined = {
        "roc_auc": lambda rows: len(np.unique(y[rows])) < 2,
        "average_precision": lambda rows: not y[rows].any(),
    }.get(name, lambda rows: False)
    assert_equals_drawn_rows(kernel, problem, reference, counts, undefined=undefined)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@given(case=scored())
def test_rank_metrics_ignore_monotone_transforms(name, case):
    problem, _, scores, counts = case
    labels = np.asarray(problem.records[0].classes_)
    bent = [
        RecordedEstimator.from_arrays(decision_function=np.exp(3 * s), classes=labels)
        for s in scores
    ]
    other = problem_of(problem.y, bent, problem.units, problem.sample_weight)
    first = kernel_of(name, problem, "ranks").evaluate(Weights(counts)).values
    second = kernel_of(name, other, "ranks").evaluate(Weights(counts)).values
    np.testing.assert_array_equal(first, second)


@given(case=scored())
def test_auc_of_negated_scores_is_the_complement(case):
    problem, _, scores, counts = case
    labels = np.asarray(problem.records[0].classes_)
    negated = [RecordedEstimator.from_arrays(decision_function=-s, classes=labels) for s in scores]
    other = problem_of(problem.y, negated, problem.units, problem.sample_weight)
    first = kernel_of("roc_auc", problem, "ranks").evaluate(Weights(counts)).values
    second = kernel_of("roc_auc", other, "ranks").evaluate(Weights(counts)).values
    np.testing.assert_allclose(first, 1 - second, rtol=0, atol=1e-14)


REGRESSION = {
    "neg_mean_squared_error": metrics.mean_squared_error,
    "neg_root_mean_squared_error": metrics.root_mean_squared_error,
    "neg_mean_absolute_error": metrics.mean_absolute_error,
    "r2": metrics.r2_score,
}


@st.composite
def regression(draw):
    n = draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    y = rng.choice([0.1, 0.1 + 1e-9, 2.0, 30.0], n) if draw(st.booleans()) else rng.normal(size=n)
    y = y + draw(st.sampled_from([0.0, 1e4]))
    answers = [y + rng.normal(size=n) for _ in range(2)]
    groups = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
    units = Units(n, n) if draw(st.booleans()) else Units(n, groups.max() + 1, groups)
    counts = rng.multinomial(
        units.n_units, np.full(units.n_units, 1 / units.n_units), size=3
    ).astype(np.uint8)
    weight = rng.choice([0.5, 1.0, 2.25], n) if draw(st.booleans()) else None
    records = [RecordedEstimator.from_arrays(predict=p) for p in answers]
    return problem_of(y, records, units, weight), answers, counts


@pytest.mark.parametrize("name", list(REGRESSION))
@given(case=regression())
def test_regression_metrics_equal_scikit_learn_on_drawn_rows(name, case):
    problem, answers, counts = case
    kernel = kernel_of(name, problem, "sums")

    def reference(rows, model, weight):
        return REGRESSION[name](problem.y[rows], answers[model][rows], sample_weight=weight)

    undefined = (
        (lambda rows: len(np.unique(problem.y[rows])) == 1) if name == "r2" else lambda r: False
    )
    result = kernel.evaluate(Weights(counts))
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        for model in (0, 1):
            if undefined(rows):
                assert result.undefined[resample, model]
                continue
            expected = quiet(reference, rows, model, weight)
            # R2 of nearly constant truths is huge and ill-conditioned in its denominator.
            tolerance = 1e-12
            if name == "r2":
                spread = np.ptp(problem.y[rows]) / np.abs(problem.y[rows]).max()
                tolerance = max(1e-12, 4 * np.finfo(float).eps / spread)
            assert result.values[resample, model] == pytest.approx(
                expected, rel=tolerance, abs=tolerance * max(1.0, abs(expected))
            )


EVERY = ["accuracy", "balanced_accuracy", "f1", "precision", "recall", "matthews_corrcoef"]


@pytest.mark.parametrize("name", [*EVERY, *PROBABILISTIC])
@given(case=scored())
def test_leave_one_out_equals_evaluation_without_the_unit(name, case):
    problem, y, scores, _ = case
    labels = np.asarray(problem.records[0].classes_)
    if name in EVERY:
        records = [
            RecordedEstimator.from_arrays(predict=labels[(s > 0.5).astype(int)], classes=labels)
            for s in scores
        ]
        problem = problem_of(problem.y, records, problem.units, problem.sample_weight)
    path = "ranks" if name in ("roc_auc", "average_precision") else "sums"
    kernel = kernel_of(name, problem, path)
    n_units = problem.units.n_units
    literal = kernel.evaluate(Weights(1 - np.eye(n_units, dtype=np.uint8)))
    np.testing.assert_allclose(
        kernel.leave_one_out().values, literal.values, rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize("name", list(REGRESSION))
@given(case=regression())
def test_leave_one_out_of_regression_equals_evaluation_without_the_unit(name, case):
    problem, _, _ = case
    if len(np.unique(problem.y)) < 3 or np.ptp(problem.y) < 1:
        return
    kernel = kernel_of(name, problem, "sums")
    literal = kernel.evaluate(Weights(1 - np.eye(problem.units.n_units, dtype=np.uint8)))
    np.testing.assert_allclose(kernel.leave_one_out().values, literal.values, rtol=1e-6, atol=1e-6)


@given(case=scored())
def test_integer_weights_equal_repetition(case):
    """Row weights of 1 to 3 give what as many copies of the row give in its cluster."""
    problem, y, scores, counts = case
    rng = np.random.default_rng(len(y))
    copies = rng.integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), copies)
    of_row = np.arange(len(y)) if problem.units.of_row is None else problem.units.of_row
    weighted = problem_of(
        problem.y,
        problem.records,
        Units(len(y), problem.units.n_units, of_row),
        copies.astype(float),
    )
    labels = np.asarray(problem.records[0].classes_)
    repeated = problem_of(
        problem.y[rows],
        [RecordedEstimator.from_arrays(predict_proba=s[rows], classes=labels) for s in scores],
        Units(len(rows), problem.units.n_units, of_row[rows]),
    )
    for name in PROBABILISTIC:
        path = "ranks" if name in ("roc_auc", "average_precision") else "sums"
        first = kernel_of(name, weighted, path).evaluate(Weights(counts)).values
        second = kernel_of(name, repeated, path).evaluate(Weights(counts)).values
        np.testing.assert_allclose(first, second, rtol=1e-12)


def test_brier_and_log_loss_of_three_classes_equal_scikit_learn():
    rng = np.random.default_rng(5)
    y = rng.choice(["a", "b", "c"], 40)
    answers = [rng.dirichlet(np.ones(3), 40) for _ in range(2)]
    labels = np.array(["a", "b", "c"])
    records = [RecordedEstimator.from_arrays(predict_proba=p, classes=labels) for p in answers]
    problem = problem_of(y, records)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=20).astype(np.uint8)
    counts[0] = 0
    counts[0, np.flatnonzero(y == "a")[0]] = 40
    kernel = kernel_of("neg_log_loss", problem, "sums")

    def log_loss(rows, model, weight):
        return metrics.log_loss(y[rows], answers[model][rows], labels=labels)

    assert_equals_drawn_rows(kernel, problem, log_loss, counts)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        (metrics.log_loss, {"normalize": False}),
        (metrics.log_loss, {"labels": "all"}),
        (metrics.brier_score_loss, {"scale_by_half": True}),
        (metrics.brier_score_loss, {"scale_by_half": False}),
        (metrics.brier_score_loss, {"scale_by_half": "auto"}),
    ],
)
def test_keywords_of_probability_losses_equal_scikit_learn(function, kwargs, n_classes):
    if not set(kwargs) <= set(inspect.signature(function).parameters):
        pytest.skip("needs scikit-learn 1.7")
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 40)
    classes = list(range(n_classes))
    answers = [rng.dirichlet(np.ones(n_classes), 40) for _ in range(2)]
    records = [RecordedEstimator.from_arrays(predict_proba=p, classes=classes) for p in answers]
    if "labels" in kwargs:
        kwargs = {"labels": classes}
    scorer = make_scorer(function, response_method="predict_proba", **kwargs)
    for weight in (None, rng.integers(0, 3, 40).astype(float)):
        problem = problem_of(y, records, sample_weight=weight)
        kernel = kernel_of(scorer, problem, "sums")
        counts = rng.multinomial(40, np.full(40, 1 / 40), size=6)
        found = kernel.evaluate(Weights(counts)).values
        for resample, drawn in enumerate(counts):
            rows = np.repeat(np.arange(40), drawn)
            for model, record in enumerate(records):
                view, X = record.take(rows)
                given = {} if weight is None else {"sample_weight": weight[rows]}
                assert found[resample, model] == pytest.approx(
                    scorer(view, X, y[rows], **given), rel=1e-12
                )


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], ["a", "b", "c"]])
def test_log_loss_of_other_labels_than_the_classes_is_replayed(labels):
    y = np.array([0, 1, 2, 0, 1, 2])
    answers = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    record = RecordedEstimator.from_arrays(predict_proba=answers, classes=[0, 1, 2])
    scorer = make_scorer(metrics.log_loss, response_method="predict_proba", labels=labels)
    assert kernel_of(scorer, problem_of(y, [record])).path == "replay"


def test_users_metric_function_can_bring_its_kernel():
    from sklearn_pairboot._engine.kernels import item_means

    def hit_rate(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    def kernel(problem):
        hits = np.column_stack([problem.y == p for p in problem.predictions()]).astype(float)
        return item_means(hits, problem.row_weight, problem.units)

    y = np.array([0, 1, 1, 0])
    records = [RecordedEstimator.from_arrays(predict=np.array([0, 1, 0, 0]))]
    problem = problem_of(y, records)
    assert kernel_of(make_scorer(hit_rate), problem, "replay").path == "replay"
    hit_rate.pairboot_kernel = kernel
    fast = kernel_of(make_scorer(hit_rate), problem, "sums")
    assert fast.evaluate(Weights(np.ones((1, 4), np.uint8))).values[0, 0] == 0.75


def test_kernels_take_the_response_that_the_scorer_takes():
    """A support vector machine ranks differently by its decision values than by Platt's."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    model = LogisticRegression().fit(X + y[:, None], y)
    record = RecordedEstimator.from_estimator(model, X)
    problem = problem_of(y, [record])
    ones = Weights(np.ones((1, 90), np.uint8))
    for method in ("predict_proba", "decision_function"):
        scorer = make_scorer(metrics.average_precision_score, response_method=method)
        kernel = kernel_of(scorer, problem, "ranks")
        expected = scorer(model, X, y)
        assert kernel.evaluate(ones).values[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_response_that_a_kernel_is_not_for_is_replayed():
    y = np.array([0, 1, 1, 0])
    record = RecordedEstimator.from_arrays(
        predict=[0, 1, 0, 0], predict_proba=[0.1, 0.8, 0.4, 0.3], classes=[0, 1]
    )
    problem = problem_of(y, [record])
    # Log loss of predicted labels: a mistake, but scikit-learn's number is what was asked for.
    scorer = make_scorer(metrics.log_loss, greater_is_better=False)
    kernel = kernel_of(scorer, problem, "replay")
    expected = metrics.log_loss(y, np.array([0, 1, 0, 0]))
    assert kernel.evaluate(Weights(np.ones((1, 4), np.uint8))).values[0, 0] == expected
