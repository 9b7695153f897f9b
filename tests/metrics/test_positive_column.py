"""How rows and columns are read: the positive column, pandas indexes, rows without weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sklearn_pairboot.calibration import (
    IsotonicCalibrator,
    TemperatureCalibrator,
    calibrate,
    calibration_in_the_large,
)
from sklearn_pairboot.metrics import (
    auc_ties,
    brier_decomposition,
    calibration_slope_intercept,
    calibration_test,
    choose_threshold,
    expected_calibration_error,
    misclassification_cost,
    net_benefit,
    placement_values,
    profit,
    reliability_curve,
    score_decomposition,
    smooth_calibration_error,
    spiegelhalter_z,
    squared_calibration_error,
    threshold_curve,
    tie_aware_auc,
)

Y = np.array(["no", "yes", "no", "yes", "no", "yes"])
P = np.array([0.1, 0.7, 0.4, 0.3, 0.3, 0.9])
TABLE = np.column_stack([1 - P, P])
METRICS = {
    "auc": tie_aware_auc,
    "ties": lambda *args, **kw: auc_ties(*args, **kw).auc,
    "placements": lambda *args, **kw: placement_values(*args, **kw),
    "ece": expected_calibration_error,
    "squared": lambda *args, **kw: squared_calibration_error(*args, n_bins=2, **kw),
    "smooth": smooth_calibration_error,
    "murphy": lambda *args, **kw: brier_decomposition(*args, n_bins=3, **kw).resolution,
    "corp": lambda *args, **kw: score_decomposition(*args, **kw).miscalibration,
    "slope": lambda *args, **kw: calibration_slope_intercept(*args, **kw).intercept,
    "z": lambda *args, **kw: spiegelhalter_z(*args, **kw).statistic,
    "curve": lambda *args, **kw: reliability_curve(*args, n_resamples=99, **kw).observed_rate,
    "benefit": lambda *args, **kw: net_benefit(*args, threshold=0.3, **kw),
    "threshold": lambda *args, **kw: choose_threshold(*args, min_recall=0.6, **kw),
    "sweep": lambda *args, **kw: threshold_curve(*args, **kw).false_positives,
}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("column", [0, 1])
def test_case_C91_two_columns_give_that_of_the_positive_class(metric, column):
    asked = {"pos_label": ["no", "yes"][column]}
    np.testing.assert_array_equal(metric(Y, TABLE, **asked), metric(Y, TABLE[:, column], **asked))


def test_case_C91_the_column_of_an_absent_class():
    y = np.zeros(6, dtype=int)
    asked = expected_calibration_error(y, TABLE, pos_label=0)
    assert asked == pytest.approx(P.mean())
    assert expected_calibration_error(y, TABLE) == pytest.approx(P.mean())
    words = ["no"] * 6
    assert expected_calibration_error(words, TABLE, pos_label="yes") == pytest.approx(P.mean())


@pytest.mark.parametrize("metric", [*METRICS.values(), misclassification_cost, profit])
def test_pandas_indexes_that_differ_are_refused(metric):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series((Y == "yes").astype(int), index=list("fbcade"))
    p = pandas.Series(P, index=y.index)
    options = {misclassification_cost: {"cost_fn": 1, "cost_fp": 1}}
    options[profit] = {"gain_tp": 1, "cost_fp": 1}
    given = options.get(metric, {})
    if given:
        p = (p > 0.5).astype(int)
    same = metric(y, p, **given)
    np.testing.assert_array_equal(same, metric(y.to_numpy(), p.to_numpy(), **given))
    with pytest.raises(ValueError, match=r"`y_true` and `y_(prob|score|pred)` have different pand"):
        metric(y, p.sort_index(), **given)


def test_calibration_refuses_indexes_that_differ():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series((Y == "yes").astype(int), index=list("fbcade"))
    p = pandas.Series(P, index=y.index)
    for function in (calibration_test, calibration_in_the_large):
        with pytest.raises(ValueError, match="have different pandas indexes"):
            function(y, p.sort_index())
    for calibrator in (IsotonicCalibrator(), TemperatureCalibrator(scores="probabilities")):
        np.testing.assert_array_equal(
            calibrator.fit(p, y).predict_proba(p), calibrator.fit(P, y.to_numpy()).predict_proba(P)
        )
        with pytest.raises(ValueError, match="`X` and `y` have different pandas indexes"):
            calibrator.fit(p.sort_index(), y)
    X = p.to_frame()
    model = LogisticRegression().fit(X, y)
    calibrate(model, X, y)
    with pytest.raises(ValueError, match="`X_cal` and `y_cal` have different pandas indexes"):
        calibrate(model, X.sort_index(), y)


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 10), st.integers(0, 3)), min_size=2, max_size=15
    ).filter(lambda rows: any(row[2] for row in rows)),
    st.sampled_from(["quantile", "sweep"]),
    st.sampled_from(["positive", "top-label", "classwise"]),
)
def test_case_C108_rows_without_weight_move_no_edge(rows, strategy, kind):
    y, p, weight = (np.array(column) for column in zip(*rows, strict=True))
    copies = np.repeat(np.arange(len(y)), weight)
    options = {"n_bins": 4, "strategy": strategy, "kind": kind}
    if len(copies) < 2:
        return
    found = expected_calibration_error(y, p / 10, sample_weight=weight, **options)
    repeated = expected_calibration_error(y[copies], p[copies] / 10, **options)
    assert found == pytest.approx(repeated, abs=1e-12)
