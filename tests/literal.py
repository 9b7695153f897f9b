"""What tests of kernels share: a kernel from a scorer, and the rows that counts stand for."""

from __future__ import annotations

import warnings

import numpy as np

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.comparison._run import kind_of


def problem_of(y, records, units=None, sample_weight=None, pos_label=None):
    units = units or Units(len(y), len(y))
    return Problem(y, kind_of(y), tuple(records), units, sample_weight, pos_label)


def kernel_of(scoring, problem, path=None):
    """Build the kernel of a scorer, and look at the path it takes where one is expected."""
    (metric,) = resolve_scoring(scoring)
    kernel = build_kernel(metric, problem, tuple(map(str, range(len(problem.records)))))
    assert path is None or kernel.path == path
    return kernel


def rows_of(units, counts):
    """Row numbers of a resample, each as often as its unit was drawn."""
    of_row = np.arange(units.n_rows) if units.of_row is None else units.of_row
    return np.repeat(np.arange(units.n_rows), counts[of_row])


def quiet(function, *args, **kwargs):
    """Call scikit-learn with its warnings off."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)
