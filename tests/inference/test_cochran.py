"""Cochran's Q, against enumeration, McNemar's test and a published example."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sklearn_pairboot.inference import cochran, cochran_q_test, mcnemar_test


def boolean_tables(max_rows=6, max_models=4):
    return st.integers(2, max_models).flatmap(
        lambda k: st.lists(
            st.lists(st.booleans(), min_size=k, max_size=k), min_size=1, max_size=max_rows
        )
    )


def q_by_formula(rows):
    """Q with plain sums of integers; None where it is 0/0."""
    k = len(rows[0])
    columns = [sum(column) for column in zip(*rows, strict=True)]
    total = sum(columns)
    below = k * total - sum(sum(row) ** 2 for row in rows)
    return (k - 1) * (k * sum(c * c for c in columns) - total**2) / below if below else None


def enumerated_tail(rows):
    """Share of all arrangements within rows whose Q is at least the observed one."""
    arrangements = [sorted(set(itertools.permutations(row))) for row in rows]
    observed = q_by_formula(rows)
    found = [q_by_formula(arranged) for arranged in itertools.product(*arrangements)]
    return np.mean([q >= observed - 1e-9 for q in found]), max(found)


@given(boolean_tables())
def test_exact_equals_enumeration(rows):
    test = cochran_q_test(rows, variant="exact")
    q = q_by_formula(rows)
    if q is None:
        assert (test.statistic, test.p_value, test.p_min) == (0, 1, 1)
        return
    p_value, largest = enumerated_tail(rows)
    assert test.statistic == pytest.approx(q, rel=1e-12, abs=1e-12)
    assert test.p_value == pytest.approx(p_value, rel=1e-12)
    asymptotic = cochran_q_test(rows)
    assert asymptotic.p_value == pytest.approx(stats.chi2.sf(q, len(rows[0]) - 1), rel=1e-12)
    assert asymptotic.p_min == pytest.approx(stats.chi2.sf(largest, len(rows[0]) - 1), rel=1e-9)


@pytest.mark.parametrize("sizes", [(1, 1, 2, 1), (1, 2, 2, 1, 2), (1, 3, 2, 2)])
def test_size_of_the_exact_test_is_never_above_nominal(sizes):
    k = 3 if max(sizes) < 3 else 4
    arrangements = [
        sorted(set(itertools.permutations([1] * size + [0] * (k - size)))) for size in sizes
    ]
    tests = [
        cochran_q_test(np.array(rows), variant="exact") for rows in itertools.product(*arrangements)
    ]
    p_values = np.array([test.p_value for test in tests])
    for level in (0.01, 0.05, 0.1, 0.2, *set(p_values)):
        assert np.mean(p_values <= level * (1 + 1e-9)) <= level * (1 + 1e-9)
    # p_min depends on the row totals alone, and is reached.
    assert {round(test.p_min, 12) for test in tests} == {round(p_values.min(), 12)}


def test_published_example():
    # Three drugs in 46 patients, the example of Cochran's Q in SAS's documentation of PROC FREQ:
    # Q = 8.4706, 2 degrees of freedom, p = 0.0145.
    patterns = {"000": 6, "001": 16, "010": 2, "011": 4, "100": 2, "101": 4, "110": 6, "111": 6}
    rows = [[int(c) for c in pattern] for pattern, n in patterns.items() for _ in range(n)]
    test = cochran_q_test(1 - np.array(rows))
    assert (round(test.statistic, 4), test.df, round(test.p_value, 4)) == (8.4706, 2, 0.0145)
    assert test.n_informative == 34
    # The exact distribution, once more with rational weights: three or three ways in each row.
    states = {(0, 0): 1}
    for row in rows:
        ways = [ways for ways in set(itertools.permutations(row))] if 0 < sum(row) < 3 else []
        for_row = {}
        for (first, second), weight in states.items():
            for way in ways or [(0, 0, 0)]:
                key = first + way[0], second + way[1]
                for_row[key] = for_row.get(key, 0) + weight
        states = for_row
    informative = [row for row in rows if 0 < sum(row) < 3]
    total = sum(map(sum, informative))
    observed = sum(sum(column) ** 2 for column in zip(*informative, strict=True))
    extreme = sum(
        weight
        for (first, second), weight in states.items()
        if first**2 + second**2 + (total - first - second) ** 2 >= observed
    )
    exact = cochran_q_test(rows, variant="exact")
    assert exact.p_value == pytest.approx(extreme / sum(states.values()), rel=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_two_models_are_mcnemars_test(pairs):
    a, b = np.array(pairs).T
    for mine, theirs in (("exact", "exact"), ("asymptotic", "asymptotic")):
        q = cochran_q_test({"a": a, "b": b}, variant=mine)
        z = mcnemar_test(a, b, variant=theirs)
        assert q.statistic == pytest.approx(z.statistic**2, rel=1e-12)
        assert q.p_value == pytest.approx(z.p_value, rel=1e-10)
        assert q.p_min == pytest.approx(z.p_min, rel=1e-10)
        assert q.estimate == pytest.approx(abs(z.estimate), abs=1e-15)


@given(boolean_tables(), st.randoms(use_true_random=False))
def test_order_of_rows_and_models_does_not_count(rows, random):
    models = list(range(len(rows[0])))
    random.shuffle(models)
    moved = [[row[model] for model in models] for row in rows]
    random.shuffle(moved)
    for variant in ("asymptotic", "exact"):
        first, second = (cochran_q_test(r, variant=variant) for r in (rows, moved))
        assert first.p_value == pytest.approx(second.p_value, rel=1e-12)
        assert first.statistic == second.statistic
        assert first.estimate == second.estimate


@given(boolean_tables(), st.integers(0, 5), st.integers(0, 5))
def test_unanimous_rows_say_nothing(rows, n_right, n_wrong):
    k = len(rows[0])
    more = rows + [[True] * k] * n_right + [[False] * k] * n_wrong
    for variant in ("asymptotic", "exact"):
        first, second = (cochran_q_test(r, variant=variant) for r in (rows, more))
        assert (first.p_value, first.statistic) == (second.p_value, second.statistic)


def test_all_rows_unanimous():
    test = cochran_q_test({"a": [1, 1, 0], "b": [1, 1, 0], "c": [1, 1, 0]})
    assert (test.statistic, test.p_value, test.estimate, test.n_informative) == (0, 1, 0, 0)
    assert math.isnan(test.ci_low) and math.isnan(test.ci_high)
    assert "Always NaN" in type(test).__doc__


def test_inputs_of_all_kinds_agree():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    columns = {"a": [1, 0, 0, 1], "b": [1, 1, 0, 1], "c": [1, 1, 1, 0]}
    expected = cochran_q_test(columns)
    assert (expected.models, expected.accuracies) == (("a", "b", "c"), (0.5, 0.75, 0.75))
    assert cochran_q_test(pd.DataFrame(columns)) == expected
    assert cochran_q_test(pl.DataFrame(columns).cast(pl.Boolean)) == expected
    unnamed = cochran_q_test(np.column_stack(list(columns.values())))
    assert unnamed.models == ("0", "1", "2")
    assert unnamed.p_value == expected.p_value


def test_too_much_work_is_refused_before_it_is_done():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"`variant` must be 'asymptotic' for \d+ .* got 'exact'"):
        cochran_q_test(rng.integers(0, 2, (200, 6)), variant="exact")
    assert 0 < cochran_q_test(rng.integers(0, 2, (60, 3)), variant="exact").p_value <= 1


def test_work_is_counted_as_it_is_done(monkeypatch):
    # Each of four rows moves all states, the squares of 2 to 5, to three places.
    rows = [[1, 0, 0]] * 4
    monkeypatch.setattr(cochran, "_MOST_WORK", 3 * (4 + 9 + 16 + 25))
    assert cochran_q_test(rows, variant="exact").p_value == pytest.approx(3 / 81, rel=1e-12)
    monkeypatch.setattr(cochran, "_MOST_WORK", 3 * (4 + 9 + 16 + 25) - 1)
    with pytest.raises(ValueError, match="additions"):
        cochran_q_test(rows, variant="exact")


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"`variant` must be one of .* got 'mid-p'"):
        cochran_q_test([[1, 0]], variant="mid-p")
    with pytest.raises(ValueError, match=r"`correct` must have shape .* got \(3,\)"):
        cochran_q_test([1, 0, 1])
    with pytest.raises(ValueError, match=r"`correct` must hold at least 2 models, got 'a'"):
        cochran_q_test({"a": [1, 0]})
    with pytest.raises(ValueError, match=r"`correct\['b'\]` must say .* got 2\."):
        cochran_q_test({"a": [1, 0], "b": [1, 2]})
    with pytest.raises(ValueError, match=r"`correct\['b'\]` must have one entry per row, 2"):
        cochran_q_test({"a": [1, 0], "b": [1, 1, 0]})
    with pytest.raises(TypeError, match=r"`correct` must be a mapping .* got str"):
        cochran_q_test("right")
