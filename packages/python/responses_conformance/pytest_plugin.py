"""The plugin for pytest: fixtures, and the suite as tests of pytest."""

import shlex
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ._assert import assert_conformant as check_response
from ._assert import assert_conformant_async as check_response_async
from ._gateway import Gateway, command
from ._native import Finding


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("responses", "Responses API conformance")
    group.addoption("--responses-target", metavar="URL", help="run the conformance suite against this endpoint")
    group.addoption("--responses-model", metavar="NAME", help="model to ask for")
    group.addoption("--responses-dialect", metavar="NAME", default="openai", help="dialect of the endpoint [openai]")
    group.addoption(
        "--responses-fail-on",
        metavar="WHICH",
        choices=("must", "breaks", "should", "may"),
        help="findings that fail: must, breaks, should, may [breaks]",
    )
    group.addoption("--responses-args", metavar="ARGS", default="", help="more arguments for `conformance run`")


@pytest.fixture(scope="session")
def responses_gateway(request: pytest.FixtureRequest) -> Iterator[Gateway]:
    """The reference gateway, in the dialect of --responses-dialect; its ``url`` is a base URL."""
    with Gateway(request.config.getoption("--responses-dialect")) as gateway:
        yield gateway


@pytest.fixture
def assert_conformant() -> Callable[..., list[Finding]]:
    """Fails unless a response keeps the rules: see ``responses_conformance.assert_conformant``."""
    return check_response


@pytest.fixture
def assert_conformant_async() -> Callable[..., Any]:
    """The same for asynchronous streams, to be awaited."""
    return check_response_async


# Before the plugins that deselect tests, so that -k and --lf work on those of the suite.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    if config.getoption("--responses-target"):
        items.extend(Suite.from_parent(session, name="responses").collect())


class Suite(pytest.Collector):
    """The tests of the suite. All that were selected run at once, when the first of them is due."""

    def arguments(self) -> list[str]:
        option = self.config.getoption
        arguments = ["run", "--target", option("--responses-target"), "--dialect", option("--responses-dialect")]
        if model := option("--responses-model"):
            arguments += ["--model", model]
        if fail_on := option("--responses-fail-on"):
            arguments += ["--fail-on", fail_on]
        return arguments + shlex.split(option("--responses-args"))

    def collect(self) -> list["SuiteTest"]:
        listed = subprocess.run(command([*self.arguments(), "--list"]), capture_output=True, text=True)
        if listed.returncode != 0:
            raise pytest.UsageError(f"conformance run --list: {listed.stderr.strip()}")
        lines = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
        # Tests have the names that `conformance run` gives them.
        self.tests = [SuiteTest.from_parent(self, name=name, nodeid=name) for name in lines]
        return self.tests

    def verdicts(self) -> dict[str, "Verdict"]:
        """Returns the verdict on each test that was selected. Requests are sent once."""
        if not hasattr(self, "judged"):
            self.judged = self.run()
        return self.judged

    def run(self) -> dict[str, "Verdict"]:
        chosen = {item for item in self.session.items if isinstance(item, SuiteTest) and item.parent is self}
        names = [test.name for test in self.tests if test in chosen]
        # What was deselected is not run; all of them need not be named.
        selection = [] if len(names) == len(self.tests) else ["--exact", *names]
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            run = subprocess.run(
                command([*self.arguments(), *selection, "--report", f"junit={report}"]), capture_output=True, text=True
            )
            if not report.exists():
                return dict.fromkeys(names, Verdict("error", run.stderr.strip() or f"exit code {run.returncode}"))
            return dict(_verdicts(report))


class Verdict:
    """What came of a test of the suite."""

    def __init__(self, kind: str, text: str = "") -> None:
        #: ``passed``, ``failure``, ``error`` or ``skipped``.
        self.kind = kind
        self.text = text


def _verdicts(report: Path) -> Iterator[tuple[str, Verdict]]:
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        outcome = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        if outcome is None:
            yield name, Verdict("passed")
        else:
            yield name, Verdict(outcome.tag, outcome.text or outcome.get("message") or "")


class SuiteTest(pytest.Item):
    """A test of the suite: one group of rules on the response to one scenario."""

    parent: Suite

    def runtest(self) -> None:
        verdict = self.parent.verdicts().get(self.name)
        if verdict is None:
            raise Failed("the report has no such test")
        if verdict.kind == "skipped":
            pytest.skip(verdict.text)
        if verdict.kind != "passed":
            raise Failed(verdict.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.config.rootpath, None, self.name


class Failed(Exception):
    """A test of the suite failed, for the reason that its report gives."""
