"""Displays of a comparison: what is drawn equals the tables, for every kind of input."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import binary, compare, fits

from sklearn_pairboot.plotting import (
    ConvergenceDisplay,
    DifferenceDisplay,
    ForestDisplay,
    ForestRow,
    RankDisplay,
)
from sklearn_pairboot.plotting._names import shortened, wrapped
from sklearn_pairboot.report.shown import Shown
from sklearn_pairboot.resampling import BayesianBootstrap
from sklearn_pairboot.result import ComparisonResult

KINDS = ("forest", "difference", "ranks", "convergence")


def test_forest_draws_the_table_of_differences(pyplot, predicted):
    display = predicted.plot()
    rows = predicted.differences
    assert [axes.get_xlabel().split("\n")[0] for axes in display.axes_] == [
        "roc_auc: model minus old; higher is better",
        "log_loss: model minus old; lower is better",
    ]
    assert display.ax_ is display.axes_[0]
    assert [mark.get_xdata()[0] for mark in display.markers_] == [row.difference for row in rows]
    drawn = [tuple(line.get_xdata()) for line in display.intervals_]
    assert drawn == [(row.ci_low, row.ci_high) for row in rows]
    for text, row in zip(display.texts_, rows, strict=True):
        assert text.get_text().endswith(row.verdict)
    labels = [label.get_text() for axes in display.axes_ for label in axes.get_yticklabels()]
    assert labels == [row.model for row in rows]
    # Rows are drawn from the top down.
    assert display.ax_.get_ylim() == (1.5, -0.5)
    assert len(display.zero_lines_) == 2
    # Only ROC AUC has a margin.
    segments = [lines.get_segments() for lines in display.margin_lines_]
    assert sorted({point[0] for lines in segments for line in lines for point in line}) == [
        -0.05,
        0.05,
    ]
    assert all(axes.get_xlim()[0] < 0 < axes.get_xlim()[1] for axes in display.axes_)
    assert fits(display.figure_)


def test_hollow_markers_are_inconclusive(pyplot):
    display = ForestDisplay(
        [
            ForestRow("m", "a", 0.1, 0.1, -0.1, 0.3, True, "inconclusive"),
            ForestRow("m", "b", 0.3, 0.1, 0.1, 0.5, True, "better"),
        ]
    ).plot()
    hollow, full = (marker.get_markerfacecolor() for marker in display.markers_)
    assert hollow == display.ax_.get_facecolor()
    assert full == display.markers_[1].get_color()


def test_forest_of_scores_and_subgroups(pyplot, predicted):
    scores = predicted.plot(which="scores")
    assert [mark.get_xdata()[0] for mark in scores.markers_] == [
        row.estimate for row in predicted.scores
    ]
    assert scores.zero_lines_ == []
    slices = predicted.plot(which="slices", metric="roc_auc")
    rows = [row for row in predicted.slices if row.metric == "roc_auc"]
    # Each site has one class alone: no ROC AUC, no marker, and the row says so.
    assert {row.status for row in rows} == {"undefined"}
    assert slices.markers_ == slices.intervals_ == [None] * len(rows)
    assert {text.get_text() for text in slices.texts_} == {"undefined"}
    labels = [label.get_text() for label in slices.ax_.get_yticklabels()]
    assert labels == [f"{row.slice} = {row.label}: {row.model}" for row in rows]
    assert fits(slices.figure_)


def test_open_ends_reach_the_edge_with_an_arrow(pyplot):
    result = compare(binary(2), alternative="better")
    display = result.plot()
    low, high = display.intervals_[0].get_xdata()
    assert low == result.differences[0].ci_low
    assert high > display.ax_.get_xlim()[1]  # cut at the edge, where the arrow is
    assert [line.get_marker() for line in display.ax_.lines].count(">") == 1
    assert result.plot("difference").interval_ is not None
    assert len(result.plot("convergence").lines_) == 1


def test_all_pairs_name_both_models(pyplot):
    display = compare(binary(3), pairs="all").plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["m1 - m0", "m2 - m0", "m2 - m1"]
    assert display.ax_.get_xlabel().startswith("mean_score: model minus the other;")


def test_forest_needs_only_tables(pyplot, predicted):
    tables = ("scores", "differences", "slices", "metrics", "confidence_level", "correction")
    bare = SimpleNamespace(**{name: getattr(predicted, name) for name in tables})
    assert len(ForestDisplay.from_result(bare).plot().markers_) == 4


def test_axes_of_the_caller_are_used(pyplot, predicted):
    figure, axes = pyplot.subplots(2, 1)
    assert predicted.plot(ax=axes).figure_ is figure
    assert predicted.plot("ranks", axes[0], metric="roc_auc").ax_ is axes[0]
    with pytest.raises(ValueError, match="`ax` must hold axes for each of the 2 metrics, got 1"):
        predicted.plot(ax=axes[0])
    with pytest.raises(TypeError, match="`ax` must be matplotlib axes or None, got int"):
        predicted.plot(ax=3, metric="roc_auc")
    assert pyplot.get_fignums() == [figure.number]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "scores",
    [
        {"a": [0.0, 1, 1, 0, 1, 1], "b": [0.0, 1, 1, 0, 1, 1]},
        {"a": [0.0] * 6, "b": [1.0] * 6},
        {"a": [1e-300, 0, 0, 1e-300, 0, 0], "b": [0.0, 1e-300, 0, 0, 0, 0]},
        {"a": [1e15, 1e15 + 2, 1e15, 1e15, 1e15, 1e15], "b": [1e15] * 6},
    ],
    ids=["equal", "constant", "tiny", "large"],
)
def test_degenerate_comparisons_are_drawn(pyplot, scores, kind):
    display = compare(scores).plot(kind)
    display.figure_.canvas.draw()
    if kind == "difference" and scores["a"] == scores["b"]:
        assert display.shares.tolist() == [1.0]
        assert display.edges[0] < 0 < display.edges[1]


@pytest.mark.parametrize("kind", KINDS)
def test_strange_and_long_names_are_shown_as_they_are(pyplot, kind):
    n_models = 20 if kind in ("forest", "ranks") else 3
    scores = binary(n_models, n=40)
    names = [
        f"gradient boosting of {k} trees, $C$ = {k}, {'and more of it ' * 5}"
        for k in range(n_models - 1)
    ]
    scores = dict(zip([*names, "two\nlines $"], scores.values(), strict=True))
    result = compare(scores)
    options = {"model": "two\nlines $"} if kind in ("difference", "convergence") else {}
    display = result.plot(kind, **options)
    assert fits(display.figure_)
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    shown += [display.ax_.get_xlabel(), display.ax_.get_ylabel()]
    assert any(r"\$" in text for text in shown)
    assert all(text.count("$") == text.count(r"\$") for text in shown)
    if kind in ("forest", "ranks"):
        assert len({text for text in shown[:-2] if "gradient" in text}) == 19 - (kind == "forest")
        assert any(r"'two\nlines \$'" in text for text in shown)


def test_rows_without_interval_say_so(pyplot):
    row = ForestRow("ece", "new", 0.012, 0.04, np.nan, np.nan, False, "inconclusive")
    (text,) = ForestDisplay([row]).plot().texts_
    assert text.get_text() == "+0.012 no interval  inconclusive"


def test_long_names_lose_their_middle():
    assert shortened("a" * 40) == "a" * 40
    assert shortened("begin" + "x" * 80 + "end", 23) == "beginxxxxx ... xxxxxxxend"
    assert wrapped("word " * 200 + "end").count("\n") == 3
    assert wrapped("word " * 200 + "end").endswith("end")


@pytest.mark.parametrize("kind", KINDS)
def test_dark_backgrounds_keep_their_colours(pyplot, kind):
    with pyplot.style.context("dark_background"):
        display = compare(binary(2)).plot(kind)
        display.figure_.canvas.draw()
    for text in (display.ax_.xaxis.label, *display.ax_.get_yticklabels()):
        assert text.get_color() == "white"


def test_forest_needs_no_replicates(pyplot):
    result = compare(binary(2))
    read = ComparisonResult.from_json(result.to_json())
    assert ForestDisplay.from_result(read).rows == ForestDisplay.from_result(result).rows
    read.plot()


def test_frames_hold_the_numbers(predicted):
    pytest.importorskip("pandas")
    rows = ForestDisplay.from_result(predicted).frame("pandas")
    table = predicted.to_frame(backend="pandas")
    for ours, theirs in (("estimate", "difference"), ("ci_low", "ci_low"), ("margin", "margin")):
        np.testing.assert_array_equal(rows[ours], table[theirs])
    display = DifferenceDisplay.from_result(predicted, metric="roc_auc", model="new")
    frame = display.frame("pandas")
    assert list(frame) == ["low", "high", "share"]
    assert frame["share"].sum() == pytest.approx(1)
    ranks = RankDisplay.from_result(predicted, metric="roc_auc").frame("pandas")
    assert list(ranks) == ["model", "mean_rank", "rank_1", "rank_2", "rank_3"]
    ends = ConvergenceDisplay.from_result(predicted, metric="roc_auc", model="new").frame("pandas")
    assert ends["n_resamples"].tolist()[-1] == 199


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bars", {}, "`kind` must be one of 'forest', 'difference'"),
        ("forest", {"metric": "f1"}, "`metric` must be one of 'roc_auc', 'log_loss', got 'f1'"),
        ("forest", {"which": "rows"}, "`which` must be one of 'differences', 'scores', 'slices'"),
        ("difference", {}, "`metric` must be one of 'roc_auc', 'log_loss', got None"),
        ("difference", {"metric": "roc_auc"}, "`model` must be one of 'new', 'third', got None"),
        ("difference", {"metric": "roc_auc", "model": "old"}, "`model` must be one of 'new'"),
        (
            "difference",
            {"metric": "roc_auc", "model": "new", "baseline": "third"},
            "`baseline` must be one of 'old', got 'third'",
        ),
        (
            "convergence",
            {"metric": "roc_auc", "which": "scores", "model": "new", "baseline": "old"},
            "`baseline` must be None for a score",
        ),
        ("ranks", {}, "`metric` must be one of"),
    ],
)
def test_choices_are_checked_before_drawing(predicted, kind, options, message):
    with pytest.raises(ValueError, match=message):
        predicted.plot(kind, **options)


def test_what_is_not_there_is_refused():
    result = compare({"only": [0.0, 1, 1]})
    with pytest.raises(ValueError, match="`which` must be 'scores' where there is a single model"):
        result.plot(which="differences")
    with pytest.raises(ValueError, match="Pass `slices=`"):
        result.plot(which="slices")
    with pytest.raises(ValueError, match="`rows` must hold at least 1"):
        ForestDisplay([])
    with pytest.raises(ValueError, match=r"`shares` must have a row for each of the 2 models"):
        RankDisplay([[1.0]], ["a", "b"], metric="m")


@pytest.mark.parametrize("kind", KINDS)
def test_without_matplotlib_one_line_names_the_extra(monkeypatch, kind):
    result = compare(binary(2))
    for name in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install sklearn-pairboot\[plot\]") as caught:
        result.plot(kind)
    assert "\n" not in str(caught.value)


def test_plot_is_part_of_how_a_result_is_shown():
    assert ComparisonResult.plot is Shown.plot


@pytest.mark.parametrize("family", ["metric", "all"])
def test_simultaneous_intervals_are_called_so(pyplot, family):
    slices = {"half": np.repeat(["a", "b"], 60)}
    result = compare(binary(3), correction="max-t", family=family, slices=slices)
    assert result.plot().ax_.get_xlabel().endswith("(simultaneous 95 % intervals)")
    in_slices = result.plot(which="slices").ax_.get_xlabel()
    assert in_slices.endswith("(simultaneous 95 % intervals)")
    assert "simultaneous" not in result.plot(which="scores").ax_.get_xlabel()
    for kind, words in (
        ("difference", "simultaneous 95 % interval ["),
        ("convergence", "lower end of the simultaneous 95 % interval"),
    ):
        legend = result.plot(kind, model="m2").ax_.get_legend().get_texts()
        assert any(text.get_text().startswith(words) for text in legend)
    alone = compare(binary(2), correction="max-t")
    assert alone.plot().ax_.get_xlabel().endswith("\n(95 % intervals)")
    others = compare(binary(3), correction="holm")
    assert others.plot().ax_.get_xlabel().endswith("\n(95 % intervals)")


def test_posterior_draws_are_called_so(pyplot):
    result = compare(binary(3), resampling=BayesianBootstrap())
    axes = [result.plot(kind, model="m1").ax_ for kind in ("difference", "convergence")]
    assert axes[0].get_ylabel() == "share of posterior draws"
    assert axes[1].get_xlabel() == "number of posterior draws (log scale)"
    assert "of the posterior draws" in result.plot("ranks").ax_.get_xlabel().replace("\n", " ")


def test_metrics_without_intervals_do_not_name_a_level(pyplot):
    rows = [ForestRow("ece", "a", 0.1, math.nan, math.nan, math.nan, False, "inconclusive")]
    assert ForestDisplay(rows).plot().ax_.get_xlabel().endswith("\n(no intervals)")


@pytest.mark.parametrize("kind", ["forest", "difference"])
@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
def test_plots_on_shared_axes_do_not_cut_one_another(pyplot, kind, alternative):
    """In whatever order they come, all is seen: bars, interval ends, and legends above the bars."""
    results = [
        compare({name: scale * values for name, values in binary(2, n=60).items()}, **options)
        for scale, options in ((0.01, {"alternative": alternative}), (1.0, {}), (0.1, {}))
    ]
    figure, axes = pyplot.subplots(3, 1, sharex=True, sharey=kind == "difference")
    displays = [result.plot(kind, ax) for result, ax in zip(results, axes, strict=True)]
    low, high = axes[0].get_xlim()
    for result, display in zip(results, displays, strict=True):
        (row,) = result.differences
        finite = [end for end in (row.ci_low, row.ci_high, 0.0, row.difference) if np.isfinite(end)]
        assert low < min(finite) <= max(finite) < high
        if kind == "difference":
            assert low < display.edges[0] < display.edges[-1] < high
            assert (
                display.shares.max()
                < display.ax_.get_ylim()[1]
                < 4 * max(other.shares.max() for other in displays)
            )
            ends = display.interval_.get_extents().transformed(display.ax_.transData.inverted())
            ends = (ends.x0, ends.x1)
        else:
            ends = tuple(display.intervals_[0].get_xdata())
        # Open ends reach beyond the edge, wherever that came to lie.
        assert (ends[0] < low) == np.isinf(row.ci_low)
        assert (ends[1] > high) == np.isinf(row.ci_high)
    figure.canvas.draw()
