"""The jackknife where there is no closed form: units left out one by one, or in groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_pairboot._engine.counts import choose_block_size
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import IntArray, LeaveOneOut, Values, Weights, Workspace

# Evaluations that a jackknife may cost where each is a call of a scorer, or a pass over many rows.
MOST_GROUPS = 200
# A literal leave-one-out may touch this many weights; beyond it units are left out in groups.
_LITERAL_WEIGHTS = 200_000_000


def leave_out(
    evaluate: Callable[[Weights], Values], units: Units, n_evaluations: int
) -> LeaveOneOut:
    """Evaluate without each unit, or without each of some groups where units are many.

    ``n_evaluations`` says how often the evaluation of one resample goes through the rows.
    """
    n_units = units.n_units
    literal = n_units * units.n_rows * n_evaluations <= _LITERAL_WEIGHTS
    groups, stratum, grouped = jackknife_groups(units, n_units if literal else MOST_GROUPS)
    n_groups = int(groups.max()) + 1
    n_at_once = choose_block_size(max(units.n_rows, n_units))
    workspace = Workspace()
    values = []
    for start in range(0, n_groups, n_at_once):
        left_out = np.arange(start, min(start + n_at_once, n_groups))
        kept = (groups != left_out[:, None]).astype(np.uint8)
        values.append(evaluate(Weights(kept, workspace)).values)
    return LeaveOneOut(np.concatenate(values), stratum, grouped)


def jackknife_groups(
    units: Units, limit: int = MOST_GROUPS
) -> tuple[IntArray, IntArray | None, bool]:
    """Which units a jackknife leaves out together: each alone, or in groups where they are many.

    Returns the group of each unit, the stratum of each group, and whether units share groups. A
    stratum gets groups in proportion to its units, at least two where it has them; its units go
    to its groups in turn.
    """
    if units.n_units <= limit:
        return np.arange(units.n_units), units.stratum, False
    stratum = np.zeros(units.n_units, dtype=np.int64) if units.stratum is None else units.stratum
    group_of = np.empty(units.n_units, dtype=np.int64)
    stratum_of: list[int] = []
    for number in range(int(stratum.max()) + 1):
        members = np.flatnonzero(stratum == number)
        n_groups = min(len(members), max(2, limit * len(members) // units.n_units))
        group_of[members] = len(stratum_of) + np.arange(len(members)) % n_groups
        stratum_of += [number] * n_groups
    return group_of, None if units.stratum is None else np.array(stratum_of), True
