"""What builders of sums share: from terms or scores of the rows to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.kernels import SumsKernel, item_means
from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.problem import Problem


def weighted_sums(
    problem: Problem,
    terms: Sequence[FloatArray],
    formula: Callable[[FloatArray], formulas.Formula],
    cells: IntArray | None = None,
) -> SumsKernel:
    """Weigh terms of the rows, a list of arrays of shape (n_rows, n_terms), and sum them.

    With ``cells``, the cell of each row, they are terms of the cells.
    """
    if cells is not None:
        return SumsKernel.from_cells(
            np.hstack(terms),
            cells,
            formula,
            len(problem.records),
            problem.units,
            row_weight=problem.sample_weight,
        )
    stacked = problem.row_weight[:, None] * np.hstack(terms)
    return SumsKernel.from_rows(
        stacked, formula, len(problem.records), problem.units, row_weight=problem.row_weight
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


def fits(terms: FloatArray) -> bool:
    """Tell whether no resample's sum overflows."""
    return bool(np.isfinite(len(terms) * np.abs(terms).max(initial=0.0)))


def one_hot(codes: IntArray, n_labels: int) -> FloatArray:
    """Mark the label of each row among labels that are numbered from zero."""
    return np.equal(codes[:, None], np.arange(n_labels)).astype(np.float64)
