"""Isotonic regression whose scores are compared exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from sklearn_pairboot._engine.weights import FloatArray


def best_rising(
    scores: NDArray[np.float64], outcomes: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fit the rising function; give the distinct scores that have weight, and its values there.

    scikit-learn takes scores for equal that differ by less than 1e-15, so it gets their ranks.
    """
    kept = weight > 0
    distinct, ranks = np.unique(scores[kept], return_inverse=True)
    ranks = ranks.reshape(-1)
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(ranks, outcomes[kept], weight[kept])
    values: FloatArray = fitted.predict(np.arange(len(distinct)))
    return distinct, values
