#!/usr/bin/env node
// Packs what is published: `pack.mjs OUT WASM [PLATFORM=PROGRAM...]`. The main package depends on those of the platforms
// named here, such as linux-x64, linux-x64-musl, darwin-arm64 or win32-x64, as optional dependencies.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [out, wasm, ...platforms] = process.argv.slice(2);
const source = import.meta.dirname;
const main = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
main.optionalDependencies = {};

function pack(folder, contents) {
  writeFileSync(join(folder, "package.json"), JSON.stringify(contents, null, 2));
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(out)], options);
}

mkdirSync(out, { recursive: true });
for (const [platform, program] of platforms.map((named) => named.split("="))) {
  const [os, cpu, libc] = platform.split("-");
  const name = `@responses-conformance/${platform}`;
  const folder = join(out, "packages", platform);
  mkdirSync(folder, { recursive: true });
  const file = os === "win32" ? "conformance.exe" : "conformance";
  copyFileSync(program, join(folder, file));
  chmodSync(join(folder, file), 0o755);
  const { version, license, publishConfig } = main;
  const description = `The command of responses-conformance for ${platform}.`;
  const hosts = { os: [os], cpu: [cpu], ...(os === "linux" && { libc: [libc ?? "glibc"] }) };
  pack(folder, { name, version, description, license, ...hosts, files: [file], publishConfig });
  main.optionalDependencies[name] = version;
}
const folder = join(out, "packages", "main");
mkdirSync(folder, { recursive: true });
for (const file of ["README.md", ...main.files.filter((file) => file !== "checker.wasm")]) {
  cpSync(join(source, file), join(folder, file), { recursive: true });
}
copyFileSync(wasm, join(folder, "checker.wasm"));
pack(folder, main);
