// What a person sees first: what this index holds, questions that it can answer, and the keys.

import * as api from "./api.js";
import { isProse } from "./colours.js";
import { element, fill } from "./elements.js";
import { searchForm } from "./search.js";
import { recentQuestions } from "./recent.js";
import { collectionName, count, figure } from "./words.js";

const KEYS = [
  ["/ or Ctrl K", "go to the search field"], ["↓ ↑ or j k", "next or previous result"], ["Enter", "open the result"],
  ["← →", "move the line, on the curve"], ["Esc", "put the line back; leave the field"], ["?", "show these keys"],
];

/** The keys and what they do. */
export const keyList = () => element("dl", { class: "keys" }, KEYS.map(([key, does]) =>
  element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, does))));

export async function show(view, parameters, rights, signal) {
  document.title = "Tamis";
  const name = element("h1", {}, "\u00a0"), size = element("p", { class: "size" }, "\u00a0");
  const asked = element("div", { class: "asked" });
  const { form, input } = searchForm(parameters);
  fill(view, element("div", { class: "home" }, name, size, form,
    element("p", { class: "hint" }, "Ask in your own words, or paste a name or an error message. You get what answers the question, and nothing if nothing does."),
    asked, element("section", { class: "by-keys" }, element("h2", {}, "Keys"), keyList())));
  input.focus({ preventScroll: true });
  const recent = questions("Recent", recentQuestions().slice(0, 5));
  fill(asked, recent);
  const status = await api.about();
  if (signal.aborted) return;
  const [first, ...others] = status.namespaces.map((one) => one.name);
  fill(name, first ? `${status.namespace || first}${others.length > 0 ? ` and ${count(others.length, "other")}` : ""}` : "Nothing is indexed yet");
  fill(size, first ? [`${count(status.documents, "document")}, ${count(status.passages, "passage")}`, status.collections.length > 1
    ? element("span", {}, status.collections.map((one) => `${collectionName(one.name)}\u00a0${figure(one.documents)}`).join(" · ")) : null]
    : ["Run ", element("code", {}, "tamis index"), " in the directory that this server was started for."]);
  const examples = await exampleQuestions(status).catch(() => []);
  if (!signal.aborted) fill(asked, questions("Try", examples), recent);
}

function questions(title, texts) {
  return texts.length === 0 ? null : element("section", {}, element("h2", {}, title), element("ul", {}, texts.map((text) =>
    element("li", {}, element("a", { href: `/?query=${encodeURIComponent(text)}` }, text)))));
}

/** Files to choose from, and those of a sort that are looked into. */
const FILES = 2000, OUTLINES = 8;

/** Headings that say nothing of what is under them. */
const PLAIN = /^(?:other|more|see|summary|contents|installation|usage|contributing|examples?|unreleased|overview|references?|further) ?/i;

/** The name of a note that begins with its day. */
const DATED = /(?:^|\/)\d{4}-\d\d-\d\d[^/]*$/;

/** Three headings and two public names of the index itself, each from another file, so that there is an answer. */
async function exampleQuestions(status) {
  const largest = [...status.languages].sort((a, b) => b.passages - a.passages).map((one) => one.name);
  const code = largest.find((name) => name && !isProse(name) && !/^(?:json|jsonl|yaml|toml|csv|xml|ini)$/.test(name));
  const languages = ["markdown", code].filter((name) => largest.includes(name));
  const files = languages.length === 0 ? [] : (await api.files(languages, FILES)).results.filter((file) => file.role === "main" && !/(?:^|\/)[.]/.test(file.path));
  const depth = (file) => Math.min(file.path.split("/").length, 3);
  const documents = files.filter((file) => file.language === "markdown").sort((a, b) => depth(a) - depth(b) || b.bytes - a.bytes);
  const notes = documents.filter((file) => DATED.test(file.path)).sort((a, b) => b.path.localeCompare(a.path)).slice(0, OUTLINES / 2);
  const sources = files.filter((file) => file.language === code).sort((a, b) => b.bytes - a.bytes);
  const chosen = new Set([...new Set([...notes, ...documents])].slice(0, OUTLINES).concat(sources.slice(0, OUTLINES)).map((file) => file.path));
  // A glob of all of them is one call.
  const outlines = chosen.size === 0 ? [] : (await api.outline(`{${[...chosen].map((path) => path.replace(/[\\*?{}[\],]/g, "\\$&")).join(",")}}`)).files;
  // A heading of several words says what it is about; so does a name of several parts. The title of a note is the heading over all of it.
  const heading = ({ depth: level, signature }, path) => (level === 0 && !DATED.test(path)) || PLAIN.test(signature) || !/^[\p{L}\p{N} ,'’:-]{12,56}$/u.test(signature) ? 0 : signature.split(" ").length;
  const symbol = ({ kind, name }) => (kind === "type" || kind === "class") && !/^_|^Test|Tests?$/.test(name) ? Math.min((name.match(/\p{Lu}\p{Ll}+/gu) ?? []).length, 3) : 0;
  const best = (isDocument, worth, least) => outlines.filter((file) => (file.language === "markdown") === isDocument)
    .map((file) => file.entries.map((entry) => [worth(entry, file.path), entry]).sort((a, b) => b[0] - a[0])[0])
    .filter((one) => one?.[0] >= least).sort((a, b) => b[0] - a[0]).map(([, entry]) => entry);
  const names = new Set(best(false, symbol, 2).map((entry) => entry.name));
  return [...best(true, heading, 1).slice(0, 3).map((entry) => entry.signature), ...[...names].slice(0, 2).map((name) => `what is ${name} for`)];
}
