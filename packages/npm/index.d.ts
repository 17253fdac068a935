/** A place where a stream breaks a rule, and how often it does so in the same way. As in JSON reports. */
export interface Finding {
  /** The rule, `group/name`. */
  rule: string;
  level: "must" | "should" | "may" | "off";
  /** What is wrong. */
  message: string;
  /** The exchange of the recording, when it holds several. */
  exchange: string | null;
  /** Number of the frame in the stream, from 1. */
  frame: number;
  /** Number of the event in the stream, from 1; 0 in a response that is no stream. */
  event: number;
  event_type: string | null;
  sequence_number: number | null;
  /** Line of the stream, from 1. */
  line: number;
  /** From which byte to which. */
  bytes: [number, number];
  /** JSON pointer into the event. */
  pointer: string | null;
  expected: string | null;
  actual: string | null;
  /** The clients that it breaks. */
  clients: string[];
  /** How a server repairs it. */
  fix: string | null;
  /** The missing property, if that is the fault. */
  missing?: string;
  /** What is known of the missing property: a valid value, and the name that another API has for it. */
  supply?: { holder?: string; value: string; misnomer?: { name: string; api: string } };
  /** The finding that it follows from. */
  follows_from?: { rule: string; frame: number; line: number };
  /** The most lenient `failOn` that it fails: a SHOULD or MAY that is measured to break a client fails `breaks`. */
  fails_on: FailOn | null;
  /** How many places are alike. */
  count: number;
}

/** Findings that fail, from the most lenient; each includes those before it. `breaks`: what is measured to break a client. */
export type FailOn = "must" | "breaks" | "should" | "may";

export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView | string;

/** Judges one stream while it comes: without I/O, and the same however the bytes are cut. */
export class Checker {
  /** Without a dialect, or with `auto`, that of the stream is recognised by its headers and its first event. */
  constructor(dialect?: string);
  /** The dialect of the rules; `auto` until it is recognised. */
  readonly dialect: string;
  /** Takes the status and the headers of the response, where they are known, before anything else. */
  response(status: number, headers: Iterable<[string, string]>): void;
  /** Takes the next bytes of a stream of server-sent events. Returns what was found for the first time. */
  push(chunk: Bytes): Finding[];
  /** Takes the data of one event, which something else has framed. */
  event(data: string): Finding[];
  /** Takes the body of a response that is no stream. */
  body(data: Bytes): Finding[];
  /** Ends the stream. */
  finish(): Finding[];
  /** Forgets the stream, to judge another one. */
  reset(): void;
  /** What was found so far; what repeats is counted. */
  readonly findings: Finding[];
  /** How many events there were so far. */
  readonly events: number;
  /** How many faults there were beyond those that are listed. */
  readonly omitted: number;
  /** Frees its memory at once; otherwise that happens some time after the last use. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Passes bytes through unchanged, and reports what is wrong with them. */
export class CheckerStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(dialect?: string, onFinding?: (finding: Finding) => void);
  readonly checker: Checker;
}

export interface CheckOptions {
  /** Without it, or with `auto`, that of each stream is recognised by its URL, headers, request and first event. */
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
    /** Why it could not be read. */
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

/** The names of all dialects. */
export function dialects(): string[];

export interface AssertOptions {
  dialect?: string;
  /** The findings that fail: `breaks`, unless given. */
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
