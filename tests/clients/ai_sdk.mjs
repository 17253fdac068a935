// The AI SDK, over the line protocol of docs/clients.md. The argument is the provider, `openai` or `open-responses`.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)));
const { generateText, streamText, jsonSchema, tool, Output } = await load('ai');
const { version } = JSON.parse(readFileSync(`${process.env.PACKAGES}/node_modules/@ai-sdk/${process.argv[2]}/package.json`));
const provider = process.argv[2];

async function model(asked) {
  if (provider === 'openai') {
    const { createOpenAI } = await load('@ai-sdk/openai');
    return createOpenAI({ baseURL: asked.base_url, apiKey: asked.api_key }).responses(asked.request.model);
  }
  const { createOpenResponses } = await load('@ai-sdk/open-responses');
  return createOpenResponses({ name: 'open-responses', url: `${asked.base_url}/responses`, apiKey: asked.api_key })(asked.request.model);
}

const known = new Set(['model', 'input', 'tools', 'reasoning', 'text']);

// A request in the words of the AI SDK.
function words(request) {
  const options = {};
  if (request.reasoning) Object.assign(options, { reasoningEffort: request.reasoning.effort, reasoningSummary: request.reasoning.summary });
  const tools = Object.fromEntries((request.tools ?? []).map((each) => [each.name, tool({ description: each.description, inputSchema: jsonSchema(each.parameters) })]));
  const format = request.text?.format;
  return {
    prompt: request.input,
    maxRetries: 0,
    ...(Object.keys(tools).length ? { tools } : {}),
    ...(format ? { output: Output.object({ schema: jsonSchema(format.schema), name: format.name }) } : {}),
    providerOptions: { [provider]: options },
  };
}

const statuses = { stop: 'completed', 'tool-calls': 'completed', length: 'incomplete', 'content-filter': 'incomplete' };

async function understood(result, streamed) {
  const [text, reasoning, calls, reason] = await Promise.all([result.text, result.reasoningText, result.toolCalls, result.finishReason]);
  return {
    text,
    ...(streamed === undefined ? {} : { streamed }),
    reasoning: reasoning ?? '',
    calls: calls.map((call) => ({ call_id: call.toolCallId, name: call.toolName, arguments: call.input ?? '' })),
    response_status: statuses[reason] ?? reason,
  };
}

async function ask(asked) {
  const { request } = asked;
  const isPlain = typeof request.input === 'string' && Object.keys(request).every((name) => known.has(name));
  const hasFunctionsOnly = (request.tools ?? []).every((each) => each.type === 'function');
  if (asked.transport === 'websocket' || asked.cancel_after_events || !isPlain || !hasFunctionsOnly) return { status: 'unsupported' };
  const abortSignal = AbortSignal.timeout(asked.timeout_ms);
  const options = { model: await model(asked), ...words(request), abortSignal };
  if (asked.transport === 'json') return understood(await generateText(options));
  const result = streamText({ ...options, onError: () => {} });
  let text = '';
  for await (const part of result.stream ?? result.fullStream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new Error(typeof part.error === 'string' ? part.error : JSON.stringify(part.error));
    if (part.type === 'abort') throw new Error('timeout');
  }
  return understood(result, text);
}

process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let reply;
  try {
    reply = { status: 'ok', ...(await ask(asked)) };
  } catch (error) {
    reply = { status: 'error', error: { type: error?.name, message: String(error?.message ?? error).slice(0, 1000) } };
  }
  console.log(JSON.stringify({ case: asked.case, client_version: version, ...reply }));
}
