"""Write doc/performance.rst from the numbers of one run in benchmarks/results.

python benchmarks/make_page.py            write the page
python benchmarks/make_page.py --check    exit with 1 if the page is not what would be written
python benchmarks/make_page.py --run      measure everything first (--quick: with tiny sizes)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import _page

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "doc" / "performance.rst"
# Name of the file of results, and the command that makes it.
SCRIPTS = {
    "speed": ["speed.py"],
    "jobs": ["speed.py", "--grid", "jobs"],
    "wide": ["speed.py", "--grid", "wide"],
    "memory": ["memory.py"],
    "scaling": ["scaling.py"],
    "peers": ["peers.py"],
}


def run(results: Path, *, quick: bool) -> None:
    """Run every script, each in a process of its own, one after the other."""
    results.mkdir(exist_ok=True)
    for name, (script, *options) in SCRIPTS.items():
        command = [sys.executable, str(HERE / script), *options]
        command += ["--json", str(results / f"{name}.json")] + ["--quick"] * quick
        print(f"\n{name}", flush=True)
        subprocess.run(command, check=True)


def load(results: Path) -> dict[str, dict]:
    """Read the numbers, which must be of one machine and the same versions."""
    found = {
        name: json.loads((results / f"{name}.json").read_text(encoding="utf-8")) for name in SCRIPTS
    }
    for key in ("environment", "quick"):
        differing = [name for name in found if found[name][key] != found["speed"][key]]
        if differing:
            sys.exit(f"`{key}` of {', '.join(differing)} is not that of speed: run them together.")
    return found


def main() -> None:
    """Run, check or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--run", action="store_true", help="run all scripts first")
    parser.add_argument("--quick", action="store_true", help="with --run: tiny sizes")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the numbers")
    parser.add_argument("--page", type=Path, default=PAGE, help="file of the page")
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.results, quick=arguments.quick)
    page = _page.render(load(arguments.results))
    _page.save(arguments.page, page, Path(__file__).name, check=arguments.check)


if __name__ == "__main__":
    main()
