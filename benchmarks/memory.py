"""Peak memory of a comparison above its inputs: AUC of two models, a million rows.

python benchmarks/memory.py [--rows N] [--resamples B] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys

import numpy as np

from sklearn_pairboot import compare_predictions


def peak_mib() -> float:
    """Give the largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def main() -> None:
    """Print the peak, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--resamples", type=int, default=9_999)
    parser.add_argument("--json", help="file to write the numbers to")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, arguments.rows)
    answers = {name: rng.random(arguments.rows) + 0.1 * y for name in ("old", "new")}
    before = peak_mib()
    compare_predictions(
        y, answers, scoring="roc_auc", n_resamples=arguments.resamples, random_state=0
    )
    above = peak_mib() - before
    print(
        f"{arguments.rows:,} rows, {arguments.resamples:,} resamples: {above:.0f} MiB above the "
        f"inputs ({before:.0f} MiB with the libraries); a gibibyte is allowed"
    )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"before_mib": before, "above_mib": above}, file)


if __name__ == "__main__":
    main()
