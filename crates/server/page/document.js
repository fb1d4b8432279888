// One document, or a part of it, with the hit marked and what is related beside it.

import * as api from "./api.js";
import { colouring } from "./colours.js";
import { element, fill, lines } from "./elements.js";

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
  const excerpt = await api.read(at);
  const first = excerpt.start_line ?? 1;
  const beside = element("aside", { "aria-label": "Related" }, element("h2", {}, "Related"), element("p", { class: "busy" }, "Looking …"));
  fill(view,
    element("div", { class: "reading" },
      element("article", {},
        element("h1", {}, excerpt.title ?? excerpt.path),
        element("p", { class: "place" }, [excerpt.namespace, excerpt.path, parameters.get("language")].filter(Boolean).join(" · ")),
        lines(excerpt.text, first, query, hit, colouring(languageOf(excerpt.path, parameters)))),
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
