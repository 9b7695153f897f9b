"""Permutation tests of the pairs of models that a comparison compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sklearn_pairboot._engine.permutation import SwapTest, SwapTests, swap_sums
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._scoring.swaps import NotSwapped, swap_answers
from sklearn_pairboot._tables import listed

# Where resamples are enumerated, arrangements may still be too many.
_RANDOM_ONES = 9999


class Found(NamedTuple):
    """Tests by the names of metric, model and baseline, and why some are missing."""

    tests: SwapTests
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawn:
    """How many arrangements are drawn where not all are counted, from which seed."""

    n_resamples: int
    entropy: int

    @classmethod
    def like(cls, n_resamples: int | str, entropy: int) -> Drawn:
        """Draw as many arrangements as resamples."""
        return cls(_RANDOM_ONES if n_resamples == "exact" else int(n_resamples), entropy)


# Observed values, shape (n_metrics, n_models), the numbers of the models of each pair, and what is
# drawn.
Swap = Callable[[FloatArray, Sequence[tuple[int, int]], Drawn], Found]


def swap_scores(
    metric: str, models: Sequence[str], table: FloatArray, weight: FloatArray, units: Units
) -> Swap:
    """Prepare the tests of mean scores of items, shape (n_rows, n_models)."""

    def swap(observed: FloatArray, pairs: Sequence[tuple[int, int]], drawn: Drawn) -> Found:
        tests: dict[tuple[str, str, str], SwapTest] = {}
        for model, baseline in pairs:
            one, other = table[:, model], table[:, baseline]
            terms = weight[:, None] * np.column_stack([one - other, np.abs(one) + np.abs(other)])
            by_unit = units.sum_rows(terms)
            tests[metric, models[model], models[baseline]] = swap_sums(
                by_unit[:, 0], by_unit[:, 1], drawn.n_resamples, drawn.entropy
            )
        return Found(tests)

    return swap


def swap_records(
    metrics: Sequence[Metric], problems: Sequence[Problem | None], models: Sequence[str]
) -> Swap:
    """Prepare the tests of recorded answers; each metric has its own problem.

    A problem is ``None`` where the scorer asks for more than truths, answers and weights.
    """

    def swap(observed: FloatArray, pairs: Sequence[tuple[int, int]], drawn: Drawn) -> Found:
        tests: dict[tuple[str, str, str], SwapTest] = {}
        missing: dict[str, list[str]] = {}
        for number, (metric, problem) in enumerate(zip(metrics, problems, strict=True)):
            for model, baseline in pairs:
                places, names = (model, baseline), (models[model], models[baseline])
                try:
                    if problem is None:
                        raise NotSwapped("its scorer is given more than truths and answers")
                    tests[metric.name, *names] = swap_answers(
                        metric,
                        replace(
                            problem, records=tuple(problem.records[k] for k in places), shared={}
                        ),
                        names,
                        (float(observed[number, model]), float(observed[number, baseline])),
                        drawn.n_resamples,
                        drawn.entropy,
                    )
                except NotSwapped as reason:
                    place = f"{metric.name} ({names[0]} - {names[1]})"
                    missing.setdefault(str(reason), []).append(place)
        return Found(
            tests,
            tuple(
                f"No permutation test of {listed(places)}: {reason.rstrip('.')}."
                for reason, places in missing.items()
            ),
        )

    return swap
