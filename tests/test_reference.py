"""Numbers that were computed exactly elsewhere, by enumeration or polynomial counting.

The first part holds small numbers as literals, so that it runs anywhere. The second reads the
file they come from, and is skipped where that is absent.
"""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, make_scorer

from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot._engine.multiplicity import adjust
from sklearn_pairboot._engine.sample import Sample

OLD = [0, 1, 0, 0, 1]
NEW = [1, 1, 1, 0, 0]
# Differences new - old in fifths, and how many of the 3125 resamples have them.
PAIRED = dict(zip(range(-5, 6), [1, 10, 50, 160, 360, 592, 720, 640, 400, 160, 32], strict=True))
PAIRED = {Fraction(fifths, 5): count for fifths, count in PAIRED.items()}
TOLERANCE = 1e-12
N_MONTE_CARLO = 20_000


def paired_result(n_resamples="exact", **options):
    return compare_scores({"old": OLD, "new": NEW}, n_resamples=n_resamples, **options)


def distribution_of(result, model, baseline=None):
    """Distinct values and the sequences behind each, undefined resamples left out."""
    values = result.replicates[:, 0, result.models.index(model)]
    if baseline is not None:
        values = values - result.replicates[:, 0, result.models.index(baseline)]
    defined = ~np.isnan(values)
    return values[defined], result.multiplicities[defined]


def check_distribution(values, multiplicities, expected):
    """Every value is one of those expected, and each is as frequent as expected."""
    places = np.array([float(value) for value in expected])
    nearest = np.abs(np.asarray(values)[:, None] - places).argmin(axis=1)
    np.testing.assert_allclose(values, places[nearest], rtol=0, atol=TOLERANCE)
    found = np.bincount(nearest, weights=multiplicities, minlength=len(places))
    assert found.tolist() == list(expected.values())


def implied(expected):
    """All implied values in order, one for each sequence."""
    pairs = sorted((float(value), count) for value, count in expected.items())
    return np.repeat([value for value, _ in pairs], [count for _, count in pairs])


def check_monte_carlo(replicates, expected):
    """Mean, spread, tails and quantiles lie within five standard errors of Monte Carlo."""
    replicates = replicates[~np.isnan(replicates)]
    size = len(replicates)
    population = implied(expected)
    sd = population.std()
    assert abs(replicates.mean() - population.mean()) <= 5 * sd / np.sqrt(size)
    fourth = np.mean((population - population.mean()) ** 4)
    assert abs(replicates.var() - sd**2) <= 5 * np.sqrt((fourth - sd**4) / size)
    for threshold in (-1e-9, 1e-9):
        share = np.mean(population > threshold)
        error = np.sqrt(share * (1 - share) / size)
        assert abs(np.mean(replicates > threshold) - share) <= 5 * error + 1e-15
    for q in (0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995):
        error = 5 * np.sqrt(q * (1 - q) / size)
        levels = np.clip([q - error, q + error], 0, 1)
        low, high = np.quantile(population, levels, method="inverted_cdf")
        assert low - TOLERANCE <= np.quantile(replicates, q) <= high + TOLERANCE


# --- Paired bootstrap of a mean difference ------------------------------------------------------


def test_paired_bootstrap_of_a_mean_exactly():
    result = paired_result()
    check_distribution(*distribution_of(result, "new", "old"), PAIRED)
    row = result.differences[0]
    assert (row.model, row.baseline) == ("new", "old")
    assert row.difference == pytest.approx(0.2, abs=TOLERANCE)
    assert row.std_error == pytest.approx(0.3346640106136302, abs=TOLERANCE)
    assert (row.ci_low, row.ci_high) == pytest.approx((-0.4, 0.8), abs=TOLERANCE)
    for score, mean in zip(result.scores, (0.4, 0.6), strict=True):
        assert score.estimate == pytest.approx(mean, abs=TOLERANCE)
        assert score.std_error == pytest.approx(np.sqrt(0.24 / 5), abs=TOLERANCE)
    assert result.multiplicities.sum() == 3125


@pytest.mark.parametrize(
    ("method", "level", "interval"),
    [
        ("percentile", 0.9, (-0.4, 0.8)),
        ("percentile", 0.99, (-0.6, 1.0)),
        ("basic", 0.95, (-0.4, 0.8)),
        ("bca", 0.95, (-0.6, 0.8)),
    ],
)
def test_paired_intervals_exactly(method, level, interval):
    row = paired_result(method=method, confidence_level=level).differences[0]
    assert row.status == "ok"
    assert (row.ci_low, row.ci_high) == pytest.approx(interval, abs=TOLERANCE)


def test_paired_normal_interval_is_estimate_and_standard_error():
    row = paired_result(method="normal").differences[0]
    half = stats.norm.ppf(0.975) * 0.3346640106136302
    assert (row.ci_low, row.ci_high) == pytest.approx((0.2 - half, 0.2 + half), abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(3))
def test_paired_bootstrap_of_a_mean_by_monte_carlo(seed):
    result = paired_result(N_MONTE_CARLO, random_state=seed)
    check_monte_carlo(result.replicates[:, 0, 1] - result.replicates[:, 0, 0], PAIRED)


def test_unpaired_draws_have_another_distribution():
    # Each model on its own: the product of both distributions is what separate draws would give.
    parts = []
    for name, scores in (("new", NEW), ("old", OLD)):
        alone = compare_scores({name: scores}, n_resamples="exact")
        parts.append(distribution_of(alone, name))
    (new, of_new), (old, of_old) = parts
    values = (new[:, None] - old).ravel()
    counts = (of_new[:, None] * of_old).ravel()
    numbers = [1024, 15360, 103680, 414720, 1088640, 1959552, 2449440, 2099520, 1180980, 393660]
    numbers.append(59049)
    check_distribution(
        values, counts, {Fraction(k - 5, 5): count for k, count in enumerate(numbers)}
    )
    assert counts.sum() == 9765625
    mean = np.average(values, weights=counts)
    sd = np.sqrt(np.average((values - mean) ** 2, weights=counts))
    assert sd == pytest.approx(0.30983866769659335, abs=TOLERANCE)
    # What pairing adds is the covariance: 2 x (1/25) / 5 here, and the paired spread is larger.
    paired = paired_result().differences[0].std_error
    assert paired**2 - sd**2 == pytest.approx(2 * 0.04 / 5, abs=TOLERANCE)


def test_copied_rows_taken_for_new_ones():
    result = compare_scores({"old": OLD * 20, "new": NEW * 20}, n_resamples="exact")
    row = result.differences[0]
    assert row.difference == pytest.approx(0.2, abs=TOLERANCE)
    assert row.std_error == pytest.approx(0.07483314773547883, abs=TOLERANCE)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.05, 0.35), abs=TOLERANCE)
    values, shares = distribution_of(result, "new", "old")
    assert shares.sum() == pytest.approx(1, abs=TOLERANCE)
    assert shares[values > 1e-9].sum() == pytest.approx(0.995065878725709, abs=TOLERANCE)
    assert shares[values < -1e-9].sum() == pytest.approx(0.0033495723750883175, abs=TOLERANCE)
    assert shares[abs(values) < 1e-9].sum() == pytest.approx(0.0015845488992027499, abs=TOLERANCE)


@pytest.mark.parametrize("n_resamples", ["exact", 999])
@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca"])
def test_copied_rows_in_their_clusters_change_nothing(n_resamples, method):
    alone = paired_result(n_resamples, method=method, random_state=3)
    order = np.random.default_rng(0).permutation(100)
    copied = compare_scores(
        {"old": np.repeat(OLD, 20)[order], "new": np.repeat(NEW, 20)[order]},
        groups=np.repeat(list("abcde"), 20)[order],
        n_resamples=n_resamples,
        method=method,
        random_state=3,
    )
    np.testing.assert_array_equal(copied.replicates, alone.replicates)
    np.testing.assert_equal(
        [row.asdict() for row in copied.differences], [row.asdict() for row in alone.differences]
    )
    np.testing.assert_equal(
        [row.asdict() for row in copied.scores], [row.asdict() for row in alone.scores]
    )
    assert (copied.unit, copied.n_units, copied.n_rows) == ("clusters", 5, 100)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "neg_log_loss"])
@pytest.mark.parametrize("n_rows", [40, 300])
def test_copied_rows_in_their_clusters_change_no_metric(scoring, n_rows):
    rng = np.random.default_rng(n_rows)
    y = rng.integers(0, 2, n_rows)
    answers = {name: np.clip(np.round(rng.random(n_rows), 1), 0.05, 0.95) for name in "ab"}
    if scoring == "f1":
        answers = {name: (scores > 0.4).astype(int) for name, scores in answers.items()}
    # Twice a float is exact; any number of copies of counts are.
    copies = 2 if scoring == "neg_log_loss" else 3
    options = {"scoring": scoring, "n_resamples": 400, "random_state": 1, "method": "bca"}
    alone = compare_predictions(y, answers, **options)
    copied = compare_predictions(
        np.repeat(y, copies),
        {name: np.repeat(scores, copies) for name, scores in answers.items()},
        groups=np.repeat(np.arange(n_rows), copies),
        **options,
    )
    if scoring == "average_precision":  # sums of quotients, in another order
        np.testing.assert_allclose(copied.replicates, alone.replicates, rtol=0, atol=TOLERANCE)
    else:
        np.testing.assert_array_equal(copied.replicates, alone.replicates)
    found, expected = copied.differences[0], alone.differences[0]
    for column in ("difference", "std_error", "ci_low", "ci_high", "p_value"):
        assert found[column] == pytest.approx(expected[column], rel=1e-9, abs=TOLERANCE)


# --- Shared indices -----------------------------------------------------------------------------

SHARED_INDICES = {
    "identical": ([1, 1, 0, 0], [1, 1, 0, 0], {0: 256}, (0, 0)),
    "complementary": (
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        {-1: 16, Fraction(-1, 2): 64, 0: 96, Fraction(1, 2): 64, 1: 16},
        (-1, 1),
    ),
    "one_row_improvement": (
        [1, 1, 0, 0],
        [0, 1, 0, 0],
        {0: 81, Fraction(1, 4): 108, Fraction(1, 2): 54, Fraction(3, 4): 12, 1: 1},
        (0, 0.75),
    ),
}


@pytest.mark.parametrize("name", SHARED_INDICES)
def test_shared_indices_exactly(name):
    a, b, expected, ends = SHARED_INDICES[name]
    result = compare_scores({"a": a, "b": b}, baseline="b", n_resamples="exact")
    check_distribution(*distribution_of(result, "a", "b"), expected)
    row = result.differences[0]
    assert (row.model, row.baseline) == ("a", "b")
    assert (row.ci_low, row.ci_high) == pytest.approx(ends, abs=TOLERANCE)
    assert row.std_error == pytest.approx(implied(expected).std(), abs=TOLERANCE)
    assert row.verdict == "inconclusive"


def test_identical_models_are_flagged_not_certain():
    a, b, _, _ = SHARED_INDICES["identical"]
    result = compare_scores({"a": a, "b": b}, baseline="b", n_resamples="exact")
    row = result.differences[0]
    assert (row.status, row.p_value, row.ci_low, row.ci_high) == ("degenerate", 1.0, 0.0, 0.0)
    assert any("Zero-width interval" in note for note in result.notes)


@pytest.mark.parametrize("name", ["complementary", "one_row_improvement"])
def test_shared_indices_by_monte_carlo(name):
    a, b, expected, _ = SHARED_INDICES[name]
    result = compare_scores({"b": b, "a": a}, n_resamples=N_MONTE_CARLO, random_state=0)
    check_monte_carlo(result.replicates[:, 0, 1] - result.replicates[:, 0, 0], expected)


# --- Unequal clusters ---------------------------------------------------------------------------

FOUR_CLUSTERS = [[1], [0, 1], [-1, 0, 1], [1, 1, 0, 0]]


def clustered(clusters, *, equal=False, n_resamples="exact", **options):
    """Row-weighted, or with all clusters of equal weight, as the mean of one model."""
    sizes = [len(cluster) for cluster in clusters]
    values = np.array([float(value) for cluster in clusters for value in cluster])
    return compare_scores(
        {"zero": np.zeros(len(values)), "d": values},
        groups=np.repeat(np.arange(len(sizes)), sizes),
        estimand="clusters" if equal else "rows",
        n_resamples=n_resamples,
        **options,
    )


@pytest.mark.parametrize("equal", [False, True])
def test_unequal_clusters_exactly(equal):
    result = clustered(FOUR_CLUSTERS, equal=equal)
    row = result.differences[0]
    estimate, sd, ends = (
        (0.5, np.sqrt(1 / 32), (0.125, 0.875))
        if equal
        else (0.4, 0.15409295682320123, (0.1, 5 / 7))
    )
    assert row.difference == pytest.approx(estimate, abs=TOLERANCE)
    assert row.std_error == pytest.approx(sd, abs=TOLERANCE)
    assert (row.ci_low, row.ci_high) == pytest.approx(ends, abs=TOLERANCE)
    assert (result.n_units, result.n_rows, result.unit_sizes) == (4, 10, (1, 2.5, 4))
    assert result.estimand == ("clusters" if equal else "rows")


# --- AUC and F1 ---------------------------------------------------------------------------------

AUC_TIES = {
    "article_7_9": ([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.5, 0.5, 0.2], 7 / 9),
    "all_tied": ([1, 0, 1, 0, 0], [3, 3, 3, 3, 3], 0.5),
    "perfect": ([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], 1.0),
    "reversed": ([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9], 0.0),
}


@pytest.mark.parametrize("name", AUC_TIES)
def test_auc_with_ties_in_any_order(name):
    y, scores, auc = (np.array(part) for part in AUC_TIES[name])
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        result = compare_predictions(
            y[order],
            {"up": scores[order], "down": -scores[order]},
            scoring="roc_auc",
            n_resamples=99,
            random_state=0,
        )
        up, down = (row.estimate for row in result.scores)
        assert up == pytest.approx(auc, abs=1e-15)
        assert down == pytest.approx(1 - auc, abs=1e-15)


AUC_ROWS = {"y": [1, 1, 0, 0], "a": [5, 4, 4, 2], "b": [4, 2, 3, 3]}
AUC_DISTRIBUTION = {
    Fraction(0): 64,
    Fraction(1, 6): 12,
    Fraction(1, 4): 12,
    Fraction(1, 3): 24,
    Fraction(3, 8): 24,
    Fraction(1, 2): 26,
    Fraction(2, 3): 24,
    Fraction(3, 4): 12,
    Fraction(5, 6): 12,
    Fraction(1): 14,
}


def auc_result(**options):
    answers = {"b": AUC_ROWS["b"], "a": AUC_ROWS["a"]}
    return compare_predictions(AUC_ROWS["y"], answers, scoring="roc_auc", **options)


def test_auc_bootstrap_exactly():
    result = auc_result(n_resamples="exact")
    check_distribution(*distribution_of(result, "a", "b"), AUC_DISTRIBUTION)
    assert [row.estimate for row in result.scores] == [0.5, 0.875]
    assert [row.n_undefined for row in result.scores] == [32, 32]
    row = result.differences[0]
    assert (row.difference, row.std_error) == pytest.approx((0.375, 0.3125), abs=TOLERANCE)
    assert (row.ci_low, row.ci_high) == pytest.approx((0, 1), abs=TOLERANCE)
    assert any("More than 5 %" in note and "32 of 256" in note for note in result.notes)


def test_auc_bootstrap_by_monte_carlo():
    result = auc_result(n_resamples=N_MONTE_CARLO, random_state=0)
    check_monte_carlo(result.replicates[:, 0, 1] - result.replicates[:, 0, 0], AUC_DISTRIBUTION)
    share = 32 / 256
    error = np.sqrt(share * (1 - share) / N_MONTE_CARLO)
    assert abs(result.scores[0].n_undefined / N_MONTE_CARLO - share) <= 5 * error


F1_ROWS = {"y": [1, 1, 0, 0, 1], "a": [1, 0, 0, 1, 1], "b": [1, 1, 0, 0, 0]}


def f1_result(zero_division=np.nan, **options):
    answers = {"b": F1_ROWS["b"], "a": F1_ROWS["a"]}
    scorer = make_scorer(f1_score, zero_division=zero_division)
    return compare_predictions(F1_ROWS["y"], answers, scoring=scorer, **options)


def test_f1_bootstrap_exactly():
    result = f1_result(n_resamples="exact")
    row = result.differences[0]
    assert row.difference == pytest.approx(2 / 3 - 4 / 5, abs=TOLERANCE)
    assert row.std_error == pytest.approx(0.42258357155849047, abs=TOLERANCE)
    assert (row.ci_low, row.ci_high) == pytest.approx((-1, 0.8), abs=TOLERANCE)
    values, counts = distribution_of(result, "a", "b")
    assert counts.sum() == 3093
    shares = [counts[values > 1e-9].sum(), counts[abs(values) < 1e-9].sum()]
    assert [*shares, counts[values < -1e-9].sum()] == [1016, 311, 1766]
    assert np.average(values, weights=counts) == pytest.approx(-3464 / 27837, abs=TOLERANCE)
    # Undefined in b: no drawn row has a true or a predicted positive. In a that is one row of five.
    assert [score.n_undefined for score in result.scores] == [32, 1]
    assert [score.n_zero_division for score in result.scores] == [0, 0]


def test_f1_by_convention_keeps_all_resamples():
    result = f1_result("warn", n_resamples="exact")
    assert [score.n_undefined for score in result.scores] == [0, 0]
    assert [score.n_zero_division for score in result.scores] == [32, 1]
    assert distribution_of(result, "a", "b")[1].sum() == 3125


# --- Alignment, direction, quantiles, adjusted p-values -----------------------------------------

OLD_BY_ID = {"q1": 1, "q2": 0, "q3": None, "q4": 1, "q5": 0}
NEW_BY_ID = {"q1": 1, "q2": None, "q3": 1, "q4": 1, "q5": 1}


def test_alignment_trap_by_id():
    scores = {"old": OLD_BY_ID, "new": NEW_BY_ID}
    with pytest.raises(ValueError, match="model 'old'.* got 1 missing or infinite, in row.s. 2"):
        compare_scores(scores)
    result = compare_scores(scores, missing="drop", n_resamples="exact")
    assert result.n_rows == 3
    assert result.differences[0].difference == pytest.approx(1 / 3, abs=TOLERANCE)
    (note,) = (note for note in result.notes if "lack a score" in note)
    assert "2 of 5 items" in note
    assert "old 1, new 1" in note


def test_alignment_trap_without_the_failed_items():
    scores = {
        name: {key: score for key, score in of_model.items() if score is not None}
        for name, of_model in (("old", OLD_BY_ID), ("new", NEW_BY_ID))
    }
    with pytest.raises(ValueError, match=r"new: missing ids 'q2'; new: ids that old lacks 'q3'"):
        compare_scores(scores)
    result = compare_scores(scores, missing="drop", n_resamples="exact")
    assert result.differences[0].difference == pytest.approx(1 / 3, abs=TOLERANCE)


def test_alignment_trap_with_failures_counted_wrong():
    scores = {
        name: {key: score or 0 for key, score in of_model.items()}
        for name, of_model in (("old", OLD_BY_ID), ("new", NEW_BY_ID))
    }
    result = compare_scores(scores, n_resamples="exact")
    assert result.differences[0].difference == pytest.approx(2 / 5, abs=TOLERANCE)


@pytest.mark.parametrize("n_resamples", ["exact", 999])
def test_direction_changes_words_not_numbers(n_resamples):
    old, new = [0.3, 0.5, 0.2], [0.1, 0.6, 0.1]
    options = {"n_resamples": n_resamples, "random_state": 0}
    loss = compare_scores({"old": old, "new": new}, greater_is_better=False, **options)
    gain = compare_scores({"old": old, "new": new}, greater_is_better=True, **options)
    assert loss.differences[0].difference == pytest.approx(-1 / 15, abs=TOLERANCE)
    for column in ("difference", "std_error", "ci_low", "ci_high", "p_value"):
        assert loss.differences[0][column] == gain.differences[0][column]
    assert "lower is better" in loss.summary()
    assert "higher is better" in gain.summary()
    swapped = compare_scores({"new": new, "old": old}, greater_is_better=False, **options)
    forth, back = loss.differences[0], swapped.differences[0]
    assert back.difference == -forth.difference
    ends = pytest.approx((-forth.ci_high, -forth.ci_low), rel=TOLERANCE)
    assert (back.ci_low, back.ci_high) == ends
    assert back.std_error == pytest.approx(forth.std_error, rel=TOLERANCE)
    assert back.p_value == pytest.approx(forth.p_value, rel=TOLERANCE)


@pytest.mark.parametrize(
    ("q", "value"), [(0.025, 1.1), (0.25, 2), (0.5, 4), (0.9, 9.4), (0.975, 10.6)]
)
def test_quantile_rule(q, value):
    monte_carlo = Sample.from_replicates([7, 1, 11, 4, 2])
    exact = Sample.from_exact([7, 1, 11, 4, 2], [1, 1, 1, 1, 1])
    assert monte_carlo.quantile(q) == pytest.approx(value, abs=TOLERANCE)
    assert exact.quantile(q) == pytest.approx(value, abs=TOLERANCE)


def test_adjusted_p_values():
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    holm = [0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615]
    np.testing.assert_allclose(adjust(p, "holm"), holm, rtol=TOLERANCE)
    np.testing.assert_allclose(adjust(p, "bonferroni"), np.minimum(10 * np.array(p), 1))
    fdr = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.74 / 7, 0.216, 0.216, 0.216]
    np.testing.assert_allclose(adjust(p, "fdr"), fdr, rtol=TOLERANCE)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_p_value_inverts_the_interval_of_the_implied_replicates(level):
    for result, expected in (
        (paired_result(), PAIRED),
        (auc_result(n_resamples="exact"), AUC_DISTRIBUTION),
    ):
        row = result.replace(confidence_level=level).differences[0]
        alpha = float(1 - Fraction(str(level)))
        low, high = np.quantile(implied(expected), [alpha / 2, 1 - alpha / 2])
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high), abs=TOLERANCE)
        assert (row.p_value <= alpha) == (row.ci_low > 0 or row.ci_high < 0)


# --- Every number of the file -------------------------------------------------------------------


@pytest.fixture(scope="module")
def numbers(shared):
    return json.loads((shared / "reference" / "exact.json").read_text())


def fractions(pairs):
    return {Fraction(value): count for value, count in pairs}


def check_summary(result, expected, model, baseline=None):
    """Mean, SD, tails and every interval of one distribution of the file."""
    values, counts = distribution_of(result, model, baseline)
    total = counts.sum()
    close = {"rel": TOLERANCE, "abs": TOLERANCE}
    mean = np.average(values, weights=counts)
    assert mean == pytest.approx(expected["mean"]["float"], **close)
    for name, tail in (
        ("p_positive", values > 1e-9),
        ("p_negative", values < -1e-9),
        ("p_zero", np.abs(values) <= 1e-9),
    ):
        assert counts[tail].sum() / total == pytest.approx(expected[name]["float"], **close)
    if "dist" in expected:
        check_distribution(values, counts, fractions(expected["dist"]))
        assert total == expected["resamples"]
    rows = {level: result.replace(confidence_level=float(level)) for level in expected["ci"]}
    assert set(rows) == {"0.9", "0.95", "0.99"}
    for level, replaced in rows.items():
        if baseline is None:
            (row,) = (row for row in replaced.scores if row.model == model)
        else:
            (row,) = replaced.differences
            assert (row.model, row.baseline) == (model, baseline)
        ends = [end["float"] for end in expected["ci"][level]["linear"]]
        assert [row.ci_low, row.ci_high] == pytest.approx(ends, **close)
        assert row.std_error == pytest.approx(expected["sd"], **close)
        assert row.std_error**2 == pytest.approx(expected["variance"]["float"], **close)


def test_file_paired_bootstrap_of_a_mean(numbers):
    given = numbers["paired_bootstrap_of_a_mean"]
    assert (given["input"]["old_a"], given["input"]["new_b"]) == (OLD, NEW)
    result = paired_result()
    check_summary(result, given["paired"], "new", "old")
    row = result.differences[0]
    assert row.difference == pytest.approx(given["delta_hat"]["float"], abs=TOLERANCE)
    for score, name in zip(result.scores, ("old", "new"), strict=True):
        assert score.estimate == pytest.approx(given[f"mean_{name}"]["float"], abs=TOLERANCE)
        variance = given[f"emp_var_{name}"]["float"]
        assert score.std_error**2 == pytest.approx(variance / 5, abs=TOLERANCE)
    assert row.std_error**2 == pytest.approx(given["emp_var_d"]["float"] / 5, abs=TOLERANCE)

    basic = result.replace(method="basic").differences[0]
    ends = [end["float"] for end in given["paired"]["basic_ci_95"]]
    assert [basic.ci_low, basic.ci_high] == pytest.approx(ends, abs=TOLERANCE)
    bca = result.replace(method="bca").differences[0]
    assert given["paired"]["bca"]["level"] == 0.95
    ends = given["paired"]["bca"]["half_ties_scipy"]["interval_linear"]
    assert [bca.ci_low, bca.ci_high] == pytest.approx(ends, abs=TOLERANCE)


def test_file_jackknife_and_bias_of_bca(numbers):
    paired = numbers["paired_bootstrap_of_a_mean"]["paired"]
    distribution = paired_result()._distribution
    acceleration = distribution.acceleration(0, 1, 0)
    assert acceleration == pytest.approx(paired["bca"]["acceleration"], rel=TOLERANCE)
    values = distribution.jackknife(0).values
    left_out = [float(Fraction(value)) for value in paired["jackknife_values"]]
    assert (values[:, 1] - values[:, 0]).tolist() == pytest.approx(left_out, abs=TOLERANCE)
    estimate = distribution.difference_estimate(0, 1, 0)
    share = distribution.difference_sample(0, 1, 0).share_below(estimate)
    half_ties = paired["bca"]["half_ties_scipy"]
    assert share == pytest.approx(half_ties["fraction"]["float"], abs=TOLERANCE)
    assert stats.norm.ppf(share) == pytest.approx(half_ties["z0"], rel=1e-10)


def test_file_one_resample(numbers):
    drawn = numbers["paired_bootstrap_of_a_mean"]["one_resample_AACEB"]
    counts = np.bincount(drawn["indices"], minlength=5)
    result = paired_result(99, sample_weight=counts)
    assert result.differences[0].difference == pytest.approx(drawn["delta"]["float"])
    means = [drawn[f"mean_{name}"]["float"] for name in ("old", "new")]
    assert [row.estimate for row in result.scores] == pytest.approx(means, abs=TOLERANCE)


def test_file_unpaired(numbers):
    expected = numbers["paired_bootstrap_of_a_mean"]["unpaired"]
    (new, of_new), (old, of_old) = (
        distribution_of(compare_scores({name: scores}, n_resamples="exact"), name)
        for name, scores in (("new", NEW), ("old", OLD))
    )
    values, counts = (new[:, None] - old).ravel(), (of_new[:, None] * of_old).ravel()
    check_distribution(values, counts, fractions(expected["dist"]))
    sample = Sample.from_exact(values, counts, scale=1.0)
    assert sample.size == expected["resamples"]
    assert sample.std() == pytest.approx(expected["sd"], abs=TOLERANCE)
    assert sample.mean() == pytest.approx(expected["mean"]["float"], abs=TOLERANCE)
    for level, ends in expected["ci"].items():
        tail = (1 - float(level)) / 2
        found = [sample.quantile(tail), sample.quantile(1 - tail)]
        assert found == pytest.approx([e["float"] for e in ends["linear"]], abs=TOLERANCE)


def test_file_copied_rows(numbers):
    given = numbers["paired_bootstrap_of_a_mean"]
    naive = compare_scores({"old": OLD * 20, "new": NEW * 20}, n_resamples="exact")
    check_summary(naive, given["naive_hundred_rows"], "new", "old")
    ratio = paired_result().differences[0].std_error / naive.differences[0].std_error
    expected = given["naive_hundred_rows"]["sd_ratio_squared_vs_paired"]["float"]
    assert ratio**2 == pytest.approx(expected, rel=TOLERANCE)
    assert given["clustered_hundred_rows"]["equals_paired"] is True
    grouped = compare_scores(
        {"old": OLD * 20, "new": NEW * 20}, groups=list(range(5)) * 20, n_resamples="exact"
    )
    check_summary(grouped, given["paired"], "new", "old")


@pytest.mark.parametrize("name", SHARED_INDICES)
def test_file_shared_indices(numbers, name):
    given = numbers["shared_indices"][name]
    result = compare_scores({"a": given["a"], "b": given["b"]}, baseline="b", n_resamples="exact")
    check_summary(result, given["paired"], "a", "b")
    for score in result.scores:
        variance = given[f"emp_var_{score.model}"]["float"]
        assert score.std_error**2 == pytest.approx(variance / 4, abs=TOLERANCE)
    covariance = (
        sum(score.std_error**2 for score in result.scores) - result.differences[0].std_error ** 2
    ) / 2
    assert covariance == pytest.approx(given["emp_cov"]["float"] / 4, abs=TOLERANCE)

    (a, of_a), (b, of_b) = (distribution_of(result, model) for model in ("a", "b"))
    check_distribution(
        *((a[:, None] - b).ravel(), (of_a[:, None] * of_b).ravel()),
        fractions(given["independent"]["dist"]),
    )


def test_file_degenerate_notice(numbers):
    given = numbers["shared_indices"]["degenerate_notice_case"]
    result = compare_scores({"b": given["b"], "a": given["a"]}, n_resamples="exact")
    row = result.differences[0]
    assert [row.ci_low, row.ci_high] == [float(end) for end in given["paired_ci_95"]]
    assert row.status == "degenerate"
    assert "Zero-width interval" in result.summary()


@pytest.mark.parametrize("name", ["four_clusters_sizes_1_2_3_4", "fractional_scores"])
def test_file_clustered_unequal(numbers, name):
    given = numbers["clustered_unequal"][name]
    clusters = [[Fraction(value) for value in cluster] for cluster in given["input_groups"]]
    rows = clustered(clusters)
    check_summary(rows, given["row_weighted"], "d", "zero")
    check_summary(rows, given["row_weighted"], "d")
    equal = clustered(clusters, equal=True)
    check_summary(equal, given["equal_cluster_weighted"], "d", "zero")
    estimates = [result.differences[0].difference for result in (rows, equal)]
    expected = [
        given["estimate_row_weighted"]["float"],
        given["estimate_equal_cluster_weighted"]["float"],
    ]
    assert estimates == pytest.approx(expected, abs=TOLERANCE)
    values, counts = distribution_of(rows, "d")
    bias = np.average(values, weights=counts) - estimates[0]
    assert bias == pytest.approx(given["row_weighted"]["bias_of_bootstrap_mean"]["float"])
    assert (rows.n_units, rows.n_rows) == (given["units"], given["rows"])

    monte_carlo = clustered(clusters, n_resamples=N_MONTE_CARLO, random_state=0)
    check_monte_carlo(monte_carlo.replicates[:, 0, 1], fractions(given["row_weighted"]["dist"]))


@pytest.mark.parametrize("name", ["four_clusters_sizes_1_2_3_4", "fractional_scores"])
def test_file_number_of_rows_drawn(numbers, name):
    given = numbers["clustered_unequal"][name]
    sizes = given["sizes"]
    truth = np.arange(sum(sizes)) % 2
    result = compare_predictions(  # all correct: the number correct is the number drawn
        truth,
        {"m": truth},
        scoring=make_scorer(accuracy_score, normalize=False),
        groups=np.repeat(np.arange(len(sizes)), sizes),
        n_resamples="exact",
    )
    check_distribution(
        *distribution_of(result, "m"), dict(given["resampled_row_count_distribution"])
    )


def test_file_auc_ties(numbers):
    assert set(numbers["auc_ties"]) == set(AUC_TIES)
    for given in numbers["auc_ties"].values():
        scores = np.array(given["p"])
        result = compare_predictions(
            given["y"],
            {"up": scores, "down": -scores},
            scoring="roc_auc",
            n_resamples=99,
            random_state=0,
        )
        up, down = (row.estimate for row in result.scores)
        assert up == pytest.approx(given["auc"]["float"], abs=1e-15)
        assert down == pytest.approx(given["auc_negated_scores"]["float"], abs=1e-15)


def test_file_auc_bootstrap(numbers):
    given = numbers["auc_paired_bootstrap_exact_4rows"]
    assert given["y"] == AUC_ROWS["y"]
    assert (given["p_a"], given["p_b"]) == (AUC_ROWS["a"], AUC_ROWS["b"])
    result = auc_result(n_resamples="exact")
    check_distribution(*distribution_of(result, "a", "b"), fractions(given["dist"]))
    check_summary(result, given["defined"], "a", "b")
    for score in result.scores:
        assert score.n_undefined == given["undefined_single_class"]
        assert score.estimate == given[f"auc_{score.model}"]["float"]
    assert result.multiplicities.sum() == given["resamples"]


def test_file_f1_bootstrap(numbers):
    given = numbers["f1_paired_bootstrap_exact_5rows"]
    assert given["y"] == F1_ROWS["y"]
    assert (given["pred_a"], given["pred_b"]) == (F1_ROWS["a"], F1_ROWS["b"])
    result = f1_result(n_resamples="exact")
    check_distribution(*distribution_of(result, "a", "b"), fractions(given["dist"]))
    check_summary(result, given["defined"], "a", "b")
    for score in result.scores:
        assert score.estimate == pytest.approx(given[f"f1_{score.model}"]["float"], abs=TOLERANCE)
    lost = np.isnan(result.replicates[:, 0]).any(axis=1)
    assert result.multiplicities[lost].sum() == given["undefined_0_over_0"]
    monte_carlo = f1_result(n_resamples=N_MONTE_CARLO, random_state=0)
    check_monte_carlo(
        monte_carlo.replicates[:, 0, 1] - monte_carlo.replicates[:, 0, 0],
        fractions(given["dist"]),
    )


def test_file_alignment_trap(numbers):
    given = numbers["alignment_trap"]
    assert (given["old"], given["new"]) == (OLD_BY_ID, NEW_BY_ID)
    scores = {"old": given["old"], "new": given["new"]}
    joined = compare_scores(scores, missing="drop", n_resamples="exact").differences[0]
    assert joined.difference == pytest.approx(float(Fraction(given["inner_join"]["delta"])))
    zeros = {name: {k: v or 0 for k, v in part.items()} for name, part in scores.items()}
    scored = compare_scores(zeros, n_resamples="exact").differences[0]
    assert scored.difference == pytest.approx(
        float(Fraction(given["failures_scored_zero"]["delta"]))
    )
    wrong = float(Fraction(given["wrong_positional_after_separate_drop"]["delta"]))
    assert wrong not in (pytest.approx(joined.difference), pytest.approx(scored.difference))


def test_file_direction(numbers):
    given = numbers["direction"]
    scores = {name: [float(Fraction(x)) for x in given[f"loss_{name}"]] for name in ("old", "new")}
    row = compare_scores(scores, greater_is_better=False, n_resamples="exact").differences[0]
    assert row.difference == pytest.approx(float(Fraction(given["raw_new_minus_old"])))
    back = compare_scores(
        scores, greater_is_better=False, n_resamples="exact", baseline="new"
    ).differences[0]
    expected = float(Fraction(given["improvement_if_lower_is_better"]))
    assert back.difference == pytest.approx(expected)


def test_file_quantile_rule(numbers):
    given = numbers["quantile_rule"]
    sample = Sample.from_replicates(given["sorted"])
    for q, value in given["linear"].items():
        assert sample.quantile(float(Fraction(q))) == pytest.approx(float(Fraction(value)))


def test_file_adjusted_p_values(numbers):
    given = numbers["multiplicity"]["adjusted_p_example"]
    for correction, name in (("bonferroni", "bonferroni"), ("holm", "holm"), ("fdr", "bh")):
        found = adjust(given["p"], correction)
        np.testing.assert_allclose(found, given[name], rtol=TOLERANCE)


def test_file_standard_error_of_a_paired_difference(numbers):
    given = numbers["mcnemar"]["paired_33_12"]
    gains, losses = given["n01_a_right_b_wrong"], given["n10_a_wrong_b_right"]
    differences = np.repeat([1, -1, 0], [gains, losses, given["n"] - gains - losses])
    row = compare_scores({"a - b": differences}, n_resamples="exact").scores[0]
    assert row.estimate == pytest.approx(given["difference"]["float"], abs=TOLERANCE)
    assert row.std_error == pytest.approx(given["paired_se"], rel=1e-10)
