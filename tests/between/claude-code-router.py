#!/usr/bin/env python3
"""claude-code-router. Its configuration is in the folder of the user; a transformer selects the API of the upstream."""

from gateway import BASE, KEY, MODEL, PORT, UPSTREAM, become, write

path, transformer = {
    "": ("chat/completions", []),
    "chat": ("chat/completions", []),
    "messages": ("messages", ["Anthropic"]),
    "responses": ("responses", ["openai-responses"]),
}[UPSTREAM]
provider = {"name": "upstream", "api_base_url": f"{BASE}/{path}", "api_key": KEY, "models": [MODEL]}
if transformer:
    provider["transformer"] = {"use": transformer}
config = {
    "HOST": "127.0.0.1",
    "PORT": int(PORT),
    "LOG": False,
    "NON_INTERACTIVE_MODE": True,
    "Providers": [provider],
    "Router": {"default": f"upstream,{MODEL}"},
}
write(".claude-code-router/config.json", config)
become("ccr", "start")
