// The command of the package: its exit codes, and that it ends with its program.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

const COMMAND = "node_modules/.bin/conformance";

test("the exit code is that of the program", () => {
  assert.equal(spawnSync(COMMAND, ["--version"]).status, 0);
  assert.equal(spawnSync(COMMAND, ["check", "no-such-file.sse"]).status, 2);
  const none = spawnSync(COMMAND, ["--version"], { env: { ...process.env, CONFORMANCE_BINARY: "./no-such-program" } });
  assert.equal(none.status, 2);
  assert.match(none.stderr.toString(), /^error: /);
});

test("a signal that ends the command ends its program", { skip: process.platform === "win32" }, async () => {
  const command = spawn(COMMAND, ["serve", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(createInterface({ input: command.stdout }), "line");
  const url = line.split(" ")[0];
  assert.ok((await fetch(`${url}/models`)).status < 500);
  command.kill("SIGTERM");
  await once(command, "exit");
  await assert.rejects(fetch(`${url}/models`));
});
