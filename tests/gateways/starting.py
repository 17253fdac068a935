"""How each gateway is started in front of a model, and where it is then reached."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from answers import MODEL
from fixtures import AIMOCK_MODEL, fixtures
from models import Model
from pages import environment, filled, gateways, of, script

HERE = Path(__file__).resolve().parent

# Nothing of the caller's may reach a gateway, and no gateway is to reach for anything.
QUIET = {"PATH": os.environ.get("PATH", ""), "NO_PROXY": "*"}


@dataclass
class Place:
    """Where a gateway is started, and in front of what."""

    packages: Path
    folder: Path
    port: int
    model: Model
    dialect: str
    page: str  # its page in docs/gateways, if it is started by one
    asked: Callable  # the exchanges of the suite with its reference gateway

    def write(self, name, value):
        """Writes a file of JSON."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, indent=1))
        return file

    def listening(self):
        return ["--host", "127.0.0.1", "--port", str(self.port)]


@dataclass
class Start:
    """The command of a gateway, and what the suite is told of it."""

    command: list
    path: str = "/v1"
    model: str = MODEL
    env: dict = field(default_factory=dict)
    headers: list = field(default_factory=list)
    fails: bool = True  # as the model behind it does, when a prompt says so
    health: str = ""  # the path that answers with status 200 once all is loaded


def described(place):
    """Starts a gateway by its page in docs/gateways, in front of a model."""
    gateway = gateways()[place.page]
    front = {"anthropic": "messages", "chat": "chat"}.get(place.dialect, "responses")
    pair = f"{front}-{place.model.api}"
    upstream = {"base": f"{place.model.url}/v1", "key": "none"}
    headers = [filled(header, upstream) for header in of(gateway.get("headers", {}), pair) or []]
    env = environment(place.packages, place.folder)
    env |= {"UPSTREAM_BASE_URL": upstream["base"], "UPSTREAM_KEY": upstream["key"], "GATEWAY_PORT": str(place.port)}
    return Start(
        ["sh", script(place.page, place.folder), front, place.model.api],
        path=of(gateway.get("base", {}), pair) or "/v1",
        model=of(gateway.get("model", {}), pair) or MODEL,
        env=env,
        headers=headers,
    )


def aimock(place):
    """It has no model behind it."""
    file = place.write("fixtures.json", {"fixtures": fixtures(place.asked(), place.dialect)})
    command = ["node", place.packages / "node_modules/@copilotkit/aimock/dist/cli.js", *place.listening()]
    return Start([*command, "--fixtures", file, "--log-level", "info"], model=AIMOCK_MODEL)


def llamacpp(place):
    """It is a model itself, which says one sentence and calls the first tool."""
    command = [place.packages / "bin" / "python", HERE / "llamacpp" / "serve.py", place.folder / "model.gguf", str(place.port)]
    return Start(command, fails=False, health="/health", env={"HOME": str(place.folder), "GGML_NO_BACKTRACE": "1"})


STARTS = {"aimock": aimock, "llamacpp": llamacpp}
