"""The best of many candidates, scored without the optimism of having been chosen."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import make_scorer, roc_auc_score

from sklearn_pairboot import RecordedEstimator, bias_corrected_selection
from sklearn_pairboot._engine.counts import CountSource
from sklearn_pairboot.resampling import StratifiedBootstrap


def corrected(y, predictions, scoring="accuracy", **options):
    options = {"n_resamples": 200, "random_state": 0} | options
    return bias_corrected_selection(y, predictions, scoring=scoring, **options)


def guesses(n_candidates, n_rows, seed=0, accuracy=0.7):
    """Truths, and candidates each of which is right with the same probability."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    right = rng.random((n_candidates, n_rows)) < accuracy
    return y, {f"c{k}": np.where(row, y, 1 - y) for k, row in enumerate(right)}


def drawn_counts(n_units, n_resamples, seed=0):
    """Counts of the resamples with the seed, as `bootstrap` draws them."""
    source = CountSource(n_units)
    n_blocks = -(-n_resamples // source.block_size)
    seeds = [np.random.SeedSequence(seed, spawn_key=(block,)) for block in range(n_blocks)]
    return np.concatenate([source.draw(seed) for seed in seeds])[:n_resamples]


def literally(y, scores, counts, metric, sign=1.0):
    """Choose on the drawn rows and score on the others, with a loop, as the article says."""
    chosen, values = [], []
    for drawn in counts:
        rows, others = np.repeat(np.arange(len(y)), drawn), np.flatnonzero(drawn == 0)
        # Rounded, so that scores which are equal on paper are equal: the first of them is taken.
        inside = [round(sign * metric(y[rows], score[rows]), 12) for score in scores]
        best = int(np.argmax(inside))
        chosen.append(best)
        values.append(metric(y[others], scores[best][others]))
    return np.array(chosen), np.array(values)


def test_equals_the_literal_loop_for_labels():
    y, candidates = guesses(8, 40)
    found = corrected(y, candidates, n_resamples=300)
    chosen, values = literally(
        y, list(candidates.values()), drawn_counts(40, 300), lambda a, b: np.mean(a == b)
    )
    assert found.corrected == pytest.approx(values.mean(), rel=1e-12)
    left_out = (1 - 1 / 40) ** 40
    shrinkage = np.sqrt(left_out / (1 - left_out))
    assert found.std_error == pytest.approx(shrinkage * values.std(ddof=1), rel=1e-12)
    ends = values.mean() + shrinkage * (np.quantile(values, [0.025, 0.975]) - values.mean())
    assert (found.ci_low, found.ci_high) == pytest.approx(ends)
    shares = np.bincount(chosen, minlength=8) / 300
    assert list(found.shares.values()) == pytest.approx(shares.tolist())
    naive = {name: np.mean(answers == y) for name, answers in candidates.items()}
    assert found.naive == pytest.approx(max(naive.values()))
    assert found.selected == max(naive, key=naive.get)
    assert found.n_undefined == 0


def test_equals_the_literal_loop_for_ranks_and_losses():
    rng = np.random.default_rng(1)
    y = np.tile([0, 1], 25)
    scores = {f"c{k}": 1 / (1 + np.exp(-(y + rng.normal(size=50)))) for k in range(3)}
    counts = drawn_counts(50, 150)
    found = corrected(y, scores, "roc_auc", n_resamples=60)
    _, values = literally(y, list(scores.values()), counts[:60], roc_auc_score)
    assert found.corrected == pytest.approx(values.mean(), rel=1e-12)
    found = corrected(y, scores, "neg_brier_score", n_resamples=150)
    _, values = literally(
        y, list(scores.values()), counts, lambda a, b: np.mean((a - b) ** 2), sign=-1.0
    )
    assert found.corrected == pytest.approx(values.mean(), rel=1e-12)
    assert not found.greater_is_better
    assert found.naive == pytest.approx(min(np.mean((y - s) ** 2) for s in scores.values()))
    assert found.optimism == pytest.approx(found.corrected - found.naive)


def test_a_scorer_that_is_replayed_gives_the_same():
    y, candidates = guesses(4, 30)
    replayed = make_scorer(lambda a, b: float(np.mean(a == b)))
    slow = corrected(y, candidates, {"accuracy": replayed}, n_resamples=60)
    fast = corrected(y, candidates, {"accuracy": "accuracy"}, n_resamples=60)
    assert slow.corrected == pytest.approx(fast.corrected, rel=1e-12)
    assert slow.shares == pytest.approx(fast.shares)


def test_whole_clusters_are_drawn_and_left_out():
    y, candidates = guesses(5, 60)
    groups = np.random.default_rng(0).integers(0, 12, 60)
    found = corrected(y, candidates, groups=groups, n_resamples=150)
    counts = drawn_counts(12, 150)[:, groups]
    _, values = literally(y, list(candidates.values()), counts, lambda a, b: np.mean(a == b))
    assert (found.unit, found.n_units) == ("clusters", 12)
    assert found.corrected == pytest.approx(values.mean(), rel=1e-12)
    alone = corrected(y, candidates, groups=np.arange(60))
    rows = corrected(y, candidates)
    assert (alone.corrected, alone.ci_low) == pytest.approx((rows.corrected, rows.ci_low))


def test_weights_count_like_copies_inside_a_cluster():
    y, candidates = guesses(4, 30)
    weight = np.random.default_rng(0).integers(1, 4, 30)
    found = corrected(y, candidates, sample_weight=weight)
    copies = np.repeat(np.arange(30), weight)
    again = corrected(
        y[copies], {name: answers[copies] for name, answers in candidates.items()}, groups=copies
    )
    assert found.corrected == pytest.approx(again.corrected, rel=1e-12)
    assert found.naive == pytest.approx(again.naive, rel=1e-12)


def test_the_mean_over_all_resamples_of_three_rows():
    """Enumerated: the Monte Carlo mean lies within its error of that over all 27 sequences."""
    y, a, b = np.array([1, 1, 1]), np.array([1, 1, 0]), np.array([0, 0, 1])
    values = []
    for sequence in itertools.product(range(3), repeat=3):
        out = [row for row in range(3) if row not in sequence]
        if out:
            best = a if a[list(sequence)].mean() >= b[list(sequence)].mean() else b
            values.append(best[out].mean())
    found = corrected(y, {"a": a, "b": b}, n_resamples=20000)
    assert len(values) == 21
    assert found.n_undefined / 20000 == pytest.approx(6 / 27, abs=0.01)
    error = np.std(values) / np.sqrt(20000 - found.n_undefined)
    assert abs(found.corrected - np.mean(values)) < 4 * error


def test_no_bias_with_100_equal_candidates_on_200_rows():
    """The naive score of 100 equal candidates is 2.5 standard errors too good, on average."""
    found = [
        corrected(*guesses(100, 200, seed=seed), n_resamples=100, random_state=seed)
        for seed in range(60)
    ]
    values = np.array([one.corrected for one in found])
    naive = np.array([one.naive for one in found])
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - 0.7) < 3 * error
    assert naive.mean() > 0.7 + 2 * np.sqrt(0.7 * 0.3 / 200)
    assert error < 0.005
    covered = np.mean([one.ci_low <= 0.7 <= one.ci_high for one in found])
    assert covered > 0.9


def test_for_one_candidate_the_standard_error_is_that_of_a_mean():
    """Twice the same candidate: nothing is chosen, and a mean has its textbook standard error."""
    y, candidates = guesses(1, 400)
    (answers,) = candidates.values()
    right = (answers == y).astype(float)
    found = corrected(y, {"a": answers, "b": answers}, n_resamples=4000)
    assert found.std_error == pytest.approx(right.std(ddof=1) / 20, rel=0.05)
    assert found.ci_high - found.ci_low == pytest.approx(3.92 * found.std_error, rel=0.05)
    # The scores themselves, of 37 % of the rows, spread 1.31 times as far.
    _, values = literally(y, [answers], drawn_counts(400, 1000), lambda a, b: np.mean(a == b))
    assert values.std(ddof=1) / found.std_error == pytest.approx(1.31, rel=0.08)


def test_strata_are_left_out_each_by_its_size():
    """The standard error of a stratified mean, within what strata of 60 and 140 rows allow."""
    y, candidates = guesses(1, 200)
    (answers,) = candidates.values()
    strata = np.repeat([0, 1], [60, 140])
    found = corrected(
        y,
        {"a": answers, "b": answers},
        resampling=StratifiedBootstrap(strata),
        n_resamples=4000,
    )
    right = (answers == y).astype(float)
    parts = [right[strata == k] for k in (0, 1)]
    expected = np.sqrt(sum((len(part) / 200) ** 2 * part.var(ddof=1) / len(part) for part in parts))
    assert found.std_error == pytest.approx(expected, rel=0.05)


def test_one_far_better_candidate_is_hardly_corrected():
    y, candidates = guesses(10, 200, accuracy=0.55)
    rng = np.random.default_rng(5)
    candidates["good"] = np.where(rng.random(200) < 0.95, y, 1 - y)
    found = corrected(y, candidates)
    assert found.selected == "good"
    assert found.shares["good"] == 1.0
    assert found.corrected == pytest.approx(found.naive, abs=0.01)


def test_jobs_change_nothing_and_seeds_repeat():
    y, candidates = guesses(4, 50)
    once, twice = corrected(y, candidates), corrected(y, candidates, n_jobs=2)
    assert once == twice
    fresh = corrected(y, candidates, random_state=None)
    assert corrected(y, candidates, random_state=fresh.random_state_entropy) == fresh


def test_undefined_resamples_are_counted():
    y = np.array([0] * 14 + [1, 1])
    rng = np.random.default_rng(0)
    scores = {name: rng.random(16) for name in "ab"}
    found = corrected(y, scores, "roc_auc", n_resamples=400)
    drawn = drawn_counts(16, 400) > 0
    defined = drawn[:, 14] != drawn[:, 15]  # one positive is drawn, the other left out
    assert found.n_undefined == 400 - np.count_nonzero(defined)
    assert f"{found.n_undefined} resamples had no value" in found.summary()
    with pytest.raises(ValueError, match="roc_auc is undefined in 200 of 200 resamples"):
        corrected(y[:15], {name: score[:15] for name, score in scores.items()}, "roc_auc")


def test_forms_of_input():
    y, candidates = guesses(3, 40)
    plain = corrected(y, candidates)
    words = np.array(["no", "yes"])
    named = {name: words[answers] for name, answers in candidates.items()}
    assert corrected(words[y], named).corrected == plain.corrected
    recorded = {
        name: RecordedEstimator.from_arrays(predict=answers) for name, answers in candidates.items()
    }
    assert corrected(y, recorded) == plain
    within = corrected(y, candidates, resampling=StratifiedBootstrap())
    assert within.naive == plain.naive
    assert within.corrected != plain.corrected


def test_summary_shows_naive_and_corrected_side_by_side():
    y, candidates = guesses(20, 100)
    found = corrected(y, candidates)
    text = " ".join(str(found).split())
    assert f"Best of 20 candidates on accuracy (higher is better): {found.selected}." in text
    assert f"Naive {found.naive:.4g}, corrected for the selection {found.corrected:.4g} [" in text
    assert "and 15 more" in text
    assert max(map(len, str(found).splitlines())) <= 88


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"predictions": {"a": [0, 1, 1]}}, ValueError, "at least 2 candidates"),
        ({"predictions": [[0, 1, 1]]}, TypeError, "`predictions` must be a mapping"),
        ({"scoring": ["accuracy", "f1"]}, ValueError, "`scoring` must be the one metric"),
        ({"scoring": None}, ValueError, "`scoring` must name a metric"),
        ({"n_resamples": "exact"}, ValueError, "`n_resamples` must be an integer of at least 2"),
        ({"n_resamples": 1}, ValueError, "`n_resamples` must be an integer of at least 2"),
        ({"confidence_level": 95}, ValueError, "`confidence_level` must be"),
        ({"groups": [1, 2]}, ValueError, "`groups`"),
        ({"y_true": [1, 1, 1], "scoring": "roc_auc"}, ValueError, "roc_auc must be defined on"),
    ],
)
def test_bad_input_is_refused(change, kind, message):
    given = {
        "y_true": [0, 1, 1],
        "predictions": {"a": [0, 1, 1], "b": [0, 1, 0]},
        "scoring": "accuracy",
    }
    with pytest.raises(kind, match=message):
        bias_corrected_selection(**(given | change))
