"""Numbers that are whole multiples of a common step, and counts of their signed sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Counting takes this many additions at most: numbers times their sum in steps.
MOST_WORK = 2 * 10**8
_WHOLE = 2.0**53
# Up to this many numbers all counts fit into int64.
_MOST_IN_INT64 = 62
# Measured, in ns: a term of the recurrence, and a bit of a packed count that a number is added to.
_NS_PER_TERM, _NS_PER_BIT = 500.0, 0.025


def common_step(values: FloatArray, least: float) -> float | None:
    """Find a step of which positive numbers seem to be whole multiples, by Euclid's algorithm.

    ``None`` where there is none of at least ``least``, and rests below half of that are taken for
    rounding: what is found is to be held against the numbers.
    """
    step = float(values.min())
    while step >= least:
        rest = np.abs(values - np.rint(values / step) * step)
        rest = rest[rest > least / 2]
        if len(rest) == 0:
            break
        step = float(rest.min())
    else:
        return None
    step = float(values.sum()) / float(np.rint(values / step).sum())
    return step if step >= least else None


def in_steps(values: FloatArray, tolerance: float) -> tuple[FloatArray, float] | None:
    """Write positive numbers as whole multiples of their largest common step, and give the step.

    ``None`` where there is no step, or one so small that counting takes too much work. A step that
    is found is held against the numbers: either all are whole, so that every sum of them is exact;
    or the distances from the multiples add up to less than half the ``tolerance``, and sums differ
    by more than it. Then two sums are within the tolerance of each other if and only if they are
    equal in steps, since signed sums of the same numbers differ by even numbers of steps.
    """
    total = float(values.sum())
    step = common_step(values, len(values) * total / MOST_WORK)
    if step is None:
        return None
    multiples = np.rint(values / step)
    off = float(np.abs(values - multiples * step).sum())
    whole = off == 0 and step == np.floor(step) and total < _WHOLE
    if not (whole or (2 * off <= tolerance and 2 * step - 2 * off > tolerance)):
        return None
    return multiples, step


def count_at_least(sizes: IntArray, least: int) -> int:
    """Count the ways to give positive whole numbers signs such that they sum to ``least`` or more.

    A signed sum is the total less twice the sum of the numbers with a minus, so this counts the
    subsets with a small sum: coefficients of the product of all ``1 + x**size``.
    """
    total = int(sizes.sum())
    if least <= -total:
        return 1 << len(sizes)
    most = (total - least) // 2
    if most < 0:
        return 0
    if 2 * most > total:  # the subsets with a large sum are those without a small complement
        return (1 << len(sizes)) - _count_subsets(sizes, total - most - 1)
    return _count_subsets(sizes, most)


def _count_subsets(sizes: IntArray, most: int) -> int:
    """Count the subsets with a sum of at most ``most``."""
    if most < 0:
        return 0
    usable = np.sort(sizes[sizes <= most])
    if len(usable) <= _MOST_IN_INT64:
        counts = np.zeros(most + 1, dtype=np.int64)
        counts[0] = 1
        reach = 0
        for size in usable.tolist():
            reach = min(reach + size, most)
            counts[size : reach + 1] += counts[: reach + 1 - size].copy()
        return int(counts.sum())
    frequent = Counter(usable.tolist()).most_common()
    in_packs = sum(times for _, times in frequent[2:]) * (most + 1) * len(usable) * _NS_PER_BIT
    terms = _terms(frequent, int(in_packs / ((most + 1) * _NS_PER_TERM)) + 4)
    if terms is not None:
        return _count_by_recurrence(terms, most)
    # Counts that need half the digits: of the subsets of two halves of the numbers. The most
    # frequent number of each half has its counts in closed form.
    dealt = [size for size, times in frequent[2:] for _ in range(times)]
    left = _Packed(*frequent[0], dealt[::2], most)
    right = _Packed(*frequent[1], dealt[1::2], most)
    n_right = sum(right.counts())
    count = 0
    for of_left, of_right in zip(left.counts(), right.counts(backwards=True), strict=True):
        if of_left:
            count += of_left * n_right
        n_right -= of_right
    return count


def _terms(frequent: list[tuple[int, int]], most: int) -> list[tuple[int, int, int]] | None:
    """Give exponents and coefficients of q and r where ``x p' q = p r`` for the product p.

    With q the product of ``1 + x**size`` over distinct sizes, and r that with each factor in turn
    replaced by ``times * size * x**size``. ``None`` where there are more than ``most`` of them.
    """
    q: Counter[int] = Counter({0: 1})
    r: Counter[int] = Counter()
    for size, times in frequent:
        shifted_q = {place + size: value for place, value in q.items()}
        shifted_r = {place + size: value for place, value in r.items()}
        r.update(shifted_r)
        r.update({place: times * size * value for place, value in shifted_q.items()})
        q.update(shifted_q)
        if len(q) > most:
            return None
    return [(place, q[place], r[place]) for place in sorted(q.keys() | r.keys()) if place > 0]


def _count_by_recurrence(terms: list[tuple[int, int, int]], most: int) -> int:
    """Add up the coefficients of p: each follows from few of those before it."""
    furthest = terms[-1][0]
    known, count = [1], 1
    for j in range(1, most + 1):
        value = 0
        for place, of_q, of_r in terms:
            if place > j or place > len(known):
                break
            value += (of_r - of_q * (j - place)) * known[-place]
        value //= j
        count += value
        known.append(value)
        if len(known) > 2 * furthest + 1024:
            del known[:-furthest]
    return count


class _Packed:
    """Numbers of subsets by their sum, 0 to ``most``, side by side in one large integer."""

    def __init__(self, size: int, times: int, others: list[int], most: int) -> None:
        self.most = most
        self.width = (times + len(others)) // 8 + 1
        slots = bytearray((most + 1) * self.width)
        for number, count in enumerate(_binomials(times, most // size)):
            start = number * size * self.width
            slots[start : start + self.width] = count.to_bytes(self.width, "little")
        packed = int.from_bytes(slots, "little")
        reach = min(times * size, most)
        kept = (1 << (8 * self.width * (most + 1))) - 1
        for other in sorted(others):
            packed += packed << (8 * self.width * other)
            if reach + other > most:
                packed &= kept
            reach = min(reach + other, most)
        self._bytes = packed.to_bytes((most + 1) * self.width, "little")

    def counts(self, *, backwards: bool = False) -> Iterator[int]:
        """Unpack one count after the other."""
        starts = range(0, len(self._bytes), self.width)
        for start in reversed(starts) if backwards else starts:
            yield int.from_bytes(self._bytes[start : start + self.width], "little")


def _binomials(n: int, most: int) -> Iterator[int]:
    """Give the binomial coefficients of n over 0, 1, ... up to ``most``."""
    value = 1
    for k in range(min(n, most) + 1):
        yield value
        value = value * (n - k) // (k + 1)
