"""Errors, one class for each exit code of weir."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One fault of a spec or of a file that it names.

    Attributes:
        spec: Spec that has the fault; empty where weir names its file alone.
        file: File that holds the fault, or the setting that brought it, such as ``--set seed``.
        line: Line in the file, from 1; 0 where there is none.
        column: Column in the line, from 1; 0 where there is none.
        path: Setting at fault, such as ``stages.train.kind``.
        found: What the setting is.
        accepted: What it must be.
        hint: What may have been meant, or what to do; may be empty.
        rule: Audit rule that refuses it, such as ``W03``; empty for other faults.
        stage: Stage at fault; empty where it is none.
    """

    spec: str
    file: str
    line: int
    column: int
    path: str
    found: str
    accepted: str
    hint: str = ""
    rule: str = ""
    stage: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Problem:
        """Return the problem that an object of ``--json`` describes."""
        return cls(
            spec=document.get("spec", ""),
            file=document.get("file", ""),
            line=document.get("line", 0),
            column=document.get("column", 0),
            path=document.get("path", ""),
            found=document.get("found", ""),
            accepted=document.get("accepted", ""),
            hint=document.get("hint", ""),
            rule=document.get("rule", ""),
            stage=document.get("stage", ""),
        )

    def __str__(self) -> str:
        """Return what weir says of the fault; a question stands before a long list of what is accepted."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        path = "" if self.file == f"--set {self.path}" else self.path
        found = f"is {self.found}" if self.found else ""
        accepted = f"must be {self.accepted}" if self.accepted else ""
        said = ", ".join(part for part in (found, accepted) if part) + (f"; {self.hint}" if self.hint else "")
        if found and self.hint.startswith("did you mean") and len(self.accepted) > 100:
            said = f"{found}; {self.hint} It {accepted}"
        return ": ".join(part for part in (place, path, said) if part) + (f" [{self.rule}]" if self.rule else "")


class WeirError(Exception):
    """weir ended with an exit code other than 0.

    Attributes:
        code: The exit code.
        problems: Faults of the specs, where those are why; all of them.
    """

    def __init__(self, message: str, code: int, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.problems = tuple(problems)


class StageError(WeirError):
    """A stage, or what weir was to do otherwise, did not succeed (exit code 1)."""


class SpecError(WeirError):
    """A spec is not valid, or an argument is not what weir accepts (exit code 2)."""


class PrivacyError(WeirError):
    """A spec is not private, or its bill is over the budget of the dataset (exit code 3)."""


class MismatchError(WeirError):
    """A release, a record, a ledger or a lock is not as it was left (exit code 4).

    Attributes:
        differ: What differs, one thing each; empty where weir compared nothing.
    """

    def __init__(self, message: str, code: int, problems: Sequence[Problem] = (), differ: Sequence[str] = ()) -> None:
        super().__init__(message, code, problems)
        self.differ = tuple(differ)


class InterruptedRunError(WeirError):
    """weir was stopped; the same call goes on where it stood (exit code 130)."""


class DeclinedError(WeirError):
    """Nobody said yes to a charge: nothing was charged and nothing was run (exit code 130).

    Attributes:
        charge: What would have been charged, as weir words it.
    """

    def __init__(self, message: str, code: int, charge: str) -> None:
        super().__init__(message, code)
        self.charge = charge


class ProgramNotFoundError(FileNotFoundError):
    """The program weir is not where its wheel put it."""


def error_of(code: int, message: str, problems: Sequence[Problem] = ()) -> WeirError:
    """Return the error of an exit code."""
    classes: dict[int, type[WeirError]] = {
        1: StageError,
        2: SpecError,
        3: PrivacyError,
        4: MismatchError,
        130: InterruptedRunError,
    }
    return classes.get(code, WeirError)(message or f"weir ended with exit code {code}", code, problems)
