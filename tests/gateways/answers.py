"""What the scripted model says to a chat-completions request: to the same request always the same.

A request says what it wants by its tools, its format and its prompt. Where these can't ask for something,
the prompt has a directive, `[[refuse]]`: those of `conformance serve` that a chat completion can express
(conformance/src/reference/directive.rs), and two for what happens on the way to a model: `[[cut N]]` cuts
the connection after so many chunks, `[[fail after N]]` sends an error instead of the next chunk.
"""

import json
import re
from dataclasses import dataclass, field
from itertools import groupby

MODEL = "scripted"


@dataclass
class Answer:
    """A turn of the model, in the fragments in which it is streamed."""

    reasoning: list = field(default_factory=list)
    text: list = field(default_factory=list)
    refusal: list = field(default_factory=list)
    calls: list = field(default_factory=list)  # of (name, fragments of the arguments)
    is_interleaved: bool = False
    ending: str = ""  # "stop", unless calls, a limit or a filter say otherwise
    status: int = 200
    fails_after: int | None = None
    cut_after: int | None = None

    def finish_reason(self):
        return self.ending or ("tool_calls" if self.calls else "stop")


def problem(status):
    """What a model says that refuses or fails."""
    kind = {400: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error"}.get(status, "server_error")
    return {"error": {"message": f"scripted failure {status}", "type": kind, "code": None, "param": None}}


# What a plain prompt is answered with: text, and the reasoning before it.
PLAIN = [
    ("hello to the world", "Hello,| wide| world!", ""),
    ("colour of the sky", "BLUE", ""),
    ("yes or no", "Yes", ""),
    ("one to fifty", "One,| two,| three,| four,| five,| six,| seven.", ""),
    ("Name a fruit", "Pear", ""),
    ("Repeat exactly", "Grüße, Ελλ|άδα, 日本|語, 👩‍👩|‍👧‍👦 and 𝄞|.", ""),
    ("Write a story", "Once| upon| a| time| there| was| a| sea| that| nobody| had| sailed| to| its| end,| for| it| had| none.", ""),
    ("Remember the word", "noted", ""),
    ("Spell that word", "eulb", ""),
    ("colour is this square", "Red.", ""),
    ("strawberry", "Three|.", "s, t, r:| one; b, e, r, r:| three."),
    ("bat and a ball", "The ball costs| 0.05.", "Ball x, bat| x + 1:| 2x + 1 = 1.10."),
    ("17 times 23", "391", "17 * 20 = 340,| 17 * 3 = 51."),
]
CITIES = ["Paris", "Tokyo", "Rome"]
# So many characters of all messages together are as many as the model takes.
CONTEXT = 1_000_000


def answer(request):
    """The answer to a request."""
    prompt = last_prompt(request)
    if request.get("model", "").startswith("no-such-model"):
        return Answer(status=404)
    if len(json.dumps(request.get("messages"))) > CONTEXT:
        return Answer(status=400)
    directives = re.findall(r"\[\[\s*(\w+)\s*(.*?)\]\]", prompt, re.DOTALL)
    said = Answer()
    for verb, words in directives:
        follow(said, verb, words)
    if "mcp" in dict(directives) and (made := calls(request, prompt)):
        # What follows this directive is said when the tool has answered.
        return Answer(calls=made)
    if not (said.text or said.refusal or said.calls):
        speak(said, request, prompt)
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    if isinstance(limit, int) and len(said.text) > limit:
        said.text, said.ending = said.text[:limit], "length"
    return said


def follow(said, verb, words):
    """Does what a directive says; others than these mean nothing to a chat completion."""
    numbers = [int(number) for number in re.findall(r"\b\d+\b", words)]
    match verb:
        case "say" | "and":
            said.text += words.split("|")
        case "think" | "summarize":
            said.reasoning += words.split("|")
        case "refuse":
            said.refusal += (words or "I can't| help with that.").split("|")
        case "call":
            name = words.split()[0]
            given = re.search(r"\{.*\}", words, re.DOTALL)
            arguments = given[0] if given else '{"city":|"Paris"}'
            times = re.search(r"parallel (\d+)", words)
            said.calls += [(name, arguments.split("|"))] * (int(times[1]) if times else 1)
            said.is_interleaved |= "interleaved" in words
        case "incomplete":
            said.ending = "content_filter" if "content_filter" in words else "length"
        case "error":
            said.status = numbers[0] if numbers else 500
        case "fail":
            said.fails_after = numbers[0] if numbers else 0
        case "cut":
            said.cut_after = numbers[0] if numbers else 0


def speak(said, request, prompt):
    """Answers sensibly."""
    text, reasoning = next(
        ((text, reasoning) for words, text, reasoning in PLAIN if words in prompt), ("Hello|, world|.", "")
    )
    everything = "".join(map(content, request["messages"]))
    if "word did I ask you to remember" in prompt:
        told = re.search(r"Remember the word (\w+)", everything)
        text = told[1] if told else "Nobody| has told me."
    if asked := re.search(r"Use the word (\w+)", prompt):
        text = f"{asked[1]}: |{text}"
    if "What is my name" in prompt and (told := re.search(r"My name is (\w+)", everything)):
        text = f"Your name| is {told[1]}."
    if "Think first" in prompt or (request.get("reasoning_effort") == "high"):
        reasoning = "The weather| is needed."
    said.reasoning += reasoning.split("|") if reasoning else []
    said.calls += calls(request, prompt)
    if said.calls:
        return
    form = request.get("response_format") or {}
    if form.get("type") == "json_schema":
        text = json.dumps(instance(form["json_schema"].get("schema") or {}, prompt))
        text = "|".join(re.findall(r".{1,8}", text))
    elif form.get("type") == "json_object":
        keys = re.findall(r'"(\w+)"', prompt) or ["capital"]
        text = json.dumps(dict.fromkeys(keys, "Paris")).replace(":", ":|", 1)
    said.text += text.split("|")


def calls(request, prompt):
    """The calls that a request asks for: one for each city, unless there may be but one."""
    tools = [tool["function"] for tool in request.get("tools") or [] if tool.get("function")]
    choice = request.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        allowed = choice.get("allowed_tools", choice).get("tools") or [choice]
        names = [(tool.get("function") or tool).get("name") for tool in allowed]
        tools = [tool for tool in tools if tool["name"] in names]
    is_answered = any(message.get("role") == "tool" for message in request.get("messages") or [])
    if not tools or choice == "none" or (is_answered and choice == "auto"):
        return []
    cities = [city for city in CITIES if city in prompt] or CITIES[:1]
    if request.get("parallel_tool_calls") is False:
        cities = cities[:1]
    name, schema = tools[0]["name"], tools[0].get("parameters") or {}
    arguments = dict.fromkeys(json.dumps(instance(schema, city)) for city in cities)
    return [(name, re.findall(r".{1,6}", each)) for each in arguments]


def instance(schema, prompt):
    """Something that a schema accepts."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object" | None:
            return {name: instance(each, prompt) for name, each in (schema.get("properties") or {}).items()}
        case "array":
            return [instance(schema.get("items") or {}, prompt)]
        case "integer" | "number":
            return next(map(int, re.findall(r"\d+", prompt)), 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return next((city for city in CITIES if city in prompt), "Ada Lovelace")


def last_prompt(request):
    """What the user said last, which some gateways cut into several messages."""
    turns = [list(messages) for role, messages in by_role(request) if role == "user"]
    return "".join(map(content, turns[-1])) if turns else ""


def by_role(request):
    """The messages, in runs of the same role."""
    return groupby(request.get("messages") or [], key=lambda message: message.get("role"))


def content(message):
    """The text of a message."""
    given = message.get("content")
    if isinstance(given, list):
        return " ".join(part.get("text") or "" for part in given)
    return given or ""
