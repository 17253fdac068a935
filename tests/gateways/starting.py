"""How each gateway is started in front of the scripted model, and where it is then reached."""

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from answers import MODEL, answer, problem

HERE = Path(__file__).resolve().parent

# Nothing of the caller's may reach a gateway, and no gateway is to reach for anything.
QUIET = {
    "PATH": os.environ.get("PATH", ""),
    "NO_PROXY": "*",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}

# A name that it takes for that of a model that reasons.
AIMOCK_MODEL = "gpt-5"


@dataclass
class Start:
    """The command of a gateway, and what the suite is told of it."""

    command: list
    path: str = "/v1"
    model: str = MODEL
    env: dict = field(default_factory=dict)


def ogx(packages, folder, port, upstream, _asked):
    """Its configuration is YAML, of which JSON is a part."""
    store = {"backend": "sql"}
    providers = {
        "inference": [["vllm", "remote::vllm", {"base_url": f"{upstream}/v1", "api_token": "none"}]],
        "responses": [
            ["builtin", "inline::builtin", {"persistence": {"responses": store | {"table_name": "responses"}}}]
        ],
        # What responses can't do without; nothing asks for it.
        "files": [["files", "inline::localfs", {"storage_dir": str(folder), "metadata_store": store | {"table_name": "files"}}]],
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
                "kv": {"type": "kv_sqlite", "db_path": str(folder / "kv.db")},
                "sql": {"type": "sql_sqlite", "db_path": str(folder / "sql.db")},
            },
            "stores": {
                "metadata": {"namespace": "registry", "backend": "kv"},
                "inference": store | {"table_name": "inference"},
                "conversations": store | {"table_name": "conversations"},
                "prompts": store | {"table_name": "prompts"},
                "connectors": store | {"table_name": "connectors"},
            },
        },
        "server": {"port": port, "host": "127.0.0.1"},
    }
    file = folder / "config.yaml"
    file.write_text(json.dumps(config, indent=1))
    command = [packages / "bin" / "ogx", "run", file, "--port", str(port), "--insecure"]
    return Start(command, model=f"vllm/{MODEL}", env={"HOME": str(folder)})


def litellm(packages, folder, port, upstream, _asked):
    """The provider is one for which it speaks chat completions, and not responses, to the model."""
    known = {"model": f"deepseek/{MODEL}", "api_base": f"{upstream}/v1", "api_key": "none"}
    config = {
        "model_list": [{"model_name": MODEL, "litellm_params": known}],
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    file = folder / "config.yaml"
    file.write_text(json.dumps(config, indent=1))
    command = [packages / "bin" / "litellm", "--config", file, "--host", "127.0.0.1", "--port", str(port)]
    # Without a key it starts only when told that this is what is wanted.
    open_to_all = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    return Start(command, env=open_to_all | {"HOME": str(folder)})


def ors(packages, _folder, port, upstream, _asked):
    """Its path has no version."""
    env = {"OPENAI_BASE_URL_INTERNAL": upstream, "OPENAI_API_KEY": "none", "API_ADAPTER_HOST": "127.0.0.1"}
    command = [packages / "bin" / "python", "-m", "uvicorn", "open_responses_server.server_entrypoint:app"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    return Start(command, path="/responses", env=env | {"API_ADAPTER_PORT": str(port)})


def aimock(packages, folder, port, _upstream, asked):
    """It has no model behind it: what the scripted model would say is written down for it beforehand."""
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures([*asked(), *beside()])}, indent=1))
    command = ["node", packages / "node_modules/@copilotkit/aimock/dist/cli.js"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--fixtures", file, "--log-level", "info"]
    return Start(command, model=AIMOCK_MODEL)


STARTS = {"ogx": ogx, "litellm": litellm, "aimock": aimock, "ors": ors}


def beside():
    """The requests beside this file."""
    return [json.loads(file.read_text()) for file in sorted((HERE / "requests").glob("*.json"))]


def fixtures(requests):
    """The answers to all requests in aimock's form; the longest prompts first, since the first match counts."""
    known = {}
    # The word that later turns of a conversation ask for.
    inputs = filter(lambda given: isinstance(given, str), (request.get("input") for request in requests))
    words = re.findall(r"Remember the word (\w+) and", " ".join(inputs))
    for request in filter(lambda request: isinstance(request.get("input"), (str, list)), requests):
        prompt, chat = as_chat(request, words[0] if words else "blue")
        if request.get("model") != "default" or not prompt:
            continue
        said = answer(chat)
        has_result = chat["messages"][-1]["role"] == "tool"
        match = {"userMessage": prompt, "hasToolResult": has_result, "model": AIMOCK_MODEL}
        # The last turn alone is matched: of those that are alike, one that continues a stored response comes last.
        known[prompt, has_result] = fixture(match, said)
    return [known[key] for key in sorted(known, key=lambda key: (-len(key[0]), not key[1]))]


def fixture(match, said):
    if said.status != 200:
        return {"match": match, "response": problem(said.status) | {"status": said.status}}
    response = {"finishReason": said.finish_reason()}
    if said.reasoning:
        response["reasoning"] = "".join(said.reasoning)
    if said.text or said.refusal or not said.calls:
        response["content"] = "".join(said.text or said.refusal)
    if said.calls:
        response["toolCalls"] = [{"name": name, "arguments": "".join(each)} for name, each in said.calls]
    # Small chunks: what is cut between two of them shows.
    made = {"match": match, "response": response, "chunkSize": 5}
    broken = said.cut_after if said.cut_after is not None else said.fails_after
    # Without a pause it breaks off before anything is sent.
    return made if broken is None else made | {"truncateAfterChunks": broken + 3, "latency": 20}


def as_chat(request, word):
    """The last prompt of a request of the Responses API, and the request as a chat completion."""
    given = request["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    # A mock remembers nothing: whoever writes its answers knows what was said before.
    earlier = [item for item in items if item.get("type") == "previous_output"]
    is_continued = bool(earlier) or "previous_response_id" in request
    messages = [{"role": "user", "content": f"Remember the word {word}."}] if is_continued else []
    for item in items:
        if item.get("type") == "function_call_output" or "call_output" in item:
            messages.append({"role": "tool", "content": item.get("output", item.get("call_output"))})
        elif item.get("role"):
            messages.append({"role": item["role"], "content": item.get("content")})
    tools = [{"type": "function", "function": tool} for tool in request.get("tools") or [] if tool.get("name")]
    form = (request.get("text") or {}).get("format") or {}
    chat = {key: request[key] for key in ("tool_choice", "parallel_tool_calls") if key in request}
    chat |= {"model": MODEL, "messages": messages or [{"role": "user"}], "tools": tools}
    chat |= {"response_format": {"type": form.get("type"), "json_schema": form}}
    chat |= {"max_tokens": request.get("max_output_tokens")}
    chat |= {"reasoning_effort": (request.get("reasoning") or {}).get("effort")}
    users = [message for message in messages if message["role"] == "user"]
    content = users[-1]["content"] if users else ""
    texts = [part.get("text") or "" for part in content] if isinstance(content, list) else [content]
    return " ".join(filter(None, texts)), chat
