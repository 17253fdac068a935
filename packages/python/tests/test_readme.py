"""The examples of the README run as they stand there."""

import re
import subprocess
from pathlib import Path

README = (Path(__file__).parent / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_first_lines_of_the_repository(responses_gateway, tmp_path):
    text = (Path(__file__).parent / "REPOSITORY.md").read_text()
    lines = re.search(r"^```sh\n(uvx .*?)^```", text, re.MULTILINE | re.DOTALL)[1].splitlines()
    of_python = [line.split("#")[0].strip() for line in lines if line.startswith(("uvx ", "pytest "))]
    assert len(of_python) == 2
    for line in of_python:
        # What a package manager would install is installed.
        line = line.removeprefix("uvx ").replace("http://localhost:8080/v1", responses_gateway.url)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_the_checker(capsys):
    first, *_ = blocks("python")
    exec(first, {})
    assert "schema/event-valid must" in capsys.readouterr().out


def test_tables(capsys):
    _, second, _ = blocks("python")
    exec(second, {})
    assert "schema/event-valid" in capsys.readouterr().out


def test_pytest(pytester):
    *_, last = blocks("python")
    pytester.makepyfile(last)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_commands(tmp_path, responses_gateway, broken):
    lines = "".join(blocks("sh")).splitlines()
    assert len(lines) == 3
    (tmp_path / "stream.sse").write_bytes(b'data: {"type":"response.created","sequence_number":0}\n\n')
    for line, expected in zip(lines, [0, 1, 0], strict=True):
        # What a package manager would install is installed.
        line = line.replace("uvx responses-conformance", "responses-conformance")
        line = line.replace("pip install responses-conformance && ", "")
        line = line.replace("http://localhost:8080/v1", responses_gateway.url)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == expected, f"{line}\n{done.stdout}{done.stderr}"
