"""Prints the licences of the packages whose scripts and styles are in the built pages, from the packages themselves."""

import importlib.metadata
import sys

WORKS = ["furo", "Pygments", "Sphinx", "sphinx-basic-ng"]


def texts(name):
    """Return the texts of a package's licence files, in the order of their paths."""
    files = importlib.metadata.distribution(name).files or []
    found = [file for file in sorted(files, key=str)
             if ".dist-info" in str(file) and any(word in file.name.upper() for word in ("LICENSE", "LICENCE", "AUTHORS"))]
    return [file.read_text(encoding="utf-8") for file in found]


def main():
    for name in WORKS:
        found = texts(name)
        if not found:
            sys.exit(f"{name}: has no file of a licence, must have one")
        version = importlib.metadata.version(name)
        print(f"{name} {version}\n{'=' * 100}\n" + "\n".join(text.strip() + "\n" for text in found))


if __name__ == "__main__":
    main()
