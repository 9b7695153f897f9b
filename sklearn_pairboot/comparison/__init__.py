"""Comparisons of models on the same test rows, one function for each kind of input."""

from sklearn_pairboot.comparison.estimators import compare_estimators
from sklearn_pairboot.comparison.predictions import compare_predictions
from sklearn_pairboot.comparison.scores import compare_scores

__all__ = ["compare_estimators", "compare_predictions", "compare_scores"]
