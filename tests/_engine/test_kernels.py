"""Sums kernels that are evaluated together."""

from functools import partial

import numpy as np

from sklearn_pairboot._engine import formulas
from sklearn_pairboot._engine.kernels import SumsKernel, fuse
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights


def test_terms_that_kernels_share_are_there_once():
    rng = np.random.default_rng(0)
    weight, a, b = np.ones((20, 1)), rng.random((20, 2)), rng.random((20, 2))
    units = Units(20, 20)
    kernels = [
        SumsKernel.from_rows(np.hstack([weight, part]), formulas.mean, 2, units)
        for part in (a, b, a)
    ]
    terms, places = fuse(kernels)
    assert terms.shape == (20, 5)
    for kernel, of_kernel in zip(kernels, places, strict=True):
        np.testing.assert_array_equal(terms[:, of_kernel], kernel.terms)


def test_nothing_drawn_is_undefined_whatever_the_convention():
    terms = np.column_stack([np.ones(3), np.zeros((3, 2))])
    formula = partial(
        formulas.set_score,
        present=np.ones((1, 1), dtype=bool),
        score="f",
        beta=1.0,
        average="binary",
        zero_division=1.0,
    )
    kernel = SumsKernel.from_rows(
        terms[:, 1:].repeat(2, axis=1)[:, :3], formula, 1, Units(3, 3), row_weight=np.ones(3)
    )
    drawn = kernel.evaluate(Weights(np.array([[0, 0, 0], [1, 1, 1]], dtype=np.uint8)))
    assert drawn.undefined.tolist() == [[True], [False]]
    assert drawn.zero_division.tolist() == [[False], [True]]
    assert drawn.values[1, 0] == 1.0
