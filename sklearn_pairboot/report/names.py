"""Names in reports: whatever a model is called, its report keeps its lines and its markup."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence

from sklearn_pairboot._tables import DifferenceRow, ScoreRow
from sklearn_pairboot._tables.names import visible, visible_text
from sklearn_pairboot.report.facts import Facts

# Markup anywhere; underscores only at the edge of a word, where they can be markup.
_MARKUP = re.compile(r"[\\|*`<>&\[\]~$]|(?<![^\W_])_|_(?![^\W_])|^[#+-]|^\d+[.)](?=\s|$)")
# GitHub finds people and issues in the text that remains when escapes are resolved.
_REFERENCE = re.compile(r"(?<!\w)[@#](?=\w)")
_CODE = re.compile(r"(`[\w.=()\"', -]+`)")


def escaped(name: str) -> str:
    """Escape what markdown would read as markup in a name."""
    return _escaped(visible(name))


def escaped_note(note: str) -> str:
    """Escape a note, which may hold names, except for its code of plain characters."""
    parts = _CODE.split(visible_text(" ".join(note.split())))
    return "".join(part if k % 2 else _escaped(part) for k, part in enumerate(parts))


def renamed(
    facts: Facts,
    scores: Sequence[ScoreRow],
    differences: Sequence[DifferenceRow],
    name: Callable[[str], str],
) -> tuple[Facts, list[ScoreRow], list[DifferenceRow]]:
    """Write all names of models and metrics in another way."""
    return (
        dataclasses.replace(
            facts,
            models=tuple(map(name, facts.models)),
            metrics=tuple(dataclasses.replace(m, name=name(m.name)) for m in facts.metrics),
            factors=tuple((name(factor), levels) for factor, levels in facts.factors),
            settings=dataclasses.replace(
                facts.settings,
                baseline=name(facts.settings.baseline),
                margin=_renamed_keys(facts.settings.margin, name),
                margin_relative=_renamed_keys(facts.settings.margin_relative, name),
            ),
            permutations=tuple(
                dataclasses.replace(
                    row, metric=name(row.metric), model=name(row.model), baseline=name(row.baseline)
                )
                for row in facts.permutations
            ),
            monte_carlo=tuple(
                dataclasses.replace(
                    row,
                    metric=name(row.metric),
                    model=name(row.model),
                    baseline=row.baseline and name(row.baseline),
                )
                for row in facts.monte_carlo
            ),
            slices=tuple(
                dataclasses.replace(
                    row,
                    metric=name(row.metric),
                    slice=name(row.slice),
                    label=name(row.label),
                    model=name(row.model),
                    baseline=name(row.baseline),
                )
                for row in facts.slices
            ),
            split_tests=tuple(
                dataclasses.replace(
                    row, metric=name(row.metric), model=name(row.model), baseline=name(row.baseline)
                )
                for row in facts.split_tests
            ),
        ),
        [
            dataclasses.replace(row, metric=name(row.metric), model=name(row.model))
            for row in scores
        ],
        [
            dataclasses.replace(
                row, metric=name(row.metric), model=name(row.model), baseline=name(row.baseline)
            )
            for row in differences
        ],
    )


def _renamed_keys(
    margin: float | Mapping[str, float] | None, name: Callable[[str], str]
) -> float | Mapping[str, float] | None:
    if isinstance(margin, Mapping):
        return {name(metric): value for metric, value in margin.items()}
    return margin


def _escaped(text: str) -> str:
    # The mark to escape is the last character: all of it but the digits of "1."
    text = _MARKUP.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)
    return _REFERENCE.sub(lambda found: f"{found[0]}<!-- -->", text)
