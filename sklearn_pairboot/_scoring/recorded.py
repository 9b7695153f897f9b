"""What one model answered on every test row, computed once and handed out for drawn rows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import (
    _safe_indexing,  # in scikit-learn's API reference despite the underscore
    indexable,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot._scoring.answers import (
    RESPONSES,
    Answer,
    Source,
    check_classes_of_outputs,
    checked_classes,
    checked_parts,
    in_class_order,
    one_array,
    plain_tags,
    several_classes,
    standard_score,
)
from sklearn_pairboot._scoring.views import Answering, RecordedView, Rows, absent


class RecordedEstimator(Answering):
    """Remember what one model answered on every test row.

    A resample of test rows needs no new predictions: the answers to its rows are among the
    answers to all rows. A record computes those once, and :meth:`take` hands them out for any
    rows, in the shape of an estimator that every scikit-learn scorer can use.

    Make one with :meth:`from_estimator` or :meth:`from_arrays`.

    Parameters
    ----------
    source : object
        Where the answers come from; only those two methods make it.

    Attributes
    ----------
    n_rows : int
        Number of recorded rows.
    responses : tuple of str
        Which of ``predict``, ``predict_proba`` and ``decision_function`` the model answers to.
    classes_ : ndarray of shape (n_classes,)
        Class labels; only where they are known.

    See Also
    --------
    sklearn.frozen.FrozenEstimator : Keeps a fitted model from being fitted again.

    Notes
    -----
    The recorded answers are used only for the very rows that :meth:`take` returned. Asked about
    anything else, such as ``X + noise``, the model itself is called; a record made from arrays
    raises an error instead. All other attributes are those of the model.

    Each method of the model is called at most once, when its answers are first needed, and
    ``X`` is not copied: change neither the model nor ``X`` while the record is in use. Rows of a
    NumPy array are handed out read-only, so that a scorer cannot change them and still get the
    answers to the old ones.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import get_scorer
    >>> from sklearn_pairboot import RecordedEstimator
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> record = RecordedEstimator.from_estimator(LogisticRegression().fit(X, y), X)
    >>> record.responses
    ('predict', 'predict_proba', 'decision_function')
    >>> rows = np.array([0, 1, 1, 3])
    >>> model, X_rows = record.take(rows)
    >>> model.predict(X_rows)
    array([0, 0, 0, 1])
    >>> get_scorer("accuracy")(model, X_rows, y[rows])
    1.0
    """

    def __init__(self, source: Source) -> None:
        if not isinstance(source, Source):
            raise TypeError(
                "RecordedEstimator is made by RecordedEstimator.from_estimator(estimator, X) or "
                "RecordedEstimator.from_arrays(predict=...), not by calling the class."
            )
        self._source = source
        self._question = source.X
        self._rows = None
        self._numbered = False

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any) -> RecordedEstimator:
        """Record a fitted estimator's answers to the rows of ``X``.

        Parameters
        ----------
        estimator : estimator object
            A fitted estimator or pipeline.
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The test rows, in the form that the estimator expects.

        Returns
        -------
        record : RecordedEstimator
            The record; nothing is predicted before it is needed.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        >>> from sklearn.dummy import DummyRegressor
        >>> from sklearn_pairboot import RecordedEstimator
        >>> model = DummyRegressor().fit([[0], [0]], [1.0, 3.0])
        >>> RecordedEstimator.from_estimator(model, [[0], [0], [0]])
        RecordedEstimator(DummyRegressor, n_rows=3, responses=['predict'])
        """
        offered = tuple(name for name in RESPONSES if hasattr(estimator, name))
        if inspect.isclass(estimator) or not (offered or hasattr(estimator, "score")):
            raise TypeError(
                "`estimator` must be a fitted estimator with a method `predict`, `predict_proba`, "
                f"`decision_function` or `score`, got {estimator!r}."
            )
        if X is None:
            raise ValueError("`X` must hold the test rows, got None.")
        (X,) = indexable(X)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows == 0:
            raise ValueError("`X` must have at least one row, got none.")
        try:
            tags = estimator.__sklearn_tags__()
        except AttributeError:  # no scikit-learn estimator, yet it behaves like one
            kind = getattr(estimator, "_estimator_type", None)
            tags = None if kind is None else plain_tags(kind)
        else:
            _check_fitted(estimator, X, offered)
        return cls(
            Source(
                label=type(estimator).__name__,
                n_rows=int(n_rows),
                offered=offered,
                answers={},
                classes=getattr(estimator, "classes_", None),
                estimator=estimator,
                X=X,
                own_tags=tags,
                score_kind=standard_score(estimator),
            )
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        predict: ArrayLike | None = None,
        predict_proba: ArrayLike | None = None,
        decision_function: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> RecordedEstimator:
        """Record answers that a model gave elsewhere.

        Parameters
        ----------
        predict : array-like of shape (n_rows,) or (n_rows, n_outputs), default=None
            Predicted labels or values.
        predict_proba : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Probabilities of the classes; one column means the second of two classes. For
            multilabel targets the probability of each label, shape (n_rows, n_labels), or a list
            of one array of shape (n_rows, 2) a label.
        decision_function : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Scores of any range, for two classes one vector that grows with the second class. For
            multilabel targets one column a label.
        classes : array-like of shape (n_classes,), default=None
            Class labels in the order of the columns. They are kept sorted, and the columns (or
            the sign of a decision function) with them. Of several outputs, such as the labels of
            multilabel targets, a list of one sorted array an output: ``[[0, 1]] * n_labels``.

        Returns
        -------
        record : RecordedEstimator
            The record, with copies of the arrays.

        Examples
        --------
        >>> from sklearn_pairboot import RecordedEstimator
        >>> record = RecordedEstimator.from_arrays(
        ...     predict=["no", "yes"], predict_proba=[0.25, 0.75], classes=["no", "yes"]
        ... )
        >>> record.response("predict_proba")
        array([[0.75, 0.25],
               [0.25, 0.75]])
        """
        given = {
            "predict": predict,
            "predict_proba": predict_proba,
            "decision_function": decision_function,
        }
        answers: dict[str, Answer] = {}
        n_rows: int | None = None
        for name, array in given.items():
            if array is None:
                continue
            values = checked_parts(array, name, f"`{name}`", n_rows)
            if isinstance(values, list):
                n_rows = len(values[0])
                answers[name] = values
                continue
            n_rows = len(values)
            if name == "predict_proba" and (values.ndim == 1 or values.shape[1] == 1):
                second = values.ravel()
                values = np.column_stack((1.0 - second, second))
                values.setflags(write=False)
            answers[name] = values
        if n_rows is None:
            raise ValueError(
                "At least one of `predict`, `predict_proba` and `decision_function` must be given."
            )
        record = cls(
            Source(
                label="RecordedEstimator",
                n_rows=n_rows,
                offered=tuple(answers),
                answers=answers,
                score_kind="r2",
            )
        )
        return record if classes is None else record.with_classes(classes)

    @property
    def n_rows(self) -> int:
        """Number of recorded rows."""
        return self._source.n_rows

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the methods that the model answers to."""
        return self._source.offered

    @property
    def label(self) -> str:
        """Name of the estimator's class, for messages."""
        return self._source.label

    @property
    def standard_score(self) -> str | None:
        """Metric of ``score``: ``"accuracy"``, ``"r2"``, or ``None`` where it is not standard."""
        return self._source.score_kind

    def response(self, name: str) -> NDArray[Any]:
        """Give the recorded answers to all rows, computing them when first needed.

        Parameters
        ----------
        name : {"predict", "predict_proba", "decision_function"}
            The method.

        Returns
        -------
        answers : ndarray of shape (n_rows,) or (n_rows, n_columns)
            The answers, read-only; floating-point ones are float64. Probabilities of several
            outputs with two classes each are those of the second class, one column an output.

        Examples
        --------
        >>> from sklearn_pairboot import RecordedEstimator
        >>> RecordedEstimator.from_arrays(predict=[1.5, 2.5]).response("predict")
        array([1.5, 2.5])
        """
        if name not in self._source.offered:
            raise AttributeError(absent(self, self._source, name))
        return one_array(self._source.answer(name), f"`{self._source.label}.{name}`")

    def with_classes(self, classes: ArrayLike) -> RecordedEstimator:
        """Give a record that knows its classes.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Class labels in the order of the columns of ``predict_proba``; for two classes, the
            second is the one that ``decision_function`` grows with. Of several outputs a list of
            one sorted array an output.

        Returns
        -------
        record : RecordedEstimator
            This record if it knows its classes already, else a new one.

        Examples
        --------
        >>> from sklearn_pairboot import RecordedEstimator
        >>> record = RecordedEstimator.from_arrays(decision_function=[-1.0, 2.0])
        >>> record.with_classes(["ham", "spam"]).classes_
        array(['ham', 'spam'], dtype='<U4')
        """
        source = self._source
        if source.classes is not None:
            return self
        if several_classes(classes):
            of_outputs = check_classes_of_outputs(classes, source.answers)
            return RecordedEstimator(
                replace(source, classes=of_outputs, score_kind=source.score_kind and "accuracy")
            )
        known, order = checked_classes(classes)
        if source.estimator is not None:
            if not np.array_equal(order, np.arange(len(order))):
                raise ValueError(f"`classes` must be sorted, got {classes!r}.")
            return RecordedEstimator(replace(source, classes=known))
        answers: dict[str, Answer] = {
            name: in_class_order(one_array(answer, f"`{name}`"), name, order)
            for name, answer in source.answers.items()
        }
        return RecordedEstimator(
            replace(source, classes=known, answers=answers, score_kind="accuracy")
        )

    def take(self, rows: ArrayLike) -> tuple[RecordedView, Any]:
        """Hand out the answers to some rows.

        Parameters
        ----------
        rows : array-like of int
            Row numbers; any order, repetitions allowed.

        Returns
        -------
        model : RecordedView
            In the shape of an estimator; it answers from the record when asked about ``X_rows``.
        X_rows : object
            Those rows of ``X``; the row numbers themselves where the record has no ``X``.

        Examples
        --------
        >>> from sklearn_pairboot import RecordedEstimator
        >>> record = RecordedEstimator.from_arrays(predict=[1.5, 2.5, 3.5])
        >>> model, X_rows = record.take([2, 2, 0])
        >>> model.predict(X_rows)
        array([3.5, 3.5, 1.5])
        """
        numbers = self._checked_rows(rows)
        if self._source.X is None:
            return self._take_numbers(numbers)
        X_rows = _safe_indexing(self._source.X, numbers)
        if isinstance(X_rows, np.ndarray):
            X_rows.setflags(write=False)
        return RecordedView(self._source, X_rows, numbers, numbered=False), X_rows

    def _take_numbers(self, rows: Rows) -> tuple[RecordedView, Rows]:
        """Hand out answers for scorers that never look at X: the row numbers stand for it."""
        return RecordedView(self._source, rows, rows, numbered=True), rows

    def _take_all(self) -> tuple[RecordedView, Any]:
        """Hand out all rows in order, without copying X."""
        X = self._source.X
        if X is None:
            return self._take_numbers(np.arange(self.n_rows))
        if isinstance(X, np.ndarray):
            X = X.view()
            X.setflags(write=False)
        return RecordedView(self._source, X, None, numbered=False), X

    def _part(self, rows: Rows, asked: Sequence[str]) -> RecordedEstimator:
        """Record some rows alone; those methods that are asked for answer to all rows at once."""
        source = self._source
        for name in asked:
            if name in source.offered:
                source.answer(name)
        return RecordedEstimator(
            replace(
                source,
                n_rows=len(rows),
                answers={
                    name: [_rows_of(part, rows) for part in answer]
                    if isinstance(answer, list)
                    else _rows_of(answer, rows)
                    for name, answer in source.answers.items()
                },
                X=None if source.X is None else _safe_indexing(source.X, rows),
            )
        )

    def _checked_rows(self, rows: ArrayLike) -> Rows:
        numbers = np.asarray(rows)
        if numbers.size == 0 and numbers.ndim == 1:
            return np.empty(0, dtype=np.intp)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise TypeError(
                "`rows` must be a one-dimensional array of row numbers, got an array of shape "
                f"{numbers.shape} and type {numbers.dtype}. For a mask pass np.flatnonzero(mask)."
            )
        low, high = int(numbers.min()), int(numbers.max())
        if low < 0 or high >= self.n_rows:
            raise IndexError(
                f"`rows` must lie between 0 and {self.n_rows - 1}, got {low} to {high}."
            )
        return numbers.astype(np.intp)

    def _answers_only(self) -> RecordedEstimator:
        """Leave X and the model behind: all that a scorer of row numbers needs in a worker."""
        return RecordedEstimator(replace(self._source, estimator=None, X=None))


def _rows_of(answer: NDArray[Any], rows: Rows) -> NDArray[Any]:
    taken = answer[rows]
    taken.setflags(write=False)
    return taken


def _check_fitted(estimator: Any, X: Any, offered: tuple[str, ...]) -> None:
    """Raise NotFittedError, unless the estimator is a stranger that can answer nevertheless."""
    if not hasattr(estimator, "fit"):
        return
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        try:  # fitted attributes without a trailing underscore: ask about one row
            getattr(estimator, (*offered, "score")[0])(_safe_indexing(X, [0]))
        except Exception:
            pass
        else:
            return
        raise
