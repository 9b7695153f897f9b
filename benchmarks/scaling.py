"""How the cost of a comparison grows: with rows, resamples, models and clusters.

    python benchmarks/scaling.py [--quick] [--json FILE]

Every call has a part that is paid once (checks, sorting, summing terms within clusters) and a part
that is paid for every resample. The second is measured apart, as the time of a call with many
resamples minus that of a call with few, both the best of three; the series over resamples
subtracts the same few from each. Exponents are slopes of least squares on logarithms: 1 is linear,
0 is no dependence. One thread.

Few rows cost less than their share, as every block of resamples has a small fixed cost; so an
exponent below 1 says no more than that. The exponent over models is below 1, since the weights are
drawn once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import _run
import numpy as np
from _work import Work

ROUNDS = 3
FEW = 200  # resamples of the call that is subtracted
LINEAR, CONSTANT = 1.15, 0.1  # least exponents that would be too large
SCORES = {"ROC AUC": "roc_auc", "log loss": "log_loss", "average precision": "average_precision"}


class Series(NamedTuple):
    """Sizes along one axis, and for each of them the work, models and resamples."""

    name: str
    axis: str
    sizes: tuple[int, ...]
    plan: Callable[[int], tuple[Work, int, int]]
    asked: float | None = None


def all_series() -> Iterator[Series]:
    """List what is measured."""
    rows = (2_000, 6_000, 20_000, 60_000, 200_000)
    for name, metric in SCORES.items():

        def work(n_rows: int, clusters: int | None = None, metric=metric, name=name) -> Work:
            return Work(name, (metric,), "probability", n_rows, clusters)

        # Fewer resamples of more rows: the number of weights stays the same.
        yield Series(
            name,
            "rows",
            rows,
            lambda size, work=work: (work(size), 2, FEW + max(200, 60_000_000 // size)),
            LINEAR,
        )
        yield Series(
            name,
            "resamples",
            (500, 1_000, 2_000, 4_000, 8_000),
            lambda size, work=work: (work(10_000), 2, FEW + size),
            LINEAR,
        )
        yield Series(
            name,
            "models",
            (2, 4, 8, 16),
            lambda size, work=work: (work(10_000), size, FEW + 1_000),
        )
        if metric == "average_precision":
            continue
        n_resamples = 100_000 if metric == "log_loss" else 20_000  # long enough to be timed
        yield Series(
            f"{name}, 200 clusters",
            "rows",
            rows,
            lambda size, work=work, n=n_resamples: (work(size, 200), 2, FEW + n),
            CONSTANT if metric == "log_loss" else LINEAR,
        )
        yield Series(
            f"{name}, 100,000 rows",
            "clusters",
            (50, 200, 1_000, 5_000, 20_000),
            lambda size, work=work: (
                work(100_000, size),
                2,
                FEW + max(400, min(20_000, 8_000_000 // size)),
            ),
        )


def evaluation_seconds(work: Work, n_models: int, n_resamples: int, *, rounds: int) -> float:
    """Time what the resamples beyond the first few cost."""
    data = work.data(n_models)
    many, few = [], []
    for _ in range(rounds):
        few.append(_run.seconds(lambda: work.compare(data, FEW)))
        many.append(_run.seconds(lambda: work.compare(data, n_resamples)))
    return max(min(many) - min(few), 1e-9)


def exponent(sizes: list[int], times: list[float]) -> float:
    """Fit the slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def measure(series: Series, *, quick: bool) -> dict:
    """Measure one series, and fit its exponent."""
    times = []
    for size in series.sizes:
        work, n_models, n_resamples = series.plan(size)
        if quick:
            n_resamples = FEW + (size if series.axis == "resamples" else 500)
        total = evaluation_seconds(work, n_models, n_resamples, rounds=1 if quick else ROUNDS)
        # Against resamples the whole counts, against everything else the cost of one resample.
        times.append(total if series.axis == "resamples" else total / (n_resamples - FEW))
    return {
        "work": series.name,
        "axis": series.axis,
        "sizes": list(series.sizes),
        "seconds": [_run.significant(time) for time in times],
        "exponent": round(exponent(list(series.sizes), times), 3),
        "asked": series.asked,
    }


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    arguments = _run.arguments_of(__doc__)
    chosen = list(all_series())
    if arguments.quick:
        chosen = [series._replace(sizes=series.sizes[:2]) for series in chosen[:2]]
    rows = []
    table = _run.Table(work=30, grows_with=12, sizes=18, exponent=10, below=8)
    for series in chosen:
        row = measure(series, quick=arguments.quick)
        sizes = f"{series.sizes[0]:,}-{series.sizes[-1]:,}"
        table.row(series.name, series.axis, sizes, row["exponent"], series.asked)
        rows.append(row)
    _run.write(arguments, rows)


if __name__ == "__main__":
    main()
