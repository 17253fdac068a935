// openai-node. Its argument and lines are those of openai_python.py.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.env.PACKAGES}/`);
const { default: OpenAI } = await import(pathToFileURL(packages.resolve('openai')));
const how = process.argv[2];

const final = (response) => ({
  final: response.output_text ?? texts(response),
  calls: response.output.filter((item) => item.type === 'function_call').map((item) => [item.name, JSON.parse(item.arguments)]),
  reasoning: response.output.filter((item) => item.type === 'reasoning').flatMap((item) => item.summary.map((part) => part.text)).join(''),
  status: response.status,
  id: response.id,
  previous: response.previous_response_id,
});

// Responses inside of events have no `output_text`.
const texts = (response) =>
  response.output.filter((item) => item.type === 'message').flatMap((item) => item.content.map((part) => part.text ?? '')).join('');

async function read(client, how, request) {
  if (how === 'json') {
    const response = await client.responses.create(request);
    return { text: response.output_text, ...final(response) };
  }
  const told = { text: '' };
  const stream = how === 'create' ? await client.responses.create({ ...request, stream: true }) : client.responses.stream(request);
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') told.text += event.delta;
    if (how === 'create' && ['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) Object.assign(told, final(event.response));
  }
  return how === 'create' ? told : { ...told, ...final(await stream.finalResponse()) };
}

let last = null;
for await (const line of createInterface({ input: process.stdin })) {
  const { name, url, request } = JSON.parse(line);
  const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0, timeout: 10_000 });
  if (name === 'turns') request.previous_response_id = last;
  let told;
  try {
    told = await read(client, name === 'json' ? 'json' : how, request);
    if (name === 'text') last = told.id;
  } catch (error) {
    told = { error: `${error.constructor.name}: ${error.message}` };
  }
  console.log(JSON.stringify({ name, asked_previous: request.previous_response_id, ...told }));
}
