"""Tables of streams, in and out by the C interface of Arrow."""

import threading

import duckdb
import polars
import pyarrow as pa
import pytest
from streams import NOT_VALID, good, sent

from responses_conformance import check_arrow, dialects

COLUMNS = ["id", "api", "dialect", "outcome", "rule", "level", "event", "pointer", "message", "clients"]


def table(streams, kind=None, ids=None):
    return pa.table({"id": ids or [str(at) for at in range(len(streams))], "stream": pa.array(streams, kind or pa.binary())})


def rows(found):
    return pa.table(found).to_pylist()


def outcomes(found):
    return [(row["id"], row["outcome"]) for row in rows(found)]


def test_a_row_is_a_finding_or_a_stream_without_one(broken):
    found = check_arrow(table([good(), sent(broken.url), good()]))
    whole, bad, _ = rows(found)
    assert (list(whole), len(found), repr(found)) == (COLUMNS, 3, "<CheckedTable rows=3>")
    nothing = {name: None for name in COLUMNS} | {"clients": []}
    assert whole == nothing | {"id": "0", "api": "responses", "dialect": "openai", "outcome": "complete"}
    assert (bad["id"], bad["rule"], bad["level"], bad["outcome"]) == ("1", "part/before-open", "must", "complete")
    assert bad["event"] > 1 and "never opened" in bad["message"]
    assert any(client.startswith("openai-python") for client in bad["clients"])


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()], ids=str
)
def test_texts_of_any_type_come_to_the_same_rows(kind):
    # Short views are within their column, long ones are elsewhere.
    texts = [good(), NOT_VALID, None, b"data: 1\n\n"]
    given = table([text if text is None or "binary" in str(kind) else text.decode() for text in texts], kind)
    expected = rows(check_arrow(table(texts)))
    assert len(expected) > 4
    assert rows(check_arrow(given)) == expected
    cut = pa.concat_tables([given.slice(0, 1), given.slice(1, 0), given.slice(1)])
    assert rows(check_arrow(cut)) == expected
    assert rows(check_arrow(given.slice(1))) == [row for row in expected if row["id"] != "0"]


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8]),
        pa.array([None, "a"]),
        pa.array(["a", "a"]).dictionary_encode(),
        pa.array([b"0" * 16, b"1" * 16], pa.binary(16)),
        pa.array([{"day": 1, "n": 2}, {"day": 1, "n": 3}]),
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_keep_their_type(ids):
    given = pa.table({"id": ids, "stream": [good(), NOT_VALID]})
    found = pa.table(check_arrow(given))
    assert found.schema.field("id").type == ids.type
    assert found["id"].to_pylist() == [ids[0].as_py()] + [ids[1].as_py()] * (len(found) - 1)


class Only:
    """Has one of the methods of the interface."""

    def __init__(self, table, method):
        setattr(self, method, getattr(table, method))


def test_tables_of_all_engines_are_taken():
    given = table([good(), NOT_VALID])
    expected = rows(check_arrow(given))
    frame = polars.DataFrame(given)
    relation = duckdb.sql("select * from given")
    batch = given.to_batches()[0]
    for other in (frame, relation, batch, given.to_reader(), Only(batch, "__arrow_c_array__"), Only(given, "__arrow_c_stream__")):
        assert rows(check_arrow(other)) == expected
    # Views of Polars, and a result that goes back, twice.
    found = check_arrow(frame.lazy().filter(polars.col("id") == "1").collect())
    assert polars.DataFrame(found).rows(named=True) == expected[1:]
    for _ in range(2):
        assert duckdb.sql("select count(*) from found where level = 'must'").fetchall() == [(len(expected) - 1,)]


def test_columns_are_named():
    given = pa.table({"call": [1], "body": [good()], "numbers": [[1]]})
    assert outcomes(check_arrow(given, id="call", stream="body")) == [(1, "complete")]
    with pytest.raises(ValueError, match='there is no column "stream"; there are: call, body, numbers'):
        check_arrow(given)
    with pytest.raises(ValueError, match='there is no column "id"'):
        check_arrow(given, stream="body")
    for column in ("numbers", "call"):
        with pytest.raises(TypeError, match=f'column "{column}" has .*, expected texts or bytes'):
            check_arrow(given, id="call", stream=column)


def test_what_is_no_table_is_refused():
    for thing in ([good()], {"id": 1}, None, Only(pa.array([good()]), "__arrow_c_array__")):
        with pytest.raises(TypeError, match="expected a table"):
            check_arrow(thing)
    nulls = pa.StructArray.from_arrays([pa.array(["a"]), pa.array([good()])], ["id", "stream"], mask=pa.array([True]))
    with pytest.raises(ValueError, match="rows that are null"):
        check_arrow(Only(nulls, "__arrow_c_array__"))
    capsule = table([good()]).__arrow_c_stream__()
    taken = Only(table([]), "__arrow_c_stream__")
    taken.__arrow_c_stream__ = lambda: capsule
    assert len(check_arrow(taken)) == 1
    with pytest.raises(ValueError, match="already released"):
        check_arrow(taken)


def test_an_error_of_the_producer_is_told():
    def batches():
        yield table([good()]).to_batches()[0]
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(table([good()]).schema, batches())
    with pytest.raises(ValueError, match="the disk is gone"):
        check_arrow(reader)


def test_what_is_no_stream_has_a_row_that_says_so():
    ollama = b'data: {"done":false,"created_at":"2026-08-01T10:00:00Z"}\n\n'
    streams = [None, b"", b"hello", b"<html>502", b"\xff\xfe\0", ollama, good()]
    found = rows(check_arrow(table(streams)))
    assert [row["outcome"] for row in found] == ["skipped"] * 6 + ["complete"]
    said = ["it is null", "is empty", "not recognized", "HTML page", "UTF-16", "Ollama is not checked"]
    for row, words in zip(found, said):
        assert words in row["message"] and row["api"] is row["dialect"] is row["rule"] is None


def test_bytes_that_are_no_text_are_a_finding_and_the_rest_is_checked():
    broken = good().replace(b'"output_text"', b'"output_\xfftext"', 1)
    assert broken != good()
    # pyarrow does not look into the bytes of a string.
    texts = pa.array([broken, NOT_VALID], pa.binary()).view(pa.string())
    found = rows(check_arrow(pa.table({"id": [0, 1], "stream": texts})))
    assert "wire/utf-8" in [row["rule"] for row in found if row["id"] == 0]
    assert [row["outcome"] for row in found if row["rule"] == "wire/utf-8"] == ["malformed"]
    assert "schema/event-valid" in [row["rule"] for row in found if row["id"] == 1]


def test_damaged_columns_are_refused():
    def strings(offsets, data):
        buffers = [None, pa.array(offsets, pa.int32()).buffers()[1], pa.py_buffer(data)]
        return pa.StringArray.from_buffers(len(offsets) - 1, buffers[1], buffers[2])

    backwards = strings([0, 9, 3, 10], b"data: 1\n\n.")
    with pytest.raises(ValueError, match='column "stream" is damaged'):
        check_arrow(pa.table({"id": [1, 2, 3], "stream": backwards}))
    no_text = strings([0, 1], b"\xff")
    with pytest.raises(ValueError, match='column "id" is damaged'):
        check_arrow(pa.table({"id": no_text, "stream": [good()]}))
    view = (100).to_bytes(4, "little") + b"data" + (7).to_bytes(4, "little") + (0).to_bytes(4, "little")
    views = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"data: 1\n\n")])
    with pytest.raises(ValueError, match='column "stream" is damaged'):
        check_arrow(pa.table({"id": [1], "stream": views}))


def test_the_end_of_each_stream_is_an_outcome(broken):
    text = good()
    error = b'{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}'
    failed = b'data: {"type":"error","sequence_number":0,"code":"x","message":"no","param":null}\n\n'
    ends = [text, text[: len(text) // 2], text.rpartition(b"event:")[0], error, failed]
    assert [outcome for _, outcome in dict(outcomes(check_arrow(table(ends), api="openai"))).items()] == [
        "complete",
        "truncated",
        "truncated",
        "error-told",
        "error-in-stream",
    ]


def test_a_dialect_or_an_api_can_be_named():
    chunk = b'data: {"id":"c","object":"chat.completion.chunk","choices":[],"x_groq":{}}\n\n'
    given = table([chunk])
    names = ("auto", "chat", "groq", "messages", "anthropic")
    assert [{row["dialect"] for row in rows(check_arrow(given, api=name))} for name in names] == [
        {"groq"},
        {"chat"},
        {"groq"},
        {"anthropic"},
        {"anthropic"},
    ]
    assert {row["api"] for row in rows(check_arrow(given, api="messages"))} == {"messages"}
    assert "openai" in dialects()
    with pytest.raises(ValueError, match='there is no dialect "opnai"'):
        check_arrow(given, api="opnai")
    # With a name, what is no stream is a malformed one.
    assert outcomes(check_arrow(table([b"<html>502", None]), api="openai")) == [("0", "malformed"), ("1", "skipped")]


def test_many_rows_come_in_batches_of_a_limited_size():
    count = 70_000
    given = pa.table({"id": range(count), "stream": pa.nulls(count, pa.string())})
    found = pa.table(check_arrow(given))
    assert found["id"].to_pylist() == list(range(count))
    assert [len(chunk) for chunk in found["id"].chunks] == [1 << 16, count - (1 << 16)]


def test_other_threads_run_meanwhile():
    given = table([good() * 400] * 20)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(done.wait(0.001))

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    check_arrow(given, api="openai")
    meanwhile = len(ticks) - before
    done.set()
    thread.join()
    assert meanwhile > 5
