"""What may import what, and what importing the package may do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_pairboot

pytestmark = pytest.mark.newest  # what files say, and imports of the newest versions

PACKAGE = Path(sklearn_pairboot.__file__).resolve().parent
FILES = sorted(PACKAGE.rglob("*.py"))
ENGINE_FILES = [file for file in FILES if "_engine" in file.relative_to(PACKAGE).parts]
OPTIONAL = ["matplotlib", "pandas", "polars", "pyarrow", "tqdm"]
# tqdm, where it is installed, shows the progress of blocks.
ENGINE_MAY_IMPORT = {"numpy", "scipy", "joblib", "threadpoolctl", "tqdm"} | sys.stdlib_module_names


def name_of(file):
    return file.relative_to(PACKAGE).as_posix()


def names_in(node):
    """Full names that an import statement imports; nothing for other nodes."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_names(file):
    """Every name that a file imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        yield from names_in(node)


def names_imported_at_once(file):
    """Names that are imported when the file is: neither in functions nor under TYPE_CHECKING."""
    nodes = [ast.parse(file.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
            continue
        yield from names_in(node)
        nodes += ast.iter_child_nodes(node)


def run(code):
    """Run code in a fresh interpreter and give what it prints."""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.parametrize("file", ENGINE_FILES, ids=name_of)
def test_engine_imports_numerics_and_itself_only(file):
    foreign = [
        name
        for name in imported_names(file)
        if not name.startswith("sklearn_pairboot._engine")
        and name.split(".")[0] not in ENGINE_MAY_IMPORT
    ]
    assert foreign == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_private_name_of_scikit_learn_is_imported(file):
    private = [
        name
        for name in imported_names(file)
        if name.split(".")[0] == "sklearn"
        # `_safe_indexing` stands in scikit-learn's API reference.
        and any(
            part.startswith("_") and not part.startswith("__") and part != "_safe_indexing"
            for part in name.split(".")
        )
    ]
    assert private == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_file_holds_two_ideas(file):
    n_lines = file.read_text(encoding="utf-8").count("\n")
    assert n_lines <= 500


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_optional_packages_are_imported_inside_functions(file):
    at_import = [name for name in names_imported_at_once(file) if name.split(".")[0] in OPTIONAL]
    assert at_import == []


def test_package_is_imported_without_optional_packages():
    # A None in sys.modules makes an import fail. scikit-learn imports pandas where it can, so
    # looking for pandas in sys.modules afterwards would say nothing about this package.
    loaded = run(
        "import sys\n"
        f"sys.modules |= dict.fromkeys({OPTIONAL})\n"
        "import sklearn_pairboot, sklearn_pairboot.resampling, sklearn_pairboot.cli\n"
        f"print([name for name in {OPTIONAL} if sys.modules[name] is not None])"
    )
    assert loaded == "[]"


def test_import_takes_little_beyond_scikit_learn():
    """What takes time to import, and few need, waits until it is used."""
    loaded = run(
        "import sys, sklearn\n"
        "before = set(sys.modules)\n"
        "import sklearn_pairboot\n"
        "assert set(sys.modules) - before == {'sklearn_pairboot', 'sklearn_pairboot._version'}\n"
        "from sklearn_pairboot import *\n"
        "print('\\n'.join(set(sys.modules) - before))"
    ).split()
    assert "sklearn_pairboot.result" in loaded
    slow = ("ensemble", "linear_model", "neighbors", "svm", "tree", "inspection", "datasets")
    heavy = {*OPTIONAL, *(f"sklearn.{name}" for name in slow)}
    assert [name for name in loaded if name in heavy] == []
    assert [name for name in loaded if name.startswith("sklearn_pairboot._cli")] == []
    # Plots of SciPy's and of others are made with Matplotlib alone.
    assert [name for name in loaded if name.startswith("matplotlib")] == []


def test_names_are_found_when_asked_for():
    package = Path(sklearn_pairboot.__file__).parent
    found = {item.name for item in package.iterdir() if (item / "__init__.py").exists()}
    assert set(sklearn_pairboot._PACKAGES) == {name for name in found if name[0] != "_"} - {
        "report"
    }
    for name in (*sklearn_pairboot.__all__, *sklearn_pairboot._PACKAGES):
        assert getattr(sklearn_pairboot, name) is getattr(sklearn_pairboot, name)
    # What completion offers is what the package offers, and nothing that it imports for itself.
    offered = {name for name in dir(sklearn_pairboot) if not name.startswith("__")}
    assert offered == {*sklearn_pairboot.__all__, *sklearn_pairboot._PACKAGES} - {"__version__"}
    assert {"__doc__", "__file__", "__version__"} <= set(dir(sklearn_pairboot))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        sklearn_pairboot.nothing  # noqa: B018


def test_importing_changes_no_global_state():
    third_party = sorted(
        {
            name.rpartition(".")[0] or name
            for file in FILES
            for name in imported_names(file)
            if name.split(".")[0] in {"sklearn", "numpy", "scipy", "joblib", "narwhals"}
        }
    )
    # The dependencies are imported first: what they do to the filters is not ours.
    changed = run(
        "import importlib, pkgutil, warnings\n"
        "import numpy as np\n"
        f"for name in {third_party}:\n"
        "    importlib.import_module(name)\n"
        "def state():\n"
        "    kind, keys, *rest = np.random.get_state()\n"
        "    return {\n"
        "        'warnings filters': list(warnings.filters),\n"
        "        'random state': (kind, keys.tolist(), rest),\n"
        "        'error state': np.geterr(),\n"
        "        'print options': np.get_printoptions(),\n"
        "    }\n"
        "before = state()\n"
        "import sklearn_pairboot\n"
        "for module in pkgutil.walk_packages(\n"
        "    sklearn_pairboot.__path__, 'sklearn_pairboot.'\n"
        "):\n"
        "    if '.plotting' not in module.name and not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "after = state()\n"
        "print([key for key in before if before[key] != after[key]])"
    )
    assert changed == "[]"
