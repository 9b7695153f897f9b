"""Clustering scores through the contingency table equal scikit-learn's on drawn rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import get_scorer_names, make_scorer

from examples import max_examples
from literal import kernel_of, rows_of
from sklearn_pairboot._engine.bootstrap import bootstrap, observe
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring import clusterings
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator

SCORES = {
    function.__name__: (function, {})
    for function in clusterings.BUILDERS
    if function is not metrics.v_measure_score
}
for beta in (0.0, 0.5, 1.0, 3.0):
    SCORES[f"v_measure {beta}"] = metrics.v_measure_score, {"beta": beta}
for method in ("min", "geometric", "arithmetic", "max"):
    SCORES[f"nmi {method}"] = metrics.normalized_mutual_info_score, {"average_method": method}


@st.composite
def partitions(draw):
    """True labels, two models' clusters, which may be constant, and counts with extremes."""
    n = draw(st.integers(1, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    truth = rng.integers(0, draw(st.integers(1, 4)), n)
    answers = [rng.integers(0, draw(st.integers(1, 5)), n) for _ in range(2)]
    if draw(st.booleans()):
        answers[0] = truth * 2
    if draw(st.booleans()):
        answers[1] = np.arange(n)
    y = np.array(["d", "a", "c", "b"])[truth] if draw(st.booleans()) else truth
    units = Units(n, n)
    if draw(st.booleans()):
        of_row = np.unique(rng.integers(0, 5, n), return_inverse=True)[1]
        units = Units(n, int(of_row.max()) + 1, of_row)
    k = units.n_units
    counts = rng.multinomial(k, np.full(k, 1 / k), size=3).astype(np.uint8)
    counts[0] = 0
    counts[0, rng.integers(k)] = k
    records = tuple(RecordedEstimator.from_arrays(predict=answer) for answer in answers)
    return Problem(y, "multiclass", records, units), answers, counts


@pytest.mark.parametrize("name", list(SCORES))
@max_examples(12)
@given(case=partitions())
def test_clustering_scores_equal_scikit_learn_on_drawn_rows(name, case):
    function, kwargs = SCORES[name]
    problem, answers, counts = case
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")
    result = kernel.evaluate(Weights(counts))
    for resample, drawn in enumerate(counts):
        rows = rows_of(problem.units, drawn)
        for model in (0, 1):
            one_label = len(np.unique(problem.y[rows])) == 1
            one_cluster = len(np.unique(answers[model][rows])) == 1
            if kwargs == {"beta": 0.0} and one_label and not one_cluster:
                assert result.undefined[resample, model]  # 0/0 in scikit-learn
                continue
            expected = function(problem.y[rows], answers[model][rows], **kwargs)
            assert not result.undefined[resample, model]
            value = result.values[resample, model]
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", list(SCORES))
@settings(max_examples=6)
@given(case=partitions())
def test_leave_one_out_equals_evaluation_without_the_unit(name, case):
    function, kwargs = SCORES[name]
    problem, _, _ = case
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")
    literal = kernel.evaluate(Weights(1 - np.eye(problem.units.n_units, dtype=np.uint8)))
    np.testing.assert_allclose(
        kernel.leave_one_out().values, literal.values, rtol=1e-12, atol=1e-12
    )


def evaluate_once(function, y, answer, **kwargs):
    n = len(y)
    records = (RecordedEstimator.from_arrays(predict=np.array(answer)),)
    problem = Problem(np.array(y), "multiclass", records, Units(n, n))
    kernel = kernel_of(make_scorer(function, **kwargs), problem, "sums")
    result = kernel.evaluate(Weights(np.ones((1, n), np.uint8)))
    return result.values[0, 0], bool(result.zero_division[0, 0])


@pytest.mark.parametrize(
    ("function", "y", "answer", "value", "convention"),
    [
        (metrics.rand_score, [0], [0], 1.0, True),
        (metrics.rand_score, [0, 1], [0, 1], 1.0, False),
        (metrics.adjusted_rand_score, [0, 0, 0], [1, 1, 1], 1.0, True),
        (metrics.adjusted_rand_score, [0, 1, 2], [2, 0, 1], 1.0, True),
        (metrics.adjusted_rand_score, [0, 0, 1], [1, 1, 0], 1.0, False),
        (metrics.fowlkes_mallows_score, [0, 1, 2], [0, 0, 1], 0.0, True),
        (metrics.fowlkes_mallows_score, [0, 1, 1], [0, 0, 1], 0.0, False),
        (metrics.mutual_info_score, [0, 0, 0], [0, 1, 2], 0.0, False),
        (metrics.normalized_mutual_info_score, [0, 0], [3, 3], 1.0, True),
        (metrics.normalized_mutual_info_score, [0, 0], [3, 4], 0.0, False),
        (metrics.homogeneity_score, [0, 0], [0, 1], 1.0, True),
        (metrics.homogeneity_score, [0, 1], [0, 0], 0.0, False),
        (metrics.completeness_score, [0, 1], [0, 0], 1.0, True),
        (metrics.v_measure_score, [0, 0, 1, 1], [0, 1, 0, 1], 0.0, True),
        (metrics.v_measure_score, [0, 0, 1, 1], [0, 0, 1, 1], 1.0, False),
    ],
)
def test_conventions_for_nothing_divided_by_nothing_are_counted(
    function, y, answer, value, convention
):
    found, counted = evaluate_once(function, y, answer)
    assert found == pytest.approx(value, abs=1e-15)
    assert found == pytest.approx(function(y, answer), abs=1e-15)
    assert counted == convention


def test_one_label_has_no_information_at_all():
    """A residue of rounding would be divided by the small entropy of the clusters."""
    for n in (7, 49, 1000, 12_345):
        y, answer = np.zeros(n, dtype=int), (np.arange(n) < 3).astype(int)
        assert evaluate_once(metrics.mutual_info_score, y, answer) == (0.0, False)
        assert evaluate_once(metrics.completeness_score, y, answer) == (0.0, False)
        assert evaluate_once(metrics.homogeneity_score, answer, y) == (0.0, False)


def test_scores_of_many_rows_keep_their_digits():
    rng = np.random.default_rng(2)
    n = 50_000
    truth = rng.integers(0, 4, n)
    noisy = np.where(rng.random(n) < 0.01, truth, rng.integers(0, 6, n))
    for function, kwargs in SCORES.values():
        found, _ = evaluate_once(function, truth, noisy, **kwargs)
        assert found == pytest.approx(function(truth, noisy, **kwargs), rel=1e-11, abs=1e-12)


def test_merged_rows_give_the_same_exact_distribution():
    y = np.array([0, 0, 1, 1, 1, 2])
    records = tuple(
        RecordedEstimator.from_arrays(predict=np.array(answer))
        for answer in ([0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 2])
    )
    problem = Problem(y, "multiclass", records, Units(6, 6))
    kernel = kernel_of("adjusted_rand_score", problem, "sums")
    run = {"n_resamples": "exact", "entropy": 0, "scales": np.array([np.nan])}
    exact = bootstrap([kernel], problem.units, observe([kernel], problem.units), **run)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(6, np.full(6, 1 / 6), size=20_000).astype(np.uint8)
    drawn = kernel.evaluate(Weights(counts)).values.mean(axis=0)
    mean = np.average(exact.replicates[:, 0], axis=0, weights=exact.multiplicities)
    np.testing.assert_allclose(drawn, mean, atol=0.015)


def test_what_is_not_served_goes_to_replay():
    rng = np.random.default_rng(3)
    y, answer = rng.integers(0, 3, (2, 20))
    record = (RecordedEstimator.from_arrays(predict=answer),)
    problem = Problem(y, "multiclass", record, Units(20, 20))
    kernel_of("adjusted_mutual_info_score", problem, "replay")
    weighted = Problem(y, "multiclass", record, Units(20, 20), np.ones(20))
    assert clusterings.v_measure(weighted) is None
    real = (RecordedEstimator.from_arrays(predict=answer + 0.5),)
    assert clusterings.v_measure(Problem(y, "multiclass", real, Units(20, 20))) is None
    assert clusterings.v_measure(Problem(y + 0.5, "continuous", record, Units(20, 20))) is None
    assert clusterings.v_measure(problem, beta=-1.0) is None
    assert clusterings.normalized_mutual_info(problem, average_method="median") is None


def test_every_clustering_scorer_by_name_is_served_but_one():
    rng = np.random.default_rng(5)
    y, answer = rng.integers(0, 3, (2, 12))
    record = (RecordedEstimator.from_arrays(predict=answer),)
    problem = Problem(y, "multiclass", record, Units(12, 12))
    names = {function.__name__ for function in clusterings.BUILDERS} & set(get_scorer_names())
    assert len(names) == 8
    for name in names:
        kernel = pickle.loads(pickle.dumps(kernel_of(name, problem, "sums")))
        observed = kernel.evaluate(Weights(np.ones((1, 12), np.uint8))).values[0, 0]
        assert observed == pytest.approx(getattr(metrics, name)(y, answer), rel=1e-12)
