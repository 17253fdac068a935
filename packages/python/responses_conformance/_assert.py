"""Assertions about responses of HTTP clients."""

from collections.abc import AsyncIterable, Iterable
from typing import Any, Literal

from ._native import Checker, Finding

FailOn = Literal["must", "breaks", "should", "may"]
# From the most lenient.
_FAIL_ON = ("must", "breaks", "should", "may")


def assert_conformant(
    response: Any, *, dialect: str = "auto", fail_on: FailOn = "breaks", ignore: Iterable[str] = ()
) -> list[Finding]:
    """Fails unless a response keeps the rules of its dialect, and returns the findings that do not count.

    Without a dialect, that of the response is recognised by its headers and its first event.

    ``response`` is a response of httpx or requests (read, or as a stream that this reads to its end), bytes, or an
    iterable of bytes. ``fail_on`` names the findings that fail, each value also what those before it do: broken MUST rules, what is
    measured to break a client, broken SHOULD rules, any; ``ignore`` names rules that are known to be broken.
    """
    judge = _Judge(response, dialect)
    for chunk in _chunks(response):
        judge.push(chunk)
    return judge.verdict(fail_on, ignore)


async def assert_conformant_async(
    response: Any, *, dialect: str = "auto", fail_on: FailOn = "breaks", ignore: Iterable[str] = ()
) -> list[Finding]:
    """The same for streams of ``httpx.AsyncClient``, and asynchronous iterables of bytes."""
    judge = _Judge(response, dialect)
    if hasattr(response, "aiter_bytes") and not _is_read(response):
        response = response.aiter_bytes()
    if isinstance(response, AsyncIterable):
        async for chunk in response:
            judge.push(chunk)
    else:
        for chunk in _chunks(response):
            judge.push(chunk)
    return judge.verdict(fail_on, ignore)


def _is_read(response: Any) -> bool:
    return hasattr(response, "_content")


def _chunks(response: Any) -> Iterable[bytes]:
    if isinstance(response, (bytes, bytearray, memoryview)):
        return [bytes(response)]
    if hasattr(response, "iter_bytes"):  # httpx
        if not _is_read(response) and not hasattr(response.stream, "__iter__"):
            raise TypeError("this is an asynchronous stream: await assert_conformant_async(response)")
        return response.iter_bytes()
    if hasattr(response, "iter_content"):  # requests
        return response.iter_content(chunk_size=None)
    if isinstance(response, AsyncIterable):
        raise TypeError("this is an asynchronous stream: await assert_conformant_async(response)")
    return response


class _Judge:
    """Judges a response while it is read."""

    def __init__(self, response: Any, dialect: str) -> None:
        self.checker = Checker(dialect)
        self.body: list[bytes] | None = None
        self.length = 0
        status, headers = getattr(response, "status_code", None), getattr(response, "headers", None)
        if status is not None and headers is not None:
            self.checker.response(status, list(headers.items()))
            if not headers.get("content-type", "").lstrip().startswith("text/event-stream"):
                self.body = []

    def push(self, chunk: bytes) -> None:
        self.length += len(chunk)
        if self.body is None:
            self.checker.push(chunk)
        else:
            self.body.append(chunk)

    def verdict(self, fail_on: FailOn, ignore: Iterable[str]) -> list[Finding]:
        if fail_on not in _FAIL_ON:
            raise ValueError(f"fail_on is one of {', '.join(_FAIL_ON)}, not {fail_on!r}")
        counting = _FAIL_ON[: _FAIL_ON.index(fail_on) + 1]
        if self.length == 0:
            raise AssertionError("the response is empty: nothing was judged")
        if self.body is not None:
            self.checker.body(b"".join(self.body).decode(errors="replace"))
        self.checker.finish()
        if self.body is None and self.checker.events == 0:
            raise AssertionError("the stream has no event: nothing was judged")
        ignored = set(ignore)
        failing, others = [], []
        for finding in self.checker.findings:
            counts = finding.fails_on in counting and finding.rule not in ignored
            (failing if counts else others).append(finding)
        if failing:
            raise AssertionError(_told(failing, self.checker.dialect))
        return others


def _told(findings: list[Finding], dialect: str) -> str:
    lines = [f"the response breaks {len({finding.rule for finding in findings})} rules of {dialect}"]
    for finding in findings[:10]:
        lines += ["", str(finding)]
        about = {
            "at": finding.pointer,
            "expected": finding.expected,
            "found": finding.actual,
            "breaks": ", ".join(finding.clients),
            "fix": finding.fix,
        }
        lines += [f"  {name}: {text}" for name, text in about.items() if text]
    if len(findings) > 10:
        lines += ["", f"and {len(findings) - 10} more findings"]
    return "\n".join(lines)
