"""The tables of a result: their rows, what they are read with, and the words for them."""

from __future__ import annotations

from sklearn_pairboot._tables.build import (
    build_tables,
    compared_pairs,
)
from sklearn_pairboot._tables.findings import (
    UNDEFINED_SHARE,
    listed,
)
from sklearn_pairboot._tables.monte_carlo import (
    MonteCarloRow,
    is_share,
    monte_carlo_rows,
    n_tails,
)
from sklearn_pairboot._tables.rows import (
    DifferenceRow,
    EquivalenceRow,
    MetricInfo,
    Row,
    ScoreRow,
    Settings,
    SlicePart,
    Tables,
    contradicts_itself,
    direction_word,
    format_count,
    is_equivalent,
    is_not_worse,
    side_of_zero,
    too_few_units,
    verdict_word,
    write_record,
)
from sklearn_pairboot._tables.settings import (
    ALTERNATIVES,
    FAMILIES,
    PAIRS,
    check_baseline,
    check_choice,
    check_margin_names,
    check_margins,
    check_positive_baselines,
    check_reading,
    check_settings,
    plain_margin,
)
from sklearn_pairboot._tables.slices import SliceRow

__all__ = [
    "ALTERNATIVES",
    "FAMILIES",
    "PAIRS",
    "UNDEFINED_SHARE",
    "DifferenceRow",
    "EquivalenceRow",
    "MetricInfo",
    "MonteCarloRow",
    "Row",
    "ScoreRow",
    "Settings",
    "SlicePart",
    "SliceRow",
    "Tables",
    "build_tables",
    "check_baseline",
    "check_choice",
    "check_margin_names",
    "check_margins",
    "check_positive_baselines",
    "check_reading",
    "check_settings",
    "compared_pairs",
    "contradicts_itself",
    "direction_word",
    "format_count",
    "is_equivalent",
    "is_not_worse",
    "is_share",
    "listed",
    "monte_carlo_rows",
    "n_tails",
    "plain_margin",
    "side_of_zero",
    "too_few_units",
    "verdict_word",
    "write_record",
]
