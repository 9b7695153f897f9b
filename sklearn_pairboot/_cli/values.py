"""Values of options: each is read, or refused with the rule it breaks."""

from __future__ import annotations

import argparse


def resamples(text: str) -> int | str:
    """Read a number of resamples, or a word for it."""
    if text in ("exact", "auto"):
        return text
    return _integer(text, 2, "an integer of at least 2, 'exact' or 'auto'")


def seed(text: str) -> int:
    """Read a seed."""
    return _integer(text, 0, "a non-negative integer")


def jobs(text: str) -> int:
    """Read a number of jobs."""
    number = _integer(text, None, rule := "an integer, but not 0 (-1 for all processors)")
    if number == 0:
        raise argparse.ArgumentTypeError(f"must be {rule}, got {text!r}")
    return number


def _integer(text: str, least: int | None, rule: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        raise argparse.ArgumentTypeError(f"must be {rule}, got {text!r}")
    return number


def margin(text: str) -> float:
    """Read a margin."""
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text!r}") from error


def margin_of_metric(text: str) -> float | tuple[str, float]:
    """Read a margin, or one of a named metric."""
    metric, equals, size = text.rpartition("=")
    return (metric, margin(size)) if equals else margin(size)


def three_columns(text: str) -> tuple[str, str, str]:
    """Read the columns of item, model and score."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 3 or len(set(names)) < 3 or "" in names:
        raise argparse.ArgumentTypeError(
            "must be three columns with commas between them, such as item,model,score, got "
            f"{text!r}"
        )
    return names[0], names[1], names[2]


def level(text: str) -> float:
    """Read a confidence level."""
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"must be a number between 0 and 1, such as 0.95, got {text!r}"
        ) from error


def separator(text: str) -> str:
    """Read a mark between cells."""
    # What stands in numbers and names would tear cells apart, and pandas treats some marks and
    # all longer texts as patterns.
    plain = len(text) == 1 and text.isascii() and not text.isalnum() and text not in "\\\"'._+-"
    if not plain or not (text == "\t" or text.isprintable()):
        raise argparse.ArgumentTypeError(
            "must be one plain character such as ; or | or a real tab (in a shell $'\\t'), got "
            f"{text!r}"
        )
    return text
