"""anthropic for Python. The argument says how to stream: `create` or `stream`."""

import sys

from anthropic import Anthropic
from lines import Unsupported, beyond_version, conversation, retries, serve

HOW = sys.argv[1]


def ask(case):
    has_steps = bool(case.get("steps")) and case["transport"] == "sse"
    if case["transport"] == "websocket" or case["cancel_after_events"] or has_steps and HOW == "create":
        raise Unsupported("the driver reads responses to their end, and repeats only what the package has gathered")
    timeout = case["timeout_ms"] / 1000
    client = Anthropic(base_url=beyond_version(case), api_key=case["api_key"], max_retries=retries(case), timeout=timeout)
    if case["transport"] == "json":
        return conversation(case, lambda request: gathered(client.messages.create(**request)))
    if HOW == "create":
        return create(client, case["request"])
    return conversation(case, lambda request: stream(client, request))


def create(client, request):
    """What an application gathers from the events."""
    told = {"text": "", "reasoning": "", "response_status": None}
    calls, usage = {}, {}
    for event in client.messages.create(stream=True, **request):
        if event.type == "message_start":
            told |= {"response_id": event.message.id, "response_status": event.message.stop_reason}
            usage = counts(event.message.usage)
            blocks = event.message.content if isinstance(event.message.content, list) else []
            calls = {at: begun(block) for at, block in enumerate(blocks) if block.type == "tool_use"}
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls[event.index] = begun(event.content_block)
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                told["text"] += event.delta.text
            elif event.delta.type == "thinking_delta":
                told["reasoning"] += event.delta.thinking
            elif event.delta.type == "input_json_delta" and event.index in calls:
                calls[event.index]["joined"] += event.delta.partial_json
        elif event.type == "message_delta":
            told["response_status"] = event.delta.stop_reason
            usage |= {name: count for name, count in counts(event.usage).items() if count is not None}
    told["calls"] = [
        {"call_id": call["call_id"], "name": call["name"], "arguments": call["joined"] or call["input"] or {}}
        for call in calls.values()
    ]
    return told | ({"usage": usage} if usage else {})


def begun(block):
    """A call as it begins; without deltas, its input is the one that it begins with."""
    return {"call_id": block.id, "name": block.name, "input": block.input, "joined": ""}


def stream(client, request):
    streamed = ""
    with client.messages.stream(**request) as events:
        for text in events.text_stream:
            streamed += text
        told, said, answered = gathered(events.get_final_message())
    return {"streamed": streamed} | told, said, answered


def gathered(message):
    """What the package has of a message, and how a conversation goes on with it."""

    def joined(kind, member):
        return "".join(getattr(block, member) for block in message.content if block.type == kind)

    def answered(outputs):
        calls = [block for block in message.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": outputs[call.name]} for call in calls]
        return [{"role": "user", "content": results}]

    told = {
        "text": joined("text", "text"),
        "reasoning": joined("thinking", "thinking"),
        "calls": [
            {"call_id": block.id, "name": block.name, "arguments": block.input}
            for block in message.content
            if block.type == "tool_use"
        ],
        "response_status": message.stop_reason,
        "response_id": message.id,
        **({"usage": counts(message.usage)} if message.usage else {}),
    }
    return told, {"role": "assistant", "content": message.content}, answered


def counts(usage):
    return {name: getattr(usage, name, None) for name in ("input_tokens", "output_tokens")}


serve("anthropic", ask)
