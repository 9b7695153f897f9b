"""Simulated coverage and width of every interval method, and type-I error of every test.

    python benchmarks/coverage.py [--jobs N] [--only TEXT] [--share X] [--quick] [--json FILE]

Cells are written one by one to FILE, benchmarks/results/coverage.json unless named. A run that was
stopped goes on where it was: cells that FILE has are not simulated again. ``--only`` simulates the
cells whose name contains TEXT, ``--share`` the given share of all data sets.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import _run  # before NumPy
import joblib
from _simulated import Scenario
from _trials import (
    ALPHA,
    COUNTED,
    METHODS,
    N_PERMUTATIONS,
    SEED,
    simulate,
    simulate_learning,
)

RESULTS = Path(__file__).resolve().parent / "results" / "coverage.json"
N_RESAMPLES = 999
N_ROWS = (20, 50, 200, 1_000)
N_CLUSTERS = (8, 20, 50)
LEAST_SIZE = 2  # mean number of rows of a cluster
ICCS = (0.0, 0.1, 0.4)
# Data sets of a cell: more where there are few cells, or a limit was set.
OF_ROWS, OF_CLUSTERS, OF_LIMIT, OF_LEARNERS = 1_000, 200, 750, 2_000
LIMITED = {"n_clusters": 20, "icc": 0.4}
QUICK_SHARE = 0.01


class Cell(NamedTuple):
    """Data sets of one kind; without a scenario two learners are cross-validated."""

    name: str
    n_simulations: int
    n_rows: int
    scenario: Scenario | None

    def run(self, n_resamples: int) -> dict[str, Any]:
        """Simulate them."""
        start = time.perf_counter()
        if self.scenario is None:
            found = simulate_learning(self.n_rows, self.n_simulations, n_resamples=n_resamples)
            kind: dict[str, Any] = {"n_rows": self.n_rows}
        else:
            found = simulate(self.scenario, self.n_simulations, n_resamples=n_resamples)
            kind = self.scenario._asdict()
        seconds = round(time.perf_counter() - start, 1)
        return {"name": self.name, **kind, "seconds": seconds, **found}


def scenarios() -> Iterator[tuple[Scenario, int]]:
    """Yield every scenario, and its number of data sets."""
    for n_rows in N_ROWS:
        yield Scenario(n_rows), OF_ROWS // (2 if n_rows == max(N_ROWS) else 1)
    for n_clusters in N_CLUSTERS:
        for unequal in (False, True):
            for icc in ICCS:
                n_simulations = (
                    OF_LIMIT if {"n_clusters": n_clusters, "icc": icc} == LIMITED else OF_CLUSTERS
                )
                for n_rows in N_ROWS:
                    if n_rows >= LEAST_SIZE * n_clusters:
                        yield Scenario(n_rows, n_clusters, unequal, icc), n_simulations


def cells(share: float) -> Iterator[Cell]:
    """Yield all cells, with a share of their data sets."""
    for scenario, n_simulations in scenarios():
        yield Cell(scenario.name, max(2, round(share * n_simulations)), scenario.n_rows, scenario)
    for n_rows in N_ROWS[1:]:
        name = f"two learners, {n_rows} rows"
        yield Cell(name, max(2, round(share * OF_LEARNERS)), n_rows, None)


def kept(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Read the cells of a file, which must have been made with the same settings."""
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    plain = json.loads(json.dumps(settings))
    differing = [key for key in plain if content.get(key) != plain[key]]
    if differing:
        sys.exit(
            f"`{', '.join(differing)}` of {path} differ from those of this run. "
            "Remove the file, or name another one with --json."
        )
    return {cell["name"]: cell for cell in content["cells"]}


def write(path: Path, settings: dict[str, Any], found: dict[str, Any]) -> None:
    """Write all cells in the order of the plan, one on a line, and never half a file."""
    content = {"date": time.strftime("%Y-%m-%d"), "environment": _run.environment(), **settings}
    order = {cell.name: place for place, cell in enumerate(cells(1.0))}
    lines = [json.dumps(found[name]) for name in sorted(found, key=order.__getitem__)]
    text = json.dumps(content, indent=1)[:-2] + ',\n "cells": [\n' + ",\n".join(lines) + "\n ]\n}\n"
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def main() -> None:
    """Simulate what is missing, and print the time of each cell."""
    arguments = _run.arguments_of(
        __doc__,
        only={"default": "", "help": "only the cells whose name contains this"},
        jobs={"type": int, "default": 1, "help": "number of cells at a time"},
        share={"type": float, "default": 1.0, "help": "share of the planned data sets"},
    )
    path = arguments.json or RESULTS
    settings = {
        "quick": arguments.quick,
        "versions": _run.environment()["versions"],
        "seed": SEED,
        "alpha": ALPHA,
        "methods": METHODS,
        "counted": ("target", "metric", "method", *COUNTED, "mean_width"),
        "n_resamples": 199 if arguments.quick else N_RESAMPLES,
        "n_permutations": N_PERMUTATIONS,
    }
    found = kept(path, settings)
    planned = [
        cell
        for cell in cells(QUICK_SHARE if arguments.quick else arguments.share)
        if arguments.only in cell.name
        and found.get(cell.name, {}).get("simulations") != cell.n_simulations
    ]
    table = _run.Table(cell=50, data_sets=11, seconds=9, minutes=9)
    start = time.perf_counter()
    run = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator")
    tasks = (joblib.delayed(cell.run)(settings["n_resamples"]) for cell in planned)
    for cell in run(tasks):
        found[cell["name"]] = cell
        write(path, settings, found)
        minutes = (time.perf_counter() - start) / 60
        table.row(cell["name"], cell["simulations"], cell["seconds"], round(minutes, 1))


if __name__ == "__main__":
    main()
