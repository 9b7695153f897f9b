"""What once went wrong on the fast path, as smallest inputs with the right values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import make_scorer

from literal import kernel_of, problem_of, quiet
from sklearn_pairboot import compare_predictions
from sklearn_pairboot._engine import kernels
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.recorded import RecordedEstimator

RNG = np.random.default_rng


def test_log_loss_of_two_classes_takes_the_positive_column_alone():
    """Columns that are no exact complements: scikit-learn's scorer passes on the second."""
    y = np.array([0, 1, 1, 0])
    answers = np.array([[1.4e-11, 1.0], [0.5, 0.5], [0.3, 0.7], [0.6, 0.4]])
    result = compare_predictions(y, {"m": answers}, scoring="neg_log_loss", random_state=0)
    assert result.scores[0].estimate == pytest.approx(metrics.log_loss(y, answers[:, 1]), rel=1e-13)
    assert result.scores[0].estimate > 9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_clusters", [None, 3, 40])
@pytest.mark.parametrize(
    ("scorer", "labels"),
    [
        (make_scorer(metrics.f1_score, average="macro"), True),
        (make_scorer(metrics.jaccard_score, average="weighted"), True),
        (make_scorer(metrics.precision_score, average="micro"), True),
        (make_scorer(metrics.balanced_accuracy_score), False),
        (make_scorer(metrics.matthews_corrcoef), False),
        (make_scorer(metrics.cohen_kappa_score, weights="linear"), True),
    ],
    ids=["f1", "jaccard", "precision", "balanced", "mcc", "kappa"],
)
def test_many_labels_are_kept_sparse_and_keep_their_values(
    monkeypatch, scorer, labels, n_clusters, weighted
):
    monkeypatch.setattr(kernels, "_MOST_DENSE", 0)
    rng = RNG(0)
    n, n_labels = 240, 60
    y = np.concatenate([np.arange(n_labels), rng.integers(0, n_labels, n - n_labels)])
    answers = [np.where(rng.random(n) < 0.5, y, rng.integers(0, n_labels, n)) for _ in range(2)]
    records = [RecordedEstimator.from_arrays(predict=predicted) for predicted in answers]
    units = Units(n, n)
    if n_clusters is not None:
        units = Units(n, n_clusters, np.arange(n) % n_clusters)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    problem = problem_of(y, records, units, weight)
    kernel = kernel_of(scorer, problem, "sums")
    assert kernel.is_sparse or n_clusters == 3
    size = units.n_units
    counts = rng.multinomial(size, np.full(size, 1 / size), size=4)
    found = kernel.evaluate(Weights(counts)).values
    function, kwargs = scorer._score_func, dict(scorer._kwargs)
    if labels:
        kwargs["labels"] = np.arange(n_labels)
    for resample, drawn in enumerate(counts):
        rows = np.repeat(np.arange(n), drawn if units.of_row is None else drawn[units.of_row])
        for model, predicted in enumerate(answers):
            given = {} if weight is None else {"sample_weight": weight[rows]}
            expected = quiet(function, y[rows], predicted[rows], **kwargs, **given)
            assert found[resample, model] == pytest.approx(expected, rel=1e-12)
    left_out = kernel.leave_one_out().values
    kept = (np.arange(size) != 1).astype(int)[None]
    np.testing.assert_allclose(left_out[1], kernel.evaluate(Weights(kept)).values[0], rtol=1e-12)


def test_clusterings_of_many_rows_stay_sums():
    rng = RNG(0)
    n = 20_000
    y = rng.integers(0, 10, n)
    answers = {m: np.where(rng.random(n) < 0.6, y, rng.integers(0, 10, n)) for m in "ab"}
    result = compare_predictions(
        y, answers, scoring="adjusted_rand_score", n_resamples=50, random_state=0
    )
    assert set(result.paths.values()) == {"sums"}
    for row in result.scores:
        expected = metrics.adjusted_rand_score(y, answers[row.model])
        assert row.estimate == pytest.approx(expected, rel=1e-12)


def test_swapping_models_mirrors_where_units_are_merged_req_B10():
    rng = RNG(0)
    n = 3000
    y = rng.integers(0, 2, n)
    a, b = (np.where(rng.random(n) < share, y, 1 - y) for share in (0.80, 0.815))
    given = {"scoring": ["accuracy", "f1"], "n_resamples": 199, "random_state": 0}
    first = compare_predictions(y, {"a": a, "b": b}, **given)
    second = compare_predictions(y, {"b": b, "a": a}, **given)
    for one, other in zip(first.differences, second.differences, strict=True):
        assert one.difference == -other.difference
        assert (one.ci_low, one.ci_high) == pytest.approx((-other.ci_high, -other.ci_low))
        assert one.p_value == pytest.approx(other.p_value)
    # A metric that tells the same rows apart, asked alone, meets the same resamples.
    alone = compare_predictions(y, {"a": a, "b": b}, **(given | {"scoring": "f1"}))
    assert alone.differences[0].ci_low == first.differences[1].ci_low


def test_probabilities_in_single_precision_take_the_fast_path_without_a_warning():
    rng = RNG(0)
    y = rng.integers(0, 3, 300)
    raw = rng.normal(size=(300, 3)).astype(np.float32)
    answers = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    assert answers.dtype == np.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_predictions(
            y, {"m": answers}, scoring=["neg_log_loss"], n_resamples=50, random_state=0
        )
    assert set(result.paths.values()) == {"sums"}
    expected = metrics.log_loss(y, answers)
    assert result.scores[0].estimate == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        (metrics.precision_score, {"zero_division": 0.5}),
        (metrics.fbeta_score, {"beta": -1}),
        (metrics.fbeta_score, {"beta": "x"}),
        (metrics.jaccard_score, {"zero_division": np.nan}),
        (metrics.f1_score, {"zero_division": "bad"}),
        (metrics.balanced_accuracy_score, {"adjusted": "yes"}),
        (metrics.accuracy_score, {"normalize": "no"}),
    ],
)
def test_keywords_that_scikit_learn_refuses_are_refused(function, kwargs):
    y = np.array([0, 1, 1, 0, 1, 0])
    predicted = np.array([0, 1, 0, 0, 1, 1])
    with pytest.raises(ValueError) as expected:
        function(y, predicted, **kwargs)
    with pytest.raises(ValueError, match=f"{next(iter(kwargs))}") as found:
        compare_predictions(y, {"m": predicted}, scoring=make_scorer(function, **kwargs))
    assert " ".join(str(expected.value).split()) in str(found.value)


def test_labels_above_the_largest_int64():
    y = np.array([2**63 + 5, 2**63 + 6] * 10, dtype=np.uint64)
    result = compare_predictions(y, {"m": y.copy()}, scoring="accuracy", random_state=0)
    assert result.scores[0].estimate == 1.0


def test_indicators_stay_small():
    """A million rows of twenty labels would take gigabytes as floats."""
    rng = RNG(0)
    y = rng.integers(0, 2, (50, 4))
    records = [RecordedEstimator.from_arrays(predict=rng.integers(0, 2, (50, 4)))]
    kernel = kernel_of(make_scorer(metrics.f1_score, average="macro"), problem_of(y, records))
    assert kernel.terms.dtype == bool
