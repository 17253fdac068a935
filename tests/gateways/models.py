"""The models behind the gateways: `conformance serve`, or the scripted one, which hosts no tools and ignores what asks for them."""

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from field import Server, free_port
from journal import Journal
from upstream import Upstream

# The dialect of the model by its API; one that reasons, and shows it.
SPOKEN = {"chat": "deepseek-chat", "messages": "anthropic"}
# No gateway has a model behind it when it is itself one.
MODELS = [*SPOKEN, "alone"]


@dataclass
class Model:
    """What a gateway is told of the model behind it."""

    api: str
    url: str


@contextmanager
def model(suite, api, folder, is_scripted):
    """The model of an API while it runs. What it is asked for is written to a file of the folder."""
    with ExitStack() as stack:
        log = folder / "asked.jsonl"
        if api == "alone":
            yield Model(api, "")
        elif is_scripted:
            yield Model(api, stack.enter_context(Upstream(log)).url)
        else:
            port = free_port()
            command = [suite, "serve", "--port", str(port), "--dialect", SPOKEN[api]]
            stack.enter_context(Server(command, port, folder / "model.txt"))
            yield Model(api, stack.enter_context(Journal(port, log)).url)
