"""What the articles behind this project ask for: one compact test for each demand or group.

Demands that other tests prove carry their ids in the names of those tests.
"""

import inspect
import re

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold

import sklearn_pairboot
from sklearn_pairboot import compare_estimators, compare_predictions, compare_scores
from sklearn_pairboot._engine.intervals import METHODS
from sklearn_pairboot.inference import corrected_resampled_ttest
from sklearn_pairboot.planning import minimum_detectable_difference, required_units
from sklearn_pairboot.resampling import ClusterBootstrap, RowBootstrap, StratifiedBootstrap

OLD, NEW = [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]
ENTRIES = (compare_scores, compare_predictions, compare_estimators)
TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def correctness():
    """Two models of some likeness on 200 items in 40 groups of five."""
    rng = np.random.default_rng(0)
    ease = np.repeat(rng.normal(size=40), 5)
    a, b = (ease + rng.normal(size=(2, 200)) > np.array([[0.0], [-0.6]])).astype(int)
    return {"old": a, "new": b}


def words(result):
    return " ".join(result.summary().split())


# --- Article A ----------------------------------------------------------------------------------


def test_req_A01_difference_of_means_of_a_named_population():
    result = compare_scores({"old": OLD, "new": NEW}, n_resamples="exact")
    expected = np.mean(np.subtract(NEW, OLD))
    assert result.differences[0].difference == pytest.approx(expected, abs=TOLERANCE)
    for entry in ENTRIES:
        text = " ".join(inspect.getdoc(entry).split())
        assert re.search(r"It estimates the difference of .* on the population that", text)


def test_req_A04_req_A28_what_varies_and_what_is_held_fixed_is_said(correctness):
    text = words(compare_scores(correctness, n_resamples=99))
    assert "Varies only which test rows are drawn" in text
    assert "Held fixed the models and their scores; retraining and seeds are not covered" in text


def test_req_A05_req_B01_req_B02_one_draw_serves_all_models_and_metrics(correctness):
    a = correctness["old"]
    scores = {"a": a, "1 - a": 1 - a, "a + 1": a + 1, "2 a": 2 * a}
    replicates = compare_scores(scores, n_resamples=200, random_state=0).replicates[:, 0]
    np.testing.assert_allclose(replicates[:, 0] + replicates[:, 1], 1, rtol=TOLERANCE)
    np.testing.assert_allclose(replicates[:, 2] - replicates[:, 0], 1, rtol=TOLERANCE)
    np.testing.assert_allclose(replicates[:, 3], 2 * replicates[:, 0], rtol=TOLERANCE)
    # The same holds between metrics: accuracy and error rate of the same resample.
    y = np.ones(200, dtype=int)
    y[:50] = 0
    both = compare_predictions(
        y,
        {"m": a},
        scoring={
            "right": "accuracy",
            "wrong": make_scorer(metrics.zero_one_loss, greater_is_better=False),
        },
        n_resamples=200,
        random_state=0,
    ).replicates[:, :, 0]
    np.testing.assert_allclose(both.sum(axis=1), 1, rtol=TOLERANCE)


def test_req_A06_req_B04_req_B07_breaking_the_pairing_may_go_either_way():
    errors = {}
    for name, b in (("identical", [1, 1, 0, 0]), ("complementary", [0, 0, 1, 1])):
        result = compare_scores({"b": b, "a": [1, 1, 0, 0]}, n_resamples="exact")
        alone = np.hypot(*(row.std_error for row in result.scores))
        errors[name] = result.differences[0].std_error ** 2, alone**2
    assert errors["identical"] == pytest.approx((0, 1 / 8), abs=TOLERANCE)
    assert errors["complementary"] == pytest.approx((1 / 4, 1 / 8), abs=TOLERANCE)


def test_req_A07_req_B08_joint_replicates_keep_what_rates_alone_lose():
    swapped = {"old": OLD, "new": [0, 1, 0, 1, 1]}
    results = [
        compare_scores(scores, n_resamples="exact")
        for scores in ({"old": OLD, "new": NEW}, swapped)
    ]
    rates = [[row.estimate for row in result.scores] for result in results]
    assert rates[0] == rates[1]
    errors = [result.differences[0].std_error for result in results]
    assert errors[0] != pytest.approx(errors[1], rel=0.01)


def test_req_A08_req_B17_means_of_differences_but_metrics_of_records():
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(2, 200))
    options = {"n_resamples": 200, "random_state": 0}
    pairs = compare_scores({"old": old, "new": new}, **options)
    alone = compare_scores({"d": new - old}, **options)
    np.testing.assert_allclose(
        pairs.replicates[:, 0, 1] - pairs.replicates[:, 0, 0],
        alone.replicates[:, 0, 0],
        atol=TOLERANCE,
    )
    # F1 of the data is no mean of F1 of items.
    y, predicted = [1, 1, 0, 0, 1], [1, 0, 0, 1, 1]
    corpus = compare_predictions(y, {"m": predicted}, scoring="f1", n_resamples=99)
    of_items = [float(truth == answer == 1) for truth, answer in zip(y, predicted, strict=True)]
    assert corpus.scores[0].estimate == pytest.approx(2 / 3)
    assert corpus.scores[0].estimate != pytest.approx(np.mean(of_items))


def test_req_A09_the_rule_of_quantiles_is_documented_in_the_report():
    text = words(compare_scores({"old": OLD, "new": NEW}, n_resamples=99))
    assert "from the 2.5th to the 97.5th percentile of the resampled values" in text


def test_req_A10_three_standard_deviations_are_kept_apart(correctness):
    values = correctness["old"] * 1.5
    result = compare_scores({"m": values}, n_resamples=99, random_state=0)
    error = result.scores[0].std_error
    assert error == pytest.approx(result.replicates[:, 0, 0].std(ddof=1), rel=TOLERANCE)
    assert error < values.std() / 5
    assert "SE standard deviation of the resampled values, not of the single rows" in words(result)


@pytest.mark.parametrize("method", METHODS)
def test_req_A15_req_D02_intervals_have_names(correctness, method):
    result = compare_scores(correctness, method=method, n_resamples=999, random_state=0)
    name = "BCa" if method == "bca" else method
    assert f"95 % {name} interval" in result.summary()
    assert result.differences[0].status == "ok"
    assert compare_scores(correctness, n_resamples=99).method == "percentile"


def test_req_A16_copies_create_no_information():
    copied = {"old": OLD * 20, "new": NEW * 20}
    errors = [
        compare_scores(copied, groups=groups, n_resamples="exact").differences[0].std_error
        for groups in (None, list(range(5)) * 20)
    ]
    assert errors == pytest.approx([0.07483314773547883, 0.3346640106136302], abs=TOLERANCE)


def test_req_A17_req_D05_plans_have_names_of_their_own():
    assert {RowBootstrap.__name__, ClusterBootstrap.__name__, StratifiedBootstrap.__name__} == {
        "RowBootstrap",
        "ClusterBootstrap",
        "StratifiedBootstrap",
    }
    documented = inspect.getdoc(StratifiedBootstrap)
    assert "holds the strata's shares fixed" in " ".join(documented.split())
    assert "independent" in inspect.getdoc(RowBootstrap)


def test_req_A18_req_A19_whole_clusters_weighted_by_their_rows():
    sizes = [1, 2, 3, 4]
    groups = np.repeat(np.arange(4), sizes)
    scorer = make_scorer(metrics.accuracy_score, normalize=False)
    y = np.arange(10) % 2
    drawn = compare_predictions(y, {"m": y}, scoring=scorer, groups=groups, n_resamples="exact")
    n_rows = drawn.replicates[:, 0, 0]
    assert (n_rows.min(), n_rows.max()) == (4, 16)  # not the original ten
    values = np.array([1, 0, 1, -1, 0, 1, 1, 1, 0, 0])
    rows = compare_scores({"m": values}, groups=groups, n_resamples="exact").scores[0]
    of_clusters = np.mean([values[groups == g].mean() for g in range(4)])
    assert (rows.estimate, of_clusters) == (pytest.approx(0.4), pytest.approx(0.5))


def test_req_A20_req_A30_few_clusters_are_no_reliability(correctness):
    groups = np.arange(200) % 3
    result = compare_scores(correctness, groups=groups, n_resamples=99)
    assert any(note.startswith("Only 3 clusters") for note in result.notes)
    assert any("3 resampling units are too few for a verdict" in note for note in result.notes)
    assert result.differences[0].verdict == "inconclusive"


@pytest.mark.parametrize(
    ("scores", "options"),
    [
        ({"a": [True, False, True]}, {}),
        ({"a": [1.0, np.nan, 0.0]}, {}),
        ({"a": [1e308, 1e308, -1e308]}, {}),
        ({"a": [1.0]}, {}),
        ({"a": [1.0, 0.0]}, {"groups": ["x", "x"]}),
        ({"a": [1.0, 0.0]}, {"groups": ["x", None]}),
        ({"a": {"q": 1.0, "": 2.0}}, {}),
        ({"a": [1.0, 0.0]}, {"random_state": 1.5}),
        ({"a": [1.0, 0.0]}, {"n_resamples": 1}),
        ({"a": [1.0, 0.0]}, {"confidence_level": 1.0}),
    ],
)
def test_req_A21_input_contract(scores, options):
    with pytest.raises((TypeError, ValueError), match="must"):
        compare_scores(scores, **options)


def test_req_A23_req_D06_rows_units_draws_and_numbers_are_in_the_result(correctness):
    result = compare_scores(
        correctness, groups=np.arange(200) // 5, n_resamples=300, random_state=9
    )
    assert (result.n_rows, result.n_units, result.n_resamples) == (200, 40, 300)
    assert result.replicates.shape == (300, 1, 2)
    row = result.differences[0].asdict()
    assert {"difference", "std_error", "ci_low", "ci_high", "p_value"} <= set(row)
    assert result.random_state_entropy == 9


def test_req_A25_rows_are_summed_by_cluster_before_anything_is_drawn(correctness):
    result = compare_scores(correctness, groups=np.arange(200) // 5, n_resamples=99)
    (kernel,) = result._distribution.kernels
    assert len(kernel.terms) == 40


@pytest.mark.parametrize("n_rows", [30, 10**6])
def test_req_A25_req_B09_enumeration_is_capped(n_rows):
    scores = np.random.default_rng(0).random(n_rows)
    with pytest.raises(ValueError, match="and 2,000,000 are the most that are enumerated"):
        compare_scores({"m": scores}, n_resamples="exact")


def test_req_A31_req_B12_zero_width_is_no_certainty():
    result = compare_scores({"old": [1, 0] * 10, "new": [2, 1] * 10}, n_resamples=99)
    row = result.differences[0]
    assert (row.ci_low, row.ci_high, row.status) == (1, 1, "degenerate")
    assert np.isnan(row.p_value)
    assert row.verdict == "inconclusive"
    assert "This says nothing about unseen rows" in words(result)


def test_req_A32_many_comparisons_are_corrected_by_default():
    rng = np.random.default_rng(2)
    scores = {"base": rng.normal(size=60)}
    scores |= {f"m{k}": rng.normal(0.05, 1, 60) for k in range(8)}
    result = compare_scores(scores, n_resamples=999, random_state=0)
    raw = np.array([row.p_value for row in result.differences])
    adjusted = np.array([row.p_adjusted for row in result.differences])
    assert (adjusted >= raw).all()
    assert adjusted.min() == pytest.approx(min(1, 8 * raw.min()))
    assert "Holm, over the 8 comparisons of a metric" in words(result)


def test_req_A33_req_D13_significance_is_not_importance(correctness):
    text = words(compare_scores(correctness, n_resamples=99))
    assert "a small one none that the difference matters" in text
    assert "A large p is no evidence of equality" in text


def test_req_A35_req_D09_settings_versions_and_seed_are_recorded(correctness):
    result = compare_scores(correctness, n_resamples=99)
    assert {"python", "scikit-learn", "numpy", "sklearn-pairboot"} <= set(result.versions)
    again = compare_scores(correctness, n_resamples=99, random_state=result.random_state_entropy)
    np.testing.assert_array_equal(again.replicates, result.replicates)
    assert f"random_state={result.random_state_entropy}" in words(result)


# --- Article B ----------------------------------------------------------------------------------


def test_req_B03_the_direction_is_named():
    forth = compare_scores({"a": OLD, "b": NEW}, n_resamples="exact")
    back = compare_scores({"a": OLD, "b": NEW}, baseline="b", n_resamples="exact")
    assert (forth.differences[0].model, forth.differences[0].baseline) == ("b", "a")
    assert (back.differences[0].model, back.differences[0].baseline) == ("a", "b")
    assert "Differences: b - a" in forth.summary()
    assert "Differences: a - b" in back.summary()


def test_req_B06_variances_of_the_enumeration_have_denominator_n():
    result = compare_scores({"old": OLD, "new": NEW}, n_resamples="exact")
    covariance = np.cov(OLD, NEW, ddof=0)
    variance = (np.trace(covariance) - 2 * covariance[0, 1]) / 5
    assert result.differences[0].std_error ** 2 == pytest.approx(variance, abs=TOLERANCE)


def test_req_B11_exact_is_said_to_remove_monte_carlo_error_only():
    text = words(compare_scores({"old": OLD, "new": NEW}, n_resamples="exact"))
    assert "all 3125 equally likely ones enumerated, which removes Monte Carlo error only" in text


def test_req_B13_the_share_of_positive_resamples_is_no_p_value():
    result = compare_scores({"b": [0, 1, 0, 0], "a": [1, 1, 0, 0]}, n_resamples="exact")
    difference = result.replicates[:, 0, 1] - result.replicates[:, 0, 0]
    positive = result.multiplicities[difference > 0].sum() / 256
    assert positive == 175 / 256
    assert result.differences[0].p_value == pytest.approx(2 * 80 / 255)
    assert not any("probab" in line.lower() for line in result.summary().splitlines()[:12])


def test_req_B15_req_D04_dependent_rows_have_a_larger_error(correctness):
    rows = compare_scores(correctness, n_resamples=2000, random_state=0).scores[0]
    groups = np.arange(200) // 5
    clusters = compare_scores(correctness, groups=groups, n_resamples=2000, random_state=0).scores[
        0
    ]
    assert clusters.std_error > 1.2 * rows.std_error


def test_req_B16_generations_of_one_item_are_not_items(correctness):
    items = np.arange(200) // 5
    result = compare_scores(correctness, ids=items, n_resamples=99)
    assert any("Rows of one item are not independent" in note for note in result.notes)
    assert compare_scores(correctness, groups=items, n_resamples=99).n_units == 40


def test_req_B18_intervals_of_rates_and_of_differences_are_two_things(correctness):
    old = correctness["old"]
    new = old.copy()
    new[np.flatnonzero(old == 0)[:12]] = 1
    result = compare_scores({"old": old, "new": new}, n_resamples=999, random_state=0)
    of_old, of_new = result.scores
    assert of_new.ci_low < of_old.ci_high  # the intervals of the rates overlap, and yet:
    assert result.differences[0].ci_low > 0
    assert result.differences[0].verdict == "better"
    assert "not by whether these intervals overlap" in words(result)


# --- Article D ----------------------------------------------------------------------------------


def test_req_D01_any_metric_is_a_function_of_a_resample():
    rng = np.random.default_rng(0)
    relevance, scores = rng.integers(0, 4, 60), rng.random(60)

    def ndcg(model, X, y):
        return metrics.ndcg_score(y[None], model.predict(X)[None])

    result = compare_predictions(
        relevance, {"m": scores}, scoring={"ndcg": ndcg}, n_resamples=99, random_state=0
    )
    row = result.scores[0]
    assert row.estimate == metrics.ndcg_score(relevance[None], scores[None])
    assert row.ci_low < row.estimate < row.ci_high


def test_req_D08_ends_settle_with_more_resamples(correctness):
    spread = []
    for n_resamples in (99, 4999):
        lows = [
            compare_scores(correctness, n_resamples=n_resamples, random_state=seed).scores[0].ci_low
            for seed in range(8)
        ]
        spread.append(np.std(lows))
    assert spread[1] < spread[0] / 2


def test_req_D11_difference_of_metrics_not_metric_of_differences():
    rng = np.random.default_rng(1)
    y = rng.normal(size=80)
    answers = {name: y + rng.normal(size=80) for name in "ab"}
    result = compare_predictions(y, answers, scoring="r2", n_resamples=99, random_state=0)
    expected = metrics.r2_score(y, answers["b"]) - metrics.r2_score(y, answers["a"])
    assert result.differences[0].difference == pytest.approx(expected, rel=1e-10)


def test_req_D12_the_three_verdicts():
    base = np.tile([0.0, 1.0], 30)
    noise = np.random.default_rng(0).normal(0, 0.5, (3, 60))
    scores = {"base": base, "up": base + 1 + noise[0], "down": base - 1 + noise[1]}
    scores["beside"] = base + noise[2] - noise[2].mean()
    result = compare_scores(scores, n_resamples=999, random_state=0)
    assert [row.verdict for row in result.differences] == ["better", "worse", "inconclusive"]
    assert "cannot separate beside and base" in words(result)
    assert not re.search(r"\b(same|equal|equivalent)\b", words(result).split("How this was")[0])


def test_req_D20_intervals_near_a_boundary_are_asymmetric():
    row = compare_scores({"m": [1] * 97 + [0] * 3}, n_resamples=9999, random_state=0).scores[0]
    assert row.ci_high <= 1
    assert row.estimate - row.ci_low > 1.2 * (row.ci_high - row.estimate)
    assert row.status == "ok"


def test_req_D21_the_report_has_what_the_template_asks_for(correctness):
    text = words(
        compare_scores(correctness, groups=np.arange(200) // 5, n_resamples=999, random_state=0)
    )
    for part in (
        "percentile interval",
        "95 %",
        "999",
        "40 clusters of 5-5-5 rows",
        "new is better",
    ):
        assert part in text


def test_req_D23_req_A14_no_probability_that_the_parameter_lies_inside(correctness):
    forbidden = r"probability (that|of).*(lies|inside|better)|9\d ?% (sure|certain|confident)"
    for entry in ENTRIES:
        assert not re.search(forbidden, inspect.getdoc(entry))
    result = compare_scores(correctness, n_resamples=99)
    assert not re.search(forbidden, result.summary() + result.to_markdown())


# --- Article E ----------------------------------------------------------------------------------


def load(shared, name):
    return np.load(shared / "reference" / "arrays" / f"{name}.npz")


def test_req_E01_figures_of_the_article(shared):
    arrays = load(shared, "metrics")
    labels = compare_predictions(
        arrays["y"],
        {"m": arrays["pred"]},
        scoring=["precision", "recall", "f1"],
        n_resamples=199,
        random_state=0,
    )
    found = [row.estimate for row in labels.scores]
    assert found == pytest.approx([0.9203, 0.9378, 0.9290], abs=5e-5)
    ranked = compare_predictions(
        arrays["y"], {"m": arrays["p"]}, scoring="roc_auc", n_resamples=99, random_state=0
    )
    assert ranked.scores[0].estimate == pytest.approx(0.9726, abs=5e-5)


def test_req_E01_zero_denominators_are_safe():
    result = compare_predictions(
        [0, 1, 1, 0], {"m": [0, 0, 0, 0]}, scoring=["precision", "recall", "f1"], n_resamples=99
    )
    assert [row.estimate for row in result.scores] == [0, 0, 0]
    assert all(row.n_zero_division for row in result.scores)


def test_req_E03_req_E04_ties_count_half_in_any_order(shared):
    arrays = load(shared, "ties")
    order = np.random.default_rng(0).permutation(6)
    y, scores = arrays["y6"], arrays["p6"]
    for rows in (np.arange(6), order):
        row = compare_predictions(
            y[rows], {"m": scores[rows]}, scoring="roc_auc", n_resamples=99, random_state=0
        ).scores[0]
        assert row.estimate == pytest.approx(7 / 9, abs=1e-15)
    coarse = {"exact": arrays["p"], "tenths": arrays["p_round1"], "halves": arrays["p_round_half"]}
    result = compare_predictions(
        arrays["y"], coarse, scoring="roc_auc", n_resamples=99, random_state=0
    )
    found = [row.estimate for row in result.scores[1:]]
    assert found == pytest.approx([0.9699, 0.9515], abs=5e-5)


def test_req_E03_below_one_half_is_a_reversed_direction():
    y, scores = np.array([0, 0, 1, 1, 0, 1]), np.array([0.9, 0.6, 0.7, 0.1, 0.5, 0.3])
    result = compare_predictions(
        y, {"up": scores, "down": -scores}, scoring="roc_auc", n_resamples=99
    )
    up, down = (row.estimate for row in result.scores)
    assert up < 0.5
    assert up + down == pytest.approx(1)


def test_req_E07_baselines_of_imbalanced_data():
    y = np.repeat([0, 1], [95, 5])
    X = np.zeros((100, 1))
    majority = DummyClassifier().fit(X, y)
    result = compare_estimators(
        {"all negative": majority},
        X,
        y,
        scoring=["accuracy", "recall", "balanced_accuracy", "roc_auc", "average_precision"],
        n_resamples=199,
        random_state=0,
    )
    assert [row.estimate for row in result.scores] == pytest.approx([0.95, 0, 0.5, 0.5, 0.05])


def test_req_E21_standard_error_of_a_rate_is_binomial():
    values = np.repeat([1, 0], [307, 193])
    row = compare_scores({"m": values}, n_resamples="exact").scores[0]
    assert row.std_error == pytest.approx(np.sqrt(0.614 * 0.386 / 500), rel=1e-10)


def test_req_E22_bootstrap_of_an_accuracy(shared):
    arrays = load(shared, "bootstrap")
    row = compare_scores({"m": arrays["correct"]}, n_resamples="exact").scores[0]
    assert row.estimate == 0.614
    # The article drew 5,000 resamples; the exact ends are a grid point away at most.
    assert (row.ci_low, row.ci_high) == pytest.approx((0.570, 0.656), abs=0.002 + TOLERANCE)
    assert row.std_error == pytest.approx(arrays["boots"].std(), rel=0.05)


@pytest.mark.newest
def test_req_E23_clusters_cover_where_rows_do_not(shared):
    arrays = load(shared, "cluster")
    groups = np.repeat(np.arange(50), 10)
    truth, covered = float(arrays["true_p"]), {"rows": 0, "clusters": 0}
    simulations = arrays["correct_500sims_50x10"][:150]
    for correct in simulations:
        for unit, of_row in (("rows", None), ("clusters", groups)):
            row = compare_scores(
                {"m": correct.ravel().astype(int)},
                groups=of_row,
                n_resamples=199,
                random_state=0,
            ).scores[0]
            covered[unit] += row.ci_low <= truth <= row.ci_high
    shares = {unit: count / len(simulations) for unit, count in covered.items()}
    # The article's shares of 500 are .608 and .936; four standard errors of 150.
    assert shares["rows"] == pytest.approx(0.608, abs=0.16)
    assert shares["clusters"] == pytest.approx(0.936, abs=0.08)


def test_req_E29_undefined_resamples_of_an_auc_difference_are_counted():
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1])
    rng = np.random.default_rng(0)
    result = compare_predictions(
        y, {name: rng.random(9) for name in "ab"}, scoring="roc_auc", n_resamples="exact"
    )
    expected = 7**9 + 2**9
    assert [row.n_undefined for row in result.scores] == [expected, expected]
    assert f"roc_auc (a {expected}, b {expected}) of {9**9} resamples; left out" in words(result)


def test_req_E30_the_largest_gap_still_allowed_is_said():
    rng = np.random.default_rng(0)
    scores = {"old": rng.integers(0, 2, 100), "new": rng.integers(0, 2, 100)}
    result = compare_scores(scores, n_resamples=999, random_state=0)
    row = result.differences[0]
    assert row.verdict == "inconclusive"
    gap = f"up to {-row.ci_low:.3f} worse or {row.ci_high:.3f} better"
    assert f"the interval still allows new to be {gap}" in words(result)


def test_every_entry_is_public():
    for entry in ENTRIES:
        assert entry.__name__ in sklearn_pairboot.__all__


def test_req_A34_req_B05_polynomial_counting_rebuilds_the_exact_distribution():
    """Independent of the engine: powers of the generating polynomial of one draw."""
    old, new = [0, 1, 0, 0, 1], [1, 1, 1, 0, 0]
    result = compare_scores({"old": old, "new": new}, n_resamples="exact")
    differences = np.round((result.replicates[:, 0, 1] - result.replicates[:, 0, 0]) * 5)
    counted = dict.fromkeys(range(-5, 6), 0)
    for value, count in zip(differences.astype(int), result.multiplicities, strict=True):
        counted[int(value)] += int(count)
    one_draw = np.array([1, 2, 2])  # one item of five is worse, two are equal, two are better
    power = np.array([1])
    for _ in range(5):
        power = np.convolve(power, one_draw)
    assert [counted[value] for value in range(-5, 6)] == power.tolist()
    assert power.sum() == 5**5


def test_req_D07_every_model_predicts_once():
    class Counting:
        _estimator_type = "regressor"
        calls = 0

        def fit(self, X, y=None):
            return self

        def predict(self, X):
            type(self).calls += 1
            return np.asarray(X)[:, 0]

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1))
    y = X[:, 0] + rng.normal(size=50)
    compare_estimators(
        {"m": Counting()},
        X,
        y,
        scoring=["r2", "neg_mean_absolute_error", "neg_median_absolute_error"],
        n_resamples=99,
        random_state=0,
    )
    assert Counting.calls == 1


def test_req_E20_folds_share_training_rows_and_the_corrected_test_allows_for_it(shared):
    X, k = np.zeros((60, 1)), 5
    first, second = (set(train) for train, _ in list(KFold(k).split(X))[:2])
    assert len(first & second) / len(first) == (k - 2) / (k - 1)
    # Over 200 splits the mean of five folds varies; fold spread over the root of k is no guide.
    differences = load(shared, "cvdep")["fold_scores_200_splits"][0] - 0.5
    corrected = corrected_resampled_ttest(differences, n_train=240, n_test=60)
    naive = stats.ttest_1samp(differences, 0)
    # 1/k is what independent folds would give, n_test / n_train = 1/4 what they share.
    assert corrected.statistic == pytest.approx(
        naive.statistic * np.sqrt(1 / 5) / np.sqrt(1 / 5 + 1 / 4), rel=TOLERANCE
    )


def test_req_E25_45_discordant_items_of_500_cannot_resolve_one_point():
    differences = np.repeat([1, -1, 0], [33, 12, 455])
    assert 0.03 < minimum_detectable_difference(differences) < 0.05
    assert required_units(differences, difference=0.01) > 5000
