"""Tests on their own, without a comparison around them."""

from sklearn_pairboot.inference.cochran import CochranQResult, cochran_q_test
from sklearn_pairboot.inference.corrected_t import (
    CorrectedTTestResult,
    corrected_resampled_ttest,
)
from sklearn_pairboot.inference.delong import (
    AUCContrast,
    AUCEstimate,
    DeLongResult,
    delong_test,
)
from sklearn_pairboot.inference.discrete import TaroneResult, tarone_correction
from sklearn_pairboot.inference.five_by_two import FiveByTwoResult, five_by_two_cv_f_test
from sklearn_pairboot.inference.mcnemar import McNemarResult, mcnemar_test
from sklearn_pairboot.inference.permutation import (
    PermutationTestResult,
    paired_permutation_test,
)
from sklearn_pairboot.inference.rates import RateInterval, rate_interval
from sklearn_pairboot.inference.sign import SignTestResult, sign_test

__all__ = [
    "AUCContrast",
    "AUCEstimate",
    "CochranQResult",
    "CorrectedTTestResult",
    "DeLongResult",
    "FiveByTwoResult",
    "McNemarResult",
    "PermutationTestResult",
    "RateInterval",
    "SignTestResult",
    "TaroneResult",
    "cochran_q_test",
    "corrected_resampled_ttest",
    "delong_test",
    "five_by_two_cv_f_test",
    "mcnemar_test",
    "paired_permutation_test",
    "rate_interval",
    "sign_test",
    "tarone_correction",
]
