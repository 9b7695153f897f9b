"""Every example of the gallery runs without a warning and prints the figures it is about.

The figures are those of the articles, or of exact enumeration; none is copied from the output.
"""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

FIGURES = {
    "plot_clusters.py": [
        "intraclass correlation: 0.320",
        "design effect: 3.88",
        "effective number of rows: 129",
        "304 of 500 intervals cover the truth, 0.608",
        "468 of 500 intervals cover the truth, 0.936",
    ],
    "plot_exact_small_examples.py": [
        "3125 resamples, 56 different ones",
        "mean 0.2, SD 0.334664, interval [-0.4, 0.8]",
        "drawing 100 rows: SD 0.074833, interval [0.05, 0.35]",
        "drawing 5 items: SD 0.334664, interval [-0.40, 0.80]",
        "identical, shared draws, 256 ways: variance of the difference 0.0000",
        "identical, separate draws, 65536 ways: variance of the difference 0.1250",
        "complementary, shared draws, 256 ways: variance of the difference 0.2500",
        "complementary, separate draws, 65536 ways: variance of the difference 0.1250",
        "SD 0.334664 shared, 0.309839 separate",
        "175 of 256 resamples positive, 68.36%",
        "equal weight of rows: 0.4, SD 0.154093, interval [0.1000, 0.7143], of 256",
        "equal weight of clusters: 0.5, SD 0.176777, interval [0.1250, 0.8750], of 256",
        "4 of 32: p = 0.125, least 0.125",
        "swapped by item: p = 0.125",
        "p = 2**-79",
        "14 of 32: p = 0.4375",
    ],
    "plot_fold_dependence.py": [
        "mean 0.763",
        "fold SD / sqrt(5) = 0.014",
        "training rows that two folds share: 0.75",
        "over 200 splits of the same rows: 0.013",
    ],
    "plot_judge_bias.py": [
        "A chosen when first 0.604, second 0.392",
        "gap +0.212",
        "verdict changes with the order: 43.4%",
        "agreement with the human on consistent items: 0.906",
        "single verdicts for the longer answer: 0.65",
        "consistent verdicts for it: 0.81",
    ],
    "plot_multiple_benchmarks.py": [
        "expected number among 20: 0.929",
        "at least one: 0.614",
        "leads expected without ties: 10 +- 2.2",
    ],
    "plot_paired.py": [
        "unpaired z = 1.38",
        "only the new model is right: 33",
        "only the old model is right: 12",
        "McNemar z = 3.1305",
        "exact p = 0.002459",
        "mid-p   = 0.001641",
    ],
    "plot_protocol.py": [
        "Thresholds, chosen on validation rows alone",
        "The same thresholds on the test rows",
        "Peek: had the rule chosen on the test rows themselves. An upper bound",
    ],
    "plot_ties.py": [
        "positive rows first: 0.8889",
        "negative rows first: 0.6667",
        "0.7778 = 7/9",
        "rounded to tenths: AUC 0.9699, 11 distinct scores",
        "rounded to halves: AUC 0.9515, 3 distinct scores",
        "exact: AUC 0.9726",
    ],
}


@pytest.fixture
def pyplot(monkeypatch):
    """Draw without a screen, and leave no figure behind."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg", force=True)
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    yield pyplot
    pyplot.close("all")


@pytest.mark.newest
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("plot_*.py")))
def test_example_prints_its_figures(name, pyplot, monkeypatch, capsys):
    monkeypatch.chdir(EXAMPLES)
    runpy.run_path(name, run_name="__main__")
    printed, errors = capsys.readouterr()
    assert errors == ""
    assert pyplot.get_fignums()
    missing = [figure for figure in FIGURES.get(name, ()) if not is_in(figure, printed)]
    assert not missing, printed


def test_figures_belong_to_examples():
    assert all((EXAMPLES / name).is_file() for name in FIGURES)


def is_in(figure, printed):
    """Find a figure that is no part of a longer number; lines may be broken anywhere."""
    text = " ".join(printed.split())
    figure = re.escape(" ".join(figure.split()))
    return re.search(rf"(?<![\d.]){figure}(?!\d|\.\d)", text) is not None
