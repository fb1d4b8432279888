// Filters as choices: each with the number of entries of this search that it has, and a chip for each one in use.

import { element, submit } from "./elements.js";
import { capital, collectionName, day, figure, languageName } from "./labels.js";

/** The filters with choices: the parameter, its title, what an entry has of it, and the name of a choice. */
const GROUPS = [
  ["collections", "Collection", (one) => [one.collection], collectionName],
  ["languages", "Language", (one) => [one.language], languageName],
  ["kinds", "Kind", (one) => [one.kind === "lines" ? null : one.kind], (kind) => kind === "trait" ? "Trait or interface" : capital(kind)],
  ["namespaces", "Namespace", (one) => [one.namespace], String],
  ["states", "State", (one) => one.attributes?.state?.filter((state) => state !== "resolved"), capital],
  ["labels", "Label", (one) => one.attributes?.label, String],
];

const PERIODS = [["7d", "Past week", 7], ["30d", "Past month", 30], ["365d", "Past year", 365]];

/** All filters of a search, by their parameters. */
export const FILTERS = [...GROUPS.map(([name]) => name), "paths", "since", "until"];

/** Choices of a filter that are shown at once. */
const SHOWN = 7;

/** The choices of a search as it was without a filter, so that those beside the one in use stay. */
const seen = new Map();

const valuesOf = (parameters, name) => (parameters.get(name) ?? "").split(",").map((one) => one.trim()).filter(Boolean);

/** The filters of an address as the API takes them. */
export function requestOf(parameters) {
  const given = FILTERS.map((name) => [name, name === "since" || name === "until" ? parameters.get(name) : valuesOf(parameters, name)]);
  return Object.fromEntries(given.filter(([, value]) => value?.length > 0));
}

function address(parameters, name, values) {
  const changed = new URLSearchParams(parameters);
  if (values.length > 0) changed.set(name, values.join(","));
  else changed.delete(name);
  return `/?${changed}`;
}

const TITLES = { since: "Since", until: "Until", paths: "Path" };

const written = (name, value) => PERIODS.find(([key]) => key === value)?.[1]
  ?? (TITLES[name] ? `${TITLES[name]} ${/^\d{4}-/.test(value) ? day(value) : value}` : GROUPS.find(([key]) => key === name)[3](value));

/** The filters in use, in words. */
export const inUse = (parameters) => FILTERS.flatMap((name) => valuesOf(parameters, name).map((value) => written(name, value)));

/** The filters in use, each with what takes it away. */
export function chips(parameters) {
  const shown = FILTERS.flatMap((name) => valuesOf(parameters, name).map((value, _, all) => element("a",
    { class: "chip remove", href: address(parameters, name, all.filter((one) => one !== value)), "aria-label": `Remove ${written(name, value)}` }, written(name, value))));
  return shown.length === 0 ? null : element("p", { class: "chips" }, shown,
    shown.length > 1 ? element("a", { href: `/?${new URLSearchParams({ query: parameters.get("query") })}` }, "Remove all") : null);
}

/** Where there is room beside the answers. */
const wide = matchMedia("(width >= 64rem)");
wide.addEventListener("change", () => document.querySelectorAll(".filters").forEach((one) => { one.open = wide.matches; }));

/** The choices beside the answers. On small screens they open on demand. */
export function filters(entries, parameters) {
  const groups = GROUPS.map(([name, title, values]) => choices(name, title, tally(name, entries, values, parameters), parameters));
  const hidden = [...parameters].filter(([name]) => !["paths", "since", "until"].includes(name)).map(([name, value]) => element("input", { type: "hidden", name, value }));
  const field = (name, label, type, placeholder) => element("label", {}, label,
    element("input", { name, type, placeholder, value: type === "date" && !/^\d{4}-/.test(parameters.get(name) ?? "") ? "" : parameters.get(name) ?? "" }));
  const isWritten = parameters.has("paths") || parameters.has("until") || /^\d{4}-/.test(parameters.get("since") ?? "");
  const used = FILTERS.filter((name) => parameters.has(name)).length;
  return element("details", { class: "filters", open: wide.matches },
    element("summary", {}, used > 0 ? `Filters (${used})` : "Filters"),
    element("div", { class: "groups" }, groups.some(Boolean) ? element("p", { class: "hint" }, "Counts of this list. A filter searches again and may find more.") : null,
      groups, dates(entries, parameters),
      element("details", { open: isWritten }, element("summary", {}, "Dates and path"),
        element("form", { onsubmit: submit("search") }, hidden, field("since", "From", "date"), field("until", "To", "date"),
          field("paths", "Path", "text", "src/**"), element("button", { class: "small" }, "Apply")))));
}

/** The numbers of a filter's choices. While it is in use they are those of the same search without it, where that was seen. */
function tally(name, entries, values, parameters) {
  const counts = new Map();
  for (const value of entries.flatMap((one) => values(one) ?? [])) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  const key = address(parameters, name, []);
  if (!parameters.has(name)) seen.set(`${name} ${key}`, counts);
  const known = seen.get(`${name} ${key}`) ?? counts;
  valuesOf(parameters, name).filter((value) => !known.has(value)).forEach((value) => known.set(value, counts.get(value) ?? 0));
  return [...known].sort((a, b) => b[1] - a[1]);
}

function choices(name, title, counts, parameters) {
  const chosen = valuesOf(parameters, name);
  if (chosen.length === 0 && (counts.length < 2 || counts[0][1] < 2)) return null;
  const item = ([value, number]) => {
    const isChosen = chosen.includes(value);
    return choice(written(name, value), number, isChosen, address(parameters, name, isChosen ? chosen.filter((one) => one !== value) : [...chosen, value]));
  };
  const rest = counts.slice(SHOWN);
  return element("section", {}, element("h2", {}, title), element("ul", {}, counts.slice(0, SHOWN).map(item)), rest.length === 0 ? null
    : element("details", { open: rest.some(([value]) => chosen.includes(value)) }, element("summary", {}, `${rest.length} more`), element("ul", {}, rest.map(item))));
}

/** A choice with its number, which leads to the search with it, or without it if it is in use. */
function choice(label, number, isChosen, href) {
  return element("li", {}, element("a", { class: "choice", href, "aria-current": isChosen ? "true" : null },
    element("span", {}, label), element("span", { class: "number" }, figure(number))));
}

/** The periods that have some of the dated entries, but not all of the search. */
function dates(entries, parameters) {
  const chosen = parameters.get("since");
  const counts = PERIODS.map(([key, label, days]) => [key, label, entries.filter((one) => Date.now() - Date.parse(one.dated_at) <= days * 86_400_000).length]);
  const shown = counts.filter(([key, , number]) => key === chosen || (number > 0 && number < entries.length));
  return shown.length === 0 ? null : element("section", {}, element("h2", {}, "Date"), element("ul", {}, shown.map(([key, label, number]) =>
    choice(label, number, key === chosen, address(parameters, "since", key === chosen ? [] : [key])))));
}
