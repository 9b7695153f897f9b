"""The method paragraph: how a comparison was made, in sentences for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sklearn_pairboot._tables import BAYESIAN, PLAIN, DifferenceRow, ScoreRow, format_count, listed
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.report.facts import Facts, family_size
from sklearn_pairboot.report.findings import CORRECTION_NAMES, crossed
from sklearn_pairboot.report.schemes import (
    TWO_STAGE,
    VALIDATION_AND_TEST,
    is_posterior_share,
)

_INTERVALS = {
    "percentile": "percentile intervals",
    "basic": "basic (reflected percentile) intervals",
    "normal": "normal intervals, the estimate plus or minus a multiple of its standard error",
    "bca": "bias-corrected and accelerated (BCa) intervals",
    "studentized": "studentized (bootstrap-t) intervals",
    "t": "intervals by Student's t with a cluster-robust standard error",
    "expanded": "percentile intervals expanded for the small number of units",
}
_NAMES = {
    "python": "Python",
    "sklearn-pairboot": "sklearn-pairboot",
    "scikit-learn": "scikit-learn",
    "numpy": "NumPy",
    "scipy": "SciPy",
}


def methods(
    facts: Facts, rows: Sequence[ScoreRow | DifferenceRow], versions: Mapping[str, str]
) -> str:
    """Write the paragraph."""
    sentences = [_evaluation(facts), _resampling(facts), _intervals(facts)]
    sentences += _other_intervals(facts, rows)
    if len(facts.models) > 1:
        sentences += [*_tests(facts), *_further_tests(facts)]
    sentences.append(_held_fixed(facts))
    sentences += _software(facts, versions)
    return " ".join(sentences)


def _evaluation(facts: Facts) -> str:
    metrics = ", ".join(f"{metric.name} ({metric.direction})" for metric in facts.metrics)
    kind = "validation and test" if facts.scheme == VALIDATION_AND_TEST else "test"
    rows = f"{facts.n_rows} {kind} rows"
    if facts.factors:
        rows += f" of {crossed(facts)}"
    elif facts.unit != "rows":
        low, middle, high = (f"{size:g}" for size in facts.unit_sizes)
        rows += f" in {facts.n_units} {facts.unit}"
        if facts.unit == "clusters":
            rows += f" (smallest {low}, median {middle}, largest {high} rows)"
    if len(facts.models) == 1:
        text = f"{facts.models[0]} was evaluated on {rows} by {metrics}"
    else:
        text = f"The {len(facts.models)} models {listed(facts.models)} were evaluated on {rows}"
        text += f", shared by all, by {metrics}" if facts.paired else f" by {metrics}"
    if facts.weighted:
        text += ", with sample weights"
    if facts.estimand == "clusters":
        text += ", where clusters counted alike whatever their size"
    return f"{text}."


def _resampling(facts: Facts) -> str:
    several = len(facts.models) > 1
    pairing = ("paired " if facts.paired else "unpaired ") if several else ""
    if facts.n_resamples == "exact":
        count = format_count(facts.n_sequences)
        how = "convolution" if facts.exact_by == "convolution" else "enumeration"
        text = (
            f"Sampling variation was assessed by the {pairing}bootstrap, of which all {count} "
            f"equally likely resamples were taken by {how}: {_drawn(facts)}"
        )
    else:
        article = "an" if pairing.startswith("un") else "a"
        drawings = "posterior draws" if facts.scheme == BAYESIAN else "resamples"
        text = (
            f"Sampling variation was assessed by {article} {pairing}{_bootstrap(facts)} with "
            f"{facts.n_resamples} {drawings}: {_drawn(facts)}"
        )
    if facts.stratified:
        text += ", within strata of fixed size"
    if several:
        text += ", alike for all models" if facts.paired else ", anew for each model"
    return f"{text}."


def _bootstrap(facts: Facts) -> str:
    if facts.scheme in (PLAIN, VALIDATION_AND_TEST):
        return "bootstrap" if facts.unit != "clusters" else "cluster bootstrap"
    return {BAYESIAN: "Bayesian bootstrap", TWO_STAGE: "two-stage cluster bootstrap"}.get(
        facts.scheme, f"bootstrap of {facts.scheme}"
    )


def _drawn(facts: Facts) -> str:
    if facts.scheme == BAYESIAN:
        return f"{facts.unit} received random Dirichlet(1, ..., 1) weights"
    if facts.scheme == TWO_STAGE:
        return f"{facts.unit}, and then their rows, were drawn with replacement"
    if facts.scheme == VALIDATION_AND_TEST:
        return f"{facts.unit} of validation and of test were drawn with replacement, each by itself"
    if facts.factors:
        names = " and ".join(name for name, _ in facts.factors)
        return (
            f"levels of {names}, and their cells, were drawn with replacement, and variances "
            "combined as V1 + V2 - V12"
        )
    whole = " as a whole" if facts.unit == "clusters" else ""
    return f"{facts.unit} were drawn{whole} with replacement"


def _intervals(facts: Facts) -> str:
    settings = facts.settings
    level = format_percent(settings.confidence_level)
    text = f"Intervals were {level} {_INTERVALS[settings.method]}"
    if len(facts.models) > 1 and settings.correction == "max-t":
        text += "; those of differences were simultaneous by max-T"
        if settings.alternative != "two-sided":
            text += f', with one bound (alternative "{settings.alternative}")'
    elif len(facts.models) > 1 and settings.alternative != "two-sided":
        text += f'; those of differences had one bound (alternative "{settings.alternative}")'
    return f"{text}."


def _other_intervals(facts: Facts, rows: Sequence[ScoreRow | DifferenceRow]) -> list[str]:
    """Name the intervals that were made in another way, and those that were not made."""
    of = {
        rule: [metric.name for metric in facts.metrics if metric.interval_rule == rule]
        for rule in ("normal", "biased")
    }
    parts = []
    if of["normal"] and facts.settings.method != "normal":
        parts.append(f"Those of {listed(of['normal'])}, a debiased square, were normal intervals")
    if of["biased"]:
        parts.append(f"No intervals were given for {listed(of['biased'])}, which is biased upwards")
    replaced = [row for row in rows if row.status.startswith("percentile")]
    if replaced:
        parts.append(
            f"For {listed(list(dict.fromkeys(map(_place, replaced))))} percentile intervals took "
            "their place"
        )
    return [f"{part}." for part in parts]


def _place(row: ScoreRow | DifferenceRow) -> str:
    if isinstance(row, DifferenceRow):
        return f"{row.metric} ({row.model} - {row.baseline})"
    return f"{row.metric} ({row.model})"


def _tests(facts: Facts) -> list[str]:
    settings = facts.settings
    against = f"model minus {settings.baseline}"
    if settings.pairs == "all" and len(facts.models) > 2:
        against = "one model minus another, for all pairs"
    text = f"Differences were {against} in units of the metric"
    size = family_size(facts)
    p_values = "p-values were the smallest error levels at which the interval excluded 0"
    if is_posterior_share(facts):
        tail = "two-sided tail shares" if settings.alternative == "two-sided" else "shares"
        p_values = f"p-values were the {tail} of the posterior draws beyond 0"
    if size > 1 and settings.correction is not None:
        of = "all metrics" if settings.family == "all" else "each metric"
        name = CORRECTION_NAMES[settings.correction]
        p_values += f", adjusted for the {size} comparisons of {of} ({name})"
    elif size > 1:
        p_values += f", not adjusted for the {size} comparisons"
    return [f"{text}; {p_values}."]


def _further_tests(facts: Facts) -> list[str]:
    settings, sentences = facts.settings, []
    if settings.has_margin:
        sentences.append(
            f"Equivalence and not being worse were tested at margins ({_margins(facts)}) by "
            f"one-sided tests at {format_percent(settings.alpha)}."
        )
    if facts.permutations:
        modes = listed(list(dict.fromkeys(row.mode for row in facts.permutations)))
        sentences.append(
            "Permutation p-values were found by swapping the answers of two models within "
            f"{facts.unit} ({modes}); their null hypothesis was that the models were exchangeable."
        )
    if facts.slices:
        names = listed(list(dict.fromkeys(row.slice for row in facts.slices)))
        corrected = "" if settings.correction is None else ", with their p-values adjusted as well"
        sentences.append(f"Subgroups by {names} were compared on these resamples{corrected}.")
    if facts.split_tests:
        sentences.append(
            "Methods, as opposed to fitted models, were compared by the corrected resampled t test "
            f"on {max(row.df for row in facts.split_tests) + 1} splits."
        )
    return sentences


def _held_fixed(facts: Facts) -> str:
    if facts.split_tests and len(facts.models) > 1:
        return (
            f"The bootstrap held fixed {facts.held_fixed}; variation by retraining was assessed by "
            "the t test alone."
        )
    return (
        f"Held fixed were {facts.held_fixed}; variation by retraining and by random seeds of "
        "training was not assessed."
    )


def _margins(facts: Facts) -> str:
    settings = facts.settings
    parts = []
    for metric in facts.metrics:
        margin, share = settings.margin_of(metric.name), settings.margin_relative_of(metric.name)
        if margin is not None:
            parts.append(f"{metric.name}: {margin:.4g}")
        elif share is not None:
            parts.append(f"{metric.name}: {format_percent(share)} of the baseline's score")
    return ", ".join(parts)


def _software(facts: Facts, versions: Mapping[str, str]) -> list[str]:
    known = [f"{_NAMES.get(name, name)} {number}" for name, number in versions.items()]
    text = f"Computed with {', '.join(sorted(known, key=str.lower))}" if known else ""
    if facts.random_state_entropy is not None:
        seed = f"random seed {facts.random_state_entropy}"
        text = f"{text} and {seed}" if text else f"The {seed} was used"
    return [f"{text}."] if text else []
