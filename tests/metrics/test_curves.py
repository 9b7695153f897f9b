"""ROC and precision-recall bands against scikit-learn on literally drawn rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from sklearn_pairboot import compare_predictions
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.curves import CurveKernel, HitRate, PrecisionAtRecall
from sklearn_pairboot._engine.thresholds import Sweep
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot.metrics import precision_recall_bands, roc_bands

GRID = np.linspace(0, 1, 101)
BOTH = [roc_bands, precision_recall_bands]


def hit_rates(y, scores):
    """Vertical reading of scikit-learn's curve; of a rise its upper end."""
    if len(set(y)) < 2:
        return np.full(len(GRID), np.nan)
    alarms, hits, _ = roc_curve(y, scores, drop_intermediate=False)
    found = []
    for rate in GRID:
        before = np.flatnonzero(alarms <= rate + 1e-12)[-1]
        after = min(before + 1, len(alarms) - 1)
        found.append(np.interp(rate, alarms[[before, after]], hits[[before, after]]))
        if abs(alarms[before] - rate) < 1e-12:
            found[-1] = hits[before]
    return np.array(found)


def precisions(y, scores):
    """Precision of scikit-learn's curve at the highest threshold that reaches each recall."""
    if not y.any():
        return np.full(len(GRID), np.nan)
    precision, recall, _ = precision_recall_curve(y, scores)
    precision, recall = precision[-2::-1], recall[-2::-1]
    reached = [
        np.flatnonzero((recall >= wanted - 1e-12) & (recall > 0))[0] for wanted in GRID.tolist()
    ]
    return precision[reached]


def data(seed, n=40, ties=True):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(2, size=n - 2))
    models = {name: y * shift + rng.normal(size=n) for name, shift in (("a", 1), ("b", 2))}
    if ties:
        models = {name: scores.round() for name, scores in models.items()}
    return y, models


@pytest.mark.parametrize(
    ("measure", "literal"), [(HitRate, hit_rates), (PrecisionAtRecall, precisions)]
)
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("clustered", [True, False])
def test_heights_are_those_of_literally_drawn_rows(measure, literal, ties, clustered):
    rng = np.random.default_rng(1)
    y, models = data(2, n=12, ties=ties)
    of_row = np.append(np.arange(6), rng.integers(6, size=6)) if clustered else None
    units = Units(12, 6 if clustered else 12, of_row)
    counts = rng.multinomial(units.n_units, np.ones(units.n_units) / units.n_units, size=60)
    kernel = CurveKernel(
        [Sweep.of(y == 1, scores) for scores in models.values()], [measure(GRID)], 101, units
    )
    found = kernel.evaluate(Weights(counts))
    heights = found.values.reshape(60, 2, 101)
    for resample, drawn in enumerate(counts):
        rows = np.repeat(np.arange(12), drawn if of_row is None else drawn[of_row])
        for model, scores in enumerate(models.values()):
            assert_allclose(
                heights[resample, model], literal(y[rows], scores[rows]), rtol=1e-9, atol=1e-12
            )
    assert_array_equal(found.undefined, np.isnan(found.values))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("bands_of", "literal", "area_of"),
    [
        (roc_bands, hit_rates, roc_auc_score),
        (precision_recall_bands, precisions, average_precision_score),
    ],
)
def test_bands_are_quantiles_of_literally_computed_curves(bands_of, literal, area_of):
    y, models = data(3, n=8)
    found = bands_of(y, models, n_resamples=60, confidence_level=0.9, random_state=5)
    source = CountSource(8)
    counts = source.draw(SeedSequence(5, spawn_key=(0,)))[:60]
    curves, areas = [], []
    for drawn in counts:
        rows = np.repeat(np.arange(8), drawn)
        curves.append([literal(y[rows], scores[rows]) for scores in models.values()])
        if not np.isnan(curves[-1]).any():
            areas.append([area_of(y[rows], scores[rows]) for scores in models.values()])
    curves = np.array(curves)
    lost = np.isnan(curves).any(axis=(1, 2))
    assert found.n_undefined == lost.sum()
    for low, high, replicates in (
        (found.ci_low, found.ci_high, curves),
        (found.difference_low, found.difference_high, curves - curves[:, :1]),
    ):
        assert_allclose(
            [low, high], np.quantile(replicates[~lost], [0.05, 0.95], axis=0), atol=1e-12
        )
    assert_allclose(
        [found.area_low, found.area_high], np.quantile(areas, [0.05, 0.95], axis=0), atol=1e-12
    )
    assert_allclose(found.curve, [literal(y, scores) for scores in models.values()], atol=1e-12)
    assert_allclose(found.area, [area_of(y, scores) for scores in models.values()])


@pytest.mark.parametrize(
    ("bands_of", "scoring"), [(roc_bands, "roc_auc"), (precision_recall_bands, "average_precision")]
)
def test_areas_have_the_interval_of_a_comparison_with_the_same_seed(bands_of, scoring):
    y, models = data(4)
    groups = np.arange(40) // 2
    found = bands_of(y, models, groups=groups, random_state=3)
    result = compare_predictions(
        y, models, scoring=scoring, groups=groups, n_resamples=999, random_state=3
    )
    rows = result.scores
    assert_allclose(found.area, [row.estimate for row in rows])
    assert_allclose(found.area_low, [row.ci_low for row in rows])
    assert_allclose(found.area_high, [row.ci_high for row in rows])


def test_areas_under_the_corners_are_the_areas():
    y, models = data(6)
    roc, recall = roc_bands(y, models), precision_recall_bands(y, models)
    for model in range(2):
        alarms, hits = roc.points[model]
        assert_allclose(np.sum(np.diff(alarms) * (hits[1:] + hits[:-1]) / 2), roc.area[model])
        reached, precision = recall.points[model]
        assert_allclose(np.sum(np.diff(reached) * precision[1:]), recall.area[model])


@pytest.mark.parametrize("bands_of", BOTH)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), repeats=st.integers(1, 3))
def test_integer_weights_equal_repetition_in_clusters(bands_of, seed, repeats):
    y, models = data(seed, n=20)
    weight = np.random.default_rng(seed).integers(1, repeats + 1, size=20)
    groups = np.arange(20) % 10
    rows = np.repeat(np.arange(20), weight)
    keywords = {"n_resamples": 40, "confidence_level": 0.9, "random_state": seed}
    weighted = bands_of(y, models, sample_weight=weight, groups=groups, **keywords)
    repeated = bands_of(
        y[rows], {k: v[rows] for k, v in models.items()}, groups=groups[rows], **keywords
    )
    for name in ("curve", "ci_low", "ci_high", "difference_low", "area_low", "positive_rate"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-9)


@pytest.mark.parametrize("bands_of", BOTH)
def test_clusters_of_one_row_equal_rows(bands_of):
    y, models = data(7)
    rows = bands_of(y, models, random_state=0)
    clusters = bands_of(y, models, groups=np.arange(40), random_state=0)
    for name in ("ci_low", "ci_high", "difference_low", "difference_high", "area_low"):
        assert_array_equal(getattr(rows, name), getattr(clusters, name))
    assert (rows.unit, clusters.unit) == ("rows", "clusters")


@pytest.mark.parametrize("bands_of", BOTH)
def test_a_model_against_itself_differs_nowhere_and_a_swap_mirrors(bands_of):
    y, models = data(8)
    same = bands_of(y, {"a": models["a"], "again": models["a"]}, random_state=0)
    assert not np.any([same.difference, same.difference_low, same.difference_high])
    forth = bands_of(y, models, random_state=0)
    back = bands_of(y, {"b": models["b"], "a": models["a"]}, random_state=0)
    assert_allclose(forth.difference_low[1], -back.difference_high[1], atol=1e-12)


def test_monotone_transforms_change_nothing():
    y, models = data(9)
    first = roc_bands(y, models, random_state=0)
    second = roc_bands(y, {k: np.exp(v) for k, v in models.items()}, random_state=0)
    assert_array_equal(first.ci_low, second.ci_low)


def test_labels_of_any_kind_and_the_positive_one():
    y, models = data(10)
    named = np.array(["good", "ill"])[y]
    first = roc_bands(y, models, random_state=0)
    assert_array_equal(roc_bands(named, models, random_state=0).ci_low, first.ci_low)
    other = {name: -scores for name, scores in models.items()}
    mirrored = roc_bands(named, other, pos_label="good", random_state=0)
    assert_allclose(mirrored.area, first.area)


# req_E29: single-class resamples are undefined, left out and counted.
def test_single_class_resamples_are_counted_and_named():
    with pytest.warns(UndefinedMetricWarning, match=r"resamples have no curve") as caught:
        found = roc_bands([1, 0, 0, 0], {"a": [4, 3, 2, 1]}, random_state=0)
    # Without the positive row: (3/4)^4; with it alone: (1/4)^4.
    expected = (3**4 + 1) / 4**4
    assert abs(found.n_undefined / 999 - expected) < 4 * np.sqrt(expected * (1 - expected) / 999)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("y", "predictions", "keywords", "message"),
    [
        ([1, 1, 1], {"a": [1, 2, 3]}, {}, "`y_true` must hold rows of both classes"),
        ([1, 0, 1], {"a": [1, np.nan, 3]}, {}, r"`predictions\['a'\]` must be finite"),
        ([1, 0, np.nan], {"a": [1, 2, 3]}, {}, "`y_true` must be finite"),
        ([1, 0, 1], {"a": [1, 2]}, {}, r"`predictions\['a'\]` must have one entry per row"),
        ([1, 0, 1], {"a": ["x", "y", "z"]}, {}, "must hold one number a row"),
        ([1, 0, 2], {"a": [1, 2, 3]}, {}, "must hold 2 classes at most"),
        ([1, 0, 1], {"a": [1, 2, 3]}, {"groups": [1, 1, 1]}, "at least 2 clusters"),
        ([1, 0, 1], {"a": [1, 2, 3]}, {"n_resamples": 20}, "`n_resamples` must be at least"),
        ([1, 0, 1], {"a": [1, 2, 3]}, {"pos_label": 5}, "`pos_label` must be one of"),
        ([1, 0, 1], {"a": [1, 2, 3]}, {"sample_weight": [1, 0, 1]}, "only positive rows"),
        ([1, 0, 1], {}, {}, "At least one model"),
    ],
)
def test_bad_input_is_refused(y, predictions, keywords, message):
    with pytest.raises(ValueError, match=message):
        roc_bands(y, predictions, **keywords)


def test_scores_without_names_are_refused():
    with pytest.raises(TypeError, match="`predictions` must be a mapping"):
        roc_bands([0, 1], [0.1, 0.9])
