"""openai-python. The argument says how to stream, `create` or `stream`. Cases come on stdin, one a line, each with the
base URL to ask; what the client made of them goes to stdout, one a line."""

import json
import sys

from openai import OpenAI


def final(response):
    calls = [[item.name, json.loads(item.arguments)] for item in response.output if item.type == "function_call"]
    summaries = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    return {
        "final": response.output_text,
        "calls": calls,
        "reasoning": "".join(summaries),
        "status": response.status,
        "id": response.id,
        "previous": response.previous_response_id,
    }


def read(client, how, request):
    told = {"text": ""}
    if how == "json":
        response = client.responses.create(**request)
        return final(response) | {"text": response.output_text}
    if how == "create":
        for event in client.responses.create(stream=True, **request):
            if event.type == "response.output_text.delta":
                told["text"] += event.delta
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                told |= final(event.response)
        return told
    with client.responses.stream(**request) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                told["text"] += event.delta
        return told | final(stream.get_final_response())


def main():
    how = sys.argv[1]
    last = None
    for line in sys.stdin:
        case = json.loads(line)
        client = OpenAI(base_url=case["url"], api_key="none", max_retries=0, timeout=10)
        request = case["request"] | ({"previous_response_id": last} if case["name"] == "turns" else {})
        try:
            told = read(client, "json" if case["name"] == "json" else how, request)
            last = told.get("id") if case["name"] == "text" else last
        except Exception as error:  # noqa: BLE001: whatever it is, it is the result
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"name": case["name"], "asked_previous": request.get("previous_response_id")} | told), flush=True)


main()
