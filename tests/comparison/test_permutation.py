"""`permutation=True` in comparisons, against scikit-learn's metrics of swapped answers."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from examples import max_examples
from sklearn_pairboot import (
    ComparisonResult,
    PairedBootstrapComparator,
    RecordedEstimator,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine import kernels
from sklearn_pairboot._scoring import swaps
from sklearn_pairboot.inference import paired_permutation_test

FEW = {"permutation": True, "n_resamples": 99, "random_state": 0}
N = 8


def mid_ranks(scores):
    return rankdata(scores, axis=0)


def rmse(y, answers, **keywords):
    return metrics.mean_squared_error(y, answers, **keywords) ** 0.5


def auc(y, answers, **keywords):
    if len(set(y)) < 2:
        return math.nan
    return metrics.roc_auc_score(y, answers, **keywords)


def macro_f1(y, answers, **keywords):
    return metrics.f1_score(
        y, answers, average="macro", labels=[0, 1, 2], zero_division=0, **keywords
    )


# scorer, kind of answers, metric of truths and answers, how answers are treated before swaps
METRICS = {
    "accuracy": ("accuracy", "label", metrics.accuracy_score, None),
    "f1": ("f1", "label", lambda y, p, **k: metrics.f1_score(y, p, zero_division=0, **k), None),
    "jaccard": (
        "jaccard",
        "label",
        lambda y, p, **k: metrics.jaccard_score(y, p, zero_division=0, **k),
        None,
    ),
    "balanced_accuracy": ("balanced_accuracy", "label", metrics.balanced_accuracy_score, None),
    "mcc": ("matthews_corrcoef", "label", metrics.matthews_corrcoef, None),
    "macro_f1": ("f1_macro", "three labels", macro_f1, None),
    "roc_auc": ("roc_auc", "score", auc, mid_ranks),
    "average_precision": ("average_precision", "score", metrics.average_precision_score, mid_ranks),
    "brier": ("neg_brier_score", "score", metrics.brier_score_loss, None),
    "r2": ("r2", "value", metrics.r2_score, None),
    "rmse": ("neg_root_mean_squared_error", "value", rmse, None),
    "mae": ("neg_mean_absolute_error", "value", metrics.mean_absolute_error, None),
    "median": ("neg_median_absolute_error", "value", metrics.median_absolute_error, None),
}


def data(kind, seed, n=N):
    rng = np.random.default_rng(seed)
    if kind == "value":
        y = rng.normal(size=n).round(1)
        return y, [(y + rng.normal(size=n)).round(1) for _ in range(2)]
    if kind == "three labels":
        y = np.resize([0, 1, 2], n)
        return y, [rng.integers(0, 3, n) for _ in range(2)]
    y = np.resize([0, 1, 1], n)
    if kind == "label":
        return y, [np.where(rng.random(n) < 0.6, y, 1 - y) for _ in range(2)]
    return y, [np.clip(0.3 * y + 0.7 * rng.random(n), 0, 1).round(2) for _ in range(2)]


def literal(y, answers, metric, groups, treat, sample_weight=None):
    """Count extreme arrangements of new - old: two-sided, greater, less."""
    old, new = answers if treat is None else map(treat, answers)
    labels = np.unique(groups)
    keywords = {} if sample_weight is None else {"sample_weight": sample_weight}
    values = []
    for swapped in itertools.product([False, True], repeat=len(labels)):
        swap = np.array(swapped)[np.searchsorted(labels, groups)]
        values.append(metric(y, np.where(swap, old, new), **keywords))
    # The other model has what the opposite arrangement, as far from the end, gives to this one.
    differences = np.array(values) - np.array(values)[::-1]
    observed, tolerance = differences[0], 1e-10
    with np.errstate(invalid="ignore"):
        return (
            int(np.sum(~(np.abs(differences) < abs(observed) - tolerance))),
            int(np.sum(~(differences < observed - tolerance))),
            int(np.sum(~(differences > observed + tolerance))),
        )


def compared(name, seed, groups, **keywords):
    scorer, kind, metric, treat = METRICS[name]
    y, (old, new) = data(kind, seed, 15 if keywords.pop("longer", False) else N)
    result = compare_predictions(
        y, {"old": old, "new": new}, scoring=scorer, groups=groups, **{**FEW, **keywords}
    )
    return result, (y, (old, new), metric), treat


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("clustered", "seed"),  # 256 arrangements of rows, 32 of clusters
    [pytest.param(False, 0, marks=pytest.mark.newest), (True, 0), (True, 1)],
)
@pytest.mark.parametrize("name", METRICS)
def test_all_arrangements_equal_literally_swapped_answers(name, clustered, seed):
    groups = np.arange(N) * 3 % 5 if clustered else None
    result, literally, treat = compared(name, seed, groups)
    (row,), (how,) = result.differences, result.permutations
    units = np.arange(N) if groups is None else groups
    two_sided, greater, less = literal(*literally, units, treat)
    assert how.mode in ("exact enumeration", "exact counting")
    assert (how.n_extreme, how.n_assignments) == (two_sided, 2 ** len(set(units.tolist())))
    assert row.p_permutation == how.p_value == two_sided / how.n_assignments >= how.p_min
    assert how.approximate == (treat is not None)
    assert how.std_error == 0
    better = result.replace(alternative="better").permutations[0].n_extreme
    worse = result.replace(alternative="worse").permutations[0].n_extreme
    assert (better, worse) == ((greater, less) if row.greater_is_better else (less, greater))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["accuracy", "f1", "roc_auc", "r2", "rmse"])
def test_weights_stay_with_their_rows(name):
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.25, 1.0, 1.0])
    result, literally, treat = compared(name, 3, None, sample_weight=weight)
    two_sided, _, _ = literal(*literally, np.arange(N), treat, weight)
    assert result.permutations[0].n_extreme == two_sided


def test_arrangements_without_a_value_count_as_extreme():
    def share_right_where_positive(estimator, X, y):
        predicted = estimator.predict(X)
        return float(np.mean(y[predicted == 1])) if (predicted == 1).any() else math.nan

    y = np.array([1, 0, 1, 0])
    answers = {"old": np.array([0, 0, 0, 1]), "new": np.array([1, 0, 0, 0])}
    result = compare_predictions(y, answers, scoring=share_right_where_positive, **FEW)
    how = result.permutations[0]
    # Two units differ; both positive answers with one model leave none to the other.
    assert (how.n_assignments, how.n_undefined, how.n_extreme) == (16, 8, 16)
    assert "8 arrangements have no value and count as extreme" in " ".join(result.summary().split())


@pytest.mark.parametrize("name", ["f1", "roc_auc", "rmse", "average_precision"])
def test_random_arrangements_come_close_to_all(name):
    scorer, kind, metric, treat = METRICS[name]
    y, (old, new) = data(kind, 5, 13)
    keywords = {"scoring": scorer, "permutation": True, "random_state": 1}
    few = compare_predictions(y, {"old": old, "new": new}, n_resamples=99, **keywords)
    # Every row twice: too many units to enumerate, unless they are kept together.
    twice = [np.concatenate([array, array]) for array in (y, old, new)]
    groups = np.tile(np.arange(13), 2)
    together = compare_predictions(
        twice[0],
        {"old": twice[1], "new": twice[2]},
        groups=groups,
        n_resamples=99,
        **keywords,
    )
    if treat is None:
        assert together.permutations[0].n_extreme == few.permutations[0].n_extreme
    many = compare_predictions(
        twice[0], {"old": twice[1], "new": twice[2]}, n_resamples=1999, **keywords
    ).permutations[0]
    if many.mode == "Monte Carlo":
        assert many.n_assignments == 1999
        assert many.std_error == pytest.approx(
            math.sqrt(many.p_value * (1 - many.p_value) / 1999), rel=1e-12
        )
    assert many.p_value <= few.permutations[0].p_value + 5 * many.std_error + 0.05


@pytest.mark.newest
@pytest.mark.parametrize("name", ["f1", "rmse", "roc_auc"])
def test_random_arrangements_agree_with_literal_ones(name):
    scorer, kind, metric, treat = METRICS[name]
    y, (old, new) = data(kind, 8, 60)
    result = compare_predictions(
        y,
        {"old": old, "new": new},
        scoring=scorer,
        permutation=True,
        n_resamples=1999,
        random_state=0,
    )
    how = result.permutations[0]
    one, other = (new, old) if treat is None else (treat(new), treat(old))
    observed = metric(y, one) - metric(y, other)
    rng = np.random.default_rng(1)
    extreme = 0
    for _ in range(200):
        swap = rng.random(60) < 0.5
        value = metric(y, np.where(swap, other, one)) - metric(y, np.where(swap, one, other))
        extreme += abs(value) >= abs(observed) - 1e-12
    expected = (extreme + 1) / 201
    error = math.sqrt(expected * (1 - expected) / 200 + how.std_error**2)
    assert abs(how.p_value - expected) < 4 * error + 1e-3
    assert how.approximate == (treat is not None)


def test_kinds_of_units_are_counted_not_drawn():
    # Thousands of rows, but only two kinds of rows in which predictions differ.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    old, new = (np.where(rng.random(3000) < p, y, 1 - y) for p in (0.9, 0.91))
    result = compare_predictions(y, {"old": old, "new": new}, scoring=["f1", "accuracy"], **FEW)
    f1, accuracy = result.permutations
    assert (f1.mode, accuracy.mode) == ("exact enumeration", "exact counting")
    assert f1.n_assignments == accuracy.n_assignments == 2**3000
    scores = {"old": (old == y).astype(int), "new": (new == y).astype(int)}
    assert accuracy.n_extreme == paired_permutation_test(scores).n_extreme
    assert "n_assignments=about 1e903" in repr(f1)


@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_scores_equal_the_test_on_its_own(greater_is_better, alternative):
    rng = np.random.default_rng(2)
    scores = {"old": rng.integers(0, 5, 30), "new": rng.integers(0, 6, 30)}
    groups = np.arange(30) // 2
    result = compare_scores(
        scores,
        None,
        greater_is_better,
        groups=groups,
        alternative=alternative,
        **FEW,
    )
    side = {"two-sided": "two-sided", "better": "greater", "worse": "less"}[alternative]
    if not greater_is_better:
        side = {"greater": "less", "less": "greater"}.get(side, side)
    expected = paired_permutation_test(scores, groups=groups, alternative=side)
    how = result.permutations[0]
    assert (how.n_extreme, how.n_assignments, how.mode, how.p_min) == (
        expected.n_extreme,
        expected.n_assignments,
        expected.mode,
        expected.p_min,
    )
    assert result.differences[0].p_permutation == expected.p_value


def test_exact_resamples_go_with_exact_arrangements():
    scores = {"old": [0, 0, 0, 1, 0], "new": [1, 1, 1, 1, 1]}
    result = compare_scores(scores, n_resamples="exact", permutation=True)
    assert result.differences[0].p_permutation == 0.125
    assert result.permutations[0].n_extreme == 4


@given(st.integers(0, 200))
@max_examples(15)
def test_a_model_against_itself_has_p_1(seed):
    y, (answers, _) = data("score", seed)
    result = compare_predictions(
        y, {"old": answers, "new": answers}, scoring=["roc_auc", "neg_brier_score"], **FEW
    )
    labels = (answers > 0.5).astype(int)
    of_labels = compare_predictions(
        y, {"old": labels, "new": labels}, scoring=["f1", "matthews_corrcoef", "accuracy"], **FEW
    )
    for row in (*result.permutations, *of_labels.permutations):
        assert row.n_extreme == row.n_assignments == 2**N
        assert row.p_value == row.p_min == 1


@given(seed=st.integers(0, 100), name=st.sampled_from(["f1", "roc_auc", "r2", "mcc"]))
@max_examples(20)
@pytest.mark.filterwarnings("ignore")
def test_req_B10_swapping_the_models_changes_no_p_value(seed, name):
    scorer, kind, _, _ = METRICS[name]
    y, (old, new) = data(kind, seed)
    one = compare_predictions(y, {"old": old, "new": new}, scoring=scorer, **FEW)
    other = compare_predictions(y, {"new": new, "old": old}, scoring=scorer, **FEW)
    assert one.permutations[0].n_extreme == other.permutations[0].n_extreme
    assert one.permutations[0].p_value >= one.permutations[0].p_min
    better = one.replace(alternative="better").permutations[0].n_extreme
    assert better == other.replace(alternative="worse").permutations[0].n_extreme


def test_replace_reads_the_tests_of_the_other_direction_and_no_others():
    rng = np.random.default_rng(0)
    scores = {name: rng.integers(0, 4, 12) for name in "abc"}
    result = compare_scores(scores, **FEW)
    assert [how.model for how in result.permutations] == ["b", "c"]
    turned = result.replace(baseline="b")
    a, c = turned.differences
    assert a.p_permutation == result.differences[0].p_permutation
    assert math.isnan(c.p_permutation)
    assert [how.model for how in turned.permutations] == ["a"]
    assert "Differences without one were not tested" in " ".join(turned.summary().split())


def three_models(seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = np.resize([0, 1, 1], n)
    answers = {name: np.where(rng.random(n) < 0.7, y, 1 - y) for name in ("old", "new", "newer")}
    return y, answers


def test_every_compared_pair_is_tested():
    y, answers = three_models()
    scores = {name: (predicted == y).astype(int) for name, predicted in answers.items()}
    names = [("new", "old"), ("newer", "old"), ("newer", "new")]
    of_answers = compare_predictions(y, answers, scoring="accuracy", pairs="all", **FEW)
    of_scores = compare_scores(scores, pairs="all", **FEW)
    for result in (of_answers, of_scores):
        assert [(row.model, row.baseline) for row in result.differences] == names
        assert [(how.model, how.baseline) for how in result.permutations] == names
        for row, (model, baseline) in zip(result.differences, names, strict=True):
            pair = {name: scores[name] for name in (baseline, model)}
            assert row.p_permutation == paired_permutation_test(pair).p_value
    # Whichever is the baseline, every pair was tested, maybe the other way round.
    turned = of_answers.replace(baseline="newer", alternative="better")
    expected = compare_predictions(
        y, answers, scoring="accuracy", baseline="newer", alternative="better", pairs="all", **FEW
    )
    assert turned.permutations == expected.permutations
    assert len(turned.permutations) == 3


def test_pairs_that_were_not_tested_have_no_p_value():
    y, answers = three_models()
    result = compare_predictions(y, answers, scoring="f1", **FEW)
    wider = result.replace(pairs="all")
    assert [math.isnan(row.p_permutation) for row in wider.differences] == [False, False, True]
    assert wider.permutations == result.permutations
    assert "Differences without one were not tested" in " ".join(wider.summary().split())


def test_ways_of_several_baselines_name_both_models():
    y, answers = three_models()
    answers["newer"] = answers["old"]
    scoring = ["f1", "accuracy"]
    result = compare_predictions(y, answers, scoring=scoring, pairs="all", **FEW)
    text = " ".join(result.summary().split())
    assert "f1 (new - old)" in text
    assert "f1 (newer - new)" in text
    # Long lists are cut.
    rng = np.random.default_rng(0)
    many = {f"m{k}": rng.integers(0, 2, len(y)) for k in range(5)}
    result = compare_predictions(y, many, scoring=scoring, pairs="all", **FEW)
    assert "f1 (m2 - m1), f1 (m3 - m1) and 10 more: " in " ".join(result.summary().split())


@pytest.mark.parametrize("correction", ["holm", "max-t", None])
@pytest.mark.parametrize("family", ["metric", "all"])
@pytest.mark.parametrize("margins", [{"margin": {"f1": 0.3}}, {"margin_relative": 0.3}])
def test_margins_families_and_corrections_go_with_permutations(margins, family, correction):
    y, answers = three_models()
    keywords = {
        "scoring": ["f1", "accuracy"],
        "family": family,
        "correction": correction,
        "pairs": "all",
        "n_resamples": 199,
        "random_state": 0,
        **margins,
    }
    result = compare_predictions(y, answers, permutation=True, **keywords)
    plain = compare_predictions(y, answers, scoring=["f1", "accuracy"], pairs="all", **FEW)
    without = compare_predictions(y, answers, **keywords)
    assert len(result.permutations) == len(result.differences) == 6
    for row, how, alone, other in zip(
        result.differences,
        result.permutations,
        plain.differences,
        without.differences,
        strict=True,
    ):
        assert "p_equivalence" in row.columns()
        assert row.p_permutation == how.p_value == alone.p_permutation
        assert math.isnan(other.p_permutation)
        assert (row.p_adjusted, row.verdict) == (other.p_adjusted, other.verdict)
    for text in (result.summary(), result.to_markdown()):
        assert "perm. p" in text
        assert "p not worse" in text
        assert "which is more than equal metrics" in " ".join(text.split())
    again = ComparisonResult.from_json(result.to_json(replicates=True))
    assert again.summary() == result.summary()
    assert again.permutations == result.permutations
    bare = again.replace(margin=None, margin_relative=None, correction="holm", family="metric")
    assert [row.p_permutation for row in bare.differences] == [
        row.p_permutation for row in result.differences
    ]


def test_permutation_changes_neither_resamples_nor_verdicts():
    rng = np.random.default_rng(1)
    scores = {"old": rng.normal(size=30), "new": rng.normal(0.5, size=30)}
    with_it = compare_scores(scores, permutation=True, n_resamples=199, random_state=0)
    without = compare_scores(scores, n_resamples=199, random_state=0)
    np.testing.assert_array_equal(with_it.replicates, without.replicates)
    assert with_it.differences[0].verdict == without.differences[0].verdict
    assert math.isnan(without.differences[0].p_permutation)
    assert without.permutations == ()
    assert "Permutation" not in without.summary()


def test_case_C69_summary_states_the_null_hypothesis():
    y, (old, new) = data("score", 1)
    result = compare_predictions(y, {"old": old, "new": new}, scoring="roc_auc", **FEW)
    for text in (result.summary(), result.to_markdown()):
        flat = " ".join(text.split())
        assert "the models are exchangeable, which is more than equal metrics" in flat
        assert "exact enumeration of 256 arrangements, approximate: mid-ranks are swapped" in flat
        assert "perm. p" in flat


def test_json_keeps_the_tests():
    y = np.resize([0, 1], 2000)
    answers = {"old": np.resize([0, 1, 1], 2000), "new": np.resize([0, 0, 1, 1, 0], 2000)}
    result = compare_predictions(y, answers, scoring=["f1", "accuracy"], **FEW)
    for replicates in (False, True):
        text = result.to_json(replicates=replicates)
        json.loads(text)
        again = ComparisonResult.from_json(text)
        assert again.permutations == result.permutations
        assert again.summary() == result.summary()
    other = again.replace(alternative="better")
    assert other.permutations == result.replace(alternative="better").permutations


def test_clusterings_have_no_answers_to_swap():
    y, answers = (
        np.resize([0, 1, 2], 12),
        {"old": np.resize([0, 1], 12), "new": np.resize([2, 0, 1], 12)},
    )
    result = compare_predictions(y, answers, scoring=["rand_score", "accuracy"], **FEW)
    assert math.isnan(result.differences[0].p_permutation)
    assert not math.isnan(result.differences[1].p_permutation)
    assert [note for note in result.notes if "permutation" in note] == [
        "No permutation test of rand_score (new - old): the numbers of clusters mean something "
        "else in each model."
    ]


def test_ranks_of_different_methods_are_swapped_and_values_are_not():
    def spread(y_true, y_score):
        return float(np.ptp(y_score))

    y, (old, new) = data("score", 2)
    records = {
        "old": RecordedEstimator.from_arrays(predict_proba=old, classes=[0, 1]),
        "new": RecordedEstimator.from_arrays(decision_function=new * 10 - 3, classes=[0, 1]),
    }
    either = metrics.make_scorer(
        spread, response_method=("decision_function", "predict_proba"), greater_is_better=True
    )
    scoring = {"auc": "roc_auc", "spread": either}
    result = compare_predictions(y, records, scoring=scoring, **FEW)
    expected = compare_predictions(y, {"old": old, "new": new}, scoring="roc_auc", **FEW)
    assert result.permutations[0].n_extreme == expected.permutations[0].n_extreme
    assert math.isnan(result.differences[1].p_permutation)
    assert any("the models answer by different methods" in note for note in result.notes)


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    models = {
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:60], y[:60]),
        "logistic": LogisticRegression().fit(X[:60], y[:60]),
    }
    return models, X[60:], y[60:]


def test_estimators_and_frozen_estimators_give_the_same(fitted):
    models, X, y = fitted
    result = compare_estimators(models, X, y, scoring=["accuracy", "roc_auc"], **FEW)
    comparator = PairedBootstrapComparator(
        [(name, FrozenEstimator(model)) for name, model in models.items()],
        scoring=["accuracy", "roc_auc"],
        refit="accuracy",
        **FEW,
    ).fit(X, y)
    assert comparator.result_.permutations == result.permutations
    assert len(result.permutations) == 2


def test_cross_validated_estimators_are_refused(fitted):
    _, X, y = fitted
    comparator = PairedBootstrapComparator(
        [("a", DummyClassifier()), ("b", LogisticRegression())], permutation=True
    )
    with pytest.raises(ValueError, match="`permutation` must be False where estimators are cross-"):
        comparator.fit(X, y)


def test_scorers_that_look_at_the_model_are_not_tested(fitted):
    models, X, y = fitted

    def by_coefficients(estimator, X, y):
        return float(estimator.predict(X + 0.5).mean())

    def plain(estimator, X, y):
        return float(np.mean((estimator.predict(X) == y) * (X[:, 0] > 0)))

    result = compare_estimators(models, X, y, scoring=[by_coefficients, plain], **FEW)
    first, second = result.differences
    assert math.isnan(first.p_permutation)
    assert any("its scorer cannot do with answers alone" in note for note in result.notes)
    how = result.permutations[0]
    assert (how.metric, how.n_assignments) == ("plain", 99)
    assert second.p_permutation == how.p_value


def test_models_of_different_classes_are_not_swapped():
    y = np.resize([0, 1], 12)
    rng = np.random.default_rng(0)
    wide = rng.dirichlet(np.ones(3), 12)
    narrow = rng.dirichlet(np.ones(2), 12)
    records = {
        "old": RecordedEstimator.from_arrays(predict_proba=narrow, classes=[0, 1]),
        "new": RecordedEstimator.from_arrays(predict_proba=wide, classes=[0, 1, 2]),
    }
    result = compare_predictions(y, records, scoring="neg_log_loss", **FEW)
    assert math.isnan(result.differences[0].p_permutation)
    assert any("differ in shape" in note for note in result.notes)


def test_replayed_metrics_are_limited(monkeypatch):
    assert swaps.MOST_REPLAYED == 999
    monkeypatch.setattr(swaps, "MOST_REPLAYED", 50)
    y, (old, new) = data("value", 0, 40)
    result = compare_predictions(
        y,
        {"old": old, "new": new},
        scoring="neg_median_absolute_error",
        permutation=True,
        n_resamples=2000,
        random_state=0,
    )
    assert result.permutations[0].n_assignments == 50


def test_several_labels_and_outputs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (30, 3))
    answers = {name: rng.random((30, 3)).round(3) for name in ("old", "new")}
    result = compare_predictions(y, answers, scoring="roc_auc", **FEW)
    assert 0 < result.differences[0].p_permutation <= 1
    values = {name: y + rng.normal(size=(30, 3)) for name in ("old", "new")}
    result = compare_predictions(y + 0.5, values, scoring=["r2", "neg_mean_absolute_error"], **FEW)
    assert all(0 < row.p_permutation <= 1 for row in result.differences)


@pytest.mark.parametrize("wrong", [1, None, "yes"])
def test_permutation_is_true_or_false(wrong):
    with pytest.raises(TypeError, match="`permutation` must be True or False, got"):
        compare_scores({"a": [1, 2], "b": [2, 1]}, permutation=wrong)


@pytest.mark.newest
def test_rejects_rarely_where_models_are_exchangeable():
    rng = np.random.default_rng(7)
    p_values = []
    for _ in range(120):
        y = np.resize([0, 1, 1], 14)
        answers = {name: np.where(rng.random(14) < 0.7, y, 1 - y) for name in ("old", "new")}
        result = compare_predictions(
            y, answers, scoring="f1", permutation=True, n_resamples=39, random_state=0
        )
        p_values.append(result.differences[0].p_permutation)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)


@pytest.mark.parametrize("kind", ["many labels", "multilabel"])
def test_wide_terms_are_swapped_like_any(monkeypatch, kind):
    """Terms of many labels are sparse, those of label indicators booleans."""
    rng = np.random.default_rng(0)
    if kind == "many labels":
        monkeypatch.setattr(kernels, "_MOST_DENSE", 0)
        y = np.concatenate([np.arange(45), rng.integers(0, 45, 15)])
        a, b = (np.where(rng.random(60) < share, y, (y + 1) % 45) for share in (0.9, 0.8))
        differing = np.flatnonzero(a != b)[10:]
        b[differing] = a[differing]  # few enough to try all swaps
    else:
        y = rng.integers(0, 2, (12, 3))
        a, b = (np.where(rng.random(y.shape) < share, y, 1 - y) for share in (0.9, 0.7))
        b[8:] = a[8:]
    result = compare_predictions(
        y, {"a": a, "b": b}, scoring="f1_macro", n_resamples=99, random_state=0, permutation=True
    )
    labels = {} if y.ndim == 2 else {"labels": np.arange(45)}

    def f1(predicted):
        return metrics.f1_score(y, predicted, average="macro", zero_division=0, **labels)

    differs = np.flatnonzero(np.any((a != b).reshape(len(y), -1), axis=1))
    observed, extreme, n_all = abs(f1(b) - f1(a)), 0, 0
    for swapped in itertools.product([False, True], repeat=len(differs)):
        first, second = a.copy(), b.copy()
        rows = differs[np.array(swapped, dtype=bool)]
        first[rows], second[rows] = b[rows], a[rows]
        extreme += abs(f1(second) - f1(first)) >= observed * (1 - 1e-9)
        n_all += 1
    assert result.differences[0].p_permutation == pytest.approx(extreme / n_all, rel=1e-12)
