"""Methods fitted with several seeds and training sets, and compared on the same test rows."""

import json
import sys
import warnings

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from models import Mean
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    make_scorer,
    mean_squared_error,
    median_absolute_error,
    roc_auc_score,
)
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_pairboot import ECE, compare_methods, compare_runs
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot.training._fits import random_parameters, training_rows

TREE = DecisionTreeClassifier(max_features=1, max_depth=4)
STUMP = DecisionTreeClassifier(max_features=1, max_depth=1)
FAST = {"n_resamples": 199, "random_state": 0}


def split(make, **options):
    X, y = make(n_samples=160, n_features=6, random_state=0, **options)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, test_size=60)
    return X_train, y_train, X_test, y_test


@pytest.fixture(scope="module")
def data():
    return split(make_classification, flip_y=0.2)


@pytest.fixture(scope="module")
def regression():
    return split(make_regression, noise=20.0)


def literal_fits(estimator, data, result):
    """Fit with scikit-learn alone, with the seeds on record."""
    X_train, y_train, X_test, _ = data
    for fit in result.training["fits"]:
        yield clone(estimator).set_params(random_state=fit["seed"]).fit(X_train, y_train), X_test


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier of constant answers that counts its fits and can fail or be interrupted."""

    fits: list = []

    def __init__(self, random_state=None, fails="never"):
        self.random_state = random_state
        self.fails = fails

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.fails == "always" or (self.fails == "odd" and self.random_state % 2):
            raise RuntimeError("no luck")
        if self.fails == "warns":
            warnings.warn("hardly converged", UserWarning, stacklevel=1)
        if self.fails == "stopped" and len(self.fits) == 3:
            raise KeyboardInterrupt
        self.fits.append(self.random_state)
        return self

    def predict(self, X):
        rng = np.random.default_rng(self.random_state)
        return self.classes_[rng.integers(2, size=len(X))]


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setattr(Counting, "fits", [])
    return Counting


# --- Fits ---------------------------------------------------------------------------------------


def test_req_D14_accuracy_is_that_of_scores_by_seed_and_row(data):
    """One mechanism: the metric's value and covariance give what the table of scores gives."""
    methods = {"stump": STUMP, "tree": TREE}
    result = compare_methods(methods, *data, scoring="accuracy", random_state=0)
    assert len(result.training["fits"]) == 5
    tables = {
        name: [(model.predict(X) == data[3]).astype(int) for model, X in literal]
        for name, literal in ((n, literal_fits(m, data, result)) for n, m in methods.items())
    }
    runs = compare_runs(tables, random_state=result.random_state_entropy)
    for found, expected in zip(
        (*result.scores, *result.differences), (*runs.scores, *runs.differences), strict=True
    ):
        a, b = found.to_dict(), expected.to_dict()
        assert a.pop("metric") == "accuracy"
        b.pop("metric")
        flat_a, flat_b = json.dumps(a), json.dumps(b)
        numbers = [np.array(list(floats(json.loads(text)))) for text in (flat_a, flat_b)]
        np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12, equal_nan=True)


def floats(nested):
    """All numbers of nested data."""
    if isinstance(nested, dict):
        nested = list(nested.values())
    if isinstance(nested, list):
        for part in nested:
            yield from floats(part)
    elif isinstance(nested, float):
        yield nested


def test_auc_has_the_covariance_of_a_literal_jackknife(data):
    result = compare_methods({"m": TREE}, *data, scoring="roc_auc", n_seeds=3, **FAST)
    y = data[3]
    scores = [model.predict_proba(X)[:, 1] for model, X in literal_fits(TREE, data, result)]
    values = np.array([roc_auc_score(y, score) for score in scores])
    rows = np.arange(len(y))
    left = np.array([[roc_auc_score(y[rows != i], s[rows != i]) for s in scores] for i in rows])
    covariance = np.cov(left.T, ddof=0) * (len(y) - 1)
    of_rows = covariance.mean()
    rest = (np.trace(covariance) - 3 * of_rows) / 2
    variance = max(values.var(ddof=1) - rest, 0) / 3 + max(of_rows - rest / 3, 0) + rest / 3
    row = result.scores[0]
    assert row.estimate == pytest.approx(values.mean())
    assert row.average.std_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_several_metrics_and_those_called_on_rows(regression):
    scoring = {
        "mse": "neg_mean_squared_error",
        "median": make_scorer(median_absolute_error, greater_is_better=False),
        "own": lambda estimator, X, y: -mean_squared_error(y, estimator.predict(X)),
    }
    tree = DecisionTreeRegressor(max_features=2, max_depth=3)
    result = compare_methods({"m": tree}, *regression, scoring=scoring, n_seeds=3, **FAST)
    literal = [
        (regression[3], model.predict(X)) for model, X in literal_fits(tree, regression, result)
    ]
    expected = [
        np.mean([f(*a) for a in literal]) for f in (mean_squared_error, median_absolute_error)
    ]
    estimates = {row.metric: row.estimate for row in result.scores}
    assert estimates == pytest.approx(
        {"mse": expected[0], "median": expected[1], "own": -expected[0]}
    )
    errors = {row.metric: row.average.std_error for row in result.scores}
    # The jackknife of the mean and replicates of the same metric agree up to Monte Carlo error.
    assert errors["own"] == pytest.approx(errors["mse"], rel=0.2)
    assert not result.scores[0].greater_is_better


def test_probabilities_are_scored_from_the_record(data):
    result = compare_methods({"m": TREE}, *data, scoring="neg_log_loss", n_seeds=2, **FAST)
    losses = [
        log_loss(data[3], model.predict_proba(X)) for model, X in literal_fits(TREE, data, result)
    ]
    assert result.scores[0].estimate == pytest.approx(np.mean(losses))


def test_every_random_state_is_set_nested_ones_too(data):
    nested = make_pipeline(
        StandardScaler(), BaggingClassifier(TREE, n_estimators=2, random_state=1)
    )
    assert random_parameters(nested) == [
        "baggingclassifier__estimator__random_state",
        "baggingclassifier__random_state",
    ]
    fixed = {"a": clone(TREE).set_params(random_state=3), "b": TREE}
    result = compare_methods(fixed, *data, scoring="accuracy", **FAST)
    row = result.differences[0]
    assert (row.estimate, row.average.p_value) == (0, 1)  # the same seeds for both
    assert result.scores[0].variances[0].variance >= 0
    assert fixed["a"].random_state == 3  # the caller's estimator is left alone
    assert compare_methods({"m": nested}, *data, n_seeds=2, **FAST).n_seeds == 2


def test_methods_without_randomness_are_fitted_once(data, monkeypatch):
    monkeypatch.setattr(_Fixed, "fits", [])
    fixed = make_pipeline(StandardScaler(), _Fixed())
    result = compare_methods({"tree": TREE, "fixed": fixed}, *data, n_seeds=4, **FAST)
    assert len(_Fixed.fits) == 1
    part = {p.source: p.contribution for p in result.scores[1].variances}
    assert part["seed"] == part["seed x test rows"] == 0
    assert part["test rows"] > 0
    assert any("fixed: no parameter `random_state`" in note for note in result.notes)


class _Fixed(ClassifierMixin, BaseEstimator):
    """A classifier without randomness that counts its fits."""

    fits: list = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.fits.append(1)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


# --- Training sets ------------------------------------------------------------------------------


@pytest.mark.newest
def test_training_rows_are_drawn_as_said():
    rows = Units(7, 7)
    clusters = Units(7, 3, np.array([2, 0, 1, 0, 2, 2, 1]))
    drawn = [training_rows(rows, "bootstrap", 5, t) for t in range(2000)]
    assert all(len(part) == 7 for part in drawn)
    times = np.bincount(np.concatenate(drawn), minlength=7)
    assert stats.chisquare(times).pvalue > 1e-3
    half = [training_rows(rows, "subsample", 5, t) for t in range(50)]
    assert all(len(part) == 4 == len(set(part.tolist())) for part in half)
    for number in range(50):
        part = training_rows(clusters, "bootstrap", 5, number)
        of_rows = np.bincount(part, minlength=7)
        for unit in range(3):
            assert len(set(of_rows[clusters.of_row == unit].tolist())) == 1
        chosen = training_rows(clusters, "subsample", 5, number)
        assert len(set(clusters.of_row[chosen].tolist())) == 2
        assert len(chosen) == np.isin(clusters.of_row, clusters.of_row[chosen]).sum()


@pytest.mark.parametrize("train_resampling", ["bootstrap", "subsample"])
def test_req_D16_methods_meet_the_same_training_sets(regression, train_resampling):
    X_train, y_train, X_test, y_test = regression
    result = compare_methods(
        {"mean": Mean(), "shifted": Mean(shift=5.0)},
        *regression,
        scoring="neg_mean_squared_error",
        n_train_resamples=6,
        train_resampling=train_resampling,
        **FAST,
    )
    units = Units(len(y_train), len(y_train))
    means = [
        y_train[training_rows(units, train_resampling, 0, number)].mean() for number in range(6)
    ]
    expected = np.mean([(y_test - mean) ** 2 for mean in means])
    assert result.scores[0].estimate == pytest.approx(expected)
    shifted = np.mean([(y_test - mean - 5) ** 2 for mean in means])
    assert result.differences[0].estimate == pytest.approx(shifted - expected)
    assert (result.n_sets, result.n_seeds, result.resampled_training) == (6, 1, True)
    assert [p.source for p in result.differences[0].variances] == [
        "training data",
        "test rows",
        "training data x test rows",
    ]
    between = np.var([np.mean((y_test - mean) ** 2) for mean in means], ddof=1)
    part = result.scores[0].variances
    rest = part[2].variance / len(y_test)
    assert part[0].variance == pytest.approx(max(between - rest, 0))
    assert part[0].contribution == pytest.approx(part[0].variance * (1 + 1 / 6))


def test_whole_clusters_of_training_rows(regression):
    _, y_train, _, y_test = regression
    groups = np.arange(len(y_train)) // 10
    result = compare_methods(
        {"mean": Mean()},
        *regression,
        scoring="neg_mean_squared_error",
        n_train_resamples=3,
        train_groups=groups,
        groups=np.arange(len(y_test)) // 6,
        **FAST,
    )
    units = Units(len(y_train), 10, groups)
    means = [y_train[training_rows(units, "bootstrap", 0, number)].mean() for number in range(3)]
    expected = np.mean([(y_test - mean) ** 2 for mean in means])
    assert result.scores[0].estimate == pytest.approx(expected)
    assert (result.unit, result.n_units) == ("clusters", 10)
    assert result.training["train_units"] == "clusters"


def test_seeds_within_training_sets_are_told_apart(data):
    result = compare_methods(
        {"stump": STUMP, "tree": TREE}, *data, n_train_resamples=3, n_seeds=2, **FAST
    )
    assert (result.n_sets, result.n_seeds) == (3, 2)
    assert len({fit["seed"] for fit in result.training["fits"]}) == 6
    assert [p.source for p in result.differences[0].variances][:3] == [
        "training data",
        "seed",
        "test rows",
    ]
    assert result.differences[0].predict_std_error() == pytest.approx(
        result.differences[0].average.std_error
    )


def test_one_seed_a_training_set_is_not_told_apart(data):
    result = compare_methods({"m": TREE}, *data, n_train_resamples=3, n_seeds=1, **FAST)
    assert result.scores[0].variances[0].source == "training data and seed"


def test_kernel_matrices_lose_the_columns_of_rows_left_out(data):
    X_train, y_train, X_test, y_test = data
    svm = SVC(kernel="precomputed")
    options = {"scoring": "accuracy", "n_train_resamples": 3, "n_seeds": 1, **FAST}
    matrix = compare_methods(
        {"m": svm}, X_train @ X_train.T, y_train, X_test @ X_train.T, y_test, **options
    )
    plain = compare_methods({"m": SVC(kernel="linear")}, *data, **options)
    assert matrix.scores[0].estimate == plain.scores[0].estimate


# --- What goes wrong ----------------------------------------------------------------------------


def test_failed_fits_are_left_out_for_all_methods(data, counting):
    methods = {"a": counting(fails="odd"), "b": TREE}
    with pytest.warns(FitFailedWarning, match=r"fit\(s\) of a failed.*RuntimeError: no luck"):
        result = compare_methods(methods, *data, scoring="accuracy", n_seeds=8, **FAST)
    kept = [fit["seed"] for fit in result.training["fits"]]
    assert 2 <= len(kept) < 8
    assert all(seed % 2 == 0 for seed in kept)
    assert result.n_seeds == len(kept)
    expected = np.mean(
        [accuracy_score(data[3], m.predict(X)) for m, X in literal_fits(TREE, data, result)]
    )
    assert result.scores[1].estimate == pytest.approx(expected)
    assert "no luck" in result.summary()


def test_failed_fits_leave_training_sets_of_unequal_numbers(data, counting):
    methods = {"a": counting(fails="odd"), "b": TREE}
    with pytest.warns(FitFailedWarning):
        result = compare_methods(methods, *data, n_train_resamples=4, n_seeds=3, **FAST)
    fits = result.training["fits"]
    sizes = np.unique([fit["training_set"] for fit in fits], return_counts=True)[1]
    assert len(set(sizes.tolist())) > 1
    assert result.n_seeds == pytest.approx(stats.hmean(sizes))
    assert result.n_sets == len(sizes)
    # Training sets count equally, whatever the number of their fits.
    X_train, y_train, X_test, y_test = data
    of_sets = {}
    for fit in fits:
        rows = training_rows(Units(100, 100), "bootstrap", 0, fit["training_set"])
        model = clone(TREE).set_params(random_state=fit["seed"]).fit(X_train[rows], y_train[rows])
        of_sets.setdefault(fit["training_set"], []).append(model.score(X_test, y_test))
    expected = np.mean([np.mean(scores) for scores in of_sets.values()])
    assert result.scores[1].estimate == pytest.approx(expected)


def test_error_only_when_too_few_fits_succeed(data, counting):
    with pytest.raises(ValueError, match=r"fitted at least twice, got 0 of 5.*no luck"):
        compare_methods({"a": counting(fails="always"), "b": TREE}, *data, **FAST)


def test_a_training_resample_without_a_class_is_a_failed_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    with pytest.warns(FitFailedWarning, match=r"the training resample lacks class\(es\) 1"):
        result = compare_methods(
            {"m": TREE}, X, y, X, y, scoring="neg_log_loss", n_train_resamples=30, n_seeds=1, **FAST
        )
    assert result.n_sets < 30


def test_warnings_of_fits_come_once(data, counting):
    with pytest.warns(UserWarning, match=r"hardly converged \(met in 3 fit\(s\) of a\)") as met:
        compare_methods({"a": counting(fails="warns")}, *data, n_seeds=3, **FAST)
    assert len(met) == 1


def test_finished_fits_are_kept_when_a_run_is_stopped(data, counting, tmp_path):
    options = {"scoring": "accuracy", "n_seeds": 5, "memory": tmp_path, **FAST}
    with pytest.raises(KeyboardInterrupt):
        compare_methods({"a": counting(fails="stopped")}, *data, **options)
    assert len(counting.fits) == 3
    counting.fits.append(None)  # the next run is not stopped
    resumed = compare_methods({"a": counting(fails="stopped")}, *data, **options)
    assert len(counting.fits) == 6  # two more, beside the one added above
    plain = compare_methods({"a": counting()}, *data, **{**options, "memory": None})
    as_text = {**options, "memory": str(tmp_path)}
    n_fits = len(counting.fits)
    compare_methods({"a": counting(fails="stopped")}, *data, **as_text)
    assert len(counting.fits) == n_fits
    assert resumed.scores[0].to_dict() == plain.scores[0].to_dict()
    # More seeds later: those there are stay.
    n_before = len(counting.fits)
    more = compare_methods({"a": counting(fails="stopped")}, *data, **{**options, "n_seeds": 7})
    assert len(counting.fits) == n_before + 2
    assert more.n_seeds == 7


@pytest.mark.newest  # older workers look for the methods of the class in this file
def test_fits_of_a_class_of_a_notebook_are_cached_by_workers(data, tmp_path, monkeypatch):
    """Workers are sent such a class by value: they cannot find it by its name, or hash it."""
    monkeypatch.setattr(Mean, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Mean", Mean, raising=False)
    options = {"scoring": "r2", "n_train_resamples": 3, "n_seeds": 1, **FAST}
    options |= {"memory": tmp_path, "n_jobs": 2}
    with parallel_config(backend="loky"):
        result = compare_methods({"m": Mean()}, *data, **options)
    assert len(list(tmp_path.rglob("output.pkl"))) == 3
    monkeypatch.setattr(Mean, "fit", None)
    again = compare_methods({"m": Mean()}, *data, **options | {"n_jobs": None})
    assert again.scores[0].to_dict() == result.scores[0].to_dict()


def test_what_cannot_be_cached_is_said_before_any_fit(data, counting, tmp_path):
    without_name = make_pipeline(FunctionTransformer(lambda X: X), STUMP)
    with pytest.raises(ValueError, match="`memory` must be None .* cannot be pickled, got 'b'"):
        compare_methods({"a": counting(), "b": without_name}, *data, memory=tmp_path, **FAST)
    assert counting.fits == []


def test_long_reasons_are_told_by_their_beginning(data, monkeypatch):
    def fail(self, X, y):
        raise RuntimeError("no\nluck " + "x" * 10_000)

    monkeypatch.setattr(Mean, "fit", fail)
    with pytest.raises(ValueError, match="RuntimeError: no luck x+ \\.\\.\\.$") as met:
        compare_methods({"m": Mean()}, *data, n_train_resamples=2, **FAST)
    assert len(str(met.value)) < 800


def test_groups_of_training_rows_are_named(data):
    options = {"n_train_resamples": 2, **FAST}
    for labels, what in ((np.zeros(100), "2 clusters"), ([None] * 100, "present in every row")):
        with pytest.raises(ValueError, match=f"`train_groups` must .*{what}"):
            compare_methods({"a": STUMP}, *data, train_groups=labels, **options)


# --- Records, words, identities -----------------------------------------------------------------


def test_req_A35_settings_seeds_and_origin_are_on_record(data):
    result = compare_methods({"tree": TREE}, *data, n_seeds=2, **FAST)
    record = result.training
    assert record["estimators"] == {"tree": repr(TREE)}
    assert record["n_train_rows"] == len(data[1])
    assert record["test_data_hash"] == joblib.hash((data[2], data[3]))
    other = compare_methods({"tree": TREE}, *data[:2], data[2] + 1, data[3], n_seeds=2, **FAST)
    assert other.training["test_data_hash"] != record["test_data_hash"]
    assert other.training["training_data_hash"] == record["training_data_hash"]
    json.dumps(result.to_dict())


def test_req_A28_req_D17_what_is_not_covered_is_said(data):
    seeds = compare_methods({"a": STUMP, "b": TREE}, *data, n_seeds=2, **FAST)
    text = " ".join(seeds.summary().split())
    assert "other training data may lead to another conclusion" in text
    assert "only which test rows are drawn varies; retraining is not covered" in text
    assert "Varies seed and test rows: 2 seeds, 60 test rows" in text
    sets = compare_methods({"a": STUMP, "b": TREE}, *data, n_train_resamples=2, n_seeds=2, **FAST)
    text = " ".join(sets.summary().split())
    assert "training sets are resamples of one training sample" in text
    assert "other training data may lead" not in text


def test_number_and_kind_of_jobs_change_nothing(data):
    options = {"scoring": "accuracy", "n_train_resamples": 2, "n_seeds": 2, **FAST}
    methods = {"a": STUMP, "b": TREE}
    first = compare_methods(methods, *data, **options)
    with joblib.parallel_config("threading"):
        second = compare_methods(methods, *data, n_jobs=2, **options)
    assert first.to_dict() == second.to_dict()


def test_progress_is_shown(data, capsys):
    pytest.importorskip("tqdm")
    compare_methods({"a": STUMP}, *data, n_seeds=2, verbose=1, **FAST)
    assert "fitting" in capsys.readouterr().err


def test_global_random_state_and_inputs_are_left_alone(data):
    before, arrays = np.random.get_state()[1].copy(), [part.copy() for part in data]
    compare_methods([("a", STUMP), ("b", TREE)], *data, n_train_resamples=2, n_seeds=1, **FAST)
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    for part, copy in zip(data, arrays, strict=True):
        np.testing.assert_array_equal(part, copy)
    assert TREE.random_state is None


def test_labels_and_frames_are_taken(data):
    pd = pytest.importorskip("pandas")
    X_train, y_train, X_test, y_test = data
    names = np.array(["no", "yes"])
    plain = compare_methods({"m": TREE}, *data, scoring="roc_auc", n_train_resamples=2, **FAST)
    framed = compare_methods(
        {"m": TREE},
        pd.DataFrame(X_train).add_prefix("x"),
        pd.Series(names[y_train]),
        pd.DataFrame(X_test).add_prefix("x"),
        pd.Series(names[y_test]),
        scoring="roc_auc",
        n_train_resamples=2,
        **FAST,
    )
    assert framed.scores[0].to_dict() == plain.scores[0].to_dict()


@pytest.mark.parametrize(
    ("methods", "options", "message"),
    [
        ({"a": TREE}, {"n_seeds": 0}, "`n_seeds` must be an integer of at least 1, got 0"),
        ({"a": TREE}, {"n_seeds": 1}, "`n_seeds` must be at least 2 where no training sets"),
        ({"a": TREE}, {"n_train_resamples": 1}, "`n_train_resamples` must be 0 or an integer"),
        ({"a": TREE}, {"train_resampling": "all"}, "`train_resampling` must be one of"),
        ({"a": TREE}, {"train_groups": [1]}, "`train_groups` must be None where no training"),
        ({"a": LinearRegression()}, {}, "`n_train_resamples` must be at least 2 where no method"),
        ({"a": FrozenEstimator(TREE)}, {}, "`estimators` must be fitted anew, got the frozen 'a'"),
        ({"a": TREE}, {"baseline": "b"}, "`baseline` must be the name of a model"),
        ({"a": TREE}, {"scoring": "acc"}, "`scoring` must be a scorer name"),
        ({"a": TREE}, {"groups": [1, 2]}, "`groups` must have one entry per row"),
        (
            {"a": TREE},
            {"n_resamples": "auto"},
            "`n_resamples` must be an integer of at least 2 or 'exact'",
        ),
        (
            {"a": TREE},
            {"n_resamples": "exact", "n_train_resamples": 2},
            "`n_resamples` must be an integer where training sets have several seeds",
        ),
        (TREE, {}, "`estimators` must be a mapping or a list"),
        ({"a": DecisionTreeClassifier}, {}, "`estimators` must hold estimators"),
    ],
)
def test_bad_input_is_refused_before_any_fit(data, methods, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compare_methods(methods, *data, **options)


def test_errors_of_scorers_and_undefined_metrics_come_out(data):
    def broken(estimator, X, y):
        raise RuntimeError("no such metric")

    with pytest.raises(ValueError, match="cannot be scored with 'broken'.*no such metric"):
        compare_methods({"a": TREE}, *data, scoring=broken, **FAST)
    constant = (*data[:3], np.ones_like(data[3]))
    with pytest.raises(ValueError, match=r"roc_auc must be defined.*All truths are 1"):
        compare_methods({"a": TREE}, *constant, scoring="roc_auc", **FAST)


def test_resamples_without_a_class_are_counted(data):
    X_train, y_train, X_test, y_test = data
    rare = np.r_[np.flatnonzero(y_test == 0)[:25], np.flatnonzero(y_test == 1)[:2]]
    result = compare_methods(
        {"a": STUMP, "b": TREE},
        X_train,
        y_train,
        X_test[rare],
        y_test[rare],
        scoring="roc_auc",
        **FAST,
    )
    row = result.differences[0]
    assert 0 < row.n_undefined < 199
    assert "was undefined for some fit in" in result.summary()
    assert np.isfinite([row.average.std_error, row.one_model.std_error]).all()


def test_rows_must_match(data):
    X_train, y_train, X_test, y_test = data
    with pytest.raises(ValueError, match="`X_test` must have one entry"):
        compare_methods({"a": TREE}, X_train, y_train, X_test[1:], y_test)
    with pytest.raises(ValueError, match="`X_train` must have one entry"):
        compare_methods({"a": TREE}, X_train[1:], y_train, X_test, y_test)


# --- Coverage -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_interval_of_the_average_covers_for_other_training_samples():
    """Two constants learned from few rows: the truth is known, and the sample's part is in."""
    rng = np.random.default_rng(0)
    X, hits, n_repeats = np.zeros((60, 1)), 0, 200
    for _ in range(n_repeats):
        y_train, y_test = rng.normal(size=(2, 60))
        # E of (y - m - 1)^2 - (y - m)^2 is 1 + 2 E m = 1.
        row = compare_methods(
            {"mean": Mean(), "shifted": Mean(shift=1.0)},
            X,
            y_train,
            X,
            y_test,
            scoring="neg_mean_squared_error",
            n_train_resamples=10,
            n_resamples=39,
            random_state=0,
        ).differences[0]
        hits += row.average.ci_low <= 1 <= row.average.ci_high
    assert 0.9 <= hits / n_repeats <= 0.99


def test_biased_metrics_are_refused_with_the_square_that_takes_their_place(data):
    X_train, y_train, X_test, y_test = data
    with pytest.raises(ValueError, match="`scoring` must not hold 'expected_calibration_error'"):
        compare_methods({"a": TREE, "b": STUMP}, X_train, y_train, X_test, y_test, scoring=ECE())
