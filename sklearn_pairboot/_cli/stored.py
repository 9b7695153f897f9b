"""Results that an earlier comparison has written as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sklearn_pairboot._cli.columns import InputError
from sklearn_pairboot._cli.output import neutral
from sklearn_pairboot._cli.streams import MOST_BYTES
from sklearn_pairboot._cli.usage import margin_of
from sklearn_pairboot._tables.names import visible_text
from sklearn_pairboot.result import ComparisonResult

# How the comparison was made cannot be changed afterwards.
_QUESTION = (
    "models",
    "names",
    "long",
    "label",
    "metric",
    "pos_label",
    "groups",
    "ids",
    "second_file",
    "sample_weight",
    "separator",
    "resamples",
    "seed",
    "jobs",
)
_FLAGS = ("average_repeats", "lower_is_better", "permutation", "progress")
# How it is read can, where the resamples are kept.
_READING = (
    "baseline",
    "confidence_level",
    "method",
    "alternative",
    "margin_relative",
    "correction",
    "family",
    "pairs",
)


def is_stored(options: argparse.Namespace) -> bool:
    """Tell whether the file is a result rather than a table."""
    return options.command != "compare" and Path(options.file).suffix.lower() == ".json"


def read_result(options: argparse.Namespace) -> ComparisonResult:
    """Read a result, and read it anew where options ask for another baseline or margin."""
    for name in _QUESTION + _FLAGS:
        if getattr(options, name) not in (None, False):
            raise InputError(
                f"--{name.replace('_', '-')} must come with a table, got it with {options.file}, "
                "the result of a comparison that has been made."
            )
    try:
        if Path(options.file).stat().st_size > MOST_BYTES:
            raise InputError(f"Cannot read {options.file}: it is too large for a result.")
        text = Path(options.file).read_text(encoding="utf-8-sig")
        result, has_replicates = _neutral_result(text)
    except OSError as error:
        raise InputError(f"Cannot read {options.file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"Cannot read {options.file}: it is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        reason = str(error).replace("`text`", "it").rstrip(".")
        raise InputError(f"Cannot read {options.file}: {reason}.") from error
    changes: dict[str, Any] = {
        name: getattr(options, name) for name in _READING if getattr(options, name) is not None
    }
    if options.margin is not None:
        changes["margin"] = margin_of(options.margin, None)
    if options.correction == "none":
        changes["correction"] = None
    if not changes:
        return result
    if has_replicates:
        return result.replace(**changes)
    raise InputError(
        f"--{next(iter(changes)).replace('_', '-')} needs the resamples, which {options.file} does "
        "not hold. Compare with --replicates, or with that option."
    )


def _neutral_result(text: str) -> tuple[ComparisonResult, bool]:
    """Read a result whose texts nobody has to trust; also tell whether it has its resamples."""
    result = ComparisonResult.from_json(text)
    names = {name: neutral(name) for name in (*result.models, *result.metrics)}

    def safe(value: Any) -> Any:
        if isinstance(value, str):
            return names.get(value) or visible_text(value)
        if isinstance(value, list):
            return [safe(item) for item in value]
        if isinstance(value, dict):
            return {safe(key): safe(item) for key, item in value.items()}
        return value

    data = json.loads(text)
    neutralised = safe(data)
    if neutralised != data:
        result = ComparisonResult.from_json(json.dumps(neutralised))
    return result, data["distribution"] is not None
