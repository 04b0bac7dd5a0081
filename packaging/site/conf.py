"""Builds the pages of the offline archive (packaging/offline) from the Markdown of the repository, by Sphinx.

The folder of the sources is a copy of the committed files, so that links between pages, and from pages to files, are
those that the repository has. Sphinx runs with warnings as errors: a link or an anchor that leads nowhere ends it.
"""

import re

from docutils import nodes
from docutils.parsers.rst import Directive

project = "weir"
author = "the weir maintainers"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]

myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]

html_theme = "furo"
html_title = "weir"
html_static_path = ["static"]
html_css_files = ["weir.css"]
html_show_sphinx = False
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # it fetches pages, which browsers refuse of files
html_permalinks = False
html_theme_options = {"top_of_page_buttons": []}
highlight_language = "none"
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

# The pages of the sidebar: a title, and the pages below it. Pages that are in no list stand below the last one.
SHELVES = [
    ("Begin", ["docs/install", "docs/guide", "docs/draft", "docs/spec", "docs/glossary"]),
    ("Reference", ["docs/kinds", "docs/settings", "docs/audit", "docs/claims", "docs/stability"]),
    ("Use", ["docs/databases", "docs/report", "docs/bundle", "docs/auditing", "docs/ci", "docs/editors", "docs/python",
             "docs/r"]),
    ("Privacy", ["docs/privacy", "docs/accounting", "docs/marginals", "SECURITY"]),
    ("Evidence", ["docs/results", "docs/measured", "docs/speed", "docs/papers", "docs/reproduced"]),
]
LAST = "For whoever changes weir"


def toctree(title, pages):
    """Return the Markdown of one list of the sidebar."""
    return "\n\n```{toctree}\n:hidden:\n:caption: " + title + "\n\n" + "\n".join(pages) + "\n```\n"


def plain_folders(app, docname, source):
    """Leave the text alone of links to folders: no page shows a folder."""
    here = (app.srcdir / docname).parent
    source[0] = re.sub(r"\[([^\]]+)\]\(([\w./-]+)\)",
                       lambda link: link[1] if (here / link[2]).is_dir() else link[0], source[0])


def add_shelves(app, docname, source):
    """Append the sidebar to the first page."""
    if docname != root_doc:
        return
    known = sorted(app.env.found_docs - {root_doc})
    listed = [page for _, pages in SHELVES for page in pages]
    for title, pages in SHELVES:
        source[0] += toctree(title, [page for page in pages if page in known])
    source[0] += toctree(LAST, [page for page in known if page not in listed])


class Mermaid(Directive):
    """Shows the picture of a diagram, which .ci/diagram drew and which must be of the same text."""

    has_content = True

    def run(self):
        env = self.state.document.settings.env
        text = "\n".join(self.content)
        path = "docs/pictures/pipeline.svg"
        with open(env.srcdir / path, encoding="utf-8") as file:
            drawn = re.search(r"<!--\n(.*?)\n-->", file.read(), re.DOTALL)
        if drawn is None or drawn.group(1) != text.replace("--", "- -"):
            raise self.error(f"{path} is of another diagram, must be drawn anew by .ci/diagram")
        return [nodes.image(uri="/" + path, alt="Diagram: from the private table to the release")]


def setup(app):
    app.connect("source-read", plain_folders)
    app.connect("source-read", add_shelves)
    app.add_directive("mermaid", Mermaid)
    return {"parallel_read_safe": True}
