"""Influence of the units, against differences of scikit-learn's weighted metrics and of kernels.

The derivative of a metric by the weight of a unit is what studentised intervals and those of
Student's t rest on (req_A15).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import get_scorer_names, make_scorer

from literal import kernel_of, problem_of, quiet
from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.gradients import gradient
from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring

N = 36
ROWS = Units(N, N)
CLUSTERS = Units(N, 9, np.repeat(np.arange(9), [1, 2, 3, 4, 4, 4, 5, 6, 7]))
UNITS = {"rows": ROWS, "clusters": CLUSTERS}


def records(kind, rng):
    """Truths and two models' answers, some of them tied."""
    signal = rng.normal(size=(N, 3))
    if kind == "binary":
        y = (signal[:, 0] + rng.normal(size=N) > 0).astype(int)
        scores = [np.round(signal[:, 0] + rng.normal(size=N), decimals) for decimals in (0, 6)]
        return y, [
            RecordedEstimator.from_arrays(
                predict=(s > 0.3).astype(int),
                predict_proba=np.column_stack([1 / (1 + np.exp(s)), 1 / (1 + np.exp(-s))]),
                classes=np.array([0, 1]),
            )
            for s in scores
        ]
    if kind == "multiclass":
        y = np.argmax(signal + rng.normal(size=(N, 3)), axis=1)
        y[:3] = [0, 1, 2]
        found = []
        for decimals in (0, 6):
            p = np.exp(np.round(signal + rng.normal(size=(N, 3)), decimals))
            p /= p.sum(axis=1, keepdims=True)
            found.append(
                RecordedEstimator.from_arrays(
                    predict=np.argmax(p, axis=1), predict_proba=p, classes=np.arange(3)
                )
            )
        return y, found
    if kind == "multilabel":
        y = (signal + rng.normal(size=(N, 3)) > 0).astype(int)
        found = []
        for decimals in (0, 6):
            p = 1 / (1 + np.exp(-np.round(signal + rng.normal(size=(N, 3)), decimals)))
            found.append(
                RecordedEstimator.from_arrays(predict=(p > 0.5).astype(int), predict_proba=p)
            )
        return y, found
    y = np.exp(signal[:, 0] / 2)
    return y, [
        RecordedEstimator.from_arrays(predict=y * np.exp(rng.normal(size=N) / 4)) for _ in range(2)
    ]


def slopes(value, weights, step=1e-3):
    """Differentiate ``value(weights)`` by each weight: five points, shape (n_units, ...)."""
    moved = step * np.eye(len(weights))
    parts = [value(weights + steps * moved) for steps in (-2, -1, 1, 2)]
    return np.tensordot(np.array([1, -8, 8, -1]) / (12 * step), np.array(parts), 1)


def assert_close(found, expected, scale):
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * max(scale, 1.0))


def assert_derivative(kernel, counts):
    """Compare with differences of the kernel's own values."""
    found = kernel.influence(Weights(counts))
    assert found.shape == (len(counts), kernel.n_models, counts.shape[1])
    here = kernel.evaluate(Weights(counts))
    for resample, weights in enumerate(counts):
        drawn = weights > 0
        expected = slopes(lambda w: kernel.evaluate(Weights(w)).values, weights.astype(float))
        for model in range(kernel.n_models):
            of_model = found[resample, model, drawn]
            if here.undefined[resample, model]:
                assert not np.isfinite(of_model).all()
                continue
            scale = abs(here.values[resample, model])
            assert_close(of_model, expected[drawn, model], scale)


def counts_of(units, rng):
    k = units.n_units
    return np.vstack([np.ones((1, k), int), rng.multinomial(k, np.full(k, 1 / k), size=2)])


def kernels(kind, units, weight=None):
    """Fast kernels of all of scikit-learn's scorers that these answers serve."""
    y, of_models = records(kind, np.random.default_rng(11))
    for name in get_scorer_names():
        try:
            kernel = quiet(kernel_of, name, problem_of(y, of_models, units, weight))
        except (AttributeError, TypeError, ValueError):
            continue
        if kernel.path == "replay":
            assert kernel.influence(Weights(np.ones((1, units.n_units), int))) is None
        else:
            yield name, kernel, y, of_models


KINDS = {"binary": 25, "multiclass": 30, "multilabel": 25, "regression": 10}


@pytest.mark.parametrize(
    ("kind", "units"),
    [
        ("binary", "rows"),
        ("multiclass", "clusters"),
        ("multilabel", "clusters"),
        ("regression", "rows"),
    ],
)
def test_every_scorer_against_differences_of_its_kernel(kind, units):
    n_kernels = 0
    for name, kernel, _, _ in kernels(kind, UNITS[units]):
        n_kernels += 1
        try:
            quiet(assert_derivative, kernel, counts_of(UNITS[units], np.random.default_rng(5)))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    assert n_kernels >= KINDS[kind]


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_scorer_against_scikit_learn_with_weights(kind):
    units, n_compared = Units(N, 4, np.sort(np.arange(N) % 5 % 4)), 0
    weight = np.resize([0.5, 1.0, 2.25], N) if kind == "binary" else None
    for name, kernel, y, of_models in kernels(kind, units, weight):
        (metric,) = resolve_scoring(name)
        # Other averages of a metric differ by no more than its sums.
        if name.endswith(("_micro", "_weighted")) or not metric.accepts_sample_weight:
            continue
        own = np.ones(N) if weight is None else weight
        view, X = of_models[1]._take_all()

        def value(of_units, metric=metric, view=view, X=X, y=y, own=own):
            return [
                metric.sign * quiet(metric.scorer, view, X, y, sample_weight=own * w[units.of_row])
                for w in of_units
            ]

        try:
            value(np.ones((1, 4)))
        except (TypeError, ValueError):
            continue
        n_compared += 1
        found = kernel.influence(Weights(np.ones((1, 4), int)))[0, 1]
        expected = slopes(value, np.ones(4))
        scale = abs(value(np.ones((1, 4)))[0])
        assert np.isfinite(found).all(), name
        assert_close(found, expected, scale)
    assert n_compared >= KINDS[kind] / 3


RANKS = {
    "auc": make_scorer(metrics.roc_auc_score, response_method="predict_proba"),
    "partial": make_scorer(metrics.roc_auc_score, response_method="predict_proba", max_fpr=0.37),
    "precision": make_scorer(metrics.average_precision_score, response_method="predict_proba"),
}
SEVERAL = {
    f"{scheme} {average}": make_scorer(
        metrics.roc_auc_score, response_method="predict_proba", multi_class=scheme, average=average
    )
    for scheme, average in (("ovr", "macro"), ("ovr", "weighted"), ("ovo", "weighted"))
}


@pytest.mark.parametrize("name", [*RANKS, *SEVERAL])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), clusters=st.booleans())
def test_rank_metrics_with_ties_and_weights(name, seed, weighted, clusters):
    rng = np.random.default_rng(seed)
    y, of_models = records("binary" if name in RANKS else "multiclass", rng)
    weighted = weighted and not name.startswith("ovo")  # which takes no weights
    weight = rng.choice([0.1, 1.0, 2.25], N) if weighted else None
    units = CLUSTERS if clusters else ROWS
    scorer = {**RANKS, **SEVERAL}[name]
    kernel = kernel_of(scorer, problem_of(y, of_models, units, weight), path="ranks")
    if name == "partial":  # whose curve has corners, met by chance alone
        kernel = replace(kernel, max_fpr=0.37 + 1e-3 * rng.random())
    quiet(assert_derivative, kernel, counts_of(units, rng)[:3])


def test_few_clusters_and_many_rows_take_the_matrix_of_pairs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    scores = [np.round(rng.normal(size=60) + y, 1) for _ in range(2)]
    units = Units(60, 6, np.arange(60) % 6)
    answers = [RecordedEstimator.from_arrays(decision_function=s, classes=[0, 1]) for s in scores]
    kernel = kernel_of("roc_auc", problem_of(y, answers, units), path="ranks")
    assert kernel.matrices is not None
    assert_derivative(kernel, counts_of(units, rng))


def test_the_influence_of_a_mean_is_the_deviation_from_it():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(N, 2))
    kernel = item_means(scores, np.ones(N), ROWS)
    found = kernel.influence(Weights(np.ones((1, N), int)))[0]
    np.testing.assert_allclose(found, (scores - scores.mean(axis=0)).T / N, rtol=1e-12)


def test_the_influence_of_the_auc_is_made_of_placements():
    """DeLong, DeLong and Clarke-Pearson (1988): the variance from V10 and V01."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [20, 16])
    s = np.round(rng.normal(size=N) + y, 1)
    answers = RecordedEstimator.from_arrays(decision_function=s, classes=[0, 1])
    kernel = kernel_of("roc_auc", problem_of(y, [answers]), path="ranks")
    found = kernel.influence(Weights(np.ones((1, N), int)))[0, 0]
    pairs = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
    np.testing.assert_allclose(found[y == 1], (pairs.mean(axis=1) - pairs.mean()) / 16)
    np.testing.assert_allclose(found[y == 0], (pairs.mean(axis=0) - pairs.mean()) / 20)


def test_folds_are_averaged_over_those_that_are_defined():
    """AUC of two folds, one of which lacks a class in some resamples."""
    rng = np.random.default_rng(3)
    y = np.tile([0, 0, 1], 12)
    s = rng.normal(size=N)
    folds = []
    for rows in (np.arange(30), np.arange(30, N)):
        answers = RecordedEstimator.from_arrays(decision_function=s[rows], classes=[0, 1])
        folds.append(Fold(kernel_of("roc_auc", problem_of(y[rows], [answers])), rows))
    kernel = AverageKernel(tuple(folds), N)
    counts = counts_of(ROWS, rng)
    counts[-1, 30:] = 0
    assert_derivative(kernel, counts)


@pytest.mark.parametrize("name", ["f1_macro", "r2", "matthews_corrcoef", "roc_auc", "neg_log_loss"])
def test_clusters_have_the_sum_of_their_rows(name):
    kind = "regression" if name == "r2" else "binary"
    y, of_models = records(kind, np.random.default_rng(7))
    ones = Weights(np.ones((1, N), int))
    of_rows = kernel_of(name, problem_of(y, of_models, ROWS)).influence(ones)[0]
    ones = Weights(np.ones((1, CLUSTERS.n_units), int))
    of_units = kernel_of(name, problem_of(y, of_models, CLUSTERS)).influence(ones)[0]
    expected = [np.bincount(CLUSTERS.of_row, row) for row in of_rows]
    np.testing.assert_allclose(of_units, expected, atol=1e-11)


@pytest.mark.parametrize("power", [1, 1.5, 2, 3])
def test_deviances_explained(power):
    scorer = make_scorer(metrics.d2_tweedie_score, power=power)
    y, of_models = records("regression", np.random.default_rng(8))
    kernel = kernel_of(scorer, problem_of(y, of_models, CLUSTERS), path="sums")
    assert_derivative(kernel, counts_of(CLUSTERS, np.random.default_rng(9)))


@pytest.mark.parametrize("n_rows", [10**3, 10**6])
def test_a_rare_class_has_an_accurate_matthews_correlation(n_rows):
    """Against sixty digits: one of many rows is of the rare class in truth and in answers."""
    true = np.array([n_rows - 2, 2.0])
    sums = np.array([[*true, n_rows - 2, n_rows - 2, 2]])
    terms = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0.0]])
    formula = partial(formulas.matthews_corrcoef, n_classes=2)
    found = terms @ gradient(formula, sums, sums)[0, 0]

    def mcc(cells):  # both 0, both 1, and the two kinds of errors
        a, b, c, d = cells
        return (a * b - c * d) / ((b + c) * (b + d) * (a + c) * (a + d)).sqrt()

    with localcontext() as context:
        context.prec = 60
        cells = [Decimal(n_rows - 3), Decimal(1), Decimal(1), Decimal(1)]
        step = Decimal(10) ** -20
        expected = []
        for k in range(4):
            up, down = ([*cells[:k], cells[k] + by, *cells[k + 1 :]] for by in (step, -step))
            expected.append(float((mcc(up) - mcc(down)) / (2 * step)))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
