#!/usr/bin/env python3
"""How fast the checker is from Python: `measure.py FILE`, where responses_conformance is installed.

Prints what `cargo bench --profile dist -p python --bench throughput -- FILE` prints for the same stream.
"""

import sys
import time
from pathlib import Path

from responses_conformance import Checker

CHUNK = 64 << 10
stream = Path(sys.argv[1]).read_bytes()
chunks = [stream[at : at + CHUNK] for at in range(0, len(stream), CHUNK)]
events = [line.removeprefix("data: ") for line in stream.decode().splitlines() if line.startswith("data: ")]
checker = Checker("openai")


def best(work):
    """The shortest time of many: what else runs on the machine lengthens the others."""
    times = []
    for _ in range(1000):
        began = time.perf_counter()
        work()
        checker.reset()
        times.append(time.perf_counter() - began)
    return min(times)


def pushed():
    for chunk in chunks:
        checker.push(chunk)
    checker.finish()


def given():
    for event in events:
        checker.event(event)


print(f"{len(stream) / best(pushed) / 1e6:.0f} MB/s")
print(f"{best(given) * 1e9 / len(events):.0f} ns/event")
