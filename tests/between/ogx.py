#!/usr/bin/env python3
"""OGX. Its configuration is YAML, of which JSON is a part."""

from gateway import BASE, FRONT, HOME, KEY, MODEL, PORT, UPSTREAM, become, write

store = {"backend": "sql"}
# It forwards Messages unchanged to vLLM, and translates them for OpenAI. It recognizes models that reason by name.
if (FRONT, UPSTREAM) == ("messages", "chat"):
    kind, model, key = "openai", "gpt-5", {"api_key": KEY}
else:
    kind, model, key = "vllm", MODEL, {"api_token": KEY}
providers = {
    "inference": [[kind, f"remote::{kind}", {"base_url": BASE, **key}]],
    "messages": [["builtin", "inline::builtin", {"kvstore": {"backend": "kv", "namespace": "messages"}}]],
    "responses": [["builtin", "inline::builtin", {"persistence": {"responses": store | {"table_name": "responses"}}}]],
    # Responses require it.
    "files": [["files", "inline::localfs", {"storage_dir": str(HOME), "metadata_store": store | {"table_name": "files"}}]],
    "tool_runtime": [],
    "vector_io": [],
}
config = {
    "version": 2,
    "distro_name": "scripted",
    "apis": list(providers),
    "providers": {
        api: [{"provider_id": name, "provider_type": kind, "config": config} for name, kind, config in each]
        for api, each in providers.items()
    },
    "storage": {
        "backends": {
            "kv": {"type": "kv_sqlite", "db_path": str(HOME / "kv.db")},
            "sql": {"type": "sql_sqlite", "db_path": str(HOME / "sql.db")},
        },
        "stores": {
            "metadata": {"namespace": "registry", "backend": "kv"},
            "inference": store | {"table_name": "inference"},
            "conversations": store | {"table_name": "conversations"},
            "prompts": store | {"table_name": "prompts"},
            "connectors": store | {"table_name": "connectors"},
        },
    },
    "server": {"port": int(PORT), "host": "127.0.0.1"},
}
become("ogx", "run", write("config.yaml", config), "--port", PORT, "--insecure", OTEL_SDK_DISABLED="true")
