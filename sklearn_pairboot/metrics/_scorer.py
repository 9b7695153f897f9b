"""What the scorer classes of the package share: they behave as those of `make_scorer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer
from sklearn.utils.metaestimators import available_if

Function = TypeVar("Function", bound=Callable[..., Any])


def describe(**attributes: Any) -> Callable[[Function], Function]:
    """Attach to a metric function what the comparisons read of it.

    ``pairboot_kernel`` builds its kernel, ``pairboot_interval`` says that its differences are
    ``"biased"``, or that their interval must be ``"normal"``, and ``pairboot_companion`` gives
    the metric that judges biased differences: a function and its keywords, from the keywords.
    """

    def attach(function: Function) -> Function:
        for name, value in attributes.items():
            setattr(function, name, value)
        return function

    return attach


class MetricScorer(BaseEstimator):
    """A scorer whose parameters are the keywords of a metric function."""

    _score_func: ClassVar[Callable[..., float]]
    _response_method: Any
    _sign: ClassVar[int] = 1

    @property
    def _kwargs(self) -> dict[str, Any]:
        """Keywords of the metric, as scikit-learn's scorers hold theirs."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters

    @property
    def __name__(self) -> str:
        """Name of the metric, as displays of scikit-learn show it."""
        name = str(type(self)._score_func.__name__)
        return name if self._sign > 0 else f"neg_{name}"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted estimator on test rows.

        Parameters
        ----------
        estimator : estimator object
            The fitted estimator.
        X : array-like or dataframe of shape (n_rows, n_features)
            Test rows.
        y : array-like of shape (n_rows,)
            Their truths.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row.

        Returns
        -------
        float
            The metric in scikit-learn's sign: greater is better.
        """
        scorer = make_scorer(
            type(self)._score_func,
            response_method=self._response_method,
            greater_is_better=self._sign > 0,
            **self._kwargs,
            **self._classes_of(estimator),
        )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(scorer(estimator, X, y, **weights))

    def _classes_of(self, estimator: Any) -> dict[str, Any]:
        """Tell the metric the classes that the estimator knows, also those absent from the rows."""
        classes = getattr(estimator, "classes_", None)
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or "labels" in self._kwargs:
            return {}
        return {"labels": classes.tolist()}

    def _accept_sample_weight(self) -> bool:
        return True

    # Its signature makes `set_score_request`; it is hidden, since nothing was fitted.
    @available_if(lambda self: False)
    def score(self, X: Any, y: Any, *, sample_weight: Any = None) -> float:
        """Refuse: a scorer is called.

        Parameters
        ----------
        X : array-like
            Not used.
        y : array-like
            Not used.
        sample_weight : array-like, default=None
            Not used.
        """
        raise AttributeError("a scorer is called, and has no `score`")
