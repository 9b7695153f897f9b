"""The permutation test of two models' recorded answers, by any metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.permutation import SwapTest
from sklearn_pairboot._engine.ranks import RankKernel
from sklearn_pairboot._engine.ranks_multiclass import MulticlassKernel
from sklearn_pairboot._engine.swapped_kernels import stacked, swap_kernel
from sklearn_pairboot._engine.swapping import Pair, swap_units
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import BoolArray, Kernel, Weights
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric

# A scorer that is called on rows is called for so many arrangements at most.
MOST_REPLAYED = 999
_ARRANGEMENTS_AT_ONCE = 64
_AGREE = 1e-9


class NotSwapped(Exception):
    """The two models' answers cannot be exchanged; the message says why."""


def swap_answers(
    metric: Metric,
    problem: Problem,
    names: tuple[str, str],
    observed: tuple[float, float],
    n_resamples: int,
    entropy: int,
) -> SwapTest:
    """Test one metric by swapping the answers of the two models of a problem, baseline last.

    ``observed`` holds the metric's values as they were computed without any swap.
    """
    module = getattr(metric.function, "__module__", "")
    if module.startswith("sklearn.metrics.cluster"):
        raise NotSwapped("the numbers of clusters mean something else in each model")
    try:
        answers = _common_answers(metric, problem)
        classes = _common_classes(problem, answers)
        kernel = _pooled(metric, problem, names, answers, classes)
    except (AttributeError, TypeError, ValueError) as error:
        raise NotSwapped(f"the models' answers cannot be pooled: {error}") from error
    ranked = isinstance(kernel, RankKernel | MulticlassKernel)
    if metric.function is not None and not ranked and _mixed(metric, problem):
        raise NotSwapped("the models answer by different methods")
    if isinstance(kernel, ReplayKernel):
        swapped = _Replayed(metric, problem, names, answers, classes, kernel.scorers[0])
        test = _replay(swapped, problem.units, observed, n_resamples, entropy)
    else:
        test = swap_kernel(kernel, problem.units, n_resamples, entropy)
    if test is None:
        raise NotSwapped("it has no value where the answers of both models are pooled")
    return test


def _pooled(
    metric: Metric,
    problem: Problem,
    names: tuple[str, str],
    answers: dict[str, list[NDArray[Any]]],
    classes: Any,
) -> Kernel:
    """Build the kernel of one model that answers every row twice: as each of the two does."""
    both = {name: np.concatenate(pair) for name, pair in answers.items()}
    weight = problem.sample_weight
    twice = replace(
        problem,
        y=np.concatenate([problem.y, problem.y]),
        records=(RecordedEstimator.from_arrays(**both, classes=classes),),
        units=stacked(problem.units),
        sample_weight=None if weight is None else np.concatenate([weight, weight]),
        shared={},
    )
    return build_kernel(metric, twice, (" and ".join(names),))


def _common_answers(metric: Metric, problem: Problem) -> dict[str, list[NDArray[Any]]]:
    """Give what both models answer to the methods that the metric asks for.

    Where the metric takes either kind of score and the models have different ones, both are
    decision values, of which only a metric of ranks can make sense.
    """
    records = first, second = problem.records
    if metric.function is None:
        wanted = [name for name in first.responses if name in second.responses]
    else:
        preferred = [_preferred(metric, record) for record in records]
        if _mixed(metric, problem):
            return {
                "decision_function": [
                    _as_decision(*asked) for asked in zip(records, preferred, strict=True)
                ]
            }
        wanted = preferred[:1]
    answers = {name: [record.response(name) for record in problem.records] for name in wanted}
    for name, (of_first, of_second) in answers.items():
        if of_first.shape != of_second.shape:
            raise NotSwapped(f"the models' {name} differ in shape")
        if (of_first.dtype.kind in "OU") != (of_second.dtype.kind in "OU"):
            raise NotSwapped(f"the models' {name} differ in type")
    if not answers:
        raise NotSwapped("the models answer to different methods")
    return answers


def _preferred(metric: Metric, record: RecordedEstimator) -> str:
    """Give the method that the metric asks first among those that the model has."""
    return next(name for name in metric.responses or ("predict",) if name in record.responses)


def _mixed(metric: Metric, problem: Problem) -> bool:
    return len({_preferred(metric, record) for record in problem.records}) > 1


def _as_decision(record: RecordedEstimator, method: str) -> NDArray[Any]:
    """Give scores that grow with the second of two classes, or one column a class or label."""
    if method == "predict":
        raise NotSwapped("one model answers with labels, the other with scores")
    answers = record.response(method)
    classes = getattr(record, "classes_", None)
    of_two = isinstance(classes, np.ndarray) and len(classes) == 2
    return answers[:, 1] if of_two and method == "predict_proba" else answers


def _common_classes(problem: Problem, answers: dict[str, Any]) -> Any:
    """Give the classes that both models know, if they know any."""
    first, second = (getattr(record, "classes_", None) for record in problem.records)
    if first is None or second is None:
        return None
    if isinstance(first, list) or isinstance(second, list):
        same = len(first) == len(second) and all(map(np.array_equal, first, second))
    else:
        same = np.array_equal(first, second)
        if not same and list(answers) == ["predict"]:
            return np.union1d(first, second)
    if not same:
        raise NotSwapped("the models know different classes")
    return first


class _Replayed:
    """A scorer that is called on all rows, with the answers of an arrangement."""

    def __init__(
        self,
        metric: Metric,
        problem: Problem,
        names: tuple[str, str],
        answers: dict[str, list[NDArray[Any]]],
        classes: Any,
        scorer: Callable[..., Any],
    ) -> None:
        self.metric, self.problem, self.names = metric, problem, names
        self.answers, self.classes, self.scorer = answers, classes, scorer

    def kernel(self, stays: NDArray[np.uint8]) -> ReplayKernel:
        """Build the kernel of one arrangement of units."""
        of_row, problem = self.problem.units.of_row, self.problem
        stays_by_row = np.asarray(stays if of_row is None else stays[of_row]) > 0
        records = []
        for record, own in zip(problem.records, (0, 1), strict=True):
            given = {
                name: np.where(
                    stays_by_row.reshape(-1, *[1] * (pair[0].ndim - 1)), pair[own], pair[1 - own]
                )
                for name, pair in self.answers.items()
            }
            source = RecordedEstimator.from_arrays(**given, classes=self.classes)._source
            records.append(RecordedEstimator(replace(source, X=record._source.X)))
        n_rows = len(problem.y)
        return ReplayKernel(
            records,
            problem.y,
            self.scorer,
            sign=self.metric.sign,
            uses_row_numbers=self.metric.function is not None,
            units=Units(n_rows, n_rows),
            sample_weight=problem.sample_weight,
            name=self.metric.name,
            models=self.names,
        )

    def __call__(self, stays: NDArray[np.uint8]) -> Pair:
        every_row = Weights(np.ones((1, len(self.problem.y)), dtype=np.uint8))
        values = [self.kernel(one).evaluate(every_row).values[0] for one in stays]
        return Pair(*np.transpose(values))

    def differs(self) -> BoolArray:
        """Mark the units in which some answer differs."""
        units = self.problem.units
        of_rows = np.zeros(units.n_rows)
        for first, second in self.answers.values():
            of_rows += (first != second).reshape(units.n_rows, -1).any(axis=1)
        marked: BoolArray = units.sum_rows(of_rows[:, None])[:, 0] > 0
        return marked


def _replay(
    swapped: _Replayed,
    units: Units,
    observed: tuple[float, float],
    n_resamples: int,
    entropy: int,
) -> SwapTest | None:
    try:
        values = swapped.kernel(np.ones(units.n_units, dtype=np.uint8)).observed()
    except ValueError as error:
        raise NotSwapped(f"its scorer cannot do with answers alone: {error}") from error
    if swapped.metric.function is None and not np.allclose(values, observed, rtol=_AGREE, atol=0):
        raise NotSwapped("its scorer looks at more than the answers")
    n_resamples = min(n_resamples, MOST_REPLAYED)
    return swap_units(swapped, swapped.differs(), n_resamples, entropy, _ARRANGEMENTS_AT_ONCE)
