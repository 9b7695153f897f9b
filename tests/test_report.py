"""Numbers as text, whole sentences, and what every report must and must never say."""

import dataclasses
import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sklearn_pairboot._tables import DifferenceRow, MetricInfo, ScoreRow, Settings
from sklearn_pairboot._tables.lines import WIDTH
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot._tables.numbers import NumberFormat, format_p, format_percent
from sklearn_pairboot.report.document import comparison_document
from sklearn_pairboot.report.facts import Facts
from sklearn_pairboot.report.findings import allowed_gap, finding, p_clause, smallest_p
from sklearn_pairboot.report.names import escaped, escaped_note
from sklearn_pairboot.report.statements import statements
from sklearn_pairboot.report.text import as_markdown, as_text

NAN, INF = math.nan, math.inf
AUC = MetricInfo("roc_auc", True, "ranks")
LOSS = MetricInfo("log_loss", False, "sums")
NUMBER = NumberFormat(3)


def summary(stated_facts, scores, differences):
    return as_text(comparison_document(stated_facts, scores, differences, {}, visible))


def markdown(stated_facts, scores, differences):
    return as_markdown(comparison_document(stated_facts, scores, differences, {}, escaped))


def facts(**changes):
    given = dict(
        models=("logistic", "forest"),
        metrics=(AUC,),
        settings=Settings("logistic"),
        unit="rows",
        n_units=143,
        n_rows=143,
        unit_sizes=(1, 1, 1),
        n_resamples=9999,
        n_sequences=9999,
    )
    return Facts(**{**given, **changes})


CLUSTERS = dict(unit="clusters", n_units=40, unit_sizes=(1, 3.5, 12))


def difference(value=0.012, low=0.003, high=0.021, p=0.01, verdict="better", **changes):
    row = DifferenceRow(
        "roc_auc", "forest", "logistic", value, 0.005, low, high, True, p, p, NAN, verdict, "ok"
    )
    return dataclasses.replace(row, **changes)


def unsure(value=0.004, low=-0.014, high=0.021, p=0.72, **changes):
    return difference(value, low, high, p, "inconclusive", **changes)


def score(**changes):
    row = ScoreRow("roc_auc", "forest", 0.991, 0.006, 0.977, 0.999, True, 0, 0, "ok")
    return dataclasses.replace(row, **changes)


# numbers


@pytest.mark.parametrize(
    ("errors", "values", "value", "text"),
    [
        ([0.0051], [0.012], 0.0123456, "0.0123"),
        ([0.012, 0.0051], [0.012], 0.9, "0.9000"),  # the smallest decides, digits are aligned
        ([0.334664], [0.2], 0.2, "0.20"),
        ([9.9], [100.0], 123.456, "123.5"),
        ([1234.0], [98765.4], 98765.4, "98765"),
        ([0.0], [0.25], 0.25, "0.2500"),  # no error to go by: four digits
        ([NAN], [NAN, 0.0], 0.0, "0.0"),
        ([2e-9], [3e-8], 3.14159e-8, "3.14e-08"),
        ([1e9], [3e11], 3.14159e11, "3.142e+11"),
        ([0.01], [1.0], NAN, "-"),
        ([0.01], [1.0], -INF, "-inf"),
        ([0.01], [1.0], -0.0001, "0.000"),
    ],
)
def test_numbers_are_as_precise_as_their_standard_error(errors, values, value, text):
    assert NumberFormat.from_errors(errors, values)(value) == text


def test_an_end_that_is_not_zero_is_not_printed_as_zero():
    assert NUMBER(0.0, signed=True) == "0.000"
    assert NUMBER(-0.0002, keep=True) == "-0.0002"
    assert NUMBER.interval(0.0002, 0.0214) == "[0.0002, 0.021]"
    assert NUMBER.interval(-INF, 0.0214) == "(-inf, 0.021]"
    assert NUMBER.interval(-0.02, INF) == "[-0.020, inf)"


@given(st.floats(1e-12, 1e12), st.floats(-1e13, 1e13))
def test_a_written_number_is_off_by_less_than_a_tenth_of_its_error(error, value):
    text = NumberFormat.from_errors([error], [value])(value)
    assert abs(float(text) - value) <= max(0.051 * error, 1e-14 * abs(value))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.0000"),
        (0.0123, "0.0123"),
        (0.05, "0.0500"),
        (math.nextafter(0.05, 1), "0.05000000000000001"),
        (0.050002, "0.050002"),
        (0.04998, "0.0500"),
        (0.0002, "0.0002"),
        (0.00005, "< 0.0001"),
        (0.0, "< 0.0001"),
        (NAN, "-"),
    ],
)
def test_p_values_as_text(p, text):
    assert format_p(p, 0.05) == text


@given(st.floats(0, 1), st.floats(0.001, 0.5))
@example(0.05004, 0.05)
def test_a_written_p_is_never_zero_and_on_its_side_of_the_level_req_C11(p, alpha):
    text = format_p(p, alpha)
    if text.startswith("<"):
        assert p < 0.0001
    else:
        assert float(text) > 0
        assert (float(text) <= alpha) == (p <= alpha)


def test_levels_are_written_without_rounding():
    assert [format_percent(x) for x in (0.95, 0.999, 1 - 0.9)] == ["95 %", "99.9 %", "10 %"]


# sentences


@pytest.mark.parametrize(
    ("row", "changes", "sentence"),
    [
        (
            difference(),
            {},
            "forest is better than logistic on roc_auc (higher is better): +0.012 [0.003, 0.021], "
            "p = 0.0100.",
        ),
        (
            difference(0.012, verdict="worse", metric="log_loss", greater_is_better=False),
            {},
            "forest is worse than logistic on log_loss (lower is better): +0.012 [0.003, 0.021], "
            "p = 0.0100.",
        ),
        (
            unsure(),
            {},
            "On roc_auc (higher is better) these rows cannot separate forest and logistic: +0.004 "
            "[-0.014, 0.021], p = 0.7200; the interval still allows forest to be up to 0.014 worse "
            "or 0.021 better.",
        ),
        (
            unsure(0.4, 0.0, 1.0, 0.2),
            {},
            "On roc_auc (higher is better) these rows cannot separate forest and logistic: +0.400 "
            "[0.000, 1.000], p = 0.2000; the interval still allows forest to be up to 1.000 "
            "better, and not worse.",
        ),
        (
            unsure(metric="log_loss", greater_is_better=False),
            CLUSTERS,
            "On log_loss (lower is better) these clusters cannot separate forest and logistic: "
            "+0.004 [-0.014, 0.021], p = 0.7200; the interval still allows forest to be up to "
            "0.021 worse or 0.014 better.",
        ),
        (
            unsure(high=INF),
            {"settings": Settings("logistic", alternative="better")},
            "On roc_auc (higher is better) these rows do not show that forest is better than "
            "logistic: +0.004 [-0.014, inf), p = 0.7200; the interval still allows forest to be up "
            "to 0.014 worse and sets no limit to how much better.",
        ),
        (
            unsure(low=-INF),
            {"settings": Settings("logistic", alternative="worse")},
            "On roc_auc (higher is better) these rows do not show that forest is worse than "
            "logistic: +0.004 (-inf, 0.021], p = 0.7200; the interval still allows forest to be up "
            "to 0.021 better and sets no limit to how much worse.",
        ),
        (
            unsure(0.012, 0.003, 0.021, 0.04, p_adjusted=0.08),
            {"models": ("logistic", "forest", "svm")},
            "On roc_auc (higher is better) these rows do not separate forest and logistic once all "
            "comparisons are accounted for: +0.012 [0.003, 0.021], p = 0.0400, adjusted p = 0.0800 "
            "(Holm, 2 comparisons); the interval taken alone allows forest to be 0.003 to 0.021 "
            "better.",
        ),
        (
            unsure(0.2, 0.1, 0.3, 0.0002),
            {"n_units": 5},
            "On roc_auc (higher is better) 5 rows are too few to separate forest and logistic: "
            "+0.200 [0.100, 0.300], p = 0.0002 (smallest possible); the interval taken alone "
            "allows forest to be 0.100 to 0.300 better.",
        ),
        (
            unsure(0.0, 0.0, 0.0, 1.0, status="degenerate"),
            {},
            "On roc_auc (higher is better) no resample of these rows shows a difference between "
            "forest and logistic; this says nothing about unseen rows.",
        ),
        (
            unsure(0.1, 0.1, 0.1, NAN, status="degenerate"),
            CLUSTERS,
            "On roc_auc (higher is better) every resample of these clusters gives forest - "
            "logistic = +0.100; without variation there is no p-value, and unseen clusters may "
            "differ.",
        ),
        (
            unsure(-0.01, 0.003, 0.021, 0.01),
            {},
            "On roc_auc (higher is better) the estimate and the interval of forest - logistic lie "
            "on different sides of 0: -0.010 [0.003, 0.021], p = 0.0100; see the notes.",
        ),
    ],
)
def test_whole_sentences_req_A02_req_A13_req_B12_req_D12_req_E30(row, changes, sentence):
    stated = facts(**changes)
    assert finding(row, stated, NUMBER, len(stated.models) - 1) == sentence


@pytest.mark.parametrize(
    ("low", "high", "greater_is_better", "clause"),
    [
        (-INF, INF, True, "the interval sets no limit to how much better or worse forest may be"),
        (0.1, INF, True, "the interval taken alone allows forest to be at least 0.100 better"),
        (-0.3, -0.1, True, "the interval taken alone allows forest to be 0.100 to 0.300 worse"),
        (-0.3, -0.1, False, "the interval taken alone allows forest to be 0.100 to 0.300 better"),
        (0.0, 0.2, True, "the interval still allows forest to be up to 0.200 better, and not "
         "worse"),
        (-0.2, -0.0, True, "the interval still allows forest to be up to 0.200 worse, and not "
         "better"),
        (0.0, 0.2, False, "the interval still allows forest to be up to 0.200 worse, and not "
         "better"),
        (0.0, INF, True, "the interval allows forest to be better without limit, and not worse"),
        (-INF, 0.0, True, "the interval allows forest to be worse without limit, and not better"),
        (0.0, 0.0, True, "the interval holds nothing but 0"),
        (-1e-9, 0.2, True, "the interval still allows forest to be up to 1e-09 worse or 0.200 "
         "better"),
    ],
)  # fmt: skip
def test_largest_gap_that_an_interval_allows_req_E30(low, high, greater_is_better, clause):
    assert allowed_gap(unsure(0, low, high, greater_is_better=greater_is_better), NUMBER) == clause


@given(st.floats(-1, 0, exclude_max=True), st.floats(0, 1, exclude_min=True), st.booleans())
def test_allowed_gaps_are_the_ends_of_the_interval_req_E30(low, high, greater_is_better):
    clause = allowed_gap(unsure(0, low, high, greater_is_better=greater_is_better), NUMBER)
    worse, better = map(
        float, re.fullmatch(r".* up to (\S+) worse or (\S+) better", clause).groups()
    )
    gain, loss = (high, -low) if greater_is_better else (-low, high)
    assert (worse, better) == (pytest.approx(loss, abs=6e-4), pytest.approx(gain, abs=6e-4))


@pytest.mark.parametrize(
    ("correction", "clause"),
    [
        ("holm", "p = 0.0100, adjusted p = 0.0300 (Holm, 3 comparisons)"),
        ("bonferroni", "p = 0.0100, adjusted p = 0.0300 (Bonferroni, 3 comparisons)"),
        ("fdr", "p = 0.0100, adjusted p = 0.0300 (Benjamini-Hochberg, 3 comparisons)"),
        (None, "p = 0.0100"),
    ],
)
def test_adjusted_p_names_correction_and_family(correction, clause):
    stated = facts(settings=Settings("logistic", correction=correction))
    assert p_clause(difference(p_adjusted=0.03), stated, 3) == clause
    assert p_clause(difference(), stated, 1) == "p = 0.0100"
    assert p_clause(difference(p=NAN), stated, 3) == "no p-value"
    assert p_clause(difference(p=1e-6), stated, 1) == "p < 0.0001 (smallest possible)"


def test_smallest_p_that_the_resamples_can_give_req_C19():
    one_sided = Settings("logistic", alternative="better")
    assert smallest_p(facts()) == 2 / 10000
    assert smallest_p(facts(settings=one_sided)) == 1 / 10000
    assert smallest_p(facts(n_resamples="exact", n_sequences=3125)) == 2 / 3125
    assert smallest_p(facts(n_resamples="exact", n_sequences=10**5000)) > 0


# what is stated


def stated(scores=(), differences=(), **changes):
    return dict(statements(facts(**changes), scores, differences))


def test_unit_and_number_are_stated_req_A23_req_D21():
    assert stated()["Unit"] == "143 rows, each drawn on its own with replacement"
    assert stated(**CLUSTERS)["Unit"] == (
        "40 clusters of 1-3.5-12 rows (min-median-max), drawn with replacement and whole; 143 rows "
        "in all"
    )


def test_what_varies_and_what_is_held_fixed_req_A28():
    assert stated()["Varies"] == "only which test rows are drawn"
    assert stated(**CLUSTERS)["Varies"] == "only which test clusters are drawn"
    assert stated()["Held fixed"] == "the trained models; retraining and seeds are not covered"
    assert stated(held_fixed="the given scores")["Held fixed"].startswith("the given scores;")
    assert "Strata" not in stated()
    assert "(class prevalence) are held fixed" in stated(stratified=True)["Strata"]
    assert "Weights" not in stated()
    assert "scores are weighted" in stated(weighted=True)["Weights"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            Settings("logistic"),
            "95 % percentile interval, two-sided: from the 2.5th to the 97.5th percentile of the "
            "resampled values",
        ),
        (
            Settings("logistic", 0.98),
            "98 % percentile interval, two-sided: from the 1st to the 99th percentile of the "
            "resampled values",
        ),
        (
            Settings("logistic", 0.9, "normal"),
            "90 % normal interval, two-sided: estimate +- 1.64 SE; may leave the metric's range",
        ),
        (
            Settings("logistic", 0.95, "basic"),
            "95 % basic interval, two-sided: percentiles reflected about the estimate; may leave "
            "the metric's range",
        ),
        (
            Settings("logistic", 0.95, "bca", "better"),
            "95 % BCa interval: percentiles corrected for bias and skewness; differences have one "
            'bound, for the alternative "better", with all of the 5 % beyond it',
        ),
    ],
)
def test_method_and_level_are_stated_req_D21(settings, text):
    assert stated([], [difference()], settings=settings)["Interval"] == text


def test_a_single_model_has_two_sided_intervals_only():
    settings = Settings("logistic", alternative="better")
    assert "two-sided" in stated(settings=settings, models=("logistic",))["Interval"]


def test_standard_error_and_resamples_are_stated_req_A10_req_A12():
    assert stated()["SE"] == "standard deviation of the resampled values, not of the single rows"
    assert stated()["Resamples"] == (
        "9999; more would reduce Monte Carlo noise, not the width of intervals; shared by all "
        "models and metrics"
    )
    assert stated(n_resamples="exact", n_sequences=3125, models=("a",))["Resamples"] == (
        "all 3125 equally likely ones enumerated, which removes Monte Carlo error only"
    )
    assert stated(random_state_entropy=7)["Seed"] == "random_state=7"
    assert "Seed" not in stated()


def test_undefined_resamples_are_stated_per_metric():
    rows = [score(n_undefined=12), score(model="logistic", n_undefined=7)]
    assert stated(rows)["Undefined"] == (
        "roc_auc (forest 12, logistic 7) of 9999 resamples; left out, so that intervals are "
        "conditional on the rest"
    )
    assert "Undefined" not in stated([score()])


def test_what_p_is_for_is_stated_req_C20_req_D13():
    one = stated([], [difference()])["p-values"]
    assert one == (
        "p is the smallest error level at which the interval excludes 0 (smallest possible: "
        "0.0002); the verdict asks for p <= 0.05. A large p is no evidence of equality, a small "
        "one none that the difference matters"
    )
    three = {"models": ("logistic", "forest", "svm"), "metrics": (AUC, LOSS)}
    assert (
        "interval and p are per comparison, the verdict asks for adjusted p <= 0.05 (Holm, over "
        "the 2 comparisons of a metric); metrics are not corrected for one another"
    ) in stated([], [difference()], **three)["p-values"]
    settings = Settings("logistic", correction=None)
    assert (
        "without correction for the 2 comparisons of a metric"
        in (stated([], [difference()], settings=settings, **three)["p-values"])
    )
    assert "p-values" not in stated()


# whole reports


def test_summary_as_a_whole():
    text = summary(
        facts(notes=("Fewer than 10 clusters.",), random_state_entropy=0),
        [score(model="logistic", estimate=0.979, ci_low=0.96, n_undefined=12), score()],
        [difference()],
    )
    assert text == (
        """\
Paired bootstrap of 2 models on 143 test rows
=============================================

- forest is better than logistic on roc_auc (higher is better): +0.0120
  [0.0030, 0.0210], p = 0.0100.

Differences: forest - logistic, in units of the metric
            difference      SE     95 % interval       p  verdict
  roc_auc (higher is better)
    forest     +0.0120  0.0050  [0.0030, 0.0210]  0.0100  better

Scores (judge models by their differences, not by whether these intervals overlap)
              estimate      SE     95 % interval  undefined
  roc_auc (higher is better)
    logistic    0.9790  0.0060  [0.9600, 0.9990]         12
    forest      0.9910  0.0060  [0.9770, 0.9990]          0

How this was computed
  Unit        143 rows, each drawn on its own with replacement
  Interval    95 % percentile interval, two-sided: from the 2.5th to the 97.5th
              percentile of the resampled values
  SE          standard deviation of the resampled values, not of the single rows
  Resamples   9999; more would reduce Monte Carlo noise, not the width of intervals;
              shared by all models and metrics
  Varies      only which test rows are drawn
  Held fixed  the trained models; retraining and seeds are not covered
  Looks       one is assumed, on rows that chose no model: testing again as rows come in
              needs the levels of planning.group_sequential_levels
  Undefined   roc_auc (logistic 12) of 9999 resamples; left out, so that intervals are
              conditional on the rest
  p-values    p is the smallest error level at which the interval excludes 0 (smallest
              possible: 0.0002); the verdict asks for p <= 0.05. A large p is no
              evidence of equality, a small one none that the difference matters
  Overlap     the intervals of two scores overlap on roc_auc (forest - logistic,
              correlation 0.65), yet the difference is clear: only its own interval
              takes in how scores on the same rows vary together
  Seed        random_state=0

Notes
- Fewer than 10 clusters."""
    )


def every_kind_of_report():
    degenerate = unsure(0.1, 0.1, 0.1, NAN, status="degenerate")
    rows = [difference(), unsure(model="svm"), degenerate]
    for settings in (
        Settings("logistic"),
        Settings("logistic", method="bca", alternative="better"),
        Settings("logistic", method="normal", alternative="worse", correction=None),
    ):
        for changes in ({}, CLUSTERS, {"n_units": 4}, {"n_resamples": "exact"}):
            for differences in ([], rows):
                stated_facts = facts(
                    models=("logistic", "forest", "svm"),
                    metrics=(AUC,),
                    settings=settings,
                    stratified=True,
                    weighted=True,
                    **changes,
                )
                scores = [score(n_undefined=3, n_zero_division=2, status="degenerate")]
                yield summary(stated_facts, scores, differences)
                yield markdown(stated_facts, scores, differences)


def test_no_report_claims_too_much_req_A03_req_A14_req_B13_req_D23():
    never = (
        r"the same|\bequal to|equivalent|no difference between|% (probability|chance|confiden|"
        r"better|worse)|probability that|confidence that|\bsignifican|\bprove|reliabl"
    )
    for text in every_kind_of_report():
        assert re.search(never, text, flags=re.IGNORECASE) is None
        assert text.isascii()


def test_summaries_stay_within_their_width():
    for text in every_kind_of_report():
        if not text.startswith("#"):
            prose = [line for line in text.splitlines() if "    " not in line.strip()]
            assert max(map(len, prose)) <= WIDTH
            assert max(map(len, text.splitlines())) <= 100


def test_intervals_and_p_values_are_not_torn_apart():
    for length in range(1, 60):
        name = "m" * length
        text = summary(facts(), [score()], [unsure(model=name)])
        assert "[-0.0140, 0.0210], p" in re.sub(r",\n +p", ", p", text)
        assert "p = 0.7200; the" in re.sub(r";\n +the", "; the", text)


def test_a_single_model_is_not_compared():
    text = summary(facts(models=("forest",)), [score()], [])
    assert text.startswith("Bootstrap of forest on 143 test rows\n")
    for word in ("Differences", "p-values", "verdict", "better than", "Paired"):
        assert word not in text


def test_markdown_is_a_table_that_names_cannot_break():
    odd = "a|b*\n_"
    stated_facts = facts(
        models=("__base__", odd), settings=Settings("__base__"), notes=("Two\nlines.",)
    )
    text = markdown(
        stated_facts,
        [score(model="__base__"), score(model=odd)],
        [difference(model=odd, baseline="__base__")],
    )
    lines = text.splitlines()
    assert r"### Differences: 'a\|b\*\\n\_' - \_\_base\_\_, in units of the metric" in lines
    assert "| metric | model | difference | SE | 95 % interval | p | verdict |" in lines
    assert (
        r"| roc_auc (higher is better) | 'a\|b\*\\n\_' | +0.0120 | 0.0050 "
        "| [0.0030, 0.0210] | 0.0100 | better |"
    ) in lines
    assert "- Two lines." in lines
    assert "- **Unit**: 143 rows, each drawn on its own with replacement" in lines
    pipes = {line.replace(r"\|", "").count("|") for line in lines if line.startswith("|")}
    assert pipes == {8, 6}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("forest", "forest"),
        ("two words, \u017elu\u0165", "two words, \u017elu\u0165"),
        ("a\nb", r"'a\nb'"),
        ("a\x1b[31mb\0", r"'a\x1b[31mb\x00'"),
        ("a\u202eb\u2028", r"'a\u202eb\u2028'"),
        ("a\udc80", r"'a\udc80'"),
        (" a", "' a'"),
        ("", "''"),
    ],
)
def test_names_that_cannot_be_seen_are_shown_as_python_writes_them(name, shown):
    assert visible(name) == shown


@pytest.mark.parametrize("odd", ["a\nb", "a\r\x85b", "\x1b[2Ja", "a\0b", "a\tb", "a\u2028b"])
def test_no_name_tears_a_report(odd):
    def report(write, name):
        metric = dataclasses.replace(AUC, name=name)
        stated_facts = facts(
            models=("logistic", name),
            metrics=(metric,),
            settings=Settings(name),
            notes=(f"{name}: a note.",),
        )
        rows = [score(metric=name, n_undefined=3), score(metric=name, model=name)]
        pair = unsure(metric=name, model="logistic", baseline=name)
        return write(stated_facts, rows, [pair])

    for write in (summary, markdown):
        text = report(write, odd)
        assert text.replace("\n", "").isprintable()
        if write is markdown:
            assert text.count("\n") == report(write, "plain").count("\n")
        else:
            table = text[text.index("Differences:") : text.index("How this")]
            plain = report(write, "plain")
            assert table.count("\n") == plain[
                plain.index("Differences:") : plain.index("How this")
            ].count("\n")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("roc_auc", "roc_auc"),
        ("_a_b_", r"\_a_b\_"),
        ("a _b_ c__d", r"a \_b\_ c\_\_d"),
        ("a|b*c`d~e", r"a\|b\*c\`d\~e"),
        ("<b>&lt;</b>", r"\<b\>\&lt;\</b\>"),
        ("[a](b)", r"\[a\](b)"),
        ("$x$", r"\$x\$"),
        ("a\\b", r"a\\b"),
        ("# a", r"\# a"),
        ("- a", r"\- a"),
        ("+", r"\+"),
        ("1. a", r"1\. a"),
        ("2.5-turbo", "2.5-turbo"),
        ("precision@5", "precision@5"),
        ("by @someone, #12", "by @<!-- -->someone, #<!-- -->12"),
    ],
)
def test_markup_in_names_is_shown_as_it_is(name, written):
    assert escaped(name) == written


def test_notes_in_markdown_keep_code_only():
    assert escaped_note("<b>|x|</b> *y* `a*b`: without `sample_weight`.\n@me") == (
        r"\<b\>\|x\|\</b\> \*y\* \`a\*b\`: without `sample_weight`. @<!-- -->me"
    )
    text = markdown(facts(notes=("<b>: a note",)), [score()], [difference()])
    assert text.endswith("### Notes\n\n- \\<b\\>: a note\n")
