"""Comparisons on truths of several columns: labels of multilabel targets, several outputs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

from sklearn_pairboot import (
    ClusterBootstrapScorer,
    PairedBootstrapComparator,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
)
from sklearn_pairboot.comparison._run import kind_of
from sklearn_pairboot.resampling import StratifiedBootstrap

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2 * N, 4))
NOISY = X[:, :3] + RNG.normal(size=(2 * N, 3))
LABELS = (NOISY > 0).astype(int)
ONE_HOT = np.eye(3, dtype=int)[np.argmax(NOISY, axis=1)]
TRAIN, TEST = slice(N, None), slice(None, N)
OPTIONS = {"n_resamples": 60, "random_state": 0}
MODELS = {
    "forest": RandomForestClassifier(10, random_state=0),  # a list of probabilities
    "each": MultiOutputClassifier(
        LogisticRegression()
    ),  # the same, without a score of scikit-learn
    "rest": OneVsRestClassifier(LogisticRegression()),  # decision values and probabilities
    "chain": ClassifierChain(LogisticRegression()),  # predictions that are floats
    "network": MLPClassifier(
        (4,), solver="lbfgs", max_iter=9999, alpha=1, random_state=0
    ),  # numbers of labels as classes
}


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(X[TRAIN], LABELS[TRAIN]) for name, model in MODELS.items()}


def predict(y=LABELS[TEST], predictions=None, scoring="accuracy", **options):
    if predictions is None:
        predictions = {"a": LABELS[TEST], "b": 1 - LABELS[TEST]}
    return compare_predictions(y, predictions, scoring=scoring, **OPTIONS | options)


def refused(message, function, *args, error=ValueError, **kwargs):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        function(*args, **kwargs)


# --- Labels ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_estimators_of_every_form_of_answers(fitted):
    scoring = ["accuracy", "f1_macro", "f1_samples", "jaccard_micro", "roc_auc", "roc_auc_ovr"]
    scoring += ["average_precision", "neg_mean_squared_error", "r2"]
    result = compare_estimators(fitted, X[TEST], LABELS[TEST], scoring=scoring, **OPTIONS)
    for row in result.scores:
        name = row.metric if row.greater_is_better else f"neg_{row.metric}"
        expected = get_scorer(name)(fitted[row.model], X[TEST], LABELS[TEST])
        assert row.estimate == pytest.approx(expected if row.greater_is_better else -expected)
    of_clusters = compare_estimators(
        fitted, X[TEST], LABELS[TEST], scoring="f1_macro", groups=np.arange(N) // 3, **OPTIONS
    )
    assert of_clusters.n_units == N // 3


def test_answers_as_estimators_give_them(fitted):
    probabilities = fitted["forest"].predict_proba(X[TEST])
    columns = np.column_stack([part[:, 1] for part in probabilities])
    other = fitted["network"].predict_proba(X[TEST])
    metrics = ["roc_auc", "average_precision"]
    as_list = predict(predictions={"a": probabilities, "b": other}, scoring=metrics)
    as_columns = predict(predictions={"a": columns, "b": other}, scoring=metrics)
    np.testing.assert_array_equal(as_list.replicates, as_columns.replicates)
    recorded = {
        "a": RecordedEstimator.from_arrays(predict_proba=probabilities),
        "b": RecordedEstimator.from_arrays(predict_proba=other, classes=[[0, 1]] * 3),
    }
    as_records = predict(predictions=recorded, scoring=metrics)
    np.testing.assert_array_equal(as_list.replicates, as_records.replicates)
    margins = fitted["rest"].decision_function(X[TEST])
    by_margins = predict(predictions={"a": margins, "b": -margins}, scoring="roc_auc")
    expected = roc_auc_score(LABELS[TEST], margins)
    assert [row.estimate for row in by_margins.scores] == pytest.approx([expected, 1 - expected])


def test_replay_sees_what_scikit_learn_sees(fitted):
    def worst(model, X, y):
        scores = model.predict_proba(X)
        if isinstance(scores, list):
            scores = np.column_stack([part[:, -1] for part in scores])
        return min(roc_auc_score(y[:, k], scores[:, k]) for k in range(y.shape[1]))

    chosen = {name: fitted[name] for name in ("forest", "chain", "network")}
    result = compare_estimators(
        chosen, X[TEST], LABELS[TEST], scoring={"worst": worst, "own": "f1_micro"}, **OPTIONS
    )
    for row in result.scores:
        scorer = worst if row.metric == "worst" else get_scorer("f1_micro")
        assert row.estimate == pytest.approx(scorer(fitted[row.model], X[TEST], LABELS[TEST]))
    with pytest.warns(UserWarning, match="The y_pr(ob|ed) values do not sum to one"):
        replayed = compare_estimators(
            chosen, X[TEST], LABELS[TEST], scoring="neg_log_loss", n_resamples=39, random_state=0
        )
        expected = -get_scorer("neg_log_loss")(fitted["forest"], X[TEST], LABELS[TEST])
    assert replayed.scores[0].estimate == pytest.approx(expected)


def test_containers():
    expected = predict().replicates
    y = LABELS[TEST]
    for given in (y.tolist(), y.astype(bool), y.astype(float), csr_array(y)):
        np.testing.assert_array_equal(predict(given).replicates, expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(y, columns=["u", "v", "w"])
    mixed = frame.astype({"u": bool, "v": "Int64", "w": float})
    other = pandas.DataFrame(1 - y)
    for given in (frame, mixed):
        answers = {"a": given, "b": other}
        np.testing.assert_array_equal(predict(given, answers).replicates, expected)
    with pytest.raises(ValueError, match="`y_true` and predictions of 'b' have different pandas"):
        predict(frame, {"a": y, "b": other[::-1]})
    single = predict(frame[["u"]], {"a": y[:, [0]], "b": other[[0]]})
    np.testing.assert_array_equal(
        single.replicates, predict(y[:, 0], {"a": y[:, 0], "b": 1 - y[:, 0]}).replicates
    )


def test_polars_frames():
    polars = pytest.importorskip("polars")
    y = LABELS[TEST]
    frame = polars.DataFrame(y, schema=["u", "v", "w"])
    given = predict(frame, {"a": frame, "b": polars.DataFrame(1 - y)})
    np.testing.assert_array_equal(given.replicates, predict().replicates)


def test_ids_align_rows_of_several_columns():
    order = np.random.default_rng(1).permutation(N)
    ids = {"y_true": np.arange(N), "a": order, "b": np.arange(N)}
    answers = {"a": LABELS[TEST][order], "b": 1 - LABELS[TEST]}
    np.testing.assert_array_equal(
        predict(predictions=answers, ids=ids).replicates, predict().replicates
    )


def test_two_labels_are_not_taken_for_two_classes():
    # The classes of such a model are the numbers of the labels, 0 and 1: scikit-learn's scorer
    # takes it for a model of two classes, and drops the first column of its probabilities.
    y = LABELS[:, :2]
    model = clone(MODELS["rest"]).fit(X[TRAIN], y[TRAIN])
    result = compare_estimators({"m": model}, X[TEST], y[TEST], scoring="roc_auc_ovr", **OPTIONS)
    expected = roc_auc_score(y[TEST], model.predict_proba(X[TEST]))
    assert result.scores[0].estimate == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        get_scorer("roc_auc_ovr")(model, X[TEST], y[TEST])


@pytest.mark.parametrize(
    ("y", "kind", "of_scikit_learn"),
    [
        (LABELS, "multilabel", "multilabel-indicator"),
        (LABELS.astype(bool), "multilabel", "multilabel-indicator"),
        (LABELS.astype(float), "multilabel", "multilabel-indicator"),
        (np.zeros((4, 2)), "multilabel", "multilabel-indicator"),
        (NOISY, "multioutput", "continuous-multioutput"),
        (LABELS * 2 + LABELS[:, [0]], "multioutput", "multiclass-multioutput"),
        (np.where(LABELS, "yes", "no"), "multioutput", "multiclass-multioutput"),
        # Of two other values nothing says which means that a label is there.
        (LABELS + 1, "multioutput", "multilabel-indicator"),
    ],
)
def test_kinds_of_several_columns(y, kind, of_scikit_learn):
    assert kind_of(y) == kind
    assert type_of_target(y) == of_scikit_learn


# --- Refusals -------------------------------------------------------------------------------------


def test_metrics_that_cannot_take_columns(fitted):
    forest = {"forest": fitted["forest"]}
    refused(
        "Model 'forest' (RandomForestClassifier) cannot be scored with 'balanced_accuracy': "
        "ValueError: multilabel-indicator is not supported. The truths have shape (60, 3). Choose "
        "a metric and an average for several columns, or compare one at a time.",
        compare_estimators,
        forest,
        X[TEST],
        LABELS[TEST],
        scoring="balanced_accuracy",
        **OPTIONS,
    )
    with pytest.raises(
        ValueError, match=r"but average='binary'.* The truths have shape \(60, 3\)\."
    ):
        compare_estimators(forest, X[TEST], LABELS[TEST], scoring="f1", **OPTIONS)
    refused(
        "The scorer 'f1_score' must return one real number, got ndarray of shape (3,). Pass "
        "several metrics as several scorers.",
        compare_estimators,
        forest,
        X[TEST],
        LABELS[TEST],
        scoring=make_scorer(f1_score, average=None),
        error=TypeError,
        **OPTIONS,
    )
    words = np.where(LABELS[TEST] > 0, "yes", "no")
    with pytest.raises(ValueError, match=r"'accuracy': ValueError: multiclass-multioutput is not"):
        predict(words, {"a": words})


@pytest.mark.parametrize("scoring", ["accuracy", "matthews_corrcoef", "top_k_accuracy", "f1_macro"])
def test_one_hot_truths_of_a_multiclass_model(scoring):
    model = LogisticRegression().fit(X[TRAIN], ONE_HOT[TRAIN].argmax(axis=1))
    hint = (
        r"The truths have shape \(60, 3\)\. Every row of the truths holds a single 1: if they are "
        r"one-hot encoded classes, pass the classes themselves, such as y\.argmax\(axis=1\)\.$"
    )
    with pytest.raises(ValueError, match=f"cannot be scored with '{scoring}': .*{hint}"):
        compare_estimators({"m": model}, X[TEST], ONE_HOT[TEST], scoring=scoring, **OPTIONS)


def test_one_hot_truths_of_answers():
    refused(
        "`predictions` must have the shape of `y_true`, (60, 3), for accuracy, got (60,) for model "
        "'a'. Every row of the truths holds a single 1: if they are one-hot encoded classes, pass "
        "the classes themselves, such as y.argmax(axis=1).",
        predict,
        ONE_HOT[TEST],
        {"a": ONE_HOT[TEST].argmax(axis=1)},
    )
    model = LogisticRegression().fit(X[TRAIN], ONE_HOT[TRAIN].argmax(axis=1))
    answers = {"a": model.predict_proba(X[TEST])}
    as_labels = predict(ONE_HOT[TEST], answers, scoring=["neg_log_loss", "roc_auc_ovr"])
    as_classes = predict(
        ONE_HOT[TEST].argmax(axis=1), answers, scoring=["neg_log_loss", "roc_auc_ovr"]
    )
    np.testing.assert_allclose(as_labels.replicates, as_classes.replicates, rtol=1e-12)


def test_bad_arguments():
    refused(
        "`y_true` must have shape (n_rows,), or (n_rows, n_columns) for several labels or outputs, "
        "got (60, 3, 1).",
        predict,
        LABELS[TEST][:, :, None],
    )
    refused(
        "`predictions` must have the shape of `y_true`, (60, 3), for accuracy, got (60, 2) for "
        "model 'a'. Give one answer a column, or compare one column at a time.",
        predict,
        predictions={"a": LABELS[TEST][:, :2]},
    )
    refused(
        "`pos_label` must be None where `y_true` has several columns, got 1: of each label 1 is "
        "the positive class.",
        predict,
        pos_label=1,
    )
    refused(
        "`strata` must be given to `StratifiedBootstrap` where the truths have several columns, "
        "got truths of shape (60, 3). Pass one stratum label per row, such as one of the columns.",
        predict,
        resampling=StratifiedBootstrap(),
    )
    stratified = predict(resampling=StratifiedBootstrap(LABELS[TEST][:, 0]))
    assert stratified.n_units == N
    missing = LABELS[TEST].astype(float)
    missing[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"`y_true` must be finite.* got 1 .*row\(s\) 4\."):
        predict(missing)
    with pytest.raises(ValueError, match=r"answers of model 'a' must be finite.*row\(s\) 4"):
        predict(predictions={"a": missing}, scoring="neg_mean_squared_error")
    with pytest.raises(
        ValueError, match="must be labels for accuracy, got real values such as 0.5"
    ):
        predict(predictions={"a": LABELS[TEST] / 2})
    with pytest.raises(
        TypeError, match="labels of the same kind as `y_true` for accuracy, got 'x'"
    ):
        predict(predictions={"a": np.full((N, 3), "x")})


def test_constant_columns_are_named(fitted):
    y = LABELS[TEST].copy()
    y[:, 1] = 1
    refused(
        "roc_auc must be defined on the observed data, got no value for model(s) 'forest'. All "
        "truths are equal in column(s) 1 (counted from 0).",
        compare_estimators,
        {"forest": fitted["forest"]},
        X[TEST],
        y,
        scoring="roc_auc",
        **OPTIONS,
    )


def test_predicted_labels_are_suspected_as_scores(fitted):
    answers = {"labels": LABELS[TEST], "scores": fitted["network"].predict_proba(X[TEST])}
    with pytest.warns(UserWarning, match="roc_auc got only two distinct scores from labels. If"):
        predict(predictions=answers, scoring="roc_auc")


def test_classes_of_several_outputs():
    proba = [np.full((4, 2), 0.5)] * 2
    record = RecordedEstimator.from_arrays(predict_proba=proba, classes=[["a", "b"], [0, 1]])
    assert [classes.tolist() for classes in record.classes_] == [["a", "b"], [0, 1]]
    for classes, message in (
        ([[1, 0], [0, 1]], "`classes` of several outputs must be sorted, got [[1, 0], [0, 1]]."),
        (
            [[0, 1]] * 3,
            "`predict_proba` must have one column, or one array, for each of the 3 outputs that "
            "`classes` lists, got 2.",
        ),
    ):
        refused(message, RecordedEstimator.from_arrays, predict_proba=proba, classes=classes)
    with pytest.raises(ValueError, match="`predict_proba` must have 4 rows, got 3"):
        RecordedEstimator.from_arrays(predict_proba=[np.full((4, 2), 0.5), np.full((3, 2), 0.5)])


# --- Cross-validation -----------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["f1_macro", "roc_auc", "accuracy"])
def test_comparator_equals_cross_validate(scoring):
    models = [
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ("rest", MODELS["rest"]),
    ]
    cv = KFold(3)
    comparator = PairedBootstrapComparator(models, scoring=scoring, cv=cv, **OPTIONS)
    comparator.fit(X, LABELS)
    for row in comparator.result_.scores:
        expected = cross_validate(dict(models)[row.model], X, LABELS, scoring=scoring, cv=cv)
        assert row.estimate == pytest.approx(expected["test_score"].mean(), rel=1e-12)
    assert comparator.predict(X).shape == LABELS.shape
    assert comparator.score(X, LABELS) == get_scorer(scoring)(comparator.best_estimator_, X, LABELS)


def test_comparator_of_several_outputs():
    pandas = pytest.importorskip("pandas")
    models = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    y = pandas.DataFrame(NOISY[:, :2], columns=["u", "v"])
    comparator = PairedBootstrapComparator(models, **OPTIONS)
    comparator.fit(X, y, groups=np.arange(2 * N) // 2, sample_weight=np.ones(2 * N))
    assert comparator.result_.unit == "clusters"
    assert comparator.predict(X[:5]).shape == (5, 2)
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        PairedBootstrapComparator([("lr", LogisticRegression())], **OPTIONS).fit(X, LABELS)


def test_frozen_models_are_scored_on_all_rows(fitted):
    models = [(name, FrozenEstimator(fitted[name])) for name in ("forest", "rest")]
    comparator = PairedBootstrapComparator(models, scoring="roc_auc", **OPTIONS)
    comparator.fit(X[TEST], LABELS[TEST])
    given = {name: fitted[name] for name, _ in models}
    direct = compare_estimators(given, X[TEST], LABELS[TEST], scoring="roc_auc", **OPTIONS)
    np.testing.assert_array_equal(comparator.result_.replicates, direct.replicates)
    assert [len(classes) for classes in FrozenEstimator(fitted["forest"]).classes_] == [2, 2, 2]


def test_comparator_notes_folds_with_a_constant_column():
    y = LABELS[:90].copy()
    y[:30, 1] = 0
    models = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    comparator = PairedBootstrapComparator(models, scoring="roc_auc", cv=KFold(3), **OPTIONS)
    with pytest.warns(UndefinedMetricWarning, match="truths are equal in some column in fold"):
        comparator.fit(X[:90], y)
    assert np.isnan(comparator.split_scores_["roc_auc"]).any(axis=1).tolist() == [
        True,
        False,
        False,
    ]


def test_tags_of_several_outputs_are_those_of_all_estimators():
    tree, linear = DecisionTreeClassifier(), LogisticRegression()

    def tags(*estimators):
        return get_tags(PairedBootstrapComparator(list(zip("ab", estimators, strict=False))))

    for estimators, takes in (((tree, tree), True), ((tree, linear), False)):
        assert tags(*estimators).target_tags.multi_output is takes
        assert tags(*estimators).classifier_tags.multi_label is takes
        assert tags(*estimators).target_tags.single_output
    assert not tags(MODELS["chain"]).target_tags.single_output


def test_scorer_of_several_columns():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    plain = cross_validate(tree, X, LABELS, scoring="roc_auc", cv=3)
    scorer = ClusterBootstrapScorer("roc_auc", returns="interval", n_resamples=60)
    bounded = cross_validate(tree, X, LABELS, scoring=scorer, cv=3)
    np.testing.assert_allclose(bounded["test_score"], plain["test_score"], rtol=1e-12)
    assert (bounded["test_ci_low"] < plain["test_score"]).all()
    y = LABELS.copy()
    y[:, 2] = 1
    with pytest.warns(UndefinedMetricWarning, match="roc_auc: it is undefined"):
        value = scorer(tree.fit(X, LABELS), X, y)
    assert np.isnan(list(value.values())).all()
    wrapped = ClusterBootstrapScorer("f1_macro", estimator=tree).fit(X, LABELS)
    assert wrapped.score(X, LABELS) == get_scorer("f1_macro")(tree, X, LABELS)
