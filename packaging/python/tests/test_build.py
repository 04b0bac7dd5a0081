"""build: the wheel of a binary says what the binary is."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"

PROGRAM = """package main

import "fmt"

func main() { fmt.Println(`{"weir": "0.1.0-next+c0ffee.dirty"}`) }
"""

PLATFORMS = {
    "linux/amd64": "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def compiled(folder: Path, platform: str, **more: str) -> Path:
    """Return a small program that answers as weir version --json does."""
    system, _, machine = platform.partition("/")
    (folder / "go.mod").write_text("module small\n\ngo 1.25\n")
    (folder / "main.go").write_text(PROGRAM)
    program = folder / f"{system}-{machine}"
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine, "GOFLAGS": "-trimpath", **more}
    subprocess.run(["go", "build", "-o", program.name, "."], cwd=folder, env=environment, check=True)
    return program


def build(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, BUILD, *arguments], check=False, capture_output=True, text=True)


def test_each_platform_has_its_wheel(tmp_path: Path) -> None:
    programs = [compiled(tmp_path, platform) for platform in PLATFORMS]
    done = build(*programs, tmp_path / "wheels")
    assert done.returncode == 0, done.stderr
    for program, tags in zip(programs, PLATFORMS.values(), strict=True):
        (wheel,) = [
            w for w in (tmp_path / "wheels").iterdir() if sorted(w.stem.split("-")[-1].split(".")) == tags.split(".")
        ]
        assert wheel.name.startswith("weir_dp-0.1.0.dev0+c0ffee.dirty-py3-none-")
        with zipfile.ZipFile(wheel) as archive:
            name = "weir.exe" if "windows" in program.name else "weir"
            script = archive.getinfo(f"weir_dp-0.1.0.dev0+c0ffee.dirty.data/scripts/{name}")
            assert archive.read(script) == program.read_bytes()
            assert script.external_attr >> 16 & 0o111 == 0o111
            record = archive.read("weir_dp-0.1.0.dev0+c0ffee.dirty.dist-info/RECORD").decode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(program.read_bytes()).digest()).rstrip(b"=").decode()
            assert f"scripts/{name},sha256={digest}," in record
            assert "weir_dp/py.typed" in archive.namelist()


def test_equal_binaries_give_equal_bytes(tmp_path: Path) -> None:
    """Whatever the folder, the time, and how its files were copied."""
    program = compiled(tmp_path, "linux/amd64")
    other = tmp_path / "elsewhere" / "weir"
    other.parent.mkdir()
    shutil.copyfile(program, other)
    other.chmod(0o700)
    assert build(program, tmp_path / "one").returncode == build(other, tmp_path / "two").returncode == 0
    (one,), (two,) = (tmp_path / "one").iterdir(), (tmp_path / "two").iterdir()
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_what_no_wheel_can_hold_is_refused(tmp_path: Path) -> None:
    native = compiled(tmp_path, "linux/amd64")
    other = compiled(tmp_path, "windows/amd64")
    unknown = compiled(tmp_path, "linux/riscv64")
    assert "must be for one of amd64, arm64" in build(native, unknown, tmp_path / "out").stderr
    assert "one must be: it is asked for the version" in build(other, tmp_path / "out").stderr
    assert "must be the program weir" in build(BUILD, tmp_path / "out").stderr
    linked = compiled(tmp_path, "linux/amd64", GOFLAGS="-trimpath -buildmode=pie")
    assert "must be static (CGO_ENABLED=0)" in build(linked, tmp_path / "out").stderr


def test_licences_are_in_the_wheel(tmp_path: Path) -> None:
    texts = tmp_path / "texts" / "linux_amd64"
    texts.mkdir(parents=True)
    (texts / "LICENCES.txt").write_text("of a module")
    program = compiled(tmp_path, "linux/amd64")
    done = build("--licences", texts.parent, program, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "out").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith("licenses/licences/LICENCES.txt")]
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    other = compiled(tmp_path, "windows/amd64")
    refused = build("--licences", texts.parent, program, other, tmp_path / "out").stderr
    assert "windows_amd64: is not there, must hold the licences of" in refused


def test_a_wheel_is_not_made_without_a_program(tmp_path: Path) -> None:
    source = shutil.copytree(BUILD.parent, tmp_path / "copy", ignore=shutil.ignore_patterns("tests"))
    (source / "README.md").write_text("")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    done = subprocess.run(command, cwd=source, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "packaging/python/build BINARY... OUT" in done.stderr
