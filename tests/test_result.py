"""ComparisonResult: what it holds, reading it anew, data frames, JSON there and back."""

import dataclasses
import json
import math
import pickle
import sys
from fractions import Fraction
from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sklearn_pairboot._engine.distribution import BootstrapDistribution
from sklearn_pairboot._engine.weights import LeaveOneOut
from sklearn_pairboot._tables import DifferenceRow, MetricInfo, ScoreRow, Settings, build_tables
from sklearn_pairboot.result import ComparisonResult

METRICS = (MetricInfo("accuracy", True, "sums"), MetricInfo("log_loss", False, "replay"))


def distribution(models=("old", "new", "newest"), n_resamples=199, seed=0, *, jackknife=True):
    rng = np.random.default_rng(seed)
    shape = (n_resamples, 2, len(models))
    replicates = rng.gamma(2.0, size=shape) + np.arange(len(models))
    undefined = np.zeros(shape, dtype=bool)
    undefined[:3, 0] = True
    replicates[undefined] = np.nan
    zero_division = np.zeros(shape, dtype=bool)
    zero_division[4, 1, 0] = True
    found = BootstrapDistribution(
        observed=np.nanmean(replicates, axis=0),
        replicates=replicates,
        undefined=undefined,
        zero_division=zero_division,
        n_units=30,
        n_sequences=n_resamples,
        scales=np.array([1.0, np.nan]),
    )
    if jackknife:
        found.jackknives = {m: LeaveOneOut(rng.gamma(2.0, size=(30, len(models)))) for m in (0, 1)}
    return found


def result(models=("old", "new", "newest"), found=None, **changes):
    given = dict(
        distribution=distribution(models) if found is None else found,
        models=models,
        metrics=METRICS,
        settings=Settings(models[0], 0.9),
        unit="clusters",
        n_units=30,
        n_rows=100,
        unit_sizes=(np.int64(1), np.float64(3.5), np.int64(9)),
        n_resamples=199,
        stratified=True,
        weighted=False,
        random_state_entropy=2**100 + 1,
        notes=["Said about the input."],
    )
    return ComparisonResult(**{**given, **changes})


def exact_result(replicates, multiplicities, n_sequences, **changes):
    none = np.zeros(replicates.shape, dtype=bool)
    zero_division = none.copy()
    zero_division[1, 0, 1] = True
    found = BootstrapDistribution(
        observed=np.array([[0.4, 0.6]]),
        replicates=replicates,
        undefined=none,
        zero_division=zero_division,
        n_units=7,
        n_sequences=n_sequences,
        multiplicities=multiplicities,
    )
    return result(
        ("old", "new"),
        found,
        metrics=METRICS[:1],
        settings=Settings("old", **changes),
        n_resamples="exact",
        random_state_entropy=None,
    )


def same_rows(first, second):
    """Rows are equal, NaN included."""
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        for column in a.columns():
            x, y = a[column], b[column]
            assert type(x) is type(y)
            assert x == y or (x != x and y != y), (column, x, y)


def same_results(first, second):
    same_rows(first.scores, second.scores)
    same_rows(first.differences, second.differences)
    assert first.summary() == second.summary()
    assert first.to_markdown() == second.to_markdown()
    assert first.notes == second.notes
    assert first.versions == second.versions
    assert first.paths == second.paths


# what it holds


def test_attributes_req_A23():
    found = result()
    assert found.models == ("old", "new", "newest")
    assert found.metrics == ("accuracy", "log_loss")
    assert found.paths == {"accuracy": "sums", "log_loss": "replay"}
    assert (found.baseline, found.confidence_level, found.method) == ("old", 0.9, "percentile")
    assert (found.alternative, found.correction) == ("two-sided", "holm")
    assert (found.unit, found.n_units, found.n_rows) == ("clusters", 30, 100)
    assert found.unit_sizes == (1, 3.5, 9)
    assert all(type(size) in (int, float) for size in found.unit_sizes)
    assert (found.stratified, found.weighted, found.n_resamples) == (True, False, 199)
    assert (found.random_state_entropy, found.held_fixed) == (2**100 + 1, "the trained models")
    assert found.multiplicities is None
    assert found.replicates.shape == (199, 2, 3)
    assert len(found.scores) == 6
    assert len(found.differences) == 4


def test_tables_and_notes_are_those_of_the_replicates():
    found, tables = (
        result(),
        build_tables(distribution(), ("old", "new", "newest"), METRICS, Settings("old", 0.9)),
    )
    same_rows(found.scores, tables.scores)
    same_rows(found.differences, tables.differences)
    assert found.notes == ("Said about the input.", *tables.notes)
    assert "0/0" in found.notes[1]


def test_nothing_can_be_changed():
    found = result()
    with pytest.raises(ValueError, match="read-only"):
        found.replicates[0] = 0
    with pytest.raises(AttributeError):
        found.baseline = "new"
    found.versions["numpy"] = "0"
    found.paths["accuracy"] = "replay"
    assert found.versions["numpy"] == np.__version__
    assert found.paths["accuracy"] == "sums"
    counted = exact_result(np.array([[[0.0, 1.0]], [[1.0, 0.0]]]), np.array([9, 7]), 16)
    with pytest.raises(ValueError, match="read-only"):
        counted.multiplicities[0] = 0


def test_versions_are_recorded():
    assert list(result().versions) == [
        "python",
        "sklearn-pairboot",
        "scikit-learn",
        "numpy",
        "scipy",
    ]
    assert result().versions["scikit-learn"] == metadata.version("scikit-learn")
    assert result(versions={"numpy": "9.9"}).versions == {"numpy": "9.9"}


def test_printing():
    found = result()
    assert repr(found) == (
        "<ComparisonResult: models ['old', 'new', 'newest'], metrics ['accuracy', 'log_loss'], "
        "baseline 'old', 199 resamples of 30 clusters>"
    )
    assert str(found) == found.summary()
    assert found.summary().startswith(
        "Paired bootstrap of 3 models on 100 test rows in 30 clusters"
    )


def test_a_single_model_has_scores_and_no_differences():
    found = result(("only",))
    assert found.differences == ()
    assert len(found.scores) == 2
    assert "Differences" not in found.to_markdown()
    assert found.replace(confidence_level=0.8).differences == ()


# reading the replicates in another way


@pytest.mark.parametrize(
    "changes",
    [
        {"baseline": "new"},
        {"confidence_level": 0.8},
        {"method": "bca"},
        {"method": "basic", "alternative": "better"},
        {"alternative": "worse"},
        {"correction": None},
        {"correction": "fdr", "baseline": "newest", "method": "normal"},
    ],
)
def test_replace_is_what_a_new_comparison_would_say(changes):
    found = result()
    other = found.replace(**changes)
    values = {"baseline": "old", "confidence_level": 0.9, **changes}
    same_results(other, result(settings=Settings(**values)))
    assert {name: getattr(other, name) for name in values} == values
    same_results(found, result())
    same_results(other.replace(**dataclasses.asdict(Settings("old", 0.9))), found)


def test_replace_without_arguments_changes_nothing():
    same_results(result().replace(), result())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "older"}, r"a model, one of 'old', 'new', 'newest', got 'older'"),
        ({"confidence_level": 1.0}, r"`confidence_level` must be a number between 0 and 1"),
        ({"confidence_level": 0.999}, r"`n_resamples` must be at least 1999 for .*, got 199"),
        ({"method": "student"}, r"`method` must be one of 'percentile'"),
        ({"alternative": "less"}, r"`alternative` must be one of 'two-sided'"),
        ({"correction": "max"}, r"`correction` must be one of 'holm'"),
    ],
)
def test_replace_refuses_what_a_comparison_refuses(changes, message):
    with pytest.raises(ValueError, match=message):
        result().replace(**changes)


def test_one_sided_alternatives_need_as_many_resamples_for_their_two_sided_scores():
    found = result(settings=Settings("old", 0.9, alternative="better"))
    assert found.replace(confidence_level=0.99).confidence_level == 0.99
    with pytest.raises(ValueError, match="at least 399"):
        found.replace(confidence_level=0.995)


def test_few_sequences_are_no_reason_to_refuse_a_level():
    found = exact_result(np.array([[[0.0, 1.0]], [[1.0, 0.0]]]), np.array([9, 7]), 16)
    assert found.replace(confidence_level=0.99).differences[0].verdict == "inconclusive"


# data frames


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("which", ["differences", "scores"])
@pytest.mark.parametrize("models", [("old", "new"), ("only",)])
def test_frames_have_the_tables_columns_and_values(backend, which, models):
    library = pytest.importorskip(backend)
    found = result(models)
    frame = found.to_frame(which, backend=backend)
    assert type(frame).__module__.startswith(backend)
    rows = getattr(found, which)
    kind = {"differences": DifferenceRow, "scores": ScoreRow}[which]
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == list(kind.columns())
    assert len(frame) == len(rows)
    same_kind = found.to_frame(which, backend=library)
    assert type(same_kind) is type(frame)
    column = frame["ci_low"]
    assert list(column.to_pylist() if backend == "pyarrow" else column) == [
        row.ci_low for row in rows
    ]
    if backend == "polars":
        assert dict(frame.schema)["greater_is_better"] == library.Boolean
    if backend == "pandas":
        assert frame["ci_low"].dtype == np.float64
        assert frame["greater_is_better"].dtype == bool


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_counts_too_large_for_integers_are_rounded_in_frames(backend):
    pytest.importorskip(backend)
    found = exact_result(np.array([[[0.0, 1.0]], [[1.0, 0.5]]]), np.array([0.25, 0.75]), 100**100)
    column = found.to_frame("scores", backend=backend)["n_zero_division"]
    assert list(column.to_pylist() if backend == "pyarrow" else column) == [0.0, 0.75e200]


@pytest.mark.parametrize(
    ("missing", "type_of"),
    [((), "pandas"), (("pandas",), "polars"), (("pandas", "polars"), "pyarrow")],
)
def test_default_backend_is_the_first_installed(monkeypatch, missing, type_of):
    pytest.importorskip(type_of)
    hide(monkeypatch, missing)
    assert type(result().to_frame()).__module__.startswith(type_of)


def hide(monkeypatch, missing):
    from sklearn_pairboot._tables import frames

    monkeypatch.setattr(
        frames, "find_spec", lambda name: None if name in missing else find_spec(name)
    )


def test_without_a_backend_the_error_names_what_to_install(monkeypatch):
    hide(monkeypatch, ("pandas", "polars", "pyarrow"))
    with pytest.raises(ImportError) as caught:
        result().to_frame()
    assert str(caught.value) == (
        "`to_frame` needs pandas or polars or pyarrow, which cannot be imported. Install pandas "
        "and pyarrow with `pip install sklearn-pairboot[cli]`, or use `to_dict`."
    )
    with pytest.raises(ImportError, match="`to_frame` needs polars, which cannot be imported"):
        result().to_frame(backend="polars")


def test_unknown_tables_and_backends_are_refused():
    with pytest.raises(
        ValueError, match=r"`which` must be one of \['differences', 'scores', 'slices'\], got"
    ):
        result().to_frame("models")
    for which in (["scores"], None, {}):
        with pytest.raises(ValueError, match=r"`which` must be one of .*, got "):
            result().to_frame(which)
    with pytest.raises(ValueError, match=r"`backend` must be one of \['pandas', .*, got 'R'"):
        result().to_frame(backend="R")


def test_importing_the_result_loads_no_dataframe_library():
    assert "sklearn_pairboot.result" in sys.modules
    source = sys.modules["sklearn_pairboot._tables.frames"].__dict__
    assert not {"pandas", "polars", "pyarrow"} & source.keys()


# JSON


def strictly(text):
    """Parse JSON as a reader that knows no NaN and no Infinity."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("replicates", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "better", "worse"])
def test_json_round_trip(replicates, alternative):
    found = result().replace(alternative=alternative)
    text = found.to_json(replicates=replicates)
    data = strictly(text)
    assert [row["p_permutation"] for row in data["differences"]] == [None] * 4
    again = ComparisonResult.from_json(text)
    same_results(again, found)
    assert again.random_state_entropy == 2**100 + 1
    assert again.unit_sizes == found.unit_sizes
    assert again.to_json(replicates=replicates) == text


@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_replicates_in_json_allow_everything(method):
    found = result()
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    np.testing.assert_array_equal(again.replicates, found.replicates)
    changes = {"method": method, "baseline": "newest", "confidence_level": 0.8}
    same_results(again.replace(**changes), found.replace(**changes))
    twice = ComparisonResult.from_json(again.to_json(replicates=True))
    same_results(twice.replace(**changes), found.replace(**changes))


def test_bca_says_why_not_where_a_leave_one_out_value_is_undefined():
    found = result()
    found._distribution.jackknives[0].values[3, 1] = np.nan
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    same_results(again.replace(method="bca"), found.replace(method="bca"))
    notes = again.replace(method="bca").notes
    assert notes[1] == (
        "Interval of accuracy (new), accuracy (new - old): percentile (bca undefined), because a "
        "leave-one-out value is undefined."
    )


def test_bca_says_why_not_where_there_was_no_jackknife():
    found = result(found=distribution(jackknife=False))
    again = ComparisonResult.from_json(found.to_json(replicates=True)).replace(method="bca")
    assert {row.status for row in again.differences} == {"percentile (bca undefined)"}
    assert "there are no leave-one-out values" in " ".join(again.summary().split())


@pytest.mark.parametrize(
    ("multiplicities", "n_sequences"),
    [(np.array([9, 7]), 16), (np.array([0.25, 0.75]), 100**100)],
    ids=["counted", "too many to count"],
)
def test_exact_results_round_trip(multiplicities, n_sequences):
    found = exact_result(np.array([[[0.0, 1.0]], [[1.0, 0.5]]]), multiplicities, n_sequences)
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    share = Fraction(float(multiplicities[1])) / Fraction(float(multiplicities.sum()))
    assert again.scores[1].n_zero_division == n_sequences * share
    same_results(again, found)
    same_results(again.replace(baseline="new"), found.replace(baseline="new"))
    np.testing.assert_array_equal(again.multiplicities, multiplicities)
    assert again.multiplicities.dtype == multiplicities.dtype
    assert ("all 16 equally likely" in str(again)) == (n_sequences == 16)


def test_without_replicates_the_error_says_why_and_what_to_do():
    found = ComparisonResult.from_json(result().to_json())
    for what, ask in (
        ("`replicates`", lambda: found.replicates),
        ("`multiplicities`", lambda: found.multiplicities),
        ("`replace`", lambda: found.replace(baseline="new")),
        ("a dictionary with replicates", lambda: found.to_dict(replicates=True)),
    ):
        with pytest.raises(ValueError) as caught:
            ask()
        assert str(caught.value) == (
            f"This result was read from JSON without replicates, so {what} is not available. Write "
            "it with `to_json(replicates=True)` to keep them."
        )


def test_what_is_not_a_result_is_refused():
    with pytest.raises(ValueError, match="`text` must be JSON written by `to_json`"):
        ComparisonResult.from_json('{"scores": []}')
    with pytest.raises(ValueError, match="`text` must be JSON written by `to_json`"):
        ComparisonResult.from_json("[1]")
    data = {**strictly(result().to_json()), "format_version": 99}
    with pytest.raises(ValueError, match="must have format version 1 or lower, got 99"):
        ComparisonResult.from_json(json.dumps(data))
    with pytest.raises(ValueError, match="`tables` and `n_sequences` must be given"):
        result(found=None, distribution=None)


@pytest.mark.parametrize("text", [None, 1, {}, ["[]"]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(TypeError) as caught:
        ComparisonResult.from_json(text)
    assert str(caught.value) == (
        f"`text` must be a string of JSON written by `to_json`, got {type(text).__name__}. "
        "Read the contents of a file first."
    )


@pytest.mark.parametrize("text", ["", "{", "nonsense", b"\xff"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"^`text` must be JSON written by `to_json`, got none: "):
        ComparisonResult.from_json(text)


def test_damaged_results_are_refused():
    with pytest.raises(ValueError) as caught:
        ComparisonResult.from_json('{"format": "sklearn-pairboot result"}')
    assert str(caught.value) == (
        "`text` must be JSON written by `to_json`, whole and unchanged, got one without "
        "'format_version'."
    )
    data = strictly(result().to_json(replicates=True))
    rule = r"^`text` must be JSON written by `to_json`, whole and unchanged, got one "
    for key in data.keys() - {"format"}:
        without = {name: value for name, value in data.items() if name != key}
        with pytest.raises(ValueError, match=rf"{rule}without '{key}'\.$"):
            ComparisonResult.from_json(json.dumps(without))
    for key in ("format_version", "unit_sizes", "scores", "notes", "metrics", "distribution"):
        for value in ("nonsense", 5.5, [5], {}):
            with pytest.raises(ValueError, match=rule):
                ComparisonResult.from_json(json.dumps({**data, key: value}))
    data = {**data, "format_version": 99, "versions": None}
    with pytest.raises(ValueError, match="must have format version 1 or lower, got 99"):
        ComparisonResult.from_json(json.dumps(data))


def test_dictionary_has_plain_values_only():
    def walk(value):
        if isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        else:
            assert type(value) in (str, int, float, bool, type(None)), value

    data = result(settings=Settings("old", np.float64(0.9))).to_dict(replicates=True)
    walk(data)
    assert math.isnan(data["differences"][0]["p_permutation"])
    assert data["baseline"] == "old"


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.text(min_size=1), min_size=2, max_size=3, unique=True),
    st.lists(numbers, min_size=5, max_size=5),
    st.integers(0, 2**130),
)
def test_any_names_and_numbers_survive_json(models, values, entropy):
    low, high, p, estimate, error = values
    found = result(models=("old", "new"))
    score = ScoreRow("m", models[0], estimate, error, low, high, True, 3, 0, "ok")
    difference = DifferenceRow(
        "m", models[1], models[0], estimate, error, low, high, False, p, p, math.nan, "worse", "ok"
    )
    given_tables = found._tables._replace(scores=(score,), differences=(difference,))
    written = ComparisonResult(
        distribution=None,
        tables=given_tables,
        n_sequences=199,
        models=models,
        metrics=[MetricInfo("m", True, "sums")],
        settings=Settings(models[0]),
        unit="rows",
        n_units=5,
        n_rows=5,
        unit_sizes=(1, 1, 1),
        n_resamples=199,
        random_state_entropy=entropy,
        notes=models,
    )
    again = ComparisonResult.from_json(json.dumps(strictly(written.to_json())))
    same_rows(again.scores, written.scores)
    same_rows(again.differences, written.differences)
    assert again.models == written.models
    assert again.notes == written.notes
    assert again.random_state_entropy == entropy


@given(st.integers(0, 2**32 - 1), st.integers(39, 99), st.integers(1, 4))
def test_any_replicates_survive_json(seed, n_resamples, n_models):
    models = tuple("abcd"[:n_models])
    found = result(
        models,
        distribution(models, n_resamples, seed),
        settings=Settings("a", 0.8),
        n_resamples=n_resamples,
    )
    again = ComparisonResult.from_json(found.to_json(replicates=True))
    np.testing.assert_array_equal(again.replicates, found.replicates)
    changes = {"method": "bca", "baseline": models[-1], "correction": None}
    same_results(again.replace(**changes), found.replace(**changes))


def test_results_can_be_pickled():
    found = result()
    again = pickle.loads(pickle.dumps(found))
    same_results(again, found)
    same_results(again.replace(method="bca"), found.replace(method="bca"))
