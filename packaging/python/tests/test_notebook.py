"""The notebook of the examples runs, and shows no figure of private rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

import weir_dp

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def executed(folder: Path) -> Any:
    """Return the notebook, run in a copy of the examples."""
    for name in ("cardio", "notebook"):
        shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("runs"))
    notebook: Any = nbformat.read(folder / "notebook" / "quickstart.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder / "notebook")}})
    client.execute()
    return notebook


def test_the_notebook_runs_and_shows_no_private_figure(tmp_path: Path) -> None:
    notebook = executed(tmp_path)
    (run,) = [weir_dp.Run.open(file.parent) for file in (tmp_path / "notebook").glob("runs/*/*/run.json")]
    figures = [text for text in map(repr, run.internal.figures.values()) if len(text) > 10]  # no number by chance
    assert len(figures) > 100
    outputs = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    assert not [figure for figure in figures if figure in outputs]
    assert "clean, marginals, sample, train, utility: done" in outputs


def test_the_committed_notebook_is_small_and_was_run() -> None:
    text = (EXAMPLES / "notebook" / "quickstart.ipynb").read_text()
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]
    assert len(text) < 50_000
    assert "image/" not in text
    assert str(Path.home()) not in text
