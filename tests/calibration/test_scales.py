"""Scores of any scale, probabilities of exactly 0 and 1, and what models may lack."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import log_softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from sklearn_pairboot.calibration import (
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
    calibrate,
)
from sklearn_pairboot.metrics import score_decomposition

SCORES, TRUTHS = np.array([-2.0, -1.0, 0.5, 1.0, 2.0]), np.array([0, 1, 0, 1, 1])


@pytest.mark.parametrize("factor", [1e-300, 1e-20, 1e6, 1e300])
@pytest.mark.parametrize(
    "calibrator",
    [
        PlattCalibrator(probabilities=False),
        IsotonicCalibrator(),
        TemperatureCalibrator(),
        VennAbersCalibrator(),
        HistogramCalibrator(n_bins=3),
        HistogramCalibrator(n_bins=3, strategy="uniform"),
    ],
    ids=str,
)
def test_case_C16_case_C113_no_calibrator_depends_on_the_unit_of_scores(calibrator, factor):
    plain = calibrator.fit(SCORES, TRUTHS).predict_proba(SCORES)
    assert len(np.unique(plain[:, 1])) > 1
    found = calibrator.fit(SCORES * factor, TRUTHS).predict_proba(SCORES * factor)
    np.testing.assert_allclose(found, plain, atol=1e-6)


def test_temperature_beyond_any_fixed_range():
    logits, y = np.array([[3.0, 0, 1], [0, 2, 1], [2, 0, 1], [1, 0, 3]]), [0, 1, 2, 2]

    def loss(temperature):
        return -log_softmax(logits / temperature, axis=1)[np.arange(4), y].mean()

    best = optimize.minimize_scalar(loss, bounds=(0.01, 100), method="bounded").x
    for factor in (1.0, 1e7, 1e-7):
        found = TemperatureCalibrator().fit(logits * factor, y).temperature_
        assert found == pytest.approx(best * factor, rel=1e-4)


def test_isotonic_is_scikit_learns_where_scores_are_apart():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=200).round(1), rng.integers(0, 3, 200)
    y = (rng.random(200) < 1 / (1 + np.exp(-scores))).astype(int)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y, sample_weight=weight)
    new = np.linspace(-5, 5, 301)
    found = IsotonicCalibrator().fit(scores, y, weight).predict_proba(new)[:, 1]
    np.testing.assert_allclose(found, theirs.predict(new), atol=1e-12)


def test_case_C16_recalibration_in_a_decomposition_compares_exactly():
    # The order of the predictions is perfect: recalibrated they are certain, and cost nothing.
    y, p = [0, 0, 1, 1], np.array([1.0, 2.0, 3.0, 4.0])
    for factor in (0.2, 1e-18, 1e-300):
        parts = score_decomposition(y, p * factor)
        assert parts.discrimination == pytest.approx(0.25, abs=1e-12)
        assert parts.miscalibration == pytest.approx(parts.score, abs=1e-12)


# --- Probabilities of exactly 0 and 1 ------------------------------------------------------------


@pytest.mark.parametrize(
    "calibrator",
    [
        PlattCalibrator(probabilities=True),
        BetaCalibrator(),
        TemperatureCalibrator(scores="probabilities"),
    ],
    ids=str,
)
def test_votes_of_all_trees_do_not_outweigh_the_other_rows(calibrator):
    # Nine votes: nobody means 0 by "none of nine", and one wrong row must not decide the map.
    rng = np.random.default_rng(0)
    true = rng.uniform(0.02, 0.98, 4000)
    votes = rng.binomial(9, true) / 9
    y = (rng.random(4000) < true).astype(int)
    found = calibrator.fit(votes[:2000], y[:2000]).predict_proba(votes[2000:])
    # The best map of ten values is the rate of each.
    rates = np.array([y[np.isclose(votes, k / 9)].mean() for k in range(10)])
    best = log_loss(y[2000:], rates[np.rint(9 * votes[2000:]).astype(int)])
    assert log_loss(y[2000:], found) < best + 0.01
    assert calibrator.least_ == pytest.approx(1 / 18)
    # Both classes are treated alike.
    mirrored = calibrator.fit(1 - votes[:2000], 1 - y[:2000]).predict_proba(1 - votes[2000:])
    np.testing.assert_allclose(mirrored[:, ::-1], found, atol=1e-6)


def test_case_C112_beta_says_when_classes_are_separated():
    with pytest.warns(UserWarning, match="separate the classes"):
        found = BetaCalibrator().fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert np.isfinite([found.a_, found.b_, found.c_]).all()
    # The other way round the curve is flat, and nothing is infinite.
    flat = BetaCalibrator().fit([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1])
    assert flat.predict_proba([0.3])[0, 1] == pytest.approx(0.5)


# --- Models --------------------------------------------------------------------------------------


def rows(n_classes=2, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 3)) + y[:, None], y


def test_platt_gets_logits_of_models_without_decision_values():
    X, y = rows()
    model = GaussianNB().fit(X[:200], y[:200])
    p = model.predict_proba(X)[:, 1]
    by_hand = PlattCalibrator(probabilities=True).fit(p[200:], y[200:]).predict_proba(p)
    found = calibrate(model, X[200:], y[200:], method="platt").predict_proba(X)
    np.testing.assert_allclose(found, by_hand, atol=1e-12)
    halves = [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))]
    other = calibrate(GaussianNB().fit(X[200:], y[200:]), X[:200], y[:200]).predict_proba(X)
    crossed = calibrate(GaussianNB(), X, y, cv=halves).predict_proba(X)
    np.testing.assert_allclose(crossed, (by_hand + other) / 2, atol=1e-12)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_three_rows_of_a_class_are_enough_to_calibrate_a_fitted_model(method):
    X, y = rows()
    model = LogisticRegression().fit(X[:200], y[:200])
    few = np.concatenate([200 + np.flatnonzero(y[200:] == k)[:3] for k in (0, 1)])
    scores = model.decision_function(X)
    calibrator = {"platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}[method]
    expected = calibrator.fit(scores[few], y[few]).predict_proba(scores)
    found = calibrate(model, X[few], y[few], method=method).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    "method", ["platt", "isotonic", "beta", "histogram", "temperature", "venn-abers"]
)
def test_case_C122_a_class_of_the_model_without_calibration_rows_is_named(method):
    X, y = rows(n_classes=3)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    kept = y != 1
    with pytest.raises(ValueError, match="`y` must hold all classes of the estimator, got none of"):
        calibrate(model, X[kept], y[kept], method=method)
    with pytest.raises(ValueError, match="`y` must have"):
        calibrate(model, X, y[:-1], method=method)


def test_training_rows_are_known_in_another_number_type():
    X, y = rows()
    X = np.rint(X).astype(int)
    model = GaussianNB().fit(X[:200], y[:200])
    with pytest.warns(UserWarning, match="200 of 200 calibration rows"):
        calibrate(model, X[:200], y[:200], method="beta", X_train=X[:200].astype(float))


@pytest.mark.parametrize("method", ["platt", "temperature", "histogram"])
def test_case_C122_a_class_without_weight_is_named_by_its_label(method):
    X, y = rows()
    words = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, words)
    with pytest.raises(ValueError, match=r"got none of 'yes' with positive weight\. Calibrate on"):
        calibrate(model, X, words, method=method, sample_weight=1.0 - y)


def test_a_model_without_probabilities_is_named():
    X, y = rows()
    with pytest.raises(ValueError, match="which Perceptron has not"):
        calibrate(Perceptron().fit(X, y), X, y, method="beta")
