"""Counts against the multinomial law: enumerated for few units, by moments for many."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, SFC64, Generator, SeedSequence
from numpy.typing import NDArray
from scipy import stats

from sklearn_pairboot._engine import counts as counts_module
from sklearn_pairboot._engine.counts import (
    CountSource,
    add_draws,
    choose_block_size,
    draw_counts,
    draw_counts_directly,
    draw_merged_counts,
    most_to_merge,
)
from sklearn_pairboot._engine.exact import count_vectors

N_RESAMPLES = 30_000
ALMOST_IMPOSSIBLE = 1e-12  # p-value of a wrong law
PLAUSIBLE = 1e-3  # p-value of the right law, with these fixed seeds

Counts = NDArray[Any]


def joint_p_value(
    drawn: Counts, multiplicity: list[int], stratum: list[int] | None = None
) -> float:
    """Chi-square test of whole vectors of counts against their enumerated law."""
    law = count_vectors(np.array(multiplicity), None if stratum is None else np.array(stratum))
    # A vector as the digits of a number, in a base above every count.
    base = (sum(multiplicity) + 1) ** np.arange(len(multiplicity))
    possible = law.counts @ base
    order = np.argsort(possible)
    place = order[np.searchsorted(possible, drawn @ base, sorter=order)]
    assert (law.counts[place] == drawn).all(), "a vector that cannot occur"
    observed = np.bincount(place, minlength=len(possible))
    expected = law.multiplicities / law.total * len(drawn)
    assert expected.min() > 5.0
    return float(stats.chisquare(observed, expected).pvalue)


def draw_wrongly(generator: Generator, n_units: int, surplus_by_count: bool) -> Counts:
    """Conditional Poisson row by row, the surplus taken from units that are not yet empty.

    Right where a unit is chosen in proportion to its count, wrong where all are alike.
    """
    drawn = generator.poisson(1.0, size=(N_RESAMPLES, n_units))
    for row in drawn:
        for _ in range(n_units - row.sum()):
            row[generator.integers(n_units)] += 1
        for _ in range(row.sum() - n_units):
            shares = row if surplus_by_count else row > 0
            row[generator.choice(n_units, p=shares / shares.sum())] -= 1
    return drawn


@pytest.mark.newest
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0, None])
@pytest.mark.parametrize("n_units", [1, 2, 3, 4])
def test_joint_law(n_units: int, rate: float | None) -> None:
    bit_generator = PCG64(20) if rate == 1.0 and n_units == 3 else SFC64(20)
    drawn = draw_counts(bit_generator, n_units, N_RESAMPLES, rate=rate)
    assert drawn.dtype == np.uint8
    assert drawn.shape == (N_RESAMPLES, n_units)
    if n_units == 1:
        assert (drawn == 1).all()
    else:
        assert joint_p_value(drawn, [1] * n_units) > PLAUSIBLE


@pytest.mark.newest
@pytest.mark.parametrize("surplus_by_count", [True, False])
def test_joint_law_rejects_surplus_removed_wrongly(surplus_by_count: bool) -> None:
    p_value = joint_p_value(draw_wrongly(np.random.default_rng(3), 3, surplus_by_count), [1] * 3)
    if surplus_by_count:
        assert p_value > PLAUSIBLE
    else:
        assert p_value < ALMOST_IMPOSSIBLE


def test_case_C11_no_resample_is_empty() -> None:
    """Poisson weights that are not brought to the total n leave all of n = 3 units out at times."""
    drawn = np.random.default_rng(4).poisson(1.0, size=(N_RESAMPLES, 3))
    empty = (drawn.sum(axis=1) == 0).mean()
    assert empty == pytest.approx(np.exp(-3.0), abs=4.0 * np.sqrt(0.05 / N_RESAMPLES))
    assert (draw_counts(SFC64(4), 3, N_RESAMPLES, rate=1.0).sum(axis=1) == 3).all()


def first_counts(tables: Any) -> Counts:
    """First count of every byte."""
    counts = np.empty(256, dtype=np.uint8)
    counts_module._count_rises(
        np.arange(256, dtype=np.uint8), tables.rises, counts, np.empty(256, dtype=np.bool_)
    )
    return counts


@pytest.mark.parametrize("rises", [[1], [0, 0, 7, 255], [3, 3, 3], [96, 191, 238, 253]])
def test_rises_reached_by_each_byte(rises: list[int]) -> None:
    drawn = Generator(SFC64(1)).integers(0, 256, 1000, dtype=np.uint8)
    counts = np.full(1000, 9, dtype=np.uint8)
    room = np.ones(2000, dtype=np.bool_)
    counts_module._count_rises(drawn, np.array(rises, dtype=np.uint8), counts, room)
    assert counts.tolist() == [sum(int(byte) >= rise for rise in rises) for byte in drawn]


@pytest.mark.parametrize("largest", [0, 1, 9, 200, 254])
@pytest.mark.parametrize("n_units", [1, 31, 32, 1000, 9000, 20_011])
def test_totals_of_units_in_narrow_types(n_units: int, largest: int) -> None:
    rng = np.random.default_rng(n_units)
    counts = rng.integers(0, largest + 1, (n_units, 5), dtype=np.uint8)
    counts[:, 0] = largest  # no sum is larger
    assert counts_module._sum_units(counts).tolist() == counts.astype(int).sum(axis=0).tolist()


@pytest.mark.parametrize("rate", [0.25, 0.5625, 0.965, 1.0, 2.0, 16.0])
def test_tables_make_up_the_poisson_law(rate: float) -> None:
    tables = counts_module._make_poisson_tables(rate)
    assert len(tables.second) == 256
    first = np.bincount(first_counts(tables), minlength=256) / 256
    second = np.bincount(np.frombuffer(tables.second, np.uint8), minlength=256) / 256
    last = np.diff(tables.cumulative, prepend=0.0)
    again = second[: last.size] + second[255] * last
    law = (1 - tables.redrawn) * first[: last.size] + tables.redrawn * again
    expected = stats.poisson.pmf(np.arange(last.size), rate)
    np.testing.assert_allclose(law, expected, rtol=1e-9, atol=1e-16)
    assert stats.poisson.sf(last.size - 1, rate) < 1e-25


def test_poisson_counts() -> None:
    drawn = counts_module._draw_poisson(Generator(SFC64(5)), 4_000_000, 0.9)
    observed = np.bincount(np.minimum(drawn, 9), minlength=10)
    expected = drawn.size * np.append(stats.poisson.pmf(np.arange(9), 0.9), 0.0)
    expected[9] = drawn.size * stats.poisson.sf(8, 0.9)
    assert stats.chisquare(observed, expected).pvalue > PLAUSIBLE
    # The same test sees the second table left out, and the last step left out.
    rounded = first_counts(counts_module._make_poisson_tables(0.9))
    shares = np.bincount(rounded, minlength=10) / 256
    assert stats.chisquare(shares * drawn.size, expected).pvalue < ALMOST_IMPOSSIBLE
    assert drawn.max() > rounded.max()


@pytest.mark.parametrize("n_units", [100, 1000])
def test_moments_of_many_units(n_units: int) -> None:
    n_resamples = 4_000_000 // n_units
    drawn = draw_counts(SFC64(6), n_units, n_resamples).astype(np.int64)
    assert (drawn.sum(axis=1) == n_units).all()

    # Every unit alike: the column totals are one multinomial draw.
    assert stats.chisquare(drawn.sum(axis=0)).pvalue > PLAUSIBLE

    # Variance 1 - 1/n: sum (c - 1)^2 is Pearson's statistic, of known mean and variance.
    pearson = ((drawn - 1) ** 2).sum(axis=1)
    standard_error = np.sqrt(2.0 * (n_units - 1) ** 2 / n_units / n_resamples)
    assert abs(pearson.mean() - (n_units - 1)) < 4.0 * standard_error

    # Covariance -1/n, between neighbours and between halves.
    for shift in (1, n_units // 2):
        products = ((drawn - 1) * (np.roll(drawn, shift, axis=1) - 1)).mean(axis=1)
        standard_error = products.std(ddof=1) / np.sqrt(n_resamples)
        assert abs(products.mean() + 1.0 / n_units) < 4.0 * standard_error
    half = drawn[:, : n_units // 2].sum(axis=1)
    standard_error = n_units / 4.0 * np.sqrt(2.0 / n_resamples)
    assert abs(half.var() - n_units / 4.0) < 4.0 * standard_error
    assert n_units / 4.0 > 4.0 * standard_error  # that of Poisson weights: twice as large


@pytest.mark.parametrize("unit", [0, 77, 199])
def test_marginal_law_at_the_rate_in_use(unit: int) -> None:
    drawn = draw_counts(SFC64(7), 200, 40_000)[:, unit]
    observed = np.bincount(np.minimum(drawn, 5), minlength=6)
    law = stats.binom(200, 1.0 / 200)
    expected = drawn.size * np.append(law.pmf(np.arange(5)), law.sf(4))
    assert stats.chisquare(observed, expected).pvalue > PLAUSIBLE


@pytest.mark.parametrize("n_units", [1, 2, 5, 63, 64, 65, 1000, 70_001, 300_000])
def test_totals_shape_and_type(n_units: int) -> None:
    drawn = draw_counts(SFC64(8), n_units, 3)
    assert drawn.shape == (3, n_units)
    assert drawn.dtype == np.uint8
    assert (drawn.sum(axis=1, dtype=np.int64) == n_units).all()


def test_surplus_of_many_units() -> None:
    drawn = draw_counts(SFC64(9), 1000, 40, rate=1.1)
    assert (drawn.sum(axis=1, dtype=np.int64) == 1000).all()


@pytest.mark.parametrize("rate", [0.0, -1.0, 17.0, float("nan")])
def test_rate_out_of_range(rate: float) -> None:
    with pytest.raises(ValueError, match=r"^`rate` must be between 0.01 and 16.0, got"):
        draw_counts(SFC64(0), 5, 2, rate=rate)


def test_many_additions_to_one_unit_widen_the_counts() -> None:
    start = np.array([[3, 1, 0], [0, 0, 200]], dtype=np.uint8)
    positions = np.array([0] * 300 + [1] + [5] * 55)
    wide = add_draws(start.copy(), positions, most_of_resample=301)
    assert wide.dtype == np.uint32
    assert wide.tolist() == [[303, 2, 0], [0, 0, 255]]
    # Without the check the count starts again at zero.
    np.add.at(start.reshape(-1), positions, np.uint8(1))
    assert start[0, 0] == 303 - 256
    # What fits stays narrow, to the last one.
    narrow = add_draws(np.zeros((2, 3), dtype=np.uint8), np.full(255, 4), most_of_resample=255)
    assert narrow.dtype == np.uint8
    assert narrow.tolist() == [[0, 0, 0], [0, 255, 0]]


def test_many_additions_spread_over_many_units_stay_narrow() -> None:
    added = add_draws(np.ones((1, 1000), dtype=np.uint8), np.arange(1000), most_of_resample=1000)
    assert added.dtype == np.uint8
    assert (added == 2).all()


def test_no_additions() -> None:
    nowhere = np.empty(0, dtype=np.int64)
    added = add_draws(np.ones((2, 2), dtype=np.uint8), nowhere, most_of_resample=0)
    assert added.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("n_units", [2, 3, 4])
def test_joint_law_of_direct_draws(n_units: int) -> None:
    drawn = draw_counts_directly(np.random.default_rng(10), n_units, N_RESAMPLES)
    assert joint_p_value(drawn, [1] * n_units) > PLAUSIBLE


@pytest.mark.parametrize(
    ("n_units", "dtype"), [(1, np.uint8), (63, np.uint8), (300, np.uint16), (70_000, np.uint32)]
)
def test_direct_draws_have_room_for_every_count(n_units: int, dtype: type) -> None:
    drawn = draw_counts_directly(np.random.default_rng(11), n_units, 2)
    assert drawn.dtype == dtype
    assert (drawn.sum(axis=1, dtype=np.int64) == n_units).all()


@pytest.mark.parametrize("multiplicity", [[2, 1], [1, 3, 1], [1, 2]])
def test_joint_law_of_merged_draws(multiplicity: list[int]) -> None:
    drawn = draw_merged_counts(np.random.default_rng(12), np.array(multiplicity), N_RESAMPLES)
    assert joint_p_value(drawn, multiplicity) > PLAUSIBLE
    # Counts given to the wrong units would be seen.
    assert joint_p_value(np.roll(drawn, 1, axis=1), multiplicity) < ALMOST_IMPOSSIBLE


def test_one_merged_unit() -> None:
    drawn = draw_merged_counts(np.random.default_rng(12), np.array([4]), 5)
    assert drawn.tolist() == [[4]] * 5


def draw_blocks(source: CountSource, n_resamples: int) -> Counts:
    n_blocks = -(-n_resamples // source.block_size)
    blocks = [source.draw(SeedSequence(13, spawn_key=(block,))) for block in range(n_blocks)]
    return np.concatenate(blocks)[:n_resamples]


@pytest.mark.parametrize("direct_below", [64, 0])
@pytest.mark.parametrize("stratum", [None, [0, 0, 0, 0], [0, 1, 0, 1, 1], [1, 0, 2, 1, 2, 3]])
def test_joint_law_of_strata(
    monkeypatch: pytest.MonkeyPatch, stratum: list[int] | None, direct_below: int
) -> None:
    monkeypatch.setattr(counts_module, "_DIRECT_BELOW", direct_below)
    n_units = 3 if stratum is None else len(stratum)
    source = CountSource(n_units, stratum=None if stratum is None else np.array(stratum))
    drawn = draw_blocks(source, N_RESAMPLES)
    assert joint_p_value(drawn, [1] * n_units, stratum) > PLAUSIBLE


@pytest.mark.parametrize(
    ("multiplicity", "stratum"),
    [([2, 1], None), ([1, 2, 2, 1], [0, 1, 0, 1]), ([2, 3, 1, 1], [2, 0, 1, 1])],
)
def test_joint_law_of_merged_strata(multiplicity: list[int], stratum: list[int] | None) -> None:
    source = CountSource(
        len(multiplicity),
        stratum=None if stratum is None else np.array(stratum),
        multiplicity=np.array(multiplicity),
    )
    assert joint_p_value(draw_blocks(source, N_RESAMPLES), multiplicity, stratum) > PLAUSIBLE
    assert source.multiplicities.tolist() == multiplicity


def test_totals_of_strata_of_all_routes() -> None:
    sizes = [1, 200, 2, 30, 1, 200, 64, 2]
    stratum = np.random.default_rng(14).permutation(np.repeat(np.arange(8), sizes))
    source = CountSource(stratum.size, stratum=stratum)
    drawn = source.draw(SeedSequence(15))
    assert drawn.shape == (source.block_size, 500)
    for number, size in enumerate(sizes):
        columns = drawn[:, stratum == number]
        assert (columns.sum(axis=1, dtype=np.int64) == size).all()
        assert size == 1 or columns.max() > 1
    assert (source.multiplicities == 1).all()


def test_ten_thousand_pairs() -> None:
    stratum = np.tile(np.arange(10_000), 2)
    drawn = CountSource(20_000, stratum=stratum).draw(SeedSequence(16))
    assert (drawn[:, :10_000] + drawn[:, 10_000:] == 2).all()
    observed = np.bincount(drawn[:, :10_000].reshape(-1), minlength=3)
    expected = observed.sum() * np.array([0.25, 0.5, 0.25])
    assert stats.chisquare(observed, expected).pvalue > PLAUSIBLE


def test_one_stratum_is_no_stratum() -> None:
    seed = SeedSequence(17)
    for n_units in (1, 10, 100):
        plain = CountSource(n_units)
        one = CountSource(n_units, stratum=np.zeros(n_units, dtype=np.int64))
        np.testing.assert_array_equal(plain.draw(seed), one.draw(seed))


MAKE_SOURCE: list[Callable[[], CountSource]] = [
    lambda: CountSource(7),
    lambda: CountSource(1000),
    lambda: CountSource(200, stratum=np.arange(200) % 3),
    lambda: CountSource(3, multiplicity=np.array([10, 5, 1])),
    lambda: CountSource(3, stratum=np.array([0, 1, 0]), multiplicity=np.array([10, 5, 1])),
]


@pytest.mark.parametrize("make", MAKE_SOURCE)
def test_a_block_depends_on_its_seed_alone(make: Callable[[], CountSource]) -> None:
    source = make()
    first = source.draw(SeedSequence(18, spawn_key=(3,)))
    other = source.draw(SeedSequence(18, spawn_key=(4,)))
    again = make().draw(SeedSequence(18, spawn_key=(3,)))
    copied = pickle.loads(pickle.dumps(source)).draw(SeedSequence(18, spawn_key=(3,)))
    assert first.shape == (source.block_size, source.n_units)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, copied)
    assert (first != other).any()


def test_the_global_generator_is_left_alone() -> None:
    before = np.random.get_state(legacy=False)["state"]["key"].copy()
    CountSource(100).draw(SeedSequence(19))
    np.testing.assert_array_equal(np.random.get_state(legacy=False)["state"]["key"], before)


@pytest.mark.parametrize("n_units", [4097, 10_000, 16_384, 65_536])
def test_blocks_hold_half_a_million_to_a_million_counts(n_units: int) -> None:
    assert 2**19 <= choose_block_size(n_units) * n_units <= 2**20
    merged = CountSource(n_units, multiplicity=np.full(n_units, 50))
    assert merged.block_size == CountSource(n_units).block_size == choose_block_size(n_units)


def test_blocks_of_few_and_of_very_many_units() -> None:
    assert choose_block_size(1) == choose_block_size(4096) == 256
    assert choose_block_size(65_537) == choose_block_size(2**23) == 16
    assert choose_block_size(10**7) == 8
    assert choose_block_size(10**8) == choose_block_size(10**9) == 1


@pytest.mark.parametrize("source", [CountSource(1000), CountSource(30), CountSource(10**5)])
def test_the_counts_of_a_unit_stand_side_by_side(source: CountSource) -> None:
    assert source.draw(SeedSequence(23)).T.flags["C_CONTIGUOUS"]


def test_merging_needs_many_units_for_each_distinct_one() -> None:
    assert most_to_merge(1_000_000) > 1000
    assert most_to_merge(1000) < 100
    assert most_to_merge(30) == 0
