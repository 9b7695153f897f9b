"""Histogram binning: the rate of positives among scores of a bin."""

from __future__ import annotations

import numpy as np

from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._engine.weights import BoolArray, FloatArray
from sklearn_pairboot._scoring.checks import check_choice
from sklearn_pairboot.calibration._base import ScoreCalibrator


class HistogramCalibrator(ScoreCalibrator):
    """Map scores to the rate of positives in their bin.

    The plainest calibrator: what it says can be counted. All scores of a bin become ties, and the
    rates need not rise from bin to bin, so that AUC changes.

    Parameters
    ----------
    n_bins : int, default=15
        Number of bins; fewer where many scores are equal, which are never split.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of about equally many rows, or of equal width.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Both classes in sorted order; the later one is the positive one.
    edges_ : ndarray of shape (n_edges,)
        Inner edges; a score that equals one lies in the upper bin.
    rates_ : ndarray of shape (n_edges + 1,)
        Weighted rate of positives in each bin. A bin without rows takes that of the nearest one.
    n_features_in_ : int
        1.

    See Also
    --------
    IsotonicCalibrator : Bins found from the data so that rates rise.

    Examples
    --------
    >>> from sklearn_pairboot.calibration import HistogramCalibrator
    >>> calibrator = HistogramCalibrator(n_bins=2).fit([1, 2, 3, 4], [0, 1, 1, 1])
    >>> calibrator.predict_proba([0, 1, 4, 9])[:, 1].tolist()
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(self, *, n_bins: int = 15, strategy: str = "quantile") -> None:
        self.n_bins = n_bins
        self.strategy = strategy

    def _fit(self, scores: FloatArray, positive: BoolArray, weight: FloatArray) -> None:
        if not is_integer(self.n_bins, least=1):
            raise ValueError(f"`n_bins` must be a positive integer, got {self.n_bins!r}.")
        check_choice("strategy", self.strategy, ("quantile", "uniform"))
        n_bins = int(self.n_bins)
        if self.strategy == "uniform":
            self.edges_ = np.linspace(scores.min(), scores.max(), n_bins + 1)[1:-1]
        else:
            self.edges_ = _quantile_edges(scores, weight, n_bins)
        bins = self._bins(scores)
        n_all = np.bincount(bins, weight, len(self.edges_) + 1)
        n_positive = np.bincount(bins, weight * positive, len(self.edges_) + 1)
        filled = np.flatnonzero(n_all > 0)
        nearest = filled[np.abs(np.arange(len(n_all))[:, None] - filled).argmin(axis=1)]
        self.rates_ = n_positive[nearest] / n_all[nearest]

    def _probability(self, scores: FloatArray) -> FloatArray:
        rates: FloatArray = self.rates_[self._bins(scores)]
        return rates

    def _bins(self, scores: FloatArray) -> np.ndarray:
        return np.searchsorted(self.edges_, scores, side="right")


def _quantile_edges(scores: FloatArray, weight: FloatArray, n_bins: int) -> FloatArray:
    """Edges between distinct scores, where about equal weights lie between them."""
    distinct, of_row = np.unique(scores, return_inverse=True)
    below = np.cumsum(np.bincount(of_row.reshape(-1), weight))
    wanted = below[-1] * np.arange(1, n_bins) / n_bins
    # The first distinct score above the wanted weight starts a bin.
    starts = np.unique(np.searchsorted(below, wanted * (1 - 1e-12), side="left") + 1)
    edges: FloatArray = distinct[starts[starts < len(distinct)]]
    return edges
