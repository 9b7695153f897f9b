"""Tables of tests for doc/coverage.rst, and what is above the limits that were set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from _page import number, section, table
from _simulated import Scenario
from _tallies import (
    CONTRAST,
    EQUAL,
    NOMINAL,
    Tally,
    Tested,
    distinct,
    percent,
    rejection,
    simulation_error,
    where,
)
from scipy.stats import binom

LIMIT, LIMITED_METHODS = 0.07, ("t", "studentized")
EXACT = (
    "permutation of mean",
    "permutation of accuracy",
    "permutation of log_loss",
    "permutation of f1",
    "McNemar, exact",
    "Cochran's Q of three models, exact",
    "sign test",
)
RARE = 1e-4  # probability of as many rejections at the nominal level


def _rejections(rows: Sequence[Tested]) -> str:
    if not rows:
        return "–"
    n, rate = sum(row.n for row in rows), rejection(rows)
    # None or all of n rejected: as uncertain as one of them.
    return f"{percent(rate)} ± {percent(simulation_error(n, min(max(rate, 1 / n), 1 - 1 / n)))}"


def type_one_errors(tests: Sequence[Tested]) -> Iterator[str]:
    """Show how often the tests reject equal models, of rows and of clusters."""
    yield section("Type-I error of the tests")
    rows = where(tests, n_clusters=None)
    sizes = sorted(distinct(rows, "n_rows"))
    if sizes:
        yield table(
            ["test", *(f"{number(n)} rows" for n in sizes)],
            [
                [name, *(_rejections(where(rows, test=name, n_rows=n)) for n in sizes)]
                for name in distinct(rows, "test")
            ],
            "Rejections of equally good models at 5 %, in per cent, with the standard error of "
            "simulation.",
        )
    clustered = where(tests, n_clusters=lambda n: n is not None)
    kinds = [
        (n, icc) for n in distinct(clustered, "n_clusters") for icc in distinct(clustered, "icc")
    ]
    if kinds:
        yield table(
            ["test", *(f"{n} clusters, ICC {icc:g}" for n, icc in kinds)],
            [
                [
                    name,
                    *(
                        _rejections(where(clustered, test=name, n_clusters=n, icc=icc))
                        for n, icc in kinds
                    ),
                ]
                for name in sorted(distinct(clustered, "test"), key=lambda name: CONTRAST in name)
            ],
            "The same with clusters, pooled over sizes and numbers of rows. The last tests take "
            "rows for independent, which shows what that does.",
        )


def learners(tests: Sequence[Tested]) -> Iterator[str]:
    """Show how often the tests of cross-validated methods reject equal ones."""
    yield section("Two learning methods, cross-validated")
    yield (
        "\nNearest centroids on either half of the features, which are exchangeable: the two "
        "methods\nare exactly equal in expectation. The bootstrap of rows is about the models of "
        "these folds, not\nabout the methods; the uncorrected t tests take splits for "
        "independent.\n"
    )
    sizes = sorted(distinct(tests, "n_rows"))
    if not sizes:
        yield "\nNot simulated in this run.\n"
        return
    yield table(
        ["test", *(f"{number(n)} rows" for n in sizes)],
        [
            [name, *(_rejections(where(tests, test=name, n_rows=n)) for n in sizes)]
            for name in distinct(tests, "test")
        ],
        "Rejections of equally good methods at 5 %, in per cent, with the standard error of "
        "simulation.",
    )


def above_nominal(tests: Sequence[Tested]) -> list[str]:
    """Name the exact tests that reject more often than simulation error explains."""
    found = []
    for test in tests:
        if not test.test.startswith(EXACT) or CONTRAST in test.test:
            continue
        if binom.sf(test.rejected - 1, test.n, 1 - NOMINAL) < RARE:
            place = Scenario(*test[:4]).name
            found.append(f"{test.test}, {place}: {_rejections([test])} %")
    return found


def above_limit(tallies: Sequence[Tally], tests: Sequence[Tested]) -> list[str]:
    """Name the tests of 20 clusters at ICC 0.4 that reject in more than 7 %."""
    limited = {"n_clusters": 20, "icc": 0.4}
    found = []
    for unequal in (False, True):
        intervals = where(tallies, target=EQUAL, unequal=unequal, **limited)
        swaps = where(tests, unequal=unequal, **limited)
        groups: dict[str, list[Any]] = {
            f"{method} of {metric}": where(intervals, method=method, metric=metric)
            for method in LIMITED_METHODS
            for metric in distinct(intervals, "metric")
        }
        groups |= {
            name: where(swaps, test=name)
            for name in distinct(swaps, "test")
            if name.startswith("permutation")
        }
        sizes = "unequal" if unequal else "equal"
        found += [
            f"{name}, {sizes} clusters: {_rejections(rows)} %"
            for name, rows in groups.items()
            if rows and rejection(rows) > LIMIT
        ]
    return found


def limits(tallies: Sequence[Tally], tests: Sequence[Tested]) -> Iterator[str]:
    """Name what is above the limits that were set."""
    yield section("What was asked for")
    yield (
        "\nExact tests must not reject more often than 5 %. These reject so often that a test at "
        "5 % would do\nit in one of 10,000 cells only:\n\n"
    )
    yield _listed(above_nominal(tests))
    yield (
        "\nPermutation, ``t`` and ``studentized`` tests of 20 clusters at ICC 0.4 must reject in "
        "at most 7 %,\npooled over numbers of rows; above that lie:\n\n"
    )
    yield _listed(above_limit(tallies, tests))


def _listed(found: Sequence[str]) -> str:
    return "".join(f"- {one}\n" for one in found) or "- none\n"
