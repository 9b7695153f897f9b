"""The area under the ROC curve: hand-worked ties, scikit-learn, and every pair counted."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_validate

from examples import max_examples
from sklearn_pairboot import (
    PairedBootstrapComparator,
    TieAwareAUC,
    compare_estimators,
    compare_predictions,
)
from sklearn_pairboot.inference import delong_test
from sklearn_pairboot.metrics import auc_ties, placement_values, tie_aware_auc

rows = st.lists(
    st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 3)), min_size=2, max_size=20
).filter(lambda table: len({one[0] for one in table}) == 2)


def pairs(y, scores):
    """Every pair of a positive and a negative row: -1, 0 or 1 by their scores."""
    y, scores = np.asarray(y, bool), np.asarray(scores)
    return np.sign(np.subtract.outer(scores[y], scores[~y].astype(scores.dtype))).ravel()


@given(rows)
@max_examples(30)
def test_every_pair_counted(table):
    y, scores, weight = map(np.array, zip(*table, strict=True))
    signs = pairs(y, scores.astype(float))
    found = auc_ties(y, scores)
    assert found.auc == np.mean((signs + 1) / 2) == tie_aware_auc(y, scores)
    assert found.lowest == np.mean(signs > 0) and found.highest == np.mean(signs >= 0)
    assert (found.n_tied_pairs, found.n_pairs) == (np.sum(signs == 0), len(signs))
    assert found.n_distinct == len(set(scores.tolist()))
    assert tie_aware_auc(y, -scores) == pytest.approx(1 - found.auc)
    copies = np.repeat(y, weight), np.repeat(scores, weight)
    weighted = tie_aware_auc(y, scores, sample_weight=weight)
    assert weighted == pytest.approx(tie_aware_auc(*copies), rel=1e-14)
    expected = roc_auc_score(y, scores, sample_weight=weight / 7)
    assert tie_aware_auc(y, scores, sample_weight=weight / 7) == pytest.approx(expected)


@given(rows)
@max_examples(30)
def test_breaking_ties_reaches_both_ends(table):
    y, scores, _ = map(np.array, zip(*table, strict=True))
    found = auc_ties(y, scores)
    for sign, value in ((1, found.highest), (-1, found.lowest)):
        assert roc_auc_score(y, scores + sign * 0.1 * y) == pytest.approx(value)


@given(rows)
@max_examples(40)
def test_placement_values_are_shares_of_the_other_class(table):
    y, scores, _ = map(np.array, zip(*table, strict=True))
    found = placement_values(y, scores)
    for value, own, score in zip(found, y, scores, strict=True):
        others = scores[y != own]
        right = others < score if own else others > score
        assert value == pytest.approx(np.mean(right) + np.mean(others == score) / 2)
    for own in (y, ~y):
        assert found[own].mean() == pytest.approx(tie_aware_auc(y, scores))


def test_delong_is_made_of_placement_values():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 40), rng.integers(0, 8, (2, 40))
    found = delong_test(y, {"a": scores[0], "b": scores[1]})
    placed = np.array([placement_values(y, one) for one in scores])
    covariance = sum(np.cov(placed[:, y == k]) / np.sum(y == k) for k in (0, 1))
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-12)


def test_exact_reference_values(shared):
    known = json.loads((shared / "reference" / "exact.json").read_text())["auc_ties"]
    for case in known.values():
        found = auc_ties(case["y"], case["p"])
        assert found.auc == pytest.approx(case["auc"]["float"], abs=1e-15)
        assert found.highest == pytest.approx(case["best_order_one_by_one"]["float"], abs=1e-15)
        assert found.lowest == pytest.approx(case["worst_order_one_by_one"]["float"], abs=1e-15)
        assert found.n_distinct == case.get("distinct_scores", found.n_distinct)
        assert found.n_tied_pairs == case["equal"] and found.n_pairs == case["pairs"]


def test_seven_ninths_in_every_order():  # req_E04, req_E05
    table = list(zip([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.5, 0.5, 0.2], strict=True))
    for order in itertools.permutations(table):
        y, scores = zip(*order, strict=True)
        assert tie_aware_auc(y, scores) == 7 / 9
    assert auc_ties(y, scores).n_distinct == 4


@pytest.mark.parametrize("scale", [1, 1e-9, 1e-300])
def test_case_C16_no_tolerance(scale):
    assert tie_aware_auc([0, 0, 1, 1], scale * np.array([0.1, 0.4, 0.35, 0.8])) == 0.75


def test_case_C17_scores_are_compared_exactly():
    assert tie_aware_auc([0, 1], [0.3, 0.1 + 0.2]) == 1
    assert tie_aware_auc([1, 0], [0.3, 0.1 + 0.2]) == 0
    assert tie_aware_auc([0, 1], [0.3, 0.3]) == 0.5
    big = 2**53
    assert tie_aware_auc([0, 1], [big, big + 1]) == 1  # equal once they are floats


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_case_C19_counts_do_not_take_the_type_of_the_scores(dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 10_000)
    scores = np.round(rng.random(10_000) + 0.3 * y, 2).astype(dtype)
    assert tie_aware_auc(y, scores) == tie_aware_auc(y, scores.astype(float))


@pytest.mark.parametrize("weight", [1, 0.1, 1 / 3])
def test_case_C22_never_above_one(weight):
    for m, n in ((7, 3), (6, 3), (1000, 777)):
        y = np.repeat([1, 0], [m, n])
        weights = np.full(m + n, weight)
        assert tie_aware_auc(y, y) == 1
        assert tie_aware_auc(y, np.arange(m + n)[::-1], sample_weight=weights) <= 1


def test_case_C26_never_flipped():
    assert tie_aware_auc([0, 0, 1, 1], [0.9, 0.6, 0.7, 0.1]) == 0.25


def test_labels_in_place_of_scores_are_noted():
    y, labels = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0]
    found = auc_ties(y, labels)
    assert "only two distinct scores" in found.note
    assert found.auc == pytest.approx((1 / 2 + 2 / 3) / 2)  # of specificity and sensitivity
    assert auc_ties(y, [1] * 5).note == "All scores are equal: they rank nothing."
    assert auc_ties(y, [1, 2, 3, 4, 5]).note == ""


def test_the_rest_equals_scikit_learn():
    rng = np.random.default_rng(1)
    y, scores, weight = rng.integers(0, 2, 200), rng.random(200).round(1), rng.random(200)
    for max_fpr in (0.1, 0.5, 1):
        expected = roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=weight)
        found = tie_aware_auc(y, scores, max_fpr=max_fpr, sample_weight=weight)
        assert found == pytest.approx(expected)
    several, table = rng.integers(0, 3, 200), rng.dirichlet([1, 1, 1], 200)
    for scheme, average in (
        ("ovr", "macro"),
        ("ovr", "weighted"),
        ("ovr", "micro"),
        ("ovo", "macro"),
        ("ovo", "weighted"),
    ):
        options = {"multi_class": scheme, "average": average}
        expected = roc_auc_score(several, table, **options)
        assert tie_aware_auc(several, table, **options) == pytest.approx(expected)
    names = np.array(["b", "a"])[y]
    assert tie_aware_auc(names, scores) == roc_auc_score(names, scores)
    assert tie_aware_auc(names, scores, pos_label="a") == pytest.approx(roc_auc_score(y, scores))
    with pytest.raises(ValueError, match="`multi_class` must be 'ovr' or 'ovo'"):
        tie_aware_auc(several, table)


def test_one_class():
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(tie_aware_auc([1, 1], [0.1, 0.2]))
    with pytest.raises(ValueError, match="`y_true` must hold both classes"):
        auc_ties([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="`y_true` must hold both classes"):
        placement_values([0, 0], [0.1, 0.2])


def test_bad_scores():
    with pytest.raises(ValueError, match="`y_score` must be finite"):
        tie_aware_auc([0, 1], [0.1, np.nan])
    with pytest.raises(ValueError, match="`y_score` must hold one number a row"):
        tie_aware_auc([0, 1], ["a", "b"])
    with pytest.raises(ValueError, match="`y_score` must have one entry per row, 2, got 3"):
        tie_aware_auc([0, 1], [0.1, 0.2, 0.3])


# In comparisons and in scikit-learn


def test_comparison_takes_the_ranks_path_and_equals_scikit_learns_scorer():
    rng = np.random.default_rng(2)
    y, a, b = rng.integers(0, 2, 80), rng.random(80), rng.integers(1, 6, 80) / 5
    common = {"n_resamples": 99, "random_state": 0}
    own = compare_predictions(y, {"a": a, "b": b}, scoring=TieAwareAUC(), **common)
    usual = compare_predictions(y, {"a": a, "b": b}, scoring="roc_auc", **common)
    assert own.paths == {"tie_aware_auc": "ranks"}
    np.testing.assert_array_equal(own.replicates, usual.replicates)
    part = compare_predictions(y, {"a": a}, scoring=TieAwareAUC(max_fpr=0.2), **common)
    assert part.paths == {"tie_aware_auc": "ranks"}
    assert part.scores[0].estimate == pytest.approx(roc_auc_score(y, a, max_fpr=0.2))
    with pytest.warns(UserWarning, match="only two distinct scores"):  # case_C27
        compare_predictions(y, {"a": (a > 0.5).astype(int)}, scoring=TieAwareAUC(), **common)


def test_scorer_in_scikit_learn():
    X, y = make_classification(200, random_state=0)
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, names)
    scorer = TieAwareAUC()
    assert check_scoring(model, scorer) is scorer
    assert scorer(model, X, names) == pytest.approx(
        check_scoring(model, "roc_auc")(model, X, names)
    )
    flipped = TieAwareAUC(pos_label="no")(model, X, names)
    assert flipped == pytest.approx(scorer(model, X, names))  # the other class by its own scores
    weight = np.arange(200) % 3
    expected = roc_auc_score(y, model.decision_function(X), sample_weight=weight)
    assert scorer(model, X, names, sample_weight=weight) == pytest.approx(expected)
    found = cross_validate(model, X, names, scoring={"auc": scorer, "acc": "accuracy"}, cv=2)
    expected = cross_validate(model, X, names, scoring="roc_auc", cv=2)
    np.testing.assert_allclose(found["test_auc"], expected["test_score"])
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, scoring=scorer, cv=2)
    assert search.fit(X, y).get_params()["scoring__max_fpr"] is None
    result = compare_estimators({"m": model}, X, names, scoring=scorer, n_resamples=99)
    assert result.scores[0].estimate == pytest.approx(scorer(model, X, names))
    comparator = PairedBootstrapComparator(
        [("a", LogisticRegression()), ("b", LogisticRegression(C=0.01))],
        scoring=TieAwareAUC(),
        cv=2,
        n_resamples=99,
        random_state=0,
    ).fit(X, names)
    assert comparator.result_.paths == {"tie_aware_auc": "ranks"}
    assert comparator.score(X, names) > 0.5


def test_scorer_of_several_classes():
    X, y = make_classification(150, n_classes=3, n_informative=5, random_state=0)
    model = LogisticRegression().fit(X, y)
    for scheme in ("ovr", "ovo"):
        expected = check_scoring(model, f"roc_auc_{scheme}")(model, X, y)
        assert TieAwareAUC(multi_class=scheme)(model, X, y) == pytest.approx(expected)


def test_a_class_without_weight_is_absent():
    y, scores, weight = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8], [0, 0, 1, 0]
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(tie_aware_auc(y, scores, sample_weight=weight))
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(tie_aware_auc(y, scores, sample_weight=weight, max_fpr=0.5))
    with pytest.raises(ValueError, match="both classes with positive weight"):
        auc_ties(y, scores, sample_weight=weight)


@pytest.mark.parametrize("max_fpr", [0, -0.1, 1.5, True, "0.1", np.nan])
def test_max_fpr_is_checked_in_the_metric_and_in_comparisons(max_fpr):
    y, scores = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]
    message = "`max_fpr` must be None or a number above 0 and at most 1"
    with pytest.raises(ValueError, match=message):
        tie_aware_auc(y, scores, max_fpr=max_fpr)
    with pytest.raises(ValueError, match=message):
        compare_predictions(y, {"a": scores}, scoring=TieAwareAUC(max_fpr=max_fpr), random_state=0)


def test_unknown_schemes_are_refused_for_two_classes_too():
    y, scores = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]
    with pytest.raises(ValueError, match="`multi_class` must be one of 'raise', 'ovr', 'ovo'"):
        compare_predictions(y, {"a": scores}, scoring=TieAwareAUC(multi_class="x"), random_state=0)
