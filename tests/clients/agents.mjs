// Agents that are commands: Claude Code, Codex and opencode. Each case starts one, with its question, in an empty home of its own, and
// reads what it prints as JSON. They have no tools, as a recording could call them, and ask no host but the suite.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { serve, versionOf } from './lines.mjs';

const PACKAGES = process.env.PACKAGES;
const LIMIT = 4 << 20;

const AGENTS = {
  claude: {
    name: '@anthropic-ai/claude-code',
    command: 'claude',
    words: ({ model, question }) => [
      '-p', question, '--model', model, '--output-format', 'stream-json', '--verbose', '--max-turns', '1', '--tools', '',
      '--strict-mcp-config', '--setting-sources', '', '--disable-slash-commands', '--no-session-persistence',
    ],
    environment: ({ baseUrl, key }) => ({
      ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, ''),
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
    }),
    read(lines) {
      const result = lines.findLast(({ type }) => type === 'result');
      if (!result || result.is_error) throw new Failed(result?.result ?? result?.errors?.[0]);
      const parts = lines.filter(({ type }) => type === 'assistant').flatMap(({ message }) => message.content ?? []);
      return {
        text: joined(parts.map((part) => (part.type === 'text' ? part.text : ''))),
        reasoning: joined(parts.map((part) => (part.type === 'thinking' ? part.thinking : ''))),
        response_status: result.stop_reason,
        usage: counts(result.usage),
      };
    },
  },
  codex: {
    name: '@openai/codex',
    command: 'codex',
    words: ({ model, question, baseUrl, timeout }) => {
      const provider = {
        name: 'suite', base_url: baseUrl, env_key: 'SUITE_KEY', wire_api: 'responses', request_max_retries: 0, stream_max_retries: 0,
        stream_idle_timeout_ms: timeout, supports_websockets: false,
      };
      const off = ['apps', 'image_generation', 'multi_agent', 'plugins', 'shell_snapshot', 'shell_tool', 'unified_exec'];
      const settings = [
        'model_provider="suite"',
        `model_providers.suite={${Object.entries(provider).map(([name, value]) => `${name}=${JSON.stringify(value)}`)}}`,
        'web_search="disabled"',
        ...off.map((name) => `features.${name}=false`),
      ];
      return [
        'exec', '--json', '--skip-git-repo-check', '--ephemeral', '--sandbox', 'read-only', ...settings.flatMap((one) => ['-c', one]),
        '-m', model, '--', question,
      ];
    },
    environment: ({ home, key }) => ({ CODEX_HOME: home, SUITE_KEY: key }),
    read(lines) {
      const failed = lines.findLast(({ type }) => type === 'turn.failed' || type === 'error');
      if (failed) throw new Failed((failed.error ?? failed).message);
      const items = lines.filter(({ type }) => type === 'item.completed').map(({ item }) => item);
      const of = (kind) => joined(items.map((item) => (item.type === kind ? item.text : '')));
      const ended = lines.findLast(({ type }) => type === 'turn.completed');
      if (!ended) throw new Failed();
      return { text: of('agent_message'), reasoning: of('reasoning'), usage: counts(ended.usage) };
    },
  },
  opencode: {
    name: 'opencode-ai',
    command: 'opencode',
    words: ({ question }) => ['run', '--pure', '--title', 'suite', '--format', 'json', question],
    environment: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }),
    prepare({ home, model, baseUrl, key }) {
      const options = { baseURL: baseUrl, apiKey: key };
      const suite = { npm: '@ai-sdk/openai-compatible', name: 'suite', options, models: { [model]: { name: model } } };
      const settings = {
        model: `suite/${model}`, small_model: `suite/${model}`, provider: { suite }, tools: { '*': false }, permission: { '*': 'deny' },
        autoupdate: false, share: 'disabled', lsp: false, formatter: false,
      };
      writeFileSync(join(home, 'opencode.json'), JSON.stringify(settings));
    },
    read(lines) {
      const failed = lines.findLast(({ type }) => type === 'error');
      if (failed) throw new Failed(failed.error?.data?.message ?? failed.error?.name);
      const ended = lines.findLast(({ type }) => type === 'step_finish');
      if (!ended) throw new Failed();
      const of = (kind) => joined(lines.map((line) => (line.type === kind ? line.part?.text : '')));
      return { text: of('text'), reasoning: of('reasoning'), response_status: ended.part?.reason };
    },
  },
};

class Failed extends Error {
  constructor(message) {
    super(typeof message === 'string' ? message : 'it ends without an answer');
  }
}

const joined = (texts) => texts.filter((text) => typeof text === 'string').join('');

const counts = (usage) => ({ input_tokens: usage?.input_tokens ?? null, output_tokens: usage?.output_tokens ?? null });

// The text that a request asks, if it is all that it asks for.
function questionOf({ input, messages, tools }) {
  const asked = input ?? (messages?.length === 1 ? messages[0].content : null);
  return typeof asked === 'string' && !tools?.length ? asked : null;
}

const agent = AGENTS[process.argv[2]];

async function ask(asked) {
  const question = questionOf(asked.request);
  if (question === null || asked.transport !== 'sse' || asked.steps?.length || asked.cancel_after_events) {
    return { status: 'unsupported', error: { message: 'it brings its own tools, and reads streams alone' } };
  }
  const home = mkdtempSync(join(tmpdir(), 'agent-'));
  const about = {
    home, question, model: asked.request.model, baseUrl: asked.base_url, key: asked.api_key, timeout: Math.max(asked.timeout_ms - 300, 300),
  };
  try {
    agent.prepare?.(about);
    const { lines, errors, code } = await run(about);
    try {
      const told = agent.read(lines);
      if (code !== 0) throw new Failed(`it ends with ${code}`);
      return told;
    } catch (error) {
      // What it prints beside the lines says why there are none.
      throw lines.length === 0 && errors ? new Failed(errors.trim().slice(-500)) : error;
    }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

function run(about) {
  const { HOME, USERPROFILE, ...kept } = process.env;
  const environment = {
    ...kept, HOME: about.home, USERPROFILE: about.home, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...agent.environment(about),
  };
  const command = join(PACKAGES, 'node_modules', '.bin', agent.command);
  return new Promise((resolve, reject) => {
    const child = spawn(command, agent.words(about), { cwd: about.home, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
      if (out.length > LIMIT) child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-4000)));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ lines: out.split('\n').flatMap(parsed), errors, code: code ?? signal }));
  });
}

function parsed(line) {
  try {
    const value = JSON.parse(line);
    return value && typeof value === 'object' ? [value] : [];
  } catch {
    return [];
  }
}

await serve(versionOf(agent.name), ask);
