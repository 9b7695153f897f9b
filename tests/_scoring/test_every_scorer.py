"""Every scorer that scikit-learn names, on every kind of target, against literally drawn rows.

Either both refuse the data as they are, or in every resample the kernel's value is the metric of
the drawn rows, with the labels of the full data. What is left out as undefined is stated by rule.
"""

from __future__ import annotations

import inspect
from functools import cache, partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import class_likelihood_ratios, get_scorer, get_scorer_names, make_scorer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from literal import quiet
from sklearn_pairboot._engine.bootstrap import observe
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.comparison import _folds
from sklearn_pairboot.comparison._run import kind_of
from sklearn_pairboot.comparison._splits import Split

N = 40
KINDS = ["binary", "strings", "multiclass", "multilabel", "regression", "several outputs"]
WEIGHT = np.random.default_rng(1).choice([0.5, 1.0, 2.25], N)
newest = pytest.mark.newest
FOLDS = [Split(np.arange(half, N, 2), np.arange(1 - half, N, 2)) for half in (0, 1)]


@cache
def data(kind):
    """Test rows, truths and two models that were trained on other rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2 * N, 4))
    noisy = X[:, :3] + rng.normal(size=(2 * N, 3))
    y = {
        "binary": (noisy[:, 0] > 0).astype(int),
        "strings": np.where(noisy[:, 0] > 0, "yes", "no"),
        "multiclass": np.argmax(noisy, axis=1),
        "multilabel": (noisy > 0).astype(int),
        "regression": np.exp(noisy[:, 0] / 2),
        "several outputs": np.exp(noisy[:, :2] / 2),
    }[kind]
    if kind in ("regression", "several outputs"):
        models = DecisionTreeRegressor(max_depth=3, random_state=0), KNeighborsRegressor(3)
    else:
        linear = LogisticRegression()
        models = (
            DecisionTreeClassifier(max_depth=3, random_state=0),
            OneVsRestClassifier(linear) if kind == "multilabel" else linear,
        )
    for model in models:
        model.fit(X[N:], y[N:])
    return X[:N], y[:N], models


def designs():
    """Units and counts: drawn at random, and a few units alone, which lack classes."""
    rng = np.random.default_rng(5)
    clusters = np.arange(N) // 4
    strata = (np.arange(N) % 3 == 0).astype(np.int64)
    for name, units in {
        "rows": Units(N, N),
        "clusters": Units(N, 10, clusters),
        "strata": Units(N, N, None, strata),
    }.items():
        k = units.n_units
        stratum = np.zeros(k, dtype=int) if units.stratum is None else units.stratum
        counts = np.zeros((3, k), dtype=np.uint8)
        for number in range(stratum.max() + 1):
            members = np.flatnonzero(stratum == number)
            share = np.full(len(members), 1 / len(members))
            counts[0, members] = rng.multinomial(len(members), share)
            counts[1, members[0]] = len(members)
            counts[2, members[1:3]] = len(members) // 2
        yield name, units, counts


def reference_scorer(name, kind, y, model, X):
    """Scorer of the metric in natural units, with the labels of these data."""
    scorer = get_scorer(name)
    if "likelihood_ratio" in name:  # whose own functions take no labels
        labels = np.unique(np.concatenate([y, model.predict(X)]))
        return make_scorer(partial(likelihood_ratio, name, labels))
    parameters = inspect.signature(scorer._score_func).parameters
    kwargs = dict(scorer._kwargs)
    of_labels = "average" in parameters and parameters["average"].default == "binary"
    average = kwargs.get("average", "binary")
    if kind == "strings" and "pos_label" in parameters and (not of_labels or average == "binary"):
        kwargs["pos_label"] = "yes"
    if "labels" in parameters and kind in ("binary", "strings", "multiclass"):
        if of_labels and average != "binary":
            kwargs["labels"] = np.unique(np.concatenate([y, model.predict(X)]))
        elif not of_labels and hasattr(model, "classes_"):
            kwargs["labels"] = model.classes_
    return make_scorer(scorer._score_func, response_method=scorer._response_method, **kwargs)


def likelihood_ratio(name, labels, y_true, y_pred):
    parameters = inspect.signature(class_likelihood_ratios).parameters
    replacement = {"replace_undefined_by": 1.0} if "replace_undefined_by" in parameters else {}
    ratios = class_likelihood_ratios(y_true, y_pred, labels=labels, **replacement)
    return ratios[0 if name.startswith("positive") else 1]


def lost(name, kind, y, drawn, weight):
    """Tell whether the metric is undefined on drawn rows whatever scikit-learn says of them."""
    drawn = drawn if weight is None else drawn[weight > 0]
    if len(drawn) == 0:
        return True
    columns = list(drawn.reshape(len(drawn), -1).T)
    constant = any(len(np.unique(column)) == 1 for column in columns)
    absent = len(np.unique(drawn)) < len(np.unique(y))
    if name.startswith("roc_auc"):
        return absent if kind == "multiclass" else constant
    if name == "average_precision":
        if kind == "multilabel":
            return any(not column.any() for column in columns)
        return absent if kind == "multiclass" else np.unique(y)[1] not in drawn
    if name in ("r2", "explained_variance"):
        return constant
    replayed = name == "d2_absolute_error_score" or kind == "multilabel"
    return name.startswith("d2_") and not replayed and constant


def expected(name, kind, rows, counts, weight):
    """Value of both models on drawn rows among ``rows``, NaN where it is undefined."""
    X, y, models = data(kind)
    drawn = np.repeat(rows, counts)
    given = {} if weight is None else {"sample_weight": weight[drawn]}
    values = []
    for model in models:
        scorer = reference_scorer(name, kind, y[rows], model, X[rows])
        value = np.nan
        if not lost(name, kind, y[rows], y[drawn], given.get("sample_weight")):
            try:
                value = scorer(model, X[drawn], y[drawn], **given)
            except (ValueError, ZeroDivisionError):  # where classes are missing
                assert kind not in ("regression", "several outputs")
        values.append(value if np.isfinite(value) else np.nan)
    return values


def value_or_none(function):
    """Give what a function returns, or None where it refuses the data."""
    try:
        value = function()
    except (ValueError, TypeError, AttributeError):
        return None
    return None if np.isnan(value).any() else value


def observed(kernel, units):
    return kernel.observed() if isinstance(kernel, ReplayKernel) else observe([kernel], units)[0]


def kernel_on_all_rows(metric, kind, units, weight):
    X, y, models = data(kind)
    records = tuple(RecordedEstimator.from_estimator(model, X) for model in models)
    kernel = build_kernel(metric, Problem(y, kind_of(y), records, units, weight), ("a", "b"))
    return kernel, observed(kernel, units)


# Weights do not look at the type of labels, so strings have none; the floors see two kinds.
WEIGHTED = [
    pytest.param(kind, True, marks=[] if kind in ("multiclass", "several outputs") else newest)
    for kind in KINDS
    if kind != "strings"
]


@pytest.mark.parametrize(("kind", "weighted"), [*((kind, False) for kind in KINDS), *WEIGHTED])
@pytest.mark.parametrize("name", sorted(get_scorer_names()))
def test_every_scorer_equals_drawn_rows_or_is_refused(name, kind, weighted):
    X, y, models = data(kind)
    (metric,) = resolve_scoring(name)
    weight = WEIGHT if weighted else None

    def literally(**given):
        return [reference_scorer(name, kind, y, model, X)(model, X, y, **given) for model in models]

    def literally_weighted():
        return literally(sample_weight=WEIGHT)

    everything = Units(N, N)
    on_all_rows = quiet(value_or_none, literally_weighted if weighted else literally)
    if on_all_rows is None:
        ours = quiet(value_or_none, lambda: kernel_on_all_rows(metric, kind, everything, weight)[1])
        assert ours is None
        return
    # Where weights are seen too, clusters and folds are seen with them, and rows without.
    alone = kind == "strings" or not weighted and quiet(value_or_none, literally_weighted) is None
    for design, units, counts in designs():
        if not alone and weighted != (design == "clusters"):
            continue
        kernel, value = quiet(kernel_on_all_rows, metric, kind, units, weight)
        np.testing.assert_allclose(value, on_all_rows, rtol=1e-12, atol=1e-12)
        result = quiet(kernel.evaluate, Weights(counts))
        of_row = np.arange(N) if units.of_row is None else units.of_row
        for resample, of_units in enumerate(counts):
            values = quiet(expected, name, kind, np.arange(N), of_units[of_row], weight)
            np.testing.assert_allclose(
                result.values[resample], values, rtol=1e-12, atol=1e-12, err_msg=design
            )
        np.testing.assert_array_equal(np.isnan(result.values), result.undefined)
    if alone or weighted:
        cross_validated(metric, name, kind, weight)


def cross_validated(metric, name, kind, weight):
    """Mean over the folds in which both models have a value."""
    X, y, models = data(kind)
    named = dict(zip("ab", models, strict=True))
    given = {metric.name: {} if weight is None else {"sample_weight": weight}}
    tested = _folds.Tested.of(FOLDS, Units(N, N))
    folds = _folds.Folds(FOLDS, [named, named])
    scored = quiet(_folds.score_folds, [metric], folds, X, y, kind_of(y), tested, given)
    (kernel,) = scored.kernels
    assert scored.notes == []
    _, _, counts = next(designs())
    result = quiet(kernel.evaluate, Weights(counts))
    for resample, drawn in enumerate(counts):
        of_folds = np.array(
            [quiet(expected, name, kind, fold.test, drawn[fold.test], weight) for fold in FOLDS]
        )
        defined = of_folds[~np.isnan(of_folds).any(axis=1)]
        values = defined.mean(axis=0) if len(defined) else [np.nan, np.nan]
        np.testing.assert_allclose(result.values[resample], values, rtol=1e-12, atol=1e-12)


def test_fast_paths():
    """What is promised to be fast is: no scorer falls back to replay unnoticed."""
    replayed = {kind: set() for kind in KINDS}
    for kind in KINDS:
        for name in get_scorer_names():
            (metric,) = resolve_scoring(name)
            try:
                kernel, _ = quiet(kernel_on_all_rows, metric, kind, Units(N, N), None)
            except (ValueError, TypeError, AttributeError):
                continue
            if kernel.path == "replay":
                replayed[kind].add(name)
    order = {"d2_absolute_error_score", "neg_median_absolute_error"}
    assert replayed["several outputs"] == order
    assert replayed["regression"] >= order | {"neg_max_error"}
    of_probabilities = {"neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score"}
    assert replayed["multilabel"] - of_probabilities == order
    of_numbers = order | {"neg_max_error", "adjusted_mutual_info_score"}
    assert replayed["multiclass"] == of_numbers
    # Of two classes one of the two highest scores is always right, of which scikit-learn warns.
    assert replayed["binary"] == of_numbers | {"top_k_accuracy"}
    assert replayed["strings"] == {"adjusted_mutual_info_score", "top_k_accuracy"}
