"""Whole comparisons against the plain loop over the metrics, in the same process.

The plain loop draws rows, indexes truths and answers, and calls the metrics of both models:
scikit-learn's, and the calibration error of this package, which scikit-learn does not have. It is
timed on 20 resamples or more and scaled to the number that the comparison makes. Loop and
comparison take turns, and the best time of each counts. One thread.

    python benchmarks/speed.py [--grid table|wide|jobs] [--only NAME ...] [--quick] [--json FILE]

``table`` is the work that least ratios were asked for, ``wide`` a grid of metric, rows, clusters
and ties, ``jobs`` one job against two at 100,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import _run
from _work import N_RESAMPLES, Work, loop_seconds

ROUNDS, JOBS_ROUNDS = 3, 2
LABELS = ("accuracy", "f1", "matthews_corrcoef", "kappa")
REGRESSION = ("r2", "root_mean_squared_error", "mean_absolute_error")
PROPER = ("log_loss", "brier_score")
AUC, AP, ECE = ("roc_auc",), ("average_precision",), ("calibration_error",)

TABLE = (
    Work("ROC AUC", AUC, "probability", 1_000, asked=300),
    Work("ROC AUC", AUC, "probability", 10_000, asked=150),
    Work("ROC AUC", AUC, "probability", 100_000, asked=110),
    Work("ROC AUC", AUC, "probability", 1_000_000, asked=100),
    Work("ROC AUC, one decimal", AUC, "rounded", 100_000, asked=1_000),
    Work("average precision", AP, "probability", 10_000, asked=80),
    Work("average precision", AP, "probability", 100_000, asked=55),
    Work("log loss, Brier", PROPER, "probability", 10_000, asked=300),
    Work("log loss, Brier", PROPER, "probability", 100_000, asked=180),
    Work("calibration error", ECE, "probability", 10_000),
    Work("calibration error", ECE, "probability", 100_000, asked=100),
    Work("accuracy, F1, MCC, kappa", LABELS, "label", 10_000, asked=1_000),
    Work("accuracy, F1, MCC, kappa", LABELS, "label", 1_000_000, asked=5_000),
    Work("accuracy", ("accuracy",), "label", 100_000),
    Work("macro F1, 10 classes", ("f1_macro",), "classes", 10_000, asked=80),
    Work("macro F1, 10 classes", ("f1_macro",), "classes", 100_000, asked=250),
    Work("ROC AUC ovr, 5 classes", ("roc_auc_ovr",), "probabilities", 10_000, asked=60),
    Work("R2, RMSE, MAE", REGRESSION, "regression", 10_000, asked=30),
    Work("ROC AUC, 200 clusters", AUC, "probability", 10_000, 200, asked=150),
    Work("ROC AUC, 200 clusters", AUC, "probability", 100_000, 200, asked=350),
    Work("ROC AUC, BCa", AUC, "probability", 10_000, keywords={"method": "bca"}, asked=100),
)
# What starting costs shows in the fewer; the more are the default of a comparison.
JOBS_RESAMPLES = (N_RESAMPLES, 9_999)
REPLAYED = "replayed callable"
JOBS = (
    Work("ROC AUC", AUC, "probability", 100_000, asked=1.5),
    Work("log loss", ("log_loss",), "probability", 100_000, asked=1.5),
    Work(REPLAYED, ("largest_errors",), "regression", 100_000, asked=1.5),
)


def wide() -> Iterator[Work]:
    """Combine metrics, numbers of rows and clusters, and ties where scores can have them."""
    for n_rows in (1_000, 10_000, 100_000):
        for n_clusters in (None, 200, n_rows // 10):
            for kind in ("probability", "rounded"):
                for name in ("roc_auc", "average_precision", "log_loss"):
                    yield Work(name, (name,), kind, n_rows, n_clusters)
            yield Work("accuracy", ("accuracy",), "label", n_rows, n_clusters)
            yield Work("f1_macro", ("f1_macro",), "classes", n_rows, n_clusters)
            yield Work("r2", ("r2",), "regression", n_rows, n_clusters)


def measure(work: Work, *, rounds: int, n_resamples: int, quick: bool) -> dict:
    """Time the plain loop and the comparison in turn."""
    data = work.data()
    loops, ours = [], []
    for _ in range(rounds):
        loops.append(loop_seconds(work.metrics, data, n_resamples, quick=quick))
        ours.append(_run.seconds(lambda: work.compare(data, n_resamples)))
    loop, best = min(loops), min(ours)
    return {
        "work": work.name,
        "n_rows": work.n_rows,
        "n_clusters": work.n_clusters,
        "data": work.kind,
        "loop_s": _run.significant(loop),
        "ours_s": _run.significant(best),
        "ratio": _run.significant(loop / best),
        "asked": work.asked,
    }


def measure_jobs(work: Work, *, rounds: int, n_resamples: int) -> dict:
    """Time one job and two in turn, after a first call that starts the processes."""
    data = work.data()
    work.compare(data, n_resamples, n_jobs=2)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for n_jobs, of_jobs in times.items():
            of_jobs.append(
                _run.seconds(lambda n_jobs=n_jobs: work.compare(data, n_resamples, n_jobs=n_jobs))
            )
    one, two = min(times[1]), min(times[2])
    return {
        "work": work.name,
        "n_rows": work.n_rows,
        "n_resamples": n_resamples,
        "one_s": _run.significant(one),
        "two_s": _run.significant(two),
        "ratio": _run.significant(one / two),
        "asked": work.asked,
    }


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    arguments = _run.arguments_of(
        __doc__,
        grid={"choices": ("table", "wide", "jobs"), "default": "table"},
        only={"nargs": "+", "help": "names of the work to time"},
    )
    works = {"table": TABLE, "wide": tuple(wide()), "jobs": JOBS}[arguments.grid]
    works = [work for work in works if not arguments.only or work.name in arguments.only]
    n_resamples = N_RESAMPLES
    if arguments.quick:
        n_resamples = 50
        works = [replace(work, n_rows=min(work.n_rows, 1_000)) for work in works]
        if arguments.grid == "wide":
            works = works[:3]
    rows = []
    if arguments.grid == "jobs":
        if _run.n_cores() < 2:
            print("Fewer than two cores: two jobs cannot gain here.")
        table = _run.Table(work=28, rows=10, resamples=12, one_s=10, two_s=10, ratio=8, asked=8)
        for work in works:
            replayed = work.name == REPLAYED
            for number in (n_resamples,) if arguments.quick or replayed else JOBS_RESAMPLES:
                rounds = 1 if arguments.quick else JOBS_ROUNDS
                row = measure_jobs(work, rounds=rounds, n_resamples=number)
                table.row(*row.values())
                rows.append(row)
    else:
        table = _run.Table(
            work=26, rows=10, clusters=10, data=15, loop_s=9, ours_s=9, ratio=8, asked=8
        )
        for work in works:
            few = arguments.quick or arguments.grid == "wide" or work.n_rows >= 1_000_000
            row = measure(
                work,
                rounds=1 if few else ROUNDS,
                n_resamples=n_resamples,
                quick=arguments.quick,
            )
            table.row(*row.values())
            rows.append(row)
    _run.write(arguments, rows, n_resamples=n_resamples, grid=arguments.grid)


if __name__ == "__main__":
    main()
