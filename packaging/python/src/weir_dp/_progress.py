"""What happens in a run: events, and how they are shown."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from weir_dp._errors import DeclinedError, Problem, WeirError, error_of

_log = logging.getLogger("weir_dp")


@dataclass(frozen=True)
class Event:
    """Something that happened in a run. Nothing in it is private.

    Attributes:
        event: ``start``, ``resumed``, ``progress`` and ``end`` of a stage, ``runs`` of an experiment, ``text`` and
            ``note`` for a person, ``charge`` before anything is charged, ``error``.
        stage: Stage that it is of; empty where it is of none.
        done: Units that a stage, or runs that an experiment, has done; the unit is the stage's own.
        total: Units in all; 0 where they are not known.
        how: How a stage ended: ``done``, ``reused`` or ``stopped``.
        text: What a person reads.
        document: The whole of the object that weir printed.
    """

    event: str
    stage: str
    done: int
    total: int
    how: str
    text: str
    document: Mapping[str, Any]

    @classmethod
    def of(cls, line: str) -> Event:
        """Return the event of a line; one that weir did not write as an event is a text."""
        document: Any = None
        with suppress(ValueError):
            document = json.loads(line)
        if not isinstance(document, dict) or "event" not in document:
            document = {"event": "text", "text": line.rstrip("\n")}
        return cls(
            event=document["event"],
            stage=document.get("stage", ""),
            done=document.get("done", 0),
            total=document.get("total", 0),
            how=document.get("how", ""),
            text=document.get("text", ""),
            document=document,
        )


Progress: TypeAlias = bool | Callable[[Event], None]


class Listener:
    """Hears the lines of a run, shows what happens and answers when a charge is asked for."""

    def __init__(self, progress: Progress) -> None:
        self._tell = progress if callable(progress) else None
        self._view = _view() if progress is True else None
        self._stages: dict[str, str] = {}
        self._runs = ""
        self._texts: list[str] = []
        self._refused = ""
        self._error: Event | None = None

    def hear(self, line: str) -> str | None:
        """Take a line of standard error and return what weir is to read."""
        event = Event.of(line)
        if self._tell:
            self._tell(event)
        if event.event == "charge":
            return self._answer(event)
        if event.event == "note":
            _log.warning("%s", event.text)
        elif event.event == "text":
            self._texts.append(event.text)
            _log.info("%s", event.text)
        elif event.event == "error":
            self._error = event
        else:
            self._show(event)
        return None

    def _show(self, event: Event) -> None:
        if event.event == "runs":
            self._runs = event.text
        elif event.event == "end":
            self._stages[event.stage] = event.how
        else:
            share = f" {100 * event.done // event.total} %" if event.total else ""
            self._stages[event.stage] = share
        if self._view:
            self._view.show(self._runs or self._words())

    def _words(self) -> str:
        working = [stage + how for stage, how in self._stages.items() if how[:1] in ("", " ")]
        return ", ".join(working) or self._ended()

    def _ended(self) -> str:
        """Word how stages ended, without times and by name: a notebook that is run again must not differ by them."""
        by_how: dict[str, list[str]] = {}
        for stage, how in self._stages.items():
            by_how.setdefault(how.strip() or "stopped", []).append(stage)
        return "; ".join(f"{', '.join(sorted(stages))}: {how}" for how, stages in by_how.items())

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self._view:
            self._view.close(self._runs or self._ended())

    def _answer(self, event: Event) -> str:
        if self._view:
            self._view.close("")
        if _ask(event.text):
            return "y\n"
        self._refused = event.text
        return "n\n"

    def error(self, code: int) -> WeirError:
        """Return the error that a run ended with."""
        if self._error is None:
            return error_of(code, "\n".join(self._texts))
        if self._refused and code == 130:
            message = f"{self._error.text}; yes=True charges without asking\n{self._refused}"
            return DeclinedError(message, code, self._refused)
        problems = [Problem.of(p) for p in self._error.document.get("problems", [])]
        return error_of(code, self._error.text, problems)


def _ask(charge: str) -> bool:
    """Ask the person at a terminal or a notebook whether to charge; where there is nobody the answer is no."""
    if not (_in_notebook() or (sys.stdin is not None and sys.stdin.isatty())):
        return False
    print(charge, flush=True)
    try:
        return input("Charge it? [y/N] ").strip().lower() in ("y", "yes")
    except (EOFError, RuntimeError, NotImplementedError):  # a notebook that is executed has nobody to ask
        return False


def _shell() -> Any:
    """Return the shell of IPython; None where there is none."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def _in_notebook() -> bool:
    return hasattr(_shell(), "kernel")


class _View(Protocol):
    def show(self, text: str) -> None: ...

    def close(self, text: str) -> None: ...


def _view() -> _View | None:
    if _in_notebook():
        return _Cell()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Line()
    return None


class _Line:
    """A line of a terminal, which is written over."""

    def show(self, text: str) -> None:
        sys.stderr.write("\r\x1b[K" + text[:100])
        sys.stderr.flush()

    def close(self, text: str) -> None:
        self.show(text)
        if text:
            sys.stderr.write("\n")


class _Cell:
    """An output of a notebook, which is updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        data = {"text/plain": text}
        if self._handle is None:
            display = sys.modules["IPython"].display.display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self, text: str) -> None:
        if text or self._handle is not None:
            self.show(text)
