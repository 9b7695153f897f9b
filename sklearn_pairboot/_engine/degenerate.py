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
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel

# More bins of a model than this make covariances of hundreds of megabytes.
_MOST_BINS = 2048


def chance_variance(kernel: Kernel, stratum: IntArray | None = None) -> FloatArray | None:
    """Variance matrix of what chance alone makes of the models' values, 2 tr(A S A S).

    The one of a difference c of models is ``c' V c``. ``None`` for kernels of other kinds.
    """
    found = _scaled_gaps(kernel)
    if found is None or max(of_model.shape[1] for of_model in found) > _MOST_BINS:
        return None
    means = None if stratum is None else _means_of_strata(stratum)
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
    values: FloatArray, chance: float, multiplicities: NDArray[Any] | None = None
) -> FloatArray:
    """Draw replicates of a difference in, to take out of their variance what chance counts twice.

    With v the part of ``chance`` in their variance V, 2 v is taken off where v = V / 3, as where
    no model has true gaps, and the less of it the smaller v / V: 6 v^2 / V. Away from zero the
    standard error rises and falls with the estimate, and one without any excess would make
    intervals that cover too little. What is left is never below v.
    """
    defined = ~np.isnan(values)
    weights = None if multiplicities is None else multiplicities[defined]
    if not chance > 0 or np.count_nonzero(defined) < 2:
        return values
    mean = float(np.average(values[defined], weights=weights))
    variance = float(np.average((values[defined] - mean) ** 2, weights=weights))
    if not variance > chance:
        return values
    kept = max(variance - 6 * chance**2 / variance, chance)
    drawn_in: FloatArray = mean + np.sqrt(kept / variance) * (values - mean)
    return drawn_in


def _means_of_strata(stratum: IntArray) -> Any:
    """Matrix of the means of strata, each times the root of its number of units."""
    share = 1 / np.sqrt(np.bincount(stratum))[stratum]
    return sparse.csr_array((share, (stratum, np.arange(len(stratum)))))


def _scaled_gaps(kernel: Kernel) -> list[Any] | None:
    """Give what units add to the gaps of bins, times the root of the bins' shares; one a model."""
    if isinstance(kernel, PartKernel):
        return _placed(_scaled_gaps(kernel.kernel), kernel.units, kernel.n_units)
    if isinstance(kernel, AverageKernel):
        shares = kernel.weights or (1 / len(kernel.folds),) * len(kernel.folds)
        of_folds = [
            _placed(_scaled_gaps(fold.kernel), fold.units, kernel.n_units) for fold in kernel.folds
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
    return _of_bins(kernel.sums, kernel.n_models)


def _placed(found: list[Any] | None, units: IntArray, n_units: int) -> list[Any] | None:
    """Give some units their places among all units."""
    if found is None:
        return None
    places = sparse.csr_array(
        (np.ones(len(units)), (units, np.arange(len(units)))), shape=(n_units, len(units))
    )
    return [places @ of_model for of_model in found]


def _of_bins(sums: BinSums, n_models: int) -> list[Any]:
    n_forecasts, _, n_bins = sums.shape
    n_events = n_forecasts // n_models
    units = sums.units
    weight = np.ones(units.n_rows) if sums.row_weight is None else sums.row_weight
    found = []
    for number, forecast in enumerate(sums.forecasts):
        of_bin, predicted, observed = sums.total[number, :3]
        gap = ratio(predicted - observed, of_bin, 0.0)
        own = weight * (forecast.predictions - forecast.outcomes - gap[forecast.bins])
        share = of_bin / (of_bin.sum() * n_events)
        own = own * ratio(np.sqrt(share), of_bin, 0.0)[forecast.bins]
        shape = units.n_units, n_bins
        if units.of_row is None:  # one entry a row, in their order
            ends = np.arange(units.n_rows + 1)
            found.append(sparse.csr_array((own, forecast.bins, ends), shape))
        else:
            found.append(sparse.csr_array((own, (units.of_row, forecast.bins)), shape))
    if n_events == 1:
        return found
    return [
        sparse.hstack(found[model * n_events : (model + 1) * n_events]).tocsr()
        for model in range(n_models)
    ]
