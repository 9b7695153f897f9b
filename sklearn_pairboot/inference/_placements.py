"""Areas under the curve of several models and their covariance, from placements of rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot.inference._checks import ROUNDING
from sklearn_pairboot.metrics.placements import twice_placed

FloatArray = NDArray[np.float64]
# Directions whose standard deviation is below this share of the largest have none.
_RANK_TOLERANCE = 1e-10


class Placements(NamedTuple):
    """For each row and model, twice the number of rows of the other class on its right side.

    Ties count half, so all entries are whole numbers: models that rank alike agree exactly.
    """

    twice: FloatArray  # (n_rows, n_models)
    positive: NDArray[np.bool_]  # (n_rows,)

    @property
    def class_sizes(self) -> tuple[int, int]:
        """Numbers of positive and of negative rows."""
        n_positive = int(self.positive.sum())
        return n_positive, len(self.positive) - n_positive


class Contrasts(NamedTuple):
    """Linear combinations of areas, and a root of their covariance, ``root.T @ root``."""

    estimates: FloatArray  # (n_contrasts,)
    root: FloatArray  # (any, n_contrasts)


def placements(scores: FloatArray, positive: NDArray[np.bool_]) -> Placements:
    """Place the rows of each model by mid-ranks, ``scores`` of shape (n_models, n_rows)."""
    twice = np.empty(scores.shape[::-1])
    for model, values in enumerate(scores):
        twice[:, model] = twice_placed(values, positive)
    return Placements(twice, positive)


def combine(placed: Placements, weights: FloatArray, unit: NDArray[np.int64] | None) -> Contrasts:
    """Combine the models' areas with weights of shape (n_contrasts, n_models).

    ``unit`` numbers the cluster of each row; without it every row is its own.
    """
    positive = placed.positive
    n_positive, n_negative = placed.class_sizes
    pairs = 2 * n_positive * n_negative
    combined = placed.twice @ weights.T
    size = np.abs(weights).sum(axis=1)
    estimates = combined[positive].sum(axis=0) / pairs
    estimates[np.abs(estimates) <= ROUNDING * size] = 0.0
    # Each class' placements about their mean, as shares of all pairs: they add up to 0 twice.
    parts = np.zeros((2, *combined.shape))
    for part, own in zip(parts, (positive, ~positive), strict=True):
        centred = combined[own] - combined[own].mean(axis=0)
        centred[np.abs(centred) <= ROUNDING * size * 2 * max(n_positive, n_negative)] = 0.0
        part[own] = centred / pairs
    of_positives, of_negatives = parts
    if unit is None:
        scaled = of_positives * math.sqrt(_factor(n_positive))
        return Contrasts(estimates, scaled + of_negatives * math.sqrt(_factor(n_negative)))
    of_positives, of_negatives = (_sums(part, unit) for part in parts)
    factor = _factor(len(of_positives))
    rest = [_factor(len(np.unique(unit[own]))) - factor for own in (positive, ~positive)]
    blocks = [
        math.sqrt(factor) * (of_positives + of_negatives),
        math.sqrt(rest[0]) * of_positives,
        math.sqrt(rest[1]) * of_negatives,
    ]
    return Contrasts(estimates, np.concatenate(blocks))


def joint_chi_square(contrasts: Contrasts) -> tuple[float, int]:
    """Test all contrasts at once: chi-square and its degrees of freedom.

    Contrasts that follow from others count once. NaN where there is no variance, infinite where a
    combination without any variation is not zero.
    """
    errors = np.sqrt((contrasts.root**2).sum(axis=0))
    if np.isnan(errors).any():
        return math.nan, 0
    varies = errors > 0
    if (contrasts.estimates[~varies] != 0).any():
        return math.inf, int(varies.sum())
    if not varies.any():
        return 0.0, 0
    standardised = contrasts.estimates[varies] / errors[varies]
    _, spread, directions = np.linalg.svd(
        contrasts.root[:, varies] / errors[varies], full_matrices=False
    )
    along = directions @ standardised
    kept = spread > _RANK_TOLERANCE * spread[0]
    left = np.abs(along[~kept]) > 1e-6 * np.abs(standardised).max()
    if left.any():
        return math.inf, int(kept.sum())
    return float(((along[kept] / spread[kept]) ** 2).sum()), int(kept.sum())


def _factor(n: int) -> float:
    """Correct for the mean that deviations are taken from; one of them tells no variance."""
    return n / (n - 1) if n > 1 else math.nan


def _sums(rows: FloatArray, unit: NDArray[np.int64]) -> FloatArray:
    """Add up the rows of each cluster."""
    return np.column_stack([np.bincount(unit, column) for column in rows.T])
