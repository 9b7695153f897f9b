"""Exact distributions of means beyond enumeration: against enumeration, scipy and random draws."""

import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot import ComparisonResult, compare_predictions, compare_scores
from sklearn_pairboot._engine import bootstrap as bootstrap_module
from sklearn_pairboot.resampling import StratifiedBootstrap

TOLERANCE = 1e-12
NUMBERS = ("difference", "std_error", "ci_low", "ci_high", "p_value")


def exact(scores, **options):
    return compare_scores(scores, n_resamples="exact", **options)


def by_convolution(scores, **options):
    """Do without the enumeration that is possible for few rows."""
    with pytest.MonkeyPatch.context() as patch:
        listed = bootstrap_module.count_vectors
        patch.setattr(
            bootstrap_module,
            "count_vectors",
            lambda multiplicity, stratum, _: listed(multiplicity, stratum, 1),
        )
        return exact(scores, **options)


def correctness(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"old": (rng.random(n) < 0.7).astype(int), "new": (rng.random(n) < 0.75).astype(int)}


def check_equal_tables(one, other, tolerance=TOLERANCE):
    for row, again in zip(
        (*one.scores, *one.differences), (*other.scores, *other.differences), strict=True
    ):
        for name, value in row.asdict().items():
            if isinstance(value, float):
                assert again[name] == pytest.approx(
                    value, rel=tolerance, abs=tolerance, nan_ok=True
                )
            else:
                assert again[name] == value


rows = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 1)), min_size=2, max_size=7
)


@given(rows, st.sampled_from(["percentile", "basic", "normal", "bca"]), st.sampled_from([1.0, 0.1]))
@max_examples(40)
def test_convolution_equals_enumeration(drawn, method, step):
    a, b, _ = np.array(drawn).T
    options = {"method": method, "margin": 0.5 * step, "alternative": "better"}
    scores = {"a": step * a, "b": step * b}
    listed, convolved = exact(scores, **options), by_convolution(scores, **options)
    if len({*zip(a, b, strict=True)}) > 1:
        assert (listed.exact_by, convolved.exact_by) == ("enumeration", "convolution")
    check_equal_tables(listed, convolved)


@given(rows)
@max_examples(25)
def test_convolution_equals_enumeration_within_strata(drawn):
    a, b, stratum = np.array(drawn).T
    options = {"resampling": StratifiedBootstrap(stratum), "method": "bca"}
    check_equal_tables(
        exact({"a": a, "b": b}, **options), by_convolution({"a": a, "b": b}, **options)
    )


@given(rows, st.booleans())
@max_examples(25)
def test_ratios_equal_enumeration(drawn, clustered):
    """Unequal clusters or weights: numerator and denominator are convolved together."""
    a, b, more = np.array(drawn).T
    if clustered:
        times = 1 + more
        options = {"groups": np.repeat(np.arange(len(a)), times)}
        a, b = np.repeat(a, times), np.repeat(b, times)
    else:
        options = {"sample_weight": 1 + more / 2}
    options["method"] = "bca"
    check_equal_tables(
        exact({"a": a, "b": b}, **options), by_convolution({"a": a, "b": b}, **options)
    )


def test_unequal_clusters_equal_the_numbers_of_the_file(shared):
    numbers = json.loads((shared / "reference" / "exact.json").read_text())["clustered_unequal"]
    for name in ("four_clusters_sizes_1_2_3_4", "fractional_scores"):
        clusters, expected = numbers[name]["input_groups"], numbers[name]["row_weighted"]
        values = [float(Fraction(value)) for cluster in clusters for value in cluster]
        groups = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
        result = by_convolution({"m": values}, groups=groups)
        assert result.exact_by == "convolution"
        sample = result._distribution.model_sample(0, 0)
        assert sample.multiplicities.tolist() == [count for _, count in expected["dist"]]
        places = [float(Fraction(value)) for value, _ in expected["dist"]]
        np.testing.assert_allclose(sample.values, places, rtol=0, atol=TOLERANCE)
        (row,) = result.scores
        assert row.std_error == pytest.approx(expected["sd"], abs=TOLERANCE)
        ends = [end["float"] for end in expected["ci"]["0.95"]["linear"]]
        assert [row.ci_low, row.ci_high] == pytest.approx(ends, abs=TOLERANCE)


def test_beyond_2_to_the_53_it_still_equals_enumeration():
    scores = correctness(60)
    listed, convolved = exact(scores, method="bca"), by_convolution(scores, method="bca")
    assert (listed.exact_by, convolved.exact_by) == ("enumeration", "convolution")
    assert convolved._distribution.model_sample(0, 0).multiplicities.dtype == np.float64
    check_equal_tables(listed, convolved, 1e-10)


@np.errstate(divide="ignore")  # of scipy before 1.12, far out in the tails
@pytest.mark.parametrize("n", [500, 20_000])
def test_one_model_is_binomial_and_a_difference_trinomial(n):
    scores = correctness(n)
    result = exact(scores)
    assert result.exact_by == "convolution"
    sample = result._distribution.model_sample(0, 1)
    k = int(scores["new"].sum())
    counts = np.rint(sample.values * n)
    np.testing.assert_allclose(
        sample.multiplicities, stats.binom.pmf(counts, n, k / n), rtol=0, atol=2e-12
    )
    row = result.scores[1]
    ends = stats.binom.ppf([0.025, 0.975], n, k / n) / n
    assert (row.ci_low, row.ci_high) == pytest.approx(tuple(ends), abs=TOLERANCE)
    assert row.std_error == pytest.approx(math.sqrt(k / n * (1 - k / n) / n), rel=1e-9)
    difference = scores["new"] - scores["old"]
    gains, losses = (difference == 1).sum(), (difference == -1).sum()
    sample = result._distribution.difference_sample(0, 1, 0)
    assert result.differences[0].std_error == pytest.approx(difference.std() / n**0.5, rel=1e-9)
    # Given the number of draws that are no ties, gains are binomial: mix these over that number.
    for value in (0.0, float(difference.mean())):
        net = round(value * n)
        gained = np.arange(max(net, 0), n + 1)
        gained = gained[2 * gained - net <= n]
        n_untied = 2 * gained - net
        expected = np.sum(
            stats.binom.pmf(n_untied, n, (gains + losses) / n)
            * stats.binom.pmf(gained, n_untied, gains / (gains + losses))
        )
        place = np.argmin(np.abs(sample.values - value))
        assert sample.multiplicities[place] == pytest.approx(expected, abs=1e-11)


def test_random_resamples_agree():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), rng.integers(1, 6, 40))
    scores = {name: rng.integers(0, 6, len(groups)) for name in ("a", "b")}
    drawn = compare_scores(scores, groups=groups, n_resamples=100_000, random_state=0)
    found = exact(scores, groups=groups)
    assert found.exact_by == "convolution"
    for row, again in zip(
        (*found.scores, *found.differences), (*drawn.scores, *drawn.differences), strict=True
    ):
        assert again.std_error == pytest.approx(row.std_error, rel=0.015)
        for end in ("ci_low", "ci_high"):
            assert again[end] == pytest.approx(row[end], abs=0.04 * row.std_error)
    p_value, share = found.differences[0].p_value, drawn.differences[0].p_value
    assert share == pytest.approx(p_value, abs=5 * math.sqrt(2 * p_value / 100_000))


@given(
    st.lists(st.tuples(*2 * [st.integers(0, 4)]), min_size=30, max_size=40), st.integers(-50, 50)
)
@max_examples(15)
def test_swap_shift_and_order(drawn, shift):
    a, b = np.array(drawn).T
    result = by_convolution({"a": a, "b": b})
    order = np.random.default_rng(0).permutation(len(a))
    check_equal_tables(result, by_convolution({"a": a[order], "b": b[order]}))
    if a.std() > 0 and b.std() > 0 and (a - b).std() > 0:
        moved = by_convolution({"a": a + shift, "b": b + shift})
        check_equal_tables(moved, by_convolution({"a": a[order] + shift, "b": b[order] + shift}))
        (row,), (again,) = result.differences, moved.differences
        for name in NUMBERS:
            assert again[name] == pytest.approx(row[name], abs=1e-10)
        for row, again in zip(result.scores, moved.scores, strict=True):
            assert again.ci_low == pytest.approx(row.ci_low + shift, abs=1e-10)
    # Quantiles of a jump may lie on either side of it in the mirror, so shares are compared.
    one = result._distribution.difference_sample(0, 1, 0)
    other = result._distribution.difference_sample(0, 0, 1)
    for value in np.linspace(-1, 1, 21):
        assert other.share_below(-value) == pytest.approx(1 - one.share_below(value), abs=1e-11)
    assert other.std() == pytest.approx(one.std(), abs=1e-11)


def test_clusters_of_one_row_and_copied_rows_change_nothing():
    scores = correctness(300)
    plain = exact(scores)
    alone = exact(scores, groups=np.arange(300))
    check_equal_tables(plain, alone)
    copied = exact(
        {name: np.repeat(values, 3) for name, values in scores.items()},
        groups=np.repeat(np.arange(300), 3),
    )
    check_equal_tables(plain, copied)
    assert copied.exact_by == "convolution"


def test_accuracy_and_other_means_of_predictions():
    y, old, new = np.random.default_rng(0).integers(0, 2, (3, 2000))
    found = compare_predictions(
        y, {"old": old, "new": new}, scoring="accuracy", n_resamples="exact"
    )
    scores = exact({"old": (old == y).astype(int), "new": (new == y).astype(int)})
    for name in NUMBERS:
        assert found.differences[0][name] == pytest.approx(scores.differences[0][name], abs=1e-12)
    with pytest.raises(
        ValueError, match="enumerated; beyond that only means over all rows are served"
    ):
        compare_predictions(y, {"old": old, "new": new}, scoring="f1", n_resamples="exact")


def test_margins_and_shares_of_the_baseline():
    scores = correctness(40, seed=3)
    for margins in ({"margin": 0.2}, {"margin_relative": 0.05}):
        check_equal_tables(exact(scores, **margins), by_convolution(scores, **margins), 1e-9)
    large = exact(correctness(5000), margin_relative=0.05)
    assert large.differences[0].margin == pytest.approx(0.05 * large.scores[0].estimate)


def test_it_says_what_it_is_and_survives_json():
    result = exact(correctness(1000), method="bca", margin_relative=0.1)
    words = " ".join(result.summary().split())
    assert "equally likely ones by convolution (exact to 1e-12; each model and difference" in words
    assert "smallest possible: 2e-12" in words
    assert "shared by all" not in words
    short = ComparisonResult.from_json(result.to_json())
    assert (short.exact_by, short.summary()) == ("convolution", result.summary())
    long = ComparisonResult.from_json(result.to_json(replicates=True))
    check_equal_tables(result, long, 0)
    again = result.replace(baseline="new", method="basic")
    check_equal_tables(again, long.replace(baseline="new", method="basic"), 0)
    assert again.differences[0].difference == -result.differences[0].difference
    assert exact({"a": [0, 1, 1], "b": [1, 1, 0]}).exact_by == "enumeration"
    assert compare_scores({"a": [0, 1, 1]}, n_resamples=99).exact_by is None


def test_what_needs_joint_resamples_says_so():
    scores = correctness(1000)
    result = exact(scores)
    for name, ask in (
        ("replicates", lambda: result.replicates),
        ("multiplicities", lambda: result.multiplicities),
        ("rank_distribution", result.rank_distribution),
    ):
        with pytest.raises(ValueError, match=f"no joint resamples, and `{name}` is not available"):
            ask()
    with pytest.raises(ValueError, match="`correction` must not be 'max-t' where distributions"):
        result.replace(correction="max-t")
    with pytest.raises(ValueError, match="Pass 'holm', or an integer `n_resamples`"):
        exact(scores, correction="max-t")


STEP = (
    "a convolution needs scores, or sums of them in clusters, that are whole multiples of a common "
    "step, not below 1/4,194,304 of their range"
)


@pytest.mark.parametrize(
    ("scores", "options", "reason"),
    [
        (np.random.default_rng(0).random(30), {}, STEP),
        (
            np.arange(30),
            {"sample_weight": np.arange(30)},
            "a convolution needs positive weights of all rows or clusters",
        ),
    ],
)
def test_refused_with_the_reason_and_the_remedy(scores, options, reason):
    with pytest.raises(ValueError, match=re.escape(f"that are enumerated; {reason}. Pass an int")):
        exact({"m": scores}, **options)


def test_refused_where_only_the_difference_or_the_work_is_too_much():
    whole, other = np.random.default_rng(0).integers(0, 7, (2, 40))
    with pytest.raises(
        ValueError, match=f"^`n_resamples` must be .* got 'exact': {re.escape(STEP)}"
    ):
        exact({"a": whole, "b": other * np.sqrt(2)})
    with pytest.raises(ValueError, match="a convolution would take [0-9,]+ points, and 4,194,304"):
        exact({"a": np.random.default_rng(0).integers(0, 4 * 10**6, 200)})


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_changes_nothing(scale):
    scores = correctness(400)
    plain = exact(scores).differences[0]
    scaled = exact({name: scale * values for name, values in scores.items()}).differences[0]
    for name in NUMBERS[:-1]:
        assert scaled[name] == pytest.approx(scale * plain[name], rel=1e-9)
    assert scaled.p_value == pytest.approx(plain.p_value, rel=1e-9)


def test_p_value_stops_at_what_is_claimed():
    old, new = np.repeat([[0, 1, 0, 1], [1, 0, 0, 1]], [900, 60, 20, 20], axis=1)
    row = exact({"old": old, "new": new}).differences[0]
    assert row.p_value == pytest.approx(2e-12, rel=1e-9, abs=0)
    assert row.verdict == "better"
