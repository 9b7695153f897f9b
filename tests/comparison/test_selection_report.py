"""The model selection report: the numbers of its parts, and the words around them."""

import json
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot import (
    ComparisonResult,
    bias_corrected_selection,
    compare_cross_validate,
    compare_methods,
    compare_runs,
    selection_report,
)
from sklearn_pairboot.comparison._candidates import name_of

X, Y = make_classification(90, 5, n_informative=2, flip_y=0.2, random_state=0)
CANDIDATES = {
    "guess": DummyClassifier(strategy="prior"),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "logistic": LogisticRegression(),
    "bayes": GaussianNB(),
}
SPLITS = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y))
QUICK = {"n_resamples": 200, "random_state": 0}


def report_of(candidates=CANDIDATES, scoring="accuracy", cv=SPLITS, **options):
    return selection_report(candidates, X, Y, scoring=scoring, cv=cv, **QUICK | options)


def results_of(candidates, splits=SPLITS, y=Y, **options):
    return {
        name: cross_validate(
            model, X, y, cv=splits, return_indices=True, return_estimator=True, **options
        )
        for name, model in candidates.items()
    }


def as_json(result):
    return json.loads(result.to_json(replicates=True))


def as_text(report):
    """Write everything down: NaN is not equal to itself, but its text is."""
    return json.dumps(report.to_dict())


def joined(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def report():
    return report_of()


@pytest.fixture(scope="module")
def methods():
    some = {name: CANDIDATES[name] for name in ("tree", "bayes")}
    return compare_methods(
        some, X[:50], Y[:50], X[50:], Y[50:], scoring="accuracy", n_train_resamples=3, **QUICK
    )


@pytest.mark.parametrize(
    ("scoring", "answers"),
    [
        ("accuracy", "predict"),
        ("roc_auc", "predict_proba"),
        ("neg_brier_score", "predict_proba"),
    ],
)
def test_numbers_are_those_of_the_functions_called_directly(scoring, answers):
    options = QUICK | {"confidence_level": 0.9}
    found = report_of(scoring=scoring, method="basic", correction="fdr", baseline="tree", **options)
    direct = compare_cross_validate(
        results_of(CANDIDATES, scoring=scoring),
        X,
        Y,
        scoring=scoring,
        aggregate="pooled",
        method="basic",
        correction="fdr",
        baseline="tree",
        **options,
    )
    assert as_json(found.result) == as_json(direct)
    predictions = {
        name: cross_val_predict(model, X, Y, cv=SPLITS, method=answers)
        for name, model in CANDIDATES.items()
    }
    assert found.selection == bias_corrected_selection(Y, predictions, scoring=scoring, **options)


def test_selected_is_the_best_of_the_table_with_its_score(report):
    best = max(report.result.scores, key=lambda row: row.estimate)
    assert (report.selection.selected, report.selection.naive) == (best.model, best.estimate)


def test_results_and_estimators_give_the_same_and_estimators_stay_unfitted(report):
    given = selection_report(results_of(CANDIDATES), X, Y, scoring="accuracy", **QUICK)
    assert given.summary() == report.summary()
    with pytest.raises(NotFittedError):
        check_is_fitted(CANDIDATES["logistic"])


def test_all_candidates_share_splits_that_are_made_once(report):
    shuffled = KFold(3, shuffle=True, random_state=np.random.RandomState(0))
    found = report_of(cv=shuffled)
    expected = list(KFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(X))
    for one, other in zip(found.splits, expected, strict=True):
        assert all(map(np.array_equal, one, other))
    assert as_text(report_of(cv=iter(SPLITS))) == as_text(report)


def test_rows_tested_several_times_are_drawn_and_weigh_once(report):
    # Twice the same splits, or one of them twice, add nothing to what is known.
    for splits in (SPLITS * 2, [*SPLITS, SPLITS[0]]):
        found = report_of(cv=splits).selection
        assert (found.unit, found.n_units, found.shares) == (
            "rows",
            len(Y),
            report.selection.shares,
        )
        for name in ("naive", "corrected", "std_error", "ci_low", "ci_high"):
            assert getattr(found, name) == pytest.approx(getattr(report.selection, name), rel=1e-12)


def test_groups_are_kept_together_and_drawn_whole():
    groups = np.repeat(np.arange(30), 3)
    found = report_of(cv=3, groups=groups)
    splits = list(StratifiedGroupKFold(3).split(X, Y, groups))
    for one, other in zip(found.splits, splits, strict=True):
        assert all(map(np.array_equal, one, other))
    predictions = {n: cross_val_predict(m, X, Y, cv=splits) for n, m in CANDIDATES.items()}
    direct = bias_corrected_selection(Y, predictions, scoring="accuracy", groups=groups, **QUICK)
    assert found.selection == direct
    assert (found.result.unit, found.result.n_units) == ("clusters", 30)
    assert "90 rows in 30 clusters" in found.summary()


def test_several_metrics_are_compared_and_the_first_one_chooses():
    found = report_of(scoring=["roc_auc", "accuracy"])
    assert found.selection == report_of(scoring="roc_auc").selection
    assert found.result.metrics == ("roc_auc", "accuracy")


def own_score(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def two_scores(estimator, X, y):
    return {"hits": own_score(estimator, X, y), "errors": 1 - own_score(estimator, X, y)}


@pytest.mark.parametrize("scoring", [None, own_score, two_scores])
def test_scorers_that_are_no_metric_of_the_answers_serve_too(report, scoring):
    few = {name: CANDIDATES[name] for name in ("tree", "bayes")}
    found = report_of(few, scoring=scoring).selection
    expected = report_of(few).selection
    assert (found.naive, found.corrected) == pytest.approx((expected.naive, expected.corrected))
    assert found.shares == expected.shares


def test_regression_with_a_loss():
    rows, y = make_regression(60, 3, noise=5, random_state=0)
    candidates = {"mean": DummyRegressor(), "ridge": Ridge()}
    found = selection_report(
        candidates, rows, y, scoring="neg_mean_absolute_error", cv=KFold(3), **QUICK
    )
    predictions = {n: cross_val_predict(m, rows, y, cv=KFold(3)) for n, m in candidates.items()}
    naive = {name: np.abs(answers - y).mean() for name, answers in predictions.items()}
    assert found.selection.naive == pytest.approx(min(naive.values()))
    assert "ridge is the best of 2 candidates on mean_absolute_error (lower" in found.summary()


def test_dataframes_and_labels_of_text(report):
    pandas = pytest.importorskip("pandas")
    index = [f"row {k}" for k in range(len(Y))]
    frame = pandas.DataFrame(X, index=index).add_prefix("x")
    labels = pandas.Series(np.where(Y == 1, "yes", "no"), index=index)
    found = selection_report(CANDIDATES, frame, labels, scoring="accuracy", cv=SPLITS, **QUICK)
    assert found.selection == report.selection
    with pytest.raises(ValueError, match="index"):
        selection_report(CANDIDATES, frame, labels[::-1], scoring="accuracy", cv=SPLITS)


class FailsOnFirst(DummyClassifier):
    """Fails where the first row is in the training part."""

    def fit(self, X, y, sample_weight=None):
        if (X == X_FIRST).all(axis=1).any():
            raise ValueError("no")
        return super().fit(X, y, sample_weight)


X_FIRST = X[0]


def test_splits_with_failed_fits_are_left_out_for_all():
    candidates = {"tree": CANDIDATES["tree"], "fails": FailsOnFirst()}
    with pytest.warns(FitFailedWarning) as caught:
        found = report_of(candidates)
    assert sum("left out for all models" in str(one.message) for one in caught) == 1
    (test,) = [test for _, test in SPLITS if 0 in test]
    assert found.selection.n_units == found.result.n_units == len(test)
    assert "Fits failed: fails" in joined(found.summary())


def test_jobs_change_nothing(report):
    with parallel_config(backend="threading"):
        assert as_text(report_of(n_jobs=2)) == as_text(report)


def test_no_global_state_is_touched():
    state = np.random.get_state()[1].copy()
    filters = list(warnings.filters)
    report_of()
    assert (np.random.get_state()[1] == state).all()
    assert warnings.filters == filters


def test_one_seed_serves_both_parts_also_from_a_generator():
    found = report_of(random_state=np.random.default_rng(0))
    entropy = found.result.random_state_entropy
    assert found.selection.random_state_entropy == entropy
    assert as_text(report_of(random_state=entropy)) == as_text(found)


def test_req_D21_report_states_method_B_level_unit_table_and_words(report):
    text = joined(report.summary())
    assert text.startswith("Model selection report: 4 candidates on 90 rows")
    for part in ("90 rows, each drawn", "95 % percentile interval", "Resamples 200;", "Holm, over"):
        assert part in text
    for heading in ("Candidates", "Differences in units", "Best candidate, before and after"):
        assert heading in text
    assert "corrected resampled t test of 3 splits" in text
    assert "bootstrap bias corrected cross-validation: in each of 200 resamples" in text
    assert "test it once on rows that had no part in the choice" in text
    assert "on rows that chose no model" not in text  # what other reports assume
    assert str(report) == report.summary()


def test_req_D21_naive_and_corrected_score_stand_side_by_side(report):
    lines = report.summary().splitlines()
    start = lines.index("Best candidate, before and after correction for the selection")
    assert lines[start + 1].split()[:1] == ["naive"]
    name, naive, *_ = lines[start + 3].split()
    numbers = [float(part.strip("[],")) for part in lines[start + 3].split()[1:]]
    selection = report.selection
    row = max(report.result.scores, key=lambda row: row.estimate)
    expected = [selection.naive, row.ci_low, row.ci_high, selection.corrected]
    expected += [selection.ci_low, selection.ci_high, selection.optimism]
    assert name == selection.selected
    assert numbers == pytest.approx(expected, abs=6e-4)
    assert report.summary().count(naive) >= 2


def test_req_D21_tests_of_the_splits_stand_beside_the_verdicts(report):
    lines = report.to_markdown().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("### Differences"))
    header = [cell.strip() for cell in lines[start + 2].strip("|").split("|")]
    assert header[-2:] == ["95 % interval of t", "adj. p of t"]
    tests = report.result.split_tests
    for k, (row, test) in enumerate(zip(report.result.differences, tests, strict=True)):
        cells = [cell.strip() for cell in lines[start + 4 + k].strip("|").split("|")]
        assert len(cells) == len(header)
        named = dict(zip(header, cells, strict=True))
        assert (named["model"], named["verdict"]) == (row.model, row.verdict)
        assert float(named["difference"]) == pytest.approx(row.difference, abs=0.006)
        low, high = map(float, named["95 % interval of t"].strip("[]").split(","))
        assert (low, high) == pytest.approx((test.ci_low, test.ci_high), abs=0.006)
        if not named["adj. p of t"].startswith("<"):
            assert float(named["adj. p of t"]) == pytest.approx(test.p_adjusted, abs=1e-4)


def test_req_E30_words_for_both_outcomes():
    found = report_of(baseline="tree")
    rows = {row.model: row for row in found.result.differences}
    text = joined(found.summary())
    assert rows["bayes"].verdict == "better" and rows["guess"].verdict == "worse"
    assert "bayes is better than tree on accuracy" in text
    assert "guess is worse than tree on accuracy" in text
    assert rows["logistic"].verdict == "inconclusive"
    before, _, after = text.partition("these rows cannot separate logistic and tree")
    sentence = after.partition("equivalence test.")[0]
    _, _, gap = sentence.partition("The interval contains 0 and excludes gaps of more than ")
    largest = max(abs(rows["logistic"].ci_low), abs(rows["logistic"].ci_high))
    assert float(gap.split()[0]) == pytest.approx(largest, abs=6e-4)
    assert "no evidence of equality" in sentence
    assert text.count("excludes gaps") == 1


def test_verdicts_say_whether_they_are_shown_for_the_methods():
    # Three splits are too few for the test; eight are enough.
    few, many = report_of(), report_of(cv=8)
    for found, words in ((few, "does not show it"), (many, "shows it for the methods")):
        assert any(words in line for line in joined(found.summary()).split(" - "))
        for row, test in zip(found.result.differences, found.result.split_tests, strict=True):
            assert row.verdict == "better" and test.difference > 0
            clear = test.p_adjusted <= 0.05
            says = "shows" if clear else "does not show"
            _, _, after = joined(found.summary()).partition(f"{row.model} is better than guess")
            claim = after.partition("corrected t test of the splits ")[2]
            assert claim.startswith(f"{says} it for the methods.")


def test_no_gap_is_said_where_the_verdict_is_clear_or_nothing_varies():
    twins = {"a": GaussianNB(), "b": GaussianNB(), "guess": DummyClassifier()}
    text = report_of(twins).summary()
    assert "excludes gaps" not in text
    assert "no resample of these rows shows a difference" in joined(text)


def test_variance_shares_of_a_method_comparison(report, methods):
    found = report_of(method_comparison=methods)
    assert found.method_comparison is methods
    assert found.selection == report.selection
    lines = found.to_markdown().splitlines()
    rows = [line for line in lines if "bayes - tree: " in line]
    variances = methods.differences[0].variances
    assert len(rows) == len(variances)
    for line, part in zip(rows, variances, strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == f"bayes - tree: {part.source}"
        assert float(cells[2]) == pytest.approx(part.variance, rel=0.006)
        assert cells[3] == f"{100 * part.share:.0f} %"
    assert "over 3 training set(s) of 5 seed(s) each, on 40 test rows" in joined(found.summary())
    assert "Where the variance" not in report.summary()
    assert json.loads(json.dumps(found.to_dict()))["method_comparison"]["models"] == [
        "tree",
        "bayes",
    ]


def test_scores_of_one_method_have_shares_too():
    runs = compare_runs({"tree": [[1, 0, 1, 1], [1, 1, 1, 0]]}, random_state=0)
    metric = runs.scores[0].metric
    found = report_of(scoring={metric: "accuracy"}, method_comparison=runs)
    assert "tree: seed x test rows" in found.summary()


def test_to_dict_is_json_and_holds_all_of_it(report):
    stored = json.loads(json.dumps(report.to_dict()))
    assert stored["selection"]["corrected"] == report.selection.corrected
    assert stored["selection"]["shares"] == report.selection.shares
    assert stored["result"]["differences"][0]["verdict"] == report.result.differences[0].verdict
    assert [fold["test"] for fold in stored["splits"]] == [test.tolist() for _, test in SPLITS]
    assert stored["method_comparison"] is None


def test_names_cannot_break_the_report():
    odd = {"a|*b*": CANDIDATES["tree"], "line\nbreak": CANDIDATES["bayes"]}
    found = report_of(odd)
    marked = found.to_markdown()
    assert "a\\|\\*b\\*" in marked and "a|*" not in marked
    assert "line\nbreak" not in marked + found.summary()
    assert "'line\\nbreak'" in found.summary()


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"candidates": list(CANDIDATES.items())}, TypeError, "`candidates` must be a mapping"),
        ({"candidates": {"a": GaussianNB()}}, ValueError, "at least 2 candidates"),
        ({"candidates": {"a": GaussianNB(), "b": 3}}, TypeError, "objects with a method `fit`"),
        ({"candidates": {"a": GaussianNB(), "b": GaussianNB}}, TypeError, "`fit`"),
        ({"candidates": {"a": GaussianNB(), "b": {}}}, ValueError, "all estimators or all results"),
        ({"candidates": {"a": {}, "b": {}}, "cv": None}, ValueError, "'indices' and 'estimator'"),
        ({"candidates": {"a": {}, "b": {}}}, ValueError, "`cv` must be None"),
        ({"cv": 1}, ValueError, "`cv` must be None, an integer of at least 2"),
        ({"baseline": "none"}, ValueError, "`baseline`"),
        ({"scoring": "accurate"}, ValueError, "`scoring` must be a scorer name"),
        ({"n_resamples": "exact"}, ValueError, "`n_resamples` must be an integer"),
        ({"confidence_level": 95}, ValueError, "`confidence_level`"),
        ({"correction": "hochberg"}, ValueError, "`correction`"),
        ({"method": "exactly"}, ValueError, "`method`"),
        ({"n_jobs": 0}, ValueError, "`n_jobs`"),
        ({"groups": [1, 2]}, ValueError, "`groups`"),
        (
            {"groups": np.arange(180).reshape(90, 2) % 7},
            ValueError,
            "`groups` must have one column",
        ),
        ({"method_comparison": "methods"}, TypeError, "`method_comparison` must be what"),
    ],
)
def test_bad_input_is_refused_before_any_fit(change, error, match, monkeypatch):
    def fit(self, *args, **kwargs):
        raise AssertionError("fitted")

    monkeypatch.setattr(GaussianNB, "fit", fit)
    two = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.1)}
    options = {"candidates": two, "cv": SPLITS, "scoring": "accuracy"} | change
    with pytest.raises(error, match=match):
        report_of(**options)


def test_method_comparisons_of_other_methods_or_metrics_are_refused(methods):
    others = {"a": GaussianNB(), "tree": clone(CANDIDATES["tree"])}
    with pytest.raises(ValueError, match=r"about the candidates, got .*bayes.* besides"):
        report_of(others, method_comparison=methods)
    with pytest.raises(ValueError, match=r"the metric that chooses, 'roc_auc', got .*accuracy"):
        report_of(scoring="roc_auc", method_comparison=methods)


def test_results_from_other_splits_are_refused():
    results = results_of({"tree": CANDIDATES["tree"]}) | results_of(
        {"bayes": CANDIDATES["bayes"]}, SPLITS[::-1]
    )
    with pytest.raises(ValueError, match="same splits"):
        selection_report(results, X, Y, scoring="accuracy")


def test_a_page_a_notebook_and_latex_show_the_report(report):
    table = "Best candidate, before and after correction for the selection"
    for text in (report.to_html(), report._repr_html_()):
        assert f"<caption>{table}</caption>" in text
        assert text.count("<caption>") >= 3
    assert report.to_html().startswith("<!DOCTYPE html>")
    latex = report.to_latex("chosen")
    assert table in latex
    assert r"\label{tab:chosen-3}" in latex
    said = report.method_paragraph()
    assert said in report.to_markdown()
    assert "corrected for that choice by bootstrap bias corrected cross-validation (200" in said
    assert said.startswith(report.result.method_paragraph())


def test_the_candidates_of_a_search_are_cross_validated_as_given_by_hand():
    X, y = load_breast_cancer(return_X_y=True)
    tree, splits = DecisionTreeClassifier(random_state=0), KFold(3, shuffle=True, random_state=0)
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    search = GridSearchCV(tree, grid, scoring="accuracy", cv=splits)
    by_hand = {
        f"criterion={criterion}, max_depth={depth}": DecisionTreeClassifier(
            max_depth=depth, criterion=criterion, random_state=0
        )
        for criterion in ("gini", "entropy")
        for depth in (1, 3)
    }
    options = {"n_resamples": 99, "random_state": 0}
    expected = selection_report(by_hand, X, y, scoring="accuracy", cv=splits, **options)
    for one in (search, clone(search).fit(X, y)):
        found = selection_report(one, X, y, **options)
        assert found.to_dict()["selection"] == expected.to_dict()["selection"]
        assert found.result.models == tuple(by_hand)
    naive = f"{found.selection.naive:.3f}"
    assert naive in found.summary()
    fitted = clone(search).fit(X, y)
    assert found.selection.selected == name_of(fitted.best_params_)


def test_the_metric_that_chooses_is_that_of_the_refit():
    X, y = load_breast_cancer(return_X_y=True)
    grid, tree = {"max_depth": [1, 3]}, DecisionTreeClassifier(random_state=0)
    several = {"acc": "accuracy", "area": "roc_auc"}
    search = GridSearchCV(tree, grid, scoring=several, refit="area", cv=3)
    found = selection_report(search, X, y, n_resamples=99, random_state=0)
    assert found.selection.metric == "area"
    metrics = [row.metric for row in found.result.scores if row.model == found.result.models[0]]
    assert metrics == ["area", "acc"]
    undecided = GridSearchCV(tree, grid, scoring=several, refit=False, cv=3)
    with pytest.raises(ValueError, match="`scoring` must be given where nothing says which"):
        selection_report(undecided, X, y)


def test_candidates_that_nobody_knows_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    drawn = RandomizedSearchCV(
        tree, {"max_depth": [1, 2, 3, 4]}, n_iter=2, scoring="accuracy", cv=3
    )
    with pytest.raises(ValueError, match="must have an integer `random_state`, or be fitted"):
        selection_report(drawn, X, y)
    fitted = clone(drawn).fit(X, y)
    found = selection_report(fitted, X, y, n_resamples=99)
    assert found.result.models == tuple(map(name_of, fitted.cv_results_["params"]))
    seeded = clone(drawn).set_params(random_state=0)
    found = selection_report(seeded, X, y, n_resamples=99)
    tried = clone(seeded).fit(X, y).cv_results_["params"]
    assert found.result.models == tuple(map(name_of, tried))


def test_parameters_that_are_estimators_are_cloned():
    X, y = load_breast_cancer(return_X_y=True)
    inner = [DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 2)]
    pipe = Pipeline([("model", inner[0])])
    search = GridSearchCV(pipe, {"model": inner}, scoring="accuracy", cv=3)
    found = selection_report(search, X, y, n_resamples=99, random_state=0)
    assert len(found.result.models) == 2
    assert not any(hasattr(model, "tree_") for model in inner)


def test_to_json_writes_null_for_nan_and_a_result_that_can_be_read(report):
    text = report.to_json()
    stored = json.loads(text, parse_constant=pytest.fail)
    assert '"p_permutation": null' in text
    assert stored["selection"]["corrected"] == report.selection.corrected
    again = ComparisonResult.from_json(json.dumps(stored["result"]))
    assert again.differences == report.result.differences
