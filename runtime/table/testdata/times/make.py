"""Writes the files of this folder: one table of times and decimals, by the programs that people have.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pyarrow duckdb polars
    /tmp/venv/bin/python make.py

rows.csv has every row as weir writes it: date-times and times down to their second, instants in UTC. The values
come from arithmetic on the row number: no data of others, nothing random.
"""

import datetime
import decimal
import os

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 120
UTC = datetime.timezone.utc
decimal.getcontext().prec = 50


def cells(i):
    at = datetime.datetime(1931, 3, 5) + datetime.timedelta(days=i * 173, seconds=i * 7919, microseconds=i * 1001)
    cents = (i * 7919 % 20011 - 10000) * (1 if i % 3 else 10**i % (10**7))
    return {
        "local": None if i % 11 == 5 else at,
        "instant": None if i % 13 == 7 else at.replace(tzinfo=UTC),
        "clock": None if i % 17 == 3 else (at + datetime.timedelta(hours=i)).time(),
        "money": None if i % 7 == 2 else decimal.Decimal(cents).scaleb(-2),
        "share": decimal.Decimal(i * 37 % 1000).scaleb(-3),
        "wide": None if i % 5 == 1 else decimal.Decimal((-1) ** i * 3**i % 10**33).scaleb(-6),
        "count": decimal.Decimal(i * i),
    }


SCHEMA = pa.schema([("local", pa.timestamp("ns")), ("instant", pa.timestamp("us", "Europe/Berlin")), ("clock", pa.time64("us")),
                    ("money", pa.decimal128(16, 2)), ("share", pa.decimal128(4, 3)), ("wide", pa.decimal128(38, 6)), ("count", pa.decimal128(9, 0))])
TABLE = pa.Table.from_pylist([cells(i) for i in range(ROWS)], schema=SCHEMA)


def path(name):
    return os.path.join(HERE, name)


def spell(name, v):
    if v is None:
        return ""
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%dT%H:%M:%S") + ("Z" if v.tzinfo else "")
    if isinstance(v, datetime.time):
        return v.strftime("%H:%M:%S")
    return format(v, "f")


def expected():
    with open(path("rows.csv"), "w", newline="") as f:
        f.write(",".join(SCHEMA.names) + "\n")
        for i in range(ROWS):
            f.write(",".join(spell(k, v) for k, v in cells(i).items()) + "\n")


def arrow(name, t, **options):
    for form, new in [("arrow", ipc.new_file), ("arrows", ipc.new_stream)]:
        with new(path(f"{name}.{form}"), t.schema, options=ipc.IpcWriteOptions(**options)) as w:
            w.write_table(t)


def main():
    expected()
    plain = dict(use_dictionary=False, compression="zstd")
    pq.write_table(TABLE, path("pyarrow.parquet"), compression="zstd")
    pq.write_table(TABLE, path("pyarrow-foreign.parquet"), store_schema=False, row_group_size=50, **plain)
    pq.write_table(TABLE, path("pyarrow-integers.parquet"), store_decimal_as_integer=True, **plain)
    pq.write_table(TABLE, path("pyarrow-delta.parquet"), store_decimal_as_integer=True, column_encoding={
        "local": "DELTA_BINARY_PACKED", "instant": "DELTA_BINARY_PACKED", "clock": "DELTA_BINARY_PACKED", "money": "DELTA_BINARY_PACKED",
        "share": "BYTE_STREAM_SPLIT", "wide": "DELTA_BYTE_ARRAY", "count": "DELTA_BINARY_PACKED"}, **plain)
    for ms in [SCHEMA.set(2, pa.field("clock", pa.time32("ms"))).set(0, pa.field("local", pa.timestamp("ms")))]:
        pq.write_table(TABLE.cast(ms, safe=False), path("pyarrow-milliseconds.parquet"), compression="snappy")
        arrow("pyarrow-milliseconds", TABLE.cast(ms, safe=False))
    naive = TABLE.set_column(1, "instant", TABLE["instant"].cast(pa.timestamp("us", "UTC")))
    pq.write_table(naive.select(["local"]), path("pyarrow-int96.parquet"), use_deprecated_int96_timestamps=True, store_schema=False)
    arrow("pyarrow", TABLE, compression="zstd")
    pl.from_arrow(TABLE).write_parquet(path("polars.parquet"), compression="zstd")
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    con.register("t", TABLE)
    con.execute(f"COPY (SELECT * FROM t) TO '{path('duckdb.parquet')}' (FORMAT parquet, COMPRESSION zstd)")


if __name__ == "__main__":
    main()
