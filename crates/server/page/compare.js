// One query under several cuts, an entry a row, and how the recorded searches would have fared under them.

import * as api from "./api.js";
import { documentAddress } from "./document.js";
import { breakable, element, fill, say, submit, table } from "./elements.js";
import { queryField } from "./search.js";
import { capital, count, cutName, CUTS, percent, placeOf, titleOf } from "./labels.js";

const FIRST = ["auto", "background", "fixed:k=10"];
const FEWEST = 2, MOST = 6;

export async function show(view, parameters) {
  const query = parameters.get("query") ?? "";
  const asked = parameters.getAll("cut").flatMap((cut) => cut.split(/\s+/)).filter(Boolean);
  const cuts = [...new Set(asked.length > 0 ? asked : FIRST)];
  const known = [...new Set([...Object.keys(CUTS), ...cuts])];
  const form = element("form", { role: "search", onsubmit: submit("compare") },
    element("div", { class: "ask" },
      queryField(parameters, "One question under several cuts"),
      element("button", { class: "primary" }, "Compare")),
    element("fieldset", {}, element("legend", {}, "Cuts"),
      known.map((cut) => element("label", { class: "choice", title: CUTS[cut]?.[1] },
        element("input", { type: "checkbox", name: "cut", value: cut, checked: cuts.includes(cut) }), cutName(cut))),
      element("input", { name: "cut", placeholder: "top_score:threshold=0.8", "aria-label": "A cut with its parameters" })));
  const answer = element("div", { class: "compared" });
  fill(view, element("h1", {}, "Compare cuts"), form, answer);
  document.title = "Compare cuts – Tamis";
  if (cuts.length < FEWEST || cuts.length > MOST) {
    fill(answer, element("p", { class: "warning" }, `Choose ${FEWEST} to ${MOST} cuts.`));
    return;
  }
  fill(answer, element("p", { class: "busy" }, "Deciding …"));
  const replayed = api.replay(cuts).then(replay, (problem) => element("p", {}, problem.message));
  const found = query === "" ? [] : await Promise.all(cuts.map((cut) => api.search({ query, cut, limit: 100, context: 0, no_record: true }).catch((problem) => ({ problem }))));
  if (found.length > 0) say(`${found.length} cuts are shown side by side.`);
  fill(answer, found.length > 0 ? matrix(cuts, found, query) : element("p", { class: "hint" }, "Ask a question to see what each cut keeps of it."),
    element("section", {}, element("h2", {}, "Recorded searches under these cuts"), await replayed));
}

/** A row for each entry and a column for each cut. A row on which the cuts differ is marked. */
function matrix(cuts, found, query) {
  const rows = new Map();
  found.forEach(({ results = [] }, column) => results.forEach((hit, at) => {
    const row = rows.get(hit.entry) ?? { hit, at, places: [] };
    row.at = Math.min(row.at, at);
    row.places[column] = at + 1;
    rows.set(hit.entry, row);
  }));
  const ordered = [...rows.values()].sort((a, b) => a.at - b.at);
  // A cut that failed says nothing about an entry.
  const answered = found.filter(({ problem }) => !problem).length;
  const differs = (row) => Object.keys(row.places).length < answered;
  const differ = ordered.filter(differs).length;
  const head = cuts.map((cut, column) => element("th", { scope: "col" }, element("span", { class: "cut-name" }, cutName(cut)),
    found[column].problem ? element("span", { class: "warning" }, found[column].problem.message)
      : [element("strong", {}, String(found[column].cut.keep)), element("span", { class: "place" }, capital(found[column].cut.reason))]));
  const name = ({ hit }) => element("th", { scope: "row" },
    element("a", { href: documentAddress(hit, query), class: hit.symbol ? "hit symbol" : "hit" }, hit.symbol ? breakable(hit.symbol) : titleOf(hit)),
    element("span", { class: "place" }, breakable(placeOf(hit))));
  const cell = (place) => element("td", { class: place ? "kept" : null }, place ? String(place) : element("span", { "aria-label": "not kept" }, "–"));
  return [
    element("p", { class: "hint" }, ordered.length === 0 ? "No cut keeps anything."
      : answered < 2 ? null : differ === 0 ? `All keep the same ${count(ordered.length, "entry", "entries")}.` : `They differ on ${differ} of ${count(ordered.length, "entry", "entries")}. `,
    ordered.length === 0 ? null : "Each column shows how many its cut keeps, and their ranks."),
    element("div", { class: "scroll", tabindex: 0 }, element("table", { class: "matrix" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Entry"), head)),
      element("tbody", {}, ordered.map((row) => element("tr", { class: differs(row) ? "differs" : null },
        name(row), cuts.map((_, column) => cell(row.places[column]))))))),
  ];
}

function replay(found) {
  if (found.searches === 0) return element("p", {}, "No search was recorded yet.");
  const head = ["Cut", "Kept, mean", "Kept, median", "Kept, 90%", "Empty", "Precision", "Recall"];
  return [
    element("p", { class: "hint" }, `${count(found.searches, "search", "searches")}, ${found.judged} of them with judgements, from which precision and recall follow.`),
    table(head, found.cuts.map((one) => [cutName(one.cut),
      one.kept_mean.toFixed(1), one.kept_p50, one.kept_p90, percent(one.empty_rate), percent(one.precision), percent(one.recall)])),
  ];
}
