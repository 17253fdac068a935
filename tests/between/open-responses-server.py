#!/usr/bin/env python3
"""open-responses-server. Its path of Responses has no version."""

from gateway import KEY, PORT, ROOT, become

become(
    "uvicorn", "open_responses_server.server_entrypoint:app", "--host", "127.0.0.1", "--port", PORT,
    OPENAI_BASE_URL_INTERNAL=ROOT,
    OPENAI_API_KEY=KEY,
    API_ADAPTER_HOST="127.0.0.1",
    API_ADAPTER_PORT=PORT,
)
