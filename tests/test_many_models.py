"""Many models: max-T, families, all pairs, ranks, from the public functions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._tables import DifferenceRow

MODELS = ("a", "b", "c", "d")


def compared(seed=0, n=150, shifts=(0.0, 0.1, -0.1, 0.25), **options):
    rng = np.random.default_rng(seed)
    ease = rng.normal(1.0, 1.0, n)
    table = {
        name: ease + shift + rng.normal(0, 0.5, n)
        for name, shift in zip(MODELS, shifts, strict=False)
    }
    return compare_scores(table, **{"n_resamples": 999, "random_state": 0, **options})


def two_metrics(**options):
    rng = np.random.default_rng(1)
    y = rng.random(200)
    answers = {name: y + rng.normal(0, size, 200) for name, size in
               (("a", 0.3), ("b", 0.25), ("c", 0.3))}  # fmt: skip
    return compare_predictions(
        y, answers, scoring=["r2", "neg_mean_absolute_error"],
        **{"n_resamples": 999, "random_state": 0, **options},
    )  # fmt: skip


# --- max-T ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_max_t_replaces_p_value_and_interval_whatever_the_method_req_C21(method, level):
    found = compared(correction="max-t", method=method, confidence_level=level)
    observed = {row.model: row.estimate for row in found.scores}
    d = np.array([observed[m] - observed["a"] for m in MODELS[1:]])
    replicates = found.replicates[:, 0, 1:] - found.replicates[:, 0, :1]
    se = replicates.std(axis=0, ddof=1)
    largest = np.sort((np.abs(replicates - d) / se).max(axis=1))
    c = largest[math.ceil(1000 * level) - 1]
    for k, row in enumerate(found.differences):
        p = (1 + np.sum(largest >= abs(d[k]) / se[k])) / 1000
        assert (row.p_value, row.p_adjusted) == (p, p)
        assert (row.ci_low, row.ci_high) == pytest.approx((d[k] - c * se[k], d[k] + c * se[k]))
        assert row.std_error == pytest.approx(se[k])
        assert row.status == "ok"
    assert "by max-T, where c serves the 3 comparisons of a metric at once" in " ".join(
        found.summary().split()
    )


@given(
    seed=st.integers(0, 10**6),
    level=st.sampled_from([0.8, 0.9, 0.95]),
    alternative=st.sampled_from(["two-sided", "better", "worse"]),
    family=st.sampled_from(["metric", "all"]),
)
def test_interval_and_p_agree_for_families_of_answers_on_a_lattice(
    seed, level, alternative, family
):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 30)
    answers = {name: np.where(rng.random(30) < q, y, 1 - y) for name, q in
               (("a", 0.7), ("b", 0.8), ("c", 0.95))}  # fmt: skip
    found = compare_predictions(
        y, answers, scoring=["accuracy", "neg_mean_absolute_error"], n_resamples=199,
        random_state=seed, confidence_level=level, alternative=alternative, correction="max-t",
        family=family,
    )  # fmt: skip
    for row in found.differences:
        if row.status == "ok":
            excludes = row.ci_low > 0 or row.ci_high < 0
            assert excludes == (row.p_adjusted <= found._facts.settings.alpha)
    half = len(found.differences) // 2
    for row, mirrored in zip(found.differences[:half], found.differences[half:], strict=True):
        assert mirrored.p_adjusted == pytest.approx(row.p_adjusted, nan_ok=True)
        assert mirrored.verdict == row.verdict


@pytest.mark.parametrize("alternative", ["better", "worse"])
def test_one_sided_max_t_gives_one_bound(alternative):
    found = compared(correction="max-t", alternative=alternative)
    sign = 1 if alternative == "better" else -1
    for row in found.differences:
        assert math.isinf(row.ci_high if sign > 0 else row.ci_low)
        assert math.isfinite(row.ci_low if sign > 0 else row.ci_high)
    replicates = sign * (found.replicates[:, 0, 1:] - found.replicates[:, 0, :1])
    d = sign * np.array([row.difference for row in found.differences])
    se = replicates.std(axis=0, ddof=1)
    largest = ((replicates - d) / se).max(axis=1)
    for k, row in enumerate(found.differences):
        assert row.p_value == (1 + np.sum(largest >= d[k] / se[k])) / 1000
    assert "one bound each" in " ".join(found.summary().split())


def test_one_comparison_is_the_studentised_absolute_test():
    found = compared(shifts=(0.0, 0.1), correction="max-t")
    (row,) = found.differences
    deviations = np.abs(found.replicates[:, 0, 1] - found.replicates[:, 0, 0] - row.difference)
    assert row.p_value == (1 + np.sum(deviations >= abs(row.difference))) / 1000


def test_max_t_gains_over_bonferroni_where_models_are_alike():
    rng = np.random.default_rng(0)
    base, noise = rng.normal(size=300), rng.normal(size=300)
    table = {"a": base} | {
        f"m{k}": base + 0.14 + noise + 0.1 * rng.normal(size=300) for k in range(10)
    }
    joint = compare_scores(table, random_state=0, correction="max-t")
    single = joint.replace(correction="bonferroni", method="normal")
    for row, other in zip(joint.differences, single.differences, strict=True):
        assert row.p_adjusted < other.p_adjusted / 2


def test_constant_differences_leave_the_family_and_undefined_resamples_are_counted():
    y = np.array([0, 1] * 3 + [0] * 60)
    rng = np.random.default_rng(0)
    answers = {name: rng.random(66) for name in "ab"}
    answers["same"] = answers["a"]
    found = compare_predictions(y, answers, scoring="roc_auc", correction="max-t", random_state=0)
    row, same = found.differences
    assert (same.status, same.p_adjusted, same.verdict) == ("degenerate", 1.0, "inconclusive")
    alone = compare_predictions(
        y, {name: answers[name] for name in "ab"}, scoring="roc_auc", correction="max-t",
        random_state=0,
    )  # fmt: skip
    assert row.p_adjusted == alone.differences[0].p_adjusted
    lost = found.scores[0].n_undefined
    assert lost > 0
    assert any(
        note == "Max-T takes only resamples in which every comparison of the family is defined: of "
        f"9999 it leaves out those of roc_auc ({lost})."
        for note in found.notes
    )


# --- families ----------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr", None])
def test_the_family_may_span_all_metrics_req_A32(correction):
    found = two_metrics(correction=correction, family="all")
    p = [row.p_value for row in found.differences]
    assert [row.p_adjusted for row in found.differences] == adjust(p, correction).tolist()
    by_metric = found.replace(family="metric")
    for row, other in zip(found.differences, by_metric.differences, strict=True):
        assert row.p_adjusted >= other.p_adjusted or correction == "fdr"
        assert row.p_value == other.p_value <= row.p_adjusted
    text = " ".join(found.summary().split())
    if correction is None:
        assert "without correction for the 4 comparisons of all metrics" in text
    else:
        assert "over the 4 comparisons of all metrics)" in text
        assert "4 comparisons)" in text
    assert "metrics are not corrected for one another" not in text
    assert "metrics are not corrected for one another" in " ".join(by_metric.summary().split())


def test_max_t_over_all_metrics_takes_each_in_its_own_direction():
    found = two_metrics(correction="max-t", family="all", alternative="better")
    r2, error = found.replicates[:, 0], found.replicates[:, 1]
    replicates = np.hstack([r2[:, 1:] - r2[:, :1], error[:, :1] - error[:, 1:]])
    d = np.array([row.difference for row in found.differences]) * [1, 1, -1, -1]
    se = replicates.std(axis=0, ddof=1)
    largest = ((replicates - d) / se).max(axis=1)
    for k, row in enumerate(found.differences):
        assert row.p_value == (1 + np.sum(largest >= d[k] / se[k])) / 1000
    assert [math.isinf(row.ci_high) for row in found.differences] == [True, True, False, False]


def test_a_family_too_large_for_the_resamples_is_noted():
    note = (
        "3 comparisons with 99 resamples: the smallest adjusted p-value of a single one is 0.06, "
        "above the level 0.05. Draw more resamples."
    )
    assert note in compared(n_resamples=99).notes
    assert note in compared(n_resamples=99, correction="bonferroni").notes
    for options in (
        {"correction": "max-t"},
        {"correction": None},
        {"alternative": "better"},
        {"n_resamples": 119},
        {"shifts": (0.0, 0.1, 0.2)},
    ):
        assert not compared(**{"n_resamples": 99, **options}).notes


def test_twenty_benchmarks_of_equal_models_req_E26():
    """Without correction most studies find something: 1 - 0.95**20 is 0.64."""
    rng = np.random.default_rng(0)
    first, second = rng.binomial(200, 0.6, (2, 1000, 20)) / 200
    z = (first - second) / np.sqrt((first * (1 - first) + second * (1 - second)) / 200)
    p = 2 * stats.norm.sf(np.abs(z))
    assert (p <= 0.05).sum(axis=1).mean() == pytest.approx(1.0, abs=0.1)
    shares = {
        correction: np.mean([(adjust(row, correction) <= 0.05).any() for row in p])
        for correction in (None, "bonferroni", "holm", "fdr")
    }
    assert shares[None] == pytest.approx(0.64, abs=0.05)
    assert shares["bonferroni"] == shares["holm"] <= shares["fdr"] < 0.075


# --- all pairs ----------------------------------------------------------------------------------


def test_all_pairs_with_the_baseline_first():
    found = compared(pairs="all", baseline="b")
    assert [(row.model, row.baseline) for row in found.differences] == [
        ("a", "b"), ("c", "b"), ("d", "b"), ("c", "a"), ("d", "a"), ("d", "c"),
    ]  # fmt: skip
    values = dict(zip(MODELS, found.replicates[:, 0].T, strict=True))
    for row in found.differences:
        expected = np.quantile(values[row.model] - values[row.baseline], [0.025, 0.975])
        assert (row.ci_low, row.ci_high) == pytest.approx(expected)
    p = [row.p_value for row in found.differences]
    assert [row.p_adjusted for row in found.differences] == adjust(p, "holm").tolist()


@pytest.mark.parametrize("correction", [None, "max-t"])
def test_pairs_hold_what_each_baseline_says(correction):
    found = compared(pairs="all", correction=correction)
    assert len(found.differences) == 6
    if correction is None:
        for baseline in MODELS:
            rows = found.replace(pairs="baseline", baseline=baseline).differences
            known = {(row.model, row.baseline): row for row in found.differences}
            for row in rows:
                if (row.model, row.baseline) in known:
                    image = known[row.model, row.baseline]
                    assert image.p_value == row.p_value
                    assert image.ci_low == row.ci_low
    else:
        pairs = list(itertools.combinations(range(4), 2))
        replicates = np.column_stack(
            [found.replicates[:, 0, j] - found.replicates[:, 0, i] for i, j in pairs]
        )
        d = np.array([row.difference for row in found.differences])
        t = np.abs(replicates - d) / replicates.std(axis=0, ddof=1)
        reached = np.abs(d) / replicates.std(axis=0, ddof=1)
        p = (1 + (t.max(axis=1)[:, None] >= reached).sum(axis=0)) / 1000
        assert [row.p_adjusted for row in found.differences] == p.tolist()


def test_reports_name_both_models_of_a_pair():
    found = compared(pairs="all", margin=0.3)
    text = found.summary()
    assert "Differences of all pairs, in units of the metric" in text
    assert "\n    d - c " in text
    assert "over the 6 comparisons of a metric" in " ".join(text.split())
    assert "| d - c |" in found.to_markdown()
    again = ComparisonResult.from_json(found.to_json())
    assert (again.summary(), again.pairs) == (text, "all")
    two = compared(shifts=(0.0, 0.1), pairs="all")
    assert two.summary() == two.replace(pairs="baseline").summary()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [("pairs", "every", "'baseline', 'all'"), ("family", None, "'metric', 'all'"),
     ("correction", "maxt", "'holm', 'max-t', 'max-t-step-down', 'bonferroni', 'fdr', None")],
)  # fmt: skip
def test_unknown_words_are_refused(name, value, allowed):
    for ask in (lambda: compared(**{name: value}), lambda: compared().replace(**{name: value})):
        with pytest.raises(ValueError) as caught:
            ask()
        assert str(caught.value) == f"`{name}` must be one of {allowed}, got {value!r}."


# --- ranks -------------------------------------------------------------------------------------


def test_ranks_are_those_of_every_resample():
    found = two_metrics()
    ranks = found.rank_distribution(best=2)
    for number, (metric, sign) in enumerate((("r2", -1), ("mean_absolute_error", 1))):
        places = np.argsort(np.argsort(sign * found.replicates[:, number], axis=1), axis=1) + 1
        expected = [[np.mean(places[:, m] == r) for r in (1, 2, 3)] for m in range(3)]
        np.testing.assert_allclose(ranks.shares[metric], expected, atol=1e-12)
        rows = [row for row in ranks.rows if row.metric == metric]
        assert [row.model for row in rows] == ["a", "b", "c"]
        for model, row in enumerate(rows):
            assert row.mean_rank == pytest.approx(places[:, model].mean())
            assert row.share_among_best == pytest.approx(np.mean(places[:, model] <= 2))
            assert row.n_undefined == 0
        assert sum(row.share_among_best for row in rows) == pytest.approx(2)


def test_models_that_tie_share_their_ranks_evenly():
    table = {"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [0, 0, 0, 0]}
    ranks = compare_scores(table, n_resamples="exact", baseline="c").rank_distribution()
    none = (2 / 4) ** 4  # no item of score 1 drawn: all three tie
    first = (1 - none) / 2 + none / 3
    assert ranks.shares["mean_score"][0] == pytest.approx([first, first, none / 3])
    assert ranks.rows[0].mean_rank == pytest.approx(1.5 * (1 - none) + 2 * none)
    assert ranks.rows[0].share_among_best == pytest.approx(first)


def test_resamples_undefined_in_any_model_are_left_out_and_counted():
    y = np.array([1] * 2 + [0] * 20)
    rng = np.random.default_rng(0)
    found = compare_predictions(
        y, {name: rng.random(22) for name in "abc"}, scoring="roc_auc", random_state=0
    )
    ranks = found.rank_distribution()
    lost = found.scores[0].n_undefined
    assert {row.n_undefined for row in ranks.rows} == {lost}
    assert lost > 0
    assert "left out" in str(ranks)
    np.testing.assert_allclose(ranks.shares["roc_auc"].sum(axis=1), 1)


def test_ranks_as_text_markdown_and_frames():
    ranks = compared().rank_distribution(best=2)
    text = str(ranks)
    assert text.startswith("Ranks over the resamples, and the best 2\n")
    assert "Shares of the resamples" in text and "not how probable" in text
    assert "    c       3.87    0.0 %   0.0 %   0.0 %  12.7 %  87.3 %" in text
    assert "| mean_score (higher is better) | a |" in ranks.to_markdown()
    pytest.importorskip("pandas")
    frame = ranks.to_frame()
    assert frame.columns.tolist() == [
        "metric", "model", "mean_rank", "share_among_best", "n_undefined",
        "rank_1", "rank_2", "rank_3", "rank_4",
    ]  # fmt: skip
    np.testing.assert_array_equal(
        frame[["rank_1", "rank_2", "rank_3", "rank_4"]], ranks.shares["mean_score"]
    )
    again = ComparisonResult.from_json(compared().to_json(replicates=True))
    assert again.rank_distribution(best=2).rows == ranks.rows
    with pytest.raises(ValueError, match="so `rank_distribution` is not available"):
        ComparisonResult.from_json(compared().to_json()).rank_distribution()


@pytest.mark.parametrize("best", [0, 5, -1, 1.0, True, "2", None])
def test_only_a_number_of_models_can_be_the_best(best):
    with pytest.raises(ValueError) as caught:
        compared().rank_distribution(best)
    assert str(caught.value) == (
        f"`best` must be an integer from 1 to the number of models, 4, got {best!r}."
    )


def test_a_single_model_has_the_first_rank():
    ranks = compare_scores({"a": [0.1, 0.2, 0.4]}, random_state=0).rank_distribution()
    assert ranks.shares["mean_score"].tolist() == [[1.0]]


def test_columns_do_not_depend_on_correction_family_or_pairs():
    pytest.importorskip("pandas")
    found = compared(correction="max-t", family="all", pairs="all")
    assert found.to_frame().columns.tolist() == list(DifferenceRow.columns())


# --- the comparator ----------------------------------------------------------------------------


def test_the_comparator_selects_by_comparisons_with_the_baseline_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(240) > 0).astype(int)
    models = [
        ("noise", FrozenEstimator(LogisticRegression().fit(X[:120, :], rng.integers(0, 2, 120)))),
        ("good", FrozenEstimator(LogisticRegression().fit(X[:120], y[:120]))),
        ("never", FrozenEstimator(DummyClassifier().fit(X[:120], y[:120]))),
    ]
    for baseline, expected in (("good", "good"), ("never", "good")):
        comparator = PairedBootstrapComparator(
            models, scoring="accuracy", baseline=baseline, pairs="all", correction="max-t",
            n_resamples=999, random_state=0,
        ).fit(X[120:], y[120:])  # fmt: skip
        assert len(comparator.result_.differences) == 3
        assert comparator.best_name_ == expected


def test_tests_of_splits_take_holm_in_place_of_max_t():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(90) > 0).astype(int)
    models = [("a", DummyClassifier()), ("b", LogisticRegression()), ("c", LogisticRegression(C=9))]
    options = {"scoring": "accuracy", "n_resamples": 199, "random_state": 0}
    fitted = {
        correction: PairedBootstrapComparator(models, correction=correction, **options).fit(X, y)
        for correction in ("max-t", "holm")
    }
    assert fitted["max-t"].result_.split_tests == fitted["holm"].result_.split_tests
    assert fitted["max-t"].result_.correction == "max-t"
