#!/usr/bin/env node
// Runs the program of the package for this platform.
import { spawn } from "node:child_process";
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

const program = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
// The program gets Ctrl-C, too, and ends by itself. Its exit code counts.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => program.kill(signal));
}
program.on("error", (error) => {
  console.error(`error: ${error.message}`);
  process.exit(2);
});
program.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
