"""Draw unit weights block by block and evaluate every kernel on each block."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from sklearn_pairboot._engine.blas import one_blas_thread
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.design import Design
from sklearn_pairboot._engine.distribution import BootstrapDistribution, RowKernels, join_messages
from sklearn_pairboot._engine.exact import (
    MOST_VECTORS,
    ExactCounts,
    TooManyResamplesError,
    count_vectors,
)
from sklearn_pairboot._engine.influence import Draws
from sklearn_pairboot._engine.kernels import SumsKernel, fuse
from sklearn_pairboot._engine.marginal import exact_marginals
from sklearn_pairboot._engine.merging import Merged, keep_apart, merge
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.progress import counted, follow, stage
from sklearn_pairboot._engine.units import Scheme, Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    Kernel,
    Values,
    Weights,
    Workspace,
)

# Below these amounts of work starting processes costs more than it saves.
_PARALLEL_WEIGHTS = 100_000_000
_PARALLEL_CALLS = 200
_PARTS_SHOWN = 8  # to each worker, where a bar shows how they go
# Terms of several kernels are copied side by side while that takes no more than 256 MB.
_MOST_FUSED = 2**25

Message = tuple[int, str, int]
NOT_SENT = "called in this process alone, since it cannot be sent to others"


@dataclass(frozen=True)
class _Block:
    values: FloatArray
    undefined: BoolArray
    zero_division: BoolArray
    messages: tuple[Message, ...]


def observe(kernels: Sequence[Kernel], units: Units) -> FloatArray:
    """Evaluate every kernel on the data as they are, shape (n_metrics, n_models)."""
    return observe_merged(keep_apart(kernels, units), units)


def observe_merged(merged: Merged, units: Units) -> FloatArray:
    """Evaluate every kernel on the data as they are, by their distinct units."""
    weights = Weights(merged.multiplicities(units)[np.newaxis])
    return np.stack([kernel.evaluate(weights).values[0] for kernel in merged.kernels])


def bootstrap(
    kernels: Sequence[Kernel],
    units: Units,
    observed: FloatArray,
    *,
    n_resamples: int | str,
    entropy: int,
    scales: FloatArray,
    n_jobs: int | None = None,
    verbose: int = 0,
    merged: Merged | None = None,
    row_kernels: RowKernels | None = None,
) -> BootstrapDistribution:
    """Resample the units and evaluate all kernels on the same weights.

    ``n_resamples`` is a number of random resamples, or ``"exact"`` for all of them, which are
    listed or, of means, known by their distributions alone where they are too many. Where units
    are not ``merged`` the draws depend on the seed and the number of units alone, and calls with
    other kernels meet the same resamples. ``row_kernels`` serve the degrees of freedom of
    clusters of different sizes.
    """
    if n_resamples == "exact":
        distinct = merge(kernels, units, always=True)
        try:
            values, counts = run_exactly(distinct, units)
        except TooManyResamplesError as refusal:
            return exact_marginals(
                distinct, units, observed, scales, refusal, row_kernels=row_kernels
            )
        return BootstrapDistribution(
            **values,
            n_sequences=counts.total,
            multiplicities=counts.multiplicities,
            draws=Draws(distinct.kernels, _source(distinct, units), None, len(counts.counts)),
            **_known(kernels, units, observed, scales, row_kernels),
        )
    return next(
        bootstrap_further(
            kernels,
            units,
            observed,
            totals=[int(n_resamples)],
            entropy=entropy,
            scales=scales,
            n_jobs=n_jobs,
            verbose=verbose,
            merged=merged,
            row_kernels=row_kernels,
        )
    )


def bootstrap_further(
    kernels: Sequence[Kernel],
    units: Units,
    observed: FloatArray,
    *,
    totals: Sequence[int],
    entropy: int,
    scales: FloatArray,
    n_jobs: int | None = None,
    verbose: int = 0,
    merged: Merged | None = None,
    row_kernels: RowKernels | None = None,
) -> Iterator[BootstrapDistribution]:
    """Resample up to each of the ascending totals in turn, each run extending the one before.

    Each distribution is that of `bootstrap` with as many resamples.
    """
    if merged is None:
        merged = keep_apart(kernels, units)
    source = units.scheme or _source(merged, units)
    whole: list[_Block] = []
    for total in totals:
        further = range(len(whole), -(-total // source.block_size))
        blocks = whole + _run(merged.kernels, source, entropy, further, total, n_jobs, verbose)
        yield BootstrapDistribution(
            **_join(blocks, total),
            n_sequences=total,
            draws=(
                Draws(merged.kernels, source, entropy, total)
                if isinstance(source, CountSource)
                else None
            ),
            **_known(kernels, units, observed, scales, row_kernels),
        )
        whole = blocks[: total // source.block_size]  # the last one may have been cut


def _source(merged: Merged, units: Units) -> CountSource:
    return CountSource(
        len(merged.multiplicities(units)),
        stratum=merged.stratum,
        multiplicity=merged.multiplicity,
    )


def _known(
    kernels: Sequence[Kernel],
    units: Units,
    observed: FloatArray,
    scales: FloatArray,
    row_kernels: RowKernels | None,
) -> dict[str, Any]:
    """Give what a distribution holds besides what was drawn."""
    design = Design.of(units)
    return {
        "design": design,
        "part_designs": {
            number: kernel.design
            for number, kernel in enumerate(kernels)
            if isinstance(kernel, PartKernel) and kernel.design is not None
        },
        "row_kernels": None if design.is_balanced else row_kernels,
        "observed": observed,
        "n_units": units.drawn.number,
        "scales": scales,
        "stratum": units.stratum,
        "kernels": tuple(kernels),
        "has_jackknife": units.scheme is None,
    }


def run_exactly(
    merged: Merged, units: Units, max_vectors: int = MOST_VECTORS
) -> tuple[dict[str, Any], ExactCounts]:
    """Evaluate the kernels for every possible vector of counts."""
    counts = count_vectors(merged.multiplicities(units), merged.stratum, max_vectors)
    size = max(1, 2**17 // counts.counts.shape[1])
    with one_blas_thread():
        evaluate = _Evaluator(merged.kernels)
        blocks = [
            evaluate(counts.counts[start : start + size])
            for start in range(0, len(counts.counts), size)
        ]
    return _join(blocks, len(counts.counts)), counts


def _run(
    kernels: Sequence[Kernel],
    source: CountSource | Scheme,
    entropy: int,
    numbers: range,
    n_resamples: int,
    n_jobs: int | None,
    verbose: int,
) -> list[_Block]:
    """Draw and evaluate the blocks of these numbers."""
    backend, _ = get_active_backend()
    n_workers = min(joblib.effective_n_jobs(n_jobs), len(numbers))
    replayed = any(kernel.path == "replay" for kernel in kernels)
    stuck: list[Message] = []
    if replayed:
        # User code need not be safe in threads, nor worth a process for a handful of calls.
        worthwhile = n_resamples >= _PARALLEL_CALLS and not getattr(
            backend, "supports_sharedmem", False
        )
        if worthwhile and n_workers > 1:
            stuck = [(k, NOT_SENT, 1) for k, part in enumerate(kernels) if not _can_travel(part)]
            worthwhile = not stuck
    else:
        worthwhile = n_resamples * source.n_units * len(kernels) >= _PARALLEL_WEIGHTS
    with stage(len(numbers), "resampling", verbose) as done:
        if n_workers == 1 or not worthwhile:
            every = counted(numbers, done)
            first, *rest = _run_blocks(kernels, source, entropy, every, n_resamples)
            return [replace(first, messages=(*first.messages, *stuck)), *rest]
        # One part a worker: the kernels travel with every part, their large arrays by memory map.
        # A bar needs smaller parts to move.
        n_parts = min(n_workers * (_PARTS_SHOWN if verbose > 0 else 1), len(numbers))
        parts = np.array_split(np.array(numbers), n_parts)
        tasks = (
            joblib.delayed(_run_blocks)(kernels, source, entropy, part.tolist(), n_resamples)
            for part in parts
        )
        parallel = follow(joblib.Parallel(n_jobs=n_jobs), done, [len(part) for part in parts])
        # Threads share one limit: set by them alone, the first to finish would lift it for the
        # others.
        with one_blas_thread():
            return [block for blocks in parallel(tasks) for block in blocks]


def _run_blocks(
    kernels: Sequence[Kernel],
    source: CountSource | Scheme,
    entropy: int,
    blocks: Iterable[int],
    n_resamples: int,
) -> list[_Block]:
    # One thread for BLAS everywhere: sums must not depend on how work is spread.
    with one_blas_thread():
        evaluate = _Evaluator(kernels)
        return [
            evaluate(
                source.draw(np.random.SeedSequence(entropy, spawn_key=(block,))),
                n_resamples - block * source.block_size,
            )
            for block in blocks
        ]


class _Evaluator:
    """All kernels of a call, with one matrix product for all that are sums."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = kernels
        self.workspace = Workspace()
        sums = {
            k: kernel
            for k, kernel in enumerate(kernels)
            if isinstance(kernel, SumsKernel) and not kernel.is_sparse
        }
        if sum(kernel.unit_terms.size for kernel in sums.values()) > _MOST_FUSED:
            sums = {}
        self.sums = list(sums)
        if sums:
            self.terms, self.places = fuse(list(sums.values()))

    def __call__(self, counts: NDArray[Any], n_wanted: int | None = None) -> _Block:
        """Evaluate every kernel on one block of counts, and keep the first ``n_wanted``.

        Blocks are cut afterwards, since the last digits of a matrix product may depend on the
        number of rows; replays, which are slow, are spared what is cut.
        """
        weights = Weights(counts, self.workspace)
        parts: dict[int, FloatArray] = {}
        if self.sums:
            sums = weights.dot(self.terms)
            parts = {k: sums[:, part] for k, part in zip(self.sums, self.places, strict=True)}
        of_kernels: list[Values] = []
        for k, kernel in enumerate(self.kernels):
            if k in parts and isinstance(kernel, SumsKernel):
                of_kernels.append(kernel.finish(parts[k], weights))
            elif kernel.path == "replay":
                of_kernels.append(kernel.evaluate(Weights(counts[:n_wanted])))
            else:
                of_kernels.append(kernel.evaluate(weights))
        return _Block(
            np.stack([part.values[:n_wanted] for part in of_kernels], axis=1),
            np.stack([part.undefined[:n_wanted] for part in of_kernels], axis=1),
            np.stack([part.zero_division[:n_wanted] for part in of_kernels], axis=1),
            tuple(
                (metric, text, count if isinstance(count, int) else int(count[:n_wanted].sum()))
                for metric, part in enumerate(of_kernels)
                for text, count in part.messages
            ),
        )


def _join(blocks: Sequence[_Block], n_resamples: int) -> dict[str, Any]:
    return {
        "replicates": np.concatenate([block.values for block in blocks])[:n_resamples],
        "undefined": np.concatenate([block.undefined for block in blocks])[:n_resamples],
        "zero_division": np.concatenate([block.zero_division for block in blocks])[:n_resamples],
        "messages": join_messages([block.messages for block in blocks]),
    }


def _can_travel(kernel: Kernel) -> bool:
    """Tell whether a kernel can be sent to another process."""
    try:
        pickle.dumps(joblib.wrap_non_picklable_objects(kernel))
    except Exception:
        return False
    return True
