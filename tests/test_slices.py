"""Subgroups: the same resamples, counted literally; families; reports; what is refused."""

import itertools
import math

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as skm
from sklearn.linear_model import LogisticRegression

from examples import max_examples
from literal import quiet, rows_of
from sklearn_pairboot import (
    ComparisonResult,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.average import AverageKernel, Fold
from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._engine.merging import merge
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights
from sklearn_pairboot._tables import SliceRow


def scored(seed=0, n=120, **options):
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=n)
    table = {
        name: ease + shift + rng.normal(0, 0.5, n)
        for name, shift in (("a", 0.0), ("b", 0.2), ("c", -0.1))
    }
    given = {"slices": {"site": rng.choice(["x", "y", "z"], n), "hard": ease < 0}}
    return compare_scores(table, **{"n_resamples": 999, "random_state": 0, **given, **options})


def numbers(row):
    """What two rows must share to be the same comparison."""
    return [
        row[column] for column in ("difference", "std_error", "ci_low", "ci_high", "p_value")
    ]  # fmt: skip


def cell(result, label, metric=None, model=None):
    (row,) = [
        row
        for row in result.slices
        if row.label == label and metric in (None, row.metric) and model in (None, row.model)
    ]
    return row


def count_vectors(n_units):
    """All vectors of counts of the units, and how many sequences each stands for."""
    for drawn in itertools.combinations_with_replacement(range(n_units), n_units):
        counts = np.bincount(drawn, minlength=n_units)
        yield counts, math.factorial(n_units) // math.prod(map(math.factorial, counts.tolist()))


# --- the definition ---------------------------------------------------------------------------


def test_an_absent_subgroup_is_counted_and_the_whole_still_counts_case_C12():
    # Of the 4^4 sequences of four rows (3/4)^4 = 0.316 lack the one row of b.
    result = compare_scores(
        {"old": [0, 1, 0, 1], "new": [1, 1, 0, 0]},
        slices={"group": ["a", "a", "a", "b"]},
        n_resamples="exact",
    )
    assert cell(result, "b").n_undefined == 3**4
    assert cell(result, "b").n_undefined / 4**4 == pytest.approx(0.316, abs=5e-4)
    assert cell(result, "a").n_undefined == 1  # all four draws are b
    assert [row.n_undefined for row in result.scores] == [0, 0]
    only = cell(result, "b")
    assert only.status == "undefined"
    assert np.isnan(numbers(only)).all()
    assert "Subgroups that are not compared, fewer than 2 rows: mean_score where group = b." in (
        result.notes
    )
    assert cell(result, "a").difference == pytest.approx(1 / 3)


def thrice(estimator, X, y):
    """A scorer that nothing knows."""
    return np.median(np.abs(estimator.predict(X) - y)) * 3


LITERAL = {
    "accuracy": lambda y, p, w, labels: skm.accuracy_score(y, p > 0.5, sample_weight=w),
    # Labels are those of the subgroup, as in scikit-learn's metric on its rows.
    "f1_macro": lambda y, p, w, labels: skm.f1_score(
        y, p > 0.5, average="macro", sample_weight=w, labels=labels, zero_division=0
    ),
    "roc_auc": lambda y, p, w, labels: (
        skm.roc_auc_score(y, p, sample_weight=w) if len(set(y)) == 2 else np.nan
    ),
    "neg_log_loss": lambda y, p, w, labels: skm.log_loss(y, p, sample_weight=w, labels=[0, 1]),
}
Y = np.array([0, 1, 1, 0, 1, 0, 1])
OLD = np.array([0.3, 0.7, 0.4, 0.6, 0.9, 0.2, 0.2])
NEW = np.array([0.1, 0.6, 0.8, 0.3, 0.7, 0.6, 0.4])
PART = np.array(["in", "in", "out", "out", "in", "in", "out"])
GROUPS = np.array([0, 0, 0, 1, 2, 3, 3])
WEIGHT = np.array([1.0, 2, 1, 3, 1, 1, 0.5])


@pytest.mark.parametrize("clusters_or_weights", ["clusters", "weights"])
@pytest.mark.parametrize("metric", LITERAL)
def test_equals_scikit_learn_on_the_drawn_rows_of_the_subgroup(metric, clusters_or_weights):
    """Every sequence of the units, of which some hold none of the subgroup."""
    if clusters_or_weights == "clusters":
        kept, groups, weight = slice(7), GROUPS, None
    else:
        kept, groups, weight = slice(4), None, WEIGHT[:4]
    y, part, answers = Y[kept], PART[kept], {"old": OLD[kept], "new": NEW[kept]}
    records = {
        name: RecordedEstimator.from_arrays(
            predict=(values > 0.5).astype(int), predict_proba=values, classes=[0, 1]
        )
        for name, values in answers.items()
    }
    result = compare_predictions(
        y, records, scoring=metric, groups=groups, sample_weight=weight,
        slices={"part": part}, n_resamples="exact",
    )  # fmt: skip
    units = Units(len(y), 4, groups)

    def value(name, rows, label):
        found = np.unique([y[part == label], answers[name][part == label] > 0.5])
        w = None if weight is None else weight[rows]
        return quiet(LITERAL[metric], y[rows], answers[name][rows], w, found)

    for label in ("in", "out"):
        row = cell(result, label)
        assert row.n_rows == np.sum(part == label)
        of_label = np.arange(4) if groups is None else groups
        assert row.n_units == len(set(of_label[part == label]))
        values, copies, n_absent = [], [], 0
        for counts, n_sequences in count_vectors(units.n_units):
            rows = rows_of(units, counts)
            rows = rows[part[rows] == label]
            found = value("new", rows, label) - value("old", rows, label) if len(rows) else np.nan
            if np.isnan(found):
                n_absent += n_sequences
            else:
                values.append(found)
                copies.append(n_sequences)
        assert row.n_undefined == n_absent > 0
        values, copies = np.array(values), np.array(copies)
        mean = np.average(values, weights=copies)
        spread = np.average((values - mean) ** 2, weights=copies) ** 0.5
        assert row.std_error == pytest.approx(spread, rel=1e-9)
        every = np.repeat(np.round(values, 12), copies)
        assert row.ci_low == pytest.approx(np.quantile(every, 0.025), abs=1e-9)
        assert row.ci_high == pytest.approx(np.quantile(every, 0.975), abs=1e-9)


@pytest.mark.parametrize("scoring", ["neg_max_error", thrice])
def test_scorers_that_are_replayed_see_the_drawn_rows_of_the_subgroup(scoring):
    rng = np.random.default_rng(0)
    y, part = rng.normal(size=5), np.array([0, 0, 1, 0, 1])
    answers = {"old": y + rng.normal(size=5), "new": y + rng.normal(size=5)}
    scoring = {"it": thrice} if scoring is thrice else scoring
    result = compare_predictions(
        y, answers, scoring=scoring, slices={"part": part}, n_resamples="exact"
    )
    error = (
        skm.max_error if scoring == "neg_max_error" else lambda y, p: 3 * np.median(np.abs(p - y))
    )
    values, copies = [], []
    for counts, n_sequences in count_vectors(5):
        rows = np.repeat(np.arange(5), counts)
        rows = rows[part[rows] == 1]
        if len(rows):
            values.append(
                error(y[rows], answers["new"][rows]) - error(y[rows], answers["old"][rows])
            )
            copies.append(n_sequences)
    row = cell(result, "1")
    assert row.n_undefined == 5**5 - sum(copies) == 3**5
    mean = np.average(values, weights=copies)
    spread = np.average((np.array(values) - mean) ** 2, weights=copies) ** 0.5
    assert row.std_error == pytest.approx(spread, rel=1e-9)


# --- identities -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("groups", [None, np.arange(120) // 4])
def test_one_label_is_the_comparison_of_all_rows(method, groups):
    result = scored(slices={"all": ["here"] * 120}, method=method, groups=groups)
    for row, whole in zip(result.slices, result.differences, strict=True):
        np.testing.assert_allclose(numbers(row), numbers(whole), rtol=1e-10)
        assert (row.p_adjusted, row.verdict) == (whole.p_adjusted, whole.verdict)
        assert (row.n_rows, row.n_units, row.n_undefined) == (120, result.n_units, 0)


def test_one_label_of_labels_that_are_merged_is_the_comparison_of_all_rows():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 3000)
    answers = {name: np.where(rng.random(3000) < 0.7, y, 0) for name in ("old", "new")}
    result = compare_predictions(
        y, answers, scoring=["accuracy", "f1_macro"], slices={"all": y * 0, "odd": y % 2},
        n_resamples=199, random_state=0,
    )  # fmt: skip
    for whole in result.differences:
        row = next(row for row in result.slices if row.metric == whole.metric)
        np.testing.assert_allclose(numbers(row), numbers(whole), rtol=1e-10)


def test_overall_tables_do_not_know_of_slices():
    with_slices, without = scored(), scored(slices=None)
    assert with_slices.scores == without.scores
    assert str(with_slices.differences) == str(without.differences)
    assert with_slices.metrics == without.metrics
    np.testing.assert_array_equal(with_slices.replicates, without.replicates)
    assert without.slices == ()
    assert with_slices.rank_distribution().rows == without.rank_distribution().rows


def test_estimates_are_those_of_a_comparison_of_the_rows_alone():
    rng = np.random.default_rng(3)
    y, half = rng.integers(0, 3, 90), np.arange(90) % 2
    answers = {name: np.where(rng.random(90) < 0.7, y, rng.integers(0, 3, 90)) for name in "ab"}
    result = compare_predictions(
        y, answers, scoring=["f1_macro", "matthews_corrcoef"], slices={"half": half},
        n_resamples=99, random_state=0, confidence_level=0.9,
    )  # fmt: skip
    for label in (0, 1):
        alone = compare_predictions(
            y[half == label], {name: of[half == label] for name, of in answers.items()},
            scoring=["f1_macro", "matthews_corrcoef"], n_resamples=99, random_state=0,
            confidence_level=0.9,
        )  # fmt: skip
        for row in alone.differences:
            found = cell(result, str(label), row.metric).difference
            assert found == pytest.approx(row.difference, rel=1e-12)


def test_names_of_labels_change_nothing():
    rng = np.random.default_rng(0)
    part = rng.integers(0, 3, 120)
    one = scored(slices={"part": part})
    other = scored(slices={"part": np.array(["p", "q", "r"])[part]})
    assert [numbers(row) for row in one.slices] == [numbers(row) for row in other.slices]
    assert [row.label for row in one.slices[::2]] == ["0", "1", "2"]
    assert [row.label for row in other.slices[::2]] == ["p", "q", "r"]


def test_order_of_rows_changes_nothing():
    rng = np.random.default_rng(0)
    table, part = rng.normal(size=(5, 2)), np.array([0, 1, 1, 0, 1])
    orders = [np.arange(5), rng.permutation(5)]
    one, other = (
        compare_scores(
            {"a": table[order, 0], "b": table[order, 1]}, slices={"part": part[order]},
            n_resamples="exact",
        )
        for order in orders
    )  # fmt: skip
    for row, same in zip(one.slices, other.slices, strict=True):
        np.testing.assert_allclose(numbers(row), numbers(same), rtol=1e-10)
        assert row.n_undefined == same.n_undefined


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_swapping_the_models_mirrors_every_subgroup(seed):
    rng = np.random.default_rng(seed)
    a, b, part = rng.normal(size=30), rng.normal(size=30), rng.integers(0, 2, 30)
    options = {"slices": {"part": part}, "n_resamples": 199, "random_state": seed}
    one = compare_scores({"a": a, "b": b}, **options)
    other = compare_scores({"b": b, "a": a}, **options)
    for row, mirror in zip(one.slices, other.slices, strict=True):
        assert row.difference == pytest.approx(-mirror.difference, abs=1e-12)
        assert row.ci_low == pytest.approx(-mirror.ci_high, abs=1e-12)
        assert row.p_value == pytest.approx(mirror.p_value, abs=1e-9)
        word = {"better": "worse", "worse": "better"}.get(row.verdict, row.verdict)
        assert mirror.verdict == word


def test_a_model_against_itself_has_p_one_in_every_subgroup():
    rng = np.random.default_rng(0)
    a = rng.normal(size=60)
    result = compare_scores(
        {"a": a, "b": a}, slices={"part": rng.integers(0, 3, 60)}, n_resamples=99,
        random_state=0, confidence_level=0.9,
    )  # fmt: skip
    assert all((row.ci_low, row.ci_high, row.p_value) == (0, 0, 1) for row in result.slices)


def test_number_of_jobs_changes_nothing():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=1200), "b": rng.normal(size=1200)}
    options = {"slices": {"part": rng.integers(0, 20, 1200)}, "n_resamples": 4999}
    one = compare_scores(table, random_state=0, **options)
    with joblib.parallel_config(backend="threading"):
        two = compare_scores(table, random_state=0, n_jobs=2, **options)
    assert one.slices == two.slices


# --- families ---------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr", None])
def test_slices_of_a_metric_are_one_family_and_the_whole_another_req_A32(correction):
    result = scored(correction=correction)
    assert len(result.slices) == 5 * 2
    adjusted = adjust([row.p_value for row in result.slices], correction)
    np.testing.assert_allclose([row.p_adjusted for row in result.slices], adjusted)
    adjusted = adjust([row.p_value for row in result.differences], correction)
    np.testing.assert_allclose([row.p_adjusted for row in result.differences], adjusted)


def test_family_all_joins_slices_and_all_rows_of_all_metrics():
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    answers = {name: y + rng.normal(size=80) for name in ("a", "b")}
    result = compare_predictions(
        y, answers, scoring=["r2", "neg_mean_absolute_error"], slices={"sign": y > 0},
        family="all", n_resamples=199, random_state=0,
    )  # fmt: skip
    rows = [*result.differences, *result.slices]
    assert len(rows) == 6
    adjusted = adjust([row.p_value for row in rows], "holm")
    np.testing.assert_allclose([row.p_adjusted for row in rows], adjusted)
    assert "over the 6 comparisons of all metrics and subgroups" in " ".join(str(result).split())


@pytest.mark.parametrize("correction", ["max-t", "max-t-step-down"])
def test_max_t_is_joint_over_the_subgroups(correction):
    result = scored(correction=correction)
    distribution = result._distribution
    columns, estimates = [], []
    for place in range(1, 6):
        for model in (1, 2):
            of_place = distribution.replicates[:, place]
            columns.append(of_place[:, model] - of_place[:, 0])
            observed = distribution.observed[place]
            estimates.append(observed[model] - observed[0])
    values, estimates = np.column_stack(columns), np.array(estimates)
    errors = values.std(axis=0, ddof=1)
    t, reached = np.abs(values - estimates) / errors, np.abs(estimates) / errors
    if correction == "max-t":
        largest = t.max(axis=1)
        p = [(1 + np.sum(largest >= value)) / 1000 for value in reached]
        c = np.sort(largest)[949]
        np.testing.assert_allclose([r.ci_low for r in result.slices], estimates - c * errors)
        np.testing.assert_allclose([r.p_value for r in result.slices], p)
    else:
        order = np.argsort(-reached)
        p = np.empty(10)
        for place, k in enumerate(order):
            p[k] = (1 + np.sum(t[:, order[place:]].max(axis=1) >= reached[k])) / 1000
        p[order] = np.maximum.accumulate(p[order])
        alone = scored(correction=None)
        p = np.maximum(p, [row.p_value for row in alone.slices])
        assert [numbers(row) for row in result.slices] == [numbers(row) for row in alone.slices]
    np.testing.assert_allclose([row.p_adjusted for row in result.slices], p)


def test_step_down_never_says_more_than_the_interval():
    """An adjusted p-value below its own would be judged by an interval that holds zero."""
    for seed in range(5):
        result = scored(seed, correction="max-t-step-down", slices=None)
        for row in result.differences:
            assert row.p_adjusted >= row.p_value
            assert (row.verdict != "inconclusive") == (row.p_adjusted <= 0.05)


def test_max_t_says_when_no_resample_has_all_subgroups():
    # A pair of rows is absent with probability 0.13: all 60 are in one of 5000 resamples.
    rng = np.random.default_rng(0)
    result = compare_scores(
        {"a": rng.normal(size=120), "b": rng.normal(size=120)},
        slices={"pair": np.arange(120) // 2}, correction="max-t", n_resamples=199, random_state=0,
    )  # fmt: skip
    assert {row.status for row in result.slices} == {"undefined"}
    assert all(row.verdict == "inconclusive" for row in result.slices)
    assert any("no resample has a value of every comparison" in note for note in result.notes)
    assert result.differences[0].status == "ok"


def test_note_on_too_few_resamples_counts_slices():
    # 10 comparisons in subgroups: 10 * 2 / 200 = 0.1; on all rows 2 * 2 / 200 = 0.02.
    (note,) = [note for note in scored(n_resamples=199).notes if "smallest adjusted" in note]
    assert note.startswith("10 comparisons with 199 resamples: the smallest adjusted p-value")
    assert "0.1," in note
    assert not any("smallest adjusted" in n for n in scored(n_resamples=199, slices=None).notes)


def test_a_subgroup_of_few_units_gets_no_verdict():
    # Four units that agree: 2^(1 - 4) = 0.125 is above 0.05.
    result = compare_scores(
        {"a": [0.0] * 30, "b": np.linspace(1, 2, 30)},
        slices={"part": [0] * 4 + [1] * 26}, random_state=0, n_resamples=999,
    )  # fmt: skip
    assert cell(result, "0").ci_low > 0
    assert (cell(result, "0").verdict, cell(result, "1").verdict) == ("inconclusive", "better")


# --- what a metric cannot do in a subgroup ----------------------------------------------------


def test_a_metric_undefined_in_a_subgroup_stops_nothing_else():
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 20)
    answers = {name: rng.random(40) for name in ("a", "b")}
    result = compare_predictions(
        y, answers, scoring=["roc_auc", "average_precision"],
        slices={"class": np.where(y, "one", "zero"), "half": np.arange(40) < 20},
        n_resamples=199, random_state=0,
    )  # fmt: skip
    row = cell(result, "one", "roc_auc")
    assert (row.status, row.verdict, row.n_undefined) == ("undefined", "inconclusive", 199)
    assert cell(result, "True", "roc_auc").status == "ok"
    (note,) = [note for note in result.notes if "not compared" in note]
    assert note.startswith("Subgroups that are not compared, undefined on the observed rows: ")
    assert "roc_auc where class = one" in note
    # The family does not count what is not compared.
    assert cell(result, "True", "roc_auc").p_adjusted <= 2 * cell(result, "True", "roc_auc").p_value


def test_a_scorer_that_fails_in_a_subgroup_stops_nothing_else():
    def picky(estimator, X, y):
        if (y == y[0]).all():
            raise ZeroDivisionError("one class only")
        return float(np.mean(estimator.predict(X) == y))

    y = np.array([0, 1] * 15)
    answers = {"a": np.zeros(30, int), "b": np.arange(30) % 3 % 2}
    with pytest.warns(UserWarning, match="Subgroups: ZeroDivisionError: one class only"):
        result = compare_predictions(
            y, answers, scoring={"picky": picky}, n_resamples=50, random_state=0,
            confidence_level=0.9, slices={"y": y, "part": np.repeat([0, 1, 2], [3, 7, 20])},
        )  # fmt: skip
    row = next(row for row in result.slices if row.slice == "y")
    assert (row.status, row.n_undefined) == ("undefined", 50)
    assert any("cannot be scored (" in note and "one class only" in note for note in result.notes)
    assert result.slices[-1].status == "ok"


def test_the_positive_class_may_be_absent_from_a_subgroup():
    y = np.array(["bad", "good", "bad", "good", "bad", "bad"] * 3)
    answers = {"a": np.roll(y, 1), "b": np.where(np.arange(18) % 5, y, "bad")}
    result = compare_predictions(
        y, answers, scoring=["f1", "recall"], pos_label="good", slices={"y": y},
        n_resamples=99, random_state=0, confidence_level=0.9,
    )  # fmt: skip
    is_bad = y == "bad"
    for metric, function in (("f1", skm.f1_score), ("recall", skm.recall_score)):
        old, new = (
            quiet(function, y[is_bad], answers[name][is_bad], pos_label="good") for name in "ab"
        )
        assert cell(result, "bad", metric).difference == pytest.approx(new - old)
    assert compare_predictions(
        y == "good", {name: of == "good" for name, of in answers.items()}, scoring="f1",
        slices={"y": y}, n_resamples=99, random_state=0, confidence_level=0.9,
    ).slices[0].difference == cell(result, "bad", "f1").difference  # fmt: skip


# --- kernels ----------------------------------------------------------------------------------


def test_a_part_is_the_one_fold_of_an_average():
    rng = np.random.default_rng(0)
    scores, places = rng.normal(size=(7, 2)), np.array([1, 2, 5, 8, 9, 11, 14])
    inner = item_means(scores, np.ones(7), Units(7, 7))
    part = PartKernel(inner, places, 15)
    fold = AverageKernel((Fold(inner, places),), 15)
    counts = rng.multinomial(15, np.full(15, 1 / 15), 50).astype(np.uint8)
    found, expected = part.evaluate(Weights(counts)), fold.evaluate(Weights(counts))
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.undefined, expected.undefined)
    np.testing.assert_allclose(part.leave_one_out().values, fold.leave_one_out().values)


@max_examples(20)
@given(seed=st.integers(0, 10**6))
def test_merged_units_give_the_same_values(seed):
    rng = np.random.default_rng(seed)
    n = 40
    scores = rng.integers(0, 2, (n, 2)).astype(float)
    whole = item_means(scores, np.ones(n), Units(n, n))
    places = np.sort(rng.choice(n, 15, replace=False))
    part = PartKernel(item_means(scores[places], np.ones(15), Units(15, 15)), places, n)
    merged = merge([whole, part], Units(n, n), always=True)
    assert len(merged.multiplicity) <= 8
    counts = np.ones((1, n), dtype=np.int64)
    expected = part.evaluate(Weights(counts)).values
    found = merged.kernels[1].evaluate(Weights(merged.multiplicity[None])).values
    np.testing.assert_allclose(found, expected, rtol=1e-14)


# --- input ------------------------------------------------------------------------------------


def test_estimators_take_slices_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    models = {"a": LogisticRegression().fit(X[:, :], y), "b": LogisticRegression(C=0.01).fit(X, y)}
    options = {"n_resamples": 199, "random_state": 0, "slices": {"side": X[:, 1] > 0}}
    found = compare_estimators(models, X, y, scoring=["accuracy", "roc_auc"], **options)
    labels = compare_predictions(
        y, {name: model.predict(X) for name, model in models.items()}, scoring="accuracy", **options
    )
    for row in labels.slices:
        assert cell(found, row.label, "accuracy").difference == pytest.approx(row.difference)
    mask = X[:, 1] > 0
    a, b = (skm.roc_auc_score(y[mask], m.decision_function(X[mask])) for m in models.values())
    assert cell(found, "True", "roc_auc").difference == pytest.approx(b - a, rel=1e-12)


def test_dataframes_and_mappings_by_id_name_the_same_slices():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    columns = {"site": list("xyxyxyxy"), "size": [1, 1, 1, 2, 2, 2, 3, 3]}
    scores = {"a": list(range(8)), "b": [1, 3, 2, 5, 4, 6, 5, 9]}
    options = {"n_resamples": 99, "random_state": 0, "confidence_level": 0.9}
    plain = compare_scores(scores, slices=columns, **options)
    assert {(row.slice, row.label) for row in plain.slices} == {
        ("site", "x"), ("site", "y"), ("size", "1"), ("size", "2"), ("size", "3"),
    }  # fmt: skip
    for kind in (pd.DataFrame, pl.DataFrame):
        assert compare_scores(scores, slices=kind(columns), **options).slices == plain.slices
    categories = pd.Series(columns["site"], dtype="category")
    of_categories = compare_scores(scores, slices={"site": categories}, **options)
    assert numbers(of_categories.slices[0]) == numbers(plain.slices[0])
    ids = list("abcdefgh")
    by_id = compare_scores(
        {name: dict(zip(ids, of, strict=True)) for name, of in scores.items()},
        slices={name: dict(zip(ids, of, strict=True)) for name, of in columns.items()},
        **options,
    )
    assert by_id.slices == plain.slices
    with pytest.raises(ValueError, match="different pandas indexes"):
        compare_scores(
            pd.DataFrame(scores), slices=pd.DataFrame(columns, index=range(1, 9)), **options
        )


def test_dropped_items_leave_their_subgroups():
    result = compare_scores(
        {"a": [1.0, 2, None, 4, 5, 6], "b": [2.0, 1, 3, 5, 5, 8]},
        missing="drop", slices={"part": ["u", "u", "gone", "v", "v", "v"]}, n_resamples=99,
        random_state=0, confidence_level=0.9,
    )  # fmt: skip
    assert [(row.label, row.n_rows) for row in result.slices] == [("u", 2), ("v", 3)]
    assert cell(result, "v").difference == pytest.approx(1.0)


def test_labels_that_look_alike_are_told_apart():
    result = compare_scores(
        {"a": [1, 2, 3, 4], "b": [2, 1, 5, 3]}, slices={"part": [1, "1", 1, "1"]},
        n_resamples=99, random_state=0, confidence_level=0.9,
    )  # fmt: skip
    assert [row.label for row in result.slices] == ["1", "'1'"]


@pytest.mark.parametrize(
    ("slices", "error", "message"),
    [
        ({"age": np.arange(400.0)}, ValueError, "at most 300 subgroups, got 400 labels of 'age'"),
        (np.arange(400) % 2, TypeError, "`slices` must be a mapping .* got ndarray"),
        ("site", TypeError, "`slices` must be a mapping .* got str"),
        ({}, ValueError, "unique, non-empty strings as names of variables"),
        ({1: np.arange(400) % 2}, ValueError, "unique, non-empty strings as names of variables"),
        ({"site": [0, 1]}, ValueError, r"`slices\['site'\]` must have one entry per row, 400"),
        ({"site": [None] + ["x"] * 399}, ValueError, r"`slices\['site'\]` must be .* present in"),
    ],
)
def test_bad_slices_are_refused(slices, error, message):
    scores = {"a": np.zeros(400), "b": np.ones(400)}
    with pytest.raises(error, match=message):
        compare_scores(scores, slices=slices)
    with pytest.raises(error, match=message):
        compare_predictions(np.arange(400) % 2, scores, scoring="accuracy", slices=slices)


def test_one_model_has_no_subgroups():
    with pytest.raises(ValueError, match="`slices` must be None for a single model"):
        compare_scores({"a": [1, 2, 3]}, slices={"part": [1, 1, 2]})


# --- results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_json_and_replace(method):
    result = scored(method=method, margin=0.1)
    for replicates in (False, True):
        text = result.to_json(replicates=replicates)
        assert ComparisonResult.from_json(text).slices == result.slices
    kept = ComparisonResult.from_json(result.to_json(replicates=True))
    for changes in (
        {"baseline": "c"},
        {"correction": "max-t", "family": "all"},
        {"confidence_level": 0.9, "alternative": "better"},
        {"method": "bca", "pairs": "all"},
    ):
        assert kept.replace(**changes).slices == result.replace(**changes).slices
        assert str(kept.replace(**changes)) == str(result.replace(**changes))
    mirrored = result.replace(baseline="b").slices[0]
    row = result.slices[0]
    assert (mirrored.model, mirrored.baseline) == ("a", "b")
    assert mirrored.difference == pytest.approx(-row.difference)
    np.testing.assert_array_equal(result.replicates.shape, (999, 1, 3))


def test_frame():
    pytest.importorskip("pandas")
    frame = scored().to_frame("slices")
    assert frame.columns.tolist() == list(SliceRow.columns()) == [
        "metric", "slice", "label", "n_rows", "n_units", "model", "baseline", "difference",
        "std_error", "ci_low", "ci_high", "greater_is_better", "p_value", "p_adjusted",
        "n_undefined", "verdict", "status",
    ]  # fmt: skip
    assert len(frame) == 10
    assert len(scored(slices=None).to_frame("slices")) == 0


def test_reports_req_A32():
    rng = np.random.default_rng(0)
    hard = np.arange(60) % 3 == 0
    result = compare_scores(
        {"old": rng.normal(size=60), "new": rng.normal(size=60) + 2 * hard},
        slices={"h|d": hard, "rare": ["x"] * 59 + ["y"]}, random_state=0, n_resamples=999,
    )  # fmt: skip
    row = cell(result, "True")
    assert row.verdict == "better"
    lines = str(result).splitlines()
    text = " ".join(str(result).split())
    assert "Where h|d = True (20 rows) new is better than old on mean_score" in text
    assert "comparisons in subgroups are inconclusive." in text
    assert "Subgroups: new - old, on the same resamples" in lines
    assert any(line.startswith("    rare = y ") and line.endswith("undefined") for line in lines)
    assert "They count only if they were planned before the data were seen." in text
    assert "Different verdicts do not show that subgroups differ" in text
    assert "The 3 comparisons in subgroups of a metric are one family (Holm)" in text
    markdown = result.to_markdown()
    assert "### Subgroups: new - old, on the same resamples" in markdown
    assert "| mean_score (higher is better) | h\\|d = True | 20 |" in markdown
    assert "ubgroup" not in str(compare_scores({"old": [1, 2, 3], "new": [2, 2, 2]}))


def test_a_subgroup_often_absent_is_noted():
    result = compare_scores(
        {"a": np.arange(12.0), "b": np.arange(12.0)[::-1]}, slices={"part": [1] * 10 + [2] * 2},
        random_state=0, n_resamples=999,
    )  # fmt: skip
    row = cell(result, "2")
    # (10/12)^12 = 0.112 of the resamples have neither of the two rows.
    assert row.n_undefined / 999 == pytest.approx((10 / 12) ** 12, abs=0.03)
    assert any(f"mean_score where part = 2 ({row.n_undefined} of 999)" in n for n in result.notes)
