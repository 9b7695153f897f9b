"""Block lengths against another implementation of the rule of Politis and White."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._engine.block_length import block_lengths


def autoregression(phi, n):
    noise = np.random.RandomState(0).standard_normal(n)
    series = np.zeros(n)
    for time in range(1, n):
        series[time] = phi * series[time - 1] + noise[time]
    return series


# arch 8.0.0: arch.bootstrap.optimal_block_length(autoregression(phi, n)), columns stationary and
# circular. arch does not keep lengths below 1 from falling there. (For phi = 0.7, n = 1000 it
# stops at another lag, as it divides autocovariances by other variances than the series'.)
@pytest.mark.parametrize(
    ("phi", "n", "stationary", "circular"),
    [
        (-0.4, 60, 1.7959604357921894, 2.055861489913608),
        (-0.4, 200, 1.4193704313921913, 1.6247735482737085),
        (-0.4, 1000, 9.751073681049549, 11.162192922884364),
        (0.0, 60, 1.0703484953911044, 1.2252431671697264),
        (0.0, 200, 0.9448579220869903, 1.0815923206023244),
        (0.0, 1000, 1.4813055598403648, 1.6956715719227025),
        (0.3, 60, 2.6759678847313038, 3.0632185502672358),
        (0.3, 200, 5.043499153770208, 5.773365313626434),
        (0.3, 1000, 7.295071117452672, 8.350771808587524),
        (0.7, 60, 9.595702991816404, 10.984337882043855),
        (0.7, 200, 18.302500478731353, 20.951132972342954),
        (0.9, 60, 10.290508565337662, 11.779691717859075),
        (0.9, 200, 20.509952594610485, 23.478034849144287),
        (0.9, 1000, 43.92037570213303, 50.276279604524966),
    ],
)
def test_lengths_equal_those_of_arch(phi, n, stationary, circular):
    found = block_lengths(autoregression(phi, n))
    assert found.stationary == pytest.approx(max(1.0, stationary), rel=1e-10)
    assert found.circular == pytest.approx(max(1.0, circular), rel=1e-10)


def test_a_constant_series_needs_no_blocks():
    assert block_lengths(np.full(50, 0.1)) == (1.0, 1.0)
    assert block_lengths(np.zeros(50)) == (1.0, 1.0)


# Made in the same way.
@pytest.mark.parametrize(
    ("series", "stationary", "circular"),
    [
        (np.arange(30.0), 6.662832945264734, 7.627039768198105),
        (np.arange(200.0), 22.16852936772538, 25.37663130369705),
        (np.cos(0.1 * np.arange(100)), 12.904381082284106, 14.771828816226394),
        ((-1.0) ** np.arange(100), 15.62093429188923, 17.88150596591535),
        (np.cos(0.3 * np.arange(200)), 43, 43),  # the longest: 3 sqrt(200), rounded up
    ],
)
def test_lengths_of_trends_and_waves(series, stationary, circular):
    np.testing.assert_allclose(block_lengths(series), (stationary, circular), rtol=1e-10)


def test_short_series_have_lengths_too():
    for n in (2, 3, 5, 9):
        series = np.arange(float(n)) ** 2
        assert 1 <= block_lengths(series).circular <= max(1, np.ceil(n / 3))


@given(st.floats(-1e3, 1e3), st.floats(0.01, 1e3), st.booleans())
def test_lengths_know_no_units(shift, factor, backwards):
    series = autoregression(0.5, 80)
    changed = shift + factor * (series[::-1] if backwards else series)
    np.testing.assert_allclose(block_lengths(changed), block_lengths(series), rtol=1e-6)
