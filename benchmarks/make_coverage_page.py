"""Write doc/coverage.rst from the numbers of coverage.json and calibration_errors.json.

Both are in benchmarks/results.

python benchmarks/make_coverage_page.py            write the page
python benchmarks/make_coverage_page.py --check    exit with 1 if it would be another
python benchmarks/make_coverage_page.py --run      simulate first what is missing
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import _coverage_page
import _page

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run, check or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--run", action="store_true", help="simulate first what is missing")
    parser.add_argument("--jobs", default="1", help="with --run: number of cells at a time")
    parser.add_argument("--quick", action="store_true", help="with --run: a few data sets")
    parser.add_argument("--only", default="", help="with --run: cells whose name contains this")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="folder of numbers")
    parser.add_argument(
        "--page", type=Path, default=HERE.parent / "doc" / "coverage.rst", help="file of the page"
    )
    arguments = parser.parse_args()
    numbers = arguments.results / "coverage.json"
    errors = arguments.results / "calibration_errors.json"
    if arguments.run:
        arguments.results.mkdir(exist_ok=True)
        command = [sys.executable, str(HERE / "coverage.py"), "--json", str(numbers)]
        command += ["--jobs", arguments.jobs, "--only", arguments.only]
        subprocess.run(command + ["--quick"] * arguments.quick, check=True)
        command = [sys.executable, str(HERE / "calibration_errors.py"), "--json", str(errors)]
        subprocess.run(command + ["--quick"] * arguments.quick, check=True)
    calibration = json.loads(errors.read_text(encoding="utf-8")) if errors.exists() else None
    result = json.loads(numbers.read_text(encoding="utf-8"))
    text = _coverage_page.render(result, calibration)
    _page.save(arguments.page, text, Path(__file__).name, check=arguments.check)


if __name__ == "__main__":
    main()
