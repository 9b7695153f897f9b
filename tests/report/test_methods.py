"""The method paragraph: every fact that a reader of a paper needs, and none that is not so."""

import re

import numpy as np
import pytest

from sklearn_pairboot import ECE, compare_predictions, compare_scores
from sklearn_pairboot.resampling import BayesianBootstrap, BlockBootstrap, TwoStageBootstrap

pytestmark = pytest.mark.newest  # wording

RANDOM = np.random.default_rng(0)
SCORES = {"old": RANDOM.normal(size=60), "new": RANDOM.normal(size=60)}
THREE = {**SCORES, "newer": RANDOM.normal(size=60)}
GROUPS = np.repeat(np.arange(12), 5)
QUICK = {"n_resamples": 199, "random_state": 7}


def paragraph(scores=SCORES, **options):
    return compare_scores(scores, **QUICK | options).method_paragraph()


def test_the_paragraph_as_a_whole_req_D21():
    result = compare_scores(SCORES, groups=GROUPS, method="bca", **QUICK)
    versions = result.versions
    assert result.method_paragraph() == (
        "The 2 models old, new were evaluated on 60 test rows in 12 clusters (smallest 5, median "
        "5, largest 5 rows), shared by all, by mean_score (higher is better). Sampling variation "
        "was assessed by a paired cluster bootstrap with 199 resamples: clusters were drawn as a "
        "whole with replacement, alike for all models. Intervals were 95 % bias-corrected and "
        "accelerated (BCa) intervals. Differences were model minus old in units of the metric; "
        "p-values were the smallest error levels at which the interval excluded 0. Held fixed "
        "were the models and their scores; variation by retraining and by random seeds of "
        f"training was not assessed. Computed with NumPy {versions['numpy']}, Python "
        f"{versions['python']}, scikit-learn {versions['scikit-learn']}, SciPy "
        f"{versions['scipy']}, sklearn-pairboot {versions['sklearn-pairboot']} and random seed 7."
    )


@pytest.mark.parametrize(
    ("scores", "options", "said"),
    [
        (SCORES, {}, "60 test rows, shared by all"),
        (SCORES, {"confidence_level": 0.9}, "90 % percentile intervals"),
        (SCORES, {"method": "expanded"}, "expanded for the small number of units"),
        (THREE, {}, "adjusted for the 2 comparisons of each metric (Holm)"),
        (THREE, {"pairs": "all"}, "one model minus another, for all pairs"),
        (THREE, {"pairs": "all"}, "adjusted for the 3 comparisons"),
        (THREE, {"correction": None}, "not adjusted for the 2 comparisons"),
        (THREE, {"correction": "max-t"}, "those of differences were simultaneous by max-T"),
        (SCORES, {"paired": False}, "assessed by an unpaired bootstrap with 199 resamples"),
        (SCORES, {"alternative": "better"}, 'had one bound (alternative "better")'),
        (
            THREE,
            {"alternative": "worse", "correction": "max-t"},
            'simultaneous by max-T, with one bound (alternative "worse")',
        ),
        (SCORES, {"margin": 0.25}, "margins (mean_score: 0.25) by one-sided tests at 5 %"),
        (SCORES, {"permutation": True}, "swapping the answers of two models within rows"),
        (SCORES, {"slices": {"half": np.repeat([0, 1], 30)}}, "Subgroups by half were compared"),
        (
            SCORES,
            {"resampling": BayesianBootstrap()},
            "bootstrap with 199 posterior draws: ",
        ),
        (
            SCORES,
            {"resampling": BayesianBootstrap()},
            "shares of the posterior draws beyond 0",
        ),
        (SCORES, {"resampling": TwoStageBootstrap(), "groups": GROUPS}, "and then their rows"),
        (SCORES, {"resampling": BlockBootstrap(5)}, "blocks of 5 rows were drawn"),
    ],
)
def test_what_was_chosen_is_said(scores, options, said):
    assert said in paragraph(scores, **options)


def test_margins_of_metrics_are_named_as_the_metrics_are():
    y, answers = RANDOM.integers(0, 2, 60), {"a_": RANDOM.random(60), "b": RANDOM.random(60)}
    result = compare_predictions(
        y,
        answers,
        scoring=["roc_auc", "neg_brier_score"],
        margin={"roc_auc": 0.1, "brier_score": 0.02},
        **QUICK,
    )
    assert "(roc_auc: 0.1, brier_score: 0.02)" in result.method_paragraph()
    assert "(roc_auc: 0.1, brier_score: 0.02)" in result.to_markdown()
    shares = result.replace(margin_relative={"roc_auc": 0.1})
    assert "(roc_auc: 10 % of the baseline's score)" in shares.method_paragraph()


def test_all_resamples_are_no_random_ones():
    few = {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 0]}
    said = compare_scores(few, n_resamples="exact").method_paragraph()
    assert "all 3125 equally likely resamples were taken by enumeration" in said  # 5 ** 5
    assert "seed 0" not in said
    assert "random seed" not in said.rpartition("Computed with")[2]


def test_a_seed_is_named_only_where_it_decides_something():
    few = {"old": [0, 1, 0, 0, 1], "new": [1, 1, 1, 0, 0]}
    counted = compare_scores(few, n_resamples="exact", permutation=True)
    assert counted.permutations[0].mode != "Monte Carlo"
    assert counted.random_state_entropy is None
    assert "random seed" not in counted.method_paragraph().rpartition("Computed with")[2]
    again = compare_scores(few, n_resamples="exact", permutation=True)
    assert again.to_json() == counted.to_json()


def test_intervals_of_another_kind_are_named():
    y = RANDOM.integers(0, 2, 80)
    answers = {"a": RANDOM.random(80), "b": RANDOM.random(80)}
    said = compare_predictions(y, answers, scoring={"ece": ECE()}, **QUICK).method_paragraph()
    assert "Those of squared_ece, a debiased square, were normal intervals." in said
    assert "No intervals were given for ece, which is biased upwards." in said
    halves = {"old": np.repeat([0.0, 1.0], [19, 1]), "new": np.repeat([0.0, 1.0], [18, 2])}
    result = compare_scores(halves, method="studentized", **QUICK)
    assert result.differences[0].status.startswith("percentile")
    place = "mean_score (new - old)"
    assert re.search(rf"For [^.]*{re.escape(place)}[^.]* percentile", result.method_paragraph())
    assert "took their place" not in paragraph(method="studentized")


def test_one_model_has_no_differences():
    said = paragraph({"only": SCORES["old"]})
    assert said.startswith("only was evaluated on 60 test rows by mean_score")
    for word in ("Difference", "p-value", "paired", "models."):
        assert word not in said


def test_paragraphs_are_whole_sentences_in_the_past_tense():
    for options in ({}, {"groups": GROUPS}, {"margin": 0.1, "permutation": True}):
        said = paragraph(**options)
        assert "  " not in said
        assert said.endswith(".")
        assert all(s[0].isupper() for s in re.split(r"(?<=[a-z0-9)])\. ", said))
        assert not re.search(r"\b(is|are|excludes)\b", re.sub(r"\(\w+ is better\)", "", said))


def test_names_are_visible():
    said = paragraph({"a\x1b[31m": SCORES["old"], "b\n": SCORES["new"]})
    assert said.isprintable()
    assert r"'a\x1b[31m', 'b\n'" in said


def test_markdown_has_the_paragraph():
    result = compare_scores(SCORES, **QUICK)
    assert f"### Methods\n\n{result.method_paragraph()}\n" in result.to_markdown()
    assert "Methods" not in result.summary()
