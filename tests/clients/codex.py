"""Codex CLI: `codex exec`, once for each case, with a provider of its own in its configuration.

Codex brings its own tools and streams only: cases with tools, with other settings than a text, and answers as JSON are
unsupported.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from lines import Unsupported, retries, serve

PACKAGE = Path(os.environ["PACKAGES"]) / "node_modules" / "@openai" / "codex"
CODEX = PACKAGE.parent.parent / ".bin" / "codex"
VERSION = json.loads((PACKAGE / "package.json").read_text())["version"]


def ask(case):
    request = case["request"]
    is_text = isinstance(request["input"], str) and set(request) <= {"model", "input"}
    if case["transport"] != "sse" or case["cancel_after_events"] or case.get("steps") or not is_text:
        raise Unsupported("the driver sends texts, and reads streams over HTTP to their end")
    provider = {
        "name": "suite",
        "base_url": case["base_url"],
        "env_key": "SUITE_KEY",
        "wire_api": "responses",
        "request_max_retries": retries(case),
        "stream_max_retries": retries(case),
        "stream_idle_timeout_ms": max(case["timeout_ms"] - 300, 300),
        "supports_websockets": False,
    }
    words = ", ".join(f"{name} = {json.dumps(value)}" for name, value in provider.items())
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "CODEX_HOME": folder, "SUITE_KEY": case["api_key"], "NO_PROXY": "*"}
        command = [CODEX, "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"]
        command += ["-c", 'model_provider="suite"', "-c", f"model_providers.suite={{{words}}}", "-m", request["model"], "--", request["input"]]
        ended = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=case["timeout_ms"] / 1000 + 2
        )
    return understood(ended)


def understood(ended):
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    items = [line["item"] for line in lines if line["type"] == "item.completed"]
    failed = [line for line in lines if line["type"] in ("turn.failed", "error")]
    if failed or ended.returncode != 0:
        problem = failed[-1] if failed else {"message": ended.stderr.strip()[-500:]}
        raise RuntimeError(str((problem.get("error") or problem).get("message")))
    told = {"text": "".join(item["text"] for item in items if item["type"] == "agent_message")}
    if thoughts := [item["text"] for item in items if item["type"] == "reasoning"]:
        told["reasoning"] = "".join(thoughts)
    usage = [line["usage"] for line in lines if line["type"] == "turn.completed"]
    if usage:
        told["usage"] = {name: usage[-1][name] for name in ("input_tokens", "output_tokens")}
    return told


serve("codex", ask, VERSION)
