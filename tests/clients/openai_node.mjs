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

// The request of a step, after this response.
function following(asked, step, before) {
  if (step.step === 'continue') return { ...step.request, previous_response_id: before.id };
  const input = understood(before).calls.map((call) => ({ type: 'function_call_output', call_id: call.call_id, output: step.outputs[call.name] }));
  return { model: asked.request.model, tools: asked.request.tools, input, previous_response_id: before.id };
}

async function ask(asked) {
  if (asked.transport === 'websocket') return { status: 'unsupported' };
  const client = new OpenAI({ baseURL: asked.base_url, apiKey: asked.api_key, maxRetries: 0, timeout: asked.timeout_ms });
  // The client's time limit ends with the head of the answer: a stream has one of its own.
  const signal = AbortSignal.timeout(asked.timeout_ms);
  const steps = (asked.steps ?? []).filter((step) => step.step !== 'resume');
  const isResumed = steps.length !== (asked.steps ?? []).length;
  let sent = await send(client, asked, asked.request, signal, isResumed);
  for (const step of steps) sent = await send(client, asked, following(asked, step, sent.response), signal, false);
  if (sent.left) return sent.told;
  // Where no event ends the response, there is no text to be had from it.
  return { ...sent.told, ...(sent.response ? understood(sent.response) : { text: null, response_status: null }) };
}

async function send(client, asked, request, signal, isResumed) {
  if (asked.transport === 'json') return { told: {}, response: await client.responses.create(request, { signal }) };
  const told = { streamed: '' };
  const last = { events: 0 };
  const begin = { create: () => client.responses.create({ ...request, stream: true }, { signal }), stream: () => client.responses.stream(request, { signal }) };
  const resume = {
    create: () => client.responses.retrieve(last.id, { stream: true, starting_after: last.number }, { signal }),
    stream: () => client.responses.stream({ response_id: last.id, starting_after: last.number }, { signal }),
  };
  try {
    return await read(await begin[how](), asked, signal, told, last);
  } catch (error) {
    if (!isResumed || !last.id) throw error;
  }
  return read(await resume[how](), asked, signal, told, last);
}

async function read(stream, asked, signal, told, last) {
  let response;
  for await (const event of stream) {
    last.events += 1;
    last.number = event.sequence_number;
    if (event.type === 'response.created') last.id = event.response.id;
    if (event.type === 'response.output_text.delta') told.streamed += event.delta;
    if (how === 'create' && ['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) response = event.response;
    if (last.events === asked.cancel_after_events) {
      (stream.controller ?? stream).abort();
      return { told, left: true };
    }
  }
  // What was aborted ends as if it was over.
  if (signal.aborted) throw new Error('timeout');
  return { told, response: how === 'create' ? response : await stream.finalResponse() };
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
