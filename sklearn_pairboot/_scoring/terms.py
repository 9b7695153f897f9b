"""What builders of sums share: from terms or scores of the rows to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.kernels import SumsKernel, item_means, stack
from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.problem import Problem

# Terms beyond these are kept sparse: measured with labels of two models, ns per row and resample:
# 14 dense with 128 terms, 8 sparse whatever their number.
_MOST_DENSE_TERMS = 128


def weighted_sums(
    problem: Problem,
    terms: Sequence[Any],
    formula: Callable[[FloatArray], formulas.Formula],
    cells: IntArray | None = None,
) -> SumsKernel:
    """Weigh terms of the rows, a list of arrays of shape (n_rows, n_terms), and sum them.

    With ``cells``, the cell of each row, they are terms of the cells.
    """
    if cells is not None:
        return SumsKernel.from_cells(
            stack(terms),
            cells,
            formula,
            len(problem.records),
            problem.units,
            row_weight=problem.sample_weight,
        )
    stacked, row_weight = stack(terms), problem.sample_weight
    if row_weight is not None:
        stacked = stacked * row_weight[:, None]
    else:  # indicators stay as small as they are
        kind = stacked.dtype if stacked.dtype == bool else np.float64
        row_weight = np.ones(len(problem.y), dtype=kind)
    return SumsKernel.from_rows(
        stacked, formula, len(problem.records), problem.units, row_weight=row_weight
    )


def mean_of_rows(
    problem: Problem,
    scores: FloatArray,
    *,
    normalize: bool = True,
    root: bool = False,
    cells: IntArray | None = None,
) -> SumsKernel | None:
    """Mean or sum of per-row scores, shape (n_rows, n_models); ``None`` where it may overflow.

    With ``cells``, the cell of each row, they are scores of the cells.
    """
    if cells is not None:
        terms = [scores]
        if normalize:
            terms.insert(0, np.ones((len(scores), 1)))
        kernel = weighted_sums(
            problem, terms, formulas.mean if normalize else formulas.total, cells
        )
        return replace(kernel, scale=float(np.abs(scores).max())) if normalize else kernel
    with np.errstate(over="ignore", invalid="ignore"):
        if not fits(problem.row_weight[:, None] * scores):
            return None
    if not normalize:
        return weighted_sums(problem, [scores], formulas.total)
    return item_means(scores, problem.row_weight, problem.units, root=root)


def sum_to_one(probabilities: FloatArray) -> bool:
    """Tell whether every row sums to one, as closely as the type allows in which it was made."""
    single = np.array_equal(probabilities, probabilities.astype(np.float32))
    tolerance = float(np.sqrt(np.finfo(np.float32).eps)) if single else 1e-8
    return bool(np.allclose(probabilities.sum(axis=1), 1, rtol=tolerance, atol=0))


def fits(terms: FloatArray, heaviest: float = 1.0) -> bool:
    """Tell whether no resample's sum overflows, with weights up to ``heaviest``."""
    largest = np.maximum(terms.max(initial=0.0), -terms.min(initial=0.0))  # without a copy
    return bool(np.isfinite(len(terms) * largest * heaviest))


def one_hot(problem: Problem, codes: IntArray, n_labels: int) -> Any:
    """Mark the label of each row or cell among labels that are numbered from zero.

    A sparse array where the terms of truths and all models would be many.
    """
    if n_labels * (1 + 2 * len(problem.records)) > _MOST_DENSE_TERMS:
        places = np.arange(len(codes))
        return sparse.csr_array(
            (np.ones(len(codes)), (places, codes)), shape=(len(codes), n_labels)
        )
    return np.equal(codes[:, None], np.arange(n_labels)).astype(np.float64)
