"""Sums of rows in lines against sums of the rows of each group, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import max_examples
from sklearn_pairboot._engine.binned import BinSums, Forecast
from sklearn_pairboot._engine.lines import MOST_IN_LINE, Cells, Lines
from sklearn_pairboot._engine.units import Units
from sklearn_pairboot._engine.weights import Weights, Workspace


def literal_sums(forecasts, of_rows, n_bins, row_weight=None):
    """The definition: sums over the rows of every bin, for each resample."""
    weight = np.ones(of_rows.shape[1]) if row_weight is None else row_weight
    found = np.zeros((len(of_rows), len(forecasts), 3 if row_weight is None else 4, n_bins))
    for resample, counts in enumerate(of_rows.astype(float)):
        for number, one in enumerate(forecasts):
            for bin_number in range(n_bins):
                here = one.bins == bin_number
                terms = [weight, weight * one.predictions, weight * one.outcomes, weight**2]
                for term in range(found.shape[2]):
                    found[resample, number, term, bin_number] = counts[here] @ terms[term][here]
    return found


def forecasts_of(rng, n_rows, n_bins, n_forecasts, *, same_outcomes=True):
    outcomes = rng.integers(0, 2, n_rows).astype(float)
    found = []
    for _ in range(n_forecasts):
        if not same_outcomes:
            outcomes = rng.integers(0, 2, n_rows).astype(float)
        predictions = rng.random(n_rows)
        bins = np.minimum((predictions * n_bins).astype(np.int64), n_bins - 1)
        found.append(Forecast(predictions, outcomes, bins))
    return tuple(found)


def weights_of(rng, kind, n_resamples, n_units):
    if kind == "real":
        return rng.exponential(size=(n_resamples, n_units))
    largest, dtype = {
        "few": (4, np.uint8),
        "many": (255, np.uint8),
        "wide": (100_000, np.uint32),
        "merged": (10**9, np.int64),
    }[kind]
    counts = rng.integers(0, largest, (n_resamples, n_units), endpoint=True).astype(dtype)
    counts[0] = largest  # no sum is larger
    return counts


@max_examples(40)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.sampled_from([1, 2, 50, 700]),
    n_bins=st.sampled_from([1, 3, 40]),
    n_forecasts=st.integers(1, 5),
    same_outcomes=st.booleans(),
    kind=st.sampled_from(["few", "many", "wide", "merged", "real"]),
    weighted=st.booleans(),
    clustered=st.booleans(),
)
def test_sums_of_bins_are_sums_of_their_rows(
    seed, n_rows, n_bins, n_forecasts, same_outcomes, kind, weighted, clustered
):
    rng = np.random.default_rng(seed)
    forecasts = forecasts_of(rng, n_rows, n_bins, n_forecasts, same_outcomes=same_outcomes)
    units = Units(n_rows, n_rows)
    if clustered:  # so many that their terms in every bin are not formed
        _, of_row = np.unique(rng.integers(0, n_rows, n_rows), return_inverse=True)
        units = Units(n_rows, int(of_row.max()) + 1, of_row)
    row_weight = rng.choice([0.0, 0.5, 3.0], n_rows) if weighted else None
    sums = BinSums(forecasts, units, row_weight)
    workspace = Workspace()
    for _ in range(2):  # the second block finds what the first left in the workspace
        drawn = weights_of(rng, kind, 3, units.n_units)
        found = sums.of(Weights(drawn, workspace))
        expected = literal_sums(forecasts, drawn[:, units.of_each_row], sums.shape[2], row_weight)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("n_rows", "n_forecasts", "numbers"),
    [
        (3_000, 2, [(0, 1)]),
        (20_000, 2, [(0, 1)]),
        (20_000, 3, [(0, 1), (2,)]),
        (20_000, 4, [(0, 2), (1, 3)]),
        (60, 2, [(0,), (1,)]),
    ],
)
def test_forecasts_share_lines_where_rows_are_many(n_rows, n_forecasts, numbers):
    forecasts = forecasts_of(np.random.default_rng(0), n_rows, 4, n_forecasts)
    sums = BinSums(forecasts, Units(n_rows, n_rows))
    assert [found for found, _ in sums._lines] == numbers
    drawn = weights_of(np.random.default_rng(1), "few", 2, n_rows)
    expected = literal_sums(forecasts, drawn, 4)
    np.testing.assert_allclose(sums.of(Weights(drawn)), expected, rtol=1e-12)


@pytest.mark.parametrize("n_cells", [1, 10, 300, 1000])
def test_every_row_is_in_a_line_of_its_cell_and_few_places_have_none(n_cells):
    rng = np.random.default_rng(n_cells)
    codes = rng.integers(0, n_cells, 1000) * 7
    cells = Cells.of(codes)
    lines = Lines.of(
        cells,
        [np.ones(1000)],
        Units(1000, 1000),
        groups=[codes],
        n_groups=7 * n_cells,
    )
    has_row = lines.terms.reshape(lines.units.shape) == 1
    assert (lines.terms.reshape(lines.units.shape)[~has_row] == 0).all()
    assert sorted(lines.units[has_row]) == list(range(1000))
    of_places = np.where(has_row, codes[lines.units], -1)
    for line in of_places:
        assert len(set(line[line >= 0])) == 1
    assert (~has_row).sum() <= 250
    assert cells.length == 1 or cells.length <= MOST_IN_LINE
    drawn = rng.integers(0, 9, (2, 1000)).astype(np.uint8)
    sums = lines.sums_of_groups(Weights(drawn))
    for resample in range(2):
        expected = np.bincount(codes, drawn[resample], 7 * n_cells)
        assert (sums[:, 0, resample] == expected).all()  # whole numbers: without rounding
