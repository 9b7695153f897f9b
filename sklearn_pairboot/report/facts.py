"""What a report states besides the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn_pairboot._tables import MetricInfo, Settings


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything a report states besides the rows of its tables."""

    models: tuple[str, ...]
    metrics: tuple[MetricInfo, ...]
    settings: Settings
    unit: str
    n_units: int
    n_rows: int
    unit_sizes: tuple[float, float, float]
    n_resamples: int | str
    n_sequences: int
    held_fixed: str = "the trained models"
    stratified: bool = False
    weighted: bool = False
    random_state_entropy: int | None = None
    notes: tuple[str, ...] = ()
