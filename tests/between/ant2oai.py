#!/usr/bin/env python3
"""a2o: Messages for upstreams of Chat Completions. It forwards the client's key."""

from gateway import BASE, PORT, become

become("a2o", "--upstream", f"{BASE}/chat/completions", "--host", "127.0.0.1", "--port", PORT)
