"""Assertions about responses of HTTP clients."""

import asyncio

import httpx
import pytest
import requests
from streams import NOT_VALID, good

from responses_conformance import assert_conformant, assert_conformant_async

REQUEST = {"model": "m", "input": "Say hello.", "stream": True}


def test_broken_streams_fail_with_what_to_do(broken):
    with httpx.stream("POST", f"{broken.url}/responses", json=REQUEST) as response:
        with pytest.raises(AssertionError) as failure:
            assert_conformant(response)
    text = str(failure.value)
    assert "error[part/before-open]" in text
    assert "breaks: openai-python" in text and "fix: " in text
    with pytest.raises(AssertionError, match="part/before-open"):
        assert_conformant(requests.post(f"{broken.url}/responses", json=REQUEST, stream=True))


def test_known_faults_can_be_ignored(broken):
    response = httpx.post(f"{broken.url}/responses", json=REQUEST)
    found = assert_conformant(response, ignore=["part/before-open"])
    assert "part/before-open" in {finding.rule for finding in found}


def test_asynchronous_streams_are_awaited(broken):
    async def judged():
        async with httpx.AsyncClient() as client:
            async with client.stream("POST", f"{broken.url}/responses", json=REQUEST) as response:
                with pytest.raises(TypeError, match="assert_conformant_async"):
                    assert_conformant(response)
                with pytest.raises(AssertionError, match="part/before-open"):
                    await assert_conformant_async(response)
            # What has been read can be judged by either.
            read = await client.post(f"{broken.url}/responses", json=REQUEST)
            for _ in range(2):
                with pytest.raises(AssertionError, match="part/before-open"):
                    await assert_conformant_async(read)

    asyncio.run(judged())


def test_bodies_are_judged(responses_gateway):
    assert_conformant(httpx.post(f"{responses_gateway.url}/responses", json={**REQUEST, "stream": False}))
    body = httpx.Response(200, json={"object": "response"})
    with pytest.raises(AssertionError, match="schema/"):
        assert_conformant(body)


def test_bytes_and_iterables_are_judged():
    assert assert_conformant(good()) == []
    assert assert_conformant(iter([good()[:100], good()[100:]])) == []
    with pytest.raises(AssertionError, match="schema/event-valid"):
        assert_conformant(NOT_VALID)

    async def chunks():
        yield NOT_VALID

    with pytest.raises(TypeError, match="assert_conformant_async"):
        assert_conformant(chunks())
    with pytest.raises(AssertionError, match="schema/event-valid"):
        asyncio.run(assert_conformant_async(chunks()))


def test_nothing_is_no_pass():
    for empty in (b"", [], b": a comment\n\n"):
        with pytest.raises(AssertionError, match="nothing was judged"):
            assert_conformant(empty)
    with pytest.raises(ValueError, match="fail_on"):
        assert_conformant(good(), fail_on="most")
