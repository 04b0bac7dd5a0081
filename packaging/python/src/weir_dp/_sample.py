"""Rows of released models."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weir_dp._program import PathLike, call, numbers, paths, switches
from weir_dp._run import Run
from weir_dp._tables import columns_of, read_table, with_levels

if TYPE_CHECKING:
    import pyarrow


def sample(
    model: PathLike | Run,
    n: int,
    *,
    seed: int = 1,
    where: Mapping[str, object] | None = None,
    max_tries: int | None = None,
    copies: int | None = None,
    step: int | None = None,
    argmax: bool = False,
) -> pyarrow.Table:
    """Draw rows from a released model. Drawing is post-processing of a paid release: it is free.

    Args:
        model: File of a released model, folder of a run that released one model alone, or the run.
        n: Rows to draw.
        seed: Public seed of the draw; equal seeds give equal rows.
        where: Values that a column must have, by column: one value, a range such as ``"18..30"``, or a list of them.
        max_tries: With `where`, rows drawn at most for each that is wanted; 1000 where it is left out.
        copies: Tables to draw, 2 to 1000, each with fresh public noise, their number in a column ``copy``.
        step: Step of the training to draw from, one that the model holds; the last where it is left out.
        argmax: Take the most probable category instead of drawing one.

    Returns:
        A table of `n` rows, or of `n` rows for each copy, with the columns of the source. Categories have all levels
        of the domain where the model lies in the release of its run, else those that occur.

    Raises:
        StageError: The model cannot be read, or meets the conditions too seldom.
        SpecError: An argument is not what weir accepts.
        ImportError: pyarrow is not installed (``pip install 'weir-dp[arrow]'``).
    """
    conditions = [
        flag for column, values in (where or {}).items() for flag in ("--where", f"{column}={_listed(values)}")
    ]
    given = [*numbers(rows=n, seed=seed, max_tries=max_tries, copies=copies, step=step), *switches(argmax=argmax)]
    with tempfile.TemporaryDirectory(prefix="weir-dp-") as folder:
        file = Path(folder, "sample.parquet")
        path = Path(model.path if isinstance(model, Run) else model)
        outcome = call(["sample", *given, *conditions, *paths(out=file), "--", path])
        if outcome.code:
            raise outcome.error()
        columns = columns_of(path if path.is_dir() else path.resolve().parents[1])
        return with_levels(read_table(file), columns)


def _listed(values: object) -> str:
    """Return values as a line of a CSV file, as weir sample reads them."""
    several = isinstance(values, Sequence) and not isinstance(values, str)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values if several else [values])  # type: ignore[arg-type]
    return line.getvalue()
