"""Predictions made elsewhere: which answers serve which metrics, labels, alignment, bad values."""

import re
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import make_scorer

from sklearn_pairboot import RecordedEstimator, compare_predictions
from sklearn_pairboot.resampling import StratifiedBootstrap

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
PROBABILITIES = {name: np.clip(RNG.random(40) + 0.3 * Y, 0.01, 0.99) for name in "ab"}
LABELS = {name: (scores > 0.6).astype(int) for name, scores in PROBABILITIES.items()}
OPTIONS = {"n_resamples": 60, "random_state": 0}


def compare(y=Y, predictions=LABELS, scoring="accuracy", **options):
    return compare_predictions(y, predictions, scoring=scoring, **OPTIONS | options)


def refused(error, message, *args, **options):
    """Call, and match the whole message."""
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        compare(*args, **options)


def estimates(result):
    return [row.estimate for row in result.scores]


# --- Metrics and the answers that they need -----------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "names"),
    [
        ("accuracy", ("accuracy",)),
        (["accuracy", "f1"], ("accuracy", "f1")),
        (("recall",), ("recall",)),
        ({"hits": "accuracy", "F": "f1"}, ("hits", "F")),
        (make_scorer(metrics.fbeta_score, beta=2), ("fbeta_score",)),
        ({"own": lambda model, X, y: float(np.mean(model.predict(X) == y))}, ("own",)),
        (lambda model, X, y: float(np.mean(model.predict(X) == y)), ("scorer",)),
    ],
)
def test_forms_of_scoring(scoring, names):
    result = compare(scoring=scoring)
    assert result.metrics == names
    assert result.replicates.shape == (60, len(names), 2)


def test_one_array_serves_metrics_of_one_response():
    result = compare(
        predictions=PROBABILITIES,
        scoring=["roc_auc", "neg_log_loss", "neg_brier_score", "average_precision"],
    )
    for model, scores in enumerate(PROBABILITIES.values()):
        expected = [
            metrics.roc_auc_score(Y, scores),
            metrics.log_loss(Y, scores),
            metrics.brier_score_loss(Y, scores),
            metrics.average_precision_score(Y, scores),
        ]
        assert [row.estimate for row in result.scores if row.model == "ab"[model]] == pytest.approx(
            expected, rel=1e-12
        )


def test_decision_values_serve_ranking_metrics_only():
    margins = {name: 10 * scores - 7 for name, scores in PROBABILITIES.items()}
    ranked = compare(predictions=margins, scoring=["roc_auc", "average_precision"])
    same = compare(predictions=PROBABILITIES, scoring=["roc_auc", "average_precision"])
    np.testing.assert_array_equal(ranked.replicates, same.replicates)
    with pytest.raises(ValueError, match="`predict_proba` must lie between 0 and 1, got values"):
        compare(predictions=margins, scoring="neg_log_loss")


def test_metrics_of_several_responses_need_recorded_answers():
    refused(
        ValueError,
        "`predictions` must hold recorded answers where metrics need several responses, got one "
        "array for model 'a', but accuracy needs predict; log_loss needs predict_proba. Pass "
        "RecordedEstimator.from_arrays(predict=..., predict_proba=..., decision_function=..., "
        "classes=...).",
        predictions=PROBABILITIES,
        scoring=["accuracy", "neg_log_loss"],
    )
    records = {
        name: RecordedEstimator.from_arrays(
            predict=LABELS[name], predict_proba=PROBABILITIES[name], classes=[0, 1]
        )
        for name in "ab"
    }
    both = compare(predictions=records, scoring=["accuracy", "neg_log_loss"])
    np.testing.assert_array_equal(both.replicates[:, 0], compare().replicates[:, 0])
    assert both.paths == {"accuracy": "sums", "log_loss": "sums"}
    # Records without classes get those of the truths, and may be mixed with arrays.
    unknown = RecordedEstimator.from_arrays(predict=LABELS["a"], predict_proba=PROBABILITIES["a"])
    mixed = compare(predictions={"a": unknown, "b": LABELS["b"]})
    np.testing.assert_array_equal(mixed.replicates, compare().replicates)


def test_real_values_are_no_labels():
    refused(
        ValueError,
        "`predictions` must be labels for accuracy, got real values such as "
        f"{PROBABILITIES['a'][0]:.6g} for model 'a'. Apply a threshold first, or pass "
        "RecordedEstimator.from_arrays(predict=..., predict_proba=...).",
        predictions=PROBABILITIES,
    )
    whole = compare(predictions={"a": LABELS["a"].astype(float), "b": LABELS["b"]})
    np.testing.assert_array_equal(whole.replicates, compare().replicates)


def test_labels_in_words_are_no_scores():
    words = np.array(["no", "yes"])
    refused(
        ValueError,
        "`predictions` must be numbers for roc_auc, got <U3 for model 'a'.",
        Y,
        {"a": words[LABELS["a"]]},
        "roc_auc",
    )


@pytest.mark.parametrize(
    ("scoring", "reference"),
    [
        ("accuracy", metrics.accuracy_score),
        ("balanced_accuracy", metrics.balanced_accuracy_score),
        ("f1_macro", lambda y, p: metrics.f1_score(y, p, average="macro")),
        ("f1_weighted", lambda y, p: metrics.f1_score(y, p, average="weighted")),
        ("recall_micro", lambda y, p: metrics.recall_score(y, p, average="micro")),
        ("matthews_corrcoef", metrics.matthews_corrcoef),
        ("jaccard_macro", lambda y, p: metrics.jaccard_score(y, p, average="macro")),
    ],
)
def test_three_classes_in_numbers_and_words(scoring, reference):
    rng = np.random.default_rng(1)
    y, predicted = rng.integers(0, 3, (2, 50))
    words = np.array(["cat", "dog", "eel"])
    numbers = compare(y, {"m": predicted}, scoring)
    assert estimates(numbers) == pytest.approx([reference(y, predicted)], rel=1e-12)
    named = compare(words[y], {"m": words[predicted].tolist()}, scoring)
    np.testing.assert_array_equal(named.replicates, numbers.replicates)
    objects = compare(words[y].astype(object), {"m": words[predicted].astype(object)}, scoring)
    np.testing.assert_array_equal(objects.replicates, numbers.replicates)


def test_probabilities_of_three_classes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 60)
    probabilities = rng.dirichlet([1, 1, 1], 60)
    result = compare(y, {"m": probabilities}, ["neg_log_loss", "roc_auc_ovr", "roc_auc_ovo"])
    assert result.paths["log_loss"] == "sums"
    assert estimates(result) == pytest.approx(
        [
            metrics.log_loss(y, probabilities),
            metrics.roc_auc_score(y, probabilities, multi_class="ovr"),
            metrics.roc_auc_score(y, probabilities, multi_class="ovo"),
        ],
        rel=1e-12,
    )
    words = np.array(["a", "b", "c"])[y]
    named = compare(words, {"m": probabilities}, "neg_log_loss")
    np.testing.assert_array_equal(named.replicates[:, 0], result.replicates[:, 0])


@pytest.mark.parametrize(
    ("scoring", "reference"),
    [
        ("r2", metrics.r2_score),
        ("neg_mean_squared_error", metrics.mean_squared_error),
        ("neg_median_absolute_error", metrics.median_absolute_error),
        ("explained_variance", metrics.explained_variance_score),
        ("neg_max_error", metrics.max_error),
    ],
)
def test_regression(scoring, reference):
    rng = np.random.default_rng(2)
    y = rng.normal(size=50)
    predicted = y + rng.normal(size=50)
    result = compare(y, {"m": predicted}, scoring)
    assert estimates(result) == pytest.approx([reference(y, predicted)], rel=1e-12)
    whole = compare(np.round(10 * y).astype(int), {"m": 10 * predicted}, scoring)
    assert estimates(whole) == pytest.approx(
        [reference(np.round(10 * y), 10 * predicted)], rel=1e-12
    )


# --- The positive class -------------------------------------------------------------------------

WORDS = np.array(["ill", "well"])


@pytest.mark.parametrize("scoring", ["f1", "precision", "recall"])
@pytest.mark.parametrize("pos_label", ["ill", "well"])
def test_pos_label_of_label_metrics(scoring, pos_label):
    y, predicted = WORDS[Y], WORDS[LABELS["a"]]
    result = compare(y, {"m": predicted}, scoring, pos_label=pos_label)
    function = getattr(metrics, f"{scoring}_score")
    assert estimates(result) == [function(y, predicted, pos_label=pos_label)]
    assert result.paths[scoring] == "sums"
    own = make_scorer(function, pos_label=pos_label)
    np.testing.assert_array_equal(compare(y, {"m": predicted}, own).replicates, result.replicates)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_brier_score"])
@pytest.mark.parametrize("pos_label", ["ill", "well"])
def test_pos_label_of_score_metrics(scoring, pos_label):
    scores = PROBABILITIES["a"]  # of the class called positive
    result = compare(WORDS[Y], {"m": scores}, scoring, pos_label=pos_label)
    numbers = compare((WORDS[Y] == pos_label).astype(int), {"m": scores}, scoring)
    np.testing.assert_array_equal(result.replicates, numbers.replicates)


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", "neg_log_loss"])
def test_other_labels_need_a_pos_label(scoring):
    answers = {"m": WORDS[LABELS["a"]] if scoring == "f1" else PROBABILITIES["a"]}
    name = scoring.removeprefix("neg_")
    refused(
        ValueError,
        f"`pos_label` must be given for {name}: the labels are 'ill', 'well', and nothing says "
        "which of them is the positive class.",
        WORDS[Y],
        answers,
        scoring,
    )


def test_labels_of_plus_and_minus_one_are_known():
    for scoring in ("roc_auc", "average_precision", "neg_log_loss"):
        signed = compare(2 * Y - 1, {"m": PROBABILITIES["a"]}, scoring)
        plain = compare(Y, {"m": PROBABILITIES["a"]}, scoring)
        np.testing.assert_array_equal(signed.replicates, plain.replicates)
    booleans = compare(Y.astype(bool), {"m": PROBABILITIES["a"]}, "roc_auc")
    np.testing.assert_array_equal(
        booleans.replicates, compare(Y, {"m": PROBABILITIES["a"]}, "roc_auc").replicates
    )


def test_pos_label_must_be_a_label():
    refused(
        ValueError,
        "`pos_label` must be one of the labels 'ill', 'well', got 'sick'.",
        WORDS[Y],
        {"m": PROBABILITIES["a"]},
        "roc_auc",
        pos_label="sick",
    )


def test_pos_label_must_be_a_label_of_label_metrics_too():
    message = "`pos_label` must be one of the labels 'ill', 'well', got 'sick'."
    with pytest.raises(ValueError, match=re.escape(message)):
        compare(WORDS[Y], {"m": WORDS[LABELS["a"]]}, "f1", pos_label="sick")


def test_recorded_classes_need_no_pos_label():
    records = {
        name: RecordedEstimator.from_arrays(
            predict=WORDS[LABELS[name]],
            predict_proba=PROBABILITIES[name],
            classes=["ill", "well"],
        )
        for name in "ab"
    }
    scoring = ["accuracy", "f1", "roc_auc", "neg_log_loss"]
    result = compare(WORDS[Y], records, scoring)
    numbers = {
        name: RecordedEstimator.from_arrays(
            predict=LABELS[name], predict_proba=PROBABILITIES[name], classes=[0, 1]
        )
        for name in "ab"
    }
    np.testing.assert_array_equal(result.replicates, compare(Y, numbers, scoring).replicates)


def test_classes_in_any_order():
    forth = RecordedEstimator.from_arrays(
        predict_proba=np.column_stack([1 - PROBABILITIES["a"], PROBABILITIES["a"]]),
        classes=["ill", "well"],
    )
    back = RecordedEstimator.from_arrays(
        predict_proba=np.column_stack([PROBABILITIES["a"], 1 - PROBABILITIES["a"]]),
        classes=["well", "ill"],
    )
    for scoring in ("roc_auc", "neg_log_loss", "average_precision"):
        options = {"pos_label": "ill"} if scoring == "average_precision" else {}
        one, two = (compare(WORDS[Y], {"m": m}, scoring, **options) for m in (forth, back))
        np.testing.assert_allclose(one.replicates, two.replicates, rtol=1e-12)


# --- Rows ---------------------------------------------------------------------------------------


def test_ids_align_answers_to_truths():
    keys = np.array([f"q{k}" for k in range(40)])
    order = np.random.default_rng(3).permutation(40)
    result = compare(
        Y,
        {"a": LABELS["a"], "b": LABELS["b"][order]},
        ids={"y_true": keys, "a": keys, "b": keys[order]},
    )
    np.testing.assert_array_equal(result.replicates, compare().replicates)
    # Groups and weights belong to the rows of the truths, which keep their order.
    extra = {"groups": np.arange(40) // 5, "sample_weight": np.arange(40) % 3}
    shuffled = {name: answer[order] for name, answer in LABELS.items()}
    result = compare(Y, shuffled, ids={"y_true": keys, "a": keys[order], "b": keys[order]}, **extra)
    np.testing.assert_array_equal(result.replicates, compare(**extra).replicates)


def test_bad_ids():
    keys = [f"q{k}" for k in range(40)]
    refused(
        ValueError,
        "`ids` must name 'y_true' and every model, 'a', 'b', 'y_true', got 'a', 'b'.",
        ids={"a": keys, "b": keys},
    )
    with pytest.raises(ValueError, match="a: missing ids 'q39'; a: ids that y_true lacks 'q40'"):
        compare(ids={"y_true": keys, "a": [*keys[:-1], "q40"], "b": keys})
    with pytest.raises(ValueError, match="b: duplicate ids 'q0'; b: missing ids 'q1'"):
        compare(ids={"y_true": keys, "a": keys, "b": ["q0", "q0", *keys[2:]]})
    refused(ValueError, "`ids` must have one entry per row, 40, got 39.", ids=keys[:-1])
    record = RecordedEstimator.from_arrays(predict=LABELS["a"])
    refused(
        ValueError,
        "`ids` can align plain arrays only, but model 'a' is a RecordedEstimator. Order its arrays "
        "before they are recorded.",
        predictions={"a": record},
        ids={"y_true": keys, "a": keys},
    )


def test_repeated_ids_are_noted():
    result = compare(ids=np.arange(40) // 2)
    assert any("40 rows but 20 distinct ids" in note for note in result.notes)


def test_clusters_strata_and_weights():
    groups, weight = np.arange(40) // 4, np.arange(40) % 5 + 1.0
    result = compare(groups=groups, sample_weight=weight)
    assert (result.unit, result.n_units, result.unit_sizes) == ("clusters", 10, (4, 4, 4))
    expected = [metrics.accuracy_score(Y, LABELS[k], sample_weight=weight) for k in "ab"]
    assert estimates(result) == pytest.approx(expected, rel=1e-12)
    by_class = compare(resampling=StratifiedBootstrap())
    assert by_class.stratified
    recalls = compare(scoring="recall", resampling=StratifiedBootstrap())
    twenty = recalls.replicates * 20  # twenty positives in every resample
    np.testing.assert_allclose(twenty, np.round(twenty), atol=1e-9)


def test_containers():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    expected = compare().replicates
    for library in (pandas, polars):
        found = compare(library.Series(Y), {k: library.Series(v) for k, v in LABELS.items()})
        np.testing.assert_array_equal(found.replicates, expected)
    categories = pandas.Series(WORDS[Y], dtype="category")
    strings = pandas.Series(WORDS[LABELS["a"]], dtype="string")
    found = compare(categories, {"a": strings, "b": WORDS[LABELS["b"]]})
    np.testing.assert_array_equal(found.replicates, expected)
    refused(
        ValueError,
        "`y_true` and `groups` have different pandas indexes, but rows are paired by position. "
        "Align them first, by `ids=` where that is taken, or drop the indexes with `.to_numpy()`.",
        pandas.Series(Y),
        groups=pandas.Series(np.arange(40), index=np.arange(40)[::-1]),
    )


def test_lists_low_precision_and_memory_maps(tmp_path):
    expected = compare(predictions=PROBABILITIES, scoring="roc_auc").replicates
    as_lists = {name: scores.tolist() for name, scores in PROBABILITIES.items()}
    np.testing.assert_array_equal(compare(Y.tolist(), as_lists, "roc_auc").replicates, expected)
    mapped = {}
    for name, scores in PROBABILITIES.items():
        np.save(tmp_path / f"{name}.npy", scores)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    np.testing.assert_array_equal(compare(Y, mapped, "roc_auc").replicates, expected)
    for dtype in (np.float16, np.float32):
        low = {name: scores.astype(dtype) for name, scores in PROBABILITIES.items()}
        exact = {name: scores.astype(float) for name, scores in low.items()}
        for scoring in ("roc_auc", "neg_log_loss", "neg_brier_score"):
            np.testing.assert_array_equal(
                compare(Y, low, scoring).replicates, compare(Y, exact, scoring).replicates
            )


def test_probabilities_a_few_ulp_outside_are_clipped():
    scores = PROBABILITIES["a"].copy()
    scores[:2] = -2e-16, 1 + 4e-16
    result = compare(Y, {"m": scores}, "neg_brier_score")
    clipped = compare(Y, {"m": np.clip(scores, 0, 1)}, "neg_brier_score")
    np.testing.assert_array_equal(result.replicates, clipped.replicates)
    scores[0] = -1e-3
    with pytest.raises(ValueError, match="must lie between 0 and 1, got values from -0.001"):
        compare(Y, {"m": scores}, "neg_brier_score")


# --- Bad values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [[0, 1], np.zeros((40, 2)), None, "a"])
def test_predictions_must_be_named(value):
    refused(
        TypeError,
        f"`predictions` must be a mapping from model names to answers, got {type(value).__name__}.",
        predictions=value,
    )


def test_lengths_must_agree():
    refused(
        ValueError,
        "The answers of model 'b' must have one entry per row, 40, got 39.",
        predictions={"a": LABELS["a"], "b": LABELS["b"][:-1]},
    )
    refused(
        ValueError,
        "The answers of model 'a' must have one entry per row, 40, got 3.",
        predictions={"a": RecordedEstimator.from_arrays(predict=[0, 1, 1])},
    )
    refused(ValueError, "`groups` must have one entry per row, 40, got 2.", groups=[0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1], "`y_true` must have at least 2 rows, got 1."),
        ([], "`y_true` must have at least 2 rows, got 0."),
        (
            np.zeros((40, 2)),
            "`predictions` must have the shape of `y_true`, (40, 2), for accuracy, got (40,) for "
            "model 'a'. Give one answer a column, or compare one column at a time.",
        ),
        (
            [0, None] * 20,
            "`y_true` must be finite and present in every row, got 20 missing or infinite, in "
            "row(s) 1, 3, 5, 7, 9, ... (20 in all).",
        ),
        (
            [0, np.nan, *[1] * 38],
            "`y_true` must be finite and present in every row, got 1 missing or infinite, in "
            "row(s) 1.",
        ),
    ],
)
def test_bad_truths(y, message):
    refused(ValueError, message, y)


@pytest.mark.parametrize(
    ("scoring", "error", "message"),
    [
        (
            "acuracy",
            ValueError,
            "`scoring` must be a scorer name that scikit-learn knows, got 'acuracy'. See "
            "sklearn.metrics.get_scorer_names().",
        ),
        (
            None,
            ValueError,
            "`scoring` must name a metric where there are no estimators, got None. Pass for "
            "example scoring='accuracy'.",
        ),
        ([], ValueError, "`scoring` must hold at least one metric, got an empty collection."),
        ({}, ValueError, "`scoring` must hold at least one metric, got an empty collection."),
        (
            ["accuracy", "accuracy"],
            ValueError,
            "`scoring` must give every metric its own name, got 'accuracy' twice. Pass a dict to "
            "name them.",
        ),
        (
            3,
            TypeError,
            "`scoring` must be a scorer name, a scorer, a list or a dict of these, or None, got 3.",
        ),
        ([3], TypeError, "`scoring` must hold scorer names or callables, got 3."),
        ({3: "accuracy"}, TypeError, "Names in `scoring` must be non-empty strings, got 3."),
        (
            metrics.accuracy_score,
            ValueError,
            "`scoring` must hold scorers `scorer(estimator, X, y)`, got the metric function "
            "accuracy_score, which says nothing of its direction. Pass make_scorer(accuracy_score, "
            "greater_is_better=...) instead.",
        ),
    ],
)
def test_bad_scoring(scoring, error, message):
    refused(error, message, scoring=scoring)


def test_weights_need_a_scorer_that_takes_them():
    refused(
        ValueError,
        "`sample_weight` must be None for own, whose scorer does not take weights.",
        scoring={"own": lambda model, X, y: 1.0},
        sample_weight=np.ones(40),
    )

    def weighted(model, X, y, sample_weight=None):
        return float(np.average(model.predict(X) == y, weights=sample_weight))

    weight = np.arange(40) % 3 + 1.0
    result = compare(scoring={"own": weighted, "accuracy": "accuracy"}, sample_weight=weight)
    np.testing.assert_allclose(result.replicates[:, 0], result.replicates[:, 1], rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_labels_are_named_before_the_metric_is(bad):
    refused(
        ValueError,
        "The answers of model 'a' must be finite and present in every row, got 1 missing or "
        "infinite, in row(s) 1. Rows cannot be dropped for one model alone: repair them, or drop "
        "them for all models.",
        [1, 0, 1, 0],
        {"a": [1.0, bad, 1.0, 0.0]},
    )


def test_truths_of_mixed_kinds_are_refused():
    refused(
        TypeError,
        "`y_true` must hold labels of one kind, all of them strings or none, got 1, '0'.",
        [1, "0", 1, "0"],
        {"a": [1, "0", 1, 1]},
    )


@pytest.mark.parametrize("size", [1e-60, 1e60, 1e200])
def test_weights_of_extreme_size_are_refused(size):
    refused(
        ValueError,
        f"The largest `sample_weight` must be between 1e-50 and 1e+50, got {size:.3g}. Rescale "
        "them all: only their ratios matter.",
        sample_weight=np.full(40, size),
    )


@pytest.mark.parametrize("size", [1e-50, 1e50])
@pytest.mark.parametrize("scoring", ["matthews_corrcoef", "f1", "balanced_accuracy"])
def test_size_of_weights_does_not_matter(size, scoring):
    found = compare(scoring=scoring, sample_weight=np.full(40, size))
    np.testing.assert_allclose(found.replicates, compare(scoring=scoring).replicates, atol=1e-12)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error"])
def test_errors_beyond_float64_are_refused(scoring):
    y = np.array([1e200, 2e200, 3e200])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scikit-learn's own, of overflow
        with pytest.raises(ValueError, match="must be defined on the observed data, got no value"):
            compare(y, {"a": y[::-1]}, scoring)


def test_scorers_that_fail_say_why():
    def broken(model, X, y):
        raise RuntimeError("out of\nluck")

    with pytest.raises(
        ValueError, match="cannot be scored with 'broken': RuntimeError: out of luck"
    ):
        compare(scoring=broken)


def test_scorers_that_fail_in_some_resamples_are_counted():
    def picky(model, X, y):
        if len(np.unique(y)) < 2 or y.mean() > 0.55:
            raise ValueError("too many positives")
        return float(y.mean())

    with pytest.warns(UserWarning, match=r"picky: ValueError: too many positives \(met \d+ times"):
        result = compare(scoring=picky)
    n_undefined = result.scores[0].n_undefined
    assert 0 < n_undefined < 60
    assert np.isnan(result.replicates[:, 0, 0]).sum() == n_undefined
    assert any("More than 5 %" in note for note in result.notes)


def test_undefined_in_every_resample_is_refused():
    def original_rows_only(model, X, y):
        return 1.0 if len(np.unique(X)) == len(X) else np.nan

    refused(
        ValueError,
        "original_rows_only is undefined in every resample for model(s) 'a', 'b', so there is no "
        "interval. More rows, or rows of the rare class, are needed.",
        scoring=original_rows_only,
    )


def test_models_without_the_response_are_named():
    record = RecordedEstimator.from_arrays(predict=LABELS["a"])
    with pytest.raises(AttributeError, match="roc_auc needs decision_function or predict_proba, "):
        compare(predictions={"a": record}, scoring="roc_auc")


def test_a_class_that_the_truths_lack_is_no_reason_to_fail():
    # Probabilities of three classes whose third has no row here.
    rng = np.random.default_rng(4)
    probabilities = rng.dirichlet([1, 1, 1], 40)
    record = RecordedEstimator.from_arrays(predict_proba=probabilities, classes=[0, 1, 2])
    result = compare(Y, {"m": record}, "neg_log_loss")
    expected = metrics.log_loss(Y, probabilities, labels=[0, 1, 2])
    assert estimates(result) == pytest.approx([expected], rel=1e-12)


def test_labels_that_the_truths_lack_are_wrong_answers():
    predicted = LABELS["a"].copy()
    predicted[:4] = 7
    result = compare(Y, {"m": predicted}, ["accuracy", "f1_macro"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        macro = metrics.f1_score(Y, predicted, average="macro")
    assert estimates(result) == pytest.approx([metrics.accuracy_score(Y, predicted), macro])


def test_what_is_held_fixed_is_said():
    assert compare().held_fixed == "the trained models"


def test_one_column_of_probabilities_is_refused_for_three_classes():
    with pytest.raises(ValueError, match=r"one column for each of the 3 classes .* shape \(4,\)"):
        compare_predictions([0, 1, 2, 0], {"a": [0.1, 0.2, 0.3, 0.4]}, scoring="neg_log_loss")
