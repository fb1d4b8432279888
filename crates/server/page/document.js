// One document, or a part of it, with the hit marked and what is related beside it.

import * as api from "./api.js";
import { evidencePath, surroundings } from "./claim.js";
import { colouring, isProse } from "./highlight.js";
import { placeTools } from "./editor.js";
import { breakable, element, fill, lines, marked } from "./elements.js";
import { aboutThread, readThread, threadParts } from "./thread.js";
import { languageName, placeOf, titleOf } from "./labels.js";

/** Lines that are shown at a time. */
const WINDOW = 2000;

/** The address of a passage on this page. */
export function documentAddress(hit, query = "") {
  const parameters = new URLSearchParams({ at: `${hit.namespace}:${hit.path}`, from: hit.start_line, to: hit.end_line ?? hit.start_line });
  if (hit.language) parameters.set("language", hit.language);
  if (query) parameters.set("query", query);
  return `/?view=document&${parameters}`;
}

export async function show(view, parameters, rights, signal) {
  const at = parameters.get("at") ?? "";
  const query = parameters.get("query") ?? "";
  const hit = [Number(parameters.get("from")) || 0, Number(parameters.get("to")) || -1];
  fill(view, element("p", { class: "busy" }, "Reading …"));
  const shown = await asThread(at, query, hit, parameters) ?? await asLines(at, query, hit, parameters);
  const { excerpt } = shown;
  const beside = element("aside", { "aria-label": "Related" }, element("h2", {}, "Related"), element("p", { class: "busy" }, "Looking …"));
  fill(view, element("div", { class: "reading" }, element("article", {},
    bar(excerpt, shown.title, query, hit, parameters, beside),
    shown.title ? element("h1", {}, shown.title) : null,
    shown.content), beside));
  document.title = `${excerpt.path} – Tamis`;
  if (!history.state?.y) document.getElementById(`L${hit[0]}`)?.scrollIntoView({ block: "center" });
  const found = hit[0] > 0 || shown.isEvidence ? await relatedTo(`${excerpt.namespace}:${excerpt.path}:${hit[0] || 1}`, query) : null;
  if (!signal.aborted) fill(beside, found && [element("h2", {}, "Related"), found]);
}

/** What stays in sight: the document, its lines, what is done with its place, and the ways back and, where it is far below, to what is related. */
function bar({ path, namespace }, title, query, [from, to], parameters, beside) {
  const came = history.state?.from ?? "";
  const view = new URLSearchParams(came.slice(2)).get("view");
  const back = came.length > 2 && view !== "document" ? came : query ? `/?${new URLSearchParams({ query })}` : null;
  const label = back === came ? { compare: "Comparison", evidence: "Evidence" }[view] ?? "Results" : "Results";
  const language = parameters.get("language") && languageName(parameters.get("language"));
  const facts = [...(title || !from ? [] : [to > from ? `lines ${from}–${to}` : `line ${from}`, language]), namespace];
  return element("div", { class: "bar" }, back ? element("a", { class: "back", href: back }, `← ${label}`) : null,
    element(title ? "span" : "h1", {}, title ? titleOf({ path }) : breakable(path)), element("span", { class: "place" }, facts.filter(Boolean).join(" · ")),
    placeTools({ namespace, path, start_line: Math.max(from, 1) }), element("button", { type: "button", class: "tool below", onclick: () => beside.scrollIntoView() }, "Related"));
}

/** An issue whose text reads as a thread; null for other documents. A thread is short enough to be read whole. */
async function asThread(at, query, hit, parameters) {
  if (!/(?:^|:)issue:\d+$/.test(at) || parameters.has("lines")) return null;
  const excerpt = await api.read(at);
  const thread = readThread(excerpt.text);
  return thread && { excerpt, title: thread.title, content: [aboutThread(thread), threadParts(thread, query, hit)] };
}

/** A document by its lines. It can have hundreds of thousands: those around the hit come first, and links lead to the others. */
async function asLines(at, query, hit, parameters) {
  const asked = (parameters.get("lines") ?? "").match(/^(\d+)-(\d+)$/);
  const start = Math.max(1, hit[0] - WINDOW / 2);
  const [from, to] = asked ? [Number(asked[1]), Number(asked[2])] : [start, start + WINDOW - 1];
  const excerpt = await api.read(`${at}:${from}-${to}`);
  const first = excerpt.start_line ?? 1;
  const others = (label, line) => {
    const address = new URLSearchParams(parameters);
    address.set("lines", `${line}-${line + WINDOW - 1}`);
    return element("p", {}, element("a", { href: `/?${address}` }, label));
  };
  const evidence = evidencePath(excerpt.path);
  if (evidence) return { excerpt, isEvidence: true, title: marked(excerpt.text.trim(), query), content: await around(evidence, excerpt.namespace) };
  const language = languageOf(excerpt.path, parameters);
  return { excerpt, title: excerpt.title, content: [
    first > 1 ? others("Earlier lines", Math.max(1, first - WINDOW)) : null,
    lines(excerpt.text, first, query, hit, colouring(language), isProse(language, null, excerpt.text)),
    excerpt.end_line === to ? others("Later lines", to + 1) : null,
  ] };
}

/** A claim or a fragment is its own title, over what the graph says of it. */
async function around(evidence, namespace) {
  try {
    return await surroundings(evidence, namespace);
  } catch (problem) {
    return element("p", { class: "warning" }, problem.message);
  }
}

/** The language of the result, or what the name of the file says. */
function languageOf(path, parameters) {
  const extension = path.split(".").at(-1);
  const known = { rs: "rust", py: "python", js: "javascript", mjs: "javascript", ts: "typescript", rb: "ruby", kt: "kotlin", cs: "csharp", h: "c", hpp: "cpp", cc: "cpp", sh: "bash", hs: "haskell", ex: "elixir", exs: "elixir", yml: "yaml", md: "markdown", txt: "text" };
  return parameters.get("language") ?? known[extension] ?? extension;
}

async function relatedTo(place, query) {
  let found;
  try {
    found = await api.related(place);
  } catch (problem) {
    return element("p", {}, problem.message);
  }
  const group = (title, hits) => hits.length === 0 ? null : [
    element("h3", {}, title),
    element("ul", {}, hits.map((hit) => element("li", {},
      element("a", { href: documentAddress(hit, query) }, titleOf(hit)),
      element("span", { class: "place" }, placeOf(hit))))),
  ];
  const begin = (one) => ({ ...one, start_line: 1 });
  const groups = [
    group("Similar", found.similar ?? []),
    group("Uses", (found.references ?? []).flatMap((one) => one.definitions ?? [one])),
    group("Used by", found.referenced_by ?? []),
    group("Links to", (found.links ?? []).map(begin)),
    group("Linked from", (found.linked_from ?? []).map((one) => ({ ...one, start_line: one.lines[0] }))),
    group("Commits", (found.commits ?? []).map((one) => begin({ ...one, namespace: found.passage.namespace }))),
  ].filter(Boolean);
  return groups.length > 0 ? groups : element("p", {}, "Nothing is related closely enough.");
}
