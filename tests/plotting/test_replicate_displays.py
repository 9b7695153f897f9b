"""Displays of replicates: histograms, ranks and convergence are those of the resamples."""

import itertools
from collections import Counter

import numpy as np
import pytest
from drawn import binary, compare
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot.metrics import ECE
from sklearn_pairboot.plotting import ConvergenceDisplay, DifferenceDisplay
from sklearn_pairboot.plotting._bins import bin_edges
from sklearn_pairboot.result import ComparisonResult

TENTHS = dict(zip("ab", np.random.default_rng(0).integers(0, 11, (2, 200)), strict=True))


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


def test_difference_of_chosen_models():
    result = compare(binary(3), pairs="all")
    display = DifferenceDisplay.from_result(result, model="m2", baseline="m1")
    (row,) = (r for r in result.differences if (r.model, r.baseline) == ("m2", "m1"))
    assert (display.estimate, display.ci_low, display.baseline) == (
        row.difference,
        row.ci_low,
        "m1",
    )


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


@pytest.mark.parametrize("kind", ["difference", "ranks", "convergence"])
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


def test_enumerations_do_not_converge():
    result = compare_scores({"a": [0, 1, 0], "b": [1, 1, 0]}, n_resamples="exact")
    with pytest.raises(ValueError, match="needs resamples drawn at random"):
        result.plot("convergence")


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
