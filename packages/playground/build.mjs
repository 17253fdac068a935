#!/usr/bin/env node
// Builds the page: `build.mjs WASM OUT`. One file, with the module in it, that works from a disk without a network.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [wasm, out] = process.argv.slice(2);
const root = join(import.meta.dirname, "../..");
const read = (...path) => readFileSync(join(root, ...path), "utf8");

const examples = {
  good: read("spec/apis/responses/goldens/openai/text.sse"),
  broken: read("spec/apis/responses/goldens/openai/text.sse")
    .split("\n\n")
    .filter((event) => !event.includes('"type":"response.content_part.added"'))
    .join("\n\n"),
};
// In a script, only this could end it.
const literal = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const script = [
  `const MODULE = ${literal(gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"))};`,
  `const EXAMPLES = ${literal(examples)};`,
  read("packages/npm/checker.js").replaceAll(/^export /gm, ""),
  read("packages/playground/playground.js"),
].join("\n");
// The page has the look of the report that it shows.
const report = read("conformance/reports/src/html/style.css");
const style = report + read("packages/playground/style.css");
// One place names the project: set it before the first release.
const [, repository] = read("Cargo.toml").match(/^repository = "(https:[^"]+)"$/m);
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
// The report in its frame inherits the policy: its own style is allowed by its own hash.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)} ${hash(report)}`,
  // The icon of the report.
  "img-src data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const parts = { POLICY: policy, REPOSITORY: repository, STYLE: style, SCRIPT: script };
const page = read("packages/playground/page.html").replaceAll(/\b(POLICY|REPOSITORY|STYLE|SCRIPT)\b/g, (name) => parts[name]);
writeFileSync(out, page);
console.log(`${out}: ${Math.round(page.length / 1024)} KiB`);
