#!/usr/bin/env python3
"""The same with Ray Data, on many machines: workers read batches and write what they find as Parquet.

    archive_ray.py FOLDER OUT [--id COLUMN] [--stream COLUMN] [--api NAME] [--json]

FOLDER holds Parquet, or JSON lines with --json. FOLDER and OUT can be addresses such as s3://bucket/archive.
"""

import argparse
import os

import pyarrow as pa
import ray
from responses_conformance import check_arrow


def address(place: str) -> str:
    """Returns an address, which the working folders of workers do not change."""
    return place if "://" in place else os.path.abspath(place)


def main(arguments: argparse.Namespace) -> None:
    def check(batch: pa.Table) -> pa.Table:
        return pa.table(check_arrow(batch, id=arguments.id, stream=arguments.stream, api=arguments.api))

    read = ray.data.read_json if arguments.json else ray.data.read_parquet
    rows = read(address(arguments.folder)).select_columns([arguments.id, arguments.stream])
    rows.map_batches(check, batch_size=None, batch_format="pyarrow").write_parquet(address(arguments.out))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    parser.add_argument("--api", default="auto")
    parser.add_argument("--json", action="store_true", help="FOLDER holds JSON lines")
    main(parser.parse_args())
