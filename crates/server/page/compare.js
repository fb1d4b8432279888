// One query under several cuts side by side, and the recorded searches under them.

import * as api from "./api.js";
import { documentAddress } from "./document.js";
import { element, fill, say, submit, table } from "./elements.js";
import { percent } from "./plots.js";

const METHODS = ["auto", "background", "otsu", "max_gap", "kneedle", "top_score", "fixed:k=10"];
const FIRST = ["auto", "background", "fixed:k=10"];
const FEWEST = 2, MOST = 6;

export async function show(view, parameters) {
  const query = parameters.get("query") ?? "";
  const asked = parameters.getAll("cut").flatMap((cut) => cut.split(/\s+/)).filter(Boolean);
  const cuts = [...new Set(asked.length > 0 ? asked : FIRST)];
  const known = [...new Set([...METHODS, ...cuts])];
  const other = element("input", { name: "cut", placeholder: "background:lambda=0.75", "aria-label": "Another cut" });
  const form = element("form", { role: "search", onsubmit: submit("compare") },
    element("div", { class: "ask" },
      element("input", { id: "query", type: "search", name: "query", value: query, "aria-label": "Query", placeholder: "One query under several cuts" }),
      element("button", {}, "Compare")),
    element("fieldset", {}, element("legend", {}, "Cuts"),
      known.map((cut) => element("label", { class: "choice" },
        element("input", { type: "checkbox", name: "cut", value: cut, checked: cuts.includes(cut) }), ` ${cut}`)),
      other));
  const answer = element("div", { class: "answer" });
  fill(view, form, answer);
  document.title = "Compare cuts – Tamis";
  if (cuts.length < FEWEST || cuts.length > MOST) {
    fill(answer, element("p", { class: "warning" }, `Choose ${FEWEST} to ${MOST} cuts.`));
    return;
  }
  fill(answer, element("p", { class: "busy" }, "Deciding …"));
  const replayed = api.replay(cuts).then(replay, (problem) => element("p", {}, problem.message));
  const columns = query === "" ? [] : await Promise.all(cuts.map((cut) => api.search({ query, cut, limit: 100, context: 0 }).then(
    (found) => column(cut, found, query),
    (problem) => element("section", {}, element("h2", {}, cut), element("p", { class: "warning" }, problem.message)))));
  if (columns.length > 0) say(`${columns.length} cuts are shown side by side.`);
  fill(answer, element("div", { class: "wide" },
    columns.length > 0 ? element("div", { class: "columns" }, columns) : null,
    element("h2", {}, "Recorded searches under these cuts"), await replayed));
}

function column(cut, found, query) {
  return element("section", {},
    element("h2", {}, cut),
    element("p", { class: "reason" }, `${found.cut.keep} of ${found.cut.candidates}`),
    element("p", {}, found.cut.reason),
    element("ol", {}, found.results.map((hit) => element("li", {},
      element("a", { href: documentAddress(hit, query), class: "hit" }, hit.symbol ?? hit.title ?? hit.path),
      element("span", { class: "place" }, ` ${hit.path}:${hit.start_line}`)))));
}

function replay(found) {
  if (found.searches === 0) return element("p", {}, "No search was recorded yet.");
  const head = ["cut", "kept, mean", "median", "90%", "empty", "precision", "recall"];
  return element("div", {},
    element("p", {}, `${found.searches} searches, ${found.judged} of them with judgements, from which precision and recall follow.`),
    table(head, found.cuts.map((one) => [one.cut === "recorded" ? "as it was" : one.cut,
      one.kept_mean.toFixed(1), one.kept_p50, one.kept_p90, percent(one.empty_rate), percent(one.precision), percent(one.recall)])));
}
