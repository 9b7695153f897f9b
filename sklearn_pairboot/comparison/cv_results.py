"""Comparison of the candidates of a fitted search, of which only the scores of folds are left."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from sklearn_pairboot._engine.multiplicity import ADJUSTMENTS
from sklearn_pairboot._engine.seeds import is_integer
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._scoring.checks import check_confidence_level, check_names, shown
from sklearn_pairboot._tables import Settings, check_baseline, check_choice, check_settings
from sklearn_pairboot._tables.lines import wrapped
from sklearn_pairboot._tables.numbers import NumberFormat, format_p
from sklearn_pairboot.comparison._candidates import name_of, number_repeated
from sklearn_pairboot.report.split_tests import SplitScores, SplitTestRow, split_test_rows

_LOST = (
    "A search keeps no answers to single rows, so no rows or clusters can be resampled: there is "
    "no interval for these fitted models, no paired bootstrap and no other metric. Models, "
    "splits and answers kept by cross_validate have them; see compare_cross_validate."
)
_CHOSEN = (
    "The baseline was chosen as the best on these splits, which favours it; see "
    "bias_corrected_selection."
)
_OF_SPLIT = re.compile(r"split(\d+)_test_(.+)")


@dataclass(frozen=True)
class SearchComparison:
    """Outcome of `compare_cv_results`.

    Parameters
    ----------
    metric : str
        Name of the metric.
    candidates : tuple of str
        Names of the candidates that were compared.
    mean_scores : tuple of float
        Mean over the splits of each, in scikit-learn's sign: greater is better.
    split_tests : tuple of SplitTestRow
        The corrected resampled t test of each comparison, as in `ComparisonResult`, in the same
        sign.
    confidence_level : float
        Level of the intervals.
    notes : tuple of str
        What is to be known.
    """

    metric: str
    candidates: tuple[str, ...]
    mean_scores: tuple[float, ...]
    split_tests: tuple[SplitTestRow, ...]
    confidence_level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Write the outcome as plain text.

        Returns
        -------
        str
            One line a comparison, and the notes.
        """
        number = NumberFormat.from_errors(
            (row.std_error for row in self.split_tests),
            (value for row in self.split_tests for value in (row.ci_low, row.ci_high)),
        )
        alpha = 1 - self.confidence_level
        lines = [f"Corrected resampled t tests on {self.metric} (higher is better)"]
        lines += [
            f"  {row.model} - {row.baseline}: {number(row.difference, signed=True, keep=True)} "
            f"{number.interval(row.ci_low, row.ci_high)}, p {format_p(row.p_value, alpha)}, "
            f"adjusted {format_p(row.p_adjusted, alpha)}"
            for row in self.split_tests
        ]
        for note in self.notes:
            lines += wrapped(note, "- ")
        return "\n".join(lines)


def compare_cv_results(
    search: Any,
    *,
    candidates: Mapping[str, int] | Sequence[int] | None = None,
    metric: str | None = None,
    n_train: float | None = None,
    n_test: float | None = None,
    baseline: str | None = None,
    pairs: str = "baseline",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    confidence_level: float = 0.95,
) -> SearchComparison:
    """Compare candidates of a fitted search by the corrected resampled t test of its splits.

    It estimates the mean difference of two methods' scores, if they were trained on other rows of
    the same kind. A search keeps the scores of the splits and nothing else, so this is all that
    can be said: no rows can be resampled.

    Parameters
    ----------
    search : fitted search or mapping
        `GridSearchCV`, `RandomizedSearchCV` or the like; or its ``cv_results_``.
    candidates : mapping of str to int or sequence of int, default=None
        Which candidates to compare, by their row in ``cv_results_``; a mapping names them.
        ``None`` means all, from the best to the worst.
    metric : str, default=None
        Name of the metric, where the search has several.
    n_train : float, default=None
        Number of training rows of a split. Only its ratio to ``n_test`` counts. ``None`` reads
        the ratio off the splitter: of k folds, repeated or not, 1 / (k - 1), of listed splits
        their sizes. Other splitters need both numbers.
    n_test : float, default=None
        Number of test rows of a split.
    baseline : str, default=None
        Name of the candidate that the others are compared with, ``None`` for the first.
    pairs : {"baseline", "all"}, default="baseline"
        What is compared: every candidate with the baseline, or every one with every other.
    alternative : {"two-sided", "better", "worse"}, default="two-sided"
        Direction in which a difference counts.
    correction : {"holm", "bonferroni", "fdr"} or None, default="holm"
        Adjustment of the p-values for the number of comparisons.
    confidence_level : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    SearchComparison
        With ``split_tests``, one row a comparison, ``mean_scores`` and ``notes``.

    See Also
    --------
    compare_cross_validate : With answers to single rows, which allow much more.
    sklearn_pairboot.inference.corrected_resampled_ttest : The test.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_pairboot import compare_cv_results
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"max_depth": [1, 2, 3]}
    >>> search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=10).fit(X, y)
    >>> for row in compare_cv_results(search).split_tests:
    ...     print(f"{row.model} - {row.baseline}: {row.difference:.3f}, p = {row.p_adjusted:.2f}")
    max_depth=3 - max_depth=2: -0.011, p = 0.52
    max_depth=1 - max_depth=2: -0.028, p = 0.11
    """
    results = search if isinstance(search, Mapping) else getattr(search, "cv_results_", None)
    if not isinstance(results, Mapping) or "params" not in results:
        raise TypeError(
            "`search` must be a fitted search with `cv_results_`, or these, got "
            f"{type(search).__name__}."
        )
    check_confidence_level(confidence_level)
    check_choice("correction", correction, ADJUSTMENTS)  # max-T needs resamples
    name, scores = _scores_of(results, metric)
    scoring = getattr(search, "scoring", None)
    if name == "score" and isinstance(scoring, str):
        name = scoring
    rows, chosen_first = _rows_of(candidates, results, scores)
    models = tuple(rows)
    settings = Settings(
        baseline=check_baseline(baseline, models),
        confidence_level=float(confidence_level),
        alternative=alternative,
        correction=correction,
        pairs=pairs,
    )
    check_settings(settings, models)
    if len(models) < 2:
        raise ValueError(f"`candidates` must be at least 2, got {shown(models)}.")
    _check_one_iteration(results, rows)
    values = scores[:, list(rows.values())]
    train, test = _sizes(search, len(values), n_train, n_test)
    defined = ~np.isnan(values).any(axis=1)
    if np.count_nonzero(defined) < 2:
        raise ValueError(
            "`search` must have at least 2 splits in which every candidate has a score, got "
            f"{np.count_nonzero(defined)} of {len(values)}.{_without_scores(models, values)}"
        )
    notes = [_LOST]
    if not defined.all():
        failed = np.flatnonzero(~defined).tolist()
        notes.append(
            f"Some candidate has no score in {len(failed)} of {len(values)} splits, "
            f"{shown(failed)} (counted from 0), which are left out for all."
        )
    if chosen_first and settings.baseline == models[0]:
        notes.append(_CHOSEN)
    split_scores = SplitScores(values[np.newaxis], train, test)
    return SearchComparison(
        metric=name,
        candidates=models,
        mean_scores=tuple(values[defined].mean(axis=0).tolist()),
        split_tests=split_test_rows(split_scores, models, [(name, True)], settings),
        confidence_level=float(confidence_level),
        notes=tuple(notes),
    )


def _scores_of(results: Mapping[str, Any], metric: str | None) -> tuple[str, FloatArray]:
    """Give the metric's name and its scores, shape (n_splits, n_candidates)."""
    found: dict[str, dict[int, Any]] = {}
    for key in results:
        match = _OF_SPLIT.fullmatch(key)
        if match:
            found.setdefault(match[2], {})[int(match[1])] = results[key]
    if metric is None and len(found) == 1:
        (metric,) = found
    if metric not in found:
        raise ValueError(
            f"`metric` must be the name of a metric of the search, one of {shown(list(found))}, "
            f"got {metric!r}."
        )
    of_metric = found[str(metric)]
    columns = [np.asarray(of_metric[number], dtype=np.float64) for number in sorted(of_metric)]
    return str(metric), np.stack(columns)


def _rows_of(
    candidates: Any, results: Mapping[str, Any], scores: FloatArray
) -> tuple[dict[str, int], bool]:
    """Give the row of each candidate by name, and whether the best was put first."""
    params = results["params"]
    chosen_first = candidates is None
    if candidates is None:
        means = scores.mean(axis=0)
        candidates = np.argsort(np.where(np.isnan(means), np.inf, -means), kind="stable").tolist()
    elif isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise TypeError(
            "`candidates` must be a mapping of names to rows of `cv_results_`, or a sequence of "
            f"rows, got {candidates!r}."
        )
    if isinstance(candidates, Mapping):
        named = dict(candidates)
    else:
        texts = [
            name_of(params[row]) if is_integer(row) and 0 <= row < len(params) else str(row)
            for row in candidates
        ]
        named = dict(zip(number_repeated(texts, candidates), candidates, strict=True))
    check_names(list(named))
    wrong = [row for row in named.values() if not is_integer(row) or not 0 <= row < len(params)]
    if wrong:
        raise ValueError(
            f"`candidates` must be rows of `cv_results_`, from 0 to {len(params) - 1}, got "
            f"{shown(wrong)}."
        )
    return named, chosen_first


def _check_one_iteration(results: Mapping[str, Any], rows: Mapping[str, int]) -> None:
    """Refuse candidates of several iterations of a halving search: they saw other rows."""
    if "iter" not in results:
        return
    of_iteration: dict[int, list[int]] = {}
    for row in rows.values():
        of_iteration.setdefault(int(results["iter"][row]), []).append(row)
    if len(of_iteration) > 1:
        listed = "; ".join(f"{number}: {shown(of)}" for number, of in sorted(of_iteration.items()))
        raise ValueError(
            "`candidates` must be of one iteration of a halving search, as each iteration trains "
            f"and tests on other rows, got candidates by iteration {listed}. Pass those of one."
        )


def _without_scores(models: Sequence[str], values: FloatArray) -> str:
    lost = [name for name, of in zip(models, values.T, strict=True) if np.isnan(of).all()]
    return f" Without any score: {shown(lost)}. Leave them out of `candidates`." if lost else ""


def _sizes(search: Any, n_splits: int, n_train: Any, n_test: Any) -> tuple[FloatArray, FloatArray]:
    """Give the sizes of the training and test part of every split, up to a factor."""
    ones = np.ones(n_splits)
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        number = isinstance(size, Real) and not isinstance(size, bool)
        if size is not None and not (number and 0 < float(size) < math.inf):
            raise ValueError(f"`{name}` must be a positive number of rows, got {size!r}.")
    if n_train is not None and n_test is not None:
        return ones * n_train, ones * n_test
    cv = getattr(search, "cv", search)
    if n_train is None and n_test is None:
        of_folds = isinstance(cv, KFold | StratifiedKFold | GroupKFold | StratifiedGroupKFold)
        repeated = isinstance(cv, RepeatedKFold | RepeatedStratifiedKFold)
        if cv is None or is_integer(cv) or of_folds or repeated:
            n_folds = n_splits // cv.n_repeats if repeated else n_splits
            return ones * (n_folds - 1), ones
        if isinstance(cv, list | tuple) and len(cv) == n_splits:
            lengths = [[_size(rows) for rows in split] for split in cv]
            return np.array(lengths, float)[:, 0], np.array(lengths, float)[:, 1]
    raise ValueError(
        "`n_train` and `n_test` must both be given where the splitter does not tell them, got "
        f"{n_train!r} and {n_test!r}. They are the numbers of rows of a split's parts."
    )


def _size(rows: Any) -> int:
    found = np.asarray(rows)
    return int(np.count_nonzero(found)) if found.dtype.kind == "b" else len(found)
