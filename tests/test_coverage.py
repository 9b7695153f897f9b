"""Coverage of intervals and errors of tests: the simulations are right, and a small sample of them.

The functions are those of `benchmarks/coverage.py`, whose numbers doc/coverage.rst shows.
"""

import importlib
import json
import os
import re
import subprocess
import sys
from math import sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from sklearn_pairboot import compare_scores
from sklearn_pairboot._engine.intervals import METHODS

pytestmark = pytest.mark.newest  # simulations of ours and a page

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "results" / "coverage.json"
PAGE = ROOT / "doc" / "coverage.rst"
MAKE_PAGE = BENCHMARKS / "make_coverage_page.py"

# At the end and for a moment only: benchmarks/coverage.py has the name of a package.
sys.path.append(str(BENCHMARKS))
_simulated = importlib.import_module("_simulated")
_trials = importlib.import_module("_trials")
_tallies = importlib.import_module("_tallies")
_test_tables = importlib.import_module("_test_tables")
_page = importlib.import_module("_page")
_coverage_page = importlib.import_module("_coverage_page")
sys.path.remove(str(BENCHMARKS))

Scenario = _simulated.Scenario
LIMITED = Scenario(200, 20, unequal=False, icc=0.4)
N_DATA_SETS = 300
TWO_ERRORS = 2.33  # one-sided 1 %


def data_sets(scenario, n=N_DATA_SETS):
    for simulation in range(n):
        rng = np.random.default_rng(_trials.seed_of(scenario.numbers, simulation))
        yield simulation, _simulated.draw(scenario, rng)


def at_most(rate, n):
    """Highest share of n that is explained by simulation error."""
    return rate + TWO_ERRORS * sqrt(rate * (1 - rate) / n)


def test_intervals_of_squared_calibration_errors_cover():
    stored = json.loads((BENCHMARKS / "results" / "calibration_errors.json").read_text("utf-8"))
    assert stored["n_data_sets"] >= 400
    for row in stored["rows"]:
        assert 0.93 <= row["squared"] <= at_most(0.99, stored["n_data_sets"])
        assert row["squared_alone"] >= 0.93
        assert row["plain_alone"] <= 0.85  # a percentile interval of the plain error, never shown
    calibrated = [row for row in stored["rows"] if row["model"] == "coarse"]
    assert len(calibrated) == 3 and all(row["plain_alone"] == 0 for row in calibrated)


@pytest.fixture(scope="module")
def large():
    return _simulated.draw(Scenario(400_000), np.random.default_rng(1))


# The data sets are what they are said to be.


@pytest.mark.parametrize(
    ("metric", "score", "tolerance"),
    [
        ("mean", lambda data, m: data.items[m].mean(), 0.01),
        ("accuracy", lambda data, m: metrics.accuracy_score(data.y, data.predictions[m]), 0.004),
        ("roc_auc", lambda data, m: metrics.roc_auc_score(data.y, data.decisions[m]), 0.004),
        (
            "average_precision",
            lambda data, m: metrics.average_precision_score(data.y, data.decisions[m]),
            0.006,
        ),
        ("f1", lambda data, m: metrics.f1_score(data.y, data.predictions[m]), 0.006),
        ("log_loss", lambda data, m: metrics.log_loss(data.y, data.probabilities[m]), 0.004),
    ],
)
def test_true_values_are_those_of_a_large_sample(large, metric, score, tolerance):
    # Tolerances are about five standard errors at 400,000 rows.
    for model in ("A", "B", "C"):
        assert score(large, model) == pytest.approx(_simulated.truth(metric, model), abs=tolerance)
    difference = score(large, "C") - score(large, "A")
    assert difference == pytest.approx(_simulated.truth(metric, "C", "A"), abs=tolerance)
    assert abs(difference) > 2 * tolerance  # so that C is told from A
    assert _simulated.truth(metric, "B", "A") == 0.0


def test_equal_models_are_exchangeable_and_differ(large):
    a, b = large.decisions["A"], large.decisions["B"]
    noise = large.y - 0.5
    assert np.corrcoef(a - 1.2 * noise, b - 1.2 * noise)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert np.mean(large.predictions["A"] != large.predictions["B"]) > 0.1


def quantities(data):
    right = {model: (data.predictions[model] == data.y).astype(float) for model in "ABC"}
    losses = {model: _trials.losses(data, model) for model in "ABC"}
    ranks = {model: stats.rankdata(data.decisions[model]) / len(data.y) for model in "ABC"}
    # Of item scores the logarithms: correlations of their long tails are hard to estimate.
    items = {model: np.log(data.items[model]) for model in "ABC"}
    yield from (of["B"] - of["A"] for of in (right, losses, ranks, items))
    yield right["C"] - right["A"]
    yield items["A"]


@pytest.mark.parametrize("icc", [0.0, 0.1, 0.4])
def test_icc_is_that_of_every_quantity(icc):
    # Clusters of two: the ICC is the correlation of their two rows.
    data = _simulated.draw(Scenario(60_000, 30_000, icc=icc), np.random.default_rng(2))
    for values in quantities(data):
        first, second = values.reshape(-1, 2).T
        assert np.corrcoef(first, second)[0, 1] == pytest.approx(icc, abs=0.03)


def test_rows_of_clusters_are_distributed_like_any_row(large):
    clustered = _simulated.draw(
        Scenario(200_000, 50_000, unequal=True, icc=0.4), np.random.default_rng(3)
    )
    for one, other in zip(quantities(clustered), quantities(large), strict=True):
        assert one.mean() == pytest.approx(other.mean(), abs=0.02)
        assert one.std() == pytest.approx(other.std(), rel=0.05)


@pytest.mark.parametrize("n_rows", [20, 50, 1_000])
def test_sizes_of_clusters(n_rows):
    sizes = _simulated.cluster_sizes(Scenario(n_rows, 8), np.random.default_rng(0))
    assert sizes.sum() == n_rows
    assert np.ptp(sizes) <= 1
    drawn = [
        _simulated.cluster_sizes(Scenario(n_rows, 8, unequal=True), np.random.default_rng(seed))
        for seed in range(50)
    ]
    assert {sizes.sum() for sizes in drawn} == {n_rows}
    assert min(sizes.min() for sizes in drawn) >= 1
    assert len(np.unique([sizes.max() for sizes in drawn])) > 3


def test_unequal_sizes_vary_as_they_are_said_to():
    sizes = _simulated.cluster_sizes(
        Scenario(1_000_000, 5_000, unequal=True), np.random.default_rng(4)
    )
    assert sizes.std() / sizes.mean() == pytest.approx(0.7, abs=0.06)


def test_two_learners_are_equal_and_learn():
    X, y = _simulated.draw_learning_data(20_000, np.random.default_rng(5))
    splits = _trials.folds(y, 2, np.random.default_rng(6))
    correct = np.concatenate([found.correct for found in _simulated.learn(X, y, splits)], axis=1)
    # The best possible: four features, whose means differ by 0.8 standard deviations.
    best = stats.norm.cdf(0.4 * sqrt(4))
    assert correct.shape == (2, 20_000)
    np.testing.assert_allclose(correct.mean(axis=1), best, atol=0.012)


@pytest.mark.parametrize("n_folds", [2, 10])
def test_folds_use_every_row_once_and_keep_classes(n_folds):
    y = np.random.default_rng(7).integers(0, 2, 53)
    tests = []
    for train, test in _trials.folds(y, n_folds, np.random.default_rng(8)):
        assert sorted([*train, *test]) == list(range(53))
        tests.append(test)
    assert sorted(np.concatenate(tests)) == list(range(53))
    assert np.ptp([y[test].sum() for test in tests]) <= 1


def test_five_by_two_t_by_hand():
    # Only the first repeat varies: its variance 0.02 counts a fifth, t = 0.3 / sqrt(0.004).
    differences = np.array([[0.3, 0.1], *[[0.2, 0.2]] * 4])
    expected = 2 * stats.t.sf(0.3 / sqrt(0.02 / 5), 5)
    assert _trials.five_by_two_t(differences) == pytest.approx(expected, rel=1e-12)


# What is counted.


@pytest.mark.parametrize(
    ("low", "high", "p_value", "counted"),
    [
        (-1.0, 1.0, 0.5, set()),
        (0.2, 1.0, 0.2, set()),  # an end that touches the truth covers it
        (0.3, 1.0, 0.05, {"above", "rejected"}),
        (-1.0, 0.1, 0.051, {"below"}),
        (np.nan, np.nan, np.nan, {"undefined"}),
    ],
)
def test_tally_of_one_interval(low, high, p_value, counted):
    row = SimpleNamespace(ci_low=low, ci_high=high, p_value=p_value, status="ok")
    found = _trials.tally(row, 0.2)
    assert {what for what, count in found.items() if count} == counted | {"n"}
    assert tuple(found) == _trials.COUNTED
    row.status = "degenerate"
    assert _trials.tally(row, 0.2)["fallback"] == 1


def test_cells_are_counted_as_single_data_sets_are():
    scenario = Scenario(20)
    found = _trials.simulate(scenario, 4, n_resamples=199)
    assert found == _trials.simulate(scenario, 4, n_resamples=199)
    rejected, covered, possible = 0, 0, 0
    for _, data in data_sets(scenario, 4):
        correct = {model: data.predictions[model] == data.y for model in "AB"}
        only_a = int(np.sum(correct["A"] & ~correct["B"]))
        only_b = int(np.sum(correct["B"] & ~correct["A"]))
        rejected += stats.binomtest(only_a, only_a + only_b).pvalue <= 0.05
    assert found["tests"]["McNemar, exact"] == [rejected, 4]
    targets = {tuple(row[:3]) for row in found["intervals"]}
    assert len(targets) == len(found["intervals"]) == 3 * 6 * len(METHODS)
    for row in found["intervals"]:
        n, below, above, undefined = row[3:7]
        assert n == (4 if row[2] != "studentized" else 2)
        covered += n - below - above - undefined
        possible += n
        assert row[-1] > 0
    assert 0.7 * possible < covered < possible


def test_limits_name_what_is_above_them():
    where = (200, 20, False, 0.4)
    tests = [
        _tallies.Tested(*where, "McNemar, exact", 90, 1_000),
        _tallies.Tested(*where, "McNemar, exact, clusters ignored", 900, 1_000),
        _tallies.Tested(*where, "sign test of clusters", 60, 1_000),
        _tallies.Tested(*where, "permutation of roc_auc", 71, 1_000),
        _tallies.Tested(*where, "permutation of mean", 69, 1_000),
    ]
    tallies = [
        _tallies.Tally(*where, _tallies.EQUAL, "f1", method, 1_000, 0, 0, 0, 0, 80, 1.0)
        for method in ("percentile", "t")
    ]
    (above,) = _test_tables.above_nominal(tests)
    assert above.startswith("McNemar, exact, 200 rows, 20 equal clusters, ICC 0.4: 9.0 ")
    named = [line.partition(",")[0] for line in _test_tables.above_limit(tallies, tests)]
    assert named == ["t of f1", "permutation of roc_auc"]


# A sample of the simulations, in every run of the tests.


@pytest.fixture(scope="module")
def errors():
    """Share of rejections of equal models, 20 clusters, by test."""
    methods = [method for method in ("t", "studentized", "percentile") if method in METHODS]
    rejected = dict.fromkeys([*methods, "permutation", "rows"], 0)
    for simulation, data in data_sets(LIMITED):
        result = _trials.compare_items(data, ("A", "B"), 399, simulation)
        for method in methods:
            rejected[method] += result.replace(method=method).differences[0].p_value <= 0.05
        _, p_value = next(_trials.permutation_tests(data, simulation, 1))
        rejected["permutation"] += p_value <= 0.05
        if simulation % 3 == 0:
            of_rows = _trials.compare_items(data, ("A", "B"), 399, simulation, groups=None)
            rejected["rows"] += 3 * (of_rows.differences[0].p_value <= 0.05)
    return {name: count / N_DATA_SETS for name, count in rejected.items()}


@pytest.mark.parametrize("name", ["permutation", "t", "studentized"])
def test_error_with_20_clusters_is_at_most_7_percent(errors, name):
    if name not in errors:
        pytest.skip(f"there is no method {name!r}")
    assert errors[name] <= at_most(0.07, N_DATA_SETS)


def in_band(error):
    """Tell whether an error is that of percentiles with 20 clusters: above 5 %, not far above."""
    return 0.05 < error < 0.15


def test_percentiles_of_clusters_reject_somewhat_too_often_and_of_rows_far_too_often(errors):
    # For normal cluster means 7.1 %: z of 1.96 * sqrt(19 / 20) under t with 19 degrees of freedom.
    assert 2 * stats.t.sf(1.96 * sqrt(19 / 20), 19) == pytest.approx(0.071, abs=0.001)
    assert in_band(errors["percentile"])
    assert not in_band(errors["rows"])
    assert errors["rows"] > 0.3


@pytest.mark.parametrize("method", ["percentile", *({"t"} & set(METHODS))])
def test_coverage_of_a_mean_difference_of_50_rows(method):
    true = _simulated.truth("mean", "C", "A")
    covered = 0
    for simulation, data in data_sets(Scenario(50)):
        result = _trials.compare_items(data, ("A", "C"), 399, simulation, method=method)
        row = result.differences[0]
        covered += row.ci_low <= true <= row.ci_high
    assert 0.91 <= covered / N_DATA_SETS <= 0.97


def test_exact_tests_of_50_rows_do_not_reject_too_often():
    names = ("McNemar, exact", "sign test of rows")
    rejected = dict.fromkeys(names, 0)
    for _, data in data_sets(Scenario(50), 100):
        p_values = dict(_trials.classical_tests(data))
        for name in names:
            rejected[name] += p_values[name] <= 0.05
    assert max(rejected.values()) <= 100 * at_most(0.05, 100)


def test_uncorrected_t_of_overlapping_splits_rejects_far_more_often_than_the_corrected():
    rejected = {"uncorrected paired t, 15 random splits": 0, "corrected resampled t, 10 folds": 0}
    for simulation in range(80):
        rng = np.random.default_rng(_trials.seed_of((100,), simulation))
        p_values = _trials.learning_tests(100, rng, 39)
        for name in rejected:
            rejected[name] += p_values[name] <= 0.05
    uncorrected, corrected = rejected.values()
    assert uncorrected > 12 > 80 * at_most(0.05, 80) >= corrected


# The script and the page.


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=BENCHMARKS
    )


def test_simulation_goes_on_where_it_was_and_makes_a_page(tmp_path):
    page, file = tmp_path / "page.rst", tmp_path / "coverage.json"
    options = ("--quick", "--results", tmp_path, "--page", page)
    cell = "20 rows, 8 equal clusters, ICC 0.1"
    made = run(MAKE_PAGE, "--run", "--only", cell, *options)
    assert made.returncode == 0, made.stderr
    assert cell in made.stdout
    # In one process: with the same settings it goes on, with others it refuses.
    calls = [
        ["coverage", "--quick", "--only", "20 rows, 8 equal", "--json", str(file)],
        ["coverage", "--only", cell, "--json", str(file)],
    ]
    script = f"import coverage, sys\nfor sys.argv in {calls}:\n    coverage.main()"
    again = run("-c", script)
    assert again.returncode == 1
    assert "`quick, n_resamples` of" in again.stderr
    assert "20 rows, 8 equal clusters, ICC 0.4" in again.stdout
    assert cell not in again.stdout  # it was there already
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert [found["icc"] for found in cells] == [0.0, 0.1, 0.4]
    text = page.read_text(encoding="utf-8")
    assert "``python benchmarks/make_coverage_page.py``" in text
    _page.save(page, text, "make_coverage_page.py", check=True)
    with pytest.raises(SystemExit, match="page.rst is not what benchmarks/make_coverage_page.py"):
        _page.save(page, text.replace("ICC", "icc"), "make_coverage_page.py", check=True)
    assert page.read_text(encoding="utf-8") == text


def test_page_of_a_few_cells():
    scenarios = [Scenario(50), Scenario(50, 20, icc=0.4), Scenario(50, 20, unequal=True, icc=0.4)]
    cells = [
        {"n_rows": 50, **scenario._asdict(), **_trials.simulate(scenario, 2, n_resamples=199)}
        for scenario in scenarios
    ]
    cells.append({"n_rows": 50, **_trials.simulate_learning(50, 2, n_resamples=199)})
    environment = {"processor": "one", "cores": 2, "system": "any", "versions": {"numpy": "2"}}
    result = {
        "quick": True,
        "date": "2020-01-01",
        "environment": environment,
        "n_resamples": 199,
        "cells": cells,
    }
    text = _coverage_page.render(json.loads(json.dumps(result)))
    assert "a trial with a few data sets" in text
    readable_by_docutils(text)
    titles = re.findall(
        r"^   \* - clusters\n     - sizes\n     - ICC\n((?:     - .*\n)+)", text, re.M
    )
    (methods,) = (re.findall("``(.*)``", title) for title in titles)
    assert methods == list(METHODS)
    for name in cells[-1]["tests"].keys() | cells[1]["tests"].keys():
        assert f"   * - {name}\n" in text


def readable_by_docutils(text):
    core = pytest.importorskip("docutils.core")
    settings = {"report_level": 2, "halt_level": 2, "_disable_config": True}
    tree = core.publish_doctree(text, settings_overrides=settings)
    assert [node for node in tree.findall() if node.tagname == "system_message"] == []
    assert any(node.tagname == "table" for node in tree.findall())


@pytest.fixture(scope="module")
def results():
    if not RESULTS.exists():
        pytest.skip("the simulation has not been run")
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def test_coverage_page_is_what_its_script_writes(results):
    checked = run(MAKE_PAGE, "--check")
    assert checked.returncode == 0, checked.stderr
    readable_by_docutils(PAGE.read_text(encoding="utf-8"))


def test_simulation_was_of_all_methods_and_is_no_trial(results):
    assert not results["quick"]
    assert results["methods"] == list(METHODS)


def test_coverage_page_shows_the_simulated_numbers(results):
    """Recompute the coverage of differences of 200 rows by every method."""
    (cell,) = (cell for cell in results["cells"] if cell["name"] == "200 rows")
    section = PAGE.read_text(encoding="utf-8").partition("\nCoverage: rows\n")[2]
    row = section.partition("\n   * - 200\n")[2].partition("\n   * - ")[0]
    shown = [float(number) for number in re.findall(r"^     - ([\d.]+) \(", row, re.MULTILINE)]
    expected = []
    for method in METHODS:
        missed = [
            sum(counts[4:7]) / counts[3]
            for counts in cell["intervals"]
            if counts[0] != "value of one model" and counts[2] == method
        ]
        expected.append(100 * (1 - sum(missed) / len(missed)))
    assert shown == pytest.approx(expected, abs=0.051)


def test_true_calibration_errors_are_those_of_a_large_sample(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(os, "environ", os.environ.copy())  # which the scripts change
    module = importlib.import_module("calibration_errors")
    rng = np.random.default_rng(0)
    y, given = module.answers(rng, 400_000, 1)
    for name, truth in module.TRUTH.items():
        p = given[name]
        bins = np.minimum((p * module.N_BINS).astype(int), module.N_BINS - 1)
        weight = np.bincount(bins, minlength=module.N_BINS)
        gap = np.bincount(bins, p - y, module.N_BINS)
        assert np.abs(gap).sum() / len(y) == pytest.approx(truth.plain, abs=4e-3)
        assert (gap**2 / weight).sum() / len(y) == pytest.approx(truth.squared, abs=4e-4)


def test_tests_of_20_clusters_keep_their_level_with_normal_intercepts():
    """Unlike the near-copies of the page, cluster means are then normal: t is exact."""
    n_data_sets, groups = 150, np.repeat(np.arange(20), 10)
    rejected = dict.fromkeys(("studentized", "t", "expanded", "percentile"), 0)
    for number in range(n_data_sets):
        rng = np.random.default_rng(number)
        values = sqrt(0.4) * rng.normal(size=20)[groups] + sqrt(0.6) * rng.normal(size=200)
        result = compare_scores(
            {"a": np.zeros(200), "b": values},
            groups=groups,
            method="studentized",
            n_resamples=499,
            random_state=number,
        )
        for method in rejected:
            row = result.replace(method=method).differences[0]
            rejected[method] += row.p_value <= 0.05
    limit = stats.binom.ppf(0.999, n_data_sets, 0.07)  # at most 7 % was asked for
    for method in ("studentized", "t", "expanded"):
        assert rejected[method] <= limit
    assert rejected["t"] <= rejected["percentile"]
