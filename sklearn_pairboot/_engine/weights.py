"""A block of unit weights and what a kernel makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

# Weights become floats for a matrix product in pieces that stay in cache.
_FLOATS_AT_ONCE = 2**16
_LEAST_UNITS_AT_ONCE = 1024


class Workspace:
    """Arrays that the blocks of a run reuse: fresh memory costs more than most work on it."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, tuple[int, ...], np.dtype[Any]], NDArray[Any]] = {}
        self._parts: dict[int, Workspace] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Give the array of this name, shape and type; what it held is lost."""
        key = name, shape, np.dtype(dtype)
        if key not in self._arrays:
            self._arrays[key] = np.empty(shape, dtype=dtype)
        return self._arrays[key]

    def part(self, number: int) -> Workspace:
        """Give a workspace of its own to one of several parts of a kernel."""
        return self._parts.setdefault(number, Workspace())


class Weights:
    """Weights of the units in a block of resamples, shape (n_resamples, n_units)."""

    def __init__(self, counts: NDArray[Any], workspace: Workspace | None = None) -> None:
        self.counts = counts
        self.workspace = Workspace() if workspace is None else workspace
        self.shared: dict[int, Any] = {}  # what several kernels make of this block

    @cached_property
    def by_unit(self) -> NDArray[Any]:
        """The weights with those of one unit side by side, shape (n_units, n_resamples)."""
        return np.ascontiguousarray(self.counts.T)

    def dot(self, terms: Any) -> FloatArray:
        """Sum terms of the units, shape (n_units, n_terms), in every resample.

        Terms are dense of any type of numbers, or a sparse array.
        """
        n_units, n_resamples = self.by_unit.shape
        n_at_once = max(_LEAST_UNITS_AT_ONCE, _FLOATS_AT_ONCE // n_resamples)
        floats = self.workspace.array("floats", (min(n_units, n_at_once), n_resamples), np.float64)
        sums = np.zeros((terms.shape[1], n_resamples))
        for start in range(0, n_units, n_at_once):
            piece = self.by_unit[start : start + n_at_once]
            as_floats = floats[: len(piece)]
            as_floats[...] = piece
            sums += terms[start : start + n_at_once].T @ as_floats
        return sums.T


def gather(
    workspace: Workspace, name: str, values: NDArray[Any], rows: NDArray[np.intp]
) -> NDArray[Any]:
    """Gather rows of ``values`` into an array of the workspace."""
    out = workspace.array(name, (len(rows), *values.shape[1:]), values.dtype)
    # The rows are valid; only with a mode that cannot raise NumPy writes to `out` directly.
    return np.take(values, rows, axis=0, out=out, mode="clip")


class Values(NamedTuple):
    """Values of one metric, shape (n_resamples, n_models), and two masks of that shape.

    ``undefined`` marks values that do not exist (they are NaN), ``zero_division`` those that are
    0/0 by definition and got a conventional value. ``messages`` holds pairs of a text and how
    often it was met, in all or in each resample.
    """

    values: FloatArray
    undefined: BoolArray
    zero_division: BoolArray
    messages: tuple[tuple[str, int | IntArray], ...] = ()


class LeaveOneOut(NamedTuple):
    """Jackknife values, shape (n_left_out, n_models), NaN where undefined.

    One row leaves out one unit, or one group of units where ``grouped``; ``stratum`` numbers the
    stratum of each row.
    """

    values: FloatArray
    stratum: IntArray | None = None
    grouped: bool = False


class Kernel(Protocol):
    """One metric of every model as a function of unit weights."""

    @property
    def path(self) -> str:
        """Way of computing: ``"sums"``, ``"ranks"`` or ``"replay"``."""
        ...

    @property
    def n_models(self) -> int:
        """Number of models."""
        ...

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of unit weights."""
        ...

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate the metric with each unit, or group of units, left out."""
        ...

    def influence(self, weights: Weights) -> FloatArray | None:
        """Differentiate the metric by each unit's weight, (n_resamples, n_models, n_units).

        Finite where the value is defined, not a number for some unit elsewhere; ``None`` where it
        is not known at any weights.
        """
        ...

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Give columns that differ wherever units differ; ``None`` where units are not merged."""
        ...

    def take_units(self, units: IntArray) -> Kernel:
        """Restrict the kernel to representatives of merged units."""
        ...
