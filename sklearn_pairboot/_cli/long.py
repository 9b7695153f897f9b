"""Scores in long format: one row holds an item, a model, and its score."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.files import Table, read_table
from sklearn_pairboot._cli.output import neutral
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot.comparison import compare_scores
from sklearn_pairboot.result import ComparisonResult


def compare_long(options: argparse.Namespace, common: Mapping[str, Any]) -> ComparisonResult:
    """Compare the mean scores of the models that a column names."""
    item, model, score = options.long
    needed = {item, model, score, options.groups, options.sample_weight}
    table = read_table(options.file, options.separator, needed)
    items, item_of = _numbered(table.column(item, "--long").as_keys())
    models, model_of = _numbered(
        [neutral(name) for name in table.column(model, "--long").as_keys()]
    )
    values = table.column(score, "--long").as_numbers()
    chosen = [neutral(name) for name in options.models] if options.models else models
    for name in chosen:
        if name not in models:
            raise InputError(
                f"--models must name models in the column {model!r}, which holds {shown(models)}, "
                f"got {name!r}."
            )
    cell = item_of * len(models) + model_of
    cells, counts = np.unique(cell, return_counts=True)
    if not options.average_repeats:
        _refuse_repeats(cells[counts > 1], counts[counts > 1], items, models)
    elif counts.max() > 1:
        warnings.warn(
            f"{len(values)} scores are averaged to {len(cells)}, one for each item and model: "
            "resamples draw items, and how much repeats of one item differ is not shown.",
            stacklevel=2,
        )
    sums = np.bincount(cell, weights=values, minlength=len(items) * len(models))[cells]
    means = sums / counts
    scores, ids = {}, {}
    for name in chosen:
        mine = cells % len(models) == models.index(name)
        scores[name] = means[mine]
        ids[name] = [items[k] for k in (cells[mine] // len(models)).tolist()]
    return compare_scores(
        scores,
        ids,
        not options.lower_is_better,
        groups=_of_items(table, options.groups, "--groups", items, item_of),
        sample_weight=_of_items(table, options.sample_weight, "--sample-weight", items, item_of),
        **common,
    )


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Give names their numbers, in the order in which they first appear."""
    distinct = list(dict.fromkeys(names))
    number = {name: k for k, name in enumerate(distinct)}
    return distinct, np.array([number[name] for name in names], dtype=np.int64)


def _refuse_repeats(
    cells: NDArray[np.int64],
    counts: NDArray[np.int64],
    items: Sequence[str],
    models: Sequence[str],
) -> None:
    if not len(cells):
        return
    item, model = divmod(int(cells[0]), len(models))
    more = f", and repeats in {len(cells) - 1} further places" if len(cells) > 1 else ""
    raise InputError(
        f"--long must have one row for each item and model, got {counts[0]} rows of item "
        f"{items[item]!r} and model {models[model]!r}{more}. If they are repeats, such as several "
        "generations, --average-repeats takes their mean; if they are other items, name them apart."
    )


def _of_items(
    table: Table, column: str | None, option: str, items: Sequence[str], item_of: NDArray[np.int64]
) -> dict[str, Any] | None:
    """Give what belongs to an item, and must be the same in all its rows."""
    if column is None:
        return None
    read = table.column(column, option)
    values = read.as_groups() if option == "--groups" else read.as_numbers()
    first = np.zeros(len(items), dtype=np.int64)
    first[item_of[::-1]] = np.arange(len(item_of))[::-1]
    differing = np.flatnonzero(values != values[first][item_of])
    if len(differing):
        names = list(dict.fromkeys(items[k] for k in item_of[differing].tolist()))
        raise InputError(
            f"{option} must be the same in all rows of an item, got different values for item(s) "
            f"{shown(names)}."
        )
    return dict(zip(items, values[first].tolist(), strict=True))
