"""Writes the Arrow files (.arrow) and streams (.arrows) of this folder, as many writers as there are.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pyarrow duckdb polars
    /tmp/venv/bin/python make.py

Every one holds the first rows of ../parquet/rows.csv, as many as the name says (-zero none, else 300), so
that a test can compare each cell. pyarrow is the Arrow C++ library, on which R's arrow stands too; its
Feather files are what R's write_feather writes. Polars puts a bare schema where others put a message of it.
"""

import importlib.util
import os

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("rows", os.path.join(HERE, "../parquet/make.py"))
rows = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rows)
FEW = rows.table(rows.FEW)


def path(name):
    return os.path.join(HERE, name)


def write(name, table, batch=None, forms=("arrow", "arrows"), **options):
    """Both forms of a table, in batches of so many rows."""
    for form in forms:
        new = ipc.new_file if form == "arrow" else ipc.new_stream
        with new(path(f"{name}.{form}"), table.schema, options=ipc.IpcWriteOptions(**options)) as w:
            for b in table.to_batches(max_chunksize=batch):
                w.write_batch(b)


def growing():
    """A dictionary that every batch adds to: the first batches do not know the last words."""
    words, parts = [], []
    for at in range(0, rows.FEW, 60):
        part = FEW.slice(at, 60)
        words += [w for w in part["note"].to_pylist() if w not in words]
        codes = pa.array([words.index(w) for w in part["note"].to_pylist()], pa.int16())
        parts.append(part.set_column(5, "note", pa.DictionaryArray.from_arrays(codes, pa.array(words))))
    schema = parts[0].schema
    return [b for p in parts for b in p.to_batches()], schema


def spelled(v):
    return None if v is None else str(v).lower() if isinstance(v, bool) else str(v)


def by_pyarrow():
    coded = FEW.set_column(4, "word", FEW["word"].dictionary_encode())
    for codec in [None, "lz4", "zstd"]:
        write(f"pyarrow-{codec or 'plain'}", FEW, compression=codec)
    write("pyarrow-batches", FEW, 64, compression="zstd")
    write("pyarrow-dictionary", coded, 128, compression="lz4")
    write("pyarrow-v4", coded, compression="zstd", metadata_version=ipc.MetadataVersion.V4)
    write("pyarrow-before-0.15", coded, forms=["arrow"], use_legacy_format=True, compression="zstd")
    write("pyarrow-zero", coded.slice(0, 0))
    batches, schema = growing()
    for form, new in [("arrow", ipc.new_file), ("arrows", ipc.new_stream)]:
        with new(path("pyarrow-deltas." + form), schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as w:
            for b in batches:
                w.write_batch(b)
    other = [("id", pa.int16()), ("age", pa.uint8()), ("x", pa.float64()), ("f", pa.float64()), ("word", pa.large_string()),
             ("note", pa.string_view()), ("yes", pa.bool_()), ("day", pa.date64())]
    write("pyarrow-other-types", FEW.cast(pa.schema(other)), compression="zstd")
    text = pa.table({c: pa.array([spelled(v) for v in FEW[c].to_pylist()]) for c in FEW.column_names})
    write("pyarrow-text", text, compression="zstd")
    views = text.cast(pa.schema([(c, pa.string_view()) for c in text.column_names]))
    write("pyarrow-views", views, 100, compression="zstd")
    feather.write_feather(coded, path("feather-lz4.arrow"), compression="lz4", chunksize=100)


def by_duckdb():
    con = duckdb.connect()
    con.register("t", FEW)
    for views in ["false", "true"]:
        con.execute(f"SET produce_arrow_string_view = {views}")
        con.execute("SET arrow_output_version = '1.4'")
        write("duckdb-views" if views == "true" else "duckdb", con.sql("SELECT * FROM t").to_arrow_table(), compression="lz4")


def by_polars():
    few = pl.from_arrow(FEW)
    old = pl.CompatLevel.oldest()
    words = [w for w in few["word"].unique(maintain_order=True) if w is not None]
    parts = pl.concat([few.slice(0, 100), few.slice(100, 1), few.slice(101)], rechunk=False)
    for name, frame, options in [
            ("polars", few, {}), ("polars-lz4", few, {"compression": "lz4"}), ("polars-zstd", few, {"compression": "zstd"}),
            ("polars-oldest", few, {"compat_level": old}), ("polars-oldest-zstd", few, {"compat_level": old, "compression": "zstd"}),
            ("polars-categorical", few.with_columns(pl.col("word").cast(pl.Categorical)), {"compression": "zstd"}),
            ("polars-enum", few.with_columns(pl.col("word").cast(pl.Enum(words))), {"compression": "lz4"}),
            ("polars-batches", parts, {"compression": "zstd"}), ("polars-zero", few.head(0), {}),
            ("polars-text", few.with_columns(pl.all().cast(pl.String)), {"compression": "zstd"}),
            ("polars-long", few.with_columns(pl.col("note").cast(pl.Categorical)), {"compression": "zstd"})]:
        frame.write_ipc(path(name + ".arrow"), **options)
        frame.write_ipc_stream(path(name + ".arrows"), **options)


if __name__ == "__main__":
    by_pyarrow()
    by_duckdb()
    by_polars()
