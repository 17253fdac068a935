// @google/genai over the line protocol of docs/clients.md. The argument says how to stream: `models`, or `chats`, whose history is
// what the next request repeats.

import { conversation, load, serve, timeLimit, versionOf } from './lines.mjs';

const { GoogleGenAI } = await load('@google/genai');
const how = process.argv[2];
const known = new Set(['model', 'contents', 'tools', 'toolConfig', 'systemInstruction', 'generationConfig']);

const texts = (parts, areThoughts) => parts.filter((part) => part.text && Boolean(part.thought) === areThoughts).map((part) => part.text).join('');
const calls = (parts) => parts.flatMap((part) => part.functionCall ?? []).map(({ id, name, args }) => ({ call_id: id ?? null, name: name ?? '', arguments: args ?? {} }));
const results = (parts, outputs) => parts.flatMap((part) => part.functionCall ?? []).map(({ id, name }) => ({ functionResponse: { id, name, response: { output: outputs[name] } } }));
const said = (parts) => ({ text: texts(parts, false), reasoning: texts(parts, true), calls: calls(parts) });

async function gathered(chunks) {
  const parts = [];
  const told = { response_status: null, response_id: null };
  for await (const chunk of chunks) {
    told.response_id ??= chunk.responseId ?? null;
    const counts = chunk.usageMetadata;
    if (counts) {
      const output = [counts.candidatesTokenCount, counts.thoughtsTokenCount].filter((count) => count !== undefined && count !== null);
      told.usage = { input_tokens: counts.promptTokenCount ?? null, output_tokens: output.length ? output.reduce((one, other) => one + other) : null };
    }
    const first = chunk.candidates?.find((candidate) => !candidate.index);
    told.response_status = first?.finishReason ?? chunk.promptFeedback?.blockReason ?? told.response_status;
    parts.push(...(first?.content?.parts ?? []));
  }
  return { told: { ...told, ...said(parts) }, parts };
}

async function ask(asked) {
  const { request } = asked;
  const isResumed = asked.steps?.some(({ step }) => step === 'resume');
  if (asked.transport === 'websocket' || asked.cancel_after_events || isResumed || Object.keys(request).some((name) => !known.has(name))) return { status: 'unsupported' };
  const httpOptions = { baseUrl: asked.base_url.replace(/\/[^/]+$/, ''), timeout: asked.timeout_ms, retryOptions: { attempts: (asked.max_retries ?? 0) + 1 } };
  const client = new GoogleGenAI({ apiKey: asked.api_key, httpOptions });
  const { model, tools, toolConfig, systemInstruction, generationConfig } = request;
  const config = { ...generationConfig, tools, toolConfig, systemInstruction, abortSignal: timeLimit(asked) };
  const isBody = asked.transport === 'json';
  if (how === 'models') {
    return conversation(asked, async ({ contents }) => {
      const options = { model, contents, config };
      const { told, parts } = await gathered(isBody ? [await client.models.generateContent(options)] : await client.models.generateContentStream(options));
      return { told, said: { role: 'model', parts }, answered: (outputs) => [{ role: 'user', parts: results(parts, outputs) }] };
    });
  }
  const chat = client.chats.create({ model, config });
  // The answer is what the chat repeats in its next request.
  const send = async (message) => {
    const { told, parts } = await gathered(isBody ? [await chat.sendMessage({ message })] : await chat.sendMessageStream({ message }));
    const history = chat.getHistory(true);
    const kept = history.slice(history.findLastIndex((content) => content.role === 'user') + 1).filter((content) => content.role === 'model').flatMap((content) => content.parts ?? []);
    return { told: { ...told, ...(isBody ? {} : { streamed: told.text }), ...said(kept) }, parts };
  };
  const partsOf = ({ contents }) => contents.flatMap((content) => content.parts);
  let sent = await send(partsOf(request));
  for (const step of asked.steps ?? []) sent = await send(step.step === 'continue' ? partsOf(step.request) : results(sent.parts, step.outputs));
  return sent.told;
}

await serve(versionOf('@google/genai'), ask, (error) => error?.name);
