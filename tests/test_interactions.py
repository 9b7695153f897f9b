"""Features that meet: what reports say where one changes what another means, and odd input."""

import re

import numpy as np
import pytest

from sklearn_pairboot import (
    ECE,
    ComparisonResult,
    compare_estimators,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot.resampling import BayesianBootstrap, BlockBootstrap, ClusterBootstrap

N = 60
USER, ITEM = np.repeat(np.arange(12), 5), np.tile(np.arange(15), 4)
HALF = np.arange(N) % 2


def scores(n_models=2):
    rng = np.random.default_rng(5)
    ability = rng.random(N)
    return {name: ability + rng.normal(0.05, 0.3, N) for name in "abcd"[:n_models]}


def compared(given=None, **options):
    return compare_scores(
        scores() if given is None else given, **{"n_resamples": 199, "random_state": 0, **options}
    )


def stated(result, label):
    """What the summary states under a label, on one line."""
    lines = result.summary().split("How this was computed\n")[1].split("\n\n")[0].splitlines()
    found = {}
    last = ""
    for line in lines:  # a label, in its column, or the rest of the statement before
        last = line[:14].strip() or last
        found[last] = f"{found.get(last, '')} {line[14:].strip()}".strip()
    return found[label]


def refused(message, error=ValueError, given=None, **options):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        compared(given, **options)


# Standard errors.


@pytest.mark.parametrize("method", ["t", "studentized"])
def test_the_report_says_which_standard_errors_are_the_spread_of_replicates(method):
    by_influence = "standard error by the influence of each unit"
    alone = compared(method=method, groups=USER)
    assert stated(alone, "SE") == f"{by_influence}, not the spread of the single rows or clusters"
    together = alone.replace(correction="max-t")
    spread = np.std(np.diff(together.replicates[:, 0], axis=1), ddof=1)
    assert together.differences[0].std_error == pytest.approx(spread, rel=1e-12)
    assert together.scores[0].std_error == alone.scores[0].std_error
    text = stated(together, "SE")
    assert text.startswith(by_influence)
    assert "of the differences: standard deviation of the resampled values" in text
    step_down = alone.replace(correction="max-t-step-down")
    assert stated(step_down, "SE") == stated(alone, "SE")


def test_a_fall_back_says_whose_standard_error_it_shows():
    def accuracy(model, X, y):
        return np.mean(model.predict(X) == y)

    answers = {"a": HALF, "b": (np.arange(N) % 3 == 0).astype(int)}
    result = compare_predictions(
        HALF, answers, scoring=accuracy, method="studentized", n_resamples=99, random_state=0
    )
    row = result.differences[0]
    spread = np.std(np.diff(result.replicates[:, 0], axis=1), ddof=1)
    assert (row.status, row.std_error) == (
        "percentile (studentized undefined)",
        pytest.approx(spread, rel=1e-12),
    )
    assert "where the status is percentile: standard deviation of the" in stated(result, "SE")
    by_jackknife = "standard error by the influence of each unit (the jackknife for scorers that"
    assert stated(result.replace(method="t"), "SE").startswith(by_jackknife)


def test_crossed_factors_have_the_spread_of_their_replicates_with_every_method():
    result = compared(method="t", groups=np.column_stack([USER, ITEM]))
    spread = np.std(np.diff(result.replicates[:, 0], axis=1), ddof=1) * np.sqrt(12 / 11)
    assert result.differences[0].std_error == pytest.approx(spread, rel=1e-12)
    assert stated(result, "SE").startswith(
        "standard deviation of the resampled values times sqrt(n / (n - 1)), n = 12 the fewer"
    )
    alone = result.replace(method="normal")
    assert alone.differences[0].std_error == pytest.approx(spread / np.sqrt(12 / 11), rel=1e-12)
    assert "sqrt" not in stated(alone, "SE")
    assert "without that factor" in stated(result.replace(correction="max-t"), "SE")
    assert "influence" not in stated(result, "Interval")


def test_no_monte_carlo_error_is_called_none():
    assert stated(compared(method="t"), "Monte Carlo") == (
        "none: half-samples of the resamples give the same interval ends and p-values"
    )
    assert stated(compared(), "Monte Carlo").startswith("interval ends are known to +-0.")


@pytest.mark.parametrize("n_resamples", [199, pytest.param("auto", marks=pytest.mark.newest)])
def test_a_subgroup_without_a_value_leaves_monte_carlo_errors_alone(n_resamples):
    rng = np.random.default_rng(3)
    answers = {"a": rng.random(N) + 0.2 * HALF, "b": rng.random(N) + 0.4 * HALF}
    run = {"scoring": "roc_auc", "n_resamples": n_resamples, "random_state": 0}
    alone = compare_predictions(HALF, answers, **run)
    result = compare_predictions(HALF, answers, slices={"truth": HALF}, **run)
    assert [row.status for row in result.slices] == ["undefined", "undefined"]
    assert [row.asdict() for row in result.monte_carlo[:2]] == [
        {**row.asdict(), "se_p_value": pytest.approx(np.nan, nan_ok=True)}
        for row in alone.monte_carlo[:2]
    ]
    assert result.monte_carlo[2] == alone.monte_carlo[2]
    assert result.n_resamples == alone.n_resamples


# What varies, and what p-values are.


def test_crossed_factors_are_named_where_they_vary_and_where_they_are_few():
    frame = {"user": USER % 6, "item": ITEM}
    pandas = pytest.importorskip("pandas")
    result = compared(groups=pandas.DataFrame(frame))
    assert stated(result, "Varies") == (
        "only which levels of user and item, and which of their cells, are drawn"
    )
    assert result.notes == (
        "Only 6 levels of user: with fewer than 10 the bootstrap intervals tend to be too narrow; "
        "`method='expanded'` or `'t'` allows for it.",
    )


@pytest.mark.parametrize(
    ("options", "meaning"),
    [
        ({}, "p is the two-sided tail share of the posterior draws beyond 0, not a test"),
        ({"alternative": "better"}, "p is the share of the posterior draws beyond 0, not a test"),
        ({"method": "normal"}, "p is the smallest error level at which the interval excludes 0"),
        ({"correction": "max-t"}, "p is the smallest error level at which the interval excludes 0"),
    ],
)
def test_posterior_shares_are_claimed_only_where_p_is_one(options, meaning):
    result = compared(resampling=BayesianBootstrap(), n_resamples=499, **options)
    assert stated(result, "p-values").startswith(meaning)
    differences = np.diff(result.replicates[:, 0], axis=1)
    share = np.mean(differences <= 0 if result.differences[0].difference > 0 else differences >= 0)
    if options == {
        "alternative": "better"
    }:  # by the rule of the interval's ends, between two draws
        beyond = np.mean(differences <= 0)
        assert result.differences[0].p_value == pytest.approx(beyond, abs=2 / 499)
    if options == {}:
        assert result.differences[0].p_value == pytest.approx(2 * share, abs=4 / 499)


def test_one_comparison_is_no_plural():
    assert "c serves the one comparison of a metric at once" in stated(
        compared(correction="max-t"), "Interval"
    )


# Subgroups.


def test_subgroups_of_blocks_count_rows_alone():
    result = compared(resampling=BlockBootstrap(5), slices={"half": HALF})
    (header,) = [line for line in result.summary().splitlines() if "subgroup  rows" in line]
    assert header.split() == "subgroup rows difference SE 95 % interval p adj. p verdict".split()


def test_subgroups_of_several_test_sets_have_the_rows_of_all():
    given, sets = scores(), np.where(np.arange(N) < 15, "small", "large")
    result = compared(given, test_sets=sets, slices={"half": HALF})
    gain = given["b"] - given["a"]
    assert result.differences[0].difference == pytest.approx(
        (gain[:15].mean() + gain[15:].mean()) / 2, rel=1e-12
    )
    assert [row.difference for row in result.slices] == pytest.approx(
        [gain[HALF == half].mean() for half in (0, 1)], rel=1e-12
    )
    assert result.notes[0].endswith(
        "Subgroups are no such averages: they have the rows of all test sets."
    )
    assert "Subgroups" not in compared(given, test_sets=sets).notes[0]


def test_subgroups_of_crossed_factors_are_refused_before_models_answer():
    class Model:
        classes_ = np.array([0, 1])

        def fit(self, X, y):
            raise AssertionError("called")

        def predict(self, X):
            raise AssertionError("called")

    X = np.zeros((N, 1))
    with pytest.raises(ValueError, match=r"^`slices` must be None where .* got 'half'\. Pass one"):
        compare_estimators(
            {"a": Model(), "b": Model()},
            X,
            HALF,
            scoring="accuracy",
            groups=np.column_stack([USER, ITEM]),
            slices={"half": HALF},
        )


# Frames and other odd input.


def test_pandas_columns_may_have_any_names_but_not_one_twice():
    pandas = pytest.importorskip("pandas")
    table = np.column_stack([USER, ITEM])
    by_number = compared(groups=pandas.DataFrame(table))
    assert by_number.factors == (("0", 12), ("1", 15))
    assert by_number.scores == compared(groups=table).scores
    twice = pandas.DataFrame(table, columns=["g", "g"])
    refused("`groups` must have columns of different names, got 'g' twice.", groups=twice)
    refused("`slices` must have unique, non-empty strings as names of variables", slices=twice)


def test_no_variables_are_called_none():
    refused(
        "`slices` must have unique, non-empty strings as names of variables, got none. Pass",
        slices={},
    )


def test_columns_of_groups_that_a_plan_cannot_serve_have_a_remedy():
    two = np.column_stack([USER, ITEM])
    refused(
        "`groups` must be one-dimensional, got shape (60, 2). Pass one column, or a tuple",
        groups=two,
        resampling=ClusterBootstrap(),
    )


def test_only_ratios_of_test_set_weights_count():
    sets = np.where(np.arange(N) < 20, "x", "y")
    usual = compared(test_sets=sets, test_set_weights={"x": 1, "y": 2})
    huge = compared(test_sets=sets, test_set_weights={"x": 8e307, "y": 1.6e308})
    assert huge.scores == usual.scores
    assert huge.notes == usual.notes


@pytest.mark.parametrize("factor", [1e-200, 1e200])
@pytest.mark.parametrize("correction", ["holm", "max-t", "max-t-step-down"])
def test_reports_of_very_small_and_very_large_scores_scale(factor, correction):
    given = scores(3)
    large = {name: values * factor for name, values in given.items()}
    usual, scaled = compared(given, correction=correction), compared(large, correction=correction)
    assert "nan" not in scaled.summary()
    for row, other in zip(usual.differences, scaled.differences, strict=True):
        assert other.ci_low / factor == pytest.approx(row.ci_low, rel=1e-9)
        assert other.p_adjusted == pytest.approx(row.p_adjusted, rel=1e-9)
    for error, other in zip(usual.monte_carlo, scaled.monte_carlo, strict=True):
        assert other.se_ci_low / factor == pytest.approx(error.se_ci_low, rel=1e-9)
    by_influence = compared(large, method="t")  # whose squares are beyond float64
    assert {row.status for row in by_influence.differences} == {"percentile (t undefined)"}


def test_long_values_are_shortened_in_messages():
    with pytest.raises(TypeError) as error:
        compared(groups={1, *range(1000)})
    assert len(str(error.value)) < 200
    assert "\n" not in str(error.value)


def test_models_drawn_apart_take_no_method_that_would_always_fall_back():
    message = "`method` must not need influence values of shared units with `paired=False`, got 't'"
    refused(message, paired=False, method="t")
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        compared(paired=False).replace(method="t")


@pytest.mark.parametrize("options", [{"slices": {"half": HALF}}, {"test_sets": HALF}])
def test_exact_means_say_that_subgroups_and_test_sets_are_no_means_of_all_rows(options):
    rows = np.arange(N)
    right = {"a": (rows % 3 == 0).astype(int), "b": (rows % 4 == 0).astype(int)}
    with pytest.raises(ValueError, match="means over all rows are served, by convolution, not"):
        compared(right, n_resamples="exact", **options)


def test_biased_metrics_have_no_confidence_set():
    truth = np.arange(N) % 2
    rng = np.random.default_rng(0)
    answers = {name: rng.random(N) for name in "ab"}
    result = compare_predictions(
        truth, answers, scoring=ECE(n_bins=5), n_resamples=99, random_state=0
    )
    with pytest.raises(ValueError, match="`metric` must not be 'expected_calibration_error'"):
        result.model_confidence_set("expected_calibration_error")
    assert result.model_confidence_set("squared_calibration_error").included


def test_json_with_settings_that_do_not_exist_is_refused_when_it_is_read():
    text = compared().to_json().replace('"method": "percentile"', '"method": "magic"')
    with pytest.raises(ValueError, match=r"^`text` must be JSON .*`method` must be one of"):
        ComparisonResult.from_json(text)


def test_case_C39_a_score_at_the_edge_of_its_replicates_is_called_biased():
    # case_C39: ten rows with probability .1, one of them positive. The calibration error is 0, no
    # replicate lies below, and the mean replicate is E|Bin(10, .1) / 10 - .1| = .0697.
    truth, answers = np.eye(10)[0].astype(int), np.full(10, 0.1)
    result = compare_predictions(
        truth, {"model": answers}, scoring=ECE(n_bins=10), n_resamples="exact"
    )
    row = result.scores[0]
    assert (row.metric, row.estimate) == ("expected_calibration_error", pytest.approx(0, abs=1e-12))
    values = result.replicates[:, 0, 0]
    assert (values.min(), values.max()) == (pytest.approx(0, abs=1e-12), pytest.approx(0.9))
    assert np.isnan([row.ci_low, row.ci_high]).all()  # percentiles of these are no interval
    assert row.status == "biased"
    weights = result.multiplicities / result.multiplicities.sum()
    assert weights @ result.replicates[:, 0, 0] == pytest.approx(0.0697, abs=5e-5)
    assert any("chance adds to the value" in note for note in result.notes)
