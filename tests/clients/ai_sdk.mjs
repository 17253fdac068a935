// The AI SDK, over the line protocol of docs/clients.md. The argument is the provider, `openai` or `open-responses`.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)));
const { generateText, streamText, jsonSchema, stepCountIs, isStepCount, tool, Output } = await load('ai');
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
function words(request, outputs) {
  const options = {};
  // Each round of calls has outputs of its own.
  const output = (name, messages) => outputs[Math.min(messages.filter((message) => message.role === 'tool').length, outputs.length - 1)][name];
  if (request.reasoning) Object.assign(options, { reasoningEffort: request.reasoning.effort, reasoningSummary: request.reasoning.summary });
  const tools = Object.fromEntries((request.tools ?? []).map((each) => [each.name, tool({ description: each.description, inputSchema: jsonSchema(each.parameters), ...(outputs.length ? { execute: (_, { messages }) => output(each.name, messages) } : {}) })]));
  const format = request.text?.format;
  return {
    maxRetries: 0,
    ...(outputs.length ? { stopWhen: (isStepCount ?? stepCountIs)(outputs.length + 1) } : {}),
    ...(Object.keys(tools).length ? { tools } : {}),
    ...(format ? { output: Output.object({ schema: jsonSchema(format.schema), name: format.name }) } : {}),
    providerOptions: { [provider]: options },
  };
}

const statuses = { stop: 'completed', 'tool-calls': 'completed', length: 'incomplete', 'content-filter': 'incomplete' };

async function understood(result, streamed) {
  // The answer is that of the last step.
  const last = (await result.steps).at(-1) ?? result;
  const [text, reasoning, calls, reason] = await Promise.all([result.text, last.reasoningText, last.toolCalls, result.finishReason]);
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
  const steps = asked.steps ?? [];
  const isResumed = steps.some((step) => step.step === 'resume');
  if (asked.transport === 'websocket' || asked.cancel_after_events || isResumed || !isPlain || !hasFunctionsOnly) return { status: 'unsupported' };
  const abortSignal = AbortSignal.timeout(asked.timeout_ms);
  const outputs = steps.filter((step) => step.step === 'answer-calls').map((step) => step.outputs);
  const options = { model: await model(asked), ...words(request, outputs), abortSignal };
  const messages = [{ role: 'user', content: request.input }];
  let [result, told] = await send(asked, options, messages);
  for (const step of steps.filter((step) => step.step === 'continue')) {
    const before = await (result.responseMessages ?? result.response.then?.((response) => response.messages) ?? result.response.messages);
    messages.push(...before, { role: 'user', content: step.request.input });
    [result, told] = await send(asked, options, messages);
  }
  return told;
}

async function send(asked, options, messages) {
  options = { ...options, messages };
  if (asked.transport === 'json') {
    const result = await generateText(options);
    return [result, await understood(result)];
  }
  const result = streamText({ ...options, onError: () => {} });
  let text = '';
  for await (const part of result.stream ?? result.fullStream) {
    if (part.type === 'start-step') text = '';
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new Error(typeof part.error === 'string' ? part.error : JSON.stringify(part.error));
    if (part.type === 'abort') throw new Error('timeout');
  }
  return [result, await understood(result, text)];
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
