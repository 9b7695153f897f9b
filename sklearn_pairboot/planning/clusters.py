"""How much alike the rows of a cluster are, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from sklearn_pairboot._engine.design import MeanSquares, correlation_of
from sklearn_pairboot._scoring.checks import check_confidence_level, check_labels
from sklearn_pairboot.planning._checks import check_numbers


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Outcome of `intraclass_correlation`.

    Parameters
    ----------
    estimate : float
        The intraclass correlation; below 0 where rows of a cluster differ more than others.
    statistic : float
        F ratio of the mean squares between and within clusters.
    p_value : float
        Of no correlation against a positive one.
    ci_low : float
        Lower end of the interval.
    ci_high : float
        Upper end of the interval.
    variant : str
        ``"one-way ANOVA"``.
    design_effect : float
        Variance of the mean over that of as many independent rows, at least 1.
    effective_sample_size : float
        Independent rows that would tell as much.
    n_rows : int
        Number of rows.
    n_clusters : int
        Number of clusters.

    Examples
    --------
    >>> from sklearn_pairboot.planning import intraclass_correlation
    >>> intraclass_correlation([1, 1, 0, 0, 1, 0], list("aabbcc")).n_clusters
    3
    """

    estimate: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    variant: str
    design_effect: float
    effective_sample_size: float
    n_rows: int
    n_clusters: int

    def __str__(self) -> str:
        return (
            f"Intraclass correlation {self.estimate:.3f} [{self.ci_low:.3f}, {self.ci_high:.3f}] "
            f"({self.variant}).\n{self.n_rows} rows in {self.n_clusters} clusters tell as much of "
            f"a mean as {self.effective_sample_size:.1f} independent rows (design effect "
            f"{self.design_effect:.3g})."
        )


def intraclass_correlation(
    values: ArrayLike, groups: Any, *, confidence_level: float = 0.95
) -> IntraclassCorrelation:
    """Estimate how much alike the rows of a cluster are, and what that costs.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        A number for each row, such as a model's score of it, or the difference of two models'
        scores: it is the difference whose correlation decides how well a comparison is known.
    groups : array-like of shape (n_rows,)
        Cluster of each row, at least two clusters, at least one of two rows or more.
    confidence_level : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    IntraclassCorrelation
        With ``estimate``, ``statistic``, ``p_value``, ``ci_low``, ``ci_high``, ``variant``,
        ``design_effect``, ``effective_sample_size``, ``n_rows`` and ``n_clusters``.

    Raises
    ------
    ValueError
        If all values are equal, or no cluster has two rows: then nothing can be told.

    See Also
    --------
    sklearn_pairboot.compare_scores : With ``groups`` it resamples whole clusters.

    Notes
    -----
    With mean squares B between and W within clusters, the estimate is
    ``(B - W) / (B + (m - 1) W)`` [1]_, where ``m`` is the mean size of the G clusters, less their
    variance over G times that mean. The design effect of a mean of rows is
    ``1 + (s - 1) max(estimate, 0)`` [2]_, where ``s`` is the mean size of the cluster that a row is
    in; with clusters of one size both are that size. The interval is exact for normal values and
    clusters of one size [3]_, and rough for others, such as right and wrong answers.

    References
    ----------
    .. [1] A. Donner (1986). "A review of inference procedures for the intraclass correlation
       coefficient in the one-way random effects model". International Statistical Review 54, 67-82.
    .. [2] L. Kish (1965).
       "Survey Sampling". Wiley.
    .. [3] K. O. McGraw and S. P. Wong (1996). "Forming inferences about some intraclass
       correlation coefficients". Psychological Methods 1, 30-46.

    Examples
    --------
    >>> from sklearn_pairboot.planning import intraclass_correlation
    >>> right = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> patient = list("aaabbbcccddd")
    >>> found = intraclass_correlation(right, patient)
    >>> round(found.estimate, 3), round(found.effective_sample_size, 1)
    (0.727, 4.9)
    >>> print(found)
    Intraclass correlation 0.727 [0.181, 0.977] (one-way ANOVA).
    12 rows in 4 clusters tell as much of a mean as 4.9 independent rows (design effect 2.45).
    """
    level = check_confidence_level(confidence_level)
    x = check_numbers(values, "values")
    codes, labels = check_labels(groups, len(x), "groups")
    sizes = np.bincount(codes)
    n_rows, n_clusters = len(x), len(labels)
    if n_clusters < 2 or n_clusters == n_rows:
        raise ValueError(
            "`groups` must hold at least two clusters, and two rows in one of them, got "
            f"{n_clusters} clusters of {n_rows} rows."
        )
    if np.ptp(x) == 0:
        raise ValueError(f"`values` must differ somewhere, got {x[0]:g} in all {n_rows} rows.")
    squares = MeanSquares.of(x[:, np.newaxis], codes)
    between, within, size = squares.between.item(), squares.within.item(), squares.size
    freedom = n_clusters - 1, n_rows - n_clusters
    ratio = between / within if within > 0 else math.inf
    ends = [
        ratio / stats.f.ppf(1 - (1 - level) / 2, *freedom),
        ratio * stats.f.ppf(1 - (1 - level) / 2, *freedom[::-1]),
    ]
    estimate = correlation_of(ratio, size)
    effect = 1 + (float(sizes @ sizes) / n_rows - 1) * max(estimate, 0.0)
    return IntraclassCorrelation(
        estimate=estimate,
        statistic=ratio,
        p_value=float(stats.f.sf(ratio, *freedom)),
        ci_low=correlation_of(ends[0], size),
        ci_high=correlation_of(ends[1], size),
        variant="one-way ANOVA",
        design_effect=effect,
        effective_sample_size=n_rows / effect,
        n_rows=n_rows,
        n_clusters=n_clusters,
    )
