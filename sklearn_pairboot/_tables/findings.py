"""What the numbers call for in words: one note for each cause, with its places."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.intervals import IntervalEstimate
from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.sample import Sample
from sklearn_pairboot._engine.simultaneous import Family
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables.rows import (
    DifferenceRow,
    EquivalenceRow,
    Settings,
    contradicts_itself,
    format_count,
    too_few_units,
)

# A larger share of undefined resamples than this is worth a note.
UNDEFINED_SHARE = 0.05


@dataclass
class Findings:
    """Collects what rows have to say, so that each cause becomes one note with its places."""

    n_sequences: int
    degenerate: list[str] = dataclasses.field(default_factory=list)
    outside: list[str] = dataclasses.field(default_factory=list)
    contradicted: list[str] = dataclasses.field(default_factory=list)
    zero_division: list[str] = dataclasses.field(default_factory=list)
    undefined: list[str] = dataclasses.field(default_factory=list)
    unsupported: list[str] = dataclasses.field(default_factory=list)
    dropped: list[str] = dataclasses.field(default_factory=list)
    outside_margin: list[str] = dataclasses.field(default_factory=list)
    out_of_reach: tuple[int, float] | None = None
    n_intervals: int = 0
    fallbacks: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)
    remarks: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)

    def add(self, place: str, estimate: float, found: IntervalEstimate) -> None:
        """Record status and position of one interval."""
        self.n_intervals += 1
        if found.status == "degenerate":
            self.degenerate.append(place)
        elif found.status != "ok":
            self.fallbacks.setdefault((found.status, found.reason), []).append(place)
        elif found.reason:
            self.remarks.setdefault((found.method, found.reason), []).append(place)
        # Quantiles are interpolated, so an end may miss an equal estimate by rounding.
        rounding = 1e-12 * max(abs(estimate), found.std_error)
        if found.status == "biased":  # which says it already
            return
        if not found.low - rounding <= estimate <= found.high + rounding:
            self.outside.append(place)

    def add_support(
        self, place: str, sample: Sample, alpha: float, expansion: Expansion | None = None
    ) -> None:
        """Record fewer defined resamples than the confidence level needs, or its ``expansion``."""
        floor = sample.p_floor
        if expansion is not None and expansion.df > 0:
            floor = expansion.tail(floor)
        if sample.multiplicities is None and 2 * floor > alpha:
            self.unsupported.append(f"{place}, {format_count(sample.size)}")

    def add_undefined(
        self,
        distribution: BootstrapDistribution,
        metric: int,
        name: str,
        pairs: Iterable[tuple[int, int]],
    ) -> None:
        """Record a metric that is undefined in more than 5 % of the resamples."""
        n_models = distribution.undefined.shape[2]
        weights = distribution.multiplicities
        alone = ((model, model) for model in range(n_models))
        share = max(
            float(np.average(undefined_in_either(distribution, metric, a, b), 0, weights))
            for a, b in (*alone, *pairs)
        )
        if share <= UNDEFINED_SHARE:
            return
        counts = [int(distribution.n_undefined(metric, model)) for model in range(n_models)]
        low, high = min(counts), max(counts)
        span = format_count(high)
        if low != high:
            span = f"{format_count(low)} to {span}, by model,"
        self.undefined.append(f"{name} ({span} of {format_count(self.n_sequences)})")

    def add_contradictions(self, rows: Mapping[str, DifferenceRow], alpha: float) -> None:
        """Record differences that lie on another side of zero, or of a margin, than intervals."""
        for place, row in rows.items():
            if contradicts_itself(row):
                self.contradicted.append(place)
            if isinstance(row, EquivalenceRow) and abs(row.difference) >= row.margin:
                if row.p_equivalence_adjusted <= alpha:
                    self.outside_margin.append(place)

    def add_dropped(self, family: Family, metrics: Sequence[str], alpha: float) -> None:
        """Record resamples that max-T cannot use, as some comparison is undefined in them."""
        lost = family.lost
        if not lost.any():
            return
        weights = np.ones(len(lost)) if family.weights is None else family.weights
        share = float(weights[lost].sum() / weights.sum())
        names = ", ".join(dict.fromkeys(metrics))
        self.dropped.append(f"{names} ({format_count(round(share * self.n_sequences))})")
        n_kept = int(np.count_nonzero(~lost))
        if family.weights is None and 1 / (n_kept + 1) > alpha:
            self.unsupported.append(f"{names} by max-T, {n_kept}")

    def add_family(
        self, p_values: FloatArray, settings: Settings, expansion: Expansion | None = None
    ) -> None:
        """Record a family so large that its adjusted p-values cannot be small enough."""
        if settings.method == "t":  # whose tails are those of a law
            return
        n_comparisons = int(np.count_nonzero(~np.isnan(p_values)))
        tails = 2 if settings.alternative == "two-sided" else 1
        floor = 1 / (self.n_sequences + 1)
        if settings.method == "expanded" and expansion is not None:
            floor = expansion.tail(floor)
        smallest = n_comparisons * tails * floor
        if n_comparisons > 1 and settings.correction is not None and smallest > settings.alpha:
            self.out_of_reach = max(self.out_of_reach or (0, 0.0), (n_comparisons, smallest))

    def notes(self, settings: Settings, n_units: int) -> tuple[str, ...]:
        """Put each cause into one sentence."""
        notes = [
            f"Interval of {self._intervals(places)}: {status}, because {reason}."
            for (status, reason), places in self.fallbacks.items()
        ]
        notes += [
            f"Interval of {self._intervals(places)}: {method}, where {reason}."
            for (method, reason), places in self.remarks.items()
        ]
        if self.undefined:
            notes.append(
                "More than 5 % of the resamples have no value of the metric: "
                f"{listed(self.undefined)}. They are left out, and the interval is conditional "
                "on the rest."
            )
        if self.unsupported:
            notes.append(
                "Fewer resamples have a value than the confidence level needs: "
                f"{listed(self.unsupported)}. The ends of these intervals lie among the extreme "
                "resamples, and no verdict follows. Draw more resamples."
            )
        if self.zero_division:
            notes.append(
                "0/0 got the metric's conventional value (zero_division) in some of the "
                f"{format_count(self.n_sequences)} resamples, which are kept: "
                f"{listed(self.zero_division)}."
            )
        if self.degenerate:
            notes.append(zero_width_note(self.degenerate))
        if self.outside:
            notes.append(
                f"The estimate lies outside its own interval for {listed(self.outside)}: the "
                "resampling distribution is biased there. Compare the intervals of other methods."
            )
        if self.contradicted:
            notes.append(
                f"Estimate and interval of {listed(self.contradicted)} lie on different sides of "
                "0, so the verdict is inconclusive whatever the p-value."
            )
        if self.outside_margin:
            notes.append(
                f"The estimate of {listed(self.outside_margin)} lies outside the margin, its "
                "interval inside, so the models are not called equivalent."
            )
        if self.dropped:
            notes.append(
                "Max-T takes only resamples in which every comparison of the family is defined: of "
                f"{format_count(self.n_sequences)} it leaves out those of {listed(self.dropped)}."
            )
        if self.out_of_reach is not None:
            n_comparisons, smallest = self.out_of_reach
            notes.append(
                f"{n_comparisons} comparisons with {format_count(self.n_sequences)} resamples: the "
                f"smallest adjusted p-value of a single one is {smallest:.3g}, above the level "
                f"{settings.alpha:.10g}. Draw more resamples."
            )
        if too_few_units(n_units, settings.alpha):
            chance = 2.0 ** (1 - n_units)
            notes.append(
                f"{n_units} resampling units are too few for a verdict at this level: even if all "
                f"of them agreed, chance alone would do that with probability {chance:.3g}."
            )
        return tuple(notes)

    def _intervals(self, places: Sequence[str]) -> str:
        if len(places) == self.n_intervals > 1:
            return f"all {len(places)} estimates"
        return listed(places)


def undefined_in_either(
    distribution: BootstrapDistribution, metric: int, model: int, baseline: int
) -> NDArray[np.bool_]:
    undefined = distribution.undefined[:, metric]
    either: NDArray[np.bool_] = undefined[:, model] | undefined[:, baseline]
    return either


def zero_width_note(places: Sequence[str], units: str = "rows") -> str:
    """Say what an interval without width means, and what it does not."""
    return (
        f"Zero-width interval of {listed(places)}: every resample of these data gives one value. "
        f"This says nothing about unseen {units}."
    )


def listed(places: Sequence[str], limit: int = 6) -> str:
    """Join names with commas, the ones past ``limit`` as a number."""
    if len(places) <= limit:
        return ", ".join(places)
    return f"{', '.join(places[:limit])} and {len(places) - limit} more"
