// What the drivers for Node.js share: the packages that drivers.toml pins, and the line protocol of docs/clients.md.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);

export const load = (name) => import(pathToFileURL(packages.resolve(name)));

// What an application gives a request at most: each attempt has the time of the case, and pauses between.
export const timeLimit = (asked) => AbortSignal.timeout(asked.max_retries ? asked.timeout_ms * (asked.max_retries + 1) + 2000 : asked.timeout_ms);

export const versionOf = (name) => JSON.parse(readFileSync(`${process.env.PACKAGES}/node_modules/${name}/package.json`)).version;

// Answers each case with what `ask` returns or throws.
export async function serve(version, ask, typeOf = (error) => error?.constructor?.name) {
  process.on('unhandledRejection', () => {});
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    let reply;
    try {
      reply = { status: 'ok', ...(await ask(asked)) };
    } catch (error) {
      reply = { status: 'error', error: { type: typeOf(error), message: String(error?.message ?? error).slice(0, 1000) } };
    }
    console.log(JSON.stringify({ case: asked.case, client_version: version, max_retries: asked.max_retries, ...reply }));
  }
}

// Sends the request of a case, and those of its steps, each of which repeats the conversation. `send` returns what was told, the
// message to repeat, and the entries that answer its calls by outputs.
export async function conversation(asked, send) {
  let { request } = asked;
  const entries = request.contents ? 'contents' : 'messages';
  let sent = await send(request);
  for (const step of asked.steps ?? []) {
    const added = step.step === 'continue' ? step.request[entries] : sent.answered(step.outputs);
    request = { ...request, [entries]: [...request[entries], sent.said, ...added] };
    sent = await send(request);
  }
  return sent.told;
}
