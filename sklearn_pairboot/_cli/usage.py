"""Options that contradict one another, and the names and margins of metrics."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence

from sklearn.metrics import get_scorer_names

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.files import same_file
from sklearn_pairboot._scoring.resolve import resolve_scoring


def check_usage(options: argparse.Namespace) -> None:
    """Refuse options that contradict one another, before anything is read."""
    # An empty one comes from a variable that is not set. Leaving it out would change the answer.
    for option in ("label", "groups", "ids", "second_file", "sample_weight", "baseline"):
        if getattr(options, option) == "":
            raise InputError(
                f"--{option.replace('_', '-')} must not be empty, got ''. Leave it out, or say "
                "which."
            )
    _check_columns(options)
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
    if (
        options.margin is not None
        and len(options.metric or ()) > 1
        and not isinstance(margin_of(options.margin, options.metric), dict)
    ):
        raise InputError(
            f"--margin must say METRIC=NUMBER where there are several metrics, got one number for "
            f"{len(options.metric)}: it is in units of a metric. --margin-relative serves several."
        )
    if options.label in (options.models or ()):
        raise InputError(f"--models must not name the column of --label, got {options.label!r}.")
    models = options.models or []
    repeated = [name for name in models if models.count(name) > 1]
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
    metrics = options.metric or []
    for name in metrics:
        if metrics.count(name) > 1:
            raise InputError(f"--metric must name each metric once, got {name!r} twice.")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"--metric must be a scorer of scikit-learn, got {name!r}.{hint}")


def _check_columns(options: argparse.Namespace) -> None:
    """Refuse a call that does not say, in one way, where the models' answers stand."""
    if options.long is None:
        if options.average_repeats:
            raise InputError("--average-repeats needs --long.")
        if not options.models:
            raise InputError(
                "--models must name the columns of the models' answers. Or name those of item, "
                "model and score with --long."
            )
        return
    for option in ("names", "label", "ids", "second_file"):
        if getattr(options, option) is not None:
            raise InputError(
                f"--{option.replace('_', '-')} must come without --long, whose rows hold the score "
                "of one model on one item each."
            )


def metric_name(name: str, metrics: Sequence[str] | None) -> str:
    """Name a metric as the report does, also where it is called by its scorer's name."""
    for metric in metrics or ():
        if name == metric:
            return resolve_scoring([metric])[0].name
    return name


def margin_of(
    given: Sequence[float | tuple[str, float]] | None, metrics: Sequence[str] | None
) -> float | dict[str, float] | None:
    """Give the margin of the one metric, or those of several by their names."""
    if given is None:
        return None
    named = {metric_name(part[0], metrics): part[1] for part in given if isinstance(part, tuple)}
    if not named and len(given) == 1:
        return next(part for part in given if not isinstance(part, tuple))
    if len(named) < len(given):
        raise InputError(
            "--margin must be one number, or METRIC=NUMBER once for each metric, such as "
            "--margin accuracy=0.01 log_loss=0.02."
        )
    return named
