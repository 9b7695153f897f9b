"""Declared shares: of strata in a target population, of test sets in an average."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.checks import brief, shown

_ROUNDING_OF_ONE = 1e-9


def check_by_label(name: str, declared: Any, labels: Sequence[Any]) -> FloatArray:
    """Check a mapping of all labels to positive numbers, and give these in the order of labels."""
    if not isinstance(declared, Mapping):
        raise TypeError(
            f"`{name}` must be a mapping from label to a positive number, got {brief(declared)}. "
            "Of a Series pass `.to_dict()`."
        )
    absent = [label for label in labels if label not in declared]
    unknown = [label for label in declared if label not in labels]
    if absent or unknown:
        raise ValueError(
            f"`{name}` must name every label of the data and no other, {shown(labels)}, got none "
            f"for {shown(absent) or 'no label'} and numbers for {shown(unknown) or 'no other'}."
        )
    for label, value in declared.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 < float(value) < math.inf:
            raise ValueError(f"`{name}` must be positive numbers, got {value!r} for {label!r}.")
    return np.array([float(declared[label]) for label in labels])


def check_shares(shares: Any, labels: Sequence[Any]) -> FloatArray:
    """Check the shares of strata in a population: positive, with sum one."""
    found = check_by_label("shares", shares, labels)
    total = math.fsum(found)
    if abs(total - 1) > _ROUNDING_OF_ONE:
        raise ValueError(
            f"`shares` must have sum 1, got {total:.10g}. Divide each by their sum if nothing is "
            "missing."
        )
    return found


def weights_for_shares(
    of_row: IntArray,
    shares: FloatArray,
    labels: Sequence[Any],
    sample_weight: FloatArray | None,
    part: str,
) -> FloatArray:
    """Weigh rows so that parts have shares of the weight in these ratios; its sum stays.

    Equal ratios for parts of equal weight leave the weights as they were, to the last digit.
    ``part`` is the word for a part.
    """
    weight = np.ones(len(of_row)) if sample_weight is None else sample_weight
    of_part = np.bincount(of_row, weights=weight, minlength=len(shares))
    empty = [label for label, total in zip(labels, of_part, strict=True) if total == 0]
    if empty:
        raise ValueError(
            f"`sample_weight` must be positive somewhere in every {part}, got zeros only in "
            f"{shown(empty)}. Leave out its rows."
        )
    factors: FloatArray = shares * (of_part.sum() / shares.sum()) / of_part
    return weight * factors[of_row]
