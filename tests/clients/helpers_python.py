"""The helpers of anthropic and openai for Python. The argument is the address of `conformance serve`."""

import sys
import traceback

from anthropic import Anthropic, beta_tool
from openai import OpenAI
from pydantic import BaseModel

ADDRESS = sys.argv[1]
anthropic = Anthropic(base_url=ADDRESS, api_key="sk-test", max_retries=0, timeout=10)
openai = OpenAI(base_url=f"{ADDRESS}/v1", api_key="sk-test", max_retries=0, timeout=10)

HELLO = "[[say Hello|, wor|ld.]]"
CALL = '[[call get_weather {"ci|ty":|"Os|lo"}]]'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}


class City(BaseModel):
    city: str


def says(text):
    return [{"role": "user", "content": text}]


def message(text, **more):
    return {"model": "default", "max_tokens": 4096, "messages": says(text)} | more


def completion(text, **more):
    return {"model": "default", "messages": says(text)} | more


@beta_tool
def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city.
    """
    return f"Rain in {city}"


def anthropic_stream():
    with anthropic.messages.stream(**message(HELLO)) as stream:
        assert "".join(stream.text_stream) == "Hello, world."
        last = stream.get_final_message()
        assert (stream.get_final_text(), last.stop_reason) == ("Hello, world.", "end_turn")
    assert last.usage.output_tokens > 0


def anthropic_call():
    tools = [{"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}]
    with anthropic.messages.stream(**message(CALL, tools=tools)) as stream:
        last = stream.get_final_message()
    assert [block.input for block in last.content if block.type == "tool_use"] == [{"city": "Oslo"}]
    assert last.stop_reason == "tool_use"


def anthropic_thinking():
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with anthropic.messages.stream(**message(f"[[think Let me| see.]]{HELLO}", thinking=thinking)) as stream:
        last = stream.get_final_message()
    thought, text = last.content
    assert (thought.thinking, text.text) == ("Let me see.", "Hello, world.") and thought.signature


def anthropic_counts_tokens():
    assert anthropic.messages.count_tokens(model="default", messages=says(HELLO)).input_tokens > 0


def anthropic_parse():
    assert anthropic.messages.parse(**message("Where?"), output_format=City).parsed_output.city is not None


def anthropic_runs_tools():
    runner = anthropic.beta.messages.tool_runner(**message(CALL), tools=[get_weather], max_iterations=2)
    sent = list(runner)
    assert sent[0].stop_reason == "tool_use" and len(sent) == 2, sent


def anthropic_lists_models():
    assert [model.id for model in anthropic.models.list()]


def chat_stream():
    with openai.chat.completions.stream(**completion(HELLO, stream_options={"include_usage": True})) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        last = stream.get_final_completion()
    assert text == last.choices[0].message.content == "Hello, world."
    assert last.usage.completion_tokens > 0 and last.choices[0].finish_reason == "stop"


def chat_call():
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA, "strict": True}}]
    with openai.chat.completions.stream(**completion(CALL, tools=tools)) as stream:
        (call,) = stream.get_final_completion().choices[0].message.tool_calls
    assert call.function.parsed_arguments == {"city": "Oslo"}


def chat_parse():
    parsed = openai.chat.completions.parse(**completion("Where?"), response_format=City)
    assert isinstance(parsed.choices[0].message.parsed, City)
    with openai.chat.completions.stream(**completion("Where?"), response_format=City) as stream:
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, City)


def chat_choices():
    with openai.chat.completions.stream(**completion(HELLO, n=2)) as stream:
        assert [one.message.content for one in stream.get_final_completion().choices] == ["Hello, world."] * 2


def chat_logprobs():
    with openai.chat.completions.stream(**completion(HELLO, logprobs=True, top_logprobs=2)) as stream:
        (choice,) = stream.get_final_completion().choices
    assert "".join(token.token for token in choice.logprobs.content) == "Hello, world."


def responses_stream():
    with openai.responses.stream(model="default", input=HELLO) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        last = stream.get_final_response()
    assert (text, last.status) == (last.output_text, "completed")


def responses_call():
    tools = [{"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": True}]
    with openai.responses.stream(model="default", input=CALL, tools=tools) as stream:
        (call,) = stream.get_final_response().output
    assert call.parsed_arguments == {"city": "Oslo"}


def responses_parse():
    assert isinstance(openai.responses.parse(model="default", input="Where?", text_format=City).output_parsed, City)


def main():
    failed = 0
    for helper in [value for value in list(globals().values()) if getattr(value, "__name__", "").startswith(("anthropic_", "chat_", "responses_"))]:
        try:
            helper()
            print(f"ok      {helper.__name__}", flush=True)
        except Exception:  # noqa: BLE001: whatever it is, it is the result
            failed += 1
            print(f"failed  {helper.__name__}\n{traceback.format_exc(limit=-3)}", flush=True)
    sys.exit(1 if failed else 0)


main()
