"""Bins of predicted probabilities: where they begin, and who is in which.

Bins are half-open, ``[low, high)``, and the last one is closed, as those of `numpy.histogram`. They
are given by their inner edges: equal predictions are never torn apart, whatever the order of rows.
"""

from __future__ import annotations

import numpy as np

from sklearn_pairboot._engine.weights import FloatArray, IntArray

STRATEGIES = ("uniform", "quantile", "sweep")
# Shares of the total weight that differ by less are equal but for rounding.
_ROUNDING = 1e-12


def inner_edges(
    predictions: FloatArray,
    outcomes: FloatArray,
    n_bins: int,
    strategy: str,
    row_weight: FloatArray | None = None,
) -> FloatArray:
    """Give the edges between bins of equal width, or of equal weight.

    ``"sweep"`` takes as many bins of equal weight as keep the rates of their outcomes in order.
    """
    if strategy == "uniform":
        edges: FloatArray = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
        return edges
    if row_weight is not None:  # rows without weight are as good as absent
        kept = row_weight > 0
        predictions, outcomes, row_weight = predictions[kept], outcomes[kept], row_weight[kept]
    distinct, places = np.unique(predictions, return_inverse=True)
    weight = np.ones(len(predictions)) if row_weight is None else row_weight
    places = places.reshape(-1)
    below = _summed_below(places, weight)
    if strategy == "quantile":
        return distinct[_cuts(below, n_bins)]
    positive = _summed_below(places, weight * outcomes)
    cuts = np.empty(0, dtype=np.int64)
    for n_more in range(2, len(distinct) + 1):
        wanted = _cuts(below, n_more)
        ends = np.concatenate([[0], wanted, [len(distinct)]])
        masses = np.diff(below[ends])
        if (np.diff(np.diff(positive[ends]) / masses) < -_ROUNDING).any():
            break
        cuts = wanted
    return distinct[cuts]


def bin_numbers(predictions: FloatArray, edges: FloatArray) -> IntArray:
    """Give each prediction the number of its bin, from zero."""
    return np.searchsorted(edges, predictions, side="right").astype(np.int64)


def _summed_below(places: IntArray, masses: FloatArray) -> FloatArray:
    """Sum up what comes before each distinct value, and at last all."""
    return np.concatenate([[0.0], np.cumsum(np.bincount(places, masses))])


def _cuts(below: FloatArray, n_bins: int) -> IntArray:
    """Places of the distinct values that begin a new bin.

    A bin begins with the first value that has its share of the weight below it.
    """
    shares = np.arange(1, n_bins) * (below[-1] / n_bins)
    cuts = np.searchsorted(below[:-1], shares - _ROUNDING * below[-1], side="left")
    return np.unique(cuts[(cuts > 0) & (cuts < len(below) - 1)]).astype(np.int64)
