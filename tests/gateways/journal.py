"""A proxy on loopback in front of a model, which writes down what the model is asked for."""

import http.client
import json
import re
from http.server import BaseHTTPRequestHandler

from listening import Listening

# Directives that a model of chat completions can't follow, and is to ignore as other models do.
UNSAID = re.compile(rb"\[\[(?:cite|pause|web_search|encrypt)\b[^\]]*\]\]")
# What concerns one connection alone, or is measured again.
OF_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding", "expect"}


class Journal(Listening):
    """The proxy while it runs."""

    def __init__(self, port, log):
        super().__init__(Handler, log)
        self.port = port

    def __enter__(self):
        super().__enter__().server.model = self.port
        return self


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.forward(None)

    do_DELETE = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = {"path": self.path, "body": body.decode(errors="replace")}
        try:
            asked["body"] = json.loads(body)
        except ValueError:
            pass
        self.server.asked.write(json.dumps(asked, ensure_ascii=False) + "\n")
        self.forward(body)

    def forward(self, body):
        if body and self.path.endswith("/chat/completions"):
            body = UNSAID.sub(b"", body)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_CONNECTION}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.model, timeout=60)
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in OF_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while piece := answer.read1():
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, http.client.HTTPException):
            # The model has cut the connection: so does this.
            self.close_connection = True
        finally:
            connection.close()
