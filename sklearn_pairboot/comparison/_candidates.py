"""Candidates of a search as named estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from sklearn_pairboot._scoring.checks import shown


def is_search(candidates: Any) -> bool:
    """Tell whether there is a search, fitted or not."""
    return hasattr(candidates, "estimator") and any(
        hasattr(candidates, name) for name in ("cv_results_", "param_grid", "param_distributions")
    )


def name_of(params: Mapping[str, Any]) -> str:
    """Name a candidate by its parameters."""
    return ", ".join(f"{key}={value}" for key, value in params.items()) or "defaults"


def number_repeated(names: Sequence[str], numbers: Sequence[Any]) -> list[str]:
    """Put their numbers before names that are not unique."""
    if len(set(names)) == len(names):
        return list(names)
    return [f"{number}: {name}" for number, name in zip(numbers, names, strict=True)]


def candidates_of(search: Any) -> dict[str, Any]:
    """Give an unfitted estimator for each set of parameters that a search tries, by name."""
    params = _parameters(search)
    names = number_repeated([name_of(of_one) for of_one in params], range(len(params)))
    return {
        name: clone(search.estimator).set_params(**clone(dict(of_one), safe=False))
        for name, of_one in zip(names, params, strict=True)
    }


def _parameters(search: Any) -> list[Mapping[str, Any]]:
    """List what a search tried, or will try; each set once, as halving tries some again."""
    if hasattr(search, "cv_results_"):
        found: list[Mapping[str, Any]] = []
        for of_one in search.cv_results_["params"]:
            if "iter" not in search.cv_results_ or of_one not in found:
                found.append(of_one)
        return found
    if hasattr(search, "param_grid"):
        return list(ParameterGrid(search.param_grid))
    if not hasattr(search, "n_iter"):
        raise ValueError(
            f"`candidates` must be fitted where a {type(search).__name__} chooses its candidates "
            "while it is fitted, got an unfitted one. Call its fit first."
        )
    if not isinstance(search.random_state, int):
        raise ValueError(
            "`candidates` must have an integer `random_state`, or be fitted, where they are drawn "
            f"at random, got {search.random_state!r}: else nobody knows which were tried."
        )
    sampler = ParameterSampler(
        search.param_distributions, search.n_iter, random_state=search.random_state
    )
    return list(sampler)


def scoring_of(search: Any) -> Any:
    """Give the metrics of a search, first the one that chooses."""
    scoring, chooses = search.scoring, search.refit
    if callable(chooses):
        raise ValueError(
            "`scoring` must be given where a search chooses by a rule of its own, got None, and "
            f"refit={chooses!r}. Here the best score chooses, of the first metric."
        )
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return scoring
    if not isinstance(scoring, Mapping):
        scoring = {str(name): name for name in scoring}
    if len(scoring) > 1 and chooses not in scoring:
        raise ValueError(
            "`scoring` must be given where nothing says which of a search's metrics chooses, got "
            f"None, and {shown(list(scoring))} with refit={chooses!r}. The first one chooses."
        )
    rest = {name: metric for name, metric in scoring.items() if name != chooses}
    return {name: scoring[name] for name in scoring if name not in rest} | rest
