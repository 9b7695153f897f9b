"""The project's files agree with one another."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import sklearn_pairboot

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def pins():
    lines = (ROOT / ".ci" / "floors.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_version_is_the_installed_one():
    assert metadata.version("sklearn-pairboot") == sklearn_pairboot.__version__


def test_changelog_has_a_section_for_the_version():
    release = re.match(r"\d+\.\d+\.\d+", sklearn_pairboot.__version__).group()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(release)} ", changelog, flags=re.MULTILINE)


def test_extras_are_installable_by_name():
    extras = set(metadata.metadata("sklearn-pairboot").get_all("Provides-Extra"))
    assert extras == {"plot", "cli", "progress", "test", "doc", "dev"}


def test_command_is_installed():
    (command,) = metadata.entry_points(group="console_scripts", name="sklearn-pairboot")
    assert command.value == "sklearn_pairboot.cli:main"


def test_package_is_typed():
    assert (Path(sklearn_pairboot.__file__).parent / "py.typed").is_file()


def test_runtime_dependencies_are_the_documented_ones(project):
    names = [re.match(r"[\w-]+", requirement).group() for requirement in project["dependencies"]]
    assert names == ["scikit-learn", "numpy", "scipy", "joblib", "narwhals", "threadpoolctl"]


def test_floors_that_are_tested_are_the_declared_ones(project, pins):
    extras = project["optional-dependencies"]
    requirements = project["dependencies"] + extras["plot"] + extras["cli"]
    requirements += [line for line in extras["test"] if line.startswith("polars")]
    floors = dict(requirement.split(">=") for requirement in requirements)
    assert pins.keys() == floors.keys()
    for name, floor in floors.items():
        assert f"{pins[name]}.".startswith(f"{floor}."), name
