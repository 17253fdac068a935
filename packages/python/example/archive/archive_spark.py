#!/usr/bin/env python3
"""The same with Spark, on many machines: executors read batches and write what they find as Parquet.

    archive_spark.py FOLDER OUT [--id COLUMN] [--stream COLUMN] [--api NAME] [--json]

FOLDER holds Parquet, or JSON lines with --json. Spark needs Java. The package must be installed where executors run.
"""

import argparse
import os
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from responses_conformance import check_arrow


def main(arguments: argparse.Namespace) -> None:
    def check(batch: pa.RecordBatch | pa.Table) -> pa.Table:
        return pa.table(check_arrow(batch, id=arguments.id, stream=arguments.stream, api=arguments.api))

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from check(batch).to_batches()

    # Executors on this machine have the packages of this interpreter.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.getOrCreate()
    read = spark.read.json if arguments.json else spark.read.parquet
    rows = read(arguments.folder).select(arguments.id, arguments.stream)
    found = from_arrow_schema(check(to_arrow_schema(rows.schema).empty_table()).schema)
    rows.mapInArrow(each, found).write.parquet(arguments.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    parser.add_argument("--api", default="auto")
    parser.add_argument("--json", action="store_true", help="FOLDER holds JSON lines")
    main(parser.parse_args())
