"""The text of doc/coverage.rst, in reStructuredText that docutils alone can read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from textwrap import fill
from typing import Any

import _interval_tables
import _test_tables
from _interval_tables import by_method, distance, kinds
from _page import machine, number, section, table
from _simulated import truth
from _tallies import (
    EQUAL,
    VALUE,
    Tally,
    Tested,
    coverage,
    distinct,
    extreme,
    is_difference,
    percent,
    read,
    rejection,
    where,
)

from sklearn_pairboot import compare_predictions

HEAD = """\
.. Written by ``python benchmarks/make_coverage_page.py``; changes made here are lost.

Coverage
========

Does an interval of 95 % cover the truth 95 times in 100, and does a test at 5 % reject 5 times in
100 when there is nothing to find? This page is written by
``python benchmarks/make_coverage_page.py`` from one run of ``benchmarks/coverage.py``, which
``python benchmarks/make_coverage_page.py --run`` repeats.
"""
QUICK = """
**These are the numbers of a trial with a few data sets, which shows that the scripts run. They say
nothing about coverage.**
"""
SIMULATED = """
Labels are 1 in 40 % of the rows. Given the label, the scores of a model are normal with variance 1;
their means differ by 1.2 between the classes, for the better model by 1.6, and the noise of two
models has correlation 0.6. Probabilities are the true ones given the score, and labels are
predicted at one half. Item scores, whose means are compared, are lognormal and skewed. The true
values are closed forms, or integrals solved to ten digits and more: ROC AUC is {auc}, average
precision {ap}, F1 {f1}, for the better model in brackets. Differences are those of two models that
are equally good but not the same (true value 0) and of the better one. All intervals of a data set
are read off one draw of {n_resamples} resamples; slow methods and tests are tried on a share of the
data sets.

A row of a cluster is, with probability sqrt(ICC), a copy of the cluster's prototype, and drawn
afresh otherwise. Two rows of a cluster are then the same with probability ICC and independent
otherwise, so that ICC is the intraclass correlation of *every* quantity of a row: differences of
correctness, of log loss, of items. Every row has the same distribution whatever the ICC, and so the
same true values. Unequal sizes are lognormal shares with a coefficient of variation of about 0.7,
equal ones differ by at most one row. Sizes do not depend on what is in the clusters, and the target
is the value in which every row counts alike. Data sets with fewer than two rows of a class
({redrawn} of {drawn}) were drawn again.
"""
DEFAULT = """
The default ``method="{default}"`` covers differences of rows in {rows} % of the cases from 50
rows on, and differences of clusters in {clusters} %, on average over metrics, sizes and ICC. Its
lowest average of a metric is {worst} % ({worst_where}). The coverage of single cells is closest to
95 % on average with ``{best_rows}`` for rows ({best_rows_at} %) and with ``{best_clusters}`` for
clusters ({best_clusters_at} %).
"""
FEW_CLUSTERS = """
With {n} clusters at ICC {icc:g} the p-value of ``{default}`` rejects equally good models in
{default_at} % at nominal 5 %. Closest of all methods is ``{best}`` with {best_at} %.
"""
IGNORED = """
Who ignores clusters finds differences where there are none: at ICC {icc:g} the percentile bootstrap
of rows rejects equally good models in {at} %.
"""
WHY = """
``"{default}"`` is the default because its ends are read off the replicates, whatever the metric,
and never leave their range. From 50 rows on it loses a point or two
against the best method. It loses more with few units: then ``"expanded"``, which moves the same
percentiles out by what few units need, or ``"t"`` for differences are the better choice, and a
result with fewer than ten clusters says so. The method is never changed behind the caller's back,
so that results of different sizes stay comparable. ``"bca"`` mends skewness of single values, at
the price of narrower intervals of differences of few units; ``"studentized"`` is right for
differences that are nearly normal and too narrow where a few units carry most of the difference, as
the near-copies of rows here do. With normal random intercepts, 20 clusters and ICC 0.4 it keeps its
level (``tests/test_coverage.py``).
"""
SINGLE = """
The value of one model from {n} rows is covered in {default_at} % by ``{default}``. Closest of all
methods is ``{best}`` with {best_at} %.
"""
LEARNERS = """
Of two learning methods that are equally good one is called better in {uncorrected} % by the paired
t test on {splits}, in {corrected} % by the corrected resampled t test, on average over numbers of
rows.
"""


CALIBRATION = """
A plain calibration error is too large by chance, by another amount for each model, and its
replicates once more, so that neither a single one nor the difference of two has an interval. Each
of {n_data_sets} data sets has the answers of a calibrated model and of one other, in {n_resamples}
resamples: a coarse one, which is as calibrated but knows less, and two that are over-confident,
mildly and boldly. The first columns are the coverage of percentile intervals of plain (L1) errors,
which comparisons do not give: of the other model alone, and of its difference from the calibrated
one. Those of the debiased squared error are given. The last column says how often the p-value of
its difference is at most 0.05. Where both models are calibrated the replicates of a difference
vary three times too much, most of which is taken out; intervals of a single squared error near
zero are wider than needed.
"""


def _filled(text: str, **indents: str) -> str:
    words = " ".join(text.split())
    return fill(words, 100, break_long_words=False, break_on_hyphens=False, **indents)


def _bullet(template: str, **values: Any) -> str:
    text = template.format(**values)
    return _filled(text, initial_indent="- ", subsequent_indent="  ") + "\n"


def render(result: dict[str, Any], calibration: dict[str, Any] | None = None) -> str:
    """Write the page from the files of results, of which that on calibration may be missing."""
    tallies, tests = read(result)
    parts = [HEAD]
    if result["quick"]:
        parts.append(QUICK)
    parts.append(machine({"coverage": result}))
    parts += [section("What was simulated"), _simulated(result)]
    parts += _what_follows(tallies, tests)
    parts += _interval_tables.coverage_of_rows(tallies)
    parts += _interval_tables.coverage_of_clusters(tallies)
    parts += _interval_tables.coverage_of_metrics(tallies)
    parts += _interval_tables.sides(tallies)
    parts += _interval_tables.widths(tallies)
    parts += _interval_tables.type_one_errors(tallies)
    parts += _test_tables.type_one_errors(where(tests, icc=lambda icc: icc is not None))
    parts += _test_tables.learners(where(tests, icc=None))
    parts += _test_tables.limits(tallies, tests)
    if calibration is not None:
        parts += _calibration(calibration)
    return "".join(parts)


def _calibration(result: dict[str, Any]) -> Iterator[str]:
    names = {"coarse": "coarse", "mild": "mildly bold", "bold": "bold"}
    yield section("Calibration errors")
    counts = {name: number(result[name]) for name in ("n_data_sets", "n_resamples")}
    yield f"\n{_filled(CALIBRATION.format(**counts))}\n"
    columns = ("plain_alone", "plain", "squared_alone", "squared", "rejected")
    yield table(
        [
            "other model",
            "rows",
            "plain, alone",
            "plain, difference",
            "squared, alone",
            "squared, difference",
            "p <= 0.05",
        ],
        [
            [
                names[row["model"]],
                number(row["n_rows"])
                + (f" in clusters of {row['cluster_size']}" if row["cluster_size"] > 1 else ""),
                *(percent(row[column]) for column in columns),
            ]
            for row in result["rows"]
        ],
        "Coverage of 95 % intervals of calibration errors, in %.",
    )


def _simulated(result: dict[str, Any]) -> str:
    cells = [cell for cell in result["cells"] if "intervals" in cell]
    values = {
        metric: f"{truth(metric, 'A'):.3f} ({truth(metric, 'C'):.3f})"
        for metric in ("roc_auc", "average_precision", "f1")
    }
    text = SIMULATED.format(
        auc=values["roc_auc"],
        ap=values["average_precision"],
        f1=values["f1"],
        n_resamples=number(result["n_resamples"]),
        redrawn=number(sum(cell["redrawn"] for cell in cells)),
        drawn=number(sum(cell["simulations"] for cell in cells)),
    )
    paragraphs = text.strip().split("\n\n")
    return "".join(f"\n{_filled(paragraph)}\n" for paragraph in paragraphs)


def _what_follows(tallies: Sequence[Tally], tests: Sequence[Tested]) -> Iterator[str]:
    differences = where(tallies, target=is_difference)
    yield section("What follows")
    yield "\n"
    yield from _advice(tallies, tests)
    yield by_method(
        ["units"],
        [([name], rows) for name, rows in kinds(differences)],
        lambda rows: percent(distance(rows)),
        "Distance of the coverage of differences from 95 %, in percentage points: root mean square "
        "over metrics, numbers of rows, sizes and ICC, less what errors of simulation add.",
    )


def _advice(tallies: Sequence[Tally], tests: Sequence[Tested]) -> Iterator[str]:
    """Yield what the numbers say, as far as there are numbers."""
    default = inspect.signature(compare_predictions).parameters["method"].default
    yield _of_default(where(tallies, target=is_difference), default)
    yield _bullet(WHY, default=default)
    clustered = where(tallies, n_clusters=lambda n: n is not None, target=EQUAL)
    highest = max(distinct(clustered, "icc"), default=0.0)
    for n in distinct(clustered, "n_clusters"):
        rows = where(clustered, n_clusters=n, icc=highest)
        if rows:
            best, at = _closest(rows, rejection, 0.05)
            own = percent(rejection(where(rows, method=default)))
            yield _bullet(
                FEW_CLUSTERS,
                n=n,
                icc=highest,
                default=default,
                default_at=own,
                best=best,
                best_at=percent(at),
            )
    ignored = where(tests, test="percentile of mean, clusters ignored", icc=highest)
    if ignored:
        yield _bullet(IGNORED, icc=highest, at=percent(rejection(ignored)))
    values = where(tallies, n_clusters=None, target=VALUE)
    if values:
        n = min(distinct(values, "n_rows"))
        rows = where(values, n_rows=n)
        best, at = _closest(rows, coverage, 0.95)
        own = percent(coverage(where(rows, method=default)))
        yield _bullet(SINGLE, n=n, default=default, default_at=own, best=best, best_at=percent(at))
    learned = where(tests, icc=None)
    if learned:
        names = distinct(learned, "test")
        rates = {name: percent(rejection(where(learned, test=name))) for name in names}
        for splits in ("10 folds", "15 random splits"):
            yield _bullet(
                LEARNERS,
                splits=splits,
                uncorrected=rates[f"uncorrected paired t, {splits}"],
                corrected=rates[f"corrected resampled t, {splits}"],
            )


def _closest(
    rows: Sequence[Tally], measure: Callable[[Sequence[Tally]], float], nominal: float
) -> tuple[str, float]:
    """Name the method that is closest to what it promises, and its share."""
    shares = {name: measure(where(rows, method=name)) for name in distinct(rows, "method")}
    best = min(shares, key=lambda name: abs(shares[name] - nominal))
    return best, shares[best]


def _of_default(differences: Sequence[Tally], default: str) -> str:
    rows = where(differences, n_clusters=None, n_rows=lambda n: n >= 50)
    clusters = where(differences, n_clusters=lambda n: n is not None)
    if not rows or not clusters:
        return "- Too little was simulated in this run to judge the default by.\n"
    by_kind = [(name, where(of, method=default)) for name, of in kinds(differences)]
    worst, metric, name = min((*extreme(of, coverage, min), name) for name, of in by_kind)
    methods = distinct(differences, "method")
    best_rows, best_clusters = (
        min(methods, key=lambda method: distance(where(of, method=method)))
        for of in (rows, clusters)
    )
    return _bullet(
        DEFAULT,
        default=default,
        rows=percent(coverage(where(rows, method=default))),
        clusters=percent(coverage(where(clusters, method=default))),
        worst=percent(worst),
        worst_where=f"{metric}, {name}",
        best_rows=best_rows,
        best_rows_at=percent(coverage(where(rows, method=best_rows))),
        best_clusters=best_clusters,
        best_clusters_at=percent(coverage(where(clusters, method=best_clusters))),
    )
