"""Estimators in a list of (name, estimator): their parameters, and checks of the list."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags

from sklearn_pairboot._scoring.checks import check_names


class NamedEstimators(BaseEstimator):
    """Base of estimators whose ``estimators`` is a list of (name, estimator).

    Parameters reach into the list: ``rf__max_depth`` is a parameter of the estimator named rf,
    and ``rf`` the estimator itself.
    """

    estimators: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """
        Get the parameters, also of the estimators in the list.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the estimators by name and their parameters.

        Returns
        -------
        params : dict
            Values by name.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        # A list that is no list of pairs is reported by `fit`: `clone` and `repr` ask here too.
        pairs = pairs_of(self.estimators) if deep else []
        params |= dict(pairs)
        for name, estimator in pairs:
            if hasattr(estimator, "get_params") and not inspect.isclass(estimator):
                inner = estimator.get_params(deep=True).items()
                params |= {f"{name}__{key}": part for key, part in inner}
        return params

    def set_params(self, **params: Any) -> Any:
        """
        Set parameters, also of the estimators in the list.

        Parameters
        ----------
        **params : dict
            Values by name, such as ``rf__max_depth=3`` or ``rf=another_forest``.

        Returns
        -------
        self : estimator
            The estimator itself.
        """
        # The list first, then single estimators of it, then what lies inside them.
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        pairs = pairs_of(self.estimators)
        replaced = {name: params.pop(name) for name, _ in pairs if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, old)) for name, old in pairs]
        super().set_params(**params)
        return self


def pairs_of(estimators: Any) -> list[tuple[str, Any]]:
    """Pairs of a proper list, nothing of anything else."""
    if not isinstance(estimators, list | tuple):
        return []
    pairs = [tuple(pair) for pair in estimators if isinstance(pair, list | tuple)]
    proper = all(len(pair) == 2 and isinstance(pair[0], str) for pair in pairs)
    return pairs if proper and len(pairs) == len(estimators) else []


def check_estimators(estimators: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Check the list of (name, estimator) before anything is fitted."""
    if isinstance(estimators, Mapping):
        raise TypeError(
            "`estimators` must be a list of (name, estimator), got a mapping. Pass "
            "list(estimators.items())."
        )
    if not isinstance(estimators, list | tuple) or any(
        not isinstance(pair, list | tuple) or len(pair) != 2 for pair in estimators
    ):
        raise TypeError(f"`estimators` must be a list of (name, estimator), got {estimators!r}.")
    names = check_names([name for name, _ in estimators])
    for name in names:
        if "__" in name:
            raise ValueError(
                f"Names in `estimators` must not contain '__', got {name!r}: it separates an "
                "estimator from its parameters."
            )
        if name in parameters:
            raise ValueError(
                f"Names in `estimators` must not be those of parameters, got {name!r}."
            )
    for name, estimator in estimators:
        if inspect.isclass(estimator) or not hasattr(estimator, "fit"):
            raise TypeError(
                "`estimators` must hold estimators, objects with a method `fit`, got "
                f"{estimator!r} for {name!r}."
            )
    kinds = {name: kind_of_estimator(estimator) for name, estimator in estimators}
    if len(set(kinds.values())) > 1:
        raise ValueError(f"`estimators` must all be of one kind, got {kinds!r}.")
    return dict(estimators)


def kind_of_estimator(estimator: Any) -> str | None:
    """``"classifier"``, ``"regressor"``, another kind that the tags name, or ``None``."""
    tags = tags_of(estimator)
    kind = getattr(estimator, "_estimator_type", None) if tags is None else tags.estimator_type
    return None if kind is None else str(kind)


def tags_of(estimator: Any) -> Tags | None:
    """Tags of an estimator, ``None`` where it brings none of scikit-learn's."""
    try:
        return get_tags(estimator)
    except (AttributeError, TypeError):
        return None


def is_frozen(estimator: Any) -> bool:
    """Tell whether an estimator must not be fitted again."""
    return isinstance(estimator, FrozenEstimator)


def is_pairwise(estimator: Any) -> bool:
    """Tell whether an estimator takes a kernel or distance matrix for X."""
    tags = tags_of(estimator)
    return tags is not None and bool(tags.input_tags.pairwise)


def common_tags(own: Tags, estimators: list[Any]) -> Tags:
    """Tags of something that fits all the estimators and then answers with one of them."""
    known = [tags for tags in map(tags_of, estimators) if tags is not None]
    own.target_tags.required = True
    if not known:
        return own
    first = known[0]
    own.estimator_type = first.estimator_type
    own.classifier_tags = first.classifier_tags
    own.regressor_tags = first.regressor_tags
    if own.classifier_tags is not None:
        of_all = [tags.classifier_tags for tags in known if tags.classifier_tags is not None]
        own.classifier_tags.multi_class = all(tags.multi_class for tags in of_all)
        own.classifier_tags.poor_score = any(tags.poor_score for tags in of_all)
        own.classifier_tags.multi_label = all(tags.multi_label for tags in of_all)
    if own.regressor_tags is not None:
        own.regressor_tags.poor_score = any(
            tags.regressor_tags.poor_score for tags in known if tags.regressor_tags is not None
        )
    for name in ("single_output", "multi_output"):
        setattr(own.target_tags, name, all(getattr(tags.target_tags, name) for tags in known))
    own.target_tags.positive_only = any(tags.target_tags.positive_only for tags in known)
    # What every estimator takes as X; a demand of one of them is a demand on X.
    for name in ("one_d_array", "two_d_array", "three_d_array", "sparse", "categorical", "string"):
        setattr(own.input_tags, name, all(getattr(tags.input_tags, name) for tags in known))
    own.input_tags.dict = all(tags.input_tags.dict for tags in known)
    own.input_tags.allow_nan = all(tags.input_tags.allow_nan for tags in known)
    own.input_tags.positive_only = any(tags.input_tags.positive_only for tags in known)
    own.input_tags.pairwise = any(tags.input_tags.pairwise for tags in known)
    own.non_deterministic = any(tags.non_deterministic for tags in known)
    own.array_api_support = False
    return own
