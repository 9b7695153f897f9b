"""The bootstrap of one model's score, in scikit-learn's sign."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sklearn_pairboot._engine.bootstrap import NOT_SENT, bootstrap, observe
from sklearn_pairboot._engine.intervals import interval
from sklearn_pairboot._engine.seeds import entropy_of
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.checks import (
    check_labels,
    check_length,
    check_same_index,
    check_sample_weight,
    check_target,
    is_constant,
    plain,
    plain_columns,
)
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._scoring.replay import _CAPTURING, ReplayKernel
from sklearn_pairboot._scoring.resolve import Metric
from sklearn_pairboot.comparison._options import Options
from sklearn_pairboot.comparison._run import check_expansion, kind_of

KEYS = ("score", "ci_low", "ci_high", "std_error", "n_units", "n_undefined")


class NoValue(Exception):
    """The test rows allow no value; the message says why."""


def name_of(metric: Metric) -> str:
    """Name of a metric as scikit-learn has it: a loss is negated."""
    return metric.name if metric.sign > 0 else f"neg_{metric.name}"


def score_of(metric: Metric, estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Score as scikit-learn does."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    with _classes_may_be_missing(estimator, y):
        value = metric.scorer(estimator, X, y, **weights)
    if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "biuf":
        raise TypeError(
            f"`scoring` must return one number, got {type(value).__name__} from {name_of(metric)}."
        )
    return float(value)


def bootstrap_score(
    metric: Metric,
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    sample_weight: Any,
    options: Options,
) -> dict[str, float]:
    """Bootstrap the score of one model; everything is in scikit-learn's sign."""
    if metric.interval_rule == "biased":
        raise ValueError(
            f"`returns` must be 'score' for {name_of(metric)}: chance adds to the value and to its "
            "replicates, so that their percentiles are no interval. For an interval pass the "
            "debiased square, make_scorer(squared_calibration_error, "
            "response_method='predict_proba', greater_is_better=False)."
        )
    method = "normal" if metric.interval_rule == "normal" else options.method
    check_same_index({"`X`": X, "`y`": y, "`groups`": groups, "`sample_weight`": sample_weight})
    record = RecordedEstimator.from_estimator(estimator, X)
    units = _units(record.n_rows, groups)
    truths = _truths(y, record.n_rows)
    weight = check_sample_weight(sample_weight, record.n_rows)
    try:
        check_expansion(options, units)
    except ValueError as error:  # too few units in these rows
        raise NoValue(str(error)) from error
    kernel = _kernel(metric, record, truths, units, weight)
    score, observed = _observe(metric, kernel, record, y, sample_weight, units)
    distribution = bootstrap(
        (kernel,),
        units,
        np.array([[observed]]),
        n_resamples=options.n_resamples,
        entropy=entropy_of(options.random_state),
        scales=np.array([getattr(kernel, "scale", np.nan)]),
        n_jobs=options.n_jobs,
        row_kernels=lambda _: (
            _kernel(metric, record, truths, units.single_rows(), weight),
            units.of_each_row,
        ),
    )
    # What cannot be sent to other processes is only slower here, and no cause for a warning.
    messages = [(text, count) for _, text, count in distribution.messages if text != NOT_SENT]
    n_undefined = distribution.n_undefined(0, 0)
    if distribution.undefined.all():
        told = f" ({messages[0][0]})" if messages else ""
        raise NoValue(f"it is undefined in every resample{told}")
    for text, count in messages:
        warnings.warn(
            f"{name_of(metric)}: {text} (met {count} times while scoring resamples)",
            UserWarning,
            stacklevel=4,
        )
    found = interval(
        distribution.model_sample(0, 0),
        observed,
        method=method,
        confidence_level=float(options.confidence_level),
        basis=distribution.basis(method, 0, 0),
    )
    ends = sorted((metric.sign * found.low, metric.sign * found.high))
    # Adding zero leaves no negative one.
    values = (score, ends[0] + 0.0, ends[1] + 0.0, found.std_error, units.n_units, n_undefined)
    return {key: float(value) for key, value in zip(KEYS, values, strict=True)}


def _units(n_rows: int, groups: Any) -> Units:
    if groups is None:
        if n_rows < 2:
            raise NoValue("at least 2 rows are needed to resample")
        return Units(n_rows, n_rows)
    codes, labels = check_labels(groups, n_rows, "groups")
    if len(labels) < 2:
        raise NoValue(
            f"all rows belong to the one group {labels[0]!r}, and what varies between groups "
            "cannot be seen in one"
        )
    return Units(n_rows, len(labels), codes)


def _kernel(
    metric: Metric, record: RecordedEstimator, y: Any, units: Units, weight: FloatArray | None
) -> Kernel:
    if y is not None and len(y.shape) <= 2:
        problem = Problem(y, kind_of(y), (record,), units, weight)
        return build_kernel(metric, problem, (record.label,))
    return ReplayKernel(
        (record,),
        y,
        metric.scorer,
        sign=metric.sign,
        uses_row_numbers=metric.function is not None,
        units=units,
        sample_weight=weight,
        name=metric.name,
    )


def _observe(
    metric: Metric,
    kernel: Kernel,
    record: RecordedEstimator,
    y: Any,
    sample_weight: Any,
    units: Units,
) -> tuple[float, float]:
    """Score all rows: as scikit-learn does, and as the kernel does in natural units."""
    view, X = record._take_all()
    if isinstance(kernel, ReplayKernel):
        with _CAPTURING, warnings.catch_warnings(), _classes_may_be_missing(view, y):
            warnings.simplefilter("ignore")  # scikit-learn's scorer says it all once more below
            observed = float(kernel.observed()[0])
    else:
        observed = float(observe((kernel,), units)[0, 0])
    if np.isfinite(observed):
        score = score_of(metric, view, X, y, sample_weight)
        if np.isfinite(score):
            return score, observed
    labels = np.unique(y).tolist() if y is not None and np.ndim(y) == 1 else []
    all_one = f", whose truths are all {labels[0]!r}" if len(labels) == 1 else ""
    raise NoValue(f"it is undefined on these rows{all_one}")


def _truths(y: Any, n_rows: int) -> Any:
    """Check truths; absent ones, and those of more than two dimensions, are left to the scorer."""
    if y is None:
        return None
    truths = y if hasattr(y, "shape") else plain(y)
    if len(truths.shape) <= 2:
        truths = check_target(y, "y")
    check_length(range(truths.shape[0]), n_rows, "`y`")
    return truths


@contextmanager
def _classes_may_be_missing(estimator: Any, y: Any) -> Iterator[None]:
    """Take a metric's complaint about rows without some class for an undefined value."""
    try:
        yield
    except ValueError as error:
        if not _lacks_classes(estimator, y):
            raise
        raise NoValue(f"it is undefined where classes are missing ({error})") from error


def _lacks_classes(estimator: Any, y: Any) -> bool:
    """Tell whether the truths hold one class only, or not all that the estimator knows.

    Of several outputs, whether some column is constant.
    """
    try:
        truths = plain_columns(y)
        if truths.ndim == 2 and truths.shape[1] > 1:
            return is_constant(truths)
        labels = set(truths.ravel().tolist())
        classes = set(np.asarray(getattr(estimator, "classes_", ())).tolist())
    except (TypeError, ValueError):  # what cannot be sorted, or classes of several outputs
        return False
    return len(labels) < 2 or not classes <= labels
