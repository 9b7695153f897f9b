"""Tables of intervals for doc/coverage.rst, with a column for each method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from statistics import mean

from _page import number, section, table
from _tallies import (
    DIFFERENT,
    EQUAL,
    NOMINAL,
    VALUE,
    Tally,
    coverage,
    distinct,
    extreme,
    is_difference,
    n_data_sets,
    percent,
    rejection,
    share,
    simulation_error,
    where,
)

_VERY_WIDE = 100


def kinds(tallies: Sequence[Tally]) -> Iterator[tuple[str, list[Tally]]]:
    """Yield rows, few and many, and each number of clusters."""
    rows = where(tallies, n_clusters=None)
    for n_rows in sorted(distinct(rows, "n_rows")):
        yield f"{number(n_rows)} rows", where(rows, n_rows=n_rows)
    clustered = where(tallies, n_clusters=lambda n: n is not None)
    for n_clusters in sorted(distinct(clustered, "n_clusters")):
        yield f"{n_clusters} clusters", where(clustered, n_clusters=n_clusters)


def by_method(
    titles: Sequence[str],
    groups: Sequence[tuple[Sequence[str], Sequence[Tally]]],
    cell: Callable[[Sequence[Tally]], str],
    caption: str,
) -> str:
    """Write a table with a column for each method."""
    groups = [(names, rows) for names, rows in groups if rows]
    if not groups:
        return "\nNot simulated in this run.\n"
    methods = distinct(groups[0][1], "method")
    least = min(n_data_sets(where(rows, method=method)) for _, rows in groups for method in methods)
    error = (
        f"The standard error of simulation is at most {percent(simulation_error(least))} at 95 %, "
        "and smaller where several metrics are averaged."
    )
    return table(
        [*titles, *(f"``{method}``" for method in methods)],
        [
            [*names, *(cell(where(rows, method=method)) for method in methods)]
            for names, rows in groups
        ],
        f"{caption} {error}",
    )


def _with_lowest(rows: Sequence[Tally]) -> str:
    lowest, metric = extreme(rows, coverage, min)
    return f"{percent(coverage(rows))} ({metric} {percent(lowest)})"


def _with_highest(rows: Sequence[Tally]) -> str:
    highest, metric = extreme(rows, rejection, max)
    return f"{percent(rejection(rows))} ({metric} {percent(highest)})"


def distance(rows: Sequence[Tally]) -> float:
    """Root mean square distance of the coverage of cells from 95 %, without simulation error."""
    found = [(coverage([row]), row.n) for row in rows]
    squares = mean((c - NOMINAL) ** 2 - c * (1 - c) / max(n - 1, 1) for c, n in found)
    return sqrt(max(squares, 0.0))


def coverage_of_rows(tallies: Sequence[Tally]) -> Iterator[str]:
    """Show coverage by numbers of rows."""
    yield section("Coverage: rows")
    rows = where(tallies, n_clusters=None)
    for what, wanted in (("differences", is_difference), ("values of one model", VALUE)):
        yield by_method(
            ["rows"],
            [
                ([number(n_rows)], where(rows, n_rows=n_rows, target=wanted))
                for n_rows in distinct(rows, "n_rows")
            ],
            _with_lowest,
            f"Coverage of {what} in per cent, on average over the metrics, and the lowest of a "
            "metric.",
        )


def coverage_of_clusters(tallies: Sequence[Tally]) -> Iterator[str]:
    """Show coverage by clusters, their sizes and ICC."""
    yield section("Coverage: clusters")
    clustered = where(tallies, n_clusters=lambda n: n is not None, target=is_difference)
    yield by_method(
        ["clusters", "sizes", "ICC"],
        [
            (
                [str(n_clusters), "unequal" if unequal else "equal", f"{icc:g}"],
                where(clustered, n_clusters=n_clusters, unequal=unequal, icc=icc),
            )
            for n_clusters in distinct(clustered, "n_clusters")
            for unequal in (False, True)
            for icc in distinct(clustered, "icc")
        ],
        _with_lowest,
        "Coverage of differences in per cent, on average over metrics and numbers of rows, and the "
        "lowest of a metric.",
    )


def coverage_of_metrics(tallies: Sequence[Tally]) -> Iterator[str]:
    """Show coverage of every metric."""
    yield section("Coverage: metrics")
    rows = where(tallies, n_clusters=None)
    for what, of in (
        ("differences", where(tallies, target=is_difference)),
        ("values of one model", where(rows, target=VALUE)),
    ):
        yield by_method(
            ["metric", "units"],
            [
                ([metric, name], where(units, metric=metric))
                for metric in distinct(of, "metric")
                for name, units in kinds(of)
            ],
            lambda rows: percent(coverage(rows)),
            f"Coverage of {what} in per cent; with clusters on average over numbers of rows, "
            "sizes and ICC.",
        )


def sides(tallies: Sequence[Tally]) -> Iterator[str]:
    """Show on which side intervals miss, and how many came about otherwise."""
    yield section("On which side intervals miss")
    yield "\nIntervals of 95 % that are too low as often as too high miss 2.5 % each way.\n"
    yield by_method(
        ["units", "target"],
        [
            ([name, target], where(rows, target=target))
            for name, rows in kinds(tallies)
            for target in (VALUE, DIFFERENT)
        ],
        lambda rows: f"{percent(share(rows, 'below'))} / {percent(share(rows, 'above'))}",
        "Intervals below the truth / above it, in per cent, on average over the metrics.",
    )
    yield by_method(
        ["units"],
        [([name], rows) for name, rows in kinds(tallies)],
        lambda rows: f"{percent(share(rows, 'fallback'))} / {percent(share(rows, 'undefined'))}",
        "Intervals by another method than the one asked for, or of replicates that do not vary / "
        "intervals that are undefined, in per cent.",
    )


def widths(tallies: Sequence[Tally]) -> Iterator[str]:
    """Compare the widths of the methods."""
    yield section("Width")

    def ratio(rows: Sequence[Tally]) -> str:
        (method,) = distinct(rows, "method")
        reference = {row[:6]: row.mean_width for row in where(tallies, method="percentile")}
        found = mean(row.mean_width / reference[row[:6]] for row in rows)
        # A studentised interval has next to no end where a resample's standard error is tiny.
        return f"{found:.2f}" if found < _VERY_WIDE else f"> {_VERY_WIDE}"

    yield by_method(
        ["units"],
        [([name], rows) for name, rows in kinds(where(tallies, target=is_difference))],
        ratio,
        "Mean width of intervals of differences, as a multiple of those of ``percentile``.",
    )


def type_one_errors(tallies: Sequence[Tally]) -> Iterator[str]:
    """Show how often p-values of intervals reject equal models."""
    yield section("Type-I error of the p-values of intervals")
    equal = where(tallies, target=EQUAL)
    groups = [
        (["rows", number(n), "–"], where(equal, n_clusters=None, n_rows=n))
        for n in sorted(distinct(where(equal, n_clusters=None), "n_rows"))
    ]
    clustered = where(equal, n_clusters=lambda n: n is not None)
    groups += [
        (["clusters", str(n), f"{icc:g}"], where(clustered, n_clusters=n, icc=icc))
        for n in distinct(clustered, "n_clusters")
        for icc in distinct(clustered, "icc")
    ]
    yield by_method(
        ["units", "number", "ICC"],
        groups,
        _with_highest,
        "Rejections of equally good models at 5 %, in per cent, on average over the metrics, and "
        "the highest of a metric.",
    )
