"""A comparison of methods as JSON, data frames and markdown, and scores at the edge of float64."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import ComparisonResult, compare_scores
from sklearn_pairboot.training import MethodComparison, compare_methods, compare_runs

RNG = np.random.default_rng(0)
TABLES = {name: RNG.normal(k, 1, (3, 2, 15)) for k, name in enumerate(["old", "a|b", "new"])}
RESULT = compare_runs(TABLES, n_resamples=199, random_state=0, resampled_training=True)


@pytest.fixture(params=["nested", "seeds", "exact", "one method", "fitted", "large seed"])
def result(request):
    if request.param == "nested":
        return RESULT
    if request.param == "one method":
        return compare_runs({"m": TABLES["old"][0]}, n_resamples=99, random_state=0)
    if request.param == "exact":
        few = {name: table[0, :, :4] for name, table in TABLES.items()}
        return compare_runs(few, n_resamples="exact")
    if request.param == "fitted":
        X, y = load_breast_cancer(return_X_y=True)
        trees = {f"depth {k}": DecisionTreeClassifier(max_depth=k, max_features=3) for k in (1, 2)}
        split = X[::2], y[::2], X[1::2], y[1::2]
        return compare_methods(trees, *split, n_seeds=2, n_resamples=99, random_state=0)
    seed = 2**70 if request.param == "large seed" else None
    flat = {name: table[0] for name, table in TABLES.items()}
    return compare_runs(flat, n_resamples=99, random_state=seed)


def test_json_holds_everything(result):
    text = result.to_json()
    again = MethodComparison.from_json(text)
    assert isinstance(again, MethodComparison)
    assert again.to_json() == text
    assert again.summary() == result.summary()
    assert again.to_markdown() == result.to_markdown()
    assert again.random_state_entropy == result.random_state_entropy
    for row, read in zip(result.scores, again.scores, strict=True):
        assert read.predict_std_error(n_items=100) == row.predict_std_error(n_items=100)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_json_of_something_else_is_refused():
    other = compare_scores({"a": [1, 2, 3], "b": [2, 2, 1]}, n_resamples=99).to_json()
    kind = '"format": "sklearn-pairboot method comparison"'
    with pytest.raises(ValueError, match=re.escape(kind)):
        MethodComparison.from_json(other)
    with pytest.raises(ValueError, match='"format": "sklearn-pairboot result"'):
        ComparisonResult.from_json(RESULT.to_json())
    damaged = json.loads(RESULT.to_json())
    del damaged["scores"][0]["components"]
    with pytest.raises(ValueError, match="whole and unchanged, got one without 'components'"):
        MethodComparison.from_json(json.dumps(damaged))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("models", "ab"),
        ("models", [1, 2]),
        ("notes", "a note"),
        ("n_units", "20"),
        ("n_sets", True),
        ("baseline", 4),
        ("unit", None),
        ("resampled_training", "no"),
        ("versions", []),
    ],
)
def test_json_with_values_of_another_kind_is_refused(name, value):
    with pytest.raises(ValueError, match=f"whole and unchanged.*{name}"):
        MethodComparison.from_json(json.dumps({**json.loads(RESULT.to_json()), name: value}))


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_hold_the_rows(backend):
    pytest.importorskip(backend)
    frame = RESULT.to_frame("differences", backend)
    assert frame.shape == (2 * 4, 13)
    columns = {name: list(frame[name]) for name in frame.columns}
    for place, row in enumerate(RESULT.differences):
        assert columns["model"][4 * place] == row.model
        assert columns["target"][4 * place] == "average"
        assert columns["estimate"][4 * place] == row.estimate
        assert columns["ci_low"][4 * place] == row.average.ci_low
        assert columns["p_adjusted"][4 * place] == row.p_adjusted
        assert columns["verdict"][4 * place : 4 * place + 4] == [row.verdict, "", "", ""]
        assert columns["ci_high"][4 * place + 1] == row.one_model.ci_high
    assert RESULT.to_frame("scores", backend).shape == (3 * 4, 13)
    variances = RESULT.to_frame("variances", backend)
    assert list(variances["source"])[:3] == ["training data", "seed", "test rows"]
    assert variances.shape == (5 * 5, 9)
    with pytest.raises(ValueError, match=r"`which` must be one of \['differences', 'scores'"):
        RESULT.to_frame("shares")


def test_markdown_has_the_numbers_of_the_summary_and_escapes_names():
    text, summary = RESULT.to_markdown(), " ".join(RESULT.summary().split())
    assert text.startswith("## Comparison of methods: old, a\\|b, new\n")
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {5, 6}
    for interval in re.findall(r"\[[^\]]*\]", text):
        assert interval in summary


def test_the_generalized_interval_is_that_of_literal_draws():
    """Weerahandi (1993): half width is the quantile of |Z| sqrt(V), V drawn from mean squares."""
    row = RESULT.differences[0]
    assert row.average.variant == "generalized pivot"
    squares = row.components.mean_squares
    n_sets, n_seeds, n_items = 3, 2, 15
    rng = np.random.default_rng(1)
    sets, items, both, seeds, rest = (
        value * df / rng.chisquare(df, 400_000)
        for value, df in zip(squares.values, squares.df, strict=True)
    )
    # Mean squares are those of the set means; a set has the mean of n_seeds fits.
    data = np.maximum(sets - both - seeds / n_seeds + rest / n_seeds, 0)
    seed = np.maximum(seeds - rest, 0)
    of_items = np.maximum(items - both / n_sets, 0)
    crossed = np.maximum(both - rest / n_seeds, 0)
    variance = data * (1 + 1 / n_sets) + seed / (n_sets * n_seeds) + of_items
    variance += crossed / n_sets + rest / (n_sets * n_seeds)
    size = np.abs(rng.normal(size=len(variance))) * np.sqrt(variance)
    half = (row.average.ci_high - row.average.ci_low) / 2
    assert half == pytest.approx(np.quantile(size, 0.95), rel=0.03)
    assert row.average.p_value == pytest.approx(np.mean(size >= abs(row.estimate)), abs=0.005)
    assert n_items == squares.layout.n_units


def test_the_generalized_interval_ends_at_zero_where_its_p_value_is_alpha():
    options = {"n_resamples": 99, "random_state": 0, "resampled_training": True}
    tables = {name: TABLES[name] for name in ("old", "new")}
    p_value = compare_runs(tables, **options).differences[0].average.p_value
    row = compare_runs(tables, confidence_level=1 - p_value, **options).differences[0]
    nearest = min(abs(row.average.ci_low), abs(row.average.ci_high))
    assert nearest == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_resampled_training_sets_with_far_more_varying_seeds_are_covered():
    """Student's t with Satterthwaite's df held 87 % here."""
    rng = np.random.default_rng(0)
    held = by_t = 0
    for _ in range(200):
        sample, sets = rng.normal(0, 1), rng.normal(0, 1, (20, 1, 1))
        seeds = rng.normal(0, 4, (20, 5, 1))
        table = sample + sets + seeds + rng.normal(0, 2, (1, 1, 40))
        options = {"n_resamples": 20, "confidence_level": 0.9, "random_state": 0}
        row = compare_runs({"m": table}, resampled_training=True, **options).scores[0]
        held += row.average.ci_low <= 0 <= row.average.ci_high
        df = row.components.degrees_of_freedom()
        by_t += abs(row.estimate) <= stats.t.isf(0.05, df) * row.average.std_error
    assert 0.85 <= held / 200 <= 0.98
    assert by_t < held


@pytest.mark.parametrize("factor", [2.0**330, 2.0**460, 2.0**-460])
def test_a_change_of_units_changes_nothing_else(factor):
    options = {"n_resamples": 99, "random_state": 0, "resampled_training": True}
    scaled = compare_runs({name: factor * t for name, t in TABLES.items()}, **options)
    plain = compare_runs(TABLES, **options)
    for row, other in zip(scaled.differences, plain.differences, strict=True):
        assert row.estimate == pytest.approx(factor * other.estimate)
        for target in ("average", "one_model", "crossed", "test_rows_only"):
            found, want = getattr(row, target), getattr(other, target)
            assert found.ci_low / factor == pytest.approx(want.ci_low)
            assert found.p_value == pytest.approx(want.p_value)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_scores_whose_squares_leave_float64_are_refused(size):
    tables = {name: size * table[0] / 4 for name, table in TABLES.items()}
    message = r"Scores of method 'old' must be at most 1e\+140, and the largest at least 1e-140"
    with pytest.raises(ValueError, match=message):
        compare_runs(tables, n_resamples=99)
    zero = compare_runs({"a": np.zeros((2, 5)), "b": np.zeros((2, 5))}, n_resamples=99)
    assert zero.differences[0].average.p_value == 1


def test_pages_hold_every_estimate(result):
    html5lib = pytest.importorskip("html5lib")
    page, cell, latex = result.to_html(), result._repr_html_(), result.to_latex("m")
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parse(page)
    parser.parseFragment(cell)
    assert len(page) < 300_000
    rows = result.differences or result.scores
    targets, shares, *scores = tree.iter("table")
    texts = [["".join(item.itertext()) for item in line] for line in targets.iter("tr")]
    lines = [line for line in texts[1:] if len(line) > 1]
    assert len(lines) == 4 * len(rows)
    for row, line in zip(rows, lines[::4], strict=True):  # the first target is the average
        ends = re.findall(r"-?[\d.]+(?:e-?\d+)?", line[3])
        half = 0.6 * 10.0 ** -len(ends[0].partition(".")[2])  # of the last digit
        expected = [row.average.ci_low, row.average.ci_high]
        np.testing.assert_allclose([float(end) for end in ends], expected, rtol=0, atol=half)
        assert (len(line) == 5) is (row.baseline is not None)
    n_sources = sum(len(row.variances) for row in rows)
    assert len(list(shares.iter("tr"))) == 1 + len(rows) + n_sources
    assert len(scores) == bool(result.differences)
    assert r"\label{tab:m-2}" in latex
    assert "Methods" not in page.split("</h1>")[1]


def test_losses_have_a_direction_in_words():
    losses = compare_runs(
        TABLES, n_resamples=99, random_state=0, resampled_training=True, greater_is_better=False
    )
    for text in (losses.summary(), losses.to_markdown(), losses._repr_html_()):
        assert "(lower is better)" in text.partition("target")[0]
