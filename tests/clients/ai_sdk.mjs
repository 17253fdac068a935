// The AI SDK, over the line protocol of docs/clients.md. The argument is the provider: `openai` or `open-responses`, or for other
// APIs `openai chat`, `openai-compatible`, `anthropic` or `google`.

import { load, serve, timeLimit, versionOf } from './lines.mjs';

const { generateText, streamText, jsonSchema, stepCountIs, isStepCount, tool, Output } = await load('ai');
const [provider, api = { anthropic: 'messages', google: 'gemini', 'openai-compatible': 'chat' }[provider] ?? 'responses'] = process.argv.slice(2);

async function model(asked) {
  const options = { baseURL: asked.base_url, apiKey: asked.api_key };
  if (provider === 'openai') {
    const { createOpenAI } = await load('@ai-sdk/openai');
    const openai = createOpenAI(options);
    return api === 'chat' ? openai.chat(asked.request.model) : openai.responses(asked.request.model);
  }
  if (provider === 'openai-compatible') {
    const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ name: provider, includeUsage: true, ...options })(asked.request.model);
  }
  if (provider === 'anthropic') {
    const { createAnthropic } = await load('@ai-sdk/anthropic');
    return createAnthropic(options)(asked.request.model);
  }
  if (provider === 'google') {
    const { createGoogle } = await load('@ai-sdk/google');
    return createGoogle(options)(asked.request.model);
  }
  const { createOpenResponses } = await load('@ai-sdk/open-responses');
  return createOpenResponses({ name: 'open-responses', url: `${asked.base_url}/responses`, apiKey: asked.api_key })(asked.request.model);
}

const known = new Set({
  responses: ['model', 'input', 'tools', 'reasoning', 'text'],
  messages: ['model', 'messages', 'tools', 'thinking', 'max_tokens', 'stop_sequences'],
  chat: ['model', 'messages', 'tools', 'max_completion_tokens', 'stream_options'],
  gemini: ['model', 'contents', 'tools', 'generationConfig'],
}[api]);

// The text of a request that is a text alone.
const said = ({ input, messages, contents }) => contents?.[0].parts[0].text ?? (messages?.length === 1 ? messages[0].content : input);
// The functions of a request, in any API.
const functions = (request) => (request.tools ?? []).flatMap((each) => each.functionDeclarations ?? [each]).map((each) => ({ type: 'function', ...each, ...each.function }));

// A request in the words of the AI SDK.
function words(asked, outputs) {
  const { request } = asked;
  const options = {};
  // Each round of calls has outputs of its own.
  const output = (name, messages) => outputs[Math.min(messages.filter((message) => message.role === 'tool').length, outputs.length - 1)][name];
  if (request.reasoning) Object.assign(options, { reasoningEffort: request.reasoning.effort, reasoningSummary: request.reasoning.summary });
  if (request.thinking) options.thinking = { type: request.thinking.type, budgetTokens: request.thinking.budget_tokens };
  if (request.generationConfig) options.thinkingConfig = request.generationConfig.thinkingConfig;
  const maxOutputTokens = request.max_tokens ?? request.max_completion_tokens;
  const tools = Object.fromEntries(functions(request).map((each) => [each.name, tool({ description: each.description, inputSchema: jsonSchema(each.parameters ?? each.input_schema ?? each.parametersJsonSchema), ...(outputs.length ? { execute: (_, { messages }) => output(each.name, messages) } : {}) })]));
  const format = request.text?.format;
  return {
    maxRetries: asked.max_retries ?? 0,
    ...(outputs.length ? { stopWhen: (isStepCount ?? stepCountIs)(outputs.length + 1) } : {}),
    ...(Object.keys(tools).length ? { tools } : {}),
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
    ...(request.stop_sequences ? { stopSequences: request.stop_sequences } : {}),
    ...(format ? { output: Output.object({ schema: jsonSchema(format.schema), name: format.name }) } : {}),
    providerOptions: { [provider]: options },
  };
}

// The reason of the provider has a name of its own.
async function reasonOf(result, reason) {
  // So it reports that a stream ended without a sign of its end.
  if (reason === 'interrupted') return reason;
  return api === 'responses' ? (statuses[reason] ?? reason) : ((await result.rawFinishReason) ?? null);
}

const statuses = { stop: 'completed', 'tool-calls': 'completed', length: 'incomplete', 'content-filter': 'incomplete' };

async function understood(result, streamed) {
  // The answer is that of the last step.
  const last = (await result.steps).at(-1) ?? result;
  const [text, reasoning, calls, reason] = await Promise.all([result.text, last.reasoningText, last.toolCalls, result.finishReason]);
  return {
    text,
    ...(streamed === undefined ? {} : { streamed }),
    // The provider openai knows no reasoning of Chat Completions.
    ...(provider === 'openai' && api === 'chat' ? {} : { reasoning: reasoning ?? '' }),
    calls: calls.filter((call) => api === 'responses' || !call.providerExecuted).map((call) => ({ call_id: call.toolCallId, name: call.toolName, arguments: call.input ?? '' })),
    response_status: await reasonOf(result, reason),
  };
}

async function ask(asked) {
  const { request } = asked;
  const isPlain = typeof said(request) === 'string' && Object.keys(request).every((name) => known.has(name));
  const hasFunctionsOnly = functions(request).every((each) => each.type === 'function' && !each.allowed_callers && !each.defer_loading);
  const steps = asked.steps ?? [];
  const isResumed = steps.some((step) => step.step === 'resume');
  if (asked.transport === 'websocket' || asked.cancel_after_events || isResumed || !isPlain || !hasFunctionsOnly) return { status: 'unsupported' };
  const abortSignal = timeLimit(asked);
  const outputs = steps.filter((step) => step.step === 'answer-calls').map((step) => step.outputs);
  const options = { model: await model(asked), ...words(asked, outputs), abortSignal };
  const messages = [{ role: 'user', content: said(request) }];
  let [result, told] = await send(asked, options, messages);
  for (const step of steps.filter((step) => step.step === 'continue')) {
    const before = await (result.responseMessages ?? result.response.then?.((response) => response.messages) ?? result.response.messages);
    messages.push(...before, { role: 'user', content: said(step.request) });
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

await serve(versionOf(`@ai-sdk/${process.argv[2]}`), ask, (error) => error?.name);
