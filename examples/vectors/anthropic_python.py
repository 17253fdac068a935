"""Plays the vectors of Messages to Anthropic's SDK: pip install anthropic && python anthropic_python.py messages.json"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from anthropic import Anthropic


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        response = self.server.playing["response"]
        self.send_response(response["status"])
        for name, value in response["headers"]:
            self.send_header(name, value)
        self.end_headers()
        body = response.get("body")
        self.wfile.write(base64.b64decode(response["body_base64"]) if body is None else body.encode())

    def log_message(self, *_):
        pass


vectors = json.load(open(sys.argv[1]))["vectors"]
server = HTTPServer(("127.0.0.1", 0), Handler)
Thread(target=server.serve_forever, daemon=True).start()
client = Anthropic(base_url=f"http://127.0.0.1:{server.server_port}", api_key="none", max_retries=0, timeout=2)

failed = []
for server.playing in vectors:
    vector = server.playing
    try:
        if any("event-stream" in value for name, value in vector["response"]["headers"] if name == "content-type"):
            with client.messages.stream(**vector["request"]) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**vector["request"])
        text = "".join(block.text for block in message.content if block.type == "text")
    except Exception as error:
        if vector["client"] == "must-survive":
            failed.append((vector["id"], f"failed: {error!r}"))
        continue
    if vector["client"] == "must-report":
        failed.append((vector["id"], "reported no error"))
    elif text not in [content["text"] for content in vector.get("contents", [{"text": text}])]:
        failed.append((vector["id"], f"returned {text!r}"))
for vector, problem in failed:
    print(vector, problem)
print(f"{len(vectors) - len(failed)} of {len(vectors)} vectors passed")
