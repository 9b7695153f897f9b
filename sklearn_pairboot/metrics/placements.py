"""Placement values: how each row stands against the rows of the other class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot.metrics._ranked import check_ranked

__all__ = ["placement_values"]


def twice_placed(scores: FloatArray, positive: BoolArray) -> FloatArray:
    """Count for each row, twice, the rows of the other class on its right side, ties half.

    All counts are whole numbers: scores that rank alike agree exactly.
    """
    twice = np.empty(len(scores))
    ranks = rankdata(scores)
    below = ranks[positive] - rankdata(scores[positive])
    beside = ranks[~positive] - rankdata(scores[~positive])
    twice[positive] = 2 * below
    twice[~positive] = 2 * (int(positive.sum()) - beside)
    return twice


def placement_values(y_true: Any, y_score: Any, *, pos_label: Any = None) -> FloatArray:
    """Compute for each row the share of the other class that it is ranked correctly against.

    For a positive row it is the share of negative rows with a lower score, for a negative row the
    share of positive rows with a higher one; equal scores count half.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels of two classes.
    y_score : array-like of shape (n_rows,)
        Scores that are high for the positive class. They are compared exactly.
    pos_label : label, default=None
        Positive class; ``None`` is the larger label.

    Returns
    -------
    ndarray of shape (n_rows,)
        Placement values, between 0 and 1. Their mean over the positive rows is the area under the
        ROC curve, and so is their mean over the negative rows.

    See Also
    --------
    tie_aware_auc : The area.
    sklearn_pairboot.inference.delong_test : A test that is made of these values.

    Notes
    -----
    They say which rows the area is lost on. *When not to use them*: their variance is not that of
    the area's bootstrap distribution where rows come in clusters.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.

    Examples
    --------
    >>> from sklearn_pairboot.metrics import placement_values
    >>> placement_values([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    array([1.  , 0.75, 0.75, 1.  ])
    """
    ranked = check_ranked(y_true, y_score, pos_label=pos_label)
    positive = ranked.positive
    n_positive = int(positive.sum())
    if n_positive in (0, len(positive)):
        raise ValueError("`y_true` must hold both classes, got one.")
    others = np.where(positive, len(positive) - n_positive, n_positive)
    shares: FloatArray = twice_placed(ranked.scores, positive) / (2 * others)
    return shares
