/** A violation of a rule, with its first place and the number of similar places. As in JSON reports. */
export interface Finding {
  /** Id of the rule: `group/name`. */
  rule: string;
  level: "must" | "should" | "may" | "off";
  /** Description of the violation. */
  message: string;
  /** Exchange in the recording, if it has several. */
  exchange: string | null;
  /** Number of the frame in the stream, from 1. */
  frame: number;
  /** Number of the event in the stream, from 1; 0 in a response that is not a stream. */
  event: number;
  event_type: string | null;
  sequence_number: number | null;
  /** Line of the stream, from 1. */
  line: number;
  /** Range of bytes in the stream. */
  bytes: [number, number];
  /** JSON pointer to the place in the event. */
  pointer: string | null;
  expected: string | null;
  actual: string | null;
  /** Clients that were measured to break. */
  clients: string[];
  /** Fix on the server. */
  fix: string | null;
  /** Missing property, if one is missing. */
  missing?: string;
  /** A valid value for the missing property, and its name in another API. */
  supply?: { holder?: string; value: string; misnomer?: { name: string; api: string } };
  /** Finding that caused this one. */
  follows_from?: { rule: string; frame: number; line: number };
  /** The most lenient `failOn` that it fails: a SHOULD or MAY that is measured to break a client fails `breaks`. */
  fails_on: FailOn | null;
  /** Number of similar places. */
  count: number;
}

/** Thresholds for failing, the most lenient first; each includes the ones before it. `breaks`: findings that are measured to break a client. */
export type FailOn = "must" | "breaks" | "should" | "may";

export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/** Checks one stream while it arrives. Does no I/O. Chunk boundaries do not matter. */
export class Checker {
  /** A name of `dialects()`, such as `openai`, `anthropic`, `chat` or `gemini`. Without one, or with `auto`, the headers and the first event decide. */
  constructor(dialect?: string);
  /** The dialect of the rules; `auto` until it is recognised. */
  readonly dialect: string;
  /** Sets the status and headers of the response, if they are known. Call it before anything else. */
  response(status: number, headers: Iterable<[string, string]>): void;
  /** Checks the next bytes of a stream of server-sent events. Returns new findings. */
  push(chunk: Bytes): Finding[];
  /** Checks the data of one event that something else has parsed. Returns new findings. */
  event(data: string): Finding[];
  /** Checks the body of a response that is not a stream. Returns new findings. */
  body(data: Bytes): Finding[];
  /** Ends the stream. Returns new findings. */
  finish(): Finding[];
  /** Prepares for another stream. */
  reset(): void;
  /** All findings so far. Repeated ones are counted. */
  readonly findings: Finding[];
  /** Number of events so far. */
  readonly events: number;
  /** Number of violations that are not listed. */
  readonly omitted: number;
  /** Frees its memory at once; otherwise that happens some time after the last use. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Passes bytes through unchanged, and reports findings. */
export class CheckerStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(dialect?: string, onFinding?: (finding: Finding) => void);
  readonly checker: Checker;
}

export interface CheckOptions {
  /** Without a dialect, or with `auto`, the URL, headers, request and first event of each stream decide. */
  dialect?: string;
  /** The name of the recording in the report. */
  name?: string;
}

/** Checks a recording of any format, and returns the JSON report. Its schema: docs/report.schema.json. */
export function check(recording: Bytes, options?: CheckOptions): Report;

/** Checks a recording, and returns the report as a page without scripts. */
export function checkAsHtml(recording: Bytes, options?: CheckOptions): string;

export interface Report {
  version: number;
  dialect: string;
  outcome: "passed" | "failed" | "incomplete";
  captures: {
    name: string;
    streams: number;
    events: number;
    /** Error that stopped the reader. */
    error: string | null;
    findings: ReportedFinding[];
    /** The recognised dialects, with the number of streams and responses of each, and what shows it. */
    dialects?: { dialect: string; api: string; by: string; responses: number }[];
    /** Checked streams and responses that belong to another API, by API. */
    foreign?: Record<string, number>;
    /** Streams and responses of other APIs, which are not judged, by API. */
    other_apis?: Record<string, number>;
  }[];
  [member: string]: unknown;
}

export type ReportedFinding = Omit<Finding, "clients" | "fix" | "fails_on">;

/** Names of all dialects. */
export function dialects(): string[];

/**
 * Loads a dialect of your own under a name: the texts of its files by their path in its folder, such as `dialect.toml` and
 * `events/acme.progress.json`. Load a folder that it extends first. Throws an `Error` with the file and the line if one is
 * invalid.
 */
export function loadDialect(name: string, files: Record<string, string>): void;

/** The same from a folder, whose name is that of the dialect. Only for Node. Returns the name. */
export function loadDialectFolder(path: string): string;

export interface AssertOptions {
  dialect?: string;
  /** Threshold for failing [default: `breaks`]. */
  failOn?: FailOn;
  /** Rules that are known to be broken. */
  ignore?: string[];
}

/**
 * Reads a response to its end and rejects with a `ConformanceError` if it breaks rules; resolves to the findings that do
 * not count.
 */
export function assertConformant(
  response: Response | Uint8Array | string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options?: AssertOptions,
): Promise<Finding[]>;

/** A response breaks rules. */
export class ConformanceError extends Error {
  findings: Finding[];
}
