// Elements without markup: whatever comes from the index is set as text, so it can never become code.

import { count } from "./labels.js";

/** Makes an element. Attributes that are null, undefined or false are left out; names that begin with "on" are listeners. */
export function element(tag, attributes = {}, ...children) {
  const made = tag === "svg" || SHAPES.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SHAPES = new Set(["g", "rect", "line", "path", "polyline", "text", "circle"]);

/** Puts other children into an element. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child));
}

/** Text that may break between the parts of a name or a path. */
export const breakable = (text) => text.split(/(?<=[._/]|::)(?=[\p{L}\p{N}])|(?<=\p{Ll})(?=\p{Lu})/u).flatMap((part, at) => at > 0 ? [element("wbr"), part] : part);

/** Puts the focus on the headline of what is shown, unless something of it has the focus already. */
export function focusHeadline(place, options) {
  const headline = place.querySelector("h1");
  if (!headline || place.contains(document.activeElement)) return;
  headline.tabIndex = -1;
  headline.focus(options);
}

/** Says something to people who listen. With `shown`, those who see get it too, for a while. */
export function say(text, shown = false) {
  const said = document.getElementById("said");
  said.textContent = text;
  said.classList.toggle("shown", shown);
  clearTimeout(say.timer);
  if (shown) say.timer = setTimeout(() => said.classList.remove("shown"), 8000);
}

const FUNCTION_WORDS = new Set(("a an and are as at be by do does for from how i in is it not of on or that the this to was what when "
  + "where which who why with").split(" "));

/** Text with the words of a query marked. A word counts by its beginning, so "retry" marks "retries"; names count by their parts. */
export function marked(text, query) {
  const wanted = (query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !FUNCTION_WORDS.has(word));
  const stems = wanted.map((word) => word.length > 4 ? word.slice(0, Math.max(4, word.length - 2)) : word);
  if (stems.length === 0) return [text];
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(/\p{Lu}?[\p{Ll}\p{Lo}\p{N}]+|\p{Lu}+/gu)) {
    const word = found[0].toLowerCase();
    if (!stems.some((stem) => stem.length > 3 ? word.startsWith(stem) : word === stem)) continue;
    parts.push(text.slice(end, found.index), element("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/** Characters of a line that are shown. Generated files have lines of megabytes, which no browser lays out in good time. */
const LINE = 5000;

/** A line of code in colours, with the words of the query marked. */
const painted = (line, coloured, query) => coloured(line).map(([part, kind]) =>
  kind === null ? marked(part, query) : element("span", { class: kind }, marked(part, query)));

/** Lines of text with their numbers; `coloured(line)` divides a line of code into parts, and prose is shown as such. */
export function lines(text, first, query, hit, coloured, isProse) {
  const all = text.replace(/\n$/, "").split("\n");
  const read = isProse ? proseLines(all, query) : null;
  const rows = all.map((line, at) => {
    const number = first + at;
    const isHit = number >= hit[0] && number <= hit[1];
    return element("tr", { class: isHit ? "hit" : null, id: `L${number}` },
      element("td", { class: "number", "aria-hidden": "true" }, String(number)),
      read ? element("td", { class: read[at].kind }, read[at].content)
        : element("td", {}, element("code", {}, painted(line.slice(0, LINE), coloured, query))),
      line.length > LINE ? element("td", { class: "place" }, ` … ${count(line.length - LINE, "more character")}`) : null);
  });
  return element("div", { class: `lines${isProse ? " prose" : ""}`, tabindex: 0 },
    element("table", { role: "presentation" }, element("tbody", {}, rows)));
}

/** A passage of code with its line numbers, from `first` on, without the indentation that all of its lines share. */
export function snippet(text, first, query, coloured) {
  const blank = text.match(/^\n*/)[0].length;
  const all = text.slice(blank).trimEnd().split("\n");
  const indent = Math.min(...all.filter((line) => line.trim()).map((line) => line.search(/\S/)), 200);
  return element("pre", { tabindex: 0 }, element("code", {}, all.map((line, at) =>
    [at > 0 ? "\n" : "", element("span", { class: "line", "data-line": first + blank + at }), painted(line.slice(indent, indent + LINE), coloured, query)])));
}

/** Lines of prose: headings, names and code stand out by the text's own marks, and nothing else is interpreted. */
function proseLines(all, query) {
  let fence = null;
  return all.map((whole) => {
    const line = whole.slice(0, LINE);
    const mark = line.match(/^\s*(```+|~~~+)/)?.[1];
    const isCode = fence !== null || mark !== undefined;
    if (mark && (fence === null || mark.startsWith(fence))) fence = fence === null ? mark : null;
    if (isCode) return { kind: mark ? "code fence" : "code", content: marked(line, query) };
    const heading = line.match(/^#{1,6} (.+)$/)?.[1];
    const kind = heading ? "heading" : line.trim() ? null : "blank";
    return { kind, content: inline(heading ?? line, query) };
  });
}

/** A line of prose with its names in code and in bold. */
function inline(line, query) {
  return line.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => /^`[^`]+`$/.test(part) ? element("code", {}, marked(part.slice(1, -1), query))
    : /^\*\*[^*]+\*\*$/.test(part) ? element("strong", {}, inline(part.slice(2, -2), query)) : marked(part, query));
}

/** Text without the blank lines around it and the indentation that all of its lines share. */
export function flush(text) {
  const all = text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd().split("\n");
  const indent = Math.min(...all.filter((line) => line.trim()).map((line) => line.search(/\S/)));
  return all.map((line) => line.slice(indent)).join("\n");
}

/** Prose, with the lines of the hit marked. */
export function prose(text, query, first = 1, hit = [0, -1]) {
  return element("div", { class: "prose" }, proseLines(text.split("\n"), query).map(({ kind, content }, at) => {
    const number = first + at;
    const isHit = number >= hit[0] && number <= hit[1];
    return element("div", { id: hit[0] > 0 ? `L${number}` : null, class: [kind, isHit && "hit"].filter(Boolean).join(" ") || null }, content);
  }));
}

/** Text that is a figure, perhaps with a sign, a unit or an interval. */
const FIGURE = /^(?:–|[<>+−-]?\d[\d.,\s]*(?:%|ms| \([+−]\d.*\))?)$/;

/** A table that scrolls by itself where it is too wide. The first cell of a row names it, and figures stand to the right. */
export function table(head, rows) {
  const texts = rows.map((row) => row.map((value) => value instanceof Node ? value : value === null || value === undefined ? "–" : String(value)));
  const side = head.map((_, at) => at > 0 && texts.every((row) => !(row[at] instanceof Node) && FIGURE.test(row[at])) ? "right" : null);
  return element("div", { class: "scroll", tabindex: 0 }, element("table", { class: "figures" },
    element("thead", {}, element("tr", {}, head.map((name, at) => element("th", { scope: "col", class: side[at] }, name)))),
    element("tbody", {}, texts.map((row) => element("tr", {}, row.map((value, at) =>
      element(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, class: side[at] }, value)))))));
}

/** A table under a title; nothing if it has no rows. */
export function section(title, head, rows, heading = "h2") {
  return rows.length === 0 ? null : element("section", {}, element(heading, {}, title), table(head, rows));
}

/** The figures that matter most, each over its name. */
export function tiles(entries) {
  return element("dl", { class: "tiles" }, entries.filter(Boolean).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/** The address of a view with what a form holds, without its empty fields. */
export function addressOf(form, view = "search") {
  const given = [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
  return `/?${new URLSearchParams(view === "search" ? given : [["view", view], ...given])}`;
}

/** Takes what a form holds into the address of a view. */
export function submit(view) {
  return (event) => {
    event.preventDefault();
    window.dispatchEvent(new CustomEvent("go", { detail: addressOf(event.target, view) }));
  };
}
