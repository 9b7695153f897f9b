"""When drawing may stop: exact binomial intervals, the risk simulated, and balanced halves."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

from sklearn_pairboot._engine.halves import N_HALVES, halves, standard_error
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._engine.stopping import (
    RISK,
    TOTALS,
    Bounds,
    decided,
    ends_known,
    p_bounds,
    spent,
)

ALONE = partial(adjust, correction=None)


def test_totals_are_fixed_and_give_round_tails():
    assert TOTALS[0] == 1999 and TOTALS[-1] == 127_999
    for total, following in zip(TOTALS[:-1], TOTALS[1:], strict=True):
        assert following + 1 == 2 * (total + 1)
        assert (total + 1) * 5 % 200 == 0  # alpha / 2 at 95 %


def test_the_risk_is_spent_by_gandys_sequence_and_never_all_of_it():
    shares = [spent(total) for total in TOTALS]
    assert shares == sorted(shares)
    assert shares[-1] < RISK == 1e-3
    assert spent(16_000) == RISK / 2


@pytest.mark.parametrize("tails", [1, 2])
@pytest.mark.parametrize("hits", [1, 37, 600])
def test_bounds_of_a_share_are_those_of_clopper_and_pearson(tails, hits):
    n, risk = 1999, 1e-4
    share = hits / n
    error = tails * np.sqrt(share * (1 - share) / n)
    found = p_bounds(np.array([tails * share]), np.array([error]), tails, risk, np.array([np.inf]))
    expected = stats.binomtest(hits, n).proportion_ci(1 - risk, method="exact")
    assert found.low[0] == pytest.approx(min(1, tails * expected.low), rel=1e-6)
    assert found.high[0] == pytest.approx(min(1, tails * expected.high), rel=1e-6)


def test_the_risk_is_shared_by_all_p_values_and_known_ones_have_no_room():
    p = np.array([0.04, 0.2, np.nan])
    errors = np.array([0.004, 0.0, np.nan])
    found = p_bounds(p, errors, 2, 1e-3, np.full(3, np.inf))
    alone = p_bounds(p[:1], errors[:1], 2, 5e-4, np.full(1, np.inf))
    assert (found.low[0], found.high[0]) == pytest.approx((alone.low[0], alone.high[0]))
    assert found.low[1] == found.high[1] == 0.2
    assert np.isnan(found.low[2]) and np.isnan(found.high[2])


def test_errors_that_are_estimated_make_bounds_wider():
    p, errors = np.array([0.04]), np.array([0.004])
    exact = p_bounds(p, errors, 2, 1e-3, np.array([np.inf]))
    estimated = p_bounds(p, errors, 2, 1e-3, np.array([32.0]))
    assert estimated.low[0] < exact.low[0] < exact.high[0] < estimated.high[0]


@pytest.mark.parametrize("p_value", [0.0495, 0.0502, 0.045])
def test_wrong_decisions_over_all_looks_are_rarer_than_the_risk(p_value):
    """10,000 runs at once, each with the whole risk of its own."""
    rng, runs = np.random.default_rng(3), 10_000
    hits, drawn, used = np.zeros(runs), 0, 0.0
    bounds: Bounds | None = None
    wrong = np.zeros(runs, dtype=bool)
    open_ = np.ones(runs, dtype=bool)
    for total in TOTALS:
        hits += rng.binomial(total - drawn, p_value / 2, runs)
        drawn = total
        share = hits / total
        errors = 2 * np.sqrt(share * (1 - share) / total)
        risk = (spent(total) - used) * runs
        used = spent(total)
        now = p_bounds(2 * share, errors, 2, risk, np.full(runs, np.inf))
        bounds = now if bounds is None else now.within(bounds)
        newly = open_ & decided(bounds, ALONE, 0.05)
        wrong |= newly & ((bounds.high <= 0.05) != (p_value <= 0.05))
        open_ &= ~newly
    assert wrong.sum() <= 10  # the number expected is at most 10, and far lower in truth
    if abs(p_value - 0.05) >= 0.005:
        assert open_.mean() < 0.05  # most are decided at all


def test_bounds_narrow_and_those_that_miss_each_other_are_not_crossed():
    old = Bounds(np.array([0.01, 0.01]), np.array([0.05, 0.02]))
    new = Bounds(np.array([0.02, 0.03]), np.array([0.06, 0.04]))
    found = new.within(old)
    assert found.low.tolist() == [0.02, 0.01]
    assert found.high.tolist() == [0.05, 0.02]


def test_decisions_are_those_of_the_adjusted_p_values():
    bounds = Bounds(np.array([0.020, 0.001]), np.array([0.030, 0.002]))
    assert decided(bounds, ALONE, 0.05).tolist() == [True, True]
    assert decided(bounds, partial(adjust, correction="holm"), 0.05).tolist() == [True, True]
    # Bonferroni doubles: 0.04 to 0.06.
    assert decided(bounds, partial(adjust, correction="bonferroni"), 0.05).tolist() == [False, True]
    nothing = Bounds(np.array([np.nan]), np.array([np.nan]))
    assert decided(nothing, ALONE, 0.05).tolist() == [True]


def test_ends_are_known_by_their_error_relative_to_the_standard_error():
    assert ends_known((0.04, 0.0), 1.0)
    assert not ends_known((0.041, 0.0), 1.0)
    assert not ends_known((np.nan, 0.0), 1.0)
    assert ends_known((0.0, 0.0), 0.0)


@pytest.mark.parametrize("n", [2, 39, 640, 1999])
def test_halves_are_balanced(n):
    chosen = halves(n)
    assert chosen.shape == (N_HALVES, n)
    assert np.all(np.abs(chosen.sum(axis=1) - n / 2) <= max(0.5, n / 64))
    if n == 640:  # 64 parts of 10
        assert np.all(chosen.sum(axis=1) == 320)
        signs = np.where(chosen[:, ::20], 1, -1)  # first parts of all pairs
        np.testing.assert_array_equal(signs.T @ signs, N_HALVES * np.eye(N_HALVES))


def test_error_of_a_mean_is_that_of_the_differences_within_pairs():
    values = np.random.default_rng(0).normal(size=640)
    of_halves = np.array([values[chosen].mean() for chosen in halves(640)])
    parts = values.reshape(32, 2, 10).mean(axis=2)
    expected = np.sqrt(np.sum((parts[:, 0] - parts[:, 1]) ** 2)) / 64
    found = standard_error(of_halves[:, None], np.array([values.mean()]))
    assert found[0] == pytest.approx(expected, rel=1e-12)


def test_open_ends_do_not_move():
    found = standard_error(np.array([[np.inf, np.inf]]), np.array([np.inf, 1.0]))
    assert found[0] == 0.0 and np.isnan(found[1])
