"""The corrected resampled t test, against formulas written anew and a published example."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from sklearn_pairboot.inference import CorrectedTTestResult, corrected_resampled_ttest

differences_of_any_size = st.lists(
    st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=30
)


def by_formula(differences, ratio):
    """Statistic and standard error with plain sums."""
    k = len(differences)
    mean = math.fsum(differences) / k
    variance = math.fsum((d - mean) ** 2 for d in differences) / (k - 1)
    std_error = math.sqrt((1 / k + ratio) * variance)
    return mean, std_error


@given(differences_of_any_size, st.integers(1, 500), st.integers(1, 500))
def test_equals_the_formula(differences, n_train, n_test):
    if np.ptp(differences) < 1e-5:
        return
    mean, std_error = by_formula(differences, n_test / n_train)
    student = stats.t(len(differences) - 1)
    expected = {
        "two-sided": 2 * student.cdf(-abs(mean / std_error)),
        "greater": 1 - student.cdf(mean / std_error),
        "less": student.cdf(mean / std_error),
    }
    for alternative, p_value in expected.items():
        test = corrected_resampled_ttest(
            differences, n_train=n_train, n_test=n_test, alternative=alternative
        )
        assert test.estimate == pytest.approx(mean, abs=1e-15)
        assert test.std_error == pytest.approx(std_error, rel=1e-12)
        assert test.statistic == pytest.approx(mean / std_error, rel=1e-9, abs=1e-12)
        assert test.p_value == pytest.approx(p_value, rel=1e-9, abs=1e-12)
        assert test.df == len(differences) - 1


def test_is_the_one_sample_t_test_where_nothing_is_trained_on():
    # A ratio of nearly 0 leaves the usual standard error.
    differences = [0.1, -0.2, 0.4, 0.3, 0.05]
    test = corrected_resampled_ttest(differences, n_train=1e15, n_test=1)
    expected = stats.ttest_1samp(differences, 0)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    low, high = expected.confidence_interval(0.95)
    assert (test.ci_low, test.ci_high) == pytest.approx((low, high), rel=1e-9)


def test_example_of_the_scikit_learn_documentation():
    # "Statistical comparison of models using grid search": t = 0.750, p = 0.227 one-sided;
    # uncorrected t = 2.611, p = 0.005.
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    best, second = (
        cross_val_score(SVC(kernel=kernel, random_state=0), X, y, scoring="roc_auc", cv=cv)
        for kernel in ("rbf", "linear")
    )
    test = corrected_resampled_ttest(best - second, n_train=90, n_test=10, alternative="greater")
    assert round(test.statistic, 3) == 0.750
    assert round(test.p_value, 3) == 0.227
    uncorrected = stats.ttest_1samp(best - second, 0, alternative="greater")
    assert round(uncorrected.statistic, 3) == 2.611


@given(differences_of_any_size, st.sampled_from(["two-sided", "greater", "less"]))
def test_interval_excludes_zero_exactly_where_p_is_small(differences, alternative):
    test = corrected_resampled_ttest(
        differences, n_train=80, n_test=20, alternative=alternative, confidence_level=0.9
    )
    if math.isnan(test.p_value) or abs(test.p_value - 0.1) < 1e-9:
        return
    assert (test.ci_low > 0 or test.ci_high < 0) == (test.p_value < 0.1)


@given(differences_of_any_size)
def test_swapping_the_methods_mirrors_everything(differences):
    given_, mirrored = (
        corrected_resampled_ttest(sign * np.array(differences), n_train=8, n_test=2)
        for sign in (1, -1)
    )
    assert mirrored.estimate == -given_.estimate
    assert mirrored.statistic == -given_.statistic
    assert (mirrored.ci_low, mirrored.ci_high) == (-given_.ci_high, -given_.ci_low)
    assert mirrored.p_value == given_.p_value or math.isnan(given_.p_value)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_difference_at_all_is_no_evidence(alternative):
    test = corrected_resampled_ttest([0, 0, 0], n_train=2, n_test=1, alternative=alternative)
    assert (test.estimate, test.statistic, test.p_value, test.std_error) == (0, 0, 1, 0)


def test_one_difference_everywhere_has_no_p_value():
    # 0.3 - 0.2 and 0.4 - 0.3 differ in the last digit only.
    test = corrected_resampled_ttest([0.3 - 0.2, 0.4 - 0.3, 0.1], n_train=2, n_test=1)
    assert math.isnan(test.p_value)
    assert test.statistic == math.inf
    assert test.ci_low == test.ci_high == test.estimate == pytest.approx(0.1)


def test_result_names_its_variant():
    test = corrected_resampled_ttest([1, 2], n_train=1, n_test=1)
    assert isinstance(test, CorrectedTTestResult)
    assert test.variant == "corrected resampled t"
    with pytest.raises(AttributeError):
        test.p_value = 0.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"differences": [0.1]}, r"`differences` must be a one-dimensional array of at least 2"),
        ({"differences": [[0.1, 0.2]]}, r"`differences` must be .* got shape \(1, 2\)"),
        ({"differences": ["a", "b"]}, r"`differences` must be .* of dtype <U1"),
        ({"differences": [0.1, np.nan]}, r"`differences` must be finite, got 1 .* in split\(s\) 1"),
        ({"n_train": 0}, r"`n_train` must be a positive number of rows, got 0"),
        ({"n_test": "8"}, r"`n_test` must be a positive number of rows, got '8'"),
        ({"alternative": "better"}, r"`alternative` must be one of .* got 'better'"),
        ({"confidence_level": 95}, r"`confidence_level` must be .* got 95\. For 95 % pass 0\.95"),
    ],
)
def test_bad_arguments_are_named(changed, message):
    arguments = {"differences": [0.1, 0.2], "n_train": 8, "n_test": 2, **changed}
    with pytest.raises(ValueError, match=message):
        corrected_resampled_ttest(**arguments)
