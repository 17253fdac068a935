#!/usr/bin/env python3
"""LiteLLM proxy. The provider selects the API that it speaks to the upstream."""

from gateway import BASE, FRONT, KEY, MODEL, PORT, ROOT, UPSTREAM, become, write

if UPSTREAM == "messages":
    # LiteLLM recognizes models that reason by name.
    known = {"model": "anthropic/claude-opus-4-6", "api_base": ROOT}
elif UPSTREAM == "responses":
    # Chat Completions needs the prefix: the other APIs reach OpenAI's models through Responses anyway.
    prefix = "openai/responses" if FRONT == "chat" else "openai"
    known = {"model": f"{prefix}/{MODEL}", "api_base": BASE}
else:
    # It forwards Responses unchanged to vLLM, and Messages to DeepSeek.
    provider = "deepseek" if FRONT == "responses" else "hosted_vllm"
    known = {"model": f"{provider}/{MODEL}", "api_base": BASE}

config = {
    "model_list": [{"model_name": MODEL, "litellm_params": known | {"api_key": KEY}}],
    "litellm_settings": {"num_retries": 0, "telemetry": False},
    "router_settings": {"num_retries": 0, "disable_cooldowns": True},
}
become(
    "litellm", "--config", write("config.yaml", config), "--host", "127.0.0.1", "--port", PORT,
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY="true",
)
