// The checker, in Node.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  Checker,
  CheckerStream,
  ConformanceError,
  assertConformant,
  check,
  checkAsHtml,
  dialects,
  loadDialect,
  loadDialectFolder,
} from "responses-conformance";
import { NOT_VALID, ask, gateway } from "./streams.js";

let good, bad;
before(async () => ([good, bad] = await Promise.all([gateway(), gateway("--fault", "part/before-open")])));
after(() => [good, bad].forEach((each) => each.stop()));

const rules = (findings) => findings.map((finding) => finding.rule);
const bytes = async (response) => new Uint8Array(await response.arrayBuffer());

test("a good stream has no findings", async () => {
  const checker = new Checker("openai");
  assert.deepEqual(checker.push(await bytes(await ask(good.url))), []);
  assert.deepEqual(checker.finish(), []);
  assert.deepEqual(checker.findings, []);
  assert.ok(checker.events > 5);
});

test("findings do not depend on the cuts", async () => {
  const stream = await bytes(await ask(bad.url));
  const whole = new Checker();
  whole.push(stream);
  whole.finish();
  for (const size of [1, 7, 64]) {
    using(new Checker(), (cut) => {
      const found = [];
      for (let at = 0; at < stream.length; at += size) found.push(...cut.push(stream.subarray(at, at + size)));
      found.push(...cut.finish());
      assert.ok(rules(found).includes("part/before-open"));
      assert.deepEqual(cut.findings, whole.findings);
    });
  }
});

function using(checker, work) {
  work(checker);
  checker.free();
}

test("a finding has all that reports have", async () => {
  const checker = new Checker();
  checker.push(await bytes(await ask(bad.url)));
  const finding = checker.findings.find(({ rule }) => rule === "part/before-open");
  assert.equal(finding.level, "must");
  assert.equal(finding.event, finding.sequence_number + 1);
  assert.match(finding.message, /never opened/);
  assert.ok(finding.clients.some((client) => client.startsWith("openai-python")));
  assert.ok(finding.fix);
});

test("a stream passes bytes through unchanged, and reports findings", async () => {
  const expected = await bytes(await ask(bad.url));
  const found = [];
  const stream = new CheckerStream("openai", (finding) => found.push(finding));
  const source = new ReadableStream({
    start(controller) {
      for (let at = 0; at < expected.length; at += 33) controller.enqueue(expected.slice(at, at + 33));
      controller.close();
    },
  });
  const passed = await bytes(new Response(source.pipeThrough(stream)));
  assert.deepEqual(passed, expected);
  assert.deepEqual(found.slice(0, 1), stream.checker.findings.slice(0, 1));
  assert.ok(rules(found).includes("part/before-open"));
});

test("responses are asserted", async () => {
  assert.deepEqual(await assertConformant(await ask(good.url)), []);
  assert.deepEqual(await assertConformant(await ask(good.url, false)), []);
  const failure = await assertConformant(await ask(bad.url)).catch((error) => error);
  assert.ok(failure instanceof ConformanceError);
  assert.match(failure.message, /error\[part\/before-open\].*\n(.*\n)*.*breaks: .*openai-python(.*\n)*.*fix: /);
  const ignored = await assertConformant(await ask(bad.url), { ignore: ["part/before-open"] });
  assert.ok(rules(ignored).includes("part/before-open"));
  await assert.rejects(assertConformant(Response.json({ object: "response" })), /schema\//);
  await assert.rejects(assertConformant(NOT_VALID), /schema\/event-valid/);
  for (const nothing of ["", ": a comment\n\n"]) await assert.rejects(assertConformant(nothing), /nothing was judged/);
});

test("events, bodies and headers are judged", () => {
  assert.deepEqual(rules(new Checker("openai").event('{"type":')), ["wire/json-object"]);
  const checker = new Checker();
  checker.response(200, new Headers({ "content-type": "application/json" }));
  assert.ok(rules(checker.body('{"object":"response"}')).some((rule) => rule.startsWith("schema/")));
});

test("recordings of any format are checked", () => {
  const report = check(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${NOT_VALID}`, { name: "a.http" });
  assert.equal(report.outcome, "failed");
  assert.deepEqual([report.captures[0].name, report.captures[0].events], ["a.http", 1]);
  const page = checkAsHtml(NOT_VALID, { dialect: "open-responses" });
  assert.match(page, /^<!doctype html>/);
  assert.ok(page.includes("schema/event-valid"));
  // Its one script is the search, which the policy of the page names by its hash.
  assert.equal(page.match(/<script/g).length, 1);
  assert.match(page, /script-src &#39;sha256-/);
  assert.throws(() => check(NOT_VALID, { dialect: "opnai" }), RangeError);
});

test("what is no response of this API has no verdict about clients", () => {
  const junk = check("hello");
  assert.match(junk.captures[0].error, /not recognized/);
  assert.deepEqual(junk.clients, []);
  const ollama = check('data: {"done":false,"created_at":"2026-08-01T10:00:00Z"}\n\n');
  assert.deepEqual(ollama.captures[0].other_apis, { Ollama: 1 });
  assert.deepEqual(rules(ollama.captures[0].findings), []);
  assert.deepEqual(ollama.clients, []);
});

test("dialects are recognised", () => {
  const chunk = 'data: {"id":"c","object":"chat.completion.chunk","choices":[],"x_groq":{}}\n\n';
  const { dialect, captures } = check(chunk);
  assert.deepEqual([dialect, captures[0].dialects.map((seen) => seen.dialect)], ["auto", ["groq"]]);
  const checker = new Checker();
  assert.equal(checker.dialect, "auto");
  checker.push(chunk);
  assert.equal(checker.dialect, "groq");
  checker.reset();
  assert.deepEqual([checker.dialect, new Checker("chat").dialect], ["auto", "chat"]);
});

const CHUNK = {
  candidates: [{ content: { parts: [{ text: "Hi" }], role: "model" }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: "gemini-2.5-flash",
  responseId: "r1",
};
const GEMINI = `data: ${JSON.stringify(CHUNK)}\n\n`;
const MARKED = `${GEMINI}data: [DONE]\n\n`;

test("Gemini is recognised and judged in every framing", async () => {
  for (const dialect of ["auto", "gemini", "vertex-gemini"]) {
    const { outcome, captures } = check(MARKED, { dialect });
    assert.deepEqual([outcome, rules(captures[0].findings)], ["failed", ["wire/done-marker"]], dialect);
    const checker = new Checker(dialect);
    assert.deepEqual(rules([...checker.push(MARKED), ...checker.finish()]), ["wire/done-marker"], dialect);
    await assert.rejects(assertConformant(MARKED, { dialect }), /wire\/done-marker.*\n/);
    assert.deepEqual(await assertConformant(GEMINI, { dialect }), []);
    assert.deepEqual(await assertConformant(Response.json([CHUNK]), { dialect }), []);
    assert.equal(checker.dialect, dialect === "auto" ? "gemini" : dialect);
  }
  const array = check(JSON.stringify([CHUNK, CHUNK]));
  assert.deepEqual(array.captures[0].dialects.map((seen) => [seen.dialect, seen.api]), [["gemini", "gemini"]]);
  const vertex = check(GEMINI.replace('"responseId"', '"createTime":"2026-11-01T10:00:00.000000Z","responseId"'));
  assert.deepEqual(vertex.captures[0].dialects.map((seen) => seen.dialect), ["vertex-gemini"]);
});

test("Interactions are recognised and judged", () => {
  const created = { event_type: "interaction.created", interaction: { id: "i", object: "interaction", status: "in_progress" } };
  const stream = `event: interaction.created\ndata: ${JSON.stringify(created)}\n\n`;
  for (const dialect of ["auto", "interactions"]) {
    const { captures } = check(stream, { dialect });
    assert.ok(rules(captures[0].findings).some((rule) => rule.startsWith("interaction/")), JSON.stringify(captures));
    const checker = new Checker(dialect);
    checker.push(stream);
    checker.finish();
    assert.equal(checker.dialect, "interactions");
    assert.deepEqual(rules(checker.findings), rules(captures[0].findings));
  }
});

test("misuse is refused", () => {
  assert.throws(() => new Checker("opnai"), /there is no dialect "opnai"; there are: .*openai/);
  assert.ok(dialects().includes("open-responses"));
  const checker = new Checker();
  assert.throws(() => checker.push(17), TypeError);
  checker.finish();
  assert.throws(() => checker.push(""), /reset/);
  checker.reset();
  assert.ok(checker.push(NOT_VALID).length > 0);
  checker.free();
  assert.deepEqual(new Checker().findings, [], "a slot that is free is used again");
});

test("the command has its exit codes", () => {
  const run = (...args) => spawnSync("npx", ["--no-install", "conformance", ...args], { encoding: "utf8" });
  assert.match(run("--version").stdout, /^conformance \d/);
  assert.equal(run("check", "none.sse").status, 2);
  const broken = spawnSync("npx", ["--no-install", "responses-conformance", "check", "-"], {
    input: NOT_VALID,
    encoding: "utf8",
  });
  assert.equal(broken.status, 1);
  assert.match(broken.stderr, /schema\/event-valid/);
  const missing = spawnSync("npx", ["--no-install", "conformance"], { env: { ...process.env, CONFORMANCE_BINARY: "/none" } });
  assert.equal(missing.status, 2);
});

test("the suite passes on the reference gateway", () => {
  const args = ["--no-install", "conformance", "run", "--target", good.url, "--api", "responses", "text/"];
  assert.match(execFileSync("npx", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }), /passed: \d+ passed/);
});

const OWN = {
  "dialect.toml": 'product = "Acme"\nsource = "what it sends"\nsummary = "What Acme sends."\nextends = "openai"\n',
  "events/acme.progress.json": JSON.stringify({
    $id: "acme.progress",
    description: "How much of the answer is written.",
    "x-lifecycle": { scope: "response", role: "point" },
    type: "object",
    required: ["type", "percent"],
    properties: { type: { const: "acme.progress" }, sequence_number: { type: "integer" }, percent: { type: "integer" } },
    examples: [{ type: "acme.progress", sequence_number: 4, percent: 20 }],
  }),
};

const found = (dialect) => {
  const checker = new Checker(dialect);
  const all = checker.event('{"type":"acme.progress","sequence_number":0,"percent":"all"}');
  checker[Symbol.dispose]?.();
  return all.filter((finding) => finding.rule.startsWith("schema/")).map((finding) => finding.rule);
};

test("a dialect can be loaded", () => {
  assert.deepEqual(found("openai"), ["schema/event-known"]);
  loadDialect("acme", OWN);
  assert.deepEqual(found("acme"), ["schema/event-valid"]);
  const heir = { "dialect.toml": OWN["dialect.toml"].replace('"openai"', '"../acme"') };
  loadDialect("acme-eu", heir);
  assert.deepEqual(found("acme-eu"), ["schema/event-valid"]);
  const lone = { "dialect.toml": OWN["dialect.toml"].replace('"openai"', '"../other"') };
  assert.throws(() => loadDialect("lone", lone), /^Error: lone\/dialect\.toml:4:1: .*there is no such dialect/);
  const folder = join(mkdtempSync(join(tmpdir(), "dialect-")), "beyond");
  mkdirSync(join(folder, "events"), { recursive: true });
  for (const [file, text] of Object.entries(OWN)) writeFileSync(join(folder, file), text);
  assert.equal(loadDialectFolder(folder), "beyond");
  assert.deepEqual(found("beyond"), ["schema/event-valid"]);
  truncateSync(join(folder, "dialect.toml"), 17 << 20);
  assert.throws(() => loadDialectFolder(folder), /dialect\.toml: .* at most 16 MiB/);
  symlinkSync(join(folder, "dialect.toml"), join(folder, "events", "acme.other.json"));
  writeFileSync(join(folder, "dialect.toml"), OWN["dialect.toml"]);
  assert.throws(() => loadDialectFolder(folder), /acme\.other\.json: expected a file/);
});

test("a dialect that is wrong says where", () => {
  assert.throws(() => loadDialect("acme2", { ...OWN, "dialect.toml": "x = 1\n" }), /^Error: acme2\/dialect\.toml:1:1: /);
  assert.throws(() => loadDialect("acme2", { ...OWN, "../a.json": "{}" }), /expected dialect\.toml/);
  assert.throws(() => loadDialect("openai", OWN), /is the name of a dialect of this suite/);
  const rule = '[[rule]]\nid = "no/rule"\nlevel = "off"\nreason = "Why."\n';
  assert.throws(() => loadDialect("acme3", { ...OWN, "dialect.toml": OWN["dialect.toml"] + rule }), /there is no such rule/);
  const silent = '[[rule]]\nid = "wire/event-line"\nlevel = "off"\nreason = " "\n';
  const unexplained = { ...OWN, "dialect.toml": OWN["dialect.toml"] + silent };
  assert.throws(() => loadDialect("acme4", unexplained), /wire\/event-line: the reason is empty/);
  assert.throws(() => new Checker("acme2"), /there is no dialect "acme2"/);
});
