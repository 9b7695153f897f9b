"""The plan that draws clusters, and then rows inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sklearn_pairboot._engine.two_stage import TwoStageSource
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.checks import check_labels
from sklearn_pairboot.resampling._whole import checked


@dataclass(frozen=True)
class TwoStageBootstrap:
    """Draw clusters, then rows inside every drawn copy of a cluster, both with replacement.

    A cluster that is drawn twice gives two sets of rows, drawn independently of each other. The
    weights are counts of rows.

    Do not use it for the sampling error of clusters: it counts the variation within clusters
    about twice, since whole clusters, drawn as they are, carry that variation already. Use
    `ClusterBootstrap`. It is offered to compare with results that others computed in this way,
    and is never the default. Clusters of one row make it the row bootstrap.

    Notes
    -----
    For G clusters of m rows each, let B be the variance of the cluster means about their mean and
    W the mean of the variances inside clusters, with divisors G and m. The variance of a resampled
    mean is B/G under `ClusterBootstrap` and B/G + W/(G m) under this plan: the second stage adds
    the whole variance of a mean of G m rows within clusters [1]_. With cluster effects of variance
    s2 and errors of variance t2 the true variance is s2/G + t2/(G m), which G/(G-1) times B/G
    estimates without bias. The expectation of W/(G m) is t2 (m-1)/(G m^2): nearly all of the
    second term once more.

    References
    ----------
    .. [1] A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, Cambridge
       University Press 1997, section 3.8.

    Examples
    --------
    >>> from sklearn_pairboot import compare_scores
    >>> from sklearn_pairboot.resampling import TwoStageBootstrap
    >>> result = compare_scores(
    ...     {"m": [0.1, 0.5, 0.4, 0.9]},
    ...     groups=["a", "a", "b", "b"],
    ...     resampling=TwoStageBootstrap(),
    ...     random_state=0,
    ... )
    >>> result.n_units, result.unit
    (2, 'clusters')
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make rows units, which are drawn inside their clusters.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Not used.
        groups : array-like of shape (n_rows,)
            Label of each row's cluster.

        Returns
        -------
        Units
            The units.
        """
        if groups is None:
            raise ValueError(
                "`groups` must be given with `TwoStageBootstrap`: one cluster label per row."
            )
        codes, labels = check_labels(groups, n_rows, "groups")
        checked(Units(n_rows, len(labels), codes), labels)
        return Units(n_rows, n_rows, scheme=TwoStageSource(codes))
