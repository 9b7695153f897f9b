"""Simulated coverage of intervals for differences of calibration errors.

    python benchmarks/calibration_errors.py [--quick] [--json FILE]

A label is 1 with probability sigmoid(u + v), for independent standard normal u and v; in clusters
labels of the same cluster agree more often (a normal copula with correlation 0.3). One model
gives that probability, one what u alone tells, and two are over-confident: sigmoid(c (u + v)). The
first two are perfectly calibrated, so that all their errors are zero. True values of the others
are integrals over their bins. Percentile intervals of the plain (L1) error, which comparisons do
not give, are read off the replicates; intervals of the debiased squared error are those of the
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
# Numbers of rows, and of the rows of a cluster.
DESIGNS = ((500, 1), (2_000, 1), (2_000, 20))
N_DATA_SETS = 400
N_RESAMPLES = 399
BOLDNESS = {"mild": 1.15, "bold": 1.5}
CORRELATION = 0.3
NODES, SHARES = np.polynomial.hermite_e.hermegauss(60)
SHARES = SHARES / SHARES.sum()


class Truth(NamedTuple):
    """True L1 and squared calibration error of a model."""

    plain: float
    squared: float


def answers(
    rng: np.random.Generator, n_rows: int, cluster_size: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw labels and the probabilities of all models."""
    u, v, own = rng.normal(size=(3, n_rows))
    shared = np.repeat(rng.normal(size=n_rows // cluster_size), cluster_size)
    luck = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own
    y = (stats.norm.cdf(luck) < expit(u + v)).astype(int)
    return y, {
        "calibrated": expit(u + v),
        "coarse": expit(u[:, None] + NODES) @ SHARES,
        **{name: expit(boldness * (u + v)) for name, boldness in BOLDNESS.items()},
    }


def truth_of(boldness: float, n_points: int = 400_001) -> Truth:
    """Integrate over the bins of an over-confident model, by the trapezoidal rule."""
    z = np.linspace(-12, 12, n_points)
    density = stats.norm.pdf(z, scale=np.sqrt(2))
    share = density / density.sum()
    predicted = expit(boldness * z)
    bins = np.minimum((predicted * N_BINS).astype(int), N_BINS - 1)
    weight = np.bincount(bins, share, N_BINS)
    gap = np.bincount(bins, share * (predicted - expit(z)), N_BINS)
    return Truth(float(np.abs(gap).sum()), float((gap**2 / weight).sum()))


TRUTH = {
    "coarse": Truth(0.0, 0.0),
    **{name: truth_of(boldness) for name, boldness in BOLDNESS.items()},
}


def simulate(
    model: str, n_rows: int, cluster_size: int, n_data_sets: int, n_resamples: int
) -> dict[str, float]:
    """Count how often intervals cover: of the model alone, and of it less the calibrated one."""
    covered = dict.fromkeys(("plain_alone", "squared_alone", "plain", "squared"), 0)
    truth, rejected = TRUTH[model], 0
    for number in range(n_data_sets):
        key = (n_rows, cluster_size, list(TRUTH).index(model), number)
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))
        y, given = answers(rng, n_rows, cluster_size)
        result = compare_predictions(
            y,
            {name: given[name] for name in ("calibrated", model)},
            scoring=ECE(n_bins=N_BINS),
            groups=np.arange(n_rows) // cluster_size if cluster_size > 1 else None,
            n_resamples=n_resamples,
            random_state=number,
        )
        plain = result.replicates[:, 0]
        for name, values in (("plain_alone", plain[:, 1]), ("plain", plain[:, 1] - plain[:, 0])):
            low, high = np.quantile(values, [0.025, 0.975])
            covered[name] += low <= truth.plain <= high
        row, alone = result.differences[1], result.scores[3]
        covered["squared"] += row.ci_low <= truth.squared <= row.ci_high
        covered["squared_alone"] += alone.ci_low <= truth.squared <= alone.ci_high
        rejected += row.p_value <= 0.05
    return {
        **{name: int(count) / n_data_sets for name, count in covered.items()},
        "rejected": int(rejected) / n_data_sets,
    }


def main() -> None:
    """Simulate every pair of models and number of rows."""
    arguments = _run.arguments_of(__doc__)
    n_data_sets, n_resamples = (5, 99) if arguments.quick else (N_DATA_SETS, N_RESAMPLES)
    columns = ("plain_alone", "squared_alone", "plain", "squared", "rejected")
    table = _run.Table(model=12, rows=8, cluster=10, **dict.fromkeys(columns, 14))
    rows = []
    for model in TRUTH:
        for n_rows, size in DESIGNS:
            found = simulate(model, n_rows, size, n_data_sets, n_resamples)
            rows.append({"model": model, "n_rows": n_rows, "cluster_size": size, **found})
            table.row(model, n_rows, size, *(found[column] for column in columns))
    _run.write(arguments, rows, n_data_sets=n_data_sets, n_resamples=n_resamples)


if __name__ == "__main__":
    main()
