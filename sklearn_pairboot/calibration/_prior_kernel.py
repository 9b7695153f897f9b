"""Shares of the classes as a function of unit weights: the maximum of the likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Values, Weights

_MOST_STEPS = 10_000
_STEP = 1e-9
# A row that is certain of one class has no likelihood where its share is zero.
_LEAST_LIKELIHOOD = 1e-100


@dataclass(frozen=True)
class PriorKernel:
    """Shares of the classes, one column a class, as a function of unit weights.

    ``ratios`` are probabilities over old shares, shape (n_rows, n_classes).
    """

    ratios: FloatArray
    old: FloatArray
    units: Units
    path: str = "sums"

    @property
    def n_models(self) -> int:
        return len(self.old)

    def evaluate(self, weights: Weights) -> Values:
        """Maximise the likelihood of all resamples of the block at once."""
        by_row = weights.by_unit.T
        if self.units.of_row is not None:
            by_row = by_row[:, self.units.of_row]
        drawn = by_row.astype(np.float64)
        maximise = _solve_two_classes if len(self.old) == 2 else _run_em
        shares = maximise(drawn, self.ratios, self.old)
        nowhere = np.zeros(shares.shape, dtype=bool)
        return Values(shares, nowhere, nowhere)

    def influence(self, weights: Weights) -> None:
        return None

    def leave_one_out(self) -> Any:
        raise TypeError("percentile intervals need no jackknife")

    def unit_keys(self) -> None:
        return None

    def take_units(self, units: Any) -> Any:
        raise TypeError("units are never merged here")


def _run_em(drawn: FloatArray, ratios: FloatArray, old: FloatArray) -> FloatArray:
    """Find the shares of every resample by EM; a step of all is two matrix products."""
    total = drawn.sum(axis=1, keepdims=True)
    shares: FloatArray = np.tile(old, (len(drawn), 1))
    moving = np.arange(len(drawn))
    for _ in range(_MOST_STEPS):
        now = shares[moving]
        weight = drawn[moving]
        shares[moving] = now * (_over(weight, now @ ratios.T) @ ratios) / total[moving]
        moving = moving[np.abs(shares[moving] - now).max(axis=1) > _STEP]
        if not len(moving):
            break
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _solve_two_classes(drawn: FloatArray, ratios: FloatArray, old: FloatArray) -> FloatArray:
    """Find where EM would end, the root of the score, by Newton steps within a bracket."""
    gain = ratios[:, 1] - ratios[:, 0]
    low, high = np.zeros(len(drawn)), np.ones(len(drawn))
    share: FloatArray = np.full(len(drawn), old[1])
    for _ in range(_MOST_STEPS):
        pull = gain / np.maximum(ratios[:, 0] + share[:, None] * gain, _LEAST_LIKELIHOOD)
        weighted = drawn * pull
        score = weighted.sum(axis=1)
        pull *= weighted
        slope = pull.sum(axis=1)
        low, high = np.where(score > 0, share, low), np.where(score > 0, high, share)
        step = np.divide(score, slope, out=np.zeros(len(drawn)), where=slope > 0)
        newton = share + step
        moved = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        moved = np.where(slope > 0, moved, share)
        settled = np.abs(moved - share).max() <= _STEP
        share = moved
        if settled:
            break
    return np.column_stack([1 - share, share])


def _over(weight: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Divide; rows that are not drawn may have no likelihood."""
    quotient = np.zeros(weight.shape)
    np.divide(weight, likelihood, out=quotient, where=weight > 0)
    return quotient
