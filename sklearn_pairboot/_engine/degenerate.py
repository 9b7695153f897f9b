"""Debiased squared errors: how much of their replicates' variance is that of squared chance.

A debiased squared calibration error is a quadratic form of the gaps between predictions and rates,
less its bias. Its variance has a part that is linear in the gaps, 4 g' A S A g, and one of pure
chance, 2 tr(A S A S), for gaps g of covariance S and shares A of the bins. Replicates deviate from
the observed gaps, which hold chance themselves, so that they overstate the linear part by
4 tr(A S A S): where true gaps are zero, and the statistic is degenerate, their variance is three
times too large (on the bootstrap of degenerate statistics see Arcones and Gine 1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_pairboot._engine.average import AverageKernel
from sklearn_pairboot._engine.binned import BinnedKernel, BinSums
from sklearn_pairboot._engine.formulas import ratio
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel

# More bins of a model than this make covariances of hundreds of megabytes.
_MOST_BINS = 2048
# Variances of replicates are too small by no more than this, but for rounding.
_MOST_WIDENED = 2.0
_ROUNDING = 1e-9


def chance_variance(kernel: Kernel, stratum: IntArray | None = None) -> FloatArray | None:
    """Variance matrices of what chance alone makes of the models' values, 2 tr(A S A S).

    Shape (2, n_models, n_models). The first takes S as resampling does, whose units have the
    observed spread. The second is right for few units in a bin: what is left of a debiased square
    are products of two different units, fewer than all by 1 - 1 / n, and of their deviations
    from the mean each square is too small by as much. The one of a difference c of models is
    ``c' V c``. ``None`` for kernels of other kinds.
    """
    both = [_scaled_gaps(kernel, of_pairs) for of_pairs in (False, True)]
    if both[0] is None or max(of_model.shape[1] for of_model in both[0]) > _MOST_BINS:
        return None
    means = None if stratum is None else _means_of_strata(stratum)
    return np.stack([_squared_covariances(found or [], means) for found in both])


def _squared_covariances(found: list[Any], means: Any) -> FloatArray:
    variance = np.empty((len(found), len(found)))
    for i, one in enumerate(found):
        turned = one.T.tocsr()
        for j, other in enumerate(found[: i + 1]):
            covariance = (turned @ other).toarray()
            if means is not None:  # what the units of a stratum have in common does not vary
                covariance -= ((means @ one).T @ (means @ other)).toarray()
            variance[i, j] = variance[j, i] = 2 * np.sum(covariance**2)
    return variance


def without_excess(
    values: FloatArray, chance: FloatArray, multiplicities: NDArray[Any] | None = None
) -> FloatArray:
    """Bring the replicates of a difference to the spread that the difference has.

    ``chance`` are both variances of `chance_variance`, u and v. With V the variance of the
    replicates, 5 u^2 / V is taken off: five sixths of what they have too much where no model has
    true gaps (u = V / 3), and the less the smaller u / V. Away from zero the standard error rises
    and falls with the estimate, and one without any excess would make intervals that cover too
    little. What is left is never below v, which is above V where most bins have two or three units.
    """
    of_replicates, of_value = chance
    defined = ~np.isnan(values)
    weights = None if multiplicities is None else multiplicities[defined]
    if not of_replicates > 0 or np.count_nonzero(defined) < 2:
        return values
    mean = float(np.average(values[defined], weights=weights))
    variance = float(np.average((values[defined] - mean) ** 2, weights=weights))
    if not variance > 0:
        return values
    kept = max(variance - 5 * of_replicates**2 / variance, of_value)
    brought = np.sqrt(min(kept / variance, _MOST_WIDENED))
    found: FloatArray = mean + brought * (values - mean)
    return found


def _means_of_strata(stratum: IntArray) -> Any:
    """Matrix of the means of strata, each times the root of its number of units."""
    share = 1 / np.sqrt(np.bincount(stratum))[stratum]
    return sparse.csr_array((share, (stratum, np.arange(len(stratum)))))


def _scaled_gaps(kernel: Kernel, of_pairs: bool) -> list[Any] | None:
    """Give what units add to the gaps of bins, times the root of the bins' shares; one a model.

    ``of_pairs`` scales it so that squares of sums are those of pairs of different units.
    """
    if isinstance(kernel, PartKernel):
        return _placed(_scaled_gaps(kernel.kernel, of_pairs), kernel.units, kernel.n_units)
    if isinstance(kernel, AverageKernel):
        shares = kernel.weights or (1 / len(kernel.folds),) * len(kernel.folds)
        of_folds = [
            _placed(_scaled_gaps(fold.kernel, of_pairs), fold.units, kernel.n_units)
            for fold in kernel.folds
        ]
        if any(of_fold is None for of_fold in of_folds):
            return None
        by_model = zip(*(of_fold or [] for of_fold in of_folds), strict=True)
        return [
            sparse.hstack(
                [np.sqrt(share) * part for share, part in zip(shares, parts, strict=True)]
            ).tocsr()
            for parts in by_model
        ]
    if not isinstance(kernel, BinnedKernel) or not kernel.squared:
        return None
    return _of_bins(kernel.sums, kernel.n_models, of_pairs)


def _placed(found: list[Any] | None, units: IntArray, n_units: int) -> list[Any] | None:
    """Give some units their places among all units."""
    if found is None:
        return None
    places = sparse.csr_array(
        (np.ones(len(units)), (units, np.arange(len(units)))), shape=(n_units, len(units))
    )
    return [places @ of_model for of_model in found]


def _of_bins(sums: BinSums, n_models: int, of_pairs: bool) -> list[Any]:
    n_forecasts, _, n_bins = sums.shape
    n_events = n_forecasts // n_models
    weight = np.ones(sums.units.n_rows) if sums.row_weight is None else sums.row_weight
    found = []
    for number, forecast in enumerate(sums.forecasts):
        of_bin, predicted, observed = sums.total[number, :3]
        gap = ratio(predicted - observed, of_bin, 0.0)
        own = weight * (forecast.predictions - forecast.outcomes - gap[forecast.bins])
        share = of_bin / (of_bin.sum() * n_events)
        scale = ratio(np.sqrt(share), of_bin, 0.0)
        if of_pairs:
            squares = _by_unit(weight, forecast.bins, sums.units, n_bins).power(2).sum(axis=0)
            pairs = 1 - ratio(np.asarray(squares).reshape(-1), of_bin**2, 1.0)
            # Squares of covariances have the fourth power: it is 1 / pairs**3 of all.
            scale *= ratio(np.ones(n_bins), np.where(pairs > _ROUNDING, pairs, 0.0), 0.0) ** 0.75
        found.append(_by_unit(own * scale[forecast.bins], forecast.bins, sums.units, n_bins))
    if n_events == 1:
        return found
    return [
        sparse.hstack(found[model * n_events : (model + 1) * n_events]).tocsr()
        for model in range(n_models)
    ]


def _by_unit(values: FloatArray, bins: IntArray, units: Units, n_bins: int) -> Any:
    """Sum values of rows by unit and bin."""
    shape = units.n_units, n_bins
    if units.of_row is None:  # one entry a row, in their order
        return sparse.csr_array((values, bins, np.arange(units.n_rows + 1)), shape)
    return sparse.csr_array((values, (units.of_row, bins)), shape)
