// A report of an evaluation, from a file that stays in the browser.

import { element, fill, section } from "./elements.js";
import { intervals, lineChart, reliability, shares } from "./plots.js";
import { count, percent } from "./labels.js";

/** The version of the form that this page reads. */
const FORMAT = 1;

const MOST_BYTES = 200 * 1024 * 1024;

/** Candidates of a query whose scores are drawn. */
const BEST = 50;

/** The figures of a table, in their order, with their heading. */
const FIGURES = [
  ["relative_f1", "mean F1 of the best"], ["share_of_best_f1", "share of best F1"], ["f1", "F1"], ["precision", "precision"], ["recall", "recall"],
  ["penalised_dcg", "penalised DCG"], ["kept", "kept"], ["answerable_empty", "answerable empty"], ["unanswerable_empty", "unanswerable empty"],
  ["foreign_empty", "foreign empty"], ["calibration_error", "calibration error"], ["brier", "Brier"], ["log_loss", "log loss"],
  ["gate_auroc_unanswerable", "AUROC, unanswerable"], ["gate_auroc_foreign", "AUROC, foreign"], ["depth_change", "change by depth"],
  ["depth_unchanged", "unchanged by depth"], ["microseconds", "µs"],
];

/** A place to open a report. */
export function reportOpener() {
  const shown = element("div", { class: "report", "aria-live": "polite" });
  const input = element("input", { type: "file", id: "report", accept: ".json,application/json", onchange: () => open(input.files[0], shown) });
  return element("section", {},
    element("h2", {}, "Evaluation report"),
    element("p", { class: "place" }, "Opens what ", element("code", {}, "tamis eval … --json > report.json"), " writes. The file stays in this browser."),
    element("label", { for: "report" }, "Report "), input, shown);
}

async function open(file, shown) {
  if (!file) return;
  try {
    if (file.size > MOST_BYTES) throw new Error("it is larger than 200 MB");
    fill(shown, ...read(await file.text()));
  } catch (error) {
    fill(shown, element("p", { class: "warning", role: "alert" }, `${file.name} cannot be shown: ${error.message}.`));
  }
}

function read(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  const learning = Array.isArray(report) && report.length > 0 && report.every((one) => Array.isArray(one?.points) && typeof one.collection === "string");
  const evaluation = Array.isArray(report?.collections) && Array.isArray(report?.overall);
  if (evaluation && report.format !== FORMAT) throw new Error(`its format is ${report.format}, and this page reads ${FORMAT}`);
  if (!learning && !evaluation) throw new Error("it is not a report of tamis eval --json");
  try {
    if (learning) return report.map(learningCurve);
    const isOnly = report.collections.length === 1;
    return [overall(report), ...report.collections.map((one) => collection(one, report.options, isOnly))];
  } catch {
    throw new Error("a part of the report is missing or has another form");
  }
}

function overall({ overall: methods, options, collections }) {
  const metric = "relative_f1";
  const compared = methods.filter((method) => method.differences[metric]).map((method) => ({ name: method.name, ...ends(method.differences[metric]) }));
  compared.sort((a, b) => b.estimate - a.estimate);
  return element("section", {},
    element("h3", {}, `All methods over ${count(collections.length, "collection")}`),
    element("p", { class: "place" }, `Differences are from ${options.baseline}, with 95% intervals over ${options.resamples.toLocaleString("en")} resamples.`),
    compared.length > 0 ? element("div", { class: "plots wide-plots" }, intervals(`Mean F1 of the best, less that of ${options.baseline}`, compared)) : null,
    figuresOf("Figures", methods, options.baseline));
}

/** A difference without an interval is its own. */
function ends({ estimate, low, high }) {
  return { estimate, low: low ?? estimate, high: high ?? estimate };
}

/** The figures of methods, and their differences from the baseline with intervals. */
function figuresOf(title, methods, baseline) {
  const known = FIGURES.filter(([name]) => methods.some((method) => Number.isFinite(method.figures[name])));
  const paired = known.filter(([name]) => methods.some((method) => method.differences[name]));
  const rows = (columns, cell) => methods.map((method) => [
    method.reference ? `${method.name} (reference)` : method.name, ...columns.map(([name]) => cell(method, name))]);
  const labels = (columns) => ["method", ...columns.map(([, label]) => label)];
  return [
    section(title, labels(known), rows(known, (method, name) => {
      const value = method.figures[name];
      return value === undefined ? "–" : value.toFixed(name === "kept" || name === "microseconds" ? 1 : 3).replace("-", "−");
    }), "h4"),
    section(`Differences from ${baseline}`, labels(paired), rows(paired, (method, name) => {
      if (!method.differences[name]) return "–";
      const { estimate, low, high } = ends(method.differences[name]);
      return `${signed(estimate)} (${signed(low)} to ${signed(high)})`;
    }), "h4"),
  ];
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** One of the collections. The figures of the only one are those over all. */
function collection(one, options, isOnly) {
  const given = one.methods.filter((method) => !method.reference);
  const kinds = [[one.answerable, "answerable"], [one.unanswerable, "unanswerable"], [one.foreign, "foreign"]];
  const budget = one.budget.map((point) => String(point.documents));
  const column = (name, figure) => ({ name, values: one.budget.map((point) => point[figure]) });
  return element("details", { open: isOnly },
    element("summary", {}, element("h3", {}, one.name)),
    element("p", {}, `${kinds.filter(([number]) => number > 0).map(([number, kind]) => `${number.toLocaleString("en")} ${kind}`).join(", ")} queries`
      + `${one.model ? `, ${one.model}` : ""}.`),
    element("div", { class: "plots" },
      given.filter((method) => method.reliability.length > 0).map((method) => reliability(`Reliability of ${method.name}`, method.reliability)),
      given.filter((method) => method.roc.length > 0).map((method) => shares(`Evidence of ${method.name}`, "others let through", "answerable let through",
        method.roc.map((curve) => ({ name: `${curve.against}, AUROC ${curve.auroc.toFixed(3)}`, points: curve.points })))),
      budget.length > 1 ? lineChart("Keeping the first k", budget, [
        column("precision", "precision"), column("recall", "recall"), column("share of best F1", "share_of_best_f1"),
      ], { format: percent, top: 1 }) : null,
      one.samples.map((sample) => scoresOf(sample, one.queries[sample.query].id))),
    section("Ranking", ["figure", "value"], Object.entries(one.ranking).map(([name, value]) => [name.replaceAll("_", " "), value.toFixed(3)]), "h4"),
    isOnly ? null : figuresOf("Cuts", one.methods, options.baseline));
}

/** The scores of a query's best candidates, with the relevant ones among them. */
function scoresOf({ scores, relevant }, id) {
  const best = scores.slice(0, BEST);
  return lineChart(`Scores of ${id}`, best.map((_, at) => `rank ${at + 1}`), [
    { name: "score", values: best },
    { name: "relevant", values: best.map((score, at) => relevant.includes(at) ? score : null), isApart: true },
  ], { format: (value) => value.toFixed(2) });
}

function learningCurve({ collection: name, queries, points }) {
  return element("section", {},
    element("h3", {}, name),
    element("p", { class: "place" }, `Mean F1 of the best after some of ${count(queries, "query", "queries")} were judged, on the others.`),
    element("div", { class: "plots" }, lineChart("With judgements and without", points.map((point) => String(point.judged)), [
      { name: "with", values: points.map((point) => point.relative_f1) }, { name: "without", values: points.map((point) => point.without) },
    ], { format: percent, top: 1 })),
    section("Figures", ["judged", "with", "without", "standard error of the difference"],
      points.map((point) => [point.judged, ...[point.relative_f1, point.without, point.error].map((value) => value.toFixed(3))]), "h4"));
}
