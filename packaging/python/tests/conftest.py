"""A study of ten made-up patients, and a stand-in for the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weir_dp

PATIENTS = """age,ward,outcome
34,north,no
71,south,yes
58,north,yes
22,east,no
45,east,no
80,south,yes
39,north,no
66,south,yes
29,east,no
51,north,yes
"""

DOMAIN = """columns:
  - {name: age, type: integer, bounds: [0, 100]}
  - {name: ward, type: categorical, categories: [north, south, east]}
  - {name: outcome, type: categorical, categories: ["no", "yes"]}
"""

SPEC = """weir: 1
name: study
dataset: {file: patients.csv, domain: domain.yaml, rows_public: 10, budget: {epsilon: 2.5, delta: 1e-5}}
privacy: {epsilon: 1, delta: 1e-6, accountant: rdp, adjacency: replace_one}
seed: 3
stages:
  clean: {kind: bounds, outside: missing}
  train: {kind: independent}
  sample: {kind: sample, rows: 20}
  marginals: {kind: marginals, real: clean, synthetic: sample}
"""


def write(folder: Path) -> None:
    """Write the study into a folder."""
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "domain.yaml").write_text(DOMAIN)
    (folder / "study.yaml").write_text(SPEC)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study, which is the working directory."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> weir_dp.Run:
    """A finished run of the study."""
    folder = tmp_path_factory.mktemp("finished")
    write(folder)
    return weir_dp.run(folder / "study.yaml", out=folder / "runs", yes=True, progress=False)


@pytest.fixture
def charges(study: Path) -> Callable[[], int]:
    """Counts the charges in the ledger of the study."""

    def count() -> int:
        ledger = study / "patients.csv.weir-ledger.jsonl"
        return ledger.read_text().count('"stage":"train"') if ledger.exists() else 0

    return count


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a shell script in the place of weir."""

    def put(script: str) -> None:
        path = tmp_path / "stand-in"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        monkeypatch.setattr("weir_dp._program.program", lambda: path)

    return put


def lines(*documents: dict[str, Any]) -> str:
    """Return objects as weir run --events writes them."""
    return "".join(json.dumps(document) + "\n" for document in documents)
