"""A server of chat completions on loopback, behind which the scripted model stands."""

import json
from http.server import BaseHTTPRequestHandler

from answers import MODEL, answer, problem
from listening import Listening


class Upstream(Listening):
    """The server while it runs. What it is asked for is written to a file."""

    def __init__(self, log):
        super().__init__(Handler, log)


def envelope(kind, model):
    return {"id": "chatcmpl-scripted", "object": kind, "created": 1700000000, "model": model}


def usage(said):
    spoken = said.text + said.refusal + [each for _, arguments in said.calls for each in arguments]
    written = len(spoken) + len(said.reasoning)
    return {
        "prompt_tokens": 7,
        "completion_tokens": written,
        "total_tokens": 7 + written,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": len(said.reasoning)},
    }


def logprob(text):
    return {"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": []}


def whole(said, request):
    """The answer as one object."""
    message = {"role": "assistant", "content": "".join(said.text) or None, "refusal": None}
    if said.refusal:
        message["refusal"] = "".join(said.refusal)
    if said.reasoning:
        message["reasoning_content"] = "".join(said.reasoning)
    if said.calls:
        message["tool_calls"] = [
            {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": "".join(arguments)}}
            for at, (name, arguments) in enumerate(said.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": said.finish_reason(), "logprobs": None}
    if request.get("logprobs"):
        choice["logprobs"] = {"content": [logprob(text) for text in said.text], "refusal": None}
    return envelope("chat.completion", request.get("model")) | {"choices": [choice], "usage": usage(said)}


def deltas(said):
    """What the chunks of an answer add, one after the other."""
    yield {"role": "assistant", "content": ""}
    yield from ({"reasoning_content": text} for text in said.reasoning)
    yield from ({"content": text} for text in said.text)
    yield from ({"refusal": text} for text in said.refusal)
    streams = []
    for at, (name, arguments) in enumerate(said.calls):
        begin = {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": ""}}
        streams.append([begin] + [{"index": at, "function": {"arguments": each}} for each in arguments])
    if said.is_interleaved:
        longest = max(map(len, streams))
        order = [stream[at] for at in range(longest) for stream in streams if at < len(stream)]
    else:
        order = [each for stream in streams for each in stream]
    yield from ({"tool_calls": [each]} for each in order)


def chunks(said, request):
    """The answer as a stream."""
    head = envelope("chat.completion.chunk", request.get("model"))
    for delta in deltas(said):
        choice = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": None}
        if request.get("logprobs") and delta.get("content"):
            choice["logprobs"] = {"content": [logprob(delta["content"])], "refusal": None}
        yield head | {"choices": [choice]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": said.finish_reason()}]}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": usage(said)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def do_GET(self):
        model = {"id": MODEL, "object": "model", "created": 1700000000, "owned_by": "conformance"}
        if self.path.endswith("/models"):
            self.send(200, {"object": "list", "data": [model]})
        elif self.path.endswith("/health"):
            self.send(200, {})
        else:
            self.send(404, problem(404))

    def do_DELETE(self):
        # Some gateways hand on what they do not know.
        self.send(404, problem(404))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.endswith("/chat/completions"):
            return self.send(404, problem(404))
        request = json.loads(body)
        self.server.asked.write(json.dumps(request, ensure_ascii=False) + "\n")
        said = answer(request)
        if said.status != 200:
            self.send(said.status, problem(said.status))
        elif request.get("stream"):
            self.stream(said, request)
        elif said.cut_after is not None:
            self.close_connection = True
        elif said.fails_after is not None:
            self.send(500, problem(500))
        else:
            self.send(200, whole(said, request))

    def send(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, said, request):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at, chunk in enumerate(chunks(said, request)):
            if said.cut_after == at:
                self.close_connection = True
                return
            if said.fails_after == at:
                self.data(json.dumps(problem(500)))
                break
            self.data(json.dumps(chunk, ensure_ascii=False))
        else:
            self.data("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def data(self, text):
        event = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()
