"""DeLong's test, against R's pROC, double loops over pairs, and identities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from sklearn_pairboot.inference import delong_test
from sklearn_pairboot.metrics import placement_values, tie_aware_auc

# R 4.2.2, pROC 1.18.0:
#   library(pROC); options(digits=17)
#   y  <- c(1,1,1,1,1,1,1,0,0,0,0,0,0,0,0)
#   a  <- c(5,4,4,3,3,2,6,1,2,2,3,1,0,4,1)
#   b  <- c(3,5,2,4,3,3,6,3,1,2,2,4,0,3,5)
#   cc <- c(2,2,1,3,5,1,4,0,1,2,3,1,1,5,2)
#   r <- lapply(list(a,b,cc), function(s) roc(y, s, direction="<", levels=c(0,1)))
#   for (x in r) print(c(auc(x), var(x, method="delong"), ci.auc(x, method="delong")))
#   cov(r[[1]], r[[2]], method="delong")  # and the other pairs
#   roc.test(r[[2]], r[[1]], method="delong", paired=TRUE)  # alternative="greater", "less"
TIED_Y = [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
TIED = {
    "a": [5, 4, 4, 3, 3, 2, 6, 1, 2, 2, 3, 1, 0, 4, 1],
    "b": [3, 5, 2, 4, 3, 3, 6, 3, 1, 2, 2, 4, 0, 3, 5],
    "c": [2, 2, 1, 3, 5, 1, 4, 0, 1, 2, 3, 1, 1, 5, 2],
}
TIED_AUCS = {  # area, variance, lower and upper end
    "a": (0.875, 0.0078428692905733732, 0.70142563721613682, 1.0),
    "b": (0.7142857142857143, 0.018149447278911567, 0.45023959267000530, 0.97833183590142325),
    "c": (0.6428571428571429, 0.021455903790087466, 0.35576487394278150, 0.92994941177150436),
}
TIED_COVARIANCES = {
    "ab": -7.2127065111758496e-05,
    "ac": 0.0085015032798833826,
    "bc": 0.0050280156705539364,
}
TIED_TESTS = {  # z, p, ends, p of "greater", p of "less"; the second less the first
    "ab": (
        -0.9941002434954167,
        0.32017406683149174,
        -0.47757791577789938,
        0.15614934434932798,
        0.83991296658425418,
        0.16008703341574587,
    ),
    "ac": (
        -2.0935219626478516,
        0.036302585608494892,
        -0.449475967273099464,
        -0.014809747012614727,
        0.98184870719575257,
        0.018151292804247446,
    ),
    "bc": (
        -0.41552601663866601,
        0.6777568736834465,
        -0.4083447255592666,
        0.2654875827021238,
        0.66112156315827675,
        0.33887843684172325,
    ),
}
EXACT = 1e-10  # what the issue asks for; relative, and absolute near 0


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
def test_equals_proc_on_ties(pair):
    first, second = pair
    scores = {first: TIED[first], second: TIED[second]}
    z, p_value, low, high, p_greater, p_less = TIED_TESTS[pair]
    test = delong_test(TIED_Y, scores)
    assert test.statistic == pytest.approx(z, rel=EXACT)
    assert test.p_value == pytest.approx(p_value, rel=EXACT)
    assert (test.ci_low, test.ci_high) == pytest.approx((low, high), rel=EXACT)
    assert test.covariance[0, 1] == pytest.approx(TIED_COVARIANCES[pair], rel=EXACT)
    for row in test.aucs:
        area, variance, low, high = TIED_AUCS[row.model]
        assert row.estimate == pytest.approx(area, rel=EXACT)
        assert row.std_error == pytest.approx(math.sqrt(variance), rel=EXACT)
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high), rel=EXACT)
    for alternative, expected in (("greater", p_greater), ("less", p_less)):
        one_sided = delong_test(TIED_Y, scores, alternative=alternative)
        assert one_sided.p_value == pytest.approx(expected, rel=EXACT)


def test_equals_proc_on_paired_curves():
    # i <- 1:40; y <- as.integer((7*i) %% 5 < 2); a <- sin(i)+y; b <- cos(3*i)*1.5+y
    # r1 <- roc(y, a, direction="<"); r2 <- roc(y, b, direction="<")
    # ci.auc(r1, method="delong", conf.level=.9); var(r1, method="delong")
    # roc.test(r2, r1, method="delong", paired=TRUE, conf.level=.9)
    i = np.arange(1, 41)
    y = ((7 * i) % 5 < 2).astype(int)
    scores = {"a": np.sin(i) + y, "b": np.cos(3 * i) * 1.5 + y}
    test = delong_test(y, scores, confidence_level=0.9)
    assert test.statistic == pytest.approx(-0.71887642105209082, rel=EXACT)
    assert test.p_value == pytest.approx(0.47221706570023492, rel=EXACT)
    assert (test.ci_low, test.ci_high) == pytest.approx(
        (-0.23119379650401331, 0.09056879650401331), rel=EXACT
    )
    first, second = test.aucs
    assert first.estimate == pytest.approx(0.82291666666666663, rel=EXACT)
    assert first.std_error**2 == pytest.approx(0.0045833962359098229, rel=EXACT)
    assert (first.ci_low, first.ci_high) == pytest.approx(
        (0.71155878556437835, 0.93427454776895491), rel=EXACT
    )
    assert second.std_error**2 == pytest.approx(0.0061078794912439614, rel=EXACT)


def problems(max_models=3, clusters=False):
    """Truths with at least two rows of each class, and tied scores of several models."""

    def build(n, k):
        truths = st.lists(st.integers(0, 1), min_size=n, max_size=n).map(lambda y: [0, 0, 1, 1, *y])
        of_model = st.lists(st.integers(0, 5), min_size=n + 4, max_size=n + 4)
        groups = st.lists(st.integers(0, 4), min_size=n, max_size=n).map(lambda g: [0, 1, 0, 1, *g])
        parts = [truths, st.lists(of_model, min_size=k, max_size=k)]
        return st.tuples(*parts, *([groups] if clusters else []))

    return st.tuples(st.integers(0, 12), st.integers(2, max_models)).flatmap(lambda t: build(*t))


def named(models):
    return {f"m{number}": scores for number, scores in enumerate(models)}


def by_pairs(y, models, groups):
    """Areas and covariance after Obuchowski (1997), by loops over pairs and clusters."""
    positives = [row for row, label in enumerate(y) if label == 1]
    negatives = [row for row, label in enumerate(y) if label == 0]
    m, n = len(positives), len(negatives)

    def psi(scores, i, j):
        return 1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0

    areas, v10, v01 = [], [], []
    for scores in models:
        areas.append(sum(psi(scores, i, j) for i in positives for j in negatives) / (m * n))
        v10.append({i: sum(psi(scores, i, j) for j in negatives) / n for i in positives})
        v01.append({j: sum(psi(scores, i, j) for i in positives) / m for j in negatives})
    labels = sorted(set(groups))
    members = {g: [row for row in range(len(y)) if groups[row] == g] for g in labels}

    def total(values, model, g):
        return sum(values[model][row] - areas[model] for row in members[g] if row in values[model])

    def factor(values):
        count = sum(any(row in values[0] for row in members[g]) for g in labels)
        return count / (count - 1)

    f, f10, f01 = len(labels) / (len(labels) - 1), factor(v10), factor(v01)
    covariance = np.zeros((len(models), len(models)))
    for r in range(len(models)):
        for s in range(len(models)):
            s10 = f10 / m * sum(total(v10, r, g) * total(v10, s, g) for g in labels)
            s01 = f01 / n * sum(total(v01, r, g) * total(v01, s, g) for g in labels)
            s11 = f * sum(
                total(v10, r, g) * total(v01, s, g) + total(v10, s, g) * total(v01, r, g)
                for g in labels
            )
            covariance[r, s] = s10 / m + s01 / n + s11 / (m * n)
    return np.array(areas), covariance


@given(problems())
def test_rows_equal_loops_over_pairs(problem):
    y, models = problem
    areas, covariance = by_pairs(y, models, range(len(y)))
    test = delong_test(y, named(models))
    np.testing.assert_allclose([row.estimate for row in test.aucs], areas, atol=1e-14)
    np.testing.assert_allclose(test.covariance, covariance, atol=1e-14)
    for row, scores in zip(test.aucs, models, strict=True):
        assert row.estimate == pytest.approx(roc_auc_score(y, scores), abs=1e-14)


@given(problems(clusters=True))
def test_req_E23_clusters_equal_loops_over_pairs(problem):
    y, models, groups = problem
    areas, covariance = by_pairs(y, models, groups)
    test = delong_test(y, named(models), groups=groups)
    np.testing.assert_allclose(test.covariance, covariance, atol=1e-14)
    assert test.n_units == len(set(groups))
    for row, model in zip(test.contrasts, range(1, len(models)), strict=True):
        variance = covariance[0, 0] + covariance[model, model] - 2 * covariance[0, model]
        assert row.std_error == pytest.approx(math.sqrt(max(variance, 0)), abs=1e-7)
        assert row.estimate == pytest.approx(areas[model] - areas[0], abs=1e-14)


@given(problems(clusters=True), st.randoms(use_true_random=False))
def test_case_C51_clusters_of_one_row_are_rows_and_order_does_not_count(problem, random):
    y, models, groups = problem
    rows = delong_test(y, named(models))
    single = delong_test(y, named(models), groups=[f"item {row}" for row in range(len(y))])
    np.testing.assert_allclose(single.covariance, rows.covariance, atol=1e-15)
    assert single.p_value == pytest.approx(rows.p_value, abs=1e-9, nan_ok=True)
    order = list(range(len(y)))
    random.shuffle(order)
    moved = delong_test(
        [y[row] for row in order],
        named([[scores[row] for row in order] for scores in models]),
        groups=[groups[row] for row in order],
    )
    still = delong_test(y, named(models), groups=groups)
    np.testing.assert_allclose(moved.covariance, still.covariance, atol=1e-14)


def test_case_C50_copied_rows_are_no_new_rows():
    groups = np.tile(np.arange(15), 4)
    scores = {name: np.tile(values, 4) for name, values in TIED.items()}
    copied = delong_test(np.tile(TIED_Y, 4), scores, groups=groups)
    once = delong_test(TIED_Y, TIED)
    np.testing.assert_allclose(copied.covariance, once.covariance, rtol=1e-12)
    assert copied.p_value == pytest.approx(once.p_value, rel=1e-9)
    ignored = delong_test(np.tile(TIED_Y, 4), scores)
    assert ignored.p_value < once.p_value / 5


@given(problems(max_models=2))
def test_monotone_transforms_leave_everything_alone(problem):
    y, models = problem
    first = delong_test(y, named(models))
    bent = [np.exp(3 * np.array(models[0])), np.arctan(np.array(models[1]) - 2.0) / 1e6]
    second = delong_test(y, named(bent))
    assert (first.p_value == second.p_value) or math.isnan(first.p_value)
    assert (first.estimate, first.ci_low) == (second.estimate, second.ci_low)


@given(problems(max_models=2), st.sampled_from(["two-sided", "greater", "less"]))
def test_swapping_the_models_mirrors_everything(problem, alternative):
    y, (a, b) = problem
    other = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    first = delong_test(y, {"a": a, "b": b}, alternative=alternative)
    second = delong_test(y, {"b": b, "a": a}, alternative=other)
    assert first.estimate == -second.estimate
    assert first.statistic == -second.statistic
    assert first.p_value == pytest.approx(second.p_value, rel=1e-12, nan_ok=True)
    assert (first.ci_low, first.ci_high) == (-second.ci_high, -second.ci_low)


@given(problems(max_models=2))
def test_turning_classes_and_scores_leaves_the_difference(problem):
    y, models = problem
    first = delong_test(y, named(models))
    turned = named([[-score for score in scores] for scores in models])
    second = delong_test([1 - label for label in y], turned)
    assert second.estimate == pytest.approx(first.estimate, abs=1e-15)
    assert second.p_value == pytest.approx(first.p_value, abs=1e-9, nan_ok=True)
    assert delong_test(y, turned, pos_label=0).estimate == second.estimate


@given(problems(max_models=2))
def test_interval_excludes_zero_exactly_where_p_is_small(problem):
    y, models = problem
    for alternative in ("two-sided", "greater", "less"):
        test = delong_test(y, named(models), alternative=alternative, confidence_level=0.9)
        if not math.isnan(test.p_value) and abs(test.p_value - 0.1) > 1e-9:
            assert (test.ci_low > 0 or test.ci_high < 0) == (test.p_value < 0.1)


@given(problems(clusters=True))
def test_many_models_equal_the_pairs(problem):
    y, models, groups = problem
    for options in ({}, {"groups": groups}):
        joint = delong_test(y, named(models), **options)
        for row, model in zip(joint.contrasts, list(named(models))[1:], strict=True):
            scores = named(models)
            alone = delong_test(y, {"m0": scores["m0"], model: scores[model]}, **options)
            assert row.name == f"{model} - m0" == alone.contrasts[0].name
            assert row.estimate == alone.estimate
            assert row.std_error == pytest.approx(alone.contrasts[0].std_error, abs=1e-15)
            assert row.p_value == pytest.approx(alone.p_value, rel=1e-9, nan_ok=True)


def test_joint_test_is_the_quadratic_form():
    test = delong_test(TIED_Y, TIED)
    weights = np.array([[-1, 1, 0], [-1, 0, 1]])
    areas = np.array([row.estimate for row in test.aucs])
    difference = weights @ areas
    expected = difference @ np.linalg.solve(weights @ test.covariance @ weights.T, difference)
    assert test.df == 2
    assert test.statistic == pytest.approx(expected, rel=1e-12)
    assert test.p_value == pytest.approx(stats.chi2.sf(expected, 2), rel=1e-12)
    assert test.estimate == pytest.approx(0.6428571428571429 - 0.875)  # the one furthest from 0
    assert math.isnan(test.ci_low) and math.isnan(test.ci_high)
    # The hypothesis that all are equal is the same from any baseline, and with all pairs.
    turned = delong_test(TIED_Y, {name: TIED[name] for name in "cab"})
    pairs = delong_test(TIED_Y, TIED, contrasts=[[-1, 1, 0], [-1, 0, 1], [0, -1, 1]])
    for other in (turned, pairs):
        assert (other.df, other.statistic) == (2, pytest.approx(expected, rel=1e-9))
    assert [row.name for row in pairs.contrasts] == ["b - a", "c - a", "c - b"]


def test_two_models_jointly_are_the_square_of_z():
    pair = {"a": TIED["a"], "b": TIED["b"]}
    one = delong_test(TIED_Y, pair)
    twice = delong_test(TIED_Y, pair, contrasts=[[-1, 1], [-2, 2]])
    assert twice.df == one.df == 1
    assert twice.statistic == pytest.approx(one.statistic**2, rel=1e-12)
    assert twice.p_value == pytest.approx(one.p_value, rel=1e-10)


def test_contrasts_of_several_models():
    test = delong_test(TIED_Y, TIED, contrasts=[[-1, 0.5, 0.5]])
    weights = np.array([-1, 0.5, 0.5])
    areas = np.array([row.estimate for row in test.aucs])
    assert test.contrasts[0].name == "0.5 b + 0.5 c - a"
    assert test.estimate == pytest.approx(weights @ areas, rel=1e-14)
    error = math.sqrt(weights @ test.covariance @ weights)
    assert test.contrasts[0].std_error == pytest.approx(error, rel=1e-12)
    assert test.statistic == pytest.approx(test.estimate / error, rel=1e-12)


@pytest.mark.parametrize("groups", [None, [0, 1, 2] * 5])
def test_identical_models_have_p_value_one(groups):
    a = np.array(TIED["a"])
    for alternative in ("two-sided", "greater", "less"):
        test = delong_test(TIED_Y, {"a": a, "b": a}, groups=groups, alternative=alternative)
        assert (test.estimate, test.statistic, test.p_value) == (0, 0, 1)
    assert delong_test(TIED_Y, {"a": a, "b": np.exp(a)}, groups=groups).p_value == 1
    three = delong_test(TIED_Y, {"a": a, "b": a, "c": a / 3}, groups=groups)
    assert (three.statistic, three.p_value, three.df) == (0, 1, 0)
    thirds = delong_test(TIED_Y, {"a": a, "b": a, "c": a}, contrasts=[[1 / 3, 2 / 3, -1]])
    assert (thirds.statistic, thirds.p_value) == (0, 1)
    # 0.1 + 0.2 - 0.3 is not 0 in floats.
    tenths = delong_test(TIED_Y, {"a": a, "b": a, "c": a}, contrasts=[[0.1, 0.2, -0.3]])
    assert (tenths.contrasts[0].std_error, tenths.df, tenths.p_value) == (0, 0, 1)


def test_a_model_given_twice_counts_once():
    single = delong_test(TIED_Y, {"a": TIED["a"], "b": TIED["b"], "c": TIED["c"]})
    double = delong_test(TIED_Y, {**TIED, "again": TIED["c"], "base": TIED["a"]})
    assert double.df == single.df == 2
    assert double.statistic == pytest.approx(single.statistic, rel=1e-9)
    assert double.contrasts[-1].p_value == 1


def test_models_that_differ_in_one_row_only_are_not_identical():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    a = rng.normal(size=2000) + y
    b = a.copy()
    row = np.flatnonzero(y == 1)[0]
    b[row] = np.sort(a[y == 0])[1:][np.searchsorted(np.sort(a[y == 0]), a[row])] + 1e-9
    test = delong_test(y, {"a": a, "b": b})
    assert test.estimate > 0
    # One placement moved: z is sqrt(m / (m - 1) ...) of about 1 over it, no 0 and no infinity.
    assert 0.5 < test.statistic < 1.5
    joint = delong_test(y, {"c": rng.normal(size=2000) + y, "a": a, "b": b})
    assert joint.df == 2 and 0 < joint.p_value <= 1


def test_req_A31_perfect_separation():
    y = [0, 0, 0, 1, 1, 1]
    perfect, reversed_, mixed = [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [1, 2, 4, 3, 5, 6]
    test = delong_test(y, {"mixed": mixed, "perfect": perfect})
    row = test.aucs[1]
    assert (row.estimate, row.std_error, row.ci_low, row.ci_high) == (1, 0, 1, 1)
    assert test.contrasts[0].std_error == test.aucs[0].std_error > 0
    assert 0 < test.p_value < 1
    # Nothing varies, and still they differ: no p-value.
    apart = delong_test(y, {"reversed": reversed_, "perfect": perfect})
    assert (apart.estimate, apart.statistic) == (1, math.inf)
    assert (apart.ci_low, apart.ci_high) == (1, 1)
    assert math.isnan(apart.p_value)
    joint = delong_test(y, {"reversed": reversed_, "perfect": perfect, "mixed": mixed})
    assert joint.statistic == math.inf and math.isnan(joint.p_value)
    documented = " ".join(type(test).__doc__.split())
    assert "NaN where a combination of areas is not zero but has no variance" in documented
    constant = delong_test(y, {"constant": [1] * 6, "perfect": perfect})
    assert math.isnan(constant.p_value)
    # The two differences vary, but not their difference, which is not zero.
    mixed_too = delong_test(y, {"mixed": mixed, "perfect": perfect, "constant": [0] * 6})
    assert mixed_too.statistic == math.inf and math.isnan(mixed_too.p_value)


def test_variance_with_clusters_is_near_the_jackknife():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 4)
    shift = rng.normal(size=60)[groups]
    y = (shift + rng.normal(size=240) > 0).astype(int)
    a, b = (y + shift * 0.7 + rng.normal(size=240) for _ in range(2))
    test = delong_test(y, {"a": a, "b": b}, groups=groups)
    without = [
        roc_auc_score(y[groups != g], b[groups != g])
        - roc_auc_score(y[groups != g], a[groups != g])
        for g in range(60)
    ]
    jackknife = math.sqrt(59 / 60 * ((without - np.mean(without)) ** 2).sum())
    assert test.contrasts[0].std_error == pytest.approx(jackknife, rel=0.03)
    rows = delong_test(y, {"a": a, "b": b})
    assert test.aucs[0].std_error > 1.1 * rows.aucs[0].std_error


@pytest.mark.newest
def test_size_under_the_null_hypothesis():
    # Two exchangeable models, 40 rows, 400 data sets: at most 3 standard errors from 5 %.
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    rejected = 0
    for _ in range(400):
        signal = y + rng.normal(size=40)
        scores = {"a": signal + rng.normal(size=40), "b": signal + rng.normal(size=40)}
        rejected += delong_test(y, scores).p_value <= 0.05
    assert abs(rejected / 400 - 0.05) < 3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [((False, True), None), ((-1, 1), None), (("no", "yes"), "yes"), ((2, 7), 7)],
)
def test_labels_of_all_kinds(labels, pos_label):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    y = [labels[label] for label in TIED_Y]
    expected = delong_test(TIED_Y, TIED)
    assert delong_test(y, TIED, pos_label=pos_label) == expected
    assert delong_test(np.array(y)[:, None], pd.DataFrame(TIED), pos_label=pos_label) == expected
    assert delong_test(pl.Series(y), pl.DataFrame(TIED), pos_label=pos_label) == expected


SHORT = {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_true": [0, 1, 2, 0]}, r"`y_true` must hold 2 classes, got 3: 0, 1, 2"),
        ({"y_true": [[0, 1]] * 4}, r"`y_true` must have shape \(n_rows,\), got \(4, 2\)"),
        ({"y_true": ["n", "n", "y", "y"]}, r"`pos_label` must be given .* 'n', 'y', got None"),
        ({"pos_label": 3}, r"`pos_label` must be one of 0, 1, got 3"),
        ({"scores": {"a": [1, 2, 3, 4]}}, r"`scores` must hold at least 2 models, got 'a'"),
        ({"scores": {**SHORT, "b": [1, 2]}}, r"`scores\['b'\]` must have one entry .* 4, got 2"),
        ({"scores": {**SHORT, "b": [1, np.nan, 2, 3]}}, r"`scores\['b'\]` must be finite .* 1\."),
        ({"scores": {**SHORT, "b": list("abcd")}}, r"`scores\['b'\]` must be .* dtype <U1"),
        ({"scores": {**SHORT, "b": np.ones((4, 2))}}, r"Of probabilities pass the positive"),
        ({"groups": [1, 1, 1, 1]}, r"`groups` must spread each class over at least 2 .* got 1"),
        ({"groups": [1, 1, 2, 3]}, r"got 1 with negative rows, of 3"),
        ({"groups": [1, None, 2, 3]}, r"`groups` must be finite and present .* row\(s\) 1"),
        ({"contrasts": [-1, 1]}, r"`contrasts` must have shape \(n_contrasts, 2\).* got \(2,\)"),
        ({"contrasts": [[1, 1]]}, r"`contrasts` must hold rows that add up to 0"),
        ({"contrasts": [[0, 0]]}, r"`contrasts` must hold rows that .* not all 0"),
        ({"contrasts": [[np.inf, 1]]}, r"`contrasts` must hold finite numbers"),
        ({"alternative": "better"}, r"`alternative` must be one of .* got 'better'"),
        ({"confidence_level": 95}, r"`confidence_level` must be .* got 95\."),
    ],
)
def test_bad_arguments_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        delong_test(**{"y_true": [0, 0, 1, 1], "scores": SHORT, **changed})


def test_scores_without_names_are_refused():
    with pytest.raises(TypeError, match=r"`scores` must be a mapping .* got list"):
        delong_test([0, 0, 1, 1], [[1, 2, 3, 4], [4, 3, 2, 1]])


def test_case_C25_p_values_are_no_logarithms():
    # The p-value behind the reported log10 of -0.41288 is 0.38648.
    assert math.log10(0.38648) == pytest.approx(-0.41288, abs=1e-5)
    result = delong_test(TIED_Y, {"a": TIED["a"], "b": TIED["b"]})
    assert 0 <= result.p_value <= 1
    assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(result.statistic)), rel=1e-12)


def test_case_C21_one_positive_has_an_area_and_no_variance():
    y, scores = [0, 0, 0, 1], [0.1, 0.2, 0.3, 0.4]
    assert tie_aware_auc(y, scores) == 1.0
    assert placement_values(y, scores).tolist() == [1.0, 1.0, 1.0, 1.0]
    result = delong_test(y, {"a": scores, "b": scores[::-1], "c": scores})
    assert [row.estimate for row in result.aucs] == [1, 0, 1]
    assert result.variant == "DeLong; no variance, since there is one positive row"
    numbers = [result.statistic, result.p_value, result.ci_low, result.ci_high]
    numbers += [number for row in result.aucs for number in (row.std_error, row.ci_low)]
    numbers += [number for row in result.contrasts for number in (row.std_error, row.p_value)]
    assert np.isnan(numbers).all()
    mirrored = delong_test([1 - label for label in y], {"a": scores, "b": scores[::-1]})
    assert "one negative row" in mirrored.variant
