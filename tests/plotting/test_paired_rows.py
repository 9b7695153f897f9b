"""Where two models disagree, row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from sklearn_pairboot.plotting import PairedRowsDisplay


def test_four_counts_are_a_cross_table(pyplot):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200).astype(str)
    answers = {
        name: np.where(rng.random(200) < share, y, "0")
        for name, share in (("old", 0.6), ("new", 0.8), ("other", 0.1))
    }
    display = PairedRowsDisplay.from_predictions(y, answers).plot()
    right = [answers[name] == y for name in ("old", "new")]
    table = confusion_matrix(*right, labels=[True, False])
    np.testing.assert_array_equal(display.counts, table)
    np.testing.assert_allclose(display.image_.get_array(), table / 200)
    assert (display.n_better, display.n_worse) == (table[1, 0], table[0, 1])
    written = [text.get_text().split("\n")[0] for text in display.texts_]
    assert written == [str(count) for count in table.ravel()]
    assert display.texts_[1].get_text().endswith("only baseline")
    n_apart = table[1, 0] + table[0, 1]
    assert f"they disagree on {n_apart} of 200 rows" in display.ax_.get_xlabel()


def test_sorted_differences_and_their_counts(pyplot):
    old = np.array([0.5, 0.2, 0.9, 0.4, 0.1])
    new = np.array([0.1, 0.4, 0.9, 0.3, 0.2])
    display = PairedRowsDisplay.from_scores(
        {"old": old, "new": new}, metric="log_loss", greater_is_better=False
    ).plot()
    np.testing.assert_allclose(display.line_.get_ydata(), [-0.4, -0.1, 0, 0.1, 0.2])
    assert (display.n_better, display.n_equal, display.n_worse) == (2, 1, 2)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == [
        "baseline better: 2 of 5 rows (40.0%)",
        "model better: 2 of 5 rows (40.0%)",
        "equal: 1 of 5 rows (20.0%)",
    ]
    assert display.ax_.get_ylabel() == "log_loss: new minus old; lower is better"
    # The areas differ in print too.
    assert [area.get_hatch() for area in display.areas_] == ["///", None]


@given(st.lists(st.tuples(*[st.sampled_from([0, 0.5, 1])] * 2), min_size=1, max_size=30))
def test_swapping_models_swaps_the_counts(rows):
    old, new = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    one = PairedRowsDisplay(old, new, baseline="a", model="b")
    other = PairedRowsDisplay(new, old, baseline="b", model="a")
    loss = PairedRowsDisplay(old, new, baseline="a", model="b", greater_is_better=False)
    assert (one.n_better, one.n_worse) == (other.n_worse, other.n_better)
    assert (one.n_better, one.n_worse) == (loss.n_worse, loss.n_better)
    assert one.n_better + one.n_equal + one.n_worse == len(rows)
    if one.is_correctness:
        np.testing.assert_array_equal(one.counts, other.counts.T)
        assert one.counts[1, 0] == one.n_better


def test_many_rows_are_drawn_with_few_points(pyplot):
    rng = np.random.default_rng(0)
    display = PairedRowsDisplay.from_scores({"a": rng.random(50_000), "b": rng.random(50_000)})
    line = display.plot().line_
    assert len(line.get_xdata()) == 2000
    assert line.get_xdata()[-1] == 50_000
    assert line.get_ydata()[-1] == display.differences.max()


@pytest.mark.parametrize("scores", [[0.0, 1.0], [0.3, 0.3]], ids=["correctness", "scores"])
def test_equal_models_and_strange_names(pyplot, scores):
    display = PairedRowsDisplay.from_scores({"$x$\n": scores, "y$": scores}).plot()
    display.figure_.canvas.draw()
    assert (display.n_better, display.n_equal, display.n_worse) == (0, 2, 0)
    labels = display.ax_.get_xlabel() + display.ax_.get_ylabel()
    assert r"'\$x\$\n'" in labels


def test_frame_has_every_row():
    pytest.importorskip("pandas")
    display = PairedRowsDisplay.from_scores({"a": [1, 2, 3], "b": [3, 2, 2.5]})
    frame = display.frame("pandas")
    assert frame["row"].tolist() == [0, 1, 2]
    assert frame["difference"].tolist() == [2.0, 0.0, -0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PairedRowsDisplay.from_scores({"a": [1, 2]}), "at least 2 models"),
        (
            lambda: PairedRowsDisplay.from_scores({"a": [1, 2], "b": [1, np.nan]}),
            "`model_scores` .*1",
        ),
        (
            lambda: PairedRowsDisplay.from_scores({"a": [1, 2], "b": [1, 2]}, baseline="c"),
            "`baseline` must be one of 'a', 'b', got 'c'",
        ),
        (
            lambda: PairedRowsDisplay.from_scores(
                {"a": [1, 2], "b": [1, 2]}, baseline="b", model="b"
            ),
            "`model` must be another than the baseline",
        ),
        (
            lambda: PairedRowsDisplay.from_scores({"a": ["x", "y"], "b": ["x", "x"]}),
            "`baseline_scores` must hold a number for each row",
        ),
        (
            lambda: PairedRowsDisplay.from_predictions([1, 0, 1], {"a": [1, 0], "b": [1, 1]}),
            "predictions",
        ),
        (
            lambda: PairedRowsDisplay.from_predictions(
                [[1, 0], [0, 1]], {"a": [1, 0], "b": [0, 0]}
            ),
            "one label for each row",
        ),
        (
            lambda: PairedRowsDisplay.from_predictions([1, 0], {"a": [1, 0], "b": ["1", "0"]}),
            r"`predictions\['b'\]` must hold labels that occur in `y_true`, got '0', '1'",
        ),
    ],
)
def test_bad_rows_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_baseline_may_be_chosen():
    scores = {"a": [1, 0], "b": [0, 0], "c": [1, 1]}
    chosen = PairedRowsDisplay.from_scores(scores, baseline="b")
    assert (chosen.baseline, chosen.model) == ("b", "a")
    chosen = PairedRowsDisplay.from_scores(scores, model="a")
    assert (chosen.baseline, chosen.model) == ("b", "a")
