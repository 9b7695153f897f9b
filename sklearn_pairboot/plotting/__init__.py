"""Displays: pictures of what a comparison found, and the numbers behind them."""

from sklearn_pairboot.plotting.precision_recall import PrecisionRecallDisplay
from sklearn_pairboot.plotting.reliability import ReliabilityDisplay
from sklearn_pairboot.plotting.roc import RocDisplay
from sklearn_pairboot.plotting.thresholds import ThresholdDisplay

__all__ = ["PrecisionRecallDisplay", "ReliabilityDisplay", "RocDisplay", "ThresholdDisplay"]
