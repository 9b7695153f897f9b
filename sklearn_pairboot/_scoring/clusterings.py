"""Kernels of scikit-learn's clustering scores, through the contingency table.

The adjusted mutual information is replayed: its expected value is a sum over all tables with the
drawn margins, which no closed form of sums gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from sklearn_pairboot._engine import contingency
from sklearn_pairboot._engine.weights import IntArray, Kernel
from sklearn_pairboot._scoring.problem import Problem


def clustering(problem: Problem, *, score: contingency.Score) -> Kernel | None:
    """Agreement of true labels and clusters; these scores know no sample weights."""
    if problem.sample_weight is not None:
        return None
    truth = _codes(problem.y)
    clusters = [_codes(answers) for answers in problem.predictions()]
    found = [codes for codes in clusters if codes is not None]
    if truth is None or len(found) < len(clusters):
        return None
    tables, cells_of_rows = contingency.tabulate(truth, found)
    return contingency.contingency_kernel(tables, cells_of_rows, score, problem.units)


def normalized_mutual_info(problem: Problem, average_method: str = "arithmetic") -> Kernel | None:
    """Mutual information over a mean of the entropies."""
    if average_method not in ("min", "geometric", "arithmetic", "max"):
        return None
    score = partial(contingency.normalized_mutual_information, average_method=average_method)
    return clustering(problem, score=score)


def v_measure(problem: Problem, beta: float = 1.0) -> Kernel | None:
    """Weighted harmonic mean of homogeneity and completeness."""
    if not isinstance(beta, Real) or not 0 <= beta < np.inf:
        return None
    return clustering(problem, score=partial(contingency.v_measure, beta=float(beta)))


BUILDERS: dict[Callable[..., Any], Callable[..., Kernel | None]] = {
    metrics.rand_score: partial(clustering, score=contingency.rand),
    metrics.adjusted_rand_score: partial(clustering, score=contingency.adjusted_rand),
    metrics.fowlkes_mallows_score: partial(clustering, score=contingency.fowlkes_mallows),
    metrics.mutual_info_score: partial(clustering, score=contingency.mutual_information),
    metrics.normalized_mutual_info_score: normalized_mutual_info,
    metrics.homogeneity_score: partial(clustering, score=contingency.homogeneity),
    metrics.completeness_score: partial(clustering, score=contingency.completeness),
    metrics.v_measure_score: v_measure,
}


def _codes(labels: NDArray[Any]) -> IntArray | None:
    """Encode the labels from zero; ``None`` for real values and what cannot be sorted."""
    if labels.ndim != 1 or (labels.dtype.kind == "f" and np.any(labels != np.floor(labels))):
        return None
    try:
        return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        return None
