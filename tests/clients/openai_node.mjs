// openai-node, over the line protocol of docs/clients.md. The argument says how to stream, `create` or `stream`, and with Chat
// Completions `chat` or `chat-stream`.

import { conversation, load, serve, timeLimit, versionOf } from './lines.mjs';

const { default: OpenAI } = await load('openai');
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

// What an application gathers from the chunks.
async function gathered(chunks, request) {
  const told = { text: '', refusal: '', response_status: null };
  const calls = new Map();
  for await (const chunk of chunks) {
    told.response_id = chunk.id ?? null;
    if (chunk.usage) told.usage = { input_tokens: chunk.usage.prompt_tokens, output_tokens: chunk.usage.completion_tokens };
    if (!chunk.choices?.length) continue;
    const [choice] = chunk.choices;
    if (request.n > 1 && choice.index !== 0) continue;
    const { delta } = choice;
    told.text += delta.content ?? '';
    told.refusal += delta.refusal ?? '';
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (thought) told.reasoning = (told.reasoning ?? '') + thought;
    for (const call of delta.tool_calls ?? []) {
      const known = calls.get(call.index) ?? { call_id: null, name: '', arguments: '' };
      calls.set(call.index, known);
      known.call_id ??= call.id ?? null;
      known.name += call.function?.name ?? '';
      known.arguments += call.function?.arguments ?? '';
    }
    if (choice.finish_reason) told.response_status = choice.finish_reason;
  }
  return { ...told, calls: [...calls.values()] };
}

async function chat(asked) {
  const hasSteps = asked.steps?.length > 0;
  if (asked.transport === 'websocket' || asked.cancel_after_events) return { status: 'unsupported' };
  const client = new OpenAI({ baseURL: asked.base_url, apiKey: asked.api_key, maxRetries: asked.max_retries ?? 0, timeout: asked.timeout_ms });
  const signal = timeLimit(asked);
  if (asked.transport === 'json') return conversation(asked, async (request) => completed(await client.chat.completions.create(request, { signal })));
  if (how === 'chat-stream') return conversation(asked, (request) => chatStream(client, request, signal));
  if (hasSteps) return { status: 'unsupported' };
  const told = await gathered(await client.chat.completions.create({ ...asked.request, stream: true }, { signal }), asked.request);
  if (signal.aborted) throw new Error('timeout');
  return told;
}

async function chatStream(client, request, signal) {
  const runner = client.chat.completions.stream(request, { signal });
  let streamed = '';
  runner.on('content', (delta) => {
    streamed += delta;
  });
  const { told, ...rest } = completed(await runner.finalChatCompletion());
  return { told: { ...(request.n > 1 ? {} : { streamed }), ...told }, ...rest };
}

// What the package has of a completion, and how a conversation goes on with it.
function completed(completion) {
  const { message, finish_reason } = completion.choices[0];
  const calls = message.tool_calls ?? [];
  const told = {
    text: message.content ?? '',
    refusal: message.refusal ?? '',
    calls: calls.map((call) => ({ call_id: call.id ?? null, name: call.function.name ?? '', arguments: call.function.arguments ?? '' })),
    response_status: finish_reason ?? null,
    response_id: completion.id ?? null,
    ...(completion.usage ? { usage: { input_tokens: completion.usage.prompt_tokens, output_tokens: completion.usage.completion_tokens } } : {}),
  };
  const answered = (outputs) => calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: outputs[call.function.name] }));
  return { told, said: message, answered };
}

async function ask(asked) {
  if (how.startsWith('chat')) return chat(asked);
  if (asked.transport === 'websocket') return { status: 'unsupported' };
  const client = new OpenAI({ baseURL: asked.base_url, apiKey: asked.api_key, maxRetries: asked.max_retries ?? 0, timeout: asked.timeout_ms });
  // The client's time limit ends with the head of the answer: a stream has one of its own.
  const signal = timeLimit(asked);
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

await serve(versionOf('openai'), ask);
