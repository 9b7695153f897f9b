"""Peak memory of whole comparisons above their inputs, each in a process of its own.

    python benchmarks/memory.py [--rows N] [--resamples B] [--only NAME ...] [--quick] [--json FILE]

What counts is the largest resident size during the call minus the resident size before it, when
libraries are loaded and inputs are made. Where the system cannot tell, the largest size so far
stands for both.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import _run

ALLOWED = 1_024
# Metrics, kind of data, clusters.
CASES = {
    "ROC AUC": (("roc_auc",), "probability", None),
    "average precision": (("average_precision",), "probability", None),
    "log loss, Brier": (("log_loss", "brier_score"), "probability", None),
    "accuracy, F1, MCC, kappa": (
        ("accuracy", "f1", "matthews_corrcoef", "kappa"),
        "label",
        None,
    ),
    "R2, RMSE, MAE": (
        ("r2", "root_mean_squared_error", "mean_absolute_error"),
        "regression",
        None,
    ),
    "ROC AUC, 200 clusters": (("roc_auc",), "probability", 200),
    "log loss, 10,000 clusters": (("log_loss",), "probability", 10_000),
}


def sizes() -> tuple[float, float]:
    """Give the resident size and the largest so far, in MiB."""
    try:
        with open("/proc/self/status", encoding="utf-8") as file:
            found = dict(line.split(":", 1) for line in file if line.startswith("Vm"))
        return tuple(int(found[key].split()[0]) / 2**10 for key in ("VmRSS", "VmHWM"))
    except (OSError, KeyError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = peak / 2**20 if sys.platform == "darwin" else peak / 2**10
        return peak, peak


def forget_peak() -> None:
    """Let the largest size start again from the present one, where the system allows it."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
    except OSError:
        pass


def measure(name: str, n_rows: int, n_resamples: int) -> dict:
    """Make one comparison in this process."""
    from _work import Work

    metrics, kind, n_clusters = CASES[name]
    work = Work(name, metrics, kind, n_rows, n_clusters)
    small = Work(name, metrics, kind, 100, n_clusters and 10)
    small.compare(small.data(), 50)  # what is imported late is no part of the call
    data = work.data()
    forget_peak()
    before, _ = sizes()
    work.compare(data, n_resamples)
    _, peak = sizes()
    return {
        "work": name,
        "n_rows": n_rows,
        "n_resamples": n_resamples,
        "before_mib": round(before),
        "above_mib": round(peak - before),
        "asked": ALLOWED,
    }


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    arguments = _run.arguments_of(
        __doc__,
        rows={"type": int, "default": 1_000_000},
        resamples={"type": int, "default": 2_000},
        only={"nargs": "+", "help": "names of the work to measure"},
        child={"help": "measure this one here, and print it as JSON"},
    )
    n_rows, n_resamples = arguments.rows, arguments.resamples
    if arguments.child:
        print(json.dumps(measure(arguments.child, n_rows, n_resamples)))
        return
    names = list(CASES)
    if arguments.quick:
        n_rows, n_resamples, names = 10_000, 100, names[:1]
    rows = []
    table = _run.Table(work=28, rows=12, resamples=12, before_MiB=12, above_MiB=12, allowed=10)
    for name in arguments.only or names:
        command = [sys.executable, __file__, "--child", name, "--rows", str(n_rows)]
        command += ["--resamples", str(n_resamples)]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(found.stdout))
        table.row(*rows[-1].values())
    _run.write(arguments, rows)


if __name__ == "__main__":
    main()
