#!/usr/bin/env python3
"""Checks streams in Parquet with DuckDB on all cores of one machine. Writes what it finds as Parquet, one file for each file.

    archive_duckdb.py FOLDER OUT [--id COLUMN] [--stream COLUMN]

Each file is read in batches of 2,048 rows, so that it may be larger than the memory.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
from responses_conformance import check_arrow


def check(file: Path, out: Path, columns: tuple[str, str]) -> None:
    """Checks a file. Other threads run meanwhile."""
    with duckdb.connect(config={"threads": 1}) as database:
        id, stream = (duckdb.ColumnExpression(name) for name in columns)
        streams = database.read_parquet(str(file)).select(id.alias("id"), stream.alias("stream"))
        found = check_arrow(streams.to_arrow_reader(2048))
        database.from_arrow(found).write_parquet(str(out / file.name))


def main(arguments: argparse.Namespace) -> None:
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    files = sorted(Path(arguments.folder).glob("*.parquet"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda file: check(file, out, (arguments.id, arguments.stream)), files):
            pass
    print(duckdb.sql(f"select rule, level, count(distinct id) as streams from '{out}/*.parquet' group by all order by streams desc"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    main(parser.parse_args())
