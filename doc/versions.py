"""Write the list of versions that the switcher of the pages reads, and the entry page.

Run it with ``python doc/versions.py SITE ADDRESS``, where SITE has one folder for each version
(``dev``, and the names of the tags) and ADDRESS is where the site will be. The workflow that
publishes the pages does.
"""

import json
import re
import sys
from pathlib import Path

TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
ENTRY = """<!doctype html>
<meta charset="utf-8">
<title>sklearn-pairboot</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<a href="{folder}/index.html">sklearn-pairboot</a>
"""


def released(folders):
    """Sort the names of released versions, the newest first."""
    found = [match for match in map(TAG.fullmatch, folders) if match]
    found.sort(key=lambda match: tuple(map(int, match.groups())), reverse=True)
    return [match[0] for match in found]


def entries(folders, address):
    """List what the switcher offers: the development version, and releases, newest first."""
    tags = released(folders)
    listed = ["dev", *tags] if "dev" in folders else tags
    return [
        {
            "name": f"{version} (stable)" if version in tags[:1] else version,
            "version": version,
            "url": f"{address.rstrip('/')}/{version}/",
            "preferred": version in tags[:1],
        }
        for version in listed
    ]


def write(site, address):
    """Write ``switcher.json`` and ``index.html`` into the site's folder."""
    site = Path(site)
    folders = {folder.name for folder in site.iterdir() if folder.is_dir()}
    text = json.dumps(entries(folders, address), indent=2) + "\n"
    (site / "switcher.json").write_text(text, encoding="utf-8")
    newest = (released(folders) or ["dev"])[0]
    (site / "index.html").write_text(ENTRY.format(folder=newest), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python doc/versions.py SITE ADDRESS")
    write(*sys.argv[1:])
