// For Node, whose fetch reads no files.
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { loadDialect, use } from "./checker.js";

const bytes = readFileSync(new URL("./checker.wasm", import.meta.url));
use(new WebAssembly.Instance(new WebAssembly.Module(bytes)));

export * from "./exports.js";

// The module takes no more in all. Links could lead out of the folder.
const MOST_BYTES = 16 << 20;

function real(path, isMeant) {
  const about = lstatSync(path);
  if (!isMeant(about)) throw new Error(`${path}: expected a file in a folder, and no link`);
  if (about.size > MOST_BYTES) throw new Error(`${path}: the files of a dialect have at most 16 MiB together`);
  return path;
}

export function loadDialectFolder(path) {
  const listed = ["dialect.toml", "errata.toml"].filter((name) => existsSync(join(path, name)));
  for (const kind of ["events", "types"].filter((name) => existsSync(join(path, name)))) {
    const folder = real(join(path, kind), (about) => about.isDirectory());
    listed.push(...readdirSync(folder).map((name) => `${kind}/${name}`));
  }
  const text = (file) => readFileSync(real(join(path, file), (about) => about.isFile()), "utf8");
  const name = basename(resolve(path));
  loadDialect(name, Object.fromEntries(listed.map((file) => [file, text(file)])));
  return name;
}
