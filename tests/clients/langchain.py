"""langchain-openai: `ChatOpenAI` with the Responses API."""

from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from lines import Unsupported, is_resumed, serve, steps


def ask(case):
    request = dict(case["request"])
    if case["transport"] == "websocket" or case["cancel_after_events"] or not isinstance(request["input"], str):
        raise Unsupported("the driver has no WebSocket, does not leave, and sends texts alone")
    if is_resumed(case):
        raise Unsupported("the driver does not resume")
    model = ChatOpenAI(
        model=request.pop("model"),
        base_url=case["base_url"],
        api_key=case["api_key"],
        max_retries=0,
        timeout=case["timeout_ms"] / 1000,
        use_responses_api=True,
        output_version="responses/v1",
    )
    said = [HumanMessage(request.pop("input"))]
    bound = model.bind(**request) if request else model
    message, streamed = send(case, bound, said)
    for step in steps(case):
        said.append(message)
        if step["step"] == "continue":
            said.append(HumanMessage(step["request"]["input"]))
        else:
            said += [ToolMessage(step["outputs"][call["name"]], tool_call_id=call["id"]) for call in message.tool_calls]
        message, streamed = send(case, bound, said)
    return understood(message, streamed)


def send(case, bound, said):
    if case["transport"] == "json":
        return bound.invoke(said), None
    whole, streamed = AIMessageChunk(content=[]), ""
    for chunk in bound.stream(said):
        whole += chunk
        streamed += text_of(chunk)
    return whole, streamed


def text_of(message):
    blocks = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
    return "".join(block.get("text") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def reasoning_of(message):
    blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "reasoning"]
    return "".join(part["text"] for block in blocks for part in [*(block.get("summary") or []), *(block.get("content") or [])])


def understood(message, streamed):
    calls = [{"call_id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
    calls += [
        {"call_id": call["id"], "name": call["name"] or "", "arguments": call["args"] or ""}
        for call in message.invalid_tool_calls
    ]
    told = {"text": text_of(message), "reasoning": reasoning_of(message), "calls": calls}
    if streamed is not None:
        told["streamed"] = streamed
    # A custom tool is no function to this client.
    if any(isinstance(block, dict) and block.get("type") == "custom_tool_call" for block in message.content):
        del told["calls"]
    status = message.response_metadata.get("status")
    return told | ({"response_status": status} if status else {})


serve("langchain-openai", ask)
