"""What the clients ask the reference gateway for, and what they must make of the answer."""

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city, now.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
PERSON = {
    "type": "json_schema",
    "name": "person",
    "schema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "born": {"type": "integer"}},
        "required": ["name", "born"],
        "additionalProperties": False,
    },
    "strict": True,
}
PARIS, TOKYO = ["get_weather", {"city": "Paris"}], ["get_weather", {"city": "Tokyo"}]
ADA = '{"name":"Ada","born":1815}'


def request(prompt, **options):
    return {"model": "default", "input": prompt} | options


def wanted(text="", calls=(), reasoning=""):
    """`text` is what is streamed, and what the response holds in the end."""
    return {"text": text, "final": text, "calls": list(calls), "reasoning": reasoning, "status": "completed"}


def calls(interleaved=""):
    return f'[[call get_weather {{"city":|"Paris"}}{interleaved}]][[call get_weather {{"city":|"Tokyo"}}]]'


# Name, request, and what must come of it. `turns` continues `text` by its id; `json` is no stream.
CASES = [
    ("text", request("[[say Hello|, wörld| 👋.]]"), wanted("Hello, wörld 👋.")),
    ("call", request('[[call get_weather {"city":|"Paris"}]]', tools=[TOOL]), wanted(calls=[PARIS])),
    ("parallel", request(calls(), tools=[TOOL]), wanted(calls=[PARIS, TOKYO])),
    ("interleaved", request(calls(" interleaved"), tools=[TOOL]), wanted(calls=[PARIS, TOKYO])),
    (
        "reasoning",
        request("[[summarize Two and| two.]][[say Four|.]]", reasoning={"effort": "low", "summary": "auto"}),
        wanted("Four.", reasoning="Two and two."),
    ),
    ("format", request(f"[[say {ADA.replace(',', '|,')}]]", text={"format": PERSON}), wanted(ADA)),
    ("turns", request("[[say And| goodbye.]]"), wanted("And goodbye.")),
    ("json", request("[[say Hello|, wörld| 👋.]]"), wanted("Hello, wörld 👋.")),
]
