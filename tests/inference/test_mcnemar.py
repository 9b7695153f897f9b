"""McNemar's test, against scipy, enumeration, published examples and exact references."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot import compare_scores
from sklearn_pairboot.inference import mcnemar_test

VARIANTS = ["exact", "mid-p", "asymptotic", "corrected"]
ALTERNATIVES = ["two-sided", "greater", "less"]
counts = st.integers(0, 30)


def table(only_a, only_b, agree=0):
    return [[agree, only_a], [only_b, 0]]


def test_req_E24_discordant_counts_of_the_article():
    # 33:12 of 500 with the better model as b; numbers of exact.json, written out.
    given_ = [[400, 12], [33, 55]]
    test = mcnemar_test(given_)
    assert (test.n_only_a, test.n_only_b, test.n_rows) == (12, 33, 500)
    assert test.estimate == pytest.approx(21 / 500, abs=1e-15)
    assert test.statistic == pytest.approx(3.1304951684997055, rel=1e-14)
    assert test.p_value == pytest.approx(43257431931 / 17592186044416, rel=1e-12)
    assert test.std_error == pytest.approx(0.013284276419888288, rel=1e-12)
    p_values = {variant: mcnemar_test(given_, variant=variant).p_value for variant in VARIANTS}
    assert p_values["mid-p"] == pytest.approx(0.0016414913408482334, rel=1e-12)
    # R 4.2.2: mcnemar.test(matrix(c(40,33,12,15),2), correct=FALSE), and with correct=TRUE.
    assert p_values["asymptotic"] == pytest.approx(0.0017451186995289037, rel=1e-12)
    assert p_values["corrected"] == pytest.approx(0.0028691127920766166, rel=1e-12)
    assert mcnemar_test(given_, variant="corrected").statistic == pytest.approx(
        2.9814239699997196, rel=1e-14
    )
    one_sided = mcnemar_test(given_, alternative="greater").p_value
    assert one_sided == pytest.approx(0.0012294501610483621, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("paired_33_12", {}),
        ("balanced_10_10", {"p_cc": 1.0}),  # the file shows what the correction must not give
        ("small_1_0", {}),
        ("equivalence_to_sign_flip_9_3", {}),
    ],
)
def test_req_E24_reference_file(shared, name, expected):
    given_ = json.loads((shared / "reference" / "exact.json").read_text())["mcnemar"][name]
    given_ = {**given_, **given_.get("mcnemar", {}), **expected}
    # a and b swapped: the file counts rows for the model with more wins first.
    of_table = table(given_["n10_a_wrong_b_right"], given_["n01_a_right_b_wrong"], agree=50)
    keys = {
        "exact": "p_exact_two_sided",
        "mid-p": "p_mid_two_sided",
        "asymptotic": "p_normal_two_sided",
        "corrected": "p_cc",
    }
    for variant, key in keys.items():
        found = mcnemar_test(of_table, variant=variant).p_value
        assert found == pytest.approx(given_[key], rel=1e-12), variant
    assert mcnemar_test(of_table).statistic == pytest.approx(given_["z"], rel=1e-14)
    greater = mcnemar_test(of_table, alternative="greater").p_value
    assert greater == pytest.approx(given_["p_exact_one_sided_greater"], rel=1e-12)


def test_published_example():
    # Fagerland, Lydersen and Laake (2013), airway hyper-responsiveness of 21 children: exact
    # 0.070, mid-p 0.039, asymptotic 0.034; Tango's interval -0.517 to -0.026 (Fagerland et al.
    # 2014, "Recommended tests and confidence intervals for paired binomial proportions").
    p_values = [round(mcnemar_test([[1, 7], [1, 12]], variant=v).p_value, 3) for v in VARIANTS[:3]]
    assert p_values == [0.070, 0.039, 0.034]
    test = mcnemar_test([[1, 7], [1, 12]])
    assert (round(test.ci_low, 3), round(test.ci_high, 3)) == (-0.517, -0.026)


@given(counts, counts, st.sampled_from(ALTERNATIVES))
def test_exact_equals_the_binomial_test(only_a, only_b, alternative):
    test = mcnemar_test(table(only_a, only_b, agree=1), alternative=alternative)
    n = only_a + only_b
    expected = stats.binomtest(only_b, n, 0.5, alternative).pvalue if n else 1.0
    assert test.p_value == pytest.approx(expected, rel=1e-11)


def test_exact_and_mid_p_by_enumeration():
    # All sign patterns of 7 rows: the share at least as extreme, half of the equally extreme.
    n = 7
    wins = np.array([sum(signs) for signs in itertools.product([0, 1], repeat=n)])
    for observed in range(n + 1):
        equal = np.mean(wins == observed)
        above, below = np.mean(wins >= observed), np.mean(wins <= observed)
        expected = {
            "greater": above,
            "less": below,
            "two-sided": np.mean(np.abs(wins - n / 2) >= abs(observed - n / 2)),
        }
        for alternative, p_value in expected.items():
            of_table = table(n - observed, observed, agree=3)
            exact = mcnemar_test(of_table, alternative=alternative)
            mid = mcnemar_test(of_table, alternative=alternative, variant="mid-p")
            assert exact.p_value == pytest.approx(p_value, rel=1e-13)
            sides = 2 if alternative == "two-sided" else 1
            assert mid.p_value == pytest.approx(
                sides * (min(above, below) if sides == 2 else p_value) - sides * equal / 2,
                rel=1e-13,
            )


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_size_of_the_exact_test_is_never_above_nominal(alternative):
    for n in range(1, 26):
        chances = stats.binom.pmf(np.arange(n + 1), n, 0.5)
        tests = [mcnemar_test(table(n - b, b), alternative=alternative) for b in range(n + 1)]
        p_values = np.array([test.p_value for test in tests])
        for level in (0.01, 0.05, 0.1, *p_values):
            assert chances[p_values <= level * (1 + 1e-12)].sum() <= level * (1 + 1e-9)
        # case_C67: what cannot become significant says so.
        assert {test.p_min for test in tests} == {p_values.min()}


def test_case_C67_req_C19_smallest_attainable_p_value():
    least = [mcnemar_test(table(n, 0, agree=9)).p_min for n in (4, 5, 6)]
    assert least == [0.125, 0.0625, 0.03125]


def test_case_C65_one_sided_directions():
    # Four rows that only a has right, one that only b has: greater means b is better.
    p_values = [mcnemar_test(table(1, 4), alternative=side).p_value for side in ALTERNATIVES]
    assert p_values == [12 / 32, 6 / 32, 31 / 32]
    p_values = [mcnemar_test(table(4, 1), alternative=side).p_value for side in ALTERNATIVES]
    assert p_values == [12 / 32, 31 / 32, 6 / 32]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_case_C59_no_discordant_pair(variant, alternative):
    test = mcnemar_test([[5, 0], [0, 3]], variant=variant, alternative=alternative)
    assert (test.p_value, test.statistic, test.estimate, test.p_min) == (1, 0, 0, 1)
    # req_B12: no difference among these rows, but room for one among others.
    assert test.ci_low < -0.2 < 0.2 < test.ci_high


def test_case_C62_correctness_and_not_predictions():
    y = np.array([0] * 4 + [1] * 4)
    a, b = y, 1 - y
    test = mcnemar_test(a == y, b == y)
    assert (test.n_only_a, test.n_only_b, test.p_value) == (8, 0, 2 / 256)
    # The same vectors as predictions look like correctness: the docstring warns.
    assert mcnemar_test(a, b).p_value == 1
    assert "not the\n        predictions" in mcnemar_test.__doc__
    words = np.array(["cat", "dog"])[y]
    with pytest.raises(
        ValueError, match=r"`correct_a` must say .* got 'cat', 'dog'\. .* y_pred =="
    ):
        mcnemar_test(words, words)
    with pytest.raises(ValueError, match=r"`correct_b` must say .* got 2, 3\."):
        mcnemar_test([0, 1, 1], [2, 3, 1])


def test_case_C63_tables_are_two_by_two():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"2 x 2 table of counts.* got shape \(3, 3\)"):
        mcnemar_test(np.ones((3, 3), dtype=int))
    with pytest.raises(ValueError, match=r"got shape \(4,\)\. Pass both vectors"):
        mcnemar_test([0, 1, 1, 0])
    with pytest.raises(ValueError, match=r"`correct_a` must have one entry .* got shape \(2, 2\)"):
        mcnemar_test([[5, 0], [0, 3]], [[5, 0], [0, 3]])
    for wrong in ([[1, -1], [0, 3]], [[1, 0.5], [0, 3]], [[0, 0], [0, 0]], [[1, math.nan], [0, 3]]):
        with pytest.raises(ValueError, match="whole and not all zero"):
            mcnemar_test(wrong)
    # The order of a cross table of booleans would turn the direction around.
    crossed = pd.crosstab(np.array([True, False, False]), np.array([True, True, False]))
    with pytest.raises(TypeError, match="got a dataframe"):
        mcnemar_test(crossed)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_vectors_equal_their_table(pairs):
    pd = pytest.importorskip("pandas")
    a, b = np.array(pairs).T
    counted = [[sum(a & b), sum(a & ~b)], [sum(~a & b), sum(~a & ~b)]]
    assert mcnemar_test(a, b) == mcnemar_test(counted)
    assert mcnemar_test(a.astype(float).tolist(), b.astype(int)) == mcnemar_test(counted)
    assert mcnemar_test(pd.Series(a), pd.Series(b).astype(object)) == mcnemar_test(counted)


@given(counts, counts, counts, st.sampled_from(VARIANTS), st.sampled_from(ALTERNATIVES))
def test_swapping_the_models_mirrors_everything(only_a, only_b, agree, variant, alternative):
    if only_a + only_b + agree == 0:
        return
    other = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    first = mcnemar_test(table(only_a, only_b, agree), variant=variant, alternative=alternative)
    second = mcnemar_test(table(only_b, only_a, agree), variant=variant, alternative=other)
    assert (first.estimate, first.statistic) == (-second.estimate, -second.statistic)
    assert (first.ci_low, first.ci_high) == (-second.ci_high, -second.ci_low)
    assert (first.p_value, first.p_min) == (second.p_value, second.p_min)
    assert first.p_min <= first.p_value <= 1


def restricted_score(plus, minus, n, difference):
    """Score statistic with the likeliest probabilities found by a grid, then a finer one."""
    low, high = max(0.0, -difference), (1 - difference) / 2
    for _ in range(6):
        q = np.linspace(low, high, 2001)
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = (
                np.where(plus > 0, plus * np.log(q + difference), 0)
                + np.where(minus > 0, minus * np.log(q), 0)
                + np.where(n > plus + minus, (n - plus - minus) * np.log1p(-2 * q - difference), 0)
            )
        best = np.nanargmax(likelihood)
        low, high = q[max(best - 1, 0)], q[min(best + 1, 2000)]
    variance = n * (2 * q[best] + difference * (1 - difference))
    return (plus - minus - n * difference) / math.sqrt(variance)


@pytest.mark.parametrize(
    ("only_a", "only_b", "agree"),
    [(12, 33, 455), (7, 1, 13), (0, 5, 20), (3, 3, 1), (1, 0, 43), (2, 9, 0)],
)
def test_ends_of_the_interval_solve_the_score_equation(only_a, only_b, agree):
    n = only_a + only_b + agree
    test = mcnemar_test(table(only_a, only_b, agree))
    z = stats.norm.ppf(0.975)
    for end, score in ((test.ci_low, z), (test.ci_high, -z)):
        assert restricted_score(only_b, only_a, n, end) == pytest.approx(score, abs=1e-5)


@given(counts, counts, counts, st.sampled_from(ALTERNATIVES))
def test_interval_excludes_zero_exactly_where_the_asymptotic_test_rejects(
    only_a, only_b, agree, alternative
):
    if only_a + only_b + agree == 0:
        return
    test = mcnemar_test(
        table(only_a, only_b, agree),
        variant="asymptotic",
        alternative=alternative,
        confidence_level=0.9,
    )
    assert -1 <= max(test.ci_low, -1) <= test.estimate <= min(test.ci_high, 1)
    if abs(test.p_value - 0.1) > 1e-9:
        assert (test.ci_low > 0 or test.ci_high < 0) == (test.p_value < 0.1)


def test_one_sided_level_below_one_half():
    of_table = table(3, 8, agree=20)
    test = mcnemar_test(of_table, alternative="less", confidence_level=0.3)
    assert test.ci_high < test.estimate
    opposite = mcnemar_test(of_table, alternative="greater", confidence_level=0.7)
    assert test.ci_high == pytest.approx(opposite.ci_low, rel=1e-12)


@given(counts, counts, counts)
def test_one_sided_ends_are_those_of_a_wider_interval(only_a, only_b, agree):
    if only_a + only_b + agree == 0:
        return
    of_table = table(only_a, only_b, agree)
    both = mcnemar_test(of_table, confidence_level=0.9)
    greater = mcnemar_test(of_table, alternative="greater", confidence_level=0.95)
    less = mcnemar_test(of_table, alternative="less", confidence_level=0.95)
    assert (greater.ci_low, less.ci_high) == pytest.approx((both.ci_low, both.ci_high), abs=1e-9)
    assert (greater.ci_high, less.ci_low) == (math.inf, -math.inf)


def test_perfect_against_useless_keeps_within_the_possible():
    test = mcnemar_test(np.zeros(10), np.ones(10))
    assert (test.estimate, test.ci_high, test.std_error) == (1, 1, 0)
    z = stats.norm.ppf(0.975)
    assert test.ci_low == pytest.approx(1 - 2 * z * z / (10 + z * z), rel=1e-12)
    assert mcnemar_test(np.ones(10), np.zeros(10)).ci_low == -1
    # With one row the quantile is beyond what any difference gives.
    assert -1 < mcnemar_test([0], [1]).ci_low < 0


def test_identical_models_have_p_value_one_and_huge_counts_never_zero():
    answers = np.arange(50) % 3 == 0
    assert mcnemar_test(answers, answers).p_value == 1
    test = mcnemar_test(table(0, 100_000, agree=10))
    assert 0 < test.p_value == test.p_min < 1e-300


def test_standard_error_is_that_of_the_exact_paired_bootstrap():
    a, b = [1, 0, 0, 1, 0], [1, 1, 1, 0, 0]
    resampled = compare_scores({"a": a, "b": b}, n_resamples="exact").differences[0]
    test = mcnemar_test(a, b)
    assert test.std_error == pytest.approx(resampled.std_error, rel=1e-12)
    assert test.estimate == pytest.approx(resampled.difference, abs=1e-15)


def test_bad_arguments_are_named():
    pd = pytest.importorskip("pandas")
    good = table(3, 5)
    with pytest.raises(ValueError, match=r"`variant` must be one of 'exact', .* got 'chi2'"):
        mcnemar_test(good, variant="chi2")
    with pytest.raises(ValueError, match=r"`alternative` must be one of .* got 'better'"):
        mcnemar_test(good, alternative="better")
    with pytest.raises(
        ValueError, match=r"`confidence_level` must .* got 95\. For 95 % pass 0\.95"
    ):
        mcnemar_test(good, confidence_level=95)
    with pytest.raises(ValueError, match=r"`correct_b` must have one entry per row, 3, got 2"):
        mcnemar_test([1, 0, 1], [1, 0])
    with pytest.raises(ValueError, match=r"`correct_a` must be finite .* in row\(s\) 1"):
        mcnemar_test([1, math.nan, 1], [1, 0, 1])
    with pytest.raises(ValueError, match="different pandas indexes"):
        mcnemar_test(pd.Series([1, 0]), pd.Series([1, 0], index=[1, 0]))


def test_req_C20_req_E35_no_evidence_of_a_difference_is_no_equality():
    assert "A large p-value does not show that two models are equal" in mcnemar_test.__doc__
    test = mcnemar_test([[3, 2], [4, 1]])
    # The interval says what ten rows leave open.
    assert test.p_value > 0.5 and max(-test.ci_low, test.ci_high) > 0.5
