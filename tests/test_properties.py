"""What must hold whatever the numbers are: identities of whole comparisons."""

import itertools
import random
import warnings

import joblib
import numpy as np
import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics import make_scorer

from examples import max_examples
from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot._engine import bootstrap as engine
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap, StratifiedBootstrap

TOLERANCE = 1e-12
few = settings(max_examples=8)
seeds = st.integers(0, 2**32 - 1)
RANKING = ["roc_auc", "average_precision"]
LABELS = ["accuracy", "balanced_accuracy", "f1", "matthews_corrcoef"]
PROBABILITIES = ["roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"]
VALUES = ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"]


def probabilities(seed, n_rows, n_models=2, decimals=None):
    """Truths of both classes and probabilities; rounded ones are tied."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    scores = np.clip(rng.random((n_models, n_rows)) + 0.2 * y, 0.01, 0.99)
    if decimals is not None:
        scores = np.clip(np.round(scores, decimals), 0.1, 0.9)
    return y, {f"m{number}": column for number, column in enumerate(scores)}


def labels(seed, n_rows, n_models=2):
    y, answers = probabilities(seed, n_rows, n_models)
    return y, {name: (scores > 0.6).astype(int) for name, scores in answers.items()}


def values(seed, n_rows, n_models=2):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows)
    return y, {f"m{number}": y + rng.normal(size=n_rows) for number in range(n_models)}


MAKERS = {"labels": (labels, LABELS), "probabilities": (probabilities, PROBABILITIES)}
MAKERS["values"] = (values, VALUES)
kinds = st.sampled_from(sorted(MAKERS))


def case_of(kind, seed, n_rows, n_models=2):
    """Truths, answers and the options of a comparison of one kind."""
    maker, scoring = MAKERS[kind]
    y, answers = maker(seed, n_rows, n_models)
    return y, answers, {"scoring": scoring, "n_resamples": 60, "random_state": seed}


def assert_same_rows(found, expected):
    np.testing.assert_equal([row.asdict() for row in found], [row.asdict() for row in expected])


def assert_same(found, expected):
    """Bit-identical replicates, and tables that do not differ in anything."""
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    assert_same_rows(found.scores, expected.scores)
    assert_same_rows(found.differences, expected.differences)


def assert_close(found, expected):
    np.testing.assert_allclose(
        found.replicates, expected.replicates, rtol=TOLERANCE, atol=TOLERANCE
    )


# --- Weights and repetition ---------------------------------------------------------------------


@few
@given(kinds, seeds, st.integers(6, 30))
def test_integer_weights_equal_copies_inside_the_cluster_case_C134(kind, seed, n_rows):
    y, answers, options = case_of(kind, seed, n_rows)
    rng = np.random.default_rng(seed)
    groups = np.arange(n_rows) % 5
    weight = rng.integers(0, 4, n_rows)
    weight[:5] = 1  # no cluster loses all of its rows
    weighted = compare_predictions(y, answers, groups=groups, sample_weight=weight, **options)
    copies = np.repeat(np.arange(n_rows), weight)
    copied = compare_predictions(
        y[copies],
        {name: answer[copies] for name, answer in answers.items()},
        groups=groups[copies],
        **options,
    )
    if kind == "labels":
        np.testing.assert_array_equal(weighted.replicates, copied.replicates)
    else:
        assert_close(weighted, copied)
    assert weighted.weighted and not copied.weighted


@few
@given(seeds, st.integers(5, 40))
def test_integer_weights_of_rows_equal_copies_that_stay_together(seed, n_rows):
    rng = np.random.default_rng(seed)
    scores = {name: rng.normal(size=n_rows) for name in "ab"}
    weight = rng.integers(1, 4, n_rows)
    weighted = compare_scores(scores, sample_weight=weight, n_resamples=50, random_state=seed)
    copied = compare_scores(
        {name: np.repeat(column, weight) for name, column in scores.items()},
        groups=np.repeat(np.arange(n_rows), weight),
        n_resamples=50,
        random_state=seed,
    )
    assert_close(weighted, copied)


@few
@given(kinds, seeds, st.floats(1e-3, 1e3))
def test_scale_of_the_weights_does_not_matter(kind, seed, factor):
    y, answers, options = case_of(kind, seed, 25)
    weight = np.random.default_rng(seed).random(25) + 0.1
    plain = compare_predictions(y, answers, sample_weight=weight, **options)
    doubled = compare_predictions(y, answers, sample_weight=2 * weight, **options)
    scaled = compare_predictions(y, answers, sample_weight=factor * weight, **options)
    np.testing.assert_array_equal(doubled.replicates, plain.replicates)
    np.testing.assert_allclose(scaled.replicates, plain.replicates, rtol=1e-9, atol=1e-9)


@few
@given(kinds, seeds)
def test_weights_of_one_change_nothing(kind, seed):
    y, answers, options = case_of(kind, seed, 25)
    plain = compare_predictions(y, answers, **options)
    weighted = compare_predictions(y, answers, sample_weight=np.ones(25), **options)
    np.testing.assert_array_equal(weighted.replicates, plain.replicates)
    assert (weighted.weighted, plain.weighted) == (True, False)


# --- Clusters -----------------------------------------------------------------------------------


@few
@given(kinds, seeds, st.integers(5, 120))
def test_clusters_of_one_row_are_rows(kind, seed, n_rows):
    y, answers, options = case_of(kind, seed, n_rows)
    rows = compare_predictions(y, answers, method="bca", **options)
    clusters = compare_predictions(y, answers, groups=np.arange(n_rows), method="bca", **options)
    np.testing.assert_array_equal(clusters.replicates, rows.replicates)
    for found, expected in zip(clusters.differences, rows.differences, strict=True):
        assert found.difference == expected.difference
        assert (found.ci_low, found.ci_high, found.p_value) == pytest.approx(
            (expected.ci_low, expected.ci_high, expected.p_value), rel=1e-8, abs=1e-8
        )
    assert (rows.unit, clusters.unit) == ("rows", "clusters")


@few
@given(kinds, seeds)
def test_row_order_does_not_matter_for_clusters_case_C51(kind, seed):
    y, answers, options = case_of(kind, seed, 40)
    rng = np.random.default_rng(seed)
    groups = np.array(list("cabde"))[rng.integers(0, 5, 40)]
    groups[:5] = list("abcde")
    order = rng.permutation(40)
    first = compare_predictions(y, answers, groups=groups, **options)
    second = compare_predictions(
        y[order],
        {name: answer[order] for name, answer in answers.items()},
        groups=groups[order],
        **options,
    )
    if kind == "labels":  # sums of whole numbers know no order
        assert_same(second, first)
    else:
        assert_close(second, first)


@few
@given(seeds)
def test_only_the_order_of_cluster_labels_matters_case_C51(seed):
    y, answers, options = case_of("labels", seed, 40)
    groups = np.random.default_rng(seed).permutation(np.arange(40) % 6)
    by_number = compare_predictions(y, answers, groups=groups, **options)
    by_letter = compare_predictions(y, answers, groups=np.array(list("pqrstu"))[groups], **options)
    by_pair = compare_predictions(y, answers, groups=[(0, int(g)) for g in groups], **options)
    assert_same(by_letter, by_number)
    assert_same(by_pair, by_number)


@few
@given(seeds)
def test_plans_are_what_auto_chooses(seed):
    y, answers, options = case_of("labels", seed, 30)
    groups = np.arange(30) % 7
    assert_same(
        compare_predictions(y, answers, resampling=RowBootstrap(), **options),
        compare_predictions(y, answers, **options),
    )
    assert_same(
        compare_predictions(y, answers, groups=groups, resampling=ClusterBootstrap(), **options),
        compare_predictions(y, answers, groups=groups, **options),
    )


# --- Models and metrics -------------------------------------------------------------------------


@few
@given(kinds, seeds, st.sampled_from(METHODS))
def test_a_model_against_itself(kind, seed, method):
    y, answers, options = case_of(kind, seed, 20)
    twins = {"a": answers["m0"], "b": answers["m0"].copy()}
    options |= {"n_resamples": 999}  # as many as expanded percentiles of few clusters need
    result = compare_predictions(y, twins, method=method, **options)
    for row in result.differences:
        assert (row.difference, row.ci_low, row.ci_high, row.std_error) == (0, 0, 0, 0)
        assert (row.p_value, row.p_adjusted) == (1, 1)
        assert (row.verdict, row.status) == ("inconclusive", "degenerate")


@max_examples(16)
@given(
    kinds,
    seeds,
    st.sampled_from(METHODS),
    st.sampled_from(["two-sided", "better", "worse"]),
)
def test_swapping_the_baseline_mirrors_the_comparison_req_B10(kind, seed, method, alternative):
    y, answers, options = case_of(kind, seed, 30)
    options |= {"method": method, "n_resamples": 200}
    mirrored = {"two-sided": "two-sided", "better": "worse", "worse": "better"}
    forth = compare_predictions(y, answers, alternative=alternative, **options)
    back = compare_predictions(
        y,
        dict(reversed(answers.items())),
        alternative=mirrored[alternative],
        **options,
    )
    other = {"better": "worse", "worse": "better", "inconclusive": "inconclusive"}
    again = forth.replace(baseline="m1", alternative=mirrored[alternative])
    for row, swapped, replaced in zip(
        forth.differences, back.differences, again.differences, strict=True
    ):
        assert (swapped.model, swapped.baseline) == (row.baseline, row.model)
        assert replaced.difference == -row.difference
        expected = (-row.difference, -row.ci_high, -row.ci_low, row.std_error, row.p_value)
        for found in (swapped, replaced):
            numbers = (found.difference, found.ci_low, found.ci_high, found.std_error)
            numbers += (found.p_value,)
            assert numbers == pytest.approx(expected, rel=1e-9, abs=TOLERANCE)
            assert (found.verdict, found.status) == (other[row.verdict], row.status)


@few
@given(seeds, st.sampled_from(RANKING), st.integers(5, 60), st.booleans())
def test_increasing_maps_of_scores_leave_rank_metrics_alone(seed, scoring, n_rows, grouped):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    y[:2] = 0, 1
    scores = {name: rng.integers(-8, 9, n_rows).astype(float) for name in "ab"}
    options = {
        "scoring": scoring,
        "n_resamples": 60,
        "random_state": seed,
        "groups": np.arange(n_rows) % 4 if grouped else None,
    }
    plain = compare_predictions(y, scores, **options)
    for transform in (lambda x: x**3 - 7, lambda x: np.exp(x / 4), lambda x: 1e-300 * x):
        mapped = {name: transform(column) for name, column in scores.items()}
        assert_same(compare_predictions(y, mapped, **options), plain)


@few
@given(kinds, seeds)
def test_names_of_models_do_not_matter(kind, seed):
    y, answers, options = case_of(kind, seed, 30)
    named = {f"z{9 - k}": answer for k, answer in enumerate(answers.values())}
    first = compare_predictions(y, answers, **options)
    second = compare_predictions(y, named, **options)
    np.testing.assert_array_equal(second.replicates, first.replicates)
    assert [row.ci_low for row in second.differences] == [row.ci_low for row in first.differences]


@few
@given(kinds, seeds, st.integers(20, 100))
def test_more_models_or_metrics_leave_the_others_alone(kind, seed, n_rows):
    y, answers, options = case_of(kind, seed, n_rows, n_models=4)
    scoring = options.pop("scoring")
    whole = compare_predictions(y, answers, scoring=scoring, **options)
    two = {name: answers[name] for name in ("m0", "m2")}
    for number, name in enumerate(scoring):
        part = compare_predictions(y, two, scoring=name, **options)
        found, expected = part.replicates[:, 0], whole.replicates[:, number][:, [0, 2]]
        if kind == "labels" or name == "roc_auc":
            np.testing.assert_array_equal(found, expected)
        else:  # BLAS may add the terms of a wider product in another order
            np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_merging_follows_all_models_and_metrics_of_a_call():
    # 3,000 rows of labels are drawn as a few distinct units, fewer for accuracy than for F1. One
    # that is replayed makes the call draw rows one by one. All are other draws of the same law.
    y, answers = labels(0, 3000)
    options = {"n_resamples": 60, "random_state": 0}
    alone = compare_predictions(y, answers, scoring="f1", **options).replicates[:, 0]
    # Balanced accuracy tells apart what F1 does, or less: the distinct units stay the same.
    both = compare_predictions(y, answers, scoring=["f1", "balanced_accuracy"], **options)
    np.testing.assert_array_equal(both.replicates[:, 0], alone)

    replayed = {"accuracy": "accuracy", "any": lambda model, X, y: float(np.mean(y))}
    other = compare_predictions(y, answers, scoring=replayed, **options)
    assert other.paths == {"accuracy": "sums", "any": "replay"}
    counts = counts_of(other, CountSource(3000))
    expected = by_hand(counts, np.arange(3000), y, answers, [metrics.accuracy_score])
    np.testing.assert_allclose(other.replicates[:, :1], expected, rtol=TOLERANCE)


# --- Draws --------------------------------------------------------------------------------------


def counts_of(result, source):
    """Counts that the engine drew for the replicates of a result, from its recorded seed."""
    n_blocks = -(-result.n_resamples // source.block_size)
    entropy = result.random_state_entropy
    blocks = [source.draw(np.random.SeedSequence(entropy, spawn_key=(k,))) for k in range(n_blocks)]
    return np.concatenate(blocks)[: result.n_resamples]


def by_hand(counts, of_row, y, answers, functions):
    """Score the drawn rows with scikit-learn, shape (n_resamples, n_metrics, n_models)."""
    distinct, place = np.unique(counts, axis=0, return_inverse=True)
    found = np.full((len(distinct), len(functions), len(answers)), np.nan)
    for resample, of_unit in enumerate(distinct):
        rows = np.repeat(np.arange(len(y)), of_unit[of_row])
        for metric, function in enumerate(functions):
            # Without a positive row scikit-learn calls the average precision 0, and it is not.
            needed = {metrics.roc_auc_score: {0, 1}, metrics.average_precision_score: {1}}
            if needed.get(function, set()) <= set(y[rows].tolist()):
                for model, answer in enumerate(answers.values()):
                    found[resample, metric, model] = function(y[rows], answer[rows])
    return found[place.reshape(-1)]


BY_HAND = {
    "probabilities": [
        metrics.roc_auc_score,
        metrics.average_precision_score,
        lambda y, p: metrics.log_loss(y, p, labels=[0, 1]),
        metrics.brier_score_loss,
    ],
    "labels": [
        metrics.accuracy_score,
        lambda y, p: np.mean([np.mean(p[y == k] == k) for k in np.unique(y)]),
        lambda y, p: metrics.f1_score(y, p, zero_division=0),
        metrics.matthews_corrcoef,
    ],
    "values": [
        metrics.r2_score,
        metrics.mean_absolute_error,
        metrics.root_mean_squared_error,
    ],
}


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize("n_rows", [12, 90])
@pytest.mark.parametrize("plan", ["rows", "clusters", "strata", "clusters in strata"])
def test_replicates_are_scores_of_literally_drawn_rows(kind, n_rows, plan):
    y, answers, options = case_of(kind, n_rows, n_rows)
    options |= {"n_resamples": 20, "confidence_level": 0.5}
    of_row, stratum, groups, resampling = np.arange(n_rows), None, None, "auto"
    if "clusters" in plan:
        of_row = np.random.default_rng(1).permutation(np.arange(n_rows) % (n_rows // 3))
        groups = of_row
    n_units = of_row.max() + 1
    if "strata" in plan:
        stratum = (np.arange(n_units) % 3 > 0).astype(int)
        resampling = StratifiedBootstrap(stratum[of_row])
    result = compare_predictions(y, answers, groups=groups, resampling=resampling, **options)
    counts = counts_of(result, CountSource(int(n_units), stratum=stratum))
    sizes = np.bincount(stratum) if stratum is not None else [n_units]
    for number, size in enumerate(sizes):
        own = np.arange(n_units) if stratum is None else np.flatnonzero(stratum == number)
        np.testing.assert_array_equal(counts[:, own].sum(axis=1), size)

    expected = by_hand(counts, of_row, y, answers, BY_HAND[kind])
    np.testing.assert_allclose(result.replicates, expected, rtol=TOLERANCE, atol=TOLERANCE)
    # The control: the same check tells other draws of the same law apart.
    shifted = np.roll(expected, 1, axis=0)
    assert not np.allclose(result.replicates, shifted, equal_nan=True)


def test_merged_replicates_are_scores_of_rows_that_were_merged():
    y, answers = labels(5, 2000)
    result = compare_predictions(
        y, answers, scoring=LABELS, n_resamples=40, random_state=7, confidence_level=0.9
    )
    # Units are numbered in the order of their terms; here: what tells rows apart.
    kinds_of_row = np.column_stack([y, *answers.values()])
    distinct, of_row, multiplicity = np.unique(
        kinds_of_row, axis=0, return_inverse=True, return_counts=True
    )
    rows = {tuple(key): row for row, key in enumerate(distinct)}
    assert len(rows) <= 8
    # Whatever the numbering is, each replicate is one of a resample with these totals.
    truth, first, second = distinct.T
    share = multiplicity / 2000
    expected = np.array([share @ (truth == first), share @ (truth == second)])
    se = np.sqrt(expected * (1 - expected) / 2000)
    assert (np.abs(result.replicates[:, 0].mean(axis=0) - expected) < 5 * se).all()
    counts = result.replicates[:, 0] * 2000
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize(
    ("short", "long", "n_rows"), [(60, 5000, 5), (60, 2500, 70), (60, 150, 3000)]
)
def test_a_longer_run_extends_a_shorter_one(kind, short, long, n_rows):
    y, answers, options = case_of(kind, 3, n_rows)
    options.pop("n_resamples")
    first = compare_predictions(y, answers, n_resamples=short, **options)
    second = compare_predictions(y, answers, n_resamples=long, **options)
    np.testing.assert_array_equal(second.replicates[:short], first.replicates)


@pytest.mark.parametrize(
    ("backend", "n_rows"),
    [pytest.param("loky", 3000, marks=pytest.mark.newest), ("threading", 3000), ("threading", 70)],
)
def test_parallel_runs_are_bit_identical_req_D19(monkeypatch, backend, n_rows):
    monkeypatch.setattr(engine, "_PARALLEL_WEIGHTS", 0)
    n_resamples = 6000 if n_rows == 70 else 200  # several blocks
    cases = [
        probabilities(0, n_rows),
        probabilities(0, n_rows, decimals=1),  # ties
    ]
    for y, answers in cases:
        options = {"scoring": PROBABILITIES, "n_resamples": n_resamples, "random_state": 0}
        serial = compare_predictions(y, answers, **options)
        with joblib.parallel_config(backend=backend):
            assert_same(compare_predictions(y, answers, n_jobs=1, **options), serial)
            assert_same(compare_predictions(y, answers, n_jobs=2, **options), serial)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            assert_same(compare_predictions(y, answers, **options), serial)


def test_threads_do_not_lift_the_limit_of_one_another(monkeypatch):
    # BLAS with several threads splits a product, and adds up in another order: last digits differ.
    monkeypatch.setattr(engine, "_PARALLEL_WEIGHTS", 0)
    y, answers = probabilities(0, 3000)
    options = {"scoring": ["neg_log_loss"], "n_resamples": 600, "random_state": 0}
    serial = compare_predictions(y, answers, **options)
    threads = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    with joblib.parallel_config(backend="threading"):
        for _ in range(5):
            parallel = compare_predictions(y, answers, n_jobs=3, **options)
            np.testing.assert_array_equal(parallel.replicates, serial.replicates)
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == threads


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.newest), "threading"])
def test_parallel_replay_is_bit_identical_case_C127(backend):
    y, answers = values(0, 700)
    scoring = {
        "median": make_scorer(metrics.median_absolute_error, greater_is_better=False),
        "own": lambda model, X, y: float(np.quantile(np.abs(model.predict(X) - y), 0.9)),
        "fast": "r2",
    }
    options = {"scoring": scoring, "n_resamples": 600, "random_state": 0}
    serial = compare_predictions(y, answers, **options)
    assert serial.paths == {"median": "replay", "own": "replay", "fast": "sums"}
    with joblib.parallel_config(backend=backend):
        assert_same(compare_predictions(y, answers, n_jobs=2, **options), serial)


def test_scorers_that_cannot_travel_run_in_the_parent_case_C127():
    class Unpicklable:
        def __call__(self, model, X, y):
            return float(np.mean(model.predict(X) == y))

        def __reduce__(self):
            raise TypeError("this scorer cannot be pickled")

    y, answers = labels(0, 50)
    options = {"scoring": {"own": Unpicklable()}, "n_resamples": 300, "random_state": 0}
    assert_same(
        compare_predictions(y, answers, n_jobs=2, **options),
        compare_predictions(y, answers, **options),
    )


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_seeds_case_C123_case_C126_req_A24(kind):
    y, answers, options = case_of(kind, 0, 40)
    del options["random_state"]

    def run(random_state):
        return compare_predictions(y, answers, random_state=random_state, **options)

    base = run(11)
    assert_same(run(11), base)
    assert_same(run(np.int64(11)), base)
    assert not np.array_equal(run(12).replicates, base.replicates)
    for make in (np.random.default_rng, np.random.RandomState):
        assert_same(run(make(5)), run(make(5)))
        generator = make(5)
        first, second = run(generator), run(generator)  # it moves on
        assert not np.array_equal(first.replicates, second.replicates)
        assert_same(run(first.random_state_entropy), first)
    fresh = run(None), run(None)
    assert not np.array_equal(fresh[0].replicates, fresh[1].replicates)
    assert_same(run(fresh[0].random_state_entropy), fresh[0])


# --- The exact mode -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize("seed", range(3))
def test_exact_mode_lists_all_sequences_of_rows(kind, seed):
    y, answers, options = case_of(kind, seed, 4)
    if kind == "values":
        y = np.round(y, 1)
        y[0] = y[1]
    result = compare_predictions(y, answers, **options | {"n_resamples": "exact"})
    sequences = np.array(list(itertools.product(range(4), repeat=4)))
    counts = np.array([np.bincount(rows, minlength=4) for rows in sequences])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = by_hand(counts, np.arange(4), y, answers, BY_HAND[kind])
    for number, name in enumerate(result.metrics):
        for model in range(2):
            column = expected[:, number, model].copy()
            if name == "r2":  # scikit-learn has 0 or 1 for constant truths, where R2 is undefined
                column[[np.ptp(y[rows]) == 0 for rows in sequences]] = np.nan
            found = result.replicates[:, number, model]
            implied = np.repeat(found, result.multiplicities)
            np.testing.assert_allclose(
                np.sort(implied), np.sort(column), rtol=TOLERANCE, atol=TOLERANCE
            )
            row = result.scores[2 * number + model]
            assert row.n_undefined == np.isnan(column).sum()


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize("plan", ["rows", "clusters", "strata"])
def test_monte_carlo_agrees_with_the_enumeration(kind, plan):
    y, answers, options = case_of(kind, 2, 7)
    options |= {
        "groups": [0, 0, 1, 2, 2, 3, 3] if plan == "clusters" else None,
        "resampling": StratifiedBootstrap([0, 0, 0, 1, 1, 1, 1]) if plan == "strata" else "auto",
    }
    exact = compare_predictions(y, answers, **options | {"n_resamples": "exact"})
    drawn = compare_predictions(y, answers, **options | {"n_resamples": 20_000})
    size = 20_000
    for found, expected in zip(drawn.differences, exact.differences, strict=True):
        assert found.difference == expected.difference
        metric = exact.metrics.index(found.metric)
        d = drawn.replicates[:, metric, 1] - drawn.replicates[:, metric, 0]
        e = exact.replicates[:, metric, 1] - exact.replicates[:, metric, 0]
        defined = ~np.isnan(e)
        mean = np.average(e[defined], weights=exact.multiplicities[defined])
        fourth = np.average((e[defined] - mean) ** 4, weights=exact.multiplicities[defined])
        variance = expected.std_error**2
        assert abs(np.nanmean(d) - mean) <= 5 * expected.std_error / np.sqrt(size * 0.8)
        error = np.sqrt((fourth - variance**2) / (size * 0.8))
        assert abs(found.std_error**2 - variance) <= 5 * error
    for found, expected in zip(drawn.scores, exact.scores, strict=True):
        share = expected.n_undefined / exact.multiplicities.sum()
        error = np.sqrt(share * (1 - share) / size)
        assert abs(found.n_undefined / size - share) <= 5 * error


@few
@given(seeds)
def test_row_order_does_not_matter_in_the_exact_mode(seed):
    rng = np.random.default_rng(seed)
    scores = {name: rng.integers(0, 3, 6) for name in "ab"}
    order = rng.permutation(6)
    first = compare_scores(scores, n_resamples="exact")
    second = compare_scores({k: v[order] for k, v in scores.items()}, n_resamples="exact")
    assert_same_rows(second.differences, first.differences)


# --- Surroundings -------------------------------------------------------------------------------


def test_nothing_global_is_touched():
    y, answers = probabilities(0, 50)
    np.random.seed(3)
    random.seed(3)
    before = np.random.get_state(), random.getstate(), list(warnings.filters), np.geterr()
    threads = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    compare_predictions(
        y,
        answers,
        scoring=[
            *PROBABILITIES,
            make_scorer(metrics.d2_log_loss_score, response_method="predict_proba"),
        ],
        n_resamples=60,
        random_state=None,
        method="bca",
    )
    after = np.random.get_state(), random.getstate(), list(warnings.filters), np.geterr()
    np.testing.assert_equal(after[0], before[0])
    assert after[1:] == before[1:]
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == threads


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_read_only_inputs_work_and_stay_as_they_are(kind):
    y, answers, options = case_of(kind, 0, 30)
    arrays = {"y": y, "groups": np.arange(30) % 7, "weight": np.arange(30.0), **answers}
    copies = {name: array.copy() for name, array in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    compare_predictions(
        y, answers, groups=arrays["groups"], sample_weight=arrays["weight"], **options
    )
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, copies[name])


def test_writable_inputs_are_not_changed_either():
    y, answers = probabilities(0, 30)
    copies = y.copy(), {name: answer.copy() for name, answer in answers.items()}
    compare_predictions(y, answers, scoring=PROBABILITIES, n_resamples=60, random_state=0)
    np.testing.assert_array_equal(y, copies[0])
    for name, answer in answers.items():
        np.testing.assert_array_equal(answer, copies[1][name])


@few
@given(kinds, seeds, st.floats(0.5, 0.97), st.sampled_from(["percentile", "basic", "normal"]))
def test_intervals_and_p_values_agree(kind, seed, level, method):
    y, answers, options = case_of(kind, seed, 15)
    options |= {"n_resamples": 99, "confidence_level": level, "method": method}
    for row in compare_predictions(y, answers, **options).differences:
        assert (row.p_value <= 1 - level) == (row.ci_low > 0 or row.ci_high < 0)
        assert row.ci_low <= row.ci_high
        assert 0 < row.p_value <= 1


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_read_off_the_replicates_with_numpy(kind):
    y, answers, options = case_of(kind, 0, 60)
    result = compare_predictions(y, answers, **options)
    for row in result.differences:
        metric = result.metrics.index(row.metric)
        difference = result.replicates[:, metric, 1] - result.replicates[:, metric, 0]
        ends = np.quantile(difference, [0.025, 0.975])
        assert (row.ci_low, row.ci_high) == pytest.approx(tuple(ends), abs=TOLERANCE)
        assert row.std_error == pytest.approx(difference.std(ddof=1), abs=TOLERANCE)
