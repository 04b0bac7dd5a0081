"""What weir says of specs before they run, and of runs afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weir_dp._errors import MismatchError, Problem, WeirError
from weir_dp._program import Outcome, PathLike, call, numbers, paths, settings, switches
from weir_dp._run import Run, upward


@dataclass(frozen=True)
class Finding:
    """What an audit rule says of a spec.

    Attributes:
        rule: The rule, such as ``W25``.
        level: ``warning`` or ``info``.
        message: What was found.
        file: Spec that has the finding.
        line: Line of the stage in the spec, from 1; 0 where the finding is of no stage.
        fix: What to do instead; may be empty.
        acknowledged: Reason for which the spec accepts the finding; empty where it does not.
    """

    rule: str
    level: str
    message: str
    file: str = ""
    line: int = 0
    fix: str = ""
    acknowledged: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Finding:
        """Return the finding that an object of ``--json`` describes."""
        known = {name: document[name] for name in cls.__dataclass_fields__ if name in document}
        return cls(**known)


@dataclass(frozen=True)
class Report:
    """What ``weir check`` says of specs.

    Attributes:
        ok: Whether nothing is wrong.
        problems: Every fault of every spec.
        errors: What else is wrong, such as a file that is not there.
        findings: What audit rules say.
    """

    ok: bool
    problems: tuple[Problem, ...]
    errors: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [*self.errors, *map(str, self.problems)]
        lines += [f"{f.file}: {f.level} {f.rule}: {f.message}" for f in self.findings if not f.acknowledged]
        return "\n".join(lines) or "no error"


def check(
    *specs: PathLike,
    set: Mapping[str, object] | None = None,
    strict: bool = False,
    out: PathLike | None = None,
    ledger: PathLike | None = None,
    confine: bool = False,
) -> Report:
    """Check schema, types, privacy and bill of specs, as ``weir check`` does; no data is opened.

    Args:
        specs: Paths of specs, folders of specs, or ``specs:NAME``.
        set: Values of settings by their paths, as in `run`.
        strict: Whether a warning that no reason accepts is an error.
        out: Folder of runs, which knows what was paid for; ``runs`` where it is left out.
        ledger: Ledger of the dataset; beside the dataset where it is left out.
        confine: Whether paths that leave the folder of their spec are faults.

    Returns:
        A report, which is true where nothing is wrong. Faults of specs are no exceptions here.

    Raises:
        SpecError: The call is not one that weir accepts.
    """
    given = [*switches(strict=strict, confine=confine), *paths(out=out, ledger=ledger)]
    outcome = call(["check", "--json", *settings(set), *given, "--", *specs])
    if not outcome.out:
        raise outcome.error()
    document = outcome.document()
    return Report(
        ok=document["ok"],
        problems=tuple(Problem.of(p) for p in document["problems"]),
        errors=tuple(document.get("errors", ())),
        findings=tuple(Finding.of(f) for f in document["findings"]),
    )


@dataclass(frozen=True, repr=False)
class Plan:
    """What a run would do and cost.

    Attributes:
        name: Name of the spec.
        epsilon: Proven epsilon of a run; None where nothing is proven.
        delta: The delta of epsilon.
        findings: What audit rules say.
        charges: New charges of a run by stage, where a ledger or a budget is known: the epsilon of each alone.
        document: The whole of what ``weir plan --json`` printed.
    """

    name: str
    epsilon: float | None
    delta: float
    findings: tuple[Finding, ...]
    charges: Mapping[str, float | None]
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        epsilon = "none proven" if self.epsilon is None else f"{upward(self.epsilon)} (proven) at delta {self.delta:g}"
        stages = ", ".join(f"{stage['id']} ({stage['kind']})" for stage in self.document["stages"])
        return f"Plan of {self.name}: epsilon {epsilon}\n  stages   {stages}"


def plan(
    spec: PathLike,
    *,
    set: Mapping[str, object] | None = None,
    out: PathLike | None = None,
    ledger: PathLike | None = None,
    confine: bool = False,
) -> Plan:
    """Return what a run would do and cost, as ``weir plan`` does; no data is opened.

    Arguments are as in `check`.

    Raises:
        SpecError: The spec is not valid.
        PrivacyError: The spec is not private, or over the budget of its dataset.
    """
    given = [*settings(set), *paths(out=out, ledger=ledger), *switches(confine=confine)]
    outcome = call(["plan", "--json", *given, "--", spec])
    if outcome.code:
        raise outcome.error(_problems(spec, given))
    document = outcome.document()
    dues = [due for ledger in document.get("ledgers") or [] for due in ledger["stages"] or []]
    return Plan(
        name=document["name"],
        epsilon=document["epsilon"]["proven"],
        delta=document["delta"],
        findings=tuple(Finding.of(f) for f in document["findings"] or []),
        charges={due["stage"]: due["epsilon_alone"] for due in dues if not due.get("reused")},
        document=document,
    )


def _problems(spec: PathLike, given: list[str]) -> list[Problem]:
    """Return the faults of a spec as objects, which weir plan prints as text."""
    outcome = call(["check", "--json", *given, "--", spec])
    return [Problem.of(p) for p in outcome.document()["problems"]] if outcome.out else []


@dataclass(frozen=True)
class Verification:
    """What a check of a release found to hold.

    Attributes:
        holds: What holds, one thing each; empty after a replay, which compares everything.
        unchecked: What could not be checked where the run was not replayed.
    """

    holds: tuple[str, ...]
    unchecked: tuple[str, ...]


def verify(
    release: PathLike | Run,
    *,
    offline: bool = False,
    key: PathLike | None = None,
    workers: int | None = None,
) -> Verification:
    """Check a run by replaying it, or a bundle, as ``weir verify`` does. Nothing is charged.

    Args:
        release: The run, its folder, or the file of a bundle.
        offline: Whether a run is checked without its data, noise key and ledger, as a bundle is.
        key: Public key, PEM, by which a bundle must be signed.
        workers: Goroutines at a time; results do not depend on it.

    Raises:
        MismatchError: Something differs; `differ` lists it.
        StageError: The replay failed.
        SpecError: What is named is neither a run nor a bundle.
    """
    path = release.path if isinstance(release, Run) else release
    given = [*switches(offline=offline), *paths(key=key), *numbers(workers=workers)]
    outcome = call(["verify", "--json", *given, "--", path])
    document = outcome.document() if outcome.out else {}
    if outcome.code:
        raise _mismatch(outcome, document)
    return Verification(tuple(document.get("holds") or ()), tuple(document.get("unchecked") or ()))


def _mismatch(outcome: Outcome, document: Mapping[str, Any]) -> WeirError:
    differ = tuple(document.get("differ") or ())
    if not differ:
        return outcome.error()
    return MismatchError("\n".join(differ), outcome.code, differ=differ)
