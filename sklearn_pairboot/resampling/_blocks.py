"""The plan that draws blocks of rows in time order, and the length of its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.block_length import BlockLengths, block_lengths
from sklearn_pairboot._engine.blocks import KINDS, BlockSource
from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.checks import check_finite, plain
from sklearn_pairboot.resampling._whole import checked


@dataclass(frozen=True)
class BlockBootstrap:
    """Draw blocks of neighbouring rows, for rows in time order whose neighbours are alike.

    Rows are taken in the order in which they are given: sort them by time first. A resample has
    exactly as many rows as the data; the last block is cut.

    Do not use it for independent rows, whose intervals it only makes less steady, for several
    series in one table (use `ClusterBootstrap` with a group for each series, if these are many and
    independent), or for series with a trend or breaks, of which no part is like another. Rows that
    were left out count as if their neighbours followed one another. With few blocks, say below
    20, intervals are too narrow.

    Parameters
    ----------
    length : int, default=None
        Rows of a block, at most half of all; of stationary blocks the mean. ``None`` takes the
        largest `optimal_block_length` of the series that the comparison knows: the scores of all
        models and the differences of every two, or for predictions the same of their errors:
        residuals, of classes whether each row is wrong, of probabilities alone that of the true
        class. For `PairedBootstrapComparator` the length must be given.
    kind : {"moving", "circular", "stationary"}, default="moving"
        ``"moving"`` blocks lie inside the series; rows near its ends are drawn less often [1]_.
        ``"circular"`` blocks run on from the last row to the first, so that every row is drawn
        equally often [2]_. ``"stationary"`` blocks do so too, and their lengths are random, with
        a geometric distribution, which makes a choice of length matter less [3]_.

    See Also
    --------
    optimal_block_length : The rule that finds the length.

    References
    ----------
    .. [1] H. R. Künsch, The jackknife and the bootstrap for general stationary observations,
       Annals of Statistics 17 (1989).
    .. [2] D. N. Politis and J. P. Romano, A circular block-resampling procedure for stationary
       data, in Exploring the Limits of Bootstrap, Wiley 1992.
    .. [3] D. N. Politis and J. P. Romano, The stationary bootstrap, Journal of the American
       Statistical Association 89 (1994).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot import compare_scores
    >>> from sklearn_pairboot.resampling import BlockBootstrap
    >>> loss = np.sin(np.arange(100) / 5) + 1
    >>> result = compare_scores(
    ...     {"old": loss, "new": 0.9 * loss},
    ...     greater_is_better=False,
    ...     resampling=BlockBootstrap(length=10),
    ...     random_state=0,
    ... )
    >>> result.n_units, result.unit
    (10, 'blocks of 10 rows')
    """

    length: int | None = None
    kind: str = "moving"

    def __post_init__(self) -> None:
        if self.length is not None and not is_integer(self.length, least=1):
            raise ValueError(
                f"`length` must be a positive integer or None, got {self.length!r}. It is the "
                "number of rows of a block."
            )
        if self.kind not in KINDS:
            raise ValueError(
                f"`kind` must be one of {', '.join(map(repr, KINDS))}, got {self.kind!r}."
            )

    def with_length_of(self, series: Any) -> BlockBootstrap:
        """Give the plan the block length that suits series best.

        Parameters
        ----------
        series : array-like of shape (n_rows,) or (n_rows, n_series)
            Values of the rows in time order, such as errors; the largest length is taken.

        Returns
        -------
        BlockBootstrap
            The same kind of blocks, of a whole number of rows.
        """
        columns = np.asarray(plain(series))
        columns = columns.reshape(len(columns), -1)
        found = [optimal_block_length(column) for column in columns.T]
        best = max(
            lengths.stationary if self.kind == "stationary" else lengths.circular
            for lengths in found
        )
        return BlockBootstrap(max(1, min(round(best), len(columns) // 2)), self.kind)

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make rows units, which are drawn in blocks.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Not used.
        groups : None
            Must be ``None``: groups say in another way which rows are alike.

        Returns
        -------
        Units
            The units.
        """
        if groups is not None:
            raise ValueError(
                "`groups` must be None with `BlockBootstrap`, which draws neighbouring rows. "
                "Cluster ids already say which rows are alike: pass `ClusterBootstrap()`, or "
                "leave `groups` out. Blocks of clusters are not offered."
            )
        if self.length is None:
            raise ValueError(
                "`length` must be given to `BlockBootstrap` where no series of the rows is known "
                "before models are fitted, got None. Pass the number of rows of a block, for "
                "example that of `BlockBootstrap().with_length_of(errors)`."
            )
        units = checked(Units(n_rows, n_rows, scheme=BlockSource(n_rows, self.length, self.kind)))
        if 2 * self.length > n_rows:
            raise ValueError(
                f"`length` must be at most half the number of rows, {n_rows // 2}, got "
                f"{self.length}: a single block shows no variation."
            )
        return units


def optimal_block_length(series: Any) -> BlockLengths:
    """Estimate the block length that makes the bootstrap variance of a mean most precise.

    It minimises the mean squared error of that variance for large n, by the autocovariances of
    the series: the rule of Politis and White [1]_ with the correction of its constants [2]_. For
    other metrics than means, take the series of per-row errors or losses.

    Parameters
    ----------
    series : array-like of shape (n_rows,)
        Finite numbers in time order, such as the differences of two models' losses.

    Returns
    -------
    BlockLengths
        ``stationary``, the mean length for stationary blocks, and ``circular``, the length for
        circular and moving blocks, in rows; real numbers of at least 1, and at most
        3 sqrt(n) or n / 3, rounded up. Constant series need no blocks: 1.

    References
    ----------
    .. [1] D. N. Politis and H. White, Automatic block-length selection for the dependent
       bootstrap, Econometric Reviews 23 (2004).
    .. [2] A. Patton, D. N. Politis and H. White, Correction to "Automatic block-length selection
       for the dependent bootstrap", Econometric Reviews 28 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_pairboot.resampling import optimal_block_length
    >>> noise = np.random.default_rng(0).normal(size=200)
    >>> lengths = optimal_block_length(np.convolve(noise, np.ones(5), mode="valid"))
    >>> round(lengths.circular, 1)
    27.2
    """
    values = plain(series)
    if values.ndim != 1 or values.dtype.kind not in "biuf" or len(values) < 2:
        raise ValueError(
            "`series` must be one-dimensional and hold at least 2 numbers, got shape "
            f"{values.shape} and type {values.dtype}."
        )
    values = values.astype(np.float64)
    check_finite(values, "`series`")
    return block_lengths(values)
