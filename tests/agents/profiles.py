"""What agents ask: the pages of spec/between/profiles, made from the first request of a run without a fault."""

import json
import re
import tomllib
from datetime import date

from field import ROOT

PAGES = ROOT / "spec" / "between" / "profiles"
OF_CONNECTIONS = {"connection", "accept-encoding", "accept-language", "sec-fetch-mode", "content-length", "transfer-encoding", "host"}
KEYS = {"authorization", "x-api-key", "x-goog-api-key"}
# Members that have texts of their publisher, or of the machine.
TEXTS = {"description", "text", "content", "x-codex-turn-metadata"}
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|ses_[A-Za-z0-9]{20,}|\b[0-9a-f]{64}\b")
# Lengths of filler follow the machine's paths; versions and times follow the machine, too.
VARYING = re.compile(r"(?<=\{fill )\d+|\d+(?:\.\d+){2}(?:\.[0-9a-f]+)?|\d{12,}")
ATTRIBUTION = "x-anthropic-billing-header"
WIDTH = 110


def made(asked, question):
    """Returns the headers and the request of a page: texts are filler of their length."""
    headers = {name.lower(): ID.sub("{session}", value) for name, value in asked["headers"].items()}
    headers = {name: value for name, value in headers.items() if name not in OF_CONNECTIONS | KEYS}
    request = filled(asked["body"], question)
    request |= {"model": "{model}"} | ({"stream": True} if "contents" in request else {})
    return headers, request


def filled(value, question, name=None):
    if isinstance(value, dict):
        kept = {one: of for one, of in value.items() if one != "cache_control" or name in ("system", "tools")}
        return {one: filled(of, question, one if one in TEXTS | {"system", "tools"} else name) for one, of in kept.items() if not str(of).startswith("msg_")}
    if isinstance(value, list):
        return [filled(one, question, name) for one in value]
    if isinstance(value, str) and name in TEXTS | {"system", "tools"} and " " in value and not value.startswith(ATTRIBUTION):
        return filler(value, question)
    return ID.sub("{session}", value) if isinstance(value, str) else value


def filler(text, question):
    if question in text and len(text) <= len(question) + 2:
        return "{first}"
    if tag := re.match(r"<([a-z_-]+)>\n", text):
        begin, end = tag[0], f"\n</{tag[1]}>"
        if len(text) > len(begin) + len(end):
            return f"{begin}{{fill {len(text) - len(begin) - len(end)}}}{end}"
    return f"{{fill {len(text)}}}"


def flat(value, path=""):
    """Returns the leaves of JSON by their places, without what varies."""
    if isinstance(value, (dict, list)):
        # Gemini CLI lists its skills in any order.
        entries = value.items() if isinstance(value, dict) else enumerate(sorted(value) if path.endswith("/enum") else value)
        return {place: leaf for name, one in entries for place, leaf in flat(one, f"{path}/{name}").items()}
    return {path: VARYING.sub("0", value) if isinstance(value, str) else value}


def compare(agent, api, asked, question, is_written):
    """Says where the pages of an agent in an API differ from what it asked, and writes them."""
    for file in sorted((PAGES / api).glob("*.md")):
        page = file.read_text()
        head, block = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1], re.search(r"```json\n(.*?)```", page, re.DOTALL)[1]
        metadata = tomllib.loads(head)
        if metadata["agent"] != agent:
            continue
        headers, request = made(asked, question)
        was, now = (flat({"headers": one, "request": two}) for one, two in ((metadata["headers"], json.loads(block)), (headers, request)))
        differences = sorted(place for place in was.keys() | now.keys() if was.get(place) != now.get(place))
        for place in differences[:10]:
            print(f"{file.relative_to(ROOT)}: {place}: {now.get(place, 'nothing')!r}, not {was.get(place, 'nothing')!r}", flush=True)
        if differences and is_written:
            lines = [f"{name} = {quoted(value)}" for name, value in sorted(headers.items())]
            about = re.sub(r'(?<=recorded = ")[^"]*', date.today().isoformat(), head.split("[headers]")[0])
            page = page.replace(head, about + "[headers]\n" + "\n".join(lines) + "\n")
            file.write_text(page.replace(block, shown(request) + "\n", 1))
        yield len(differences)


def quoted(value):
    return f"'{value}'" if '"' in value else json.dumps(value)


def shown(value, depth=0):
    text = json.dumps(value, ensure_ascii=False)
    if depth >= 3 or len(text) < WIDTH or not isinstance(value, (dict, list)):
        return text
    indent, is_object = "    " * (depth + 1), isinstance(value, dict)
    entries = [f"{json.dumps(name)}: {shown(one, depth + 1)}" for name, one in value.items()] if is_object else [shown(one, depth + 1) for one in value]
    begin, end = "{}" if is_object else "[]"
    return f"{begin}\n" + ",\n".join(indent + entry for entry in entries) + "\n" + "    " * depth + end
