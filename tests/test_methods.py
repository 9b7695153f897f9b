"""Every interval method through the public functions: studentized, t and expanded in particular."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import make_scorer

from sklearn_pairboot import (
    ClusterBootstrapScorer,
    ComparisonResult,
    PairedBootstrapComparator,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot.planning import intraclass_correlation
from sklearn_pairboot.resampling import StratifiedBootstrap

NEW = ["studentized", "t", "expanded"]


def scores(seed=0, n_rows=40, names="abc"):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n_rows)
    return {name: base + rng.normal(0.1 * k, 0.6, n_rows) for k, name in enumerate(names)}


def classifiers(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    y[:4] = [0, 0, 1, 1]
    found = {}
    for name in "ab":
        p = 1 / (1 + np.exp(-np.round(y - 0.5 + rng.normal(size=n_rows), 1)))
        found[name] = RecordedEstimator.from_arrays(
            predict=(p > 0.5).astype(int),
            predict_proba=np.column_stack([1 - p, p]),
            classes=[0, 1],
        )
    return y, found


def same_row(a, b, rel=1e-9):
    names = ("difference", "std_error", "ci_low", "ci_high", "p_value")
    assert [a[name] for name in names] == pytest.approx([b[name] for name in names], rel=rel)
    assert (a.status, a.verdict) == (b.status, b.verdict)


def tables(result):
    """Both tables in words that are equal where undefined numbers are, too."""
    return repr((result.scores, result.differences))


@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
def test_t_of_rows_is_students_paired_test(alternative):
    given_scores = scores()
    found = compare_scores(
        given_scores, method="t", alternative=alternative, n_resamples=99, random_state=0
    )
    side = {"two-sided": "two-sided", "better": "greater", "worse": "less"}[alternative]
    for row in found.differences:
        difference = given_scores[row.model] - given_scores["a"]
        expected = stats.ttest_1samp(difference, 0, alternative=side)
        assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9)
        ends = tuple(expected.confidence_interval(0.95))
        assert (row.ci_low, row.ci_high) == pytest.approx(ends, rel=1e-9)
        assert row.std_error == pytest.approx(stats.sem(difference), rel=1e-12)


def test_t_with_a_margin_is_the_textbook_pair_of_tests():
    given_scores = scores(1)
    found = compare_scores(
        given_scores, method="t", margin=0.4, correction=None, n_resamples=99, random_state=0
    )
    for row in found.differences:
        difference = given_scores[row.model] - given_scores["a"]
        above = stats.ttest_1samp(difference, -0.4, alternative="greater").pvalue
        below = stats.ttest_1samp(difference, 0.4, alternative="less").pvalue
        assert row.p_equivalence == pytest.approx(max(above, below), rel=1e-9)
        assert row.p_not_worse == pytest.approx(above, rel=1e-9)
        expected = stats.ttest_1samp(difference, 0).confidence_interval(0.9)
        assert (row.equivalence_low, row.equivalence_high) == pytest.approx(tuple(expected))


def test_t_with_a_relative_margin_takes_the_error_of_that_contrast():
    given_scores = {name: 5 + values for name, values in scores(2).items()}
    found = compare_scores(
        given_scores, method="t", margin_relative=0.1, n_resamples=99, random_state=0
    )
    for row in found.differences:
        above = stats.ttest_1samp(
            given_scores[row.model] - 0.9 * given_scores["a"], 0, alternative="greater"
        )
        assert row.p_not_worse == pytest.approx(above.pvalue, rel=1e-9)


def test_t_of_equal_clusters_is_students_test_of_their_means_req_A20():
    given_scores = scores(3, n_rows=48)
    groups = np.arange(48) % 8
    found = compare_scores(given_scores, groups=groups, method="t", n_resamples=99, random_state=0)
    for row in found.differences:
        difference = given_scores[row.model] - given_scores["a"]
        means = [difference[groups == k].mean() for k in range(8)]
        assert row.p_value == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-9)


def test_unequal_clusters_have_fewer_degrees_of_freedom():
    """By the sizes, and the intraclass correlation of the rows' differences from their mean."""
    given_scores = scores(4, n_rows=40)
    groups = np.repeat(np.arange(6), [2, 3, 5, 5, 10, 15])
    rng = np.random.default_rng(4)
    for name in "bc":
        given_scores[name] = given_scores[name] + rng.normal(size=6)[groups]
    found = compare_scores(given_scores, groups=groups, method="t", n_resamples=99, random_state=0)
    sizes = np.bincount(groups)
    for row in found.differences:
        difference = given_scores[row.model] - given_scores["a"]
        rho = max(intraclass_correlation(difference, groups).estimate, 0.0)
        assert rho > 0.05
        weight = sizes * (1 + (sizes - 1) * rho)
        df = weight.sum() ** 2 / (weight**2).sum() - 1
        totals = np.bincount(groups, difference - difference.mean()) / 40
        std_error = np.sqrt(6 / 5 * (totals**2).sum())
        half_width = stats.t.ppf(0.975, df) * std_error
        ends = row.difference - half_width, row.difference + half_width
        assert (row.ci_low, row.ci_high) == pytest.approx(ends, rel=1e-9)
        assert df < 5


@pytest.mark.parametrize("scoring", ["roc_auc", "f1_macro"])
def test_fitted_and_recorded_models_have_the_same_degrees_of_freedom(scoring):
    """Clusters of unequal sizes: estimators, their recorded answers, and the comparator."""
    rng = np.random.default_rng(15)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    groups = np.repeat(np.arange(8), [2, 4, 6, 8, 10, 12, 14, 24])
    models = {"a": LogisticRegression().fit(X, y), "b": LogisticRegression(C=0.01).fit(X, 1 - y)}
    options = {"scoring": scoring, "method": "t", "n_resamples": 99, "random_state": 0}
    direct = compare_estimators(models, X, y, groups=groups, **options)
    answers = {name: RecordedEstimator.from_estimator(model, X) for name, model in models.items()}
    recorded = compare_predictions(y, answers, groups=groups, **options)
    frozen = [(name, FrozenEstimator(model)) for name, model in models.items()]
    fitted = PairedBootstrapComparator(frozen, **options).fit(X, y, groups=groups).result_
    assert tables(direct) == tables(recorded) == tables(fitted)
    clusters = direct._distribution
    df = clusters.basis("t", 0, 1, 0).df
    sizes = np.bincount(groups)
    assert sizes.sum() ** 2 / (sizes**2).sum() - 1 >= df
    assert df > (sizes**2).sum() ** 2 / (sizes**4).sum() - 1


def test_strata_take_their_own_means():
    given_scores = scores(5, n_rows=30)
    strata = np.repeat([0, 1], [10, 20])
    found = compare_scores(
        given_scores, resampling=StratifiedBootstrap(strata), method="t", n_resamples=99,
        random_state=0,
    )  # fmt: skip
    for row in found.differences:
        parts = np.split(given_scores[row.model] - given_scores["a"], [10])
        variance = sum(len(part) * part.var(ddof=1) for part in parts) / 30**2
        assert row.std_error == pytest.approx(variance**0.5, rel=1e-9)
        half_width = stats.t.ppf(0.975, 28) * variance**0.5
        assert row.ci_high - row.difference == pytest.approx(half_width, rel=1e-9)


@pytest.mark.parametrize("method", NEW)
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "neg_log_loss"])
def test_swapping_the_models_mirrors(method, scoring):
    y, answers = classifiers(6)
    found = compare_predictions(
        y, answers, scoring=scoring, method=method, n_resamples=199, random_state=0
    )
    (there,), (back,) = found.differences, found.replace(baseline="b").differences
    assert there.status == back.status == "ok"
    assert (back.ci_low, back.ci_high) == pytest.approx((-there.ci_high, -there.ci_low), rel=1e-9)
    assert back.p_value == pytest.approx(there.p_value, rel=1e-9)
    assert back.std_error == pytest.approx(there.std_error, rel=1e-9)


@pytest.mark.parametrize("method", NEW)
def test_clusters_of_one_row_are_rows(method):
    y, answers = classifiers(7)
    options = {
        "scoring": ["roc_auc", "average_precision", "f1", "r2"],
        "method": method,
        "n_resamples": 199,
        "random_state": 0,
    }
    rows = compare_predictions(y, answers, **options)
    clusters = compare_predictions(y, answers, groups=np.arange(len(y)), **options)
    for a, b in zip(rows.differences, clusters.differences, strict=True):
        same_row(a, b)


@pytest.mark.parametrize("method", NEW)
@pytest.mark.parametrize("groups", [None, np.arange(60) // 6])
def test_a_model_against_itself(method, groups):
    y, answers = classifiers(8)
    found = compare_predictions(
        y, {"a": answers["a"], "copy": answers["a"]}, scoring=["roc_auc", "f1"], groups=groups,
        method=method, n_resamples=999, random_state=0,
    )  # fmt: skip
    for row in found.differences:
        assert (row.ci_low, row.ci_high, row.p_value) == (0.0, 0.0, 1.0)
        assert row.verdict == "inconclusive"


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), level=st.integers(800, 990), clusters=st.booleans())
def test_intervals_and_p_values_agree_at_random_levels(method, seed, level, clusters):
    y, answers = classifiers(seed)
    found = compare_predictions(
        y, answers, scoring=["roc_auc", "accuracy"], method=method, correction=None,
        confidence_level=level / 1000, groups=np.arange(60) // 2 if clusters else None,
        n_resamples=499, random_state=0,
    )  # fmt: skip
    for row in found.differences:
        if row.std_error > 0:
            excluded = row.ci_low > 0 or row.ci_high < 0
            assert excluded == (row.p_value <= round(1 - level / 1000, 3))


@pytest.mark.parametrize("method", METHODS)
def test_replace_equals_asking_at_once(method):
    given_scores = scores(9)
    options = {"n_resamples": 2000, "random_state": 0, "baseline": "b"}
    at_once = compare_scores(given_scores, method=method, **options)
    later = compare_scores(given_scores, **{**options, "baseline": "a"}).replace(
        method=method, baseline="b"
    )
    assert tables(at_once) == tables(later)


def test_jobs_and_pickles_change_nothing():
    given_scores = scores(10)
    groups = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 9, 10])
    found = compare_scores(given_scores, groups=groups, n_resamples=1999, random_state=0)
    again = pickle.loads(pickle.dumps(found))
    more_jobs = compare_scores(
        given_scores, groups=groups, n_resamples=1999, random_state=0, n_jobs=2
    )
    for method in NEW:
        expected = tables(found.replace(method=method))
        assert tables(again.replace(method=method)) == expected
        assert tables(more_jobs.replace(method=method)) == expected


def test_json_keeps_all_but_what_needs_the_draws():
    given_scores = scores(11)
    groups = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 9, 10])
    found = compare_scores(given_scores, groups=groups, n_resamples=199, random_state=0)
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    for method in ("t", "expanded", "bca"):
        a, b = (result.replace(method=method, baseline="c") for result in (found, again))
        assert tables(a) == tables(b)
    with pytest.raises(ValueError, match="`method` must not be 'studentized' for a result read"):
        again.replace(method="studentized")
    studentized = found.replace(method="studentized")
    shown = ComparisonResult.from_json(studentized.to_json(replicates=True))
    assert tables(shown) == tables(studentized)
    assert shown.summary() == studentized.summary()


def test_a_scorer_that_is_called_on_rows():
    """Its jackknife serves t; nothing serves studentized, which says so."""
    rng = np.random.default_rng(12)
    y = rng.normal(size=30)
    answers = {name: y + rng.normal(size=30) for name in "ab"}
    replayed = make_scorer(lambda t, p: -float(np.mean((t - p) ** 2)))
    options = {"n_resamples": 99, "random_state": 0}
    found = compare_predictions(y, answers, scoring={"loss": replayed}, method="t", **options)
    fast = compare_predictions(y, answers, scoring="neg_mean_squared_error", method="t", **options)
    a, b = found.differences[0], fast.differences[0]
    assert (a.ci_low, a.ci_high) == pytest.approx((-b.ci_high, -b.ci_low), rel=1e-9)
    assert a.p_value == pytest.approx(b.p_value, rel=1e-9)
    row = found.replace(method="studentized").differences[0]
    assert row.status == "percentile (studentized undefined)"
    (note,) = (n for n in found.replace(method="studentized").notes if "studentized" in n)
    assert "a scorer that is called on rows tells no standard error of a resample" in note


def test_few_units_are_refused_before_any_work():
    given_scores = scores(13, n_rows=12)
    groups = np.arange(12) % 3
    message = "for `method`='expanded' with 3 resampling units"
    with pytest.raises(ValueError, match=message):
        compare_scores(given_scores, groups=groups, method="expanded", random_state=0)
    found = compare_scores(given_scores, groups=groups, n_resamples="exact")
    assert found.replace(method="expanded").differences[0].status == "ok"
    found = compare_scores(given_scores, groups=groups, n_resamples=99, random_state=0)
    with pytest.raises(ValueError, match=message):
        found.replace(method="expanded")


@pytest.mark.parametrize("method", NEW)
def test_the_cluster_bootstrap_scorer_takes_every_method(method):
    rng = np.random.default_rng(14)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    model = Ridge().fit(X, y)
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 6, 7, 8, 11, 13])
    scorer = ClusterBootstrapScorer("r2", returns="interval", method=method)
    found = scorer(model, X, y, groups=groups)
    (row,) = compare_predictions(
        y, {"ridge": model.predict(X)}, scoring="r2", groups=groups, method=method,
        n_resamples=999, random_state=0,
    ).scores  # fmt: skip
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((row.ci_low, row.ci_high))
    assert found["std_error"] == pytest.approx(row.std_error)


def test_a_fold_with_too_few_clusters_is_no_error_of_the_scorer():
    X = np.arange(12.0)[:, None]
    model = LinearRegression().fit(X, X[:, 0] ** 2)
    scorer = ClusterBootstrapScorer("r2", returns="lower", method="expanded")
    with pytest.warns(UserWarning, match="3 resampling units"):
        assert np.isnan(scorer(model, X, X[:, 0] ** 2, groups=np.arange(12) % 3))
