// What the server reports as it happens.

import * as api from "./api.js";
import { percent } from "./labels.js";

/** How long a stream that ended is left alone. */
const PAUSE_MS = 3000;

/** Statuses after which asking again is of no use: an older server, or a caller who may not listen. */
const FINAL = new Set([401, 403, 404, 405]);

/**
 * Hands each event of the server to `heard(name, data)` until the signal aborts. A stream that breaks off is asked for again. Returns
 * false if this server has no events for this caller. A tab out of sight does not listen: all tabs share a browser's few connections.
 */
export async function listen(heard, signal) {
  while (!signal.aborted) {
    const turned = new AbortController();
    const either = AbortSignal.any([signal, turned.signal]);
    document.addEventListener("visibilitychange", () => turned.abort(), { once: true, signal: either });
    try {
      if (!document.hidden) for await (const [name, data] of eventsOf(await api.events(either))) heard(name, data);
    } catch (problem) {
      if (signal.aborted) break;
      if (FINAL.has(problem.status)) return false;
    }
    await pause(either);
    turned.abort();
  }
  return true;
}

/**
 * Follows the server while it reads files: `said` gets a sentence each time that it got further, and `ended` is called when it has read them
 * all, or at once if it reads none. It listens no longer.
 */
export function whileReading(signal, said, ended) {
  const done = new AbortController();
  listen((name, { phase, done: step, total, model }) => {
    if (name !== "progress") return;
    if (phase === "indexing") return said(`${model ? "Passages are being embedded" : "Files are being indexed"}${total > 0 ? `: ${percent(step / total)}` : ""}.`);
    done.abort();
    ended(phase);
  }, AbortSignal.any([signal, done.signal]));
}

function pause(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/** The events of a stream: blocks of lines with a name and JSON, and an empty line after each. Comments begin with a colon. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text = (text + value).replaceAll("\r\n", "\n");
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => line.match(/^(event|data): ?(.*)$/)).filter(Boolean);
      const named = (name) => fields.filter(([, field]) => field === name).map(([, , content]) => content).join("\n");
      if (named("data")) yield [named("event") || "message", JSON.parse(named("data"))];
    }
  }
}
