// Streams for tests, from the reference gateway that the package's own command starts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const NOT_VALID = 'data: {"type":"response.in_progress","sequence_number":0}\n\n';

export async function gateway(...more) {
  const child = spawn("npx", ["--no-install", "conformance", "serve", "--port", "0", ...more], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { url: line.split(" ")[0], stop: () => process.kill(-child.pid) };
}

export function ask(url, stream = true) {
  const body = JSON.stringify({ model: "m", input: "Say hello.", stream });
  return fetch(`${url}/responses`, { method: "POST", body, headers: { "content-type": "application/json" } });
}
