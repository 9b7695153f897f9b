"""The command line: files in, report out."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from sklearn_pairboot._arguments import PROGRAM, make_parser
from sklearn_pairboot._files import STDIN, InputError, Table, read_table, same_file
from sklearn_pairboot._scoring.checks import shown
from sklearn_pairboot._scoring.resolve import resolve_scoring, shared_responses
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.comparison import compare_predictions, compare_scores
from sklearn_pairboot.result import ComparisonResult

# What the library calls its parameters, and what they are called here.
_OPTIONS = {
    "predictions": "--models",
    "scores": "--models",
    "scoring": "--metric",
    "y_true": "--label",
    "pos_label": "--pos-label",
    "groups": "--groups",
    "ids": "--ids",
    "sample_weight": "--sample-weight",
    "baseline": "--baseline",
    "n_resamples": "--resamples",
    "confidence_level": "--confidence-level",
    "margin": "--margin",
    "margin_relative": "--margin-relative",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments after the program's name; ``None`` takes those of the process.

    Returns
    -------
    int
        Exit status: 0, or 2 for bad input. Wrong usage exits by itself, with status 2.
    """
    try:
        options = _parsed(arguments)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            result = compare(options)
        _write(_formatted(result, options.format), options.output)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        return 0
    except InputError as error:
        _say("error", str(error))
        return 2
    except (ValueError, TypeError) as error:
        _say("error", _in_words_of_the_command(str(error)))
        return 2
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        _say("warning", _in_words_of_the_command(text))
    return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    manual = io.StringIO()  # argparse itself would ignore that it cannot be written
    try:
        with contextlib.redirect_stdout(manual):
            return make_parser().parse_args(arguments)
    except SystemExit as stop:
        if not stop.code:
            _write(manual.getvalue(), None)
        raise


def _say(kind: str, text: str) -> None:
    """Write one line to standard error."""
    print(f"{PROGRAM}: {kind}: {visible_text(' '.join(text.split()))}", file=sys.stderr)


def compare(options: argparse.Namespace) -> ComparisonResult:
    """Read the files that the options name, and compare."""
    _check_usage(options)
    first = read_table(options.file, options.separator)
    second = read_table(options.second_file, options.separator) if options.second_file else None
    sources = _sources(options.models, first, second)
    keys = first.column(options.ids, "--ids").as_keys() if options.ids else None
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
    common = {
        "baseline": options.baseline,
        "n_resamples": options.resamples,
        "confidence_level": options.confidence_level,
        "method": options.method,
        "alternative": options.alternative,
        "margin": options.margin,
        "margin_relative": options.margin_relative,
        "correction": None if options.correction == "none" else options.correction,
        "family": options.family,
        "pairs": options.pairs,
        "permutation": options.permutation,
        "n_jobs": options.jobs,
        "random_state": options.seed,
    }
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


def _check_usage(options: argparse.Namespace) -> None:
    """Refuse options that contradict one another, before anything is read."""
    # An empty one comes from a variable that is not set. Leaving it out would change the answer.
    for option in ("label", "groups", "ids", "second_file", "sample_weight", "baseline", "output"):
        if getattr(options, option) == "":
            raise InputError(
                f"--{option.replace('_', '-')} must not be empty, got ''. Leave it out, or say "
                "which."
            )
    if options.label is None:
        for option in ("metric", "pos_label"):
            if getattr(options, option) is not None:
                raise InputError(
                    f"--{option.replace('_', '-')} needs --label. Without it the columns are "
                    "scores of single items, whose means are compared."
                )
    elif options.metric is None:
        raise InputError("--label needs --metric, such as --metric accuracy.")
    elif options.lower_is_better:
        raise InputError("--lower-is-better must come without --label: scorers know the direction.")
    if options.margin is not None and len(options.metric or ()) > 1:
        raise InputError(
            f"--margin must come with one --metric, got {len(options.metric)}: it is in units of "
            "that metric. --margin-relative serves several."
        )
    if options.label in options.models:
        raise InputError(f"--models must not name the column of --label, got {options.label!r}.")
    repeated = [name for name in options.models if options.models.count(name) > 1]
    if repeated:
        raise InputError(f"--models must name each column once, got {repeated[0]!r} twice.")
    if options.second_file and same_file(options.file, options.second_file):
        raise InputError(
            f"--second-file must be another file than FILE, got {options.second_file!r} for both."
        )
    if options.second_file and not options.ids:
        raise InputError(
            "--second-file needs --ids, a column of both files: rows are joined by their id, "
            "never by their position."
        )
    known = get_scorer_names()
    for name in options.metric or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"--metric must be a scorer of scikit-learn, got {name!r}.{hint}")
    if options.output and not Path(options.output).absolute().parent.is_dir():
        raise InputError(f"--output must lie in a folder that exists, got {options.output!r}.")
    for name in filter(None, (options.file, options.second_file)):
        if options.output and name != STDIN and same_file(name, options.output):
            raise InputError(
                f"--output must be another file than those that are read, got {options.output!r}."
            )


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


def _sources(
    columns: Sequence[str], first: Table, second: Table | None
) -> dict[str, tuple[Table, str]]:
    """Find each model's file: name -> (table, column). A column of both files is two models."""
    if second is None:
        return {column: (first, column) for column in columns}
    prefixes = (first.stem, second.stem)
    if prefixes[0] == prefixes[1]:
        prefixes = (first.path, second.path)
    found: list[tuple[str, tuple[Table, str]]] = []
    for column in columns:
        if column not in second.names:
            found.append((column, (first, column)))
        elif column not in first.names:
            found.append((column, (second, column)))
        else:
            found.append((f"{prefixes[0]}:{column}", (first, column)))
            found.append((f"{prefixes[1]}:{column}", (second, column)))
    sources = dict(found)
    if len(sources) < len(found):
        names = [name for name, _ in found]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"--models must give every model a name of its own, got {repeated!r} twice: a column "
            "of both files is two models, called FILE:COL. Rename a column."
        )
    if not any(table is second for table, _ in sources.values()):
        raise InputError(
            f"--models must name a column of {second.path} too, got {shown(columns)}. Its columns "
            f"are: {', '.join(second.names)}."
        )
    return sources


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


def _formatted(result: ComparisonResult, form: str) -> str:
    if form == "json":
        return result.to_json()
    return result.to_markdown() if form == "markdown" else result.summary()


def _write(text: str, path: str | None) -> None:
    text = text.rstrip("\n") + "\n"
    if path is None:
        with _standard_output():
            sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


@contextlib.contextmanager
def _standard_output() -> Iterator[None]:
    """Write to standard output, where every failure but a broken pipe is an `InputError`."""
    if sys.stdout is None:
        raise InputError("Cannot write standard output: it is closed. See --output.")
    try:
        yield
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Cannot write standard output: its encoding, {error.encoding}, has no "
            f"{error.object[error.start]!a}. See --output, which writes UTF-8."
        ) from error
    except OSError as error:
        # Python would try again at its end, and complain in several lines.
        with contextlib.suppress(OSError):  # an output that is no file of the system
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"Cannot write standard output: {error.strerror or error}.") from error


def _in_words_of_the_command(message: str) -> str:
    """Put a message of the library into one line that speaks of options."""
    message = " ".join(message.split())
    # The remedy for a column that cannot serve all metrics is Python.
    message, python, _ = re.split("( Apply a threshold first, or pass|$)", message, maxsplit=1)
    if python:
        message += " Apply a threshold first, or choose metrics of probabilities."
    if re.search(r"(?<!data )\brow\(s\) \d", message):
        message += " Rows are counted from 0 here."
    return re.sub(r"`(\w+)`", lambda found: _OPTIONS.get(found[1], found[0]), message)
