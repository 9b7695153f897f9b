"""Tests on their own, without a comparison around them."""

from sklearn_pairboot.inference.corrected_t import (
    CorrectedTTestResult,
    corrected_resampled_ttest,
)

__all__ = ["CorrectedTTestResult", "corrected_resampled_ttest"]
