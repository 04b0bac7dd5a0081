"""Tables of a release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def _arrow(module: str) -> Any:
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError as failure:
        raise ImportError("pyarrow: is not installed, must be: pip install 'weir-dp[arrow]'") from failure


def read_table(file: Path) -> pyarrow.Table:
    """Return the table in a Parquet file, or a released list in a CSV file with commas."""
    if file.suffix == ".parquet":
        return _arrow("parquet").read_table(file)
    return _arrow("csv").read_csv(file)


def columns_of(run: Path) -> list[Mapping[str, Any]]:
    """Return what the record in a folder says of the columns of its tables; nothing where there is no record."""
    try:
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    except OSError:
        return []
    return [column for table in record.get("tables") or [] for column in table["columns"]]


def with_levels(table: pyarrow.Table, columns: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """Return a table whose categories are all that the domain has, in its order, whether they occur or not.

    A column with a value that is none of them stays as it is.
    """
    types = _arrow("types")
    for column in columns:
        name, levels = column["name"], column.get("categories")
        if levels and name in table.column_names and types.is_dictionary(table.schema.field(name).type):
            of_levels = _of_levels(table[name], levels, column["type"] == "ordinal")
            if of_levels is not None:
                table = table.set_column(table.column_names.index(name), name, of_levels)
    return table


def _of_levels(column: pyarrow.ChunkedArray, levels: list[str], ordered: bool) -> pyarrow.ChunkedArray | None:
    pa, compute = import_module("pyarrow"), _arrow("compute")
    values = pa.array(levels, pa.string())
    indices = compute.index_in(column.cast(pa.string()), value_set=values)
    if indices.null_count != column.null_count:
        return None
    chunks = [pa.DictionaryArray.from_arrays(chunk, values, ordered=ordered) for chunk in indices.chunks]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string(), ordered))
