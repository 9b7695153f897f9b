"""How Sphinx builds the documentation. Building it asks nothing of the network."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "Agg")

import _api_pages  # noqa: E402

from sklearn_pairboot import __version__  # noqa: E402

project = "sklearn-pairboot"
author = "The sklearn-pairboot developers"
copyright = author
release = __version__
version = re.match(r"\d+\.\d+", release).group()

extensions = [
    "_links",
    "_mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/README.rst"]
default_role = "name"
nitpicky = True
html_math_renderer = "mathml"
# The types of other projects in "See Also"; docstrings name them in full.
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib)\..*")]
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold a function

# --- Reference ----------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Links to other projects are looked up over the network only when asked for.
if os.environ.get("PAIRBOOT_DOC_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "numpy": ("https://numpy.org/doc/stable", None),
        "python": ("https://docs.python.org/3", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# --- Gallery ------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"[\\/]plot_",
    "ignore_pattern": r"^(?!plot_)",
    "write_computation_times": False,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sklearn_pairboot",),
    "backreferences_dir": None,
    "reference_url": {"sklearn_pairboot": None},
}

# --- Pages --------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"sklearn-pairboot {release}"
html_static_path = ["_static"]
html_css_files = ["pairboot.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages without others beside them have no list of others, but one of their sections. The code on
# pages of the guide, and the table of packages, need the width.
_ALONE = [
    *"start command_line scorers json faq glossary".split(),
    *"engine performance coverage peers changelog contributing".split(),
]
_SECTIONS = ["page-toc"]
html_sidebars = {page: [] for page in _ALONE}
html_theme_options = {
    "logo": {"text": "sklearn-pairboot"},
    "navbar_align": "left",
    "header_links_before_dropdown": 4,
    "show_prev_next": True,
    "secondary_sidebar_items": {
        "api/**": _SECTIONS,
        "gallery/**": _SECTIONS,
        **{page: _SECTIONS for page in _ALONE if page != "peers"},
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
}
# Several versions side by side: the workflow that publishes them names the list of versions.
if os.environ.get("PAIRBOOT_DOC_VERSIONS"):
    html_theme_options["switcher"] = {
        "json_url": os.environ["PAIRBOOT_DOC_VERSIONS"],
        "version_match": os.environ.get("PAIRBOOT_DOC_VERSION", "dev"),
    }
    html_theme_options["navbar_start"] = ["navbar-logo", "version-switcher"]
    html_theme_options["check_switcher"] = False


def _skip_members_of_scikit_learn(app, what, name, member, skip, options):
    """Leave out what every scikit-learn estimator has: it is documented there."""
    inherited = re.fullmatch(r"set_\w+_request|get_metadata_routing|get_params|set_params", name)
    return True if inherited else None


def setup(app):
    """Write the API pages before Sphinx looks for pages."""
    _api_pages.write(HERE / "api")
    app.connect("autodoc-skip-member", _skip_members_of_scikit_learn)
