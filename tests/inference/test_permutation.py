"""The paired permutation test, against enumeration, scipy and exact references."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot.inference import mcnemar_test, paired_permutation_test

ALTERNATIVES = ["two-sided", "greater", "less"]
MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def flips(differences, **keywords):
    """Test differences, given as the second model's scores."""
    differences = list(differences)
    return paired_permutation_test({"a": [0] * len(differences), "b": differences}, **keywords)


def enumerated(differences, alternative):
    """Count extreme arrangements in rational numbers."""
    observed = sum(differences)
    count = 0
    for signs in itertools.product([1, -1], repeat=len(differences)):
        total = sum(sign * d for sign, d in zip(signs, differences, strict=True))
        count += {
            "two-sided": abs(total) >= abs(observed),
            "greater": total >= observed,
            "less": total <= observed,
        }[alternative]
    return count


tenths = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=8).map(
    lambda pairs: np.array(pairs).T
)


# exact.json, sign_flip_test: group totals over rows, statistic, extreme, p greater and less, p_min
REFERENCE = {
    "five_pairs": ([1, 1, 1, 0, 1], 4, 1 / 8, 1 / 16, 1, 1 / 8),
    "all_zero_totals": ([0, 0, 0], 8, 1, 1, 1, 1),
    "four_nonzero_same_direction": ([1, 1, 1, 1], 2, 1 / 8, 1 / 16, 1, 1 / 8),
    "six_nonzero_same_direction": ([1] * 6, 2, 1 / 32, 1 / 64, 1, 1 / 32),
    "unequal_groups": ([3, -1, 2, 5, -2], 14, 7 / 16, 7 / 32, 7 / 8, 1 / 16),
    "float_trap_tenths_1_2_3": ([0.1, 0.2, 0.3], 2, 1 / 4, 1 / 8, 1, 1 / 4),
    "paired_bootstrap_data": ([1, 0, 1, 0, -1], 32, 1, 1 / 2, 7 / 8, 1 / 4),
}


@pytest.mark.parametrize("case", REFERENCE)
def test_req_C01_C05_C06_C13_equals_the_exact_reference(case):
    totals, extreme, two_sided, greater, less, p_min = REFERENCE[case]
    test = flips(totals)
    assert (test.n_extreme, test.n_assignments) == (extreme, 2 ** len(totals))
    assert (test.p_value, test.p_min, test.mode) == (two_sided, p_min, "exact enumeration")
    assert flips(totals, alternative="greater").p_value == greater
    assert flips(totals, alternative="less").p_value == less
    assert test.n_nonzero_units == np.count_nonzero(totals)
    assert test.estimate == test.statistic == pytest.approx(np.mean(totals), abs=1e-15)
    assert test.std_error == 0


def test_req_C09_hundred_rows_in_five_units_are_five_units():
    differences = np.tile([1, 1, 1, 0, 1], 20)
    whole = flips(differences, groups=np.tile(range(5), 20))
    assert (whole.n_units, whole.n_nonzero_units, whole.n_extreme) == (5, 4, 4)
    assert whole.p_value == 1 / 8
    # exact.json, wrong_independence_hundred_units
    torn = flips(differences)
    assert torn.mode == "exact counting"
    assert (torn.n_extreme, torn.n_assignments) == (2097152, 1267650600228229401496703205376)
    assert torn.p_value == torn.p_min == 1.6543612251060553e-24


def test_req_C10_unequal_clusters_keep_the_row_weighted_mean():
    # exact.json, unequal_groups: 13 rows in 5 clusters with totals 3, -1, 2, 5, -2.
    differences = [1, 1, 1, -1, 1, 1, 1, 1, 1, 1, 1, -1, -1]
    groups = list("aaabcc") + ["d"] * 5 + ["e", "e"]
    test = flips(differences, groups=groups)
    assert test.estimate == pytest.approx(7 / 13, rel=1e-15)
    assert (test.n_extreme, test.p_value, test.variant) == (14, 7 / 16, "swaps of clusters")


def test_case_C54_three_clusters_cannot_go_below_a_quarter():
    test = flips([1, 1, 1, 1, 1], groups=["x", "x", "y", "y", "z"])
    assert (test.n_assignments, test.p_value, test.p_min) == (8, 0.25, 0.25)
    assert flips([1, 1, 1, 1, 1]).p_value == 2 / 32


def test_case_C56_monte_carlo_is_never_zero():
    differences = np.random.default_rng(0).random(300) + 1  # no common step
    test = flips(differences, n_resamples=999, random_state=0)
    assert (test.mode, test.n_extreme, test.n_assignments) == ("Monte Carlo", 0, 999)
    assert test.p_value == test.p_min == 1 / 1000
    assert test.std_error == pytest.approx(math.sqrt(0.001 * 0.999 / 999), rel=1e-12)


def test_case_C57_tails_are_inclusive():
    assert flips([1, 1, 1]).p_value == 0.25


def test_case_C58_rounding_decides_no_tail():
    assert flips([0.2, 0.1, -0.2]).n_extreme == 8
    scores = {"B": [0.4, 0.4, 0.6], "A": [0.9, 0.9, 0.1]}
    assert paired_permutation_test(scores).p_value == 1.0


def test_case_C65_greater_means_that_the_second_model_has_higher_scores():
    differences = [1, 1, 1, 1, -1]
    assert flips(differences, alternative="greater").p_value == 6 / 32
    assert flips(differences, alternative="less").p_value == 31 / 32
    assert flips(differences).p_value == 12 / 32


def test_case_C67_req_C19_smallest_attainable_p():
    assert [flips([1] * n).p_min for n in (4, 5, 6)] == [0.125, 0.0625, 0.03125]
    assert flips([1] * 4, alternative="greater").p_min == 1 / 16


def test_case_C69_req_C02_documentation_states_the_null_hypothesis():
    text = " ".join(paired_permutation_test.__doc__.split())
    assert "The null hypothesis is that the models are exchangeable" in text
    assert "That is more than equal means" in text


@given(tenths, st.sampled_from(ALTERNATIVES))
def test_equals_enumeration_in_rational_numbers(pairs, alternative):
    a, b = pairs
    exact = [Fraction(int(y) - int(x), 10) for x, y in zip(a, b, strict=True)]
    test = paired_permutation_test({"a": a / 10, "b": b / 10}, alternative=alternative)
    assert test.n_extreme == enumerated(exact, alternative)
    assert test.p_value == test.n_extreme / 2 ** len(a) >= test.p_min


@given(tenths, st.sampled_from(ALTERNATIVES))
def test_req_B10_swapping_the_models_mirrors_the_tails(pairs, alternative):
    a, b = pairs / 10
    one = paired_permutation_test({"a": a, "b": b}, alternative=alternative)
    other = paired_permutation_test({"b": b, "a": a}, alternative=MIRROR[alternative])
    assert one.n_extreme == other.n_extreme
    assert one.estimate == -other.estimate


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_swapping_the_models_mirrors_random_arrangements(alternative):
    a, b = np.random.default_rng(1).normal(size=(2, 80))
    one = paired_permutation_test({"a": a, "b": b}, alternative=alternative, random_state=3)
    other = paired_permutation_test(
        {"b": b, "a": a}, alternative=MIRROR[alternative], random_state=3
    )
    assert one.mode == "Monte Carlo"
    assert one.n_extreme == other.n_extreme


@given(tenths, st.sampled_from([0.5, 3.0, 1e-6, 1e9]))
def test_scale_does_not_matter(pairs, factor):
    a, b = pairs / 10
    scaled = paired_permutation_test({"a": factor * a, "b": factor * b})
    assert scaled.n_extreme == paired_permutation_test({"a": a, "b": b}).n_extreme


@given(tenths)
def test_clusters_of_one_row_are_rows(pairs):
    a, b = pairs
    one = paired_permutation_test({"a": a, "b": b})
    other = paired_permutation_test({"a": a, "b": b}, groups=np.arange(len(a)) * 7 % 11)
    assert (one.n_extreme, one.n_assignments) == (other.n_extreme, other.n_assignments)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_req_C18_a_model_against_itself(scores):
    test = paired_permutation_test({"a": scores, "b": scores}, alternative="greater")
    assert (test.p_value, test.p_min, test.estimate) == (1, 1, 0)
    assert test.n_extreme == test.n_assignments == 2 ** len(scores)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_counting_equals_the_law_of_the_sum(alternative):
    rng = np.random.default_rng(5)
    differences = rng.integers(-4, 6, 36)
    counted = flips(differences, alternative=alternative)
    assert counted.mode == "exact counting"
    # By the distribution of sums, one number after the other.
    law = {0: 1}
    for d in np.abs(differences).tolist():
        new = {}
        for total, ways in law.items():
            for signed in (total + d, total - d):
                new[signed] = new.get(signed, 0) + ways
        law = new
    observed = int(differences.sum())
    extreme = sum(
        ways
        for total, ways in law.items()
        if {
            "two-sided": abs(total) >= abs(observed),
            "greater": total >= observed,
            "less": total <= observed,
        }[alternative]
    )
    assert counted.n_extreme == extreme


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_equals_scipy(alternative):
    rng = np.random.default_rng(2)
    differences = rng.normal(0.3, 1, 11)
    found = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
    )
    assert flips(differences, alternative=alternative).p_value == pytest.approx(found.pvalue)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_arrangements_come_close_to_counting(alternative):
    rng = np.random.default_rng(4)
    whole = rng.integers(-3, 5, 200)
    exact = flips(whole, alternative=alternative)
    drawn = flips(
        whole * (1 + 1e-6 * rng.normal(size=200)), alternative=alternative, random_state=1
    )
    assert (exact.mode, drawn.mode) == ("exact counting", "Monte Carlo")
    # Shaking breaks ties, which matter little beside the Monte Carlo error.
    assert abs(drawn.p_value - exact.p_value) < 5 * drawn.std_error + 0.02


def test_req_C11_rule_of_monte_carlo():
    differences = np.random.default_rng(1).normal(0.05, 1, 100)
    test = flips(differences, n_resamples=499, random_state=0)
    assert test.p_value == (test.n_extreme + 1) / 500
    longer = flips(differences, n_resamples=1999, random_state=0)
    assert longer.n_extreme >= test.n_extreme  # a longer run extends a shorter one
    assert test == flips(differences, n_resamples=499, random_state=0)


@given(tenths, st.randoms(use_true_random=False))
def test_req_C16_order_of_rows_does_not_matter(pairs, random):
    order = list(range(pairs.shape[1]))
    random.shuffle(order)
    a, b = pairs / 10
    groups = np.arange(len(a)) // 2
    for given_groups in (None, groups):
        shuffled = None if given_groups is None else groups[order]
        one = paired_permutation_test({"a": a, "b": b}, groups=given_groups)
        other = paired_permutation_test({"a": a[order], "b": b[order]}, groups=shuffled)
        assert one.n_extreme == other.n_extreme


def test_order_of_rows_does_not_matter_to_random_arrangements():
    differences = np.random.default_rng(6).normal(size=90)
    one, other = flips(differences, random_state=0), flips(differences[::-1], random_state=0)
    assert one.n_extreme == other.n_extreme


def test_req_C07_is_mcnemars_exact_test_for_scores_of_0_and_1():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 400))
    for alternative in ALTERNATIVES:
        test = paired_permutation_test({"a": a, "b": b}, alternative=alternative)
        expected = mcnemar_test(a, b, alternative=alternative)
        assert test.p_value == pytest.approx(expected.p_value, rel=1e-9)
        assert test.p_min == pytest.approx(expected.p_min, rel=1e-9)


def test_large_whole_numbers_are_not_lost_in_a_tolerance():
    # Nanoseconds: a tolerance relative to them would be as large as a difference of 1.
    base = 10**12 + np.arange(30)
    shift = np.resize([1, 2, 3, -1], 30)
    assert paired_permutation_test({"a": base, "b": base + shift}) == flips(shift)


def test_counts_of_thousands_of_digits_can_be_shown():
    differences = np.zeros(20_000)
    differences[:30] = 1
    test = flips(differences)
    assert test.n_assignments == 2**20_000
    assert test.p_value == 2.0**-29
    assert "n_assignments=about 1e6020" in repr(test)


@pytest.mark.newest
def test_size_at_small_samples_is_at_most_nominal():
    # Symmetric differences about 0: exact tests never exceed their level.
    rng = np.random.default_rng(0)
    p_values = [flips(rng.normal(size=12)).p_value for _ in range(400)]
    for alpha in (0.05, 0.1):
        rejected = np.mean(np.array(p_values) <= alpha)
        assert rejected <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / 400)


@pytest.mark.parametrize(("alpha", "size"), [(0.05, 65 / 729), (0.1, 77 / 729)])
def test_req_C02_size_under_a_skewed_distribution_is_that_of_the_reference(alpha, size):
    # exact.json, asymmetric_zero_mean_true_size, n = 6: +2 with probability 1/3, -1 with 2/3.
    rejected = sum(
        math.comb(6, k) * 2 ** (6 - k)
        for k in range(7)
        if flips([2] * k + [-1] * (6 - k)).p_value <= alpha
    )
    assert rejected / 3**6 == pytest.approx(size, rel=1e-12)


def test_memory_does_not_grow_with_the_arrangements():
    differences = np.random.default_rng(0).normal(size=20_000)
    peaks = []
    for n_resamples in (1024, 4096):
        tracemalloc.start()
        flips(differences, n_resamples=n_resamples, random_state=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 8 * 2**20


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_taken(library):
    frame = {"old": [0, 0, 0, 1, 0], "new": [1, 1, 1, 1, 1]}
    scores = pytest.importorskip(library).DataFrame(frame)
    assert repr(paired_permutation_test(scores)) == repr(paired_permutation_test(frame))


@pytest.mark.parametrize(
    ("scores", "keywords", "message"),
    [
        ({"a": [1, 2]}, {}, "`scores` must hold at least 2 models"),
        (
            {"a": [1], "b": [1], "c": [1]},
            {},
            "`scores` must hold 2 models, the baseline first, got",
        ),
        ({"a": [1, np.nan], "b": [1, 2]}, {}, r"`scores\['a'\]`"),
        ({"a": ["x", "y"], "b": [1, 2]}, {}, r"`scores\['a'\]` must be a one-dimensional array of"),
        ({"a": [1e308] * 9, "b": [1e308] * 9}, {}, "must be small enough to be added up"),
        ({"a": [1, 2], "b": [1, 2]}, {"alternative": "better"}, "`alternative` must be one of"),
        ({"a": [1, 2], "b": [1, 2]}, {"n_resamples": 0}, "`n_resamples` must be an integer from 1"),
        ({"a": [1, 2], "b": [1, 2]}, {"random_state": -1}, "`random_state` must be a non-negative"),
        ({"a": [1, 2], "b": [1, 2]}, {"groups": [1]}, "`groups`"),
    ],
)
def test_bad_input_is_refused(scores, keywords, message):
    with pytest.raises(ValueError, match=message):
        paired_permutation_test(scores, **keywords)


def test_booleans_are_refused():
    with pytest.raises(TypeError, match=r"got booleans\. If they say whether an answer is correct"):
        paired_permutation_test({"a": [True, False], "b": [True, True]})
