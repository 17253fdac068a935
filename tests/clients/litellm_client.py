"""litellm as a client: `litellm.responses`, with the provider `openai`. With the argument `chat`, `anthropic` or `gemini`,
`litellm.completion` with the provider `openai`, `anthropic` or `gemini`."""

import json
import os
import sys
from types import SimpleNamespace

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402: it reads the environment when it is loaded
from lines import Chunks, Unsupported, beyond_version, following, functions, is_resumed, response, retries, serve, steps, text_of_request  # noqa: E402

litellm.suppress_debug_info = True
litellm.telemetry = False
ENDS = ("response.completed", "response.incomplete", "response.failed")


API = sys.argv[1] if len(sys.argv) > 1 else "responses"


def ask(case):
    if API != "responses":
        return complete(case)
    if case["transport"] == "websocket" or is_resumed(case):
        raise Unsupported("the driver has no WebSocket, and does not resume")
    answer, told = send(case, case["request"])
    for step in steps(case):
        answer, told = send(case, following(case, step, plain(answer)))
    # Where no event ends the response, there is no text to be had from it.
    understood = response(plain(answer)) if answer else {"text": None, "response_status": None}
    # Ids are litellm's own: they say which provider made the response.
    understood.pop("response_id", None)
    return told | understood


def plain(answer):
    """A response whose parts are all objects: where litellm does not know something, it leaves dicts."""
    whole = json.loads(answer.model_dump_json(), object_hook=lambda members: SimpleNamespace(**members))
    parts = [part for item in whole.output if item.type == "message" for part in item.content]
    whole.output_text = "".join(part.text for part in parts if part.type == "output_text")
    return whole


def send(case, request):
    # A model that litellm does not know is asked for a body, which is then handed on in pieces.
    known = {"litellm_provider": "openai", "mode": "responses", "supports_native_streaming": True, "supports_reasoning": True}
    litellm.register_model({request["model"]: known})
    request = request | {"model": f"openai/{request['model']}"}
    timeout = case["timeout_ms"] / 1000
    known = {"api_base": case["base_url"], "api_key": case["api_key"], "timeout": timeout, "max_retries": retries(case)}
    if case["transport"] == "json":
        return litellm.responses(**request, **known), {}
    told, answer = {"streamed": ""}, None
    for number, event in enumerate(litellm.responses(stream=True, **request, **known), 1):
        kind = str(getattr(event.type, "value", event.type))
        if kind == "response.output_text.delta":
            told["streamed"] += event.delta
        elif kind in ENDS:
            answer = event.response
        if number == case["cancel_after_events"]:
            return None, told
    return answer, told


def complete(case):
    """What an application gathers from the chunks, which litellm makes of any stream."""
    if case["transport"] != "sse" or case["cancel_after_events"] or steps(case):
        raise Unsupported("the driver reads one stream to its end")
    request = dict(case["request"])
    is_chat = API == "chat"
    if not is_chat:
        # A request in the words of litellm.
        tools = [
            {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
            for name, description, schema in functions(request)
        ]
        request |= {"tools": tools} if tools else {}
        request |= {"stop": request.pop("stop_sequences")} if "stop_sequences" in request else {}
    if API == "gemini":
        request |= {"messages": [{"role": "user", "content": text_of_request(case)}]}
        del request["contents"]
        request |= {"reasoning_effort": "low"} if request.pop("generationConfig", None) else {}
    chunks = Chunks(request)
    bases = {"chat": case["base_url"], "gemini": f"{case['base_url']}/models/{request['model']}"}
    stream = litellm.completion(
        **request | {"model": f"{'openai' if is_chat else API}/{request['model']}"},
        stream=True,
        api_base=bases.get(API) or beyond_version(case),
        api_key=case["api_key"],
        timeout=case["timeout_ms"] / 1000,
        max_retries=retries(case),
    )
    for chunk in stream:
        chunks.add(chunk)
    told = chunks.understood()
    # Ids and counts are litellm's own, and so are the reasons of other providers.
    for name in ("response_id", "usage", *([] if is_chat else ["response_status", "refusal"])):
        told.pop(name, None)
    return told


serve("litellm", ask)
