#!/usr/bin/env python3
"""The same with Ray Data: findings as Parquet, and a report of each batch as JSON, to be merged.

    archive_ray.py FOLDER OUT [--id COLUMN] [--stream COLUMN] [--dialect NAME]

FOLDER holds JSON lines, or Parquet if its name ends in .parquet. Name the columns with the id and the bytes of a response as
your gateway writes them, for example --id request_id --stream response_body. Without --dialect, that of each stream is
recognised. FOLDER and OUT can be addresses such as s3://bucket/archive: workers read and write them, and nothing is
collected on the driver.
"""

import argparse
import os
import uuid
from functools import partial

import pyarrow as pa
import ray
from pyarrow.fs import FileSystem
from responses_conformance import Run

FINDINGS = pa.schema([(name, pa.string()) for name in ("exchange", "rule", "level", "message")])


def address(place: str) -> str:
    """Returns an address, which the working folders of workers do not change."""
    return place if "://" in place else os.path.abspath(place)


def check(batch: pa.Table, reports: str, columns: tuple[str, str], dialect: str) -> pa.Table:
    """Checks a batch of exchanges, and writes its report. Returns a row for each finding."""
    labels, streams = (batch.column(name) for name in columns)
    # Views of Arrow's memory: no text of Python is made. A row without a stream is none.
    views = ((str(label), stream.as_buffer()) for label, stream in zip(labels, streams, strict=True))
    run, name = Run(dialect), f"batch-{uuid.uuid4()}"
    report = run.check_all(((label, view) for label, view in views if view is not None), name)
    files, folder = FileSystem.from_uri(reports)
    with files.open_output_stream(f"{folder}/{name}.json") as file:
        file.write(run.to_json().encode())
    rows = [
        {"exchange": finding.exchange, "rule": finding.rule, "level": finding.level, "message": finding.message}
        for finding in report.findings
    ]
    return pa.Table.from_pylist(rows, FINDINGS)


def main(arguments: argparse.Namespace) -> None:
    reports = address(f"{arguments.out}/reports")
    files, folder = FileSystem.from_uri(reports)
    files.create_dir(folder)
    read = ray.data.read_parquet if arguments.folder.endswith(".parquet") else ray.data.read_json
    columns = (arguments.id, arguments.stream)
    work = partial(check, reports=reports, columns=columns, dialect=arguments.dialect)
    exchanges = read(address(arguments.folder)).select_columns(list(columns))
    checked = exchanges.map_batches(work, batch_size=10_000, batch_format="pyarrow")
    checked.write_parquet(address(f"{arguments.out}/findings"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    parser.add_argument("--dialect", default="auto")
    main(parser.parse_args())
