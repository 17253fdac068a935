// openai-node, over the line protocol of docs/clients.md. The argument says how to stream, `create` or `stream`.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);
const { default: OpenAI } = await import(pathToFileURL(packages.resolve('openai')));
const { version } = JSON.parse(readFileSync(`${process.env.PACKAGES}/node_modules/openai/package.json`));
const how = process.argv[2];

// Responses inside of events have no `output_text`.
const parts = (response, kind) =>
  response.output.filter((item) => item.type === 'message').flatMap((item) => item.content.filter((part) => part.type === kind));

const understood = (response) => ({
  text: parts(response, 'output_text').map((part) => part.text).join(''),
  refusal: parts(response, 'refusal').map((part) => part.refusal).join(''),
  reasoning: response.output.filter((item) => item.type === 'reasoning').flatMap((item) => [...(item.summary ?? []), ...(item.content ?? [])]).map((part) => part.text).join(''),
  calls: response.output
    .filter((item) => item.type === 'function_call' || item.type === 'custom_tool_call')
    .map((item) => ({ call_id: item.call_id, name: item.name, arguments: item.arguments ?? item.input })),
  response_status: response.status,
  response_id: response.id,
  ...(response.usage ? { usage: { input_tokens: response.usage.input_tokens, output_tokens: response.usage.output_tokens } } : {}),
});

async function ask(asked) {
  if (asked.transport === 'websocket') return { status: 'unsupported' };
  const client = new OpenAI({ baseURL: asked.base_url, apiKey: asked.api_key, maxRetries: 0, timeout: asked.timeout_ms });
  // The client's time limit ends with the head of the answer: a stream has one of its own.
  const signal = AbortSignal.timeout(asked.timeout_ms);
  if (asked.transport === 'json') return understood(await client.responses.create(asked.request, { signal }));
  const told = { streamed: '' };
  const stream = how === 'create' ? await client.responses.create({ ...asked.request, stream: true }, { signal }) : client.responses.stream(asked.request, { signal });
  if (how === 'create') Object.assign(told, { text: null, response_status: null });
  let events = 0;
  for await (const event of stream) {
    events += 1;
    if (event.type === 'response.output_text.delta') told.streamed += event.delta;
    if (how === 'create' && ['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) Object.assign(told, understood(event.response));
    if (events === asked.cancel_after_events) {
      (stream.controller ?? stream).abort();
      return { streamed: told.streamed };
    }
  }
  // What was aborted ends as if it was over.
  if (signal.aborted) throw new Error('timeout');
  return how === 'create' ? told : { ...told, ...understood(await stream.finalResponse()) };
}

process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let reply;
  try {
    reply = { status: 'ok', ...(await ask(asked)) };
  } catch (error) {
    reply = { status: 'error', error: { type: error?.constructor?.name, message: String(error?.message ?? error).slice(0, 1000) } };
  }
  console.log(JSON.stringify({ case: asked.case, client_version: version, ...reply }));
}
