"""The program weir: where it is, and how it is started."""

from __future__ import annotations

import json
import math
import operator
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO, Any, TypeAlias

from weir_dp._errors import Problem, ProgramNotFoundError, WeirError, error_of

PathLike: TypeAlias = str | os.PathLike[str]


def program() -> Path:
    """Return the path of the program weir that this package was installed with.

    Other programs of this name, such as one on the path, are not looked for: the package reads
    what its own version prints.

    Raises:
        ProgramNotFoundError: The installed files lack the program.
    """
    for path in _places():
        if path.is_file():
            return path.resolve()
    raise ProgramNotFoundError(
        "weir: is not among the files of weir-dp, must be there: pip install --force-reinstall weir-dp"
    )


def _places() -> Iterator[Path]:
    """Yield where an installer may have put the program: what it recorded, then where pip --target moves it."""
    with suppress(PackageNotFoundError):
        for file in distribution("weir-dp").files or []:
            if file.name in ("weir", "weir.exe") and file.parent.name.lower() in ("bin", "scripts"):
                yield Path(str(file.locate()))
    folder = Path(__file__).resolve().parents[1] / "bin"
    yield from (folder / "weir", folder / "weir.exe")


@dataclass(frozen=True)
class Outcome:
    """What a call of weir left: its exit code, standard output, and the lines of standard error."""

    code: int
    out: str
    messages: Sequence[str]

    def document(self) -> dict[str, Any]:
        """Return the JSON object on standard output."""
        document = json.loads(self.out)
        if not isinstance(document, dict):
            raise TypeError(f"standard output of weir: is {type(document).__name__}, must be an object")
        return document

    def error(self, problems: Sequence[Problem] = ()) -> WeirError:
        """Return the error of the exit code, with what weir said on standard error."""
        return error_of(self.code, "\n".join(self.messages).strip(), problems)


def call(
    arguments: Sequence[PathLike],
    hear: Callable[[str], str | None] | None = None,
) -> Outcome:
    """Start weir and wait for its end.

    Args:
        arguments: Arguments of the command line.
        hear: Receives each line of standard error and returns what weir is to read then; None is nothing.
            Without it the lines are messages of the outcome, and weir has nothing to read.

    Raises:
        KeyboardInterrupt: The call was interrupted, and weir has stopped in good order.
    """
    messages: list[str] = []

    def keep(line: str) -> None:
        messages.append(line.rstrip("\n"))

    listen = hear or keep
    with _start(arguments, subprocess.PIPE if hear else subprocess.DEVNULL) as process:
        assert process.stdout and process.stderr
        out = _Reader(process.stdout)
        try:
            for line in process.stderr:
                answer = listen(line)
                if answer is not None and process.stdin:
                    with suppress(BrokenPipeError):
                        process.stdin.write(answer)
                        process.stdin.flush()
        except BaseException as failure:
            _stop(process)
            _drain(process, listen if isinstance(failure, KeyboardInterrupt) else keep)
            raise
        code = process.wait()
    return Outcome(code, out.text(), messages)


def _start(arguments: Sequence[PathLike], stdin: int) -> subprocess.Popen[str]:
    """Start weir in a process group of its own: an interruption reaches it through _stop alone, and once."""
    group: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(
        [program(), *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        **group,
    )


def _drain(process: subprocess.Popen[str], listen: Callable[[str], object]) -> None:
    """Hear weir to its end. A second interruption ends it at once, as in a terminal."""
    assert process.stderr
    try:
        for line in process.stderr:
            listen(line)
    except KeyboardInterrupt:
        _stop(process)
        raise


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask weir to stop in good order."""
    if sys.platform == "win32":
        process.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        process.send_signal(signal.SIGINT)


class _Reader:
    """Reads a stream to its end aside, so that neither of two pipes fills up."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        self._text = self._stream.read()

    def text(self) -> str:
        self._thread.join()
        return self._text


def settings(set: Mapping[str, object] | None) -> list[str]:
    """Return the flags that override settings: text as it stands, infinity as inf, other values as JSON.

    Raises:
        TypeError: A value is none that JSON has.
    """
    return [f"--set={path}={_setting(path, value)}" for path, value in (set or {}).items()]


def _setting(path: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value == math.inf:
        return "inf"
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise TypeError(
            f"set: {path} is {value!r}, must be text, a number, True, False, None, a list or a dict"
        ) from None


def switches(**given: bool) -> list[str]:
    """Return the flags that are given, by their names.

    Raises:
        TypeError: A value is neither True nor False. What is merely true, such as the text "no", sets no flag: one
            of them charges without asking.
    """
    for name, value in given.items():
        if value is not True and value is not False:
            raise TypeError(f"{name}: is {value!r}, must be True or False")
    return ["--" + name.replace("_", "-") for name, value in given.items() if value]


def numbers(**given: int | None) -> list[str]:
    """Return flags with whole numbers, by their names; None is left out.

    Raises:
        TypeError: A value is not a whole number.
    """
    for name, value in given.items():
        if isinstance(value, bool) or not (value is None or hasattr(value, "__index__")):
            raise TypeError(f"{name}: is {value!r}, must be a whole number")
    return [f"--{name.replace('_', '-')}={operator.index(n)}" for name, n in given.items() if n is not None]


def paths(**given: PathLike | None) -> list[str]:
    """Return flags with paths, by their names; None is left out.

    Raises:
        TypeError: A value is no path.
    """
    for name, value in given.items():
        if not (value is None or isinstance(value, (str, os.PathLike))):
            raise TypeError(f"{name}: is {value!r}, must be a path")
    return [f"--{name}={os.fspath(path)}" for name, path in given.items() if path is not None]
