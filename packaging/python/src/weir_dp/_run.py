"""Runs of a spec, and what they leave."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir_dp._program import PathLike, call, numbers, paths, settings, switches
from weir_dp._progress import Listener, Progress
from weir_dp._tables import columns_of, read_table, with_levels

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True)
class Remark:
    """What a stage says of what it released."""

    stage: str
    text: str


@dataclass(frozen=True)
class Internal:
    """The side of a run that stays with the owner of the data: figures of private rows, the report, keys.

    Nothing is read before it is asked for by name, and no representation shows a figure. What a
    notebook shows is saved with it: figures of private rows belong into no notebook that leaves.

    Attributes:
        folder: Folder ``internal`` of the run.
    """

    folder: Path

    @property
    def figures(self) -> dict[str, float]:
        """Figures of evaluation stages by ``STAGE.FIGURE``: private, computed from real rows."""
        return dict(self._read("metrics.json").get("metrics") or {})

    @property
    def notes(self) -> dict[str, str]:
        """What limits a figure, by its name: private."""
        return dict(self._read("metrics.json").get("notes") or {})

    @property
    def files(self) -> tuple[Path, ...]:
        """Reports, plots and tables of private rows."""
        return tuple(self.folder.parent / file["path"] for file in self._read("files.json") or [])

    @property
    def report(self) -> Path | None:
        """The report, a page for the owner; None where the spec has no such stage."""
        return next((file for file in self.files if file.suffix == ".html"), None)

    def _read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run: what it released, and what that cost.

    Attributes:
        path: Folder of the run.
        epsilon: Proven epsilon of the release; None where nothing is proven.
        epsilon_published: Epsilon by the accounting of a paper, no claim of the run; None where no paper has one.
        delta: The delta of both.
        release: Files that may leave, by their names.
        charged: Ids of the charges of the run.
        reused: Whether the run was made before and is shown again.
        reused_stages: Paid stages whose results are those of other runs, and the id of each such run.
        remarks: What stages say of what they released.
        ledger: Ledger of the dataset; None where nothing is charged.
        not_private: Whether noise came from a test seed, so that the release must not leave.
    """

    path: Path
    epsilon: float | None
    epsilon_published: float | None
    delta: float
    release: Mapping[str, Path]
    charged: tuple[str, ...]
    reused: bool
    reused_stages: Mapping[str, str]
    remarks: tuple[Remark, ...]
    ledger: Path | None
    not_private: bool

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Run:
        """Return the run that an object of ``weir run --json`` describes, without its private figures."""
        return cls(
            path=Path(document["run"]).resolve(),
            epsilon=document["epsilon"]["proven"],
            epsilon_published=document["epsilon"]["published"],
            delta=document["delta"],
            release={Path(file).name: Path(file).resolve() for file in document["release"] or []},
            charged=tuple(document["charged"] or []),
            reused=document["reused"],
            reused_stages=dict(document.get("reused_stages") or {}),
            remarks=tuple(Remark(r["stage"], r["text"]) for r in document.get("remarks") or []),
            ledger=Path(document["ledger"]) if document["ledger"] else None,
            not_private=document.get("not_private", False),
        )

    @classmethod
    def open(cls, folder: PathLike) -> Run:
        """Return the finished run in a folder.

        Raises:
            OSError: There is no record.
            ValueError: The run is not done.
        """
        path = Path(folder).resolve()
        record = json.loads((path / "run.json").read_text(encoding="utf-8"))
        if record["status"] != "done":
            raise ValueError(f"{path}: the run is {record['status']}, must be done")
        terms = record["terms"]
        return cls.of(
            {
                "run": path,
                "epsilon": {"proven": terms["epsilon_proven"], "published": terms["epsilon_published"]},
                "delta": terms["delta"],
                "release": [path / file["path"] for file in record.get("release") or []],
                "charged": [charge["id"] for charge in record.get("charges") or [] if not charge.get("run")],
                "reused": True,
                "reused_stages": {c["stage"]: c["run"] for c in record.get("charges") or [] if c.get("run")},
                "remarks": record.get("remarks"),
                "ledger": record["dataset"].get("ledger"),
                "not_private": record.get("not_private", False),
            }
        )

    @property
    def name(self) -> str:
        """Name of the spec."""
        return self.path.parent.name

    @property
    def id(self) -> str:
        """Id of the run, by which commands of weir know it."""
        return self.path.name

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the released tables."""
        return tuple(name[: -len(".parquet")] for name in self.release if name.endswith(".parquet"))

    def table(self, name: str | None = None) -> pyarrow.Table:
        """Return a released table; categories have all levels of the domain, ordered where the column is ordinal.

        Args:
            name: Stage that made the table, as `tables` lists them, or a released list such as ``train.marginals``;
                may be left out where the run released one table alone.

        Raises:
            KeyError: The release has no such table, or several where none is named.
            ImportError: pyarrow is not installed (``pip install 'weir-dp[arrow]'``).
        """
        if name is None:
            if len(self.tables) != 1:
                raise KeyError(
                    f"table: is not named, must be one of {', '.join(self.tables) or 'none: no table is released'}"
                )
            name = self.tables[0]
        for ending in (".parquet", ".csv"):
            if name + ending in self.release:
                table = read_table(self.release[name + ending])
                return with_levels(table, columns_of(self.path)) if ending == ".parquet" else table
        lists = [file[: -len(".csv")] for file in self.release if file.endswith(".csv")]
        raise KeyError(f"table: is {name!r}, must be one of {', '.join(dict.fromkeys([*self.tables, *lists]))}")

    def frame(self, name: str | None = None) -> pandas.DataFrame:
        """Return a released table as a frame of pandas; as `table`, and pandas must be installed."""
        return self.table(name).to_pandas()

    @property
    def bill(self) -> str:
        """What the release cost, in words, with the plan (BILL.txt)."""
        return self._text("BILL.txt")

    @property
    def promise(self) -> str:
        """What the release promises, in Markdown (PRIVACY.md)."""
        return self._text("PRIVACY.md")

    def _text(self, name: str) -> str:
        return self.release[name].read_text(encoding="utf-8")

    @property
    def internal(self) -> Internal:
        """The private side of the run."""
        return Internal(self.path / "internal")

    def __repr__(self) -> str:
        epsilon = "none proven" if self.epsilon is None else f"{upward(self.epsilon)} (proven) at delta {self.delta:g}"
        warning = "NOT PRIVATE: noise from a test seed\n" if self.not_private else ""
        folder = shown(self.path)
        return (
            f"{warning}Run of {self.name}: epsilon {epsilon}\n  folder   {folder}\n  release  {', '.join(self.release)}"
        )


def shown(path: Path) -> Path:
    """Return a path as it is shown: from the working directory, where it lies below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def upward(epsilon: float) -> str:
    """Round a bound upward to five digits, as weir prints it."""
    rounded = Decimal(epsilon).normalize(Context(prec=5, rounding=ROUND_CEILING))
    return f"{float(rounded):g}"


def run(
    spec: PathLike,
    *,
    set: Mapping[str, object] | None = None,
    out: PathLike | None = None,
    ledger: PathLike | None = None,
    fresh: bool = False,
    locked: bool = False,
    confine: bool = False,
    drop_noise_key: bool = False,
    workers: int | None = None,
    insecure_noise_seed: int | None = None,
    yes: bool = False,
    progress: Progress = True,
) -> Run:
    """Carry out a spec, as ``weir run`` does: charge the budget of the dataset, and write the release.

    Nothing is paid for twice: a run that was made before is returned, and an interrupted one continued.
    Before anything is charged the person at the notebook or the terminal is asked; where there is
    nobody the answer is no. Rows of a built-in generator are charged unasked.

    Args:
        spec: Path of the spec, or ``specs:NAME`` for one that is built in.
        set: Values of settings by their paths, such as ``{"privacy.epsilon": 0.5}``; text stands as on the command
            line, ``{"stages.report": "off"}`` takes a stage out.
        out: Folder of runs; ``runs`` where it is left out.
        ledger: Ledger of the dataset; beside the dataset where it is left out.
        fresh: Draw new noise, as a new charge, even where a finished run exists.
        locked: Refuse where spec, data or version differ from weir.lock beside the spec.
        confine: Refuse paths of the spec that leave its folder.
        drop_noise_key: Keep no noise key: nobody can replay the run or subtract its noise.
        workers: Stages and goroutines at a time; results do not depend on it.
        insecure_noise_seed: Draw noise from a seed, for tests: the result is NOT PRIVATE.
        yes: Charge without asking.
        progress: Whether to show what happens, or a function that receives each event.

    Raises:
        DeclinedError: Nobody said yes to the charge.
        WeirError: weir refused the spec or a stage failed; the class tells which, `problems` lists all faults.
        KeyboardInterrupt: The run was interrupted; the same call continues it.
        TypeError: An argument has another type than its own; `yes` is True or False alone.
        ValueError: The spec has an experiment, which `experiment` runs.
    """
    document = carry_out(
        spec,
        set,
        progress,
        experiment=False,
        confine=confine,
        out=out,
        ledger=ledger,
        workers=workers,
        insecure_noise_seed=insecure_noise_seed,
        fresh=fresh,
        locked=locked,
        drop_noise_key=drop_noise_key,
        yes=yes,
    )
    return Run.of(document)


def carry_out(
    spec: PathLike,
    set: Mapping[str, object] | None,
    progress: Progress,
    *,
    experiment: bool,
    confine: bool,
    out: PathLike | None,
    ledger: PathLike | None,
    workers: int | None,
    insecure_noise_seed: int | None,
    **flags: bool,
) -> dict[str, Any]:
    """Start ``weir run`` and return what it printed.

    Arguments are as in `run`, flags by their names; `experiment` says whether the spec must have one or none.
    """
    judged = [*settings(set), *switches(confine=confine)]
    given = [
        *judged,
        *paths(out=out, ledger=ledger),
        *switches(**flags),
        *numbers(workers=workers, insecure_noise_seed=insecure_noise_seed),
    ]
    _refuse_other(spec, judged, experiment)
    listener = Listener(progress)
    try:
        outcome = call(["run", "--events", *given, "--", spec], listener.hear)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(str(listener.error(130))) from None
    finally:
        listener.close()
    if outcome.code:
        raise listener.error(outcome.code)
    return outcome.document()


def _refuse_other(spec: PathLike, given: list[str], experiment: bool) -> None:
    """Refuse a spec that is for the other of run and experiment, before anything is charged.

    The canonical spec, which ``weir render`` prints, has each section at the beginning of a line. What cannot be
    rendered is judged by the run.
    """
    outcome = call(["render", "--json", *given, "--", spec])
    if outcome.code:
        return
    if bool(re.search(r"^experiment:", outcome.document()["spec"], re.MULTILINE)) != experiment:
        has, other = ("no", "run") if experiment else ("an", "experiment")
        raise ValueError(f"{spec}: has {has} experiment, must be run by weir_dp.{other}")
