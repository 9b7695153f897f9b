"""Checks of data: what is let through, and what is said of the rest."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_pairboot._scoring.checks import (
    align,
    check_finite,
    check_labels,
    check_length,
    check_names,
    check_same_index,
    check_sample_weight,
    check_target,
    is_missing,
    plain,
    shown,
)
from sklearn_pairboot._scoring.recorded import RecordedEstimator


def refused(error, message, function, *args, **options):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        function(*args, **options)


def test_long_lists_are_cut():
    assert shown([]) == ""
    assert shown(["a", 1, None]) == "'a', 1, None"
    assert shown(range(9)) == "0, 1, 2, 3, 4, ... (9 in all)"
    assert shown(range(3), limit=2) == "0, 1, ... (3 in all)"


# --- plain --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind", "shape"),
    [
        ([1, 2], "i", (2,)),
        ((1, 2.5), "f", (2,)),
        ([True, 2], "i", (2,)),
        ([1, "1"], "O", (2,)),
        ([None, 1.0], "O", (2,)),
        (["a", "b"], "U", (2,)),
        ([[1, 2], [3, 4]], "i", (2, 2)),
        ([np.array([1, 2]), np.array([3, 4])], "i", (2, 2)),
        ([], "f", (0,)),
        (range(3), "i", (3,)),
        (np.float32([1]), "f", (1,)),
        (5, "i", ()),
    ],
)
def test_plain_arrays(values, kind, shape):
    array = plain(values)
    assert (array.dtype.kind, array.shape) == (kind, shape)


def test_plain_does_not_turn_numbers_beside_strings_into_strings():
    assert plain([1, "1"]).tolist() == [1, "1"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_plain_series(library):
    module = pytest.importorskip(library)
    assert plain(module.Series([1, 2])).tolist() == [1, 2]
    assert plain(module.Series(["a", None])).tolist()[0] == "a"
    assert is_missing(plain(module.Series(["a", None]))[1])


def test_plain_masked_arrays():
    masked = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
    assert plain(masked).tolist() == [1, None, 3]
    whole = plain(np.ma.masked_array([1, 2, 3]))
    assert type(whole) is np.ndarray and whole.dtype.kind == "i"


# --- Missing and infinite values ----------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [None, np.nan, np.inf, -np.inf, float("nan"), np.float32("nan"), (1, None), ("a", np.nan)],
)
def test_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, Decimal(1), (), ("a", 1), np.int8(3), 1j])
def test_not_missing(value):
    assert not is_missing(value)


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert is_missing(pandas.NA)
    assert is_missing(pandas.NaT)


def test_finite():
    check_finite(np.array([1.0, 2.0]), "x")
    check_finite(np.array(["a", "nan"]), "x")
    check_finite(np.array([True]), "x")
    refused(
        ValueError,
        "x must be finite and present in every row, got 7 missing or infinite, in row(s) 0, 1, 2, "
        "3, 4, ... (7 in all). Do this.",
        check_finite,
        np.full(7, np.nan),
        "x",
        "Do this.",
    )
    refused(
        ValueError,
        "x must be finite and present in every row, got 1 missing or infinite, in row(s) 1.",
        check_finite,
        np.array([[1.0, 2.0], [np.inf, 1.0]]),
        "x",
    )
    refused(
        ValueError,
        "x must be finite and present in every row, got 1 missing or infinite, in row(s) 0.",
        check_finite,
        np.array(["NaT", "2020-01-01"], dtype="M8[D]"),
        "x",
    )


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_finite_agrees_with_numpy(values):
    array = np.array(values)
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        with pytest.raises(ValueError, match=rf"got {len(bad)} missing .* row\(s\) {bad[0]}"):
            check_finite(array, "x")
    else:
        check_finite(array, "x")
        check_finite(array.astype(object), "x")


# --- Targets, weights, lengths, names -----------------------------------------------------------


def test_targets():
    assert check_target([[1], [2]]).tolist() == [1, 2]
    words = check_target(np.array(["a", "b"], dtype=object))
    assert words.dtype.kind == "U"
    assert check_target([True, False]).dtype.kind == "b"
    refused(
        ValueError,
        "`y` must have shape (n_rows,), or (n_rows, n_columns) for several labels or outputs, got "
        "(2, 3, 1).",
        check_target,
        np.ones((2, 3, 1)),
        "y",
    )
    refused(
        ValueError,
        "`y` must have shape (n_rows,), or (n_rows, n_columns) for several labels or outputs, got "
        "().",
        check_target,
        5,
        "y",
    )
    refused(
        TypeError,
        "`y` must hold labels of one kind, all of them strings or none, got 'a', 1.",
        check_target,
        ["a", 1, "a"],
        "y",
    )


def test_weights():
    assert check_sample_weight(None, 3) is None
    for weight in ([1, 0, 2], np.float32([1, 0, 2]), [[1], [0], [2]], [True, False, True]):
        found = check_sample_weight(weight, 3)
        assert found.dtype == np.float64 and found.shape == (3,)
    given_weight = np.array([1.0, 2.0, 3.0])
    assert check_sample_weight(given_weight, 3) is not given_weight


def test_lengths():
    check_length([1, 2], 2, "x")
    refused(ValueError, "x must have one entry per row, 3, got 2.", check_length, [1, 2], 3, "x")


def test_names():
    assert check_names(["a", "b"]) == ("a", "b")
    refused(
        ValueError,
        "Names of models must be unique, got 'a', 'b' more than once.",
        check_names,
        ["a", "b", "a", "c", "b"],
    )


# --- Labels of groups and strata ----------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_labels_are_numbered_as_numpy_does(labels):
    distinct, expected = np.unique(labels, return_inverse=True)
    for form in (labels, np.array(labels), np.array(labels, dtype=object), tuple(labels)):
        codes, found = check_labels(form, len(labels), "groups")
        assert codes.tolist() == expected.reshape(-1).tolist()
        assert found == distinct.tolist()
        assert codes.dtype == np.int64


@given(st.permutations([1, "1", 2, "b", (1, 2), b"x", 1.5]))
def test_order_of_mixed_labels_does_not_depend_on_that_of_rows(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    _, found = check_labels(array, len(labels), "groups")
    assert found == [b"x", 1.5, 1, 2, "1", "b", (1, 2)]


# --- Indexes ------------------------------------------------------------------------------------


def test_indexes_of_pandas():
    pandas = pytest.importorskip("pandas")
    one, two = pandas.Series([1, 2]), pandas.Series([1, 2], index=[1, 0])
    check_same_index({"a": one, "b": one.copy(), "c": [1, 2], "d": np.array([1, 2])})
    check_same_index({"a": [1, 2], "b": two})
    # Other lengths are told of with the lengths.
    check_same_index({"a": one, "b": pandas.Series([1, 2, 3])})
    with pytest.raises(ValueError, match="^a and c have different pandas indexes, but rows are"):
        check_same_index({"a": one, "b": [1, 2], "c": two})
    with pytest.raises(ValueError, match="^a and b have different pandas indexes"):
        check_same_index({"a": one, "b": two.to_frame()})


# --- Alignment ----------------------------------------------------------------------------------


@given(st.permutations(list("abcdef")), st.permutations(list("abcdef")))
def test_alignment_finds_the_rows(first, second):
    order, rows = align({"x": first, "y": np.array(second)}, "x")
    assert order == list(first)
    assert [second[row] for row in rows["y"]] == list(first)
    assert rows["x"].tolist() == list(range(6))


def test_every_fault_is_listed_at_once():
    with pytest.raises(ValueError) as caught:
        align({"x": ["a", "b", "b", ""], "y": ["b", "c", None]}, "x")
    assert str(caught.value) == (
        "`ids` must name the same items, each once, everywhere; got x: empty ids in row(s) 3; "
        "x: duplicate ids 'b'; y: empty ids in row(s) 2; y: missing ids 'a', ''; y: ids that x "
        "lacks 'c', None. No row is dropped for one model alone: repair the inputs, or restrict "
        "all of them to common ids yourself and say so."
    )


def test_ids_of_any_hashable_kind():
    order, rows = align({"x": [("a", 1), ("b", 2)], "y": [("b", 2), ("a", 1)]}, "x")
    assert rows["y"].tolist() == [1, 0]
    assert order == [("a", 1), ("b", 2)]


def test_recorded_answers_may_be_masked_arrays():
    whole = RecordedEstimator.from_arrays(predict=np.ma.masked_array([1, 2, 3]))
    assert whole.response("predict").tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"missing values in 1 of 3 rows \(row 1\)"):
        RecordedEstimator.from_arrays(predict=np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]))
