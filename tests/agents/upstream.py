"""The server behind an agent. Its answers are those of `conformance serve`, which gets the steps as directives; one fault of
spec/between/agents.toml befalls the third request, or each from there on."""

import http.client
import json
import re
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LIMIT = 64 << 20
PAUSE = 0.5  # seconds before a break
FIRST = 3  # the request that fails first
STEPS = (("first",), ("second",), ("third", "fourth"))
DONE = "All four steps are finished."
PATHS = {"messages": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions", "gemini": ":streamGenerateContent"}
KEYS = {"anthropic-version": "2023-06-01", "x-api-key": "none", "authorization": "Bearer none", "content-type": "application/json"}
TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
WORDS = {401: "invalid x-api-key", 429: "Rate limit reached", 529: "Overloaded"}


def step_of(body):
    """Returns the number of steps whose results a request has."""
    finished = set(re.findall(r"finished-(\w+)", body))
    return max((at for at, calls in enumerate(STEPS, 1) if finished & set(calls)), default=0)


def directives(agent, step, thinks):
    if step == len(STEPS):
        return f"[[say {DONE}]]"
    told = {"messages": "[[think One more step.]]", "responses": "[[encrypt]]", "gemini": "[[think One more step.]]"}.get(thinks, "")
    for call in STEPS[step]:
        # Each call has two fragments of arguments.
        command = json.dumps({agent.argument: f"sh ./step {call[:2]}|{call[2:]}", **agent.others})
        told += f"[[call {agent.tool} {command}]]"
    return told


def request_to_model(agent, api, asked, told):
    kept = {name: asked[name] for name in ("model", "stream", "max_tokens", "store", "include", "stream_options") if name in asked}
    name, schema = agent.tool, {"type": "object"}
    if api == "messages":
        thinking = {"thinking": {"type": "adaptive"}} if "[[think" in told else {}
        return kept | thinking | {"messages": [{"role": "user", "content": told}], "tools": [{"name": name, "input_schema": schema}]}
    if api == "responses":
        reasoning = {"reasoning": {"effort": "medium"}} if "[[encrypt" in told else {}
        return kept | reasoning | {"input": told, "tools": [{"type": "function", "name": name, "parameters": schema}]}
    if api == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": told}]}], "tools": [{"functionDeclarations": [{"name": name, "parameters": schema}]}]}
    tool = {"type": "function", "function": {"name": name, "parameters": schema}}
    return kept | {"messages": [{"role": "user", "content": told}], "tools": [tool]}


def error_of(api, status, message=None, code=None):
    kind, message = TYPES.get(status, "api_error"), message or WORDS.get(status, "Internal server error")
    if api == "messages":
        return {"type": "error", "error": {"type": kind, "message": message}}
    if api == "gemini":
        return {"error": {"code": status, "message": message, "status": STATUSES.get(status, "UNAVAILABLE")}}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_event(api):
    if api == "messages":
        return b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    if api == "gemini":
        return b"data: " + json.dumps(error_of(api, 503, "The model is overloaded")).encode() + b"\n\n"
    if api == "chat":
        return b'data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}\n\n'
    failed = {"id": "resp_failed", "object": "response", "status": "failed", "output": []}
    failed["error"] = {"code": "server_error", "message": "The server had an error"}
    event = {"type": "response.failed", "sequence_number": 99, "response": failed}
    return b"event: response.failed\ndata: " + json.dumps(event).encode() + b"\n\n"


def broken(events, fault):
    """Applies a fault to the events of a stream."""
    if "inserts" in fault:
        events = [*events[:2], fault["inserts"].encode(), *events[2:]]
    inside = next((at for at, event in enumerate(events) if b"urth" in event), None)
    ends = {"start": 0, "opening": 1, "second-call": inside, "last": len(events) - 1}
    return events[: ends[fault["until"]]] if "until" in fault else events


class Upstream(ThreadingHTTPServer):
    """The server of one run: `requests` has those that came with tools."""

    daemon_threads = True

    def __init__(self, agent, api, fault, port_of_model):
        super().__init__(("127.0.0.1", 0), Handler)
        self.agent, self.api, self.fault, self.port_of_model = agent, api, fault, port_of_model
        self.requests, self.asked, self.lock = [], None, threading.Lock()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """An agent that goes away is no error."""

    def is_due(self, sent):
        """Returns whether the fault befalls the request that came last."""
        count = len(self.requests)
        is_due = count >= FIRST if self.fault.get("each") else count == FIRST
        return is_due and self.fault.get("while_sent", "") in sent


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(min(int(self.headers.get("content-length") or 0), LIMIT))
        text = b""
        while (size := int(self.rfile.readline(64).split(b";")[0], 16)) and len(text) + size < LIMIT:
            text += self.rfile.read(size)
            self.rfile.readline(64)
        self.rfile.readline(64)
        return text

    def whole(self, status, kind, text, headers=()):
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": len(text), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text if self.command != "HEAD" else b"")

    def do_GET(self):
        self.whole(404, "application/json", json.dumps(error_of(self.server.api, 404, "Not found")).encode())

    do_HEAD = do_GET

    def do_POST(self):
        server, text = self.server, self.body().decode(errors="replace")
        if not self.path.split("?")[0].endswith(PATHS[server.api].removeprefix("/v1")):
            return self.do_GET()
        asked = json.loads(text)
        if not asked.get("tools"):
            return self.answer(asked, "[[say Short.]]", {}, {})
        with server.lock:
            seen = {"at": time.monotonic(), "step": step_of(text), "stream": asked.get("stream", server.api == "gemini"), "tokens": asked.get("max_tokens")}
            server.requests.append(seen)
            server.asked = server.asked or {"headers": dict(self.headers), "body": asked}
            fault = server.fault if server.is_due(f"{self.headers}{text}") else {}
            seen["failed"] = bool(fault)
        thinks = server.api if server.api == "gemini" or asked.get("reasoning") or (asked.get("thinking") or {}).get("type") in ("adaptive", "enabled") else ""
        try:
            self.answer(asked, directives(server.agent, seen["step"], thinks), fault, seen)
        finally:
            seen["ended"] = time.monotonic()

    def answer(self, asked, told, fault, seen):
        api = self.server.api
        if "status" in fault:
            text = json.dumps(error_of(api, fault["status"], fault.get("message"), fault.get("code"))).encode()
            return self.whole(fault["status"], "application/json", text, fault.get("headers", {}))
        if "page" in fault:
            return self.whole(200, "text/html", fault["page"].encode())
        status, kind, text = self.model(asked, told, fault, seen)
        if kind != "text/event-stream":
            return self.whole(status, kind, text)
        events = broken([event + b"\n\n" for event in text.split(b"\n\n") if event.strip()], fault)
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.chunks(events)
        if "then" in fault:
            # An agent that runs a finished call at once has run it before the break.
            time.sleep(PAUSE)
            self.chunks([error_event(api)] if fault["then"] == "error" else [])
        if fault.get("then") == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.rfile.close()
            return self.connection.close()
        self.wfile.write(b"0\r\n\r\n")

    def chunks(self, events):
        for event in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()

    def model(self, asked, told, fault, seen):
        """Returns status, content type and body of an intact answer, or of one that breaks a rule."""
        server = self.server
        rule = fault.get("breaks", {}).get(server.api)
        connection = http.client.HTTPConnection("127.0.0.1", server.port_of_model, timeout=30)
        request = json.dumps(request_to_model(server.agent, server.api, asked, told))
        path = self.path if server.api == "gemini" else PATHS[server.api]
        connection.request("POST", path, request, KEYS | ({"x-conformance-fault": rule} if rule else {}))
        response = connection.getresponse()
        text = response.read(LIMIT)
        connection.close()
        applied = response.getheader("x-conformance-fault", "")
        if response.status != 200 or (rule and not applied.endswith(": applied")):
            seen["problem"] = f"{response.status} {applied} {text[:300]!r}"
        return response.status, response.getheader("content-type"), text
