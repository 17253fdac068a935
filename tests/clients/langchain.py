"""langchain-openai: `ChatOpenAI` with the Responses API."""

from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from lines import Unsupported, serve


def ask(case):
    request = dict(case["request"])
    if case["transport"] == "websocket" or case["cancel_after_events"] or not isinstance(request["input"], str):
        raise Unsupported("the driver has no WebSocket, does not leave, and sends texts alone")
    model = ChatOpenAI(
        model=request.pop("model"),
        base_url=case["base_url"],
        api_key=case["api_key"],
        max_retries=0,
        timeout=case["timeout_ms"] / 1000,
        use_responses_api=True,
        output_version="responses/v1",
    )
    text = request.pop("input")
    bound = model.bind(**request) if request else model
    if case["transport"] == "json":
        return understood(bound.invoke(text), None)
    whole, streamed = AIMessageChunk(content=[]), ""
    for chunk in bound.stream(text):
        whole += chunk
        streamed += text_of(chunk)
    return understood(whole, streamed)


def text_of(message):
    blocks = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
    return "".join(block.get("text") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def understood(message, streamed):
    calls = [{"call_id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
    calls += [
        {"call_id": call["id"], "name": call["name"] or "", "arguments": call["args"] or ""}
        for call in message.invalid_tool_calls
    ]
    told = {"text": text_of(message), "calls": calls}
    if streamed is not None:
        told["streamed"] = streamed
    # A custom tool is no function to this client.
    if any(isinstance(block, dict) and block.get("type") == "custom_tool_call" for block in message.content):
        del told["calls"]
    status = message.response_metadata.get("status")
    return told | ({"response_status": status} if status else {})


serve("langchain-openai", ask)
