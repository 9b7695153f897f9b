"""Costs, profit and net benefit: hand-worked, by scikit-learn's counts, and on drawn rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score

from examples import max_examples
from literal import kernel_of, problem_of, rows_of, trained
from sklearn_pairboot import compare_estimators, compare_predictions, compare_scores
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot.metrics import misclassification_cost, net_benefit, profit

COST = make_scorer(
    misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1, cost_tp=0.5, cost_tn=-0.1
)
PROFIT = make_scorer(profit, gain_tp=95, cost_fp=5, gain_tn=1, cost_fn=2)
BENEFIT = make_scorer(net_benefit, response_method="predict_proba", threshold=0.2)


def literal_cost(y, predicted, fn, fp, tp, tn, weight=None):
    """From scikit-learn's confusion matrix; 1 is positive."""
    counts = confusion_matrix(y, predicted, labels=[0, 1], sample_weight=weight)
    (n_tn, n_fp), (n_fn, n_tp) = counts
    return (fn * n_fn + fp * n_fp + tp * n_tp + tn * n_tn) / counts.sum()


def test_req_E28_worked_costs():
    # Ten e-mails: 3 found, 2 missed, 1 false alarm, 4 left alone.
    y, predicted = [1] * 5 + [0] * 5, [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert misclassification_cost(y, predicted, cost_fn=5, cost_fp=1) == pytest.approx(1.1)
    assert profit(y, predicted, gain_tp=95, cost_fp=5) == pytest.approx(28.0)
    # Of ten rows 3 are found, one false alarm weighs 0.25 / 0.75.
    assert net_benefit(y, np.array(predicted) * 0.5, threshold=0.25) == pytest.approx(0.3 - 0.1 / 3)


rows = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 1), min_size=n, max_size=n) for _ in range(2)),
        st.lists(st.integers(1, 4), min_size=n, max_size=n),
        st.lists(st.sampled_from([0, 0.2, 0.4, 1]), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


@given(rows)
@max_examples(40)
def test_values_are_those_of_the_confusion_matrix(data):
    y, predicted, weight, p, order = map(np.array, data)
    costs = {"cost_fn": 5.0, "cost_fp": 1.5, "cost_tp": 0.25, "cost_tn": -0.5}
    for sample_weight in (None, weight):
        value = misclassification_cost(y, predicted, sample_weight=sample_weight, **costs)
        expected = literal_cost(y, predicted, *costs.values(), sample_weight)
        assert value == pytest.approx(expected, abs=1e-12)
        mirrored = profit(
            y,
            predicted,
            gain_tp=-0.25,
            gain_tn=0.5,
            cost_fp=1.5,
            cost_fn=5.0,
            sample_weight=sample_weight,
        )
        assert mirrored == pytest.approx(-value, abs=1e-12)
        # A false alarm costs the odds of the threshold, a missed positive one.
        benefit = net_benefit(y, p, threshold=0.4, sample_weight=sample_weight)
        loss = literal_cost(y, p >= 0.4, 1, 0.4 / 0.6, 0, 0, sample_weight)
        share = np.average(y, weights=sample_weight)
        assert benefit == pytest.approx(share - loss, abs=1e-12)
    copies = np.repeat(np.arange(len(y)), weight)
    for metric, answers, keywords in (
        (misclassification_cost, predicted, costs),
        (profit, predicted, {"gain_tp": 3, "cost_fp": 1}),
        (net_benefit, p, {"threshold": 0.3}),
    ):
        weighted = metric(y, answers, sample_weight=weight, **keywords)
        assert weighted == pytest.approx(metric(y[copies], answers[copies], **keywords), abs=1e-12)
        reordered = metric(y[order], answers[order], sample_weight=weight[order], **keywords)
        assert reordered == pytest.approx(weighted, abs=1e-12)


@pytest.mark.parametrize("scorer", [COST, PROFIT, BENEFIT])
@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), ("bad", "good")])
@pytest.mark.parametrize("design", ["rows", "clusters"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_are_the_metric_on_drawn_rows(scorer, labels, design, weighted):
    X, y, models = trained("binary")
    y = np.array(labels)[y]
    models = [
        LogisticRegression(C=c).fit(X + shift, y) for c, shift in ((1.0, 0.0), (0.01, 0.5))
    ] + [models["1"]][: labels == (0, 1)]
    records = [RecordedEstimator.from_estimator(model, X) for model in models]
    groups = np.arange(len(y)) // 3
    units = Units(len(y), 16, groups) if design == "clusters" else Units(len(y), len(y))
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    kernel = kernel_of(scorer, problem_of(y, records, units, weight), path="sums")
    counts = rng.multinomial(units.n_units, np.ones(units.n_units) / units.n_units, size=5)
    values = kernel.evaluate(Weights(counts)).values
    keywords = dict(scorer._kwargs)
    if labels == ("bad", "good"):
        keywords["pos_label"] = "good"
    for drawn, of_resample in zip(counts, values, strict=True):
        some = rows_of(units, drawn)
        for record, value in zip(records, of_resample, strict=True):
            answers = (
                record.response("predict_proba")[:, 1]
                if scorer is BENEFIT
                else record.response("predict")
            )
            expected = scorer._score_func(
                y[some],
                answers[some],
                sample_weight=None if weight is None else weight[some],
                **keywords,
            )
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_costs_go_into_comparisons_and_searches():
    X, y, models = trained("binary")
    scoring = {"cost": COST, "profit": PROFIT, "benefit": BENEFIT}
    result = compare_estimators(models, X, y, scoring=scoring, n_resamples=199, random_state=0)
    assert result.paths == dict.fromkeys(scoring, "sums")
    by_metric = {row.metric: row for row in result.scores if row.model == "0"}
    labels = models["0"].predict(X)
    expected = literal_cost(y, labels, 5, 1, 0.5, -0.1)
    assert by_metric["cost"].estimate == pytest.approx(expected, abs=1e-12)
    assert [row.greater_is_better for row in by_metric.values()] == [False, True, True]

    # The cost of each row, compared as item scores, is the same comparison.
    def of_rows(model):
        predicted = models[model].predict(X)
        return np.select(
            [(y == 1) & (predicted == 0), (y == 0) & (predicted == 1), y == 1], [5, 1, 0.5], -0.1
        )

    items = compare_scores(
        {name: of_rows(name) for name in models},
        greater_is_better=False,
        n_resamples=199,
        random_state=0,
    )
    row, item = result.differences[0], items.differences[0]
    assert row.difference == pytest.approx(item.difference, abs=1e-12)
    assert cross_val_score(models["1"], X, y, scoring=COST, cv=2).shape == (2,)
    TunedThresholdClassifierCV(models["1"], scoring=COST, cv=2, thresholds=5).fit(X, y)


def test_positive_class_of_strings_is_named_or_that_of_the_models():
    y = np.array(["no", "yes", "yes", "no"])
    predictions = {"a": np.array(["no", "no", "yes", "no"]), "b": y}
    cost = make_scorer(misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1)
    result = compare_predictions(
        y, predictions, scoring=cost, pos_label="yes", n_resamples=99, random_state=0
    )
    assert [row.estimate for row in result.scores] == [1.25, 0]
    other = compare_predictions(
        y, predictions, scoring=cost, pos_label="no", n_resamples=99, random_state=0
    )
    assert [row.estimate for row in other.scores] == [0.25, 0]


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (([0, 1], [0.2, 0.7]), {}, r"`y_pred` must hold predicted labels .* y_prob >= threshold"),
        (([0, 1, 2], [0, 1, 2]), {}, r"must hold 2 classes at most, got 0, 1, 2\."),
        ((["a", "b"], ["a", "b"]), {}, r"`pos_label` must be one of the labels 'a', 'b', got None"),
        (([0, 1], [0, 1]), {"pos_label": 3}, r"`pos_label` must be one of the labels 0, 1, got 3"),
        (([0, 1], [0, 1, 1]), {}, r"`y_pred` must have one entry per row, 2, got 3"),
        (([0, 1], [0, 1]), {"cost_fn": np.nan}, r"`cost_fn` must be a finite number, got nan"),
        (([0, 1], [0, 1]), {"cost_fp": "1"}, r"`cost_fp` must be a finite number, got '1'"),
        (([0, 1], [0, 1]), {"cost_tp": True}, r"`cost_tp` must be a finite number, got True"),
        (([0, 1], [0, 1]), {"sample_weight": [-1, 1]}, r"`sample_weight` must not be negative"),
    ],
)
def test_bad_input_of_costs(arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        misclassification_cost(*arguments, **{"cost_fn": 5, "cost_fp": 1, **keywords})


@pytest.mark.parametrize("threshold", [0, 1, -0.1, np.nan, "half", True])
def test_threshold_of_net_benefit_is_a_probability(threshold):
    with pytest.raises(ValueError, match=r"`threshold` must be a number between 0 and 1, got"):
        net_benefit([0, 1], [0.2, 0.7], threshold=threshold)


def test_net_benefit_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match=r"`y_prob` must lie between 0 and 1"):
        net_benefit([0, 1], [0.2, 1.7], threshold=0.2)
