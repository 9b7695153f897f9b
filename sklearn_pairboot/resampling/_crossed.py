"""A plan for two crossed factors, such as users and items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.crossed import CrossedUnits
from sklearn_pairboot._scoring.checks import check_labels
from sklearn_pairboot._scoring.groups import crossed_columns


@dataclass(frozen=True)
class CrossedBootstrap:
    """Draw the levels of two crossed factors, such as users and items, or prompts and judges.

    Rows that share a user resemble each other, and so do rows that share an item; to draw users
    alone, or items alone, leaves out the other part. For the mean of such an array no bootstrap
    draw has the right variance [2]_, but three of them together have: with replicates of either
    factor's levels drawn whole, and of the cells in which rows share both levels, the variance is
    V1 + V2 - V12 [1]_. The replicates of a comparison are sums of those of both factors, moved
    linearly so that the covariances of all models and metrics are exactly this; where the
    difference is negative in some direction it counts as zero, and a note says so. The
    replicates are centred at the estimate and may leave the metric's range. Interval methods
    that need independent units, ``"bca"`` and ``"studentized"``, are refused, as are permutation
    tests, slices and ``n_resamples`` other than a number.

    A comparison takes this plan by itself where ``groups`` have two columns.
    Do not use it where each level of one factor lies in one level of the other: then the outer one
    alone is the unit. With few levels of either factor intervals are too narrow.

    References
    ----------
    .. [1] A. C. Cameron, J. B. Gelbach and D. L. Miller (2011). Robust inference with multiway
       clustering. Journal of Business & Economic Statistics 29, 238-249.
    .. [2] A. B. Owen (2007). The pigeonhole bootstrap. The Annals of Applied Statistics 1,
       386-411.

    Examples
    --------
    >>> from sklearn_pairboot import compare_scores
    >>> users_and_items = [["u1", "a"], ["u1", "b"], ["u2", "a"], ["u2", "b"], ["u3", "a"]]
    >>> scores = {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 1]}
    >>> result = compare_scores(scores, groups=users_and_items, random_state=0)
    >>> result.factors
    (('column 1', 2), ('column 0', 3))
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> CrossedUnits:
        """Make the cells of both factors units, which know their levels.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Not used.
        groups : array-like or dataframe of shape (n_rows, 2)
            Level of each row in either factor.

        Returns
        -------
        CrossedUnits
            The cells, in the order of the sorted levels.
        """
        columns = crossed_columns(groups)
        if columns is None:
            raise ValueError(
                "`groups` must have two columns with `CrossedBootstrap`, the level of each row in "
                f"either factor, got shape {np.shape(groups)}. For one factor pass "
                "`ClusterBootstrap()`."
            )
        factors = []
        for name, column in columns.items():
            codes, labels = check_labels(column, n_rows, f"groups[{name!r}]")
            if len(labels) < 2:
                raise ValueError(
                    f"`groups` must hold at least 2 levels in each column, got only {labels[0]!r} "
                    f"in {name!r}. Leave this column out."
                )
            # Results do not depend on which column comes first.
            sizes = np.bincount(codes).tolist()
            factors.append((len(labels), [repr(label) for label in labels], sizes, name, codes))
        (n_first, _, _, one, of_first), (n_second, _, _, other, of_second) = sorted(
            factors, key=lambda factor: factor[:3]
        )
        cells, of_row = np.unique(of_first * n_second + of_second, return_inverse=True)
        return CrossedUnits(
            n_rows,
            len(cells),
            of_row.reshape(-1).astype(np.int64),
            levels=(cells // n_second, cells % n_second),
            names=(one, other),
        )
