// Elements without markup: whatever comes from the index is set as text, so it can never become code.

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

/** The number of a thing with its noun. */
export function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** Characters of a line that are shown. Generated files have lines of megabytes, which no browser lays out in good time. */
const LINE = 5000;

/** Lines of text with their numbers; `coloured(line)` divides a line into parts, each with its class or null. */
export function lines(text, first, query, hit, coloured) {
  const rows = text.replace(/\n$/, "").split("\n").map((whole, at) => {
    const number = first + at;
    const line = whole.slice(0, LINE);
    const isHit = number >= hit[0] && number <= hit[1];
    return element("tr", { class: isHit ? "hit" : null, id: `L${number}` },
      element("td", { class: "number", "aria-hidden": "true" }, String(number)),
      element("td", {}, element("code", {}, coloured(line).map(([part, kind]) =>
        kind === null ? marked(part, query) : element("span", { class: kind }, marked(part, query)))),
      whole.length > LINE ? element("span", { class: "place" }, ` … ${count(whole.length - LINE, "more character")}`) : null));
  });
  return element("div", { class: "lines", tabindex: 0 }, element("table", { role: "presentation" }, element("tbody", {}, rows)));
}

/** A table that scrolls by itself where it is too wide. The first cell of a row names it. */
export function table(head, rows) {
  const cell = (value, at) => element(at === 0 ? "th" : "td", at === 0 ? { scope: "row" } : {}, value === null ? "–" : String(value));
  return element("div", { class: "scroll", tabindex: 0 }, element("table", { class: "figures" },
    element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

/** A table under a title; nothing if it has no rows. */
export function section(title, head, rows, heading = "h2") {
  return rows.length === 0 ? null : element("section", {}, element(heading, {}, title), table(head, rows));
}

/** Takes what a form holds, without its empty fields, into the address of a view. */
export function submit(view) {
  return (event) => {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, value]) => value.trim() !== "");
    const parameters = new URLSearchParams(view === "search" ? given : [["view", view], ...given]);
    window.dispatchEvent(new CustomEvent("go", { detail: `/?${parameters}` }));
  };
}
