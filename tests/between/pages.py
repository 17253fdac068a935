"""The pages of docs/gateways, which say how a gateway is installed and started, and the table of what it claims."""

import os
import re
import shlex
import tomllib
from pathlib import Path

from field import ROOT, npm, venv

PAGES = ROOT / "docs" / "gateways"


def gateways():
    """Returns the table of gateways.toml."""
    return tomllib.loads((Path(__file__).parent / "gateways.toml").read_text())


def title(name):
    return text(name).splitlines()[0].removeprefix("# ")


def text(name):
    return (PAGES / f"{name}.md").read_text()


def block(name, heading):
    """Returns the first code block under a heading of a page."""
    found = re.search(rf"^## {heading}\n.*?^```sh\n(.*?)^```", text(name), re.DOTALL | re.MULTILINE)
    if not found:
        raise RuntimeError(f"docs/gateways/{name}.md has no code block under {heading}")
    return found[1]


def packages(name):
    """Returns the package manager of a gateway, and the packages."""
    manager, _, *found = shlex.split(block(name, "Install").splitlines()[0])
    return manager, found


def install(name, folder):
    """Installs the packages of a gateway into a folder."""
    manager, found = packages(name)
    return npm(folder, found) if manager == "npm" else venv(folder, found, least=(3, 12))


def script(name, folder):
    """Writes the script that starts a gateway into the folder in which it is to run."""
    file = folder / "gateway.sh"
    file.write_text(block(name, "Configure"))
    return file


def environment(installed, folder):
    """Returns the environment of a gateway: nothing of the caller's may reach it but the path."""
    path = [installed / "bin", installed / "node_modules" / ".bin", os.environ.get("PATH", "")]
    return {"PATH": ":".join(map(str, path)), "HOME": str(folder), "NO_PROXY": "*"}


def of(table, pair):
    """Returns the entry of a pair, or that of all pairs."""
    return table.get(pair, table.get("*"))


def filled(text, values):
    """Replaces names in braces."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def options(name, pair, upstream_port, gateway_port):
    """Returns the options of `conformance between` that a pair of a gateway needs."""
    gateway = gateways()[name]
    front, upstream = pair.split("-")
    line = ["--front", front, "--upstream", upstream, "--model", of(gateway.get("model", {}), pair) or "scripted"]
    root = f"http://127.0.0.1:{upstream_port}"
    known = {"root": root, "base": f"{root}/v1", "key": "any"}
    headers = of(gateway.get("headers", {}), pair) or []
    if headers:
        line += ["--upstream-port", str(upstream_port)]
    for header in headers:
        line += ["--header", filled(header, known)]
    if (base := of(gateway.get("base", {}), pair)) is not None:
        line += ["--gateway", f"http://127.0.0.1:{gateway_port}{base}"]
    if mode := of(gateway.get("mode", {}), pair):
        line += ["--mode", mode]
    if gateway.get("passes_key"):
        line += ["--passes-key"]
    return line


def start(pair):
    """Returns the command that starts a gateway, in the folder of its script."""
    return ["--", "sh", "gateway.sh", *pair.split("-")]
