#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

const PROGRAM = process.platform === "win32" ? "tamis.exe" : "tamis";

/** Names of the packages with a program for this platform, the best first. */
function candidates() {
  const name = `tamis-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  // The report names the version of glibc where there is one. The static program of the musl package runs everywhere.
  const glibc = process.report?.getReport().header.glibcVersionRuntime;
  return glibc ? [name, `${name}-musl`] : [`${name}-musl`];
}

/** Path of the installed program; undefined without one. */
function program() {
  for (const name of candidates()) {
    try {
      return path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", PROGRAM);
    } catch {
      // The next one may be there.
    }
  }
  return undefined;
}

const file = program();
if (file === undefined) {
  console.error(
    `tamis: error: there is no program for ${process.platform} on ${process.arch} (looked for ${candidates().join(", ")}). ` +
      "If npm ran with --omit=optional, install again without it; else build from source with `cargo install tamis-cli`.",
  );
  process.exit(2);
}

const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both; the program decides what to do, and the launcher waits for it.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`tamis: error: ${file} cannot be started: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
