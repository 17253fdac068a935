"""The reference gateway, as a process."""

import subprocess
import sys
from collections.abc import Iterable
from types import TracebackType


class Gateway:
    """The reference gateway on a free port of this machine, as long as the context lasts.

    >>> with Gateway(faults=["part/before-open"]) as gateway:
    ...     client = openai.OpenAI(base_url=gateway.url, api_key="any")
    """

    def __init__(self, dialect: str = "openai", *, faults: Iterable[str] = (), arguments: Iterable[str] = ()) -> None:
        self._arguments = ["serve", "--port", "0", "--dialect", dialect]
        for fault in faults:
            self._arguments += ["--fault", fault]
        self._arguments += arguments
        self._process: subprocess.Popen[str] | None = None
        #: The base URL, for example ``http://127.0.0.1:40123/v1``.
        self.url = ""

    def start(self) -> "Gateway":
        process = subprocess.Popen(
            command(self._arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("http://"):
            rest, _ = process.communicate()
            raise RuntimeError(f"the reference gateway did not start: {line}{rest}")
        self._process, self.url = process, line.split()[0]
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> "Gateway":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Gateway {self.url or 'not started'}>"


def command(arguments: Iterable[str]) -> list[str]:
    """Returns the command line of ``conformance`` with these arguments."""
    return [sys.executable, "-m", "responses_conformance", *arguments]
