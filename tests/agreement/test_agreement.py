"""Judges against humans: published figures, scikit-learn on drawn rows, exact small cases."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from sklearn_pairboot.agreement import judge_agreement, position_bias


def load(shared, name):
    return np.load(shared / "reference" / "arrays" / f"{name}.npz")


def labels_of(table):
    """Labels of two raters whose counts are those of a table."""
    counts = np.array(table)
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    return np.divmod(cells, counts.shape[1])


@pytest.mark.parametrize(
    ("table", "agreement", "chance", "kappa"),
    [
        ([[90, 0], [10, 0]], 9 / 10, 9 / 10, 0),
        ([[917, 0], [83, 0]], 917 / 1000, 917 / 1000, 0),
        ([[40, 10], [10, 40]], 4 / 5, 1 / 2, 3 / 5),
        ([[76, 9], [9, 6]], 41 / 50, 149 / 200, 5 / 17),
    ],
)
def test_req_E14_req_E15_exact_tables(table, agreement, chance, kappa):
    human, judge = labels_of(table)
    found = judge_agreement(judge, human, n_resamples=99, random_state=0)
    numbers = found.agreement.value, found.chance, found.kappa.value
    assert numbers == pytest.approx((agreement, chance, kappa), abs=1e-12)
    assert "is not known" in found.summary()


def test_req_E14_figures_of_the_article(shared):
    arrays = load(shared, "kappa")
    found = judge_agreement(arrays["judge"], arrays["human"], n_resamples=999, random_state=0)
    assert (found.agreement.value, found.kappa.value) == pytest.approx((0.818, 0.636), abs=5e-4)
    lazy = judge_agreement(arrays["lazy"], arrays["human2"], n_resamples=99, random_state=0)
    assert (lazy.agreement.value, lazy.kappa.value) == (0.917, 0)


def test_kappa_of_resamples_is_scikit_learns():
    """Two items in all 4 resamples would be undefined mostly; the law of many is compared."""
    rng = np.random.default_rng(0)
    human = rng.integers(0, 3, 60)
    judge = np.where(rng.random(60) < 0.6, human, rng.integers(0, 3, 60))
    found = judge_agreement(judge, human, n_resamples=1999, random_state=0)
    drawn = rng.integers(0, 60, (2000, 60))
    kappas = [cohen_kappa_score(human[rows], judge[rows]) for rows in drawn]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(human, judge), rel=1e-12)
    assert found.kappa.std_error == pytest.approx(np.std(kappas, ddof=1), rel=0.08)
    ends = np.quantile(kappas, [0.025, 0.975])
    assert (found.kappa.ci_low, found.kappa.ci_high) == pytest.approx(ends, abs=0.03)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_scikit_learns(weights):
    rng = np.random.default_rng(1)
    human, judge = rng.integers(1, 6, (2, 80))
    found = judge_agreement(judge, human, weights=weights, n_resamples=99, random_state=0)
    expected = cohen_kappa_score(human, judge, weights=weights)
    assert found.kappa.value == pytest.approx(expected, rel=1e-12)


def test_req_E15_a_judge_beside_a_second_human():
    rng = np.random.default_rng(2)
    human = rng.integers(0, 2, 300)
    judge, second = np.where(rng.random((2, 300)) < 0.8, human, 1 - human)
    found = judge_agreement(judge, human, second_human=second, n_resamples=999, random_state=0)
    expected = np.mean(judge == human) - np.mean(second == human)
    assert found.agreement_difference.value == pytest.approx(expected, abs=1e-12)
    mirrored = judge_agreement(second, human, second_human=judge, n_resamples=999, random_state=0)
    assert mirrored.agreement_difference.value == -found.agreement_difference.value
    assert mirrored.agreement_difference.ci_low == pytest.approx(
        -found.agreement_difference.ci_high
    )
    itself = judge_agreement(judge, human, second_human=judge, n_resamples=99, random_state=0)
    assert (itself.kappa_difference.ci_low, itself.kappa_difference.ci_high) == (0, 0)
    assert "Two humans agree on" in found.summary()


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(3)
    human = rng.integers(0, 2, 40)
    judge = np.where(rng.random(40) < 0.7, human, 1 - human)
    alone = judge_agreement(judge, human, n_resamples=999, random_state=0)
    copied = judge_agreement(
        np.repeat(judge, 5),
        np.repeat(human, 5),
        groups=np.repeat(np.arange(40), 5),
        n_resamples=999,
        random_state=0,
    )
    assert copied.kappa.value == pytest.approx(alone.kappa.value)
    assert copied.kappa.std_error == pytest.approx(alone.kappa.std_error, rel=1e-9)
    assert (copied.unit, copied.n_units, copied.n_items) == ("clusters", 40, 200)


def test_req_E16_req_E17_figures_of_the_article(shared):
    kappa = load(shared, "kappa")
    found = position_bias(
        kappa["j_ab"], kappa["j_ba"], human=kappa["human"], n_resamples=199, random_state=0
    )
    assert (found.chosen_first.value, found.chosen_second.value) == (0.604, 0.392)
    assert found.gap.value == pytest.approx(0.212, abs=1e-12)
    biased = load(shared, "judgebias")
    longer = position_bias(
        biased["position_and_length_order1"],
        biased["position_and_length_order2"],
        human=biased["human"],
        attributes={"length": biased["longer"]},
        n_resamples=199,
        random_state=0,
    )
    assert longer.attributes["length"].value == pytest.approx(0.81, abs=5e-3)
    # Single verdicts favour the longer answer less: the bias concentrates.
    single = np.mean(biased["position_and_length_single"] == biased["longer"])
    assert longer.attributes["length"].ci_low > single
    words = longer.summary()
    assert "and no other: a taste for length" in " ".join(words.split("\n"))
    assert max(map(len, words.split("\n"))) <= 88
    # Intervals are not torn apart.
    assert str(longer.gap).split(" ", 1)[1] in words


def test_position_bias_by_hand():
    first, second = np.array([1, 1, 1, 0, 1, 0]), np.array([1, 0, 1, 0, 0, 0])
    human, longer = np.array([1, 1, 0, 0, 0, 0]), np.array([1, 0, 1, 1, 0, 0])
    found = position_bias(
        first, second, human=human, attributes={"length": longer}, n_resamples=99, random_state=0
    )
    assert found.gap.value == pytest.approx(4 / 6 - 2 / 6)
    assert found.inconsistent.value == pytest.approx(2 / 6)
    assert found.consistent.tolist() == [True, False, True, True, False, True]
    assert found.human_agreement.value == pytest.approx(3 / 4)
    assert found.attributes["length"].value == pytest.approx(3 / 4)


def test_gap_is_paired():
    """The gap's standard error is that of item differences, not of two independent rates."""
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 400)
    second = np.where(rng.random(400) < 0.9, first, 0)
    found = position_bias(first, second, n_resamples=1999, random_state=0)
    assert found.gap.std_error == pytest.approx(np.std(first - second) / 20, rel=0.06)


def test_no_consistent_item_leaves_shares_undefined():
    found = position_bias([1, 1, 0], [0, 0, 1], human=[1, 0, 1], n_resamples=99, random_state=0)
    assert np.isnan(found.human_agreement.value)
    assert found.human_agreement.n_undefined == 99
    assert found.inconsistent.value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: judge_agreement([1, 0], [1, 0, 1]), "`human` must have one entry"),
        (lambda: judge_agreement([1, None], [1, 0]), "`judge` must be finite"),
        (lambda: judge_agreement(["1", "0"], [1, 0]), "labels of the same kind"),
        (lambda: judge_agreement([1], [1]), "at least 2 items"),
        (lambda: judge_agreement([1, 0], [1, 0], weights="cubic"), "`weights` must be one of"),
        (lambda: judge_agreement([1, 0], [1, 0], n_resamples=9), "`n_resamples` must be at least"),
        (lambda: judge_agreement([1, 0], [1, 0], n_resamples=True), "`n_resamples` must be an int"),
        (lambda: judge_agreement([1, 0], [1, 0], random_state=-1), "`random_state` must be"),
        (lambda: judge_agreement([1, 0], [1, 0], groups=["a", "a"]), "at least 2 clusters"),
        (lambda: position_bias([1, 2], [1, 0]), "`chose_a_first` must be 1 where A was chosen"),
        (lambda: position_bias(["A", "B"], [1, 0]), "`chose_a_first` must be 1"),
        (
            lambda: position_bias([1, 0], [1, 0], attributes={"length": [3, 1]}),
            "must be 1 where A has more of it",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        call()


# --- What cannot be said -------------------------------------------------------------------------


def test_words_have_no_order_for_weights_of_kappa():
    # Sorted, "high" is next to "low": a weighted kappa of these would be of another order.
    low, high = ["low", "high", "medium"] * 5, ["low", "medium", "high"] * 5
    with pytest.raises(ValueError, match="`weights` must be None for labels that are words"):
        judge_agreement(low, high, weights="quadratic", n_resamples=99)
    assert judge_agreement(low, high, n_resamples=99, random_state=0).agreement.value == 1 / 3


def test_undefined_values_are_called_so():
    same = judge_agreement([1, 1, 1], [1, 1, 1], n_resamples=99, random_state=0)
    never = position_bias([1, 0, 1], [0, 1, 0], human=[1, 1, 1], n_resamples=99, random_state=0)
    for found, words in ((same, "kappa = undefined"), (never, "same choice in undefined")):
        assert words in found.summary() and "nan" not in found.summary()


def test_req_E13_two_annotators_of_80_percent_agree_on_68_percent():
    # 100 items, each annotator right on 80, independently: 64 both right, 4 both wrong.
    truth = np.zeros(100, dtype=int)
    first, second = (
        np.repeat([0, 0, 1, 1], [64, 16, 16, 4]),
        np.repeat([0, 1, 0, 1], [64, 16, 16, 4]),
    )
    kept = {"n_resamples": 99, "random_state": 0}
    assert judge_agreement(first, truth, **kept).agreement.value == 0.8
    assert judge_agreement(first, second, **kept).agreement.value == 0.68
    # A judge that is always right agrees with one annotator more than the other annotator does.
    beside = judge_agreement(truth, first, second_human=second, **kept)
    assert beside.agreement_difference.value == pytest.approx(0.12)


def test_req_E18_averaging_judges_keeps_what_biases_all_of_them():
    """Three judges with one taste for length: the majority is steadier, and as biased."""
    rng = np.random.default_rng(0)
    longer = rng.integers(0, 2, 3000)
    chance = np.where(longer == 1, 0.65, 0.35)  # no quality at all, only a taste for length
    verdicts = rng.random((2, 3, 3000)) < chance
    alone = position_bias(
        *verdicts[:, 0], attributes={"length": longer}, n_resamples=99, random_state=0
    )
    first, second = verdicts.sum(axis=1) >= 2
    together = position_bias(
        first, second, attributes={"length": longer}, n_resamples=99, random_state=0
    )
    assert together.inconsistent.value < alone.inconsistent.value
    assert together.attributes["length"].value > alone.attributes["length"].value > 0.7
    assert "but keeps what biases all of them" in " ".join(judge_agreement.__doc__.split())


def test_req_A31_intervals_without_width_are_noted():
    human = ["a"] * 9 + ["b"]
    always = judge_agreement(["a"] * 10, human, n_resamples=99, random_state=0)
    assert (always.kappa.ci_low, always.kappa.ci_high) == (0, 0)
    note = (
        "Zero-width interval of kappa: every resample of these data gives one value. This says "
        "nothing about unseen items."
    )
    assert note in " ".join(str(always).split())
    varied = judge_agreement(["b", "a"] * 5, human, n_resamples=99, random_state=0)
    assert "Zero-width" not in varied.summary()
    both = judge_agreement(
        ["a", "b"] * 5, ["a", "a"] * 5, second_human=["a", "b"] * 5, groups=np.arange(10) // 2,
        n_resamples=99, random_state=0,
    )  # fmt: skip
    # In every cluster one of two labels agrees, and the judge is the second human.
    assert (
        "Zero-width interval of agreement, kappa, agreement of two humans, kappa of two humans, "
        "the difference in agreement, the difference in kappa: every resample of these data gives "
        "one value. This says nothing about unseen clusters."
    ) in " ".join(both.summary().split())
    found = position_bias([1, 1, 0, 0], [1, 1, 0, 0], n_resamples=99, random_state=0)
    assert "Zero-width interval of the gap, inconsistent verdicts: " in " ".join(str(found).split())


def test_errors_speak_of_rows_where_nothing_is_tested():
    with pytest.raises(ValueError, match=r"`human` must have one entry per row, 3, got 2"):
        judge_agreement([1, 0, 1], [1, 0])
