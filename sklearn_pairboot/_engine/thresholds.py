"""Labels by thresholds of scores: counts at every threshold, and thresholds chosen in resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.units import Drawn, Units
from sklearn_pairboot._engine.weights import (
    BoolArray,
    FloatArray,
    IntArray,
    Kernel,
    Values,
    Weights,
)

# Weights of rows that are gone through at once: clusters may have many more rows than units.
_WEIGHTS_AT_ONCE = 2**20


class Counts(NamedTuple):
    """Weight of the rows that thresholds call positive, shape (n_resamples, n_thresholds).

    ``positives`` and ``negatives``, shape (n_resamples, 1), are the weights of all rows.
    """

    true_positives: NDArray[Any]
    false_positives: NDArray[Any]
    positives: NDArray[Any]
    negatives: NDArray[Any]

    @property
    def false_negatives(self) -> NDArray[Any]:
        """Weight of the positive rows that are missed."""
        return np.asarray(self.positives - self.true_positives)

    @property
    def true_negatives(self) -> NDArray[Any]:
        """Weight of the negative rows that are left alone."""
        return np.asarray(self.negatives - self.false_positives)


# Gives the place of the threshold in each resample, -1 where none will do.
Rule = Callable[[Counts], IntArray]


def candidates(scores: NDArray[Any]) -> FloatArray:
    """Thresholds that label rows differently, descending; the first calls no row positive."""
    distinct = np.unique(scores).astype(np.float64)
    return np.concatenate([[np.inf], distinct[::-1]])


@dataclass(frozen=True)
class Sweep:
    """One model's scores of rows: a row is called positive where it scores the threshold or more.

    ``members`` are the positive rows and the negative rows, each in descending order of score, and
    ``ends`` say how many of them reach each threshold.
    """

    members: tuple[NDArray[np.intp], NDArray[np.intp]]
    ends: tuple[NDArray[np.intp], NDArray[np.intp]]
    thresholds: FloatArray

    @classmethod
    def of(
        cls, positive: BoolArray, scores: NDArray[Any], thresholds: FloatArray | None = None
    ) -> Sweep:
        """Sort the rows; by default the thresholds are the distinct scores, and infinity."""
        if thresholds is None:
            thresholds = candidates(scores)
        order = np.argsort(scores, kind="stable")[::-1]
        members = order[positive[order]], order[~positive[order]]
        ends = [
            len(rows) - np.searchsorted(scores[rows[::-1]], thresholds, side="left")
            for rows in members
        ]
        return cls(members, (ends[0], ends[1]), thresholds)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(map(len, self.members))

    def counts(self, weights: NDArray[Any], places: IntArray | None = None) -> Counts:
        """Count at all thresholds, or in each resample at one, for weights of the rows."""
        kind = np.float64 if weights.dtype.kind == "f" else np.int64
        parts = []
        for rows, ends in zip(self.members, self.ends, strict=True):
            reached = np.zeros((len(weights), len(rows) + 1), dtype=kind)
            np.cumsum(weights[:, rows], axis=1, dtype=kind, out=reached[:, 1:])
            at = (
                reached[:, ends]
                if places is None
                else np.take_along_axis(reached, ends[places][:, None], axis=1)
            )
            parts.append((at, reached[:, -1:]))
        (hits, positives), (alarms, negatives) = parts
        return Counts(hits, alarms, positives, negatives)


@dataclass(frozen=True)
class TwoPartsSource:
    """Draw the units of validation and of test rows, each part by itself."""

    counts: CountSource

    name: str = field(default="validation and test", init=False)
    has_real_weights: bool = field(default=False, init=False)

    @property
    def n_units(self) -> int:
        """Number of units of both parts."""
        return self.counts.n_units

    @property
    def block_size(self) -> int:
        """Number of resamples that are drawn together."""
        return self.counts.block_size

    def draw(self, seed_sequence: SeedSequence) -> NDArray[Any]:
        """Draw one block of counts, shape (block_size, n_units)."""
        return self.counts.draw(seed_sequence)

    def drawn(self, units: Units) -> Drawn:
        """Name the units of both parts."""
        return Drawn.whole(units)

    def part(self, rows: NDArray[np.intp], n_units: int) -> NoReturn:
        """Refuse: subgroups are not looked at."""
        raise NotImplementedError("thresholds are chosen on whole parts.")

    def exchangeable(self, units: Units) -> Units:
        """Rows or clusters, whatever draws them."""
        return Units(units.n_rows, units.n_units, units.of_row)


@dataclass(frozen=True)
class ChosenThresholds:
    """Every model's test rows at thresholds that are chosen on validation rows of the resample.

    The rows of ``units`` are ``n_validation`` validation rows, then the test rows. ``test`` has
    the thresholds of ``validation``, in the same order.
    """

    validation: Sequence[Sweep]
    test: Sequence[Sweep]
    rule: Rule
    units: Units
    n_validation: int

    def tables(self, weights: Weights) -> NDArray[Any]:
        """Weights of test rows by truth and label, shape (n_models, n_resamples, 4).

        In order: negatives called negative and positive, positives called negative and positive.
        All are zero where no threshold will do.
        """
        if id(self) not in weights.shared:
            n_at_once = max(1, _WEIGHTS_AT_ONCE // self.units.n_rows)
            starts = range(0, len(weights.counts), n_at_once)
            pieces = [self._tables(weights.counts[start : start + n_at_once]) for start in starts]
            weights.shared[id(self)] = np.concatenate(pieces, axis=1)
        found: NDArray[Any] = weights.shared[id(self)]
        return found

    def _tables(self, counts: NDArray[Any]) -> NDArray[Any]:
        of_rows = counts if self.units.of_row is None else counts[:, self.units.of_row]
        known, unseen = of_rows[:, : self.n_validation], of_rows[:, self.n_validation :]
        tables = []
        for validation, test in zip(self.validation, self.test, strict=True):
            places = self.rule(validation.counts(known))
            of_test = test.counts(unseen, np.maximum(places, 0))
            table = np.hstack(
                [
                    of_test.true_negatives,
                    of_test.false_positives,
                    of_test.false_negatives,
                    of_test.true_positives,
                ]
            )
            tables.append(table * (places >= 0)[:, None])
        return np.stack(tables)


@dataclass(frozen=True)
class ChosenThresholdKernel:
    """A metric of labels, by `ChosenThresholds`.

    ``metric`` is its kernel for one model on the four cells of a table of truths and labels.
    """

    chosen: ChosenThresholds
    metric: Kernel
    path: str = field(default="sums", init=False)

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.chosen.validation)

    @property
    def scale(self) -> float:
        """Largest absolute item score of a mean, NaN for other metrics."""
        return float(getattr(self.metric, "scale", np.nan))

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate the metric of every model for a block of unit weights."""
        of_models = [self.metric.evaluate(Weights(table)) for table in self.chosen.tables(weights)]
        return Values(
            np.hstack([part.values for part in of_models]),
            np.hstack([part.undefined for part in of_models]),
            np.hstack([part.zero_division for part in of_models]),
        )

    def influence(self, weights: Weights) -> FloatArray | None:
        """Give none: a chosen threshold jumps where weights change a little."""
        return None

    def leave_one_out(self) -> NoReturn:
        """Refuse: a chosen threshold jumps where a single unit is left out."""
        raise NotImplementedError("there is no jackknife of a chosen threshold.")

    def unit_keys(self) -> Sequence[NDArray[Any]] | None:
        """Give none: units differ by their scores, and are not merged."""
        return None

    def take_units(self, units: IntArray) -> NoReturn:
        """Refuse, since units are never merged."""
        raise NotImplementedError("thresholds are chosen on all units; none are merged.")
