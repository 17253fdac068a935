"""What the Python drivers share: the line protocol of `conformance client` (docs/clients.md)."""

import json
import sys
from importlib.metadata import version


class Unsupported(Exception):
    """The client can't do this."""


def calls_of(response):
    """The calls of a response, as the protocol has them."""
    return [
        {"call_id": item.call_id, "name": item.name, "arguments": item.arguments if item.type == "function_call" else item.input}
        for item in response.output
        if item.type in ("function_call", "custom_tool_call")
    ]


def response(response):
    """What a response of openai-python says."""
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    reasoning = [item for item in response.output if item.type == "reasoning"]
    thoughts = [part.text for item in reasoning for part in [*(item.summary or []), *(item.content or [])]]
    usage = response.usage
    return {
        "text": response.output_text,
        "refusal": "".join(part.refusal for part in parts if part.type == "refusal"),
        "reasoning": "".join(thoughts),
        "calls": calls_of(response),
        "response_status": response.status,
        "response_id": response.id,
        **({"usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}} if usage else {}),
    }


def serve(package, ask):
    """Answers cases: `ask` takes one, and returns what the client understood."""
    known = version(package)
    for line in sys.stdin:
        case = json.loads(line)
        try:
            reply = {"status": "ok"} | ask(case)
        except Unsupported as problem:
            reply = {"status": "unsupported", "error": {"message": str(problem)}}
        except Exception as error:  # noqa: BLE001: whatever it is, it is the result
            reply = {"status": "error", "error": {"type": type(error).__name__, "message": str(error)[:1000]}}
        print(json.dumps({"case": case["case"], "client_version": known} | reply), flush=True)
