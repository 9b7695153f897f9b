"""Metrics that scikit-learn lacks, as functions and as scorers, and what tells them apart."""

from sklearn_pairboot.metrics.auc import AUCTies, TieAwareAUC, auc_ties, tie_aware_auc
from sklearn_pairboot.metrics.calibration_error import (
    ECE,
    expected_calibration_error,
    squared_calibration_error,
)
from sklearn_pairboot.metrics.calibration_test import CalibrationTestResult, calibration_test
from sklearn_pairboot.metrics.costs import misclassification_cost, net_benefit, profit
from sklearn_pairboot.metrics.curves import CurveBands, precision_recall_bands, roc_bands
from sklearn_pairboot.metrics.decompositions import (
    BrierDecomposition,
    ScoreDecomposition,
    brier_decomposition,
    score_decomposition,
)
from sklearn_pairboot.metrics.placements import placement_values
from sklearn_pairboot.metrics.recalibration import (
    LogisticRecalibration,
    SpiegelhalterResult,
    calibration_slope_intercept,
    spiegelhalter_z,
)
from sklearn_pairboot.metrics.reliability import ReliabilityCurve, reliability_curve
from sklearn_pairboot.metrics.smooth_error import smooth_calibration_error
from sklearn_pairboot.metrics.threshold_bands import ThresholdBands, threshold_bands
from sklearn_pairboot.metrics.thresholds import (
    ThresholdCurve,
    choose_threshold,
    threshold_curve,
)

__all__ = [
    "ECE",
    "AUCTies",
    "BrierDecomposition",
    "CalibrationTestResult",
    "CurveBands",
    "LogisticRecalibration",
    "ReliabilityCurve",
    "ScoreDecomposition",
    "SpiegelhalterResult",
    "ThresholdBands",
    "ThresholdCurve",
    "TieAwareAUC",
    "auc_ties",
    "brier_decomposition",
    "calibration_slope_intercept",
    "calibration_test",
    "choose_threshold",
    "expected_calibration_error",
    "misclassification_cost",
    "net_benefit",
    "placement_values",
    "precision_recall_bands",
    "profit",
    "reliability_curve",
    "roc_bands",
    "score_decomposition",
    "smooth_calibration_error",
    "spiegelhalter_z",
    "squared_calibration_error",
    "threshold_bands",
    "threshold_curve",
    "tie_aware_auc",
]
