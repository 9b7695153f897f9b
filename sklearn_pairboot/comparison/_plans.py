"""From a resampling plan to units, and what cannot be asked of some plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.blocks import BlockSource
from sklearn_pairboot._engine.crossed import CrossedUnits
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._tables import check_method_of_scheme
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.resampling import BlockBootstrap
from sklearn_pairboot.resampling._whole import ResamplingPlan


def units_of(
    plan: ResamplingPlan,
    options: Options,
    n_rows: int,
    *,
    y: NDArray[Any] | None = None,
    groups: Any = None,
    series: Callable[[], FloatArray] | None = None,
    metrics: Sequence[Metric] = (),
) -> tuple[Units, list[str]]:
    """Make the units, and notes on them; refuse what the plan cannot serve.

    ``series`` gives values of the rows, shape (n_rows, n_series), that tell how alike neighbours
    are.
    """
    notes = []
    if isinstance(plan, BlockBootstrap) and plan.length is None and series and groups is None:
        plan = plan.with_length_of(series())
        notes.append(
            f"Blocks of {plan.length}: the length that the rule of Politis and White finds for the "
            "scores or errors of the rows and their differences. Pass `length=` to choose another."
        )
    units = plan.resampling_units(n_rows, y=y, groups=groups)
    _check_scheme(units, options, metrics)
    return units, notes


def _check_scheme(units: Units, options: Options, metrics: Sequence[Metric]) -> None:
    scheme = units.scheme
    if scheme is None:
        return
    check_method_of_scheme(options.method, scheme.name)
    if options.n_resamples == "exact":
        raise ValueError(
            f"`n_resamples` must be an integer with {scheme.name} resampling, got 'exact': only "
            "counts of whole units are enumerated. Pass for example 9999."
        )
    if options.permutation and isinstance(scheme, BlockSource):
        raise ValueError(
            "`permutation` must be False with `BlockBootstrap`, got True: where neighbours are "
            "alike, rows do not exchange their answers one by one. Pass `groups=` for stretches "
            "of time that are independent of one another, such as days, in place of blocks."
        )
    for metric in metrics:
        if scheme.has_real_weights and not metric.accepts_sample_weight:
            raise ValueError(
                f"`resampling` must draw whole numbers of rows for {metric.name}, whose scorer "
                "takes no `sample_weight`, got `BayesianBootstrap`, which draws real weights. "
                "Leave the metric out, or let the scorer take `sample_weight`."
            )


def series_of_scores(table: FloatArray) -> FloatArray:
    """Scores of the models, shape (n_rows, n_models), and the differences of every two."""
    pairs = combinations(table.T, 2)
    return np.column_stack([*table.T, *(second - first for first, second in pairs)])


def series_of_records(y: NDArray[Any], records: Mapping[str, RecordedEstimator]) -> FloatArray:
    """Errors of all models in all rows, and the differences of every two models."""
    return series_of_scores(np.column_stack([_errors(y, record) for record in records.values()]))


def _errors(y: NDArray[Any], record: RecordedEstimator) -> FloatArray:
    """How wrong a model is in each row: residuals, or of classes whether it errs.

    Without predictions it is what the true class has in probability or score.
    """
    labels = "predict" in record.responses
    answers = record.response("predict" if labels else record.responses[0])
    if answers.ndim == 1 and not labels:  # the score of the second of two classes
        answers = np.column_stack([-answers, answers])
    classes = getattr(record, "classes_", None)
    if labels or y.ndim == 2:
        if answers.shape != y.shape:
            raise _no_length(record)
        by_column = y - answers if _is_real(y) or _is_real(answers) else _unequal(y, answers)
    elif classes is None or len(classes) != answers.shape[1]:
        raise _no_length(record)
    else:
        by_column = np.where(_unequal(y[:, np.newaxis], np.asarray(classes)), 0.0, answers)
    errors: FloatArray = by_column.reshape(len(y), -1).sum(axis=1, dtype=np.float64)
    return errors


def _unequal(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Compare labels that may be text in one and numbers in the other."""
    return np.asarray(first.astype(object) != second.astype(object), dtype=np.bool_)


def _is_real(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "f" and bool(np.any(values != np.floor(values)))


def _no_length(record: RecordedEstimator) -> ValueError:
    return ValueError(
        "`length` must be given to `BlockBootstrap` where answers are not comparable with the "
        f"truths row by row, got answers of {record}. Pass the number of rows of a block."
    )


def check_not_crossed(units: Units) -> None:
    """Refuse two crossed factors where models are trained on parts of the rows."""
    if isinstance(units, CrossedUnits):
        raise ValueError(
            "`groups` must have one column where estimators are cross-validated, got two crossed "
            "factors: no split keeps both apart. Pass frozen estimators without `cv`, or compare "
            "fitted ones."
        )
