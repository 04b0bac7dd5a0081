"""Writes the Parquet files of this folder: one table, as many writers as there are.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pyarrow duckdb polars pyspark
    /tmp/venv/bin/python make.py          # Spark needs Java; without it its files stay as they are

Every file holds the first rows of rows.csv, as many as its footer says, so that a test can compare each
cell. The values come from arithmetic on the row number: no data of others, nothing random. pyarrow is the
Arrow C++ library, so its files stand for those of C++ programs.
"""

import datetime
import glob
import os
import shutil
import sys

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 4200  # more than two row groups of DuckDB, whose least is 2,048
FEW = 300


def cells(i):
    """One row. x repeats itself in the first 2,048 rows and then no longer does, so that a writer that
    chooses its encoding for each row group changes from a dictionary to another one."""
    return {
        "id": 1000 + 3 * i,
        "age": None if i % 11 == 5 else 18 + i * 7 % 71,
        "x": None if i % 13 == 7 else (i % 6) / 2 if i < 2048 else (i * 7919 % 10007) / 8 - 300,
        "f": (i % 97) / 4,
        "word": None if i % 17 == 3 else ["red", "green", "blue", "grey, pale", 'so "called"'][i // 3 % 5],
        "note": f"n{i * 31 % 4201}" if i % 29 else "",
        "yes": None if i % 19 == 2 else i % 3 == 0,
        "day": None if i % 23 == 4 else datetime.date(1960, 1, 1) + datetime.timedelta(days=i * 13 % 20000),
    }


SCHEMA = pa.schema([
    ("id", pa.int64()), ("age", pa.int32()), ("x", pa.float64()), ("f", pa.float32()), ("word", pa.string()),
    ("note", pa.string()), ("yes", pa.bool_()), ("day", pa.date32())])


def table(rows):
    return pa.Table.from_pylist([cells(i) for i in range(rows)], schema=SCHEMA)


def path(name):
    return os.path.join(HERE, name)


def expected():
    """rows.csv: empty where the cell is missing; every value quoted as RFC 4180 asks, and "" as a word
    spelled that way cannot be told from a missing one, so `note` is declared nullable in the test."""
    def spell(v):
        if v is None:
            return ""
        if isinstance(v, bool):
            return str(v).lower()
        s = str(v)
        return '"' + s.replace('"', '""') + '"' if any(c in s for c in ',"') else s
    with open(path("rows.csv"), "w", newline="") as f:
        f.write(",".join(SCHEMA.names) + "\n")
        for i in range(ROWS):
            f.write(",".join(spell(v) for v in cells(i).values()) + "\n")


def by_pyarrow():
    few, all_rows = table(FEW), table(ROWS)
    for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:  # Arrow writes lz4 as LZ4_RAW
        pq.write_table(few, path(f"pyarrow-{codec}.parquet"), compression=codec)
    pq.write_table(all_rows, path("pyarrow-groups.parquet"), row_group_size=1000, compression="zstd")
    pq.write_table(few, path("pyarrow-tiny-groups.parquet"), row_group_size=7, compression="none", store_schema=False, write_statistics=False)
    pq.write_table(few, path("pyarrow-v2-pages.parquet"), data_page_version="2.0", data_page_size=256, write_batch_size=20, compression="snappy")
    pq.write_table(few, path("pyarrow-v1.parquet"), version="1.0", compression="snappy")
    pq.write_table(few, path("pyarrow-plain.parquet"), use_dictionary=False, compression="none")
    pq.write_table(few, path("pyarrow-pages.parquet"), data_page_size=128, write_batch_size=16, compression="none", write_page_index=True, write_page_checksum=True)
    pq.write_table(few, path("pyarrow-delta.parquet"), use_dictionary=False, compression="none", column_encoding={
        "id": "DELTA_BINARY_PACKED", "age": "DELTA_BINARY_PACKED", "x": "BYTE_STREAM_SPLIT", "f": "BYTE_STREAM_SPLIT",
        "word": "DELTA_LENGTH_BYTE_ARRAY", "note": "DELTA_BYTE_ARRAY", "yes": "RLE", "day": "DELTA_BINARY_PACKED"})
    pq.write_table(few, path("pyarrow-split-integers.parquet"), use_dictionary=False, compression="none", column_encoding={
        "id": "BYTE_STREAM_SPLIT", "age": "BYTE_STREAM_SPLIT", "day": "BYTE_STREAM_SPLIT"})
    pq.write_table(all_rows, path("pyarrow-dictionary-overflows.parquet"), dictionary_pagesize_limit=512, compression="zstd", row_group_size=3000)
    pq.write_table(table(0), path("pyarrow-zero-rows.parquet"))
    with pq.ParquetWriter(path("pyarrow-empty-group.parquet"), SCHEMA) as w:
        for piece in [few.slice(0, 0), few.slice(0, 100), few.slice(0, 0), few.slice(100)]:
            w.write_table(piece)
    pq.write_table(few.set_column(4, "word", few["word"].dictionary_encode()), path("pyarrow-dictionary-type.parquet"))
    wide = [("id", pa.int16()), ("age", pa.uint8()), ("x", pa.float64()), ("f", pa.float64()), ("word", pa.large_string()),
            ("note", pa.string_view()), ("yes", pa.bool_()), ("day", pa.date64())]
    pq.write_table(few.cast(pa.schema(wide)), path("pyarrow-other-types.parquet"))
    one = pa.table({"id": few["id"]})
    stamp = pa.array([datetime.datetime(2020, 1, 1)] * FEW, pa.timestamp("us"))
    for name, extra in {
            "pyarrow-list": pa.array([[1, 2]] * FEW), "pyarrow-struct": pa.array([{"a": 1}] * FEW),
            "pyarrow-map": pa.array([[("k", 1)]] * FEW, pa.map_(pa.string(), pa.int64()))}.items():
        pq.write_table(one.append_column("nested", extra), path(name + ".parquet"))
    pq.write_table(few.set_column(1, "age", stamp), path("pyarrow-timestamp.parquet"))
    decimals = few["age"].cast(pa.decimal128(12, 2))
    pq.write_table(few.set_column(1, "age", decimals), path("pyarrow-decimal.parquet"))
    encrypted(few)


def encrypted(t):
    import pyarrow.parquet.encryption as pe

    class Keys(pe.KmsClient):  # a key service for a file that nobody is to read
        def wrap_key(self, key, _):
            import base64
            return base64.b64encode(key)

        def unwrap_key(self, key, _):
            import base64
            return base64.b64decode(key)

    factory = pe.CryptoFactory(lambda _: Keys())
    for name, plain in [("pyarrow-encrypted", False), ("pyarrow-encrypted-columns", True)]:
        config = pe.EncryptionConfiguration(footer_key="k", column_keys={"k": ["age", "x"]}, plaintext_footer=plain)
        properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
        with pq.ParquetWriter(path(name + ".parquet"), t.schema, encryption_properties=properties) as w:
            w.write_table(t)


def bombs():
    """Small files of many long texts, one column `s` each. parquet_bombs_test.go says what each row is."""
    os.makedirs(path("bombs"), exist_ok=True)
    one_page = dict(use_dictionary=False, column_encoding={"s": "DELTA_BYTE_ARRAY"}, data_page_size=1 << 30)
    word = pa.DictionaryArray.from_arrays(pa.array([0] * 60000, pa.int32()), pa.array(["a" * 30000]))
    for name, texts, options in [
            ("one-word", word, {}),  # 1.8 GB
            ("prefixes", pa.array(["a" * i for i in range(60000)], pa.large_string()), one_page),  # 1.8 GB
            ("growing", pa.array(["a" * i for i in range(10000)]), one_page),  # 50 MB: to be read
            ("alike", pa.array(["b" * 200] * 500000), one_page)]:  # 100 MB: to be read
        pq.write_table(pa.table({"s": texts}), path(f"bombs/{name}.parquet"), compression="zstd", write_statistics=False,
                       store_schema=False, write_batch_size=1 << 20, row_group_size=1 << 20, **options)


def by_duckdb():
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.execute("SET preserve_insertion_order = true")
    t = table(ROWS)
    con.register("t", t)
    for name, options in {
            "duckdb-v1": "ROW_GROUP_SIZE 2048, COMPRESSION zstd", "duckdb-v2": "ROW_GROUP_SIZE 2048, COMPRESSION zstd, PARQUET_VERSION V2",
            "duckdb-lz4": "ROW_GROUP_SIZE 2048, COMPRESSION lz4_raw, PARQUET_VERSION V2"}.items():
        con.execute(f"COPY (SELECT * FROM t) TO '{path(name)}.parquet' (FORMAT parquet, {options})")
    con.execute(f"COPY (SELECT * FROM t LIMIT 0) TO '{path('duckdb-zero-rows')}.parquet' (FORMAT parquet)")
    con.execute("SET force_mbedtls_unsafe = 'true'")  # the key is in this file: nothing is secret here
    con.execute("PRAGMA add_parquet_key('k', '0123456789112345')")
    con.execute(f"COPY (SELECT * FROM t LIMIT 300) TO '{path('duckdb-encrypted')}.parquet' (FORMAT parquet, ENCRYPTION_CONFIG {{footer_key: 'k'}})")


def by_polars():
    few, all_rows = polars.from_arrow(table(FEW)), polars.from_arrow(table(ROWS))
    for codec in ["zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed"]:
        few.write_parquet(path(f"polars-{codec}.parquet"), compression=codec)
    all_rows.with_columns(polars.col("word").cast(polars.Categorical)).write_parquet(path("polars-groups.parquet"), row_group_size=900, compression="zstd")
    few.head(0).write_parquet(path("polars-zero-rows.parquet"))


def by_spark():
    if not shutil.which("java"):
        print("no java: the files of Spark stay as they are", file=sys.stderr)
        return
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    for name, rows, options in [("spark-snappy", FEW, {"compression": "snappy"}), ("spark-zstd", FEW, {"compression": "zstd"}),
                                ("spark-gzip-v2", FEW, {"compression": "gzip", "parquet.writer.version": "v2"}),
                                ("spark-lz4", FEW, {"compression": "lz4_raw"}), ("spark-hadoop-lz4", FEW, {"compression": "lz4"}),
                                ("spark-zero-rows", 0, {}),
                                ("spark-groups", ROWS, {"compression": "zstd", "parquet.block.size": "30000", "parquet.page.size": "2000",
                                                        "parquet.page.size.row.check.min": "100", "parquet.block.size.row.check.min": "100"})]:
        source = path("pyarrow-none.parquet") if rows else path("pyarrow-zero-rows.parquet")
        if rows == ROWS:
            source = path("pyarrow-groups.parquet")
        folder = f"/tmp/{name}.spark"
        write = spark.read.parquet(source).coalesce(1).write.mode("overwrite")
        for k, v in options.items():
            write = write.option(k, v)
        write.parquet(folder)
        parts = glob.glob(folder + "/part-*.parquet")
        assert len(parts) == 1, (name, parts)
        shutil.copy(parts[0], path(name + ".parquet"))
        shutil.rmtree(folder)
    spark.stop()


if __name__ == "__main__":
    expected()
    by_pyarrow()
    bombs()
    by_duckdb()
    by_polars()
    by_spark()
