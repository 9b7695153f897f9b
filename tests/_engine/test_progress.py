"""The progress bar: one for a call, right at its end, closed by errors, absent unless asked for."""

import sys
import warnings

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_pairboot import (
    PairedBootstrapComparator,
    compare_methods,
    compare_predictions,
    compare_scores,
)
from sklearn_pairboot._engine import bootstrap
from sklearn_pairboot._engine.progress import follow, one_bar, stage

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(size=(40, 3)) + Y[:, np.newaxis]
SCORES = {"a": RNG.random(40), "b": RNG.random(40)}
LABELS = {"a": RNG.permutation(Y), "b": RNG.permutation(Y)}


class Bar:
    """What tqdm would be told."""

    def __init__(self, total, desc, **options):
        self.total, self.n, self.stages, self.closed = total, 0, [desc], 0

    def set_description(self, name):
        self.stages.append(name)

    def update(self, n):
        assert self.closed == 0
        self.n += n

    def close(self):
        self.closed += 1


@pytest.fixture
def bars(monkeypatch):
    """All bars that were made."""
    auto = pytest.importorskip("tqdm.auto")
    made = []

    def tqdm(**options):
        made.append(Bar(**options))
        return made[-1]

    monkeypatch.setattr(auto, "tqdm", tqdm)
    return made


def n_blocks(n_resamples, n_units=40):
    return -(-n_resamples // bootstrap.CountSource(n_units).block_size)


def the_bar(bars):
    """The one bar, which must be full and closed once."""
    (bar,) = bars
    assert (bar.n, bar.closed) == (bar.total, 1)
    return bar


def accuracy(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_blocks_are_counted(bars):
    compare_scores(SCORES, n_resamples=9999, random_state=0, verbose=1)
    bar = the_bar(bars)
    assert bar.stages == ["resampling"]
    assert bar.total == n_blocks(9999) > 1


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_blocks_of_workers_are_counted(bars, monkeypatch, backend):
    monkeypatch.setattr(bootstrap, "_PARALLEL_WEIGHTS", 0)
    with joblib.parallel_config(backend):
        shown = compare_scores(SCORES, n_resamples=9999, random_state=0, n_jobs=2, verbose=1)
    assert the_bar(bars).total == n_blocks(9999)
    silent = compare_scores(SCORES, n_resamples=9999, random_state=0)
    assert shown.to_json(replicates=True) == silent.to_json(replicates=True)
    assert len(bars) == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_replays_are_counted(bars, monkeypatch, n_jobs):
    monkeypatch.setattr(bootstrap, "_PARALLEL_CALLS", 0)
    monkeypatch.setattr(bootstrap.CountSource, "block_size", property(lambda source: 32))
    with joblib.parallel_config("threading"):
        compare_predictions(
            Y, LABELS, scoring=make_scorer(accuracy), n_resamples=199, n_jobs=n_jobs, verbose=1
        )
    assert the_bar(bars).total == -(-199 // 32)


def test_draws_that_go_on_stay_in_one_bar(bars):
    result = compare_scores(SCORES, n_resamples="auto", random_state=0, verbose=1)
    bar = the_bar(bars)
    assert len(bar.stages) > 1
    # The last block of a stage is cut, and drawn whole in the next.
    assert 0 <= bar.total - n_blocks(result.n_resamples) <= len(bar.stages) - 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_and_blocks_share_a_bar(bars, n_jobs):
    models = [("tree", DecisionTreeClassifier(max_depth=1)), ("line", LogisticRegression())]
    comparator = PairedBootstrapComparator(
        models, cv=3, n_resamples=199, n_jobs=n_jobs, random_state=0, verbose=1
    )
    comparator.fit(X, Y)
    bar = the_bar(bars)
    assert bar.stages == ["fitting", "fitting", "resampling"]
    assert bar.total >= 2 + 2 * 3 + 1


def test_fits_of_methods_and_blocks_share_a_bar(bars):
    methods = {"tree": DecisionTreeClassifier(max_features=1), "bayes": GaussianNB()}
    compare_methods(methods, X, Y, X, Y, n_seeds=2, n_resamples=199, random_state=0, verbose=1)
    bar = the_bar(bars)
    assert bar.stages == ["fitting", "resampling"]
    assert bar.total == 2 + 1 + n_blocks(199)  # Bayes is the same with every seed


def test_errors_close_the_bar(bars):
    class Broken(LogisticRegression):
        def fit(self, X, y):
            raise ValueError("broken")

    comparator = PairedBootstrapComparator([("broken", Broken())], cv=3, verbose=1)
    with pytest.raises(ValueError, match="broken"):
        comparator.fit(X, Y)
    (bar,) = bars
    assert (bar.n, bar.closed) == (0, 1)
    compare_scores(SCORES, n_resamples=199, verbose=1)  # nothing is left of the first
    assert len(bars) == 2
    assert (bars[1].n, bars[1].closed) == (bars[1].total, 1)


def test_a_stage_alone_has_a_bar_of_its_own(bars):
    with stage(3, "one", 1) as done:
        done(3)
    with one_bar():
        for _ in range(2):
            with stage(2, "two", 1) as done:
                done(2)
    assert [(bar.stages, bar.n, bar.closed) for bar in bars] == [
        (["one"], 3, 1),
        (["two", "two"], 4, 1),
    ]


def test_sizes_of_tasks_are_counted():
    seen = []
    parallel = follow(joblib.Parallel(n_jobs=1), seen.append, [3, 2, 2])
    assert parallel(joblib.delayed(abs)(-k) for k in range(3)) == [0, 1, 2]
    assert [n for n in seen if n] == [3, 2, 2]


def test_nothing_is_shown_unless_asked_for(bars, capfd):
    compare_scores(SCORES, n_resamples=199)
    assert bars == []
    assert capfd.readouterr() == ("", "")


def test_real_bar_goes_to_standard_error_and_vanishes(capsys):
    pytest.importorskip("tqdm")
    compare_scores(SCORES, n_resamples=9999, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "resampling" in err
    assert err.rpartition("\r")[2] == ""


def test_absence_of_tqdm_is_said_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_scores(SCORES, n_resamples="auto", random_state=0, verbose=1)
    assert [str(warning.message) for warning in caught] == [
        "`verbose` shows no progress without tqdm. Install it with: pip install "
        '"sklearn-pairboot[progress]"'
    ]
