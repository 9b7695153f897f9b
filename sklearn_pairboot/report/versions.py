"""Versions of the software that computed a result."""

from __future__ import annotations

import platform

import numpy as np
import scipy
import sklearn

from sklearn_pairboot import _version


def installed_versions() -> dict[str, str]:
    """Name Python and the packages, with the versions that are installed."""
    return {
        "python": platform.python_version(),
        "sklearn-pairboot": _version.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
