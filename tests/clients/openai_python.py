"""openai-python. The argument says how to stream: `create`, `stream`, or `connect` for a WebSocket; `chat` and `chat-stream`
do so with Chat Completions."""

import sys

from lines import Chunks, Unsupported, conversation, following, is_resumed, response, retries, serve, steps
from openai import OpenAI

HOW = sys.argv[1]
ENDS = ("response.completed", "response.incomplete", "response.failed")


class Left(Exception):
    """The driver left the stream, as it was told to."""


def ask(case):
    if HOW.startswith("chat"):
        return chat(case)
    if (case["transport"] == "websocket") != (HOW == "connect"):
        raise Unsupported("this driver has no such transport")
    timeout = case["timeout_ms"] / 1000
    client = OpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=retries(case), timeout=timeout)
    if HOW == "connect":
        options = {"open_timeout": timeout, "close_timeout": 1}
        with client.responses.connect(max_retries=0, websocket_connection_options=options) as connection:
            return turns(case, lambda request: over_socket(connection, case, request, timeout))
    if case["transport"] == "json":
        return turns(case, lambda request: (client.responses.create(**request), {}))
    how = create if HOW == "create" else stream
    try:
        return turns(case, lambda request: how(client, case, request))
    except Left as left:
        return left.args[0]


def turns(case, send):
    """Sends the request of a case, and those of its steps; `send` returns a response, and what is told besides."""
    answer, told = send(case["request"])
    for step in steps(case):
        answer, told = send(following(case, step, answer))
    # Where no event ends the response, there is no text to be had from it.
    return told | (response(answer) if answer else {"text": None, "response_status": None})


def create(client, case, request):
    told, answer, last = {"streamed": ""}, None, {}
    events = client.responses.create(stream=True, **request)
    number = 0
    while True:
        try:
            for event in events:
                number += 1
                last["number"] = getattr(event, "sequence_number", None)
                if event.type == "response.created":
                    last["id"] = event.response.id
                elif event.type == "response.output_text.delta":
                    told["streamed"] += event.delta
                elif event.type in ENDS:
                    answer = event.response
                if number == case["cancel_after_events"]:
                    raise Left(told)
        except Left:
            raise
        except Exception:
            if answer or "id" not in last or not is_resumed(case):
                raise
        if answer or "id" not in last or not is_resumed(case):
            return answer, told
        case = case | {"steps": []}
        events = client.responses.retrieve(last["id"], stream=True, starting_after=last["number"])


def stream(client, case, request):
    told = {"streamed": ""}
    last = {}
    try:
        with client.responses.stream(**request) as events:
            for number, event in enumerate(events, 1):
                last["number"] = event.sequence_number
                if event.type == "response.created":
                    last["id"] = event.response.id
                if event.type == "response.output_text.delta":
                    told["streamed"] += event.delta
                if number == case["cancel_after_events"]:
                    raise Left(told)
            return events.get_final_response(), told
    except Left:
        raise
    except Exception:
        if "id" not in last or not is_resumed(case):
            raise
    with client.responses.stream(response_id=last["id"], starting_after=last["number"]) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                told["streamed"] += event.delta
        return events.get_final_response(), told


def over_socket(connection, case, request, timeout):
    told, answer = {"streamed": ""}, None
    connection.response.create(**{name: value for name, value in request.items() if name != "background"})
    for number, event in enumerate(connection, 1):
        if event.type == "response.output_text.delta":
            told["streamed"] += event.delta
        if event.type == "error":
            raise RuntimeError(str(event))
        if number == case["cancel_after_events"]:
            return None, told
        if event.type in ENDS:
            answer = event.response
            break
    return answer, told


def chat(case):
    has_steps = bool(case.get("steps"))
    if case["transport"] == "websocket" or case["cancel_after_events"] or is_resumed(case):
        raise Unsupported("the driver reads responses to their end")
    timeout = case["timeout_ms"] / 1000
    client = OpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=retries(case), timeout=timeout)
    if case["transport"] == "json":
        return conversation(case, lambda request: completed(client.chat.completions.create(**request)))
    if HOW == "chat":
        if has_steps:
            raise Unsupported("the driver repeats only what the package has gathered")
        chunks = Chunks(case["request"])
        for chunk in client.chat.completions.create(stream=True, **case["request"]):
            chunks.add(chunk)
        return chunks.understood()
    return conversation(case, lambda request: chat_stream(client, request))


def chat_stream(client, request):
    streamed = ""
    with client.chat.completions.stream(**request) as events:
        for event in events:
            if event.type == "content.delta":
                streamed += event.delta
        told, said, answered = completed(events.get_final_completion())
    return told | ({"streamed": streamed} if request.get("n", 1) == 1 else {}), said, answered


def completed(completion):
    """What the package has of a completion, and how a conversation goes on with it."""
    message, usage = completion.choices[0].message, completion.usage
    thought = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    calls = message.tool_calls or []

    def answered(outputs):
        return [{"role": "tool", "tool_call_id": call.id, "content": outputs[call.function.name]} for call in calls]

    told = {
        "text": message.content or "",
        "refusal": message.refusal or "",
        **({"reasoning": thought} if thought else {}),
        "calls": [
            {"call_id": call.id, "name": call.function.name or "", "arguments": call.function.arguments or ""} for call in calls
        ],
        "response_status": completion.choices[0].finish_reason,
        "response_id": completion.id,
        **({"usage": {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}} if usage else {}),
    }
    return told, message, answered


serve("openai", ask)
