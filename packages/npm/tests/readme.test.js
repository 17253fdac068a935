// The examples of the README run as they stand there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { NOT_VALID, gateway } from "./streams.js";

const readme = readFileSync(new URL("./README.md", import.meta.url), "utf8");
const blocks = (language) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map((found) => found[1]);

test("the first lines of the repository", async () => {
  const text = readFileSync(new URL("./REPOSITORY.md", import.meta.url), "utf8");
  const [line, ...more] = text.split("\n").filter((line) => line.startsWith("npx "));
  assert.deepEqual(more, []);
  const good = await gateway();
  const command = line.replace("npx ", "npx --no-install ").replace("http://localhost:8080/v1", good.url);
  const run = spawnSync(command, { shell: true, encoding: "utf8" });
  good.stop();
  assert.equal(run.status, 0, run.stderr);
});

test("the examples in JavaScript", () => {
  const examples = blocks("js");
  assert.equal(examples.length, 2);
  examples.forEach((example, at) => {
    writeFileSync(`example-${at}.mjs`, example);
    const run = spawnSync("node", [`example-${at}.mjs`], { encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    assert.match(run.stdout, /schema\/event-valid/);
  });
});

test("the commands", async () => {
  const good = await gateway();
  writeFileSync("stream.sse", NOT_VALID);
  const lines = blocks("sh")[0].trim().split("\n");
  assert.equal(lines.length, 2);
  const codes = lines.map((line) => {
    const command = line.replace("npx ", "npx --no-install ").replace("http://localhost:8080/v1", good.url);
    return spawnSync(command, { shell: true }).status;
  });
  good.stop();
  assert.deepEqual(codes, [0, 1]);
});
