#!/usr/bin/env node
// Runs the program of the package for this platform.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

function libc() {
  if (process.platform !== "linux") return "";
  return process.report.getReport().header.glibcVersionRuntime ? "" : "-musl";
}

function binary() {
  if (process.env.CONFORMANCE_BINARY) return process.env.CONFORMANCE_BINARY;
  const name = `@responses-conformance/${process.platform}-${process.arch}${libc()}`;
  const file = process.platform === "win32" ? "conformance.exe" : "conformance";
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    console.error(
      `error: the package ${name} is not installed. It is an optional dependency of responses-conformance: install ` +
        "without --omit=optional, or name a program with CONFORMANCE_BINARY",
    );
    process.exit(2);
  }
}

// The program ends by itself on Ctrl-C, and its exit code counts.
process.on("SIGINT", () => {});
const run = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`error: ${run.error.message}`);
  process.exit(2);
}
process.exit(run.status ?? 128 + constants.signals[run.signal]);
