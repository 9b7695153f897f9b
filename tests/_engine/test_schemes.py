"""Blocks, two stages, Dirichlet weights: draws against their enumerated or known laws."""

from __future__ import annotations

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import SeedSequence
from scipy import stats

from sklearn_pairboot._engine.blocks import KINDS, BlockSource, count_rows
from sklearn_pairboot._engine.counts import narrowed
from sklearn_pairboot._engine.dirichlet import DirichletSource
from sklearn_pairboot._engine.exact import count_vectors
from sklearn_pairboot._engine.two_stage import TwoStageSource
from sklearn_pairboot._engine.units import Units

ALMOST_IMPOSSIBLE, PLAUSIBLE = 1e-12, 1e-3  # p-values of a wrong law, and of the right one


def many(source, n_resamples=20_000, seed=0):
    n_blocks = -(-n_resamples // source.block_size)
    seeds = (SeedSequence(seed, spawn_key=(block,)) for block in range(n_blocks))
    return np.concatenate([source.draw(one) for one in seeds])


def p_value(drawn, law):
    """Chi-square test of whole vectors of counts against a law, vectors with probabilities."""
    assert sum(law.values()) == 1
    observed = Counter(map(tuple, drawn.tolist()))
    assert set(observed) <= set(law), "a vector that cannot occur"
    counts = np.array([observed[vector] for vector in law])
    expected = np.array([float(share) * len(drawn) for share in law.values()])
    rare = expected < 5  # counted together
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chisquare(counts, expected).pvalue)


def add(law, rows, n_rows, share):
    law[tuple(np.bincount(rows, minlength=n_rows).tolist())] += share


def law_of_blocks(n_rows, length, kind):
    """Lay all sequences of blocks literally, row by row."""
    law = Counter()
    n_starts = n_rows - length + 1 if kind == "moving" else n_rows
    if kind != "stationary":
        n_blocks = -(-n_rows // length)
        for starts in product(range(n_starts), repeat=n_blocks):
            rows = [(start + step) % n_rows for start in starts for step in range(length)]
            add(law, rows[:n_rows], n_rows, Fraction(1, n_starts**n_blocks))
        return law
    # Row by row: with probability 1 / length a new block begins, else the next row follows.
    begin = Fraction(1, length)
    for begins in product((False, True), repeat=n_rows - 1):
        share = np.prod([begin if new else 1 - begin for new in begins])
        n_blocks = 1 + sum(begins)
        for starts in product(range(n_rows), repeat=n_blocks):
            left, rows = list(starts), []
            for new in (True, *begins):
                rows.append(left.pop(0) if new else (rows[-1] + 1) % n_rows)
            add(law, rows, n_rows, share * Fraction(1, n_rows**n_blocks))
    return law


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_rows", "length"), [(4, 2), (5, 2), (4, 1)])
def test_blocks_have_their_enumerated_law(kind, n_rows, length):
    drawn = many(BlockSource(n_rows, length, kind))
    assert (drawn.sum(axis=1) == n_rows).all()
    assert p_value(drawn, law_of_blocks(n_rows, length, kind)) > PLAUSIBLE


def test_the_kinds_of_blocks_are_told_apart():
    drawn = many(BlockSource(5, 2, "circular"))
    assert p_value(drawn, law_of_blocks(5, 2, "stationary")) < ALMOST_IMPOSSIBLE
    drawn = many(BlockSource(5, 2, "moving"))
    assert p_value(drawn, law_of_blocks(5, 2, "circular")) < ALMOST_IMPOSSIBLE


def test_blocks_of_one_row_are_the_row_bootstrap():
    law = count_vectors(np.ones(4, dtype=np.int64), None)
    shares = {
        tuple(vector): Fraction(int(number), law.total)
        for vector, number in zip(law.counts.tolist(), law.multiplicities, strict=True)
    }
    for kind in KINDS:
        assert law_of_blocks(4, 1, kind) == shares
    assert p_value(many(TwoStageSource(np.array([2, 0, 3, 1]))), shares) > PLAUSIBLE


@given(st.data())
def test_blocks_are_counted_as_their_rows_are(data):
    n_rows = data.draw(st.integers(2, 12))
    n_resamples = data.draw(st.integers(1, 4))
    block = st.tuples(
        st.integers(0, n_rows - 1), st.integers(1, n_rows), st.integers(0, n_resamples - 1)
    )
    blocks = data.draw(st.lists(block, max_size=12))
    expected = np.zeros((n_resamples, n_rows), dtype=int)
    for start, length, resample in blocks:
        for step in range(length):
            expected[resample, (start + step) % n_rows] += 1
    starts, lengths, resample = np.array(blocks, dtype=np.int64).reshape(-1, 3).T
    np.testing.assert_array_equal(
        count_rows(starts, lengths, resample, n_rows, n_resamples), expected
    )


@pytest.mark.parametrize("kind", ["circular", "stationary"])
def test_blocks_around_the_end_draw_every_row_equally_often(kind):
    drawn = many(BlockSource(12, 5, kind))
    means, errors = drawn.mean(axis=0), drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(means - 1) < 4.5 * errors).all()
    # Moving blocks reach the ends less often: of 8 starts one holds the first row.
    moving = many(BlockSource(12, 5)).mean(axis=0)
    assert moving[0] == pytest.approx(3 / 8, abs=0.02)


def law_of_two_stages(sizes):
    """Lay all sequences of clusters, and of rows for each of them, literally."""
    first = np.cumsum(sizes) - sizes
    law = Counter()
    for clusters in product(range(len(sizes)), repeat=len(sizes)):
        choices = [range(first[g], first[g] + sizes[g]) for g in clusters for _ in range(sizes[g])]
        share = Fraction(1, len(sizes) ** len(sizes) * int(np.prod([len(c) for c in choices])))
        for rows in product(*choices):
            add(law, rows, sum(sizes), share)
    return law


@pytest.mark.parametrize("sizes", [[2, 2], [1, 3]])
def test_two_stages_have_their_enumerated_law(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    assert p_value(many(TwoStageSource(codes)), law_of_two_stages(sizes)) > PLAUSIBLE


def test_every_drawn_copy_has_rows_of_its_own():
    # With the same rows in both copies of a cluster no row of it could be drawn 1 or 3 times.
    law = law_of_two_stages([2, 2])
    both = {vector: share for vector, share in law.items() if vector[:2] == (1, 3)}
    assert both == {(1, 3, 0, 0): Fraction(1, 4) * Fraction(4, 16)}


def test_two_stages_take_clusters_in_any_order_of_rows():
    codes = np.array([1, 0, 1])
    law = {(b, a, c): share for (a, b, c), share in law_of_two_stages([1, 2]).items()}
    assert p_value(many(TwoStageSource(codes)), law) > PLAUSIBLE


def test_two_stages_count_the_variance_within_clusters_twice():
    """The formula of the plan's documentation, on every possible draw."""
    n_clusters, size = 2, 2
    scores = np.array([0.0, 3.0, 4.0, 11.0])
    law = law_of_two_stages([size] * n_clusters)
    means = np.array(list(law)) @ scores / len(scores)
    shares = np.array([float(share) for share in law.values()])
    variance = shares @ (means - shares @ means) ** 2
    by_cluster = scores.reshape(n_clusters, size)
    between = by_cluster.mean(axis=1).var()
    within = by_cluster.var(axis=1).mean()
    assert variance == pytest.approx(between / n_clusters + within / (n_clusters * size), rel=1e-12)
    # The same from draws, with more clusters.
    scores = np.random.default_rng(0).normal(size=(10, 4)) + np.arange(10)[:, np.newaxis]
    drawn = many(TwoStageSource(np.repeat(np.arange(10), 4)))
    formula = scores.mean(axis=1).var() / 10 + scores.var(axis=1).mean() / 40
    assert (drawn @ scores.ravel() / 40).var() == pytest.approx(formula, rel=0.05)


def test_dirichlet_weights_have_their_law():
    weights = many(DirichletSource(5))
    np.testing.assert_allclose(weights.sum(axis=1), 5, rtol=1e-13)
    assert (weights > 0).all()
    for of_unit in weights.T:  # each share is beta(1, n - 1)
        assert stats.kstest(of_unit / 5, stats.beta(1, 4).cdf).pvalue > PLAUSIBLE
    # Jointly: covariance (1 / n - 1) / (n (n + 1)) of shares, so of their sums over subsets.
    halves = weights[:, :2].sum(axis=1) / 5
    assert stats.kstest(halves, stats.beta(2, 3).cdf).pvalue > PLAUSIBLE


def test_dirichlet_means_have_variance_s2_over_n_plus_1():
    scores = np.array([0.0, 1.0, 1.0, 5.0, 2.0, -3.0])
    n = len(scores)
    means = many(DirichletSource(n), 40_000) @ scores / n
    variance = scores.var() / (n + 1)  # the bootstrap has s2 / n, 17 % more
    assert means.var() == pytest.approx(variance, rel=0.03)
    assert means.mean() == pytest.approx(scores.mean(), abs=4 * np.sqrt(variance / len(means)))


SOURCES = [
    *(BlockSource(30, 4, kind) for kind in KINDS),
    TwoStageSource(np.arange(30) % 7),
    DirichletSource(30),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_block_follows_from_its_seed_alone(source):
    seed = SeedSequence(3, spawn_key=(2,))
    drawn = source.draw(seed)
    assert drawn.shape == (source.block_size, source.n_units) == (256, 30)
    again = pickle.loads(pickle.dumps(source)).draw(SeedSequence(3, spawn_key=(2,)))
    np.testing.assert_array_equal(drawn, again)
    assert not np.array_equal(drawn, source.draw(SeedSequence(3, spawn_key=(3,))))
    assert (drawn.dtype == np.float64) == source.has_real_weights


def test_counts_beyond_a_byte_fit():
    drawn = BlockSource(2000, 2, "moving").draw(SeedSequence(0))
    assert drawn.dtype == np.uint8
    assert narrowed(np.array([3, 255])).dtype == np.uint8
    assert narrowed(np.array([3, 256])).tolist() == [3, 256]


def test_what_is_drawn_is_told():
    def told(source, n_rows=11):
        drawn = source.drawn(Units(n_rows, n_rows, scheme=source))
        return drawn.name, drawn.number, drawn.sizes.tolist()

    assert told(BlockSource(11, 4)) == ("blocks of 4 rows", 3, [4, 4, 3])
    assert told(BlockSource(11, 1)) == ("blocks of 1 row", 11, [1] * 11)
    assert told(BlockSource(11, 4, "stationary")) == ("blocks of 4 rows on average", 3, [4] * 3)
    assert told(TwoStageSource(np.array([0, 1, 1]))) == ("clusters", 2, [1, 2])
    assert told(DirichletSource(11)) == ("rows", 11, [1] * 11)


def test_schemes_of_some_rows():
    rows = np.array([1, 2, 4])
    assert TwoStageSource(np.array([0, 1, 2, 0, 2])).part(rows, 3).of_row.tolist() == [0, 1, 1]
    assert BlockSource(9, 4, "circular").part(rows, 3) == BlockSource(3, 1, "circular")
    assert DirichletSource(5).part(rows, 3) == DirichletSource(3)
    units = Units(3, 2, np.array([0, 1, 1]))
    assert DirichletSource(2).exchangeable(units) == units
    assert BlockSource(3, 1).exchangeable(Units(3, 3)) == Units(3, 3)
    two = TwoStageSource(np.array([0, 1, 1])).exchangeable(Units(3, 3))
    assert (two.n_units, two.scheme, two.of_row.tolist()) == (2, None, [0, 1, 1])
