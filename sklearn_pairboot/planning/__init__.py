"""How much the rows of a test set tell, how many more are needed, and how often to look."""

from __future__ import annotations

from sklearn_pairboot.planning.clusters import IntraclassCorrelation, intraclass_correlation
from sklearn_pairboot.planning.power import minimum_detectable_difference, required_units
from sklearn_pairboot.planning.sequential import GroupSequentialLevels, group_sequential_levels

__all__ = [
    "GroupSequentialLevels",
    "IntraclassCorrelation",
    "group_sequential_levels",
    "intraclass_correlation",
    "minimum_detectable_difference",
    "required_units",
]
