"""The program: where it is found, and what becomes of whatever it prints."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from conftest import lines

import weir_dp


def test_the_program_is_the_one_of_the_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decoy = tmp_path / "weir"
    decoy.write_text("#!/bin/sh\nexit 7\n")
    decoy.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert weir_dp.program().parent == (Path(sys.prefix) / "bin").resolve()


def test_pip_may_move_the_program(tmp_path: Path) -> None:
    """With --target pip records another place than the one that it moves the program to."""
    (distribution,) = (d for d in metadata.distributions() if d.name == "weir-dp")
    for name in ("weir_dp", f"weir_dp-{distribution.version}.dist-info"):
        shutil.copytree(str(distribution.locate_file(name)), tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "weir").write_text("")
    command = [sys.executable, "-c", "import weir_dp; print(weir_dp.program())"]
    environment = {"PYTHONPATH": str(tmp_path)}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    assert Path(said.strip()) == tmp_path / "bin" / "weir"


def test_the_module_has_the_version_of_the_program() -> None:
    said = subprocess.run([weir_dp.program(), "version"], check=True, capture_output=True, text=True).stdout.split()[1]
    assert weir_dp.__version__ == said.replace("-next", ".dev0")


def test_python_m_passes_on_the_exit_code() -> None:
    command = [sys.executable, "-m", "weir_dp", "check", "absent.yaml"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "absent.yaml" in done.stderr


def test_a_wheel_without_its_program_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("weir_dp._program.distribution", lost)
    with pytest.raises(weir_dp.ProgramNotFoundError, match="is not among the files of weir-dp"):
        weir_dp.program()


def test_much_output_on_both_sides_does_not_block(stand_in: Callable[[str], None], study: Path) -> None:
    """Neither pipe may fill up while the other one is read: more than 64 KiB on each, one after the other."""
    (study / "much").write_text(("m" * 99 + "\n") * 3000)
    stand_in("cat much; cat much >&2; exit 1\n")
    with pytest.raises(weir_dp.StageError) as failed:
        weir_dp.run("study.yaml", progress=False)
    assert str(failed.value).count("m" * 99) == 3000


def test_nothing_is_read_from_standard_input() -> None:
    """weir takes - for standard input, which is empty, not a pipe that nobody writes to."""
    script = "import weir_dp; print(weir_dp.check('-')); weir_dp.plan('-')"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60)
    assert "is an empty document, must be a YAML mapping" in done.stdout
    assert "SpecError" in done.stderr


def test_a_crash_keeps_what_was_said(stand_in: Callable[[str], None], study: Path) -> None:
    stand_in("echo 'panic: no' >&2; kill -9 $$")
    with pytest.raises(weir_dp.WeirError, match="panic: no") as failed:
        weir_dp.run("study.yaml", progress=False)
    assert failed.value.code == -9


def test_notes_are_logged_as_warnings(
    stand_in: Callable[[str], None], study: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (study / "said").write_text(lines({"event": "note", "text": "look"}, {"event": "text", "text": "aside"}))
    stand_in('[ "$1" = run ] && cat said >&2; exit 1')
    with caplog.at_level(logging.INFO, "weir_dp"), pytest.raises(weir_dp.StageError):
        weir_dp.run("study.yaml", progress=False)
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("WARNING", "look"), ("INFO", "aside")]


def test_arguments_that_look_like_flags_are_names(study: Path) -> None:
    with pytest.raises(weir_dp.SpecError, match="--yes"):
        weir_dp.run("--yes", progress=False)
