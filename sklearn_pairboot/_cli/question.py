"""The question that options and files put, and its answer."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.files import Table, read_table
from sklearn_pairboot._cli.long import compare_long
from sklearn_pairboot._cli.output import neutral
from sklearn_pairboot._cli.usage import margin_of
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._scoring.resolve import resolve_scoring, shared_responses
from sklearn_pairboot.comparison import compare_predictions, compare_scores
from sklearn_pairboot.result import ComparisonResult


def compare(options: argparse.Namespace) -> ComparisonResult:
    """Read the files that the options name, and compare."""
    if options.long:
        return compare_long(options, _common(options))
    needed = {*options.models, options.label, options.groups, options.ids, options.sample_weight}
    first = read_table(options.file, options.separator, needed)
    second = None
    if options.second_file:
        second = read_table(options.second_file, options.separator, needed)
    sources = _named(_sources(options.models, first, second), options.names)
    keys = first.column(options.ids, "--ids").as_keys() if options.ids else None
    if keys is not None and second is None and options.groups is None:
        _refuse_repeats(keys)
    groups: Any = first.column(options.groups, "--groups").as_groups() if options.groups else None
    weight: Any = None
    if options.sample_weight:
        weight = first.column(options.sample_weight, "--sample-weight").as_numbers()
    ids: Any = keys
    if second is not None and keys is not None:
        second_keys = second.column(options.ids, "--ids").as_keys()
        for column in filter(None, (options.label, options.groups, options.sample_weight)):
            _check_agreement(column, first, second, keys, second_keys)
        ids = {
            name: keys if table is first else second_keys for name, (table, _) in sources.items()
        }
    common = _common(options)
    columns = {name: table.column(column, "--models") for name, (table, column) in sources.items()}
    if options.label is None:
        if second is not None and keys is not None:
            # Rows come in the order of the first model, in whichever file that is.
            groups = None if groups is None else dict(zip(keys, groups.tolist(), strict=True))
            weight = None if weight is None else dict(zip(keys, weight.tolist(), strict=True))
        return compare_scores(
            {name: column.as_numbers() for name, column in columns.items()},
            ids,
            not options.lower_is_better,
            groups=groups,
            sample_weight=weight,
            **common,
        )
    labels = first.column(options.label, "--label").as_labels()
    _check_metrics(options.metric, labels)
    return compare_predictions(
        labels,
        {name: column.as_answers(labels) for name, column in columns.items()},
        scoring=options.metric,
        pos_label=_positive_label(options.pos_label, labels),
        ids=ids if second is None else {"y_true": keys, **ids},
        groups=groups,
        sample_weight=weight,
        **common,
    )


# What an option is where it is not given; a stored result keeps what it was made with.
_DEFAULTS: dict[str, Any] = {
    "resamples": 9999,
    "confidence_level": 0.95,
    "method": "percentile",
    "alternative": "two-sided",
    "correction": "holm",
    "family": "metric",
    "pairs": "baseline",
    "seed": 0,
}


def _common(options: argparse.Namespace) -> dict[str, Any]:
    """Keywords of all comparisons."""
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    progress = options.progress or (on_terminal and importlib.util.find_spec("tqdm") is not None)
    chosen = {
        name: default if getattr(options, name) is None else getattr(options, name)
        for name, default in _DEFAULTS.items()
    }
    return {
        "baseline": None if options.baseline is None else neutral(options.baseline),
        "n_resamples": chosen["resamples"],
        "confidence_level": chosen["confidence_level"],
        "method": chosen["method"],
        "alternative": chosen["alternative"],
        "margin": margin_of(options.margin, options.metric),
        "margin_relative": options.margin_relative,
        "correction": None if chosen["correction"] == "none" else chosen["correction"],
        "family": chosen["family"],
        "pairs": chosen["pairs"],
        "permutation": options.permutation,
        "n_jobs": options.jobs,
        "random_state": chosen["seed"],
        "verbose": int(progress),
    }


def _check_metrics(names: Sequence[str], labels: NDArray[Any]) -> None:
    """Refuse metrics that one column a model cannot serve."""
    metrics = resolve_scoring(list(names))
    responses = shared_responses(metrics)
    if not responses:
        kinds = ", ".join(
            f"{name} ({'labels or values' if 'predict' in metric.responses else 'probabilities'})"
            for name, metric in zip(names, metrics, strict=True)
        )
        raise InputError(
            f"--metric must hold metrics that need the same kind of column, got {kinds}. Compare "
            "them in two runs, on two kinds of columns."
        )
    n_classes = len(np.unique(labels))
    if "predict" not in responses and n_classes > 2:
        raise InputError(
            f"--metric {names[0]} needs a column of --label with two classes, got {n_classes}: "
            "one column a model cannot hold the probabilities of more."
        )


def _refuse_repeats(keys: Sequence[str]) -> None:
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise InputError(
            f"--ids must be unique without --groups, got {len(repeated)} of them in several rows: "
            f"{shown(repeated)}. Rows of one item are not independent: name the column with "
            "--groups, and whole items are drawn."
        )


_Sources = list[tuple[str, tuple[Table, str]]]


def _sources(columns: Sequence[str], first: Table, second: Table | None) -> _Sources:
    """Find each model's file: name, table and column. A column of both files is two models."""
    if second is None:
        return [(column, (first, column)) for column in columns]
    prefixes = (first.stem, second.stem)
    if prefixes[0] == prefixes[1]:
        prefixes = (first.path, second.path)
    found: _Sources = []
    for column in columns:
        if column not in second.names:
            found.append((column, (first, column)))
        elif column not in first.names:
            found.append((column, (second, column)))
        else:
            found.append((f"{prefixes[0]}:{column}", (first, column)))
            found.append((f"{prefixes[1]}:{column}", (second, column)))
    if not any(table is second for _, (table, _) in found):
        raise InputError(
            f"--models must name a column of {second.path} too, got {shown(columns)}. Its columns "
            f"are: {', '.join(second.names)}."
        )
    return found


def _named(found: _Sources, chosen: Sequence[str] | None) -> dict[str, tuple[Table, str]]:
    """Give the models their names: those that were ``chosen``, or those of their columns."""
    if chosen is not None and len(chosen) != len(found):
        raise InputError(
            f"--names must name every model, of which there are {len(found)} "
            f"({shown([name for name, _ in found])}), got {len(chosen)}."
        )
    names = [neutral(name) for name in chosen or [name for name, _ in found]]
    if "" in names:
        raise InputError("--names must not be empty, got ''.")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated and chosen:
        raise InputError(
            f"--names must give every model a name of its own, got {repeated[0]!r} twice."
        )
    if repeated:
        raise InputError(
            f"--models must give every model a name of its own, got {repeated[0]!r} twice: a "
            "column of both files is two models, called FILE:COL. Name the models with --names."
        )
    return {name: source for name, (_, source) in zip(names, found, strict=True)}


def _check_agreement(
    name: str, first: Table, second: Table, keys: list[str], second_keys: list[str]
) -> None:
    """Refuse two files that disagree on a column that both hold, such as the labels."""
    if name not in second.names or set(keys) != set(second_keys) or len(keys) > len(set(keys)):
        return  # faults of the ids get an error of their own, with all ids listed
    ours, theirs = first.column(name, "--label"), second.column(name, "--label")
    values: list[Any] = ours.texts
    others: list[Any] = theirs.texts
    if ours.numbers is not None and theirs.numbers is not None:
        values, others = ours.numbers.tolist(), theirs.numbers.tolist()
    of_second = dict(zip(second_keys, others, strict=True))
    differing = [k for k, value in zip(keys, values, strict=True) if value != of_second[k]]
    if differing:
        raise InputError(
            f"Column {name!r} must be the same in both files, got different values for id(s) "
            f"{shown(differing)}. Were both models scored on the same version of the data?"
        )


def _positive_label(text: str | None, labels: NDArray[Any]) -> Any:
    """Find the label that the text of the option means."""
    if text is None:
        return None
    distinct = np.unique(labels).tolist()
    found = [label for label in distinct if str(label) == text]
    if not found and labels.dtype.kind != "U":  # "1" means 1.0 as well, and "True" 1
        value = {"true": "1", "false": "0"}.get(text.lower(), text)
        found = [label for label in distinct if f"{label:g}" == value]
    if found:
        return found[0]
    raise InputError(f"--pos-label must be one of the labels {shown(distinct, 20)}, got {text!r}.")
