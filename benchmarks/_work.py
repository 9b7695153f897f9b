"""The work that is measured: data, the plain loop over the metrics, our call for the same."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from sklearn_pairboot import ECE, compare_predictions, expected_calibration_error

N_RESAMPLES = 2_000
LOOP_RESAMPLES = 20  # the plain loop is timed on so many or more, and scaled
LOOP_SECONDS = 0.5


def largest_errors(y_true, y_pred) -> float:
    """Mean of the largest tenth of the errors: no sum and no rank, hence replayed."""
    errors = np.abs(y_true - y_pred)
    n_largest = max(1, len(errors) // 10)
    return float(np.partition(errors, -n_largest)[-n_largest:].mean())


# Scorer for the comparison, function for the plain loop.
METRICS = {
    "roc_auc": ("roc_auc", metrics.roc_auc_score),
    "roc_auc_ovr": ("roc_auc_ovr", partial(metrics.roc_auc_score, multi_class="ovr")),
    "average_precision": ("average_precision", metrics.average_precision_score),
    "log_loss": ("neg_log_loss", metrics.log_loss),
    "brier_score": ("neg_brier_score", metrics.brier_score_loss),
    "calibration_error": (ECE(), expected_calibration_error),
    "accuracy": ("accuracy", metrics.accuracy_score),
    "f1": ("f1", metrics.f1_score),
    "f1_macro": ("f1_macro", partial(metrics.f1_score, average="macro")),
    "matthews_corrcoef": ("matthews_corrcoef", metrics.matthews_corrcoef),
    "kappa": (metrics.make_scorer(metrics.cohen_kappa_score), metrics.cohen_kappa_score),
    "r2": ("r2", metrics.r2_score),
    "root_mean_squared_error": ("neg_root_mean_squared_error", metrics.root_mean_squared_error),
    "mean_absolute_error": ("neg_mean_absolute_error", metrics.mean_absolute_error),
    "largest_errors": (
        metrics.make_scorer(largest_errors, greater_is_better=False),
        largest_errors,
    ),
}


class Data(NamedTuple):
    """Truths, the answers of each model, and clusters."""

    y: NDArray[Any]
    answers: dict[str, NDArray[Any]]
    groups: NDArray[Any] | None


@dataclass(frozen=True)
class Work:
    """One comparison: what is scored, on which data, and the least ratio asked for."""

    name: str
    metrics: tuple[str, ...]
    kind: str
    n_rows: int
    n_clusters: int | None = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    asked: float | None = None

    def data(self, n_models: int = 2) -> Data:
        """Make the data of this work."""
        return make_data(self.kind, self.n_rows, self.n_clusters, n_models)

    def compare(self, data: Data, n_resamples: int = N_RESAMPLES, **keywords: Any):
        """Make the whole comparison."""
        return compare_predictions(
            data.y,
            data.answers,
            scoring={name: METRICS[name][0] for name in self.metrics},
            groups=data.groups,
            n_resamples=n_resamples,
            random_state=0,
            **(dict(self.keywords) | keywords),
        )


def make_data(kind: str, n_rows: int, n_clusters: int | None = None, n_models: int = 2) -> Data:
    """Make truths, models of growing strength, and clusters."""
    rng = np.random.default_rng(0)
    groups = None if n_clusters is None else rng.integers(0, n_clusters, n_rows)
    models = ["old", "new"] if n_models == 2 else [f"model {number}" for number in range(n_models)]
    if kind == "regression":
        y = rng.normal(size=n_rows)
        return Data(y, {model: y + rng.normal(size=n_rows) for model in models}, groups)
    n_classes = {"classes": 10, "probabilities": 5}.get(kind, 2)
    y = rng.integers(0, n_classes, n_rows)
    answers = {}
    for model, strength in zip(models, np.linspace(1.0, 1.1, n_models), strict=True):
        if kind == "classes":
            right = rng.random(n_rows) < 0.6
            answers[model] = np.where(right, y, rng.integers(0, n_classes, n_rows))
        elif kind == "probabilities":
            shares = np.exp(rng.normal(size=(n_rows, n_classes)) + np.eye(n_classes)[y])
            answers[model] = shares / shares.sum(axis=1, keepdims=True)
        else:
            logits = strength * (2.0 * y - 1.0) + rng.normal(size=n_rows)
            answers[model] = 1 / (1 + np.exp(-logits))
    if kind == "label":
        answers = {model: (answer > 0.5).astype(int) for model, answer in answers.items()}
    if kind == "rounded":
        answers = {model: np.round(answer, 1) for model, answer in answers.items()}
    return Data(y, answers, groups)


def loop_seconds(
    names: Sequence[str],
    data: Data,
    n_resamples: int = N_RESAMPLES,
    *,
    quick: bool = False,
) -> float:
    """Time the plain loop over the metrics, scaled to all resamples.

    It draws rows, or clusters, indexes truths and answers, and calls the metrics of every model.
    """
    least, least_seconds = (2, 0.0) if quick else (LOOP_RESAMPLES, LOOP_SECONDS)
    rng = np.random.default_rng(1)
    n_rows = len(data.y)
    of_cluster = None
    if data.groups is not None:
        order = np.argsort(data.groups, kind="stable")
        of_cluster = np.split(order, np.cumsum(np.bincount(data.groups))[:-1])
    done, start, spent = -1, time.perf_counter(), 0.0
    while done < least or (spent < least_seconds and done < n_resamples):
        if done == 0:  # the first resample warms up and does not count
            start = time.perf_counter()
        if of_cluster is None:
            rows = rng.integers(0, n_rows, n_rows)
        else:
            drawn = rng.integers(0, len(of_cluster), len(of_cluster))
            rows = np.concatenate([of_cluster[cluster] for cluster in drawn])
        truths = data.y[rows]
        for answer in data.answers.values():
            answers = answer[rows]
            for name in names:
                METRICS[name][1](truths, answers)
        done += 1
        spent = time.perf_counter() - start
    return spent * n_resamples / done
