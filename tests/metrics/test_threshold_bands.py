"""Metrics against the threshold: values against the metrics themselves on literally drawn rows."""

import numpy as np
import pytest
from numpy.random import SeedSequence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot.metrics import (
    choose_threshold,
    misclassification_cost,
    net_benefit,
    profit,
    threshold_bands,
)

AT = [0.2, 0.5, 0.75]
METRICS = ("cost", "profit", "net_benefit", "precision", "recall", "f1", "accuracy")
COSTS = {"cost_fn": 5.0, "cost_fp": 2.0, "gain_tp": 7.0, "gain_tn": 0.5}


def data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(2, size=n - 2))
    return y, {
        name: (rng.random(n) + y * shift).round(1) / 2 for name, shift in (("a", 1), ("b", 0.3))
    }


def literal(metric, y, scores, threshold):
    called = (scores >= threshold).astype(int)
    if metric == "cost":
        return misclassification_cost(y, called, cost_fn=5, cost_fp=2)
    if metric == "profit":
        return profit(y, called, gain_tp=7, cost_fp=2, gain_tn=0.5, cost_fn=5)
    if metric == "net_benefit":
        return net_benefit(y, scores, threshold=threshold)
    if metric == "accuracy":
        return accuracy_score(y, called)
    of_ratio = {"precision": precision_score, "recall": recall_score, "f1": f1_score}[metric]
    return of_ratio(y, called, zero_division=np.nan)


def test_values_and_bands_are_those_of_literally_drawn_rows():
    y, models = data(n=9)
    found = threshold_bands(
        y,
        models,
        metric=METRICS,
        **COSTS,
        thresholds=AT,
        n_resamples=25,
        confidence_level=0.9,
        random_state=3,
    )
    counts = CountSource(9).draw(SeedSequence(3, spawn_key=(0,)))[:25]

    def values(rows):
        return [
            [[literal(m, y[rows], scores[rows], at) for at in AT] for m in METRICS]
            for scores in models.values()
        ]

    assert_allclose(found.curve, values(np.arange(9)), atol=1e-12)
    drawn = np.array([values(np.repeat(np.arange(9), count)) for count in counts])
    assert_array_equal(found.n_undefined, np.isnan(drawn).sum(axis=0))
    assert found.n_undefined.any()
    defined = ~np.isnan(found.curve)
    assert not defined.all()
    low, high = np.nanquantile(drawn[:, defined], [0.05, 0.95], axis=0)
    assert_allclose(found.ci_low[defined], low, atol=1e-12)
    assert_allclose(found.ci_high[defined], high, atol=1e-12)
    assert np.isnan(found.ci_low[~defined]).all()


def test_weights_equal_repetition_in_clusters():
    y, models = data(1)
    groups, weight = np.arange(40) % 10, np.arange(40) % 3 + 1
    rows = np.repeat(np.arange(40), weight)
    keywords = {"metric": ("cost", "precision"), "cost_fn": 3, "cost_fp": 1, "random_state": 0}
    weighted = threshold_bands(y, models, groups=groups, sample_weight=weight, **keywords)
    repeated = threshold_bands(
        y[rows], {k: v[rows] for k, v in models.items()}, groups=groups[rows], **keywords
    )
    for name in ("curve", "ci_low", "ci_high", "all_positive", "best"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)


def test_clusters_of_one_row_equal_rows():
    y, models = data(2)
    rows = threshold_bands(y, models, metric="recall", random_state=0)
    clusters = threshold_bands(y, models, metric="recall", groups=np.arange(40), random_state=0)
    assert_array_equal(rows.ci_low, clusters.ci_low)


# req_E02: a sweep of 97 thresholds.
def test_the_sweep_of_probabilities_has_97_thresholds_and_scores_have_their_range():
    y, models = data(3)
    of_probabilities = threshold_bands(y, models, metric="recall").thresholds
    assert len(of_probabilities) == 97
    assert_allclose(of_probabilities[[0, 1, -1]], [0.02, 0.03, 0.98], atol=0)
    of_scores = threshold_bands(y, {"a": 10 * models["a"] - 2}, metric="recall").thresholds
    assert_allclose(of_scores[[0, -1]], 10 * np.array([models["a"].min(), models["a"].max()]) - 2)


# req_E28
@pytest.mark.parametrize("metric", ["cost", "profit"])
def test_the_best_threshold_is_that_of_choose_threshold_on_the_distinct_scores(metric):
    y, models = data(4)
    scores = models["a"]
    found = threshold_bands(
        y, {"a": scores}, metric=metric, cost_fn=5, cost_fp=1, gain_tp=0, thresholds=scores
    )
    assert found.best[0, 0] == choose_threshold(y, scores, cost_fn=5, cost_fp=1)


def test_only_costs_and_profits_have_a_best_threshold():
    y, models = data(4)
    assert np.isnan(threshold_bands(y, models, metric=("recall", "net_benefit")).best).all()


# req_E07: what calling all rows, or none, positive would give.
def test_references_call_every_row_or_none_positive():
    y, _ = data(5)
    for name, scores in (("all_positive", np.ones(40)), ("none_positive", np.zeros(40))):
        found = threshold_bands(
            y, {"a": scores}, metric=("cost", "net_benefit", "precision"), **COSTS, thresholds=AT
        )
        assert_allclose(getattr(found, name), found.curve[0])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"metric": "cost"}, "`cost_fn` must be given for `metric`='cost'"),
        ({"metric": "profit", "cost_fp": 1}, "`gain_tp` must be given for `metric`='profit'"),
        ({"metric": "profit", "cost_fp": 1, "gain_tp": 1, "cost_tp": 1}, "`cost_tp` and `cost_tn`"),
        ({"metric": "gain"}, "`metric` must be one of 'cost'"),
        ({"metric": ("recall", 3)}, "`metric` must be one of"),
        ({"metric": None}, "`metric` must be one of"),
        ({"metric": ()}, "`metric` must name at least one"),
        ({"metric": "cost", "cost_fn": np.inf, "cost_fp": 1}, "`cost_fn` must be a finite number"),
        ({"metric": "recall", "thresholds": [np.inf]}, "`thresholds` must be a one-dimensional"),
        ({"metric": "recall", "thresholds": []}, "`thresholds` must be a one-dimensional"),
        ({"metric": "net_benefit", "thresholds": [1.0]}, "`thresholds` must be a number between"),
    ],
)
def test_bad_input_is_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        threshold_bands([0, 1, 0, 1], {"a": [0.1, 0.4, 0.3, 0.8]}, **keywords)
