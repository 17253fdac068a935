// For Node, whose fetch reads no files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { loadDialect, use } from "./checker.js";

const bytes = readFileSync(new URL("./checker.wasm", import.meta.url));
use(new WebAssembly.Instance(new WebAssembly.Module(bytes)));

export * from "./exports.js";

export function loadDialectFolder(path) {
  const listed = ["dialect.toml", "errata.toml"].filter((name) => existsSync(join(path, name)));
  for (const kind of ["events", "types"]) {
    const folder = join(path, kind);
    if (existsSync(folder)) listed.push(...readdirSync(folder).map((name) => `${kind}/${name}`));
  }
  const name = basename(resolve(path));
  loadDialect(name, Object.fromEntries(listed.map((file) => [file, readFileSync(join(path, file), "utf8")])));
  return name;
}
