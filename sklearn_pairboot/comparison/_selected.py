"""Methods of the selected model, and when they are offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_pairboot.comparison._named import pairs_of

_Method = TypeVar("_Method", bound=Callable[..., Any])


def offered(name: str) -> Callable[[_Method], _Method]:
    """Offer a method where the selected model has it; before fit, where all models do."""

    def check(self: Any) -> bool:
        if self.refit is False:
            raise AttributeError(
                f"{type(self).__name__} has no {name!r} with refit=False: it keeps no model that "
                "was fitted on all rows."
            )
        if name == "score":
            return True
        if hasattr(self, "best_estimator_"):
            return hasattr(self.best_estimator_, name)
        return all(hasattr(estimator, name) for _, estimator in pairs_of(self.estimators))

    return cast("Callable[[_Method], _Method]", available_if(check))


class SelectedModel:
    """Predicts with ``best_estimator_``."""

    best_estimator_: Any

    @property
    def classes_(self) -> Any:
        """Class labels, if the selected estimator has them."""
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the selected estimator knows it."""
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the features, if the selected estimator knows them."""
        return self.best_estimator_.feature_names_in_

    @offered("predict")
    def predict(self, X: Any) -> Any:
        """
        Predict with the selected estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        y_pred : ndarray of shape (n_rows,) or (n_rows, n_columns)
            Its predictions.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @offered("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """
        Give the selected estimator's probabilities of the classes.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        y_prob : ndarray of shape (n_rows, n_classes) or list of such arrays
            Probabilities, columns in the order of ``classes_``; for several outputs as the
            estimator gives them.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @offered("decision_function")
    def decision_function(self, X: Any) -> Any:
        """
        Give the selected estimator's decision values.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        y_score : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)
