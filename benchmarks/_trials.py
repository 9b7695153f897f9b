"""What is done with each simulated data set: every interval and every test; and their tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from _simulated import (
    METRICS,
    TARGETS,
    Data,
    Scenario,
    draw,
    draw_learning_data,
    learn,
    truth,
)
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import f1_score, make_scorer

from sklearn_pairboot import (
    ComparisonResult,
    RecordedEstimator,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot.inference import (
    cochran_q_test,
    corrected_resampled_ttest,
    delong_test,
    five_by_two_cv_f_test,
    mcnemar_test,
    paired_permutation_test,
    sign_test,
)

SEED = 20240
ALPHA = 0.05
COMPARED = ("A", "B", "C")
EQUAL = ("A", "B")
# "f1" by its function: the name comes with keywords, which are checked in every call.
SCORERS = {
    "accuracy": "accuracy",
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "f1": make_scorer(f1_score),
    "log_loss": "neg_log_loss",
}
N_PERMUTATIONS = 199  # with the observed arrangement 200, of which 10 are the level
RANKS = ("roc_auc", "average_precision")
RANKS_EVERY, F1_EVERY = 3, 15  # data sets: these tests take long, F1 by enumeration most of all
EXACT_Q_ROWS = 20  # beyond, its enumeration takes too long
N_FOLDS, N_SPLITS, TEST_SHARE = 10, 15, 0.1

SLOW_METHODS, SLOW_EVERY = ("studentized",), 3
# What is counted of the intervals of one target, metric and method.
COUNTED = ("n", "below", "above", "undefined", "fallback", "rejected")


def seed_of(numbers: Sequence[int], simulation: int) -> np.random.SeedSequence:
    """Seed of one data set, whatever else is simulated."""
    return np.random.SeedSequence(SEED, spawn_key=(*numbers, simulation))


def compare_items(
    data: Data, models: Sequence[str], n_resamples: int, seed: int, **keywords: Any
) -> ComparisonResult:
    """Compare the means of the item scores."""
    keywords = {"groups": data.groups, **keywords}
    return compare_scores(
        {model: data.items[model] for model in models},
        n_resamples=n_resamples,
        correction=None,
        random_state=seed,
        **keywords,
    )


def compare_answers(
    data: Data,
    models: Sequence[str],
    metrics: Sequence[str],
    n_resamples: int,
    seed: int,
    **keywords: Any,
) -> ComparisonResult:
    """Compare labels and probabilities on all metrics at once."""
    records = {
        model: RecordedEstimator.from_arrays(
            predict=data.predictions[model],
            predict_proba=np.column_stack(
                [1 - data.probabilities[model], data.probabilities[model]]
            ),
            classes=[0, 1],
        )
        for model in models
    }
    return compare_predictions(
        data.y,
        records,
        scoring={metric: SCORERS[metric] for metric in metrics},
        groups=data.groups,
        n_resamples=n_resamples,
        correction=None,
        random_state=seed,
        **keywords,
    )


def rows_of(results: Sequence[ComparisonResult]) -> Iterator[tuple[str, str, Any]]:
    """Yield target, metric and row of everything that has an interval."""
    names = {models: target for target, models in TARGETS.items()}
    for result in results:
        for row in (*result.scores, *result.differences):
            models = (row.model, row.baseline) if hasattr(row, "baseline") else (row.model,)
            if models in names:
                yield names[models], row.metric.replace("mean_score", "mean"), row


def classical_tests(data: Data) -> Iterator[tuple[str, float]]:
    """Yield the p-value of every test that takes no metric, on models that are equally good."""
    ignored = "" if data.groups is None else ", clusters ignored"
    correct = {model: data.predictions[model] == data.y for model in ("A", "B", "D")}
    for variant in ("exact", "mid-p", "asymptotic"):
        test = mcnemar_test(correct["A"], correct["B"], variant=variant)
        yield f"McNemar, {variant}{ignored}", test.p_value
    yield f"Cochran's Q of three models{ignored}", cochran_q_test(correct).p_value
    if len(data.y) <= EXACT_Q_ROWS:
        exact_q = cochran_q_test(correct, variant="exact")
        yield f"Cochran's Q of three models, exact{ignored}", exact_q.p_value
    decisions = {model: data.decisions[model] for model in EQUAL}
    yield f"DeLong{ignored}", _only(delong_test(data.y, decisions).contrasts).p_value
    differences = data.items["B"] - data.items["A"]
    if data.groups is not None:
        clustered = delong_test(data.y, decisions, groups=data.groups)
        yield "DeLong, clusters", _only(clustered.contrasts).p_value
        differences = np.bincount(data.groups, weights=differences)
    yield (
        f"sign test of {'rows' if data.groups is None else 'clusters'}",
        (sign_test(differences).p_value),
    )


def permutation_tests(data: Data, seed: int, simulation: int) -> Iterator[tuple[str, float]]:
    """Yield the p-values of the permutation tests: of means, of ranks, and now and then of F1."""
    of_items = {
        "mean": data.items,
        "accuracy": {model: data.predictions[model] == data.y for model in EQUAL},
        "log_loss": {model: losses(data, model) for model in EQUAL},
    }
    for metric, items in of_items.items():
        scores = {model: np.asarray(items[model], dtype=np.float64) for model in EQUAL}
        test = paired_permutation_test(
            scores, groups=data.groups, n_resamples=N_PERMUTATIONS, random_state=seed
        )
        yield f"permutation of {metric}", test.p_value
    for scoring, every in ((RANKS, RANKS_EVERY), (("f1",), F1_EVERY)):
        if simulation % every == 0:
            result = compare_answers(data, EQUAL, scoring, N_PERMUTATIONS, seed, permutation=True)
            for row in result.differences:
                yield f"permutation of {row.metric}", row.p_permutation


def losses(data: Data, model: str) -> NDArray[np.float64]:
    """Log loss of every row."""
    probability = data.probabilities[model]
    return -np.log(np.where(data.y == 1, probability, 1 - probability))


def simulate(
    scenario: Scenario,
    n_simulations: int,
    *,
    n_resamples: int,
    methods: Sequence[str] = METHODS,
) -> dict[str, Any]:
    """Draw data sets of one scenario, and count what intervals and tests did."""
    truths = {
        (target, metric): truth(metric, *models)
        for target, models in TARGETS.items()
        for metric in METRICS
    }
    counts: dict[tuple[str, str, str], Counter[str]] = {
        (*key, method): Counter() for key in truths for method in methods
    }
    widths: dict[tuple[str, str, str], float] = dict.fromkeys(counts, 0.0)
    tests: dict[str, Counter[bool]] = {}
    n_redrawn = 0
    for simulation in range(n_simulations):
        rng = np.random.default_rng(seed_of(scenario.numbers, simulation))
        data = draw(scenario, rng)
        n_redrawn += data.n_redrawn
        seed = int(rng.integers(2**31))
        results = [
            compare_items(data, COMPARED, n_resamples, seed, method=methods[0]),
            compare_answers(data, COMPARED, tuple(SCORERS), n_resamples, seed, method=methods[0]),
        ]
        for method in methods:
            if method in SLOW_METHODS and simulation % SLOW_EVERY:
                continue
            if method != methods[0]:
                results = [result.replace(method=method) for result in results]
            for target, metric, row in rows_of(results):
                key = target, metric, method
                counts[key].update(tally(row, truths[target, metric]))
                width = row.ci_high - row.ci_low
                widths[key] += width if np.isfinite(width) else 0.0
        found = list(classical_tests(data))
        if data.groups is not None:
            ignoring = compare_items(data, EQUAL, n_resamples, seed, groups=None)
            p_value = _only(ignoring.differences).p_value
            found.append(("percentile of mean, clusters ignored", p_value))
        found += permutation_tests(data, seed, simulation)
        for name, p_value in found:
            tests.setdefault(name, Counter())[bool(p_value <= ALPHA)] += 1
    return {
        "simulations": n_simulations,
        "redrawn": n_redrawn,
        "intervals": [
            [
                *key,
                *(counts[key][what] for what in COUNTED),
                float(f"{width / counts[key]['n']:.4g}"),
            ]
            for key, width in widths.items()
        ],
        "tests": rejections(tests),
    }


def rejections(tests: Mapping[str, Counter[bool]]) -> dict[str, list[int]]:
    """Give the number of rejections of each test, and of how many."""
    return {name: [counts[True], counts.total()] for name, counts in tests.items()}


def tally(row: Any, true: float) -> dict[str, int]:
    """Say what one interval did: where it lies, how it came about, what its p-value says."""
    return {
        "n": 1,
        "below": int(row.ci_high < true),
        "above": int(row.ci_low > true),
        "undefined": int(np.isnan(row.ci_low) or np.isnan(row.ci_high)),
        "fallback": int(row.status != "ok"),
        "rejected": int(getattr(row, "p_value", 1.0) <= ALPHA),
    }


def _only(values: Sequence[Any]) -> Any:
    (value,) = values
    return value


def simulate_learning(n_rows: int, n_simulations: int, *, n_resamples: int) -> dict[str, Any]:
    """Cross-validate two equally good learners, and count the rejections of every test."""
    tests: dict[str, Counter[bool]] = {}
    for simulation in range(n_simulations):
        rng = np.random.default_rng(seed_of((n_rows,), simulation))
        for name, p_value in learning_tests(n_rows, rng, n_resamples).items():
            tests.setdefault(name, Counter())[bool(p_value <= ALPHA)] += 1
    return {"simulations": n_simulations, "tests": rejections(tests)}


def learning_tests(n_rows: int, rng: np.random.Generator, n_resamples: int) -> Mapping[str, float]:
    """P-values of all tests of two learners on one data set."""
    X, y = draw_learning_data(n_rows, rng)

    def differences(splits: Iterator[tuple[Any, Any]]) -> NDArray[np.float64]:
        means = [found.correct.mean(axis=1) for found in learn(X, y, splits)]
        return np.array([second - first for first, second in means])

    by_fold = list(learn(X, y, folds(y, N_FOLDS, rng)))
    of_folds = np.array([np.diff(found.correct.mean(axis=1))[0] for found in by_fold])
    n_test = round(TEST_SHARE * n_rows)
    of_splits = differences(random_splits(y, N_SPLITS, n_test, rng))
    of_halves = differences(split for _ in range(5) for split in folds(y, 2, rng)).reshape(5, 2)
    pooled = np.concatenate([found.correct for found in by_fold], axis=1).astype(float)
    bootstrap = compare_scores(
        {"A": pooled[0], "B": pooled[1]},
        n_resamples=n_resamples,
        correction=None,
        random_state=int(rng.integers(2**31)),
    )
    n_fold = n_rows / N_FOLDS
    return {
        f"corrected resampled t, {N_FOLDS} folds": corrected_resampled_ttest(
            of_folds, n_train=n_rows - n_fold, n_test=n_fold
        ).p_value,
        f"corrected resampled t, {N_SPLITS} random splits": corrected_resampled_ttest(
            of_splits, n_train=n_rows - n_test, n_test=n_test
        ).p_value,
        "5x2cv F": five_by_two_cv_f_test(of_halves).p_value,
        "5x2cv t": five_by_two_t(of_halves),
        f"uncorrected paired t, {N_FOLDS} folds": uncorrected_t(of_folds),
        f"uncorrected paired t, {N_SPLITS} random splits": uncorrected_t(of_splits),
        f"percentile of rows, models of {N_FOLDS} folds": _only(bootstrap.differences).p_value,
    }


def folds(
    y: NDArray[np.int64], n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Split rows at random into folds in which both classes are alike."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    for fold in range(n_folds):
        is_test = np.arange(len(y)) % n_folds == fold
        yield order[~is_test], order[is_test]


def random_splits(
    y: NDArray[np.int64], n_splits: int, n_test: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Draw test rows at random again and again."""
    for _ in range(n_splits):
        order = rng.permutation(len(y))
        yield order[n_test:], order[:n_test]


def uncorrected_t(differences: NDArray[np.float64]) -> float:
    """Take splits for independent, which they are not."""
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else 0.0
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def five_by_two_t(differences: NDArray[np.float64]) -> float:
    """Dietterich's test: the first of ten differences over the spread within repeats."""
    spread = float(np.mean(differences.var(axis=1, ddof=1)))
    if spread == 0:
        return 1.0 if differences[0, 0] == 0 else 0.0
    return float(2 * stats.t.sf(abs(differences[0, 0]) / np.sqrt(spread), 5))
