// A browser that is spoken to over a pipe, by the commands of its developer tools.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function open() {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"];
  const args = [...flags, "--remote-debugging-pipe", `--user-data-dir=${profile}`];
  const child = spawn(process.env.CHROMIUM ?? "chromium", args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const waiting = new Map();
  const listeners = [];
  let last = 0;
  let rest = "";
  child.stdio[4].setEncoding("utf8").on("data", (text) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      if (message.id) waiting.get(message.id)(message);
      else listeners.forEach((listener) => listener(message));
    }
  });
  const call = async (method, params = {}, sessionId) => {
    const id = ++last;
    child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { result, error } = await new Promise((resolve) => waiting.set(id, resolve));
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  const page = {
    requests: [],
    problems: [],
    call: (method, params) => call(method, params, sessionId),
    async run(expression) {
      const asked = { expression: `(async () => ${expression})()`, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await page.call("Runtime.evaluate", asked);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async until(expression) {
      for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
        if (await page.run(expression)) return;
      }
      throw new Error(`never: ${expression}; ${JSON.stringify(page.problems)}`);
    },
    async close() {
      // Killed, it would leave processes that still write to the profile.
      const exit = new Promise((resolve) => child.on("exit", resolve));
      await call("Browser.close");
      await exit;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  listeners.push(({ method, params }) => {
    if (method === "Network.requestWillBeSent") page.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") page.problems.push(params.exceptionDetails.exception?.description);
    if (method === "Log.entryAdded" && params.entry.level === "error") page.problems.push(params.entry.text);
  });
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.call(`${domain}.enable`);
  return page;
}
