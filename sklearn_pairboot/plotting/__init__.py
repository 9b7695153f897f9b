"""Displays: pictures of what a comparison found, and the numbers behind them."""

from __future__ import annotations

from sklearn_pairboot.plotting.convergence import ConvergenceDisplay
from sklearn_pairboot.plotting.difference import DifferenceDisplay
from sklearn_pairboot.plotting.forest import ForestDisplay, ForestRow
from sklearn_pairboot.plotting.paired_rows import PairedRowsDisplay
from sklearn_pairboot.plotting.precision_recall import PrecisionRecallDisplay
from sklearn_pairboot.plotting.ranks import RankDisplay
from sklearn_pairboot.plotting.reliability import ReliabilityDisplay
from sklearn_pairboot.plotting.roc import RocDisplay
from sklearn_pairboot.plotting.thresholds import ThresholdDisplay
from sklearn_pairboot.plotting.variance_shares import VarianceShareRow, VarianceSharesDisplay

__all__ = [
    "ConvergenceDisplay",
    "DifferenceDisplay",
    "ForestDisplay",
    "ForestRow",
    "PairedRowsDisplay",
    "PrecisionRecallDisplay",
    "RankDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "ThresholdDisplay",
    "VarianceShareRow",
    "VarianceSharesDisplay",
]
