"""Permutation tests of kernels: one model of twice the rows, whose units have weight 0 or 1.

The first half of the units holds the model's answers, the second half the baseline's: what the
model is given in an arrangement are those of the first half that stay and those of the second
that do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.counts import choose_block_size
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.merging import first_of_each, number_rows
from sklearn_pairboot._engine.permutation import SwapTest, swap_sums
from sklearn_pairboot._engine.ranks import RankKernel
from sklearn_pairboot._engine.ranks_multiclass import MulticlassKernel
from sklearn_pairboot._engine.swapping import Pair, swap_kinds, swap_units
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    Kernel,
    Weights,
    Workspace,
)

# Equal units are counted together where there are at most so many kinds.
_FEW_KINDS, _UNITS_OF_KIND = 64, 35


def stacked(units: Units) -> Units:
    """Give the units of twice the rows: every unit once with each model's answers."""
    of_row = units.of_row
    if of_row is not None:
        of_row = np.concatenate([of_row, of_row + units.n_units])
    return Units(2 * units.n_rows, 2 * units.n_units, of_row)


def swap_kernel(kernel: Kernel, units: Units, n_resamples: int, entropy: int) -> SwapTest | None:
    """Test the metric of a kernel; ``None`` where the observed value is undefined.

    ``units`` are those of the comparison, of which the kernel has twice as many.
    """
    if isinstance(kernel, RankKernel | MulticlassKernel):
        return _swap_ranks(kernel, units, n_resamples, entropy)
    differs = np.ones(units.n_units, dtype=bool)
    if isinstance(kernel, SumsKernel) and kernel.is_sparse:
        first, second = kernel.unit_terms[: units.n_units], kernel.unit_terms[units.n_units :]
        differs = np.asarray(abs(first - second).sum(axis=1)).ravel() > 0
    elif isinstance(kernel, SumsKernel):
        first, second = np.split(kernel.unit_terms.astype(np.float64), 2)
        differs = np.any(first != second, axis=1)
        column = _column_of_mean(kernel.formula)
        if column is not None:
            model, baseline = first[:, column], second[:, column]
            sizes = np.abs(model) + np.abs(baseline)
            return swap_sums(model - baseline, sizes, n_resamples, entropy)
        if type(kernel) is SumsKernel:  # others know more than the sums of their terms
            return _swap_sums_kernel(kernel, first, second, n_resamples, entropy)
    return swap_any(kernel, differs, units, n_resamples, entropy)


def _column_of_mean(formula: Any) -> int | None:
    """Find the term that is averaged or added up, where that is all that the formula does."""
    formula, keywords, place = formulas.unwrapped(formula)
    if formula is formulas.total:
        return place
    return place + 1 if formula is formulas.mean and not keywords.get("root") else None


def _swap_sums_kernel(
    kernel: SumsKernel, first: FloatArray, second: FloatArray, n_resamples: int, entropy: int
) -> SwapTest | None:
    """Test any function of weighted sums.

    Units with equal terms are of one kind: which of them are swapped does not matter, only how
    many.
    """
    n_units = len(first)
    differs = np.any(first != second, axis=1)
    fixed = first[~differs].sum(axis=0)
    first, second = first[differs], second[differs]
    # Both assignments of a unit are equally likely: of two ways to lie, one is called the first.
    gap = first - second
    stays = gap[np.arange(len(gap)), np.argmax(gap != 0, axis=1)] > 0
    ways = np.where(stays[:, None], first, second), np.where(stays[:, None], second, first)
    sizes, stay = np.ones(len(first), dtype=np.int64), stays.astype(np.int64)
    most = max(_FEW_KINDS, len(first) // _UNITS_OF_KIND)
    if len(first):
        codes, n_kinds = number_rows([*ways[0].T, *ways[1].T], most)
        if n_kinds <= most:
            sizes, stay = np.bincount(codes), np.bincount(codes, stays).astype(np.int64)
            representatives = first_of_each(codes, n_kinds)
            ways = ways[0][representatives], ways[1][representatives]
    evaluate = _Sums(kernel, fixed, *ways, sizes)
    block_size = choose_block_size(max(len(sizes), 1))
    return swap_kinds(evaluate, sizes, stay, n_units, n_resamples, entropy, block_size)


class _Sums:
    """Both models' values for numbers of units of each kind that lie the first way."""

    def __init__(
        self,
        kernel: SumsKernel,
        fixed: FloatArray,
        first: FloatArray,
        second: FloatArray,
        sizes: NDArray[np.int64],
    ) -> None:
        self.kernel, self.fixed, self.sizes = kernel, fixed, sizes
        self.terms = np.hstack([first, second])
        self.total = sizes @ self.terms
        self.whole = bool(np.all(self.terms == np.rint(self.terms)))
        self.workspace = Workspace()

    def __call__(self, counts: NDArray[Any]) -> Pair:
        upright = Weights(counts, self.workspace).dot(self.terms)
        if self.whole:
            reversed_ = self.total - upright
        else:  # a difference of rounded sums is not 0 where a sum over nothing is
            others = self.sizes.astype(counts.dtype) - counts
            reversed_ = Weights(others, self.workspace).dot(self.terms)
        n_terms = len(self.fixed)
        of_model = self.fixed + upright[:, :n_terms] + reversed_[:, n_terms:]
        of_baseline = self.fixed + reversed_[:, :n_terms] + upright[:, n_terms:]
        model, baseline = (self.kernel.formula(sums).values for sums in (of_model, of_baseline))
        return Pair(model[:, 0], baseline[:, 0])


def _swap_ranks(
    kernel: RankKernel | MulticlassKernel, units: Units, n_resamples: int, entropy: int
) -> SwapTest | None:
    """Test a rank metric by swapping mid-ranks, which are computed once for each model."""
    halves = [np.split(scores, 2) for scores in kernel.scores]
    ranks = tuple(
        np.concatenate([rankdata(half, axis=0) for half in of_model]) for of_model in halves
    )
    ranked: Any = (
        replace(kernel, scores=ranks, parts=())
        if isinstance(kernel, MulticlassKernel)
        else replace(kernel, scores=ranks)
    )
    first, second = np.split(ranks[0].reshape(2 * units.n_rows, -1), 2)
    differs = _of_units(np.any(first != second, axis=1), units)
    return swap_any(ranked, differs, units, n_resamples, entropy, approximate=True)


def swap_any(
    kernel: Kernel,
    differs: BoolArray,
    units: Units,
    n_resamples: int,
    entropy: int,
    *,
    approximate: bool = False,
) -> SwapTest | None:
    """Test any kernel; ``differs`` says which units of the comparison are worth a swap."""
    workspace = Workspace()

    def evaluate(stays: NDArray[np.uint8]) -> Pair:
        values = [
            kernel.evaluate(Weights(np.hstack(weights), workspace)).values[:, 0]
            for weights in ((stays, 1 - stays), (1 - stays, stays))
        ]
        return Pair(*values)

    block_size = choose_block_size(2 * max(units.n_units, units.n_rows))
    return swap_units(evaluate, differs, n_resamples, entropy, block_size, approximate=approximate)


def _of_units(of_rows: BoolArray, units: Units) -> BoolArray:
    marked: BoolArray = units.sum_rows(of_rows[:, None].astype(np.float64))[:, 0] > 0
    return marked
