"""google-genai over the line protocol of docs/clients.md. The argument says how to stream: `models`, or `chats`, whose history is
what the next request repeats."""

import sys

from google import genai
from google.genai import types
from lines import Unsupported, beyond_version, retries, serve, steps

HOW = sys.argv[1]
KNOWN = {"model", "contents", "tools", "toolConfig", "systemInstruction", "generationConfig"}


def ask(case):
    request = case["request"]
    if case["transport"] == "websocket" or case["cancel_after_events"] or steps(case) or set(request) - KNOWN:
        raise Unsupported("the driver sends one request of generateContent")
    options = types.HttpOptions(
        base_url=beyond_version(case),
        timeout=case["timeout_ms"],
        retry_options=types.HttpRetryOptions(attempts=retries(case) + 1),
    )
    client = genai.Client(api_key=case["api_key"], http_options=options)
    config = dict(request.get("generationConfig", {}))
    config |= {name: request[name] for name in ("tools", "toolConfig", "systemInstruction") if name in request}
    config = types.GenerateContentConfig(**config, automatic_function_calling={"disable": True})
    if HOW == "chats":
        return chat(client, case, config)
    asked = {"model": request["model"], "contents": request["contents"], "config": config}
    if case["transport"] == "json":
        return gathered([client.models.generate_content(**asked)])
    return gathered(client.models.generate_content_stream(**asked))


def chat(client, case, config):
    """The answer is what the chat repeats in its next request."""
    parts = [part for content in case["request"]["contents"] for part in content["parts"]]
    session = client.chats.create(model=case["request"]["model"], config=config)
    message = [types.Part(**part) for part in parts]
    if case["transport"] == "json":
        told = gathered([session.send_message(message)])
    else:
        told = gathered(session.send_message_stream(message))
        told["streamed"] = told["text"]
    kept = [content for content in session.get_history(curated=True) if content.role == "model"]
    kept = [part for content in kept for part in content.parts or []]
    return told | {"text": texts(kept, False), "reasoning": texts(kept, True), "calls": calls(kept)}


def gathered(chunks):
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
    return told | {"text": texts(parts, False), "reasoning": texts(parts, True), "calls": calls(parts)}


def texts(parts, are_thoughts):
    return "".join(part.text for part in parts if part.text and bool(part.thought) == are_thoughts)


def calls(parts):
    called = [part.function_call for part in parts if part.function_call]
    return [{"call_id": call.id, "name": call.name or "", "arguments": call.args or {}} for call in called]


serve("google-genai", ask)
