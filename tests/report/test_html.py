"""Pages and notebook fragments: valid, self-contained, harmless, and the numbers of the tables."""

import base64
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_pairboot import ComparisonResult, compare_predictions, compare_scores
from sklearn_pairboot._tables.names import visible
from sklearn_pairboot.plotting import DifferenceDisplay
from sklearn_pairboot.plotting._embed import svg_of
from sklearn_pairboot.report import figures

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><h1>a",
    "&lt;b&gt; & co",
    "a\x1b[31m\0b",
    "right\u202eto left",
    "line\nbreak",
    "]]> --> <!--",
    "\u017elu\u0165ou\u010dk\u00fd",
]


def scores_of(names, n=60):
    values = np.random.default_rng(0).normal(size=(n, len(names)))
    return {name: values[:, k] + 0.1 * k for k, name in enumerate(names)}


def everything():
    """A comparison with every table and column there is."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 120)
    answers = {name: np.clip(0.3 * y + 0.7 * random.random(120), 0, 1) for name in ("a", "b", "c")}
    return compare_predictions(
        y,
        answers,
        scoring=["roc_auc", "neg_log_loss"],
        groups=np.repeat(np.arange(30), 4),
        margin={"roc_auc": 0.05},
        permutation=True,
        slices={"half": np.repeat(["x", "y"], 60)},
        pairs="all",
        n_resamples=199,
        random_state=0,
    )


RESULTS = {
    "plain": lambda: compare_scores(scores_of(["old", "new"]), n_resamples=199, random_state=0),
    "hostile": lambda: compare_scores(scores_of(HOSTILE), n_resamples=199, random_state=0),
    "one": lambda: compare_scores(scores_of(["only"]), n_resamples=199, random_state=0),
    "many": lambda: compare_scores(
        scores_of([f"model {k} of twelve" for k in range(12)]),
        pairs="all",
        n_resamples=199,
        random_state=0,
    ),
    "everything": everything,
    "one-sided": lambda: compare_scores(
        scores_of(["old", "new"]), alternative="better", n_resamples=199, random_state=0
    ),
}


@cache
def made(name):
    return RESULTS[name]()


@pytest.fixture(params=RESULTS)
def result(request):
    return made(request.param)


@pytest.fixture
def without_matplotlib(monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)


def tree_of(html):
    """Parse strictly: any error in the HTML is raised."""
    html5lib = pytest.importorskip("html5lib")
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    page = html.startswith("<!DOCTYPE")
    return parser.parse(html) if page else parser.parseFragment(html)


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def both(result):
    return result.to_html(), result._repr_html_()


def test_pages_and_fragments_are_valid(result, without_matplotlib):
    for html in both(result):
        tree_of(html)


def test_nothing_is_loaded_and_nothing_runs(result, without_matplotlib):
    for html in both(result):
        for element in tree_of(html).iter():
            assert element.tag not in ("script", "link", "iframe", "object", "embed", "base")
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                assert name not in ("src", "href", "srcset", "style")
                assert "javascript:" not in value
        style = "".join(re.findall(r"<style>(.*?)</style>", html, flags=re.DOTALL))
        assert "url(" not in style
        assert "@import" not in style


def test_names_are_text_whatever_they_hold(without_matplotlib):
    found = made("hostile")
    for html in both(found):
        tree = tree_of(html)
        assert all(char.isprintable() or char in "\n\u00a0" for char in html)
        shown = {text_of(cell) for cell in tree.iter("th") if cell.get("scope") == "row"}
        assert shown == {" ".join(visible(name).split()) for name in HOSTILE}
        assert not list(tree.iter("img"))
        assert len(list(tree.iter("h1"))) == html.startswith("<!DOCTYPE")


def test_pages_can_be_read_by_machines_and_by_ear(result, without_matplotlib):
    tree = tree_of(result.to_html())
    assert tree.get("lang") == "en"
    assert text_of(next(tree.iter("title"))) == text_of(next(tree.iter("h1"))) != ""
    levels = [int(e.tag[1]) for e in tree.iter() if re.fullmatch(r"h\d", str(e.tag))]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    tables = list(tree.iter("table"))
    assert tables
    for table in tables:
        assert table[0].tag == "caption"
        assert text_of(table[0])
        assert all(cell.get("scope") in ("col", "row", "rowgroup") for cell in table.iter("th"))


def test_tables_hold_the_numbers_of_markdown(result, without_matplotlib):
    """Markdown is another writer: what both show is what the tables hold."""
    text = re.sub(r"\\(.)|<!-- -->", lambda found: found[1] or "", result.to_markdown())
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    numbers = [row[2:] for row in rows if row[0] not in ("metric", "---")]
    if any("|" in name for name in result.models):
        pytest.skip("cells are split at the mark")
    for html in both(result):
        cells = [
            [text_of(cell) for cell in row.iter("td")]
            for table in tree_of(html).iter("table")
            for row in table.iter("tr")
        ]
        assert [row for row in cells if row] == numbers


def test_a_page_follows_light_and_dark(without_matplotlib):
    page = made("plain").to_html()
    assert "color-scheme: light dark" in page
    assert "@media (prefers-color-scheme: dark)" in page


def test_a_fragment_changes_nothing_else_in_a_notebook(result):
    html = result._repr_html_()
    (style,) = re.findall(r"<style>(.*?)</style>", html, flags=re.DOTALL)
    selectors = [one for rule in re.findall(r"([^{}]+)\{", style) for one in rule.split(",")]
    assert selectors
    assert all(one.strip().startswith(".pairboot-report") for one in selectors)
    tree = tree_of(html)
    assert [element.get("class") for element in tree] == ["pairboot-report"]
    assert not any(element.get("id") for element in tree.iter())
    # Colours are those of the notebook, light or dark.
    assert "prefers-color-scheme" not in style
    assert set(re.findall(r"(?<!-)color: ([^;}]*)", style)) == {"inherit"}


def test_a_page_says_how_it_was_made_req_D21_req_A23(without_matplotlib):
    """Method, resamples, level, unit and its count, tables, wording, how to read them."""
    found = made("everything")
    text = text_of(tree_of(found.to_html()))
    for part in (
        "199 resamples",
        "95 % percentile interval",
        "120 rows in all",
        "30 clusters of 4-4-4 rows",
        "clusters were drawn as a whole with replacement",
        found.method_paragraph(),
        "How to read this report",
    ):
        assert " ".join(part.split()) in text.replace("\u00a0", " ")
    for table in ("Differences", "Margins", "Subgroups", "Scores"):
        assert any(text_of(c).startswith(table) for c in tree_of(found.to_html()).iter("caption"))


def test_without_matplotlib_one_line_names_the_extra(without_matplotlib):
    page = made("plain").to_html()
    assert page.count("pip install sklearn-pairboot[plot]") == 1
    assert "<img" not in page
    assert "matplotlib" not in made("one").to_html()


def test_many_sentences_are_folded(without_matplotlib):
    found = made("many")
    for html in both(found):
        folded = next(tree_of(html).iter("details"))
        assert text_of(folded).startswith(f"{66 - 8} more sentences")
        assert len(list(folded.iter("li"))) == 66 - 8


class Stub:
    """A display as the others are: it draws on axes that it makes, and keeps the figure."""

    def plot(self, ax=None):
        from matplotlib import pyplot

        self.figure_, self.ax_ = pyplot.subplots()
        self.ax_.plot([0, 1], label="a < b & c")
        self.ax_.legend()
        return self


def test_svg_is_repeatable_and_leaves_no_trace():
    pytest.importorskip("matplotlib")
    import matplotlib
    from matplotlib import pyplot

    before, n_open = dict(matplotlib.rcParams), len(pyplot.get_fignums())
    texts = [svg_of(Stub()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert "<dc:date>" not in texts[0]
    assert "a &lt; b &amp; c" in texts[0]
    assert dict(matplotlib.rcParams) == before
    assert len(pyplot.get_fignums()) == n_open


def test_letters_that_only_the_reader_has_are_written_without_warning():
    pytest.importorskip("matplotlib")
    scores = scores_of(["\u6a21\u578b", "b"])  # warnings are errors
    picture = svg_of(DifferenceDisplay.from_result(compare_scores(scores, n_resamples=199)))
    assert "\u6a21\u578b" in picture


@pytest.fixture
def displays():
    pytest.importorskip("matplotlib")


def pictures(page):
    return list(tree_of(page).iter("img"))


@pytest.mark.usefixtures("displays")
@pytest.mark.parametrize("name", ["hostile", "everything", "one-sided"])
def test_a_page_with_figures_is_whole_and_small(name):
    import xml.etree.ElementTree as ElementTree

    found = made(name)
    page = found.to_html()
    assert len(page.encode()) < 500_000
    images = pictures(page)
    assert len(images) == 1 + min(4, len(found.differences))
    for image in images:
        kind, _, code = image.get("src").partition(",")
        assert kind == "data:image/svg+xml;base64"
        svg = ElementTree.fromstring(base64.b64decode(code))
        assert not [e for e in svg.iter() if e.tag.endswith("script")]
        assert image.get("alt")


@pytest.mark.usefixtures("displays")
def test_percentiles_under_a_histogram_are_those_of_the_replicates():
    found = made("plain")
    (numbers,) = (
        row
        for table in tree_of(found.to_html()).iter("table")
        if text_of(table[0]).startswith("Percentiles of new - old")
        for row in table.iter("tr")
        if row.find("td") is not None
    )
    shown = [float(text_of(cell)) for cell in numbers.iter("td")]
    values = np.subtract(*found._distribution.replicates[:, 0, ::-1].T)
    expected = np.percentile(values, [0.5, 2.5, 5, 25, 50, 75, 95, 97.5, 99.5])
    np.testing.assert_allclose(shown, expected, atol=0.00501)


@pytest.mark.usefixtures("displays")
def test_what_is_not_drawn_is_said():
    many = made("many")
    page = many.to_html()
    assert "There is no figure of all differences, which are more than 60" in page
    assert len(pictures(page)) == 4
    read = ComparisonResult.from_json(made("plain").to_json())
    page = read.to_html()
    assert page == read.to_html()
    assert "holds no replicates" in page
    assert len(pictures(page)) == 1


def test_constant_differences_have_no_histogram():
    same = compare_scores({"a": [0.0, 1.0, 1.0], "b": [0.0, 1.0, 1.0]}, n_resamples="exact")
    empty = SimpleNamespace(_facts=same._facts, models=same.models)
    assert not list(figures._histograms(empty, same.differences, same._distribution))
