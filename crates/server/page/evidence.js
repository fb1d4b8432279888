// The claims of a task, the named questions about the evidence, and a box for SQL with examples.

import * as api from "./api.js";
import { evidenceAddress } from "./claim.js";
import { element, fill, submit, table } from "./elements.js";
import { capital, count } from "./labels.js";

/** Statements to begin with, each with what it asks. */
const STATEMENTS = [
  ["Sources by year", "SELECT title, year, venue, citation_count FROM works ORDER BY year DESC"],
  ["Claims with their edges", "SELECT c.text, e.relation, count(*) AS fragments FROM claims c JOIN edges e ON e.target_id = c.id AND e.target_type = 'claim' GROUP BY c.text, e.relation"],
  ["Open tasks", "SELECT id, question, created_at FROM tasks WHERE status = 'open'"],
];

export async function show(view, parameters) {
  document.title = "Evidence – Tamis";
  fill(view, element("p", { class: "busy" }, "Reading …"));
  const views = await api.views();
  const name = parameters.get("name") ?? "v_contradictions";
  const chosen = views.find((one) => one.name === name) ?? views[0];
  const task = parameters.get("task") ?? "";
  const [answer, answerOfSql] = [0, 1].map(() => element("div", { "aria-live": "polite" }));
  const list = await claims(task);
  view.classList.add("evidence");
  fill(view, element("h1", {}, "Evidence"), list, list.matches("[data-empty]") && !task ? null
    : element("div", { class: "stack" }, questions(views, chosen, parameters), answer, statement(answerOfSql), answerOfSql));
  if (!parameters.has("name")) return;
  fill(answer, await api.viewRows(chosen.name, { parameters: given(chosen, parameters) }).then((found) => rows(found, chosen), shown));
  answer.scrollIntoView({ block: "nearest" });
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
    return element("p", { "data-empty": true }, task ? `The task ${task} has no claims.` : ["There is no evidence here. ", element("code", {}, "tamis import evidence FILE"), " brings in claims and what supports or refutes them."]);
  }
  const disputed = (claim) => Math.min(claim.supports, claim.refutes) / Math.max(1, claim.supports + claim.refutes + claim.neutral);
  all.sort((a, b) => disputed(b) - disputed(a));
  const tasks = [...new Set(all.map((claim) => claim.task_id))];
  const side = (kind, number, word) => element("span", { class: `side ${kind}${number > 0 ? "" : " none"}` }, `${number} ${word}`);
  return element("section", {},
    element("p", { class: "hint" }, `${count(all.length, "claim")}, the most disputed first. `,
      task ? element("a", { href: "/?view=evidence" }, "All tasks") : tasks.length > 1 ? ["Only of the task ", tasks.map((one, at) => [at > 0 ? ", " : "",
        element("a", { href: `/?${new URLSearchParams({ view: "evidence", task: one })}` }, one)])] : null),
    element("ul", { class: "claims" }, all.map((claim) => element("li", {},
      element("a", { href: evidenceAddress("claim", claim.claim_id) }, claim.claim_text),
      element("p", { class: "sides" }, side("supports", claim.supports, "for"), side("refutes", claim.refutes, "against"), side("neutral", claim.neutral, "neutral"))))));
}

/** The named questions: those that need nothing can be asked at once, and all of them with what narrows them down. */
function questions(views, chosen, parameters) {
  const fields = element("div", { class: "fields" });
  const describe = (view) => fill(fields, view.parameters.map((one) => element("label", {}, columnName(one.name),
    element("input", { name: `p_${one.name}`, value: parameters.get(`p_${one.name}`) ?? "", required: one.required, placeholder: one.meaning }))));
  const select = element("select", { name: "name", "aria-label": "Question",
    onchange: () => describe(views.find((one) => one.name === select.value)) },
  views.map((one) => element("option", { value: one.name, selected: one.name === chosen.name }, one.answers)));
  describe(chosen);
  return element("section", {}, element("h2", {}, "Questions"),
    element("ul", { class: "questions" }, views.filter((one) => one.parameters.every((parameter) => !parameter.required)).slice(0, 5).map((one) =>
      element("li", {}, element("a", { href: `/?view=evidence&name=${encodeURIComponent(one.name)}` }, one.answers)))),
    element("details", { open: parameters.has("name") }, element("summary", {}, "All questions, with their parameters"),
      element("form", { onsubmit: submit("evidence") }, select, fields, element("button", {}, "Ask"))));
}

function given(view, parameters) {
  return view.parameters.map((one) => [one.name, parameters.get(`p_${one.name}`)]).filter(([, value]) => value).map(([name, value]) => `${name}=${value}`);
}

function statement(answer) {
  const text = element("textarea", { name: "sql", maxlength: 20000, spellcheck: "false", "aria-label": "SQL" }, STATEMENTS[0][1]);
  const run = async () => fill(answer, await api.sql(text.value).then(rows, shown));
  return element("form", { onsubmit: (event) => {
    event.preventDefault();
    run();
  } }, element("h2", {}, "SQL"),
  element("p", { class: "hint" }, "One SELECT over tasks, works, pages, fragments, claims, edges and embeddings. It can read nothing else and changes nothing."),
  element("p", { class: "chips" }, STATEMENTS.map(([name, sql]) => element("button", { type: "button", class: "small", onclick: () => {
    text.value = sql;
    run();
  } }, name))),
  text, element("button", {}, "Run"));
}

/** Keys that say little, in words. */
const COLUMNS = { n: "In all", nli_edge_confidence: "Confidence" };

/** The key of a column or a parameter in words: "min_controversy" is "Controversy at least". */
const columnName = (key) => COLUMNS[key] ?? capital(key.replace(/_id$/, "").replace(/^min_(.+)/, "$1 at least").replace(/^max_(.+)/, "$1 at most"));

/** The rows of an answer. Claims and fragments lead to their documents: by their text, else by their identifier. */
function rows(found, view) {
  if (found.rows.length === 0) return element("p", {}, "No rows.");
  const shown = found.columns.filter((name) => !/^(?:claim|fragment)_id$/.test(name) || !found.columns.includes(name.replace("_id", "_text")));
  const cell = (row, name) => {
    const kind = name.match(/^(claim|fragment)_(?:id|text)$/)?.[1];
    const value = typeof row[name] === "number" ? Math.round(row[name] * 1000) / 1000 : row[name];
    return row[`${kind}_id`] == null ? value : element("a", { href: evidenceAddress(kind, row[`${kind}_id`]) }, String(value ?? row[`${kind}_id`]));
  };
  return element("section", {}, view ? element("h2", {}, view.answers) : null,
    element("p", { class: "place" }, `${count(found.row_count, "row")}${found.truncated ? ", and more" : ""}`),
    table(shown.map((name) => columnName(name.replace(/^(claim|fragment)_text$/, "$1"))), api.records(found).map((row) => shown.map((name) => cell(row, name)))));
}
