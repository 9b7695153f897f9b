"""The meta-estimator: several estimators compared by a paired bootstrap, one of them kept."""

from __future__ import annotations

__all__ = ["PairedBootstrapComparator"]
