"""Enumerated vectors of counts against every sequence of draws, one by one."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from examples import max_examples
from sklearn_pairboot._engine import exact as exact_module
from sklearn_pairboot._engine.exact import ExactCounts, count_vectors


def by_vector(exact: ExactCounts) -> dict[tuple[int, ...], int]:
    vectors = map(tuple, exact.counts.tolist())
    return dict(zip(vectors, exact.multiplicities.tolist(), strict=True))


def by_brute_force(multiplicity: list[int], stratum: list[int]) -> dict[tuple[int, ...], int]:
    """Draw all sequences of real units, stratum by stratum, and count the distinct ones."""
    real = [unit for unit, times in enumerate(multiplicity) for _ in range(times)]
    per_stratum = []
    for number in sorted(set(stratum)):
        members = [unit for unit in real if stratum[unit] == number]
        per_stratum.append(list(itertools.product(members, repeat=len(members))))
    found: Counter[tuple[int, ...]] = Counter()
    for sequences in itertools.product(*per_stratum):
        drawn = Counter(itertools.chain(*sequences))
        found[tuple(drawn[unit] for unit in range(len(multiplicity)))] += 1
    return dict(found)


@pytest.mark.parametrize("n_units", range(1, 11))
def test_numbers_of_vectors_and_of_sequences(n_units: int) -> None:
    exact = count_vectors(np.ones(n_units, dtype=np.int64), None)
    assert exact.counts.shape == (math.comb(2 * n_units - 1, n_units), n_units)
    assert exact.counts.dtype == np.uint8
    assert exact.multiplicities.dtype == np.int64
    assert int(exact.multiplicities.sum()) == exact.total == n_units**n_units
    assert (exact.counts.sum(axis=1) == n_units).all()
    assert len(by_vector(exact)) == len(exact.counts)


@pytest.mark.parametrize(
    ("multiplicity", "stratum"),
    [
        ([1], [0]),
        ([1, 1], [0, 0]),
        ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]),
        ([2, 1, 2], [0, 0, 0]),
        ([5], [0]),
        ([1, 1, 1, 1, 1], [0, 1, 0, 1, 1]),
        ([1, 1, 1, 1], [0, 1, 2, 3]),
        ([2, 1, 1, 1], [1, 0, 0, 1]),
        ([3, 1, 1, 1], [2, 0, 1, 0]),
    ],
)
def test_against_every_sequence(multiplicity: list[int], stratum: list[int]) -> None:
    exact = count_vectors(np.array(multiplicity), np.array(stratum))
    expected = by_brute_force(multiplicity, stratum)
    assert by_vector(exact) == expected
    assert len(exact.counts) == len(expected)
    assert exact.total == sum(expected.values())
    if len(set(stratum)) == 1:
        assert by_vector(count_vectors(np.array(multiplicity), None)) == expected


@given(units=st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2)), min_size=1, max_size=7))
@max_examples(60)
def test_merged_units_give_the_same_distribution(units: list[tuple[int, int]]) -> None:
    """Any statistic that sees only the values cannot tell merged units from single ones."""
    score = np.array([value for value, _ in units])
    stratum = np.array([number for _, number in units])
    single = count_vectors(np.ones(len(units), dtype=np.int64), stratum)
    distinct = sorted(set(units))
    merged = count_vectors(
        np.array([units.count(unit) for unit in distinct]),
        np.array([number for _, number in distinct]),
    )
    assert merged.total == single.total

    def distribution(exact: ExactCounts, scores: np.ndarray) -> Counter[int]:
        found: Counter[int] = Counter()
        sums = exact.counts.astype(np.int64) @ scores
        for value, weight in zip(sums.tolist(), exact.multiplicities.tolist(), strict=True):
            found[value] += weight
        return found

    merged_scores = np.array([value for value, _ in distinct])
    assert distribution(merged, merged_scores) == distribution(single, score)


@given(
    multiplicity=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    data=st.data(),
)
@max_examples(60)
def test_totals(multiplicity: list[int], data: st.DataObject) -> None:
    size = len(multiplicity)
    stratum = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    exact = count_vectors(np.array(multiplicity), np.array(stratum))
    real = np.bincount(stratum, weights=multiplicity).astype(int)
    assert exact.total == math.prod(int(n) ** int(n) for n in real)
    if exact.total <= 2**53:
        assert int(exact.multiplicities.sum()) == exact.total
    else:
        assert exact.multiplicities.sum() == pytest.approx(1.0, abs=1e-12)
    for number, n_draws in enumerate(real):
        drawn = exact.counts[:, np.array(stratum) == number].sum(axis=1)
        assert (drawn == n_draws).all()


def test_req_A11_five_units() -> None:
    """5^5 = 3125 sequences: standard deviation of the mean is that of the values / sqrt(5)."""
    score = np.array([1, 0, 0, 1, -1])
    exact = count_vectors(np.ones(5, dtype=np.int64), None)
    means = exact.counts @ score / 5.0
    mean = np.average(means, weights=exact.multiplicities)
    deviation = np.sqrt(np.average((means - mean) ** 2, weights=exact.multiplicities))
    assert exact.total == 3125
    assert mean == pytest.approx(0.2, abs=1e-15)
    assert deviation == pytest.approx(0.334664, abs=5e-7)


@pytest.mark.parametrize("multiplicity", [[6, 7], [13], [4, 4, 5], [11, 1, 1]])
def test_thirteen_units_are_counted_in_integers(multiplicity: list[int]) -> None:
    exact = count_vectors(np.array(multiplicity), None)
    assert exact.multiplicities.dtype == np.int64
    assert sum(exact.multiplicities.tolist()) == exact.total == 13**13
    for vector, weight in by_vector(exact).items():
        assert weight == exact_weight(vector, multiplicity)


def exact_weight(vector: tuple[int, ...], multiplicity: list[int]) -> int:
    sequences = math.factorial(sum(vector))
    for count, times in zip(vector, multiplicity, strict=True):
        sequences = sequences // math.factorial(count) * times**count
    return sequences


@pytest.mark.parametrize("multiplicity", [[7, 7], [14], [1, 6, 7], [3, 4, 5, 6]])
def test_more_units_have_probabilities(multiplicity: list[int]) -> None:
    exact = count_vectors(np.array(multiplicity), None)
    n_units = sum(multiplicity)
    assert exact.multiplicities.dtype == np.float64
    assert exact.total == n_units**n_units > 2**53
    assert exact.multiplicities.sum() == pytest.approx(1.0, abs=1e-12)
    expected = [
        float(Fraction(exact_weight(tuple(vector), multiplicity), exact.total))
        for vector in exact.counts.tolist()
    ]
    np.testing.assert_allclose(exact.multiplicities, expected, rtol=1e-12)


def test_probabilities_of_strata() -> None:
    """Two strata of ten: 10^20 sequences, and independent multinomial laws."""
    multiplicity = np.array([4, 6, 4, 6])
    exact = count_vectors(multiplicity, np.array([0, 1, 1, 0]))
    assert exact.total == 10**20
    expected = stats.binom.pmf(exact.counts[:, 0], 10, 0.4)
    expected *= stats.binom.pmf(exact.counts[:, 1], 10, 0.6)
    np.testing.assert_allclose(exact.multiplicities, expected, rtol=1e-12)
    assert len(exact.counts) == 11 * 11


def test_few_distinct_values_of_very_many_units() -> None:
    exact = count_vectors(np.array([400_000, 200_000]), None)
    assert exact.counts.shape == (600_001, 2)
    assert exact.counts.dtype == np.uint32
    assert exact.multiplicities.sum() == pytest.approx(1.0, abs=1e-12)
    means = exact.counts[:, 0] / 600_000
    mean = float(exact.multiplicities @ means)
    deviation = math.sqrt(float(exact.multiplicities @ (means - mean) ** 2))
    assert mean == pytest.approx(2 / 3, rel=1e-12)
    assert deviation == pytest.approx(math.sqrt(2 / 9 / 600_000), rel=1e-7)


def test_order_of_the_units_does_not_matter() -> None:
    multiplicity, stratum = np.array([1, 2, 1, 1]), np.array([0, 0, 1, 1])
    expected = by_vector(count_vectors(multiplicity, stratum))
    for order in itertools.permutations(range(4)):
        place = list(order)
        exact = count_vectors(multiplicity[place], stratum[place])
        back = exact.counts[:, np.argsort(place)]
        assert by_vector(ExactCounts(back, exact.multiplicities, exact.draws)) == expected


def refuse_allocation(*args: object, **kwargs: object) -> None:
    raise AssertionError("allocated before the check")


@pytest.mark.parametrize(
    ("n_units", "in_words"),
    [(13, "5,200,300"), (1000, "about 1e600"), (1_000_000, "about 1e602056")],
)
def test_refusal_before_any_allocation(
    monkeypatch: pytest.MonkeyPatch, n_units: int, in_words: str
) -> None:
    monkeypatch.setattr(exact_module, "_compositions", refuse_allocation)
    units = np.ones(n_units, dtype=np.int64)
    monkeypatch.setattr(np, "empty", refuse_allocation)
    with pytest.raises(ValueError) as caught:
        count_vectors(units, None)
    assert str(caught.value) == (
        f"`n_resamples` must be an integer for these data, got 'exact'. There are {in_words} "
        f"different resamples of {n_units:,} units, and 2,000,000 are the most that are "
        "enumerated. Pass an integer such as `n_resamples=9999`."
    )


def test_limit_is_inclusive_and_counts_all_strata() -> None:
    units = np.ones(6, dtype=np.int64)
    stratum = np.array([0, 0, 1, 1, 2, 2])
    assert len(count_vectors(units, stratum, max_vectors=27).counts) == 27
    with pytest.raises(ValueError, match=r"There are 27 different resamples of 6 units, and 26 "):
        count_vectors(units, stratum, max_vectors=26)


@pytest.mark.newest
def test_numbers_of_sequences_beyond_reading_have_eight_digits() -> None:
    exact = 50_000**50_000 * 20_000**20_000
    assert exact_module.count_sequences([50_000]) == 50_000**50_000
    found = exact_module.count_sequences([50_000, 0, 20_000])
    assert abs(Fraction(found, exact) - 1) < 1e-8
    assert math.log10(exact_module.count_sequences([10**6])) == pytest.approx(6e6, rel=1e-12)
