"""What the scripts of this folder share. A script writes the configuration of one gateway and becomes that gateway.

    UPSTREAM_BASE_URL=http://127.0.0.1:9/v1 UPSTREAM_KEY=k GATEWAY_PORT=4000 tests/between/litellm.py [FRONT UPSTREAM]

FRONT and UPSTREAM are `responses`, `messages` or `chat`. The gateway's command must be on the path. Python 3.11 or
later, nothing besides."""

import json
import os
import sys
import tempfile
from pathlib import Path

BASE = os.environ["UPSTREAM_BASE_URL"]
# Some gateways add the version themselves.
ROOT = BASE.removesuffix("/v1")
KEY = os.environ["UPSTREAM_KEY"]
PORT = os.environ["GATEWAY_PORT"]
MODEL = "scripted"
FRONT, UPSTREAM = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
HOME = Path(tempfile.mkdtemp(prefix="gateway-"))


def write(name, value):
    """Writes a file into the gateway's home: a text, or a value as JSON, which is YAML as well."""
    file = HOME / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return file


def become(*command, **env):
    """Replaces this process by the gateway."""
    command = [str(each) for each in command]
    os.chdir(HOME)
    os.execvpe(command[0], command, os.environ | {"HOME": str(HOME), "NO_PROXY": "*"} | env)
