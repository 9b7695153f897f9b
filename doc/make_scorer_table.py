"""Write doc/scorers.rst: which path every scorer takes, found by making tiny comparisons.

python doc/make_scorer_table.py            write the page
python doc/make_scorer_table.py --check    exit with 1 if the page is not what would be written
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from _calls import CALLS, FAMILIES, family_of
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.multiclass import OneVsRestClassifier

from sklearn_pairboot import compare_estimators

PAGE = Path(__file__).resolve().parent / "scorers.rst"
VERSION_LINE = "Made with scikit-learn {}."
KINDS = ("binary", "multiclass", "multilabel", "regression", "multi-output")
Paths = dict[str, dict[str, tuple[str, ...]]]
REFUSED, NOT_OFFERED = "–", "not offered"
N_ROWS = 40

HEAD = """\
.. Written by ``python doc/make_scorer_table.py``; changes made here are lost.

Scorers and their paths
=======================

This page is written by ``python doc/make_scorer_table.py``, which makes a tiny comparison for every
name of ``sklearn.metrics.get_scorer_names()`` and every kind of target, and asks the result for its
path (``ComparisonResult.paths``).

- **sums**: a function of weighted sums of per-row terms; all resamples of a block are one matrix
  product.
- **ranks**: a function of weighted ranks; scores are sorted once.
- **replay**: the scorer is called on the drawn rows of every resample, which is as slow as
  scikit-learn itself.
- **–**: scikit-learn gives no value for such targets, or warns that it means nothing.
"""
LEFT_OUT = """\
- **not offered**: scikit-learn gives a value, and this package refuses with an error.
"""
TAIL = """
Any other callable ``scorer(estimator, X, y)``, and any scorer of ``make_scorer`` around a function
that is not listed, is replayed. A metric function may carry its own fast kernel.
"""


class Target(NamedTuple):
    """Fitted models and the rows they answer."""

    models: Mapping[str, Any]
    X: np.ndarray
    y: np.ndarray


@cache
def targets() -> dict[str, Target]:
    """Make models for every kind of target; all values are positive, for the deviances."""
    made = {}
    for kind, n_classes in (("binary", 2), ("multiclass", 3)):
        X, y = make_classification(
            N_ROWS, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=0
        )
        made[kind] = X, y, lambda C: LogisticRegression(C=C)
    X, y = make_multilabel_classification(N_ROWS, n_classes=3, random_state=0)
    made["multilabel"] = X, y, lambda C: OneVsRestClassifier(LogisticRegression(C=C))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    values = np.exp(0.5 * X @ rng.normal(size=(4, 2)) + 0.3 * rng.normal(size=(N_ROWS, 2)))

    def positive(C: float) -> TransformedTargetRegressor:
        return TransformedTargetRegressor(Ridge(1 / C), func=np.log, inverse_func=np.exp)

    made["regression"] = X, values[:, 0], positive
    made["multi-output"] = X, values, positive
    return {
        kind: Target({name: make(C).fit(X, y) for name, C in (("old", 0.01), ("new", 1.0))}, X, y)
        for kind, (X, y, make) in made.items()
    }


def paths_of(scorers: Mapping[str, Any], **keywords: Any) -> dict[str, tuple[str, ...]]:
    """Find the paths of scorers for every kind of target."""
    columns = []
    for kind in KINDS:
        served = {
            name: scorer for name, scorer in scorers.items() if _is_defined(scorer, kind, keywords)
        }
        columns.append(dict.fromkeys(scorers, REFUSED) | _paths(served, kind, keywords))
    return {name: tuple(column[name] for column in columns) for name in scorers}


def _is_defined(scorer: Any, kind: str, keywords: Mapping[str, Any]) -> bool:
    """Tell whether scikit-learn gives a value that means something."""
    models, X, y = targets()[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Clustering metrics expects discrete values")
        warnings.filterwarnings("error", ".*meaningless")
        try:
            return bool(np.isfinite(float(scorer(models["new"], X, y, **keywords))))
        except Exception:  # scikit-learn refuses in many ways
            return False


def _paths(scorers: Mapping[str, Any], kind: str, keywords: Mapping[str, Any]) -> dict[str, str]:
    """Compare with all scorers at once; look for those that are refused by halves."""
    if not scorers:
        return {}
    target = targets()[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = compare_estimators(
                *target,
                scoring=dict(scorers),
                n_resamples=5,
                confidence_level=0.5,
                random_state=0,
                **keywords,
            )
        except (ValueError, TypeError):
            if len(scorers) == 1:
                return dict.fromkeys(scorers, NOT_OFFERED)
            names = list(scorers)
            halves = names[: len(names) // 2], names[len(names) // 2 :]
            first, second = (
                _paths({name: scorers[name] for name in half}, kind, keywords) for half in halves
            )
            return first | second
    return {name: result.paths[result.metrics[place]] for place, name in enumerate(scorers)}


def by_family(paths: Mapping[str, tuple[str, ...]], families: Mapping[str, str]) -> Paths:
    """Sort paths by family."""
    found: Paths = {family: {} for family in FAMILIES}
    for name, own in paths.items():
        found[families[name]][name] = own
    return found


def named() -> dict[str, Any]:
    """Give the scorers that scikit-learn has names for."""
    return {name: get_scorer(name) for name in get_scorer_names()}


def called() -> tuple[dict[str, Any], dict[str, str]]:
    """Give scorers of functions with keyword arguments, and their families."""
    scorers, families = {}, {}
    for family, response, function, keywords in CALLS:
        metric = getattr(sklearn.metrics, function, None)
        if metric is not None:  # some are newer than the oldest version that is supported
            shown = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
            scorers[f"{function}({shown})"] = make_scorer(
                metric, response_method=response, **keywords
            )
            families[f"{function}({shown})"] = family
    return scorers, families


def render() -> str:
    """Write the page."""
    scorers = named()
    paths = paths_of(scorers)
    names = by_family(paths, {name: family_of(name) for name in scorers})
    more, families = called()
    calls = by_family(
        {call: own for call, own in paths_of(more).items() if set(own) != {REFUSED}}, families
    )
    cells = {
        path for of_family in (*names.values(), *calls.values()) for path in of_family.values()
    }
    parts = [HEAD, LEFT_OUT if any(NOT_OFFERED in own for own in cells) else ""]
    parts.append(f"\n{VERSION_LINE.format(sklearn.__version__)}\n")
    for family, title in FAMILIES.items():
        parts.append(f"\n{title}\n{'-' * len(title)}\n")
        parts.append(_table("scorer", names[family]))
        if calls[family]:
            parts.append("\nKeyword arguments, and metrics that no scorer is named after:\n")
            parts.append(_table("metric", calls[family]))
        replayed = {
            call: [kind for kind, path in zip(KINDS, own, strict=True) if path == "replay"]
            for call, own in calls[family].items()
        }
        if any(replayed.values()):
            parts.append("\nOf these, replayed are:\n\n")
            parts += [
                f"- ``{call}`` ({', '.join(kinds)})\n" for call, kinds in replayed.items() if kinds
            ]
    parts.append(_weights(scorers, paths))
    return "".join([*parts, TAIL])


def _weights(scorers: Mapping[str, Any], paths: Mapping[str, tuple[str, ...]]) -> str:
    """Say which fast paths are lost when rows have weights."""
    fast = {name: scorer for name, scorer in scorers.items() if {"sums", "ranks"} & {*paths[name]}}
    weighted = paths_of(fast, sample_weight=np.linspace(0.5, 1.5, N_ROWS))
    changed = [
        f"``{name}`` ({kind}: {now})"
        for name in fast
        for kind, path, now in zip(KINDS, paths[name], weighted[name], strict=True)
        if now not in (path, REFUSED)
    ]
    title = "Weights of rows"
    text = "``sample_weight`` changes no path of a scorer that takes it"
    if changed:
        text = f"With ``sample_weight`` these take another path: {', '.join(changed)}"
    return f"\n{title}\n{'-' * len(title)}\n\n{text}.\n"


def _table(title: str, paths: Mapping[str, tuple[str, ...]]) -> str:
    """Write one row for all names that agree on every kind of target."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, own in paths.items():
        rows.setdefault(own, []).append(name)
    lines = ["\n.. list-table::", "   :header-rows: 1", "   :widths: 45 11 11 11 11 11", ""]
    for row in [(title, *KINDS), *((_listed(same), *own) for own, same in rows.items())]:
        lines += [f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def _listed(calls: Sequence[str]) -> str:
    """List names, and functions by the keyword arguments that they share."""
    by_keywords: dict[str, list[str]] = {}
    for call in calls:
        name, _, keywords = call.partition("(")
        by_keywords.setdefault(keywords.removesuffix(")"), []).append(f"``{name}``")
    return "; ".join(
        ", ".join(names) + (f" with ``{keywords}``" if keywords else "")
        for keywords, names in by_keywords.items()
    )


def _plain(page: str) -> str:
    """Leave out the third number of the version, which changes no path."""
    return re.sub(VERSION_LINE.format(r"(\d+\.\d+)\S*"), r"\1", page)


def main() -> None:
    """Write the page, or compare it with what would be written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    page = render()
    if not arguments.check:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.exists() or _plain(PAGE.read_text(encoding="utf-8")) != _plain(page):
        sys.exit(f"{PAGE.name} is not what doc/make_scorer_table.py writes; run it again.")


if __name__ == "__main__":
    main()
