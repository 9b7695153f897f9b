"""Seeds of random draws: what can be one, and the entropy that all blocks of a run share."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_random_state(random_state: Any) -> None:
    """Refuse what cannot seed."""
    known = (np.random.Generator, np.random.RandomState)
    if random_state is None or isinstance(random_state, known):
        return
    if not is_integer(random_state, least=0):
        raise ValueError(
            "`random_state` must be a non-negative integer, a numpy Generator, a RandomState or "
            f"None, got {random_state!r}."
        )


def entropy_of(random_state: Any) -> int:
    """Turn a seed, or the next draw of a generator, into the entropy of all blocks."""
    if random_state is None:
        fresh = np.random.SeedSequence().entropy
        return int(fresh) if isinstance(fresh, int) else 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)


def derived_entropy(entropy: int, number: int) -> int:
    """Entropy of one of several runs whose draws are to be independent of each other."""
    words = np.random.SeedSequence(entropy, spawn_key=(number,)).generate_state(2, np.uint64)
    return int(words[0]) << 64 | int(words[1])


def is_integer(value: Any, least: int | None = None) -> bool:
    """Tell whether a value is a whole number, and no boolean."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        return False
    return least is None or int(value) >= least
