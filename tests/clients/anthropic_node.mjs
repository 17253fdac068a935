// @anthropic-ai/sdk, over the line protocol of docs/clients.md. The argument says how to stream, `create` or `stream`.

import { conversation, load, serve, timeLimit, versionOf } from './lines.mjs';

const { default: Anthropic } = await load('@anthropic-ai/sdk');
const how = process.argv[2];

const counts = (usage) => ({ input_tokens: usage.input_tokens, output_tokens: usage.output_tokens });

// A call as it begins; without deltas, its input is the one that it begins with.
const begun = (block) => ({ call_id: block.id, name: block.name, input: block.input, joined: '' });

// What an application gathers from the events.
async function create(client, request, signal) {
  const told = { text: '', reasoning: '', response_status: null };
  // By the index as an array has it, which makes no difference between 1 and "1".
  const calls = new Map();
  let usage;
  for await (const event of await client.messages.create({ ...request, stream: true }, { signal })) {
    if (event.type === 'message_start') {
      told.response_id = event.message.id ?? null;
      told.response_status = event.message.stop_reason ?? null;
      usage = event.message.usage && counts(event.message.usage);
      if (Array.isArray(event.message.content)) event.message.content.forEach((block, index) => block.type === 'tool_use' && calls.set(`${index}`, begun(block)));
    } else if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      calls.set(`${event.index}`, begun(event.content_block));
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') told.text += event.delta.text;
      if (event.delta.type === 'thinking_delta') told.reasoning += event.delta.thinking;
      if (event.delta.type === 'input_json_delta' && calls.has(`${event.index}`)) calls.get(`${event.index}`).joined += event.delta.partial_json;
    } else if (event.type === 'message_delta') {
      told.response_status = event.delta.stop_reason ?? null;
      const { input_tokens, output_tokens } = event.usage ?? {};
      usage = { input_tokens: input_tokens ?? usage?.input_tokens, output_tokens: output_tokens ?? usage?.output_tokens };
    }
  }
  if (signal.aborted) throw new Error('timeout');
  told.calls = [...calls.values()].map(({ call_id, name, input, joined }) => ({ call_id, name, arguments: joined || input || {} }));
  return { ...told, ...(usage ? { usage } : {}) };
}

async function stream(client, request, signal) {
  const events = client.messages.stream(request, { signal });
  let streamed = '';
  events.on('text', (text) => {
    streamed += text;
  });
  const { told, ...rest } = gathered(await events.finalMessage());
  return { told: { streamed, ...told }, ...rest };
}

// What the package has of a message, and how a conversation goes on with it.
function gathered(message) {
  const joined = (kind, member) => message.content.filter((block) => block.type === kind).map((block) => block[member]).join('');
  const calls = message.content.filter((block) => block.type === 'tool_use');
  const told = {
    text: joined('text', 'text'),
    reasoning: joined('thinking', 'thinking'),
    calls: calls.map((block) => ({ call_id: block.id, name: block.name, arguments: block.input ?? '' })),
    response_status: message.stop_reason ?? null,
    response_id: message.id ?? null,
    ...(message.usage ? { usage: counts(message.usage) } : {}),
  };
  const result = (call, outputs) => ({ type: 'tool_result', tool_use_id: call.id, content: outputs[call.name] });
  const answered = (outputs) => [{ role: 'user', content: calls.map((call) => result(call, outputs)) }];
  return { told, said: { role: 'assistant', content: message.content }, answered };
}

async function ask(asked) {
  const hasSteps = asked.steps?.length > 0;
  if (asked.transport === 'websocket' || asked.cancel_after_events || (hasSteps && how === 'create' && asked.transport === 'sse')) return { status: 'unsupported' };
  const client = new Anthropic({ baseURL: asked.base_url.replace(/\/v1$/, ''), apiKey: asked.api_key, maxRetries: asked.max_retries ?? 0, timeout: asked.timeout_ms });
  const signal = timeLimit(asked);
  if (asked.transport === 'json') return conversation(asked, async (request) => gathered(await client.messages.create(request, { signal })));
  if (how === 'create') return create(client, asked.request, signal);
  return conversation(asked, (request) => stream(client, request, signal));
}

await serve(versionOf('@anthropic-ai/sdk'), ask);
