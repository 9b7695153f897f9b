"""Models of the folds of a cross-validation, compared by the rows that they were tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.resolve import Metric, with_companions
from sklearn_pairboot.comparison._folds import Data, Folds, Tested, notes_on_splits, score_folds
from sklearn_pairboot.comparison._named import is_frozen
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._permutation import Swap, swap_records
from sklearn_pairboot.comparison._pooled import pool_folds
from sklearn_pairboot.comparison._run import compare_kernels, constant_hint, kind_of
from sklearn_pairboot.comparison._slices import Slices, Subgroup, keep_rows
from sklearn_pairboot.comparison._warnings import tied_scores_note
from sklearn_pairboot.report.split_tests import SplitScores, SplitTestRow, split_test_rows
from sklearn_pairboot.result import ComparisonResult

AGGREGATES = ("folds", "pooled")


@dataclass(frozen=True)
class Evaluated:
    """Kernels of cross-validated metrics, and the scores of the single folds.

    ``values`` are those of ``metrics`` in natural units, shape (n_metrics, n_splits, n_models).
    ``split_scores`` is ``None`` where no model was trained on the splits.
    """

    models: tuple[str, ...]
    metrics: list[Metric]
    kernels: Sequence[Kernel]
    units: Units
    values: FloatArray
    split_scores: SplitScores | None
    notes: list[str]
    held_fixed: str
    hint: str = ""
    swap: Swap | None = None
    slices: Slices | None = None

    @property
    def directions(self) -> list[tuple[str, bool]]:
        """Name of each metric, and whether greater is better."""
        return [(metric.name, metric.greater_is_better) for metric in self.metrics]

    def split_tests(self, options: Options) -> tuple[SplitTestRow, ...]:
        """Test the comparisons on the splits."""
        settings = options.settings(self.models, [metric.name for metric in self.metrics])
        return split_test_rows(self.split_scores, self.models, self.directions, settings)

    def compare(
        self, options: Options, *, weighted: bool, notes: Sequence[str] = ()
    ) -> ComparisonResult:
        """Bootstrap the tested rows."""
        return compare_kernels(
            self.kernels,
            self.directions,
            self.models,
            self.units,
            options,
            weighted=weighted,
            notes=[*self.notes, *notes],
            hint=self.hint,
            held_fixed=self.held_fixed,
            swap=self.swap,
            slices=self.slices,
            split_scores=self.split_scores,
            interval_rules=[metric.interval_rule for metric in self.metrics],
        )


def evaluate_folds(
    data: Data,
    folds: Folds,
    metrics: Sequence[Metric],
    metadata: Mapping[str, Mapping[str, Any]],
    *,
    aggregate: str = "folds",
    subgroups: Sequence[Subgroup] = (),
) -> Evaluated:
    """Score fold models: the mean of their folds' scores, or all their answers together.

    Answers together have ``subgroups`` too.
    """
    metrics, metadata = with_companions(metrics), dict(metadata)
    for metric, companion in pairwise(metrics):
        metadata.setdefault(companion.name, metadata[metric.name])
    splits = [folds.splits[number] for number in folds.kept]
    models = tuple(folds.models[folds.kept[0]])
    tested = Tested.of(splits, data.units)
    kind = kind_of(data.truths)
    pooled = aggregate == "pooled"
    scored = score_folds(
        metrics, folds, data.X, data.truths, kind, tested, metadata, required=not pooled
    )
    kernels: Sequence[Kernel] = scored.kernels
    found, values, notes = scored.metrics, scored.values, scored.notes
    swap, slices, hint = None, None, ""
    # Where all metrics have values the models have answered.
    ranked_together = [
        records
        for number, records in zip(folds.kept, scored.records, strict=True)
        if not np.isnan(values[:, number]).any()
    ]
    if pooled:
        weight = metadata[metrics[0].name].get("sample_weight")
        joined = pool_folds(
            metrics, folds, scored.records, data.X, data.truths, kind, tested, weight
        )
        kernels, found = joined.kernels, joined.metrics
        values = scored.values[[metrics.index(metric) for metric in found]]
        ranked = any(kernel.path == "ranks" for kernel in kernels)
        notes = [_pooled_note(joined.n_answers, tested, ranked=ranked), *joined.notes]
        swap = swap_records(found, joined.problems, models)
        is_tested = np.isin(np.arange(len(data.truths)), tested.rows)
        slices = joined.slices(keep_rows(subgroups, is_tested), models)
        hint = constant_hint(data.truths[tested.rows])
        ranked_together = [dict(zip(models, joined.problems[0].records, strict=True))]
    if kind == "binary":
        notes = [*notes, *tied_scores_note(found, ranked_together)]
    n_rows, failed = len(data.truths), bool(folds.failed)
    trained = not all(is_frozen(model) for of_split in folds.models for model in of_split.values())
    biased = np.array([metric.interval_rule == "biased" for metric in found])
    tested_values = np.where(biased[:, None, None], np.nan, values)  # nor has a t test of these
    sizes = np.array([(len(split.train), len(split.test)) for split in folds.splits], dtype=float)
    return Evaluated(
        models=models,
        metrics=list(found),
        kernels=kernels,
        units=tested.units,
        values=values,
        split_scores=SplitScores(tested_values, sizes[:, 0], sizes[:, 1]) if trained else None,
        notes=[
            *notes,
            *notes_on_splits(splits, tested, n_rows, data.groups, failed=failed),
        ],
        held_fixed=f"the models fitted on {len(splits)} training part(s), and the splits",
        hint=hint,
        swap=swap,
        slices=slices,
    )


def _pooled_note(n_answers: int, tested: Tested, *, ranked: bool) -> str:
    note = (
        f"Estimated is the score of all {n_answers} out-of-fold answers together (pooled), not the "
        "mean of the folds' scores."
    )
    if ranked:
        note += " Ranks compare answers of models of different folds with one another."
    if n_answers > len(tested.rows):
        note += " A row that is tested m times has m answers, each with 1/m of its weight."
    return note
