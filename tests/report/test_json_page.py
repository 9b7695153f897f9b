"""The page on JSON names every key that is written, with its type, and no other."""

import json
import re
from pathlib import Path

import pytest

from sklearn_pairboot import compare_scores
from sklearn_pairboot.report.storage import FORMAT, FORMAT_VERSION

PAGE = Path(__file__).resolve().parents[2] / "doc" / "json.rst"
KEY = re.compile(r"^``(\w+)`` : (.*)$", flags=re.MULTILINE)
SCORES = {"old": [0, 1, 0, 0, 1, 1, 0, 1], "new": [1, 1, 1, 0, 0, 1, 1, 1]}
KINDS = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@pytest.fixture(scope="module")
def written():
    result = compare_scores(
        SCORES, margin=0.1, slices={"half": list("aaaabbbb")}, n_resamples=199, random_state=0
    )
    return json.loads(result.to_json())


def section(title):
    page = PAGE.read_text(encoding="utf-8")
    rest = page.partition(f"\n{title}\n{'-' * len(title)}\n")[2]
    return dict(KEY.findall(re.split(r"\n-{3,}\n", rest)[0]))


def check(value, kind):
    if value is None:
        return  # an undefined number, or nothing
    names = [word for word in re.findall(r"\w+", kind.partition(" of ")[0]) if word in KINDS]
    assert isinstance(value, tuple(KINDS[name] for name in names)), kind


def test_the_object_has_these_keys(written):
    described = section("The object")
    assert list(described) == list(written)
    for key, kind in described.items():
        check(written[key], kind)


@pytest.mark.parametrize("table", ["metrics", "scores", "differences", "monte_carlo", "slices"])
def test_tables_have_these_keys(written, table):
    described = section(table)
    assert written[table]
    for row in written[table]:
        assert list(described) == list(row)
        for key, kind in described.items():
            check(row[key], kind)


def test_the_format_and_its_version_are_named():
    described = PAGE.read_text(encoding="utf-8")
    assert f'Always ``"{FORMAT}"``' in described
    assert f"Version of this format: {FORMAT_VERSION}." in described
