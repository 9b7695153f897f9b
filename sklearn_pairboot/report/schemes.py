"""What a report says where weights are not counts of whole units."""

from __future__ import annotations

from sklearn_pairboot._tables import BAYESIAN
from sklearn_pairboot.report.facts import Facts

TWO_STAGE = "two-stage"
VALIDATION_AND_TEST = "validation and test"


def unit_statement(facts: Facts) -> str:
    """Say what is drawn, under another scheme than counts of whole units."""
    low, middle, high = (f"{size:g}" for size in facts.unit_sizes)
    rows = f"{facts.n_rows} rows in all"
    sizes = f"of {low}-{middle}-{high} rows (min-median-max)"
    if facts.scheme == BAYESIAN:
        if facts.unit == "rows":
            return f"{facts.n_units} rows, each with a random real weight, Dirichlet(1, ..., 1)"
        return (
            f"{facts.n_units} {facts.unit} {sizes}, each with a random real weight, "
            f"Dirichlet(1, ..., 1), that all its rows have; {rows}"
        )
    if facts.scheme == TWO_STAGE:
        return (
            f"{facts.n_units} {facts.unit} {sizes}, drawn with replacement, and then the rows of "
            f"every drawn one, also with replacement; {rows}"
        )
    if facts.scheme == VALIDATION_AND_TEST:
        of = "" if facts.unit == "rows" else f" {sizes}"
        return (
            f"{facts.n_units} {facts.unit}{of} of validation and test, each part drawn by itself "
            "with replacement"
        )
    return (
        f"{facts.n_units} {facts.unit} ({facts.scheme}) make up a resample of {facts.n_rows} rows "
        "in time order"
    )


def varies_statement(facts: Facts) -> str:
    """Say what varies from resample to resample."""
    if facts.scheme == BAYESIAN:
        return f"only how much weight each of the test {facts.unit} has"
    if facts.scheme == TWO_STAGE:
        return (
            f"which test {facts.unit} are drawn, and which of their rows, so that the variation "
            "within clusters counts about twice"
        )
    if facts.scheme == VALIDATION_AND_TEST:
        return (
            f"which test {facts.unit} are drawn, which validation {facts.unit}, and the thresholds "
            "that these choose"
        )
    if facts.factors:
        names = " and ".join(name for name, _ in facts.factors)
        return f"only which levels of {names}, and which of their cells, are drawn"
    return f"only which test {facts.unit} are drawn"


def is_posterior_share(facts: Facts) -> bool:
    """Whether p-values are shares of posterior draws."""
    by_percentile = facts.settings.method == "percentile" and facts.settings.correction != "max-t"
    return facts.scheme == BAYESIAN and by_percentile


def p_value_meaning(facts: Facts) -> str:
    """Say what the p-value is."""
    if is_posterior_share(facts):
        tail = "two-sided tail share" if facts.settings.alternative == "two-sided" else "share"
        return f"p is the {tail} of the posterior draws beyond 0, not a test"
    return "p is the smallest error level at which the interval excludes 0"
