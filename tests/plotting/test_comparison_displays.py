"""Displays of a comparison: what is drawn equals the tables, for every kind of input."""

import itertools
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot.metrics import ECE
from sklearn_pairboot.plotting import (
    ConvergenceDisplay,
    DifferenceDisplay,
    ForestDisplay,
    ForestRow,
    RankDisplay,
)
from sklearn_pairboot.plotting._bins import bin_edges
from sklearn_pairboot.plotting._names import shortened, wrapped
from sklearn_pairboot.report.shown import Shown
from sklearn_pairboot.result import ComparisonResult

TENTHS = dict(zip("ab", np.random.default_rng(0).integers(0, 11, (2, 200)), strict=True))
KINDS = ("forest", "difference", "ranks", "convergence")


def binary(n_models, n=120, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.random(n)
    return {
        f"m{k}": (level + rng.normal(0, 0.3, n) + 0.03 * k > 0.4).astype(float)
        for k in range(n_models)
    }


def compare(scores, **options):
    return compare_scores(scores, **{"n_resamples": 199, "random_state": 0} | options)


@pytest.fixture(scope="module")
def predicted():
    """Two metrics, three models, subgroups; one of them has a single class and so no ROC AUC."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    answers = {
        name: np.clip(0.5 + gain * (y - 0.5) + rng.normal(0, 0.2, 90), 0.02, 0.98)
        for name, gain in (("old", 0.1), ("new", 0.4), ("third", 0.45))
    }
    return compare_predictions(
        y,
        answers,
        scoring=["roc_auc", "neg_log_loss"],
        slices={"site": np.where(y == 0, "south", np.where(rng.random(90) < 0.5, "east", "west"))},
        n_resamples=199,
        random_state=0,
        margin={"roc_auc": 0.05},
    )


def fits(figure):
    """Tell whether all text lies within the figure, and labels of rows do not overlap."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    box = figure.bbox
    for axes in figure.axes:
        legend = axes.get_legend()
        low, high = sorted(axes.get_ylim())
        labels = [
            label for label in axes.get_yticklabels() if low <= label.get_position()[1] <= high
        ]
        texts = [*labels, *axes.texts, axes.xaxis.label, axes.yaxis.label]
        texts += [] if legend is None else legend.get_texts()
        for text in texts:
            extent = text.get_window_extent(renderer)
            inside = (extent.x0 >= box.x0 - 1, extent.x1 <= box.x1 + 1)
            inside += (extent.y0 >= box.y0 - 1, extent.y1 <= box.y1 + 1)
            if text.get_text() and not all(inside):
                return False
        spans = sorted((e.y0, e.y1) for e in (t.get_window_extent(renderer) for t in labels))
        if any(high > low for (_, high), (low, _) in itertools.pairwise(spans)):
            return False
    return True


def test_histogram_is_that_of_all_resamples_req_D10(pyplot):
    scores = {"old": [0.0, 1, 0, 0], "new": [1.0, 1, 1, 0]}
    gains = np.subtract(scores["new"], scores["old"])
    every = Counter(sum(gains[list(rows)]) / 4 for rows in itertools.product(range(4), repeat=4))
    result = compare_scores(scores, n_resamples="exact")
    display = result.plot("difference")
    middles = (display.edges[1:] + display.edges[:-1]) / 2
    assert dict(zip(middles.tolist(), (256 * display.shares).round(9), strict=True)) == every
    np.testing.assert_array_equal(display.histogram_.get_data().values, display.shares)
    np.testing.assert_array_equal(display.histogram_.get_data().edges, display.edges)


def test_histogram_counts_the_replicates_and_marks_the_row_req_D10(pyplot):
    result = compare(binary(2), margin=0.05)
    row = result.differences[0]
    display = result.plot("difference")
    values = result.replicates[:, 0, 1] - result.replicates[:, 0, 0]
    counts = np.histogram(values, display.edges)[0]
    np.testing.assert_allclose(display.shares, counts / 199)
    assert display.line_.get_xdata()[0] == row.difference
    assert display.zero_line_.get_xdata()[0] == 0
    assert [line.get_xdata()[0] for line in display.margin_lines_] == [-0.05, 0.05]
    band = display.interval_.get_extents().transformed(display.ax_.transData.inverted())
    np.testing.assert_allclose([band.x0, band.x1], [row.ci_low, row.ci_high])
    assert display.ax_.get_xlabel() == "mean_score: m1 minus m0; higher is better"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [text.split()[0] for text in legend] == ["estimate", "no", "margin", "95"]


def test_score_of_one_model_is_shown_without_zero_req_D10(pyplot):
    result = compare({"only": binary(1)["m0"]})
    row = result.scores[0]
    display = result.plot("difference")
    assert display.line_.get_xdata()[0] == row.estimate
    assert display.zero_line_ is None
    assert display.ax_.get_xlabel() == "mean_score: only; higher is better"
    values = result.replicates[:, 0, 0]
    np.testing.assert_allclose(display.shares, np.histogram(values, display.edges)[0] / 199)
    forest = result.plot()
    assert [mark.get_xdata()[0] for mark in forest.markers_] == [row.estimate]
    assert forest.zero_lines_ == []


def test_swapped_models_mirror_the_histogram():
    scores = binary(2, n=20)
    one = DifferenceDisplay.from_result(compare(scores))
    other = DifferenceDisplay.from_result(compare(scores, baseline="m1"))
    np.testing.assert_allclose(one.edges, -other.edges[::-1])
    np.testing.assert_allclose(one.shares, other.shares[::-1])


@given(
    st.lists(st.integers(-300, 300), min_size=2, max_size=60, unique=True),
    st.sampled_from([0.01, 1 / 7, 1.0, 1e-9, 3e6]),
)
def test_bins_hold_equally_many_grid_points(steps, step):
    """Shares of rows lie on a grid; a comb would show where bins hold one point or two."""
    steps = sorted({0, 1, *steps})  # neighbours tell the grid
    edges = bin_edges(np.array(steps) * step)
    places = edges / step
    widths = np.diff(places)
    assert np.allclose(widths, np.rint(widths[0]))
    assert np.allclose(places - np.floor(places), 0.5)
    assert edges[0] < steps[0] * step
    assert steps[-1] * step < edges[-1]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 5))
def test_histogram_loses_nothing_and_takes_weights_as_repetition(values, times):
    row = {"estimate": 0.0, "ci_low": 0.0, "ci_high": 0.0, "metric": "m", "model": "a"}
    display = DifferenceDisplay([*values, np.nan], **row)
    assert display.shares.sum() == pytest.approx(1)
    assert display.undefined_share == pytest.approx(1 / (len(values) + 1))
    weights = [times, *[1] * (len(values) - 1)]
    weighted = DifferenceDisplay(values, weights=weights, **row)
    repeated = DifferenceDisplay(np.repeat(values, weights), **row)
    np.testing.assert_allclose(weighted.shares, repeated.shares, atol=1e-12)


def test_the_rarest_resamples_do_not_stretch_the_axis_req_D10():
    random = np.random.default_rng(0)
    scores = {name: random.integers(0, 2, 120) for name in ("old", "new")}
    result = compare_scores(scores, n_resamples="exact")
    values, _ = result._distribution.difference_values(0, 1, 0)
    display = DifferenceDisplay.from_result(result)
    assert np.ptp(values) == 2  # all rows could be one on which the models differ
    assert np.ptp(display.edges) < 10 * result.differences[0].std_error  # normal: 2 x 4.75
    assert display.shares.sum() == pytest.approx(1)
    weights = result._distribution.multiplicities
    for side in (values < display.edges[0], values > display.edges[-1]):
        assert 0 < weights[side].sum() / weights.sum() < 1e-6


def test_no_finite_value_is_refused():
    with pytest.raises(ValueError, match="`values` must hold at least 1 finite value"):
        DifferenceDisplay([np.nan], estimate=0, ci_low=0, ci_high=0, metric="accuracy", model="new")


def test_undefined_resamples_are_told(pyplot):
    display = DifferenceDisplay(
        [np.nan, 0.1, 0.2, 0.1], estimate=0.1, ci_low=0, ci_high=0.2, metric="m", model="a"
    ).plot()
    assert display.ax_.get_ylabel() == "share of resamples\n(25.0% undefined, left out)"


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
    assert high == display.ax_.get_xlim()[1]
    assert [line.get_marker() for line in display.ax_.lines].count(">") == 1
    assert result.plot("difference").interval_ is not None
    assert len(result.plot("convergence").lines_) == 1


def test_all_pairs_name_both_models(pyplot):
    display = compare(binary(3), pairs="all").plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["m1 - m0", "m2 - m0", "m2 - m1"]
    assert display.ax_.get_xlabel().startswith("mean_score: model minus the other;")


def test_difference_of_chosen_models():
    result = compare(binary(3), pairs="all")
    display = DifferenceDisplay.from_result(result, model="m2", baseline="m1")
    (row,) = (r for r in result.differences if (r.model, r.baseline) == ("m2", "m1"))
    assert (display.estimate, display.ci_low, display.baseline) == (
        row.difference,
        row.ci_low,
        "m1",
    )


def test_forest_needs_only_tables(pyplot, predicted):
    tables = ("scores", "differences", "slices", "metrics", "confidence_level")
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


def test_ranks_are_those_of_the_result(pyplot):
    result = compare(binary(4))
    display = result.plot("ranks")
    shares = result.rank_distribution().shares["mean_score"]
    of_model = dict(zip(result.models, shares, strict=True))
    np.testing.assert_array_equal(
        display.image_.get_array(), [of_model[name] for name in display.models]
    )
    assert np.all(np.diff(display.mean_ranks) >= 0)
    np.testing.assert_allclose(display.shares.sum(axis=0), 1)
    written = [text.get_text() for text in display.texts_]
    assert len(written) == 16
    assert written[0] == f"{100 * display.shares[0, 0]:.0f}"
    assert "1 is the best; higher is better" in display.ax_.get_xlabel()


def test_ends_are_quantiles_of_the_first_replicates(pyplot):
    result = compare(binary(2), n_resamples=999)
    display = result.plot("convergence")
    values = result.replicates[:, 0, 1] - result.replicates[:, 0, 0]
    for number, low, high in zip(display.n_resamples, display.ci_low, display.ci_high, strict=True):
        np.testing.assert_allclose(
            [low, high], np.quantile(values[:number], [0.025, 0.975]), atol=1e-12
        )
    row = result.differences[0]
    assert (display.ci_low[-1], display.ci_high[-1]) == (row.ci_low, row.ci_high)
    errors = result.monte_carlo[2]
    assert errors.baseline == "m0"
    assert display.se_low[-1] == errors.se_ci_low
    np.testing.assert_allclose(
        display.se_high, errors.se_ci_high * np.sqrt(999 / display.n_resamples)
    )
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), display.ci_low)
    assert display.zero_line_.get_ydata()[0] == 0
    assert display.ax_.get_xscale() == "log"


@pytest.mark.parametrize(
    ("method", "correction"),
    [("basic", "holm"), ("bca", "holm"), ("studentized", "holm"), ("t", "holm"), ("t", "max-t")],
)
def test_ends_are_those_of_comparisons_with_fewer_resamples(method, correction):
    """The same seed draws the same first resamples, however many are asked for."""
    options = {"method": method, "correction": correction}
    result = compare(binary(3, n=40), **options)
    display = ConvergenceDisplay.from_result(result, model="m2")
    number = int(display.n_resamples[5])
    fewer = compare(binary(3, n=40), n_resamples=number, **options).differences[1]
    found = display.ci_low[5], display.ci_high[5]
    np.testing.assert_allclose(found, (fewer.ci_low, fewer.ci_high), rtol=1e-12)
    scores = ConvergenceDisplay.from_result(result, which="scores", model="m1")
    assert scores.ci_high[-1] == result.scores[1].ci_high


def test_convergence_of_the_rarely_defined(pyplot):
    """ROC AUC with one positive: a resample without it has none."""
    result = compare_predictions(
        np.arange(12) == 3,
        {"a": np.linspace(0, 1, 12), "b": np.linspace(0, 1, 12) ** 2 - 0.3},
        scoring="roc_auc",
        pos_label=True,
        n_resamples=199,
        random_state=0,
    )
    assert result.plot("convergence").ci_low[-1] == result.differences[0].ci_low
    display = result.plot("difference", which="scores", model="a")
    assert 0.2 < display.undefined_share < 0.5
    assert display.undefined_share == result.scores[0].n_undefined / 199


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


@pytest.mark.parametrize("kind", KINDS[1:])
def test_plots_of_replicates_need_them(kind):
    result = compare(binary(2))
    read = ComparisonResult.from_json(result.to_json())
    with pytest.raises(ValueError, match=r"was read from JSON without replicates, so .* not avail"):
        read.plot(kind)
    kept = ComparisonResult.from_json(result.to_json(replicates=True))
    assert DifferenceDisplay.from_result(kept).shares.sum() == pytest.approx(1)
    convolved = compare_scores(TENTHS, n_resamples="exact")
    assert convolved.exact_by == "convolution"
    with pytest.raises(ValueError, match="by convolution, so there are no joint resamples"):
        convolved.plot(kind)


def test_forest_needs_no_replicates(pyplot):
    result = compare(binary(2))
    read = ComparisonResult.from_json(result.to_json())
    assert ForestDisplay.from_result(read).rows == ForestDisplay.from_result(result).rows
    read.plot()


def test_enumerations_do_not_converge():
    result = compare_scores({"a": [0, 1, 0], "b": [1, 1, 0]}, n_resamples="exact")
    with pytest.raises(ValueError, match="needs resamples drawn at random"):
        result.plot("convergence")


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


def test_no_interval_no_convergence():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    result = compare_predictions(
        y,
        {"a": rng.random(60), "b": rng.random(60)},
        scoring=ECE(),
        n_resamples=199,
        random_state=0,
    )
    (row,) = (row for row in result.differences if row.status == "biased")
    with pytest.raises(ValueError, match="needs an interval"):
        result.plot("convergence", metric=row.metric)


def test_plot_is_part_of_how_a_result_is_shown():
    assert ComparisonResult.plot is Shown.plot
