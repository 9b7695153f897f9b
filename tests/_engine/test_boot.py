"""Bias, acceleration, levels and ends of BCa intervals against R's package boot.

The numbers below were printed by R 4.2.2 with boot 1.3-28.1 (Debian 12):

    library(boot)
    x <- c(2.1, 3.7, 1.4, 5.9, 4.4, 2.8, 7.3, 3.1, 6.6, 1.9, 4.8, 2.2)
    n <- length(x); R <- 999
    s <- 12345
    draw <- function() { s <<- (16807 * s) %% 2147483647; s }
    theta <- function(y) mean(y)^2 + sum(y * sqrt(seq_along(y))) / 100
    idx <- matrix(0L, R, n)
    for (r in 1:R) for (i in 1:n) idx[r, i] <- 1L + as.integer(draw() %% n)
    t <- apply(idx, 1, function(i) theta(x[i]))
    t0 <- theta(x)
    left <- sapply(1:n, function(i) mean(x[-i])^2)
    L <- (n - 1) * (mean(left) - left)
    stopifnot(length(unique(t)) == R, !(t0 %in% t))
    w <- qnorm(sum(t < t0) / R); a <- sum(L^3) / (6 * sum(L^2)^1.5)
    cat(sprintf("t0 %.17g sum %.17g z0 %.17g a %.17g\n", t0, sum(t), w, a))
    b <- structure(list(t0 = t0, t = matrix(t), R = R, data = x, sim = "ordinary"), class = "boot")
    for (conf in c(0.9, 0.95, 0.99)) {
      z <- qnorm((1 + c(-conf, conf)) / 2)
      level <- pnorm(w + (w + z) / (1 - a * (w + z)))
      ends <- boot:::bca.ci(b, conf, 1, t0 = t0, t = t, L = L)[4:5]
      cat(sprintf("%.2f, (%.17g, %.17g)", conf, level[1], level[2]))
      cat(sprintf(", (%.17g, %.17g)\n", ends[1], ends[2]))
    }
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from sklearn_pairboot._engine import intervals
from sklearn_pairboot._engine.inversion import Basis
from sklearn_pairboot._engine.sample import Sample

X = np.array([2.1, 3.7, 1.4, 5.9, 4.4, 2.8, 7.3, 3.1, 6.6, 1.9, 4.8, 2.2])
N_RESAMPLES = 999
T0, SUM, Z0, A = (
    15.979359904509826,
    16357.018978942047,
    -0.0062728846685737279,
    0.020843880502583612,
)
# Level of the interval, levels of its ends, its ends.
BCA = [
    (
        0.90,
        (0.054526406953946747, 0.95451008496603573),
        (9.8720445684837603, 24.683347556972123),
    ),
    (
        0.95,
        (0.029039701304591735, 0.97883975586097771),
        (8.97024351060778, 26.89349831717713),
    ),
    (
        0.99,
        (0.0070148655204645928, 0.99662258977427409),
        (7.0879043627014608, 30.694753506658259),
    ),
]


def theta(y):
    return y.mean() ** 2 + (y * np.sqrt(np.arange(1, len(y) + 1))).sum() / 100


@pytest.fixture(scope="module")
def replicates():
    """Draw the same rows as R: Lehmer's generator, whole numbers below 2^53 throughout."""
    state, rows = 12345, np.empty(N_RESAMPLES * len(X), dtype=np.int64)
    for draw in range(rows.size):
        state = 16807 * state % 2147483647
        rows[draw] = state % len(X)
    return np.array([theta(X[drawn]) for drawn in rows.reshape(N_RESAMPLES, -1)])


def test_replicates_are_those_of_r(replicates):
    assert theta(X) == pytest.approx(T0, rel=1e-14)
    assert replicates.sum() == pytest.approx(SUM, rel=1e-14)
    assert len(np.unique(replicates)) == N_RESAMPLES


def test_bias_and_acceleration_equal_those_of_boot(replicates):
    left_out = np.array([np.delete(X, row).mean() ** 2 for row in range(len(X))])
    assert intervals._bias(Sample.from_replicates(replicates), T0) == pytest.approx(Z0, rel=1e-10)
    assert intervals.acceleration(left_out) == pytest.approx(A, rel=1e-10)


def interpolated(ordered, level):
    """Interpolate between order statistics on the normal scale, as boot does."""
    rank = (len(ordered) + 1) * level
    k = int(rank)
    low, high = ndtri(k / (len(ordered) + 1)), ndtri((k + 1) / (len(ordered) + 1))
    return ordered[k - 1] + (ndtri(level) - low) / (high - low) * (ordered[k] - ordered[k - 1])


@pytest.mark.parametrize(("confidence_level", "levels", "ends"), BCA)
def test_levels_and_ends_equal_those_of_boot(replicates, confidence_level, levels, ends):
    ordered = np.sort(replicates)
    z = float(ndtri((1 - confidence_level) / 2))
    ours = intervals._bca_level(Z0, A, z), 1 - intervals._bca_level(-Z0, -A, z)
    assert ours == pytest.approx(levels, rel=1e-10)
    assert [interpolated(ordered, level) for level in ours] == pytest.approx(ends, rel=1e-10)
    found = intervals.interval(
        Sample.from_replicates(replicates),
        T0,
        method="bca",
        confidence_level=confidence_level,
        basis=Basis(acceleration=A),
    )
    # NumPy's linear rule places levels a little differently: by less than one order statistic.
    for end, of_boot in zip((found.low, found.high), ends, strict=True):
        below = np.searchsorted(ordered, of_boot) - 1
        assert ordered[below - 1] <= end <= ordered[below + 2]
    assert found.status == "ok"


def test_without_bias_and_acceleration_the_levels_are_plain():
    for z in (-2.5, -1.0, 0.3):
        assert intervals._bca_level(0.0, 0.0, z) == pytest.approx(float(ndtr(z)), rel=1e-14)
