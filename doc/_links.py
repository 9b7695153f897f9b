"""Links from names in the text: `compare_scores` leads to its page, `y_true` is just code.

Single backticks try to be a link, and are code if nothing of the package has that name. Names in
"See Also" must lead somewhere.
"""

from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode

# Attributes are left out: their names (`scores`, `estimate`) are words of everyday use.
LINKED = {"class", "function", "module", "exception"}


class NameRole(XRefRole):
    """A name that may be one of the package."""

    def process_link(self, env, refnode, has_explicit_title, title, target):
        """Make it a reference to a Python object that need not exist."""
        refnode["refdomain"], refnode["reftype"] = "py", "obj"
        refnode["py:module"] = env.ref_context.get("py:module")
        refnode["py:class"] = env.ref_context.get("py:class")
        refnode["may_be_code"] = True
        return title, target


def find_by_last_name(app, env, node, contnode):
    """Find what is named without its module, as its reader would."""
    if node.get("refdomain") != "py":
        return None
    objects = env.get_domain("py").objects
    matches = [
        name
        for name, found in objects.items()
        if name.endswith(f".{node['reftarget']}") and found.objtype in LINKED
    ]
    if matches:
        found = objects[min(matches, key=len)]
        return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode)
    return contnode if node.get("may_be_code") else None


def setup(app):
    """Register the role, and the search for what Sphinx does not find by itself."""
    app.add_role("name", NameRole())
    app.connect("missing-reference", find_by_last_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
