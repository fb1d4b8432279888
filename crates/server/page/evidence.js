// The claims of a task as a list and as a graph, the named questions about the evidence, and a box for SQL.

import * as api from "./api.js";
import { evidenceAddress } from "./claim.js";
import { count, element, fill, say, submit, table } from "./elements.js";

export async function show(view, parameters) {
  document.title = "Evidence – Tamis";
  fill(view, element("p", { class: "busy" }, "Reading …"));
  const views = await api.views();
  const name = parameters.get("name") ?? "v_contradictions";
  const chosen = views.find((one) => one.name === name) ?? views[0];
  const task = parameters.get("task") ?? "";
  const answer = element("div", { class: "wide", "aria-live": "polite" });
  fill(view, element("h1", {}, "Evidence"), await claims(task), questions(views, chosen, parameters), answer, statement(answer));
  if (parameters.has("name")) fill(answer, await api.viewRows(chosen.name, { parameters: given(chosen, parameters) }).then(rows, shown));
}

const shown = (problem) => element("p", { class: "warning" }, problem.message);

/** The claims by controversy, each with what supports and refutes it. */
async function claims(task) {
  let found;
  try {
    found = await api.viewRows("v_claim_evidence_summary", { task });
  } catch (problem) {
    return shown(problem);
  }
  const all = api.records(found);
  if (all.length === 0) {
    return element("p", {}, task ? `The task ${task} has no claims.` : "There are no claims here. “tamis import evidence” brings them in.");
  }
  const disputed = (claim) => Math.min(claim.supports, claim.refutes) / Math.max(1, claim.supports + claim.refutes + claim.neutral);
  all.sort((a, b) => disputed(b) - disputed(a));
  const graph = element("div");
  return element("section", {},
    element("form", { class: "ask", onsubmit: submit("evidence") },
      element("input", { name: "task", value: task, "aria-label": "Task", placeholder: "Only the claims of this task" }), element("button", {}, "Show")),
    element("h2", {}, `${count(all.length, "claim")}, the most disputed first`),
    element("ul", { class: "claims" }, all.map((claim) => element("li", {},
      element("a", { href: evidenceAddress("claim", claim.claim_id) }, claim.claim_text), " ",
      element("span", { class: "place" }, `${claim.supports} for, ${claim.refutes} against, ${claim.neutral} neutral`), " ",
      element("button", { type: "button", onclick: async () => {
        try {
          fill(graph, await around(claim));
          graph.scrollIntoView({ block: "nearest" });
        } catch (problem) {
          fill(graph, shown(problem));
        }
      } }, "Show its evidence")))),
    graph);
}

/** A claim in the middle, with its fragments around it. */
async function around(claim) {
  const found = await api.viewRows("v_evidence_chain", { parameters: [`claim_id=${claim.claim_id}`] });
  const edges = api.records(found);
  const relation = (edge) => ["supports", "refutes"].includes(edge.relation) ? edge.relation : "neutral";
  const width = 720, gap = 34, height = Math.max(120, gap * (edges.length + 1));
  const middle = { x: 120, y: height / 2 };
  const label = (text) => text && text.length > 70 ? `${text.slice(0, 69)}…` : text ?? "";
  const drawn = edges.map((edge, at) => {
    const y = gap * (at + 1);
    return element("g", {},
      element("line", { class: relation(edge), x1: middle.x, y1: middle.y, x2: 300, y2: y }),
      element("circle", { cx: 300, cy: y, r: 6 }),
      element("text", { x: 314, y: y + 4 }, `${relation(edge)}: ${label(edge.fragment_text)}`));
  });
  say(`${count(edges.length, "piece")} of evidence.`);
  return element("section", {},
    element("h3", {}, claim.claim_text),
    element("div", { class: "scroll", tabindex: 0 }, element("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${claim.supports} fragments support the claim, ${claim.refutes} refute it` },
    drawn, element("circle", { class: "claim", cx: middle.x, cy: middle.y, r: 12 }),
    element("text", { x: 12, y: middle.y - 20 }, label(claim.claim_text).slice(0, 34)))),
    rows(found));
}

function questions(views, chosen, parameters) {
  const fields = element("span", { class: "filters" });
  const describe = (view) => fill(fields, view.parameters.map((one) => element("label", { title: one.meaning }, one.name.replaceAll("_", " "),
    element("input", { name: `p_${one.name}`, value: parameters.get(`p_${one.name}`) ?? "", required: one.required, placeholder: one.meaning }))));
  const select = element("select", { name: "name", "aria-label": "Question",
    onchange: () => describe(views.find((one) => one.name === select.value)) },
  views.map((one) => element("option", { value: one.name, selected: one.name === chosen.name }, one.answers)));
  describe(chosen);
  return element("form", { onsubmit: submit("evidence") },
    element("h2", {}, "Questions"), select, fields, element("button", {}, "Ask"));
}

function given(view, parameters) {
  return view.parameters.map((one) => [one.name, parameters.get(`p_${one.name}`)]).filter(([, value]) => value).map(([name, value]) => `${name}=${value}`);
}

function statement(answer) {
  const text = element("textarea", { name: "sql", maxlength: 20000, spellcheck: "false", "aria-label": "SQL",
    placeholder: "SELECT text FROM claims LIMIT 10" });
  return element("form", { onsubmit: async (event) => {
    event.preventDefault();
    fill(answer, await api.sql(text.value).then(rows, shown));
  } }, element("h2", {}, "SQL"),
  element("p", { class: "place" }, "One SELECT over tasks, works, pages, fragments, claims, edges and embeddings. It can read nothing else and changes nothing."),
  text, element("button", {}, "Run"));
}

function rows(found) {
  if (found.rows.length === 0) return element("p", {}, "No rows.");
  return element("div", {},
    element("p", { class: "place" }, `${count(found.row_count, "row")}${found.truncated ? ", and more" : ""}`),
    table(found.columns.map((name) => name.replaceAll("_", " ")), found.rows));
}
