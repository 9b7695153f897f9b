"""Permutation tests of two models: what they found, and the test of a sum of differences."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sklearn_pairboot._engine.blas import one_blas_thread
from sklearn_pairboot._engine.flips import count_sums_at_least, random_sums
from sklearn_pairboot._engine.lattice import count_at_least, in_steps
from sklearn_pairboot._engine.weights import FloatArray

ENUMERATION, COUNTING, MONTE_CARLO = "exact enumeration", "exact counting", "Monte Carlo"

# Differences and sums this small relative to the scores in them are rounding: they decide tails.
NOISE = 1e-12
# Enumeration takes 2**(n / 2) sums; counting is preferred from 21 units on, where it is possible.
_MOST_ENUMERATED, _ENUMERATED_AT_ONCE = 40, 20
_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True, repr=False)
class SwapTest:
    """Arrangements at least as extreme as the observed one, by the direction that is looked at.

    An arrangement swaps the two models' answers in some of the units. All ``2**n_units`` are
    counted, or ``n_assignments`` random ones where the ``mode`` is Monte Carlo. ``n_swapped``
    units are those that differ between the models. ``least_one_sided`` and ``least_two_sided``
    are the smallest counts that any outcome of these units could have. Arrangements without a
    value, ``n_undefined``, count as extreme in every direction.
    """

    mode: str
    n_units: int
    n_swapped: int
    n_assignments: int
    n_greater: int
    n_less: int
    n_two_sided: int
    least_one_sided: int = 0
    least_two_sided: int = 0
    n_undefined: int = 0
    approximate: bool = False

    def n_extreme(self, alternative: str) -> int:
        """Give the arrangements at least as extreme: two-sided, greater or less."""
        if alternative == "two-sided":
            return self.n_two_sided
        return self.n_greater if alternative == "greater" else self.n_less

    def p_value(self, alternative: str) -> float:
        """Give the share of extreme arrangements; random ones and the observed one together."""
        return self._share(self.n_extreme(alternative))

    def p_min(self, alternative: str) -> float:
        """Give the smallest p-value that any outcome could have had."""
        two_sided = alternative == "two-sided"
        return self._share(self.least_two_sided if two_sided else self.least_one_sided)

    def std_error(self, alternative: str) -> float:
        """Give the standard error of the p-value that comes from drawing arrangements."""
        if self.mode != MONTE_CARLO:
            return 0.0
        p_value = self.p_value(alternative)
        return math.sqrt(p_value * (1 - p_value) / self.n_assignments)

    def mirrored(self) -> SwapTest:
        """Give the test of the same difference with the other sign."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return SwapTest(**{**values, "n_greater": self.n_less, "n_less": self.n_greater})

    def _share(self, count: int) -> float:
        one = int(self.mode == MONTE_CARLO)  # the observed arrangement is not among random ones
        # Integers of any size are divided exactly; what is too small for a float is not 0.
        return max((count + one) / (self.n_assignments + one), sys.float_info.min)


# Tests by the names of metric, model and baseline.
SwapTests = Mapping[tuple[str, str, str], SwapTest]


def find_test(tests: SwapTests, metric: str, model: str, baseline: str) -> SwapTest | None:
    """Find the test of a difference, which may have been made the other way round."""
    found = tests.get((metric, model, baseline))
    if found is not None:
        return found
    other = tests.get((metric, baseline, model))
    return None if other is None else other.mirrored()


def swap_sums(
    differences: FloatArray, sizes: FloatArray, n_resamples: int, entropy: int
) -> SwapTest:
    """Test a sum of differences of units, each of which changes its sign where models are swapped.

    ``sizes`` says how large the scores are that each difference was formed of: in relation to
    them some differences are rounding, and zero.
    """
    n_units = len(differences)
    # Sums of whole numbers are exact.
    whole = bool(np.all(differences == np.floor(differences))) and float(sizes.sum()) < _WHOLE
    differs = np.abs(differences) > (0.0 if whole else NOISE) * sizes
    signed = np.sort(differences[differs])
    values = np.sort(np.abs(signed))
    n_swapped, n_same = len(values), n_units - len(values)
    if n_swapped == 0:
        everything = 1 << n_units
        return SwapTest(ENUMERATION, n_units, 0, *(everything,) * 6)
    tolerance = 0.5 if whole else NOISE * float(sizes[differs].sum())
    found = in_steps(values, tolerance)
    # The sign of a difference does not matter for its two assignments: one order for all.
    total = float(signed.sum())
    if found is not None:
        values, step = found
        total, tolerance = float(np.rint(signed / step).sum()), 0.5
    certain = abs(total) <= tolerance
    if found is not None and n_swapped > _ENUMERATED_AT_ONCE:
        mode = COUNTING
        steps = values.astype(np.int64)
        greater, less = (count_at_least(steps, int(side)) for side in (total, -total))
    elif n_swapped <= _MOST_ENUMERATED:
        mode = ENUMERATION
        greater, less = (count_sums_at_least(values, s - tolerance) for s in (total, -total))
    else:
        return _by_random_signs(values, total, tolerance, n_units, n_resamples, entropy)
    all_swapped = 1 << n_swapped
    two_sided = all_swapped if certain else 2 * min(greater, less)
    return SwapTest(
        mode,
        n_units,
        n_swapped,
        1 << n_units,
        greater << n_same,
        less << n_same,
        two_sided << n_same,
        least_one_sided=1 << n_same,
        least_two_sided=2 << n_same,
    )


def _by_random_signs(
    values: FloatArray,
    total: float,
    tolerance: float,
    n_units: int,
    n_resamples: int,
    entropy: int,
) -> SwapTest:
    greater = less = two_sided = 0
    with one_blas_thread():
        for sums in random_sums(values, n_resamples, entropy):
            greater += int(np.count_nonzero(sums >= total - tolerance))
            # The mirror image of what another sign of the total would count.
            less += int(np.count_nonzero(sums >= -total - tolerance))
            two_sided += int(np.count_nonzero(np.abs(sums) >= abs(total) - tolerance))
    return SwapTest(MONTE_CARLO, n_units, len(values), n_resamples, greater, less, two_sided)
