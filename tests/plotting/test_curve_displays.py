"""Displays of curves: structure of the pictures, and that their numbers are those computed."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import RecordedEstimator
from sklearn_pairboot.metrics import (
    precision_recall_bands,
    reliability_curve,
    roc_bands,
    threshold_bands,
)
from sklearn_pairboot.plotting import (
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocDisplay,
    ThresholdDisplay,
)

DISPLAYS = [RocDisplay, PrecisionRecallDisplay, ThresholdDisplay, ReliabilityDisplay]
CURVES = DISPLAYS[:2]
QUICK = {"n_resamples": 99, "random_state": 0}
KEYWORDS = {ThresholdDisplay: {"metric": "cost", "cost_fn": 5, "cost_fp": 1}}


def data(n=60):
    rng = np.random.default_rng(0)
    y = np.append([0, 1], rng.integers(2, size=n - 2))
    return y, {
        name: 1 / (1 + np.exp(shift * (0.5 - y) + rng.normal(size=n)))
        for name, shift in (("old", 1), ("new", 2))
    }


def made(display, models=("old", "new"), **keywords):
    y, scores = data()
    chosen = {name: scores[name] for name in models}
    return display.from_predictions(y, chosen, **KEYWORDS.get(display, {}), **QUICK, **keywords)


def trained():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, "yes", "no")
    models = {
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:40], y[:40]),
        "line": LogisticRegression().fit(X[:40], y[:40]),
    }
    return models, X[40:], y[40:]


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("models", [["old"], ["old", "new"]])
def test_plot_returns_the_display_and_keeps_its_artists(pyplot, display, models):
    found = made(display, models)
    assert found.plot() is found
    assert found.ax_.figure is found.figure_
    assert len(found.lines_) == len(models)
    texts = [text.get_text() for text in found.legend_.get_texts()]
    for name in models:
        assert any(text.startswith(name) for text in texts)
    assert found.ax_.get_ylabel()
    assert "ointwise 95 %" in found.ax_.get_title(loc="left")
    found.figure_.draw_without_rendering()


@pytest.mark.parametrize("display", DISPLAYS)
def test_given_axes_are_drawn_on(pyplot, display):
    figure, axes = pyplot.subplots(1, 2)
    found = made(display).plot(axes[1])
    assert found.ax_ is axes[1]
    assert found.figure_ is figure
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.parametrize("display", DISPLAYS)
def test_what_is_no_axes_is_refused(pyplot, display):
    with pytest.raises(TypeError, match="`ax` must be matplotlib axes or None"):
        made(display).plot("here")


@pytest.mark.parametrize("display", DISPLAYS)
def test_without_matplotlib_the_extra_is_named(monkeypatch, display):
    found = made(display)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(ImportError, match=r"pip install sklearn-pairboot\[plot\]"):
        found.plot()


@pytest.mark.parametrize("display", DISPLAYS)
def test_names_are_shown_as_they_are(pyplot, display):
    y, scores = data()
    names = {"a$x^2$": scores["old"], "a\nb": scores["new"]}
    found = display.from_predictions(y, names, **KEYWORDS.get(display, {}), **QUICK).plot()
    texts = [text.get_text() for text in found.legend_.get_texts()]
    assert any(text.startswith(r"a\$x^2\$") for text in texts)
    assert any(text.startswith(r"'a\nb'") for text in texts)


@pytest.mark.parametrize("display", DISPLAYS)
def test_many_models_have_their_legend_beside_the_axes_and_looks_that_differ(pyplot, display):
    y, scores = data()
    many = {f"model {k}": scores["old"] for k in range(9)}
    found = display.from_predictions(y, many, **KEYWORDS.get(display, {}), **QUICK).plot()
    found.figure_.draw_without_rendering()
    renderer = found.figure_.canvas.get_renderer()
    assert found.legend_.get_window_extent(renderer).x0 >= found.ax_.get_window_extent().x1
    assert found.legend_.get_window_extent(renderer).x1 <= found.figure_.bbox.x1
    looks = {(line.get_color(), line.get_linestyle()) for line in found.lines_}
    assert len(looks) == 9


@pytest.mark.parametrize("display", DISPLAYS)
def test_estimators_give_the_display_of_their_probabilities(display):
    models, X, y = trained()
    keywords = KEYWORDS.get(display, {})
    scores = {name: model.predict_proba(X)[:, 1] for name, model in models.items()}
    first = display.from_estimators(models, X, y, **keywords, **QUICK)
    second = display.from_predictions(y, scores, pos_label="yes", **keywords, **QUICK)
    listed = display.from_estimators(list(models.items()), X, y, **keywords, **QUICK)
    mirrored = display.from_estimators(models, X, y, pos_label="no", **keywords, **QUICK)
    pytest.importorskip("pandas")
    frames = [found.frame("pandas") for found in (first, second, listed, mirrored)]
    assert frames[0].equals(frames[2])
    if display in CURVES:  # which ask for decision values, of the same order but for ties
        assert_allclose(frames[0]["ci_low"], frames[1]["ci_low"], atol=1e-12)
    else:
        assert frames[0].equals(frames[1])
    assert not frames[0].equals(frames[3])


def test_records_serve_as_estimators():
    models, X, y = trained()
    records = {name: RecordedEstimator.from_estimator(model, X) for name, model in models.items()}
    first, second = (RocDisplay.from_estimators(of, X, y, **QUICK) for of in (models, records))
    assert_array_equal(first.bands.ci_low, second.bands.ci_low)


@pytest.mark.parametrize("display", DISPLAYS)
def test_estimators_that_have_no_such_scores_are_refused(display):
    models, X, y = trained()
    unfit = DummyRegressor().fit(X, np.arange(40.0))
    with pytest.raises(ValueError, match=r"`estimators` must be fitted classifiers.*got 'unfit'"):
        display.from_estimators({**models, "unfit": unfit}, X, y, **KEYWORDS.get(display, {}))
    other = DummyClassifier().fit(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match="`estimators` must all know the same two classes"):
        display.from_estimators({**models, "other": other}, X, y, **KEYWORDS.get(display, {}))


def test_decision_values_serve_curves_but_not_reliability():
    _, X, y = trained()
    models = {"machine": LinearSVC().fit(X, y)}
    found = RocDisplay.from_estimators(models, X, y, **QUICK)
    scores = {"machine": models["machine"].decision_function(X)}
    assert_array_equal(found.bands.ci_low, roc_bands(y, scores, **QUICK).ci_low)
    with pytest.raises(ValueError, match="classifiers with predict_proba, got 'machine' without"):
        ReliabilityDisplay.from_estimators(models, X, y)


@pytest.mark.parametrize(
    ("display", "bands_of"),
    [(RocDisplay, roc_bands), (PrecisionRecallDisplay, precision_recall_bands)],
)
def test_curves_are_drawn_from_their_bands(pyplot, display, bands_of):
    y, scores = data()
    bands = bands_of(y, scores, **QUICK)
    found = display(bands).plot()
    for model, line in enumerate(found.lines_):
        assert_array_equal(line.get_xdata(), bands.points[model][0])
        assert_array_equal(line.get_ydata(), bands.points[model][1])
        heights = found.bands_[model].get_paths()[0].vertices[:, 1]
        assert_allclose(heights.min(), bands.ci_low[model].min())
        assert_allclose(heights.max(), bands.ci_high[model].max())
    texts = [text.get_text() for text in found.legend_.get_texts()]
    assert any("AUC 0." in text or "AP 0." in text for text in texts)
    assert found.ax_.get_xlim() == (-0.02, 1.02)


# req_E07: the share of positives, which is the average precision of scores without information.
def test_the_share_of_positives_is_the_line_of_no_information(pyplot):
    found = made(PrecisionRecallDisplay).plot()
    y, _ = data()
    assert_allclose(found.reference_.get_ydata(), y.mean())
    assert any("share of positives" in text.get_text() for text in found.legend_.get_texts())


@pytest.mark.parametrize("display", CURVES)
def test_differences_are_drawn_to_the_first_model(pyplot, display):
    found = made(display).plot(difference=True)
    (line,) = found.lines_
    assert_array_equal(line.get_ydata(), found.bands.difference[1])
    assert found.legend_.get_texts()[0].get_text() == "new \N{MINUS SIGN} old"
    assert found.ax_.get_ylabel().startswith("Difference of ")
    with pytest.raises(ValueError, match="`difference` must be False for a single model"):
        made(display, ["old"]).plot(difference=True)


def test_lost_resamples_are_told_in_the_picture(pyplot):
    found = RocDisplay.from_predictions(
        [1, 1, 1, 0, 0, 0], {"a": [3, 2, 1, 2, 1, 0]}, **QUICK
    ).plot()
    assert found.bands.n_undefined > 0
    assert f"{found.bands.n_undefined} resamples that have no curve" in found.ax_.get_title(
        loc="left"
    )


# req_E28
def test_costs_have_marks_and_references_and_their_unit(pyplot):
    found = made(ThresholdDisplay).plot(unit="EUR", threshold={"new": 0.25})
    assert found.ax_.get_ylabel() == "Mean cost of a row (EUR)"
    assert len(found.references_) == 2
    for model, mark in enumerate(found.best_):
        assert mark.get_xdata()[0] == found.bands.best[model, 0]
        assert_allclose(mark.get_ydata()[0], found.bands.curve[model, 0].min())
    assert_array_equal(found.threshold_lines_[0].get_xdata(), [0.25, 0.25])
    with pytest.raises(ValueError, match="`threshold` must name models of the display"):
        found.plot(threshold={"other": 0.1})


# req_E02
def test_precision_and_recall_share_axes(pyplot):
    y, scores = data()
    found = ThresholdDisplay.from_predictions(y, scores, metric=("precision", "recall"), **QUICK)
    found.plot(threshold=0.4)
    assert len(found.lines_) == 4
    assert found.best_ == found.references_ == []
    assert found.ax_.get_ylabel() == "Precision, recall"
    pytest.importorskip("pandas")
    assert len(found.frame("pandas")) == 2 * 2 * 97


def test_net_benefit_keeps_its_scale_beside_the_references(pyplot):
    y, scores = data()
    found = ThresholdDisplay.from_predictions(y, scores, metric="net_benefit", **QUICK).plot()
    assert found.ax_.get_ylim()[0] > -1
    assert found.references_[1].get_ydata().min() < -1


def test_reliability_of_one_model_has_gaps_and_a_consistency_band(pyplot):
    found = made(ReliabilityDisplay, ["old"]).plot()
    curve = found.curves["old"]
    segments = np.array(found.gaps_.get_segments())
    assert_allclose(segments[:, 0, 1], curve.mean_predicted)
    assert_allclose(segments[:, 1, 1], curve.observed_rate)
    assert found.consistency_ is not None
    assert found.histogram_ax_.get_xlabel() == "Predicted probability of the positive class"
    assert found.histograms["old"].sum() == 60
    assert found.ax_.get_xlim() == found.histogram_ax_.get_xlim()


def test_reliability_of_several_models_or_clusters_has_no_consistency_band(pyplot):
    several = made(ReliabilityDisplay).plot()
    assert several.consistency_ is several.gaps_ is None
    y, scores = data()
    clusters = ReliabilityDisplay.from_predictions(
        y, {"old": scores["old"]}, groups=np.arange(60) // 2, **QUICK
    ).plot()
    assert clusters.consistency_ is None
    assert "clusters" in clusters.ax_.get_title(loc="left")


def test_reliability_can_do_without_histograms_and_without_a_grid(pyplot):
    y, scores = data()
    curve = reliability_curve(y, scores["old"], **QUICK)
    found = ReliabilityDisplay({"old": curve}).plot()
    assert found.histogram_ax_ is None
    assert found.ax_.get_xlabel()
    figure = pyplot.figure()
    inset = made(ReliabilityDisplay).plot(figure.add_axes((0.1, 0.4, 0.8, 0.5)))
    assert inset.histogram_ax_ in inset.ax_.child_axes


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("display", DISPLAYS)
def test_frames_hold_the_numbers(backend, display):
    pytest.importorskip(backend)
    found = made(display).frame(backend)
    columns = list(found.columns) if backend != "pyarrow" else found.column_names
    assert columns[0] == "model"
    assert {"ci_low", "ci_high"} <= set(columns)


def test_frame_of_a_curve_is_in_the_order_of_models():
    pytest.importorskip("pandas")
    found = made(RocDisplay)
    frame = found.frame("pandas")
    of_new = frame[frame["model"] == "new"]
    assert_array_equal(of_new["true_positive_rate"], found.bands.curve[1])
    assert_array_equal(of_new["difference_ci_low"], found.bands.difference_low[1])
    frame = made(ReliabilityDisplay).frame("pandas")
    assert_allclose(frame["gap"], frame["observed_rate"] - frame["mean_predicted"])


def test_other_data_are_refused():
    y, scores = data()
    for display in DISPLAYS[:3]:
        with pytest.raises(TypeError, match=r"`bands` must be .*from_predictions"):
            display(scores)
    with pytest.raises(TypeError, match="`curves` must be a mapping"):
        ReliabilityDisplay(reliability_curve(y, scores["old"], **QUICK))
    with pytest.raises(TypeError, match="`predictions` must be a mapping"):
        ReliabilityDisplay.from_predictions(y, scores["old"])
    with pytest.raises(
        ValueError, match=r"`predictions\['old'\]`: `y_prob` must lie between 0 and 1"
    ):
        ReliabilityDisplay.from_predictions(y, {"old": 3 * scores["old"]})
    with pytest.raises(ValueError, match="`histograms` must name the models"):
        ReliabilityDisplay({"old": reliability_curve(y, scores["old"], **QUICK)}, {"new": [1]})
    bands = threshold_bands(y, scores, metric="recall", **QUICK)
    assert ThresholdDisplay(bands).bands is bands


@pytest.mark.parametrize("display", DISPLAYS)
def test_names_that_begin_with_an_underscore_are_in_legends(pyplot, display):
    y, scores = data()
    answers = dict(zip(["_a", "b"], scores.values(), strict=True))
    drawn = display.from_predictions(y, answers, **KEYWORDS.get(display, {}), **QUICK).plot()
    figure = drawn.figure_
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    texts = [text.get_text() for legend in legends if legend for text in legend.get_texts()]
    assert any(text.startswith(" _a") for text in texts)


@pytest.mark.parametrize("display", DISPLAYS)
def test_legends_in_narrow_axes_are_above_the_curves(pyplot, display):
    figure, axes = pyplot.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
    found = made(display).plot(axes[1])
    figure.canvas.draw()
    legend = found.legend_.get_window_extent().transformed(found.ax_.transData.inverted())
    highest = max(line.get_ydata().max() for line in found.lines_)
    assert legend.y0 >= highest
    assert max(map(len, found.ax_.get_title(loc="left").split("\n"))) < 40
