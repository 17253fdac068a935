"""openai-agents: an agent that stops at its first call, run as a stream."""

import asyncio

from agents import Agent, FunctionTool, ModelSettings, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.items import MessageOutputItem, ReasoningItem, ToolCallItem
from lines import Unsupported, is_resumed, retries, serve, steps
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

set_tracing_disabled(True)


async def run(case):
    request = case["request"]
    tools = request.get("tools", [])
    if case["transport"] == "websocket" or case["cancel_after_events"] or not isinstance(request["input"], str):
        raise Unsupported("the driver has no WebSocket, does not leave, and sends texts alone")
    if any(tool["type"] != "function" for tool in tools) or set(request) - {"model", "input", "tools", "reasoning"}:
        raise Unsupported("the driver sends functions alone")
    if is_resumed(case):
        raise Unsupported("the driver does not resume")
    outputs = [step["outputs"] for step in steps(case) if step["step"] == "answer-calls"]
    further = [step["request"]["input"] for step in steps(case) if step["step"] == "continue"]
    timeout = case["timeout_ms"] / 1000
    client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=retries(case), timeout=timeout)

    async def done(context, arguments):
        return outputs[min(context.usage.requests, len(outputs)) - 1][context.tool_name] if outputs else "done"

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
        model_settings=ModelSettings(reasoning=Reasoning(**request["reasoning"])) if "reasoning" in request else ModelSettings(),
        tools=functions,
        tool_use_behavior="run_llm_again" if outputs else "stop_on_first_tool",
    )
    told = {}
    result = await send(case, agent, request["input"], len(outputs) + 1, told)
    for text in further:
        said = [*result.to_input_list(), {"role": "user", "content": text}]
        result = await send(case, agent, said, 1, told)
    if outputs:
        return told | {"text": str(result.final_output)}
    items = result.new_items
    parts = [part for item in items if isinstance(item, MessageOutputItem) for part in item.raw_item.content]
    calls = [item.raw_item for item in items if isinstance(item, ToolCallItem)]
    calls = [call for call in calls if getattr(call, "type", None) == "function_call"]
    thoughts = [item.raw_item for item in items if isinstance(item, ReasoningItem)]
    return told | {
        "reasoning": "".join(part.text for item in thoughts for part in [*(item.summary or []), *(item.content or [])]),
        "text": "".join(part.text for part in parts if part.type == "output_text"),
        "calls": [{"call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls],
    }


async def send(case, agent, said, turns, told):
    if case["transport"] == "json":
        return await Runner.run(agent, said, max_turns=turns)
    result = Runner.run_streamed(agent, said, max_turns=turns)
    told["streamed"] = ""
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.created":
            told["streamed"] = ""
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            told["streamed"] += event.data.delta
    return result


serve("openai-agents", lambda case: asyncio.run(run(case)))
