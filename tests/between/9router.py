#!/usr/bin/env python3
"""9Router. It imports its settings from the file of its old format. Needs Node.js 22.5 or later, for its database."""

import shutil
from pathlib import Path

from gateway import BASE, HOME, KEY, PORT, ROOT, UPSTREAM, become, write

kind = "anthropic-compatible" if UPSTREAM == "messages" else "openai-compatible"
node = {"prefix": "up", "baseUrl": f"{ROOT}/v1"}
if kind == "openai-compatible":
    node["apiType"] = UPSTREAM or "chat"
provider = f"{kind}-{UPSTREAM or 'chat'}-up"
settings = {
    "settings": {"requireLogin": False, "requireApiKey": False},
    "providerNodes": [{"id": provider, "type": kind, "name": "up"} | node],
    "providerConnections": [
        {"id": "up", "provider": provider, "authType": "apikey", "name": "up", "apiKey": KEY, "priority": 1}
        | {"isActive": True, "testStatus": "active", "providerSpecificData": node | {"nodeName": "up"}}
    ],
}
write("db.json", settings)
server = Path(shutil.which("9router")).resolve().parent / "app" / "custom-server.js"
become("node", server, DATA_DIR=str(HOME), PORT=PORT, HOSTNAME="127.0.0.1", NODE_ENV="production")
