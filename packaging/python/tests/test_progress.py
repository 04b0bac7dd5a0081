"""What a terminal and a notebook show while a run goes on."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import lines

from weir_dp._progress import Event, Listener

RUN = lines(
    {"event": "start", "stage": "train", "kind": "auto"},
    {"event": "progress", "stage": "train", "done": 1, "total": 4},
    {"event": "end", "stage": "train", "how": "reused"},
    {"event": "start", "stage": "sample", "kind": "sample"},
    {"event": "end", "stage": "sample", "how": "done"},
)


def tell(listener: Listener) -> None:
    for line in RUN.splitlines():
        listener.hear(line)
    listener.close()


def test_a_terminal_shows_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    tell(Listener(True))
    shown = screen.getvalue().split("\r\x1b[K")[1:]
    assert shown == [
        "train",
        "train 25 %",
        "train: reused",
        "sample",
        "train: reused; sample: done",
        "train: reused; sample: done\n",
    ]


def test_a_notebook_shows_one_output_without_times(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def display(data: dict[str, str], **_: Any) -> Any:
        shown.append(data["text/plain"])
        return SimpleNamespace(update=display)

    module = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None), display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", module)
    tell(Listener(True))
    assert shown[-1] == "train: reused; sample: done"


def test_where_nobody_looks_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Listener(True))
    tell(Listener(False))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("line", ["panic: no", "[1]", '{"a": 1}', "{", "\x00\n"])
def test_what_is_no_event_is_a_text(line: str) -> None:
    event = Event.of(line)
    assert (event.event, event.text) == ("text", line.rstrip("\n"))
