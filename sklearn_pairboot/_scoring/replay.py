"""Any scorer at all: it is called on the drawn rows, with recorded answers."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing  # in scikit-learn's API reference despite the underscore

from sklearn_pairboot._engine.jackknife import jackknife_groups
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import FloatArray, IntArray, LeaveOneOut, Values, Weights
from sklearn_pairboot._scoring.checks import one_hot_hint
from sklearn_pairboot._scoring.recorded import RecordedEstimator

# warnings.catch_warnings swaps global hooks. Threads that overlap inside it would put each other's
# hooks back in the wrong order, and the process would stay without warnings.
_CAPTURING = threading.RLock()


class ReplayKernel:
    """One metric of every model, by calling its scorer on the rows of each resample.

    Parameters
    ----------
    records : sequence of RecordedEstimator
        One for each model, all with the same rows.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs), or None
        The truth.
    scorer : callable
        Called as ``scorer(estimator, X, y)``, with ``sample_weight=`` where there are weights.
    sign : float, default=1.0
        Factor from the scorer's sign to natural units.
    uses_row_numbers : bool
        Whether the scorer gets row numbers in place of X, since it never looks at X.
    units : Units
        The resampling units.
    sample_weight : ndarray of shape (n_rows,), default=None
        Weights of the rows.
    name : str
        The metric's name, for messages.
    models : sequence of str, default=None
        The models' names, for messages.
    """

    path = "replay"

    def __init__(
        self,
        records: Sequence[RecordedEstimator],
        y: Any,
        scorer: Callable[..., Any] | tuple[Callable[..., Any], ...],
        *,
        sign: float = 1.0,
        uses_row_numbers: bool,
        units: Units,
        sample_weight: NDArray[Any] | None = None,
        name: str,
        models: Sequence[str] | None = None,
    ) -> None:
        for record in records:
            if record.n_rows != units.n_rows:
                raise ValueError(
                    f"`records` must have {units.n_rows} rows like the units, got {record.n_rows}."
                )
        self.records = tuple(records)
        self.y = y
        self.scorers = scorer if isinstance(scorer, tuple) else (scorer,) * len(records)
        self.sign = sign
        self.uses_row_numbers = uses_row_numbers
        self.units = units
        self.sample_weight = sample_weight
        self.name = name
        self.models = None if models is None else tuple(models)
        self.observed_warnings: tuple[str, ...] = ()
        self._was_observed = False

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.records)

    @property
    def n_units(self) -> int:
        """Number of resampling units."""
        return self.units.n_units

    def observed(self) -> FloatArray:
        """Evaluate on the rows as they are, letting warnings pass and errors out.

        Returns
        -------
        values : ndarray of shape (n_models,)
            NaN where the scorer gave NaN or an infinite value.
        """
        values = np.full(self.n_models, np.nan)
        with _CAPTURING, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for model, record in enumerate(self.records):
                try:
                    value = self._call_on(model, np.arange(record.n_rows), self.sample_weight)
                except Exception as error:
                    self._explain(error, model)
                values[model] = self._in_natural_units(value)
        self.observed_warnings = tuple(
            dict.fromkeys(
                _describe(warning.category, warning.message)
                for warning in caught
                if not issubclass(warning.category, UndefinedMetricWarning)
            )
        )
        self._was_observed = True
        return values

    def evaluate(self, weights: Weights) -> Values:
        """Evaluate every model on the rows of every resample.

        A resample in which the scorer fails, or gives NaN or an infinite value, is undefined.
        Its warnings and errors are counted, not shown.
        """
        counts = weights.counts
        shape = (len(counts), self.n_models)
        values = np.full(shape, np.nan)
        zero_division = np.zeros(shape, dtype=bool)
        messages: Counter[str] = Counter()
        with _CAPTURING, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for resample, unit_counts in enumerate(counts):
                rows, weight = self._drawn(unit_counts)
                if len(rows) == 0:  # as may happen in a fold of a cross-validation
                    continue
                for model in range(self.n_models):
                    caught.clear()
                    try:
                        value = self._call_on(model, rows, weight)
                    except MemoryError:
                        raise
                    except Exception as error:
                        messages[_describe(type(error), error)] += 1
                        value = np.nan
                    number = self._in_natural_units(value)
                    values[resample, model] = number
                    for warning in caught:
                        if not issubclass(warning.category, UndefinedMetricWarning):
                            messages[_describe(warning.category, warning.message)] += 1
                        elif np.isfinite(number):
                            zero_division[resample, model] = True
        by_count = sorted(messages.items(), key=lambda item: (-item[1], item[0]))
        return Values(values, np.isnan(values), zero_division, tuple(by_count))

    def leave_one_out(self) -> LeaveOneOut:
        """Evaluate without each unit, or without each of some 200 groups of units."""
        group_of, stratum, grouped = jackknife_groups(self.units)
        values = [
            # One at a time: together, these weights would need memory for groups x units.
            self.evaluate(Weights((group_of != group)[np.newaxis].astype(np.uint8))).values
            for group in range(group_of.max() + 1)
        ]
        return LeaveOneOut(np.concatenate(values), stratum, grouped)

    def influence(self, weights: Weights) -> None:
        """Nothing tells what a scorer does between whole weights."""
        return None

    def unit_keys(self) -> None:
        """Units are never merged: what the scorer makes of a row is unknown."""
        return None

    def take_units(self, units: IntArray) -> NoReturn:
        """Refuse, since units are never merged."""
        raise NotImplementedError(f"{self.name!r} calls a scorer on rows; units cannot be merged.")

    def __getstate__(self) -> dict[str, Any]:
        # A worker that is given row numbers needs neither X nor the models, once they have
        # answered; models may be large, or impossible to pickle.
        state = dict(vars(self))
        if self.uses_row_numbers and self._was_observed:
            state["records"] = tuple(record._answers_only() for record in self.records)
        return state

    def _drawn(self, unit_weights: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any] | None]:
        """Row numbers of a resample, ascending, each as often as its unit was drawn; weights.

        Where units have real weights, these multiply the weights of all rows.
        """
        of_row, every_row = self.units.of_row, np.arange(self.units.n_rows)
        by_row = unit_weights if of_row is None else unit_weights[of_row]
        if unit_weights.dtype.kind == "f":
            return every_row, by_row if self.sample_weight is None else by_row * self.sample_weight
        rows = np.repeat(every_row, by_row)
        return rows, None if self.sample_weight is None else self.sample_weight[rows]

    def _call_on(self, model: int, rows: NDArray[np.intp], weight: NDArray[Any] | None) -> Any:
        record, scorer = self.records[model], self.scorers[model]
        # Every model gets its own rows: a scorer may write into what it is given.
        view, X = record._take_numbers(rows) if self.uses_row_numbers else record.take(rows)
        y = _take(self.y, rows)
        if weight is None:
            return scorer(view, X, y)
        return scorer(view, X, y, sample_weight=weight)

    def _in_natural_units(self, value: Any) -> float:
        """Turn what the scorer returned into a number, NaN where it is not finite."""
        if np.ma.is_masked(value):  # would read as 0.0
            number = np.nan
        elif isinstance(value, Real):
            number = float(value)
        elif np.ndim(value) == 0 and np.asarray(value).dtype.kind in "biuf":
            number = float(np.asarray(value))
        else:
            shape = f" of shape {np.shape(value)}" if isinstance(value, np.ndarray) else ""
            raise TypeError(
                f"The scorer {self.name!r} must return one real number, got "
                f"{type(value).__name__}{shape}. Pass several metrics as several scorers."
            )
        return number * self.sign + 0.0 if np.isfinite(number) else np.nan  # no negative zero

    def _explain(self, error: Exception, model: int) -> NoReturn:
        record = self.records[model]
        who = f"number {model}" if self.models is None else repr(self.models[model])
        hint = ""
        if isinstance(error, AttributeError):
            hint = f" The model answers to {', '.join(record.responses) or 'nothing recorded'}."
        elif "read-only" in str(error):
            hint = " The scorer must not write into X: let it copy X first."
        elif np.ndim(self.y) == 2:
            hint = one_hot_hint(np.asarray(self.y)) or (
                " Choose a metric and an average for several columns, or compare one at a time."
            )
            hint = f" The truths have shape {np.shape(self.y)}.{hint}"
        what = _describe(type(error), error)
        end = "." if hint and what[-1] not in ".!?" else ""
        raise ValueError(
            f"Model {who} ({record.label}) cannot be scored with {self.name!r}: {what}{end}{hint}"
        ) from error


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function with its warnings unheard."""
    with _CAPTURING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def _take(values: Any, rows: NDArray[np.intp]) -> Any:
    if values is None:
        return None
    return values[rows] if isinstance(values, np.ndarray) else _safe_indexing(values, rows)


def _describe(category: type, message: object) -> str:
    return f"{category.__name__}: {' '.join(str(message).split())}"
