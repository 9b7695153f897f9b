"""What the benchmark scripts share: one thread, the machine and its versions, clocks, JSON.

Import it before NumPy: the number of threads is read when libraries are loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
):
    os.environ[variable] = "1"
os.environ["TQDM_DISABLE"] = "1"  # a progress bar is no part of a measurement

PACKAGES = ("sklearn-pairboot", "scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl")


def arguments_of(text: str, **more: dict[str, Any]) -> argparse.Namespace:
    """Read the command line: ``--quick`` and ``--json``, and what the script adds."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does the script run?")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    for name, keywords in more.items():
        parser.add_argument(f"--{name}", **keywords)
    return parser.parse_args()


def seconds(call: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def n_cores() -> int:
    """Count the processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def environment() -> dict[str, Any]:
    """Name the machine and the versions, without anything that tells whose they are."""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = f"{platform.system()} {platform.mac_ver()[0]}".strip()
    return {
        "processor": _processor(),
        "cores": n_cores(),
        "system": f"{system}, {platform.machine()}",
        "versions": {
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in PACKAGES},
        },
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def write(arguments: argparse.Namespace, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """Write the numbers with the date and the environment, if a file was named."""
    if arguments.json is None:
        return
    content = {
        "date": time.strftime("%Y-%m-%d"),
        "quick": arguments.quick,
        "environment": environment(),
        **more,
        "rows": list(rows),
    }
    text = json.dumps(content, indent=1, default=_rounded)
    arguments.json.write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> float:
    return float(value)


def significant(value: float, digits: int = 4) -> float:
    """Round to a few significant digits: more would be noise in a file."""
    return float(f"{value:.{digits}g}")


class Table:
    """Print rows as they come, in columns of given widths; the first is flush left."""

    def __init__(self, **widths: int) -> None:
        self.widths = tuple(widths.values())
        titles = [name.replace("_", " ") for name in widths]
        self.row(*titles)
        print("-" * sum(self.widths))

    def row(self, first: str, *others: Any) -> None:
        """Print one row; ``None`` is a dash."""
        line = f"{first:{self.widths[0]}}"
        for width, value in zip(self.widths[1:], others, strict=True):
            line += f"{_shown(value):>{width}}"
        print(line.rstrip())
        sys.stdout.flush()


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3g}" if isinstance(value, float) and value < 100 else _whole(value)


def _whole(value: Any) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else str(value)
