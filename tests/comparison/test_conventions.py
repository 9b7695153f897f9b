"""What is undefined, what is convention, and where rounding must not decide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold

from sklearn_pairboot import (
    PairedBootstrapComparator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.counts import CountSource

LABEL_METRICS = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f1_macro",
    "jaccard",
    "matthews_corrcoef",
    "precision",
    "recall",
]


@pytest.mark.parametrize("name", LABEL_METRICS)
def test_resamples_without_weight_are_undefined_for_every_metric(name):
    """4 of 6 rows weigh nothing: (4/6)^6 of the sequences draw no weight at all."""
    y, predicted = [0, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]
    weight = [0, 0, 0, 0, 1, 1]
    result = compare_predictions(
        y, {"m": predicted}, scoring=name, sample_weight=weight, n_resamples="exact"
    )
    assert result.scores[0].n_undefined >= 4**6
    if name in ("accuracy", "f1_macro", "matthews_corrcoef"):
        assert result.scores[0].n_undefined == 4**6


def test_sums_without_weight_are_undefined_too():
    scorer = make_scorer(metrics.accuracy_score, normalize=False)
    result = compare_predictions(
        [0, 1, 1], {"m": [0, 1, 0]}, scoring=scorer, sample_weight=[0, 0, 1], n_resamples="exact"
    )
    assert result.scores[0].n_undefined == 2**3


@pytest.fixture(scope="module")
def folds_of_groups():
    """Three folds of two groups, all metrics on 20 resamples of the groups, and the counts."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 10)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 2)) + y[:, None]
    cv = GroupKFold(3)
    comparator = PairedBootstrapComparator(
        [("m", LogisticRegression())],
        scoring=LABEL_METRICS,
        cv=cv,
        n_resamples=20,
        confidence_level=0.5,
        refit=False,
        random_state=0,
    ).fit(X, y, groups=groups)
    counts = CountSource(6).draw(np.random.SeedSequence(0, spawn_key=(0,)))[:20]
    splits = [
        (LogisticRegression().fit(X[train], y[train]), X[test], y[test], counts[:, groups[test]])
        for train, test in cv.split(X, y, groups)
    ]
    assert any(not drawn.any() for *_, of_fold in splits for drawn in of_fold)
    return comparator.result_, splits


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("name", LABEL_METRICS)
def test_folds_that_were_not_drawn_are_left_out_of_the_mean(folds_of_groups, name):
    result, splits = folds_of_groups
    scorer = metrics.get_scorer(name)
    expected = [
        np.mean(
            [
                scorer(
                    model, np.repeat(X, of_fold[resample], axis=0), np.repeat(y, of_fold[resample])
                )
                for model, X, y, of_fold in splits
                if of_fold[resample].any()
            ]
        )
        for resample in range(20)
    ]
    found = result.replicates[:, LABEL_METRICS.index(name), 0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


class Fixed:
    """A model whose answers are known."""

    _estimator_type = "classifier"

    def __init__(self, answers, classes):
        self.answers, self.classes_ = np.array(answers), np.array(classes)

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return self.answers[X[:, 0].astype(int)]


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_a_predicted_class_without_truths_counts_as_an_error(weights):
    y = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 1])
    answers = {"a": [0, 1, 1, 1, 2, 0, 0, 1, 2, 2], "b": [0, 3, 1, 1, 2, 2, 0, 3, 2, 1]}
    X = np.arange(10.0)[:, None]
    scorer = make_scorer(metrics.cohen_kappa_score, weights=weights)
    models = {name: Fixed(values, [0, 1, 2, 3]) for name, values in answers.items()}
    result = compare_estimators(models, X, y, scoring=scorer, n_resamples=199, random_state=0)
    alone = compare_estimators(
        {"b": models["b"]}, X, y, scoring=scorer, n_resamples=199, random_state=0
    )
    for row in result.scores:
        right = metrics.cohen_kappa_score(y, np.array(answers[row.model]), weights=weights)
        assert row.estimate == pytest.approx(right, rel=1e-12)
    # Another model in the call changes nothing.
    assert result.scores[1].ci_low == pytest.approx(alone.scores[0].ci_low, rel=1e-12)
    assert result.scores[1].std_error == pytest.approx(alone.scores[0].std_error, rel=1e-12)


def test_a_replayed_metric_gets_the_labels_of_truths_and_of_its_model():
    def macro_f1(y_true, y_pred, labels=None):
        return metrics.f1_score(y_true, y_pred, labels=labels, average="macro", zero_division=0)

    y = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 1])
    predicted = np.array([0, 3, 1, 1, 2, 2, 0, 3, 2, 1])
    model = Fixed(predicted, [0, 1, 2, 3])
    result = compare_estimators(
        {"m": model},
        np.arange(10.0)[:, None],
        y,
        scoring=make_scorer(macro_f1),
        n_resamples=99,
        random_state=0,
    )
    assert result.scores[0].estimate == pytest.approx(macro_f1(y, predicted), rel=1e-12)


@pytest.mark.parametrize("seed", [4, 104, 114])
def test_rounding_of_large_scores_does_not_decide_basic_intervals(seed):
    rng = np.random.default_rng(seed)
    n = 30
    a = rng.integers(0, 4, n)
    b = np.clip(a + rng.integers(-1, 2, n) + (rng.random(n) < 0.25), 0, 5)
    common = {"n_resamples": 199, "random_state": 0, "method": "basic"}
    small = compare_scores({"a": a, "b": b}, **common).differences[0]
    large = compare_scores({"a": a / 10 + 1000, "b": b / 10 + 1000}, **common).differences[0]
    assert large.p_value == pytest.approx(small.p_value, rel=1e-12)
    assert large.verdict == small.verdict
    assert large.ci_low == pytest.approx(small.ci_low / 10, abs=1e-9)
    exact = Fraction(int((b - a).sum()), n)
    assert small.difference == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("factor", [1e-300, 1e-170, 1e160, 1e300])
def test_very_small_and_very_large_scores_scale(factor):
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 40))
    usual = compare_scores({"a": a, "b": b}, n_resamples=199, random_state=0).differences[0]
    scaled = compare_scores(
        {"a": a * factor, "b": b * factor}, n_resamples=199, random_state=0
    ).differences[0]
    assert scaled.status == "ok"
    assert scaled.std_error / factor == pytest.approx(usual.std_error, rel=1e-9)
    assert scaled.p_value == pytest.approx(usual.p_value, rel=1e-9)


def test_too_few_defined_resamples_are_noted():
    y = np.array([1] + [0] * 40)
    rng = np.random.default_rng(2)
    b, a = rng.random(41), rng.random(41)
    b[0], a[0] = 0.9, 0.5
    result = compare_predictions(
        y, {"a": a, "b": b}, scoring="roc_auc", n_resamples=41, random_state=0
    )
    assert any(note.startswith("Fewer resamples have a value") for note in result.notes)
    assert result.differences[0].verdict == "inconclusive"


def test_one_sided_comparisons_need_as_many_resamples_for_the_scores():
    with pytest.raises(ValueError, match="`n_resamples` must be at least 39"):
        compare_scores({"a": [0, 1], "b": [1, 1]}, n_resamples=19, alternative="better")


def test_a_value_that_is_a_convention_is_said_beside_the_comparison():
    """A model that calls nothing positive has precision 0/0 in every resample."""
    y = np.tile([0, 1, 1, 0, 1], 20)
    models = {
        "none": np.zeros(100, dtype=int),
        "model": np.where(np.arange(100) % 7 == 0, 1 - y, y),
    }
    scoring = ["precision", "recall", "precision_macro"]
    result = compare_predictions(y, models, scoring=scoring, n_resamples=199, random_state=0)
    assert result.scores[0].n_zero_division == 199
    text = " ".join(result.summary().split())
    said = "The precision of none is 0/0, and 0 by convention alone (`zero_division`)."
    assert f"p = 0.0100 (smallest possible). {said} - model is better than none on recall" in text
    assert said in result.to_markdown()
    # Of two classes one is 0/0: the mean of both varies.
    said = "The precision_macro of none takes 0/0 by convention (`zero_division`) in 199 of 199"
    assert said in text
    # Recall is defined, and a model with some positives is seldom 0/0.
    assert text.count("by convention") == 2
    few = {"few": np.eye(1, 100, 1, dtype=int)[0], "model": models["model"]}
    result = compare_predictions(y, few, scoring="precision", n_resamples=199, random_state=0)
    assert 0 < result.scores[0].n_zero_division < 100
    assert "by convention" not in " ".join(result.summary().split())
