"""Calibration: probabilities under another share of the classes."""

from sklearn_pairboot.calibration.prior_shift import (
    CalibrationInTheLarge,
    PriorEstimate,
    adjust_prior,
    calibration_in_the_large,
    estimate_prior,
)

__all__ = [
    "CalibrationInTheLarge",
    "PriorEstimate",
    "adjust_prior",
    "calibration_in_the_large",
    "estimate_prior",
]
