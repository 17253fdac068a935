// For Node, whose fetch reads no files.
import { readFileSync } from "node:fs";
import { use } from "./checker.js";

const bytes = readFileSync(new URL("./checker.wasm", import.meta.url));
use(new WebAssembly.Instance(new WebAssembly.Module(bytes)));

export * from "./exports.js";
