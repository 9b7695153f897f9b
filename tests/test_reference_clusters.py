"""Reference values of rates, agreement beyond chance, and the design effect of clusters."""

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, make_scorer

from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot.inference import rate_interval
from sklearn_pairboot.planning import intraclass_correlation


@pytest.fixture(scope="module")
def numbers(shared):
    return json.loads((shared / "reference" / "exact.json").read_text())


@pytest.fixture(scope="module")
def simulations(shared):
    return np.load(shared / "reference" / "arrays" / "cluster.npz")


@pytest.mark.parametrize(
    "name",
    [
        "always_A_judge_90_10",
        "always_A_judge_917_83",
        "balanced_80pct",
        "q5_82pct_agreement_both_85pct_A",
        "worse_than_chance",
    ],
)
def test_file_kappa_req_E14(numbers, name):
    given = numbers["kappa"][name]
    counts = np.array(given["table"]).ravel()
    human, judge = np.repeat(["A", "A", "B", "B"], counts), np.repeat(["A", "B", "A", "B"], counts)
    result = compare_predictions(
        human,
        {"judge": judge},
        scoring={"agreement": "accuracy", "kappa": make_scorer(cohen_kappa_score)},
        n_resamples=199,
        random_state=0,
    )
    agreement, kappa = result.scores
    assert agreement.estimate == pytest.approx(given["agreement"]["float"], abs=1e-12)
    assert kappa.estimate == pytest.approx(given["kappa"]["float"], abs=1e-12)
    if name.startswith("always_A"):
        # However often it agrees, a judge that always says A shows nothing in any resample.
        assert (kappa.estimate, kappa.ci_low, kappa.ci_high) == pytest.approx((0, 0, 0), abs=1e-12)


def correct(n, rate):
    return np.arange(n) < round(n * rate)


@pytest.mark.parametrize("name", ["private100", "bench500_0.614", "q6_200_0.70"])
def test_file_standard_errors(numbers, name):
    given = numbers["standard_errors"][name]
    result = compare_scores({"m": correct(given["n"], given["p"]).astype(int)}, n_resamples="exact")
    row = result.scores[0]
    assert row.std_error == pytest.approx(given["se"], rel=1e-9)
    normal = result.replace(method="normal").scores[0]
    assert normal.ci_high - given["p"] == pytest.approx(given["half_z"], rel=1e-9)


def test_file_exact_bootstrap_of_a_rate(numbers):
    given = numbers["standard_errors"]["exact_bootstrap_307_of_500"]
    row = compare_scores({"m": correct(500, 0.614).astype(int)}, n_resamples="exact").scores[0]
    assert [row.ci_low, row.ci_high] == pytest.approx(given["percentile95_inverted_cdf"])
    assert row.std_error == pytest.approx(given["se"], rel=1e-9)


@pytest.mark.parametrize("name", ["307_of_500", "70_of_100", "0_of_10"])
def test_file_wilson_intervals(numbers, name):
    successes, n = map(int, name.split("_of_"))
    found = rate_interval(successes, n, method="wilson")
    expected = numbers["standard_errors"]["wilson95"][name]
    assert [found.ci_low, found.ci_high] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("name", "rho"), [("m10_rho_0.36", 0.36), ("m10_rho_1", 1.0)])
def test_file_design_effect(numbers, name, rho):
    """Ten rows a cluster: 1 + 9 rho, and 500 rows are worth 500 divided by that."""
    given = numbers["design_effect"][name]
    # Clusters of a variance between them that makes the intraclass correlation rho exactly.
    rng = np.random.default_rng(0)
    between, within = rng.normal(size=(50, 1)), rng.normal(size=(50, 10))
    within -= within.mean(axis=1, keepdims=True)
    between -= between.mean()
    mean_square = (within**2).sum() / (50 * 9)
    if rho == 1.0:
        values = np.repeat(between, 10, axis=1)
    else:
        wanted = mean_square * (1 + 9 * rho) / (1 - rho)  # the mean square between clusters
        values = within + between * np.sqrt(wanted * 49 / (10 * (between**2).sum()))
    found = intraclass_correlation(values.ravel(), np.repeat(np.arange(50), 10))
    assert found.estimate == pytest.approx(rho, rel=1e-9)
    assert found.design_effect == pytest.approx(given["deff"]["float"], rel=1e-9)
    assert found.effective_sample_size == pytest.approx(given["n_eff_500"]["float"], rel=1e-9)


def test_file_clusters_of_the_last_simulation(simulations):
    right, groups = simulations["last_correct"].ravel(), simulations["last_groups"]
    found = intraclass_correlation(right, groups)
    assert found.estimate == pytest.approx(0.320, abs=5e-4)
    assert found.design_effect == pytest.approx(3.88, abs=5e-3)
    assert found.effective_sample_size == pytest.approx(129, abs=0.5)
    rows, clusters = (
        compare_scores({"m": right}, groups=given, random_state=0).scores[0].std_error
        for given in (None, groups)
    )
    assert rows == pytest.approx(simulations["se_naive"][-1], rel=0.03)
    assert clusters == pytest.approx(simulations["se_cluster_boot"][-1], rel=0.05)
    assert (clusters / rows) ** 2 == pytest.approx(found.design_effect, rel=0.1)


def test_file_rows_that_are_not_independent_cover_too_little_req_A18(simulations):
    error = np.abs(simulations["p_hat"] - simulations["true_p"])
    covered = {
        name: np.mean(error <= 1.96 * simulations[name]) for name in ("se_naive", "se_cluster_boot")
    }
    assert covered["se_naive"] < 0.75
    assert covered["se_cluster_boot"] > 0.9
    # The standard errors of the file are those that this package gives.
    data = simulations["correct_500sims_50x10"]
    for number in (0, 1, 2):
        row = compare_scores(
            {"m": data[number].ravel().astype(int)},
            groups=np.repeat(np.arange(50), 10),
            random_state=0,
        ).scores[0]
        assert row.estimate == simulations["p_hat"][number]
        assert row.std_error == pytest.approx(simulations["se_cluster_boot"][number], rel=0.1)
