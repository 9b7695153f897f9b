"""The text of doc/performance.rst, in reStructuredText that docutils alone can read.

The other page of numbers is made of the same pieces.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HEAD = """\
.. Written by ``python benchmarks/make_page.py``; changes made here are lost.

Performance
===========

This page is written by ``python benchmarks/make_page.py`` from one run of the scripts in
``benchmarks/``, which ``python benchmarks/make_page.py --run`` repeats.
"""
QUICK = """
**These are the numbers of a trial with tiny sizes, which shows that the scripts run. They say
nothing about speed.**
"""
MEASURED = """
Ratios are what carries over to another machine, and only roughly. The plain loop draws rows, or
clusters, of the same data, indexes truths and answers, and calls the metric for each of two models,
in the same process: scikit-learn's, and for the calibration error, which it does not have, that of
this package. It is timed on 20 resamples or more, after one that does not count, and scaled to the
{n_resamples} resamples of the comparison. The comparison is the whole call of
``compare_predictions``, with checks, intervals and p-values. Loop and comparison take turns, three
times (once from a million rows on), and the best time of each counts. Everything runs on one
thread, except where two jobs are compared with one. Ratios are rounded down.
"""
JOBS = """
Time with one job divided by time with two processes, at {n_rows} rows, after a first call that
starts the processes; the better of two times each. The last row is a scorer that is called on the
drawn rows, since it is neither a sum nor a rank.
"""
MEMORY = """
Largest resident size during the call minus the resident size before it, when libraries are loaded
and inputs made; every case in a process of its own, at {n_rows} rows and {n_resamples} resamples.
"""
SCALING = """
Exponents of the cost, fitted by least squares on logarithms: 1 is linear, 0 is no dependence. What
is paid once a call (checks, sorting, summing within clusters) is taken out: the time of a call with
few resamples is subtracted from that of a call with many.
"""
PEERS = """
The same two models and rows, {n_resamples} resamples, one thread. The ratio is the time of the
plain loop over scikit-learn's metric for both models divided by the time of the package's call, or
of its two calls where it takes one model at a time. A dash stands where the whole would take more
than {limit:.0f} s. Packages answer different questions: only those that give an interval of the
difference, from rows drawn jointly, answer the one that is asked here.
"""


def render(found: dict[str, dict]) -> str:
    """Write the page from the files of results."""
    speed = found["speed"]
    parts = [HEAD]
    if speed["quick"]:
        parts.append(QUICK)
    parts.append(machine(found))
    parts.append(section("How it was measured"))
    parts.append(MEASURED.format(n_resamples=number(speed["n_resamples"])))
    parts += _speed(speed["rows"])
    parts += _wide(found["wide"]["rows"])
    parts += _jobs(found["jobs"])
    parts += _memory(found["memory"]["rows"])
    parts += _scaling(found["scaling"]["rows"])
    parts += _peers(found["peers"])
    return "".join(parts)


def machine(found: dict[str, dict]) -> str:
    """Say when and where the numbers were made, from files of one machine."""
    environment = next(iter(found.values()))["environment"]
    dates = sorted({result["date"] for result in found.values()})
    cores = environment["cores"]
    lines = {
        "Date": " to ".join(dict.fromkeys([dates[0], dates[-1]])),
        "Processor": f"{environment['processor']}, {cores} core{'s' * (cores != 1)}",
        "System": environment["system"],
        "Versions": ", ".join(f"{name} {at}" for name, at in environment["versions"].items()),
    }
    return "\n" + "".join(f":{name}: {value}\n" for name, value in lines.items())


def _speed(rows: Sequence[dict]) -> Iterable[str]:
    yield section("Against the plain loop")
    yield table(
        ["work", "rows", "asked", "measured"],
        [
            [row["work"], number(row["n_rows"]), number(row["asked"]), _ratio(row["ratio"])]
            for row in rows
        ],
        "Ratio of the plain loop's time to the comparison's.",
    )
    yield _short(
        f"{row['work']} at {number(row['n_rows'])} rows ({_ratio(row['ratio'])} of "
        f"{number(row['asked'])})"
        for row in rows
        if row["asked"] and row["ratio"] < row["asked"]
    )


def _wide(rows: Sequence[dict]) -> Iterable[str]:
    names = {"probability": "continuous", "rounded": "one decimal"}
    yield section("By rows, clusters and ties")
    cells: dict[tuple[str, str, str], dict[int, str]] = {}
    sizes = sorted({row["n_rows"] for row in rows})
    for row in rows:
        clusters = {None: "none", row["n_rows"] // 10: "of ten rows"}.get(
            row["n_clusters"], number(row["n_clusters"])
        )
        scores = names.get(row["data"], "labels or values")
        at = cells.setdefault((row["work"].replace("_", " "), scores, clusters), {})
        at[row["n_rows"]] = _ratio(row["ratio"])
    yield table(
        ["metric", "scores", "clusters", *(f"{number(size)} rows" for size in sizes)],
        [[*key, *(at.get(size, "–") for size in sizes)] for key, at in sorted(cells.items())],
        "Ratio of the plain loop's time to the comparison's, each timed once.",
    )


def _jobs(result: dict) -> Iterable[str]:
    rows = result["rows"]
    yield section("Two jobs")
    yield JOBS.format(n_rows=number(rows[0]["n_rows"]))
    if result["environment"]["cores"] < 2:
        yield "\nThe machine has fewer than two cores: nothing can be gained on it.\n"
    yield table(
        ["work", "resamples", "asked", "measured"],
        [
            [
                row["work"],
                number(row["n_resamples"]),
                f"{row['asked']:.1f}",
                _hundredths(row["ratio"]),
            ]
            for row in rows
        ],
        "Time with one job divided by time with two.",
    )
    yield _short(
        f"{row['work']} with {number(row['n_resamples'])} resamples "
        f"({_hundredths(row['ratio'])} of {row['asked']})"
        for row in rows
        if row["ratio"] < row["asked"]
    )


def _memory(rows: Sequence[dict]) -> Iterable[str]:
    yield section("Memory")
    yield MEMORY.format(
        n_rows=number(rows[0]["n_rows"]), n_resamples=number(rows[0]["n_resamples"])
    )
    yield table(
        ["work", "allowed, MiB", "measured, MiB"],
        [[row["work"], number(row["asked"]), number(row["above_mib"])] for row in rows],
        "Peak above the inputs.",
    )
    yield _short(
        f"{row['work']} ({number(row['above_mib'])} MiB)"
        for row in rows
        if row["above_mib"] >= row["asked"]
    )


def _scaling(rows: Sequence[dict]) -> Iterable[str]:
    yield section("Growth")
    yield SCALING
    yield table(
        ["work", "grows with", "from", "to", "asked", "exponent"],
        [
            [
                row["work"],
                row["axis"],
                number(row["sizes"][0]),
                number(row["sizes"][-1]),
                "–" if row["asked"] is None else f"below {row['asked']}",
                f"{row['exponent']:.2f}",
            ]
            for row in rows
        ],
        "Exponent of the cost of resamples.",
    )
    yield _short(
        f"{row['work']} by {row['axis']} ({row['exponent']:.2f}, asked below {row['asked']})"
        for row in rows
        if row["asked"] is not None and row["exponent"] >= row["asked"]
    )


def _peers(result: dict) -> Iterable[str]:
    yield section("Other packages")
    yield PEERS.format(n_resamples=number(result["n_resamples"]), limit=result["limit_s"])
    for question in dict.fromkeys(row["question"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["question"] == question]
        sizes = sorted({row["n_rows"] for row in rows})
        at: dict[tuple[str, ...], dict[int, str]] = {}
        for row in rows:
            name = f"{row['package']} {row['version']}"
            key = (name, f"``{row['call']}``", row["gives"], row["draws"])
            at.setdefault(key, {})[row["n_rows"]] = _ratio(row["ratio"])
        yield table(
            ["package", "call", "gives", "rows drawn", *(f"{number(n)} rows" for n in sizes)],
            [[*key, *(ratios.get(size, "–") for size in sizes)] for key, ratios in at.items()],
            f"{question}: ratio of the plain loop's time to the package's.",
        )
    if result["absent"]:
        yield f"\nNot installed in this run: {', '.join(result['absent'])}.\n"
    for call, error in result["failed"].items():
        yield f"\nFailed in this run: {call} (``{error}``).\n"


def section(title: str) -> str:
    """Begin a section."""
    return f"\n{title}\n{'-' * len(title)}\n"


def _short(cases: Iterable[str]) -> str:
    """Say in words what falls short of what was asked."""
    listed = list(cases)
    if not listed:
        return "\nNothing falls short of what was asked.\n"
    return "\nShort of what was asked:\n\n" + "".join(f"- {case}\n" for case in listed)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Write a table whose first row are the titles."""
    lines = [f"\n.. list-table:: {caption}", "   :header-rows: 1", ""]
    for row in [titles, *rows]:
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def save(page: Path, text: str, script: str, *, check: bool) -> None:
    """Write a page, or stop where it is not what its script writes."""
    if not check:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        sys.exit(f"{page.name} is not what benchmarks/{script} writes; run it again.")


def _ratio(value: float | None) -> str:
    """Round down: what is shown must not pass where the number does not."""
    if value is None:
        return "–"
    return f"{math.floor(value):,}" if value >= 10 else f"{math.floor(value * 10) / 10:.1f}"


def _hundredths(value: float) -> str:
    return f"{math.floor(value * 100) / 100:.2f}"


def number(value: Any) -> str:
    """Write a whole number, or a dash where there is none."""
    return "–" if value is None else f"{value:,.0f}"
