#!/usr/bin/env python3
"""codex-bridge-python: Responses for upstreams of Chat Completions."""

from gateway import BASE, KEY, PORT, become

become("codex-bridge-python", "--port", PORT, "--upstream", BASE, CODEX_BRIDGE_API_KEY=KEY)
