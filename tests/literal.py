"""What tests share: a kernel from a scorer, trained models, the rows that counts stand for."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from numpy.random import SeedSequence
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._scoring.build import build_kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.resolve import resolve_scoring
from sklearn_pairboot.comparison._run import kind_of

N_TRAINED = 48  # test rows of `trained`


def problem_of(y, records, units=None, sample_weight=None, pos_label=None):
    units = units or Units(len(y), len(y))
    return Problem(y, kind_of(y), tuple(records), units, sample_weight, pos_label)


def kernel_of(scoring, problem, path=None):
    """Build the kernel of a scorer, and look at the path it takes where one is expected."""
    (metric,) = resolve_scoring(scoring)
    kernel = build_kernel(metric, problem, tuple(map(str, range(len(problem.records)))))
    assert path is None or kernel.path == path
    return kernel


def rows_of(units, counts):
    """Row numbers of a resample, each as often as its unit was drawn."""
    of_row = np.arange(units.n_rows) if units.of_row is None else units.of_row
    return np.repeat(np.arange(units.n_rows), counts[of_row])


def quiet(function, *args, **kwargs):
    """Call scikit-learn with its warnings off."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


@cache
def trained(kind):
    """Rows, truths and two models that were trained on other rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2 * N_TRAINED, 4))
    noisy = X[:, :3] + rng.normal(size=(2 * N_TRAINED, 3))
    if kind == "regression":
        y = np.exp(noisy[:, 0] / 2)
        positive = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
        models = DecisionTreeRegressor(max_depth=3, random_state=0), positive
    elif kind == "multilabel":
        y, linear = (noisy > 0).astype(int), LogisticRegression()
        models = DecisionTreeClassifier(max_depth=3, random_state=0), OneVsRestClassifier(linear)
    else:
        y = (noisy[:, 0] > 0).astype(int) if kind == "binary" else np.argmax(noisy, axis=1)
        models = DecisionTreeClassifier(max_depth=3, random_state=0), LogisticRegression()
    for model in models:
        model.fit(X[N_TRAINED:], y[N_TRAINED:])
    return X[:N_TRAINED], y[:N_TRAINED], dict(zip("01", models, strict=True))


def weights_of(plan, groups, n_resamples, n_rows=N_TRAINED):
    """Weights of the rows in the first block, from the seed 0."""
    units = plan.resampling_units(n_rows, groups=groups)
    drawn = units.scheme.draw(SeedSequence(0, spawn_key=(0,)))[:n_resamples]
    return drawn if units.of_row is None else drawn[:, units.of_row]
