"""Influence of each row on a rank metric: derivatives by its weight, in many resamples at once.

Rows are taken in ascending order of their scores. Weights have shape (n_resamples, n_rows); every
function returns the derivatives in that shape and in the order in which the rows were given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import BoolArray, FloatArray

# Weights taken together, so that the arrays made of them stay in cache.
NUMBERS_AT_ONCE = 2**15


class Blocks(NamedTuple):
    """Rows in ascending order of their scores, in blocks of equal ones.

    ``starts`` and ``ends`` are by block, ``block`` says in which one each ordered row is.
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    block: NDArray[np.intp]

    @classmethod
    def of(cls, scores: FloatArray) -> Blocks:
        """Sort the rows."""
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        starts = np.flatnonzero(new)
        return cls(order, starts, np.append(starts[1:], len(order)), np.cumsum(new) - 1)

    @property
    def first(self) -> NDArray[np.intp]:
        """Where the block of each ordered row starts."""
        return self.starts[self.block]

    @property
    def last(self) -> NDArray[np.intp]:
        """Where the block of each ordered row ends."""
        return self.ends[self.block]

    def reversed(self) -> Blocks:
        """Put the rows in descending order."""
        n_rows, n_blocks = len(self.order), len(self.starts)
        return Blocks(
            self.order[::-1],
            n_rows - self.ends[::-1],
            n_rows - self.starts[::-1],
            n_blocks - 1 - self.block[::-1],
        )


def auc_influence(blocks: Blocks, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """Differentiate the AUC: placement values, less the AUC, over the weight of the own class."""
    is_positive = positive[blocks.order].astype(np.float64)
    ordered = np.take(weights, blocks.order, axis=1)
    of_class = ordered * (1 - is_positive), ordered * is_positive
    below, above = (cumulated(part) for part in of_class)
    of_negatives, of_positives = below[:, -1:], above[:, -1:]
    if len(blocks.starts) == len(blocks.order):  # no ties: a row has none of the other class beside
        below, above = below[:, :-1], above[:, :-1]
    else:
        below, above = (
            0.5 * np.take(part, blocks.first, axis=1) + 0.5 * np.take(part, blocks.last, axis=1)
            for part in (below, above)
        )
    placement = below * is_positive + (of_positives - above) * (1 - is_positive)
    pairs = of_negatives * of_positives
    area = np.einsum("bi,bi->b", of_class[1], placement)[:, None] / pairs
    placement /= pairs
    placement -= area / of_positives * is_positive + area / of_negatives * (1 - is_positive)
    return in_given_order(placement, blocks)


def average_precision_influence(
    blocks: Blocks, positive: BoolArray, weights: FloatArray
) -> FloatArray:
    """Differentiate average precision.

    A row's weight enters the precision at its own score and at all lower ones, and that of a
    positive also the mean over the positives.
    """
    is_positive = positive[blocks.order].astype(np.float64)
    ordered = np.take(weights, blocks.order, axis=1)
    of_positives = ordered * is_positive
    total_true, total_seen = cumulated(of_positives), cumulated(ordered)
    weight = total_true[:, -1:]
    true = weight - np.take(total_true, blocks.first, axis=1)
    seen = total_seen[:, -1:] - np.take(total_seen, blocks.first, axis=1)
    # What subtraction leaves of nothing is not seen either.
    seen[seen <= 1e-13 * total_seen[:, -1:]] = np.inf
    precision = true / seen
    of_positives /= seen
    gained = cumulated(of_positives)
    of_positives *= precision
    found = -np.take(cumulated(of_positives), blocks.last, axis=1)
    precision += np.take(gained, blocks.last, axis=1)
    average = np.einsum("bi,bi->b", ordered * is_positive, true / seen)[:, None] / weight
    precision -= average
    precision *= is_positive
    found += precision
    return in_given_order(found / weight, blocks)


def partial_auc_influence(
    blocks: Blocks, positive: BoolArray, weights: FloatArray, max_fpr: float
) -> FloatArray:
    """Differentiate the standardised partial area up to a false positive rate.

    A negative moves all that lies to its right, and the end of the range; where that falls on a
    step of the curve, the derivative is the one from the left.
    """
    blocks = blocks.reversed()
    is_positive = positive[blocks.order]
    ordered = weights[:, blocks.order]
    false = cumulated(np.where(is_positive, 0.0, ordered))
    true = cumulated(np.where(is_positive, ordered, 0.0))
    start, end = false[:, blocks.starts], false[:, blocks.ends]
    height = true[:, blocks.starts]
    rise = true[:, blocks.ends] - height
    of_negatives, of_positives = false[:, -1:], true[:, -1:]
    limit = max_fpr * of_negatives
    width = end - start
    used = np.clip(limit - start, 0.0, width)
    flat = width <= 0
    # Share of a block's rise that is reached at the limit, and its mean over the part used.
    share = np.where(flat, start < limit, used / np.where(flat, 1.0, width))
    top = (rise * share).sum(axis=1, keepdims=True)
    by_positive = 0.5 * used * share + np.maximum(limit - end, 0.0)
    inside = end <= limit
    by_negative = max_fpr * top + np.where(
        inside, height + 0.5 * rise - top, -0.5 * rise * share**2
    )
    reached = start < limit
    by_negative = np.where(reached, by_negative, max_fpr * top)
    area = (used * (height + 0.5 * rise * share)).sum(axis=1, keepdims=True)
    by_row = np.where(is_positive, by_positive[:, blocks.block], by_negative[:, blocks.block])
    own_weight = np.where(is_positive, of_positives, of_negatives)
    pairs = of_negatives * of_positives
    found = by_row / pairs - area / pairs / own_weight
    span = max_fpr - 0.5 * max_fpr**2
    return in_given_order(0.5 * found / span, blocks)


def cumulated(values: FloatArray) -> FloatArray:
    """Cumulate along each resample, with a leading zero."""
    out = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=out[:, 1:])
    return out


def in_given_order(ordered: FloatArray, blocks: Blocks) -> FloatArray:
    """Put what belongs to ordered rows where the rows were."""
    out = np.empty_like(ordered)
    out[:, blocks.order] = ordered
    return out
