#!/usr/bin/env python3
"""The same with Polars, whose streaming engine hands over batches.

    archive_polars.py FOLDER OUT.parquet [--id COLUMN] [--stream COLUMN]
"""

import argparse

import polars
from responses_conformance import check_arrow


def check(batch: polars.DataFrame) -> polars.DataFrame:
    return polars.DataFrame(check_arrow(batch))


def main(arguments: argparse.Namespace) -> None:
    rows = polars.scan_parquet(f"{arguments.folder}/*.parquet")
    streams = rows.select(id=arguments.id, stream=arguments.stream)
    # Without rows, only the types of the result are made.
    schema = check(streams.head(0).collect()).schema
    streams.map_batches(check, schema=schema, streamable=True).sink_parquet(arguments.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    main(parser.parse_args())
