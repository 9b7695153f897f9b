"""The model confidence set against arch, its own definition, and what must not matter."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import max_examples
from sklearn_pairboot import ComparisonResult, compare_predictions, compare_scores
from sklearn_pairboot._engine.confidence_set import confidence_set
from sklearn_pairboot._engine.distribution import BootstrapDistribution


def distribution_of(observed, replicates, undefined=None, multiplicities=None):
    replicates = np.asarray(replicates, dtype=float)[:, None, :]
    lost = np.zeros(replicates.shape, bool) if undefined is None else undefined[:, None, :]
    return BootstrapDistribution(
        observed=np.asarray(observed, dtype=float)[None],
        replicates=replicates,
        undefined=lost,
        zero_division=np.zeros(replicates.shape, bool),
        n_units=40,
        n_sequences=len(replicates) if multiplicities is None else int(multiplicities.sum()),
        multiplicities=multiplicities,
    )


def losses_and_rows():
    """Continuous losses: arch counts no ties, which lattices would have."""
    rng = np.random.default_rng(7)
    losses = rng.normal(size=(40, 1)) + rng.normal(size=(40, 5))
    losses += np.array([0, 1.1, 0, 1.4, 1.8]) * rng.random((40, 5))
    return losses, np.random.default_rng(8).integers(0, 40, (999, 40))


def literal(observed, replicates, weights=None):
    """Section 3 of the paper on losses, all pairs at every step anew; counts of the +1 kind."""
    weights = np.ones(len(replicates)) if weights is None else weights
    extra = 1 if weights.dtype.kind == "f" else 0
    left, p_values, before = list(range(len(observed))), {}, 0.0
    while len(left) > 1:
        t = np.zeros((len(left), len(left)))
        simulated = np.zeros(len(replicates))
        for (a, i), (b, j) in itertools.product(enumerate(left), repeat=2):
            if i == j:
                continue
            centred = replicates[:, i] - replicates[:, j] - (observed[i] - observed[j])
            error = np.sqrt(np.average(centred**2, weights=weights))
            t[a, b] = (observed[i] - observed[j]) / error
            simulated = np.maximum(simulated, np.abs(centred) / error)
        count = weights[simulated >= t.max() * (1 - 1e-10)].sum()
        before = max(before, (extra + count) / (extra + weights.sum()))
        worst = left[int(np.argmax(t.max(axis=1)))]
        p_values[worst] = before
        left.remove(worst)
    return {**p_values, left[0]: 1.0}


def test_equals_arch_on_the_same_resamples():
    # import numpy as np
    # from arch.bootstrap import MCS  # arch 8.0.0
    # losses, indices = losses_and_rows()
    # class Same:
    #     def bootstrap(self, reps):
    #         return (((rows,), {}) for rows in indices)
    # mcs = MCS(losses, size=0.1, reps=999, block_size=1, method="R")
    # mcs.bootstrap = Same()
    # mcs.compute()
    # print(mcs.pvalues.index.tolist(), mcs.pvalues.Pvalue.tolist())
    order = (4, 3, 1, 2, 0)
    shares = [0.0, 0.009009009009009009, 0.04604604604604605, 0.6046046046046046]
    losses, rows = losses_and_rows()
    found = confidence_set(
        distribution_of(losses.mean(axis=0), losses[rows].mean(axis=1)), 0, False
    )
    assert found.order == order
    # arch gives the share of larger statistics; here the observed one counts as one more.
    expected = [(1 + round(999 * share)) / 1000 for share in shares]
    np.testing.assert_allclose(found.p_values[list(order)], [*expected, 1.0], rtol=1e-12)


@max_examples(25)
@given(seed=st.integers(0, 10**6), n_models=st.integers(2, 6), exact=st.booleans())
def test_equals_the_definition_taken_literally(seed, n_models, exact):
    rng = np.random.default_rng(seed)
    observed = rng.normal(0, 1.5, n_models)
    replicates = observed + rng.standard_normal((99, n_models)) + rng.standard_normal((99, 1))
    weights = rng.integers(1, 9, 99) if exact else None
    found = confidence_set(
        distribution_of(observed, replicates, multiplicities=weights), 0, greater_is_better=False
    )
    expected = literal(observed, replicates, weights)
    assert found.order == tuple(expected)
    np.testing.assert_allclose(found.p_values[list(found.order)], list(expected.values()))
    assert (np.diff(found.p_values[list(found.order)]) >= 0).all()


def test_direction_only_turns_the_losses_around():
    losses, rows = losses_and_rows()
    observed, replicates = losses.mean(axis=0), losses[rows].mean(axis=1)
    lower = confidence_set(distribution_of(observed, replicates), 0, False)
    greater = confidence_set(distribution_of(-observed, -replicates), 0, True)
    assert lower.order == greater.order
    np.testing.assert_array_equal(lower.p_values, greater.p_values)


def test_identical_models_stay_together_with_p_one():
    scores = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    found = compare_scores({"a": scores, "b": scores, "c": scores}, random_state=0)
    found = found.model_confidence_set()
    assert [row.p_value for row in found.rows] == [1.0, 1.0, 1.0]
    assert sorted(found.included) == ["a", "b", "c"]
    assert found.excluded == ()


def test_a_copy_changes_no_p_value():
    losses, rows = losses_and_rows()
    doubled = losses[:, [0, 1, 2, 3, 4, 3]]
    one = confidence_set(distribution_of(losses.mean(0), losses[rows].mean(1)), 0, False)
    two = confidence_set(distribution_of(doubled.mean(0), doubled[rows].mean(1)), 0, False)
    np.testing.assert_array_equal(two.p_values[:5], one.p_values)
    assert two.p_values[5] == two.p_values[3]


def test_a_difference_that_never_varies_is_decisive():
    scores = np.arange(10.0)
    found = compare_scores({"a": scores, "b": scores + 1}, random_state=0, n_resamples=99)
    found = found.model_confidence_set()
    assert found.included == ("b",)
    assert found.rows[0].p_value == 1 / 100


def test_one_model_is_the_set():
    found = compare_scores({"only": [1, 2, 3, 4]}, random_state=0).model_confidence_set()
    assert found.included == ("only",)
    assert found.rows[0].p_value == 1.0


def test_two_models_agree_with_the_studentised_test():
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=60), "b": rng.normal(0.3, 1, 60)}
    result = compare_scores(values, random_state=0, n_resamples=999)
    (difference,) = [row.difference for row in result.differences]
    deviations = np.abs(result.replicates[:, 0, 1] - result.replicates[:, 0, 0] - difference)
    expected = (1 + np.sum(deviations >= abs(difference))) / 1000
    found = result.model_confidence_set()
    assert [row.p_value for row in found.rows] == [expected, 1.0]


def test_undefined_resamples_are_left_out_and_counted():
    losses, rows = losses_and_rows()
    replicates = losses[rows].mean(axis=1)
    undefined = np.zeros(replicates.shape, bool)
    undefined[:30, 0] = undefined[20:50, 3] = True
    replicates[undefined] = np.nan
    found = confidence_set(distribution_of(losses.mean(0), replicates, undefined), 0, False)
    kept = confidence_set(distribution_of(losses.mean(0), replicates[50:]), 0, False)
    np.testing.assert_array_equal(found.p_values, kept.p_values)
    y = [0] * 8 + [1, 1]
    answers = {"a": np.linspace(0, 1, 10), "b": np.linspace(1, 0, 10)}
    result = compare_predictions(y, answers, scoring="roc_auc", random_state=0, n_resamples=999)
    found = result.model_confidence_set()
    assert found.n_undefined == result.scores[0].n_undefined > 0
    assert f"{found.n_undefined} resamples without a value are left out." in str(found)


def several(**options):
    rng = np.random.default_rng(1)
    y = rng.random(200)
    answers = {name: y + rng.normal(0, size, 200) for name, size in
               (("a", 0.3), ("b|", 0.2), ("c", 0.31))}  # fmt: skip
    return compare_predictions(
        y, answers, scoring=["r2", "neg_mean_absolute_error"], random_state=0, n_resamples=999,
        **options,
    )  # fmt: skip


def test_clusters_and_every_metric_by_name():
    result = several(groups=np.arange(200) // 10)
    for metric, sign in (("r2", -1), ("mean_absolute_error", 1)):
        found = result.model_confidence_set(metric)
        place = result.metrics.index(metric)
        observed = sign * np.array([row.estimate for row in result.scores if row.metric == metric])
        expected = literal(observed, sign * result.replicates[:, place])
        assert {row.model: row.p_value for row in found.rows} == pytest.approx(
            {result.models[model]: p for model, p in expected.items()}
        )
        assert [row.elimination for row in found.rows] == [1, 2, 3]
        assert found.included == ("b|",)
        assert found.variant == "T_R"


def test_level_decides_who_is_included():
    losses, _ = losses_and_rows()
    result = compare_scores(
        dict(zip("abcde", losses.T, strict=True)), greater_is_better=False, random_state=0,
        n_resamples=1999,
    )  # fmt: skip
    found = result.model_confidence_set()
    assert found.confidence_level == 0.95
    p_values = {row.model: row.p_value for row in found.rows}
    for level in (0.8, 0.95, 0.99):
        of_level = result.model_confidence_set(confidence_level=level)
        assert set(of_level.included) == {name for name, p in p_values.items() if p > 1 - level}


def test_reports():
    found = several().model_confidence_set("r2")
    heading, header, metric, *rows = str(found).splitlines()[:6]
    assert heading == "Model confidence set at 95 % (T_R)"
    assert header.split() == ["estimate", "p", "in", "the", "set"]
    assert metric == "  r2 (higher is better)"
    assert [line.split() for line in rows] == [
        [row.model, f"{row.estimate:.4f}", f"{row.p_value:.4f}", "yes" if row.included else "no"]
        for row in found.rows
    ]
    assert "no probability of any single model" in str(found)
    assert "| r2 (higher is better) | b\\| |" in found.to_markdown()
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        "metric", "model", "estimate", "p_value", "included", "elimination",
    ]  # fmt: skip
    assert frame["included"].tolist() == [False, False, True]


def test_what_cannot_be_is_refused():
    result = several()
    with pytest.raises(ValueError, match="`metric` must name one of the metrics, 'r2', .* None"):
        result.model_confidence_set()
    with pytest.raises(ValueError, match="`metric` must name one of the metrics, .* got 'mse'"):
        result.model_confidence_set("mse")
    with pytest.raises(ValueError, match="`confidence_level` must be a number between 0 and 1"):
        result.model_confidence_set("r2", 95)
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1999"):
        result.model_confidence_set("r2", 0.9995)
    short = ComparisonResult.from_json(result.to_json())
    with pytest.raises(ValueError, match="`model_confidence_set` is not available"):
        short.model_confidence_set("r2")
    kept = ComparisonResult.from_json(result.to_json(replicates=True))
    assert kept.model_confidence_set("r2") == result.model_confidence_set("r2")
