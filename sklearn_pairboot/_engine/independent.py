"""Every model on draws of its own: the bootstrap of samples that have nothing in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._engine.bootstrap import bootstrap, run_exactly
from sklearn_pairboot._engine.design import Design
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.exact import MOST_VECTORS, TooManyResamplesError
from sklearn_pairboot._engine.kernels import SumsKernel, mean_of_one
from sklearn_pairboot._engine.marginal import exact_marginals
from sklearn_pairboot._engine.merging import merge
from sklearn_pairboot._engine.sample import LARGEST_COUNT
from sklearn_pairboot._engine.seeds import derived_entropy
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray

_PARTS = ("replicates", "undefined", "zero_division")


def bootstrap_independently(
    kernels: Sequence[SumsKernel],
    units: Units,
    observed: FloatArray,
    *,
    n_resamples: int | str,
    entropy: int,
    scales: FloatArray,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> BootstrapDistribution:
    """Resample the units anew for each model, and evaluate means, `SumsKernel.mean_terms`.

    ``"exact"`` lists all combinations of the models' resamples, and beyond the usual limit turns
    to convolution.
    """
    common: dict[str, Any] = {
        "observed": observed,
        "n_units": units.n_units,
        "scales": scales,
        "stratum": units.stratum,
        "kernels": tuple(kernels),
        "independent": True,
        "design": Design.of(units),
    }
    of_models = [_of_model(kernels, model) for model in range(observed.shape[1])]
    if n_resamples == "exact":
        try:
            return BootstrapDistribution(**_every_combination(of_models, units), **common)
        except TooManyResamplesError:
            refusal = TooManyResamplesError(
                f"more than {MOST_VECTORS:,}", units.n_units, MOST_VECTORS
            )
            return exact_marginals(
                merge(kernels, units, always=True),
                units,
                observed,
                scales,
                refusal,
                independent=True,
            )
    drawn = [
        bootstrap(
            of_model,
            units,
            observed[:, [model]],
            n_resamples=n_resamples,
            entropy=derived_entropy(entropy, model),
            scales=scales,
            n_jobs=n_jobs,
            verbose=verbose,
            merged=merge(of_model, units),
        )
        for model, of_model in enumerate(of_models)
    ]
    joint: dict[str, Any] = {
        part: np.concatenate([getattr(one, part) for one in drawn], axis=2) for part in _PARTS
    }
    return BootstrapDistribution(**joint, n_sequences=int(n_resamples), **common)


def _of_model(kernels: Sequence[SumsKernel], model: int) -> list[SumsKernel]:
    """Take one model out of every kernel."""
    found = []
    for kernel in kernels:
        terms = kernel.mean_terms
        if terms is None:
            raise ValueError("`kernels` must be means where models are drawn apart.")
        found.append(mean_of_one(terms, model, kernel.scale))
    return found


def _every_combination(of_models: Sequence[Sequence[SumsKernel]], units: Units) -> dict[str, Any]:
    """List every combination of one resample of each model, the first model's varying slowest."""
    listed, shares, left = [], [], MOST_VECTORS
    n_sequences = 1
    for of_model in of_models:
        values, counts = run_exactly(merge(of_model, units, always=True), units, left)
        listed.append(values)
        shares.append(counts.multiplicities)
        left //= len(counts.counts)
        n_sequences *= counts.total
    if n_sequences > LARGEST_COUNT:
        shares = [share / share.sum() for share in shares]
    weights = np.ones(1, dtype=np.result_type(*shares))
    for share in shares:
        weights = np.multiply.outer(weights, share).ravel()
    sizes = [len(share) for share in shares]
    places = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1)
    joint: dict[str, Any] = {
        part: np.concatenate(
            [values[part][rows] for values, rows in zip(listed, places, strict=True)], axis=2
        )
        for part in _PARTS
    }
    return {**joint, "multiplicities": weights, "n_sequences": n_sequences}
