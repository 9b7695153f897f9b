"""Pages of the API reference, written from the packages' ``__all__`` when the pages are built."""

import importlib
import inspect
from pathlib import Path

# Public modules, in the order of the reference: what is in none of their ``__all__`` is not public.
MODULES = (
    "sklearn_pairboot",
    "sklearn_pairboot.resampling",
    "sklearn_pairboot.metrics",
    "sklearn_pairboot.calibration",
    "sklearn_pairboot.inference",
    "sklearn_pairboot.agreement",
    "sklearn_pairboot.planning",
    "sklearn_pairboot.protocol",
    "sklearn_pairboot.training",
    "sklearn_pairboot.plotting",
)


def public_names(module):
    """List what a module offers: classes first, then functions."""
    names = [name for name in getattr(module, "__all__", ()) if not name.startswith("_")]
    return sorted(names, key=lambda name: (not inspect.isclass(getattr(module, name)), name))


def pages():
    """Make the text of every page, by its name."""
    seen = set()
    made = {}
    for path in MODULES:
        module = importlib.import_module(path)
        # An object that two modules offer has one page, under the shorter path.
        own = [name for name in public_names(module) if id(getattr(module, name)) not in seen]
        seen |= {id(getattr(module, name)) for name in own}
        if own:
            made[path.rpartition(".")[2]] = _page(path, inspect.getdoc(module) or "", own)
    listed = "".join(f"   {name}\n" for name in made)
    made["index"] = f"{_title('API reference')}\n.. toctree::\n   :maxdepth: 1\n\n{listed}"
    return made


def _title(text):
    return f"{text}\n{'=' * len(text)}\n"


def _page(path, docstring, names):
    entries = "".join(f"   {name}\n" for name in names)
    table = f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{entries}"
    return f"{_title(path)}\n{docstring}\n\n.. currentmodule:: {path}\n\n{table}"


def write(folder):
    """Write all pages into a folder; a page that has not changed is not touched."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for name, text in made.items():
        file = folder / f"{name}.rst"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for file in folder.glob("*.rst"):
        if file.stem not in made:
            file.unlink()
