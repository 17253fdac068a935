// The checker, on a WebAssembly module that the entry points load. Texts and bytes pass through two buffers of the
// module: its input, which is written before a call, and its output, which is read after it.

let wasm;

/** Takes the module that everything here runs on. */
export function use(instance) {
  wasm = instance.exports;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function write(bytes) {
  const at = wasm.input(bytes.length);
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
}

function read(length) {
  return decoder.decode(new Uint8Array(wasm.memory.buffer, wasm.output(), length));
}

function found(length) {
  return length === 0 ? [] : JSON.parse(read(length));
}

function bytesOf(data) {
  if (typeof data === "string") return encoder.encode(data);
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError("bytes are a Uint8Array, an ArrayBuffer or a string");
}

export function dialects() {
  return JSON.parse(read(wasm.dialects()));
}

/** Loads a dialect of its own: its name, and the texts of its files by their path in the folder. */
export function loadDialect(name, files) {
  write(encoder.encode(JSON.stringify([name, files])));
  const problem = read(wasm.load());
  if (problem) throw new Error(problem);
}

function noSuchDialect(name) {
  return new RangeError(`there is no dialect ${JSON.stringify(name)}; there are: ${dialects().join(", ")}`);
}

// Frees the checkers that nobody holds any more.
const registry = new FinalizationRegistry((handle) => wasm.close(handle));

export class Checker {
  #handle;
  #finished = false;

  constructor(dialect = "auto") {
    write(encoder.encode(dialect));
    this.#handle = wasm.open();
    if (this.#handle === 0) throw noSuchDialect(dialect);
    registry.register(this, this.#handle, this);
  }

  #take(call, data) {
    if (this.#finished) throw new Error("the stream has been finished: call reset() to judge another one");
    write(bytesOf(data));
    return found(call(this.#handle));
  }

  response(status, headers) {
    this.#take(wasm.response, JSON.stringify([status, [...headers]]));
  }

  push(chunk) {
    return this.#take(wasm.push, chunk);
  }

  event(data) {
    return this.#take(wasm.event, data);
  }

  body(data) {
    return this.#take(wasm.body, data);
  }

  finish() {
    const last = this.#take(wasm.finish, "");
    this.#finished = true;
    return last;
  }

  reset() {
    wasm.reset(this.#handle);
    this.#finished = false;
  }

  get dialect() {
    return read(wasm.dialect(this.#handle));
  }

  get findings() {
    return found(wasm.findings(this.#handle));
  }

  get events() {
    return wasm.events(this.#handle);
  }

  get omitted() {
    return wasm.omitted(this.#handle);
  }

  free() {
    registry.unregister(this);
    wasm.close(this.#handle);
    this.#handle = 0;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.free();
  }
}

export class CheckerStream extends TransformStream {
  constructor(dialect = "auto", onFinding = () => {}) {
    const checker = new Checker(dialect);
    const tell = (findings) => findings.forEach((finding) => onFinding(finding));
    super({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        tell(checker.push(chunk));
      },
      flush() {
        tell(checker.finish());
      },
    });
    this.checker = checker;
  }
}

function report(recording, { dialect = "auto", name = "recording" }, isPage) {
  const bytes = bytesOf(recording);
  const head = encoder.encode(`${dialect}\n${name.replaceAll("\n", " ")}\n`);
  const all = new Uint8Array(head.length + bytes.length);
  all.set(head);
  all.set(bytes, head.length);
  write(all);
  const text = read(wasm.check(isPage));
  if (text === "") throw noSuchDialect(dialect);
  return text;
}

export function check(recording, options = {}) {
  return JSON.parse(report(recording, options, false));
}

export function checkAsHtml(recording, options = {}) {
  return report(recording, options, true);
}

// From the most lenient.
const FAIL_ON = ["must", "breaks", "should", "may"];

export async function assertConformant(response, { dialect = "auto", failOn = "breaks", ignore = [] } = {}) {
  if (!FAIL_ON.includes(failOn)) throw new RangeError(`failOn is one of ${FAIL_ON.join(", ")}, not ${failOn}`);
  const failing = FAIL_ON.slice(0, FAIL_ON.indexOf(failOn) + 1);
  const checker = new Checker(dialect);
  try {
    const isStream = !(response instanceof Response) || isEventStream(response);
    if (response instanceof Response) checker.response(response.status, response.headers);
    const chunks = response instanceof Response ? (response.body ?? []) : response;
    let body = [];
    let length = 0;
    for await (const chunk of chunks instanceof Uint8Array || typeof chunks === "string" ? [chunks] : chunks) {
      length += chunk.length;
      if (isStream) checker.push(chunk);
      else body.push(bytesOf(chunk));
    }
    if (length === 0) throw new Error("the response is empty: nothing was judged");
    if (!isStream) checker.body(joined(body, length));
    checker.finish();
    if (isStream && checker.events === 0) throw new Error("the stream has no event: nothing was judged");
    const counts = (finding) => failing.includes(finding.fails_on) && !ignore.includes(finding.rule);
    const findings = checker.findings;
    const broken = findings.filter(counts);
    if (broken.length > 0) throw new ConformanceError(broken, checker.dialect);
    return findings;
  } finally {
    checker.free();
  }
}

function isEventStream(response) {
  return (response.headers.get("content-type") ?? "").trimStart().startsWith("text/event-stream");
}

function joined(chunks, length) {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

export class ConformanceError extends Error {
  constructor(findings, dialect) {
    const rules = new Set(findings.map((finding) => finding.rule));
    const lines = [`the response breaks ${rules.size} rules of ${dialect}`];
    for (const finding of findings.slice(0, 10)) {
      const type = finding.event_type ? ` (${finding.event_type})` : "";
      lines.push("", `error[${finding.rule}]: event ${finding.event}${type}: ${finding.message}`);
      const about = {
        at: finding.pointer,
        expected: finding.expected,
        found: finding.actual,
        breaks: finding.clients.join(", "),
        fix: finding.fix,
      };
      for (const [name, text] of Object.entries(about)) if (text) lines.push(`  ${name}: ${text}`);
    }
    if (findings.length > 10) lines.push("", `and ${findings.length - 10} more findings`);
    super(lines.join("\n"));
    this.name = "ConformanceError";
    this.findings = findings;
  }
}
