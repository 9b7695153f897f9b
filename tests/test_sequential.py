"""Levels of repeated looks against published boundaries and simulated random walks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot import compare_scores
from sklearn_pairboot.planning import group_sequential_levels

# Two-sided, 5 %, five equal looks: the worked example of Lan and DeMets' program, by Reboussin,
# DeMets, Kim and Lan (2000), Controlled Clinical Trials 21, 190-207.
PUBLISHED = {
    "obrien-fleming": [4.877, 3.357, 2.680, 2.290, 2.031],
    "pocock": [2.438, 2.427, 2.410, 2.397, 2.386],
}


@pytest.mark.parametrize("spending", PUBLISHED)
def test_five_looks_have_the_published_boundaries(spending):
    found = group_sequential_levels(5, spending=spending)
    np.testing.assert_allclose(found.critical_values, PUBLISHED[spending], atol=6e-4)


def test_unequal_looks_on_one_side_have_those_of_gsdesign():
    # R, gsDesign: gsDesign(alpha = .025, k = 3, test.type = 1, sfu = sfLDOF,
    #                       timing = c(.5, .75, 1))$upper$bound
    found = group_sequential_levels([0.5, 0.75, 1], alpha=0.025, alternative="one-sided")
    np.testing.assert_allclose(found.critical_values, [2.962588, 2.359018, 2.014084], atol=2e-6)


@settings(max_examples=10)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6, unique=True),
    st.sampled_from([0.01, 0.05, 0.1]),
    st.sampled_from(["obrien-fleming", "pocock"]),
    st.sampled_from(["two-sided", "one-sided"]),
)
def test_all_of_alpha_is_spent_and_no_more(looks, alpha, spending, alternative):
    fractions = np.sort(looks) / max(looks)
    found = group_sequential_levels(
        fractions, alpha=alpha, spending=spending, alternative=alternative
    )
    assert found.spent[-1] == pytest.approx(alpha, rel=1e-12)
    assert np.all(np.diff(found.spent) > 0)
    spent_here = np.diff(found.spent, prepend=0.0)
    # A look tests at its own level at least what it adds, and less than alpha.
    assert np.all(np.array(found.alphas) >= spent_here * (1 - 1e-9))
    assert np.all(np.array(found.alphas) <= alpha * (1 + 1e-9))
    assert found.alphas[0] == pytest.approx(found.spent[0], rel=1e-6, abs=1e-290)
    sides = 2 if alternative == "two-sided" else 1
    np.testing.assert_allclose(found.alphas, sides * stats.norm.sf(found.critical_values))
    np.testing.assert_allclose(found.confidence_levels, 1 - np.array(found.alphas))


def test_two_looks_are_a_bivariate_normal_probability():
    found = group_sequential_levels([0.4, 1], spending="pocock")
    a, b = found.critical_values
    root = np.sqrt(0.4)
    joint = stats.multivariate_normal([0, 0], [[1, root], [root, 1]])
    inside = joint.cdf([a, b]) - joint.cdf([-a, b]) - joint.cdf([a, -b]) + joint.cdf([-a, -b])
    assert 1 - inside == pytest.approx(0.05, abs=1e-6)


def test_one_look_is_an_ordinary_test():
    for spending in PUBLISHED:
        assert group_sequential_levels(1, spending=spending).alphas == pytest.approx((0.05,))


@pytest.mark.parametrize("spending", PUBLISHED)
def test_req_c22_looking_five_times_keeps_the_error_only_at_these_levels(spending):
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(100_000, 5)).cumsum(axis=1) / np.sqrt(np.arange(1, 6))
    critical = group_sequential_levels(5, spending=spending).critical_values
    rejected = np.any(np.abs(walks) >= critical, axis=1).mean()
    assert rejected == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 100_000))
    # The same five looks at 5 % each: 14.2 % (Armitage, McPherson and Rowe 1969, table 2).
    uncorrected = np.any(np.abs(walks) >= stats.norm.isf(0.025), axis=1).mean()
    assert uncorrected == pytest.approx(0.142, abs=0.004)


def test_a_comparison_takes_the_level_of_its_look():
    levels = group_sequential_levels([0.5, 1], spending="pocock")
    rng = np.random.default_rng(0)
    scores = {"old": rng.normal(size=50), "new": rng.normal(0.5, size=50)}
    level = levels.confidence_levels[0]
    result = compare_scores(scores, confidence_level=level, n_resamples=999, random_state=0)
    row = result.differences[0]
    assert (row.p_value <= levels.alphas[0] * (1 + 1e-12)) == (row.ci_low > 0 or row.ci_high < 0)
    wider = row.ci_high - row.ci_low
    usual = result.replace(confidence_level=0.95).differences[0]
    assert wider > usual.ci_high - usual.ci_low


def test_req_c22_req_a29_every_comparison_says_that_one_look_is_assumed():
    scores = {"old": [1, 0, 1, 0, 1, 1, 0], "new": [1, 1, 1, 0, 1, 1, 1]}
    text = " ".join(compare_scores(scores, n_resamples=99, random_state=0).summary().split())
    assert (
        "Looks one is assumed, on rows that chose no model: testing again as rows come in needs "
        "the levels of planning.group_sequential_levels"
    ) in text
    alone = compare_scores({"old": scores["old"]}, n_resamples=99, random_state=0).summary()
    assert "Looks" not in alone


@pytest.mark.parametrize(
    ("looks", "keywords", "message"),
    [
        (0, {}, "`looks` must be a number of looks, at least 1"),
        (51, {}, "`looks` must be at most 50, got 51"),
        ([], {}, "`looks` must be a number of looks"),
        ("five", {}, "`looks` must be a number of looks"),
        ([0.5, 0.25, 1], {}, "`looks` must be ascending shares"),
        ([0.5, 0.9], {}, "ending with 1"),
        ([0.0, 1], {}, "above 0"),
        ([float("nan"), 1], {}, "ascending"),
        (3, {"alpha": 0.6}, "`alpha` must be below 0.5, got 0.6"),
        (3, {"alpha": 5}, "`alpha` must be"),
        (3, {"spending": "even"}, "`spending` must be one of"),
        (3, {"alternative": "better"}, "`alternative` must be one of"),
    ],
)
def test_bad_plans_are_refused(looks, keywords, message):
    with pytest.raises((ValueError, TypeError), match=message):
        group_sequential_levels(looks, **keywords)


def test_levels_are_printed_a_line_a_look():
    """Critical values of five looks as Lan and DeMets have them."""
    heading, first, *_, last = str(group_sequential_levels(5)).splitlines()
    assert heading == (
        "Looks at a growing test set (two-sided, obrien-fleming spending), 0.05 of error in all:"
    )
    assert first.startswith("  20 % of the data: p <= ")
    assert "4.88 standard errors" in first
    assert last.startswith("  100 % of the data: p <= 0.0423, ")
    thirds = str(group_sequential_levels(3, alternative="one-sided")).splitlines()
    assert thirds[1].startswith("  33.3 % of the data: p <= ")
