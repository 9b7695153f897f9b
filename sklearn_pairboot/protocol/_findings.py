"""What the test rows say of thresholds and probabilities, as rows of tables and as notes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sklearn_pairboot._engine.thresholds import Sweep
from sklearn_pairboot._scoring.recorded import RecordedEstimator
from sklearn_pairboot._tables import listed
from sklearn_pairboot.calibration import calibration_in_the_large
from sklearn_pairboot.metrics import calibration_slope_intercept, spiegelhalter_z
from sklearn_pairboot.metrics._rules import Costs
from sklearn_pairboot.metrics.thresholds import curve_of, threshold_by
from sklearn_pairboot.protocol._models import Scored, ThresholdRule, counts_of
from sklearn_pairboot.protocol._parts import Part
from sklearn_pairboot.protocol.result import CalibrationRow, ThresholdRow


def threshold_rows(
    thresholds: Mapping[str, float], scored: Scored, rule: ThresholdRule | None
) -> tuple[ThresholdRow, ...]:
    """Say what follows from each model's threshold."""
    rows = []
    for (name, threshold), scores in zip(thresholds.items(), scored.scores, strict=True):
        if math.isnan(threshold):
            rows.append(ThresholdRow(name, *[math.nan] * 7))
            continue
        sweep = Sweep.of(scored.positive, scores, np.array([threshold]))
        curve = curve_of(sweep, counts_of(sweep))
        cost = math.nan
        if isinstance(rule, Costs):
            costs = {f"cost_{kind}": getattr(rule, kind) for kind in ("fn", "fp", "tp", "tn")}
            cost = float(curve.cost(**costs)[0])
        rows.append(
            ThresholdRow(
                model=name,
                threshold=threshold,
                called_positive=float(np.mean(scores >= threshold)),
                precision=float(curve.precision[0]),
                recall=float(curve.recall[0]),
                false_positive_rate=float(curve.false_positive_rate[0]),
                accuracy=float(curve.accuracy[0]),
                cost=cost,
            )
        )
    return tuple(rows)


def peek(
    names: Sequence[str], scored: Scored, rule: ThresholdRule | None
) -> tuple[ThresholdRow, ...]:
    """Let the rule choose on the rows that it must not see."""
    if rule is None:
        return ()
    found = [threshold_by(rule, sweep, counts_of(sweep)) for sweep in scored.sweeps()]
    return threshold_rows(dict(zip(names, found, strict=True)), scored, rule)


def calibration_rows(
    records: Mapping[str, RecordedEstimator], scored: Scored, *, grouped: bool
) -> tuple[CalibrationRow, ...]:
    """Check the probabilities of the models that have any."""
    outcomes = scored.positive.astype(np.int64)
    rows = []
    for (name, record), p in zip(records.items(), scored.scores, strict=True):
        if "predict_proba" not in record.responses:
            continue
        in_the_large = calibration_in_the_large(outcomes, p)
        try:
            line = calibration_slope_intercept(outcomes, p)
            slope, intercept = line.slope, line.intercept
        except ValueError:  # probabilities of 0 or 1, all equal, or separating the classes
            slope = intercept = math.nan
        rows.append(
            CalibrationRow(
                model=name,
                mean_probability=in_the_large.expected,
                observed_rate=in_the_large.observed,
                slope=slope,
                intercept=intercept,
                p_in_the_large=math.nan if grouped else in_the_large.p_value,
                p_spiegelhalter=math.nan if grouped else spiegelhalter_z(outcomes, p).p_value,
            )
        )
    return tuple(rows)


def notes(
    parts: Sequence[Part],
    kept: Sequence[str],
    rule: ThresholdRule | None,
    checks: Sequence[CalibrationRow],
    level: float,
    *,
    grouped: bool,
) -> tuple[str, ...]:
    """Say what a reader must know of the parts and of the probabilities."""
    found = []
    if parts[0].name != "train":
        found.append(
            "The training rows were not given: nobody has checked that they are not among the "
            "validation and test rows."
        )
    elif kept:
        found.append(
            f"Fitted before, and kept as they were: {listed(kept)}. Which rows they were fitted on "
            "nobody has checked; `sklearn.base.clone` gives copies to be fitted on `X_train`."
        )
    if isinstance(rule, Costs) and checks:
        found.append(
            f"These costs call for a threshold of {rule.for_calibrated:.4g} if probabilities are "
            "calibrated, which is to be checked and not assumed."
        )
    refuted = [row.model for row in checks if row.is_refuted(level)]
    if refuted:
        found.append(
            f"The test rows contradict the calibration of {listed(refuted)}: thresholds and "
            "profits that were derived from these probabilities do not hold. Calibrate on "
            "validation rows."
        )
    elif checks and not grouped:
        found.append(
            "The test rows do not contradict the calibration of any model, which does not prove it."
        )
    elif checks:
        found.append(
            "Rows of a group are not independent, so calibration is described and not tested."
        )
    return tuple(found)
