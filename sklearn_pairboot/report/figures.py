"""The pictures of a page: a forest plot of all differences, and the distributions of a few."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._tables import DifferenceRow, MetricInfo, Tables
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot._tables.numbers import difference_format
from sklearn_pairboot.plotting import DifferenceDisplay, ForestDisplay
from sklearn_pairboot.plotting._embed import svg_of
from sklearn_pairboot.report.cells import Cells

# More pictures than these, or longer ones, make a page heavy, and nobody looks at them.
_MOST_DISTRIBUTIONS = 4
_MOST_IN_FOREST = 60
_NO_MATPLOTLIB = "There are no figures: they need matplotlib (pip install sklearn-pairboot[plot])."
_TOO_MANY = (
    f"There is no figure of all differences, which are more than {_MOST_IN_FOREST}: see the table."
)
_NO_REPLICATES = "There are no histograms: the result was read from JSON that holds no replicates."
_NOT_JOINT = "There are no histograms: all resamples were taken by convolution, and none was drawn."
_PERCENTILES = (0.5, 2.5, 5.0, 25.0, 50.0, 75.0, 95.0, 97.5, 99.5)


@dataclass(frozen=True)
class Figure:
    """A picture with its caption, what it shows in words, and the numbers behind it."""

    source: str
    description: str
    caption: str
    numbers: tuple[str, Cells] | None = None


def figures(
    result: Any, tables: Tables, distribution: BootstrapDistribution | None
) -> tuple[list[Figure], str]:
    """Draw what a page shows of a comparison, and say what it does not show, and why."""
    if not tables.differences:
        return [], ""
    if find_spec("matplotlib") is None:
        return [], _NO_MATPLOTLIB
    found, remarks = [], []
    if len(tables.differences) <= _MOST_IN_FOREST:
        found.append(_forest(result, len(tables.differences)))
    else:
        remarks.append(_TOO_MANY)
    if distribution is None:
        remarks.append(_NO_REPLICATES)
    elif not distribution.is_joint:
        remarks.append(_NOT_JOINT)
    else:
        found += _histograms(result, tables.differences, distribution)
    return found, " ".join(remarks)


def simple_figures(displays: Sequence[Any], captions: Sequence[str]) -> tuple[list[Figure], str]:
    """Draw displays whose numbers stand in the tables, or say why there are none."""
    if find_spec("matplotlib") is None:
        return [], _NO_MATPLOTLIB
    pairs = zip(displays, captions, strict=True)
    return [Figure(_source(display), text, text) for display, text in pairs], ""


def _forest(result: Any, n_rows: int) -> Figure:
    display = ForestDisplay.from_result(result, which="differences")
    what = "difference with its interval" if n_rows == 1 else "differences with their intervals"
    return Figure(
        _source(display),
        f"Forest plot: {n_rows} {what}; the numbers are in the table of differences.",
        f"Forest plot: {what}; a line marks 0, no difference.",
    )


def _histograms(
    result: Any, differences: Sequence[DifferenceRow], distribution: BootstrapDistribution
) -> Iterator[Figure]:
    """Draw the first few differences that vary."""
    metrics = {metric.name: (k, metric) for k, metric in enumerate(result._facts.metrics)}
    varying = [row for row in differences if row.status not in ("degenerate", "biased")]
    for row in varying[:_MOST_DISTRIBUTIONS]:
        number, metric = metrics[row.metric]
        model, other = (result.models.index(name) for name in (row.model, row.baseline))
        sample = distribution.difference_sample(number, model, other)
        display = DifferenceDisplay.from_result(
            result, metric=row.metric, model=row.model, baseline=row.baseline
        )
        write = difference_format([row])
        what = f"{visible(row.model)} - {visible(row.baseline)} on {visible(row.metric)}"
        points = [f"{write(sample.quantile(q / 100), signed=True)}" for q in _PERCENTILES]
        yield Figure(
            _source(display),
            f"Histogram of {what} in the resamples, with estimate and interval: half of them lie "
            f"between {points[3]} and {points[5]}. {_direction(metric)}.",
            f"{what} in the resamples, with estimate, interval and 0. {_direction(metric)}.",
            (
                f"Percentiles of {what} over the resamples",
                Cells(
                    ("", *(f"{q:g} %" for q in _PERCENTILES)),
                    ((_seen(metric), ((visible(row.model), *points),)),),
                ),
            ),
        )


def _seen(metric: MetricInfo) -> MetricInfo:
    return MetricInfo(visible(metric.name), metric.greater_is_better, metric.path)


def _direction(metric: MetricInfo) -> str:
    side = "right" if metric.greater_is_better else "left"
    return f"{metric.direction.capitalize()}: improvements lie to the {side} of 0"


def _source(display: Any) -> str:
    """Give a picture as a data address, in which it shares no name or style with the page."""
    code = base64.b64encode(svg_of(display).encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{code}"
