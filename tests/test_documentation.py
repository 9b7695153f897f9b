"""The pages of numbers and of scorers are what their scripts write, and these scripts run."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

pytestmark = pytest.mark.newest

ROOT = Path(__file__).resolve().parents[1]
PERFORMANCE = ROOT / "doc" / "performance.rst"
SCORERS = ROOT / "doc" / "scorers.rst"
RESULTS = ROOT / "benchmarks" / "results"
MAKE_PERFORMANCE = ROOT / "benchmarks" / "make_page.py"
MAKE_SCORERS = ROOT / "doc" / "make_scorer_table.py"
CELL = re.compile(r"^   (?:\*| ) - (.*)$", flags=re.MULTILINE)


def run(script, *arguments):
    return subprocess.run(
        [sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True
    )


def table_under(title, page):
    """Read the first table of a section, without its header, as rows of strings."""
    text = page.partition(f"\n{title}\n{'-' * len(title)}\n")[2].partition("list-table::")[2]
    lines = text.partition("   * -")[2].partition("\n\n")[0]
    rows = [CELL.findall("   * -" + row) for row in lines.split("\n   * -")]
    return rows[1:]


def test_performance_page_is_what_its_script_writes():
    checked = run(MAKE_PERFORMANCE, "--check")
    assert checked.returncode == 0, checked.stderr


def test_performance_page_shows_the_measured_numbers():
    rows = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))["rows"]
    shown = table_under("Against the plain loop", PERFORMANCE.read_text(encoding="utf-8"))
    assert len(shown) == len(rows) > 0
    for row, (work, n_rows, asked, measured) in zip(rows, shown, strict=True):
        assert (work, n_rows) == (row["work"], f"{row['n_rows']:,}")
        assert asked == ("–" if row["asked"] is None else f"{row['asked']:,}")
        assert float(measured.replace(",", "")) <= row["ratio"]
        assert math.isclose(row["ratio"], row["loop_s"] / row["ours_s"], rel_tol=2e-3)


def test_performance_page_names_what_falls_short():
    rows = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))["rows"]
    page = PERFORMANCE.read_text(encoding="utf-8")
    section = page.partition("Against the plain loop\n")[2].partition("By rows,")[0]
    named = set(re.findall(r"^- (.*) at ([\d,]+) rows \(", section, flags=re.MULTILINE))
    short = {
        (r["work"], f"{r['n_rows']:,}") for r in rows if r["asked"] and r["ratio"] < r["asked"]
    }
    assert named == short


def test_performance_page_says_which_command_makes_it():
    head = PERFORMANCE.read_text(encoding="utf-8").splitlines()[:10]
    assert "``python benchmarks/make_page.py``" in " ".join(head)


def test_check_of_the_performance_page_finds_a_changed_number(tmp_path):
    page = PERFORMANCE.read_text(encoding="utf-8")
    head, header, table = page.partition("     - measured\n")
    changed = head + header + table.replace("     - 1,000\n", "     - 1,001\n", 1)
    assert changed != page
    (tmp_path / "page.rst").write_text(changed, encoding="utf-8")
    checked = run(MAKE_PERFORMANCE, "--check", "--page", tmp_path / "page.rst")
    assert checked.returncode == 1
    assert "page.rst is not what benchmarks/make_page.py writes" in checked.stderr


def test_numbers_of_different_machines_make_no_page(tmp_path):
    for file in RESULTS.glob("*.json"):
        numbers = json.loads(file.read_text(encoding="utf-8"))
        if file.stem == "memory":
            numbers["environment"]["processor"] = "another"
        (tmp_path / file.name).write_text(json.dumps(numbers), encoding="utf-8")
    made = run(MAKE_PERFORMANCE, "--results", tmp_path, "--page", tmp_path / "page.rst")
    assert made.returncode == 1
    assert made.stderr == "`environment` of memory is not that of speed: run them together.\n"


def test_benchmarks_run(tmp_path):
    results, page = tmp_path / "results", tmp_path / "page.rst"
    made = run(MAKE_PERFORMANCE, "--run", "--quick", "--results", results, "--page", page)
    assert made.returncode == 0, made.stderr
    of_coverage = {"coverage.json", "calibration_errors.json"}  # test_coverage.py
    measured = {file.name for file in RESULTS.iterdir()} - of_coverage
    assert {file.name for file in results.iterdir()} == measured
    text = page.read_text(encoding="utf-8")
    assert "a trial with tiny sizes" in text
    assert "sklearn-pairboot" in text.partition("Other packages\n")[2]


def test_scorer_page_is_what_its_script_writes():
    made_with = re.search(r"^Made with scikit-learn (\d+\.\d+)", SCORERS.read_text(), re.MULTILINE)
    if sklearn.__version__.split(".")[:2] != made_with[1].split("."):
        pytest.skip(f"the page was made with scikit-learn {made_with[1]}")
    checked = run(MAKE_SCORERS, "--check")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("page", [PERFORMANCE, SCORERS], ids=lambda page: page.name)
def test_pages_can_be_read_by_docutils_alone(page):
    core = pytest.importorskip("docutils.core")
    settings = {"report_level": 2, "halt_level": 2, "_disable_config": True}
    tree = core.publish_doctree(page.read_text(encoding="utf-8"), settings_overrides=settings)
    assert [node["classes"] for node in tree.findall() if node.tagname == "system_message"] == []
    assert any(node.tagname == "table" for node in tree.findall())
