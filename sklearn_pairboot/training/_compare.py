"""The flow that tables of scores and fitted methods share: draw once for all fits, estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_pairboot._engine.bootstrap import bootstrap
from sklearn_pairboot._engine.merging import merge
from sklearn_pairboot._engine.multiplicity import ADJUSTMENTS
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._tables import UNDEFINED_SHARE, MetricInfo, check_baseline, check_choice
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._run import message_notes, observed_values
from sklearn_pairboot.report.versions import installed_versions
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap
from sklearn_pairboot.training._estimates import Estimator, Fits
from sklearn_pairboot.training.result import MethodComparison

_FEW_SETS = 5
_FEW_CLUSTERS = 10
# Sums of squares of numbers between these stay well inside float64.
_SMALLEST, _LARGEST = 1e-140, 1e140


def checked(**given: Any) -> Options:
    """Check the keywords that both entries share, by the rules of all comparisons."""
    if isinstance(given["n_resamples"], str) and given["n_resamples"] != "exact":
        raise ValueError(
            "`n_resamples` must be an integer of at least 2 or 'exact', got "
            f"{given['n_resamples']!r}."
        )
    check_choice("correction", given["correction"], ADJUSTMENTS)
    return Options(**given)


def check_size(values: FloatArray, what: str, remedy: str) -> None:
    """Refuse numbers whose squares, the variances, do not fit into float64."""
    largest = float(np.abs(values).max(initial=0.0))
    if not (largest == 0 or _SMALLEST <= largest <= _LARGEST):
        raise ValueError(
            f"{what} must be at most {_LARGEST:g}, and the largest at least {_SMALLEST:g}, so that "
            f"their squares can be added up in float64, got {largest:.2g}. {remedy}"
        )


def check_exact(options: Options, n_sets: int, n_seeds: int) -> None:
    """Refuse to enumerate seeds within training sets."""
    if options.n_resamples == "exact" and n_sets > 1 and n_seeds > 1:
        raise ValueError(
            "`n_resamples` must be an integer where training sets have several seeds, got 'exact'."
        )


def units_of(n_rows: int, groups: Any) -> Units:
    """Make test rows or clusters the units."""
    plan = RowBootstrap() if groups is None else ClusterBootstrap()
    return plan.resampling_units(n_rows, groups=groups)


def compare_fits(
    kernels: Sequence[Kernel],
    metrics: Sequence[tuple[str, bool]],
    models: tuple[str, ...],
    fits: Fits,
    units: Units,
    options: Options,
    *,
    fit_names: Sequence[str],
    hint: str = "",
    entropy: int | None = None,
    training: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> MethodComparison:
    """Bootstrap the kernels, whose columns are fits, on the same weights, and estimate.

    ``fit_names`` name the columns, ``hint`` says why they may have no value.
    """
    sizes = np.bincount(fits.set_of_fit)
    entropy = entropy_of(options.random_state) if entropy is None else entropy
    merged = merge(kernels, units)
    names = [name for name, _ in metrics]
    observed = observed_values(kernels, merged, names, fit_names, units, hint)
    for name, values in zip(names, observed, strict=True):
        check_size(values, f"Values of {name}", "Rescale the truths and predictions.")
    distribution = bootstrap(
        kernels,
        units,
        observed,
        n_resamples=options.n_resamples,
        entropy=entropy,
        scales=np.array([getattr(kernel, "scale", np.nan) for kernel in kernels]),
        n_jobs=options.n_jobs,
        verbose=options.verbose,
        merged=merged,
    )
    infos = [
        MetricInfo(name, greater, kernel.path)
        for (name, greater), kernel in zip(metrics, kernels, strict=True)
    ]
    lost_share = distribution.undefined.any(axis=2).mean(axis=0)
    for info, share in zip(infos, lost_share.tolist(), strict=True):
        if share == 1:
            raise ValueError(
                f"{info.name} is undefined for some fit in every resample, so there is no "
                "interval. More rows, or rows of the rare class, are needed."
            )
    unit = "rows" if units.of_row is None else "clusters"
    estimator = Estimator(
        distribution,
        infos,
        models,
        check_baseline(options.baseline, models),
        fits,
        unit,
        float(options.confidence_level),
        options.correction,
        entropy,
    )
    one_level = sizes.max() == 1
    seeds_alone = one_level and fits.sources == ("seed",)
    return MethodComparison(
        scores=estimator.scores(),
        differences=estimator.differences(),
        models=models,
        baseline=estimator.baseline,
        n_sets=1 if seeds_alone else len(sizes),
        n_seeds=float(len(sizes) if seeds_alone else 1 / np.mean(1 / sizes)),
        n_units=units.n_units,
        unit=unit,
        resampled_training=fits.resampled,
        n_resamples=options.n_resamples,
        confidence_level=float(options.confidence_level),
        correction=options.correction,
        random_state_entropy=entropy,
        training=dict(training or {}),
        notes=(
            *notes,
            *message_notes(distribution, names),
            *_notes_on_numbers(len(sizes), fits.sources[0], units),
            *(
                f"{info.name} was undefined for some fit in {100 * share:.3g} % of the resamples, "
                "which intervals leave out."
                for info, share in zip(infos, lost_share.tolist(), strict=True)
                if share > UNDEFINED_SHARE
            ),
        ),
        versions=installed_versions(),
    )


def _notes_on_numbers(n_sets: int, source: str, units: Units) -> list[str]:
    notes = []
    if n_sets < _FEW_SETS:
        what = "seeds" if source == "seed" else "training sets"
        notes.append(
            f"Only {n_sets} {what}: with fewer than {_FEW_SETS} the interval of the average may "
            "cover less than it says (90 % instead of 95 % where they differ much), and the shares "
            "of variance are hardly known."
        )
    if units.of_row is not None and units.n_units < _FEW_CLUSTERS:
        notes.append(
            f"Only {units.n_units} clusters: with fewer than {_FEW_CLUSTERS} the bootstrap "
            "intervals tend to be too narrow."
        )
    return notes
