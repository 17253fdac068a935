"""What aimock answers, written down beforehand: what the reference gateway, or the scripted model, says to each request of the
suite. aimock finds an answer by the last text of the user."""

import json
import re
from pathlib import Path

from answers import MODEL, Answer, answer, problem

HERE = Path(__file__).resolve().parent

# Statuses of requests that are wrong in themselves.
REFUSED = [400, 404, 422]

# A name that aimock takes for that of a model that reasons.
AIMOCK_MODEL = "gpt-5"


def fixtures(exchanges, dialect):
    """The answers to all requests in aimock's form; the longest prompts first, since the first match counts."""
    exchanges = [(request, lines) for request, lines in map(parted, exchanges) if request]
    beside = [json.loads(file.read_text()) for file in sorted((HERE / "requests").glob("*.json"))]
    known = {}
    if dialect in ("anthropic", "chat"):
        pairs = ((request, heard(lines)) for request, lines in exchanges if isinstance(request.get("messages"), list))
        # Whether a request is to be refused, aimock itself has to know.
        pairs = ((request, said) for request, said in pairs if said.status not in REFUSED)
        found = ((*asked(request["messages"]), request, said) for request, said in pairs)
    else:
        found = scripted([request for request, _ in exchanges] + beside)
    for prompt, has_result, request, said in found:
        if request.get("model") != "default" or not prompt:
            continue
        match = {"userMessage": prompt, "hasToolResult": has_result, "model": AIMOCK_MODEL}
        # Requests for different tools may have the same text.
        tool = said.calls[0][0] if said.calls else ""
        match |= {"toolName": tool} if tool else {}
        # Of requests that are alike, one that continues a stored response comes last; one that asks for thinking prevails.
        if said.reasoning or "reasoning" not in known.get((prompt, has_result, tool), {}).get("response", {}):
            known[prompt, has_result, tool] = fixture(match, said)
    return [known[key] for key in sorted(known, key=lambda key: (-len(key[0]), not key[1], not key[2]))]


def fixture(match, said):
    if said.status != 200:
        return {"match": match, "response": problem(said.status) | {"status": said.status}}
    response = {"finishReason": said.finish_reason()}
    if said.reasoning:
        response["reasoning"] = "".join(said.reasoning)
    if said.text or said.refusal or not said.calls:
        response["content"] = "".join(said.text or said.refusal)
    if said.calls:
        response["toolCalls"] = [{"name": name, "arguments": "".join(each)} for name, each in said.calls]
    # Small chunks: what is cut between two of them shows.
    made = {"match": match, "response": response, "chunkSize": 5}
    broken = said.cut_after if said.cut_after is not None else said.fails_after
    # Without a pause it breaks off before anything is sent.
    return made if broken is None else made | {"truncateAfterChunks": broken + 3, "latency": 20}


def parted(exchange):
    """The request of an exchange, unless it is no JSON, and the lines of the answer."""
    body = exchange[0]["request"].get("body") or ""
    return (json.loads(body) if body.endswith("}") else None), exchange


def asked(messages):
    """The last text of the user, and whether the result of a tool comes after it."""
    users = [message for message in messages if message.get("role") == "user" and words(message.get("content"))]
    last = messages[-1] if messages else {}
    results = last.get("content") if isinstance(last.get("content"), list) else []
    has_result = last.get("role") == "tool" or any(block.get("type") == "tool_result" for block in results)
    return words(users[-1]["content"]) if users else "", has_result


def words(content):
    texts = [part.get("text") or "" for part in content] if isinstance(content, list) else [content or ""]
    return "".join(texts)


def heard(exchange):
    """What a recorded answer of Messages or Chat Completions says: of several choices, the first."""
    said = Answer(status=exchange[0]["response"]["status"])
    text = "".join(line.get("text") or "" for line in exchange[1:])
    for data in re.findall(r"^data: (\{.*)$", text, re.MULTILINE) or [text]:
        try:
            event = json.loads(data)
        except ValueError:
            continue
        if "error" in event:
            said.fails_after = 0
        for choice in event.get("choices") or []:
            if choice["index"] == 0:
                turn(said, choice.get("delta") or choice.get("message") or {}, choice.get("finish_reason"))
        block(said, event)
    return said


def turn(said, message, finish):
    """Adds a delta, or the message, of a choice."""
    said.text += [message["content"]] if message.get("content") else []
    said.refusal += [message["refusal"]] if message.get("refusal") else []
    for call in message.get("tool_calls") or []:
        if call.get("id"):
            said.calls.append((call["function"]["name"], []))
        said.calls[-1][1].append(call["function"].get("arguments") or "")
    said.ending = finish or said.ending


REASONS = {"max_tokens": "length", "tool_use": "tool_calls", "refusal": "content_filter"}


def block(said, event):
    """Adds an event of Messages, or all blocks of a message."""
    delta = event.get("delta") or {}
    for content in [event.get("content_block") or {}, *(event.get("content") or [])]:
        if content.get("type") == "tool_use":
            said.calls.append((content["name"], [json.dumps(content["input"])] if content.get("input") else []))
        said.text += [content["text"]] if content.get("text") else []
        said.reasoning += [content["thinking"]] if content.get("thinking") else []
    said.text += [delta["text"]] if delta.get("text") else []
    said.reasoning += [delta["thinking"]] if delta.get("thinking") else []
    if delta.get("partial_json") and said.calls:
        said.calls[-1][1].append(delta["partial_json"])
    if reason := delta.get("stop_reason") or event.get("stop_reason"):
        said.ending = REASONS.get(reason, "stop")


def scripted(requests):
    """The prompt of each request of the Responses API, whether a tool has answered, and what the scripted model says."""
    # The word that later turns of a conversation ask for.
    inputs = filter(lambda given: isinstance(given, str), (request.get("input") for request in requests))
    remembered = re.findall(r"Remember the word (\w+) and", " ".join(inputs))
    for request in filter(lambda request: isinstance(request.get("input"), (str, list)), requests):
        prompt, chat = as_chat(request, remembered[0] if remembered else "blue")
        if prompt:
            yield prompt, chat["messages"][-1]["role"] == "tool", request, answer(chat)


def as_chat(request, word):
    """The last prompt of a request of the Responses API, and the request as a chat completion."""
    given = request["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    # A mock remembers nothing: whoever writes its answers knows what was said before.
    earlier = [item for item in items if item.get("type") == "previous_output"]
    is_continued = bool(earlier) or "previous_response_id" in request
    messages = [{"role": "user", "content": f"Remember the word {word}."}] if is_continued else []
    for item in items:
        if item.get("type") == "function_call_output" or "call_output" in item:
            messages.append({"role": "tool", "content": item.get("output", item.get("call_output"))})
        elif item.get("role"):
            messages.append({"role": item["role"], "content": item.get("content")})
    tools = [{"type": "function", "function": tool} for tool in request.get("tools") or [] if tool.get("name")]
    form = (request.get("text") or {}).get("format") or {}
    chat = {key: request[key] for key in ("tool_choice", "parallel_tool_calls") if key in request}
    chat |= {"model": MODEL, "messages": messages or [{"role": "user"}], "tools": tools}
    chat |= {"response_format": {"type": form.get("type"), "json_schema": form}}
    chat |= {"max_tokens": request.get("max_output_tokens")}
    chat |= {"reasoning_effort": (request.get("reasoning") or {}).get("effort")}
    users = [message for message in messages if message["role"] == "user"]
    content = users[-1]["content"] if users else ""
    texts = [part.get("text") or "" for part in content] if isinstance(content, list) else [content]
    return " ".join(filter(None, texts)), chat
