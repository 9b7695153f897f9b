"""What tests of interval methods share: something for every method to rest on."""

from __future__ import annotations

from sklearn_pairboot._engine.inversion import Basis, Expansion
from sklearn_pairboot._engine.sample import Sample


def basis_of(sample, estimate, acceleration=0.0):
    """Wide pivots, an error other than the sample's, few units; mirrors with the sample."""
    mirrored = sample.reflected(estimate)
    pivots = estimate + 1.3 * (mirrored.values - estimate)
    return Basis(
        acceleration=acceleration,
        std_error=1.1 * sample.std(),
        df=14.5,
        pivots=Sample(pivots, mirrored.multiplicities, mirrored.noise),
        expansion=Expansion(40),
    )
