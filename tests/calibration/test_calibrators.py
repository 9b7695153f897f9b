"""Calibrators: published values, scikit-learn, scipy, and literal isotonic fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit, log_softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks, get_tags

from sklearn_pairboot.calibration import (
    BetaCalibrator,
    CalibratedModel,
    CrossCalibratedModel,
    HistogramCalibrator,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
    calibrate,
)

CALIBRATORS = [
    PlattCalibrator(probabilities=False),
    IsotonicCalibrator(),
    BetaCalibrator(),
    HistogramCalibrator(n_bins=4),
    VennAbersCalibrator(),
    TemperatureCalibrator(scores="probabilities"),
]
NAMES = [type(calibrator).__name__ for calibrator in CALIBRATORS]
SCORES, TRUTHS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])


def some_rows(seed=0, n=200):
    """Probabilities with ties, and truths that are not calibrated to them."""
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(2)
    return p, (rng.random(n) < expit(3 * (p - 0.4))).astype(int)


def positive(calibrator, scores):
    return calibrator.predict_proba(scores)[:, 1]


# --- Platt --------------------------------------------------------------------------------------


def test_case_C112_separated_classes_get_a_finite_slope():
    calibrator = PlattCalibrator().fit(SCORES, TRUTHS)
    assert calibrator.slope_ == pytest.approx(0.673996, abs=5e-7)
    assert positive(calibrator, SCORES) == pytest.approx([0.2062, 0.3376, 0.6624, 0.7938], abs=5e-5)


@pytest.mark.parametrize("factor", [1e6, 1e-6, 1e150, 1e-300, 1e300])
def test_case_C113_units_of_the_scores_do_not_matter(factor):
    plain = positive(PlattCalibrator().fit(SCORES, TRUTHS), SCORES)
    scaled = SCORES * factor
    found = positive(PlattCalibrator(probabilities=False).fit(scaled, TRUTHS), scaled)
    assert found == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_platt_is_scikit_learns_sigmoid(seed):
    X, y = make_classification(n_samples=300, flip_y=0.2, random_state=seed)
    model = LinearSVC().fit(X[:100], y[:100])
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X[100:], y[100:])
    scores = model.decision_function(X)
    ours = PlattCalibrator().fit(scores[100:], y[100:])
    np.testing.assert_allclose(ours.predict_proba(scores), theirs.predict_proba(X), atol=1e-5)


def test_platt_minimises_the_loss_of_its_targets():
    p, y = some_rows()
    scores, weight = 4 * p - 1, np.arange(1.0, len(p) + 1)
    n = weight @ y, weight @ (1 - y)
    target = np.where(y == 1, (n[0] + 1) / (n[0] + 2), 1 / (n[1] + 2))

    def loss(coefficients):
        linear = coefficients[0] * scores + coefficients[1]
        return weight @ (np.logaddexp(0, linear) - target * linear)

    best = optimize.minimize(loss, [0, 0], method="Nelder-Mead", options={"xatol": 1e-9}).x
    found = PlattCalibrator().fit(scores, y, weight)
    assert (found.slope_, found.intercept_) == pytest.approx(best, rel=1e-5)


def test_probabilities_are_converted_with_a_warning():
    p, y = some_rows()
    p = p.clip(0.01, 0.99)
    with pytest.warns(UserWarning, match="taken for probabilities"):
        warned = PlattCalibrator().fit(p, y)
    assert warned.converted_
    by_hand = PlattCalibrator(probabilities=False).fit(np.log(p / (1 - p)), y)
    told = PlattCalibrator(probabilities=True).fit(p, y)
    for calibrator in (warned, told):
        np.testing.assert_allclose(
            positive(calibrator, p), positive(by_hand, np.log(p / (1 - p))), atol=1e-9
        )
    with pytest.raises(ValueError, match="`X` must be probabilities between 0 and 1"):
        told.predict_proba([1.5])


# --- Isotonic, Venn-Abers, histogram ------------------------------------------------------------


def test_case_C115_isotonic_is_clipped_and_counts_new_ties():
    calibrator = IsotonicCalibrator().fit([0.2, 0.4, 0.8], [0, 0, 1])
    assert positive(calibrator, [0.1, 0.6, 0.9]) == pytest.approx([0, 0.5, 1], abs=1e-12)
    assert (calibrator.n_distinct_scores_, calibrator.n_distinct_probabilities_) == (3, 2)
    assert calibrator.n_certain_ == 3


def literal_bounds(scores, y, new, weight):
    """Both isotonic fits with the new row in place."""
    everything = np.append(scores, new)
    fits = [
        IsotonicRegression().fit(everything, np.append(y, label), np.append(weight, 1.0))
        for label in (0, 1)
    ]
    return [fit.predict([new])[0] for fit in fits]


@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.booleans(), st.integers(1, 3)), min_size=2, max_size=15
    )
)
def test_venn_abers_is_two_isotonic_fits_with_the_row_added(rows):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if len(set(y)) < 2:
        return
    calibrator = VennAbersCalibrator().fit(scores, y, weight)
    new = np.arange(-1, 10) / 1.0
    new = np.concatenate([new, new + 0.5])
    expected = [literal_bounds(scores, y, value, weight) for value in new]
    np.testing.assert_allclose(calibrator.predict_bounds(new), expected, atol=1e-12)
    low, high = np.transpose(expected)
    np.testing.assert_allclose(positive(calibrator, new), high / (1 - low + high), atol=1e-12)


def test_venn_abers_is_never_certain():
    found = positive(VennAbersCalibrator().fit(SCORES, TRUTHS), [-9, -1.5, 0, 9])
    assert np.all((found > 0) & (found < 1))


def test_histogram_counts():
    p, y = some_rows(1)
    calibrator = HistogramCalibrator(n_bins=5).fit(p, y)
    bins = np.searchsorted(calibrator.edges_, p, side="right")
    assert len(calibrator.edges_) == 4
    for number in range(5):
        rate = y[bins == number].mean()
        assert calibrator.rates_[number] == pytest.approx(rate)
        assert 30 <= np.sum(bins == number) <= 50  # 40 rows each, but for ties
    uniform = HistogramCalibrator(n_bins=3, strategy="uniform").fit([0, 0.1, 3], [0, 1, 1])
    assert uniform.rates_.tolist() == [0.5, 0.5, 1]  # the empty middle takes the lower neighbour


# --- Beta and temperature -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_beta_minimises_log_loss_and_never_falls(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 2, 150)
    y = (rng.random(150) < (p if seed % 2 else 1 - p)).astype(int)  # even seeds point backwards
    calibrator = BetaCalibrator().fit(p, y)
    assert min(calibrator.a_, calibrator.b_) >= 0

    def loss(coefficients):
        a, b, c = coefficients
        linear = a * np.log(p) - b * np.log1p(-p) + c
        return np.mean(np.logaddexp(0, linear) - y * linear)

    bounds = [(0, None), (0, None), (None, None)]
    best = optimize.minimize(loss, [1, 1, 0], bounds=bounds, method="SLSQP", tol=1e-14)
    found = loss([calibrator.a_, calibrator.b_, calibrator.c_])
    assert found == pytest.approx(best.fun, abs=1e-9)
    assert np.all(np.diff(positive(calibrator, np.linspace(0, 1, 101))) >= 0)


def test_beta_leaves_calibrated_probabilities_nearly_alone():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    calibrator = BetaCalibrator().fit(p, (rng.random(50_000) < p).astype(int))
    found = calibrator.a_, calibrator.b_, calibrator.c_
    assert found == pytest.approx((1, 1, 0), abs=0.06)


def test_temperature_minimises_log_loss_of_all_classes():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(400, 3)) * 4
    y = np.array([rng.choice(3, p=np.exp(row)) for row in log_softmax(logits / 2.5, axis=1)])
    calibrator = TemperatureCalibrator().fit(logits, y)
    grid = np.linspace(0.5, 6, 5501)
    losses = [-log_softmax(logits / t, axis=1)[np.arange(400), y].mean() for t in grid]
    assert calibrator.temperature_ == pytest.approx(grid[np.argmin(losses)], abs=2e-3)
    assert calibrator.temperature_ == pytest.approx(2.5, abs=0.5)
    assert np.array_equal(calibrator.predict(logits), logits.argmax(axis=1))
    p = np.exp(log_softmax(logits, axis=1))
    same = TemperatureCalibrator(scores="probabilities").fit(p, y)
    assert same.temperature_ == pytest.approx(calibrator.temperature_, rel=1e-6)


def test_temperature_of_two_classes_takes_one_column_or_two():
    rng = np.random.default_rng(1)
    z = rng.normal(size=300) * 3
    y = np.where(rng.random(300) < expit(z / 2), "yes", "no")
    one = TemperatureCalibrator().fit(z, y)
    two = TemperatureCalibrator().fit(np.column_stack([-z / 2, z / 2]), y)
    assert one.temperature_ == pytest.approx(two.temperature_, rel=1e-6)
    np.testing.assert_allclose(one.predict_proba(z)[:, 1], expit(z / one.temperature_), atol=1e-12)


# --- All of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=NAMES)
def test_weights_equal_repetition_and_order_of_rows_is_nothing(calibrator):
    p, y = some_rows(2, n=60)
    p = p.clip(0.01, 0.99)
    times = np.arange(60) % 3 + 1
    weighted = clone(calibrator).fit(p, y, times)
    repeated = clone(calibrator).fit(np.repeat(p, times), np.repeat(y, times))
    order = np.random.default_rng(0).permutation(60)
    shuffled = clone(calibrator).fit(p[order], y[order], times[order])
    grid = np.linspace(0, 1, 41)
    for other in (repeated, shuffled):
        np.testing.assert_allclose(
            other.predict_proba(grid), weighted.predict_proba(grid), atol=1e-7
        )


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=NAMES)
def test_case_C118_classes_are_found_by_name(calibrator):
    p, y = some_rows(3)
    words = np.where(y == 1, "malign", "benign")
    fitted = clone(calibrator).fit(p, words)
    assert fitted.classes_.tolist() == ["benign", "malign"]
    expected = clone(calibrator).fit(p, y)
    np.testing.assert_array_equal(fitted.predict_proba(p), expected.predict_proba(p))
    assert set(fitted.predict(p)) <= {"benign", "malign"}
    assert fitted.predict_proba(p[:, None]).shape == (200, 2)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=NAMES)
def test_case_C122_one_class_is_refused(calibrator):
    with pytest.raises(ValueError, match=r"got only 'x' in the calibration data"):
        clone(calibrator).fit([0.1, 0.2], ["x", "x"])


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=NAMES)
def test_bad_scores_are_refused(calibrator):
    fitted = clone(calibrator).fit(*some_rows(4))
    for wrong in ([0.1, np.nan], [np.inf, 0.2], []):
        with pytest.raises(ValueError, match="`X` must"):
            fitted.predict_proba(wrong)
        with pytest.raises(ValueError, match="`X` must"):
            clone(calibrator).fit(wrong, [0, 1][: len(wrong)])
    with pytest.raises(ValueError, match="`y` must have one entry per row"):
        clone(calibrator).fit([0.1, 0.2, 0.3], [0, 1])


CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_get_params_invariance",
    "check_set_params",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_mixin_order",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=NAMES)
def test_checks_of_scikit_learn_by_name(calibrator, name):
    """scikit-learn leaves out estimators of one-dimensional input; those that can run do."""
    check = getattr(estimator_checks, name)
    check(type(calibrator).__name__, clone(calibrator))


@pytest.mark.parametrize("calibrator", CALIBRATORS[:5], ids=NAMES[:5])
def test_tags_are_those_of_isotonic_regression(calibrator):
    ours, theirs = get_tags(calibrator).input_tags, get_tags(IsotonicRegression()).input_tags
    assert (ours.one_d_array, ours.two_d_array) == (theirs.one_d_array, theirs.two_d_array)


def test_calibrators_end_pipelines():
    p, y = some_rows(5)
    X = np.column_stack([p, np.zeros(200)])
    first = FunctionTransformer(lambda data: data[:, :1])
    pipeline = make_pipeline(first, IsotonicCalibrator()).fit(X, y)
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), IsotonicCalibrator().fit(p, y).predict_proba(p)
    )


@pytest.mark.parametrize("change", [{"n_bins": 0}, {"strategy": "equal"}])
def test_bad_parameters_are_refused_in_fit(change):
    with pytest.raises(ValueError, match=f"`{next(iter(change))}` must be"):
        HistogramCalibrator(**change).fit(SCORES, TRUTHS)
    with pytest.raises(ValueError, match="`probabilities` must be"):
        PlattCalibrator(probabilities="yes").fit(SCORES, TRUTHS)


# --- Models -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    return make_classification(
        n_samples=900, n_features=10, n_informative=6, n_classes=3, random_state=0
    )


@pytest.mark.parametrize("method", ["platt", "isotonic", "beta", "venn-abers", "histogram"])
def test_case_C119_fitted_models_are_calibrated(rows, method):
    X, y = np.hstack([rows[0]] * 4), rows[1]  # copied features make naive Bayes over-confident
    words = np.array(["benign", "malign", "other"])[y]
    model = GaussianNB().fit(X[:300], words[:300])
    before = model.predict_proba(X[:5])
    calibrated = calibrate(model, X[300:600], words[300:600], method=method)
    found = calibrated.predict_proba(X[600:])
    assert calibrated.classes_.tolist() == ["benign", "malign", "other"]
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X[:5]), before)
    mild = 0.999 * found + 0.001 / 3  # certain and wrong has infinite loss
    assert log_loss(words[600:], mild) < log_loss(words[600:], model.predict_proba(X[600:]))


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(C=1e6)])
def test_temperature_of_a_model(rows, model):
    X, y = rows
    fitted = clone(model).fit(X[:60], y[:60])
    calibrated = calibrate(fitted, X[300:600], y[300:600], method="temperature")
    assert np.array_equal(calibrated.predict(X), fitted.predict(X))
    assert log_loss(y[600:], calibrated.predict_proba(X[600:])) < log_loss(
        y[600:], fitted.predict_proba(X[600:])
    )


def test_two_classes_keep_the_column_of_the_positive_one(rows):
    X, y = rows
    words = np.where(y == 1, "malign", "benign")
    model = LogisticRegression().fit(X[:300], words[:300])
    calibrated = calibrate(model, X[300:600], words[300:600], method="beta")
    expected = BetaCalibrator().fit(model.predict_proba(X[300:600])[:, 1], words[300:600])
    np.testing.assert_allclose(
        calibrated.predict_proba(X[600:]),
        expected.predict_proba(model.predict_proba(X[600:])[:, 1]),
        atol=1e-12,
    )


def test_case_C121_groups_are_taken_without_routing(rows):
    X, y = rows
    groups = np.arange(900) // 10
    found = calibrate(GaussianNB(), X, y, method="isotonic", groups=groups, cv=GroupKFold(3))
    splits = list(GroupKFold(3).split(X, y, groups))
    expected = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=splits).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    "method", ["platt", "isotonic", "beta", "temperature", "venn-abers", "histogram"]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cross_fitting_is_the_mean_of_models_calibrated_on_the_rest(rows, method, n_classes):
    X, y = rows[0][rows[1] < n_classes], rows[1][rows[1] < n_classes]
    words = np.array(["no", "maybe", "yes"])[y]  # not in alphabetical order
    groups = np.arange(len(y)) // 3
    splits = list(StratifiedGroupKFold(3).split(X, words, groups))
    parts = [
        calibrate(GaussianNB().fit(X[train], words[train]), X[rest], words[rest], method=method)
        for train, rest in splits
    ]
    found = calibrate(GaussianNB(), X, words, method=method, groups=groups, cv=3)
    assert isinstance(found, CrossCalibratedModel)
    assert found.classes_.tolist() == sorted(set(words.tolist()))
    expected = np.mean([part.predict_proba(X) for part in parts], axis=0)
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-12)
    assert np.array_equal(found.predict(X), found.classes_[expected.argmax(axis=1)])
    given = calibrate(GaussianNB(), X, words, method=method, cv=splits)
    np.testing.assert_allclose(given.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_fitting_is_scikit_learns_where_it_has_the_method(rows, weighted):
    X, y = rows[0][:300], rows[1][:300]
    weight = np.arange(300) % 3 + 1.0 if weighted else None
    theirs = {"platt": "sigmoid", "isotonic": "isotonic"}
    options = CalibratedClassifierCV._parameter_constraints["method"][0].options
    if "temperature" in options and not weighted:
        theirs["temperature"] = "temperature"
    for method, name in theirs.items():
        model = LogisticRegression()
        around = CalibratedClassifierCV(model, method=name, cv=2, ensemble=True)
        expected = around.fit(X, y, sample_weight=weight).predict_proba(X)
        found = calibrate(model, X, y, method=method, cv=2, sample_weight=weight)
        np.testing.assert_allclose(found.predict_proba(X), expected, atol=2e-4)


def test_platt_with_splits_takes_logits_of_probabilities(rows):
    X, y = rows[0], (rows[1] == 1).astype(int)
    found = calibrate(GaussianNB(), X, y, cv=2)
    of_split = found.models_[0]
    p = of_split.estimator.predict_proba(X)[:, 1]
    expected = PlattCalibrator(probabilities=True)
    rest = next(StratifiedKFold(2).split(X, y))[1]
    expected.fit(p[rest], y[rest])
    np.testing.assert_allclose(of_split.predict_proba(X)[:, 1], positive(expected, p), atol=1e-12)


def test_weights_of_a_classifier_that_takes_none_are_told(rows):
    X, y = rows
    model = make_pipeline(FunctionTransformer(), GaussianNB())
    with pytest.warns(UserWarning, match="`sample_weight` is for the calibrators alone: Pipeline"):
        calibrate(model, X, y, cv=2, sample_weight=np.ones(900))


def test_splits_that_leak_or_lack_a_class_are_refused(rows):
    X, y = rows
    groups = np.arange(900) // 10
    with pytest.raises(ValueError, match="`cv` must keep apart the groups that are trained and"):
        calibrate(GaussianNB(), X, y, groups=groups, cv=list(KFold(7).split(X)))
    with pytest.raises(ValueError, match="keep apart the rows .* got 10 rows in both parts of spl"):
        calibrate(GaussianNB(), X, y, cv=[(np.arange(500), np.arange(490, 900))])
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="all classes in both parts of every split, got none of 0"):
        calibrate(GaussianNB(), X[order], y[order], cv=KFold(3))
    with pytest.raises(ValueError, match="`cv` must give at least one split, got none from"):
        calibrate(GaussianNB(), X, y, cv=[])
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match="`estimator` must not be frozen with `cv`"):
        calibrate(frozen, X, y, cv=2)


def test_training_rows_are_warned_of(rows):
    X, y = rows
    model = GaussianNB().fit(X[:300], y[:300])
    with pytest.warns(UserWarning, match="100 of 300 calibration rows are among the training"):
        calibrate(model, X[200:500], y[200:500], X_train=X[:300])
    calibrate(model, X[300:600], y[300:600], X_train=X[:300])


def test_mistakes_are_refused(rows):
    X, y = rows
    model = GaussianNB().fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="got only 0 in the calibration data"):
        calibrate(model, X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="`method` must be one of 'platt'"):
        calibrate(model, X, y, method="sigmoid")
    with pytest.raises(ValueError, match="`groups` must be None without `cv`"):
        calibrate(model, X, y, groups=y)
    with pytest.raises(ValueError, match="none of"):
        calibrate(model, X, y + 5, method="beta")
    with pytest.raises(ValueError, match="not fitted"):
        calibrate(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="`estimator` must have `predict_proba`"):
        svc = LinearSVC().fit(X, y)
        calibrate(svc, X, y, method="beta")


def test_calibrated_models_can_be_cloned_and_compared(rows):
    from sklearn_pairboot import compare_estimators

    X, y = rows
    model = GaussianNB().fit(X[:300], y[:300])
    calibrated = calibrate(model, X[300:600], y[300:600], method="beta")
    assert isinstance(clone(calibrated), CalibratedModel)
    result = compare_estimators(
        {"before": model, "after": calibrated},
        X[600:],
        y[600:],
        scoring="neg_log_loss",
        n_resamples=199,
        random_state=0,
    )
    assert result.differences[0].difference < 0


# --- Figures of the article ---------------------------------------------------------------------


def test_req_E10_req_E11_figures_of_the_article(shared):
    data = np.load(shared / "reference" / "arrays" / "calibration.npz")
    y, p, half = data["y"], data["p_over"], int(data["half"])
    platt = PlattCalibrator(probabilities=True).fit(p[:half], y[:half])
    found = positive(platt, p[half:])
    assert roc_auc_score(y[half:], found) == pytest.approx(roc_auc_score(y[half:], p[half:]))
    isotonic = IsotonicCalibrator().fit(p[:half], y[:half])
    stepped = positive(isotonic, p[half:])
    before, after = roc_auc_score(y[half:], p[half:]), roc_auc_score(y[half:], stepped)
    assert (before, after) == pytest.approx((0.9473, 0.9463), abs=1e-4)
    assert isotonic.n_distinct_probabilities_ < isotonic.n_distinct_scores_
