"""What the scripts of tests/gateways and tests/clients share: packages, servers that are always stopped,
and the suite's own command. Python 3.11 or later, nothing besides; what they write lies under target/."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALL_LIMIT = 900


def fail(text):
    sys.exit(f"error: {text}")


def versions(beside):
    """The pinned versions in the folder of a script."""
    return tomllib.loads((Path(beside).parent / "versions.toml").read_text())


def alone(folder):
    """The lock of a folder that two runs would write into at once: it is held until the file that this returns is closed."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail(f"another run is at work in {folder}")
    return lock


def run(command, limit, **options):
    """Runs a command to its end, or to that of its time; with all that it started."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | options
    process = subprocess.Popen(command, text=True, start_new_session=True, **options)
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        stop(process)
    return process.returncode, text or ""


def stop(process):
    """Ends a process and all that it started."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


def stop_on_signals():
    """Lets a signal run all that is to be done at the end."""
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(kind, lambda number, _: sys.exit(128 + number))


class Server:
    """A server while it runs: it listens on `port` when this is entered, and is gone when it is left."""

    def __init__(self, command, port, log, limit=60, **options):
        self.command, self.port, self.log, self.limit, self.options = command, port, log, limit, options

    def __enter__(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self.options
            )
        try:
            self.wait()
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    def wait(self):
        until = time.monotonic() + self.limit
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"it ended with {self.process.returncode}: see {self.log}")
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError(f"it does not listen after {self.limit} s: see {self.log}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def python(least):
    """A Python that is new enough: that of $PYTHON, of the path, or of pyenv."""
    wanted = f"import sys; sys.exit(sys.version_info < {least!r})"
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 4)]
    found = [os.environ.get("PYTHON"), sys.executable, *map(shutil.which, [*names, "python3"])]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += sorted(map(str, pyenv.glob("3.*/bin/python3")))
    for candidate in filter(None, found):
        if subprocess.run([candidate, "-c", wanted], capture_output=True, check=False).returncode == 0:
            return candidate
    return fail(f"Python {'.'.join(map(str, least))} or later is needed: name one in PYTHON")


def installed(folder, packages, make):
    """A folder with just these packages; it is made again when they change."""
    stamp = folder / "packages.json"
    wanted = json.dumps(packages)
    if not (stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"installing {' '.join(packages)}", file=sys.stderr, flush=True)
        for command in make:
            code, text = run(command, INSTALL_LIMIT, cwd=folder)
            if code != 0:
                raise RuntimeError(f"`{' '.join(map(str, command))}`: {text[-2000:] or 'it takes too long'}")
        stamp.write_text(wanted)
    return folder


def venv(folder, packages, least=(3, 11)):
    """A virtual environment with these packages."""
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return installed(folder, packages, [[python(least), "-m", "venv", folder], [*pip, *packages]])


def npm(folder, packages):
    """A folder with these packages of npm."""
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder]
    return installed(folder, packages, [[*command, *packages]])


def conformance():
    """The suite's command: that of $CONFORMANCE, or one that is built now."""
    if given := os.environ.get("CONFORMANCE"):
        return given
    return built("debug")


def built(folder, *options):
    """The suite's command, built with these options into a folder of that name."""
    subprocess.run(["cargo", "build", "--quiet", "--package", "conformance", *options], cwd=ROOT, check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    known = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return str(Path(json.loads(known)["target_directory"]) / folder / "conformance")
