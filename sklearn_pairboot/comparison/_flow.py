"""From estimators and rows to a comparison: scored directly, or cross-validated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sklearn.metrics import make_scorer

from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.build import positive_class
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._cross_validated import evaluate_folds
from sklearn_pairboot.comparison._folds import Data, Folds, Tested, kernels_of, problem_of
from sklearn_pairboot.comparison._named import is_frozen, kind_of_estimator
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._permutation import swap_records
from sklearn_pairboot.comparison._routing import Routed, routing_is_on
from sklearn_pairboot.comparison._run import compare_kernels, kind_of
from sklearn_pairboot.comparison._selection import note_on_selection
from sklearn_pairboot.comparison._splits import Task, fit_models, make_splits
from sklearn_pairboot.comparison._warnings import warn_of_labels_as_scores
from sklearn_pairboot.result import ComparisonResult


@dataclass(frozen=True)
class Compared:
    """A comparison, and what is known of the splits it was made on."""

    result: ComparisonResult
    n_splits: int = 0
    split_scores: Mapping[str, FloatArray] = field(default_factory=dict)
    trained: bool = False


def compare_directly(
    data: Data,
    estimators: Mapping[str, Any],
    metrics: Sequence[Metric],
    deciding: Metric | None,
    options: Options,
    routed: Routed,
    *,
    selection: str,
) -> Compared:
    """Score fitted models on all rows."""
    records = {
        name: RecordedEstimator.from_estimator(estimator, data.X)
        for name, estimator in estimators.items()
    }
    warn_of_labels_as_scores(metrics, records)
    units, kind, scored = data.units, kind_of(data.truths), data.scored(routed.score)
    notes = [*_notes_on_weights(estimators, routed), *data.weighing.notes()]
    if deciding is not None:
        notes += note_on_selection(selection, deciding.name, options, None, tuple(estimators))
    result = compare_kernels(
        kernels_of(metrics, records, data.truths, kind, units, scored),
        [(metric.name, metric.greater_is_better) for metric in metrics],
        tuple(estimators),
        units,
        options,
        interval_rules=[metric.interval_rule for metric in metrics],
        weighted=_weighted(routed),
        notes=notes,
        swap=swap_records(
            metrics,
            [
                problem_of(scored[metric.name], records, data.truths, kind, units.exchangeable)
                for metric in metrics
            ],
            tuple(estimators),
        ),
        row_kernels=partial(_row_kernel, metrics, records, data, scored),
    )
    return Compared(result)


def _row_kernel(
    metrics: Sequence[Metric],
    records: Mapping[str, RecordedEstimator],
    data: Data,
    scored: Mapping[str, Mapping[str, Any]],
    metric: int,
) -> tuple[Kernel, IntArray]:
    """Build a metric's kernel with rows as units; also give the cluster of each row."""
    rows, kind = data.units.single_rows(), kind_of(data.truths)
    chosen = metrics[metric : metric + 1]
    (kernel,) = kernels_of(chosen, records, data.truths, kind, rows, scored)
    return kernel, data.units.of_each_row


def compare_by_splits(
    data: Data,
    estimators: Mapping[str, Any],
    metrics: Sequence[Metric],
    deciding: Metric | None,
    options: Options,
    routed: Routed,
    *,
    cv: Any,
    selection: str,
) -> Compared:
    """Fit on training parts, and average the metrics over the test parts."""
    classifier = kind_of_estimator(next(iter(estimators.values()))) == "classifier"
    splits = make_splits(
        cv, data.X, data.y, data.groups, classifier=classifier, metadata=routed.split
    )
    tasks = [
        Task(name, estimator, split.train, routed.fit[name], fold)
        for fold, split in enumerate(splits)
        for name, estimator in estimators.items()
    ]
    Tested.of(splits, data.units)  # refused before anything is fitted
    fitted = iter(fit_models(tasks, data.X, data.y, n_jobs=options.n_jobs, verbose=options.verbose))
    models = [{name: next(fitted) for name in estimators} for _ in splits]
    evaluated = evaluate_folds(data, Folds(splits, models), metrics, data.scored(routed.score))
    trained = evaluated.split_scores is not None
    notes = [*_notes_on_weights(estimators, routed), *data.weighing.notes()]
    if deciding is not None:
        tests = evaluated.split_tests(options) if trained else None
        notes += note_on_selection(selection, deciding.name, options, tests, evaluated.models)
    scores = {
        metric.name: metric.sign * evaluated.values[k] for k, metric in enumerate(evaluated.metrics)
    }
    result = evaluated.compare(options, weighted=_weighted(routed), notes=notes)
    return Compared(result, len(splits), scores, trained)


def _weighted(routed: Routed) -> bool:
    return any("sample_weight" in params for params in routed.score.values())


def _notes_on_weights(estimators: Mapping[str, Any], routed: Routed) -> list[str]:
    """Name who got no weights although there are some."""
    if not routed.weights_given:
        return []
    notes = []
    unweighted = [name for name, params in routed.score.items() if "sample_weight" not in params]
    if unweighted:
        notes.append(
            f"{', '.join(unweighted)}: scored without `sample_weight`, as nobody requests it."
        )
    # With routing everyone has said whether they want weights for `fit`.
    without = [
        name
        for name, estimator in estimators.items()
        if not is_frozen(estimator) and "sample_weight" not in routed.fit[name]
    ]
    if without and not routing_is_on():
        notes.append(
            f"{', '.join(without)}: fitted without `sample_weight`, which `fit` does not take."
        )
    return notes


def bound_scorer(metric: Metric, data: Data, model: Any) -> Callable[..., Any]:
    """Scorer of a metric for whole models, its positive class named as in the comparison."""
    if metric.function is None:
        return metric.scorer
    problem = Problem(data.truths, kind_of(data.truths), (model,), data.units)
    kwargs = positive_class(metric, metric.function, problem)
    if not kwargs:
        return metric.scorer
    scorer: Callable[..., Any] = make_scorer(
        metric.function,
        response_method=metric.responses,
        greater_is_better=metric.sign > 0,
        **{**metric.kwargs, **kwargs},
    )
    return scorer
