#!/usr/bin/env python3
"""agentic-api, the gateway of vLLM. It has no readiness probe of its own that the scripted upstream would know."""

from gateway import HOME, KEY, PORT, ROOT, become

become(
    "agentic-server", "--llm-api-base", ROOT, "--gateway-host", "127.0.0.1", "--gateway-port", PORT,
    "--skip-llm-ready-check", "--db-url", f"sqlite://{HOME}/agentic.db?mode=rwc",
    OPENAI_API_KEY=KEY,
)
