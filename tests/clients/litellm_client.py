"""litellm as a client: `litellm.responses`, with the provider `openai`."""

import json
import os
from types import SimpleNamespace

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402: it reads the environment when it is loaded
from lines import Unsupported, following, is_resumed, response, serve, steps  # noqa: E402

litellm.suppress_debug_info = True
litellm.telemetry = False
ENDS = ("response.completed", "response.incomplete", "response.failed")


def ask(case):
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
    known = {"litellm_provider": "openai", "mode": "responses", "supports_native_streaming": True}
    litellm.register_model({request["model"]: known})
    request = request | {"model": f"openai/{request['model']}"}
    timeout = case["timeout_ms"] / 1000
    known = {"api_base": case["base_url"], "api_key": case["api_key"], "timeout": timeout, "max_retries": 0}
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


serve("litellm", ask)
