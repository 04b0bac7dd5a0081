"""Experiments: a run for each combination, cell and repeat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir_dp._program import PathLike
from weir_dp._progress import Progress
from weir_dp._run import Run, carry_out, shown
from weir_dp._tables import read_table

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Trial:
    """One run of an experiment.

    Attributes:
        cell: Name of the cell; empty where the experiment has none.
        set: Settings that the trial changes, ``path=value`` each.
        repeat: Number of the repeat, from 0.
        run: The run.
    """

    cell: str
    set: tuple[str, ...]
    repeat: int
    run: Run


@dataclass(frozen=True)
class ExperimentInternal:
    """The side of an experiment that stays with the owner of the data: figures of private rows.

    Attributes:
        folder: Folder of the table as files and of the page ``sweep.html``.
    """

    folder: Path

    def table(self) -> pyarrow.Table:
        """Return the figures of all combinations: private, computed from real rows."""
        return read_table(self.folder / "table.csv")

    def runs(self) -> pyarrow.Table:
        """Return the figures of all single runs: private, computed from real rows."""
        return read_table(self.folder / "runs.csv")


@dataclass(frozen=True, repr=False)
class Experiment:
    """A finished experiment: its runs, and what they cost together.

    Attributes:
        name: Name of the spec.
        trials: The runs, in the order of the spec.
        bill: What all runs cost together, as ``weir plan --total --json`` has it.
        internal: The private side of the experiment.
    """

    name: str
    trials: tuple[Trial, ...]
    bill: Mapping[str, Any]
    internal: ExperimentInternal = field(repr=False)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Experiment:
        """Return the experiment that an object of ``weir run --json`` describes, without its private figures."""
        trials = [Trial(r.get("cell", ""), tuple(r["set"] or []), r["repeat"], Run.of(r)) for r in document["runs"]]
        folder = Path(document["folder"]).resolve()
        return cls(document["sweep"]["name"], tuple(trials), document["bill"], ExperimentInternal(folder))

    @property
    def epsilon(self) -> float | None:
        """Proven epsilon of all runs together; None where nothing is proven."""
        epsilon: float | None = self.bill.get("epsilon_proven")
        return epsilon

    def __repr__(self) -> str:
        return f"Experiment {self.name}: {len(self.trials)} runs\n  folder   {shown(self.internal.folder)}"


def experiment(
    spec: PathLike,
    *,
    set: Mapping[str, object] | None = None,
    out: PathLike | None = None,
    ledger: PathLike | None = None,
    fresh: bool = False,
    confine: bool = False,
    drop_noise_key: bool = False,
    workers: int | None = None,
    insecure_noise_seed: int | None = None,
    yes: bool = False,
    progress: Progress = True,
) -> Experiment:
    """Carry out the experiment of a spec: each combination, cell and repeat is a run and a charge of its own.

    Arguments and errors are as in `run`; who is asked is asked once, for all runs together.

    Raises:
        ValueError: The spec has no experiment, and is for `run`.
    """
    document = carry_out(
        spec,
        set,
        progress,
        experiment=True,
        confine=confine,
        out=out,
        ledger=ledger,
        workers=workers,
        insecure_noise_seed=insecure_noise_seed,
        fresh=fresh,
        drop_noise_key=drop_noise_key,
        yes=yes,
    )
    return Experiment.of(document)
