"""Variances of metrics by the influence of the resampling units, observed and in each resample.

The influence L of a unit is the derivative of a metric by its weight. With n units the variance is
``n / (n - 1) sum w (L - mean)^2``, within each stratum where there are strata (Davison and Hinkley
1997, section 2.7). All models are taken together: variances are matrices, and the one of a contrast
c of models is ``c' V c``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.exact import count_vectors
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.rank_influence import NUMBERS_AT_ONCE
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel, LeaveOneOut, Weights

# Variances of differences this small relative to those of the models are rounding.
_NOISE = 1e-12


@dataclass(frozen=True)
class Draws:
    """What was drawn, to be had again block by block: the same counts from the same seed.

    ``kernels`` are those of the distinct units that ``source`` draws. Without ``entropy`` it is
    every vector of counts.
    """

    kernels: tuple[Kernel, ...]
    source: CountSource
    entropy: int | None
    n_resamples: int

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Draw again, in the order of the replicates."""
        source = self.source
        if self.entropy is None:
            yield count_vectors(source.multiplicities, source.stratum).counts
            return
        for block, start in enumerate(range(0, self.n_resamples, source.block_size)):
            counts = source.draw(np.random.SeedSequence(self.entropy, spawn_key=(block,)))
            yield counts[: self.n_resamples - start]

    def observed_variance(self, metric: int) -> FloatArray | None:
        """Variance on the data as they are, shape (n_models, n_models); ``None`` if unknown."""
        counts = self.source.multiplicities[np.newaxis]
        found = self._variances(metric, counts)
        return None if found is None else found[0]

    def variances(self, metric: int) -> FloatArray | None:
        """Variance in every resample, shape (n_replicates, n_models, n_models)."""
        n_at_once = max(1, NUMBERS_AT_ONCE // self.source.n_units)
        found = []
        for counts in self.blocks():
            for start in range(0, len(counts), n_at_once):
                part = self._variances(metric, counts[start : start + n_at_once])
                if part is None:
                    return None
                found.append(part)
        return np.concatenate(found)

    def _variances(self, metric: int, counts: NDArray[Any]) -> FloatArray | None:
        kernel, stratum = self.kernels[metric], self.source.stratum
        if isinstance(kernel, PartKernel):  # units outside of it do not vary
            counts = counts[:, kernel.units]
            stratum = None if stratum is None else stratum[kernel.units]
            kernel = kernel.kernel
        influence = kernel.influence(Weights(counts))
        return None if influence is None else variances(influence, counts, stratum)


def variances(
    influence: FloatArray, counts: NDArray[Any], stratum: IntArray | None = None
) -> FloatArray:
    """Variance matrices from influences (n_resamples, n_models, n_units) and counts of the units.

    Not a number where the influence is none, and infinite beyond float64. A single draw, of all or
    of a stratum, does not vary.
    """
    weights = counts.astype(np.float64)[:, np.newaxis]
    with np.errstate(invalid="ignore", over="ignore"):
        if stratum is None:
            n_drawn = weights.sum(axis=2, keepdims=True)
            sums = np.einsum("rmu,ru->rm", influence, weights[:, 0])
            deviations = influence - sums[:, :, np.newaxis] / n_drawn
            found = (deviations * weights) @ deviations.transpose(0, 2, 1)
            return np.asarray(found * _of_sample(n_drawn))
        members = np.equal(stratum[:, None], np.arange(stratum.max() + 1)).astype(np.float64)
        of_stratum = weights @ members
        # From a subgroup's part of a stratum there may be no draw at all.
        means = ((weights * influence) @ members) / np.maximum(of_stratum, 1.0)
        deviations = influence - means[:, :, stratum]
        factor = _of_sample(of_stratum[:, :, stratum])
        found = (deviations * (weights * factor)) @ deviations.transpose(0, 2, 1)
        return np.asarray(found)


def _of_sample(n_drawn: FloatArray) -> FloatArray:
    """Correct a variance for the mean that was estimated: n / (n - 1), zero for a single draw."""
    return np.divide(n_drawn, n_drawn - 1, out=np.zeros_like(n_drawn), where=n_drawn > 1)


def jackknife_variance(jackknife: LeaveOneOut, stratum: IntArray | None) -> FloatArray:
    """Variance matrix from leave-one-out values: ``(n - 1) / n`` sum of their squared deviations.

    Their deviations times (n - 1) / n take the place of the influence.
    """
    values = jackknife.values
    stratum = np.zeros(len(values), dtype=np.int64) if stratum is None else stratum
    n_units = np.bincount(stratum)[stratum]
    # The only unit of a stratum cannot be left out, and does not vary.
    values = np.where((n_units > 1)[:, None], values, 0.0)
    influence = -values * ((n_units - 1) / n_units)[:, None]
    found: FloatArray = variances(influence.T[None], np.ones((1, len(values))), stratum)[0]
    return found


def of_contrast(
    matrices: FloatArray, model: int, baseline: int | None = None, factor: float = 1.0
) -> FloatArray:
    """Quadratic form of a model, or of a model less ``factor`` times the baseline.

    ``matrices`` has shape (..., n_models, n_models); what is left of equal models is zero.
    """
    own = matrices[..., model, model]
    if baseline is None:
        return np.asarray(own)
    other = factor**2 * matrices[..., baseline, baseline]
    with np.errstate(invalid="ignore"):  # of infinite variances
        found = own + other - 2 * factor * matrices[..., model, baseline]
    return np.where(found <= _NOISE * (own + other), 0.0, found)
