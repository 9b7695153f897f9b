"""How the numbers came about: what is drawn, what varies, what is held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from sklearn_pairboot._tables import BAYESIAN, PLAIN, DifferenceRow, ScoreRow, format_count
from sklearn_pairboot._tables.numbers import format_percent
from sklearn_pairboot.report.facts import Facts, adjusted_apart, family_size
from sklearn_pairboot.report.findings import CORRECTION_NAMES, crossed, smallest_p
from sklearn_pairboot.report.monte_carlo import monte_carlo_statement
from sklearn_pairboot.report.permutations import permutation_statement
from sklearn_pairboot.report.reading import reminders
from sklearn_pairboot.report.schemes import (
    p_value_meaning,
    unit_statement,
    varies_statement,
)
from sklearn_pairboot.report.slices import slice_statement
from sklearn_pairboot.report.split_tests import split_test_statement

_LOOKS = (
    "one is assumed, on rows that chose no model: testing again as rows come in needs the levels "
    "of planning.group_sequential_levels"
)

_PAIRING_LOST = (
    "lost: the score columns are treated as coming from independent samples of items, which is "
    "another hypothesis than that of models scored on the same items. Without the covariance in "
    "Var(b - a) = Var(b) + Var(a) - 2 Cov(a, b) the variation can be overstated or understated. "
    "For contrast only"
)


def statements(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> list[tuple[str, str]]:
    """State how the numbers came about, as pairs of a label and a text."""
    low, _, high = facts.unit_sizes
    several = len(facts.models) > 1 or len(facts.metrics) > 1
    pairs = [("Unit", _unit(facts)), ("Interval", _interval(facts, bool(differences)))]
    pairs.append(("SE", _std_error(facts, scores, differences)))
    if facts.n_resamples == "exact":
        count = format_count(facts.n_sequences)
        how = "enumerated"
        if facts.exact_by == "convolution":
            how = "by convolution (exact to 1e-12; each model and difference by itself)"
        text = f"all {count} equally likely ones {how}, which removes Monte Carlo error only"
    else:
        draws = ""
        if facts.scheme == BAYESIAN:
            draws = " posterior draws of the Bayesian bootstrap (Rubin 1981)"
        text = (
            f"{facts.n_resamples}{draws}; more would reduce Monte Carlo noise, not the width of "
            "intervals"
        )
    apart = not facts.paired and len(facts.models) > 1
    if apart:
        text += "; drawn anew for each model"
    elif several and facts.exact_by != "convolution":
        text += "; shared by all models and metrics"
    pairs.append(("Resamples", text))
    if facts.monte_carlo and facts.n_resamples != "exact":
        text = monte_carlo_statement(facts.monte_carlo, len(facts.metrics) > 1)
        pairs.append(("Monte Carlo", text))
    if apart:
        pairs.append(("Pairing", _PAIRING_LOST))
    pairs.append(("Varies", varies_statement(facts)))
    pairs.append(("Held fixed", f"{facts.held_fixed}; retraining and seeds are not covered"))
    if facts.estimand == "clusters":
        pairs.append(
            (
                "Estimand",
                "clusters count alike, whatever their size: a row weighs its share of its cluster",
            )
        )
    elif facts.unit == "clusters" and not facts.factors and low < high:
        pairs.append(("Estimand", "rows count alike, so that larger clusters count more"))
    if differences:
        pairs.append(("Looks", _LOOKS))
    if facts.stratified:
        pairs.append(
            (
                "Strata",
                "units are drawn within strata: their shares (class prevalence) are held fixed",
            )
        )
    if facts.weighted:
        pairs.append(
            ("Weights", "scores are weighted: sample_weight times how often a row is drawn")
        )
    undefined = _undefined(facts, scores)
    if undefined:
        pairs.append(("Undefined", undefined))
    if differences:
        pairs.append(("p-values", _p_values(facts, differences)))
    if facts.settings.has_margin and differences:
        pairs.append(("Margins", _margins(facts)))
    if facts.slices:
        pairs.append(("Subgroups", slice_statement(facts)))
    if facts.permutations:
        text = permutation_statement(facts.permutations, differences, facts.unit)
        pairs.append(("Permutation", text))
    if facts.split_tests:
        pairs.append(
            ("Splits", split_test_statement(facts.split_tests, differences, facts.settings))
        )
    pairs += reminders(facts, scores, differences)
    if facts.random_state_entropy is not None:
        pairs.append(("Seed", f"random_state={facts.random_state_entropy}"))
    return pairs


def _std_error(
    facts: Facts, scores: Sequence[ScoreRow], differences: Sequence[DifferenceRow]
) -> str:
    """Say what standard errors are, also where those of some rows are others."""
    scored = "single rows or clusters" if facts.unit == "clusters" else "single rows"
    resampled = "standard deviation of the resampled values"
    if facts.settings.method not in ("studentized", "t"):
        return f"{resampled}, not of the {scored}"
    by_max_t = bool(differences) and facts.settings.correction == "max-t"
    if facts.factors:
        rest = f"; of the differences without that factor, not of the {scored}"
        corrected = f"{resampled} times sqrt(n / (n - 1)), n = {facts.n_units} the fewer levels"
        return corrected + (rest if by_max_t else f", not of the {scored}")
    others = ["of the differences"] if by_max_t else []
    of_scores = {row.status for row in scores}
    of_differences = {row.status for row in differences} | {row.status for row in facts.slices}
    statuses = of_scores if by_max_t else of_scores | of_differences
    if any(status.startswith("percentile") for status in statuses):
        others.append("where the status is percentile")
    how = "the influence of each unit"
    if facts.settings.method == "t" and any(metric.path == "replay" for metric in facts.metrics):
        how += " (the jackknife for scorers that are called on rows)"
    text = f"standard error by {how}, not the spread of the {scored}"
    return f"{text}; {' and '.join(others)}: {resampled}" if others else text


def _unit(facts: Facts) -> str:
    if facts.scheme != PLAIN:
        return unit_statement(facts)
    if facts.unit == "rows":
        return f"{facts.n_units} rows, each drawn on its own with replacement"
    if facts.factors:
        return (
            f"two crossed factors, {crossed(facts)}, and their cells, each drawn with replacement: "
            f"variance V1 + V2 - V12; {facts.n_rows} rows in all"
        )
    low, middle, high = (f"{size:g}" for size in facts.unit_sizes)
    return (
        f"{facts.n_units} {facts.unit} of {low}-{middle}-{high} rows (min-median-max), drawn "
        f"with replacement and whole; {facts.n_rows} rows in all"
    )


def _interval(facts: Facts, compared: bool) -> str:
    settings = facts.settings
    tail = 100 * settings.alpha / 2
    method = {
        "percentile": f"from the {_ordinal(tail)} to the {_ordinal(100 - tail)} percentile of the "
        "resampled values",
        "basic": "percentiles reflected about the estimate; may leave the metric's range",
        "normal": f"estimate +- {NormalDist().inv_cdf(1 - settings.alpha / 2):.2f} SE; may leave "
        "the metric's range",
        "bca": "percentiles corrected for bias and skewness",
        "studentized": "estimate - t SE, t from the resamples, each with its own SE; may leave the "
        "metric's range",
        "t": "estimate +- t SE by Student's t; may leave the metric's range",
        "expanded": "percentiles of the resampled values, moved out for so few units",
    }[settings.method]
    name = "BCa" if settings.method == "bca" else settings.method
    text = f"{format_percent(settings.confidence_level)} {name} interval"
    one_sided = settings.alternative != "two-sided"
    if compared and settings.correction == "max-t":
        text += f" of the scores, two-sided: {method}. Differences: estimate +- c SE by max-T, "
        text += f"where c serves {_family(facts)} at once"
        if one_sided:
            text += f', one bound each, for the alternative "{settings.alternative}"'
        return text
    if not compared or not one_sided:
        return f"{text}, two-sided: {method}"
    return (
        f"{text}: {method}; differences have one bound, for the alternative "
        f'"{settings.alternative}", with all of the {format_percent(settings.alpha)} beyond it'
    )


def _family(facts: Facts) -> str:
    """Name the comparisons that are corrected for one another."""
    of = "of a metric" if facts.settings.family == "metric" else "of all metrics"
    if facts.slices:
        of += " on all rows" if facts.settings.family == "metric" else " and subgroups"
    size = family_size(facts)
    return f"the {size} comparisons {of}" if size > 1 else f"the one comparison {of}"


def _margins(facts: Facts) -> str:
    """State what is tested at the margins."""
    settings = facts.settings
    level = format_percent(1 - 2 * settings.alpha)
    text = (
        f"equivalent means that the {level} interval lies within the margins (two one-sided tests "
        f"at {format_percent(settings.alpha)}); not worse, that the bound on the bad side does. "
    )
    if settings.margin_relative is not None:
        text += (
            "The margin is a share of the baseline's score; its interval takes in how that score "
            "varies. "
        )
    if adjusted_apart(facts) and family_size(facts) > 1:
        how = "by Holm's method" if settings.correction == "max-t-step-down" else "like the others"
        text += f"Their p-values are adjusted {how}, and the verdict follows them. "
    elif settings.correction == "max-t" and family_size(facts) > 1:
        text += "Both hold for all comparisons at once. "
    return text + "A margin counts only if it was chosen before the data were seen"


def _ordinal(number: float) -> str:
    text = f"{number:.10g}"
    endings = {"1": "st", "2": "nd", "3": "rd"}
    teen = text in ("11", "12", "13")
    return text + ("th" if teen or "." in text else endings.get(text[-1], "th"))


def _undefined(facts: Facts, scores: Sequence[ScoreRow]) -> str:
    parts = []
    for metric in facts.metrics:
        rows = [row for row in scores if row.metric == metric.name and row.n_undefined]
        if rows:
            counts = ", ".join(f"{row.model} {format_count(row.n_undefined)}" for row in rows)
            parts.append(f"{metric.name} ({counts})")
    if not parts:
        return ""
    return (
        f"{', '.join(parts)} of {format_count(facts.n_sequences)} resamples; left out, so that "
        "intervals are conditional on the rest"
    )


def _p_values(facts: Facts, differences: Sequence[DifferenceRow]) -> str:
    alpha = f"{facts.settings.alpha:.10g}"
    correction = facts.settings.correction
    family = family_size(facts)
    text = p_value_meaning(facts)
    if (smallest := smallest_p(facts)) > 0:
        text += f" (smallest possible: {smallest:.2g})"
    if family == 1:
        text += f"; the verdict asks for p <= {alpha}"
    elif correction is None:
        text += f"; the verdict asks for p <= {alpha}, without correction for {_family(facts)}"
    elif correction == "max-t":
        text += (
            f"; interval and p are adjusted for {_family(facts)} (max-T), the verdict asks for "
            f"p <= {alpha}"
        )
    else:
        text += (
            "; interval and p are per comparison, the verdict asks for adjusted p <= "
            f"{alpha} ({CORRECTION_NAMES[correction]}, over {_family(facts)})"
        )
    if len(facts.metrics) > 1 and facts.settings.family == "metric":
        text += "; metrics are not corrected for one another"
    return (
        f"{text}. A large p is no evidence of equality, a small one none that the difference "
        "matters"
    )
