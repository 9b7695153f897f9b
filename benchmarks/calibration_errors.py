"""Simulated coverage of intervals for differences of calibration errors.

    python benchmarks/calibration_errors.py [--quick] [--json FILE]

A label is 1 with probability sigmoid(u + v), for independent standard normal u and v. One model
gives that probability, one what u alone tells, and one is over-confident: sigmoid(1.5 (u + v)).
The first two are perfectly calibrated, so that all their errors are zero. True values of the third
are integrals over its bins. Percentile intervals of the plain (L1) error, which comparisons do not
give, are read off the replicates; intervals of the debiased squared error are those of the
comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import _run  # before NumPy
import numpy as np
from scipy import stats
from scipy.special import expit

from sklearn_pairboot import ECE, compare_predictions

SEED = 20261130
N_BINS = 15
SIZES = (500, 2_000)
N_DATA_SETS = 400
N_RESAMPLES = 399
BOLDNESS = 1.5
NODES, SHARES = np.polynomial.hermite_e.hermegauss(60)
SHARES = SHARES / SHARES.sum()


class Truth(NamedTuple):
    """True L1 and squared calibration error of a model."""

    plain: float
    squared: float


def answers(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw labels and the probabilities of three models."""
    u, v = rng.normal(size=(2, n_rows))
    y = (rng.random(n_rows) < expit(u + v)).astype(int)
    return y, {
        "calibrated": expit(u + v),
        "coarse": expit(u[:, None] + NODES) @ SHARES,
        "bold": expit(BOLDNESS * (u + v)),
    }


def truth_of_bold(n_points: int = 400_001) -> Truth:
    """Integrate over the bins of the over-confident model, by the trapezoidal rule."""
    z = np.linspace(-12, 12, n_points)
    density = stats.norm.pdf(z, scale=np.sqrt(2))
    share = density / density.sum()
    predicted = expit(BOLDNESS * z)
    bins = np.minimum((predicted * N_BINS).astype(int), N_BINS - 1)
    weight = np.bincount(bins, share, N_BINS)
    gap = np.bincount(bins, share * (predicted - expit(z)), N_BINS)
    return Truth(float(np.abs(gap).sum()), float((gap**2 / weight).sum()))


TRUTH = {"coarse": Truth(0.0, 0.0), "bold": truth_of_bold()}


def simulate(model: str, n_rows: int, n_data_sets: int, n_resamples: int) -> dict[str, float]:
    """Count how often intervals of the model less the calibrated one cover the truth."""
    covered, rejected = {"plain": 0, "squared": 0}, 0
    for number in range(n_data_sets):
        key = (n_rows, list(TRUTH).index(model), number)
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))
        y, given = answers(rng, n_rows)
        result = compare_predictions(
            y,
            {name: given[name] for name in ("calibrated", model)},
            scoring=ECE(n_bins=N_BINS),
            n_resamples=n_resamples,
            random_state=number,
        )
        differences = np.diff(result.replicates[:, 0], axis=1)
        low, high = np.quantile(differences, [0.025, 0.975])
        covered["plain"] += low <= TRUTH[model].plain <= high
        row = result.differences[1]
        covered["squared"] += row.ci_low <= TRUTH[model].squared <= row.ci_high
        rejected += row.p_value <= 0.05
    return {
        **{name: int(count) / n_data_sets for name, count in covered.items()},
        "rejected": int(rejected) / n_data_sets,
    }


def main() -> None:
    """Simulate every pair of models and number of rows."""
    arguments = _run.arguments_of(__doc__)
    n_data_sets, n_resamples = (5, 99) if arguments.quick else (N_DATA_SETS, N_RESAMPLES)
    table = _run.Table(model=12, rows=8, plain=10, squared=10, rejected=10)
    rows = []
    for model in TRUTH:
        for n_rows in SIZES:
            found = simulate(model, n_rows, n_data_sets, n_resamples)
            rows.append({"model": model, "n_rows": n_rows, **found})
            table.row(model, n_rows, found["plain"], found["squared"], found["rejected"])
    _run.write(arguments, rows, n_data_sets=n_data_sets, n_resamples=n_resamples)


if __name__ == "__main__":
    main()
