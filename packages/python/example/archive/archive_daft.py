#!/usr/bin/env python3
"""The same with Daft: a list of what is found for each stream, which becomes rows. On Ray, Daft spreads it over machines.

    archive_daft.py FOLDER OUT [--id COLUMN] [--stream COLUMN]
"""

import argparse

import daft
import numpy
import pyarrow as pa
from daft import DataType, Series
from responses_conformance import check_arrow


def checked(streams: pa.Array) -> pa.Table:
    """Returns what is found, with the number of each stream as its id."""
    return pa.table(check_arrow(pa.table({"id": range(len(streams)), "stream": streams})))


FINDINGS = pa.struct([field for field in checked(pa.array([], pa.string())).schema if field.name != "id"])


@daft.func.batch(return_dtype=DataType.list(DataType.from_arrow_type(FINDINGS)))
def findings(streams: Series) -> pa.Array:
    found = checked(streams.to_arrow()).combine_chunks()
    rows = pa.StructArray.from_arrays([found[name].combine_chunks() for name in FINDINGS.names], fields=list(FINDINGS))
    ends = numpy.searchsorted(found["id"].to_numpy(), numpy.arange(len(streams) + 1))
    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), rows)


def main(arguments: argparse.Namespace) -> None:
    rows = daft.read_parquet(f"{arguments.folder}/*.parquet")
    found = rows.select(daft.col(arguments.id).alias("id"), findings(daft.col(arguments.stream)).alias("found"))
    found.explode("found").select("id", daft.col("found").unnest()).write_parquet(arguments.out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--id", default="id")
    parser.add_argument("--stream", default="stream")
    main(parser.parse_args())
