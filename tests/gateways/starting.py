"""How each gateway is started in front of a model, and where it is then reached."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from answers import MODEL
from fixtures import AIMOCK_MODEL, fixtures
from models import Model

HERE = Path(__file__).resolve().parent

# Nothing of the caller's may reach a gateway, and no gateway is to reach for anything.
QUIET = {
    "PATH": os.environ.get("PATH", ""),
    "NO_PROXY": "*",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}


@dataclass
class Place:
    """Where a gateway is started, and in front of what."""

    packages: Path
    folder: Path
    port: int
    model: Model
    dialect: str
    asked: Callable  # the exchanges of the suite with its reference gateway

    def write(self, name, value):
        """Writes a file of JSON."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, indent=1))
        return file

    def listening(self):
        return ["--host", "127.0.0.1", "--port", str(self.port)]


@dataclass
class Start:
    """The command of a gateway, and what the suite is told of it."""

    command: list
    path: str = "/v1"
    model: str = MODEL
    env: dict = field(default_factory=dict)
    headers: list = field(default_factory=list)
    fails: bool = True  # as the model behind it does, when a prompt says so
    health: str = ""  # the path that answers with status 200 once all is loaded


def ogx(place):
    """Its configuration is YAML, of which JSON is a part."""
    store = {"backend": "sql"}
    # It hands Messages on to vLLM as they are, and translates them for OpenAI. It knows which models think by their names.
    kind, name = ("openai", "gpt-5") if place.dialect == "anthropic" else ("vllm", MODEL)
    key = {"api_key": "none"} if kind == "openai" else {"api_token": "none"}
    providers = {
        "inference": [[kind, f"remote::{kind}", {"base_url": f"{place.model.url}/v1", **key}]],
        "messages": [["builtin", "inline::builtin", {"kvstore": {"backend": "kv", "namespace": "messages"}}]],
        "responses": [
            ["builtin", "inline::builtin", {"persistence": {"responses": store | {"table_name": "responses"}}}]
        ],
        # What responses can't do without; nothing asks for it.
        "files": [["files", "inline::localfs", {"storage_dir": str(place.folder), "metadata_store": store | {"table_name": "files"}}]],
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
                "kv": {"type": "kv_sqlite", "db_path": str(place.folder / "kv.db")},
                "sql": {"type": "sql_sqlite", "db_path": str(place.folder / "sql.db")},
            },
            "stores": {
                "metadata": {"namespace": "registry", "backend": "kv"},
                "inference": store | {"table_name": "inference"},
                "conversations": store | {"table_name": "conversations"},
                "prompts": store | {"table_name": "prompts"},
                "connectors": store | {"table_name": "connectors"},
            },
        },
        "server": {"port": place.port, "host": "127.0.0.1"},
    }
    file = place.write("config.yaml", config)
    command = [place.packages / "bin" / "ogx", "run", file, "--port", str(place.port), "--insecure"]
    return Start(command, model=f"{kind}/{name}", env={"HOME": str(place.folder)})


def litellm(place):
    """The provider is one for which it translates to the API of the model."""
    if place.model.api == "messages":
        # It knows which models think by their names.
        known = {"model": "anthropic/claude-opus-4-6", "api_base": place.model.url}
    else:
        # For DeepSeek it hands Messages on as they are.
        provider = "hosted_vllm" if place.dialect in ("anthropic", "chat") else "deepseek"
        known = {"model": f"{provider}/{MODEL}", "api_base": f"{place.model.url}/v1"}
    config = {
        "model_list": [{"model_name": MODEL, "litellm_params": known | {"api_key": "none"}}],
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    command = [place.packages / "bin" / "litellm", "--config", place.write("config.yaml", config), *place.listening()]
    # Without a key it starts only when told that this is what is wanted.
    open_to_all = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    return Start(command, env=open_to_all | {"HOME": str(place.folder)})


def ors(place):
    """Its path of Responses has no version."""
    env = {"OPENAI_BASE_URL_INTERNAL": place.model.url, "OPENAI_API_KEY": "none", "API_ADAPTER_HOST": "127.0.0.1"}
    command = [place.packages / "bin" / "python", "-m", "uvicorn", "open_responses_server.server_entrypoint:app"]
    path = "/v1" if place.dialect == "chat" else "/responses"
    return Start([*command, *place.listening()], path=path, env=env | {"API_ADAPTER_PORT": str(place.port)})


def aimock(place):
    """It has no model behind it."""
    file = place.write("fixtures.json", {"fixtures": fixtures(place.asked(), place.dialect)})
    command = ["node", place.packages / "node_modules/@copilotkit/aimock/dist/cli.js", *place.listening()]
    return Start([*command, "--fixtures", file, "--log-level", "info"], model=AIMOCK_MODEL)


def portkey(place):
    """A request says what is behind the gateway."""
    server = place.packages / "node_modules/@portkey-ai/gateway/build/start-server.js"
    provider = {"chat": "openai", "messages": "anthropic"}[place.model.api]
    config = {"provider": provider, "api_key": "none", "custom_host": f"{place.model.url}/v1"}
    if (place.model.api, place.dialect) == ("messages", "chat"):
        # The limit is required behind it, and it adds none.
        config["override_params"] = {"max_tokens": 1024}
    headers = [f"x-portkey-config: {json.dumps(config)}"]
    return Start(["node", server, f"--port={place.port}", "--headless"], headers=headers)


def ccr(place):
    """Its configuration is in the folder of the user."""
    provider = {"name": "reference", "api_base_url": f"{place.model.url}/v1/chat/completions", "api_key": "none"}
    provider |= {"models": [MODEL]}
    config = {
        "HOST": "127.0.0.1",
        "PORT": place.port,
        "LOG": False,
        "NON_INTERACTIVE_MODE": True,
        "Providers": [provider],
        "Router": {"default": f"reference,{MODEL}"},
    }
    place.write(".claude-code-router/config.json", config)
    command = ["node", place.packages / "node_modules/@musistudio/claude-code-router/dist/cli.js", "start"]
    return Start(command, model=f"reference,{MODEL}", env={"HOME": str(place.folder)})


def oa2a(place):
    """Its configuration is in the folder of the user: TOML, whose texts and numbers are those of JSON."""
    settings = {"openai_base_url": f"{place.model.url}/v1", "openai_api_key": "none", "host": "127.0.0.1", "port": place.port}
    file = place.folder / ".oa2a" / "config.toml"
    file.parent.mkdir()
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    return Start([place.packages / "bin" / "oa2a"], env={"HOME": str(place.folder)})


def llamacpp(place):
    """It is a model itself, which says one sentence and calls the first tool."""
    command = [place.packages / "bin" / "python", HERE / "llamacpp" / "serve.py", place.folder / "model.gguf", str(place.port)]
    return Start(command, fails=False, health="/health", env={"HOME": str(place.folder), "GGML_NO_BACKTRACE": "1"})


STARTS = {start.__name__: start for start in [ogx, litellm, aimock, ors, portkey, ccr, oa2a, llamacpp]}
