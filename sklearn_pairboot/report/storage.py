"""A result as JSON and back: what JSON does not know is encoded, nothing is rounded."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_pairboot._engine.crossed import CrossedDistribution, Part
from sklearn_pairboot._engine.design import Design, MeanSquares
from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.inversion import Basis
from sklearn_pairboot._engine.marginal import DistinctUnits, MarginalDistribution
from sklearn_pairboot._engine.permutation import SwapTest, SwapTests
from sklearn_pairboot._engine.weights import FloatArray
from sklearn_pairboot._tables import (
    DifferenceRow,
    EquivalenceRow,
    MetricInfo,
    MonteCarloRow,
    Row,
    ScoreRow,
    Settings,
    SlicePart,
    SliceRow,
    Tables,
    check_settings,
)
from sklearn_pairboot.report.split_tests import SplitScores

FORMAT = "sklearn-pairboot result"
FORMAT_VERSION = 1
_LISTS = (
    "models",
    "metrics",
    "unit_sizes",
    "scores",
    "differences",
    "slices",
    "slice_parts",
    "permutation_tests",
    "monte_carlo",
)
# What is stored under the name that the result's constructor gives it.
AS_IT_IS = (
    "models",
    "unit",
    "n_units",
    "n_rows",
    "unit_sizes",
    "n_resamples",
    "stratified",
    "weighted",
    "estimand",
    "factors",
    "paired",
    "exact_by",
    "held_fixed",
    "scheme",
)


def to_json(data: Mapping[str, Any]) -> str:
    """Write the dictionary of a result as JSON."""
    return json.dumps(_encoded(data), allow_nan=False)


def from_json(text: str, kind: str = FORMAT) -> dict[str, Any]:
    """Read JSON, and refuse what is no result of this kind or a later format."""
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(
            f"`text` must be a string of JSON written by `to_json`, got {type(text).__name__}. "
            "Read the contents of a file first."
        )
    try:
        data = json.loads(text)
    except ValueError as error:  # no JSON, or bytes that are no text
        raise ValueError(f"`text` must be JSON written by `to_json`, got none: {error}.") from error
    if not isinstance(data, dict) or data.get("format") != kind:
        raise ValueError(
            f'`text` must be JSON written by `to_json`, with "format": "{kind}", which this is not.'
        )
    version = data.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        versions = data.get("versions")
        wrote = versions.get("sklearn-pairboot") if isinstance(versions, dict) else None
        raise ValueError(
            f"`text` must have format version {FORMAT_VERSION} or lower, got {version}. Read it "
            f"with the version of sklearn-pairboot that wrote it{f', {wrote}' if wrote else ''}."
        )
    return data


@contextlib.contextmanager
def damage_named() -> Iterator[None]:
    """Turn whatever fails while a result is put together into one error about its JSON."""
    try:
        yield
    except KeyError as error:
        raise ValueError(
            f"`text` must be JSON written by `to_json`, whole and unchanged, got one without "
            f"{error}."
        ) from error
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            "`text` must be JSON written by `to_json`, whole and unchanged, got one that cannot be "
            f"read: {error}."
        ) from error


def keywords(data: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what was read into the keywords of the result's constructor."""
    for name, kind in (("format_version", int), *((name, list) for name in _LISTS)):
        if not isinstance(data[name], kind):
            raise ValueError(f"{name} is no {kind.__name__}")
    notes = data["notes"]
    names = [metric["name"] for metric in data["metrics"]]
    texts = [
        *data["models"],
        *names,
        *notes["input"],
        *notes["numbers"],
        *data["versions"].values(),
    ]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name, note or version is no str")
    n_sequences = integer(data["n_sequences"])
    if type(n_sequences) is not int or n_sequences < 1:
        raise ValueError("n_sequences is no positive int")
    has_margin = data["margin"] is not None or data["margin_relative"] is not None
    difference_row = EquivalenceRow if has_margin else DifferenceRow
    stored = data["distribution"]
    metrics = [MetricInfo(**metric) for metric in data["metrics"]]
    settings = Settings(
        baseline=data["baseline"],
        confidence_level=data["confidence_level"],
        method=data["method"],
        alternative=data["alternative"],
        correction=data["correction"],
        margin=_margin(data["margin"]),
        margin_relative=_margin(data["margin_relative"]),
        family=data["family"],
        pairs=data["pairs"],
    )
    check_settings(settings, data["models"], metrics)
    return {
        **{name: data[name] for name in AS_IT_IS},
        "metrics": metrics,
        "settings": settings,
        "random_state_entropy": integer(data["random_state_entropy"]),
        "notes": notes["input"],
        "versions": data["versions"],
        "distribution": None if stored is None else _load(stored, data["n_units"], n_sequences),
        "n_sequences": n_sequences,
        "tables": Tables(
            tuple(ScoreRow(**_row(ScoreRow, row)) for row in data["scores"]),
            tuple(difference_row(**_row(difference_row, row)) for row in data["differences"]),
            tuple(notes["numbers"]),
            tuple(SliceRow(**_row(SliceRow, row)) for row in data["slices"]),
        ),
        "slice_parts": [SlicePart(**part) for part in data["slice_parts"]],
        "permutation_tests": _load_tests(data["permutation_tests"]),
        "monte_carlo": [MonteCarloRow(**_row(MonteCarloRow, row)) for row in data["monte_carlo"]],
        "split_scores": _load_splits(data["split_scores"]),
    }


def dump_tests(tests: SwapTests) -> list[dict[str, Any]]:
    """Put permutation tests into lists of plain values."""
    return [
        {"metric": metric, "model": model, "baseline": baseline, **dataclasses.asdict(test)}
        for (metric, model, baseline), test in tests.items()
    ]


def _load_tests(stored: list[dict[str, Any]]) -> SwapTests:
    tests = {}
    for given in stored:
        values = {
            name: integer(value) if name.startswith(("n_", "least_")) else value
            for name, value in given.items()
        }
        names = values.pop("metric"), values.pop("model"), values.pop("baseline")
        tests[names] = SwapTest(**values)
    return tests


def _load_splits(stored: Mapping[str, Any] | None) -> SplitScores | None:
    return None if stored is None else SplitScores.from_dict(stored)


def dump(
    distribution: BootstrapDistribution, shares: Sequence[float | None] = ()
) -> dict[str, Any]:
    """Put all that `replace` needs into lists; the jackknife only as the accelerations it gives.

    What studentised intervals need is not stored: the standard errors of all resamples.

    ``shares`` are the relative margins of the metrics: differences from 1 -+ share of a baseline
    have accelerations of their own.
    """
    if isinstance(distribution, MarginalDistribution):
        return _dump_marginals(distribution)
    n_metrics, n_models = distribution.observed.shape
    counts = distribution.multiplicities
    return {
        "observed": distribution.observed.tolist(),
        "replicates": distribution.replicates.tolist(),
        "undefined": np.argwhere(distribution.undefined).tolist(),
        "zero_division": np.argwhere(distribution.zero_division).tolist(),
        "multiplicities": None if counts is None else counts.tolist(),
        "independent": distribution.independent,
        "crossed_parts": (
            [
                [part.replicates.tolist(), np.argwhere(part.undefined).tolist()]
                for part in distribution.parts
            ]
            if isinstance(distribution, CrossedDistribution)
            else None
        ),
        "scales": np.asarray(distribution.scales, dtype=np.float64).tolist(),
        "accelerations": [
            [
                [
                    distribution.acceleration(metric, model, baseline)
                    for baseline in (None, *range(n_models))
                ]
                for model in range(n_models)
            ]
            if distribution.acceleration(metric, 0) is not None
            else None
            for metric in range(n_metrics)
        ],
        "accelerations_at_shares": [
            [metric, model, other, factor, distribution.acceleration(metric, model, other, factor)]
            for metric, share in enumerate(shares)
            if share is not None and distribution.acceleration(metric, 0) is not None
            for model in range(n_models)
            for other in range(n_models)
            if model != other
            for factor in (1 - share, 1 + share)
        ],
        "variances": [_nested(distribution.variance(metric)) for metric in range(n_metrics)],
        "mean_squares": [_nested(distribution.mean_squares(metric)) for metric in range(n_metrics)],
        "chance": [_nested(distribution.chance_variance(metric)) for metric in range(n_metrics)],
        "design": _nested(distribution.design),
        "part_designs": [
            [metric, _nested(design)] for metric, design in distribution.part_designs.items()
        ],
        "df_most": [distribution.df_most(metric) for metric in range(n_metrics)],
    }


def _dump_marginals(distribution: MarginalDistribution) -> dict[str, Any]:
    """Put the distinct units into lists: their distributions are found again from them."""
    return {
        "observed": distribution.observed.tolist(),
        "scales": np.asarray(distribution.scales, dtype=np.float64).tolist(),
        "independent": distribution.independent,
        "unit_terms": [terms.tolist() for terms in distribution.terms],
        "mean_squares": [
            _nested(distribution.mean_squares(metric)) for metric in range(len(distribution.terms))
        ],
        "design": _nested(distribution.design),
        **{name: of_it.tolist() for name, of_it in distribution.distinct._asdict().items()},
    }


def _nested(stored: Any) -> Any:
    """Turn arrays, and records of them, into lists."""
    if isinstance(stored, Design):
        stored = dataclasses.astuple(stored)
    if isinstance(stored, tuple):
        return [_nested(part) for part in stored]
    return stored.tolist() if isinstance(stored, np.ndarray) else stored


@dataclass
class _StoredDistribution(BootstrapDistribution):
    """A distribution read from JSON: accelerations were stored instead of the jackknife."""

    accelerations: list[FloatArray | None] = field(default_factory=list)
    stored_df_most: list[int | None] = field(default_factory=list)
    at_shares: dict[tuple[int, int, int | None, float], float | None] = field(default_factory=dict)

    def acceleration(
        self, metric: int, model: int, baseline: int | None = None, factor: float = 1.0
    ) -> float | None:
        """Look the acceleration up; NaN and ``None`` are different reasons for having none.

        Of differences from a share of the baseline only those are stored that were asked for.
        """
        of_metric = self.accelerations[metric]
        if factor != 1.0:
            return self.at_shares.get((metric, model, baseline, factor))
        if of_metric is None:
            return None
        return float(of_metric[model, 0 if baseline is None else baseline + 1])

    def basis(
        self, method: str, metric: int, model: int, baseline: int | None = None, factor: float = 1.0
    ) -> Basis:
        """Refuse studentised intervals, which need the draws; say what BCa intervals lack."""
        if method == "studentized":
            raise ValueError(
                "`method` must not be 'studentized' for a result read from JSON, which holds no "
                "standard errors of the resamples. Pass another method such as 't', or make the "
                "comparison again with its `random_state`."
            )
        found = super().basis(method, metric, model, baseline, factor)
        known = factor == 1.0 or (metric, model, baseline, factor) in self.at_shares
        if method == "bca" and self.accelerations[metric] is not None and not known:
            return found._replace(
                obstacle="a result read from JSON has no acceleration at this relative margin"
            )
        return found

    def df_most(self, metric: int) -> int | None:
        """Look up the degrees of freedom of the groups that a jackknife left out."""
        return self.stored_df_most[metric]


def _load(data: Mapping[str, Any], n_units: int, n_sequences: int) -> BootstrapDistribution:
    if "unit_terms" in data:
        return MarginalDistribution.of_means(
            [_floats(terms) for terms in data["unit_terms"]],
            DistinctUnits(np.array(data["multiplicity"]), np.array(data["stratum"])),
            _floats(data["observed"]),
            _floats(data["scales"]),
            n_sequences=n_sequences,
            independent=data["independent"],
            design=_design(data["design"]),
            kept_squares=_mean_squares(data["mean_squares"]),
        )
    replicates = _floats(data["replicates"])
    counts = data["multiplicities"]
    common: dict[str, Any] = {
        "observed": _floats(data["observed"]),
        "replicates": replicates,
        "undefined": _mask(data["undefined"], replicates.shape),
        "zero_division": _mask(data["zero_division"], replicates.shape),
        "n_units": n_units,
        "n_sequences": n_sequences,
        "scales": _floats(data["scales"]),
    }
    if data["crossed_parts"] is not None:
        arrays = [(_floats(values), lost) for values, lost in data["crossed_parts"]]
        parts = tuple(Part(values, _mask(lost, values.shape)) for values, lost in arrays)
        return CrossedDistribution(**common, parts=parts)
    return _StoredDistribution(
        **common,
        multiplicities=None if counts is None else np.array(counts),
        independent=data["independent"],
        accelerations=[
            None if of_metric is None else _floats(of_metric) for of_metric in data["accelerations"]
        ],
        kept_variances=_matrices(data["variances"]),
        kept_chance=_matrices(data["chance"]),
        kept_squares=_mean_squares(data["mean_squares"]),
        design=_design(data["design"]),
        part_designs={metric: Design(*np.array(given)) for metric, given in data["part_designs"]},
        stored_df_most=data["df_most"],
        at_shares={
            (metric, model, other, float(factor)): number(value)
            for metric, model, other, factor, value in data["accelerations_at_shares"]
        },
    )


def _matrices(stored: Sequence[Any]) -> dict[int, FloatArray | None]:
    return {
        metric: None if given is None else _floats(given) for metric, given in enumerate(stored)
    }


def _design(stored: Any) -> Design | None:
    return None if stored is None else Design(*np.array(stored))


def _mean_squares(stored: Sequence[Any]) -> dict[int, MeanSquares | None]:
    return {
        metric: None
        if given is None
        else MeanSquares(_floats(given[0]), _floats(given[1]), float(given[2]))
        for metric, given in enumerate(stored)
    }


def _mask(positions: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = np.zeros(shape, dtype=np.bool_)
    mask[tuple(np.array(positions, dtype=np.int64).reshape(-1, len(shape)).T)] = True
    return mask


def _floats(nested: Any) -> FloatArray:
    # Conversion reads null as NaN and "Infinity" as infinity.
    return np.array(nested, dtype=np.float64)


def _encoded(value: Any) -> Any:
    """Replace what JSON does not know: NaN, infinities, and integers that readers would round."""
    if isinstance(value, dict):
        return {key: _encoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) > 2**53:
        return hex(value)
    return value


def _row(kind: type[Row], row: Mapping[str, Any]) -> dict[str, Any]:
    decoders = {"float": number, "int": integer}
    kinds = {"str": str, "float": float, "int": int, "bool": bool}
    values = {}
    for column, name in kind.column_types().items():
        value = decoders[name](row[column]) if name in decoders else row[column]
        # Every bool is an int to Python.
        if type(value) is not kinds[name]:
            raise ValueError(f"{column} is no {name}")
        values[column] = value
    return values


def _margin(value: Any) -> float | dict[str, float] | None:
    if isinstance(value, dict):
        return {name: float(margin) for name, margin in value.items()}
    return None if value is None else float(value)


def number(value: Any) -> float:
    """Decode a float."""
    return math.nan if value is None else float(value)


def integer(value: Any) -> Any:
    """Decode an integer, and leave what is none."""
    return int(value, 16) if isinstance(value, str) else value


def plain(value: Any) -> Any:
    """Turn NumPy's numbers into Python's, and tuples into lists."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
