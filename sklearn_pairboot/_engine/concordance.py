"""Concordant pairs of positives and negatives: by cluster, and with each unit left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray


def concordance_matrix(
    scores: FloatArray, positive: BoolArray, row_weight: FloatArray | None, units: Units
) -> FloatArray:
    """Weigh the concordant pairs of each cluster's positives with each cluster's negatives.

    With cluster weights w the AUC is ``w'Mw / (w'p)(w'q)``, where p and q are the class weights.
    """
    unit = np.arange(units.n_rows) if units.of_row is None else units.of_row
    weight = np.ones(units.n_rows) if row_weight is None else row_weight
    positives = np.flatnonzero(positive)
    positives = positives[np.argsort(scores[positives], kind="stable")]
    negatives = np.flatnonzero(~positive)
    negatives = negatives[np.argsort(unit[negatives], kind="stable")]
    bounds = np.searchsorted(unit[negatives], np.arange(units.n_units + 1))
    # A negative is overtaken half at the first positive not below it, half at the first above.
    reached = np.searchsorted(scores[positives], scores[negatives], side="left")
    passed = np.searchsorted(scores[positives], scores[negatives], side="right")
    half = 0.5 * weight[negatives]
    n_steps = len(positives) + 1
    matrix = np.zeros((units.n_units, units.n_units))
    for column in np.flatnonzero(np.diff(bounds)):
        own = slice(bounds[column], bounds[column + 1])
        steps = np.bincount(reached[own], half[own], n_steps)
        steps += np.bincount(passed[own], half[own], n_steps)
        overtaken = np.cumsum(steps)[:-1] * weight[positives]
        matrix[:, column] = np.bincount(unit[positives], overtaken, units.n_units)
    return matrix


def auc_without_each(
    scores: FloatArray, positive: BoolArray, row_weight: FloatArray | None, units: Units
) -> FloatArray:
    """Evaluate the AUC without each unit, shape (n_units,); NaN where a class is lost.

    Removing a unit removes the pairs of its rows with all rows, which counts the pairs inside the
    unit twice.
    """
    weight = np.ones(units.n_rows) if row_weight is None else row_weight
    segment = np.zeros(units.n_rows, dtype=np.int64)
    pairs = _concordant_of_rows(scores, positive, weight, segment)
    total = pairs[positive].sum()
    lost = units.sum_rows(pairs[:, None])[:, 0]
    if units.of_row is not None:
        inside = _concordant_of_rows(scores, positive, weight, units.of_row)
        lost = lost - units.sum_rows(np.where(positive, inside, 0.0)[:, None])[:, 0]
    classes = units.sum_rows(np.column_stack([weight * positive, weight * ~positive]))
    rest = classes.sum(axis=0) - classes
    rest[np.abs(rest) <= 1e-13 * classes.sum(axis=0)] = 0.0
    denominator = rest[:, 0] * rest[:, 1]
    without = np.full(units.n_units, np.nan)
    np.divide(total - lost, denominator, out=without, where=denominator > 0)
    return without


def _concordant_of_rows(
    scores: FloatArray, positive: BoolArray, weight: FloatArray, segment: NDArray[np.int64]
) -> FloatArray:
    """Weigh, for each row, its concordant pairs with rows of the other class in its segment."""
    order = np.lexsort((scores, segment))
    ordered, ordered_segment = scores[order], segment[order]
    new_segment = np.concatenate([[True], ordered_segment[1:] != ordered_segment[:-1]])
    new_block = new_segment | np.concatenate([[True], ordered[1:] != ordered[:-1]])
    block = np.cumsum(new_block) - 1
    starts = np.flatnonzero(new_block)
    ends = np.append(starts[1:], len(order))
    first = np.flatnonzero(new_segment)
    last = np.append(first[1:], len(order))
    number = np.cumsum(new_segment) - 1
    result = np.empty(len(order))
    for own, other, upwards in ((True, False, False), (False, True, True)):
        is_own = positive[order] == own
        other_weight = np.where(positive[order] == other, weight[order], 0.0)
        cumulated = np.concatenate([[0.0], np.cumsum(other_weight)])
        before = 0.5 * (cumulated[starts] + cumulated[ends])[block]
        beside = cumulated[last][number] - before if upwards else before - cumulated[first][number]
        result[order[is_own]] = (beside * weight[order])[is_own]
    return result
