"""Rank metrics of several classes and of part of the curve equal scikit-learn on drawn rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import make_scorer

from examples import max_examples
from literal import kernel_of, rows_of
from sklearn_pairboot._engine import ranks_multiclass
from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.jackknife import leave_out
from sklearn_pairboot._engine.ranks_multiclass import MulticlassKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights, Workspace
from sklearn_pairboot._scoring import rank_metrics
from sklearn_pairboot._scoring.problem import NotServed, Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator

LABELS = {"numbers": np.array([3, 5, 8]), "strings": np.array(["a", "b", "c"])}


def auc(response="predict_proba", **kwargs):
    return make_scorer(metrics.roc_auc_score, response_method=response, **kwargs)


def precision(response="predict_proba", **kwargs):
    return make_scorer(metrics.average_precision_score, response_method=response, **kwargs)


def units_and_counts(draw, rng, n):
    """Rows or a few clusters, and counts with extremes: one unit alone, one missing."""
    units = Units(n, n)
    if draw(st.booleans()):
        of_row = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
        units = Units(n, int(of_row.max()) + 1, of_row)
    k = units.n_units
    counts = rng.multinomial(k, np.full(k, 1 / k), size=3).astype(np.uint8)
    counts[0] = 0
    counts[0, rng.integers(k)] = k
    return units, counts


@st.composite
def multiclass(draw, weighted=True):
    n = draw(st.integers(4, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    codes = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    codes[:3] = [0, 1, 2]
    if draw(st.booleans()):
        scores = [rng.multinomial(6, np.full(3, 1 / 3), n) / 6 for _ in range(2)]
    else:
        scores = [rng.dirichlet(np.ones(3), n) for _ in range(2)]
    units, counts = units_and_counts(draw, rng, n)
    weight = None
    if weighted and draw(st.booleans()):
        weight = rng.choice([0.0, 0.1, 1.0, 2.25], n)
    labels = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    records = [RecordedEstimator.from_arrays(predict_proba=s, classes=labels) for s in scores]
    problem = Problem(labels[codes], "multiclass", tuple(records), units, weight)
    return problem, codes, scores, counts


def assert_equals(kernel, problem, counts, reference, undefined):
    """Compare with ``reference``; ``undefined`` is told the rows of positive weight."""
    assert kernel.path == "ranks"
    result = kernel.evaluate(Weights(counts))
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        weight = None if problem.sample_weight is None else problem.sample_weight[rows]
        for model in range(kernel.n_models):
            value = result.values[resample, model]
            if undefined(rows if weight is None else rows[weight > 0]):
                assert result.undefined[resample, model]
                assert np.isnan(value)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = reference(rows, model, weight)
            assert not result.undefined[resample, model]
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert not result.zero_division.any()


def assert_leave_one_out(kernel):
    units = kernel.units
    literal = kernel.evaluate(Weights(1 - np.eye(units.n_units, dtype=np.uint8)))
    left_out = kernel.leave_one_out()
    assert not left_out.grouped
    np.testing.assert_allclose(left_out.values, literal.values, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("scheme", "average"),
    [
        ("ovr", "macro"),
        ("ovr", "weighted"),
        ("ovr", "micro"),
        ("ovo", "macro"),
        ("ovo", "weighted"),
    ],
)
@max_examples(12)
@given(data=st.data())
def test_multiclass_auc_equals_scikit_learn_on_drawn_rows(scheme, average, data):
    problem, codes, scores, counts = data.draw(multiclass(weighted=scheme == "ovr"))
    kernel = kernel_of(auc(multi_class=scheme, average=average), problem)

    def reference(rows, model, weight):
        return metrics.roc_auc_score(
            problem.y[rows],
            scores[model][rows],
            multi_class=scheme,
            average=average,
            labels=np.unique(problem.y),
            sample_weight=weight,
        )

    def undefined(rows):
        return len(np.unique(codes[rows])) < (1 if average == "micro" else 3)

    assert_equals(kernel, problem, counts, reference, undefined)
    assert_leave_one_out(kernel)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@max_examples(12)
@given(case=multiclass())
def test_multiclass_average_precision_equals_scikit_learn_on_drawn_rows(average, case):
    problem, codes, scores, counts = case
    kernel = kernel_of(precision(average=average), problem)

    def reference(rows, model, weight):
        if len(np.unique(codes[rows])) == 3:
            truth = problem.y[rows]
        else:  # the metric would infer fewer classes than there are columns
            truth = np.eye(3, dtype=int)[codes[rows]]
        return metrics.average_precision_score(
            truth, scores[model][rows], average=average, sample_weight=weight
        )

    def undefined(rows):
        return len(np.unique(codes[rows])) < (1 if average == "micro" else 3)

    assert_equals(kernel, problem, counts, reference, undefined)
    assert_leave_one_out(kernel)


@st.composite
def binary(draw):
    n = draw(st.integers(3, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    y = (rng.random(n) < draw(st.sampled_from([0.2, 0.5, 0.8]))).astype(int)
    y[:2] = [0, 1]
    decimals = draw(st.sampled_from([1, 12]))
    scores = [np.round(rng.random(n), decimals) for _ in range(2)]
    units, counts = units_and_counts(draw, rng, n)
    weight = rng.choice([0.0, 0.1, 1.0, 2.25], n) if draw(st.booleans()) else None
    labels = np.array(["no", "yes"]) if draw(st.booleans()) else np.array([0, 1])
    records = [RecordedEstimator.from_arrays(decision_function=s, classes=labels) for s in scores]
    return Problem(labels[y], "binary", tuple(records), units, weight), y, scores, counts


@pytest.mark.parametrize("max_fpr", [0.001, 0.1, 0.3, 0.99])
@max_examples(15)
@given(case=binary())
def test_partial_auc_equals_scikit_learn_on_drawn_rows(max_fpr, case):
    problem, y, scores, counts = case
    kernel = kernel_of(auc("decision_function", max_fpr=max_fpr), problem)

    def reference(rows, model, weight):
        return metrics.roc_auc_score(
            y[rows], scores[model][rows], max_fpr=max_fpr, sample_weight=weight
        )

    assert_equals(kernel, problem, counts, reference, lambda rows: len(np.unique(y[rows])) < 2)
    assert_leave_one_out(kernel)


@pytest.mark.parametrize("decimals", [1, 12])
def test_partial_auc_in_slices_and_with_used_arrays_equals_scikit_learn(decimals):
    rng = np.random.default_rng(8)
    n = 5000
    y = rng.integers(0, 2, n)
    scores = tuple(np.round(y + rng.normal(0, s, n), decimals) for s in (1.0, 2.0))
    records = tuple(
        RecordedEstimator.from_arrays(decision_function=s, classes=[0, 1]) for s in scores
    )
    problem = Problem(y, "binary", records, Units(n, n))
    kernel = kernel_of(auc("decision_function", max_fpr=0.07), problem)
    workspace = Workspace()
    for n_resamples in (40, 3):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(np.uint8)
        values = kernel.evaluate(Weights(counts, workspace)).values
        for resample in (0, n_resamples - 1):
            rows = np.repeat(np.arange(n), counts[resample])
            for model in (0, 1):
                expected = metrics.roc_auc_score(y[rows], scores[model][rows], max_fpr=0.07)
                assert values[resample, model] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=10)
@given(case=binary())
def test_two_classes_take_the_plain_kernels_whatever_the_averages(case):
    problem, y, scores, counts = case

    def area(rows, model, weight):
        return metrics.roc_auc_score(y[rows], scores[model][rows], sample_weight=weight)

    def mean_precision(rows, model, weight):
        return metrics.average_precision_score(y[rows], scores[model][rows], sample_weight=weight)

    for kwargs in ({}, {"max_fpr": 1.0}, {"multi_class": "ovr", "average": "weighted"}):
        kernel = kernel_of(auc("decision_function", **kwargs), problem)
        assert_equals(kernel, problem, counts, area, lambda r: len(np.unique(y[r])) < 2)
    kernel = kernel_of(precision("decision_function"), problem)
    assert_equals(kernel, problem, counts, mean_precision, lambda r: not y[r].any())


def three_classes(n=30, **kwargs):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, n)
    records = tuple(
        RecordedEstimator.from_arrays(predict_proba=rng.dirichlet(np.ones(3), n), classes=[0, 1, 2])
        for _ in range(2)
    )
    return Problem(y, "multiclass", records, Units(n, n), **kwargs)


def test_what_scikit_learn_refuses_is_left_to_replay():
    problem = three_classes()
    builder = rank_metrics.roc_auc
    assert builder(problem) is None
    assert builder(problem, multi_class="ovr", max_fpr=0.5) is None
    assert builder(problem, multi_class="ovo", average="micro") is None
    assert builder(problem, multi_class="ovr", labels=[0, 1, 2, 3]) is None
    assert builder(problem, multi_class="ovr", labels=[0, 1, 2]) is not None
    assert rank_metrics.average_precision(problem, average="samples") is None
    weighted = three_classes(sample_weight=np.ones(30))
    assert builder(weighted, multi_class="ovo") is None
    assert builder(weighted, multi_class="ovr") is not None
    unseen = Problem(np.minimum(problem.y, 1), "multiclass", problem.records, problem.units)
    assert builder(unseen, multi_class="ovr") is None
    nameless = RecordedEstimator.from_arrays(
        predict_proba=problem.records[0].response("predict_proba")
    )
    unnamed = Problem(problem.y, "multiclass", (nameless,), problem.units)
    assert builder(unnamed, multi_class="ovr") is None
    doubled = RecordedEstimator.from_arrays(
        decision_function=2 * problem.records[0].response("predict_proba"), classes=[0, 1, 2]
    )
    other = Problem(problem.y, "multiclass", (doubled,), problem.units)
    with pytest.raises(NotServed):
        builder(other, multi_class="ovr")
    assert rank_metrics.average_precision(other) is not None


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_merged_rows_give_the_same_distribution(scheme):
    rng = np.random.default_rng(6)
    n = 7
    positive = np.array([0, 0, 1, 1, 2, 2, 2])[:, None] == np.arange(3)
    scores = tuple(rng.integers(0, 2, (n, 3)).astype(float) for _ in range(2))
    units = Units(n, n)
    kernel = MulticlassKernel(scores, positive, units, scheme=scheme, average="weighted")
    run = {"n_resamples": "exact", "entropy": 0, "scales": np.array([np.nan])}
    merged = bootstrap([kernel], units, observe([kernel], units), **run)
    literal = kernel.evaluate(Weights(np.array(list(compositions(n, n)), dtype=np.uint8)))
    assert np.nanmin(literal.values) == pytest.approx(np.nanmin(merged.replicates[:, 0]))
    assert merged.undefined[:, 0].any()
    mean = np.ma.average(
        np.ma.masked_invalid(merged.replicates[:, 0, 0]), weights=merged.multiplicities
    )
    shares = np.array([multinomial(c) for c in compositions(n, n)])
    expected = np.ma.average(np.ma.masked_invalid(literal.values[:, 0]), weights=shares)
    assert mean == pytest.approx(expected, rel=1e-12)


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def multinomial(counts):
    from math import factorial, prod

    return factorial(sum(counts)) / prod(factorial(count) for count in counts)


def test_clusters_by_matrix_equal_clusters_by_rows():
    rng = np.random.default_rng(9)
    n, n_clusters = 600, 20
    positive = rng.integers(0, 4, n)[:, None] == np.arange(4)
    scores = tuple(rng.dirichlet(np.ones(4), n).round(2) for _ in range(2))
    units = Units(n, n_clusters, rng.permutation(np.arange(n) % n_clusters))
    counts = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=50)
    counts = counts.astype(np.uint8)
    for scheme in ("ovr", "ovo"):
        by_matrix = MulticlassKernel(scores, positive, units, scheme=scheme)
        assert all(part.matrices for part in by_matrix.parts)
        by_rows = MulticlassKernel(scores, positive, Units(n, n), scheme=scheme)
        np.testing.assert_allclose(
            by_matrix.evaluate(Weights(counts)).values,
            by_rows.evaluate(Weights(counts[:, units.of_row])).values,
            rtol=1e-12,
        )


def test_parts_that_share_no_arrays_give_the_same_values(monkeypatch):
    problem = three_classes()
    counts = np.random.default_rng(1).multinomial(30, np.full(30, 1 / 30), size=50)
    weights = Weights(counts.astype(np.uint8))
    kernel = rank_metrics.roc_auc(problem, multi_class="ovo", average="weighted")
    shared = kernel.evaluate(weights).values
    monkeypatch.setattr(ranks_multiclass, "_KEPT_ROWS", 0)
    np.testing.assert_array_equal(kernel.evaluate(weights).values, shared)


def test_many_units_are_left_out_in_groups():
    units = Units(15_000, 15_000)
    seen = []

    def evaluate(weights):
        from sklearn_pairboot._engine.weights import Values

        seen.append(weights.counts.sum(axis=1))
        nothing = np.zeros((len(weights.counts), 1))
        return Values(nothing, nothing > 0, nothing > 0)

    left_out = leave_out(evaluate, units, 2)
    assert left_out.grouped
    assert left_out.values.shape == (200, 1)
    assert set(np.concatenate(seen).tolist()) == {15_000 - 75}
