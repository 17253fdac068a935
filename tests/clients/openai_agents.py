"""openai-agents: an agent that stops at its first call, run as a stream."""

import asyncio

from agents import Agent, FunctionTool, ModelSettings, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.items import MessageOutputItem, ToolCallItem
from lines import Unsupported, serve
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def run(case):
    request = case["request"]
    tools = request.get("tools", [])
    if case["transport"] == "websocket" or case["cancel_after_events"] or not isinstance(request["input"], str):
        raise Unsupported("the driver has no WebSocket, does not leave, and sends texts alone")
    if any(tool["type"] != "function" for tool in tools) or set(request) - {"model", "input", "tools"}:
        raise Unsupported("the driver sends functions alone")
    timeout = case["timeout_ms"] / 1000
    client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=0, timeout=timeout)

    async def done(context, arguments):
        return "done"

    functions = [
        FunctionTool(
            name=tool["name"],
            description=tool["description"],
            params_json_schema=tool["parameters"],
            on_invoke_tool=done,
            strict_json_schema=tool["strict"],
        )
        for tool in tools
    ]
    agent = Agent(
        name="driver",
        model=OpenAIResponsesModel(model=request["model"], openai_client=client),
        model_settings=ModelSettings(),
        tools=functions,
        tool_use_behavior="stop_on_first_tool",
    )
    told = {}
    if case["transport"] == "json":
        result = await Runner.run(agent, request["input"], max_turns=1)
    else:
        result = Runner.run_streamed(agent, request["input"], max_turns=1)
        told["streamed"] = ""
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                told["streamed"] += event.data.delta
    items = result.new_items
    parts = [part for item in items if isinstance(item, MessageOutputItem) for part in item.raw_item.content]
    calls = [item.raw_item for item in items if isinstance(item, ToolCallItem)]
    calls = [call for call in calls if getattr(call, "type", None) == "function_call"]
    return told | {
        "text": "".join(part.text for part in parts if part.type == "output_text"),
        "calls": [{"call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls],
    }


serve("openai-agents", lambda case: asyncio.run(run(case)))
