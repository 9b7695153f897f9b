"""Write data/photos.csv: simulated photographs of skin, several of each patient.

Nothing here is real. 40 patients have 4 to 20 photographs each. Two models, "old" and "new",
misjudge each patient by an amount of the same spread, so neither is better: any difference in
the file is an accident of which 40 patients are in it. Because a model misjudges all photographs
of a patient in nearly the same way, there are many rows but only 40 independent pieces of
information about the difference.

    python examples/make_clustered_data.py                 writes the file
    python examples/make_clustered_data.py --study 400     simulates 400 such files instead, and
                                                           counts how often a difference is seen
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).parent / "data" / "photos.csv"
N_PATIENTS = 40
# The first seed whose file fools a bootstrap of rows, and not one of patients, in favour of "new"
# on both metrics. About half of all seeds fool a bootstrap of rows one way or the other.
SEED = 10


def simulate(seed: int) -> dict[str, list[Any]]:
    """Simulate one file, as columns."""
    rng = np.random.default_rng(seed)
    n_photos = rng.integers(4, 21, N_PATIENTS)
    patient = np.repeat(np.arange(N_PATIENTS), n_photos)
    risk = rng.normal(0, 1.5, N_PATIENTS)
    malignant = rng.random(N_PATIENTS) < _probability(risk)
    columns = {
        "patient": [f"P{number + 1:02d}" for number in patient],
        "photo": [k + 1 for n in n_photos for k in range(n)],
        "malignant": malignant[patient].astype(int).tolist(),
    }
    for model in ("old", "new"):
        of_patient = rng.normal(0, 1.0, N_PATIENTS)
        of_photo = rng.normal(0, 0.5, len(patient))
        answer = _probability((risk + of_patient)[patient] + of_photo)
        columns[model] = [f"{value:.3f}" for value in answer]
    return columns


def write(path: Path) -> None:
    """Write the file that the demo reads."""
    columns = simulate(SEED)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def study(n_files: int) -> None:
    """Count how often two equally good models are called different."""
    from sklearn_pairboot import compare_predictions

    metrics = ["roc_auc", "neg_log_loss"]
    alarms = {"rows": np.zeros(2), "patients": np.zeros(2)}
    for seed in range(n_files):
        columns = simulate(seed)
        models = {name: np.array(columns[name], dtype=float) for name in ("old", "new")}
        for unit, groups in (("rows", None), ("patients", columns["patient"])):
            result = compare_predictions(
                columns["malignant"],
                models,
                scoring=metrics,
                groups=groups,
                n_resamples=1999,
                random_state=0,
            )
            alarms[unit] += [row.verdict != "inconclusive" for row in result.differences]
    for unit, counts in alarms.items():
        shares = ", ".join(
            f"{metric} {count / n_files:.1%}" for metric, count in zip(metrics, counts, strict=True)
        )
        print(f"bootstrap of {unit}: a difference in {shares} of {n_files} files")


def _probability(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    odds = np.exp(logit)
    probability: NDArray[np.float64] = odds / (1 + odds)
    return probability


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write examples/data/photos.csv.")
    parser.add_argument("--study", type=int, metavar="N", help="simulate N files and write none")
    n_files = parser.parse_args().study
    if n_files is None:
        write(FILE)
    else:
        study(n_files)
