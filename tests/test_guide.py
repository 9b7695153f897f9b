"""The pages of the documentation: their examples print what they say, and they say what they must.

After a change of an output, ``python tests/test_guide.py --update`` writes the new one into the
pages; read the difference before you keep it. Pages written by a script have tests of their own.
"""

import contextlib
import doctest
import io
import re
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.newest

ROOT = Path(__file__).resolve().parents[1]
WRITTEN_BY_SCRIPTS = {"performance.rst", "coverage.rst", "scorers.rst"}
PAGES = sorted(
    page
    for page in [*(ROOT / "doc").glob("*.rst"), *(ROOT / "doc" / "guide").glob("*.rst")]
    if page.name not in WRITTEN_BY_SCRIPTS
)
# A block of Python, and the block of text that shows what it prints.
LISTING = re.compile(
    r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)"
    r"(?:\.\. code-block:: text\n\n((?:(?:   .*)?\n)+))?",
    flags=re.MULTILINE,
)
PROMPTS = re.compile(r"^>>> .*\n(?:(?!\n).*\n)*", flags=re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# Warnings, refusals and statements that the articles behind the project ask for, and what the
# documentation has to say besides. Each is named in a comment beside the text that says it.
STATEMENTS = """
A02 A03 A04 A06 A07 A12 A13 A14 A15 A16 A20 A22 A23 A26 A27 A28 A29 A30 A31 A32 A33
B02 B04 B07 B08 B11 B12 B13 B14 B15 B16 B19
C02 C03 C04 C07 C08 C09 C12 C17 C18 C19 C20 C21 C22 C23
D03 D05 D10 D12 D13 D14 D17 D18 D20 D21 D22 D23
E05 E06 E07 E09 E11 E12 E15 E17 E18 E20 E25 E30 E31 E33 E34 E35
""".split()


def _printed(code, namespace, page):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), namespace)
    return printed.getvalue()


def with_real_output(page):
    """Give the text of a page with the output that its examples have now."""
    text, namespace, pieces, end = page.read_text(encoding="utf-8"), {}, [], 0
    parser = doctest.DocTestParser()
    blocks = sorted(
        [*LISTING.finditer(text), *PROMPTS.finditer(text)], key=lambda found: found.start()
    )
    for found in blocks:
        pieces.append(text[end : found.start()])
        end = found.end()
        if found.re is PROMPTS:
            for example in parser.get_examples(found[0]):
                first, *others = example.source.splitlines()
                pieces.append("".join([f">>> {first}\n", *(f"... {line}\n" for line in others)]))
                output = _printed_by_prompt(example.source, namespace, page)
                agrees = doctest.OutputChecker().check_output(example.want, output, OPTIONS)
                pieces.append(example.want if agrees else output)
        else:
            output = _printed(textwrap.dedent(found[1]), namespace, page)
            pieces.append(f".. code-block:: python\n\n{found[1]}")
            if output:
                shown = textwrap.indent(output, "   ", lambda line: line.strip() != "")
                pieces.append(f".. code-block:: text\n\n{shown}\n")
    return "".join([*pieces, text[end:]])


def _printed_by_prompt(source, namespace, page):
    """Run one statement as the interpreter does, which shows the value of an expression."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(page), "single"), namespace)
    return printed.getvalue()


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_print_what_the_page_says(page):
    assert with_real_output(page) == page.read_text(encoding="utf-8")


def test_an_output_that_changed_is_found(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text("Sum\n\n>>> 1 + 1\n3\n\nEnd\n", encoding="utf-8")
    assert with_real_output(page) == "Sum\n\n>>> 1 + 1\n2\n\nEnd\n"


@pytest.mark.parametrize("requirement", STATEMENTS, ids=lambda name: f"req_{name}")
def test_documentation_states(requirement):
    beside = re.compile(rf"^\.\. (?:req_\w+ )*req_{requirement}( req_\w+)*\n", flags=re.MULTILINE)
    assert any(beside.search(page.read_text(encoding="utf-8")) for page in PAGES)


def test_statements_are_those_that_were_asked_for(shared):
    text = (shared / "REQUIREMENTS.md").read_text(encoding="utf-8")
    asked = set(re.findall(r"^\| (\w\d\d) \| (?:C/)?W", text, flags=re.MULTILINE))
    beside = {"A02", "A23", "B08", "B14", "D10", "D21", "E05", "E07", "E30", "E31", "E34"}
    assert set(STATEMENTS) == asked | beside


def test_initials_of_an_author_do_not_begin_a_list():
    # reStructuredText takes "B. Efron", alone on its line, for the second item of a list.
    alone = re.compile(
        r"^ *(?:-|\.\. \[\d\]) [A-Z]\. .*\n(?=\s*(?:\n|-|\.\. |\"{3}|$))", re.MULTILINE
    )
    sources = [*PAGES, *(ROOT / "sklearn_pairboot").rglob("*.py")]
    assert [found for file in sources for found in alone.findall(file.read_text("utf-8"))] == []


def test_every_page_is_in_a_table_of_contents():
    entries = set()
    for page in PAGES:
        for toctree in re.findall(
            r"^\.\. toctree::\n((?:(?:   .*)?\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE
        ):
            names = re.findall(r"^   ([\w/]+)$", toctree, flags=re.MULTILINE)
            entries |= {(page.parent / f"{name}.rst").resolve() for name in names}
    written = {ROOT / "doc" / name for name in WRITTEN_BY_SCRIPTS}
    assert {page for page in {*PAGES, *written} if page not in entries} == {ROOT / "doc/index.rst"}


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: python tests/test_guide.py --update")
    for changed in PAGES:
        changed.write_text(with_real_output(changed), encoding="utf-8")
