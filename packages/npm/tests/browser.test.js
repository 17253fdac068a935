// The checker, in a browser: a page imports it from a server, uses it and sends what it found.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { NOT_VALID } from "./streams.js";

const chromium = process.env.CHROMIUM ?? "chromium";
const skip = spawnSync(chromium, ["--version"]).status === 0 ? false : `there is no ${chromium}`;
const folder = dirname(fileURLToPath(import.meta.resolve("responses-conformance")));

const PAGE = `<!doctype html><script type="module">
try {
  const { Checker, CheckerStream } = await import("/index.js");
  const stream = new CheckerStream();
  const response = new Response(${JSON.stringify(NOT_VALID)});
  const passed = await new Response(response.body.pipeThrough(stream)).text();
  const found = stream.checker.findings.map((finding) => finding.rule);
  await fetch("/result", { method: "POST", body: JSON.stringify({ passed, found }) });
} catch (error) {
  await fetch("/result", { method: "POST", body: JSON.stringify({ error: String(error) }) });
}
</script>`;

test("a page checks a stream", { skip, timeout: 60_000 }, async () => {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  let tell;
  const result = new Promise((resolve) => (tell = resolve));
  const server = createServer(async (request, response) => {
    const types = { js: "text/javascript", wasm: "application/wasm" };
    if (request.url === "/result") {
      tell(JSON.parse((await request.toArray()).join("")));
      response.end();
    } else if (request.url === "/") {
      response.setHeader("content-type", "text/html").end(PAGE);
    } else if (["/index.js", "/checker.js", "/checker.wasm", "/exports.js"].includes(request.url)) {
      response.setHeader("content-type", types[request.url.split(".").pop()]);
      response.end(readFileSync(join(folder, request.url)));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"];
  const url = `http://127.0.0.1:${server.address().port}/`;
  const browser = spawn(chromium, [...flags, "--remote-debugging-port=0", `--user-data-dir=${profile}`, url], { stdio: "ignore" });
  try {
    const { passed, found, error } = await result;
    assert.equal(error, undefined);
    assert.equal(passed, NOT_VALID);
    assert.ok(found.includes("schema/event-valid"));
  } finally {
    browser.kill("SIGKILL");
    server.close();
    await new Promise((resolve) => browser.on("exit", resolve));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
});
