"""Where the variance of a method's average comes from, drawn."""

import math

import numpy as np
import pytest

from sklearn_pairboot import compare_runs
from sklearn_pairboot.plotting import VarianceShareRow, VarianceSharesDisplay


def runs(n_models):
    rng = np.random.default_rng(0)
    level = rng.random(60)
    result = {}
    for k in range(n_models):
        noise = rng.normal(0, 0.3, (4, 60)) + rng.normal(0, 0.1, (4, 1))
        result[f"m{k}"] = (level + noise > 0.4).astype(float)
    return compare_runs(result, n_resamples=199, random_state=0)


def test_bars_and_intervals_are_those_of_the_result(pyplot):
    result = runs(3)
    display = result.plot()
    for estimate in result.differences:
        for part in estimate.variances:
            place = [row.model for row in result.differences].index(estimate.model)
            assert display.bars_[part.source][place].get_width() == part.share
    parts = [part for row in result.differences for part in row.variances]
    assert [tuple(line.get_xdata()) for line in display.intervals_] == [
        (part.share_low, part.share_high) for part in parts
    ]
    hatches = [bars[0].get_hatch() for bars in display.bars_.values()]
    assert len(set(hatches)) == len(hatches) == 3
    sources = [part.source for part in result.differences[0].variances]
    labels = display.ax_.get_yticklabels()
    assert [label.get_text() for label in labels] == ["m1", *sources, "m2", *sources]
    assert [label.get_position()[1] for label in labels if label.get_fontweight() == "bold"] == [
        0,
        4,
    ]
    # Every bar stands beside the name of its source.
    for bars, source in zip(display.bars_.values(), sources, strict=True):
        middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        assert [labels[round(middle)].get_text() for middle in middles] == [source] * 2
    assert display.ax_.get_xlim() == (0, 1)
    assert "from m0" in " ".join(display.ax_.get_xlabel().split())
    assert display.ax_.get_legend() is None
    scores = result.plot(which="scores")
    assert len(scores.ax_.get_yticklabels()) == 3 * 4
    assert "m0" not in scores.ax_.get_xlabel()


def test_one_method_shows_its_score(pyplot):
    result = runs(1)
    display = result.plot()
    assert {row.label for row in display.rows} == {"m0"}
    with pytest.raises(ValueError, match="`which` must be 'scores'"):
        result.plot(which="differences")
    with pytest.raises(ValueError, match="`metric` must be one of 'mean_score'"):
        result.plot(metric="f1")
    with pytest.raises(ValueError, match="`rows` must hold at least 1"):
        VarianceSharesDisplay([], metric="m")


def test_nothing_varies_and_strange_names(pyplot):
    same = np.ones((3, 8))
    display = compare_runs({"$a$\n": same, "b" * 90: same}, random_state=0, n_resamples=99).plot()
    display.figure_.canvas.draw()
    assert all(math.isnan(row.share) for row in display.rows)
    assert all(bar[0].get_width() == 0 for bar in display.bars_.values())
    assert r"'\$a\$\n'" in display.ax_.get_xlabel()


def test_shares_without_intervals(pyplot):
    rows = [VarianceShareRow("a", "seed", 0.3, math.nan, math.nan)]
    assert VarianceSharesDisplay(rows, metric="m").plot().intervals_ == [None]


def test_frame_has_the_shares():
    pytest.importorskip("pandas")
    result = runs(2)
    frame = VarianceSharesDisplay.from_result(result).frame("pandas")
    shares = [part.share for part in result.differences[0].variances]
    assert frame["share"].tolist() == shares
    assert sum(shares) == pytest.approx(1)
