// @anthropic-ai/sdk, over the line protocol of docs/clients.md. The argument says how to stream, `create` or `stream`.

import { load, serve, versionOf } from './lines.mjs';

const { default: Anthropic } = await load('@anthropic-ai/sdk');
const how = process.argv[2];

const counts = (usage) => ({ input_tokens: usage.input_tokens, output_tokens: usage.output_tokens });

// A call as it begins; without deltas, its input is the one that it begins with.
const begun = (block) => ({ call_id: block.id, name: block.name, input: block.input, joined: '' });

// What an application gathers from the events.
async function create(client, request, signal) {
  const told = { text: '', reasoning: '', response_status: null };
  const calls = new Map();
  let usage;
  for await (const event of await client.messages.create({ ...request, stream: true }, { signal })) {
    if (event.type === 'message_start') {
      told.response_id = event.message.id ?? null;
      told.response_status = event.message.stop_reason ?? null;
      usage = event.message.usage && counts(event.message.usage);
      if (Array.isArray(event.message.content)) event.message.content.forEach((block, index) => block.type === 'tool_use' && calls.set(index, begun(block)));
    } else if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      calls.set(event.index, begun(event.content_block));
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') told.text += event.delta.text;
      if (event.delta.type === 'thinking_delta') told.reasoning += event.delta.thinking;
      if (event.delta.type === 'input_json_delta' && calls.has(event.index)) calls.get(event.index).joined += event.delta.partial_json;
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
  const message = await events.finalMessage();
  const joined = (kind, member) => message.content.filter((block) => block.type === kind).map((block) => block[member]).join('');
  return {
    streamed,
    text: joined('text', 'text'),
    reasoning: joined('thinking', 'thinking'),
    calls: message.content.filter((block) => block.type === 'tool_use').map((block) => ({ call_id: block.id, name: block.name, arguments: block.input ?? '' })),
    response_status: message.stop_reason ?? null,
    response_id: message.id ?? null,
    ...(message.usage ? { usage: counts(message.usage) } : {}),
  };
}

async function ask(asked) {
  if (asked.transport !== 'sse' || asked.cancel_after_events || asked.steps?.length) return { status: 'unsupported' };
  const client = new Anthropic({ baseURL: asked.base_url.replace(/\/v1$/, ''), apiKey: asked.api_key, maxRetries: 0, timeout: asked.timeout_ms });
  return (how === 'create' ? create : stream)(client, asked.request, AbortSignal.timeout(asked.timeout_ms));
}

await serve(versionOf('@anthropic-ai/sdk'), ask);
