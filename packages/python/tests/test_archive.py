"""The example for archives: in shards and on several processes it comes to the report of one run."""

import json
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "example" / "archive"
sys.path.insert(0, str(EXAMPLE))


def archive(*arguments):
    subprocess.run([sys.executable, str(EXAMPLE / "archive.py"), *map(str, arguments)], check=True)


def test_shards_come_to_the_report_of_one_run(tmp_path):
    from archive import DIALECT, exchanges

    from responses_conformance import Run

    folder = tmp_path / "archive"
    archive("make", folder, 1)
    # Smaller shards than the example makes: one of them is cut into seven.
    (whole,) = folder.glob("*.jsonl")
    lines = whole.read_text().splitlines(keepends=True)
    whole.unlink()
    for at in range(7):
        (folder / f"{at}.jsonl").write_text("".join(lines[at::7]))
    archive("check", folder, tmp_path / "two.json", 2)
    archive("check", folder, tmp_path / "one.json", 1)

    run = Run(DIALECT)
    for shard in sorted(folder.glob("*.jsonl")):
        run.check_all(exchanges(shard), shard.name)
    expected = run.to_json()
    assert (tmp_path / "two.json").read_text() == (tmp_path / "one.json").read_text() == expected
    report = json.loads(expected)
    assert report["totals"]["streams"] == len(lines) > 50
    broken = {finding["exchange"] for capture in report["captures"] for finding in capture["findings"] if finding["rule"] == "part/before-open"}
    assert len(broken) == (len(lines) - 8) // 50 + 1
