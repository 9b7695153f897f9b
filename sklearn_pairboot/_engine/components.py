"""Variance components of the mean of several fits that were scored on the same units.

Fits belong to training sets, or each is a training set of its own (a seed). They are crossed with
the units: every fit is scored on every unit. A random-effects analysis of variance needs two
things of such data, the values of the fits and the covariance of these values over units drawn
anew. For means both are exact, and the mean squares are those of the textbooks divided by the
number of values in a mean; any other metric has values and a covariance too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.weights import FloatArray, IntArray

# Mean squares below the square of this share of the scale are rounding, and so are components
# below this share of the mean squares that they are computed from.
_NOISE = 1e-12


class Layout(NamedTuple):
    """Numbers of training sets, of fits in each, and of units.

    ``within`` is the number of fits that a set's mean is worth, the harmonic mean where sets
    differ.
    """

    n_sets: int
    within: float
    n_units: int

    @classmethod
    def of(cls, set_of_fit: IntArray, n_units: int) -> Layout:
        """Count sets and the fits in each."""
        sizes = np.bincount(set_of_fit)
        return cls(len(sizes), float(1 / np.mean(1 / sizes)), n_units)


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares and their degrees of freedom, in the unit of a squared standard error.

    In this order: between sets, between units, sets x units; and where some set has several fits,
    between fits of a set, fits of a set x units.
    """

    values: FloatArray
    df: FloatArray
    layout: Layout

    @classmethod
    def of(
        cls,
        values: FloatArray,
        covariance: FloatArray,
        set_of_fit: IntArray,
        n_units: int,
        scale: float = 0.0,
    ) -> MeanSquares:
        """Compute them from the values of the fits and their covariance over units drawn anew.

        ``set_of_fit`` numbers the training set of each fit from zero without gaps; at least two
        sets are needed. Sets count equally, whatever the number of their fits. What is rounding
        in values of size ``scale`` is set to zero.
        """
        layout = Layout.of(set_of_fit, n_units)
        n_sets = layout.n_sets
        members = (set_of_fit == np.arange(n_sets)[:, None]).astype(np.float64)
        sizes = members.sum(axis=1)
        averaging = members / sizes[:, None]
        of_sets, covariance_of_sets = averaging @ values, averaging @ covariance @ averaging.T
        between_units = float(covariance_of_sets.mean())
        found = [
            float(of_sets.var(ddof=1)),
            between_units,
            (float(np.trace(covariance_of_sets)) - n_sets * between_units) / (n_sets - 1),
        ]
        df = [n_sets - 1, n_units - 1, (n_sets - 1) * (n_units - 1)]
        spare = len(values) - n_sets
        if spare:
            found += [
                float(np.sum((values - of_sets[set_of_fit]) ** 2)) / spare,
                float(np.trace(covariance) - sizes @ np.diag(covariance_of_sets)) / spare,
            ]
            df += [spare, spare * (n_units - 1)]
        squares = np.array(found)
        squares[squares <= (_NOISE * scale) ** 2] = 0.0
        return cls(squares, np.array(df, dtype=np.float64), layout)


@dataclass(frozen=True)
class Components:
    """Variance components by the method of moments, as linear functions of mean squares.

    One a source, in this order: sets, units, sets x units; and where sets have several fits, fits
    of a set, fits of a set x units. Those with units are the variance of one fit's value on as
    many units as there are. ``resampled`` sets were drawn from one training sample, whose own
    variation the mean of any number of them keeps.
    """

    mean_squares: MeanSquares
    resampled: bool = False

    @property
    def adds_differences(self) -> bool:
        """Whether the variance holds a difference of mean squares in full.

        That of the training sample does where sets have several fits: the mean square between
        sets without that of the fits. Satterthwaite's approximation fails for it.
        """
        return self.resampled and len(self.mean_squares.values) == 5

    def _matrix(self) -> FloatArray:
        """Coefficients of the mean squares in every component."""
        n_sets, within, _ = self.mean_squares.layout
        matrix = np.array([[1, 0, -1], [0, 1, -1 / n_sets], [0, 0, 1]], dtype=np.float64)
        if len(self.mean_squares.values) == 3:
            return matrix
        nested = np.zeros((5, 5))
        nested[:3, :3] = matrix
        nested[0, 3:] = -1 / within, 1 / within
        nested[2, 4] = -1 / within
        nested[3, 3:] = 1, -1
        nested[4, 4] = 1
        return nested

    def _shares_of(self, layout: Layout) -> FloatArray:
        """How much of each component enters the squared standard error of the mean."""
        n_sets, within, n_units = layout
        by_units = self.mean_squares.layout.n_units / n_units
        of_sets = 1 / n_sets + self.resampled
        found = [of_sets, by_units, by_units / n_sets]
        if len(self.mean_squares.values) == 5:
            found += [1 / (n_sets * within), by_units / (n_sets * within)]
        return np.array(found)

    @property
    def values(self) -> FloatArray:
        """Components; negative ones, and what is rounding, are set to zero."""
        matrix, squares = self._matrix(), self.mean_squares.values
        found = matrix @ squares
        return np.where(found > _NOISE * (np.abs(matrix) @ squares), found, 0.0)

    def contributions(self, layout: Layout | None = None) -> FloatArray:
        """Parts of the squared standard error of the mean, in these numbers or in others."""
        return self.values * self._shares_of(layout or self.mean_squares.layout)

    def std_error(self, layout: Layout | None = None) -> float:
        """Give the standard error of the mean, in these numbers or in others."""
        return math.sqrt(float(self.contributions(layout).sum()))

    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the squared standard error, by Satterthwaite's approximation.

        They never fall below those of the mean square that has fewest, as no sum of mean squares
        knows less; with mean squares that are subtracted the formula alone can.
        """
        matrix = self._matrix()
        kept = self._shares_of(self.mean_squares.layout) * (self.values > 0)
        parts = (kept @ matrix) * self.mean_squares.values
        if not parts.any():
            return math.nan
        parts /= np.abs(parts).max()  # whose squares might leave float64
        df = self.mean_squares.df
        return float(max(parts.sum() ** 2 / np.sum(parts**2 / df), df.min()))

    def draw_contributions(self, generator: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw from the generalized pivotal quantities, shape (n_draws, n_sources).

        A mean square divided by its expectation is taken for chi-squared over its degrees of
        freedom; solving for the expectation gives what the data allow it to be.
        """
        df = self.mean_squares.df
        expected = self.mean_squares.values * df / generator.chisquare(df, (n_draws, len(df)))
        drawn = np.maximum(expected @ self._matrix().T, 0.0)
        found: FloatArray = drawn * self._shares_of(self.mean_squares.layout)
        return found


def jackknife_covariance(leave_one_out: FloatArray) -> FloatArray:
    """Covariance of several values over units drawn anew, from the values without each unit.

    For means of units that is their covariance (denominator n - 1) divided by n.
    """
    n_units = len(leave_one_out)
    centred = leave_one_out - leave_one_out.mean(axis=0)
    found: FloatArray = centred.T @ centred * ((n_units - 1) / n_units)
    return found


def bootstrap_covariance(
    replicates: FloatArray, n_units: int, multiplicities: NDArray[Any] | None = None
) -> FloatArray:
    """Covariance of several values from their joint replicates; those with NaN are left out.

    ``multiplicities`` weight the replicates of an enumeration. The factor undoes the shrinkage of
    a bootstrap of ``n_units`` units, exactly so for means.
    """
    defined = ~np.isnan(replicates).any(axis=1)
    if multiplicities is None:
        covariance = np.cov(replicates[defined], rowvar=False)
    else:
        weights = multiplicities[defined].astype(np.float64)
        covariance = np.cov(replicates[defined], rowvar=False, aweights=weights, ddof=0)
    return np.atleast_2d(covariance) * (n_units / (n_units - 1))


def crossed_weights(
    set_of_fit: IntArray, generator: np.random.Generator, n_resamples: int
) -> FloatArray:
    """Draw sets with replacement, and fits within each drawn set: the weight of every fit.

    Shape (n_resamples, n_fits); weights of a resample sum to one.
    """
    sizes = np.bincount(set_of_fit)
    n_sets = len(sizes)
    times = generator.multinomial(n_sets, np.full(n_sets, 1 / n_sets), size=n_resamples)
    weights = np.empty((n_resamples, len(set_of_fit)))
    for number, size in enumerate(sizes.tolist()):
        share = np.full(size, 1 / size)
        drawn = generator.multinomial(times[:, number] * size, share)
        weights[:, set_of_fit == number] = drawn / (size * n_sets)
    return weights
