"""The Bayesian bootstrap: real weights on every path, and posterior probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    roc_auc_score,
)

from literal import N_TRAINED, quiet, trained, weights_of
from sklearn_pairboot import (
    ComparisonResult,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.resampling import (
    BayesianBootstrap,
    RowBootstrap,
)

N = N_TRAINED


def scores_of(seed=0, n_rows=N, n_models=2):
    values = np.random.default_rng(seed).normal(size=(n_rows, n_models))
    return {str(k): column for k, column in enumerate(values.T)}


@pytest.mark.parametrize(
    ("kind", "size"),  # AUC by rows, by rows of clusters, and by matrices of few clusters
    [
        ("binary", 1),
        ("binary", 2),
        ("binary", 16),
        ("multiclass", 2),
        ("multilabel", 1),
        ("regression", 1),
    ],
)
def test_real_weights_give_what_scikit_learn_gives_with_them(kind, size):
    """Every scorer that serves the data, on every path; or a refusal that names it."""
    groups = None if size == 1 else np.arange(N) // size
    X, y, models = trained(kind)
    drawn = weights_of(BayesianBootstrap(), groups, 4)
    n_served, refused = 0, set()
    # The averages that are left out share their code with those that are not.
    names = [name for name in get_scorer_names() if not name.endswith(("_micro", "_samples"))]
    for name in names if size < 16 else ["roc_auc"]:
        try:
            quiet(get_scorer(name), models["1"], X, y)
        except (AttributeError, ValueError):
            continue
        (metric,) = resolve_scoring(name)
        arguments = {
            "scoring": name,
            "resampling": BayesianBootstrap(),
            "groups": groups,
            "n_resamples": 4,
            "confidence_level": 0.5,
            "random_state": 0,
        }
        try:
            result = quiet(compare_estimators, models, X, y, **arguments)
        except ValueError as error:
            assert str(error).startswith(
                f"`resampling` must draw whole numbers of rows for {metric.name}, whose scorer "
                "takes no `sample_weight`, got `BayesianBootstrap`"
            )
            refused.add(name)
            continue
        if "ovo" in name and kind == "multiclass":  # scikit-learn takes no weights there
            expected = [[pairwise_auc(m, X, y, w, name) for m in models.values()] for w in drawn]
        else:
            expected = [
                [
                    metric.sign * quiet(metric.scorer, model, X, y, sample_weight=weight)
                    for model in models.values()
                ]
                for weight in drawn
            ]
        np.testing.assert_allclose(
            result.replicates[:, 0], expected, rtol=1e-11, atol=1e-12, err_msg=name
        )
        n_served += 1
    assert n_served >= (10 if size < 16 else 1)
    assert ("adjusted_rand_score" in refused) == (kind != "multilabel" and size < 16)
    assert not refused & {"accuracy", "roc_auc", "average_precision", "f1", "r2", "neg_log_loss"}


def pairwise_auc(model, X, y, weight, name):
    scores = model.predict_proba(X)
    values, shares = [], []
    for own in range(3):
        for other in range(3):
            if own != other:
                rows = np.isin(y, [own, other])
                values.append(
                    roc_auc_score(y[rows] == own, scores[rows, own], sample_weight=weight[rows])
                )
                shares.append(weight[rows].sum())
    return np.average(values, weights=shares if "weighted" in name else None)


def test_real_weights_multiply_sample_weights_on_every_path():
    X, y, models = trained("binary")
    own = np.random.default_rng(1).integers(0, 4, N).astype(float)

    def brier(model, X, y, sample_weight=None):
        return float(np.average((model.predict_proba(X)[:, 1] - y) ** 2, weights=sample_weight))

    scoring = {
        "ap": "average_precision",
        "partial": make_scorer(roc_auc_score, response_method="predict_proba", max_fpr=0.4),
        "own": brier,
        "sums": "neg_brier_score",
    }
    result = compare_estimators(
        models,
        X,
        y,
        scoring=scoring,
        sample_weight=own,
        resampling=BayesianBootstrap(),
        n_resamples=39,
        random_state=0,
    )
    assert list(result.paths.values()) == ["ranks", "ranks", "replay", "sums"]
    np.testing.assert_allclose(result.replicates[:, 2], result.replicates[:, 3], rtol=1e-12)
    drawn = weights_of(BayesianBootstrap(), None, 39) * own
    for column, model in enumerate(models.values()):
        scores = model.predict_proba(X)[:, 1]
        for replicate, weight in zip(result.replicates[..., column], drawn, strict=True):
            assert replicate[0] == pytest.approx(
                average_precision_score(y, scores, sample_weight=weight), rel=1e-12
            )
            assert replicate[1] == pytest.approx(
                roc_auc_score(y, scores, sample_weight=weight, max_fpr=0.4), rel=1e-12
            )


def test_a_class_is_never_lost_under_real_weights():
    y = np.repeat([0, 1], [19, 1])
    scores = np.linspace(0, 1, 20)
    rows, weights = (
        compare_predictions(
            y,
            {
                "m": RecordedEstimator.from_arrays(
                    predict_proba=np.column_stack([1 - scores, scores]), classes=[0, 1]
                )
            },
            scoring="roc_auc",
            resampling=plan,
            n_resamples=999,
            random_state=0,
        ).scores[0]
        for plan in (RowBootstrap(), BayesianBootstrap())
    )
    assert rows.n_undefined > 200
    assert weights.n_undefined == 0


@given(st.integers(0, 100))
@settings(max_examples=10)
def test_weights_of_clusters_of_one_row_are_those_of_rows(seed):
    run = {"resampling": BayesianBootstrap(), "n_resamples": 79, "random_state": seed}
    rows = compare_scores(scores_of(seed), **run)
    clusters = compare_scores(scores_of(seed), groups=np.arange(N), **run)
    np.testing.assert_array_equal(rows.replicates, clusters.replicates)
    order = np.random.default_rng(seed).permutation(N)
    moved = {name: values[order] for name, values in scores_of(seed).items()}
    again = compare_scores(moved, groups=np.arange(N)[order], **run)
    np.testing.assert_allclose(again.replicates, rows.replicates, rtol=1e-12, atol=1e-14)


def test_practical_equivalence_of_two_rows_in_closed_form():
    # With weights u and 1 - u the difference is 2 - 3 u: uniform on (-1, 2).
    scores = {"old": [1.0, 0.0], "new": [0.0, 2.0]}
    result = compare_scores(
        scores, resampling=BayesianBootstrap(), n_resamples=40_000, random_state=0
    )
    (row,) = result.practical_equivalence(0.5)
    assert (row.metric, row.model, row.baseline, row.margin) == ("mean_score", "new", "old", 0.5)
    assert row.share_below == pytest.approx(1 / 6, abs=0.01)
    assert row.share_within == pytest.approx(1 / 3, abs=0.01)
    assert row["share_above"] == pytest.approx(1 / 2, abs=0.01)
    assert row.share_below + row.share_within + row.share_above == pytest.approx(1)
    back = result.replace(baseline="new").practical_equivalence({"mean_score": 0.5})[0]
    assert (back.share_below, back.share_above) == (row.share_above, row.share_below)
    read = ComparisonResult.from_json(result.replace().to_json(replicates=True))
    assert read.practical_equivalence(0.5) == (row,)
    # Percentiles of a uniform variable, and the tail share of draws below zero, doubled.
    difference = result.differences[0]
    assert difference.ci_low == pytest.approx(-1 + 3 * 0.025, abs=0.02)
    assert difference.p_value == pytest.approx(2 / 3, abs=0.02)


def test_practical_equivalence_by_metric():
    X, y, models = trained("binary")
    result = compare_estimators(
        models,
        X,
        y,
        scoring=["accuracy", "roc_auc"],
        resampling=BayesianBootstrap(),
        n_resamples=99,
        random_state=0,
    )
    (row,) = result.practical_equivalence({"roc_auc": 0.1})
    values = result.replicates[:, 1, 1] - result.replicates[:, 1, 0]
    assert row.share_within == np.mean(np.abs(values) <= 0.1)
    for margin in (0.1, {"f1": 0.1}, None, -1, {}, True):
        with pytest.raises(ValueError, match="`margin` must"):
            result.practical_equivalence(margin)
    plain = compare_scores(scores_of(), n_resamples=99, random_state=0)
    with pytest.raises(ValueError, match=r"must be asked of posterior draws.*BayesianBootstrap"):
        plain.practical_equivalence(0.1)
    short = ComparisonResult.from_json(result.to_json())
    with pytest.raises(ValueError, match="read from JSON without replicates"):
        short.practical_equivalence({"roc_auc": 0.1})
