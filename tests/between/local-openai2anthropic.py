#!/usr/bin/env python3
"""local-openai2anthropic. Its configuration is TOML in the folder of the user."""

from gateway import BASE, KEY, PORT, become, write

config = f"""openai_base_url = "{BASE}"
openai_api_key = "{KEY}"
host = "127.0.0.1"
port = {PORT}
"""
write(".oa2a/config.toml", config)
become("oa2a")
