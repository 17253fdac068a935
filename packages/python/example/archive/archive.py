#!/usr/bin/env python3
"""Checks an archive of recorded exchanges on many processes, and merges the reports into one.

    archive.py make FOLDER MEGABYTES       makes up an archive: JSON lines with an id and a stream each
    archive.py check FOLDER REPORT [N]     checks it on N processes [all cores], a shard at a time
    archive.py measure FOLDER              prints megabytes a second, by the number of processes

Checking is a pure function of an exchange: shards need nothing of each other, and merging their reports equals checking
all at once. Another engine only has to call `check_shard`: see archive_ray.py.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from responses_conformance import Gateway, Run

DIALECT = "openai"
SHARD = 32 << 20


def exchanges(shard: Path) -> Iterator[tuple[str, bytes]]:
    """Returns what is to be checked of a shard: a label and the stream as it was sent."""
    with shard.open("rb") as lines:
        for line in lines:
            exchange = json.loads(line)
            yield exchange["id"], exchange["stream"].encode()


def check_shard(shard: Path) -> str:
    """Checks a shard, and returns its report as JSON. It grows with what is wrong, not with the number of exchanges."""
    run = Run(DIALECT)
    run.check_all(exchanges(shard), shard.name)
    return run.to_json()


def check(shards: list[Path], processes: int, report: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / f"{shard.name}.json" for shard in shards]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            for part, text in zip(parts, pool.imap(check_shard, shards), strict=True):
                part.write_text(text)
        merge = [sys.executable, "-m", "responses_conformance", "report", "--merge", *map(str, parts)]
        subprocess.run([*merge, "--format", "json", "--output", str(report)], check=True)


def make(folder: Path, megabytes: int) -> None:
    """Writes streams of the reference gateway, one in fifty of which breaks a rule, under ids of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    with Gateway() as good, Gateway(faults=["part/before-open"]) as bad:
        texts = ["Say hello.", "[[say One|, two|, three.]]", "[[think A|B]]", "[[refuse]]"]
        good_streams = [sent(good.url, text) for text in texts]
        bad_stream = sent(bad.url, texts[0])
    left, number, shard = megabytes * 1_000_000, 0, 0
    while left > 0:
        with (folder / f"shard-{shard:05}.jsonl").open("w") as out:
            room = min(SHARD, left)
            while room > 0:
                stream = bad_stream if number % 50 == 7 else good_streams[number % len(good_streams)]
                line = json.dumps({"id": f"exchange-{number}", "stream": stream}) + "\n"
                out.write(line)
                room, left, number = room - len(line), left - len(line), number + 1
        shard += 1


def sent(url: str, text: str) -> str:
    request = json.dumps({"model": "m", "input": text, "stream": True}).encode()
    asked = urllib.request.Request(f"{url}/responses", request, {"content-type": "application/json"})
    with urllib.request.urlopen(asked) as response:
        return response.read().decode()


def measure(shards: list[Path]) -> None:
    size = sum(shard.stat().st_size for shard in shards)
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        for processes in range(1, cores + 1):
            began = time.perf_counter()
            check(shards, processes, Path(folder) / "report.json")
            print(f"{processes} processes: {size / (time.perf_counter() - began) / 1e6:.0f} MB/s")


def main(arguments: list[str]) -> None:
    match arguments:
        case ["make", folder, megabytes]:
            make(Path(folder), int(megabytes))
        case ["check", folder, report, *processes]:
            check(sorted(Path(folder).glob("*.jsonl")), int(processes[0]) if processes else os.cpu_count() or 1, Path(report))
        case ["measure", folder]:
            measure(sorted(Path(folder).glob("*.jsonl")))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
