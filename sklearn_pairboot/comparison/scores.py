"""Comparison of per-item scores: correctness, losses, latencies, ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.crossed import CrossedUnits
from sklearn_pairboot._engine.kernels import item_means
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, Kernel
from sklearn_pairboot._scoring.checks import (
    align,
    brief,
    check_finite,
    check_keys,
    check_length,
    check_names,
    check_same_index,
    check_sample_weight,
    is_missing,
    plain,
    plain_keys,
    shown,
)
from sklearn_pairboot._scoring.groups import labels_of_rows
from sklearn_pairboot._tables import check_baseline, check_choice
from sklearn_pairboot.comparison._design import Weighing
from sklearn_pairboot.comparison._options import Options, with_common_parameters
from sklearn_pairboot.comparison._permutation import swap_scores
from sklearn_pairboot.comparison._plans import series_of_scores, units_of
from sklearn_pairboot.comparison._run import compare_kernels
from sklearn_pairboot.comparison._slices import (
    Slices,
    check_units_of_subgroups,
    keep_rows,
    read_slices,
    slice_columns,
)
from sklearn_pairboot.comparison._test_sets import SeveralSets
from sklearn_pairboot.comparison._warnings import repeated_ids_note
from sklearn_pairboot.resampling import StratifiedBootstrap
from sklearn_pairboot.result import ComparisonResult

METRIC = "mean_score"


@with_common_parameters
def compare_scores(
    scores: Any,
    ids: Any = None,
    greater_is_better: bool = True,
    *,
    metric: str = METRIC,
    missing: str = "raise",
    paired: bool = True,
    baseline: str | None = None,
    groups: Any = None,
    estimand: str = "rows",
    test_sets: Any = None,
    test_set_weights: Any = None,
    sample_weight: Any = None,
    slices: Any = None,
    resampling: Any = "auto",
    n_resamples: int | str = 9999,
    confidence_level: float = 0.95,
    method: str = "percentile",
    alternative: str = "two-sided",
    margin: Any = None,
    margin_relative: Any = None,
    correction: str | None = "holm",
    family: str = "metric",
    pairs: str = "baseline",
    permutation: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> ComparisonResult:
    """Compare mean scores of several models on the same items by a paired bootstrap.

    It estimates the difference of mean scores on the population that the items, or their
    clusters, were drawn from. With clusters the mean runs over rows, and larger clusters count
    more, unless ``estimand="clusters"``.
    For metrics that are not means of item scores, such as F1 or AUC, use `compare_predictions`.

    Parameters
    ----------
    scores : mapping of str to array-like or mapping, or dataframe
        Scores of each model, finite numbers: one array of shape (n_rows,) a model, one mapping
        from item id to score a model, or a dataframe with one column a model. Booleans are
        refused, as they are often a mask; pass ``scores.astype(int)``.
    ids : array-like of shape (n_rows,) or mapping of str to array-like, default=None
        Keys of the items. One array names the rows as they are. A mapping from every model's name
        to the keys of its own rows aligns the models; duplicate, missing and extra keys are an
        error. Rows are then in the order of the first model, and so must ``groups``,
        ``test_sets`` and ``sample_weight`` be, or be mappings from id.
    greater_is_better : bool, default=True
        Direction of the scores: ``False`` for losses, costs and latencies.
    metric : str, default="mean_score"
        What the mean of these scores is called in tables, sentences and plots, such as
        ``"accuracy"`` for scores that are 1 where an answer is right.
    missing : {"raise", "drop"}, default="raise"
        What to do with items that lack a score (``None``, NaN or no such id) in some model.
        ``"drop"`` drops the item for all models and reports how many and whose failures, and for
        scores between 0 and 1 the estimates with all failures counted wrong and counted right.
    paired : bool, default=True
        ``False``, for contrast only, draws rows or clusters anew for each model, as if the two
        score columns came from two independent samples of items. That is another hypothesis. It
        loses the covariance in Var(b - a) = Var(b) + Var(a) - 2 Cov(a, b): it overstates the
        variation where models find the same items hard, and understates it where one is right when
        the other is wrong. Permutation tests are then refused.
    {common}

    Returns
    -------
    ComparisonResult
        Estimates, intervals, p-values and verdicts.

    See Also
    --------
    compare_predictions : Any scikit-learn metric, from predictions.
    compare_estimators : Any scikit-learn metric, from fitted estimators.

    Examples
    --------
    >>> from sklearn_pairboot import compare_scores
    >>> result = compare_scores(
    ...     {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 0]}, n_resamples="exact"
    ... )
    >>> row = result.differences[0]
    >>> round(row.difference, 3), round(row.ci_low, 3), round(row.ci_high, 3)
    (0.2, -0.4, 0.8)
    """
    options = Options(
        baseline=baseline,
        estimand=estimand,
        resampling=resampling,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method=method,
        alternative=alternative,
        margin=margin,
        margin_relative=margin_relative,
        correction=correction,
        family=family,
        pairs=pairs,
        permutation=permutation,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
        paired=paired,
    )
    if not isinstance(greater_is_better, bool | np.bool_):
        raise TypeError(f"`greater_is_better` must be True or False, got {greater_is_better!r}.")
    if not str(metric).strip() or not isinstance(metric, str):
        raise TypeError(f"`metric` must be a name, a non-empty string, got {metric!r}.")
    check_choice("missing", missing, ("raise", "drop"))
    columns, keys = _columns(scores, ids)
    models = check_names(list(columns))
    check_baseline(baseline, models)
    labels = slice_columns(slices)
    if keys is None:
        named = {f"scores of {name!r}": value for name, value in columns.items()}
        check_same_index(
            {
                **named,
                "`groups`": groups,
                "`test_sets`": test_sets,
                "`sample_weight`": sample_weight,
                **{f"slices[{name!r}]": column for name, column in labels.items()},
                "`ids`": ids,
                "`strata`": getattr(resampling, "strata", None),
            }
        )
    arrays = {name: _numbers(name, values) for name, values in columns.items()}
    notes: list[str] = []
    order: list[Any] | None = None
    if keys is not None:
        order, arrays = _aligned(arrays, keys, missing)
    table = _table(arrays)
    n_rows = len(table)
    groups = _by_id(groups, order, "groups")
    test_sets = _by_id(test_sets, order, "test_sets")
    sample_weight = _by_id(sample_weight, order, "sample_weight")
    labels = {name: _by_id(column, order, f"slices[{name!r}]") for name, column in labels.items()}
    subgroups = read_slices(labels, n_rows, models)
    if ids is not None and keys is None:
        item_ids = plain_keys(ids)
        check_length(item_ids, n_rows, "`ids`")
        check_finite(item_ids, "`ids`")
        notes += repeated_ids_note(item_ids, groups)
    weight = check_sample_weight(sample_weight, n_rows)
    for name, of_rows in (("`groups`", groups), ("`test_sets`", test_sets)):
        if of_rows is not None:
            check_length(plain(of_rows), n_rows, name)
    table, kept, dropped = _without_missing(table, models, missing, weight)
    notes += dropped
    if not kept.all():
        groups, test_sets = (
            labels_of_rows(labels, np.flatnonzero(kept)) for labels in (groups, test_sets)
        )
    weight = None if weight is None else weight[kept]
    _check_overflow(table, weight)
    if len(table) < 2:
        raise ValueError(f"`scores` must have at least 2 rows with scores, got {len(table)}.")
    plan = options.plan(groups)
    if isinstance(plan, StratifiedBootstrap) and plan.strata is not None and not kept.all():
        check_length(plain(plan.strata), n_rows, "`strata`")
        plan = replace(plan, strata=labels_of_rows(plan.strata, np.flatnonzero(kept)))
    units, of_plan = units_of(
        plan, options, len(table), groups=groups, series=partial(series_of_scores, table)
    )
    check_units_of_subgroups(subgroups, units)
    weighing = Weighing.of(plan, options.estimand, groups, len(table))
    row_weight = weighing(weight, len(table))
    row_weight = np.ones(len(table)) if row_weight is None else row_weight
    stratified = units.stratum is not None
    sets = SeveralSets.of(test_sets, test_set_weights, units, plan)
    if not options.paired:
        _check_unpaired(units, options, {"slices": slices, "test_sets": test_sets})
    kernels: Sequence[Kernel] = [item_means(table, row_weight, units)]
    of_item = row_weight

    def build(rows: IntArray, own: Units) -> Callable[[int], Kernel]:
        return lambda number: item_means(table[rows], of_item[rows], own)

    if sets is not None:
        units = sets.units
        kernels = sets.average(
            lambda part: [item_means(table[part.rows], of_item[part.rows], part.units)],
            [metric],
            models,
        )
        row_weight = sets.weights_of_mean(row_weight)
        notes.append(sets.note(bool(subgroups)))
    notes += weighing.notes()
    return compare_kernels(
        kernels,
        [(metric, bool(greater_is_better))],
        models,
        units,
        options,
        weighted=weight is not None,
        notes=[*notes, *of_plan],
        held_fixed="the models and their scores",
        stratified=stratified,
        swap=swap_scores(metric, models, table, row_weight, units.exchangeable),
        slices=Slices(keep_rows(subgroups, kept), build),
        row_kernels=None if sets else partial(_row_kernel, table, row_weight, units),
    )


def _check_unpaired(units: Units, options: Options, given: Mapping[str, Any]) -> None:
    """Refuse what only models on the same resamples can have."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"`{name}` must be None with `paired=False`, which is for contrast, got "
                f"{brief(value)}. Leave one of them out."
            )
    if units.scheme is not None or isinstance(units, CrossedUnits):
        raise ValueError(
            "`paired` must be True with this resampling plan, got False. Draw rows, clusters, or "
            "either within strata."
        )
    if options.n_resamples == "auto":
        raise ValueError(
            "`n_resamples` must be an integer or 'exact' with `paired=False`, got 'auto'."
        )


def _row_kernel(
    table: FloatArray, row_weight: FloatArray, units: Units, metric: int
) -> tuple[Kernel, IntArray] | None:
    """Build the kernel of the mean with rows as units; also give the cluster of each row."""
    if metric > 0:  # a subgroup
        return None
    return item_means(table, row_weight, units.single_rows()), units.of_each_row


def _columns(scores: Any, ids: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Read the models' scores, and the ids of each model's own rows where there are any."""
    if not isinstance(scores, Mapping):
        _check_column_names(scores)
        frame = nw.from_native(scores, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise TypeError(
                "`scores` must be a mapping from model names to scores, or a dataframe with one "
                f"column a model, got {type(scores).__name__}."
            )
        native = {str(name): frame[name].to_native() for name in frame.columns}
        scores = native
    columns = dict(scores)
    by_id = [name for name, values in columns.items() if isinstance(values, Mapping)]
    if by_id:
        if len(by_id) < len(columns) or ids is not None:
            raise ValueError(
                "`scores` must hold a mapping from id to score for every model and come without "
                f"`ids`, got mappings for {shown(by_id)} only, or `ids` as well."
            )
        keys = {name: list(values) for name, values in columns.items()}
        return {name: list(values.values()) for name, values in columns.items()}, keys
    if isinstance(ids, Mapping):
        if set(ids) != set(columns):
            raise ValueError(
                f"`ids` must name every model, {shown(sorted(columns))}, got {shown(sorted(ids))}."
            )
        return columns, {name: check_keys(ids[name], f"`ids[{name!r}]`") for name in columns}
    return columns, None


def _check_column_names(frame: Any) -> None:
    """Refuse columns of a pandas frame that are no unique strings: they are the models' names."""
    if nw.dependencies.is_pandas_dataframe(frame):
        names = list(frame.columns)
        odd = [name for name in names if not isinstance(name, str)]
        if odd or len(set(names)) < len(names):
            raise ValueError(
                "`scores` must have columns named by unique strings, the models' names, got "
                f"{shown(names)}."
            )


def _numbers(name: str, values: Any) -> FloatArray:
    """Turn scores into float64, with NaN for ``None``; refuse anything but numbers."""
    array = plain(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"Scores of model {name!r} must be one-dimensional, got shape {array.shape}."
        )
    if array.dtype.kind == "O":
        present = [value for value in array if not is_missing(value)]
        if any(isinstance(value, bool | np.bool_) for value in present):
            array = np.array([True])
        elif any(isinstance(value, str | bytes) for value in present):
            array = np.array([""])
        else:
            array = np.array([_number(name, row, value) for row, value in enumerate(array)])
    if array.dtype.kind == "b":
        raise TypeError(
            f"Scores of model {name!r} must be numbers, got booleans. If they say whether an "
            "answer is correct, pass `scores.astype(int)`."
        )
    if array.dtype.kind not in "iuf":
        raise TypeError(f"Scores of model {name!r} must be numbers, got {plain(values).dtype}.")
    return array.astype(np.float64)


def _number(name: str, row: int, value: Any) -> float:
    if is_missing(value):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Scores of model {name!r} must be numbers, got {value!r} in row {row}."
        ) from None
    except OverflowError:
        raise ValueError(
            f"Scores of model {name!r} must fit into float64, got a larger number in row {row}."
        ) from None


def _aligned(
    arrays: dict[str, FloatArray], keys: dict[str, Any], missing: str
) -> tuple[list[Any], dict[str, FloatArray]]:
    """Order every model's scores by the ids of the first; absent ids become NaN for dropping."""
    for name, array in arrays.items():
        check_length(keys[name], len(array), f"`ids[{name!r}]`")
    first = next(iter(arrays))
    if missing == "drop":
        union = list(dict.fromkeys(key for of_model in keys.values() for key in of_model))
        known = {name: set(of_model) for name, of_model in keys.items()}
        for name, array in arrays.items():
            absent = [key for key in union if key not in known[name]]
            keys[name] = [*keys[name], *absent]
            arrays[name] = np.concatenate([array, np.full(len(absent), np.nan)])
    order, rows = align(keys, first)
    return order, {name: array[rows[name]] for name, array in arrays.items()}


def _table(arrays: dict[str, FloatArray]) -> FloatArray:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(
            f"`scores` must have the same number of rows for every model, got {listed}. Pass "
            "`ids=` to align them by key."
        )
    return np.column_stack(list(arrays.values()))


def _by_id(values: Any, order: list[Any] | None, name: str) -> Any:
    """Order groups or weights that were given as a mapping from id."""
    if not isinstance(values, Mapping):
        return values
    if order is None:
        raise ValueError(
            f"`{name}` must be an array where scores are paired by position, got a mapping."
        )
    absent = [key for key in order if key not in values]
    if absent:
        raise ValueError(f"`{name}` must have an entry for every id, got none for {shown(absent)}.")
    return [values[key] for key in order]


def _without_missing(
    table: FloatArray, models: tuple[str, ...], missing: str, weight: FloatArray | None
) -> tuple[FloatArray, NDArray[np.bool_], list[str]]:
    """Refuse missing scores, or drop their items for all models alike and say so."""
    absent = np.isnan(table)
    for column, name in enumerate(models):
        values = (
            table[:, column]
            if missing == "raise"
            else np.nan_to_num(table[:, column], nan=0.0, posinf=np.inf, neginf=-np.inf)
        )
        check_finite(
            values,
            f"Scores of model {name!r}",
            "Rows cannot be dropped for one model alone; missing='drop' drops them for all.",
        )
    kept = np.logical_not(np.any(absent, axis=1))
    if kept.all():
        return table, kept, []
    failures = ", ".join(
        f"{name} {count}" for name, count in zip(models, absent.sum(axis=0), strict=True) if count
    )
    note = (
        f"{int((~kept).sum())} of {len(table)} items lack a score and were dropped for all models "
        f"(failures: {failures})."
    )
    present = table[~absent]
    if len(present) and present.min() >= 0 and present.max() <= 1:
        parts = []
        for value, word in ((0.0, "wrong"), (1.0, "right")):
            filled = np.where(absent, value, table)
            means = np.average(filled, axis=0, weights=weight)
            listed = ", ".join(
                f"{name} {mean:.4g}" for name, mean in zip(models, means, strict=True)
            )
            parts.append(f"counted {word}: {listed}")
        note += f" Means with all failures {'; '.join(parts)}."
    return table[kept], kept, [note]


def _check_overflow(table: FloatArray, weight: FloatArray | None) -> None:
    """Refuse scores whose sum in some resample, or difference, is beyond float64."""
    largest = float(np.abs(table).max(initial=0.0))
    heaviest = 1.0 if weight is None else float(weight.max())
    with np.errstate(over="ignore"):
        bound = 2.0 * largest * np.float64(heaviest) * len(table)
    if not np.isfinite(bound):
        raise ValueError(
            f"`scores` must be small enough to be added up in float64, got {largest:.3g}. Rescale "
            "them."
        )
