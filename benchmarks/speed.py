"""Whole comparisons against the plain loop over scikit-learn's metrics, in the same process.

The plain loop draws rows, indexes truths and answers, and calls the metric for both models. It is
timed on a few resamples and scaled to the number that the comparison makes. One thread.

    python benchmarks/speed.py [--json FILE] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import scipy
import sklearn
from sklearn import metrics

from sklearn_pairboot import compare_predictions

N_RESAMPLES = 2000
LOOP_RESAMPLES = 20
REPEATS = 3
MODELS = ("old", "new")
LABELS = {
    "accuracy": "accuracy",
    "f1": "f1",
    "matthews_corrcoef": "matthews_corrcoef",
    "kappa": metrics.make_scorer(metrics.cohen_kappa_score),
}
REGRESSION = ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"]

# Name, scorers, kind of data, rows, clusters, keywords, least ratio asked for.
WORK = [
    ("ROC AUC", ["roc_auc"], "probability", 1_000, None, {}, 300),
    ("ROC AUC", ["roc_auc"], "probability", 10_000, None, {}, 150),
    ("ROC AUC", ["roc_auc"], "probability", 100_000, None, {}, 110),
    ("ROC AUC", ["roc_auc"], "probability", 1_000_000, None, {}, 100),
    ("ROC AUC, one decimal", ["roc_auc"], "rounded", 100_000, None, {}, 1000),
    ("ROC AUC, 200 clusters", ["roc_auc"], "probability", 10_000, 200, {}, 150),
    ("ROC AUC, 200 clusters", ["roc_auc"], "probability", 100_000, 200, {}, 350),
    ("ROC AUC, BCa", ["roc_auc"], "probability", 10_000, None, {"method": "bca"}, 100),
    ("average precision", ["average_precision"], "probability", 10_000, None, {}, 80),
    ("average precision", ["average_precision"], "probability", 100_000, None, {}, 55),
    ("log loss, Brier", ["neg_log_loss", "neg_brier_score"], "probability", 10_000, None, {}, 300),
    ("log loss, Brier", ["neg_log_loss", "neg_brier_score"], "probability", 100_000, None, {}, 180),
    ("accuracy", ["accuracy"], "label", 100_000, None, {}, 500),
    ("accuracy, F1, MCC, kappa", LABELS, "label", 10_000, None, {}, 1000),
    ("accuracy, F1, MCC, kappa", LABELS, "label", 1_000_000, None, {}, 5000),
    ("macro F1, 10 classes", ["f1_macro"], "classes", 10_000, None, {}, 80),
    ("macro F1, 10 classes", ["f1_macro"], "classes", 100_000, None, {}, 250),
    ("ROC AUC ovr, 5 classes", ["roc_auc_ovr"], "probabilities", 10_000, None, {}, 60),
    ("R2, RMSE, MAE", REGRESSION, "regression", 10_000, None, {}, 30),
]
FUNCTIONS = {
    "roc_auc": metrics.roc_auc_score,
    "roc_auc_ovr": partial(metrics.roc_auc_score, multi_class="ovr"),
    "average_precision": metrics.average_precision_score,
    "neg_log_loss": metrics.log_loss,
    "neg_brier_score": metrics.brier_score_loss,
    "accuracy": metrics.accuracy_score,
    "f1": metrics.f1_score,
    "f1_macro": partial(metrics.f1_score, average="macro"),
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
    "r2": metrics.r2_score,
    "neg_root_mean_squared_error": metrics.root_mean_squared_error,
    "neg_mean_absolute_error": metrics.mean_absolute_error,
}


def make_data(kind: str, n_rows: int, n_clusters: int | None):
    """Make truths, two models' answers, and clusters."""
    rng = np.random.default_rng(0)
    groups = None if n_clusters is None else rng.integers(0, n_clusters, n_rows)
    if kind == "regression":
        y = rng.normal(size=n_rows)
        return y, {name: y + rng.normal(size=n_rows) for name in MODELS}, groups
    n_classes = {"classes": 10, "probabilities": 5}.get(kind, 2)
    y = rng.integers(0, n_classes, n_rows)
    if kind == "classes":
        right = {name: rng.random(n_rows) < 0.6 for name in MODELS}
        noise = {name: rng.integers(0, n_classes, n_rows) for name in MODELS}
        return y, {name: np.where(right[name], y, noise[name]) for name in MODELS}, groups
    if kind == "probabilities":
        logits = {
            name: rng.normal(size=(n_rows, n_classes)) + np.eye(n_classes)[y] for name in MODELS
        }
        shares = {name: np.exp(logit) for name, logit in logits.items()}
        return y, {n: s / s.sum(axis=1, keepdims=True) for n, s in shares.items()}, groups
    answers = {
        name: 1 / (1 + np.exp(-(strength * (2.0 * y - 1.0) + rng.normal(size=n_rows))))
        for name, strength in zip(MODELS, (1.0, 1.1), strict=True)
    }
    if kind == "label":
        answers = {name: (answer > 0.5).astype(int) for name, answer in answers.items()}
    if kind == "rounded":
        answers = {name: np.round(answer, 1) for name, answer in answers.items()}
    return y, answers, groups


def time_loop(scorers, y, answers, groups) -> float:
    """Time the plain loop, scaled to all resamples."""
    rng = np.random.default_rng(1)
    n_rows = len(y)
    of_cluster = None
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        of_cluster = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    start = time.perf_counter()
    for _ in range(LOOP_RESAMPLES):
        if of_cluster is None:
            rows = rng.integers(0, n_rows, n_rows)
        else:
            drawn = rng.integers(0, len(of_cluster), len(of_cluster))
            rows = np.concatenate([of_cluster[cluster] for cluster in drawn])
        for scorer in scorers:
            for answer in answers.values():
                FUNCTIONS[scorer](y[rows], answer[rows])
    return (time.perf_counter() - start) * N_RESAMPLES / LOOP_RESAMPLES


def time_comparison(scorers, y, answers, groups, keywords) -> float:
    """Time the whole call, the best of a few."""
    times = []
    for _ in range(REPEATS if len(y) < 1_000_000 else 1):
        start = time.perf_counter()
        compare_predictions(
            y,
            answers,
            scoring=scorers,
            groups=groups,
            n_resamples=N_RESAMPLES,
            random_state=0,
            **keywords,
        )
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="file to write the rows to")
    parser.add_argument("--only", nargs="+", help="names of the work to time")
    arguments = parser.parse_args()
    rows = []
    header = f"{'work':26}{'rows':>9}{'loop, s':>10}{'ours, s':>10}{'ratio':>8}{'asked':>7}"
    print(header, "-" * len(header), sep="\n")
    for name, scorers, kind, n_rows, n_clusters, keywords, asked in WORK:
        if arguments.only and name not in arguments.only:
            continue
        data = make_data(kind, n_rows, n_clusters)
        loop, ours = time_loop(scorers, *data), time_comparison(scorers, *data, keywords)
        rows.append(
            {"work": name, "n_rows": n_rows, "loop_s": loop, "ours_s": ours, "asked": asked}
        )
        print(
            f"{name:26}{n_rows:>9,}{loop:>10.2f}{ours:>10.3f}{loop / ours:>8.0f}{asked or '-':>7}",
            flush=True,
        )
    if arguments.json:
        versions = {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"versions": versions, "n_resamples": N_RESAMPLES, "rows": rows}, file)


if __name__ == "__main__":
    main()
