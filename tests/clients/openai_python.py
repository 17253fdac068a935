"""openai-python. The argument says how to stream, `create` or `stream`."""

import sys

from lines import Unsupported, response, serve
from openai import OpenAI

HOW = sys.argv[1]


def ask(case):
    timeout = case["timeout_ms"] / 1000
    client = OpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=0, timeout=timeout)
    if case["transport"] == "websocket":
        raise Unsupported("the driver has no WebSocket")
    if case["transport"] == "json":
        return response(client.responses.create(**case["request"]))
    if HOW == "create":
        return create(client, case)
    told = {"streamed": ""}
    with client.responses.stream(**case["request"]) as stream:
        for number, event in enumerate(stream, 1):
            if event.type == "response.output_text.delta":
                told["streamed"] += event.delta
            if number == case["cancel_after_events"]:
                return told
        return told | response(stream.get_final_response())


def create(client, case):
    # Where no event ends the response, there is no text to be had from it.
    told = {"streamed": "", "text": None, "response_status": None}
    with client.responses.create(stream=True, **case["request"]) as stream:
        for number, event in enumerate(stream, 1):
            if event.type == "response.output_text.delta":
                told["streamed"] += event.delta
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                told |= response(event.response)
            if number == case["cancel_after_events"]:
                return {"streamed": told["streamed"]}
    return told


serve("openai", ask)
