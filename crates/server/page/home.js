// What a person sees first: what this index holds, questions that it can answer, and the keys.

import * as api from "./api.js";
import { isProse } from "./highlight.js";
import { element, fill, say } from "./elements.js";
import { whileReading } from "./events.js";
import { searchForm } from "./search.js";
import { recentQuestions } from "./recent.js";
import { collectionName, count, figure } from "./labels.js";

const KEYS = [
  [["/", "Ctrl K"], "go to the search field"], [["↓", "↑", "j", "k"], "next or previous result"], [["Enter"], "open the result"],
  [["←", "→"], "move the line, on the curve"], [["Esc"], "put the line back; leave the field"], [["?"], "show these keys"],
];

/** The keys and what they do. */
export const keyList = () => element("dl", { class: "keys" }, KEYS.map(([keys, does]) =>
  element("div", {}, element("dt", {}, keys.map((key) => [element("kbd", {}, key), " "])), element("dd", {}, does))));

export async function show(view, parameters, rights, signal) {
  document.title = "Tamis";
  const name = element("h1", {}, "\u00a0"), size = element("p", { class: "size" }, "\u00a0");
  const asked = element("div", { class: "asked waiting" });
  const { form, input } = searchForm(parameters);
  fill(view, element("div", { class: "home" }, name, size, form,
    element("p", { class: "hint" }, "Ask in your own words, or paste a name or an error message. You get what answers the question, and nothing if nothing does."),
    asked, element("section", { class: "by-keys" }, element("h2", {}, "Keys"), keyList())));
  input.focus({ preventScroll: true });
  const recent = questions("Recent", recentQuestions().slice(0, 5));
  fill(asked, recent);
  let status = null, progress = null;
  const draw = () => {
    const [first, ...others] = status?.namespaces.map((one) => one.name) ?? [];
    fill(name, first ? `${status.namespace || first}${others.length > 0 ? ` and ${count(others.length, "other")}` : ""}`
      : progress ? "Indexing …" : status ? "Nothing is indexed yet" : "\u00a0");
    fill(size, progress ?? (first ? [`${count(status.documents, "document")}, ${count(status.passages, "passage")}`, status.collections.length > 1
      ? element("span", {}, status.collections.map((one) => `${collectionName(one.name)}\u00a0${figure(one.documents)}`).join(" · ")) : null]
      : status ? ["Run ", element("code", {}, "tamis index"), " in the directory that this server was started for."] : "\u00a0"));
  };
  const load = async () => {
    api.about.known = null;
    const asking = api.about(), answer = await asking;
    if (signal.aborted || asking !== api.about.known) return;
    status = answer;
    draw();
    const examples = status.namespaces.length > 0 ? await exampleQuestions(status).catch(() => []) : [];
    asked.classList.remove("waiting");
    if (!signal.aborted) fill(asked, questions("Try", examples), recent);
  };
  // The status takes seconds while files are read, and counts what there is by then: the events say sooner how far that is.
  whileReading(signal, (sentence) => {
    progress = sentence;
    draw();
  }, () => {
    if (progress === null) return;
    progress = null;
    load().catch((problem) => say(problem.message, true));
  });
  // What was known before is there at once.
  api.about.known?.then((known) => {
    status ??= known;
    draw();
  }, () => {});
  await load();
}

function questions(title, texts) {
  return texts.length === 0 ? null : element("section", {}, element("h2", {}, title), element("ul", {}, texts.map((text) =>
    element("li", {}, element("a", { href: `/?query=${encodeURIComponent(text)}` }, text)))));
}

/** Files to choose from, and those of a sort that are looked into. */
const FILES = 2000, OUTLINES = 12;

/** Examples, and those of them that come from headings. */
const EXAMPLES = 5, HEADINGS = 3;

/** Verbs with which headings of instructions begin. Those that are nouns as often, such as "index" or "test", are left out. */
const VERBS = ("add adjust apply avoid build change choose combine configure connect convert create customize debug define delete deploy disable "
  + "enable ensure evaluate exclude export extend extract find fix generate handle implement import improve include install integrate keep limit "
  + "make manage measure merge migrate override parse pass prevent provide publish read reduce register remove rename replace resolve restore "
  + "restrict retry reuse run save select send serve set share speed start stop store switch translate update upgrade use validate verify write").split(" ");

/** What a person would ask to get to a heading: itself if it is a question, "how to add a route" for "Adding a route"; else nothing. */
function questionOf(heading) {
  if (!/^[\p{L}\p{N} ,'’:_?-]{12,60}$/u.test(heading)) return null;
  const [first, ...rest] = heading.split(" ");
  if (rest.length < 2 || /\b(?:it|its|this|that|these|those|we|you)\b/i.test(heading)) return null;
  if (heading.endsWith("?") || /^(?:how (?:to|do|does|is|are)|why) /i.test(heading)) return heading;
  const verb = VERBS.find((one) => [one, `${one}ing`, `${one.replace(/e$/, "")}ing`, `${one}${one.at(-1)}ing`].includes(first.toLowerCase()));
  // A heading in title case is none in a question.
  const isTitle = rest.every((word) => word.length < 4 || /^\p{Lu}/u.test(word));
  const others = rest.join(" ");
  return verb ? `how to ${verb} ${isTitle ? others.replace(/\b\p{Lu}(?=\p{Ll}+\b)/gu, (letter) => letter.toLowerCase()) : others}` : null;
}

/** A signature that says that others can use the symbol. Some languages have no such word. */
const PUBLIC = /^(?:pub|export|public) /;

/** How much a symbol is a main one of its file: a type with the name of the file is most. */
function worth({ kind, name, depth }, path) {
  const isType = /^(?:type|class|trait|interface)$/.test(kind);
  if (depth > 0 || (!isType && kind !== "function") || /^_|^tests?(?:_|$)|^Test|Tests?$/.test(name)) return 0;
  const plain = (text) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  const [directory, file] = ["", ...path.split("/")].slice(-2);
  const stem = /^(?:mod|index|lib|main|__init__)\./.test(file) ? directory : file.replace(/\..*$/, "");
  return (isType ? 2 : 0) + (plain(name) === plain(stem) ? 2 : 0) + (/\p{Ll}\p{Lu}|_/u.test(name) ? 1 : 0);
}

/** The least worth of a symbol that is asked for. */
const LEAST_WORTH = 3;

/** Questions that this index answers, each from another file: headings that ask or instruct, then main names of the code. */
async function exampleQuestions(status) {
  const largest = [...status.languages].sort((a, b) => b.passages - a.passages).map((one) => one.name);
  const code = largest.find((name) => name && !isProse(name) && !/^(?:json|jsonl|yaml|toml|csv|xml|ini)$/.test(name));
  const languages = ["markdown", "restructuredtext", code].filter((name) => largest.includes(name));
  const files = languages.length === 0 ? [] : (await api.files(languages, FILES)).results.filter((file) => file.role === "main" && !/(?:^|\/)[.]/.test(file.path));
  const depth = (file) => Math.min(file.path.split("/").length, 3);
  const documents = files.filter((file) => file.language !== code).sort((a, b) => depth(a) - depth(b) || b.bytes - a.bytes).slice(0, OUTLINES);
  const sources = files.filter((file) => file.language === code).sort((a, b) => b.bytes - a.bytes).slice(0, OUTLINES);
  const chosen = new Set([...documents, ...sources].map((file) => file.path));
  // A glob of all of them is one call.
  const outlines = chosen.size === 0 ? [] : (await api.outline(`{${[...chosen].map((path) => path.replace(/[\\*?{}[\],]/g, "\\$&")).join(",")}}`)).files;
  const words = (text) => text.split(" ");
  // Of one file, its own question first, then the longest, which is about the least.
  const telling = (question) => words(question).length + (question.endsWith("?") ? 100 : 0);
  const asked = outlines.filter((file) => file.language !== code)
    .map((file) => file.entries.map((entry) => questionOf(entry.signature)).filter(Boolean).sort((a, b) => telling(b) - telling(a))[0]).filter(Boolean);
  const hasPublic = outlines.some((file) => file.entries.some((entry) => PUBLIC.test(entry.signature)));
  const names = outlines.filter((file) => file.language === code)
    .map((file) => file.entries.filter((entry) => !hasPublic || PUBLIC.test(entry.signature))
      .map((entry) => [worth(entry, file.path), entry.name]).sort((a, b) => b[0] - a[0])[0])
    .filter((one) => one?.[0] >= LEAST_WORTH).sort((a, b) => b[0] - a[0]).map(([, name]) => `where is ${name} defined`);
  // One of those that begin alike is enough.
  const found = [...new Map(asked.map((question) => [words(question).slice(0, 3).join(" "), question])).values()].slice(0, HEADINGS);
  return [...found, ...[...new Set(names)].slice(0, EXAMPLES - Math.max(found.length, EXAMPLES - HEADINGS))];
}
