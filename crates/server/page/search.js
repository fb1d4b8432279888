// The search: results by entry, the reason for their number, and the scores beside them with the cut drawn in.

import * as api from "./api.js";
import { documentAddress } from "./document.js";
import { element, fill, marked, say, submit } from "./elements.js";
import { placeOf, scores } from "./scores.js";

/** Filters: the name of the parameter, the label, and an example. */
const FILTERS = [
  ["collections", "Collection", "code, docs, issues"],
  ["namespaces", "Namespace", "name"],
  ["languages", "Language", "rust"],
  ["kinds", "Kind", "function"],
  ["paths", "Path", "src/**"],
  ["states", "State", "open"],
  ["labels", "Label", "bug"],
  ["since", "Since", "2026-01-31"],
  ["until", "Until", "2026-12-31"],
];

const LISTS = new Set(FILTERS.map(([name]) => name).filter((name) => name !== "since" && name !== "until"));

/** Results that are drawn at a time. */
const PORTION = 100;

/** What was judged on this page, by query and passage, so that the same search shows it again. */
const judgements = new Map();

export async function show(view, parameters, rights, signal) {
  const query = parameters.get("query") ?? "";
  const input = element("input", {
    id: "query", type: "search", name: "query", value: query, autocomplete: "off", spellcheck: "false", maxlength: 8000,
    "aria-label": "What are you looking for?", placeholder: "What are you looking for?",
  });
  const filters = FILTERS.map(([name, label, example]) => element("label", {}, label,
    element("input", { name, value: parameters.get(name) ?? "", placeholder: example })));
  const inUse = FILTERS.some(([name]) => parameters.get(name));
  const form = element("form", { role: "search", onsubmit: submit("search") },
    element("div", { class: "ask" }, input, element("button", {}, "Search")),
    element("details", { open: inUse }, element("summary", {}, "Filters"), element("div", { class: "filters" }, filters)));
  const answer = element("div", { class: "answer" });
  fill(view, form, answer);
  document.title = query ? `${query} – Tamis` : "Tamis";
  if (!query) {
    input.focus();
    fill(answer, element("p", { class: "hint" }, "Ask in your own words, or paste a name or an error message. ",
      "You get what answers the question, and nothing if nothing does."));
    return;
  }
  fill(answer, element("p", { class: "busy" }, "Searching …"));
  const request = { query, limit: 100, context: 4 };
  for (const [name] of FILTERS) {
    const value = (parameters.get(name) ?? "").trim();
    if (value) request[name] = LISTS.has(name) ? value.split(",").map((one) => one.trim()).filter(Boolean) : value;
  }
  try {
    present(answer, await api.search(request, signal), query, rights);
  } catch (problem) {
    if (problem.name !== "AbortError") throw problem;
  }
}

function present(answer, found, query, rights) {
  say(found.summary);
  const list = element("ol", { class: "results" });
  const more = portions(list, found.results, (hit) => result(hit, found, query, rights));
  const moved = element("div", { class: "moved" });
  const pool = (found.pool ?? []).filter((one) => Number.isFinite(one.score));
  fill(answer,
    element("div", { class: "column" },
      element("p", { class: "reason" }, found.summary),
      (found.warnings ?? []).map((warning) => element("p", { class: "warning" }, warning)),
      found.fallback_reason ? element("p", { class: "warning" }, `Answered with less than asked for: ${found.fallback_reason}.`) : null,
      list,
      more,
      found.nearest.length > 0 ? below(found, query) : null,
      moved),
    pool.length > 0 ? element("aside", { class: "scores", "aria-label": "Scores" }, scores(found, pool, list, moved, query)) : null);
}

/** Fills a list by portions and returns the button for the next one, which leads the keyboard to the first new result. */
function portions(list, results, drawn) {
  const button = element("button", { type: "button", class: "more", onclick: () => add(true) });
  const add = (focus) => {
    const start = list.children.length;
    list.append(...results.slice(start, start + PORTION).map(drawn));
    list.dispatchEvent(new Event("more"));
    const rest = results.length - list.children.length;
    button.hidden = rest === 0;
    fill(button, `Show ${Math.min(PORTION, rest).toLocaleString("en")} more of ${results.length.toLocaleString("en")}`);
    if (focus) list.children[start].querySelector("a.hit").focus();
  };
  add(false);
  return button;
}

function result(hit, found, query, rights) {
  const address = documentAddress(hit, query);
  const place = hit.url ? hit.title ?? hit.path : `${hit.path}:${hit.start_line}`;
  const facts = [hit.kind, hit.language, hit.author, hit.dated_at?.slice(0, 10)].filter(Boolean).join(" · ");
  const further = hit.passages.length === 0 ? null : element("ul", { class: "further" }, hit.passages.map((passage) => element("li", {},
    element("a", { href: documentAddress({ ...hit, ...passage }, query) }, `${passage.start_line}–${passage.end_line}`),
    " ", element("code", {}, marked(passage.snippet.trim(), query)))));
  return element("li", {},
    element("h2", {}, element("a", { href: address, class: "hit" }, hit.symbol ?? hit.title ?? place)),
    element("p", { class: "place" }, element("a", { href: address }, place), facts ? ` · ${facts}` : "", said(hit) || likely(hit)),
    element("pre", { tabindex: 0 }, element("code", {}, marked(hit.snippet, query))),
    further,
    hit.copies.length > 0 ? element("p", { class: "place" }, `Also in ${hit.copies.map((copy) => copy.path).join(", ")}`) : null,
    rights.may_judge && found.query_id ? judging(hit, found.query_id, query) : null);
}

/** One click says whether a result answers the question; the same question obeys it from then on. */
function judging(hit, queryId, query) {
  const subject = JSON.stringify([query, hit.id]);
  const press = () => buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(judgements.get(subject) === (at === 0))));
  const buttons = [["Relevant", true], ["Not relevant", false]].map(([label, relevant]) =>
    element("button", { type: "button", onclick: async () => {
      try {
        await api.judge(queryId, hit.id, relevant);
        judgements.set(subject, relevant);
        press();
        say(`${hit.path} is noted as ${label.toLowerCase()}.`, true);
      } catch (problem) {
        say(problem.message, true);
      }
    } }, label));
  press();
  return element("p", { class: "judging" }, buttons);
}

/** The entries below the line, a line each. */
function below(found, query) {
  return element("section", { class: "below" },
    element("h2", {}, found.results.length > 0 ? "Less likely" : "Nearest"),
    element("ol", {}, found.nearest.map((one) => element("li", {}, placeOf(one, query), said(one) || likely(one)))));
}

/** What people said of an entry for this question, if they said something. */
function said(one) {
  if (one.judged_relevant === null || one.judged_relevant === undefined) return "";
  return one.judged_relevant ? " · judged relevant" : " · judged not relevant";
}

/** The probability of an entry, where there is one. */
function likely(one) {
  if (one.probability === null || one.probability === undefined) return "";
  const percent = Math.round(one.probability * 100);
  const shown = percent === 0 && one.probability > 0 ? "<1" : percent === 100 && one.probability < 1 ? ">99" : percent;
  return ` · ${shown}% likely`;
}
