"""pydantic-ai: a model of the Responses API, asked directly."""

import asyncio

import httpx
from lines import Unsupported, is_resumed, serve, steps
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition


async def run(case):
    request = case["request"]
    tools = request.get("tools", [])
    if case["transport"] == "websocket" or case["cancel_after_events"] or not isinstance(request["input"], str):
        raise Unsupported("the driver has no WebSocket, does not leave, and sends texts alone")
    if any(tool["type"] != "function" for tool in tools) or set(request) - {"model", "input", "tools", "reasoning"}:
        raise Unsupported("the driver sends functions alone")
    if is_resumed(case):
        raise Unsupported("the driver does not resume")
    timeout = case["timeout_ms"] / 1000
    async with httpx.AsyncClient(timeout=timeout) as http:
        client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=0, http_client=http)
        model = OpenAIResponsesModel(request["model"], provider=OpenAIProvider(openai_client=client))
        functions = [
            ToolDefinition(name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"])
            for tool in tools
        ]
        asked = [ModelRequest.user_text_prompt(request["input"])]
        parameters = ModelRequestParameters(function_tools=functions)
        settings = {f"openai_reasoning_{name}": value for name, value in request.get("reasoning", {}).items()}
        options = {"model_settings": {"timeout": timeout} | settings, "model_request_parameters": parameters}
        answer = await send(case, model, asked, options)
        for step in steps(case):
            asked.append(answer)
            if step["step"] == "continue":
                asked.append(ModelRequest.user_text_prompt(step["request"]["input"]))
            else:
                asked.append(ModelRequest(parts=[returned(call, step["outputs"]) for call in calls_of(answer)]))
            answer = await send(case, model, asked, options)
        return understood(answer)


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


def understood(response):
    def texts(kind):
        return "".join(part.content for part in response.parts if isinstance(part, kind))

    return {
        "text": texts(TextPart),
        "reasoning": texts(ThinkingPart),
        "calls": [
            {"call_id": call.tool_call_id, "name": call.tool_name, "arguments": call.args} for call in calls_of(response)
        ],
    }


serve("pydantic-ai-slim", lambda case: asyncio.run(run(case)))
