"""The examples for engines: each comes to the rows of one call."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from streams import NOT_VALID, good, sent

from responses_conformance import check_arrow

EXAMPLE = Path(__file__).parent.parent / "example" / "archive"


def in_order(table):
    return sorted(table.to_pylist(), key=lambda row: (row["id"], row["event"] or 0, row["rule"] or "", row["message"] or ""))


@pytest.mark.parametrize("engine", ["duckdb", "polars", "daft", "ray", "spark"])
def test_an_engine_comes_to_the_rows_of_one_call(engine, tmp_path, broken):
    pytest.importorskip({"spark": "pyspark"}.get(engine, engine))
    kinds = [good(), NOT_VALID, sent(broken.url), b"hello", None]
    streams = [kinds[at % len(kinds)] for at in range(400)]
    given = pa.table({"call": range(400), "body": [stream and stream.decode() for stream in streams], "other": ["x"] * 400})
    (folder := tmp_path / "archive").mkdir()
    for at in range(4):
        parquet.write_table(given.slice(at * 100, 100), folder / f"{at}.parquet", row_group_size=30)
    out = tmp_path / ("found.parquet" if engine == "polars" else "found")
    run = [sys.executable, str(EXAMPLE / f"archive_{engine}.py"), str(folder), str(out), "--id", "call", "--stream", "body"]
    ran = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    found = parquet.read_table(out)
    expected = pa.table(check_arrow(given, id="call", stream="body"))
    assert found.column_names == expected.column_names
    assert len(expected) > len(streams)
    assert in_order(found) == in_order(expected)
