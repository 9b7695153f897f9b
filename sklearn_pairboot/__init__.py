"""Paired and cluster bootstrap of scikit-learn scorers."""

from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._version import __version__
from sklearn_pairboot.comparator import PairedBootstrapComparator
from sklearn_pairboot.comparison import (
    bias_corrected_selection,
    compare_cross_validate,
    compare_cv_results,
    compare_estimators,
    compare_predictions,
    compare_scores,
    selection_report,
)
from sklearn_pairboot.metrics import (
    ECE,
    TieAwareAUC,
    expected_calibration_error,
    tie_aware_auc,
)
from sklearn_pairboot.result import ComparisonResult
from sklearn_pairboot.scorer import ClusterBootstrapScorer
from sklearn_pairboot.training import compare_methods, compare_runs

__all__ = [
    "ECE",
    "ClusterBootstrapScorer",
    "ComparisonResult",
    "PairedBootstrapComparator",
    "RecordedEstimator",
    "TieAwareAUC",
    "__version__",
    "bias_corrected_selection",
    "compare_cross_validate",
    "compare_cv_results",
    "compare_estimators",
    "compare_methods",
    "compare_predictions",
    "compare_runs",
    "compare_scores",
    "expected_calibration_error",
    "selection_report",
    "tie_aware_auc",
]
