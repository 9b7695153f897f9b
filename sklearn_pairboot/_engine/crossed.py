"""Two crossed factors, such as users and items: variance V1 + V2 - V12.

No draw of rows or levels reproduces the variance of an array of users and items (Owen 2007), but
it is the sum of three variances that bootstraps do give: of the levels of one factor, plus of the
other, less that of their cells, which both have counted (Cameron, Gelbach and Miller 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sklearn_pairboot._engine.blas import one_blas_thread
from sklearn_pairboot._engine.bootstrap import bootstrap
from sklearn_pairboot._engine.counts import choose_block_size
from sklearn_pairboot._engine.distribution import BootstrapDistribution, join_messages
from sklearn_pairboot._engine.inversion import Basis, Expansion
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    Kernel,
    LeaveOneOut,
    Values,
    Weights,
)

# Below these shares of the largest, eigenvalues and variances are rounding.
_NO_DIRECTION = 1e-12
_NO_VARIATION = 1e-12
_NEGATIVE = 1e-9


@dataclass(frozen=True)
class CrossedUnits(Units):
    """The cells of two crossed factors: rows that share the levels of both.

    ``levels`` numbers the level of each cell in the two factors, the one with fewer levels first.
    """

    levels: tuple[IntArray, ...] = ()
    names: tuple[str, ...] = ()

    def factor(self, number: int) -> Units:
        """Levels of one factor as units."""
        of_cell = self.levels[number]
        of_row = of_cell if self.of_row is None else of_cell[self.of_row]
        return Units(self.n_rows, int(of_cell.max()) + 1, of_row)

    @property
    def is_nested(self) -> bool:
        """Whether each level of the second factor lies in one of the first: then it adds nothing.

        Its levels are the cells, and their variances cancel.
        """
        return self.n_units == int(self.levels[1].max()) + 1


class Part(NamedTuple):
    """Replicates of the levels of one factor, or of the cells, before they are joined."""

    replicates: FloatArray
    undefined: BoolArray

    def only(self, chosen: BoolArray) -> Part:
        """Return some of the resamples."""
        return Part(self.replicates[chosen], self.undefined[chosen])


@dataclass
class CrossedDistribution(BootstrapDistribution):
    """Replicates that have the variance V1 + V2 - V12; ``n_units`` is the fewer levels.

    ``n_negative`` counts the directions in which that was negative, and is zero here. ``parts``
    are what was joined: both factors and the cells, or nothing where one factor is nested.
    """

    n_negative: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def has_counts(self) -> bool:
        """Whether shares of the replicates are counts of independent resamples.

        Joined replicates all hang on three covariances that were themselves resampled.
        """
        return not self.parts

    def only(self, chosen: BoolArray) -> BootstrapDistribution:
        """Join what some of the resamples of each part say."""
        found = super().only(chosen)
        if not self.parts:
            return found
        replicates, undefined, _ = _join([part.only(chosen) for part in self.parts], self.observed)
        return replace(found, replicates=replicates, undefined=undefined)

    def expansion_of(self, metric: int | None = None) -> Expansion:
        """Tell how far percentiles are to be moved out for the fewer levels."""
        return Expansion(self.n_units)

    def jackknife(self, metric: int) -> LeaveOneOut | None:
        """Give none: no single kind of unit can be left out."""
        return None

    def chance_variance(self, metric: int) -> FloatArray | None:
        """Give none: chance of two factors is not that of units."""
        return None

    def basis(
        self, method: str, metric: int, model: int, baseline: int | None = None, factor: float = 1.0
    ) -> Basis:
        """Give the spread of the replicates, times sqrt(n / (n - 1)) as for one factor.

        Its degrees of freedom are those of the fewer levels, n - 1.
        """
        if method == "expanded":
            return Basis(expansion=self.expansion_of(metric))
        if method != "t":
            return Basis()
        values = (
            self.model_values(metric, model)
            if baseline is None
            else self.difference_values(metric, model, baseline, factor)
        )
        std_error = float(np.nanstd(values[0], ddof=1)) * self.expansion_of().widening
        return Basis(std_error=std_error, df=self.n_units - 1)


def entropies(entropy: int) -> tuple[int, int, int]:
    """Give one seed each to the first factor, which keeps that of the call, the second, and cells.

    Blocks of draws use spawn keys of length one.
    """
    others = (
        np.random.SeedSequence(entropy, spawn_key=(0, part)).generate_state(4) for part in (1, 2)
    )
    second, cells = (int.from_bytes(state.tobytes(), "little") for state in others)
    return entropy, second, cells


def crossed_bootstrap(
    kernels: Sequence[Kernel],
    units: CrossedUnits,
    observed: FloatArray,
    *,
    entropy: int,
    **how: Any,
) -> CrossedDistribution:
    """Bootstrap both factors and their cells, and join the replicates; ``kernels`` are of cells.

    Other keywords are those of `bootstrap`, with a number of resamples.
    """
    if int(how["n_resamples"]) <= 2 * observed.size:
        raise ValueError(
            "`n_resamples` must be more than twice the number of metrics and models for two "
            f"crossed factors, {2 * observed.size}, got {how['n_resamples']}: their covariances "
            "are taken from the resamples."
        )
    drawn = entropies(entropy)
    factors = [
        bootstrap(
            [_by_levels(kernel, level) for kernel in kernels],
            Units(units.n_units, int(level.max()) + 1, level),
            observed,
            entropy=drawn[number],
            **how,
        )
        for number, level in enumerate(units.levels[: 1 if units.is_nested else 2])
    ]
    first = factors[0]
    replicates, undefined, n_negative = first.replicates, first.undefined, 0
    zero_division, messages = first.zero_division, first.messages
    joined: tuple[Part, ...] = ()
    if not units.is_nested:
        cells = Units(units.n_units, units.n_units)
        factors.append(bootstrap(kernels, cells, observed, entropy=drawn[2], **how))
        joined = tuple(Part(part.replicates, part.undefined) for part in factors)
        replicates, undefined, n_negative = _join(joined, observed)
        zero_division = (first.zero_division | factors[1].zero_division) & ~undefined
        messages = join_messages([part.messages for part in factors])
    return CrossedDistribution(
        observed=observed,
        replicates=replicates,
        undefined=undefined,
        zero_division=zero_division,
        n_units=first.n_units,
        n_sequences=first.n_sequences,
        scales=first.scales,
        messages=messages,
        kernels=tuple(kernels),
        n_negative=n_negative,
        parts=joined,
    )


def _join(parts: Sequence[Part], observed: FloatArray) -> tuple[FloatArray, BoolArray, int]:
    """Recombine the replicates of both factors, metrics that are undefined together at once.

    A metric is undefined where it is for any model in either factor.
    """
    first, second, cells = parts
    lost = (first.undefined | second.undefined).any(axis=2)
    replicates = np.full(first.replicates.shape, np.nan)
    n_negative = 0
    patterns, pattern_of = np.unique(lost, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        metrics = np.flatnonzero(pattern_of.reshape(-1) == number)
        kept = ~pattern
        kept_cells = ~cells.undefined[:, metrics].any(axis=(1, 2))
        if min(kept.sum(), kept_cells.sum()) < 2:
            continue
        shape = int(kept.sum()), len(metrics), observed.shape[1]
        flat = (
            part.replicates[rows][:, metrics].reshape(int(rows.sum()), -1)
            for part, rows in ((first, kept), (second, kept), (cells, kept_cells))
        )
        with one_blas_thread():
            deviations, found = recombine(*flat)
        n_negative += found
        replicates[np.ix_(kept, metrics)] = observed[metrics] + deviations.reshape(shape)
    return replicates, np.isnan(replicates), n_negative


def recombine(first: FloatArray, second: FloatArray, cells: FloatArray) -> tuple[FloatArray, int]:
    """Give centred replicates with covariance S = S1 + S2 - S12, shape (n_replicates, n_values).

    They are the sums of the centred replicates of both factors, whose covariance is C, moved
    as little as possible: by the symmetric map A = C^-1/2 (C^1/2 S C^1/2)^1/2 C^-1/2, for which
    A C A = S. Also gives the number of negative eigenvalues of S, which are set to zero.
    """
    sums = (first - first.mean(axis=0)) + (second - second.mean(axis=0))
    spread = sums.std(axis=0, ddof=1)
    size = np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0))
    varying = spread > _NO_VARIATION * size
    deviations = np.zeros_like(sums)
    if not varying.any():
        return deviations, 0
    # Metrics have different units: eigenvalues are compared on one scale.
    unit = spread[varying]
    one, other, both = (_covariance(part[:, varying] / unit) for part in (first, second, cells))
    scaled = sums[:, varying] / unit
    values, vectors = np.linalg.eigh(one + other - both)
    n_negative = int(np.count_nonzero(values < -_NEGATIVE * np.abs(values).max()))
    wanted = (vectors * np.maximum(values, 0.0)) @ vectors.T
    root, inverse = _roots(_covariance(scaled))
    middle, _ = _roots(root @ wanted @ root)
    deviations[:, varying] = (scaled @ (inverse @ middle @ inverse)) * unit
    return deviations, n_negative


def _covariance(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    found: FloatArray = centred.T @ centred / (len(values) - 1)
    return found


def _roots(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Symmetric square root of a positive semidefinite matrix, and the pseudo-inverse of that."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    values = np.where(values > _NO_DIRECTION * np.abs(values).max(), values, 0.0)
    roots = np.sqrt(values)
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    return (vectors * roots) @ vectors.T, (vectors * inverses) @ vectors.T


def _by_levels(kernel: Kernel, level: IntArray) -> Kernel:
    """Make a kernel of cells one of the levels of a factor."""
    if isinstance(kernel, SumsKernel) and not kernel.is_sparse:
        levels = Units(len(level), int(level.max()) + 1, level)
        terms = levels.sum_rows(kernel.unit_terms)
        return SumsKernel(terms, kernel.formula, kernel.n_models, kernel.scale)
    return _LevelsKernel(kernel, level)


@dataclass(frozen=True)
class _LevelsKernel:
    """A kernel of cells, each of which is drawn as often as its level of a factor."""

    kernel: Kernel
    level: IntArray

    @property
    def path(self) -> str:
        return self.kernel.path

    @property
    def n_models(self) -> int:
        return self.kernel.n_models

    def evaluate(self, weights: Weights) -> Values:
        # There may be many more cells than levels: the counts of few resamples at a time.
        n_at_once = choose_block_size(len(self.level))
        parts = []
        for start in range(0, len(weights.counts), n_at_once):
            counts = weights.counts[start : start + n_at_once, self.level]
            part = self.kernel.evaluate(Weights(counts, weights.workspace.part(0)))
            # What a kernel returns may live in the workspace.
            parts.append(part._replace(values=part.values.copy()))
        return Values(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.undefined for part in parts]),
            np.concatenate([part.zero_division for part in parts]),
            tuple(message for part in parts for message in part.messages),
        )

    def influence(self, weights: Weights) -> None:
        return None

    def leave_one_out(self) -> NoReturn:
        raise TypeError("levels of crossed factors are not left out")

    def unit_keys(self) -> None:
        return None

    def take_units(self, units: IntArray) -> NoReturn:
        raise TypeError("levels of crossed factors are not merged")
