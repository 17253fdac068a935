"""The checker in-process."""

import asyncio
import json
import pickle
import threading

import pytest
from streams import NOT_VALID, good, sent

from responses_conformance import Checker, Finding, Report, Run, check, dialects


def rules(findings):
    return [finding.rule for finding in findings]


def test_a_good_stream_has_no_findings():
    checker = Checker("openai")
    assert checker.push(good()) == []
    assert checker.finish() == []
    assert checker.events > 5
    assert (checker.findings, checker.omitted, checker.dialect) == ([], 0, "openai")


@pytest.mark.parametrize("size", [1, 7, 64])
def test_findings_do_not_depend_on_the_cuts(broken, size):
    stream = sent(broken.url)
    whole, cut = Checker(), Checker()
    whole.push(stream)
    found = [finding for at in range(0, len(stream), size) for finding in cut.push(stream[at : at + size])]
    found += cut.finish()
    whole.finish()
    assert "part/before-open" in rules(found)
    assert rules(found) == rules(whole.findings)
    assert cut.findings == whole.findings


def test_a_finding_has_all_that_reports_have(broken):
    checker = Checker()
    checker.push(sent(broken.url))
    finding = next(finding for finding in checker.findings if finding.rule == "part/before-open")
    assert finding.level == "must"
    assert finding.event == finding.sequence_number + 1 > 1
    assert finding.event_type.startswith("response.")
    assert "never opened" in finding.message
    assert "response.content_part.added" in finding.expected
    assert any(client.startswith("openai-python") for client in finding.clients)
    assert finding.fix
    assert finding.count >= 1
    assert str(finding).startswith("error[part/before-open]: event ")
    found = Checker().push(NOT_VALID)
    assert {"/response"} >= {finding.pointer for finding in found if finding.pointer}
    assert 'property "response"' in [finding.expected for finding in found]


def test_events_bodies_and_headers_are_judged():
    assert rules(Checker("openai").event('{"type":')) == ["wire/json-object"]
    checker = Checker()
    checker.response(200, [("content-type", "application/json")])
    assert any(rule.startswith("schema/") for rule in rules(checker.body('{"object": "response"}')))
    checker = Checker()
    checker.response(200, [("content-type", "text/plain")])
    checker.push(good())
    checker.finish()
    assert any(rule.startswith("wire/") for rule in rules(checker.findings))


def test_buffers_are_taken_and_other_things_are_not():
    for kind in (bytes, bytearray, memoryview):
        assert rules(Checker().push(kind(NOT_VALID)))
    with pytest.raises((TypeError, BufferError)):
        Checker().push("text")
    with pytest.raises(ValueError, match=r'there is no dialect "opnai" \(did you mean openai\?\); there are: '):
        Checker("opnai")
    assert "open-responses" in dialects()


def test_a_finished_stream_takes_nothing_more_until_it_is_reset():
    checker = Checker()
    checker.push(NOT_VALID)
    checker.finish()
    with pytest.raises(ValueError, match="reset"):
        checker.push(NOT_VALID)
    checker.reset()
    assert (checker.findings, checker.events) == ([], 0)
    assert checker.push(good()) == []


def test_findings_and_reports_travel_to_other_processes():
    report = check(NOT_VALID, name="a")
    again = pickle.loads(pickle.dumps(report))
    assert isinstance(again, Report) and again == report
    for finding in report.findings:
        other = pickle.loads(pickle.dumps(finding))
        assert isinstance(other, Finding) and other == finding and hash(other) == hash(finding)


def test_recordings_are_checked_by_path_and_by_bytes(tmp_path, broken):
    path = tmp_path / "a.sse"
    path.write_bytes(sent(broken.url))
    by_path, by_bytes = check(path), check(path.read_bytes(), name=str(path))
    assert by_path == by_bytes == check(str(path))
    assert (by_path.format, by_path.streams, by_path.passed) == ("sse", 1, False)
    assert "part/before-open" in rules(by_path.findings)
    assert check(good()).passed
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*none\.sse'") as error:
        check(tmp_path / "none.sse")
    assert error.value.filename == str(tmp_path / "none.sse")
    with pytest.raises(OSError):
        check(b"").passed or check(tmp_path / "a.sse" / "b")
    assert not check(b"").passed


def test_what_is_no_response_of_this_api_is_named():
    junk = check(b"hello")
    assert not junk.passed and "not recognized" in junk.error and junk.other_api is None
    ollama = check(b'data: {"done":false,"created_at":"2026-08-01T10:00:00Z"}\n\n')
    assert not ollama.passed and ollama.error is None
    assert ollama.other_api == "Ollama"


def test_dialects_are_recognised():
    report = check(b'data: {"id":"c","object":"chat.completion.chunk","choices":[],"x_groq":{}}\n\n')
    assert report.dialects == {"groq": 1} and report.other_api is None
    checker = Checker()
    assert checker.dialect == "auto"
    checker.push(b'event: message_start\ndata: {"type":"message_start"}\n\n')
    assert checker.dialect == "anthropic"
    checker.reset()
    assert checker.dialect == "auto" and Checker("chat").dialect == "chat"
    run = Run()
    run.check(good(), name="good")
    run.check(b'data: {"object":"chat.completion.chunk","choices":[]}\n\n', name="chat")
    told = json.loads(run.to_json())
    assert told["dialect"] == "auto"
    assert [seen["dialect"] for capture in told["captures"] for seen in capture["dialects"]] == ["openai", "chat"]


def test_a_run_reports_on_all_its_recordings():
    run = Run("openai")
    run.check(good(), name="good")
    run.check(NOT_VALID, name="bad")
    report = json.loads(run.to_json())
    assert len(run) == 2
    assert report["outcome"] == "failed"
    assert [capture["name"] for capture in report["captures"]] == ["good", "bad"]
    assert report["totals"]["captures"] == 2


def test_many_exchanges_are_one_recording():
    exchanges = [("a", good()), ("b", NOT_VALID), ("c", b"HTTP/1.1 200 OK\r\n\r\n" + NOT_VALID), ("d", good())]
    run = Run("openai")
    report = run.check_all(iter(exchanges), "shard")
    assert (report.name, report.streams, report.error, len(run)) == ("shard", 4, None, 1)
    assert {finding.exchange for finding in report.findings} == {"b", "c"}
    alone = check(NOT_VALID)
    assert rules(alone.findings) == [finding.rule for finding in report.findings if finding.exchange == "b"]
    damaged = run.check_all([("e", b'{"log": {"entries": 1}}'), ("f", good())], "damaged")
    assert damaged.error.startswith("e: ") and damaged.streams == 1
    with pytest.raises((TypeError, ValueError)):
        run.check_all([good()], "no pairs")


def test_threads_share_a_checker_and_run_beside_it():
    """Findings of all threads are those of one: each event of another type is found exactly once."""
    checker, found, lock = Checker(), [], threading.Lock()

    def work(number):
        for at in range(200):
            event = json.dumps({"type": f"response.made-up-{number}-{at}", "sequence_number": 0})
            more = checker.event(event)
            with lock:
                found.extend(more)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert checker.events == 1600
    assert len(found) == len(checker.findings)


def test_other_threads_run_while_it_judges():
    """A thread counts while another judges one large chunk: with the interpreter held it could not begin."""
    chunk, stop, ticks = good() * 3000, threading.Event(), []

    def count():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(ticks)
    Checker().push(chunk)
    during = len(ticks) - before
    stop.set()
    thread.join()
    assert during > 5


def test_tasks_check_streams_beside_each_other():
    async def one(number):
        checker = Checker()
        for at in range(0, len(good()), 97):
            checker.push(good()[at : at + 97])
            await asyncio.sleep(0)
        checker.finish()
        return checker.findings

    async def all_of_them():
        return await asyncio.gather(*(one(number) for number in range(20)))

    assert asyncio.run(all_of_them()) == [[]] * 20


def test_a_dialect_can_be_a_folder(tmp_path):
    event = '{"type":"acme.progress","sequence_number":0,"percent":"all"}'

    def found(dialect):
        return [rule for rule in rules(Checker(dialect).event(event)) if rule.startswith("schema/")]

    acme = tmp_path / "acme"
    (acme / "events").mkdir(parents=True)
    (acme / "dialect.toml").write_text(
        'product = "Acme"\nsource = "what it sends"\nsummary = "What Acme sends."\nextends = "openai"\n'
    )
    properties = {"type": {"const": "acme.progress"}, "sequence_number": {"type": "integer"}, "percent": {"type": "integer"}}
    schema = {
        "$id": "acme.progress",
        "description": "How much of the answer is written.",
        "x-lifecycle": {"scope": "response", "role": "point"},
        "type": "object",
        "required": ["type", "percent"],
        "properties": properties,
        "examples": [{"type": "acme.progress", "sequence_number": 4, "percent": 20}],
    }
    (acme / "events" / "acme.progress.json").write_text(json.dumps(schema))
    assert found("openai") == ["schema/event-known"]
    assert found(str(acme)) == ["schema/event-valid"]
    # An edited folder is another dialect of the same name.
    properties["percent"]["type"] = "string"
    schema["examples"][0]["percent"] = "20"
    (acme / "events" / "acme.progress.json").write_text(json.dumps(schema))
    assert found(str(acme)) == []
    stream = f"data: {event}\n\n".encode()
    known = ["schema/event-known" in rules(Run(dialect).check(stream).findings) for dialect in ("openai", str(acme))]
    assert known == [True, False]
    heir = tmp_path / "acme-eu"
    heir.mkdir()
    (heir / "dialect.toml").write_text((acme / "dialect.toml").read_text().replace('"openai"', '"../acme"'))
    assert found(str(heir)) == []
    (acme / "dialect.toml").write_text("x = 1\n")
    with pytest.raises(ValueError, match="dialect.toml:1:1: "):
        Checker(str(acme))
