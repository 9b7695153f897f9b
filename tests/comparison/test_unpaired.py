"""Models resampled apart, for contrast: another hypothesis, with another spread."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot import ComparisonResult, compare_scores
from sklearn_pairboot._engine import independent
from sklearn_pairboot._engine.intervals import acceleration
from sklearn_pairboot.resampling import StratifiedBootstrap

OLD, NEW = [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]
TOLERANCE = 1e-12


def unpaired(scores, n_resamples="exact", **options):
    return compare_scores(scores, n_resamples=n_resamples, paired=False, **options)


def by_convolution(scores, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(independent, "MOST_VECTORS", 1)
        return unpaired(scores, **options)


def literal(a, b):
    """Differences of means, model by model of all pairs of sequences, in integers."""
    sums = [Counter(map(sum, itertools.product(x, repeat=len(x)))) for x in (a, b)]
    found = Counter()
    for (one, n_one), (other, n_other) in itertools.product(*(c.items() for c in sums)):
        found[Fraction(one - other, len(a))] += n_one * n_other
    return found


def distribution_of(result):
    sample = result._distribution.difference_sample(0, 1, 0)
    return sample.values, sample.multiplicities


@pytest.mark.parametrize("find", [unpaired, by_convolution])
@pytest.mark.parametrize(
    ("a", "b", "paired", "apart"),
    [
        ([1, 1, 0, 0], [1, 1, 0, 0], 0, 1 / 8),  # req_B04: alike in every row
        ([1, 1, 0, 0], [0, 0, 1, 1], 1 / 4, 1 / 8),  # req_B07: complementary
    ],
)
def test_req_A06_req_B04_req_B05_req_B06_req_B07_small_cases(find, a, b, paired, apart):
    result = find({"b": b, "a": a})
    values, counts = distribution_of(result)
    assert counts.dtype == np.int64
    assert counts.sum() == 65_536 == literal(a, b).total()
    expected = {float(value): count for value, count in literal(a, b).items()}
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == expected
    (row,) = result.differences
    assert row.std_error**2 == pytest.approx(apart, abs=TOLERANCE)
    assert sum(score.std_error**2 for score in result.scores) == pytest.approx(apart)
    together = compare_scores({"b": b, "a": a}, n_resamples="exact")
    assert together.n_units**together.n_units == 256 == together.multiplicities.sum()
    assert together.differences[0].std_error ** 2 == pytest.approx(paired, abs=TOLERANCE)


@pytest.mark.parametrize("find", [unpaired, by_convolution])
def test_five_rows_exactly(find):
    result = find({"old": OLD, "new": NEW})
    values, counts = distribution_of(result)
    assert counts.sum() == 9_765_625
    expected = {float(value): count for value, count in literal(NEW, OLD).items()}
    for value, count in zip(values, counts, strict=True):
        nearest = min(expected, key=lambda other, value=value: abs(other - value))
        assert (abs(nearest - value) < TOLERANCE, expected[nearest]) == (True, count)
    assert result.differences[0].std_error == pytest.approx(math.sqrt(12 / 125), abs=TOLERANCE)
    # req_A06: what is lost is twice the covariance of means, here -1/25/5, so this is less.
    paired = compare_scores({"old": OLD, "new": NEW}, n_resamples="exact").differences[0]
    lost = result.differences[0].std_error ** 2 - paired.std_error**2
    assert lost == pytest.approx(2 * np.cov(OLD, NEW, ddof=0)[0, 1] / 5, abs=TOLERANCE)


@given(st.lists(st.tuples(*2 * [st.integers(-2, 2)]), min_size=2, max_size=5))
@max_examples(25)
def test_enumeration_and_convolution_agree_and_mirror(rows):
    a, b = np.array(rows).T
    for method in ("percentile", "bca"):
        one = unpaired({"a": a, "b": b}, method=method)
        # Each score by itself is what it is when models are drawn together.
        together = compare_scores({"a": a, "b": b}, n_resamples="exact", method=method)
        np.testing.assert_equal(
            [row.asdict() for row in one.scores], [row.asdict() for row in together.scores]
        )
        other = by_convolution({"a": a, "b": b}, method=method)
        for row, again in zip(
            (*one.scores, *one.differences), (*other.scores, *other.differences), strict=True
        ):
            for name in ("std_error", "ci_low", "ci_high"):
                assert again[name] == pytest.approx(row[name], abs=1e-11)
        assert other.differences[0].p_value == pytest.approx(
            one.differences[0].p_value, rel=1e-9, nan_ok=True
        )
        (mirrored,) = unpaired({"b": b, "a": a}, method=method).differences
        (row,) = one.differences
        assert mirrored.difference == -row.difference
        assert (mirrored.ci_low, mirrored.ci_high) == pytest.approx(
            (-row.ci_high, -row.ci_low), abs=1e-11
        )


@np.errstate(divide="ignore")  # of scipy before 1.12, far out in the tails
def test_beyond_enumeration_it_is_the_difference_of_two_binomials():
    rng = np.random.default_rng(2)
    a, b = (rng.random((2, 3000)) < [[0.6], [0.62]]).astype(int)
    result = unpaired({"a": a, "b": b})
    assert result.exact_by == "convolution"
    values, shares = distribution_of(result)
    n, grid = 3000, np.arange(3001)
    of_a, of_b = (stats.binom.pmf(grid, n, x.mean()) for x in (a, b))
    expected = np.convolve(of_b, of_a[::-1])
    places = np.rint(values * n).astype(int) + n
    np.testing.assert_allclose(shares, expected[places], rtol=0, atol=2e-12)
    apart = math.sqrt((a.var() + b.var()) / n)
    assert result.differences[0].std_error == pytest.approx(apart, rel=1e-9)


def test_random_draws_are_independent_of_each_other():
    rng = np.random.default_rng(0)
    scores = {"a": rng.random(50)}
    scores["b"] = scores["a"] + rng.normal(0, 0.1, 50)
    result = unpaired(scores, 20_000, random_state=1)
    one, other = result.replicates[:, 0].T
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(20_000)
    apart = math.sqrt(sum(values.var() for values in scores.values()) / 50)
    assert result.differences[0].std_error == pytest.approx(apart, rel=0.03)
    again = unpaired(scores, 20_000, random_state=1, n_jobs=2)
    np.testing.assert_array_equal(again.replicates, result.replicates)
    alike = unpaired({"a": scores["a"], "b": scores["a"]}, 999, random_state=0)
    assert alike.differences[0].std_error > 0
    assert compare_scores(
        {"a": scores["a"], "b": scores["a"]}, n_resamples=999
    ).differences[0].std_error == 0  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"groups": [0, 0, 1, 2, 2, 2, 3, 4, 4, 5]}])
def test_random_draws_approach_the_exact_distribution(options):
    rng = np.random.default_rng(5)
    scores = {name: rng.integers(0, 4, 10) for name in "ab"}
    drawn = unpaired(scores, 100_000, random_state=0, **options).differences[0]
    exact = unpaired(scores, **options).differences[0]
    assert drawn.std_error == pytest.approx(exact.std_error, rel=0.015)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.01)


def test_acceleration_is_that_of_two_samples():
    # Efron and Tibshirani, chapter 14: units of both samples are left out one by one, as in R's
    # boot with two strata. Here by definition, from means of literally shortened samples.
    rng = np.random.default_rng(1)
    a, b = rng.exponential(size=(2, 12))
    cluster = np.arange(12) // 2
    stratum = cluster // 3
    for units, options in (
        (np.arange(12), {}),
        (cluster, {"groups": cluster}),
        (cluster, {"groups": cluster, "resampling": StratifiedBootstrap(stratum)}),
    ):
        labels = np.unique(units)
        left_out = [b[units != one].mean() - a.mean() for one in labels]
        left_out += [b.mean() - a[units != one].mean() for one in labels]
        strata = np.array([stratum[units == one][0] for one in labels])
        strata = strata * ("resampling" in options)
        strata = np.concatenate([strata, strata + strata.max() + 1])
        centred = np.array(left_out)
        sizes = np.bincount(strata)[strata]
        influence = (np.bincount(strata, centred) / np.bincount(strata))[strata] - centred
        influence *= (sizes - 1) / sizes
        expected = np.sum(influence**3) / np.sum(influence**2) ** 1.5 / 6
        assert acceleration(left_out, strata) == pytest.approx(expected)
        result = unpaired({"a": a, "b": b}, 99, random_state=0, **options)
        assert result._distribution.acceleration(0, 1, 0) == pytest.approx(expected)
        whole = {"a": np.round(8 * a), "b": np.round(8 * b)}
        convolved = by_convolution(whole, **options)._distribution
        drawn = unpaired(whole, 99, **options)._distribution
        assert convolved.acceleration(0, 1, 0) == pytest.approx(drawn.acceleration(0, 1, 0))


def test_it_says_which_hypothesis_this_is():
    scores = {"old": OLD * 4, "new": NEW * 4}
    for n_resamples in (199, "exact"):
        result = unpaired(scores, n_resamples, random_state=0)
        assert not result.paired
        for text in (result.summary(), result.to_markdown()):
            words = " ".join(text.split())
            assert "Unpaired bootstrap of 2 models" in words
            assert "Paired" not in words
            assert "independent samples of items" in words
            assert "another hypothesis" in words
            assert "Var(b - a) = Var(b) + Var(a) - 2 Cov(a, b)" in words.replace("\\", "")
            assert "overstated or understated" in words
            assert "drawn anew for each model" in words
            assert "shared by all" not in words
        for replicates in (False, True):
            again = ComparisonResult.from_json(result.to_json(replicates))
            assert not again.paired
            assert again.summary() == result.summary()
        replaced = result.replace(method="bca", baseline="new")
        stored = again.replace(method="bca", baseline="new")
        assert not replaced.paired
        np.testing.assert_equal(
            [row.asdict() for row in stored.differences],
            [row.asdict() for row in replaced.differences],
        )
    alone = unpaired({"a": OLD * 4})
    assert "Pairing" not in alone.summary()
    assert compare_scores(scores, n_resamples=99).paired


def test_several_models_margins_and_joint_corrections():
    rng = np.random.default_rng(0)
    scores = {name: rng.integers(0, 2, 40) for name in "abc"}
    result = unpaired(scores, 999, correction="max-t", pairs="all", margin=0.2, random_state=0)
    assert len(result.differences) == 3
    assert result.rank_distribution().rows[0].mean_rank > 0
    exact = unpaired(scores, margin_relative=0.5)
    assert exact.exact_by == "enumeration"
    more = by_convolution(scores, margin_relative=0.5)
    for row, again in zip(exact.differences, more.differences, strict=True):
        assert again.p_equivalence == pytest.approx(row.p_equivalence, rel=1e-9)
    with pytest.raises(ValueError, match="`correction` must not be 'max-t'"):
        by_convolution(scores, correction="max-t")


def test_refusals():
    scores = {"old": OLD, "new": NEW}
    with pytest.raises(TypeError, match=r"^`paired` must be True or False, got 1\.$"):
        compare_scores(scores, paired=1)
    with pytest.raises(ValueError, match="^`permutation` must be False with `paired=False`"):
        unpaired(scores, 99, permutation=True)
    with pytest.raises(ValueError, match="only where all rows, or clusters, have the same weight"):
        by_convolution(scores, sample_weight=[1, 2, 1, 2, 1])
    with pytest.raises(ValueError, match="more than 2,000,000 different resamples of 30 units"):
        unpaired({name: np.random.default_rng(0).random(30) for name in "ab"})


def numbers_of(shared):
    return json.loads((shared / "reference" / "exact.json").read_text())


def test_five_hundred_rows_paired_and_apart(shared):
    given = numbers_of(shared)["independent_vs_paired_500"]
    arrays = np.load(shared / "reference" / "arrays" / "paired.npz")
    means = {name: arrays[name].mean() for name in ("a", "b")}
    better = next(k for k, mean in means.items() if mean == given["pA"]["float"])
    other = {"a": "b", "b": "a"}[better]
    assert means[other] == given["pB"]["float"]
    scores = {"other": arrays[other], "better": arrays[better]}
    for result, name in (
        (compare_scores(scores, n_resamples="exact"), "paired"),
        (unpaired(scores), "independent"),
    ):
        (row,) = result.differences
        assert row.difference == pytest.approx(given["diff"]["float"], abs=TOLERANCE)
        assert row.std_error == pytest.approx(given[f"se_{name}"], rel=1e-9)
        z = {"paired": "z_paired_wald"}.get(name, f"z_{name}")
        assert row.difference / row.std_error == pytest.approx(given[z], rel=1e-9)


def test_one_model_of_five_hundred_rows(shared):
    correct = np.load(shared / "reference" / "arrays" / "bootstrap.npz")["correct"]
    (row,) = compare_scores({"m": correct}, n_resamples="exact").scores
    assert row.estimate == pytest.approx(0.614)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.570, 0.656), abs=0.0021)


def test_five_rows_and_shared_indices(shared):
    numbers = numbers_of(shared)
    cases = [
        ({"old": OLD, "new": NEW}, numbers["paired_bootstrap_of_a_mean"]["unpaired"]),
        *(
            ({"b": case["b"], "a": case["a"]}, case["independent"])
            for name in ("identical", "complementary")
            if (case := numbers["shared_indices"][name])
        ),
    ]
    for (scores, case), find in itertools.product(cases, (unpaired, by_convolution)):
        for level, ends in case["ci"].items():
            (row,) = find(scores, confidence_level=float(level)).differences
            expected = [end["float"] for end in ends["linear"]]
            assert [row.ci_low, row.ci_high] == pytest.approx(expected, abs=TOLERANCE)
            assert row.std_error == pytest.approx(case["sd"], abs=TOLERANCE)
