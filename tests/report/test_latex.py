"""LaTeX: whatever names hold, the tables keep their cells and the text keeps its characters."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sklearn_pairboot import compare_predictions, compare_scores
from sklearn_pairboot._tables.names import visible, visible_text
from sklearn_pairboot.report.latex import escaped, number, prose

pytestmark = pytest.mark.newest  # wording

# What each command prints, from the LaTeX companion; written here a second time on purpose.
PRINTED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
    "textquotesingle": "'",
    "textasciigrave": "`",
}
HOSTILE = ["a_b & c%", r"\input{secret}", "$x^2$ #1 {~}", "--[x]", "\"<q>`|'", "\x1b[31m\n"]


def printed(latex):
    """Read back what LaTeX would print of text with no mathematics in it."""
    text = re.sub(r"([-,])\{\}", r"\1", latex)
    text = re.sub(r"\\(text[a-z]+)\{\}", lambda found: PRINTED[found[1]], text)
    return re.sub(r"\\([{}$&#%_])", r"\1", text)


def raw(latex):
    """Take all escapes and known commands out: what is left is read as markup."""
    text = re.sub(r"\\text[a-z]+\{\}|\\[{}$&#%_]", "", latex)
    return re.sub(r"([-,])\{\}", r"\1 ", text)


@given(st.text())
@example("--- ,,, \\{}$&#%_~^<>|\"'`")
@example("\\textbar{}")
@example("-{}")
def test_no_character_is_lost_or_read_as_markup(text):
    assert set(raw(escaped(text))) & set("\\{}$&#%_~^<>|\"'`") == set()
    assert not re.search("--|,,", raw(escaped(text)))
    if "-{" not in text and ",{" not in text:  # which the reader above cannot tell from a guard
        assert printed(escaped(text)) == visible_text(text)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("0.012", "0.012"),
        ("-0.012", "$-0.012$"),
        ("+0.022", "$+0.022$"),
        ("[-0.014, 0.021]", "[$-0.014$, 0.021]"),
        ("(-inf, 0.021]", r"($-\infty$, 0.021]"),
        ("[0.1, inf)", r"[0.1, $\infty$)"),
        ("3.14e-08", r"$3.14 \times 10^{-8}$"),
        ("-1.5e+11", r"$-1.5 \times 10^{11}$"),
        ("about 1e20", r"about $1 \times 10^{20}$"),
        ("< 0.0001", r"\textless{} 0.0001"),
        ("50 %", r"50 \%"),
        ("-", "--"),
    ],
)
def test_numbers_have_minus_signs(text, latex):
    assert number(text) == latex


def test_a_difference_has_a_minus_sign_in_prose():
    assert prose("new_1 - old, a-b") == r"new\_1 $-$ old, a-b"
    assert prose("0.1 +- 0.2") == r"0.1 $\pm$ 0.2"


def tables(latex):
    return re.findall(r"\\begin\{table\}.*?\\end\{table\}", latex, flags=re.DOTALL)


def cells(table):
    """Rows of cells between the rules, without the titles of metrics."""
    body = table.partition("\\toprule\n")[2].partition("\\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r" \\")]
    return [re.split(r"(?<!\\)&", line[:-3]) for line in lines if "multicolumn" not in line]


def test_tables_have_the_columns_that_they_announce_whatever_names_hold():
    random = np.random.default_rng(0)
    scores = {name: random.normal(size=40) for name in HOSTILE}
    latex = compare_scores(scores, margin=0.5, n_resamples=199, random_state=0).to_latex("x")
    found = tables(latex)
    assert len(found) == 3
    for place, table in enumerate(found, 1):
        assert f"\\label{{tab:x-{place}}}" in table
        assert table.index(r"\caption") < table.index(r"\label") < table.index(r"\toprule")
        assert table.count(r"\midrule") == 1
        assert table.count(r"\bottomrule") == 1
        announced = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", table)[1])
        rows = cells(table)
        assert {len(row) for row in rows} == {announced}
        first = [printed(row[0].strip().removeprefix("{}")) for row in rows[1:]]
        assert first == list(map(visible, HOSTILE))[-len(first) :]
    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")
    assert len(re.findall(r"(?<!\\)\$", latex)) % 2 == 0
    assert latex.replace("\n", "").isprintable()


def test_the_numbers_are_those_of_the_result():
    y = np.random.default_rng(1).integers(0, 2, 200)
    guess = {
        "old": np.where(np.arange(200) % 3, y, 1 - y),
        "new": np.where(np.arange(200) % 7, y, 0),
    }
    result = compare_predictions(y, guess, scoring="accuracy", n_resamples=199, random_state=0)
    (row,) = result.differences
    latex = result.to_latex()
    ((_, difference, _, interval, *_, verdict),) = cells(tables(latex)[0])[1:]
    found = [float(x) for x in re.findall(r"[-+]?[\d.]+", difference + interval)]
    np.testing.assert_allclose(found, [row.difference, row.ci_low, row.ci_high], atol=0.00051)
    assert verdict.strip() == row.verdict
    assert latex.rstrip().endswith(prose(result.method_paragraph()))


@pytest.mark.parametrize("label", ["a b", "a}", "", "a%b", "\\x", 3, None])
def test_a_label_is_a_plain_name(label):
    result = compare_scores({"a": [0, 1, 1], "b": [1, 1, 0]}, n_resamples="exact")
    with pytest.raises(ValueError, match=r"`label` must consist of letters, digits"):
        result.to_latex(label)
