"""What the rows show, in words: one sentence for each comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sklearn_pairboot._engine.inversion import Expansion
from sklearn_pairboot._engine.sample import LARGEST_COUNT, LEAST_TAIL
from sklearn_pairboot._tables import (
    DifferenceRow,
    EquivalenceRow,
    ScoreRow,
    SliceRow,
    contradicts_itself,
    direction_word,
    format_count,
    is_not_worse,
    side_of_zero,
    too_few_units,
)
from sklearn_pairboot._tables.numbers import (
    NumberFormat,
    difference_format,
    format_p,
    format_percent,
)
from sklearn_pairboot.report.facts import Facts, adjusted_apart
from sklearn_pairboot.report.schemes import VALIDATION_AND_TEST

CORRECTION_NAMES = {
    "holm": "Holm",
    "max-t": "max-T",
    "max-t-step-down": "step-down max-T",
    "bonferroni": "Bonferroni",
    "fdr": "Benjamini-Hochberg",
}


def finding(row: DifferenceRow, facts: Facts, number: NumberFormat, n_comparisons: int) -> str:
    """Say in one sentence what these rows show about one comparison, and what they do not."""
    if isinstance(row, EquivalenceRow) and row.verdict == "equivalent":
        return _equivalence(row, facts, number, n_comparisons)
    sentence = _direction_finding(row, facts, number, n_comparisons)
    if not isinstance(row, EquivalenceRow) or row.verdict == "better":
        return sentence
    if math.isnan(row.p_not_worse):
        return sentence
    claim = f"{row.model} is not worse by {_size(row)} or more"
    p = _margin_p(row.p_not_worse, row.p_not_worse_adjusted, facts, n_comparisons)
    if is_not_worse(row, facts.settings.alpha, facts.n_units):
        return f"{sentence[:-1]}; these {facts.unit} show that {claim} ({p})."
    return f"{sentence[:-1]}; these {facts.unit} do not show that {claim} ({p})."


def _equivalence(
    row: EquivalenceRow, facts: Facts, number: NumberFormat, n_comparisons: int
) -> str:
    """Say that a difference lies within its margin, and in which direction."""
    alpha = facts.settings.alpha
    metric = f"{row.metric} ({_direction(row.greater_is_better)})"
    word = direction_word(row, alpha, facts.n_units)
    interval = number.interval(row.equivalence_low, row.equivalence_high)
    p = _margin_p(row.p_equivalence, row.p_equivalence_adjusted, facts, n_comparisons)
    if word == "inconclusive":
        direction = f"these {facts.unit} do not show whether {row.model} is better or worse"
    else:
        direction = f"within the margin {row.model} is {word}"
    return (
        f"{row.model} and {row.baseline} are equivalent on {metric} within {_size(row)}: "
        f"{number(row.difference, signed=True, keep=True)} {interval} at "
        f"{format_percent(1 - 2 * alpha)}, {p}; {direction}: "
        f"{number.interval(row.ci_low, row.ci_high)}, {p_clause(row, facts, n_comparisons)}."
    )


def _size(row: EquivalenceRow) -> str:
    return f"{row.margin:.4g}"


def _margin_p(p_value: float, p_adjusted: float, facts: Facts, n_comparisons: int) -> str:
    alpha = facts.settings.alpha
    clause = _p_equals("p", p_value, alpha)
    if adjusted_apart(facts) and n_comparisons > 1:
        clause += f", {_p_equals('adjusted p', p_adjusted, alpha)}"
    return clause


def _direction_finding(
    row: DifferenceRow, facts: Facts, number: NumberFormat, n_comparisons: int
) -> str:
    """Say what these rows show about which is better."""
    pair, these = f"{row.model} and {row.baseline}", f"these {facts.unit}"
    metric = f"{row.metric} ({_direction(row.greater_is_better)})"
    difference = number(row.difference, signed=True, keep=True)
    numbers = (
        f"{difference} {number.interval(row.ci_low, row.ci_high)}, "
        f"{p_clause(row, facts, n_comparisons)}"
    )
    if row.verdict in ("better", "worse"):
        return f"{row.model} is {row.verdict} than {row.baseline} on {metric}: {numbers}."
    if row.status == "degenerate" and row.difference == 0:
        return (
            f"On {metric} no resample of {these} shows a difference between {pair}; this says "
            f"nothing about unseen {facts.unit}."
        )
    if row.status == "degenerate":
        return (
            f"On {metric} every resample of {these} gives {row.model} - {row.baseline} = "
            f"{difference}; without variation there is no p-value, and unseen {facts.unit} may "
            "differ."
        )
    if row.status == "biased":
        return (
            f"On {metric} {row.model} - {row.baseline} is {difference}, and by how much of it "
            f"the models differ {these} do not show by this metric; see the notes."
        )
    if contradicts_itself(row):
        return (
            f"On {metric} the estimate and the interval of {row.model} - {row.baseline} lie on "
            f"different sides of 0: {numbers}; see the notes."
        )
    if too_few_units(facts.n_units, facts.settings.alpha):
        claim = f"{facts.n_units} {facts.unit} are too few to {_claim(row, facts)}"
    elif side_of_zero(row):
        claim = f"{these} do not {_claim(row, facts)} once all comparisons are accounted for"
    elif facts.settings.alternative == "two-sided":
        claim = f"{these} cannot {_claim(row, facts)}"
    else:
        claim = f"{these} do not {_claim(row, facts)}"
    return f"On {metric} {claim}: {numbers}; {allowed_gap(row, number)}."


def allowed_gap(row: DifferenceRow, number: NumberFormat) -> str:
    """Say how far apart the interval still allows the two models to be, either way."""
    gain, loss = row.ci_high, -row.ci_low
    if not row.greater_is_better:
        gain, loss = loss, gain
    if gain < 0 or loss < 0:
        word, near, far = ("better", -loss, gain) if loss < 0 else ("worse", -gain, loss)
        near_text, far_text = number(near, keep=True), number(far, keep=True)
        size = f"at least {near_text}" if math.isinf(far) else f"{near_text} to {far_text}"
        return f"the interval taken alone allows {row.model} to be {size} {word}"
    allows = f"the interval still allows {row.model} to be up to"
    if gain == loss == 0:
        return "the interval holds nothing but 0"
    if gain == 0 or loss == 0:
        word, other = ("better", "worse") if loss == 0 else ("worse", "better")
        largest = max(gain, loss)
        if math.isinf(largest):
            return f"the interval allows {row.model} to be {word} without limit, and not {other}"
        return f"{allows} {number(largest, keep=True)} {word}, and not {other}"
    if math.isinf(gain) and math.isinf(loss):
        return f"the interval sets no limit to how much better or worse {row.model} may be"
    if math.isinf(gain):
        return f"{allows} {number(loss, keep=True)} worse and sets no limit to how much better"
    if math.isinf(loss):
        return f"{allows} {number(gain, keep=True)} better and sets no limit to how much worse"
    return f"{allows} {number(loss, keep=True)} worse or {number(gain, keep=True)} better"


def p_clause(row: DifferenceRow | SliceRow, facts: Facts, n_comparisons: int) -> str:
    """Write the p-value of a comparison and, in a family of several, the adjusted one."""
    if math.isnan(row.p_value):
        return "no p-value"
    alpha = facts.settings.alpha
    clause = _p_equals("p", row.p_value, alpha)
    correction = facts.settings.correction
    remarks = []
    if row.p_value <= smallest_p(facts) * (1 + 1e-9):
        remarks.append("smallest possible")
    if correction == "max-t" and n_comparisons > 1:
        remarks.append(f"{CORRECTION_NAMES[correction]}, {n_comparisons} comparisons")
    if remarks:
        clause += f" ({'; '.join(remarks)})"
    if adjusted_apart(facts) and n_comparisons > 1:
        clause += (
            f", {_p_equals('adjusted p', row.p_adjusted, alpha)} "
            f"({CORRECTION_NAMES[str(correction)]}, {n_comparisons} comparisons)"
        )
    return clause


def smallest_p(facts: Facts) -> float:
    """Smallest p-value that so many resamples can give; zero where that is not known."""
    by_max_t = facts.settings.correction == "max-t"
    tails = 1 if facts.settings.alternative != "two-sided" or by_max_t else 2
    exact = facts.n_resamples == "exact"
    tail = 1 / (min(facts.n_sequences, LARGEST_COUNT) if exact else facts.n_sequences + 1)
    if facts.exact_by == "convolution" and facts.n_sequences > LARGEST_COUNT:
        tail = LEAST_TAIL
    if not by_max_t and facts.settings.method == "t":
        return 0.0
    if not by_max_t and facts.settings.method == "expanded":
        tail = 0.0 if facts.stratified else Expansion(facts.n_units).tail(tail)
    return min(1.0, tails * tail)


def crossed(facts: Facts) -> str:
    """Name two crossed factors with their numbers of levels."""
    return " x ".join(f"{levels} levels of {name}" for name, levels in facts.factors)


def title(facts: Facts) -> str:
    """Name the models' number and the data."""
    kind = facts.scheme if facts.scheme == VALIDATION_AND_TEST else "test"
    data = f"{facts.n_rows} {kind} rows"
    if facts.factors:
        data += f" of {crossed(facts)}"
    elif facts.unit != "rows":
        data += f" in {facts.n_units} {facts.unit}"
    if len(facts.models) == 1:
        return f"Bootstrap of {facts.models[0]} on {data}"
    word = "Paired" if facts.paired else "Unpaired"
    return f"{word} bootstrap of {len(facts.models)} models on {data}"


def findings(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> list[str]:
    """Give one sentence for each comparison, and one more for a value that is a convention."""
    sentences = []
    of = {(row.metric, row.model): row for row in scores}
    together = facts.settings.family == "all"
    for metric in facts.metrics:
        rows = [row for row in differences if row.metric == metric.name]
        number = difference_format(rows)
        family = differences if together else rows
        tested: list[DifferenceRow | SliceRow] = [*family, *(facts.slices if together else ())]
        n_comparisons = sum(not math.isnan(row.p_value) for row in tested)
        for row in rows:
            sentence = finding(row, facts, number, n_comparisons)
            places = [(row.metric, model) for model in (row.model, row.baseline)]
            pair = [of[place] for place in places if place in of]
            sentences.append(" ".join([sentence, *by_convention(facts, pair)]))
    return sentences


def by_convention(facts: Facts, scores: Sequence[ScoreRow]) -> list[str]:
    """Say which values are 0/0 in most resamples, and so the metric's convention."""
    said = []
    for row in scores:
        if 2 * row.n_zero_division <= facts.n_sequences:
            continue
        if row.ci_low == row.ci_high:
            said.append(
                f"The {row.metric} of {row.model} is 0/0, and {row.estimate:g} by convention alone "
                "(`zero_division`)."
            )
        else:
            said.append(
                f"The {row.metric} of {row.model} takes 0/0 by convention (`zero_division`) in "
                f"{format_count(row.n_zero_division)} of {format_count(facts.n_sequences)} "
                "resamples."
            )
    return said


def _claim(row: DifferenceRow, facts: Facts) -> str:
    if facts.settings.alternative == "two-sided":
        return f"separate {row.model} and {row.baseline}"
    return f"show that {row.model} is {facts.settings.alternative} than {row.baseline}"


def _direction(greater_is_better: bool) -> str:
    return f"{'higher' if greater_is_better else 'lower'} is better"


def _p_equals(name: str, p_value: float, alpha: float) -> str:
    text = format_p(p_value, alpha)
    return f"{name} {text}" if text.startswith("<") else f"{name} = {text}"
