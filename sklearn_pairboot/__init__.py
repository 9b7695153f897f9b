"""Paired and cluster bootstrap of scikit-learn scorers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn_pairboot._version import __version__

if TYPE_CHECKING:
    from sklearn_pairboot._scoring.recorded import RecordedEstimator
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

# Where a name is imported from when it is first asked for, as SPEC 1 of Scientific Python has it:
# a program that only may compare models does not wait for it.
_PLACES = {
    "ECE": "metrics",
    "ClusterBootstrapScorer": "scorer",
    "ComparisonResult": "result",
    "PairedBootstrapComparator": "comparator",
    "RecordedEstimator": "_scoring.recorded",
    "TieAwareAUC": "metrics",
    "bias_corrected_selection": "comparison",
    "compare_cross_validate": "comparison",
    "compare_cv_results": "comparison",
    "compare_estimators": "comparison",
    "compare_methods": "training",
    "compare_predictions": "comparison",
    "compare_runs": "training",
    "compare_scores": "comparison",
    "expected_calibration_error": "metrics",
    "selection_report": "comparison",
    "tie_aware_auc": "metrics",
}
_PACKAGES = (
    "agreement",
    "calibration",
    "comparison",
    "inference",
    "metrics",
    "planning",
    "plotting",
    "protocol",
    "resampling",
    "training",
)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # What this file imports for itself is no offer of the package.
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *__all__, *_PACKAGES})
