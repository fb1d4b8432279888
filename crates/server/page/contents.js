// What is indexed, how fresh it is, and what the server is doing about it.

import * as api from "./api.js";
import { element, fill, say, section, table, tiles } from "./elements.js";
import { listen } from "./events.js";
import { capital, collectionName, count, figure, languageName, percent, size } from "./labels.js";

export async function show(view, parameters, rights, signal) {
  document.title = "Index – Tamis";
  const figures = element("div", { class: "stack" }, element("p", { class: "busy" }, "Reading …"));
  const job = element("p", { class: "job", id: "job" });
  const bar = element("progress", { "aria-labelledby": "job", class: "idle", max: 1, value: 0 });
  const now = element("button", { type: "button", hidden: !rights.may_refresh, onclick: () => {
    // An event that came after the request is newer than its answer: a short run may have ended by then.
    const before = events;
    reindex(now, (state) => events === before && heard("progress", state));
  } }, "Index now");
  const hint = element("p", { class: "hint", hidden: !rights.may_refresh }, "Reads the files and indexes what has changed.");
  const live = element("div", { class: "live", hidden: !rights.may_refresh }, job, bar);
  const read = reader(figures, signal);
  let seen = null;
  let events = 0;
  const reread = () => read().catch((problem) => say(problem.message, true));
  const heard = (name, data) => {
    live.hidden = false;
    if (name === "progress") {
      events += 1;
      // Who may not read everything hears of no change, but of the end of the work.
      if (data.phase === "fresh" && isBusy(job.dataset.phase)) reread();
      progress(data, job, bar, now);
    }
    if (name !== "index" || data.change === seen) return;
    if (seen !== null) reread();
    seen = data.change;
  };
  fill(view, element("div", { class: "titled" }, element("h1", {}, "Index"), now, hint), live, figures);
  listen(heard, signal);
  await read();
}

/** Reads the figures; one call at a time, and once more if the index changes meanwhile. */
function reader(place, signal) {
  let reading = null;
  let again = false;
  const once = async () => {
    do {
      again = false;
      const status = await api.status();
      if (!signal.aborted) fill(place, figuresOf(status));
    } while (again && !signal.aborted);
  };
  return () => {
    again = reading !== null;
    reading ??= once().finally(() => { reading = null; });
    return reading;
  };
}

async function reindex(button, answered) {
  button.disabled = true;
  say("The files are read now, and what has changed is indexed.", true);
  try {
    answered(await api.reindex());
  } catch (problem) {
    button.disabled = false;
    say(problem.message, true);
  }
}

const isBusy = (phase) => phase === "indexing" || phase === "embedding";

/** Says what the server is doing, in words and as a bar. */
function progress({ phase, done, total, model, reason }, job, bar, button) {
  const because = reason ? `: ${reason}` : "";
  const part = total > 0 ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
  const embedding = `Embedding${model ? ` with ${model}` : ""}${part}.`;
  const words = {
    off: `This server does not watch the files${because}.`,
    // The quick model embeds while the files are read.
    indexing: model ? embedding : `Reading files${part}.`,
    embedding,
    fresh: `The index is up to date${reason ? `, and the files are read once a minute${because}` : ""}.`,
    failed: `The last run failed${because}.`,
  };
  const busy = isBusy(phase);
  if (job.dataset.phase !== phase) {
    if (job.dataset.phase || busy) say(words[phase] ?? phase);
    job.dataset.phase = phase;
  }
  if (phase === "off") button.hidden = button.nextSibling.hidden = true;
  fill(job, words[phase] ?? phase);
  job.classList.toggle("warning", phase === "failed");
  bar.classList.toggle("idle", !busy);
  if (busy && !(total > 0)) bar.removeAttribute("value");
  else Object.assign(bar, { max: total > 0 ? total : 1, value: done });
  button.disabled = busy;
}

/** Languages that are listed at once. */
const MOST_LANGUAGES = 10;

function figuresOf(status) {
  const sizes = Object.values(status.sizes ?? {}).reduce((sum, bytes) => sum + bytes, 0);
  const counted = (list, named) => [...list ?? []].sort((a, b) => b.passages - a.passages).map((one) => [named(one.name), figure(one.documents), figure(one.passages)]);
  const languages = counted(status.languages, languageName);
  const models = (status.models ?? []).map(({ model, coverage }) => [model.id, figure(coverage.embedded), figure(coverage.passages - coverage.embedded)]);
  const [embedded, all] = (status.models ?? []).reduce(([sum, most], { coverage }) => [sum + coverage.embedded, most + coverage.passages], [0, 0]);
  // A model that has embedded nothing yet is not among them.
  const by = status.models?.length === 1 ? ` by ${status.models[0].model.id}` : "";
  const skipped = Object.entries(status.skipped ?? {}).map(([reason, files]) => [capital(reason), figure(files)]);
  const head = (name) => [name, "Documents", "Passages"];
  return [
    tiles([["Documents", figure(status.documents)], ["Passages", figure(status.passages)], all > 0 ? [`Embedded${by}`, percent(embedded / all)] : null,
      sizes > 0 ? ["On disk", size(sizes)] : null, ["Changed since", status.stale ? count(status.stale, "file") : "No file"]]),
    element("div", { class: "cards" },
      section("Collections", head("Collection"), counted(status.collections, collectionName)),
      languages.length === 0 ? null : element("section", {}, element("h2", {}, "Languages"), table(head("Language"), languages.slice(0, MOST_LANGUAGES)),
        languages.length > MOST_LANGUAGES ? element("details", {}, element("summary", {}, `${languages.length - MOST_LANGUAGES} more`),
          table(head("Language"), languages.slice(MOST_LANGUAGES))) : null),
      section("Namespaces", head("Namespace"), counted(status.namespaces, String)),
      section("Roles of the text", head("Role"), counted(status.roles, capital)),
      section("Models", ["Model", "Passages embedded", "Waiting"], models),
      section("Files left out", ["Reason", "Files"], skipped)),
    section("Documents without readable text", ["Document", "Reason"], (status.unread ?? []).map((one) => [one.path, capital(one.reason)])),
  ];
}
