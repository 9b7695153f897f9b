"""The further sums equal scikit-learn's metric on literally drawn rows, masks and all."""

from __future__ import annotations

import pickle
from decimal import Decimal, localcontext
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import make_scorer

from examples import max_examples
from literal import kernel_of, problem_of, quiet, rows_of
from sklearn_pairboot._engine.explained import unit_deviance
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring import builtin
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring

REPLACES = "replace_undefined_by" in signature(metrics.class_likelihood_ratios).parameters


def check(kernel, problem, reference, counts, *, undefined=None, tolerance=1e-12):
    """Compare with ``reference(rows, model, weight)``; NaN and ``undefined(rows)`` are masked.

    The jackknife is compared with the kernel's own values without each unit.
    """
    counts = np.vstack([counts, np.ones_like(counts[:1])])
    result = kernel.evaluate(Weights(counts))
    of_fresh = pickle.loads(pickle.dumps(kernel)).take_units(np.arange(problem.units.n_units))
    np.testing.assert_array_equal(of_fresh.evaluate(Weights(counts)).values, result.values)
    assert not (result.undefined & result.zero_division).any()
    assert np.array_equal(np.isnan(result.values), result.undefined)
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        for model in range(kernel.n_models):
            lost = undefined is not None and undefined(rows)
            expected = np.nan if lost else quiet(reference, rows, model, weight)
            scale = kernel.scale if kernel.scale > 1 else 1.0
            assert result.values[resample, model] == pytest.approx(
                expected, rel=tolerance, abs=tolerance * scale, nan_ok=True
            ), (drawn, model)
    without = kernel.evaluate(Weights(1 - np.eye(problem.units.n_units, dtype=np.uint8)))
    left_out = kernel.leave_one_out().values
    assert np.array_equal(np.isnan(left_out), without.undefined)
    size = np.nanmax(np.abs(without.values), initial=1.0)
    np.testing.assert_allclose(left_out, without.values, rtol=1e-9, atol=1e-11 * size)
    return result


@st.composite
def designs(draw):
    """Random numbers, units, counts and row weights; few units, so that classes go missing."""
    n = draw(st.integers(4, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    groups = np.unique(rng.integers(0, draw(st.sampled_from([4, 99])), n), return_inverse=True)[1]
    units = Units(n, n) if draw(st.booleans()) else Units(n, groups.max() + 1, groups)
    share = np.full(units.n_units, 1 / units.n_units)
    counts = rng.multinomial(units.n_units, share, size=3).astype(np.uint8)
    weight = rng.choice([0.3, 1.0, 2.25], n) if draw(st.booleans()) else None
    return n, rng, units, counts, weight


# Values

VALUES = [
    # function, keyword arguments, least truth
    (metrics.mean_absolute_percentage_error, {}, None),
    (metrics.mean_squared_log_error, {}, -0.9),
    (metrics.root_mean_squared_log_error, {"multioutput": "uniform_average"}, -0.9),
    (metrics.mean_pinball_loss, {}, None),
    (metrics.mean_pinball_loss, {"alpha": 0.1}, None),
    (metrics.mean_poisson_deviance, {}, 0.0),
    (metrics.mean_gamma_deviance, {}, 0.25),
    *((metrics.mean_tweedie_deviance, {"power": p}, m) for p, m in [(0, None), (-1.5, None)]),
    *((metrics.mean_tweedie_deviance, {"power": p}, 0.0) for p in (1, 1.5)),
    *((metrics.mean_tweedie_deviance, {"power": p}, 0.25) for p in (2, 3)),
    (metrics.explained_variance_score, {}, None),
    (metrics.explained_variance_score, {"multioutput": "variance_weighted"}, None),
    *((metrics.d2_tweedie_score, {"power": p}, m) for p, m in [(0, None), (-1.5, 0.0)]),
    *((metrics.d2_tweedie_score, {"power": p}, 0.0) for p in (1, 1.5)),
    *((metrics.d2_tweedie_score, {"power": p}, 0.25) for p in (2, 3)),
]


@pytest.mark.parametrize(("function", "kwargs", "least"), VALUES)
@settings(max_examples=10)
@given(design=designs(), integers=st.booleans())
def test_metrics_of_values_equal_scikit_learn_on_drawn_rows(
    function, kwargs, least, design, integers
):
    n, rng, units, counts, weight = design
    y = rng.choice([-3.0, 0.0, 1.0, 2.5, 20.0], n)
    if least is not None:
        y = np.maximum(y, least)
    if integers and least not in (-0.9, 0.25):
        y = y.astype(np.int64)
    answers = [rng.gamma(2.0, 1.0, n) * np.maximum(np.abs(y), 0.5) for _ in range(2)]
    if function is metrics.mean_absolute_percentage_error and n % 2:
        y = np.where(y == 0, 1, y)
    records = [RecordedEstimator.from_arrays(predict=answer) for answer in answers]
    problem = problem_of(y, records, units, weight)
    compares = function in (metrics.d2_tweedie_score, metrics.explained_variance_score)
    if compares and len(np.unique(y)) == 1:
        return
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")

    def reference(rows, model, weight):
        return function(y[rows], answers[model][rows], sample_weight=weight, **kwargs)

    result = check(
        kernel,
        problem,
        reference,
        counts,
        undefined=(lambda rows: len(np.unique(y[rows])) == 1) if compares else None,
    )
    assert not result.zero_division.any()


def exact_deviance(value, mean, power):
    y, m, p = Decimal(value), mean, Decimal(power)
    if power == 1:
        return 2 * (y * (y / m).ln() - y + m)
    if power == 2:
        return 2 * ((m / y).ln() + y / m - 1)
    constant = y ** (2 - p) / ((1 - p) * (2 - p))
    return 2 * (constant - y * m ** (1 - p) / (1 - p) + m ** (2 - p) / (2 - p))


@pytest.mark.parametrize("power", [-2, 0, 1, 1.5, 2, 2.7, 4])
@pytest.mark.parametrize("ratio", [1 + 1e-9, 1 - 1e-4, 1.02, 0.51, 1.49, 0.4, 7, 1e-12])
def test_unit_deviance_equals_its_closed_form_in_50_digits(power, ratio):
    mean = 3.7
    value = mean * ratio
    with localcontext() as context:
        context.prec = 50
        expected = exact_deviance(value, Decimal(mean), power)
    found = unit_deviance(np.array([value / mean]), np.array([(value - mean) / mean]), mean, power)
    assert found[0] == pytest.approx(float(expected), rel=2e-14)


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_d2_of_truths_far_from_the_mean_of_all_keeps_its_digits(power):
    """Clusters of nearly equal truths: scikit-learn's own closed forms lose eight digits here."""
    rng = np.random.default_rng(0)
    groups = np.repeat([2, 0, 1], 5)
    y = np.array([1.0, 50.0, 900.0])[groups] * (1 + 1e-4 * rng.normal(size=15))
    answers = y * rng.uniform(0.8, 1.2, 15)
    records = [RecordedEstimator.from_arrays(predict=answers)]
    problem = problem_of(y, records, Units(15, 3, groups))
    kernel = kernel_of(make_scorer(metrics.d2_tweedie_score, power=power), problem, "sums")
    counts = np.array([[3, 0, 0], [0, 3, 0], [0, 0, 3], [1, 2, 0], [0, 1, 2]], dtype=np.uint8)
    for drawn, found in zip(counts, kernel.evaluate(Weights(counts)).values[:, 0], strict=True):
        rows = rows_of(problem.units, drawn)
        with localcontext() as context:
            context.prec = 50
            mean = sum(map(Decimal, y[rows])) / len(rows)
            loss, null = (
                sum(exact_deviance(a, m, power) for a, m in zip(y[rows], of, strict=True))
                for of in (map(Decimal, answers[rows]), [mean] * len(rows))
            )
            expected = float(1 - loss / null)
        assert found == pytest.approx(expected, rel=1e-12)
    picked = kernel.take_units(np.array([2, 0])).evaluate(Weights(np.array([[3, 0], [1, 2]])))
    full = kernel.evaluate(Weights(np.array([[0, 0, 3], [2, 0, 1]])))
    np.testing.assert_allclose(picked.values, full.values, rtol=1e-13)


def test_explained_variance_of_errors_far_from_their_mean_keeps_its_digits():
    rng = np.random.default_rng(1)
    groups = np.repeat([1, 0], 6)
    y = rng.normal(size=12)
    answers = y + rng.normal(size=12) * 1e-3 + np.where(groups == 1, 1e6, 0.0)
    problem = problem_of(
        y, [RecordedEstimator.from_arrays(predict=answers)] * 2, Units(12, 2, groups)
    )
    kernel = kernel_of("explained_variance", problem, "sums")
    counts = np.array([[2, 0], [0, 2], [1, 1]], dtype=np.uint8)
    for drawn, found in zip(counts, kernel.evaluate(Weights(counts)).values, strict=True):
        rows = rows_of(problem.units, drawn)
        expected = metrics.explained_variance_score(y[rows], answers[rows])
        assert found == pytest.approx([expected, expected], rel=1e-12)


def test_units_of_one_row_in_another_order_keep_their_rows():
    y = np.array([1.0, 2.0, 4.0, 1.0])
    answers = y + [0.5, -0.5, 0.25, 1.0]
    units = Units(4, 4, np.array([3, 1, 0, 2]))
    kernel = kernel_of(
        "explained_variance",
        problem_of(y, [RecordedEstimator.from_arrays(predict=answers)], units),
        "sums",
    )
    np.testing.assert_array_equal(kernel.unit_keys()[-2], [4.0, 2.0, 1.0, 1.0])
    part = kernel.take_units(np.array([1, 3])).evaluate(Weights(np.array([[1, 1], [2, 0]])))
    expected = metrics.explained_variance_score(y[:2], answers[:2])
    assert part.values[0, 0] == pytest.approx(expected)
    assert part.undefined[1, 0]


# Labels


@st.composite
def labelled(draw, n_classes):
    n, rng, units, counts, weight = draw(designs())
    labels = draw(st.sampled_from([np.arange(n_classes), np.array(["a", "b", "c"][:n_classes])]))
    y, *answers = labels[rng.integers(0, n_classes, (3, n))]
    y[:n_classes] = labels
    records = [RecordedEstimator.from_arrays(predict=answer) for answer in answers]
    return problem_of(y, records, units, weight), answers, counts


@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        (metrics.zero_one_loss, {}),
        (metrics.zero_one_loss, {"normalize": False}),
        (metrics.hamming_loss, {}),
    ],
)
@settings(max_examples=10)
@given(case=labelled(3))
def test_losses_of_labels_equal_scikit_learn_on_drawn_rows(function, kwargs, case):
    problem, answers, counts = case
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")

    def reference(rows, model, weight):
        return function(problem.y[rows], answers[model][rows], sample_weight=weight, **kwargs)

    result = check(kernel, problem, reference, counts)
    assert not result.undefined.any()


@pytest.mark.parametrize("which", [0, 1])
@max_examples(12)
@given(case=labelled(2))
def test_likelihood_ratios_equal_scikit_learn_with_all_labels(which, case):
    problem, answers, counts = case
    scorer = ["positive_likelihood_ratio", "neg_negative_likelihood_ratio"][which]
    if problem.sample_weight is not None:
        with pytest.raises(ValueError, match="does not take weights"):
            kernel_of(scorer, problem, "sums")
        return
    kernel = kernel_of(scorer, problem, "sums")
    negative, positive = np.unique(problem.y)
    kwargs = {"replace_undefined_by": 1.0} if REPLACES else {}

    def reference(rows, model, weight):
        return metrics.class_likelihood_ratios(
            problem.y[rows], answers[model][rows], labels=[negative, positive], **kwargs
        )[which]

    result = check(kernel, problem, reference, counts)
    predicted = [positive, negative][which]
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        for model in (0, 1):
            none = not np.any((problem.y[rows] == negative) & (answers[model][rows] == predicted))
            assert result.zero_division[resample, model] == (none and REPLACES)


# Probabilities and decision values


@st.composite
def scored(draw, n_classes):
    """Probabilities, one decision function with ties a class, of classes that go missing."""
    n, rng, units, counts, weight = draw(designs())
    labels = draw(st.sampled_from([np.arange(n_classes), np.array(["a", "b", "c"][:n_classes])]))
    codes = rng.integers(0, n_classes, n)
    codes[:n_classes] = np.arange(n_classes)
    proba = [rng.dirichlet(np.full(n_classes, 0.7), n) for _ in range(2)]
    proba[0][0] = np.eye(n_classes)[-1]  # a certain answer that is wrong
    scores = [np.round(rng.normal(size=(n, n_classes)), 1) for _ in range(2)]
    if n_classes == 2:
        scores = [score[:, 1] for score in scores]
    records = [
        RecordedEstimator.from_arrays(predict_proba=p, decision_function=s, classes=labels)
        for p, s in zip(proba, scores, strict=True)
    ]
    return problem_of(labels[codes], records, units, weight), labels, proba, scores, counts


@pytest.mark.parametrize("n_classes", [2, 3])
@max_examples(12)
@given(data=st.data())
def test_d2_of_log_loss_takes_the_shares_of_the_drawn_classes(n_classes, data):
    problem, labels, proba, _, counts = data.draw(scored(n_classes))
    scorer = make_scorer(metrics.d2_log_loss_score, response_method="predict_proba")
    kernel = kernel_of(scorer, problem, "sums")

    def reference(rows, model, weight):
        y, answers = problem.y[rows], proba[model][rows]
        if n_classes == 2:
            answers = np.column_stack([1 - answers[:, 1], answers[:, 1]])
        shares = np.average(y[:, None] == labels, axis=0, weights=weight)
        loss, null = (
            metrics.log_loss(y, part, labels=labels, sample_weight=weight)
            for part in (answers, np.tile(shares, (len(y), 1)))
        )
        if len(np.unique(y)) == n_classes:  # else releases before 1.7 raise
            assert metrics.d2_log_loss_score(
                y, answers, labels=labels, sample_weight=weight
            ) == pytest.approx(1 - loss / null, rel=1e-12, abs=1e-12)
        return 1 - loss / null

    check(
        kernel,
        problem,
        reference,
        counts,
        undefined=lambda rows: len(np.unique(problem.y[rows])) == 1,
    )


@pytest.mark.skipif(not hasattr(metrics, "d2_brier_score"), reason="needs scikit-learn 1.8")
@pytest.mark.parametrize(("n_classes", "positive"), [(2, None), (2, 0), (2, 1), (3, None)])
@settings(max_examples=10)
@given(data=st.data())
def test_d2_of_brier_score_takes_the_shares_of_the_drawn_classes(n_classes, positive, data):
    problem, labels, proba, _, counts = data.draw(scored(n_classes))
    kwargs = {} if positive is None else {"pos_label": labels[positive]}
    scorer = make_scorer(metrics.d2_brier_score, response_method="predict_proba", **kwargs)
    kernel = kernel_of(scorer, problem, "sums")

    def reference(rows, model, weight):
        answers = proba[model][rows]
        if n_classes == 3:
            return metrics.d2_brier_score(
                problem.y[rows], answers, labels=labels, sample_weight=weight
            )
        place = 1 if positive is None else positive
        return metrics.d2_brier_score(
            problem.y[rows], answers[:, place], pos_label=labels[place], sample_weight=weight
        )

    check(
        kernel,
        problem,
        reference,
        counts,
        undefined=lambda rows: len(np.unique(problem.y[rows])) == 1,
    )


@pytest.mark.parametrize("kwargs", [{}, {"k": 1}, {"k": 1, "normalize": False}])
@settings(max_examples=10)
@given(case=scored(3))
def test_top_k_accuracy_equals_scikit_learn_with_all_labels(kwargs, case):
    problem, labels, _, scores, counts = case
    kernel = kernel_of(
        make_scorer(
            metrics.top_k_accuracy_score,
            response_method=("decision_function", "predict_proba"),
            **kwargs,
        ),
        problem,
        "sums",
    )

    def reference(rows, model, weight):
        return metrics.top_k_accuracy_score(
            problem.y[rows], scores[model][rows], labels=labels, sample_weight=weight, **kwargs
        )

    check(kernel, problem, reference, counts)


@settings(max_examples=10)
@given(case=scored(2))
def test_top_one_of_two_classes_is_replayed_where_its_threshold_may_move(case):
    problem, labels, proba, scores, counts = case
    # Without values in (0, 1/2] both of scikit-learn's thresholds give the same labels.
    scores = [np.where(score > 0, score + 0.5, score) for score in scores]
    records = [
        RecordedEstimator.from_arrays(decision_function=score, classes=labels) for score in scores
    ]
    problem = problem_of(problem.y, records, problem.units, problem.sample_weight)
    scorer = make_scorer(metrics.top_k_accuracy_score, response_method="decision_function", k=1)
    kernel = kernel_of(scorer, problem, "sums")

    def reference(rows, model, weight):
        return metrics.top_k_accuracy_score(
            problem.y[rows], scores[model][rows], k=1, labels=labels, sample_weight=weight
        )

    check(kernel, problem, reference, counts)
    scores[1] = np.append(-1.0, np.full(len(problem.y) - 1, 0.25))
    records[1] = RecordedEstimator.from_arrays(decision_function=scores[1], classes=labels)
    problem = problem_of(problem.y, records, problem.units, problem.sample_weight)
    kernel_of(scorer, problem, "replay")


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=10)
@given(data=st.data())
def test_hinge_loss_equals_scikit_learn_where_its_labels_count(n_classes, data):
    problem, labels, _, scores, counts = data.draw(scored(n_classes))
    scorer = make_scorer(metrics.hinge_loss, response_method="decision_function")
    kernel = kernel_of(scorer, problem, "sums")

    def reference(rows, model, weight):
        y, answers = problem.y[rows], scores[model][rows]
        if n_classes == 2 and len(np.unique(y)) == 1:  # scikit-learn loses which class it is
            signs = np.where(y == labels[1], 1.0, -1.0)
            return np.average(np.maximum(1 - signs * answers, 0), weights=weight)
        return metrics.hinge_loss(y, answers, labels=labels, sample_weight=weight)

    check(kernel, problem, reference, counts)


# What is not served

Y = np.array([0.5, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("function", "kwargs", "y", "answers"),
    [
        (metrics.mean_squared_log_error, {}, Y - 1.5, Y),
        (metrics.root_mean_squared_log_error, {}, Y, Y - 1.5),
        (metrics.mean_poisson_deviance, {}, Y - 1, Y),
        (metrics.mean_poisson_deviance, {}, Y, Y - 0.5),
        (metrics.mean_gamma_deviance, {}, Y - 0.5, Y),
        (metrics.mean_tweedie_deviance, {"power": -1}, Y, Y - 0.5),
        (metrics.mean_tweedie_deviance, {"power": 0.5}, Y, Y),
        (metrics.mean_tweedie_deviance, {"power": 400}, Y, Y / 1e3),
        (metrics.d2_tweedie_score, {"power": 1}, 0 * Y, Y),
        (metrics.d2_tweedie_score, {"power": -1}, Y - 1, Y),
        (metrics.d2_tweedie_score, {}, 1e200 * Y, Y),
        (metrics.mean_pinball_loss, {"alpha": 2}, Y, Y),
        (metrics.mean_pinball_loss, {"multioutput": "raw_values"}, Y, Y),
        (metrics.mean_absolute_percentage_error, {"multioutput": [1.0]}, Y, Y),
        (metrics.explained_variance_score, {"multioutput": [1.0]}, Y, Y),
        (metrics.explained_variance_score, {}, Y, np.column_stack([Y, Y])),
    ],
)
def test_values_that_scikit_learn_refuses_are_left_to_replay(function, kwargs, y, answers):
    problem = problem_of(y, [RecordedEstimator.from_arrays(predict=answers)])
    assert builtin.BUILDERS[function](problem, **kwargs) is None


def test_labels_that_scikit_learn_refuses_or_warns_of_are_left_to_replay():
    y, proba = np.array([0, 1, 2, 1]), np.full((4, 3), 1 / 3)
    classes = np.arange(3)

    def built(function, record, y=y, **kwargs):
        return builtin.BUILDERS[function](problem_of(y, [record]), **kwargs)

    record = RecordedEstimator.from_arrays(predict_proba=proba, classes=classes)
    assert built(metrics.top_k_accuracy_score, record) is not None
    assert built(metrics.top_k_accuracy_score, record, labels=[0, 1, 2]) is not None
    assert built(metrics.top_k_accuracy_score, record, k=3) is None
    assert built(metrics.top_k_accuracy_score, record, k=0) is None
    assert built(metrics.top_k_accuracy_score, record, labels=[2, 1, 0]) is None
    assert built(metrics.top_k_accuracy_score, record, y=y + 1) is None
    assert built(metrics.d2_log_loss_score, record, y=y / 4) is None
    assert built(metrics.hinge_loss, record) is None
    off = RecordedEstimator.from_arrays(predict_proba=0.9 * proba, classes=classes)
    assert built(metrics.d2_log_loss_score, off) is None
    unknown = RecordedEstimator.from_arrays(predict_proba=proba)
    assert built(metrics.d2_log_loss_score, unknown) is None
    three = RecordedEstimator.from_arrays(predict=y)
    (metric,) = resolve_scoring("positive_likelihood_ratio")
    assert built(metric.function, three) is None
    assert built(metric.function, three, y=np.array([0, 1, 0, 1])) is None
