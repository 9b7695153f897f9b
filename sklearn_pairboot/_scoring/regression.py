"""Kernels of scikit-learn's regression metrics, of one or several outputs.

Whatever a builder does not serve, and whatever scikit-learn would refuse or warn of, gives
``None``: the scorer is replayed on the drawn rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn import metrics

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.explained import ExplainedKernel
from sklearn_pairboot._engine.weights import FloatArray, Kernel
from sklearn_pairboot._scoring.problem import Problem
from sklearn_pairboot._scoring.terms import fits, mean_of_rows, weighted_sums

# Losses of truths, shape (n_rows, 1, n_outputs), and predictions, (n_rows, n_models, n_outputs);
# ``None`` outside of the metric's domain.
Loss = Callable[[FloatArray, FloatArray], FloatArray | None]


def squared(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Squared error."""
    return np.asarray(np.square(truth - predicted))


def absolute(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Absolute error."""
    return np.abs(truth - predicted)


def percentage(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Absolute error relative to the truth, or to a tiny number where that is zero."""
    return np.abs(predicted - truth) / np.maximum(np.abs(truth), np.finfo(np.float64).eps)


def squared_log(truth: FloatArray, predicted: FloatArray) -> FloatArray | None:
    """Squared difference of the logarithms of one plus the values."""
    if truth.min() <= -1 or predicted.min() <= -1:
        return None
    return np.asarray(np.square(np.log1p(truth) - np.log1p(predicted)))


def regression_mean(
    problem: Problem, *, loss: Loss, root: bool = False, multioutput: Any = "uniform_average"
) -> Kernel | None:
    """Mean of a loss, or its root, averaged over outputs."""
    found = _values(problem)
    if found is None:
        return None
    weights = _output_weights(multioutput, found[0].shape[2])
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        losses = loss(*found)
    if losses is None:
        return None
    if not root or len(weights) == 1:
        return mean_of_rows(problem, losses @ weights, root=root)
    if not fits(problem.row_weight[:, None, None] * losses):
        return None
    terms = [np.ones((len(losses), 1)), losses.reshape(len(losses), -1)]
    return weighted_sums(
        problem, terms, partial(formulas.mean_of_outputs, weights=weights, root=True)
    )


def pinball_loss(
    problem: Problem, alpha: float = 0.5, multioutput: Any = "uniform_average"
) -> Kernel | None:
    """Mean pinball loss of a quantile."""
    if not isinstance(alpha, Real) or not 0 <= alpha <= 1:
        return None

    def loss(truth: FloatArray, predicted: FloatArray) -> FloatArray:
        errors = truth - predicted
        return np.where(errors >= 0, alpha, alpha - 1) * errors

    return regression_mean(problem, loss=loss, multioutput=multioutput)


def explained(
    problem: Problem,
    *,
    about_mean: bool,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Kernel | None:
    """Coefficient of determination, or with errors ``about_mean`` the explained variance.

    Undefined whatever ``force_finite`` where the truths of an output that counts are constant; by
    variance, constant outputs do not count.
    """
    found = _values(problem)
    if found is None:
        return None
    n_outputs = found[0].shape[2]
    by_variance = isinstance(multioutput, str) and multioutput == "variance_weighted"
    weights = None if by_variance else _output_weights(multioutput, n_outputs)
    if weights is None and not by_variance:
        return None
    if n_outputs > 1 and not force_finite and (weights is None or not weights.all()):
        return None  # scikit-learn counts constant outputs, and says NaN
    truth = found[0][:, 0]
    with np.errstate(over="ignore"):
        errors = (found[0] - found[1]).reshape(len(truth), -1)
        columns = np.hstack([truth, errors]) if about_mean else truth
        losses = np.empty((len(truth), 0)) if about_mean else errors**2
    del found, errors  # of a million rows and many outputs they would be most of the memory
    return _explained(problem, columns, losses, n_outputs=n_outputs, weights=weights)


def tweedie_deviance(problem: Problem, power: float = 0) -> Kernel | None:
    """Mean deviance of the normal, Poisson, gamma or another Tweedie distribution."""
    deviances = _tweedie(problem, power)
    return None if deviances is None else mean_of_rows(problem, deviances)


def d2_tweedie(problem: Problem, power: float = 0) -> Kernel | None:
    """Share of the Tweedie deviance explained."""
    deviances = _tweedie(problem, power)
    if deviances is None:
        return None
    truth = problem.y.astype(np.float64)
    if power != 0 and (truth.min() < 0 or np.average(truth, weights=problem.row_weight) <= 0):
        return None
    return _explained(problem, truth[:, None], deviances, power=float(power))


BUILDERS: dict[Callable[..., Any], Callable[..., Kernel | None]] = {
    metrics.mean_squared_error: partial(regression_mean, loss=squared),
    metrics.root_mean_squared_error: partial(regression_mean, loss=squared, root=True),
    metrics.mean_absolute_error: partial(regression_mean, loss=absolute),
    metrics.mean_absolute_percentage_error: partial(regression_mean, loss=percentage),
    metrics.mean_squared_log_error: partial(regression_mean, loss=squared_log),
    metrics.root_mean_squared_log_error: partial(regression_mean, loss=squared_log, root=True),
    metrics.mean_pinball_loss: pinball_loss,
    metrics.r2_score: partial(explained, about_mean=False),
    metrics.explained_variance_score: partial(explained, about_mean=True),
    metrics.mean_tweedie_deviance: tweedie_deviance,
    metrics.mean_poisson_deviance: partial(tweedie_deviance, power=1),
    metrics.mean_gamma_deviance: partial(tweedie_deviance, power=2),
    metrics.d2_tweedie_score: d2_tweedie,
}


def _values(problem: Problem) -> tuple[FloatArray, FloatArray] | None:
    """Truths, shape (n_rows, 1, n_outputs), and predictions, (n_rows, n_models, n_outputs)."""
    arrays = [problem.y, *problem.predictions()]
    if any(array.shape != problem.y.shape or array.dtype.kind not in "biuf" for array in arrays):
        return None
    n_rows = len(problem.y)
    truth, *predicted = (array.astype(np.float64).reshape(n_rows, 1, -1) for array in arrays)
    return truth, np.concatenate(predicted, axis=1)


def _output_weights(multioutput: Any, n_outputs: int) -> FloatArray | None:
    """Weights of the outputs, of sum one; ``None`` where scikit-learn takes no such average."""
    if isinstance(multioutput, str):
        uniform = multioutput == "uniform_average"
        return np.full(n_outputs, 1 / n_outputs) if uniform else None
    weights = np.asarray(multioutput)
    if n_outputs == 1 or weights.shape != (n_outputs,) or weights.dtype.kind not in "iuf":
        return None
    weights = weights.astype(np.float64)
    total = weights.sum()
    return weights / total if np.isfinite(total) and total != 0 else None


def _tweedie(problem: Problem, power: Any) -> FloatArray | None:
    """Deviance of every row and model; ``None`` outside of the power's domain."""
    found = _values(problem)
    if found is None or found[0].shape[2] > 1 or not isinstance(power, Real):
        return None
    truth, predicted = found[0][:, 0], found[1][:, :, 0]
    p = float(power)
    if 0 < p < 1:
        return None
    if p == 0:
        with np.errstate(over="ignore"):
            return squared(truth, predicted)
    least = truth.min()
    if predicted.min() <= 0 or (1 <= p < 2 and least < 0) or (p >= 2 and least <= 0):
        return None
    with np.errstate(all="ignore"):  # what is not finite is found by the callers
        if p == 1:
            return np.asarray(2 * (xlogy(truth, truth / predicted) - truth + predicted))
        if p == 2:
            return np.asarray(2 * (np.log(predicted / truth) + truth / predicted - 1))
        constant = np.maximum(truth, 0.0) ** (2 - p) / ((1 - p) * (2 - p))
        linear = truth * predicted ** (1 - p) / (1 - p)
        return np.asarray(2 * (constant - linear + predicted ** (2 - p) / (2 - p)))


def _explained(
    problem: Problem,
    columns: FloatArray,
    losses: FloatArray,
    *,
    power: float = 0.0,
    n_outputs: int = 1,
    weights: FloatArray | None = None,
) -> Kernel | None:
    with np.errstate(all="ignore"):
        largest = 2 * max(columns.max(), -columns.min())
        heaviest = max(1.0, float(problem.row_weight.max()))
        if not fits(losses, heaviest) or not np.isfinite(len(columns) * largest**2 * heaviest):
            return None
        kernel = ExplainedKernel.from_columns(
            columns,
            losses,
            problem.row_weight,
            problem.units,
            power=power,
            n_outputs=n_outputs,
            weights=weights,
        )
    return kernel if fits(kernel.terms) else None
