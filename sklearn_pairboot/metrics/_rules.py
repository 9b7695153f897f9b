"""Rules that choose a threshold: least cost, a floor of recall, a floor of precision."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_pairboot._engine.thresholds import Counts
from sklearn_pairboot._engine.weights import FloatArray, IntArray

# Costs, and counts beside a floor, differ by rounding only where they are closer than this.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Costs:
    """Choose the least mean cost; of equal ones the highest threshold."""

    fn: float
    fp: float
    tp: float = 0.0
    tn: float = 0.0

    def of(self, counts: Counts) -> FloatArray:
        """Mean cost of a row."""
        total: FloatArray = (
            self.tp * counts.true_positives
            + self.fn * counts.false_negatives
            + self.fp * counts.false_positives
            + self.tn * counts.true_negatives
        )
        return np.asarray(total / (counts.positives + counts.negatives))

    def __call__(self, counts: Counts) -> IntArray:
        """Give the place of the chosen threshold in each resample."""
        drawn = (counts.positives + counts.negatives > 0)[:, 0]
        with np.errstate(invalid="ignore"):
            costs = self.of(counts)
        slack = _ROUNDING * max(map(abs, (self.fn, self.fp, self.tp, self.tn)))
        places = np.argmax(costs <= costs.min(axis=1, keepdims=True) + slack, axis=1)
        return np.where(drawn, places, -1)

    @property
    def for_calibrated(self) -> float:
        """The threshold of least expected cost for probabilities that are calibrated."""
        alarm = self.fp - self.tn
        return alarm / (alarm + self.fn - self.tp)

    def __str__(self) -> str:
        parts = [f"{self.fn:g} for a missed positive", f"{self.fp:g} for a false alarm"]
        parts += [f"{self.tp:g} for a positive found"] * bool(self.tp)
        parts += [f"{self.tn:g} for a negative left alone"] * bool(self.tn)
        return f"the least mean cost ({', '.join(parts)})"


@dataclass(frozen=True)
class RecallFloor:
    """Choose the highest threshold whose recall meets a floor."""

    floor: float

    def __call__(self, counts: Counts) -> IntArray:
        """Give the place of the chosen threshold in each resample, -1 without positives."""
        needed = self.floor * (1 - _ROUNDING) * counts.positives
        places = np.argmax(counts.true_positives >= needed, axis=1)
        return np.where(counts.positives[:, 0] > 0, places, -1)

    def __str__(self) -> str:
        return f"the highest threshold with a recall of {self.floor:g} or more"


@dataclass(frozen=True)
class PrecisionFloor:
    """Choose the highest recall among thresholds whose precision meets a floor.

    Of equal recalls it is the one with the highest threshold, and so the highest precision.
    """

    floor: float

    def __call__(self, counts: Counts) -> IntArray:
        """Give the place of the chosen threshold in each resample, -1 where none meets it."""
        hits = counts.true_positives
        called = hits + counts.false_positives
        meets = (called > 0) & (hits >= self.floor * (1 - _ROUNDING) * called)
        places = np.argmax(np.where(meets, hits, -1), axis=1)
        return np.where(meets.any(axis=1), places, -1)

    def __str__(self) -> str:
        return f"the highest recall with a precision of {self.floor:g} or more"


def check_number(name: str, value: Any) -> float:
    """Check a finite number, of any sign."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not number or not np.isfinite(float(value)):
        raise ValueError(f"`{name}` must be a finite number, got {value!r}.")
    return float(value)


def read_rule(
    *,
    min_recall: Any = None,
    min_precision: Any = None,
    cost_fn: Any = None,
    cost_fp: Any = None,
    cost_tp: Any = 0.0,
    cost_tn: Any = 0.0,
) -> Costs | RecallFloor | PrecisionFloor | None:
    """Check the keywords that name a rule; ``None`` where they name none."""
    if (cost_fn is None) != (cost_fp is None):
        raise ValueError(
            "`cost_fn` and `cost_fp` must be given together, got "
            f"cost_fn={cost_fn!r} and cost_fp={cost_fp!r}."
        )
    given = {"min_recall": min_recall, "min_precision": min_precision, "cost_fn": cost_fn}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise ValueError(
            "Only one of `min_recall`, `min_precision` and costs must be given, got "
            f"{' and '.join(named)}."
        )
    if named == ["cost_fn"]:
        costs = Costs(
            check_number("cost_fn", cost_fn),
            check_number("cost_fp", cost_fp),
            check_number("cost_tp", cost_tp),
            check_number("cost_tn", cost_tn),
        )
        for wrong, right in (("fn", "tp"), ("fp", "tn")):
            if not getattr(costs, wrong) > getattr(costs, right):
                raise ValueError(
                    f"`cost_{wrong}` must be above `cost_{right}`, got {getattr(costs, wrong):g} "
                    f"and {getattr(costs, right):g}: then a mistake costs nothing, and one label "
                    "for all rows is best."
                )
        return costs
    if min_recall is not None:
        return RecallFloor(_floor("min_recall", min_recall))
    if min_precision is not None:
        return PrecisionFloor(_floor("min_precision", min_precision))
    return None


def _floor(name: str, value: Any) -> float:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not number or not 0 < float(value) <= 1:
        raise ValueError(f"`{name}` must be a number above 0 and at most 1, got {value!r}.")
    return float(value)
