"""Subgroups of the rows: what `slices` names, and the kernel of every metric in each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from sklearn_pairboot._engine.blocks import BlockSource
from sklearn_pairboot._engine.bootstrap import observe
from sklearn_pairboot._engine.crossed import CrossedUnits
from sklearn_pairboot._engine.design import Design
from sklearn_pairboot._engine.part import PartKernel
from sklearn_pairboot._engine.units import Units, part_of_units
from sklearn_pairboot._engine.weights import BoolArray, FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel, known_positive_class
from sklearn_pairboot._scoring.checks import check_labels, shown
from sklearn_pairboot._scoring.part import RecordedPart
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.replay import ReplayKernel, quietly
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot._tables import SlicePart

MOST_SUBGROUPS = 300

# Rows of a subgroup and its units to a function that builds the kernel of a metric, by number.
Build = Callable[[IntArray, Units], Callable[[int], Kernel]]


class Subgroup(NamedTuple):
    """The rows with one label of one slice variable."""

    slice: str
    label: str
    rows: IntArray


@dataclass(frozen=True)
class Slices:
    """Subgroups, and how the kernels of metrics are built in them."""

    subgroups: tuple[Subgroup, ...]
    build: Build

    def parts(
        self, metrics: Sequence[str], units: Units
    ) -> tuple[list[PartKernel], list[FloatArray], list[SlicePart]]:
        """Build the kernel of every metric in every subgroup, with what is observed there.

        Kernels take the places after those of the metrics on all rows. What cannot be compared
        has its reason, and stops nothing else.
        """
        kernels: list[PartKernel] = []
        observed: list[FloatArray] = []
        parts = []
        for subgroup in self.subgroups:
            own, places = part_of_units(units, subgroup.rows)
            drawn, design = own, None
            if not isinstance(units.scheme, BlockSource):  # whose blocks are those of all rows
                if units.scheme is not None:
                    drawn = replace(own, scheme=units.scheme.part(subgroup.rows, own.n_units))
                design = Design.of(drawn)
            n_units, kind = drawn.drawn.number, drawn.drawn.name
            build = self.build(subgroup.rows, own)
            for number, metric in enumerate(metrics):
                place: int | None = len(metrics) + len(kernels)
                reason = ""
                try:
                    kernel = quietly(build, number)
                    values = quietly(_observe, kernel, own)
                except MemoryError:
                    raise
                except Exception as error:  # what a metric refuses in a subgroup stays there
                    place, reason = None, f"cannot be scored ({error})"
                else:
                    kernels.append(PartKernel(kernel, places, units.n_units, design))
                    observed.append(values)
                    if np.isnan(values).any():
                        reason = "undefined on the observed rows"
                if n_units < 2:
                    reason = f"fewer than 2 {kind}"
                parts.append(
                    SlicePart(
                        metric,
                        subgroup.slice,
                        subgroup.label,
                        own.n_rows,
                        n_units,
                        place,
                        reason,
                    )
                )
        return kernels, observed, parts


def slice_columns(slices: Any) -> dict[str, Any]:
    """Name the columns of labels in a mapping or a dataframe."""
    if slices is None:
        return {}
    if nw.dependencies.is_pandas_dataframe(slices):
        _check_variables(list(slices.columns))
    frame = nw.from_native(slices, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    if not is_frame and not isinstance(slices, Mapping):
        raise TypeError(
            "`slices` must be a mapping from names of variables to labels of the rows, or a "
            f"dataframe of such columns, got {type(slices).__name__}. Name the variable: "
            "slices={'region': region}."
        )
    if not is_frame:
        _check_variables(list(slices))
        return dict(slices)
    _check_variables(frame.columns)
    return {name: frame.get_column(name).to_native() for name in frame.columns}


def _check_variables(names: list[Any]) -> None:
    odd = [name for name in names if not isinstance(name, str) or not name.strip()]
    if odd or not names or len(set(names)) < len(names):
        raise ValueError(
            "`slices` must have unique, non-empty strings as names of variables, got "
            f"{shown(names) or 'none'}. Pass for example slices={{'region': region}}."
        )


def read_slices(
    columns: Mapping[str, Any], n_rows: int, models: Sequence[str]
) -> tuple[Subgroup, ...]:
    """Find the rows of every label of every variable, labels in sorted order."""
    if columns and len(models) < 2:
        raise ValueError(
            f"`slices` must be None for a single model, got {shown(columns)}. Subgroups show "
            "differences, and there is nothing to compare with."
        )
    subgroups: list[Subgroup] = []
    for name, labels in columns.items():
        codes, distinct = check_labels(labels, n_rows, f"slices[{name!r}]")
        if len(subgroups) + len(distinct) > MOST_SUBGROUPS:
            raise ValueError(
                f"`slices` must make at most {MOST_SUBGROUPS} subgroups, got {len(distinct)} "
                f"labels of {name!r}. Every label is a subgroup: cut a variable with many values "
                "into a few ranges first."
            )
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(distinct)))
        texts = _texts(distinct)
        for text, rows in zip(texts, np.split(order, ends[:-1]), strict=True):
            subgroups.append(Subgroup(name, text, rows.astype(np.int64)))
    return tuple(subgroups)


def check_units_of_subgroups(subgroups: Sequence[Subgroup], units: Units) -> None:
    """Refuse subgroups of units that have none."""
    if subgroups and isinstance(units, CrossedUnits):
        names = dict.fromkeys(one.slice for one in subgroups)
        raise ValueError(
            "`slices` must be None where `groups` are two crossed factors, got "
            f"{shown(names)}. Pass one column of `groups`, or compare one subgroup at a time."
        )


def slices_of_records(
    subgroups: Sequence[Subgroup],
    metrics: Sequence[Metric],
    problem: Problem,
    models: tuple[str, ...],
) -> Slices:
    """Prepare the metrics of recorded answers in subgroups: labels and weights are those there."""

    def build(rows: IntArray, own: Units) -> Callable[[int], Kernel]:
        weight = problem.sample_weight
        part = replace(
            problem,
            y=problem.y[rows],
            records=tuple(RecordedPart(record, rows) for record in problem.records),
            units=own,
            sample_weight=None if weight is None else weight[rows],
            shared={},
        )

        def kernel(number: int) -> Kernel:
            # The positive class may be absent here.
            positive = known_positive_class(metrics[number], problem)
            return build_kernel(metrics[number], replace(part, pos_label=positive), models)

        return kernel

    return Slices(tuple(subgroups), build)


def keep_rows(subgroups: Sequence[Subgroup], kept: BoolArray) -> tuple[Subgroup, ...]:
    """Give the rows that are kept new numbers; a subgroup that loses all of them is gone."""
    if kept.all():
        return tuple(subgroups)
    number = np.cumsum(kept) - 1
    found = (one._replace(rows=number[one.rows[kept[one.rows]]]) for one in subgroups)
    return tuple(one for one in found if len(one.rows))


def _texts(labels: Sequence[Any]) -> list[str]:
    """Write labels as text, as Python writes them where two would look alike."""
    texts = [str(label) for label in labels]
    repeated = {text for text, count in Counter(texts).items() if count > 1}
    return [
        repr(label) if text in repeated else text for label, text in zip(labels, texts, strict=True)
    ]


def _observe(kernel: Kernel, units: Units) -> FloatArray:
    if isinstance(kernel, ReplayKernel):
        return kernel.observed()
    values: FloatArray = observe([kernel], units)[0]
    return values
