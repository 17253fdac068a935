"""LangChain: `ChatOpenAI` with the Responses API, with the argument `chat` with Chat Completions; with `anthropic` `ChatAnthropic`,
with `google` `ChatGoogleGenerativeAI`."""

import sys

from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from lines import Unsupported, beyond_version, functions, is_resumed, retries, serve, steps, text_of_request

API = sys.argv[1] if len(sys.argv) > 1 else "responses"


def ask(case):
    request = dict(case["request"])
    if case["transport"] == "websocket" or case["cancel_after_events"]:
        raise Unsupported("the driver has no WebSocket, and does not leave")
    if is_resumed(case):
        raise Unsupported("the driver does not resume")
    said = [HumanMessage(text_of_request(case))]
    model = model_of(case, request.pop("model"))
    del request[{"responses": "input", "google": "contents"}.get(API, "messages")]
    if API == "google":
        request = google(request)
    if request.get("n", 1) > 1:
        raise Unsupported("a stream of the client has one choice")
    bound = model.bind(**request) if request else model
    message, streamed = send(case, bound, said)
    for step in steps(case):
        said.append(message)
        if step["step"] == "continue":
            said.append(HumanMessage(text_of_request(step)))
        else:
            said += [ToolMessage(step["outputs"][call["name"]], tool_call_id=call["id"]) for call in message.tool_calls]
        message, streamed = send(case, bound, said)
    return understood(message, streamed)


def google(request):
    """The request in the words of LangChain."""
    config = request.pop("generationConfig", {})
    thinking = config.get("thinkingConfig")
    asked = {"thinking_budget": thinking["thinkingBudget"], "include_thoughts": True} if thinking else {}
    tools = [{"name": name, "description": description, "parameters": schema} for name, description, schema in functions(request)]
    return asked | ({"tools": [{"function_declarations": tools}]} if tools else {})


def model_of(case, name):
    options = {"model": name, "api_key": case["api_key"], "max_retries": retries(case), "timeout": case["timeout_ms"] / 1000}
    if API == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(base_url=beyond_version(case), **options)
    if API == "google":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(base_url=beyond_version(case), **options | {"max_retries": retries(case) + 1})
    from langchain_openai import ChatOpenAI

    if API == "chat":
        return ChatOpenAI(base_url=case["base_url"], use_responses_api=False, **options)
    return ChatOpenAI(base_url=case["base_url"], use_responses_api=True, output_version="responses/v1", **options)


def send(case, bound, said):
    if case["transport"] == "json":
        return bound.invoke(said), None
    # The content of a chunk is a list, and in other APIs a text until something else comes.
    whole, streamed = AIMessageChunk(content=[]) if API == "responses" else None, ""
    for chunk in bound.stream(said):
        whole = whole + chunk if whole else chunk
        streamed += text_of(chunk)
    return whole or AIMessageChunk(content=""), streamed


def text_of(message):
    blocks = message.content if isinstance(message.content, list) else [{"type": "text", "text": message.content}]
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return "".join(block.get("text") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "text")


def reasoning_of(message):
    blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "reasoning"]
    return "".join(part["text"] for block in blocks for part in [*(block.get("summary") or []), *(block.get("content") or [])])


def thinking_of(message):
    blocks = message.content if isinstance(message.content, list) else []
    return "".join(block.get("thinking") or "" for block in blocks if isinstance(block, dict) and block.get("type") == "thinking")


def understood(message, streamed):
    calls = [{"call_id": call["id"], "name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
    calls += [
        {"call_id": call["id"], "name": call["name"] or "", "arguments": call["args"] or ""}
        for call in message.invalid_tool_calls
    ]
    told = {"text": text_of(message), "calls": calls}
    if API != "chat":
        told["reasoning"] = reasoning_of(message) if API == "responses" else thinking_of(message)
    if streamed is not None:
        told["streamed"] = streamed
    # A custom tool is no function to this client.
    if any(isinstance(block, dict) and block.get("type") == "custom_tool_call" for block in message.content):
        del told["calls"]
    status = message.response_metadata.get(STATUS[API])
    return told | ({"response_status": status} if status else {})


STATUS = {"responses": "status", "chat": "finish_reason", "anthropic": "stop_reason", "google": "finish_reason"}
PACKAGES = {"anthropic": "langchain-anthropic", "google": "langchain-google-genai"}

serve(PACKAGES.get(API, "langchain-openai"), ask)
