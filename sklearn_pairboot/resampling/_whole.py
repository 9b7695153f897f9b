"""Plans that draw whole units: rows, clusters, or either within strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.checks import check_labels, shown


class ResamplingPlan(Protocol):
    """What every plan offers: the resampling units of given data."""

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

    Examples
    --------
    >>> from sklearn_pairboot.resampling import StratifiedBootstrap
    >>> units = StratifiedBootstrap(["x", "x", "y"]).resampling_units(3)
    >>> units.stratum.tolist()
    [0, 0, 1]
    """

    strata: Any = None

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
        of_row, _ = check_labels(strata, n_rows, "strata")
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
