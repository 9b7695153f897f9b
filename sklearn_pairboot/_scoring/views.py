"""Estimators that answer from a record when they are asked about exactly its own rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from sklearn_pairboot._scoring.answers import RESPONSES, Source

Rows = NDArray[np.intp]
_Method = TypeVar("_Method", bound=Callable[..., Any])

# Doing this to the model behind a record would make the record untrue.
_CHANGES_THE_MODEL = ("partial_fit", "set_params", "fit_predict", "fit_transform")


def _if_offered(name: str) -> Callable[[_Method], _Method]:
    """Offer a method only where the model has it (typed, unlike scikit-learn's decorator)."""
    return cast("Callable[[_Method], _Method]", available_if(lambda self: self._offers(name)))


class Answering:
    """An estimator that answers from a record when it is asked about exactly its own rows."""

    _source: Source
    _question: Any  # the object that stands for the rows; compared by identity
    _rows: Rows | None  # the rows it stands for; None: all of them, in order
    _numbered: bool  # the question is a vector of row numbers, not rows of X

    def _offers(self, name: str) -> bool:
        if name != "score":
            return name in self._source.offered
        standard = self._source.score_kind is not None and "predict" in self._source.offered
        return standard or hasattr(self._source.estimator, "score")

    def _real_estimator(self, X: Any) -> Any:
        """Give the model that can be asked about ``X``, which is not recorded."""
        if self._source.estimator is None or self._numbered:
            raise ValueError(
                f"{self._source.label} can only be asked about the very rows that `take` "
                "returned: there is no model behind it, or row numbers stand for X. A scorer that "
                "changes X, or looks at parts of it, must be a plain function and needs "
                "RecordedEstimator.from_estimator(estimator, X)."
            )
        return self._source.estimator

    def _respond(self, name: str, X: Any, params: Mapping[str, Any]) -> Any:
        if X is not self._question or X is None or params:
            return getattr(self._real_estimator(X), name)(X, **params)
        answer = self._source.answer(name)
        if isinstance(answer, list):
            return [part.copy() if self._rows is None else part[self._rows] for part in answer]
        return answer.copy() if self._rows is None else answer[self._rows]

    @_if_offered("predict")
    def predict(self, X: Any, **params: Any) -> Any:
        """Predict, from the record where ``X`` is the very object it was made for.

        Parameters
        ----------
        X : object
            The recorded rows, or anything that the model accepts.
        **params : dict
            Further arguments; with any, the model itself is called.

        Returns
        -------
        y_pred : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            The predictions.
        """
        return self._respond("predict", X, params)

    @_if_offered("predict_proba")
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Give class probabilities, recorded where ``X`` is the very object it was made for.

        Parameters
        ----------
        X : object
            The recorded rows, or anything that the model accepts.
        **params : dict
            Further arguments; with any, the model itself is called.

        Returns
        -------
        y_prob : ndarray of shape (n_rows, n_classes)
            The probabilities, columns in the order of ``classes_``.
        """
        return self._respond("predict_proba", X, params)

    @_if_offered("decision_function")
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Give decision values, recorded where ``X`` is the very object it was made for.

        Parameters
        ----------
        X : object
            The recorded rows, or anything that the model accepts.
        **params : dict
            Further arguments; with any, the model itself is called.

        Returns
        -------
        y_score : ndarray of shape (n_rows,) or (n_rows, n_classes)
            The decision values.
        """
        return self._respond("decision_function", X, params)

    @_if_offered("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Score with the meaning that ``score`` has for the model.

        Parameters
        ----------
        X : object
            The recorded rows, or anything that the model accepts.
        y : array-like, default=None
            The truth.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.
        **params : dict
            Further arguments of the model's own ``score``.

        Returns
        -------
        score : float
            Accuracy or R2 of the recorded predictions where ``score`` is scikit-learn's own;
            otherwise what the model's ``score`` returns.
        """
        if self._source.score_kind is not None and not params:
            metric = accuracy_score if self._source.score_kind == "accuracy" else r2_score
            return metric(y, self.predict(X), sample_weight=sample_weight)
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        return self._real_estimator(X).score(X, y, **params)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Refuse to be fitted; present because scikit-learn asks estimators for it.

        Parameters
        ----------
        X : object
            Ignored.
        y : object, default=None
            Ignored.
        **params : dict
            Ignored.

        Returns
        -------
        self : object
            Never returned.
        """
        raise TypeError(
            f"{self._source.label} is recorded and must not be fitted again. "
            "sklearn.base.clone(model) gives an unfitted copy."
        )

    @property
    def classes_(self) -> Any:
        """Class labels, sorted, where they are known."""
        if self._source.classes is None:
            raise AttributeError(absent(self, self._source, "classes_"))
        return self._source.classes

    def __getattr__(self, name: str) -> Any:
        # Reached only for what is not found here. Dunder names and our own must not be looked up
        # in the model: copy and pickle ask for them before `_source` exists.
        source = self.__dict__.get("_source")
        hidden = name.startswith(("__", "_repr", "_ipython")) or name in _OWN_NAMES
        if source is None or hidden or name in _CHANGES_THE_MODEL or source.estimator is None:
            raise AttributeError(absent(self, source, name))
        value = getattr(source.estimator, name)
        if self._numbered and inspect.isroutine(value):
            raise AttributeError(
                f"{source.label}.{name} is not recorded, and row numbers were handed out for X."
            )
        return value

    def __getitem__(self, key: Any) -> Any:
        # Steps of a pipeline: a scorer may take model[:-1].
        return self._real_estimator(None)[key]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        return self._source.tags

    def __sklearn_clone__(self) -> Any:
        return clone(self._real_estimator(None))

    def __repr__(self) -> str:
        n_rows = self._source.n_rows if self._rows is None else len(self._rows)
        return (
            f"{type(self).__name__}({self._source.label}, n_rows={n_rows}, "
            f"responses={list(self._source.offered)})"
        )


_OWN_NAMES = frozenset(
    {*RESPONSES, "score", "classes_", "_source", "_question", "_rows", "_numbered"}
)


def absent(view: Answering, source: Source | None, name: str) -> str:
    label = type(view).__name__ if source is None else source.label
    if source is not None and name in RESPONSES:
        return f"{label!r} has no method {name!r}; it answers to {', '.join(source.offered)}"
    if name == "classes_":
        return f"{label!r} knows no classes; `with_classes` gives a record that does"
    return f"{label!r} has no recorded attribute {name!r}"


class RecordedView(Answering):
    """Drawn rows of a record, in the shape of an estimator; made by ``take``."""

    def __init__(self, source: Source, question: Any, rows: Rows | None, *, numbered: bool) -> None:
        self._source = source
        self._question = question
        self._rows = rows
        self._numbered = numbered
