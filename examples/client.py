#!/usr/bin/env python3
"""A small client of the Responses API, and a driver for `conformance client`. It needs nothing but Python.

    conformance client -- python3 examples/client.py

The first half is the client: `ask` sends a request and returns the answer, or raises an error. The second half reads
cases from stdin and writes what the client understood to stdout, one JSON object a line.
"""

import codecs
import http.client
import json
import re
import sys
from urllib.parse import urlsplit


class ApiError(Exception):
    """The server reported an error, or the answer is not whole."""


def events(lines):
    """Yields the data of each server-sent event: https://html.spec.whatwg.org/multipage/server-sent-events.html"""
    data = []
    for line in lines:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


def lines(response):
    """Yields the lines of a body: they end with CR LF, LF or CR, wherever chunks end."""
    decoder, pending = codecs.getincrementaldecoder("utf-8-sig")("replace"), ""
    while chunk := response.read1(65536):
        pending += decoder.decode(chunk)
        # A CR at the end may be half of a CR LF.
        *whole, pending = re.split(r"\r\n|\n|\r(?!\Z)", pending)
        yield from whole
    yield from [pending.removesuffix("\r")] if pending.endswith("\r") else []


def ask(base_url, api_key, request, timeout, stream):
    """Sends a request, and returns the response as the server told it at last."""
    url = urlsplit(base_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)
    headers = {"authorization": f"Bearer {api_key}", "content-type": "application/json"}
    body = json.dumps(request | {"stream": stream})
    try:
        connection.request("POST", url.path + "/responses", body, headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError(f"HTTP {response.status}")
        if not stream:
            return finished(json.loads(response.read()))
        streamed = ""
        for data in events(lines(response)):
            if data == "[DONE]":
                break
            event = json.loads(data)
            kind = event.get("type", "error" if "error" in event else None)
            if kind == "response.output_text.delta":
                streamed += event["delta"]
            if kind == "error":
                raise ApiError(str(event.get("error") or event.get("message")))
            if kind in ("response.completed", "response.incomplete", "response.failed"):
                return agreed(finished(event["response"]), streamed)
        raise ApiError("the stream ended before the response did")
    finally:
        connection.close()


def finished(response):
    """Returns a response that came to its end."""
    if response.get("status") not in ("completed", "incomplete"):
        raise ApiError(f"the response is {response.get('status')}: {response.get('error')}")
    return response


def agreed(response, streamed):
    """Returns a response that says what was streamed. Halves of a character can come in two deltas."""
    streamed = streamed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if streamed and streamed != texts(response):
        raise ApiError("the final response has another text than its deltas")
    return response


def texts(response):
    """Returns the text of a response."""
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    return "".join(part["text"] for part in parts if part["type"] == "output_text")


def understood(response):
    """What the driver reports of a response."""
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    reasoning = [item for item in response["output"] if item["type"] == "reasoning"]
    usage = response.get("usage") or {}
    return {
        "status": "ok",
        "text": texts(response),
        "refusal": "".join(part["refusal"] for part in parts if part["type"] == "refusal"),
        "reasoning": "".join(p["text"] for i in reasoning for p in i.get("summary", []) + (i.get("content") or [])),
        "calls": [
            {"call_id": item["call_id"], "name": item["name"], "arguments": item.get("arguments", item.get("input"))}
            for item in response["output"]
            if item["type"] in ("function_call", "custom_tool_call")
        ],
        "response_status": response["status"],
        "response_id": response["id"],
        "usage": {name: usage.get(name) for name in ("input_tokens", "output_tokens")},
    }


def main():
    for line in sys.stdin:
        case = json.loads(line)
        if case["transport"] == "websocket" or case["cancel_after_events"] or case.get("steps"):
            reply = {"status": "unsupported"}
        else:
            try:
                timeout = case["timeout_ms"] / 1000
                response = ask(case["base_url"], case["api_key"], case["request"], timeout, case["transport"] == "sse")
                reply = understood(response)
            except Exception as error:  # noqa: BLE001: whatever it is, it is the result
                reply = {"status": "error", "error": {"type": type(error).__name__, "message": str(error)}}
        print(json.dumps({"case": case["case"]} | reply), flush=True)


main()
