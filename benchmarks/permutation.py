"""Permutation test of a mean difference against scipy's, one thread, in the same run.

    python benchmarks/permutation.py [--units N] [--resamples B] [--quick] [--json FILE]

scipy is given the differences themselves, whose signs it flips: its fastest way. It takes so long
that it draws a share of the arrangements only, and its time is scaled up to all of them. Memory
is the largest that Python's allocator held during the call; NumPy's arrays count.
"""

from __future__ import annotations

import tracemalloc

import _run  # before NumPy
import numpy as np
from scipy import stats

from sklearn_pairboot.inference import paired_permutation_test

ASKED = 20
SHARE_OF_SCIPY = 100  # one in so many arrangements


def mean(differences: np.ndarray, axis: int) -> np.ndarray:
    """Statistic of scipy's test."""
    return np.mean(differences, axis=axis)


def measure(n_units: int, n_resamples: int) -> dict:
    """Time both, and see what ours holds in memory."""
    rng = np.random.default_rng(0)
    old = rng.normal(size=n_units)
    new = old + rng.normal(0.002, 0.5, size=n_units)
    scores = {"old": old, "new": new}

    def ours() -> None:
        paired_permutation_test(scores, n_resamples=n_resamples, random_state=0)

    n_of_scipy = max(n_resamples // SHARE_OF_SCIPY, 1)

    def scipys() -> None:
        stats.permutation_test(
            (new - old,),
            mean,
            permutation_type="samples",
            n_resamples=n_of_scipy,
            batch=16,
            vectorized=True,
        )

    ours_s = min(_run.seconds(ours) for _ in range(3))
    scipy_s = _run.seconds(scipys) * n_resamples / n_of_scipy
    tracemalloc.start()
    ours()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "work": "mean difference",
        "n_units": n_units,
        "n_resamples": n_resamples,
        "ours_s": _run.significant(ours_s),
        "scipy_s": _run.significant(scipy_s),
        "ratio": _run.significant(scipy_s / ours_s),
        "asked": ASKED,
        "peak_mib": _run.significant(peak / 2**20),
    }


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    arguments = _run.arguments_of(
        __doc__,
        units={"type": int, "default": 100_000},
        resamples={"type": int, "default": 9_999},
    )
    n_units, n_resamples = arguments.units, arguments.resamples
    if arguments.quick:
        n_units, n_resamples = 1_000, 200
    table = _run.Table(
        work=18, units=10, resamples=11, ours_s=9, scipy_s=10, ratio=9, asked=7, peak_MiB=10
    )
    row = measure(n_units, n_resamples)
    table.row(*row.values())
    _run.write(arguments, [row])


if __name__ == "__main__":
    main()
