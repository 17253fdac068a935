"""google-genai over the line protocol of docs/clients.md. The argument says how to stream: `models`, or `chats`, whose history is
what the next request repeats."""

import sys

from google import genai
from google.genai import types
from lines import Unsupported, beyond_version, conversation, is_resumed, retries, serve

HOW = sys.argv[1]
KNOWN = {"model", "contents", "tools", "toolConfig", "systemInstruction", "generationConfig"}


def ask(case):
    request = case["request"]
    if case["transport"] == "websocket" or case["cancel_after_events"] or is_resumed(case) or set(request) - KNOWN:
        raise Unsupported("the driver sends requests of generateContent, and reads responses to their end")
    options = types.HttpOptions(
        base_url=beyond_version(case),
        timeout=case["timeout_ms"],
        retry_options=types.HttpRetryOptions(attempts=retries(case) + 1),
    )
    client = genai.Client(api_key=case["api_key"], http_options=options)
    config = dict(request.get("generationConfig", {}))
    config |= {name: request[name] for name in ("tools", "toolConfig", "systemInstruction") if name in request}
    config = types.GenerateContentConfig(**config, automatic_function_calling={"disable": True})
    is_body = case["transport"] == "json"
    if HOW == "chats":
        return chat(client.chats.create(model=request["model"], config=config), case, is_body)

    def send(request):
        asked = {"model": request["model"], "contents": request["contents"], "config": config}
        models = client.models
        told, parts = gathered([models.generate_content(**asked)] if is_body else models.generate_content_stream(**asked))
        return told, types.Content(role="model", parts=parts), lambda outputs: [types.Content(role="user", parts=results(parts, outputs))]

    return conversation(case, send)


def chat(session, case, is_body):
    """The answer is what the chat repeats in its next request."""

    def send(message):
        told, parts = gathered([session.send_message(message)] if is_body else session.send_message_stream(message))
        if not is_body:
            told["streamed"] = told["text"]
        kept = []
        for content in session.get_history(curated=True):
            own = content.parts or [] if content.role == "model" else []
            kept = [] if content.role == "user" else kept + own
        return told | said(kept), parts

    def parts_of(request):
        return [types.Part(**part) for content in request["contents"] for part in content["parts"]]

    told, parts = send(parts_of(case["request"]))
    for step in case.get("steps", []):
        told, parts = send(parts_of(step["request"]) if step["step"] == "continue" else results(parts, step["outputs"]))
    return told


def gathered(chunks):
    """What was told, and the parts of the first candidate."""
    parts, told = [], {"response_status": None, "response_id": None}
    for chunk in chunks:
        told["response_id"] = told["response_id"] or chunk.response_id
        if usage := chunk.usage_metadata:
            output = [usage.candidates_token_count, usage.thoughts_token_count]
            known = [count for count in output if count is not None]
            told["usage"] = {"input_tokens": usage.prompt_token_count, "output_tokens": sum(known) if known else None}
        first = next((it for it in chunk.candidates or [] if not it.index), None)
        if first:
            reason = first.finish_reason
            told["response_status"] = str(getattr(reason, "value", reason)) if reason else told["response_status"]
            parts += (first.content.parts or []) if first.content else []
        elif chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            told["response_status"] = str(chunk.prompt_feedback.block_reason.value)
    return told | said(parts), parts


def results(parts, outputs):
    calls = [part.function_call for part in parts if part.function_call]
    answers = [types.FunctionResponse(id=call.id, name=call.name, response={"output": outputs[call.name]}) for call in calls]
    return [types.Part(function_response=answer) for answer in answers]


def said(parts):
    return {"text": texts(parts, False), "reasoning": texts(parts, True), "calls": calls(parts)}


def texts(parts, are_thoughts):
    return "".join(part.text for part in parts if part.text and bool(part.thought) == are_thoughts)


def calls(parts):
    called = [part.function_call for part in parts if part.function_call]
    return [{"call_id": call.id, "name": call.name or "", "arguments": call.args or {}} for call in called]


serve("google-genai", ask)
