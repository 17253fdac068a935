"""Streams for tests."""

import functools
import urllib.request

from responses_conformance import Gateway


def sent(url: str, request: bytes = b'{"model": "m", "input": "Say hello.", "stream": true}') -> bytes:
    asked = urllib.request.Request(f"{url}/responses", request, {"content-type": "application/json"})
    with urllib.request.urlopen(asked) as response:
        return response.read()


@functools.cache
def good() -> bytes:
    with Gateway() as gateway:
        return sent(gateway.url)


NOT_VALID = b'data: {"type":"response.in_progress","sequence_number":0}\n\n'
