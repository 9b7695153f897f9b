"""Calibration: scores turned into probabilities, and probabilities under other class shares."""

from sklearn_pairboot.calibration.beta import BetaCalibrator
from sklearn_pairboot.calibration.binning import HistogramCalibrator
from sklearn_pairboot.calibration.calibrated_model import CalibratedModel
from sklearn_pairboot.calibration.cross_fitting import CrossCalibratedModel
from sklearn_pairboot.calibration.isotonic import IsotonicCalibrator
from sklearn_pairboot.calibration.models import calibrate
from sklearn_pairboot.calibration.platt import PlattCalibrator
from sklearn_pairboot.calibration.prior_shift import (
    CalibrationInTheLarge,
    PriorEstimate,
    adjust_prior,
    calibration_in_the_large,
    estimate_prior,
)
from sklearn_pairboot.calibration.temperature import TemperatureCalibrator
from sklearn_pairboot.calibration.venn_abers import VennAbersCalibrator

__all__ = [
    "BetaCalibrator",
    "CalibratedModel",
    "CalibrationInTheLarge",
    "CrossCalibratedModel",
    "HistogramCalibrator",
    "IsotonicCalibrator",
    "PlattCalibrator",
    "PriorEstimate",
    "TemperatureCalibrator",
    "VennAbersCalibrator",
    "adjust_prior",
    "calibrate",
    "calibration_in_the_large",
    "estimate_prior",
]
