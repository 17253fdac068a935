// The helpers of @anthropic-ai/sdk and openai for Node.js. The argument is the address of `conformance serve`.

import assert from 'node:assert/strict';

import { load } from './lines.mjs';

const { default: Anthropic } = await load('@anthropic-ai/sdk');
const { betaTool } = await load('@anthropic-ai/sdk/helpers/beta/json-schema');
const { default: OpenAI } = await load('openai');

const [address] = process.argv.slice(2);
const anthropic = new Anthropic({ baseURL: address, apiKey: 'sk-test', maxRetries: 0, timeout: 10000 });
const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: 'sk-test', maxRetries: 0, timeout: 10000 });

const hello = '[[say Hello|, wor|ld.]]';
const call = '[[call get_weather {"ci|ty":|"Os|lo"}]]';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const says = (content) => [{ role: 'user', content }];
const message = (text, more) => ({ model: 'default', max_tokens: 4096, messages: says(text), ...more });
const completion = (text, more) => ({ model: 'default', messages: says(text), ...more });
const named = { name: 'get_weather', description: 'The weather in a city.' };

const helpers = {
  async anthropicStream() {
    const stream = anthropic.messages.stream(message(hello));
    let text = '';
    stream.on('text', (delta) => (text += delta));
    const last = await stream.finalMessage();
    assert.deepEqual([text, await stream.finalText(), last.stop_reason], ['Hello, world.', 'Hello, world.', 'end_turn']);
    assert.ok(last.usage.output_tokens > 0);
  },
  async anthropicCall() {
    const last = await anthropic.messages.stream(message(call, { tools: [{ ...named, input_schema: schema }] })).finalMessage();
    assert.deepEqual([last.content.at(-1).input, last.stop_reason], [{ city: 'Oslo' }, 'tool_use']);
  },
  async anthropicThinking() {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const [thought, text] = (await anthropic.messages.stream(message(`[[think Let me| see.]]${hello}`, { thinking })).finalMessage()).content;
    assert.deepEqual([thought.thinking, text.text], ['Let me see.', 'Hello, world.']);
    assert.ok(thought.signature);
  },
  async anthropicCountsTokens() {
    assert.ok((await anthropic.messages.countTokens({ model: 'default', messages: says(hello) })).input_tokens > 0);
  },
  async anthropicRunsTools() {
    const cities = [];
    const weather = betaTool({ ...named, inputSchema: schema, run: ({ city }) => (cities.push(city), `Rain in ${city}`) });
    const runner = anthropic.beta.messages.toolRunner(message(call, { tools: [weather], max_iterations: 2 }));
    const sent = [];
    for await (const one of runner) sent.push(one);
    assert.deepEqual([cities[0], sent[0].stop_reason, sent.length], ['Oslo', 'tool_use', 2]);
  },
  async chatStream() {
    const stream = openai.chat.completions.stream(completion(hello, { stream_options: { include_usage: true } }));
    let text = '';
    stream.on('content', (delta) => (text += delta));
    const last = await stream.finalChatCompletion();
    assert.deepEqual([text, last.choices[0].message.content, last.choices[0].finish_reason], ['Hello, world.', 'Hello, world.', 'stop']);
    assert.ok((await stream.totalUsage()).completion_tokens > 0);
  },
  async chatParse() {
    const format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } };
    const parsed = await openai.chat.completions.parse(completion('Where?', { response_format: format }));
    assert.equal(typeof JSON.parse(parsed.choices[0].message.content).city, 'string');
  },
  async chatRunsTools() {
    const cities = [];
    const weather = { type: 'function', function: { ...named, parameters: schema, parse: JSON.parse, function: ({ city }) => (cities.push(city), `Rain in ${city}`) } };
    const once = { maxChatCompletions: 2 };
    const runner = openai.chat.completions.runTools(completion(call, { stream: true, tools: [weather] }), once);
    await runner.done();
    assert.equal(cities[0], 'Oslo');
    const whole = openai.chat.completions.runTools(completion(call, { tools: [weather] }), once);
    await whole.done();
    assert.ok(whole.messages.some((one) => one.role === 'tool' && one.content === 'Rain in Oslo'));
  },
  async chatChoices() {
    const last = await openai.chat.completions.stream(completion(hello, { n: 2 })).finalChatCompletion();
    assert.deepEqual(last.choices.map((one) => one.message.content), ['Hello, world.', 'Hello, world.']);
  },
  async chatLogprobs() {
    const last = await openai.chat.completions.stream(completion(hello, { logprobs: true, top_logprobs: 2 })).finalChatCompletion();
    assert.equal(last.choices[0].logprobs.content.map((one) => one.token).join(''), 'Hello, world.');
  },
  async responsesStream() {
    const last = await openai.responses.stream({ model: 'default', input: hello }).finalResponse();
    assert.deepEqual([last.output_text, last.status], ['Hello, world.', 'completed']);
  },
  async responsesCall() {
    const tools = [{ type: 'function', ...named, parameters: schema, strict: true }];
    const last = await openai.responses.stream({ model: 'default', input: call, tools }).finalResponse();
    assert.equal(last.output[0].arguments, '{"city":"Oslo"}');
  },
};

let failed = 0;
for (const [name, helper] of Object.entries(helpers)) {
  try {
    await helper();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`failed  ${name}\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
