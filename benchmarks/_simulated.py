"""Data sets whose truth is known: rows and clusters, models that are equal or not, two learners.

Every row has a label and the scores of four models: ``A``, ``B`` and ``D`` are equally good and
exchangeable, ``C`` is better. Scores are binormal: given the label they are normal with variance 1
and means half a distance on either side of zero; the noise of any two models has correlation
`CORRELATION`. Item scores, whose means are compared, are lognormal in the same noise.

A row of a cluster is, with probability sqrt(ICC), a copy of the cluster's prototype: label, scores
and all; otherwise it is drawn afresh, and so is the prototype. Two rows of a cluster are thus one
and the same draw with probability ICC and independent draws else: ICC is the intraclass correlation
of *every* function of a row, such as the differences of correctness, of log loss, of items or of
placements, and every row has the same distribution whatever the ICC. Sizes of clusters do not
depend on what is in them. So the truth is that of one row, for the estimand that weights rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import entr, expit, logit, ndtr
from scipy.stats import norm

MODELS = ("A", "B", "C", "D")
PREVALENCE = 0.4
DISTANCE = {"A": 1.2, "B": 1.2, "C": 1.6, "D": 1.2}  # of the classes, in standard deviations
CORRELATION = 0.6
ITEM_LOCATION = {"A": 0.0, "B": 0.0, "C": 0.2, "D": 0.0}  # of the logarithm
ITEM_SCALE = 0.75
SIZE_VARIATION = 0.7  # coefficient of variation of unequal sizes, before rounding
METRICS = ("mean", "accuracy", "roc_auc", "average_precision", "f1", "log_loss")
# What intervals are made for: one model's value, and differences from model A.
TARGETS = {"value of one model": ("A",), "no difference": ("B", "A"), "difference": ("C", "A")}

FloatArray = NDArray[np.float64]


class Scenario(NamedTuple):
    """How many rows, in which clusters."""

    n_rows: int
    n_clusters: int | None = None
    unequal: bool = False
    icc: float = 0.0

    @property
    def name(self) -> str:
        """Name it in words."""
        if self.n_clusters is None:
            return f"{self.n_rows} rows"
        sizes = "unequal" if self.unequal else "equal"
        return f"{self.n_rows} rows, {self.n_clusters} {sizes} clusters, ICC {self.icc:g}"

    @property
    def numbers(self) -> tuple[int, ...]:
        """Tell it from all others in whole numbers, for seeds."""
        return (self.n_rows, self.n_clusters or 0, int(self.unequal), round(100 * self.icc))


class Data(NamedTuple):
    """Labels, item scores, decision values, probabilities and predictions of every model."""

    y: NDArray[np.int64]
    items: dict[str, FloatArray]
    decisions: dict[str, FloatArray]
    probabilities: dict[str, FloatArray]
    predictions: dict[str, NDArray[np.int64]]
    groups: NDArray[np.int64] | None
    n_redrawn: int


def draw(scenario: Scenario, rng: np.random.Generator) -> Data:
    """Draw a data set; one with fewer than two rows of a class is drawn again, and counted."""
    n_redrawn = 0
    while True:
        groups, sources = _sources(scenario, rng)
        n_drawn = int(sources.max()) + 1
        y = (rng.random(n_drawn) < PREVALENCE).astype(np.int64)[sources]
        noise = rng.normal(size=(n_drawn, len(MODELS) + 1))[sources]
        if 2 <= y.sum() <= len(y) - 2:
            break
        n_redrawn += 1
    shared = np.sqrt(CORRELATION) * noise[:, -1]
    items, decisions, probabilities, predictions = {}, {}, {}, {}
    for column, model in enumerate(MODELS):
        own = shared + np.sqrt(1 - CORRELATION) * noise[:, column]
        items[model] = np.exp(ITEM_LOCATION[model] + ITEM_SCALE * own)
        decisions[model] = DISTANCE[model] * (y - 0.5) + own
        probabilities[model] = expit(logit(PREVALENCE) + DISTANCE[model] * decisions[model])
        predictions[model] = (probabilities[model] > 0.5).astype(np.int64)
    return Data(y, items, decisions, probabilities, predictions, groups, n_redrawn)


def _sources(
    scenario: Scenario, rng: np.random.Generator
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Draw clusters, and say which draw each row shows: its own or its cluster's prototype."""
    rows = np.arange(scenario.n_rows)
    if scenario.n_clusters is None:
        return None, rows
    groups = np.repeat(np.arange(scenario.n_clusters), cluster_sizes(scenario, rng))
    is_copy = rng.random(scenario.n_rows) < np.sqrt(scenario.icc)
    return groups, np.where(is_copy, scenario.n_rows + groups, rows)


def cluster_sizes(scenario: Scenario, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw sizes that add up to the rows: equal within one row, or of lognormal shares."""
    n_rows, n_clusters = scenario.n_rows, scenario.n_clusters or scenario.n_rows
    if not scenario.unequal:
        return np.diff(np.arange(n_clusters + 1) * n_rows // n_clusters)
    shares = rng.lognormal(sigma=np.sqrt(np.log1p(SIZE_VARIATION**2)), size=n_clusters)
    ends = np.cumsum(shares) / shares.sum() * (n_rows - n_clusters)
    return 1 + np.diff(np.rint(ends).astype(np.int64), prepend=0)


@cache
def truth(metric: str, *models: str) -> float:
    """Value of a metric of one model in the population, or of the first less the second."""
    if len(models) == 2:
        return 0.0 if same(*models) else truth(metric, models[0]) - truth(metric, models[1])
    (model,) = models
    return _TRUTHS[metric](model)


def same(one: str, other: str) -> bool:
    """Tell whether two models are equally good."""
    return DISTANCE[one] == DISTANCE[other] and ITEM_LOCATION[one] == ITEM_LOCATION[other]


def _rates(distance: float, threshold: float) -> tuple[float, float]:
    """Shares of the positives and of the negatives whose decision value is above a threshold."""
    return float(ndtr(distance / 2 - threshold)), float(ndtr(-distance / 2 - threshold))


def _at_one_half(model: str) -> tuple[float, float]:
    return _rates(DISTANCE[model], -logit(PREVALENCE) / DISTANCE[model])


def _mean(model: str) -> float:
    return float(np.exp(ITEM_LOCATION[model] + ITEM_SCALE**2 / 2))


def _accuracy(model: str) -> float:
    true_positive, false_positive = _at_one_half(model)
    return PREVALENCE * true_positive + (1 - PREVALENCE) * (1 - false_positive)


def _f1(model: str) -> float:
    true_positive, false_positive = _at_one_half(model)
    found = PREVALENCE * true_positive
    return 2 * found / (found + (1 - PREVALENCE) * false_positive + PREVALENCE)


def _roc_auc(model: str) -> float:
    return float(ndtr(DISTANCE[model] / np.sqrt(2)))


def _average_precision(model: str) -> float:
    """Mean precision over the thresholds at which the positives are found."""
    distance = DISTANCE[model]

    def precision(threshold: float) -> float:
        true_positive, false_positive = _rates(distance, threshold)
        found = PREVALENCE * true_positive
        return found / (found + (1 - PREVALENCE) * false_positive)

    return _integral(lambda at: precision(at) * norm.pdf(at, distance / 2), distance / 2)


def _log_loss(model: str) -> float:
    """Mean entropy of the labels given the decision value, since probabilities are calibrated."""
    distance = DISTANCE[model]

    def integrand(at: float) -> float:
        density = PREVALENCE * norm.pdf(at, distance / 2)
        density += (1 - PREVALENCE) * norm.pdf(at, -distance / 2)
        probability = expit(logit(PREVALENCE) + distance * at)
        return float(density * (entr(probability) + entr(1 - probability)))

    return _integral(integrand, 0.0)


def _integral(integrand: Any, centre: float) -> float:
    return float(quad(integrand, centre - 9, centre + 9, epsabs=1e-12, epsrel=1e-12, limit=200)[0])


_TRUTHS = {
    "mean": _mean,
    "accuracy": _accuracy,
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "f1": _f1,
    "log_loss": _log_loss,
}


class Learners(NamedTuple):
    """Correctness of two learners on the test rows of a split, shape (2, n_test), and the rows."""

    correct: NDArray[np.bool_]
    test: NDArray[np.int64]


N_FEATURES = 4  # of either learner
SHIFT = 0.4  # of the mean of each feature between the classes


def draw_learning_data(n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw features and labels: both halves of the features are alike, and independent."""
    y = rng.integers(0, 2, n_rows)
    return rng.normal(size=(n_rows, 2 * N_FEATURES)) + SHIFT * (2 * y[:, None] - 1), y


def learn(
    X: FloatArray, y: NDArray[np.int64], splits: Iterator[tuple[Any, Any]]
) -> Iterator[Learners]:
    """Train nearest centroids on either half of the features, and score them on the test rows.

    The halves are exchangeable, so the two learners are exactly equal in expectation.
    """
    for train, test in splits:
        positive = y[train] == 1
        above, below = X[train][positive].mean(axis=0), X[train][~positive].mean(axis=0)
        distances = (X[test] - (above + below) / 2) * (above - below)
        answers = np.stack([half.sum(axis=1) > 0 for half in np.hsplit(distances, 2)])
        yield Learners(answers == (y[test] == 1), test)
