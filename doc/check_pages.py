"""Check built pages: links inside lead somewhere, and no page loads anything from elsewhere.

Run it with ``python doc/check_pages.py doc/_build/html``; `make doc` does.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
# Said about a page, not fetched with it.
NOT_FETCHED = {"canonical", "index", "search", "next", "prev", "author", "copyright"}


class Page(HTMLParser):
    """Collect the anchors of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Take note of one tag."""
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        about = set((found.get("rel") or "").split()) & NOT_FETCHED
        if tag in LOADED and found.get(LOADED[tag]) and not about:
            self.loaded.append(found[LOADED[tag]])


def problems(root):
    """List the links that lead nowhere, and what is loaded from elsewhere."""
    pages = {
        file.resolve(): Page(file.read_text(encoding="utf-8"))
        for file in sorted(root.rglob("*.html"))
        if "_static" not in file.parts
    }
    for file, page in pages.items():
        shown = file.relative_to(root.resolve())
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{shown} loads {link}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{shown} links to {link}: no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{shown} links to {link}: no such place"


def main(arguments):
    """Print the problems; the exit status is 1 if there are any."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "index.html").is_file():
        print("usage: python doc/check_pages.py FOLDER_OF_PAGES", file=sys.stderr)
        return 2
    found = sorted(set(problems(Path(arguments[0]))))
    print("\n".join(found) or "All links inside the pages lead somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
