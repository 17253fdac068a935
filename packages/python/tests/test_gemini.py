"""Gemini and Interactions: recognised, judged, and in each framing."""

import json

import httpx
import pyarrow as pa
import pytest

from responses_conformance import Checker, Gateway, Run, assert_conformant, check, check_arrow, dialects

CHUNK = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "modelVersion": "gemini-2.5-flash",
    "responseId": "r1",
}
STREAM = b"data: " + json.dumps(CHUNK).encode() + b"\n\n"
MARKED = STREAM + b"data: [DONE]\n\n"
CREATED = {"event_type": "interaction.created", "interaction": {"id": "i", "object": "interaction", "status": "in_progress"}}
CUT = b"event: interaction.created\ndata: " + json.dumps(CREATED).encode() + b"\n\n"


def rules(findings):
    return [finding.rule for finding in findings]


@pytest.mark.parametrize("dialect", ["auto", "gemini", "vertex-gemini"])
def test_gemini_is_judged_in_every_framing(dialect):
    assert dialect in ["auto", *dialects()]
    checker = Checker(dialect)
    assert rules(checker.push(MARKED) + checker.finish()) == ["wire/done-marker"]
    assert checker.dialect == ("gemini" if dialect == "auto" else dialect)
    run = Run(dialect)
    assert rules(run.check(MARKED).findings) == ["wire/done-marker"]
    assert run.check_all([("a", STREAM), ("b", json.dumps([CHUNK]).encode())], "both").events == 2
    assert assert_conformant(STREAM, dialect=dialect) == []
    with pytest.raises(AssertionError, match="wire/done-marker"):
        assert_conformant(MARKED, dialect=dialect)
    for body in (CHUNK, [CHUNK]):
        assert assert_conformant(httpx.Response(200, json=body), dialect=dialect) == []


def test_what_is_of_vertex_is_recognised():
    stream = STREAM.replace(b'"responseId"', b'"createTime": "2026-11-01T10:00:00.000000Z", "responseId"')
    assert check(stream).dialects == {"vertex-gemini": 1}
    assert check(STREAM).dialects == {"gemini": 1}


@pytest.mark.parametrize("dialect", ["auto", "interactions"])
def test_interactions_are_judged(dialect):
    checker = Checker(dialect)
    found = checker.push(CUT) + checker.finish()
    assert checker.dialect == "interactions"
    assert any(finding.rule.startswith("interaction/") for finding in found)
    assert rules(check(CUT, dialect=dialect).findings) == rules(found)


def test_tables_have_their_apis():
    cut = STREAM.replace(b', "finishReason": "STOP"', b"")
    given = pa.table({"id": ["whole", "array", "cut", "created"], "stream": [STREAM, json.dumps([CHUNK]).encode(), cut, CUT]})
    found = {(row["id"], row["api"], row["dialect"], row["outcome"]) for row in pa.table(check_arrow(given)).to_pylist()}
    assert found == {
        ("whole", "gemini", "gemini", "complete"),
        ("array", "gemini", "gemini", "complete"),
        ("cut", "gemini", "gemini", "truncated"),
        ("created", "interactions", "interactions", "truncated"),
    }


def test_the_gateway_serves_it():
    request = {"contents": [{"role": "user", "parts": [{"text": "[[say Hello|, world.]]"}]}]}
    with Gateway("gemini") as gateway:
        answer = httpx.post(f"{gateway.url}/models/gemini-2.5-flash:streamGenerateContent?alt=sse", json=request)
    checker = Checker("gemini")
    assert checker.push(answer.content) + checker.finish() == [] and b"Hello" in answer.content


def test_what_the_gateway_does_not_speak_is_said():
    with pytest.raises(RuntimeError, match="neither serves nor calls it"):
        Gateway("interactions").start()
