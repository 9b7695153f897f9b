"""Faults that users of similar tools have met, one test for each case that touches what is built.

Cases of estimators and scorers have their tests where those are tested.
"""

import itertools
import tracemalloc
import warnings

import joblib
import numpy as np
import pytest
from scipy import sparse, stats
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.svm import LinearSVC

from sklearn_pairboot import (
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.intervals import METHODS, interval
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot.resampling import StratifiedBootstrap

TOLERANCE = 1e-12


def one_model(y, answers, scoring, **options):
    """Scores of one model, all resamples enumerated unless said otherwise."""
    options = {"n_resamples": "exact"} | options
    return compare_predictions(y, {"model": answers}, scoring=scoring, **options)


def values_of(result):
    """Values of the one model and how many sequences have each."""
    values, counts = result.replicates[:, 0, 0], result.multiplicities
    distinct = np.unique(np.round(values[~np.isnan(values)], 9))
    return {v: int(counts[np.isclose(values, v, atol=1e-8)].sum()) for v in distinct.tolist()}


# --- Undefined metrics in a resample ------------------------------------------------------------


def test_case_C01_undefined_resamples_are_counted_never_filled():
    result = one_model([0, 0, 0, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.9], "roc_auc")
    row = result.scores[0]
    assert row.n_undefined == 1025
    assert values_of(result) == {1.0: 3125 - 1025}
    assert (row.ci_low, row.ci_high) == (1, 1)
    assert any("More than 5 %" in note and "1025 of 3125" in note for note in result.notes)


def test_case_C02_one_undefined_resample_does_not_spoil_the_interval():
    y = [0] * 5 + [1] * 5
    scores = [0.1, 0.2, 0.3, 0.4, 0.75, 0.6, 0.7, 0.8, 0.9, 0.95]
    exact = one_model(y, scores, "roc_auc").scores[0]
    assert exact.estimate == pytest.approx(0.92, abs=TOLERANCE)
    assert exact.n_undefined == 2 * 5**10
    for method in ("percentile", "basic", "bca"):
        result = one_model(y, scores, "roc_auc", n_resamples=1999, random_state=0, method=method)
        row = result.scores[0]
        assert row.n_undefined == np.isnan(result.replicates).sum() > 0
        assert np.isfinite([row.ci_low, row.ci_high, row.std_error]).all()


@pytest.mark.parametrize("label", [0, 1])
def test_case_C03_one_class_is_refused_before_any_drawing(label):
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(ValueError, match=f"roc_auc must be defined.* All truths are {label}: only"):
        one_model([label] * 3, [0.1, 0.2, 0.3], "roc_auc", n_resamples=99, random_state=generator)
    assert generator.bit_generator.state == before


def test_case_C04_log_loss_is_defined_where_a_class_is_absent():
    probabilities = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    result = one_model(["a", "b", "c"], probabilities, "neg_log_loss")
    assert result.scores[0].n_undefined == 0
    expected = -(2 * np.log(0.7) + np.log(0.6)) / 3
    assert expected == pytest.approx(0.40806, abs=1e-5)
    # Of 27 sequences three draw row 0 twice and row 1 once; rows 1 and 2 have equal losses.
    found = np.isclose(result.replicates[:, 0, 0], expected, rtol=TOLERANCE)
    assert result.multiplicities[found].sum() == 6


@pytest.mark.parametrize(("zero_division", "without"), [("warn", 2 / 3), (0, 2 / 3), (np.nan, 1)])
def test_case_C06_labels_of_macro_f1_are_those_of_the_full_data(zero_division, without):
    y, predicted = [0, 0, 1, 1, 2], [0, 0, 1, 1, 0]
    scorer = make_scorer(metrics.f1_score, average="macro", zero_division=zero_division)
    result = one_model(y, predicted, scorer)
    assert result.scores[0].estimate == pytest.approx(0.6, abs=TOLERANCE)
    # Without row 4, with both of the other classes: 4^5 - 2 * 2^5 sequences, all of one value.
    (n_sequences,) = (n for v, n in values_of(result).items() if v == pytest.approx(without))
    assert n_sequences >= 4**5 - 2 * 2**5
    if without < 1:
        assert max(values_of(result)) == pytest.approx(2 / 3)
        assert result.scores[0].n_zero_division > 0


def test_case_C07_average_precision_without_positives_is_undefined_not_zero():
    result = one_model([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], "average_precision")
    row = result.scores[0]
    assert row.n_undefined == 3**4
    assert values_of(result) == {1.0: 256 - 81}
    assert (row.ci_low, row.ci_high) == (1, 1)


def test_case_C08_kappa_of_one_class_is_undefined():
    kappa = make_scorer(metrics.cohen_kappa_score)
    with pytest.raises(ValueError, match="cohen_kappa_score must be defined on the observed data"):
        one_model([1, 1], [1, 1], kappa)
    result = one_model([0, 1, 1], [1, 1, 1], kappa)
    assert result.scores[0].estimate == 0
    assert result.scores[0].n_undefined == 2**3
    assert values_of(result) == {0.0: 27 - 8}


def test_case_C10_precision_without_predicted_positives_is_zero_and_counted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = one_model([0, 1, 1], [0, 0, 0], "precision")
    row = result.scores[0]
    assert (row.estimate, row.n_zero_division, row.n_undefined) == (0, 27, 0)
    assert any("0/0" in note for note in result.notes)


@pytest.mark.parametrize("n_rows", [3, 100])
def test_case_C11_no_resample_is_empty(n_rows):
    y = np.arange(n_rows) % 2
    scorer = make_scorer(metrics.accuracy_score, normalize=False)
    result = one_model(y, y, scorer, n_resamples=5000, random_state=0)
    np.testing.assert_array_equal(result.replicates, n_rows)


def test_case_C14_stratifying_holds_prevalence_fixed_and_says_so():
    result = one_model(
        [0, 1], [0.2, 0.9], "roc_auc", resampling=StratifiedBootstrap(), n_resamples=99
    )
    row = result.scores[0]
    assert (row.estimate, row.std_error, row.ci_low, row.ci_high) == (1, 0, 1, 1)
    assert (row.status, row.n_undefined) == ("degenerate", 0)
    assert result.stratified
    assert "strat" in result.summary()


# --- AUC ----------------------------------------------------------------------------------------


def test_case_C15_auc_does_not_depend_on_the_order_of_tied_rows():
    rows = list(zip([0, 1, 1, 0, 0], [7, 7, 3, 3, 3], strict=True))
    for order in sorted(set(itertools.permutations(rows))):  # equal rows swap places too
        y, scores = zip(*order, strict=True)
        with pytest.warns(UserWarning, match="only two distinct scores"):
            row = one_model(list(y), list(scores), "roc_auc", n_resamples=39).scores[0]
        assert row.estimate == 3.5 / 6


@pytest.mark.parametrize("scale", [1, 1e-9, 1e-300])
def test_case_C16_scores_are_never_compared_with_a_tolerance(scale):
    scores = scale * np.array([0.1, 0.4, 0.35, 0.8])
    result = one_model([0, 0, 1, 1], scores, "roc_auc")
    assert result.scores[0].estimate == 0.75
    plain = one_model([0, 0, 1, 1], [1, 3, 2, 4], "roc_auc")
    np.testing.assert_array_equal(result.replicates, plain.replicates)


@pytest.mark.parametrize(
    ("y", "scores", "auc"),
    [([0, 1], [0.3, 0.1 + 0.2], 1), ([0, 1], [0.3, 0.3], 0.5), ([1, 0], [0.3, 0.1 + 0.2], 0)],
)
def test_case_C17_scores_are_compared_exactly(y, scores, auc):
    assert one_model(y, scores, "roc_auc").scores[0].estimate == auc


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_case_C19_low_precision_does_not_leak_into_the_counters(dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 10_000)
    scores = np.round(rng.random(10_000) + 0.3 * y, 2).astype(dtype)
    for scoring in ("roc_auc", "average_precision"):
        options = {"n_resamples": 60, "random_state": 0}
        low = one_model(y, scores, scoring, **options)
        high = one_model(y, scores.astype(float), scoring, **options)
        np.testing.assert_array_equal(low.replicates, high.replicates)
    ones = compare_scores({"a": np.ones(5000, dtype=dtype)}, n_resamples=60)
    np.testing.assert_array_equal(ones.replicates, 1)


def test_case_C22_auc_is_never_above_one():
    for n_positives, n_negatives in ((7, 3), (6, 3), (3, 7)):
        y = [1] * n_positives + [0] * n_negatives
        scores = list(range(n_positives + n_negatives, 0, -1))
        result = one_model(y, scores, "roc_auc", n_resamples=4000, random_state=0)
        assert result.scores[0].estimate == 1
        assert set(result.replicates[~np.isnan(result.replicates)].tolist()) == {1.0}


@pytest.mark.parametrize("method", METHODS)
def test_case_C23_identical_models_have_difference_zero_and_p_one(method):
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    scores = [0.1, 0.4, 0.35, 0.5, 0.45, 0.8, 0.7, 0.9]
    result = compare_predictions(
        y, {"A": scores, "B": list(scores)}, scoring="roc_auc", n_resamples="exact", method=method
    )
    row = result.differences[0]
    assert (row.difference, row.std_error, row.p_value) == (0, 0, 1)
    assert (row.ci_low, row.ci_high, row.status) == (0, 0, "degenerate")


def test_case_C26_a_bad_model_is_not_flipped():
    result = one_model([0, 0, 1, 1], [0.9, 0.6, 0.7, 0.1], "roc_auc")
    assert result.scores[0].estimate == 0.25
    assert min(values_of(result)) == 0


def test_case_C27_labels_in_place_of_scores_are_warned_of():
    y, probabilities = [0, 0, 1, 1], np.array([0.1, 0.3, 0.4, 0.2])
    assert one_model(y, probabilities, "roc_auc").scores[0].estimate == 0.75
    with pytest.warns(UserWarning, match="roc_auc got only two distinct scores from model"):
        labels = one_model(y, (probabilities > 0.15).astype(int), "roc_auc")
    assert labels.scores[0].estimate == 0.75
    with pytest.warns(UserWarning, match="labels say little of a ranking"):
        one_model(y, [0, 1, 1, 0], "average_precision")


# --- Bootstrap intervals ------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_case_C29_constant_replicates_are_degenerate_with_one_message(method):
    result = compare_scores({"a": [1] * 10, "b": [1] * 10}, n_resamples=199, method=method)
    for row in result.scores:
        assert (row.ci_low, row.ci_high, row.std_error, row.status) == (1, 1, 0, "degenerate")
    assert sum("Zero-width interval" in note for note in result.notes) == 1


def test_case_C30_zero_over_zero_acceleration_is_zero():
    x = np.array([1, 2, 3, 3, 4, 5])
    scorer = make_scorer(lambda y, p: float(np.median(p)))
    result = one_model(x, x, {"median": scorer}, method="bca")
    row = result.scores[0]
    assert row.status == "ok"
    assert any("the acceleration is zero: bias correction alone" in note for note in result.notes)
    medians = [np.median(drawn) for drawn in itertools.product(x, repeat=6)]
    share = np.mean(np.less(medians, 3)) + np.mean(np.equal(medians, 3)) / 2
    z0 = stats.norm.ppf(share)
    levels = stats.norm.cdf(2 * z0 + stats.norm.ppf([0.025, 0.975]))
    assert (row.ci_low, row.ci_high) == pytest.approx(tuple(np.quantile(medians, levels)))


def test_case_C34_memory_does_not_grow_with_rows_times_resamples():
    rng = np.random.default_rng(0)
    n_rows, n_resamples = 200_000, 300
    scores = {name: rng.random(n_rows) for name in "ab"}
    tracemalloc.start()
    compare_scores(scores, n_resamples=n_resamples, random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n_rows * 400  # a matrix of row numbers has 8 x 300 bytes a row


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_log_loss", "f1"])
def test_case_C35_the_jackknife_is_not_quadratic(scoring):
    rng = np.random.default_rng(0)
    n_rows = 100_000
    y = rng.integers(0, 2, n_rows)
    answers = np.clip(0.8 * rng.random(n_rows) + 0.2 * y, 0.01, 0.99)
    answers = (answers > 0.5).astype(int) if scoring == "f1" else answers
    tracemalloc.start()
    result = one_model(y, answers, scoring, n_resamples=60, random_state=0, method="bca")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.scores[0].status in ("ok", "percentile (bca undefined)")
    assert peak < n_rows * 600


def test_case_C36_95_percent_is_not_the_5th_and_95th_percentile():
    sample = Sample.from_replicates(np.arange(1.0, 1001))
    for level, ends in ((0.95, (25.975, 975.025)), (0.9, (50.95, 950.05))):
        found = interval(sample, 500.5, method="percentile", confidence_level=level)
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


def test_case_C37_width_does_not_shrink_with_resamples():
    scores = {"a": np.random.default_rng(0).normal(size=400)}
    widths = []
    for n_resamples in (999, 9999):
        row = compare_scores(scores, n_resamples=n_resamples, random_state=0).scores[0]
        widths.append(row.ci_high - row.ci_low)
    expected = 2 * 1.96 * scores["a"].std() / 20
    assert widths == pytest.approx([expected, expected], rel=0.1)


def test_case_C38_as_many_draws_as_rows_with_replacement():
    row = compare_scores({"x": [1, 0, 1, 0]}, n_resamples="exact").scores[0]
    assert row.std_error == pytest.approx(0.25, abs=TOLERANCE)


def test_case_C41_too_few_resamples_are_refused():
    with pytest.raises(ValueError, match="`n_resamples` must be at least 39 for .*=0.95, got 2"):
        compare_scores({"a": [0, 1, 1]}, n_resamples=2)
    with pytest.raises(ValueError, match="at least 39 .* got 38"):
        compare_scores({"a": [0, 1, 1]}, n_resamples=38)
    row = compare_scores({"a": [0, 1, 1]}, n_resamples=39, random_state=0).scores[0]
    assert row.ci_low <= row.estimate <= row.ci_high


def test_case_C42_the_error_of_a_difference_is_paired():
    a, b = [1] * 8 + [0] * 2, [1] * 7 + [0] * 3
    result = compare_scores({"b": b, "a": a}, n_resamples="exact")
    row = result.differences[0]
    assert row.difference == pytest.approx(0.1, abs=TOLERANCE)
    assert row.std_error == pytest.approx(np.sqrt(0.09 / 10), abs=TOLERANCE)
    unpaired = np.hypot(*(score.std_error for score in result.scores))
    assert unpaired == pytest.approx(np.sqrt(0.37 / 10), abs=TOLERANCE)


@pytest.mark.parametrize("method", METHODS)
def test_case_C44_two_perfect_models(method):
    y = [0, 1] * 3
    result = compare_predictions(
        y, {"A": y, "B": y}, scoring="accuracy", n_resamples=999, method=method
    )
    row = result.differences[0]
    assert (row.difference, row.ci_low, row.ci_high) == (0, 0, 0)
    assert (row.p_value, row.status, row.verdict) == (1, "degenerate", "inconclusive")


# --- Clusters and groups ------------------------------------------------------------------------


def test_case_C45_a_cluster_drawn_twice_counts_twice():
    result = compare_scores({"m": [0, 1, 1]}, groups=["A", "B", "C"], n_resamples="exact")
    assert result.scores[0].std_error == pytest.approx(np.sqrt(2 / 27), abs=TOLERANCE)
    assert np.sqrt(2 / 27) == pytest.approx(0.27217, abs=1e-5)
    # Two of A and one other: 3 x 2 of the 27 sequences.
    assert values_of(result) == {0.0: 1, 0.333333333: 6, 0.666666667: 12, 1.0: 8}


def test_case_C46_one_cluster_is_refused():
    with pytest.raises(ValueError, match="`groups` must hold at least 2 clusters, .* group 'p'"):
        compare_scores({"m": [0, 1, 1]}, groups=["p"] * 3)


@pytest.mark.parametrize(
    ("groups", "rows"),
    [([1, 1, np.nan, np.nan], "2, 3"), (["a", "a", None, "b"], "2"), ([1.0, np.inf, 1, 2], "1")],
)
def test_case_C47_missing_group_labels_are_refused_with_their_rows(groups, rows):
    message = f"`groups` must be finite and present in every row, .* in row.s. {rows}"
    with pytest.raises(ValueError, match=message):
        compare_scores({"m": [0, 1, 1, 0]}, groups=groups)
    with pytest.raises(ValueError, match=message):
        compare_predictions([0, 1, 1, 0], {"m": [0, 1, 1, 1]}, scoring="accuracy", groups=groups)


def test_case_C47_missing_group_labels_of_dataframes():
    pandas = pytest.importorskip("pandas")
    for groups in (
        pandas.Series(["a", "a", None, "b"]),
        pandas.Series(["a", "a", pandas.NA, "b"], dtype="string"),
        pandas.Series([1, 1, pandas.NA, 2], dtype="Int64"),
        pandas.Series(["a", "a", None, "b"], dtype="category"),
        pandas.to_datetime(pandas.Series(["2020-01-01", "2020-01-01", None, "2020-01-02"])),
    ):
        with pytest.raises(ValueError, match="`groups` must be finite.*in row.s. 2"):
            compare_scores({"m": [0, 1, 1, 0]}, groups=groups)


def test_case_C50_rows_of_a_cluster_are_not_independent():
    scores = {"m": np.repeat([1, 1, 0, 0], 5)}
    patients = np.repeat(list("abcd"), 5)
    rows = compare_scores(scores, ids=patients, n_resamples="exact")
    clusters = compare_scores(scores, groups=patients, n_resamples="exact")
    assert rows.scores[0].std_error == pytest.approx(np.sqrt(0.25 / 20), abs=TOLERANCE)
    assert clusters.scores[0].std_error == pytest.approx(0.25, abs=TOLERANCE)
    assert any("`ids` repeat: 20 rows but 4 distinct" in note for note in rows.notes)
    predicted = compare_predictions(
        scores["m"], scores, scoring="accuracy", ids=patients, n_resamples=99
    )
    assert any("`ids` repeat" in note for note in predicted.notes)


def test_case_C51_results_do_not_depend_on_the_order_of_rows():
    first = compare_scores({"m": [1, 2, 3, 4]}, groups=list("baba"), random_state=0)
    second = compare_scores({"m": [2, 4, 1, 3]}, groups=list("aabb"), random_state=0)
    np.testing.assert_array_equal(first.replicates, second.replicates)


def test_case_C53_seeds_are_the_units_not_their_episodes():
    scores = {"m": [0, 0, 0, 1, 1, 1]}
    seeds = compare_scores(scores, groups=[1, 1, 1, 2, 2, 2], n_resamples="exact")
    stacked = compare_scores(scores, n_resamples="exact")
    assert seeds.scores[0].std_error == pytest.approx(np.sqrt(0.25 / 2), abs=TOLERANCE)
    assert stacked.scores[0].std_error == pytest.approx(np.sqrt(0.25 / 6), abs=TOLERANCE)


# --- Scorers, direction, labels -----------------------------------------------------------------


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_mean_squared_error",
        make_scorer(metrics.mean_squared_error, greater_is_better=False),
    ],
)
def test_case_C85_losses_are_shown_as_losses_and_read_the_right_way(scoring):
    y = np.arange(1.0, 13)
    result = compare_predictions(
        y, {"B": y + 1, "A": y + 2}, scoring=scoring, n_resamples=99, random_state=0
    )
    assert result.metrics == ("mean_squared_error",)
    assert [row.estimate for row in result.scores] == [1, 4]
    assert result.differences[0].difference == 3
    assert not result.differences[0].greater_is_better

    noisy = {"B": y + 1, "A": y + 2 + np.sin(y)}
    result = compare_predictions(y, noisy, scoring=scoring, n_resamples=99, random_state=0)
    assert result.differences[0].verdict == "worse"
    assert result.replace(baseline="A").differences[0].verdict == "better"
    assert "A is worse than B" in result.summary()


def test_case_C86_the_sign_of_a_scorer_is_applied_once():
    y, predicted = [1.0, 2.0, 4.0], [2.0, 2.0, 2.0]
    scorer = make_scorer(metrics.mean_absolute_error, greater_is_better=False)
    for scoring in (scorer, "neg_mean_absolute_error"):
        result = one_model(y, predicted, scoring)
        assert result.metrics == ("mean_absolute_error",)
        assert result.scores[0].estimate == 1
        assert not result.scores[0].greater_is_better
    replayed = make_scorer(metrics.median_absolute_error, greater_is_better=False)
    assert one_model(y, predicted, replayed).scores[0].estimate == 1


def test_case_C86_a_metric_function_has_no_direction():
    message = "got the metric function mean_absolute_error, which says nothing of its direction"
    with pytest.raises(ValueError, match=message):
        one_model([1.0, 2.0], [1.0, 2.0], metrics.mean_absolute_error)


def test_case_C90_a_missing_response_is_named_before_resampling():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    models = {"logistic": LogisticRegression().fit(X, y), "svm": LinearSVC().fit(X, y)}
    message = r"brier_score\S* needs predict_proba, which model 'svm' .*LinearSVC.* does not have"
    with pytest.raises(AttributeError, match=message):
        compare_estimators(models, X, y, scoring="neg_brier_score")
    result = compare_estimators(models, X, y, scoring="roc_auc", n_resamples=99)
    expected = metrics.roc_auc_score(y, models["svm"].decision_function(X))
    assert result.scores[1].estimate == pytest.approx(expected, abs=TOLERANCE)


def test_case_C91_two_columns_of_probabilities():
    y, positive = [0, 1, 0, 1], np.array([0.1, 0.8, 0.6, 0.4])
    both = np.column_stack([1 - positive, positive])
    for scoring in ("roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"):
        wide, narrow = (one_model(y, answers, scoring) for answers in (both, positive))
        np.testing.assert_array_equal(wide.replicates, narrow.replicates)
    # With labels in words the column is chosen by its class, not by its place.
    words = ["sick", "well", "sick", "well"]
    swapped = one_model(words, both, "roc_auc", pos_label="sick")
    assert swapped.scores[0].estimate == metrics.roc_auc_score([1, 0, 1, 0], both[:, 0])


# --- Containers and shapes ----------------------------------------------------------------------


def test_case_C92_columns_are_ravelled_and_wider_targets_need_wide_answers():
    column = [[1.0], [2.0], [3.0]]
    for y, predicted in ((column, [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], column), (column, column)):
        assert one_model(y, predicted, "neg_mean_squared_error").scores[0].estimate == 0
    with pytest.raises(ValueError, match=r"must have the shape of `y_true`, \(3, 2\), .*\(3,\)"):
        one_model(np.ones((3, 2)), [1.0, 2.0, 3.0], "neg_mean_squared_error")


def test_case_C93_series_with_different_indexes_are_refused():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series([1, 0, 1], index=[2, 0, 1])
    predicted = pandas.Series([1, 0, 1], index=[0, 1, 2])
    with pytest.raises(ValueError, match="`y_true` and predictions of 'model' have different"):
        one_model(y, predicted, "accuracy")
    assert one_model(y, predicted.to_numpy(), "accuracy").scores[0].estimate == 1
    aligned = one_model(y, predicted.loc[y.index], "accuracy")
    assert aligned.scores[0].estimate == pytest.approx(1 / 3)


def test_case_C95_polars_inputs():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    X = polars.DataFrame(rng.normal(size=(40, 3)), schema=["a", "b", "c"])
    y = polars.Series(np.array(["no", "yes"])[np.arange(40) % 2])
    groups = polars.Series(np.array(list("pqrs"))[np.arange(40) // 10])
    weight = polars.Series(np.arange(40) % 3 + 1)
    model = LogisticRegression().fit(X, y)
    options = {"scoring": ["accuracy", "roc_auc"], "n_resamples": 99, "random_state": 0}
    result = compare_estimators({"m": model}, X, y, groups=groups, sample_weight=weight, **options)
    plain = compare_estimators(
        {"m": LogisticRegression().fit(X.to_numpy(), y.to_numpy())},
        X.to_numpy(),
        y.to_numpy(),
        groups=groups.to_numpy(),
        sample_weight=weight.to_numpy(),
        **options,
    )
    np.testing.assert_array_equal(result.replicates, plain.replicates)


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_matrix, sparse.csc_array])
def test_case_C96_sparse_rows(form):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (40, 4)) * (rng.random((40, 4)) < 0.5)
    y = np.arange(40) % 2
    model = LogisticRegression().fit(dense, y)
    options = {"n_resamples": 99, "random_state": 0}

    def looks_at_rows(model, X, y):
        return float(X.sum() / X.shape[0])

    scoring = {"auc": "roc_auc", "rows": looks_at_rows}
    found = compare_estimators({"m": model}, form(dense), y, scoring=scoring, **options)
    expected = compare_estimators({"m": model}, dense, y, scoring=scoring, **options)
    np.testing.assert_allclose(found.replicates, expected.replicates, rtol=TOLERANCE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_case_C97_missing_scores_name_model_and_rows(bad):
    message = "model 'b'.* got 2 missing or infinite, in row.s. 1, 2"
    with pytest.raises(ValueError, match=message):
        compare_scores({"a": [0.1, 0.2, 0.3], "b": [0.1, bad, bad]})
    with pytest.raises(ValueError, match=message):
        compare_predictions(
            [0, 1, 1], {"a": [0.1, 0.2, 0.3], "b": [0.1, bad, bad]}, scoring="roc_auc"
        )


# --- Parallelism, randomness, warnings ----------------------------------------------------------


def test_case_C123_generators_are_accepted():
    for make in (np.random.default_rng, np.random.RandomState):
        one, two = (
            compare_scores({"m": [0, 1, 1, 0, 1]}, n_resamples=99, random_state=make(0))
            for _ in range(2)
        )
        np.testing.assert_array_equal(one.replicates, two.replicates)


def test_case_C125_no_block_repeats_another():
    result = compare_scores(
        {"m": np.random.default_rng(0).random(100)}, n_resamples=9000, random_state=0
    )
    assert len(np.unique(result.replicates)) == 9000


def test_case_C126_a_seed_sequence_is_not_used_up():
    options = {"n_resamples": 99, "random_state": 3}
    one, two = (compare_scores({"m": [0, 1, 1, 0, 1]}, **options) for _ in range(2))
    np.testing.assert_array_equal(one.replicates, two.replicates)


def test_case_C127_lambda_scorers_run_in_parallel():
    y = np.arange(60) % 3
    scoring = {"own": lambda model, X, y: float(np.mean(model.predict(X) == y))}
    options = {"n_resamples": 300, "random_state": 0}
    serial = one_model(y, y % 2, scoring, **options)
    parallel = one_model(y, y % 2, scoring, n_jobs=2, **options)
    np.testing.assert_array_equal(parallel.replicates, serial.replicates)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_case_C128_one_warning_for_each_cause_with_its_count(n_jobs):
    def complains(model, X, y):
        if len(np.unique(X)) < 12:  # of 12 rows: not so on the data as they are
            warnings.warn("rows are repeated", UserWarning, stacklevel=2)
        return float(np.mean(y))

    with pytest.warns(UserWarning) as caught:
        result = one_model(
            np.arange(12), np.arange(12), {"own": complains}, n_resamples=300, n_jobs=n_jobs
        )
    assert [str(warning.message) for warning in caught] == [
        "own: UserWarning: rows are repeated (met 300 times while scoring resamples)"
    ]
    assert any("met 300 times" in note for note in result.notes)


def test_case_C129_without_n_jobs_there_is_no_pool(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a pool was made")

    monkeypatch.setattr(joblib, "Parallel", refuse)
    scoring = {"own": lambda model, X, y: float(np.mean(y)), "accuracy": "accuracy"}
    one_model([0, 1, 1, 0], [0, 1, 0, 0], scoring, n_resamples=300)


def test_case_C129_the_callers_backend_is_respected():
    class Seen(joblib.parallel.ThreadingBackend):
        calls = 0

        def configure(self, *args, **kwargs):
            Seen.calls += 1
            return super().configure(*args, **kwargs)

        supports_sharedmem = False

    joblib.register_parallel_backend("seen by pairboot", Seen)
    scoring = {"own": lambda model, X, y: float(np.mean(y))}
    with joblib.parallel_config("seen by pairboot", n_jobs=2):
        one_model(np.arange(700) % 2, np.arange(700) % 2, scoring, n_resamples=600)
    assert Seen.calls == 1


def test_case_C130_nothing_is_kept_between_calls():
    record = RecordedEstimator.from_arrays(predict=[0, 1, 1, 0])
    options = {"scoring": "accuracy", "n_resamples": 99, "random_state": 0}
    first = compare_predictions([0, 1, 1, 1], {"m": record}, **options)
    kept = first.replicates.copy()
    compare_predictions([1, 0, 0, 1], {"m": record}, **options)
    np.testing.assert_array_equal(first.replicates, kept)
    again = compare_predictions([0, 1, 1, 1], {"m": record}, **options)
    np.testing.assert_array_equal(again.replicates, kept)


def test_case_C131_counts_as_weights_equal_indexing():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    counts = [2, 0, 1, 3]
    weighted = one_model(y, scores, "roc_auc", sample_weight=counts, n_resamples=99)
    rows = np.repeat(np.arange(4), counts)
    assert weighted.scores[0].estimate == 1
    assert metrics.roc_auc_score(y[rows], scores[rows]) == 1


# --- Sample weights -----------------------------------------------------------------------------


def test_case_C134_weighted_auc_equals_repetition():
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    options = {"n_resamples": "exact"}
    assert one_model(y, scores, "roc_auc").scores[0].estimate == 0.75
    weighted = one_model(y, scores, "roc_auc", sample_weight=[1, 1, 1, 3], **options)
    rows = [0, 1, 2, 3, 3, 3]
    copied = one_model(y[rows], scores[rows], "roc_auc", groups=rows, **options)
    assert weighted.scores[0].estimate == 0.875
    np.testing.assert_allclose(weighted.replicates, copied.replicates, rtol=TOLERANCE)
    assert weighted.weighted
    assert "weighted" in weighted.summary()


def test_case_C135_weights_constant_within_classes_leave_auc_alone():
    y, scores = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    weighted = one_model(y, scores, "roc_auc", sample_weight=[0.1, 0.1, 1, 1])
    assert weighted.scores[0].estimate == pytest.approx(0.75, abs=TOLERANCE)
    plain = one_model(y, scores, "roc_auc")
    np.testing.assert_allclose(weighted.replicates, plain.replicates, rtol=TOLERANCE)
