"""Plans that draw whole units: rows, clusters, or either within strata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray
from sklearn_pairboot._scoring.checks import check_labels, shown
from sklearn_pairboot._scoring.shares import check_shares, weights_for_shares


class ResamplingPlan(Protocol):
    """What every plan offers: the resampling units of given data.

    A plan for which rows count differently also has a method ``row_weight(n_rows, *, y,
    sample_weight)``, which gives the weights of the rows.
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Give the units of ``n_rows`` rows."""
        ...


@dataclass(frozen=True)
class RowBootstrap:
    """Draw rows, each its own unit.

    Right where rows are independent: one row per patient, document or user. Where several rows
    share a source, intervals from rows are too narrow; use `ClusterBootstrap`.

    Examples
    --------
    >>> from sklearn_pairboot.resampling import RowBootstrap
    >>> RowBootstrap().resampling_units(4).n_units
    4
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make every row a unit.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Not used.
        groups : None
            Must be ``None``: to draw rows where clusters are known is a contradiction.

        Returns
        -------
        Units
            The units.
        """
        if groups is not None:
            raise ValueError(
                "`groups` must be None with `RowBootstrap`, which draws single rows. Pass "
                "`ClusterBootstrap()` to draw whole groups, or leave `groups` out."
            )
        return checked(Units(n_rows, n_rows))


@dataclass(frozen=True)
class ClusterBootstrap:
    """Draw whole clusters, the rows of a drawn cluster together, as often as it was drawn.

    Clusters are numbered in the order of their sorted labels, so results do not depend on the
    order of the rows.

    Examples
    --------
    >>> from sklearn_pairboot.resampling import ClusterBootstrap
    >>> ClusterBootstrap().resampling_units(4, groups=["b", "a", "b", "a"]).n_units
    2
    """

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make every group of rows a unit.

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
                "`groups` must be given with `ClusterBootstrap`: one cluster label per row."
            )
        codes, labels = check_labels(groups, n_rows, "groups")
        return checked(Units(n_rows, len(labels), codes), labels)


@dataclass(frozen=True)
class StratifiedBootstrap:
    """Draw units within strata, so that every stratum keeps its number of units.

    This holds the strata's shares fixed, such as the prevalence of the classes, and so answers a
    narrower question: about other rows with exactly these shares. With ``groups``, whole clusters
    are drawn within strata, and all rows of a cluster must lie in one stratum.

    Parameters
    ----------
    strata : array-like of shape (n_rows,), default=None
        Label of each row's stratum. ``None`` takes the classes of the truths.
    shares : mapping of label to float, default=None
        Share of each stratum in the population that the scores shall speak of; positive, with
        sum one. Rows of stratum h then weigh shares[h] / (n_h / n), where n_h is the number of
        its rows, or the sum of their ``sample_weight`` (post-stratification): a score is the
        metric in that population. It needs a metric that takes weights. Declare the shares from
        knowledge of the population, before looking at the scores. ``None`` leaves the strata
        with the shares that they have in the data.

    Examples
    --------
    >>> from sklearn_pairboot.resampling import StratifiedBootstrap
    >>> units = StratifiedBootstrap(["x", "x", "y"]).resampling_units(3)
    >>> units.stratum.tolist()
    [0, 0, 1]
    >>> plan = StratifiedBootstrap(["x", "x", "y"], shares={"x": 0.5, "y": 0.5})
    >>> plan.row_weight(3)
    array([0.75, 0.75, 1.5 ])
    """

    strata: Any = None
    shares: Mapping[Any, float] | None = None

    def resampling_units(
        self, n_rows: int, *, y: NDArray[Any] | None = None, groups: Any = None
    ) -> Units:
        """Make rows, or groups of rows, units within strata.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Truths, whose classes are the strata unless ``strata`` was given.
        groups : array-like of shape (n_rows,), default=None
            Label of each row's cluster; ``None`` draws rows.

        Returns
        -------
        Units
            The units.
        """
        of_row, _ = self._strata(n_rows, y)
        if groups is None:
            return checked(Units(n_rows, n_rows, None, of_row))
        codes, labels = check_labels(groups, n_rows, "groups")
        of_unit = np.zeros(len(labels), dtype=np.int64)
        of_unit[codes] = of_row
        mixed = np.unique(codes[of_unit[codes] != of_row])
        if len(mixed):
            raise ValueError(
                "`strata` must be constant inside each cluster of `groups`, got several strata in "
                f"{shown(labels[code] for code in mixed)}."
            )
        return checked(Units(n_rows, len(labels), codes, of_unit), labels)

    def row_weight(
        self,
        n_rows: int,
        *,
        y: NDArray[Any] | None = None,
        sample_weight: FloatArray | None = None,
    ) -> FloatArray | None:
        """Weigh rows so that the strata have the declared shares.

        Parameters
        ----------
        n_rows : int
            Number of test rows.
        y : ndarray of shape (n_rows,), default=None
            Truths, whose classes are the strata unless ``strata`` was given.
        sample_weight : ndarray of shape (n_rows,), default=None
            Importance weights of the rows.

        Returns
        -------
        ndarray of shape (n_rows,) or None
            The weights to be used; without ``shares``, those given.
        """
        if self.shares is None:
            return sample_weight
        of_row, labels = self._strata(n_rows, y)
        shares = check_shares(self.shares, labels)
        return weights_for_shares(of_row, shares, labels, sample_weight, "stratum")

    def _strata(self, n_rows: int, y: NDArray[Any] | None) -> tuple[IntArray, list[Any]]:
        """Give the stratum of each row as a number, and the labels of strata."""
        strata = y if self.strata is None else self.strata
        if strata is None:
            raise ValueError(
                "`strata` must be given to `StratifiedBootstrap` where there are no truths whose "
                "classes could serve: one stratum label per row."
            )
        if self.strata is None and np.ndim(strata) > 1:
            raise ValueError(
                "`strata` must be given to `StratifiedBootstrap` where the truths have several "
                f"columns, got truths of shape {np.shape(strata)}. Pass one stratum label per row, "
                "such as one of the columns."
            )
        return check_labels(strata, n_rows, "strata")


def checked(units: Units, labels: list[Any] | None = None) -> Units:
    """Refuse a single unit."""
    if units.n_units < 2:
        found = f"only the group {labels[0]!r}" if labels else f"{units.n_units}"
        raise ValueError(
            f"`groups` must hold at least 2 clusters, got {found}: what varies between clusters "
            "cannot be seen in one."
            if labels
            else f"At least 2 rows are needed to resample, got {found}."
        )
    return units
