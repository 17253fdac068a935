"""The plugin, in projects of its own."""

import shutil
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "example" / "test_my_gateway.py"


def test_the_example_passes(pytester):
    shutil.copy(EXAMPLE, pytester.path)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=4)


def test_the_example_fails_on_a_broken_gateway(pytester, broken):
    text = EXAMPLE.read_text().replace('f"{responses_gateway.url}/responses"', f'"{broken.url}/responses"')
    pytester.makepyfile(test_mine=text)
    result = pytester.runpytest_subprocess()
    # Only a stream can break the rule.
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(["*part/before-open*"])


def test_the_suite_runs_as_tests(pytester, responses_gateway):
    result = pytester.runpytest_subprocess("-v", "--responses-target", responses_gateway.url, "-k", "text/hello")
    result.stdout.fnmatch_lines(["text/hello::answer PASSED*", "text/hello::item PASSED*"])
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 10 and outcomes["deselected"] > 500 and "failed" not in outcomes


def test_failures_of_the_suite_are_shown(pytester, broken):
    pytester.makepyfile("def test_of_my_own(): pass")
    arguments = ["--responses-target", broken.url, "--responses-args", "text/hello call/parallel"]
    result = pytester.runpytest_subprocess(*arguments)
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1 and outcomes["passed"] >= 2, outcomes
    result.stdout.fnmatch_lines(["*_ text/hello::part _*", "*part/before-open*", "FAILED text/hello::part*"])


def test_an_endpoint_that_is_down_is_an_error(pytester):
    result = pytester.runpytest_subprocess(
        "--responses-target", "http://127.0.0.1:9/v1", "--responses-args", "text/hello --connect-timeout 1s"
    )
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) == 0 and outcomes["failed"] >= 1, outcomes
    result = pytester.runpytest_subprocess("--responses-target", "no url")
    assert result.ret == 4
