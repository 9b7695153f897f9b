"""Per-item scores: alignment, failures, and every parameter's bad values."""

import re

import numpy as np
import pytest

from sklearn_pairboot import compare_scores
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap, StratifiedBootstrap

OLD, NEW = [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]
SCORES = {"old": OLD, "new": NEW}


def refused(error, message, scores=SCORES, **options):
    """Call, and match the whole message."""
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        compare_scores(scores, **options)


def dataframe(library, **columns):
    return pytest.importorskip(library).DataFrame(columns)


# --- What goes in -------------------------------------------------------------------------------


def test_one_two_and_four_models():
    rng = np.random.default_rng(0)
    scores = {name: rng.random(30) for name in "abcd"}
    for n_models, n_differences in ((1, 0), (2, 1), (4, 3)):
        chosen = dict(list(scores.items())[:n_models])
        result = compare_scores(chosen, n_resamples=99, random_state=0)
        assert result.models == tuple(chosen)
        assert len(result.scores) == n_models
        assert len(result.differences) == n_differences
        assert result.replicates.shape == (99, 1, n_models)
        for row, column in zip(result.scores, chosen.values(), strict=True):
            assert row.estimate == pytest.approx(column.mean())
        assert result.summary()
    assert {row.baseline for row in result.differences} == {"a"}
    other = compare_scores(scores, baseline="c", n_resamples=99, random_state=0)
    assert [(row.model, row.baseline) for row in other.differences] == [
        ("a", "c"),
        ("b", "c"),
        ("d", "c"),
    ]


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        lambda x: np.array(x, dtype=np.float32),
        lambda x: np.array(x, dtype=np.int8),
        lambda x: np.array(x)[:, None],
        lambda x: [[value] for value in x],
        lambda x: np.array(x, dtype=object),
        lambda x: [np.float64(value) for value in x],
    ],
)
def test_forms_of_scores(form):
    expected = compare_scores(SCORES, n_resamples=99, random_state=0)
    found = compare_scores(
        {name: form(values) for name, values in SCORES.items()}, n_resamples=99, random_state=0
    )
    np.testing.assert_array_equal(found.replicates, expected.replicates)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes_and_series(library):
    frame = dataframe(library, old=OLD, new=NEW)
    options = {"n_resamples": 99, "random_state": 0, "groups": [0, 0, 1, 2, 2]}
    expected = compare_scores(SCORES, **options)
    for scores in (frame, {name: frame[name] for name in ("old", "new")}):
        found = compare_scores(scores, **options)
        assert found.models == ("old", "new")
        np.testing.assert_array_equal(found.replicates, expected.replicates)
    groups = dataframe(library, g=options["groups"])["g"]
    grouped = compare_scores(frame, **options | {"groups": groups})
    np.testing.assert_array_equal(grouped.replicates, expected.replicates)


def test_dataframes_of_pandas_with_missing_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, None, 0, 1], "b": [1, 1, 0, 0]}, dtype="Int64")
    with pytest.raises(ValueError, match="model 'a' .* in row.s. 1"):
        compare_scores(frame)
    result = compare_scores(frame, missing="drop", n_resamples=99)
    assert result.n_rows == 3
    assert [row.estimate for row in result.scores] == pytest.approx([2 / 3, 1 / 3])


def test_indexes_of_pandas_must_agree():
    pandas = pytest.importorskip("pandas")
    a, b = pandas.Series(OLD), pandas.Series(NEW, index=[4, 3, 2, 1, 0])
    refused(
        ValueError,
        "scores of 'a' and scores of 'b' have different pandas indexes, but rows are paired by "
        "position. Align them first, by `ids=` where that is taken, or drop the indexes with "
        "`.to_numpy()`.",
        {"a": a, "b": b},
    )
    with pytest.raises(ValueError, match="`groups` have different pandas indexes"):
        compare_scores({"a": a}, groups=pandas.Series(list("aabbc"), index=list("vwxyz")))


def test_read_only_memory_maps(tmp_path):
    np.save(tmp_path / "a.npy", np.array(OLD, dtype=float))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    found = compare_scores({"a": mapped}, n_resamples=99, random_state=0)
    expected = compare_scores({"a": OLD}, n_resamples=99, random_state=0)
    np.testing.assert_array_equal(found.replicates, expected.replicates)


def test_values_behind_a_mask_are_missing():
    masked = np.ma.masked_array([1.0, 7.0, 0.0, 1.0], mask=[0, 1, 0, 0])
    with pytest.raises(ValueError, match="model 'a' .*got 1 missing or infinite, in row.s. 1"):
        compare_scores({"a": masked})
    result = compare_scores({"a": masked}, missing="drop", n_resamples=99)
    assert result.scores[0].estimate == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="`groups` must be finite.* in row.s. 1"):
        compare_scores(
            {"a": masked.data}, groups=np.ma.masked_array([1, 1, 2, 2], mask=masked.mask)
        )
    whole = np.ma.masked_array([1.0, 0.0, 1.0])
    assert compare_scores({"a": whole}, n_resamples=99).scores[0].estimate == pytest.approx(2 / 3)


def test_low_precision_is_summed_in_float64():
    scores = np.full(3000, 0.1, dtype=np.float32)
    result = compare_scores({"a": scores}, n_resamples=99)
    assert result.scores[0].estimate == pytest.approx(float(np.float32(0.1)), rel=1e-14)


# --- Direction ----------------------------------------------------------------------------------


def test_lower_is_better_is_said_not_guessed():
    rng = np.random.default_rng(0)
    slow, fast = rng.normal(10, 1, 60), rng.normal(9, 1, 60)
    result = compare_scores(
        {"slow": slow, "fast": fast}, greater_is_better=False, n_resamples=999, random_state=0
    )
    row = result.differences[0]
    assert row.difference < 0
    assert (row.verdict, row.greater_is_better) == ("better", False)
    wrong = compare_scores({"slow": slow, "fast": fast}, n_resamples=999, random_state=0)
    assert wrong.differences[0].verdict == "worse"
    one_sided = result.replace(alternative="better").differences[0]
    assert one_sided.ci_low == -np.inf
    assert np.isfinite(one_sided.ci_high)


# --- Alignment by key ---------------------------------------------------------------------------


def test_ids_align_rows_of_every_model():
    keys = ["q1", "q2", "q3", "q4", "q5"]
    shuffled = [3, 0, 4, 2, 1]
    options = {"n_resamples": 99, "random_state": 0}
    expected = compare_scores(SCORES, **options)
    by_ids = compare_scores(
        {"old": OLD, "new": [NEW[k] for k in shuffled]},
        ids={"old": keys, "new": [keys[k] for k in shuffled]},
        **options,
    )
    np.testing.assert_array_equal(by_ids.replicates, expected.replicates)
    by_key = compare_scores(
        {"old": dict(zip(keys, OLD, strict=True)), "new": {keys[k]: NEW[k] for k in shuffled}},
        **options,
    )
    np.testing.assert_array_equal(by_key.replicates, expected.replicates)


def test_groups_and_weights_by_key():
    keys = list("vwxyz")
    scores = {"a": dict(zip(keys, OLD, strict=True)), "b": dict(zip(keys, NEW, strict=True))}
    groups, weight = [0, 0, 1, 2, 2], [1, 2, 1, 0, 3]
    options = {"n_resamples": 99, "random_state": 0}
    found = compare_scores(
        scores,
        groups=dict(zip(reversed(keys), reversed(groups), strict=True)),
        sample_weight=dict(zip(keys, weight, strict=True)),
        **options,
    )
    expected = compare_scores({"a": OLD, "b": NEW}, groups=groups, sample_weight=weight, **options)
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    refused(
        ValueError,
        "`groups` must have an entry for every id, got none for 'v', 'w'.",
        scores,
        groups=dict.fromkeys("xyz", 1),
    )
    refused(
        ValueError,
        "`groups` must be an array where scores are paired by position, got a mapping.",
        groups={"v": 1},
    )


@pytest.mark.parametrize(
    ("ids", "faults"),
    [
        (["q1", "q1", "q3", "q4", "q5"], "new: duplicate ids 'q1'; new: missing ids 'q2'"),
        (
            ["q1", "q2", "q3", "q4", "q6"],
            "new: missing ids 'q5'; new: ids that old lacks 'q6'",
        ),
        (["q1", "", "q3", "q4", None], "new: empty ids in row(s) 1, 4"),
    ],
)
def test_faults_of_ids_are_listed(ids, faults):
    keys = ["q1", "q2", "q3", "q4", "q5"]
    with pytest.raises(ValueError, match=re.escape(faults)) as caught:
        compare_scores(SCORES, ids={"old": keys, "new": ids})
    message = str(caught.value)
    assert message.startswith("`ids` must name the same items, each once, everywhere; got ")
    assert message.endswith(
        "No row is dropped for one model alone: repair the inputs, or restrict all of them to "
        "common ids yourself and say so."
    )


def test_numbers_and_strings_are_different_ids():
    with pytest.raises(ValueError, match="missing ids 1, 2, 3, 4, 5; new: ids that old lacks '1'"):
        compare_scores(SCORES, ids={"old": [1, 2, 3, 4, 5], "new": list("12345")})


def test_ids_may_be_tuples():
    keys = [("doc", 1), ("doc", 2), ("page", 1), ("page", 2), ("page", 3)]
    options = {"n_resamples": 99, "random_state": 0}
    expected = compare_scores(SCORES, **options).replicates
    by_key = {name: dict(zip(keys, values, strict=True)) for name, values in SCORES.items()}
    for found in (
        compare_scores(by_key, **options),
        compare_scores(SCORES, ids={"old": keys, "new": keys}, **options),
        compare_scores(SCORES, ids=keys, **options),
    ):
        np.testing.assert_array_equal(found.replicates, expected)
        assert not any("repeat" in note for note in found.notes)
    repeated = compare_scores(SCORES, ids=[("doc", 1)] * 5, n_resamples=99)
    assert any("5 rows but 1 distinct ids" in note for note in repeated.notes)


def test_bad_ids():
    refused(
        ValueError,
        "`ids` must name every model, 'new', 'old', got 'old'.",
        ids={"old": list("abcde")},
    )
    refused(
        ValueError,
        "`ids` must have one entry per row, 5, got 4.",
        ids=list("abcd"),
    )
    refused(
        ValueError,
        "`ids['new']` must have one entry per row, 5, got 4.",
        ids={"old": list("abcde"), "new": list("abcd")},
    )
    refused(
        ValueError,
        "`scores` must hold a mapping from id to score for every model and come without `ids`, "
        "got mappings for 'a' only, or `ids` as well.",
        {"a": {"q": 1}, "b": [1]},
    )


def test_repeated_ids_without_groups_are_noted():
    ids = list("aabbc")
    result = compare_scores(SCORES, ids=ids, n_resamples=99)
    assert any(
        note
        == "`ids` repeat: 5 rows but 3 distinct ids, and no `groups`. Rows of one item are not "
        "independent; pass groups=ids to resample whole items."
        for note in result.notes
    )
    grouped = compare_scores(SCORES, ids=ids, groups=ids, n_resamples=99)
    assert not any("repeat" in note for note in grouped.notes)


# --- Missing scores -----------------------------------------------------------------------------


def test_dropped_items_are_dropped_for_all_models_and_reported():
    scores = {"old": [1, None, 0, 1, 0], "new": [1, 1, np.nan, 0, 1]}
    result = compare_scores(scores, missing="drop", n_resamples=99, random_state=0)
    kept = compare_scores({"old": [1, 1, 0], "new": [1, 0, 1]}, n_resamples=99, random_state=0)
    np.testing.assert_array_equal(result.replicates, kept.replicates)
    assert result.notes[0] == (
        "2 of 5 items lack a score and were dropped for all models (failures: old 1, new 1). "
        "Means with all failures counted wrong: old 0.4, new 0.6; counted right: old 0.6, new 0.8."
    )


def test_bounds_of_failures_are_weighted():
    result = compare_scores(
        {"a": [1, None, 0, 1]}, sample_weight=[1, 2, 3, 4], missing="drop", n_resamples=99
    )
    assert "counted wrong: a 0.5; counted right: a 0.7" in result.notes[0]
    assert result.scores[0].estimate == pytest.approx(5 / 8)


def test_no_bounds_for_scores_of_any_range():
    result = compare_scores({"a": [1.0, None, 7.0]}, missing="drop", n_resamples=99)
    assert "Means" not in result.notes[0]


def test_groups_and_weights_follow_dropped_items():
    scores = {"a": [1.0, None, 0.0, 1.0, 0.5], "b": [1.0, 1.0, 0.0, 0.2, 0.1]}
    for groups in (list("xxyyz"), np.array(list("xxyyz")), [("p", c) for c in "xxyyz"]):
        result = compare_scores(
            scores,
            groups=groups,
            sample_weight=[1, 2, 3, 4, 5],
            missing="drop",
            n_resamples=99,
            random_state=0,
        )
        expected = compare_scores(
            {"a": [1.0, 0.0, 1.0, 0.5], "b": [1.0, 0.0, 0.2, 0.1]},
            groups=list("xyyz"),
            sample_weight=[1, 3, 4, 5],
            n_resamples=99,
            random_state=0,
        )
        np.testing.assert_array_equal(result.replicates, expected.replicates)


def test_infinite_scores_are_no_missing_ones():
    with pytest.raises(ValueError, match="model 'a' .*got 1 missing or infinite, in row.s. 1"):
        compare_scores({"a": [1.0, np.inf, 0.0]}, missing="drop")


def test_nothing_may_be_left():
    refused(
        ValueError,
        "`scores` must have at least 2 rows with scores, got 1.",
        {"a": [1.0, None, None]},
        missing="drop",
    )


# --- Bad values of every parameter --------------------------------------------------------------

CHOICES = {
    "method": "'percentile', 'basic', 'normal', 'bca', 'studentized', 't', 'expanded'",
    "alternative": "'two-sided', 'better', 'worse'",
    "correction": "'holm', 'max-t', 'max-t-step-down', 'bonferroni', 'fdr', None",
}
SEEDS = "a non-negative integer, a numpy Generator, a RandomState or None"
BAD = [
    *(
        ("n_resamples", v, "an integer of at least 2, 'exact' or 'auto'")
        for v in (1, 0, -5, 9.0, True)
    ),
    *(("n_resamples", v, "an integer of at least 2, 'exact' or 'auto'") for v in ("all", None)),
    *((name, v, f"one of {c}") for name, c in CHOICES.items() for v in ("Percentile", 3, "")),
    ("method", None, f"one of {CHOICES['method']}"),
    ("n_jobs", 0, "a non-zero integer or None"),
    ("n_jobs", 1.0, "a non-zero integer or None"),
    ("n_jobs", True, "a non-zero integer or None"),
    ("verbose", -1, "an integer >= 0"),
    ("verbose", "yes", "an integer >= 0"),
    ("missing", "ignore", "one of 'raise', 'drop'"),
    ("missing", None, "one of 'raise', 'drop'"),
    (
        "resampling",
        "rows",
        "'auto' or a plan of sklearn_pairboot.resampling, such as BlockBootstrap()",
    ),
    *(("random_state", v, SEEDS) for v in (-1, 0.5, "seed", True)),
]


@pytest.mark.parametrize(("name", "value", "allowed"), BAD)
def test_bad_values_are_refused_by_name(name, value, allowed):
    message = f"`{name}` must be {allowed}, got {value!r}."
    refused(ValueError, message, **{name: value})


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, 95, "0.95", None, np.nan, True])
def test_bad_levels_are_refused(level):
    refused(
        ValueError,
        f"`confidence_level` must be a number between 0 and 1, got {level!r}. For 95 % pass 0.95.",
        confidence_level=level,
    )


@pytest.mark.parametrize(
    ("n_resamples", "level", "alternative", "least"),
    [(38, 0.95, "two-sided", 39), (38, 0.95, "better", 39), (998, 0.998, "two-sided", 999)],
)
def test_levels_need_enough_resamples(n_resamples, level, alternative, least):
    options = {"confidence_level": level, "alternative": alternative}
    refused(
        ValueError,
        f"`n_resamples` must be at least {least} for `confidence_level`={level}, got "
        f"{n_resamples}. Draw more resamples or lower the confidence level.",
        n_resamples=n_resamples,
        **options,
    )
    compare_scores(SCORES, n_resamples=least, **options)


@pytest.mark.parametrize("plan", [ClusterBootstrap, 3, None, object()])
def test_bad_plans_are_refused(plan):
    refused(
        TypeError,
        f"`resampling` must be 'auto' or a plan such as ClusterBootstrap(), got {plan!r}.",
        resampling=plan,
    )


def test_plans_and_groups_must_fit():
    refused(
        ValueError,
        "`groups` must be given with `ClusterBootstrap`: one cluster label per row.",
        resampling=ClusterBootstrap(),
    )
    refused(
        ValueError,
        "`groups` must be None with `RowBootstrap`, which draws single rows. Pass "
        "`ClusterBootstrap()` to draw whole groups, or leave `groups` out.",
        resampling=RowBootstrap(),
        groups=list("aabbc"),
    )
    refused(
        ValueError,
        "`strata` must be given to `StratifiedBootstrap` where there are no truths whose classes "
        "could serve: one stratum label per row.",
        resampling=StratifiedBootstrap(),
    )


@pytest.mark.parametrize("baseline", ["newer", 0, ["old"]])
def test_bad_baselines_are_refused(baseline):
    refused(
        ValueError,
        f"`baseline` must be the name of a model, one of 'old', 'new', got {baseline!r}.",
        baseline=baseline,
    )


@pytest.mark.parametrize("direction", [None, 1, "higher"])
def test_bad_directions_are_refused(direction):
    refused(
        TypeError,
        f"`greater_is_better` must be True or False, got {direction!r}.",
        greater_is_better=direction,
    )


@pytest.mark.parametrize("value", [[0, 1], np.zeros((5, 2)), 3, None, "scores"])
def test_scores_must_be_named(value):
    refused(
        TypeError,
        "`scores` must be a mapping from model names to scores, or a dataframe with one column a "
        f"model, got {type(value).__name__}.",
        value,
    )


@pytest.mark.parametrize("name", ["", 0, None, ("a", "b")])
def test_names_must_be_strings(name):
    refused(TypeError, f"Names of models must be non-empty strings, got {name!r}.", {name: OLD})


def test_at_least_one_model():
    refused(ValueError, "At least one model must be given, got none.", {})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [True, False],
            "Scores of model 'a' must be numbers, got booleans. If they say whether an answer is "
            "correct, pass `scores.astype(int)`.",
        ),
        (
            [True, None],
            "Scores of model 'a' must be numbers, got booleans. If they say whether an answer is "
            "correct, pass `scores.astype(int)`.",
        ),
        (["0", "1"], "Scores of model 'a' must be numbers, got <U1."),
        ([1, "1"], "Scores of model 'a' must be numbers, got object."),
        ([1j, 2j], "Scores of model 'a' must be numbers, got complex128."),
    ],
)
def test_scores_must_be_numbers(values, message):
    refused(TypeError, message, {"a": values})


def test_shapes_must_fit():
    refused(
        ValueError,
        "Scores of model 'a' must be one-dimensional, got shape (2, 2).",
        {"a": np.ones((2, 2))},
    )
    refused(
        ValueError,
        "`scores` must have the same number of rows for every model, got a: 2, b: 3. Pass `ids=` "
        "to align them by key.",
        {"a": [1, 2], "b": [1, 2, 3]},
    )
    refused(ValueError, "`scores` must have at least 2 rows with scores, got 1.", {"a": [1]})
    refused(ValueError, "`scores` must have at least 2 rows with scores, got 0.", {"a": []})


def test_overflow_is_refused_req_A21():
    refused(
        ValueError,
        "`scores` must be small enough to be added up in float64, got 1e+308. Rescale them.",
        {"a": [1e308, -1e308], "b": [-1e308, 1e308]},
    )


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1], "`sample_weight` must have one entry per row, 5, got 3."),
        ([1, 1, -1, 1, -2], "`sample_weight` must not be negative, got it in row(s) 2, 4."),
        ([0] * 5, "`sample_weight` must be positive somewhere, got zeros only."),
        (
            [1, np.nan, 1, 1, np.inf],
            "`sample_weight` must be finite and present in every row, got 2 missing or infinite, "
            "in row(s) 1, 4.",
        ),
        (
            list("abcde"),
            "`sample_weight` must be a one-dimensional array of numbers, got shape (5,) of dtype "
            "<U1.",
        ),
        (
            np.ones((5, 2)),
            "`sample_weight` must be a one-dimensional array of numbers, got shape (5, 2) of dtype "
            "float64.",
        ),
    ],
)
def test_bad_weights_are_refused(weight, message):
    refused(ValueError, message, sample_weight=weight)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (list("aab"), "`groups` must have one entry per row, 5, got 3."),
        (
            np.zeros((5, 3)),
            "`groups` must be one-dimensional, got shape (5, 3). Pass one column, or a tuple of "
            "labels for each row. Two columns are two crossed factors, which comparisons take with "
            "resampling='auto'.",
        ),
        (
            np.zeros((5, 2)),
            "`groups` must hold at least 2 levels in each column, got only 0.0 in 'column 0'. "
            "Leave this column out.",
        ),
        (
            [1, np.nan, 1, 2, np.nan],
            "`groups` must be finite and present in every row, got 2 missing or infinite, in "
            "row(s) 1, 4. Give every row the label of its group.",
        ),
        (
            ["a"] * 5,
            "`groups` must hold at least 2 clusters, got only the group 'a': what varies between "
            "clusters cannot be seen in one.",
        ),
    ],
)
def test_bad_groups_are_refused(groups, message):
    refused(ValueError, message, groups=groups)


def test_labels_must_be_hashable():
    groups = np.empty(5, dtype=object)
    groups[:] = [[1], [1], [2], [2], [3]]
    refused(
        TypeError, "`groups` must hold hashable labels, got lists or other mutables.", groups=groups
    )


def test_numbers_and_strings_are_different_clusters():
    result = compare_scores(SCORES, groups=[1, "1", 1, "1", 2], n_resamples=99)
    assert result.n_units == 3


def test_few_clusters_are_noted():
    result = compare_scores(SCORES, groups=list("aabbc"), n_resamples=99)
    assert (
        "Only 3 clusters: with fewer than 10 the bootstrap intervals tend to be too narrow; "
        "`method='expanded'` or `'t'` allows for it." in result.notes
    )
    assert result.unit_sizes == (1, 2, 2)


def test_exact_mode_is_refused_for_many_different_rows():
    with pytest.raises(ValueError, match="^`n_resamples` must be an integer .*, got 'exact'"):
        compare_scores({"a": np.random.default_rng(0).random(40)}, n_resamples="exact")


def test_what_is_held_fixed_is_said():
    result = compare_scores(SCORES, n_resamples=99)
    assert result.held_fixed == "the models and their scores"
    assert result.held_fixed in result.summary()
    assert result.metrics == ("mean_score",)


def test_strata_of_dropped_items_are_dropped_too():
    scores = {"old": [1.0, None, 0.0, 1.0, 0.0], "new": [1.0, 1.0, 1.0, 0.0, 0.0]}
    strata = ["x", "x", "x", "y", "y"]
    dropped = compare_scores(
        scores, missing="drop", resampling=StratifiedBootstrap(strata), n_resamples="exact"
    )
    kept = [0, 2, 3, 4]
    by_hand = compare_scores(
        {name: [values[row] for row in kept] for name, values in scores.items()},
        resampling=StratifiedBootstrap([strata[row] for row in kept]),
        n_resamples="exact",
    )
    np.testing.assert_equal(dropped.to_dict()["differences"], by_hand.to_dict()["differences"])


def test_the_mean_may_have_the_name_of_what_the_scores_are():
    right = {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 0]}
    plain = compare_scores(right, n_resamples="exact", permutation=True)
    named = compare_scores(
        right, metric="accuracy", n_resamples="exact", permutation=True, margin={"accuracy": 0.1}
    )
    assert plain.metrics == ("mean_score",)
    assert named.metrics == ("accuracy",)
    assert {row.metric for row in (*named.scores, *named.differences)} == {"accuracy"}
    assert named.differences[0].p_permutation == plain.differences[0].p_permutation
    assert "mean_score" not in named.summary()


@pytest.mark.parametrize("metric", ["", " ", None, 3])
def test_the_name_of_the_mean_is_a_string(metric):
    with pytest.raises(TypeError, match="`metric` must be a name, a non-empty string, got"):
        compare_scores({"old": [0, 1], "new": [1, 1]}, metric=metric)
