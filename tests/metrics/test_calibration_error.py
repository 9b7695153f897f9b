"""The binned calibration error: hand-worked cases, literal loops, resamples, and verdicts."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate

from examples import max_examples
from sklearn_pairboot import (
    ECE,
    ClusterBootstrapScorer,
    ComparisonResult,
    PairedBootstrapComparator,
    compare_cross_validate,
    compare_estimators,
    compare_predictions,
)
from sklearn_pairboot._engine.binned import BinnedKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.metrics import expected_calibration_error, squared_calibration_error


def literal_error(y, p, edges, norm="l1", debias=False, weight=None):
    """The definition as a loop over bins, with `numpy.histogram`'s rule: the last one is closed."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    found = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        here = (p >= low) & ((p < high) | ((p == high) & (high == edges[-1])))
        w = weight[here]
        if w.sum() == 0:
            continue
        gap = np.average(p[here], weights=w) - np.average(y[here], weights=w)
        square = gap**2
        if debias:
            rate, n = np.average(y[here], weights=w), w.sum() ** 2 / (w**2).sum()
            square = square - rate * (1 - rate) / (n - 1) if n > 1 + 1e-9 else 0.0
        found.append((w.sum() / weight.sum(), abs(gap), square))
    shares, gaps, squares = map(np.array, zip(*found, strict=True))
    return {"l1": shares @ gaps, "l2": shares @ squares, "max": gaps.max()}[norm]


def calibrated(n, seed, *, distort=1.0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    y = (rng.random(n) < p).astype(int)
    logit = distort * np.log(p / (1 - p))
    return y, 1 / (1 + np.exp(-logit))


# Worked by hand


@pytest.mark.parametrize(
    ("y", "p", "options", "value"),
    [
        pytest.param([1, 0], [0.92, 1.0], {}, 0.46, id="case_C99"),
        pytest.param([0, 1], [0.05, 0.95], {}, 0.05, id="case_C101"),
        pytest.param([0, 0, 1, 1], [0.8] * 4, {"strategy": "quantile"}, 0.3, id="case_C102"),
        pytest.param([1, 1], [0.3, 0.7], {}, 0.5, id="case_C104 positive"),
        pytest.param([1, 1], [0.3, 0.7], {"kind": "top-label"}, 0.2, id="case_C104 top label"),
        pytest.param([1, 1], [0.91, 0.91], {}, 0.09, id="case_C105"),
        pytest.param(
            [0, 1, 1], [0.2, 0.2, 0.9], {"sample_weight": [3, 1, 1]}, 0.06, id="case_C108"
        ),
        pytest.param([0, 1, 1], [0.2, 0.2, 0.9], {}, 0.7 / 3, id="case_C108 unweighted"),
    ],
)
def test_worked_cases(y, p, options, value):
    assert expected_calibration_error(y, p, n_bins=10, **options) == pytest.approx(value, abs=1e-14)


def test_case_C39_a_value_of_exactly_zero():
    assert expected_calibration_error([1] + [0] * 9, [0.1] * 10, n_bins=10) == 0


def test_exact_reference_values(shared):  # req_E09
    known = json.loads((shared / "reference" / "exact.json").read_text())["ece_edges"]
    p = [float(np.divide(*map(int, (text + "/1").split("/")[:2]))) for text in known["p"]]
    closed = known["last_bin_closed"]["ece"]["float"]
    assert expected_calibration_error(known["y"], p, n_bins=10) == pytest.approx(closed, abs=1e-14)
    dependence = known["bins_dependence"]
    p = [float(np.divide(*map(int, (text + "/1").split("/")[:2]))) for text in dependence["p"]]
    for n_bins, value in dependence["ece_by_bins"].items():
        found = expected_calibration_error(dependence["y"], p, n_bins=int(n_bins))
        assert found == pytest.approx(value["float"], abs=1e-14)


def test_overconfident_model_of_the_reference_arrays(shared):  # req_E08
    data = np.load(shared / "reference" / "arrays" / "calibration.npz")
    half = int(data["half"])
    y = data["y"][half:]
    found = {
        name: expected_calibration_error(y, p, n_bins=10)
        for name, p in (
            ("raw", data["p_over"][half:]),
            ("platt", data["p_platt_second_half"]),
            ("isotonic", data["p_iso_second_half"]),
        )
    }
    edges = np.linspace(0, 1, 11)
    assert found["raw"] == pytest.approx(0.069, abs=5e-4)
    assert found["isotonic"] == pytest.approx(0.019, abs=5e-4)
    platt = literal_error(y, data["p_platt_second_half"], edges)
    assert found["platt"] == pytest.approx(platt, abs=1e-14)
    assert found["platt"] < found["raw"] / 2


def test_edges_are_those_of_numpy_histogram():
    p = np.concatenate([np.linspace(0, 1, 11), np.arange(11) / 10, [0.1 + 0.2, 1 / 3, 2 / 3]])
    y = np.arange(len(p)) % 2
    for n_bins in (3, 10, 15):
        _, edges = np.histogram(p, n_bins, (0, 1))
        weights = [np.histogram(p, n_bins, (0, 1), weights=w)[0] for w in (p, y)]
        expected = np.abs(weights[0] - weights[1]).sum() / len(p)
        found = expected_calibration_error(y, p, n_bins=n_bins)
        assert found == pytest.approx(expected, abs=1e-14)
        assert found == pytest.approx(literal_error(y, p, edges), abs=1e-14)


# Against the loop, and identities

rows = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(np.round(np.linspace(0, 1, 21), 2).tolist())),
    min_size=2,
    max_size=25,
)


@given(rows, st.integers(1, 12), st.integers(0, 1000))
@max_examples(30)
def test_all_norms_equal_the_loop(table, n_bins, seed):
    y, p = map(np.array, zip(*table, strict=True))
    weight = np.random.default_rng(seed).uniform(0.1, 3, len(y))
    edges = np.linspace(0, 1, n_bins + 1)
    for w in (None, weight):
        common = {"n_bins": n_bins, "sample_weight": w}
        for norm in ("l1", "max"):
            expected = literal_error(y, p, edges, norm, weight=w)
            found = expected_calibration_error(y, p, norm=norm, **common)
            assert found == pytest.approx(expected, abs=1e-12)
        expected = literal_error(y, p, edges, "l2", weight=w)
        found = expected_calibration_error(y, p, norm="l2", **common)
        assert found == pytest.approx(np.sqrt(expected), abs=1e-9)
        debiased = literal_error(y, p, edges, "l2", debias=True, weight=w)
        found = squared_calibration_error(y, p, **common)
        assert found == pytest.approx(debiased, abs=1e-12)
        found = expected_calibration_error(y, p, norm="l2", debias=True, **common)
        assert found == pytest.approx(np.sqrt(max(debiased, 0)), abs=1e-6)


@given(rows, st.integers(1, 9), st.sampled_from(["uniform", "quantile", "sweep"]), st.randoms())
@max_examples(30)
def test_order_repetition_and_scale_of_weights(table, n_bins, strategy, random):
    options = {"n_bins": n_bins, "strategy": strategy}
    y, p = map(np.array, zip(*table, strict=True))
    weight = np.array([random.randint(1, 3) for _ in y])
    value = expected_calibration_error(y, p, sample_weight=weight, **options)
    order = np.array(random.sample(range(len(y)), len(y)))
    moved = expected_calibration_error(y[order], p[order], sample_weight=weight[order], **options)
    assert moved == pytest.approx(value, abs=1e-12)
    copies = expected_calibration_error(np.repeat(y, weight), np.repeat(p, weight), **options)
    assert copies == pytest.approx(value, abs=1e-12)
    scaled = expected_calibration_error(y, p, sample_weight=weight / 7, **options)
    assert scaled == pytest.approx(value, abs=1e-12)


def test_quantile_bins_hold_equal_numbers_of_distinct_predictions():
    y, p = calibrated(1200, 0)
    order = np.argsort(p)
    parts = np.array_split(order, 15)
    expected = sum(len(part) * abs(p[part].mean() - y[part].mean()) for part in parts) / 1200
    found = expected_calibration_error(y, p, strategy="quantile")
    assert found == pytest.approx(expected, abs=1e-14)


def test_sweep_takes_the_most_bins_before_rates_fall():
    # Roelofs et al. 2022: the largest b for which all numbers of bins up to b are in order.
    y, p = calibrated(600, 3)
    order, most = np.argsort(p), 1
    for n_bins in range(2, 601):
        rates = [y[part].mean() for part in _equal_parts(order, n_bins)]
        if np.any(np.diff(rates) < 0):
            break
        most = n_bins
    parts = _equal_parts(order, most)
    expected = sum(len(part) * abs(p[part].mean() - y[part].mean()) for part in parts) / 600
    assert 2 < most < 100
    found = expected_calibration_error(y, p, strategy="sweep")
    assert found == pytest.approx(expected, abs=1e-14)


def _equal_parts(order, n_bins):
    starts = np.ceil(np.arange(n_bins) * len(order) / n_bins - 1e-9).astype(int)
    return [part for part in np.split(order, starts[1:]) if len(part)]


def test_classwise_and_top_label_of_several_classes():
    rng = np.random.default_rng(5)
    table = rng.dirichlet([1, 1, 1], 80)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 80)]
    edges = np.linspace(0, 1, 16)
    one_by_one = [literal_error(y == c, table[:, k], edges) for k, c in enumerate("abc")]
    found = expected_calibration_error(y, table, kind="classwise")
    assert found == pytest.approx(np.mean(one_by_one), abs=1e-14)
    right = np.array(["a", "b", "c"])[table.argmax(1)] == y
    found = expected_calibration_error(y, table, kind="top-label")
    assert found == pytest.approx(literal_error(right, table.max(1), edges), abs=1e-14)
    some = y != "b"
    with pytest.raises(ValueError, match="`labels` must name the 3 classes"):
        expected_calibration_error(y[some], table[some], kind="classwise")
    found = expected_calibration_error(y[some], table[some], kind="top-label", labels=list("abc"))
    assert found == pytest.approx(literal_error(right[some], table[some].max(1), edges), abs=1e-14)


def test_two_columns_and_string_labels():
    y, p = calibrated(60, 1)
    value = expected_calibration_error(y, p)
    names = np.where(y == 1, "no", "yes")  # the positive class sorts first
    table = np.column_stack([1 - p, p])
    assert expected_calibration_error(y, table) == value
    assert expected_calibration_error(names, p, pos_label="no") == value
    assert expected_calibration_error(names, p, labels=["no", "yes"], pos_label="no") == value


def test_case_C111_a_calibrated_model_has_no_error_of_zero():
    values = {}
    for n in (200, 2000):
        rng = np.random.default_rng(n)
        p = rng.random((300, n))
        y = rng.random((300, n)) < p
        values[n] = np.mean([expected_calibration_error(*one) for one in zip(y, p, strict=True)])
    assert values[200] == pytest.approx(0.086, abs=0.003)
    assert values[2000] == pytest.approx(0.027, abs=0.001)


def test_squared_error_has_no_bias_where_the_error_has():
    rng = np.random.default_rng(0)
    p = (np.arange(15) + 0.5)[rng.integers(0, 15, (800, 100))] / 15
    truth = np.clip(p + 0.1, 0, 1)
    y = rng.random(p.shape) < truth
    values = [squared_calibration_error(*one) for one in zip(y, p, strict=True)]
    expected = np.mean((truth - p) ** 2)
    assert np.mean(values) == pytest.approx(expected, abs=4 * np.std(values) / np.sqrt(800))


# The kernel equals the metric on drawn rows


def kernel_and_metric(scoring, y, answers, units, weight=None):
    records = tuple(RecordedEstimator.from_arrays(**one) for one in answers)
    (metric,) = resolve_scoring(scoring)
    kind = "binary" if len(np.unique(y)) == 2 else "multiclass"
    problem = Problem(y, kind, records, units, weight)
    return build_kernel(metric, problem, tuple("ab")[: len(records)])


def literal_edges(p, n_bins, strategy):
    if strategy == "uniform":
        return np.linspace(0, 1, n_bins + 1)
    # A bin begins with the first prediction that has its share of the rows below it.
    begins = [
        min((v for v in p if np.sum(p < v) >= k * len(p) / n_bins), default=2)
        for k in range(1, n_bins)
    ]
    return np.unique([0, *begins, 2])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("clusters", [None, 4, 30])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("norm", "debias"), [("l1", False), ("l2", False), ("l2", True), ("max", False)]
)
def test_kernel_equals_the_metric_on_drawn_rows(strategy, clusters, weighted, norm, debias):
    rng = np.random.default_rng(2)
    n = 60
    y = rng.integers(0, 2, n)
    models = [rng.random(n), rng.random(n).round(1)]
    weight = rng.uniform(0.5, 2, n) if weighted else None
    of_row = None if clusters is None else rng.permutation(np.arange(n) % clusters)
    units = Units(n, clusters or n, of_row)
    if strategy == "quantile" and weighted:
        weight = np.where(rng.random(n) < 0.5, 1.0, 2.0)
    scoring = ECE(n_bins=7, strategy=strategy, norm=norm, debias=debias)
    answers = [{"predict_proba": np.column_stack([1 - p, p]), "classes": [0, 1]} for p in models]
    kernel = kernel_and_metric(scoring, y, answers, units, weight)
    assert isinstance(kernel, BinnedKernel)
    counts = rng.multinomial(units.n_units, np.ones(units.n_units) / units.n_units, 5)
    values = kernel.evaluate(Weights(counts.astype(np.uint8))).values
    copies = np.ones(n, dtype=int) if weight is None else weight
    for draw, found in zip(counts, values, strict=True):
        of_rows = draw if of_row is None else draw[of_row]
        rows = np.repeat(np.arange(n), of_rows)
        for p, value in zip(models, found, strict=True):
            if strategy == "quantile":  # of the full data, whole weights are copies
                full = np.repeat(p, np.asarray(copies, int)) if weighted else p
                edges = literal_edges(full, 7, strategy)
            else:
                edges = literal_edges(p, 7, strategy)
            w = None if weight is None else weight[rows]
            expected = literal_error(y[rows], p[rows], edges, norm, debias, w)
            expected = np.sqrt(max(expected, 0)) if norm == "l2" else expected
            assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["top-label", "classwise"])
def test_kernel_of_several_classes(kind):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 50)
    tables = [rng.dirichlet([1, 1, 1], 50) for _ in range(2)]
    answers = [{"predict_proba": table, "classes": [0, 1, 2]} for table in tables]
    kernel = kernel_and_metric(ECE(n_bins=5, kind=kind), y, answers, Units(50, 50))
    assert isinstance(kernel, BinnedKernel)
    counts = rng.multinomial(50, np.ones(50) / 50, 4)
    values = kernel.evaluate(Weights(counts.astype(np.uint8))).values
    for draw, found in zip(counts, values, strict=True):
        rows = np.repeat(np.arange(50), draw)
        for table, value in zip(tables, found, strict=True):
            expected = expected_calibration_error(
                y[rows], table[rows], n_bins=5, kind=kind, labels=[0, 1, 2]
            )
            assert value == pytest.approx(expected, abs=1e-12)


BINARY = np.random.default_rng(8).integers(0, 2, 80)
THREE = np.random.default_rng(9).integers(0, 3, 80)
NORMS = [("l1", False), ("l2", False), ("l2", True), ("max", False)]


@pytest.mark.parametrize(("norm", "debias"), NORMS)
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "sweep"])
@pytest.mark.parametrize(
    ("y", "kind"),
    [
        *((BINARY, kind) for kind in ("positive", "top-label", "classwise")),
        *((THREE, kind) for kind in ("top-label", "classwise")),
    ],
)
def test_every_error_and_its_square_are_sums(y, kind, strategy, norm, debias):
    rng = np.random.default_rng(10)
    models = {name: rng.dirichlet(np.ones(y.max() + 1), 80) for name in "ab"}
    if y is BINARY:
        models = {name: table[:, 1] for name, table in models.items()}
    scoring = ECE(n_bins=5, strategy=strategy, kind=kind, norm=norm, debias=debias)
    result = compare_predictions(y, models, scoring=scoring, n_resamples=39, random_state=0)
    assert result.paths == {
        "expected_calibration_error": "sums",
        "squared_calibration_error": "sums",
    }


@pytest.mark.parametrize("clusters", [None, 3, 12])
def test_leave_one_out_is_the_metric_without_a_unit(clusters):
    rng = np.random.default_rng(6)
    n = 24
    y, p = rng.integers(0, 2, n), rng.random(n).round(1)
    of_row = None if clusters is None else np.arange(n) % clusters
    answers = [{"predict_proba": np.column_stack([1 - p, p]), "classes": [0, 1]}]
    kernel = kernel_and_metric(ECE(n_bins=4), y, answers, Units(n, clusters or n, of_row))
    found = kernel.leave_one_out().values[:, 0]
    numbers = np.arange(n) if of_row is None else of_row
    expected = [
        expected_calibration_error(y[numbers != unit], p[numbers != unit], n_bins=4)
        for unit in range(clusters or n)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_case_C39_distribution_by_enumeration():
    # Ten equal rows but for the label: the error is |Bin(10, 0.1) / 10 - 0.1|.
    y, p = [1] + [0] * 9, [0.1] * 10
    result = compare_predictions(y, {"a": p}, scoring=ECE(n_bins=10), n_resamples="exact")
    row, squared = result.scores
    # All replicates lie on one side of the value: their percentiles are no interval of it.
    assert (row.estimate, row.status) == (0, "biased")
    assert np.isnan([row.ci_low, row.ci_high]).all()
    assert "chance adds to the value" in " ".join(result.notes)
    assert squared.estimate == pytest.approx(-0.01)
    assert squared.ci_low < 0 < squared.ci_high
    count = np.arange(11)
    chance = stats.binom.pmf(count, 10, 0.1)
    mean = chance @ np.abs(count / 10 - 0.1)
    spread = np.sqrt(chance @ (np.abs(count / 10 - 0.1) - mean) ** 2)
    assert row.std_error == pytest.approx(spread)


def test_merged_rows_are_the_same_distribution():
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 2, 400), rng.choice([0.2, 0.5, 0.9], 400)
    answers = [{"predict_proba": np.column_stack([1 - p, p]), "classes": [0, 1]}]
    kernel = kernel_and_metric(ECE(), y, answers, Units(400, 400))
    codes, first = {}, []
    for row, key in enumerate(zip(y, p, strict=True)):
        if key not in codes:
            codes[key] = len(codes)
            first.append(row)
    number = np.array([codes[key] for key in zip(y, p, strict=True)])
    counts = rng.multinomial(400, np.ones(400) / 400, 3).astype(np.uint8)
    merged = np.stack([np.bincount(number, draw, len(first)) for draw in counts])
    small = kernel.take_units(np.array(first))
    np.testing.assert_allclose(
        small.evaluate(Weights(merged.astype(np.int64))).values,
        kernel.evaluate(Weights(counts)).values,
        atol=1e-14,
    )


# What a comparison says


@pytest.fixture(scope="module")
def result():
    y, good = calibrated(800, 7)
    bad = 1 / (1 + np.exp(-3 * np.log(good / (1 - good))))
    return compare_predictions(
        y, {"good": good, "bad": bad}, scoring=ECE(n_bins=10), n_resamples=499, random_state=0
    )


def test_a_difference_is_judged_by_the_debiased_square(result):
    biased, squared = result.differences
    assert list(result.paths.values()) == ["sums", "sums"]
    assert biased.metric == "expected_calibration_error"
    assert (biased.status, biased.verdict) == ("biased", "inconclusive")
    assert np.isnan([biased.p_value, biased.p_adjusted, biased.ci_low, biased.ci_high]).all()
    assert squared.metric == "squared_calibration_error"
    assert not squared.greater_is_better
    assert (squared.status, squared.verdict) == ("ok", "worse")
    replicates = np.diff(result.replicates[:, 1], axis=1)[:, 0]
    half_width = 1.959963984540054 * squared.std_error
    assert squared.ci_low == pytest.approx(squared.difference - half_width)
    assert squared.ci_high == pytest.approx(squared.difference + half_width)
    # Far from zero little is taken out of the spread of the replicates.
    assert squared.std_error == pytest.approx(replicates.std(ddof=1), rel=0.05)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "normal"])
def test_no_method_changes_how_the_square_is_read(result, method):
    other = result.replace(method=method)
    for column in ("ci_low", "ci_high", "p_value", "verdict"):
        assert other.differences[1][column] == result.differences[1][column]
    assert other.differences[0].status == "biased"


def test_joint_corrections_and_margins_leave_the_biased_row_alone(result):
    for correction in ("max-t", "bonferroni"):
        other = result.replace(
            correction=correction,
            margin={"squared_calibration_error": 0.5},
            family="all",
        )
        biased, squared = other.differences
        assert biased.status == "biased" and np.isnan(biased.p_value)
        assert np.isnan(biased.p_equivalence) and biased.verdict == "inconclusive"
        assert squared.verdict == "equivalent"


@pytest.mark.parametrize("margin", [0.02, {"expected_calibration_error": 0.02}])
def test_a_margin_of_the_error_is_refused_with_the_name_of_its_square(result, margin):
    message = (
        "`margin` must belong to 'squared_calibration_error' and not to "
        r"'expected_calibration_error', .*; an error of 0\.02 in all bins is 0\.0004 squared\. "
        r"Pass margin=\{'squared_calibration_error': 0\.0004\}"
    )
    with pytest.raises(ValueError, match=message):
        result.replace(margin=margin)
    y, p = calibrated(50, 1)
    answers = {"a": p, "b": p**2}
    with pytest.raises(ValueError, match=message + r"\.$"):
        compare_predictions(y, answers, scoring=ECE(), margin=margin)
    both = {"ece": ECE(), "loss": "neg_log_loss"}
    if not isinstance(margin, dict):
        with pytest.raises(ValueError, match="'squared_ece': .*with the margins of the other"):
            compare_predictions(y, answers, scoring=both, margin=margin)
    X, y = make_classification(60, random_state=0)
    comparator = PairedBootstrapComparator(
        [("a", LogisticRegression()), ("b", LogisticRegression(C=1e-3))],
        scoring=ECE(n_bins=5),
        margin=margin,
    )
    with pytest.raises(ValueError, match=message):
        comparator.fit(X, y)


def test_a_relative_margin_is_a_share_of_the_square(result):
    found = result.replace(margin_relative=0.5, baseline="bad")
    observed = {(row.metric, row.model): row.estimate for row in result.scores}
    biased, squared = found.differences
    assert np.isnan(biased.margin)
    assert squared.margin == 0.5 * observed["squared_calibration_error", "bad"]
    with pytest.raises(ValueError, match="share of a positive score, got -0.0003"):
        result.replace(margin_relative=0.5)
    with pytest.raises(ValueError, match="`margin_relative` must belong to 'squared_calibration"):
        result.replace(margin_relative={"expected_calibration_error": 0.5})
    with pytest.raises(ValueError, match="`margin` must be a positive number, got 'x'"):
        result.replace(margin="x")


def test_a_single_error_has_no_interval_and_its_square_has(result):
    # req_E09: a percentile interval of the error of a calibrated model never holds its truth, 0.
    for n_bins in (1, 2, 10):
        y, p = calibrated(300, 5)
        alone = compare_predictions(
            y, {"a": p}, scoring=ECE(n_bins=n_bins), n_resamples=199, random_state=0
        )
        error, squared = alone.scores
        assert error.status == "biased"
        assert np.isnan([error.ci_low, error.ci_high]).all()
        assert squared.ci_low < 0 < squared.ci_high
        assert (alone.replicates[:, 0, 0] > 0).all()
        replicates = alone.replicates[:, 1, 0]
        assert squared.std_error == pytest.approx(replicates.std(ddof=1))
    assert "unknown" not in result.summary()
    again = ComparisonResult.from_json(result.to_json())
    assert np.isnan(again.scores[0].ci_low) and again.scores[0].status == "biased"


def test_storage_and_summary(result):
    again = ComparisonResult.from_json(result.to_json(replicates=True))
    assert again.metrics == result.metrics
    assert again.replace(confidence_level=0.9).differences[0].status == "biased"
    assert "biased" in result.summary() and "nan" not in result.summary()
    assert "biased" in result.to_markdown()
    assert json.loads(result.to_json())["differences"][0]["p_value"] is None


def test_model_against_itself_and_swapped_models():
    y, p = calibrated(150, 2)
    common = {"scoring": ECE(), "n_resamples": 99, "random_state": 0}
    same = compare_predictions(y, {"a": p, "b": p}, **common)
    for row in same.differences:
        assert (row.difference, row.ci_low, row.ci_high, row.p_value) == (0, 0, 0, 1)
    other = np.sqrt(p)
    one = compare_predictions(y, {"a": p, "b": other}, **common).differences[1]
    two = compare_predictions(y, {"b": other, "a": p}, **common).differences[1]
    assert two.difference == pytest.approx(-one.difference)
    assert two.p_value == pytest.approx(one.p_value, rel=1e-10)
    assert (two.ci_low, two.ci_high) == (pytest.approx(-one.ci_high), pytest.approx(-one.ci_low))


def test_make_scorer_gets_the_fast_path_and_the_rule():
    y, p = calibrated(100, 8)
    scorer = make_scorer(
        expected_calibration_error,
        response_method="predict_proba",
        greater_is_better=False,
        n_bins=5,
    )
    result = compare_predictions(
        y, {"a": p, "b": p**2}, scoring={"ece5": scorer}, n_resamples=99, random_state=0
    )
    names = list(result.paths.items())
    assert names == [("ece5", "sums"), ("squared_ece5", "sums")]
    expected = expected_calibration_error(y, p, n_bins=5)
    assert result.scores[0].estimate == pytest.approx(expected, abs=1e-15)
    expected = squared_calibration_error(y, p, n_bins=5)
    assert result.scores[2].estimate == pytest.approx(expected, abs=1e-15)


def test_permutation_test_of_the_error():
    y, good = calibrated(300, 9)
    bad = np.clip(good + 0.2, 0, 1)
    result = compare_predictions(
        y,
        {"a": good, "b": bad},
        scoring=ECE(n_bins=10),
        n_resamples=199,
        permutation=True,
        random_state=0,
    )
    assert result.differences[1].p_permutation == pytest.approx(1 / 200)


# The scorer


def test_scorer_in_scikit_learn():
    X, y = make_classification(300, random_state=0)
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, names)
    scorer = ECE(n_bins=8)
    p = model.predict_proba(X)[:, 1]
    assert check_scoring(model, scorer) is scorer
    assert scorer(model, X, names) == -expected_calibration_error(y, p, n_bins=8)
    weight = np.arange(300) % 3
    assert scorer(model, X, names, sample_weight=weight) == -expected_calibration_error(
        y, p, n_bins=8, sample_weight=weight
    )
    assert scorer.__name__ == "neg_expected_calibration_error"
    found = cross_validate(model, X, names, scoring={"ece": scorer, "acc": "accuracy"}, cv=2)
    assert (found["test_ece"] < 0).all()
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, scoring=scorer, cv=2)
    assert search.fit(X, y).set_params(scoring__n_bins=5).get_params()["scoring__n_bins"] == 5
    result = compare_estimators({"m": model}, X, names, scoring=scorer, n_resamples=99)
    assert result.scores[0].estimate == pytest.approx(-scorer(model, X, names))


def test_scorer_requests_weights_by_metadata_routing():
    import sklearn

    X, y = make_classification(60, random_state=0)
    weight = np.arange(60) % 4 + 1
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = ECE().set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        routed = cross_validate(
            model, X, y, scoring=scorer, cv=2, params={"sample_weight": weight}, return_indices=True
        )
    test = routed["indices"]["test"][0]
    fitted = LogisticRegression().fit(
        X[routed["indices"]["train"][0]], y[routed["indices"]["train"][0]]
    )
    expected = ECE()(fitted, X[test], y[test], sample_weight=weight[test])
    assert routed["test_score"][0] == pytest.approx(expected)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "`n_bins` must be an integer from 1 to 100000, got 0"),
        ({"n_bins": 2.5}, "`n_bins` must be an integer"),
        ({"strategy": "equal"}, "`strategy` must be one of 'uniform', 'quantile', 'sweep'"),
        ({"norm": "l3"}, "`norm` must be one of 'l1', 'l2', 'max', got 'l3'"),
        ({"kind": "multi"}, "`kind` must be one of 'positive', 'top-label', 'classwise'"),
        ({"debias": True}, "`debias` must be False for norm='l1', got True"),
        ({"pos_label": 2}, "`pos_label` must be one of 0, 1, got 2"),
        ({"sample_weight": [1, -1]}, "`sample_weight` must not be negative"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error([0, 1], [0.2, 0.7], **options)


def test_bad_data():
    with pytest.raises(ValueError, match="`y_prob` must lie between 0 and 1"):
        expected_calibration_error([0, 1], [0.2, 1.7])
    with pytest.raises(ValueError, match="`y_prob` must be finite"):
        expected_calibration_error([0, 1], [0.2, np.nan])
    with pytest.raises(ValueError, match="`y_true` must hold 2 classes at most"):
        expected_calibration_error([0, 1, 2], [0.2, 0.3, 0.4])
    with pytest.raises(ValueError, match="`pos_label` must be given"):
        expected_calibration_error(["a", "b"], [0.2, 0.3])
    with pytest.raises(ValueError, match="`kind` must be 'top-label' or 'classwise'"):
        expected_calibration_error([0, 1, 2], np.eye(3))


def test_inputs_are_left_alone():
    y, p = calibrated(20, 1)
    before = y.copy(), p.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected_calibration_error(y, p)
    assert np.array_equal(y, before[0]) and np.array_equal(p, before[1])


def test_comparator_keeps_the_baseline_where_differences_are_biased():
    X, y = make_classification(200, random_state=0)
    comparator = PairedBootstrapComparator(
        [("a", LogisticRegression()), ("b", LogisticRegression(C=1e-3))],
        scoring=ECE(n_bins=5),
        cv=2,
        n_resamples=99,
        random_state=0,
    )
    with pytest.warns(UserWarning, match="keeps the baseline 'a': differences of this metric are"):
        comparator.fit(X, y)
    row, squared = comparator.result_.differences
    assert (row.status, row.verdict) == ("biased", "inconclusive")
    assert (squared.metric, squared.status) == ("squared_calibration_error", "ok")
    # Nor has the t test of the splits anything to say on the biased difference.
    assert {test.metric for test in comparator.result_.split_tests} == {squared.metric}
    of_splits = comparator.split_scores_["squared_calibration_error"]
    estimates = [s.estimate for s in comparator.result_.scores if s.metric == squared.metric]
    np.testing.assert_allclose(-of_splits.mean(axis=0), estimates, atol=1e-14)
    margins = {"squared_calibration_error": 1.0}
    with pytest.warns(UserWarning, match="keeps the baseline"):
        again = clone(comparator).set_params(margin=margins).fit(X, y)
    assert again.result_.differences[1].verdict == "equivalent"
    assert comparator.best_name_ == "a"
    assert comparator.score(X, y) == ECE(n_bins=5)(comparator.best_estimator_, X, y)
    both = comparator.set_params(
        scoring={
            "ece": ECE(n_bins=5),
            "squared_ece": make_scorer(
                squared_calibration_error,
                response_method="predict_proba",
                greater_is_better=False,
                n_bins=5,
            ),
        },
        refit="squared_ece",
    ).fit(X, y)
    assert [row.status for row in both.result_.differences] == ["biased", "ok"]


@pytest.mark.parametrize("aggregate", ["folds", "pooled"])
def test_cross_validated_errors_are_judged_by_the_square(aggregate):
    X, y = make_classification(200, random_state=0)
    results = {
        name: cross_validate(
            LogisticRegression(C=strength),
            X,
            y,
            cv=3,
            scoring=ECE(n_bins=5),
            return_estimator=True,
            return_indices=True,
        )
        for name, strength in (("a", 1.0), ("b", 1e-3))
    }
    result = compare_cross_validate(
        results,
        X,
        y,
        scoring=ECE(n_bins=5),
        aggregate=aggregate,
        n_resamples=99,
        random_state=0,
    )
    assert [row.status for row in result.differences] == ["biased", "ok"]
    assert {test.metric for test in result.split_tests} == {"squared_calibration_error"}
    again = ComparisonResult.from_json(result.to_json())
    assert again.summary() == result.summary()


def test_bootstrap_scorer_takes_the_kernel():
    X, y = make_classification(150, random_state=1)
    model = LogisticRegression().fit(X, y)
    score = ClusterBootstrapScorer(ECE(n_bins=5), n_resamples=99)(model, X, y)
    assert score == ECE(n_bins=5)(model, X, y)
    for returns in ("interval", "lower", "upper"):
        scorer = ClusterBootstrapScorer(ECE(n_bins=5), returns=returns, n_resamples=99)
        with pytest.raises(ValueError, match="`returns` must be 'score' for .*debiased square"):
            scorer(model, X, y)
    square = make_scorer(
        squared_calibration_error, response_method="predict_proba", greater_is_better=False
    )
    found = ClusterBootstrapScorer(square, returns="interval", n_resamples=99)(model, X, y)
    half_width = 1.959963984540054 * found["std_error"]
    assert found["ci_low"] == pytest.approx(found["score"] - half_width)
    assert found["ci_high"] == pytest.approx(found["score"] + half_width)


def test_results_do_not_depend_on_the_number_of_jobs_or_the_rows_order():
    y, p = calibrated(3000, 4)
    other = np.sqrt(p)
    common = {"scoring": ECE(), "n_resamples": 99}
    one = compare_predictions(y, {"a": p, "b": other}, random_state=1, **common)
    two = compare_predictions(y, {"a": p, "b": other}, random_state=1, n_jobs=2, **common)
    np.testing.assert_array_equal(one.replicates, two.replicates)
    groups = np.arange(3000) // 3
    order = np.random.default_rng(0).permutation(3000)
    one = compare_predictions(y, {"a": p}, groups=groups, random_state=1, **common)
    two = compare_predictions(
        y[order], {"a": p[order]}, groups=groups[order], random_state=1, **common
    )
    np.testing.assert_allclose(one.replicates, two.replicates, atol=1e-13)


def test_clusters_of_one_row_are_rows():
    y, p = calibrated(120, 5)
    common = {"scoring": ECE(), "n_resamples": 99, "random_state": 0}
    rows_alone = compare_predictions(y, {"a": p}, **common)
    clusters = compare_predictions(y, {"a": p}, groups=np.arange(120), **common)
    np.testing.assert_allclose(rows_alone.replicates, clusters.replicates, atol=1e-14)


@pytest.mark.parametrize("metric", [expected_calibration_error, squared_calibration_error])
def test_one_row_will_do_and_none_will_not(metric):
    with pytest.raises(ValueError, match=r"`y_true` must have at least 1 row, got 0\."):
        metric([], [])
    metric([1], [0.75])
    assert expected_calibration_error([1], [0.75]) == 0.25


def test_one_column_is_that_of_the_positive_class():
    y, p = [0, 1, 1, 0, 1], [0.2, 0.3, 0.4, 0.9, 0.1]
    of_nought = expected_calibration_error(y, p, pos_label=0)
    assert of_nought == expected_calibration_error([1 - label for label in y], p)
    assert of_nought != expected_calibration_error(y, p)
    found = compare_predictions(y, {"a": np.array(p)}, scoring=ECE(pos_label=0), n_resamples=99)
    assert found.scores[0].estimate == pytest.approx(of_nought, rel=1e-12)
