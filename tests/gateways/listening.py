"""Servers on loopback that write down what they are asked for."""

import threading
from http.server import ThreadingHTTPServer


class Quiet(ThreadingHTTPServer):
    """Gateways may hang up at any time."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


class Listening:
    """A server while it runs, on a port that was free. Its handlers write to `server.asked`."""

    def __init__(self, handler, log):
        self.handler, self.log = handler, log

    def __enter__(self):
        self.server = Quiet(("127.0.0.1", 0), self.handler)
        self.server.asked = open(self.log, "w", buffering=1)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.server.asked.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"
