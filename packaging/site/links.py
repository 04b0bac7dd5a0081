"""Checks the built pages of a folder: links.py FOLDER.

Every link and picture leads to a file of the folder, every anchor to an element with that id, and nothing is loaded
from a network. Prints each fault as PAGE: ADDRESS: what is wrong, and exits with 1 where there is one.
"""

import html.parser
import pathlib
import sys
import urllib.parse

LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(html.parser.HTMLParser):
    """The ids of a page, and what it links to and loads, as (tag, attribute, address)."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(attrs[name] for name in ("id", "name") if attrs.get(name))
        for name in ("href", "src"):
            if attrs.get(name) is not None:
                self.links.append((tag, name, attrs[name]))


def faults(folder):
    """Yield each fault of the pages below a folder."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for tag, name, address in page.links:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                if (tag, name) in LOADING and parts.scheme != "data":
                    yield path, address, "is loaded from a network"
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield path, address, "no such file"
            elif target.is_dir():
                yield path, address, "is a folder, must be a page"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                yield path, address, "no such anchor"


def main():
    folder = pathlib.Path(sys.argv[1])
    found = list(faults(folder))
    for path, address, fault in found:
        print(f"{path.relative_to(folder.resolve())}: {address}: {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
