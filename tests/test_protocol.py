"""The protocol: what may see which rows, thresholds by hand, and resamples drawn literally."""

import dataclasses
import re
import warnings
from functools import cache

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot import ComparisonResult, compare_predictions
from sklearn_pairboot._engine import bootstrap as engine
from sklearn_pairboot._engine import thresholds
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot.metrics import choose_threshold, misclassification_cost
from sklearn_pairboot.protocol import CalibrationRow, evaluate_protocol
from sklearn_pairboot.protocol._parts import Part
from sklearn_pairboot.protocol._resampled import joint_units

COST = make_scorer(misclassification_cost, greater_is_better=False, cost_fn=5, cost_fp=1)
FEW = {"n_resamples": 199, "random_state": 3}
MODELS = {"bayes": GaussianNB(), "logistic": LogisticRegression()}


@cache
def data(n=150):
    X, y = make_classification(
        3 * n, n_informative=3, n_redundant=5, weights=[0.7], flip_y=0.1, random_state=1
    )
    return X[:n], y[:n], X[n : 2 * n], y[n : 2 * n], X[2 * n :], y[2 * n :]


def split_groups(n_rows=150, size=5):
    return [np.arange(n_rows) // size + 1000 * part for part in range(3)]


@cache
def fitted():
    X, y, *_ = data()
    return {name: clone(model).fit(X, y) for name, model in MODELS.items()}


RULES = [
    {"cost_fn": 5, "cost_fp": 1},
    {"min_recall": 0.85},
    {"min_precision": 0.75},
]


# What a careful person would do by hand


@pytest.mark.parametrize("rule", [*RULES, {"threshold": 0.3}])
def test_req_E27_result_is_that_of_the_steps_by_hand(rule):
    X, y, X_val, y_val, X_test, y_test = data()
    found = evaluate_protocol(MODELS, *data(), scoring=["f1", "roc_auc"], **rule, **FEW)
    records = {}
    for name, model in fitted().items():
        threshold = rule.get("threshold")
        if threshold is None:
            threshold = choose_threshold(y_val, model.predict_proba(X_val)[:, 1], **rule)
        assert found.thresholds[name] == threshold
        p = model.predict_proba(X_test)[:, 1]
        labels = (p >= threshold).astype(int)
        np.testing.assert_array_equal(found.models[name].predict(X_test), labels)
        records[name] = RecordedEstimator.from_arrays(
            predict=labels, predict_proba=p, classes=[0, 1]
        )
    expected = compare_predictions(y_test, records, scoring=["f1", "roc_auc"], **FEW)
    assert str(found.result.scores) == str(expected.scores)
    assert str(found.result.differences) == str(expected.differences)
    with pytest.raises(NotFittedError):
        check_is_fitted(MODELS["logistic"])  # copies were fitted


def test_thresholds_meet_their_floors_on_validation_rows():
    recall = evaluate_protocol(MODELS, *data(), scoring="f1", min_recall=0.85, **FEW)
    assert all(row.recall >= 0.85 for row in recall.validation)
    precision = evaluate_protocol(MODELS, *data(), scoring="f1", min_precision=0.75, **FEW)
    assert all(row.precision >= 0.75 for row in precision.validation)


@pytest.mark.parametrize("calibration", [None, "platt", "isotonic", "beta"])
def test_req_E27_nothing_is_learned_from_the_test_rows(calibration):
    X, y, X_val, y_val, X_test, y_test = data()
    options = {"scoring": "f1", "calibration": calibration, "cost_fn": 5, "cost_fp": 1, **FEW}
    one = evaluate_protocol(MODELS, X, y, X_val, y_val, X_test, y_test, **options)
    other = evaluate_protocol(
        MODELS, X, y, X_val, y_val, X_test[:80] + 3, 1 - y_test[:80], **options
    )
    assert one.thresholds == other.thresholds
    assert one.validation == other.validation
    for name, model in one.models.items():
        np.testing.assert_array_equal(
            model.predict_proba(X_test), other.models[name].predict_proba(X_test)
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("calibration", ["platt", "temperature"])
def test_strictly_monotone_calibration_changes_no_label(rule, calibration):
    # So that calibration and threshold may share the validation rows.
    plain = evaluate_protocol(MODELS, *data(), scoring="f1", **rule, **FEW)
    calibrated = evaluate_protocol(
        MODELS, *data(), scoring="f1", calibration=calibration, **rule, **FEW
    )
    assert plain.result.scores == calibrated.result.scores
    assert plain.thresholds != calibrated.thresholds


@pytest.mark.parametrize("rule", RULES)
def test_req_E27_peek_is_the_rule_on_the_test_rows(rule):
    *_, X_test, y_test = data()
    found = evaluate_protocol(MODELS, *data(), scoring="f1", **rule, **FEW)
    for row, own in zip(found.peek, found.test, strict=True):
        p = fitted()[row.model].predict_proba(X_test)[:, 1]
        assert row.threshold == choose_threshold(y_test, p, **rule)
        labels = (p >= row.threshold).astype(int)
        assert row.recall == pytest.approx(recall_score(y_test, labels))
        assert row.precision == pytest.approx(precision_score(y_test, labels))
        if "cost_fn" in rule:
            assert row.cost == pytest.approx(misclassification_cost(y_test, labels, **rule))
            assert row.cost <= own.cost  # no threshold does better
    assert "An upper bound" in found.summary()
    assert "no estimate" in " ".join(found.summary().split())


def test_peek_that_finds_nothing_is_empty():
    X, y, X_val, y_val, X_test, y_test = data()
    found = evaluate_protocol(
        fitted(),
        None,
        None,
        X_val,
        y_val,
        X_test,
        (np.arange(150) % 50 == 0).astype(int),  # three positives, anywhere in the ranking
        scoring="accuracy",
        min_precision=0.75,
        **FEW,
    )
    assert all(np.isnan(row.threshold) or row.precision >= 0.75 for row in found.peek)
    assert any(np.isnan(row.threshold) for row in found.peek)
    assert "nobody has checked" in " ".join(found.summary().split())


# Thresholds chosen in every resample, against a plain loop over the rows drawn


SEVERAL = {
    "cost": (COST, lambda y, labels, q: misclassification_cost(y, labels, cost_fn=5, cost_fp=1)),
    "f1": ("f1", lambda y, labels, q: f1_score(y, labels)),
    "macro": ("f1_macro", lambda y, labels, q: f1_score(y, labels, average="macro")),
    "mcc": ("matthews_corrcoef", lambda y, labels, q: matthews_corrcoef(y, labels)),
    "roc_auc": ("roc_auc", lambda y, labels, q: roc_auc_score(y, q)),
}


def literal(rule, groups, n_resamples=8):
    """Choose on the validation rows drawn, and score the test rows drawn, with scikit-learn."""
    X, y, X_val, y_val, X_test, y_test = data()
    parts = [
        Part.of(name, *of_part, of_groups)
        for name, of_part, of_groups in zip(
            ("val", "test"), ((X_val, y_val), (X_test, y_test)), groups, strict=True
        )
    ]
    units = joint_units(*parts)
    counts = units.scheme.draw(np.random.SeedSequence(entropy_of(3), spawn_key=(0,)))
    values = np.full((n_resamples, len(SEVERAL), len(MODELS)), np.nan)
    for b, drawn in enumerate(counts[:n_resamples]):
        of_rows = drawn if units.of_row is None else drawn[units.of_row]
        val = np.repeat(np.arange(len(y_val)), of_rows[: len(y_val)])
        test = np.repeat(np.arange(len(y_test)), of_rows[len(y_val) :])
        for k, model in enumerate(fitted().values()):
            p, q = (model.predict_proba(rows)[:, 1] for rows in (X_val[val], X_test[test]))
            try:
                threshold = choose_threshold(y_val[val], p, **rule)
            except ValueError:
                threshold = None
            for m, (_, metric) in enumerate(SEVERAL.values()):
                if threshold is not None or m == len(SEVERAL) - 1:  # areas need no threshold
                    labels = None if threshold is None else (q >= threshold).astype(int)
                    values[b, m, k] = metric(y_test[test], labels, q)
    return values


@pytest.mark.parametrize("rule", [*RULES, {"min_precision": 0.87}])
@pytest.mark.parametrize("clustered", [False, True])
def test_thresholds_chosen_in_resamples_are_those_of_the_rows_drawn(rule, clustered):
    names = ["groups_train", "groups_val", "groups_test"]
    groups = split_groups() if clustered else [None] * 3
    found = evaluate_protocol(
        MODELS,
        *data(),
        scoring={name: scorer for name, (scorer, _) in SEVERAL.items()},
        choose_threshold_in_resamples=True,
        **dict(zip(names, groups, strict=True)),
        **rule,
        **FEW,
    )
    replicates = found.result.replicates
    expected = literal(rule, groups[1:])
    np.testing.assert_allclose(replicates[: len(expected)], expected, rtol=1e-12, atol=1e-12)
    assert found.result.n_units == (60 if clustered else 300)
    # A floor of precision may be out of reach in a resample, which is then undefined and counted.
    lost = {row.n_undefined for row in found.result.scores if row.metric != "roc_auc"}
    assert (max(lost) > 0) == ("min_precision" in rule)
    assert max(lost) == np.isnan(replicates[:, 0]).sum(axis=0).max()
    # Estimates are those of the thresholds chosen on all validation rows.
    plain = evaluate_protocol(
        MODELS, *data(), scoring={"f1": "f1"}, choose_threshold_in_resamples=False, **rule, **FEW
    )
    at_all = [row.estimate for row in found.result.scores if row.metric == "f1"]
    assert at_all == pytest.approx([row.estimate for row in plain.result.scores], rel=1e-12)


def test_every_metric_has_the_same_estimate_with_and_without_the_choice_in_resamples():
    scoring = ["accuracy", "balanced_accuracy", "f1_micro", "f1_weighted", "jaccard", "precision"]
    scoring += ["recall_macro", "positive_likelihood_ratio", "neg_negative_likelihood_ratio"]
    scoring += ["adjusted_rand_score", "neg_brier_score", "neg_log_loss", "average_precision"]
    of = {name: name for name in scoring} | {"kappa": make_scorer(cohen_kappa_score)}
    fixed, chosen = (
        evaluate_protocol(
            MODELS,
            *data(),
            scoring=of,
            min_recall=0.85,
            choose_threshold_in_resamples=in_resamples,
            **FEW,
        ).result.scores
        for in_resamples in (False, True)
    )
    for row, other in zip(fixed, chosen, strict=True):
        assert row.estimate == pytest.approx(other.estimate, rel=1e-12), row.metric


def test_choice_in_resamples_widens_intervals_of_labels_and_not_of_areas():
    def errors(chosen):
        found = evaluate_protocol(
            MODELS,
            *data(),
            scoring=["f1", "roc_auc"],
            min_recall=0.85,
            choose_threshold_in_resamples=chosen,
            n_resamples=1999,
            random_state=0,
        )
        return {(row.metric, row.model): row.std_error for row in found.result.scores}

    fixed, chosen = errors(False), errors(True)
    for model in MODELS:
        assert chosen["f1", model] > 1.05 * fixed["f1", model]
        assert chosen["roc_auc", model] == pytest.approx(fixed["roc_auc", model], rel=0.1)


def test_result_of_chosen_thresholds_says_what_varies_and_is_stored():
    found = evaluate_protocol(
        MODELS, *data(), choose_threshold_in_resamples=True, min_recall=0.85, **FEW
    )
    text = " ".join(found.summary().split())
    assert "300 validation and test rows" in text
    assert "which validation rows, and the thresholds that these choose" in text
    assert "150 validation rows and 150 test rows, each part drawn by itself" in text
    again = ComparisonResult.from_json(found.result.to_json(replicates=True))
    assert again.scores == found.result.scores
    basic, expected = again.replace(method="basic"), found.result.replace(method="basic")
    assert str(basic.differences) == str(expected.differences)
    assert "which validation rows" in " ".join(again.to_markdown().split())
    with pytest.raises(ValueError, match=r"`method` must do without leaving out one unit"):
        found.result.replace(method="bca")


def test_many_rows_are_gone_through_in_pieces(monkeypatch):
    names = ["groups_train", "groups_val", "groups_test"]
    groups = dict(zip(names, split_groups(), strict=True))
    options = {"scoring": "f1", "min_recall": 0.85, "choose_threshold_in_resamples": True}
    whole = evaluate_protocol(MODELS, *data(), **groups, **options, **FEW).result
    monkeypatch.setattr(thresholds, "_WEIGHTS_AT_ONCE", 1000)
    pieces = evaluate_protocol(MODELS, *data(), **groups, **options, **FEW).result
    np.testing.assert_array_equal(pieces.replicates, whole.replicates)


def test_jobs_and_longer_runs_change_nothing(monkeypatch):
    monkeypatch.setattr(engine, "_PARALLEL_WEIGHTS", 0)
    options = {"scoring": ["f1", "roc_auc"], "min_recall": 0.85, "random_state": 0}
    options["choose_threshold_in_resamples"] = True
    one = evaluate_protocol(MODELS, *data(), n_resamples=1400, **options).result
    with joblib.parallel_config(backend="threading"):
        two = evaluate_protocol(MODELS, *data(), n_resamples=1400, n_jobs=2, **options).result
    np.testing.assert_array_equal(two.replicates, one.replicates)
    assert two.scores == one.scores
    longer = evaluate_protocol(MODELS, *data(), n_resamples="auto", **options).result
    np.testing.assert_array_equal(longer.replicates[:1400], one.replicates)


@pytest.mark.parametrize("chosen", [False, True])
def test_models_may_swap_places_and_a_model_equals_itself(chosen):
    options = {
        "scoring": ["f1", "accuracy"],
        "choose_threshold_in_resamples": chosen,
        "cost_fn": 5,
        "cost_fp": 1,
        **FEW,
    }
    one = evaluate_protocol(MODELS, *data(), **options)
    mirrored = evaluate_protocol(dict(reversed(MODELS.items())), *data(), **options)
    for row, other in zip(one.result.differences, mirrored.result.differences, strict=True):
        assert (row.difference, row.ci_low, row.ci_high) == pytest.approx(
            (-other.difference, -other.ci_high, -other.ci_low), abs=1e-12
        )
        assert row.p_value == pytest.approx(other.p_value, rel=1e-12)
    same = {"a": GaussianNB(), "b": GaussianNB()}
    for row in evaluate_protocol(same, *data(), **options).result.differences:
        assert (row.difference, row.ci_low, row.ci_high, row.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize("chosen", [False, True])
def test_clusters_of_one_row_are_rows_and_their_order_is_nothing(chosen):
    options = {"scoring": "f1", "min_recall": 0.85, "choose_threshold_in_resamples": chosen, **FEW}
    names = ["groups_train", "groups_val", "groups_test"]
    rows = evaluate_protocol(MODELS, *data(), **options)
    single = dict(zip(names, split_groups(size=1), strict=True))
    clusters = evaluate_protocol(MODELS, *data(), **single, **options)
    np.testing.assert_array_equal(clusters.result.replicates, rows.result.replicates)
    # Rows of clusters in another order; labels of clusters number the same clusters.
    order = np.random.default_rng(0).permutation(150)
    groups = dict(zip(names, split_groups(), strict=True))
    one = evaluate_protocol(MODELS, *data(), **groups, **options)
    mixed = evaluate_protocol(
        fitted(),
        *(part[order] for part in data()),
        **{name: labels[order] for name, labels in groups.items()},
        **options,
    )
    np.testing.assert_allclose(mixed.result.replicates, one.result.replicates, rtol=1e-12)


# Models and labels of several kinds


def test_kinds_of_models_and_string_labels():
    X, y, X_val, y_val, X_test, y_test = data()
    names = np.array(["good", "bad"])  # positive is the first in sorted order
    words = X, names[y], X_val, names[y_val], X_test, names[y_test]
    models = {
        "kept": GaussianNB().fit(X + 1, names[y]),
        "frozen": FrozenEstimator(LogisticRegression(C=0.01).fit(X, names[y])),
        "margin": LinearSVC(),
    }
    options = {"scoring": ["f1", "roc_auc"], "min_recall": 0.9, **FEW}
    found = evaluate_protocol(models, *words, pos_label="bad", **options)
    assert [row.model for row in found.calibration] == ["kept", "frozen"]
    assert all(row.recall >= 0.9 for row in found.validation)
    assert set(found.models["margin"].predict(X_test)) == {"good", "bad"}
    # The same with numbers.
    numbered = {
        "kept": GaussianNB().fit(X + 1, y),
        "frozen": FrozenEstimator(LogisticRegression(C=0.01).fit(X, y)),
        "margin": LinearSVC(),
    }
    same = evaluate_protocol(numbered, *data(), **options)
    estimates, expected = ([row.estimate for row in of.result.scores] for of in (found, same))
    assert estimates == pytest.approx(expected, rel=1e-9)
    chosen = evaluate_protocol(
        models, *words, pos_label="bad", choose_threshold_in_resamples=True, **options
    )
    assert [row.estimate for row in chosen.result.scores] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match=r"`pos_label` must be one of the labels 'bad', 'good'"):
        evaluate_protocol(models, *words, **options)


def test_req_E32_default_metrics_and_req_E07_baselines():
    found = evaluate_protocol(MODELS, *data(), cost_fn=5, cost_fp=1, **FEW)
    assert found.result.metrics == (
        "misclassification_cost",
        "accuracy",
        "roc_auc",
        "average_precision",
        "expected_calibration_error",
        "squared_calibration_error",
    )
    by_name = {(row.metric, row.model): row.estimate for row in found.result.scores}
    for row in found.test:
        assert by_name["misclassification_cost", row.model] == pytest.approx(row.cost)
        assert by_name["accuracy", row.model] == pytest.approx(row.accuracy)
    rate = data()[-1].mean()
    text = " ".join(found.summary().split())
    assert f"has accuracy {1 - rate:.4g} and recall 0" in text
    assert f"average precision {rate:.4g}" in text
    floors = evaluate_protocol({"m": LinearSVC()}, *data(), min_recall=0.9, **FEW)
    assert floors.result.metrics[:2] == ("precision", "recall")
    assert "expected_calibration_error" not in floors.result.metrics
    assert floors.calibration == ()


def test_req_E33_calibration_is_checked_and_not_assumed():
    rng = np.random.default_rng(0)
    logit = rng.normal(size=(3000, 1))
    y = (rng.random(3000) < 1 / (1 + np.exp(-logit[:, 0]))).astype(int)
    parts = [piece for k in range(3) for piece in (logit[k::3], y[k::3])]

    class Bold(LogisticRegression):
        """Log odds three times too large."""

        def predict_proba(self, X):
            second = 1 / (1 + np.exp(-3 * X[:, 0]))
            return np.column_stack([1 - second, second])

        def decision_function(self, X):
            return 3 * X[:, 0]

    models = {"bold": Bold(), "fair": LogisticRegression()}
    options = {"scoring": "accuracy", "cost_fn": 4, "cost_fp": 1, **FEW}
    found = evaluate_protocol(models, *parts, **options)
    bold, fair = found.calibration
    assert bold.slope == pytest.approx(1 / 3, abs=0.05)
    assert fair.slope == pytest.approx(1, abs=0.15)
    assert (bold.is_refuted(0.05), fair.is_refuted(0.05)) == (True, False)
    text = " ".join(found.summary().split())
    assert "call for a threshold of 0.2 if probabilities are calibrated" in text
    assert "contradict the calibration of bold:" in text
    mended = evaluate_protocol(models, *parts, calibration="platt", **options)
    assert not any(row.is_refuted(0.05) for row in mended.calibration)
    assert "do not contradict the calibration" in " ".join(mended.summary().split())
    # The choice by cost needs no calibration: the bold one's threshold is the same rule.
    assert mended.test[0].cost == found.test[0].cost


# Parts that share rows or groups


def overlapping(**changes):
    names = ["X_train", "y_train", "X_val", "y_val", "X_test", "y_test"]
    return {**dict(zip(names, data(), strict=True)), **changes}


@pytest.mark.parametrize("form", ["array", "sparse", "list", "frame"])
def test_shared_rows_are_named(form):
    X, y, X_val, y_val, X_test, y_test = data()
    X_bad, y_bad = X_test.copy(), y_test.copy()
    X_bad[[4, 9]], y_bad[[4, 9]] = X[[1, 2]], y[[1, 2]]
    X_bad[20], y_bad[20] = X_val[7], y_val[7]
    X_bad[30], y_bad[30] = X[3], 1 - y[3]  # another label: not the same item
    if form == "sparse":
        parts = csr_matrix(X), csr_matrix(X_val), csr_matrix(X_bad)
    elif form == "list":
        parts = X.tolist(), X_val.tolist(), X_bad.tolist()
    elif form == "frame":
        pd = pytest.importorskip("pandas")
        parts = tuple(pd.DataFrame(part) for part in (X, X_val, X_bad))
    else:
        parts = X, X_val, X_bad
    with pytest.raises(ValueError, match="must not share rows") as error:
        evaluate_protocol(MODELS, parts[0], y, parts[1], y_val, parts[2], y_bad, threshold=0.5)
    assert "2 row(s) of test that are also in train, row(s) 4, 9;" in str(error.value)
    assert "1 row(s) of test that are also in val, row(s) 20." in str(error.value)


def test_index_tells_items_that_look_alike():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 300), "b": rng.choice(["x", "y"], 300)})
    y = (X["a"] + rng.integers(0, 2, 300) > 1).astype(int)
    shuffled = rng.permutation(300)
    train, val, test = (shuffled[k::3] for k in range(3))
    model = LogisticRegression().fit(X[["a"]], y)

    class OnA(FrozenEstimator):
        def predict_proba(self, X):
            return self.estimator.predict_proba(X[["a"]])

    def run(*parts):
        pieces = [piece for rows in parts for piece in (X.iloc[rows], y.iloc[rows])]
        return evaluate_protocol({"m": OnA(model)}, *pieces, scoring="f1", min_recall=0.7, **FEW)

    assert run(train, val, test).result.n_rows == 100
    with pytest.raises(
        ValueError, match=r"1 row\(s\) of test that are also in val, index "
    ) as found:
        run(train, val, np.append(test, val[5]))
    assert f"index {val[5]}" in str(found.value)


def test_shared_groups_are_named():
    train, val, test = (groups.astype(object) for groups in split_groups())
    test[test == 2003] = "p7"
    val[val == 1001] = "p7"
    groups = {"groups_train": train, "groups_val": val, "groups_test": test}
    with pytest.raises(ValueError, match=r"got 1 group\(s\) in val and test: 'p7'\."):
        evaluate_protocol(MODELS, *data(), threshold=0.5, **groups)


def test_clusters_are_resampled_where_groups_are_given():
    groups = dict(zip(("groups_train", "groups_val", "groups_test"), split_groups(), strict=True))
    found = evaluate_protocol(MODELS, *data(), threshold=0.5, scoring="f1", **groups, **FEW)
    assert (found.result.unit, found.result.n_units) == ("clusters", 30)
    # Rows of a group are not independent: described, not tested.
    assert all(np.isnan(row.p_spiegelhalter) for row in found.calibration)
    assert "described and not tested" in " ".join(found.summary().split())


def test_inputs_are_left_alone():
    parts = [part.copy() for part in data()]
    models = fitted()
    before = {name: dict(vars(model)) for name, model in models.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_protocol(models, *parts, calibration="platt", min_recall=0.9, scoring="f1", **FEW)
    for part, original in zip(parts, data(), strict=True):
        np.testing.assert_array_equal(part, original)
    assert all(vars(models[name]).keys() == before[name].keys() for name in models)


# Bad input


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"threshold": None},
            ValueError,
            r"Exactly one of `threshold`.* got none\. A threshold of",
        ),
        ({"min_recall": 0.9}, ValueError, r"Exactly one of .* got a threshold and a rule"),
        ({"threshold": "0.5"}, ValueError, r"`threshold` must be a number, got '0.5'"),
        ({"threshold": {"bayes": 0.5}}, ValueError, r"`threshold` must name every model"),
        ({"calibration": "magic"}, ValueError, r"`calibration` must be one of 'platt'"),
        ({"choose_threshold_in_resamples": 1}, TypeError, r"must be True or False, got 1"),
        ({"choose_threshold_in_resamples": True}, ValueError, r"must be False for a fixed"),
        ({"paired": False}, TypeError, r"must get keywords of its own or .* got 'paired'"),
        ({"n_resample": 99}, TypeError, r"got 'n_resample'"),
        ({"baseline": "tree"}, ValueError, r"`baseline` must be the name of a model"),
        ({"X_val": None}, ValueError, r"`X_val` must be given, got None"),
        (
            {"X_train": None, "y_train": None},
            ValueError,
            r"got None with 'bayes', 'logistic' unfit",
        ),
        ({"y_train": None}, ValueError, r"`y_train` must be given, got None"),
        ({"y_val": np.ones(150)}, ValueError, r"`y_val` must hold both classes, got only 1"),
        ({"y_val": np.arange(150) % 3}, ValueError, r"labels must be of two classes, got 0, 1, 2"),
        ({"y_val": [0, 1]}, ValueError, r"`y_val` must have one entry per row, 150, got 2"),
        ({"pos_label": 2}, ValueError, r"`pos_label` must be one of the labels 0, 1, got 2"),
        ({"groups_test": np.arange(150)}, ValueError, r"`groups_train` and `groups_val` must be g"),
    ],
)
def test_bad_input(changes, error, message):
    with pytest.raises(error, match=message):
        evaluate_protocol(MODELS, **overlapping(**{"threshold": 0.5, **changes}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resampling": object()}, r"`resampling` must be 'auto' or a plan|must be 'auto' where"),
        ({"permutation": True}, r"`permutation` must be False where thresholds are chosen in resa"),
        ({"estimand": "clusters"}, r"`estimand` must be 'rows' where thresholds are chosen in"),
        ({"n_resamples": "exact"}, r"`n_resamples` must be a number where thresholds are chosen"),
        ({"method": "bca"}, r"`method` must be one of 'percentile', 'basic', 'normal' where"),
        (
            {"scoring": make_scorer(lambda y, labels: float(np.mean(y == labels)))},
            r"`choose_threshold_in_resamples` must be False for .* called on rows",
        ),
        (
            {"scoring": lambda model, X, y: 0.5},
            r"`choose_threshold_in_resamples` must be False for .* called on rows",
        ),
    ],
)
def test_what_cannot_be_chosen_in_resamples(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_protocol(
            MODELS, *data(), min_recall=0.9, choose_threshold_in_resamples=True, **options
        )


def test_models_must_score_two_known_classes():
    X, y, X_val, y_val, X_test, y_test = data()
    three = GaussianNB().fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match=r"Model 'm' must be a classifier of two classes"):
        evaluate_protocol({"m": three}, *data(), threshold=0.5)
    with pytest.raises(ValueError, match=r"`min_precision` must be within reach in the validation"):
        evaluate_protocol(
            {"m": GaussianNB()}, X, y, X_val, 1 - y_val, X_test, y_test, min_precision=0.99
        )


# Reports


@pytest.fixture(scope="module")
def reported():
    models = {"<b>a|b\x1b[31m": LogisticRegression(), "bayes": GaussianNB()}
    return evaluate_protocol(models, *data(), cost_fn=5, cost_fp=1, n_resamples=99, random_state=0)


def table_of(markdown, heading):
    """Read a markdown table under a heading as lists of cells."""
    lines = markdown.split(f"### {heading}\n\n")[1].split("\n\n")[0].splitlines()
    return [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines[2:]]


def test_markdown_has_all_numbers_of_thresholds(reported):
    cells = table_of(reported.to_markdown(), "Thresholds, and what they give")
    rows = [*reported.validation, *reported.test, *reported.peek]
    assert len(cells) == len(rows) == 6
    for row, line in zip(rows, cells, strict=True):
        expected = [row.threshold, row.called_positive, row.precision, row.recall]
        expected += [row.false_positive_rate, row.accuracy, row.cost]
        np.testing.assert_allclose([float(cell) for cell in line[2:]], expected, rtol=5e-4)
    assert [line[0].split()[0] for line in cells] == ["validation"] * 2 + ["test"] * 2 + [
        "peek:"
    ] * 2


def test_p_values_of_calibration_are_never_nought(reported):
    row = CalibrationRow("bayes", 0.9, 0.1, 1.0, 0.0, 0.0, 0.02500001)
    found = dataclasses.replace(reported, calibration=[row])
    ((*_, large, spiegelhalter),) = table_of(found.to_markdown(), "Calibration on the test rows")
    assert large == "< 0.0001"
    assert float(spiegelhalter) > 0.025  # half the level, by which the smaller one is judged


def test_reports_are_harmless_whatever_names_hold(reported):
    html5lib = pytest.importorskip("html5lib")
    page, cell = reported.to_html(), reported._repr_html_()
    html5lib.HTMLParser(strict=True).parse(page)
    html5lib.HTMLParser(strict=True).parseFragment(cell)
    assert len(page) < 500_000
    markdown, latex = reported.to_markdown(), reported.to_latex("p")
    for text in (page, cell, markdown, latex, reported.summary()):
        assert "\x1b" not in text
    assert "<b>" not in page + cell + re.sub(r"\\<b\\>", "", markdown)
    assert r"\label{tab:p-4}" in latex
    assert reported.notes[0].split()[0] in markdown


@pytest.mark.parametrize("varied", [False, True])
def test_the_report_says_how_thresholds_were_chosen(varied):
    found = evaluate_protocol(
        MODELS, *data(), choose_threshold_in_resamples=varied, min_recall=0.85, **FEW
    )
    assert ("chosen again in every resample" in found.to_markdown()) is varied
    fixed = evaluate_protocol(MODELS, *data(), threshold=0.3, **FEW)
    assert "Thresholds were fixed beforehand. " in fixed.to_markdown()
    assert "peek" not in fixed.to_markdown().lower()


# Models that were fitted before


def test_models_fitted_before_are_named_in_a_note():
    X, y, *_ = data()
    models = {"bayes": GaussianNB(), "kept": LogisticRegression().fit(X[:80], y[:80])}
    found = evaluate_protocol(models, *data(), threshold=0.5, scoring="f1", **FEW)
    (note,) = [note for note in found.notes if "Fitted before" in note]
    assert note.startswith("Fitted before, and kept as they were: kept. ")
    assert "Fitted before, and kept as they were: kept." in found.summary()
    np.testing.assert_array_equal(
        found.models["kept"].predict_proba(data()[4]), models["kept"].predict_proba(data()[4])
    )
    found = evaluate_protocol(MODELS, *data(), threshold=0.5, scoring="f1", **FEW)
    assert not any("Fitted before" in note for note in found.notes)


@pytest.mark.parametrize(
    ("calibration", "doing"),
    [(None, "scoring `X_val`"), ("platt", "being calibrated on `X_val`")],
)
def test_a_model_fitted_before_on_other_columns_is_named(calibration, doing):
    X, y, *_ = data()
    models = {"bayes": GaussianNB(), "old": LogisticRegression().fit(X[:, :3], y)}
    message = (
        rf"Model 'old', which was fitted before and kept, failed while {doing}: ValueError: X has "
        r"\d+ features, but LogisticRegression is expecting 3 features"
    )
    with pytest.raises(ValueError, match=message):
        evaluate_protocol(models, *data(), threshold=0.5, calibration=calibration, **FEW)
