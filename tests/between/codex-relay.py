#!/usr/bin/env python3
"""codex-relay: Responses for upstreams of Chat Completions."""

from gateway import BASE, KEY, PORT, become

become("codex-relay", "--bind", "127.0.0.1", "--port", PORT, "--upstream", BASE, CODEX_RELAY_API_KEY=KEY)
