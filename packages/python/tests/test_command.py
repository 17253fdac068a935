"""The command in the wheel."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from streams import NOT_VALID

from responses_conformance import Gateway, __version__

SCRIPTS = Path(sys.executable).parent


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize("name", ["conformance", "responses-conformance"])
def test_it_has_both_names(name):
    assert run(SCRIPTS / name, "--version").stdout.startswith(f"conformance {__version__} (build ")


def test_there_is_no_rust_around():
    assert shutil.which("cargo") is None and shutil.which("rustc") is None


def test_exit_codes_are_those_of_the_command(tmp_path):
    (tmp_path / "a.sse").write_bytes(NOT_VALID)
    command = SCRIPTS / "conformance"
    assert run(command, "list", "dialects").returncode == 0
    broken = run(command, "check", "a.sse", cwd=tmp_path)
    assert broken.returncode == 1 and "schema/event-valid" in broken.stderr
    assert run(command, "check", "none.sse", cwd=tmp_path).returncode == 2
    assert run(command, "--no-such-flag").returncode == 2


def test_the_suite_passes_on_the_reference_gateway(responses_gateway, tmp_path):
    done = run(SCRIPTS / "conformance", "run", "--target", responses_gateway.url, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("passed: 1") or "passed" in done.stdout
    assert run(SCRIPTS / "conformance", "verify", "run", cwd=tmp_path).returncode == 0


def test_interrupts_end_it():
    gateway = Gateway().start()
    process = gateway._process
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert time.monotonic() - begin < 5


def test_a_gateway_that_cannot_start_says_why():
    with pytest.raises(RuntimeError, match="no-such-rule"):
        Gateway(faults=["no-such-rule"]).start()
