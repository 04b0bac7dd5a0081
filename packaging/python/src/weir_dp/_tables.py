"""Tables of a release."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def _arrow(module: str) -> Any:
    try:
        return import_module("pyarrow." + module)
    except ImportError as failure:
        raise ImportError("pyarrow: is not installed, must be: pip install 'weir-dp[arrow]'") from failure


def read_table(file: Path) -> pyarrow.Table:
    """Return the table in a Parquet file, or a released list in a CSV file with commas."""
    if file.suffix == ".parquet":
        return _arrow("parquet").read_table(file)
    return _arrow("csv").read_csv(file)
