"""What the Python drivers share: the line protocol of `conformance client` (docs/clients.md)."""

import functools
import json
import ssl
import sys
from importlib.metadata import version

# Each case has a client of its own, and TLS contexts take longer than the case, which is not encrypted: each is made once, without
# the certificates, which clients read several times.
ssl.create_default_context = functools.cache(ssl.create_default_context)
ssl.SSLContext.load_verify_locations = lambda *_, **__: None


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
    thoughts = [part.text for item in reasoning for part in [*(item.summary or []), *(getattr(item, "content", None) or [])]]
    usage = getattr(response, "usage", None)
    counts = {name: getattr(usage, name, None) for name in ("input_tokens", "output_tokens")}
    return {
        "text": response.output_text,
        "refusal": "".join(part.refusal for part in parts if part.type == "refusal"),
        "reasoning": "".join(thoughts),
        "calls": calls_of(response),
        # An application reads these where it wants to, and a stream without them has an answer, too.
        "response_status": getattr(response, "status", None),
        "response_id": getattr(response, "id", None),
        **({"usage": counts} if usage else {}),
    }


def beyond_version(case):
    """The base URL of a case for a client that adds the version itself."""
    return case["base_url"].rsplit("/", 1)[0]


def text_of_request(case):
    """The text of a request that is a text alone, in the form of its API."""
    request = case["request"]
    if "contents" in request:
        said = only(only(request["contents"])["parts"]).get("text")
    else:
        said = request["input"] if "input" in request else only(request["messages"])["content"]
    if not isinstance(said, str):
        raise Unsupported("the driver sends texts alone")
    return said


def only(messages):
    """The only message of a request."""
    if len(messages) != 1:
        raise Unsupported("the driver sends one message")
    return messages[0]


def functions(request):
    """The functions of a request, in the form of its API: name, description and schema of the parameters."""
    found = []
    for tool in (one for tool in request.get("tools", []) for one in tool.get("functionDeclarations", [tool])):
        function = tool.get("function", tool)
        schema = function.get("parameters") or function.get("input_schema") or function.get("parametersJsonSchema")
        if tool.get("type", "function") != "function" or not schema or set(function) - FUNCTION:
            raise Unsupported("the driver sends functions alone")
        found.append((function["name"], function["description"], schema))
    return found


FUNCTION = {"type", "name", "description", "parameters", "input_schema", "parametersJsonSchema", "strict"}


class Chunks:
    """What an application gathers from the chunks of Chat Completions."""

    def __init__(self, request):
        self.told = {"text": "", "refusal": "", "response_status": None}
        self.calls = {}
        self.has_choices = request.get("n", 1) > 1

    def add(self, chunk):
        self.told["response_id"] = chunk.id
        if usage := getattr(chunk, "usage", None):
            self.told["usage"] = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        if self.has_choices and choice.index != 0:
            return
        delta = choice.delta
        self.told["text"] += delta.content or ""
        self.told["refusal"] += getattr(delta, "refusal", None) or ""
        thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if thought:
            self.told["reasoning"] = self.told.get("reasoning", "") + thought
        for call in delta.tool_calls or []:
            known = self.calls.setdefault(call.index, {"call_id": None, "name": "", "arguments": ""})
            known["call_id"] = known["call_id"] or call.id
            if call.function:
                known["name"] += call.function.name or ""
                known["arguments"] += call.function.arguments or ""
        if choice.finish_reason:
            self.told["response_status"] = choice.finish_reason

    def understood(self):
        return self.told | {"calls": list(self.calls.values())}


def conversation(case, send):
    """Sends the request of a case, and those of its steps, each of which repeats the conversation. `send` returns what was
    told, the message to repeat, and the entries that answer its calls by outputs."""
    request = case["request"]
    entries = "contents" if "contents" in request else "messages"
    told, said, answered = send(request)
    for step in case.get("steps", []):
        added = step["request"][entries] if step["step"] == "continue" else answered(step["outputs"])
        request = request | {entries: [*request[entries], said, *added]}
        told, said, answered = send(request)
    return told


def steps(case):
    """The steps of a case that send a request."""
    return [step for step in case.get("steps", []) if step["step"] != "resume"]


def is_resumed(case):
    """Whether the connection will be lost, and the client is to get the rest."""
    return any(step["step"] == "resume" for step in case.get("steps", []))


def following(case, step, before):
    """The request of a step, after this response of openai-python."""
    if step["step"] == "continue":
        return step["request"] | {"previous_response_id": before.id}
    outputs = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": step["outputs"][call["name"]]}
        for call in calls_of(before)
    ]
    first = {name: value for name, value in case["request"].items() if name in ("model", "tools")}
    return first | {"input": outputs, "previous_response_id": before.id}


def retries(case):
    """How often the client may send a request again by itself."""
    return case.get("max_retries", 0)


def serve(package, ask, known=None):
    """Answers cases: `ask` takes one, and returns what the client understood, which may retry as often as the case allows."""
    known = known or version(package)
    for line in sys.stdin:
        case = json.loads(line)
        try:
            reply = {"status": "ok"} | ask(case)
        except Unsupported as problem:
            reply = {"status": "unsupported", "error": {"message": str(problem)}}
        except Exception as error:  # noqa: BLE001: whatever it is, it is the result
            reply = {"status": "error", "error": {"type": type(error).__name__, "message": str(error)[:1000]}}
        about = {"case": case["case"], "client_version": known}
        about |= {"max_retries": case["max_retries"]} if "max_retries" in case else {}
        print(json.dumps(about | reply), flush=True)
