#!/usr/bin/env python3
"""LLM-Rosetta. The type of the provider selects the API that it speaks to the upstream."""

from gateway import BASE, HOME, KEY, MODEL, PORT, ROOT, UPSTREAM, become, write

kind, base = {
    "": ("openai_chat", BASE),
    "chat": ("openai_chat", BASE),
    "responses": ("openai_responses", BASE),
    "messages": ("anthropic", ROOT),
}[UPSTREAM]
config = {
    "providers": {"upstream": {"type": kind, "base_url": base, "api_key": KEY}},
    "models": {MODEL: {"provider": "upstream", "capabilities": ["text", "vision", "tools"]}},
    "server": {"host": "127.0.0.1", "port": int(PORT), "open_on_no_keys": True, "data_dir": str(HOME)},
}
become("llm-rosetta-gateway", "--config", write("config.jsonc", config))
