// The AI SDK. The argument is the provider, `openai` or `open-responses`; lines are those of openai_python.py.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);
const load = (name) => import(pathToFileURL(packages.resolve(name)));
const { generateText, streamText, jsonSchema, tool, Output } = await load('ai');
const provider = process.argv[2];

async function model(baseURL) {
  if (provider === 'openai') {
    const { createOpenAI } = await load('@ai-sdk/openai');
    return createOpenAI({ baseURL, apiKey: 'none' }).responses('gpt-5');
  }
  const { createOpenResponses } = await load('@ai-sdk/open-responses');
  return createOpenResponses({ name: 'open-responses', url: `${baseURL}/responses`, apiKey: 'none' })('default');
}

// A request in the words of the AI SDK.
function asked(request, previous) {
  const options = {};
  if (request.reasoning) Object.assign(options, { reasoningEffort: request.reasoning.effort, reasoningSummary: request.reasoning.summary });
  if (previous) options.previousResponseId = previous;
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

const statuses = { stop: 'completed', 'tool-calls': 'completed', length: 'incomplete' };

async function summed(result, streamed) {
  const [text, reasoning, calls, reason, metadata, response] = await Promise.all([
    result.text, result.reasoningText, result.toolCalls, result.finishReason, result.providerMetadata, result.response,
  ]);
  return {
    text: streamed ?? text,
    final: text,
    calls: calls.map((call) => [call.toolName, call.input]),
    reasoning: reasoning ?? '',
    status: statuses[reason] ?? reason,
    id: metadata?.openai?.responseId ?? response?.id,
  };
}

async function read(name, url, request, previous) {
  const options = { model: await model(url), ...asked(request, previous) };
  if (name === 'json') return summed(await generateText(options));
  const result = streamText({ ...options, onError: () => {} });
  let text = '';
  for await (const part of result.stream ?? result.fullStream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new Error(typeof part.error === 'string' ? part.error : JSON.stringify(part.error));
  }
  return summed(result, text);
}

process.on('unhandledRejection', () => {});
let last = null;
for await (const line of createInterface({ input: process.stdin })) {
  const { name, url, request } = JSON.parse(line);
  const previous = name === 'turns' ? last : undefined;
  let told;
  try {
    told = await read(name, url, request, previous);
    if (name === 'text') last = told.id;
  } catch (error) {
    told = { error: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify({ name, asked_previous: previous, ...told }));
}
