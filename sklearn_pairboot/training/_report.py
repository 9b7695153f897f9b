"""A comparison of methods in words and as text tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sklearn_pairboot._engine.intervals import alpha_of
from sklearn_pairboot._tables.lines import wrapped
from sklearn_pairboot._tables.names import visible, visible_text
from sklearn_pairboot._tables.numbers import NumberFormat, format_p, format_percent, format_share
from sklearn_pairboot.report.findings import CORRECTION_NAMES
from sklearn_pairboot.report.names import escaped, escaped_note

if TYPE_CHECKING:
    from sklearn_pairboot.training.result import MethodComparison, MethodEstimate

_SCORES = "Scores (the method's average)"
_TARGETS = {
    "average": "the method's average",
    "one_model": "one model drawn from the method",
    "crossed": "the method's average",
    "test_rows_only": "these fits only",
}


def summary(result: MethodComparison) -> str:
    """Write what was found, for which target, where variance comes from, how it was computed."""
    heading = title(result)
    lines = [heading, "=" * len(heading), ""]
    for row in result.differences or result.scores:
        lines += wrapped(finding(row, result), "- ")
    for row in result.differences or result.scores:
        lines += ["", title_of(row)]
        lines += [*_table(target_cells(row, result)), "", *_table(variance_cells(row, result))]
        lines += wrapped(doubled(row, result), "  ")
    if result.differences:
        lines += ["", _SCORES, *(f"  {_score(row)}" for row in result.scores)]
    lines += ["", "How this was computed"]
    for label, text in statements(result):
        lines += wrapped(text, f"  {label:<12}")
    if result.notes:
        lines += ["", "Notes"]
    for note in result.notes:
        lines += wrapped(visible_text(note), "- ")
    return "\n".join(lines)


def markdown(result: MethodComparison) -> str:
    """Write the contents of the summary as GitHub-flavoured markdown."""
    result = _renamed(result)
    rows = result.differences or result.scores
    blocks = [f"## {title(result)}", _list(finding(row, result) for row in rows)]
    for row in rows:
        blocks += [
            f"### {_what(row)}, {row.metric} ({direction(row)})",
            _markdown_table(target_cells(row, result), 2),
            _markdown_table(variance_cells(row, result), 1),
            doubled(row, result),
        ]
    if result.differences:
        blocks += [f"### {_SCORES}", _list(map(_score, result.scores))]
    blocks.append("### How this was computed")
    blocks.append(_list(f"**{label}**: {text}" for label, text in statements(result)))
    if result.notes:
        blocks += ["### Notes", _list(map(escaped_note, result.notes))]
    return "\n\n".join(blocks) + "\n"


def _renamed(result: MethodComparison) -> MethodComparison:
    """Write all names as markdown takes them."""

    def rows(of: Sequence[MethodEstimate]) -> tuple[MethodEstimate, ...]:
        return tuple(
            replace(
                row,
                metric=escaped(row.metric),
                model=escaped(row.model),
                baseline=None if row.baseline is None else escaped(row.baseline),
            )
            for row in of
        )

    return replace(
        result,
        models=tuple(map(escaped, result.models)),
        scores=rows(result.scores),
        differences=rows(result.differences),
    )


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _markdown_table(cells: Sequence[Sequence[str]], n_words: int) -> str:
    """Write a table, its first columns of words to the left."""
    header, *rows = cells
    rule = ["---" if place < n_words else "---:" for place in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows))


def title(result: MethodComparison) -> str:
    """Name the methods."""
    models = ", ".join(map(visible, result.models))
    return f"{'Comparison of methods' if result.differences else 'Scores of a method'}: {models}"


def _score(row: MethodEstimate) -> str:
    number = number_format(row)
    ends = number.interval(row.average.ci_low, row.average.ci_high)
    return f"{visible(row.model)}, {visible(row.metric)}: {number(row.estimate)} {ends}"


def finding(row: MethodEstimate, result: MethodComparison) -> str:
    """Say in a sentence what was found about one method, or two."""
    number = number_format(row)
    level = format_percent(result.confidence_level)
    average, one = row.average, row.one_model
    fits = _fits(result)
    if row.baseline is None:
        return (
            f"{visible(row.metric)} ({direction(row)}) of {visible(row.model)} is "
            f"{number(row.estimate)} on average "
            f"over {fits}, {level} interval {number.interval(average.ci_low, average.ci_high)}; "
            f"of one model drawn from it {number.interval(one.ci_low, one.ci_high)}."
        )
    names = f"{visible(row.model)} - {visible(row.baseline)}"
    p = format_p(row.p_adjusted, alpha_of(result.confidence_level))
    p = p if p.startswith("<") else f"= {p}"
    words = {
        "better": f"The method {visible(row.model)} is better on average",
        "worse": f"The method {visible(row.model)} is worse on average",
        "inconclusive": "Inconclusive: the data do not show which method is better on average",
    }
    return (
        f"{words[row.verdict]}. {visible(row.metric)} ({direction(row)}), {names}: "
        f"{number(row.estimate, signed=True, keep=True)}, {level} interval of the average over "
        f"{fits} {number.interval(average.ci_low, average.ci_high)}, p {p}; of one model drawn "
        f"from each method {number.interval(one.ci_low, one.ci_high)}."
    )


def target_cells(row: MethodEstimate, result: MethodComparison) -> list[list[str]]:
    """Give every target's estimate as text, the header first."""
    number = number_format(row)
    alpha = alpha_of(result.confidence_level)
    level = format_percent(result.confidence_level)
    cells = [["target", "by", "SE", f"{level} interval", "p" if row.baseline else ""]]
    for name, words in _TARGETS.items():
        found = getattr(row, name)
        p = format_p(found.p_value, alpha) if row.baseline else ""
        ends = number.interval(found.ci_low, found.ci_high)
        cells.append([words, found.variant, number(found.std_error), ends, p])
    return cells


def variance_cells(row: MethodEstimate, result: MethodComparison) -> list[list[str]]:
    """Give every source of variance as text, the header first."""
    level = format_percent(result.confidence_level)
    cells = [["variance of the average from", "component", "share", f"{level} interval"]]
    for part in row.variances:
        ends = f"[{format_share(part.share_low)}, {format_share(part.share_high)}]"
        cells.append([part.source, f"{part.variance:.3g}", format_share(part.share), ends])
    return cells


def doubled(row: MethodEstimate, result: MethodComparison) -> str:
    """Say what more of everything would buy."""
    if row.average.std_error == 0:
        return "Nothing varies."
    number = number_format(row)
    offers = {f"test {result.unit}": row.predict_std_error(n_items=2 * result.n_units)}
    if result.n_sets > 1:
        offers["training sets"] = row.predict_std_error(n_sets=2 * result.n_sets)
    if "seed" in {part.source for part in row.variances}:
        offers["seeds"] = row.predict_std_error(n_seeds=round(2 * result.n_seeds))
    listed = ", ".join(f"twice the {name} {number(value)}" for name, value in offers.items())
    return f"SE now {number(row.average.std_error)}; with {listed}."


def statements(result: MethodComparison) -> list[tuple[str, str]]:
    """State how the numbers came about, as pairs of a label and a text."""
    unit = f"test {result.unit}"
    varied = _varied(result)
    pairs = [
        ("Varies", f"{varied} and {unit}: {_fits(result)}, {result.n_units} {unit}"),
        (
            "Average",
            "random-effects analysis of variance of fits crossed with units; "
            + (
                "normal laws mixed over what the mean squares, taken as chi-squared, allow"
                if result.scores[0].average.variant == "generalized pivot"
                else "Student's t with Satterthwaite's degrees of freedom"
            ),
        ),
        (
            "One model",
            f"percentiles of all fits in all resamples of {unit}, pooled: the uncertainty of a "
            "single trained model, which more fits do not reduce",
        ),
        (
            "Crossed",
            "fits and units both drawn with replacement: counts their interaction about three "
            "times, and shrinks the variance of K seeds by (K - 1) / K",
        ),
        ("These fits", f"only which {unit} are drawn varies; retraining is not covered"),
        ("Shares", "generalized confidence intervals from the mean squares, taken as chi-squared"),
    ]
    if result.resampled_training:
        pairs.append(
            (
                "Training",
                "training sets are resamples of one training sample: its own variance, estimated "
                "by theirs, is counted once on top in the average, not in the crossed bootstrap; "
                "more resamples do not reduce it",
            )
        )
    if result.training:
        known = result.training
        pairs.append(
            (
                "Trained",
                f"on {known['n_train_rows']} rows; hash of the training data "
                f"{known['training_data_hash'][:8]}, of the test data "
                f"{known['test_data_hash'][:8]}; settings and seeds are in `training`",
            )
        )
    n_tests = len({row.model for row in result.differences})
    if result.correction and n_tests > 1:
        name = CORRECTION_NAMES[result.correction]
        pairs.append(("p-values", f"verdicts follow those of the average, adjusted by {name}"))
    if result.n_resamples == "exact":
        pairs.append(("Resamples", "all of them, enumerated"))
    else:
        pairs.append(("Resamples", f"{result.n_resamples} of {unit}, shared by all fits"))
    if result.random_state_entropy is not None:
        pairs.append(("Seed", f"random_state={result.random_state_entropy}"))
    return pairs


def _varied(result: MethodComparison) -> str:
    sources = [part.source for part in result.scores[0].variances if " x " not in part.source]
    return " and ".join(source for source in sources if not source.startswith("test "))


def _fits(result: MethodComparison) -> str:
    if result.n_sets == 1:
        return f"{result.n_seeds:g} seeds"
    if result.n_seeds == 1:
        return f"{result.n_sets} training sets"
    return f"{result.n_sets} training sets of {result.n_seeds:.3g} seeds each"


def _what(row: MethodEstimate) -> str:
    if row.baseline is None:
        return visible(row.model)
    return f"{visible(row.model)} - {visible(row.baseline)}"


def title_of(row: MethodEstimate) -> str:
    """Name a row, with the direction of its metric."""
    return f"{_what(row)}, {visible(row.metric)} ({direction(row)})"


def direction(row: MethodEstimate) -> str:
    """Say which way the metric points."""
    return f"{'higher' if row.greater_is_better else 'lower'} is better"


def number_format(row: MethodEstimate) -> NumberFormat:
    """Choose one format for all numbers of a row."""
    targets = [getattr(row, name) for name in _TARGETS]
    values = [row.estimate, *(end for found in targets for end in (found.ci_low, found.ci_high))]
    return NumberFormat.from_errors([row.average.std_error], values)


def _table(cells: Sequence[Sequence[str]]) -> list[str]:
    """Write rows under each other, the first columns of words to the left."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    n_words = 2 if len(widths) == 5 else 1
    return [
        (
            "  "
            + "  ".join(
                text.ljust(width) if place < n_words else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            )
        ).rstrip()
        for row in cells
    ]
