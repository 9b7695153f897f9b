"""The comparison where every resample chooses its thresholds anew, on its own validation rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.thresholds import (
    ChosenThresholdKernel,
    ChosenThresholds,
    Rule,
    Sweep,
    TwoPartsSource,
)
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric, with_companions
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._run import compare_kernels
from sklearn_pairboot.protocol._parts import Part
from sklearn_pairboot.result import ComparisonResult

_METHODS = ("percentile", "basic", "normal")
_REMEDY = "Pass choose_threshold_in_resamples=False."


def check_resampled(options: Options, rule: Rule | None) -> None:
    """Refuse what cannot be had together with thresholds chosen in resamples."""
    if rule is None:
        raise ValueError(
            "`choose_threshold_in_resamples` must be False for a fixed `threshold`, got True: "
            "there is nothing to choose."
        )
    asked = {
        "resampling": (options.resampling, "auto"),
        "estimand": (options.estimand, "rows"),
        "permutation": (bool(options.permutation), False),
    }
    for name, (value, only) in asked.items():
        if not isinstance(value, type(only)) or value != only:
            raise ValueError(
                f"`{name}` must be {only!r} where thresholds are chosen in resamples, got "
                f"{value!r}. {_REMEDY}"
            )
    if options.method not in _METHODS:
        raise ValueError(
            f"`method` must be one of {', '.join(map(repr, _METHODS))} where thresholds are chosen "
            f"in resamples, got {options.method!r}: a chosen threshold jumps where a single row is "
            f"left out. {_REMEDY}"
        )
    if options.n_resamples == "exact":
        raise ValueError(
            "`n_resamples` must be a number where thresholds are chosen in resamples, got "
            f"'exact'. {_REMEDY}"
        )


def joint_units(validation: Part, test: Part) -> Units:
    """Units of the validation rows, then of the test rows, each part drawn by itself."""
    n_validation, n_test = len(validation.y), len(test.y)
    if validation.group_of_row is None or test.group_of_row is None:
        sizes, of_row = (n_validation, n_test), None
    else:
        sizes = len(validation.groups), len(test.groups)
        of_row = np.concatenate([validation.group_of_row, sizes[0] + test.group_of_row])
    source = TwoPartsSource(CountSource(sum(sizes), np.repeat(np.arange(2), sizes)))
    return Units(n_validation + n_test, sum(sizes), of_row, scheme=source)


def compare_with_chosen_thresholds(
    records: Mapping[str, RecordedEstimator],
    metrics: Sequence[Metric],
    validation: Sequence[Sweep],
    test: Sequence[Sweep],
    rule: Rule,
    parts: tuple[Part, Part],
    options: Options,
    *,
    pos_label: Any,
    notes: Sequence[str],
    held_fixed: str,
) -> ComparisonResult:
    """Bootstrap validation and test rows together, each part by itself."""
    models, metrics = tuple(records), with_companions(metrics)
    units, (_, of_test) = joint_units(*parts), parts
    chosen = ChosenThresholds(tuple(validation), tuple(test), rule, units, len(parts[0].y))
    n_tested = len(of_test.groups) or len(of_test.y)
    tested = Units(len(of_test.y), n_tested, of_test.group_of_row)
    problem = Problem(of_test.y, "binary", tuple(records.values()), tested, pos_label=pos_label)
    numbers = np.arange(units.n_units - n_tested, units.n_units)
    kernels = []
    for metric in metrics:
        if metric.responses == ("predict",):
            of_cells = build_kernel(metric, _cells(problem, pos_label), models[:1])
            kernel: Kernel = ChosenThresholdKernel(chosen, of_cells)
        else:
            of_cells = build_kernel(metric, problem, models)
            kernel = PartKernel(of_cells, numbers, units.n_units)
        if of_cells.path == "replay":
            raise ValueError(
                "`choose_threshold_in_resamples` must be False for "
                f"{metric.name}, got True: its scorer has to be called on rows, and does not say "
                "what follows from another threshold."
            )
        kernels.append(kernel)
    return compare_kernels(
        kernels,
        [(metric.name, metric.greater_is_better) for metric in metrics],
        models,
        units,
        options,
        interval_rules=[metric.interval_rule for metric in metrics],
        weighted=False,
        notes=[
            *notes,
            f"Units are those of {len(parts[0].y)} validation rows and {len(of_test.y)} test rows, "
            "each part drawn by itself; every resample chooses its thresholds anew on the "
            "validation rows that it drew.",
        ],
        held_fixed=held_fixed,
    )


def _cells(problem: Problem, pos_label: Any) -> Problem:
    """Give a problem of four rows, one for each truth and label, on which metrics of labels go."""
    labels = problem.classes()[0]
    negative = next(label for label in labels.tolist() if label != pos_label)
    truth = np.array([negative, negative, pos_label, pos_label], dtype=labels.dtype)
    predicted = np.array([negative, pos_label, negative, pos_label], dtype=labels.dtype)
    record = RecordedEstimator.from_arrays(predict=predicted, classes=labels)
    return replace(problem, y=truth, records=(record,), units=Units(4, 4), shared={})
