"""Comparisons of models on the same test rows, one function for each kind of input."""

from sklearn_pairboot.comparison.cross_validate import compare_cross_validate
from sklearn_pairboot.comparison.cv_results import compare_cv_results
from sklearn_pairboot.comparison.estimators import compare_estimators
from sklearn_pairboot.comparison.predictions import compare_predictions
from sklearn_pairboot.comparison.scores import compare_scores
from sklearn_pairboot.comparison.selection import selection_report
from sklearn_pairboot.comparison.selection_bias import bias_corrected_selection

__all__ = [
    "bias_corrected_selection",
    "compare_cross_validate",
    "compare_cv_results",
    "compare_estimators",
    "compare_predictions",
    "compare_scores",
    "selection_report",
]
