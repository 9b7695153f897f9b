"""Adjustment of p-values for the number of comparisons made."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# What `adjust` does, and all that a comparison knows: max-T needs the joint replicates.
ADJUSTMENTS = ("holm", "bonferroni", "fdr", None)
CORRECTIONS = ("holm", "max-t", "max-t-step-down", "bonferroni", "fdr", None)


def without_replicates(correction: str | None) -> str | None:
    """Give the correction for p-values that have no joint replicates: Holm's for max-T."""
    return correction if correction in ADJUSTMENTS else "holm"


def adjust(p_values: ArrayLike, correction: str | None) -> NDArray[np.float64]:
    """Adjust a family of p-values.

    Parameters
    ----------
    p_values : array-like of shape (n_comparisons,)
        NaN stays NaN and does not count in the size of the family.
    correction : {"holm", "bonferroni", "fdr"} or None
        Holm and Bonferroni control the probability of any false rejection, ``"fdr"``
        (Benjamini-Hochberg) the expected share of false ones; ``None`` leaves all as they are.

    Returns
    -------
    ndarray of shape (n_comparisons,)
        A new array; a comparison is rejected when its adjusted p-value is at most alpha.
    """
    if correction not in ADJUSTMENTS:
        raise ValueError(f"`correction` must be one of {ADJUSTMENTS}, got {correction!r}.")
    adjusted = np.array(p_values, dtype=np.float64)
    defined = np.flatnonzero(~np.isnan(adjusted))
    n_defined = defined.size
    if correction is None or n_defined == 0:
        return adjusted
    order = defined[np.argsort(adjusted[defined], kind="stable")]
    ascending = adjusted[order]
    if correction == "bonferroni":
        ascending = ascending * n_defined
    elif correction == "holm":
        ascending = np.maximum.accumulate(ascending * np.arange(n_defined, 0, -1))
    else:
        factors = n_defined / np.arange(1, n_defined + 1)
        ascending = np.minimum.accumulate((ascending * factors)[::-1])[::-1]
    adjusted[order] = np.minimum(ascending, 1.0)
    return adjusted
