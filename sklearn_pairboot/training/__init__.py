"""Methods rather than trained models: uncertainty that includes training."""

from __future__ import annotations

from sklearn_pairboot.training.methods import compare_methods
from sklearn_pairboot.training.result import (
    MethodComparison,
    MethodEstimate,
    TargetEstimate,
    VarianceShare,
)
from sklearn_pairboot.training.runs import compare_runs

__all__ = [
    "MethodComparison",
    "MethodEstimate",
    "TargetEstimate",
    "VarianceShare",
    "compare_methods",
    "compare_runs",
]
