"""Thresholds: the published table, scikit-learn's counts, and rules against a plain search."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    f1_score,
    make_scorer,
    precision_score,
    recall_score,
    roc_curve,
)
from sklearn.model_selection import TunedThresholdClassifierCV

from examples import max_examples
from sklearn_pairboot import compare_estimators
from sklearn_pairboot.metrics import (
    choose_threshold,
    misclassification_cost,
    net_benefit,
    threshold_curve,
)


def arrays_of(shared, name):
    return np.load(shared / "reference" / "arrays" / f"{name}.npz")


def confusion(shared):
    return json.loads((shared / "reference" / "exact.json").read_text())["confusion"]


# Published values


def test_req_E02_table_of_97_thresholds(shared):
    arrays = arrays_of(shared, "threshold")
    curve = threshold_curve(arrays["y"], arrays["p"], thresholds=arrays["thresholds"])
    assert len(curve.thresholds) == 97
    for name in ("precision", "recall", "f1", "accuracy"):
        np.testing.assert_allclose(getattr(curve, name), arrays[name], rtol=1e-13)
    # The highest threshold of the table that meets a recall floor, and that of all scores.
    for floor in (0.8, 0.9, 0.95, 0.99):
        of_table = arrays["thresholds"][arrays["recall"] >= floor].max()
        chosen = choose_threshold(arrays["y"], arrays["p"], min_recall=floor)
        assert of_table <= chosen < of_table + 0.01 + 1e-12


def test_req_E01_counts_at_one_half(shared):
    arrays, expected = arrays_of(shared, "metrics"), confusion(shared)["metrics_2400"]
    curve = threshold_curve(arrays["y"], arrays["p"], thresholds=[0.5])
    counts = (
        curve.true_positives,
        curve.false_positives,
        curve.false_negatives,
        curve.true_negatives,
    )
    found = dict(zip(("TP", "FP", "FN", "TN"), (int(count[0]) for count in counts), strict=True))
    assert found == {name: expected[name] for name in found}
    for name in ("precision", "recall", "f1", "accuracy"):
        assert getattr(curve, name)[0] == pytest.approx(expected[name]["float"], rel=1e-14)


def test_ten_emails(shared):
    expected = confusion(shared)["ten_emails"]
    y = np.repeat([1, 1, 0, 0], [3, 2, 1, 4])
    curve = threshold_curve(y, np.repeat([0.9, 0.1, 0.9, 0.1], [3, 2, 1, 4]), thresholds=[0.5])
    values = {
        "accuracy": curve.accuracy,
        "precision": curve.precision,
        "recall": curve.recall,
        "f1": curve.f1,
        "fpr": curve.false_positive_rate,
    }
    for name, value in values.items():
        assert value[0] == pytest.approx(expected[name]["float"], rel=1e-14), name


def test_req_E07_baselines_of_the_imbalanced_data(shared):
    arrays = arrays_of(shared, "imbalance")
    y, p = arrays["y"], arrays["p"]
    rate = 105 / 2400
    curve = threshold_curve(y, p)
    # The first threshold calls none positive: the accuracy looks good, the recall is 0.
    assert curve.thresholds[0] == np.inf
    assert curve.accuracy[0] == pytest.approx(1 - rate, rel=1e-14)
    assert (curve.recall[0], np.isnan(curve.precision[0])) == (0, True)
    # Without a ranking, average precision is the share of positives.
    assert average_precision_score(y, np.zeros(len(y))) == pytest.approx(rate, rel=1e-14)
    result = compare_estimators(
        {"none": DummyClassifier().fit(np.zeros((len(y), 1)), y)},
        np.zeros((len(y), 1)),
        y,
        scoring=["accuracy", "average_precision"],
        n_resamples=99,
        random_state=0,
    )
    assert [row.estimate for row in result.scores] == pytest.approx([1 - rate, rate])


def test_req_E06_areas_compare_and_thresholds_label():
    # The same ranking has one area, whatever the threshold does to precision and recall.
    y, p = np.array([0, 0, 1, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
    sharp = p**3
    one, other = threshold_curve(y, p), threshold_curve(y, sharp)
    np.testing.assert_array_equal(one.recall, other.recall)
    at_half = [threshold_curve(y, of, thresholds=[0.5]).recall[0] for of in (p, sharp)]
    assert at_half == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


# Against scikit-learn, with ties and weights

data = st.integers(2, 14).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < n),
        st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9]), min_size=n, max_size=n),
        st.lists(st.integers(1, 3), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


@given(data)
@settings(max_examples=10)
def test_curve_is_scikit_learns_labels_at_each_threshold(drawn):
    y, p, weight, order = map(np.array, drawn)
    for sample_weight in (None, weight):
        curve = threshold_curve(y, p, sample_weight=sample_weight)
        assert curve.thresholds.tolist() == [np.inf, *sorted(set(p), reverse=True)]
        costs = curve.cost(cost_fn=5, cost_fp=1, cost_tp=-2)
        for k, threshold in enumerate(curve.thresholds):
            labels = (p >= threshold).astype(int)
            keywords = {"sample_weight": sample_weight}
            table = confusion_matrix(y, labels, labels=[0, 1], **keywords).ravel()
            parts = ("true_negatives", "false_positives", "false_negatives", "true_positives")
            assert [getattr(curve, part)[k] for part in parts] == table.tolist()
            nan = {"zero_division": np.nan, **keywords}
            for name, metric, options in (
                ("precision", precision_score, nan),
                ("recall", recall_score, nan),
                ("f1", f1_score, nan),
                ("accuracy", accuracy_score, keywords),
            ):
                expected = metric(y, labels, **options)
                assert getattr(curve, name)[k] == pytest.approx(expected, nan_ok=True), name
            cost = misclassification_cost(y, labels, cost_fn=5, cost_fp=1, cost_tp=-2, **keywords)
            assert costs[k] == pytest.approx(cost, abs=1e-12)
        fpr, tpr, at = roc_curve(y, p, drop_intermediate=False, sample_weight=sample_weight)
        np.testing.assert_allclose(curve.false_positive_rate, fpr, atol=1e-12)
        np.testing.assert_allclose(curve.recall, tpr, atol=1e-12)
        np.testing.assert_array_equal(curve.thresholds, at)
    inside = threshold_curve(y, p, thresholds=[0.3, 0.7])
    benefits = [net_benefit(y, p, threshold=threshold) for threshold in (0.3, 0.7)]
    assert inside.net_benefit().tolist() == pytest.approx(benefits, abs=1e-12)


def search(y, p, weight, rule):
    """Try every score, and infinity, from the highest on; the first of equal ones stays."""
    best = None
    for threshold in [np.inf, *sorted(set(p.tolist()), reverse=True)]:
        labels = (p >= threshold).astype(int)
        worth = rule(y, labels, weight)
        if worth is not None and (best is None or worth > best[0] + 1e-9):
            best = worth, threshold
    return None if best is None else best[1]


def share(weight, part, whole):
    return weight[part & whole].sum() / weight[whole].sum()


def by_recall(floor):
    def rule(y, labels, weight):
        return 1.0 if share(weight, labels == 1, y == 1) >= floor - 1e-9 else None

    return rule


def by_precision(floor):
    def rule(y, labels, weight):
        if not labels.any() or share(weight, y == 1, labels == 1) < floor - 1e-9:
            return None
        return share(weight, labels == 1, y == 1)

    return rule


def by_cost(**costs):
    def rule(y, labels, weight):
        missed, alarm, right = (y > labels), (y < labels), (y == 0) & (labels == 0)
        parts = zip((missed, alarm, right), costs.values(), strict=True)
        return -sum(cost * weight[part].sum() for part, cost in parts) / weight.sum()

    return rule


@given(data, st.sampled_from([0.2, 0.5, 2 / 3, 0.9, 1.0]))
@max_examples(50)
def test_rules_find_what_a_plain_search_finds(drawn, floor):
    y, p, weight, order = map(np.array, drawn)
    costs = {"cost_fn": 1 / floor, "cost_fp": 0.7, "cost_tn": -0.1}
    copies = np.repeat(np.arange(len(y)), weight)
    for keywords, rule in (
        ({"min_recall": floor}, by_recall(floor)),
        ({"min_precision": floor}, by_precision(floor)),
        (costs, by_cost(**costs)),
    ):
        for sample_weight in (None, weight):
            expected = search(
                y, p, np.ones(len(y)) if sample_weight is None else sample_weight, rule
            )
            if expected is None:
                with pytest.raises(ValueError, match=r"`min_precision` must be within reach"):
                    choose_threshold(y, p, sample_weight=sample_weight, **keywords)
                continue
            found = choose_threshold(y, p, sample_weight=sample_weight, **keywords)
            assert found == expected
            if sample_weight is not None:
                assert choose_threshold(y[copies], p[copies], **keywords) == found
                reordered = choose_threshold(
                    y[order], p[order], sample_weight=weight[order], **keywords
                )
                assert reordered == found


def test_least_cost_is_that_of_scikit_learns_search():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    model = LogisticRegression().fit(X[:100], y[:100])
    p = model.predict_proba(X[100:])[:, 1]
    scorer = make_scorer(misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1)
    tuned = TunedThresholdClassifierCV(
        model, scoring=scorer, cv="prefit", refit=False, thresholds=np.unique(p)
    ).fit(X[100:], y[100:])
    chosen = choose_threshold(y[100:], p, cost_fn=5, cost_fp=1)
    cost = misclassification_cost(y[100:], (p >= chosen).astype(int), cost_fn=5, cost_fp=1)
    assert cost == pytest.approx(-tuned.best_score_, abs=1e-12)


def test_strings_and_a_reversed_positive_class():
    y, p = np.array(["n", "y", "y", "n"]), np.array([0.1, 0.4, 0.9, 0.6])
    assert choose_threshold(y, p, pos_label="y", min_recall=1) == 0.4
    assert choose_threshold(y, 1 - p, pos_label="n", min_recall=1) == 0.4


def test_curve_cannot_be_changed():
    curve = threshold_curve([0, 1], [0.2, 0.7])
    with pytest.raises(ValueError, match="read-only"):
        curve.true_positives[0] = 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, r"One of `min_recall`, `min_precision` and costs .* must be given, got none"),
        (
            {"min_recall": 0.5, "min_precision": 0.5},
            r"Only one .* got min_recall and min_precision",
        ),
        ({"min_recall": 0}, r"`min_recall` must be a number above 0 and at most 1, got 0"),
        ({"min_recall": 1.2}, r"`min_recall` must be a number above 0 and at most 1, got 1.2"),
        ({"min_precision": True}, r"`min_precision` must be a number above 0 .* got True"),
        ({"min_precision": 0.9}, r"`min_precision` must be within reach .* got 0.9, .* is 0.5\."),
        ({"cost_fn": 5}, r"`cost_fn` and `cost_fp` must be given together, got cost_fn=5 and"),
        ({"cost_fn": np.inf, "cost_fp": 1}, r"`cost_fn` must be a finite number, got inf"),
        ({"cost_fn": 1, "cost_fp": 1, "cost_tp": 1}, r"`cost_fn` must be above `cost_tp`, got 1"),
        ({"cost_fn": 1, "cost_fp": 0}, r"`cost_fp` must be above `cost_tn`, got 0 and 0"),
    ],
)
def test_bad_rules(keywords, message):
    with pytest.raises(ValueError, match=message):
        choose_threshold([0, 1, 0, 1], [0.9, 0.8, 0.7, 0.2], **keywords)


def test_bad_thresholds():
    for thresholds in ([], [[0.5]], ["a"], [np.nan]):
        with pytest.raises(ValueError, match=r"`thresholds` must be a one-dimensional array"):
            threshold_curve([0, 1], [0.2, 0.7], thresholds=thresholds)
    with pytest.raises(ValueError, match=r"`thresholds` must be a number between 0 and 1, got inf"):
        threshold_curve([0, 1], [0.2, 0.7]).net_benefit()
    with pytest.raises(ValueError, match=r"`y_true` must hold positive rows"):
        choose_threshold([0, 0], [0.2, 0.7], min_recall=0.5, pos_label=1)
