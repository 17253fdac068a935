"""How each agent is started: its configuration in an empty home, its words and its environment."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

QUESTION = "Run the first step, then the second one, then the third and the fourth at once."


SETTINGS_OF_GEMINI = {
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
}


@dataclass
class Agent:
    """An agent before one API."""

    package: str  # in versions.toml
    command: str
    tool: str  # the name of its shell
    argument: str  # the argument that has the command
    words: list
    others: dict  # the other arguments of its shell
    environment: Callable  # of the server's address
    files: Callable = lambda base: {}  # of the server's address: what stands in the home, by path


def settings_of_codex(base):
    return f"""model = "gpt-5.4"
model_provider = "suite"
check_for_update_on_startup = false
[model_providers.suite]
name = "suite"
base_url = "{base}/v1"
env_key = "SUITE_KEY"
wire_api = "responses"
supports_websockets = false
[analytics]
enabled = false
"""


def settings_of_opencode(base):
    model = {"name": "m", "tool_call": True, "limit": {"context": 200000, "output": 8192}}
    options = {"baseURL": f"{base}/v1", "apiKey": "none"}
    suite = {"npm": "@ai-sdk/anthropic", "name": "suite", "options": options, "models": {"my-model": model}}
    return {"autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "permission": {"*": "allow"}, "provider": {"suite": suite}}


def pi(api, version):
    model = {"id": "my-model", "name": "m", "reasoning": True, "input": ["text"], "contextWindow": 200000, "maxTokens": 8192}
    model["cost"] = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)

    def files(base):
        suite = {"baseUrl": base + version, "apiKey": "none", "api": api, "models": [model]}
        return {".pi/agent/models.json": json.dumps({"providers": {"suite": suite}})}

    words = ["-p", "--provider", "suite", "--model", "my-model", "--thinking", "medium", QUESTION]
    return Agent("pi", "pi", "bash", "command", words, {}, lambda base: {"PI_OFFLINE": "1"}, files)


AGENTS = {
    "claude-code": Agent(
        "claude-code",
        "claude",
        "Bash",
        "command",
        ["-p", QUESTION, "--model", "claude-opus-5-5", "--allowedTools", "Bash", "--strict-mcp-config", "--setting-sources", ""],
        {"description": "Run a step"},
        lambda base: {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    "codex": Agent(
        "codex",
        "codex",
        "exec_command",
        "cmd",
        ["exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox", QUESTION],
        {},
        lambda base: {"SUITE_KEY": "none"},
        lambda base: {".codex/config.toml": settings_of_codex(base)},
    ),
    "opencode": Agent(
        "opencode",
        "opencode",
        "bash",
        "command",
        ["run", "--pure", "--title", "suite", "-m", "suite/my-model", QUESTION],
        {"description": "Run a step"},
        lambda base: {f"OPENCODE_DISABLE_{name}": "1" for name in ("AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH")},
        lambda base: {".config/opencode/opencode.json": json.dumps(settings_of_opencode(base))},
    ),
    "pi": pi("anthropic-messages", ""),
    "pi-responses": pi("openai-responses", "/v1"),
    "pi-chat": pi("openai-completions", "/v1"),
    "gemini-cli": Agent(
        "gemini-cli",
        "gemini",
        "run_shell_command",
        "command",
        ["-y", "-m", "gemini-2.5-pro", "-p", QUESTION],
        {},
        lambda base: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": base, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        lambda base: {".gemini/settings.json": json.dumps(SETTINGS_OF_GEMINI)},
    ),
}


def prepared(agent, base, folder, packages):
    """Makes the home and the folder of work of an agent; returns its command and its environment. Whatever asks another host than
    the server meets a proxy that nobody is."""
    home, work = folder / "home", folder / "work"
    for path, text in agent.files(base).items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    home.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True)
    (work / "step").write_text('echo "$1" >>ran\necho "finished-$1"\n')
    binaries = Path(packages) / "node_modules" / ".bin"
    off = ("DISABLE_TELEMETRY", "DO_NOT_TRACK", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "NO_COLOR", "CI")
    proxies = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    environment = {"PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
    environment |= dict.fromkeys(off, "1") | proxies | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"} | agent.environment(base)
    # What it prints, and each file that it writes, ends at 64 MiB.
    return ["sh", "-c", 'ulimit -f 131072; exec "$@"', "sh", binaries / agent.command, *agent.words], environment, work
