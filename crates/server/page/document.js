// One document, or a part of it, with the hit marked and what is related beside it.

import * as api from "./api.js";
import { colouring } from "./colours.js";
import { element, fill, lines } from "./elements.js";

/** Lines that are shown at a time. */
const WINDOW = 2000;

/** The address of a passage on this page. */
export function documentAddress(hit, query = "") {
  const parameters = new URLSearchParams({ at: `${hit.namespace}:${hit.path}`, from: hit.start_line, to: hit.end_line ?? hit.start_line });
  if (hit.language) parameters.set("language", hit.language);
  if (query) parameters.set("query", query);
  return `/?view=document&${parameters}`;
}

export async function show(view, parameters) {
  const at = parameters.get("at") ?? "";
  const query = parameters.get("query") ?? "";
  const hit = [Number(parameters.get("from")) || 0, Number(parameters.get("to")) || -1];
  fill(view, element("p", { class: "busy" }, "Reading …"));
  // A document can have hundreds of thousands of lines. Those around the hit come first, and links lead to the others.
  const asked = (parameters.get("lines") ?? "").match(/^(\d+)-(\d+)$/);
  const [from, to] = asked ? [Number(asked[1]), Number(asked[2])]
    : hit[0] > 0 ? [Math.max(1, hit[0] - WINDOW / 2), hit[0] + WINDOW / 2] : [0, 0];
  const excerpt = await api.read(from > 0 ? `${at}:${from}-${to}` : at);
  const first = excerpt.start_line ?? 1;
  const others = (label, start) => {
    const address = new URLSearchParams(parameters);
    address.set("lines", `${start}-${start + WINDOW - 1}`);
    return element("p", {}, element("a", { href: `/?${address}` }, label));
  };
  const beside = element("aside", { "aria-label": "Related" }, element("h2", {}, "Related"), element("p", { class: "busy" }, "Looking …"));
  fill(view,
    element("div", { class: "reading" },
      element("article", {},
        element("h1", {}, excerpt.title ?? excerpt.path),
        element("p", { class: "place" }, [excerpt.namespace, excerpt.path, parameters.get("language")].filter(Boolean).join(" · ")),
        first > 1 ? others("Earlier lines", Math.max(1, first - WINDOW)) : null,
        lines(excerpt.text, first, query, hit, colouring(languageOf(excerpt.path, parameters))),
        to > 0 && excerpt.end_line === to ? others("Later lines", to + 1) : null),
      beside));
  document.title = `${excerpt.path} – Tamis`;
  document.getElementById(`L${hit[0]}`)?.scrollIntoView({ block: "center" });
  if (hit[0] > 0) fill(beside, element("h2", {}, "Related"), await relatedTo(`${excerpt.path}:${hit[0]}`));
  else fill(beside);
}

/** The language of the result, or what the name of the file says. */
function languageOf(path, parameters) {
  const extension = path.split(".").at(-1);
  const known = { rs: "rust", py: "python", js: "javascript", mjs: "javascript", ts: "typescript", rb: "ruby", kt: "kotlin", cs: "csharp", h: "c", hpp: "cpp", cc: "cpp", sh: "bash", hs: "haskell", ex: "elixir", exs: "elixir", yml: "yaml" };
  return parameters.get("language") ?? known[extension] ?? extension;
}

async function relatedTo(place) {
  let found;
  try {
    found = await api.related(place);
  } catch (problem) {
    return element("p", {}, problem.message);
  }
  const group = (title, hits) => hits.length === 0 ? null : [
    element("h3", {}, title),
    element("ul", {}, hits.map((hit) => element("li", {},
      element("a", { href: documentAddress(hit) }, hit.symbol ?? `${hit.path}:${hit.start_line}`),
      element("span", { class: "place" }, ` ${hit.path}:${hit.start_line}`)))),
  ];
  const groups = [
    group("Similar", found.similar ?? []),
    group("Uses", (found.references ?? []).flatMap((one) => one.definitions ?? [one])),
    group("Used by", found.referenced_by ?? []),
  ].filter(Boolean);
  return groups.length > 0 ? groups : element("p", {}, "Nothing is related closely enough.");
}
