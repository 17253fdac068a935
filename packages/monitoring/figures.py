"""Has Prometheus read the numbers of a tap, checks the alerts, and asks for each figure of the dashboard. Has OpenTelemetry's
classes read what the tap exports.

PROGRAM names the command `conformance`. `test` beside this file installs what it needs."""

import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("PROGRAM", str(HERE.parent.parent / "target/debug/conformance"))
# This traffic has none.
ABSENT = "keepalive"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def until(what, is_so):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if is_so():
                return
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit(f"{what} did not happen within a minute")


def ask(tap, text):
    body = {"model": "m", "max_tokens": 100, "stream": True, "messages": [{"role": "user", "content": text}]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(f"http://127.0.0.1:{tap}/v1/messages", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
    except (urllib.error.URLError, OSError, ValueError):
        pass


class Collector(http.server.BaseHTTPRequestHandler):
    """Reads metrics as a collector does: names of JSON that OTLP does not have are errors."""

    exports = []

    def do_POST(self):
        assert (self.path, self.headers["content-type"]) == ("/v1/metrics", "application/json")
        text = self.rfile.read(int(self.headers["content-length"]))
        self.exports.append(json_format.Parse(text, metrics_service_pb2.ExportMetricsServiceRequest()))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def exported(export):
    """The points by the names of their metrics."""
    found = {}
    [resource] = export.resource_metrics
    assert ("service.name", "conformance-tap") in [(label.key, label.value.string_value) for label in resource.resource.attributes]
    for metric in resource.scope_metrics[0].metrics:
        kind = getattr(metric, metric.WhichOneof("data"))
        assert kind.aggregation_temporality == 2, metric
        for point in kind.data_points:
            assert 0 < point.start_time_unix_nano < point.time_unix_nano, point
            labels = {label.key: label.value.string_value for label in point.attributes}
            found.setdefault(metric.name, []).append((labels, point))
    return found


def check_exports():
    points = exported(Collector.exports[-1])
    durations = points["gen_ai.client.inference.duration"]
    errors = {labels.get("error.type") for labels, _ in durations}
    assert errors == {None, "error-in-stream"}, errors
    for labels, point in [*durations, *points["gen_ai.client.inference.time_to_first_chunk"]]:
        assert labels["gen_ai.operation.name"] == "chat" and labels["gen_ai.provider.name"] == "anthropic", labels
        assert labels["gen_ai.request.model"] == "m" and labels["server.address"] == "127.0.0.1", labels
        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
        assert sum(point.bucket_counts) == point.count > 0 and point.sum > 0, point
    for kind in ["input", "output"]:
        assert points[f"gen_ai.client.inference.usage.{kind}_tokens"][0][1].as_int > 0
    rules = {labels["conformance.rule"] for labels, _ in points["conformance.findings"]}
    assert "message/start-first" in rules, rules
    return len(points)


def main():
    for command in ["check rules alerts.yml", "check config prometheus.yml", "test rules alerts-test.yml"]:
        subprocess.run(["promtool", *command.split()], cwd=HERE, check=True)
    with tempfile.TemporaryDirectory() as work:
        started = []
        try:
            run(pathlib.Path(work), started)
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


def run(work, started):
    served, tap, metrics, prometheus = (free_port() for _ in range(4))

    def start(*command):
        log = (work / f"{len(started)}.log").open("w")
        started.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=work))
        return started[-1]

    start(PROGRAM, "serve", "--port", str(served))
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    tapping = start(PROGRAM, "tap", "--listen", f"127.0.0.1:{tap}", "--metrics", f"127.0.0.1:{metrics}",
                    "--otlp", f"http://127.0.0.1:{collector.server_port}",
                    "--upstream", f"one=http://127.0.0.1:{served}", "--evidence", str(work / "evidence"))
    until("the start", lambda: get(f"http://127.0.0.1:{metrics}/readyz"))
    config = (HERE / "prometheus.yml").read_text()
    config = config.replace("127.0.0.1:9464", f"127.0.0.1:{metrics}").replace("15s", "1s")
    (work / "prometheus.yml").write_text(config)
    (work / "alerts.yml").write_text((HERE / "alerts.yml").read_text())
    start("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=error",
          f"--web.listen-address=127.0.0.1:{prometheus}")
    until("the start of Prometheus", lambda: get(f"http://127.0.0.1:{prometheus}/-/ready"))

    def query(text):
        parameters = urllib.parse.urlencode({"query": text})
        answer = json.loads(get(f"http://127.0.0.1:{prometheus}/api/v1/query?{parameters}"))
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    def traffic():
        ask(tap, "Hello")
        ask(tap, "[[say A|B|C]][[fail after 3]]")
        ask(tap, "Hello [[fault message/start-first]]")
        return bool(query('rate(conformance_streams_total{outcome="error-in-stream"}[10s]) > 0'))

    until("a rate of failures", traffic)
    assert query('up{job="conformance-tap"}')[0][1] == 1
    outcomes = {labels["outcome"] for labels, _ in query("conformance_streams_total")}
    assert outcomes == {"complete", "error-in-stream"}, outcomes
    expressions = [target["expr"] for panel in json.loads((HERE / "dashboard.json").read_text())["panels"]
                   for target in panel["targets"]]
    values = {"$__rate_interval": "10s", "$__range": "1m", "$upstream": ".*"}
    for expression in expressions:
        for name, value in values.items():
            expression = expression.replace(name, value)
        found = query(expression)
        assert found or ABSENT in expression, f"no figure: {expression}"
    def names(text):
        return {re.sub("_(total|bucket)$", "", name) for name in re.findall(r"\bconformance_[a-z_]+", text)}

    # What has not happened yet is not on the page of numbers.
    known = names(get(f"http://127.0.0.1:{metrics}/metrics")) | names((HERE / "../../docs/tap.md").read_text())
    named = names("\n".join([*expressions, (HERE / "alerts.yml").read_text()]))
    assert named <= known, f"the tap has no {named - known}"
    until("an export", lambda: Collector.exports)
    tapping.terminate()
    count = len(Collector.exports)
    assert tapping.wait(60) == 0
    assert len(Collector.exports) > count, "nothing was exported at the end"
    count = check_exports()
    print(f"{len(expressions)} figures of the dashboard, {len(named)} metrics, 8 alerts, {count} metrics of OTLP: passed")


main()
