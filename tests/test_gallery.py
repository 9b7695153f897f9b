"""Every example of the gallery runs without a warning and prints the figures it is about.

The figures are those of the articles, or of exact enumeration; none is copied from the output.
"""

import re
import runpy
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

FIGURES = {
    "plot_bank_marketing.py": [
        "45,211 calls, 0.1170 of them successful",  # 5,289 calls, says the data's description
        "accuracy of calling nobody: 0.883",
        "AUC with the duration of the call: 0.934",  # req_E31
    ],
    "plot_grid_search.py": ["Best of 36 candidates"],  # pairs of nine columns
    "plot_language_models.py": [
        "400 rows",
        "20 clusters",
        "1,200 rows",
        "exit status 0",
        "exit status 1",
    ],
    "plot_pandas_recipes.py": [
        "scores of 'old' and scores of 'new' have different pandas indexes",
    ],
    "plot_skore.py": ["the same table: True"],
    "plot_training_variability.py": [  # exact.json, nested_seeds_items
        "A - B = 0.375",
        "one model drawn from the method: SD 0.2652 [0, 1]",
        "the method's average, crossed bootstrap: SD 0.2380 [0, 0.875]",
        "these fits only: SD 0.2073 [0, 0.75]",
    ],
    "plot_bootstrap.py": [
        "307 of 500 right, accuracy 0.614",
        "by hand, 95 % percentile interval [0.570, 0.656]",
        "all resamples: [0.572, 0.656], SE 0.0218",  # exact.json
        "binomial SE 0.0218, 1.96 SE = 4.3 points",
        "Wilson: [0.5706, 0.6556]",
    ],
    # The articles give 0.019 for "the calibrated model". By their arrays this is the isotonic map;
    # the error of the Platt map is 0.025 with theirs, and 0.027 with Platt's own targets.
    "plot_calibration.py": [
        "logistic AUC 0.9473",
        "over-confident AUC 0.9473, calibration error 0.069",
        "Platt AUC 0.9473",
        "isotonic AUC 0.9463, calibration error 0.019",
        "calibration error of 0.5 for every row: 0.021",  # 25 of 1,200
    ],
    "plot_cross_validation.py": [
        "mean 0.763, fold SD / sqrt(5) = 0.014",
        "five folds, over 200 splits: 0.71 to 0.78, SD 0.013",
    ],
    "plot_imbalance.py": [
        "positive rows: 105 of 2400, rate 0.04375",
        "accuracy all negative 0.95625",
        "roc_auc all negative 0.50000",
        "average_precision all negative 0.04375",
    ],
    "plot_kappa.py": [
        "judge, balanced items: agreement 0.818",
        "kappa 0.636",
        "always A, easy items: agreement 0.917, chance 0.917, kappa 0.000",
        "balanced: agreement 0.80, kappa 0.600",  # this and the following: exact.json
        "85 % A on both sides: agreement 0.82, kappa 0.294",
        "worse than chance: agreement 0.20, kappa -0.600",
        "exact agreement of two annotators: 0.68",
    ],
    "plot_metrics.py": [
        "{'TP': 1131, 'FP': 98, 'FN': 75, 'TN': 1096}",
        "precision 0.9203 = 1131 / 1229",
        "recall 0.9378 = 1131 / 1206",
        "F1 0.9290",
        "roc_auc 0.9726",
    ],
    "plot_prior_shift.py": ["a probability of 0.5 becomes 0.2059 = 7/34"],
    # The curve is that of the array file, made without this library.
    "plot_thresholds.py": [
        "97 thresholds",
        "threshold 0.1: precision 0.7650, recall 0.9851, F1 0.8612, accuracy 0.8404",
        "threshold 0.5: precision 0.9203, recall 0.9378, F1 0.9290, accuracy 0.9279",
        "threshold 0.9: precision 0.9797, recall 0.7214, F1 0.8309, accuracy 0.8525",
        "highest grid point with recall >= 0.95: 0.40",
        "threshold from costs alone: 0.167",
    ],
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
        "validation rows, which chose the thresholds: too good",
        "test rows, at the same thresholds",
        "peek: thresholds chosen on the test rows, no estimate",
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
    monkeypatch.setattr(sys, "argv", [name])
    with threadpool_limits(1):  # threads of two test processes would wait for one another
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
