"""pydantic-ai: a model of the Responses API, asked directly; with the argument `chat` one of Chat Completions, with `anthropic` one of
Messages, with `google` one of generateContent."""

import asyncio
import sys

from lines import Unsupported, beyond_version, functions, is_resumed, retries, serve, steps, text_of_request
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

API = sys.argv[1] if len(sys.argv) > 1 else "responses"
# The members of a request that the driver sends, with the setting of the others than messages and tools.
KNOWN = {
    "responses": {"model": None, "input": None, "tools": None, "reasoning": None},
    "chat": {"model": None, "messages": None, "tools": None, "max_completion_tokens": "max_tokens", "logprobs": "openai_logprobs", "stream_options": None},
    "anthropic": {"model": None, "messages": None, "tools": None, "max_tokens": "max_tokens", "stop_sequences": "stop_sequences", "thinking": "anthropic_thinking"},
    "google": {"model": None, "contents": None, "tools": None, "generationConfig": None},
}[API]


async def run(case):
    request = case["request"]
    if case["transport"] == "websocket" or case["cancel_after_events"]:
        raise Unsupported("the driver has no WebSocket, and does not leave")
    if set(request) - set(KNOWN):
        raise Unsupported("the driver sends functions alone")
    if is_resumed(case):
        raise Unsupported("the driver does not resume")
    said = text_of_request(case)
    timeout = case["timeout_ms"] / 1000
    async with client_of(case, timeout) as client:
        model = model_of(client, request["model"])
        tools = [
            ToolDefinition(name=name, description=description, parameters_json_schema=schema)
            for name, description, schema in functions(request)
        ]
        asked = [ModelRequest.user_text_prompt(said)]
        parameters = ModelRequestParameters(function_tools=tools)
        settings = {f"openai_reasoning_{name}": value for name, value in request.get("reasoning", {}).items()}
        settings |= {setting: request[name] for name, setting in KNOWN.items() if setting and name in request}
        if config := request.get("generationConfig"):
            settings["google_thinking_config"] = {"include_thoughts": True, "thinking_budget": config["thinkingConfig"]["thinkingBudget"]}
        options = {"model_settings": {"timeout": timeout} | settings, "model_request_parameters": parameters}
        answer = await send(case, model, asked, options)
        for step in steps(case):
            asked.append(answer)
            if step["step"] == "continue":
                asked.append(ModelRequest.user_text_prompt(text_of_request(step)))
            else:
                asked.append(ModelRequest(parts=[returned(call, step["outputs"]) for call in calls_of(answer)]))
            answer = await send(case, model, asked, options)
        return understood(answer)


def client_of(case, timeout):
    options = {"api_key": case["api_key"], "max_retries": retries(case), "timeout": timeout}
    if API == "anthropic":
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(base_url=beyond_version(case), **options)
    if API == "google":
        return Google(case)
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=case["base_url"], **options)


class Google:
    """The client of google-genai, which is closed in another way."""

    def __init__(self, case):
        from google import genai

        options = {"base_url": beyond_version(case), "timeout": case["timeout_ms"]}
        self.client = genai.Client(api_key=case["api_key"], http_options=options)

    async def __aenter__(self):
        return self.client

    async def __aexit__(self, *_):
        await self.client.aio.aclose()


def model_of(client, name):
    if API == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
    if API == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(name, provider=GoogleProvider(client=client))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    kind = OpenAIChatModel if API == "chat" else OpenAIResponsesModel
    return kind(name, provider=OpenAIProvider(openai_client=client))


async def send(case, model, asked, options):
    if case["transport"] == "json":
        return await model_request(model, asked, **options)
    async with model_request_stream(model, asked, **options) as stream:
        async for _ in stream:
            pass
        return stream.get()


def returned(call, outputs):
    return ToolReturnPart(tool_name=call.tool_name, content=outputs[call.tool_name], tool_call_id=call.tool_call_id)


def calls_of(response):
    return [part for part in response.parts if isinstance(part, ToolCallPart)]


def arguments(call):
    # No text is how this client has a call without input.
    return "{}" if API in ("anthropic", "google") and not call.args else call.args


def understood(response):
    def texts(kind):
        return "".join(part.content for part in response.parts if isinstance(part, kind))

    status = (response.provider_details or {}).get("finish_reason") if API != "responses" else None
    return {
        **({"response_status": status} if status else {}),
        "text": texts(TextPart),
        "reasoning": texts(ThinkingPart),
        "calls": [
            {"call_id": call.tool_call_id, "name": call.tool_name, "arguments": arguments(call)} for call in calls_of(response)
        ],
    }


serve("pydantic-ai-slim", lambda case: asyncio.run(run(case)))
