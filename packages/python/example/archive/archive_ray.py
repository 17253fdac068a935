#!/usr/bin/env python3
"""The same with Ray Data: findings as Parquet, and the reports of all shards as JSON, to be merged.

    archive_ray.py FOLDER OUT     FOLDER holds JSON lines or Parquet, with an id and a stream in each row

A cluster reads from object storage: FOLDER can be an address such as s3://bucket/archive. Reports are written by the
driver, to its disk.
"""

import sys
import uuid

import ray
from responses_conformance import Run

DIALECT = "openai"


def check(batch: dict) -> dict:
    """Checks a batch of exchanges: a row for each finding, and one with the report of the batch."""
    run = Run(DIALECT)
    streams = ((label, stream.encode()) for label, stream in zip(batch["id"], batch["stream"], strict=True))
    report = run.check_all(streams, f"batch-{uuid.uuid4()}")
    rows = [
        {"exchange": finding.exchange, "rule": finding.rule, "level": finding.level, "message": finding.message}
        for finding in report.findings
    ]
    rows.append({"exchange": "", "rule": "", "level": "", "message": run.to_json()})
    return {name: [row[name] for row in rows] for name in rows[0]}


def main(folder: str, out: str) -> None:
    read = ray.data.read_parquet if folder.endswith(".parquet") else ray.data.read_json
    checked = read(folder).map_batches(check, batch_size=10_000).materialize()
    checked.filter(lambda row: row["rule"] != "").write_parquet(f"{out}/findings")
    for number, row in enumerate(checked.filter(lambda row: row["rule"] == "").iter_rows()):
        with open(f"{out}/report-{number:05}.json", "w") as report:
            report.write(row["message"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
