"""The flow that every comparison shares: kernels, weights, distribution, result."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.average import LOST_FOLDS
from sklearn_pairboot._engine.bootstrap import (
    NOT_SENT,
    bootstrap,
    bootstrap_further,
    observe,
    observe_merged,
)
from sklearn_pairboot._engine.crossed import (
    CrossedDistribution,
    CrossedUnits,
    crossed_bootstrap,
)
from sklearn_pairboot._engine.design import Design
from sklearn_pairboot._engine.distribution import BootstrapDistribution, RowKernels
from sklearn_pairboot._engine.independent import bootstrap_independently
from sklearn_pairboot._engine.intervals import check_alpha
from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.kernels import SumsKernel
from sklearn_pairboot._engine.merging import Merged, keep_apart, merge
from sklearn_pairboot._engine.permutation import MONTE_CARLO
from sklearn_pairboot._engine.progress import one_bar
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import is_constant, shown
from sklearn_pairboot._scoring.problem import Problem, is_indicator
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric, with_companions
from sklearn_pairboot._tables import (
    PLAIN,
    UNDEFINED_SHARE,
    MetricInfo,
    SlicePart,
    check_baseline,
    check_positive_baselines,
    compared_pairs,
)
from sklearn_pairboot.comparison._auto import draw_until_known, totals_for
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._permutation import Drawn, Found, Swap, swap_records
from sklearn_pairboot.comparison._plans import series_of_records, units_of
from sklearn_pairboot.comparison._slices import (
    Slices,
    Subgroup,
    check_units_of_subgroups,
    slices_of_records,
)
from sklearn_pairboot.comparison._test_sets import SeveralSets, kernels_of_part
from sklearn_pairboot.comparison._warnings import tied_scores_note
from sklearn_pairboot.report.split_tests import SplitScores
from sklearn_pairboot.result import ComparisonResult

_FEW_CLUSTERS = 10
# Numbers that are looked at to merge units in subgroups too.
_MOST_KEYS = 2**25


def kind_of(y: NDArray[Any]) -> str:
    """Tell binary, multiclass and continuous truths apart, and kinds of several columns."""
    if y.ndim == 2:
        return "multilabel" if is_indicator(y) else "multioutput"
    if y.dtype.kind == "f" and np.any(y != np.floor(y)):
        return "continuous"
    return "binary" if len(np.unique(y)) <= 2 else "multiclass"


def compare_records(
    records: Mapping[str, RecordedEstimator],
    y: NDArray[Any],
    metrics: Sequence[Metric],
    options: Options,
    *,
    groups: Any = None,
    test_sets: Any = None,
    test_set_weights: Any = None,
    sample_weight: FloatArray | None = None,
    pos_label: Any = None,
    notes: Sequence[str] = (),
    subgroups: Sequence[Subgroup] = (),
    held_fixed: str = "the trained models",
) -> ComparisonResult:
    """Compare recorded answers on all metrics."""
    models, metrics = tuple(records), with_companions(metrics)
    check_baseline(options.baseline, models)
    options.check_metrics(models, metrics)  # refused before any work
    _check_classes(records, y)
    plan = options.plan(groups)
    units, of_plan = units_of(
        plan,
        options,
        len(y),
        y=y,
        groups=groups,
        series=partial(series_of_records, y, records),
        metrics=metrics,
    )
    check_units_of_subgroups(subgroups, units)
    weighing = Weighing.of(plan, options.estimand, groups, len(y), y)
    problem = Problem(
        y,
        kind_of(y),
        tuple(records.values()),
        units,
        weighing(sample_weight, len(y)),
        pos_label,
        unweighted=weighing.unweighted,
    )
    notes = [*notes, *of_plan, *weighing.notes()]
    if problem.kind == "binary":
        notes += tied_scores_note(metrics, [records])
    sets = SeveralSets.of(test_sets, test_set_weights, units, plan)
    kernels: Sequence[Kernel]
    if sets is None:
        kernels = [build_kernel(metric, problem, models) for metric in metrics]
    else:
        if options.permutation:
            raise ValueError(
                "`permutation` must be False with `test_sets` for metrics of answers, got True. "
                "Compare mean scores of items, or one test set at a time."
            )
        units = sets.units
        kernels = sets.average(
            lambda part: kernels_of_part(metrics, problem, models, part),
            [metric.name for metric in metrics],
            models,
        )
        notes.append(sets.note(bool(subgroups)))
    return compare_kernels(
        kernels,
        [(metric.name, metric.greater_is_better) for metric in metrics],
        models,
        units,
        options,
        interval_rules=[metric.interval_rule for metric in metrics],
        weighted=sample_weight is not None,
        notes=notes,
        hint=constant_hint(y),
        held_fixed=held_fixed,
        stratified=problem.units.stratum is not None,
        swap=swap_records(
            metrics, [replace(problem, units=units.exchangeable)] * len(metrics), models
        ),
        slices=slices_of_records(subgroups, metrics, problem, models),
        row_kernels=None if sets else partial(_row_kernel, metrics, problem, models),
    )


def _row_kernel(
    metrics: Sequence[Metric], problem: Problem, models: tuple[str, ...], metric: int
) -> tuple[Kernel, IntArray] | None:
    """Build a metric's kernel with rows as units; also give the cluster of each row.

    Subgroups, which are numbered after the metrics, have none.
    """
    if metric >= len(metrics):
        return None
    rows = replace(problem, units=problem.units.single_rows(), shared={})
    return build_kernel(metrics[metric], rows, models), problem.units.of_each_row


def check_expansion(options: Options, units: Units) -> None:
    """Refuse fewer resamples than expanded percentiles of so few units need."""
    if options.method == "expanded" and not isinstance(options.n_resamples, str):
        check_alpha(int(options.n_resamples), options.confidence_level, expansion=_expansion(units))


def _expansion(units: Units) -> Expansion:
    of_levels = units.factor(0) if isinstance(units, CrossedUnits) else units
    return Design.of(of_levels).expansion


def _check_classes(records: Mapping[str, RecordedEstimator], y: NDArray[Any]) -> None:
    """Refuse a model none of whose classes is among the truths."""
    if y.ndim == 2:  # classes of several outputs are lists, or numbers of the labels
        return
    for name, record in records.items():
        classes = getattr(record, "classes_", None)
        if (
            isinstance(classes, np.ndarray)
            and not np.isin(np.unique(y).astype(object), classes.astype(object)).any()
        ):
            raise ValueError(
                f"The classes of model {name!r} must be those of the truths, got "
                f"{shown(classes.tolist())} where the truths are {shown(np.unique(y).tolist())}."
            )


@one_bar()
def compare_kernels(
    kernels: Sequence[Kernel],
    metrics: Sequence[tuple[str, bool]],
    models: tuple[str, ...],
    units: Units,
    options: Options,
    *,
    interval_rules: Sequence[str] = (),
    weighted: bool,
    notes: Sequence[str] = (),
    hint: str = "",
    held_fixed: str = "the trained models",
    swap: Swap | None = None,
    slices: Slices | None = None,
    stratified: bool | None = None,
    row_kernels: RowKernels | None = None,
    split_scores: SplitScores | None = None,
) -> ComparisonResult:
    """Bootstrap kernels jointly and make the result.

    ``swap`` makes the permutation tests, ``slices`` the kernels of subgroups. ``stratified`` is
    given where not all strata are those of a plan, but test sets. ``interval_rules`` has one entry
    for each metric, or none where all are read as asked for. ``row_kernels`` gives kernels on
    single rows, for the degrees of freedom of unequal clusters.
    """
    names = [name for name, _ in metrics]
    settings = options.settings(models, names)
    check_expansion(options, units)
    merged = merge(kernels, units)
    observed = observed_values(kernels, merged, names, models, units, hint)
    pairs = compared_pairs(models, settings)
    check_positive_baselines(observed, models, names, pairs, settings)
    swap = swap if options.permutation else None
    drawn = options.n_resamples != "exact" or swap is not None
    entropy = entropy_of(options.random_state) if drawn else None
    infos = tuple(
        MetricInfo(name, greater, kernel.path, rule)
        for (name, greater), kernel, rule in zip(
            metrics, kernels, interval_rules or [""] * len(kernels), strict=True
        )
    )
    everywhere: list[Kernel] = list(kernels)
    parts: list[SlicePart] = []
    of_everything = observed
    if slices is not None and slices.subgroups:
        of_parts, observed_parts, parts = slices.parts(names, units)
        everywhere += of_parts
        of_everything = np.vstack([observed, *observed_parts])
        few = units.n_units * len(everywhere) <= _MOST_KEYS
        merged = merge(everywhere, units) if few else keep_apart(everywhere, units)
    how_drawn: dict[str, Any] = {
        "entropy": entropy or 0,
        "scales": np.array([getattr(kernel, "scale", np.nan) for kernel in everywhere]),
        "n_jobs": options.n_jobs,
        "verbose": options.verbose,
        "merged": merged,
        "row_kernels": row_kernels,
    }
    n_resamples = options.n_resamples
    stopped: list[str] = []
    factors: list[tuple[str, int]] = []
    distribution: BootstrapDistribution
    if isinstance(units, CrossedUnits):
        del how_drawn["merged"], how_drawn["row_kernels"]
        distribution = crossed_bootstrap(
            everywhere, units, of_everything, n_resamples=n_resamples, **how_drawn
        )
        notes = [*notes, *_crossed_notes(units, distribution)]
        both = units.factor(0), units.factor(1)
        factors = [(name, f.n_units) for name, f in zip(units.names, both, strict=True)]
        units = both[0]
    elif n_resamples == "auto":
        expansion = _expansion(units) if options.method == "expanded" else None
        totals = totals_for(options.confidence_level, expansion)
        runs = bootstrap_further(everywhere, units, of_everything, totals=totals, **how_drawn)
        distribution, note = draw_until_known(runs, totals, models, infos, settings, parts)
        n_resamples, stopped = distribution.n_sequences, [note]
    elif options.paired:
        distribution = bootstrap(
            everywhere, units, of_everything, n_resamples=n_resamples, **how_drawn
        )
    else:
        del how_drawn["merged"], how_drawn["row_kernels"]
        means = [kernel for kernel in kernels if isinstance(kernel, SumsKernel)]
        distribution = bootstrap_independently(
            means, units, observed, n_resamples=n_resamples, **how_drawn
        )
    swapped = Found({})
    if swap is not None:
        swapped = swap(observed, pairs, Drawn.like(n_resamples, entropy or 0))
    _refuse_undefined_everywhere(distribution, names, models)
    drawn_units = units.drawn
    by_chance = any(test.mode == MONTE_CARLO for test in swapped.tests.values())
    return ComparisonResult(
        distribution=distribution,
        models=models,
        metrics=infos,
        settings=settings,
        unit=drawn_units.name,
        n_units=drawn_units.number,
        n_rows=units.n_rows,
        unit_sizes=(
            int(drawn_units.sizes.min()),
            float(np.median(drawn_units.sizes)),
            int(drawn_units.sizes.max()),
        ),
        scheme=PLAIN if units.scheme is None else units.scheme.name,
        stratified=units.stratum is not None if stratified is None else stratified,
        estimand=options.estimand,
        factors=factors,
        weighted=weighted,
        paired=bool(options.paired),
        n_resamples=n_resamples,
        random_state_entropy=entropy if n_resamples != "exact" or by_chance else None,
        notes=(
            *notes,
            *(_few_levels_notes(factors) or _unit_notes(units)),
            *message_notes(distribution, names),
            *stopped,
            *swapped.notes,
        ),
        held_fixed=held_fixed,
        permutation_tests=swapped.tests,
        slice_parts=parts,
        split_scores=split_scores,
    )


def observed_values(
    kernels: Sequence[Kernel],
    merged: Merged,
    names: Sequence[str],
    models: Sequence[str],
    units: Units,
    hint: str,
) -> FloatArray:
    """Evaluate on the data as they are; errors of scorers and undefined values stop here."""
    if any(isinstance(kernel, ReplayKernel) for kernel in kernels):  # then nothing is merged
        observed = np.stack(
            [
                kernel.observed()
                if isinstance(kernel, ReplayKernel)
                else observe([kernel], units)[0]
                for kernel in kernels
            ]
        )
    else:
        observed = observe_merged(merged, units)
    for metric, name in enumerate(names):
        lost = [model for model, bad in zip(models, np.isnan(observed[metric]), strict=True) if bad]
        if lost:
            raise ValueError(
                f"{name} must be defined on the observed data, got no value for model(s) "
                f"{shown(lost)}.{hint}"
            )
    return observed


def constant_hint(y: NDArray[Any]) -> str:
    """Say that truths are constant, where that may be why a metric is undefined."""
    if not is_constant(y):
        return ""
    if y.ndim == 1:
        return f" All truths are {y.tolist()[0]!r}: only one class is present."
    constant = [number for number, column in enumerate(y.T) if is_constant(column)]
    return f" All truths are equal in column(s) {shown(constant)} (counted from 0)."


def _refuse_undefined_everywhere(
    distribution: BootstrapDistribution, names: Sequence[str], models: Sequence[str]
) -> None:
    for metric, name in enumerate(names):
        everywhere = np.all(distribution.undefined[:, metric], axis=0).tolist()
        lost = [model for model, bad in zip(models, everywhere, strict=True) if bad]
        if lost:
            raise ValueError(
                f"{name} is undefined in every resample for model(s) {shown(lost)}, so there is no "
                "interval. More rows, or rows of the rare class, are needed."
            )


def _crossed_notes(units: CrossedUnits, distribution: CrossedDistribution) -> list[str]:
    one, other = units.names
    if units.is_nested:
        return [
            f"Each level of {other!r} lies in one level of {one!r}: it adds nothing, and the "
            f"levels of {one!r} are drawn as clusters."
        ]
    if not distribution.n_negative:
        return []
    n_directions = distribution.observed.size
    return [
        f"The variance V1 + V2 - V12 was negative in {distribution.n_negative} of {n_directions} "
        "direction(s) of metrics and models, and counts as zero there. More levels of both "
        "factors, or more resamples, make that rarer."
    ]


def _unit_notes(units: Units) -> list[str]:
    drawn = units.drawn
    return [] if drawn.name == "rows" else _few_notes(drawn.number, drawn.name)


def _few_levels_notes(factors: Sequence[tuple[str, int]]) -> list[str]:
    return [note for name, levels in factors for note in _few_notes(levels, f"levels of {name}")]


def _few_notes(number: int, of_what: str) -> list[str]:
    if number >= _FEW_CLUSTERS:
        return []
    return [
        f"Only {number} {of_what}: with fewer than {_FEW_CLUSTERS} the bootstrap intervals tend "
        "to be too narrow; `method='expanded'` or `'t'` allows for it."
    ]


def _lost_folds_note(
    distribution: BootstrapDistribution, metric: int, name: str, n_lost: int
) -> list[str]:
    """Note fold values that are undefined in resamples, where they are more than a few."""
    n_folds = len(getattr(distribution.kernels[metric], "folds", ()))
    n_values = n_folds * len(distribution.replicates)
    if n_lost <= UNDEFINED_SHARE * n_values:
        return []
    return [
        f"{name}: {n_lost} of {n_values} fold values were undefined in the resamples; the mean of "
        "a resample runs over the folds where the metric is defined for every model. Fewer and "
        "larger folds lose fewer, and answers pooled over the folds none (compare_predictions)."
    ]


def message_notes(distribution: BootstrapDistribution, names: Sequence[str]) -> list[str]:
    """Warn once per cause met while scoring, and keep it as a note."""
    notes = []
    met = {(metric, text) for metric, text, _ in distribution.messages}
    in_subgroups: Counter[str] = Counter()
    for metric, kernel in enumerate(distribution.kernels):
        for text in getattr(kernel, "observed_warnings", ()):
            if (metric, text) not in met:
                notes.append(f"{names[metric]}: {text} (met while scoring the observed data)")
                warnings.warn(notes[-1], UserWarning, stacklevel=5)
    for metric, text, count in distribution.messages:
        if metric >= len(names):
            in_subgroups[text] += 0 if text == NOT_SENT else count
            continue
        if text == LOST_FOLDS:
            notes += _lost_folds_note(distribution, metric, names[metric], count)
            continue
        if text == NOT_SENT:
            notes.append(
                f"{names[metric]}: its scorer, or a model or data that it needs, cannot be sent to "
                "other processes (pickled), so every resample was scored in this one, whatever "
                "`n_jobs`."
            )
            continue
        note = f"{names[metric]}: {text} (met {count} times while scoring resamples)"
        warnings.warn(note, UserWarning, stacklevel=5)
        notes.append(note)
    for text, count in in_subgroups.items():
        if count:
            note = f"Subgroups: {text} (met {count} times while scoring resamples)"
            warnings.warn(note, UserWarning, stacklevel=5)
            notes.append(note)
    return notes
