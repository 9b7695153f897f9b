"""Docstrings: their form by numpydoc's rules, their examples by running them."""

import doctest
import importlib
import inspect
import pkgutil
import re
from importlib.util import find_spec

import pytest

import sklearn_pairboot

# Rules that are not followed, and why. Everything else that numpydoc checks is an error.
NOT_CHECKED_ANYWHERE = {
    "GL01",  # the text begins on the line of the opening quotes
    "GL02",  # the closing quotes of one-line docstrings stand on that line
    "ES01",  # one line may be enough
    "SA01",  # "See Also" only where there is something to see
    "RT02",  # returned values may have a name
    "GL03",  # blank lines: ruff's business
}
NOT_CHECKED_IN_METHODS = {"EX01"}  # the class has the example
NOT_CHECKED_IN_CLASSES_AND_PROPERTIES = {"SS05"}  # they are nouns: no infinitive to begin with
PLOTTING_NEEDS = "matplotlib"


def modules():
    """All modules of the package, private ones too."""
    yield sklearn_pairboot
    for found in pkgutil.walk_packages(sklearn_pairboot.__path__, "sklearn_pairboot."):
        plots = found.name.startswith("sklearn_pairboot.plotting")
        if found.name.endswith("__main__") or (plots and find_spec(PLOTTING_NEEDS) is None):
            continue
        yield importlib.import_module(found.name)


def is_public(module):
    return not any(part.startswith("_") for part in module.__name__.split("."))


def is_ours(thing):
    return getattr(thing, "__module__", "").startswith("sklearn_pairboot")


def members(cls):
    """Names of what the package defines on a class: methods, properties, delegated methods."""
    for owner in cls.__mro__:
        if not is_ours(owner):
            continue
        for name, value in vars(owner).items():
            # set_..._request comes from scikit-learn, with its docstring.
            if name.startswith("_") or re.fullmatch(r"set_\w+_request", name):
                continue
            # `fget` of properties, `fn` of scikit-learn's available_if.
            function = getattr(value, "fget", getattr(value, "fn", inspect.unwrap(value)))
            if inspect.isroutine(function) or inspect.isfunction(function):
                yield name


def public_names():
    """Dotted names of public functions, classes and their members, each object once."""
    seen = set()
    for module in modules():
        for name in getattr(module, "__all__", ()) if is_public(module) else ():
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isroutine(thing)) or thing in seen:
                continue
            seen.add(thing)
            yield f"{module.__name__}:{name}"
            if inspect.isclass(thing):
                for member in sorted(set(members(thing))):
                    yield f"{module.__name__}:{name}.{member}"


def find(name):
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = inspect.getattr_static(found, part)
    return found


PUBLIC_NAMES = list(public_names())


def test_every_public_name_exists():
    for module in modules():
        missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
        assert missing == [], module.__name__


@pytest.mark.newest
@pytest.mark.skipif(find_spec("numpydoc") is None, reason="numpydoc is not installed")
@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_docstring_follows_numpydoc(name):
    from numpydoc.validate import validate

    thing = find(name)
    ignored = set(NOT_CHECKED_ANYWHERE)
    if "." in name.partition(":")[2]:
        ignored |= NOT_CHECKED_IN_METHODS
    if inspect.isclass(thing) or isinstance(thing, property):
        ignored |= NOT_CHECKED_IN_CLASSES_AND_PROPERTIES
    errors = validate(name.replace(":", "."))["errors"]
    assert [f"{code} {text}" for code, text in errors if code not in ignored] == []


def examples():
    """Doctests of every module, class, function and method of the package."""
    finder = doctest.DocTestFinder()
    for module in modules():
        # No globals of the module: an example shows its imports, as its reader needs them.
        for test in finder.find(module, module.__name__, module, globs={"__name__": "__main__"}):
            if test.examples:
                yield test


@pytest.mark.newest
@pytest.mark.parametrize("example", list(examples()), ids=lambda test: test.name)
def test_example_prints_what_it_says(example):
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)
