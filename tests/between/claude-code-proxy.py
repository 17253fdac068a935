#!/usr/bin/env python3
"""claude-code-proxy: Messages for upstreams of Chat Completions, through the library of LiteLLM."""

from gateway import BASE, KEY, MODEL, PORT, become

become(
    "uvicorn", "server.fastapi:app", "--host", "127.0.0.1", "--port", PORT,
    PREFERRED_PROVIDER="openai",
    OPENAI_API_KEY=KEY,
    OPENAI_BASE_URL=BASE,
    BIG_MODEL=MODEL,
    SMALL_MODEL=MODEL,
    LITELLM_LOCAL_MODEL_COST_MAP="True",
)
