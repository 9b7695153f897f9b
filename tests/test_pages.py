"""What builds and publishes the pages, and the project's files for those who come to it."""

import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import sklearn_pairboot

pytestmark = pytest.mark.newest  # texts and scripts, not the package

ROOT = Path(__file__).resolve().parents[1]
api = runpy.run_path(str(ROOT / "doc" / "_api_pages.py"))
check = runpy.run_path(str(ROOT / "doc" / "check_pages.py"))
versions = runpy.run_path(str(ROOT / "doc" / "versions.py"))


def public_objects():
    """Everything in the `__all__` of a package that has no underscore in its path."""
    for found in pkgutil.iter_modules(sklearn_pairboot.__path__, "sklearn_pairboot."):
        if not found.ispkg or found.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            yield f"{found.name}.{name}", getattr(module, name)


def listed_objects():
    for path in api["MODULES"]:
        page = api["pages"]().get(path.rpartition(".")[2], "")
        names = page.partition(":nosignatures:")[2].split()
        for name in names:
            yield getattr(importlib.import_module(path), name)


def test_every_public_name_is_in_the_reference():
    listed = {id(thing) for thing in listed_objects()}
    assert listed
    assert [path for path, thing in public_objects() if id(thing) not in listed] == []
    of_the_top = set(sklearn_pairboot.__all__) - {"__version__"}
    assert {
        name for name in of_the_top if id(getattr(sklearn_pairboot, name)) not in listed
    } == set()


def test_reference_lists_nothing_twice():
    listed = [id(thing) for thing in listed_objects()]
    assert len(listed) == len(set(listed))


def test_pages_of_names_that_are_gone_are_removed(tmp_path):
    (tmp_path / "old.rst").write_text("old", encoding="utf-8")
    api["write"](tmp_path)
    assert {file.stem for file in tmp_path.iterdir()} == set(api["pages"]())


@pytest.fixture
def site(tmp_path):
    (tmp_path / "index.html").write_text(
        '<h1 id="top">A</h1><a href="sub/b.html#there">b</a><a href="#top">up</a>', encoding="utf-8"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text(
        '<p id="there"><a href="../index.html">a</a><a href="https://example.org">c</a>',
        encoding="utf-8",
    )
    return tmp_path


def test_pages_whose_links_lead_somewhere_pass(site, capsys):
    assert check["main"]([str(site)]) == 0
    assert capsys.readouterr().out == "All links inside the pages lead somewhere.\n"


@pytest.mark.parametrize(
    "html, problem",
    [
        ('<a href="c.html">', "index.html links to c.html: no such file"),
        ('<a href="sub/b.html#no">', "index.html links to sub/b.html#no: no such place"),
        ('<a href="#no">', "index.html links to #no: no such place"),
        ('<img src="no.png">', "index.html links to no.png: no such file"),
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "index.html loads https://cdn.example.org/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example.org/x.css">',
            "index.html loads //fonts.example.org/x.css",
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_said(site, capsys, html, problem):
    (site / "index.html").write_text(html, encoding="utf-8")
    assert check["main"]([str(site)]) == 1
    assert capsys.readouterr().out == f"{problem}\n"


def test_folder_without_pages_is_refused(tmp_path, capsys):
    assert check["main"]([str(tmp_path)]) == 2
    assert capsys.readouterr().err == "usage: python doc/check_pages.py FOLDER_OF_PAGES\n"


def test_versions_are_sorted_as_numbers_and_the_newest_is_stable():
    found = versions["entries"]({"dev", "v0.9.0", "v0.10.0", "images"}, "https://x.org/pages/")
    assert [entry["version"] for entry in found] == ["dev", "v0.10.0", "v0.9.0"]
    assert [entry["preferred"] for entry in found] == [False, True, False]
    assert found[1]["name"] == "v0.10.0 (stable)"
    assert found[2]["url"] == "https://x.org/pages/v0.9.0/"


def test_entry_page_leads_to_the_newest_version(tmp_path):
    for folders, newest in ((["dev"], "dev"), (["v0.1.0"], "v0.1.0")):
        for folder in folders:
            (tmp_path / folder).mkdir()
        versions["write"](tmp_path, "https://x.org")
        assert f'href="{newest}/index.html"' in (tmp_path / "index.html").read_text("utf-8")
        assert f'"version": "{newest}"' in (tmp_path / "switcher.json").read_text("utf-8")


def test_citation_has_what_the_schema_asks_for():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([\w-]+): *(.*)$", text, flags=re.MULTILINE))
    assert {"cff-version", "message", "title", "authors"} <= set(fields)
    assert fields["cff-version"] == "1.2.0"
    assert fields["type"] in {"software", "dataset"}
    assert fields["version"] == sklearn_pairboot.__version__
    assert re.search(r"^authors:\n  - name: \S", text, flags=re.MULTILINE)


def test_github_files_can_be_read():
    yaml = pytest.importorskip("yaml")
    files = sorted((ROOT / ".github").rglob("*.yml"))
    assert len(files) >= 6
    for file in files:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
        if file.parent.name == "ISSUE_TEMPLATE" and file.stem != "config":
            assert {"name", "description", "body"} <= set(found), file.name
            ids = [part["id"] for part in found["body"] if part["type"] != "markdown"]
            assert len(ids) == len(set(ids)) > 0


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md"])
def test_files_for_contributors_name_files_that_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:doc|tests|examples|\.ci)/[\w./-]+\w)`", text))
    assert {path for path in named if not (ROOT / path).exists()} <= {"doc/_build/html"}
