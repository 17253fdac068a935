// For browsers, Deno and bundlers.
import { use } from "./checker.js";

const response = await fetch(new URL("./checker.wasm", import.meta.url));
use((await WebAssembly.instantiate(await response.arrayBuffer())).instance);

export * from "./exports.js";
