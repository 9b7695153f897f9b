"""Other packages' own calls for the two questions of ``peers.py``, and ours for the same.

Each adapter imports its package when it is called: what is missing is found out there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _work import METRICS, Data, Work

DIFFERENCE = "interval of the difference"
EACH = "an interval of each model"
SWAPPED = "p-value of the difference"
JOINT, APART, SWAP = "jointly", "for each model apart", "none: answers are swapped"
# Difference, or None where the package gives no interval of it.
Interval = tuple[float, float] | None


class Peer(NamedTuple):
    """One call of one package."""

    package: str
    call: str
    gives: str
    draws: str
    run: Callable[[Data, int], Interval]


def auc(y: np.ndarray, scores: np.ndarray) -> float:
    """Give scikit-learn's ROC AUC."""
    return METRICS["roc_auc"][1](y, scores)


def both(run: Callable[[np.ndarray, np.ndarray, int], Any]) -> Callable[[Data, int], Interval]:
    """Ask for one model after the other."""

    def ask(data: Data, n_resamples: int) -> None:
        for answer in data.answers.values():
            run(data.y, answer, n_resamples)

    return ask


def ours(metric: str) -> Callable[[Data, int], Interval]:
    """Compare the two models with this package."""

    def ask(data: Data, n_resamples: int) -> Interval:
        result = Work("", (metric,), "", len(data.y)).compare(data, n_resamples)
        return result.differences[0].ci_low, result.differences[0].ci_high

    return ask


def correct(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Tell which rows the new and the old model have right, as 0.0 and 1.0."""
    return tuple((data.answers[name] == data.y).astype(float) for name in ("new", "old"))


def scipy_auc(data: Data, n_resamples: int) -> Interval:
    from scipy.stats import bootstrap

    found = bootstrap(
        (data.y, data.answers["new"], data.answers["old"]),
        lambda y, new, old: auc(y, new) - auc(y, old),
        paired=True,
        vectorized=False,
        n_resamples=n_resamples,
        method="percentile",
    )
    return tuple(found.confidence_interval)


def scipy_mean(data: Data, n_resamples: int) -> Interval:
    from scipy.stats import bootstrap

    found = bootstrap(
        correct(data),
        lambda new, old, axis: np.mean(new, axis=axis) - np.mean(old, axis=axis),
        paired=True,
        vectorized=True,
        batch=max(1, 100_000 // len(data.y)),  # the default holds all resamples at once
        n_resamples=n_resamples,
        method="percentile",
    )
    return tuple(found.confidence_interval)


def stambo_auc(data: Data, n_resamples: int) -> Interval:
    import stambo

    found = stambo.compare_models(
        data.y,
        data.answers["old"],
        data.answers["new"],
        metrics=("ROCAUC",),
        n_bootstrap=n_resamples,
        seed=0,
        silent=True,
    )
    return tuple(found["ROCAUC"][2:4])


def rapidstats_auc(sampling: str) -> Callable[[Data, int], Interval]:
    def ask(y: np.ndarray, scores: np.ndarray, n_resamples: int) -> None:
        import rapidstats

        rapidstats.Bootstrap(
            iterations=n_resamples, seed=0, n_jobs=1, sampling_method=sampling
        ).roc_auc(y, scores)

    return both(ask)


def rapidstats_mean(data: Data, n_resamples: int) -> Interval:
    import rapidstats

    new, old = correct(data)
    low, _, high = rapidstats.Bootstrap(iterations=n_resamples, seed=0, n_jobs=1).mean(new - old)
    return low, high


def confidenceinterval_auc(y: np.ndarray, scores: np.ndarray, n_resamples: int) -> None:
    import confidenceinterval

    confidenceinterval.roc_auc_score(
        y,
        scores,
        method="bootstrap_percentile",
        n_resamples=n_resamples,
        random_state=np.random.default_rng(0),
    )


def statkit_auc(y: np.ndarray, scores: np.ndarray, n_resamples: int) -> None:
    from statkit.non_parametric import bootstrap_score

    bootstrap_score(y, scores, metric=auc, n_iterations=n_resamples, random_state=0)


def statkit_swaps(data: Data, n_resamples: int) -> None:
    from statkit.non_parametric import paired_permutation_test

    paired_permutation_test(
        data.y,
        data.answers["new"],
        data.answers["old"],
        metric=auc,
        n_iterations=n_resamples,
        random_state=0,
    )


def mlstatkit_auc(y: np.ndarray, scores: np.ndarray, n_resamples: int) -> None:
    import MLstatkit

    MLstatkit.Bootstrapping(y, scores, metric_str="roc_auc", n_bootstraps=n_resamples)


def mlstatkit_swaps(data: Data, n_resamples: int) -> None:
    import MLstatkit

    MLstatkit.Permutation_test(
        data.y,
        data.answers["new"],
        data.answers["old"],
        metric_str="roc_auc",
        n_bootstraps=n_resamples,
    )


def arch_auc(data: Data, n_resamples: int) -> Interval:
    from arch.bootstrap import IIDBootstrap

    draws = IIDBootstrap(data.y, data.answers["new"], data.answers["old"], seed=0)
    found = draws.conf_int(
        lambda y, new, old: auc(y, new) - auc(y, old), reps=n_resamples, method="percentile"
    )
    return tuple(np.ravel(found))


def arch_mean(data: Data, n_resamples: int) -> Interval:
    from arch.bootstrap import IIDBootstrap

    new, old = correct(data)
    draws = IIDBootstrap(new - old, seed=0)
    return tuple(np.ravel(draws.conf_int(np.mean, reps=n_resamples, method="percentile")))


QUESTIONS = {
    "ROC AUC": (
        "roc_auc",
        "probability",
        (
            Peer("sklearn-pairboot", "compare_predictions", DIFFERENCE, JOINT, ours("roc_auc")),
            Peer("scipy", "stats.bootstrap(paired=True)", DIFFERENCE, JOINT, scipy_auc),
            Peer("stambo", "compare_models", DIFFERENCE, JOINT, stambo_auc),
            Peer("arch", "IIDBootstrap.conf_int", DIFFERENCE, JOINT, arch_auc),
            Peer("rapidstats", "Bootstrap.roc_auc", EACH, APART, rapidstats_auc("multinomial")),
            Peer(
                "rapidstats",
                "Bootstrap.roc_auc, Poisson draws",
                EACH,
                APART,
                rapidstats_auc("poisson"),
            ),
            Peer("confidenceinterval", "roc_auc_score", EACH, APART, both(confidenceinterval_auc)),
            Peer("statkit", "bootstrap_score", EACH, APART, both(statkit_auc)),
            Peer("statkit", "paired_permutation_test", SWAPPED, SWAP, statkit_swaps),
            Peer("mlstatkit", "Bootstrapping", EACH, APART, both(mlstatkit_auc)),
            Peer("mlstatkit", "Permutation_test", SWAPPED, SWAP, mlstatkit_swaps),
        ),
    ),
    "accuracy": (
        "accuracy",
        "label",
        (
            Peer("sklearn-pairboot", "compare_predictions", DIFFERENCE, JOINT, ours("accuracy")),
            Peer("scipy", "stats.bootstrap(paired=True)", DIFFERENCE, JOINT, scipy_mean),
            Peer("rapidstats", "Bootstrap.mean of differences", DIFFERENCE, JOINT, rapidstats_mean),
            Peer("arch", "IIDBootstrap of differences", DIFFERENCE, JOINT, arch_mean),
        ),
    ),
}
