"""The command line: files in, report and exit status out."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from sklearn_pairboot._cli.arguments import make_parser
from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.files import same_file
from sklearn_pairboot._cli.gate import Decision, decide
from sklearn_pairboot._cli.manual import PROGRAM
from sklearn_pairboot._cli.output import (
    format_of,
    formatted,
    write_files,
    write_standard_output,
)
from sklearn_pairboot._cli.question import compare
from sklearn_pairboot._cli.stored import is_stored, read_result
from sklearn_pairboot._cli.streams import STDIN
from sklearn_pairboot._cli.usage import check_usage
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.result import ComparisonResult

PASSED, FAILED, BAD_INPUT = 0, 1, 2

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
    "verbose": "--progress",
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
        Exit status: 0, 1 where a gate does not pass, or 2 for bad input. Wrong usage exits by
        itself, with status 2.
    """
    names = _OPTIONS
    try:
        options = _parsed(arguments)
        if options.long:
            names = {**_OPTIONS, "ids": "--long"}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            status = _run(options)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        return PASSED
    except InputError as error:
        _say("error", str(error))
        return BAD_INPUT
    except MemoryError:
        _say("error", "There is not enough memory for these rows. Compare fewer of them.")
        return BAD_INPUT
    except (ValueError, TypeError, ImportError) as error:  # such as an extra that is missing
        _say("error", _in_words_of_the_command(str(error), names))
        return BAD_INPUT
    except KeyboardInterrupt:
        _say("error", "Interrupted.")
        return BAD_INPUT
    except Exception as error:  # Python would exit with 1, which says that a gate does not pass
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        _say("error", f"This is a fault of {PROGRAM}. Please report it with the command: {reason}.")
        return BAD_INPUT
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        _say("warning", _in_words_of_the_command(text, names))
    return status


def _run(options: argparse.Namespace) -> int:
    _check_output(options)
    if is_stored(options):
        result = read_result(options)
    else:
        check_usage(options)
        result = compare(options)
    decision = decide(result, options) if options.command == "gate" else None
    outputs: list[str] = options.output or []
    write_files({path: _report(result, decision, options, path) for path in outputs})
    if decision is not None:
        with contextlib.suppress(BrokenPipeError):  # that nobody reads on opens no gate
            write_standard_output("".join(f"{visible_text(line)}\n" for line in decision.lines))
        return PASSED if decision.passed else FAILED
    if not outputs:
        write_standard_output(_report(result, None, options, None))
    return PASSED


def _report(
    result: ComparisonResult,
    decision: Decision | None,
    options: argparse.Namespace,
    path: str | None,
) -> str:
    form = format_of(path, options.format)
    text = formatted(result, form, replicates=options.replicates)
    if decision is not None and form == "markdown":
        return decision.in_markdown(text)
    if decision is not None and form == "json":
        return decision.in_json(text)
    return text


def _check_output(options: argparse.Namespace) -> None:
    """Refuse outputs that cannot be, or that would replace what is read, before any work."""
    outputs: list[str] = options.output or []
    for path in outputs:
        if not path:
            raise InputError("--output must not be empty, got ''. Leave it out, or say which.")
        if path == STDIN or not os.path.basename(path):
            raise InputError(
                f"--output must name a file, got {path!r}. What is written to standard output "
                "needs no option."
            )
        if not Path(path).absolute().parent.is_dir():
            raise InputError(f"--output must lie in a folder that exists, got {path!r}.")
        for read in filter(None, (options.file, options.second_file)):
            if read != STDIN and same_file(read, path):
                raise InputError(
                    f"--output must be another file than those that are read, got {path!r}."
                )
    if len(outputs) > 1 and options.format:
        raise InputError(
            f"--format must come with one --output at most, got {len(outputs)}: the endings of "
            "several say their formats."
        )
    if options.command == "gate" and options.format and not outputs:
        raise InputError("--format needs --output: a gate writes its lines to standard output.")
    if len({Path(path).absolute() for path in outputs}) < len(outputs):
        raise InputError("--output must name each file once.")


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    manual = io.StringIO()  # argparse itself would ignore that it cannot be written
    try:
        with contextlib.redirect_stdout(manual):
            return make_parser().parse_args(arguments)
    except SystemExit as stop:
        if not stop.code:
            write_standard_output(manual.getvalue())
        raise


def _say(kind: str, text: str) -> None:
    """Write one line to standard error, if it can be written."""
    if sys.stderr is None:  # print would take standard output for it
        return
    with contextlib.suppress(OSError):
        print(f"{PROGRAM}: {kind}: {visible_text(' '.join(text.split()))}", file=sys.stderr)
        sys.stderr.flush()


def _in_words_of_the_command(message: str, names: dict[str, str]) -> str:
    """Put a message of the library into one line that speaks of options."""
    message = " ".join(message.split())
    # The remedy for a column that cannot serve all metrics is Python.
    message, python, _ = re.split("( Apply a threshold first, or pass|$)", message, maxsplit=1)
    if python:
        message += " Apply a threshold first, or choose metrics of probabilities."
    if re.search(r"(?<!data )\brow(\(s\))? \d", message):
        message += " Rows are counted from 0 here."
    message = message.replace(" must be None ", " must be left out ")
    message = re.sub(r"`(\w+)=(\w+)`", _as_option, message)
    return re.sub(r"`(\w+)`", lambda found: names.get(found[1], found[0]), message)


def _as_option(found: re.Match[str]) -> str:
    """Write a value that the library suggests for a parameter as it is given here."""
    option = _OPTIONS.get(found[1])
    return f"{option} {found[2]}" if option else found[0]
