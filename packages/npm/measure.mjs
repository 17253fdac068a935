#!/usr/bin/env node
// How fast the checker is as WebAssembly: `measure.mjs WASM FILE`. Prints what
// `cargo bench --profile dist -p python --bench throughput -- FILE` prints for the same stream.
import { readFileSync } from "node:fs";
import { Checker, use } from "./checker.js";

const CHUNK = 64 << 10;
const [wasm, file] = process.argv.slice(2);
use(new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasm))));
const stream = readFileSync(file);
const events = stream.toString().split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
const checker = new Checker("openai");

/** The shortest time of many: what else runs on the machine lengthens the others. */
function best(work) {
  let shortest = Infinity;
  for (let round = 0; round < 1000; round++) {
    const began = performance.now();
    work();
    checker.reset();
    shortest = Math.min(shortest, performance.now() - began);
  }
  return shortest / 1000;
}

const pushed = best(() => {
  for (let at = 0; at < stream.length; at += CHUNK) checker.push(stream.subarray(at, at + CHUNK));
  checker.finish();
});
const given = best(() => events.forEach((event) => checker.event(event)));
console.log(`${Math.round(stream.length / pushed / 1e6)} MB/s`);
console.log(`${Math.round((given * 1e9) / events.length)} ns/event`);
