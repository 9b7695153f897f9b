"""The ten most-repeated misunderstandings are answered where they arise, and only there."""

import re

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_validate

from sklearn_pairboot import (
    ECE,
    RecordedEstimator,
    compare_cross_validate,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot.calibration import IsotonicCalibrator
from sklearn_pairboot.report.reading import guide
from sklearn_pairboot.resampling import BayesianBootstrap

pytestmark = pytest.mark.newest  # wording

RANDOM = np.random.default_rng(0)
COMMON = RANDOM.normal(size=200)
TOGETHER = {"old": COMMON, "new": COMMON + 0.05 + 0.1 * RANDOM.normal(size=200)}
QUICK = {"n_resamples": 399, "random_state": 0}


def joined(text):
    return " ".join(text.split())


def how(result):
    """Read the statements off the markdown report."""
    return dict(
        re.findall(r"^- \*\*([\w -]+)\*\*: (.*)$", result.to_markdown(), flags=re.MULTILINE)
    )


def everywhere(result, sentence):
    """Whether summary, markdown and notebook say this."""
    fragment = re.sub("<[^>]+>", "", result._repr_html_()).replace("\u00a0", " ")
    return all(sentence in joined(t) for t in (result.summary(), result.to_markdown(), fragment))


def test_misunderstanding_1_spread_of_folds_is_no_interval():
    X = RANDOM.normal(size=(90, 2))
    y = (X[:, 0] + RANDOM.normal(size=90) > 0).astype(int)
    runs = {
        name: cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
        for name, model in {"guess": DummyClassifier(), "fit": LogisticRegression()}.items()
    }
    result = compare_cross_validate(runs, X, y, scoring="accuracy", **QUICK)
    said = how(result)["Folds"]
    assert "scores of folds share training rows: their spread is no confidence interval" in said
    assert "1/k + n_test/n_train" in said
    assert "Folds" not in how(compare_scores(TOGETHER, **QUICK))
    assert "by retraining was assessed by the t test alone." in result.method_paragraph()


def test_misunderstanding_2_overlapping_intervals_case_overlap():
    result = compare_scores(TOGETHER, **QUICK)
    (row,), (old, new) = result.differences, result.scores
    assert row.verdict == "better"
    assert new.ci_low < old.ci_high  # they overlap
    r = np.corrcoef(result._distribution.replicates[:, 0].T)[0, 1]
    said = how(result)["Overlap"]
    assert f"mean_score (new - old, correlation {r:.2f})" in said
    assert everywhere(result, "yet the difference is clear")
    apart = {"old": COMMON, "new": COMMON + 5}  # no overlap
    noisy = {"old": COMMON, "new": RANDOM.permutation(COMMON)}  # no clear difference
    for scores in (apart, noisy):
        assert "Overlap" not in how(compare_scores(scores, **QUICK))
    unpaired = compare_scores(TOGETHER, paired=False, **QUICK)
    assert "Overlap" not in how(unpaired)


def test_overlap_is_symmetric_and_needs_no_correlation():
    result = compare_scores(TOGETHER, **QUICK)
    there = how(result)["Overlap"]
    back = how(result.replace(baseline="new"))["Overlap"]
    assert there.replace("new - old", "old - new") == back


def test_misunderstanding_3_models_are_held_fixed():
    result = compare_scores(TOGETHER, **QUICK)
    assert everywhere(result, "only which test rows are drawn")
    assert everywhere(result, "the models and their scores; retraining and seeds are not covered")


def test_misunderstanding_4_what_p_is():
    result = compare_scores(TOGETHER, permutation=True, **QUICK)
    assert everywhere(result, "p is the smallest error level at which the interval excludes 0")
    assert f"smallest possible: {2 / 400:.2g}" in how(result)["p-values"]
    assert "A large p is no evidence of equality" in how(result)["p-values"]
    assert "models are exchangeable, which is more than equal metrics" in joined(result.summary())


def test_misunderstanding_5_the_unit_is_always_named():
    rows = compare_scores(TOGETHER, **QUICK)
    assert everywhere(rows, "200 rows, each drawn on its own with replacement")
    clusters = compare_scores(TOGETHER, groups=np.repeat(np.arange(40), 5), **QUICK)
    assert everywhere(clusters, "40 clusters of 5-5-5 rows (min-median-max)")
    advice = "those of one patient, document or user depend on one another"
    assert advice in joined(rows.to_html())
    assert advice not in joined(clusters.to_html())


def test_misunderstanding_6_undefined_resamples():
    y = np.r_[np.zeros(12, int), 1, 1]
    answers = {"a": RANDOM.random(14), "b": RANDOM.random(14)}
    result = compare_predictions(y, answers, scoring="roc_auc", **QUICK)
    assert f"{result.scores[0].n_undefined}) of 399 resamples; left out" in (
        how(result)["Undefined"].replace(", b", ") of 399 resamples; left out, b")
    )
    assert everywhere(result, "intervals are conditional on the rest")


def test_misunderstanding_7_calibration_errors():
    y = RANDOM.integers(0, 2, 200)
    answers = {"a": np.clip(0.4 * y + 0.6 * RANDOM.random(200), 0, 1), "b": RANDOM.random(200)}
    result = compare_predictions(y, answers, scoring={"ece": ECE(), "auc": "roc_auc"}, **QUICK)
    said = how(result)["Calibration"]
    assert said.startswith("ece depends on its bins and definition")
    assert "above 0 by chance even for a perfectly calibrated model" in said
    assert "says nothing of discrimination" in said
    assert "Calibration" not in how(compare_predictions(y, answers, scoring="roc_auc", **QUICK))


def test_misunderstanding_8_direction_in_words():
    y = RANDOM.integers(0, 2, 200)
    answers = {"a": np.clip(0.4 * y + 0.6 * RANDOM.random(200), 0.01, 0.99), "b": np.full(200, 0.5)}
    result = compare_predictions(y, answers, scoring="neg_log_loss", **QUICK)
    (row,) = result.differences
    assert (row.verdict, row.difference > 0) == ("worse", True)
    assert everywhere(result, "b is worse than a on log_loss (lower is better): +")
    assert everywhere(result, "Differences: b - a, in units of the metric")


def test_misunderstanding_8_scores_upside_down():
    y = RANDOM.integers(0, 2, 200)
    good = np.clip(0.4 * y + 0.6 * RANDOM.random(200), 0, 1)
    answers = {"good": good, "turned": 1 - good}
    result = compare_predictions(y, answers, scoring="roc_auc", **QUICK)
    assert how(result)["Direction"].startswith("roc_auc of turned below 0.5 with the whole")
    right = compare_predictions(y, {"a": good, "b": RANDOM.random(200)}, scoring="roc_auc", **QUICK)
    assert "Direction" not in how(right)


def test_misunderstanding_9_isotonic_calibration_makes_ties():
    scores, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]
    calibrator = IsotonicCalibrator().fit(scores, y)
    values = calibrator.predict_proba(scores)[:, 1]
    assert (calibrator.n_distinct_scores_, calibrator.n_distinct_probabilities_) == (4, 3)
    assert roc_auc_score(y, scores) == 0.75
    assert roc_auc_score(y, values) == 0.875  # the pair out of order became a tie
    assert "become ties, so AUC can change" in joined(IsotonicCalibrator.__doc__)


def test_misunderstanding_10_what_the_interval_is():
    result = compare_scores(TOGETHER, **QUICK)
    assert everywhere(
        result, "95 % percentile interval, two-sided: from the 2.5th to the 97.5th percentile"
    )
    assert everywhere(result, "more would reduce Monte Carlo noise, not the width of intervals")


@pytest.mark.parametrize(("shift", "verdict"), [(0.05, "better"), (0.0, "inconclusive")])
def test_a_guide_for_either_outcome_req_D18_req_D21_req_E30(shift, verdict):
    noise = np.tile([-0.3, 0.3], 100)
    scores = {"old": COMMON, "new": COMMON + shift + noise}
    result = compare_scores(scores, **QUICK)
    assert result.differences[0].verdict == verdict
    text = " ".join(guide(result._facts, result.differences))
    assert "two percentage points, not two per cent" in text  # req_A03
    assert "too wide to decide means too few rows; more resamples do not narrow it" in text
    assert "surprisingly narrow calls for a look at the rows" in text
    assert ("Inconclusive means" in text) == (verdict == "inconclusive")
    assert ("Better and worse say" in text) == (verdict == "better")
    page = joined(re.sub("<[^>]+>", "", result.to_html())).replace("\u00a0", " ")
    assert text.replace("`", "") in page


def test_few_units_are_counted_where_intervals_are_wide_req_D18():
    few = compare_scores(TOGETHER, groups=np.repeat(np.arange(8), 25), **QUICK)
    text = " ".join(guide(few._facts, few.differences))
    assert "too few resampling units (there are 8)" in text


def test_coverage_is_not_promised_where_units_are_few_req_A14():
    said = guide(compare_scores(TOGETHER, **QUICK)._facts, ())
    assert any("about 95 % cover the true value; fewer where rows are few" in s for s in said)
    posterior = compare_scores(TOGETHER, resampling=BayesianBootstrap(), **QUICK)
    said = guide(posterior._facts, posterior.differences)
    assert any("holds 95 % of the posterior draws" in s for s in said)
    assert not any("again and again" in s for s in said)


@pytest.mark.parametrize("proba", [False, True])
def test_few_distinct_scores_are_noted_req_E05(proba):
    y = RANDOM.integers(0, 2, 200)
    tied, apart = RANDOM.integers(0, 7, 200) / 7, RANDOM.random(200)
    answers = {"tied": tied, "apart": apart}
    if proba:
        answers = {
            name: RecordedEstimator.from_arrays(
                predict_proba=np.column_stack([1 - p, p]), classes=[0, 1]
            )
            for name, p in answers.items()
        }
    result = compare_predictions(y, answers, scoring=["roc_auc", "neg_brier_score"], **QUICK)
    (note,) = (note for note in result.notes if note.startswith("Distinct"))
    assert note.startswith(f"Distinct scores behind roc_auc: tied {len(set(tied))}, on 200 rows.")
    for options in ({"scoring": "neg_brier_score"}, {"scoring": "roc_auc", "drop": "tied"}):
        kept = {name: p for name, p in answers.items() if name != options.get("drop")}
        other = compare_predictions(y, kept, scoring=options["scoring"], **QUICK)
        assert not any(note.startswith("Distinct") for note in other.notes)
