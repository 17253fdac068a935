"""Tests of a gateway. Here it is the reference gateway: put the address of yours in its place."""

import httpx
import pytest
import requests

REQUEST = {"model": "my-model", "input": "Say hello.", "stream": True}


@pytest.fixture
def url(responses_gateway):
    return f"{responses_gateway.url}/responses"


def test_stream_with_httpx(url, assert_conformant):
    with httpx.stream("POST", url, json=REQUEST) as response:
        assert_conformant(response)


def test_stream_with_requests(url, assert_conformant):
    assert_conformant(requests.post(url, json=REQUEST, stream=True))


def test_response_without_stream(url, assert_conformant):
    assert_conformant(httpx.post(url, json={**REQUEST, "stream": False}))


@pytest.mark.anyio
async def test_asynchronous_stream(url, assert_conformant_async):
    async with httpx.AsyncClient() as client, client.stream("POST", url, json=REQUEST) as response:
        await assert_conformant_async(response)


@pytest.fixture
def anyio_backend():
    return "asyncio"
