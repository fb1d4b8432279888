// How past searches were answered: kept and empty over time, what was judged, latencies, slow queries, and reports of evaluations.

import * as api from "./api.js";
import { element, fill, section, tiles } from "./elements.js";
import { bars, lineChart, reliability } from "./plots.js";
import { reportOpener } from "./report.js";
import { capital, count, cutName, day, figure, moment, percent, wayName } from "./labels.js";

/** What a search does in each stage, by its key. */
const STAGES = {
  embed: "Reading the query", gather: "Gathering", rank: "Ranking", entries: "Joining passages", weigh: "Weighing evidence", relevance: "Judging", cut: "Cutting",
  arrange: "Ordering", present: "Writing the answer", record: "Recording", total: "All of it",
};
const stageName = (key) => STAGES[key] ?? capital(key);

export async function show(view, parameters, rights) {
  fill(view, element("p", { class: "busy" }, "Counting …"));
  document.title = "Insights – Tamis";
  const stats = await api.stats(parameters.get("since") ?? "");
  if (!stats.queries) {
    fill(view, element("h1", {}, "Insights"), element("p", {}, "No search was recorded yet. Search a little and come back."),
      reportOpener());
    return;
  }
  const days = everyDay(stats.days);
  const ms = (time) => time < 10 ? time.toFixed(1) : figure(Math.round(time));
  const hasWords = stats.slowest.some((one) => one.text !== null);
  const total = stats.latency.find((one) => one.stage === "total");
  fill(view,
    element("h1", {}, "Insights"),
    element("p", { class: "hint" }, `${[...new Set([day(stats.from), day(stats.to)])].join(" to ")}. Days are in UTC.`),
    tiles([["Searches", figure(stats.queries)], ["Came back empty", percent(stats.empty_rate)], ["Results kept, median", figure(stats.kept.p50)],
      total && ["Time, median", `${ms(total.p50_ms)} ms`], total && ["Time, slowest 5%", `${ms(total.p95_ms)} ms`]]),
    element("div", { class: "plots" },
      bars("Searches a day", "searches", days.map((one) => [day(one.date, true), one.queries, `${one.queries} searches, ${one.empty} of them empty`, one.empty]), "empty"),
      bars("Results kept by a search", "searches", stats.kept.histogram.map((one) => [range(one), one.count, `${one.count} searches`, 0])),
      bars("Results kept, median of a day", "results", days.map((one) => [day(one.date, true), one.kept_p50 ?? 0, `${one.kept_p50 ?? 0} kept`, 0])),
      bars("Time of the slowest 5% of a day", "ms", days.map((one) => [
        day(one.date, true), one.p95_ms ?? 0, one.p95_ms === null ? "none" : `${one.p95_ms.toFixed(0)} ms`, 0]))),
    // A token that is limited to namespaces gets no judgements, which are others' too.
    rights.namespaces ? null : judged(stats.judgements),
    element("div", { class: "cards" },
      section("Time by stage, in ms", ["Stage", "Median", "95%", "99%", "Longest"],
        stats.latency.map((one) => [stageName(one.stage), ...[one.p50_ms, one.p95_ms, one.p99_ms, one.max_ms].map((time) => time.toFixed(1))])),
      section("By cut", ["Cut", "Searches", "Empty", "Kept, mean"],
        stats.methods.map((one) => [cutName(one.name), figure(one.queries), figure(one.empty), one.mean_kept.toFixed(1)])),
      section("By way in", ["Way in", "Searches", "Empty", "Kept, mean"],
        stats.entry_points.map((one) => [wayName(one.name), figure(one.queries), figure(one.empty), one.mean_kept.toFixed(1)])),
      section("Slowest searches", ["When, UTC", "ms", "Most of it in", ...(hasWords ? ["Query"] : [])], stats.slowest.map((one) => [moment(one.at),
        ms(one.total_ms), one.stage ? `${stageName(one.stage[0])}, ${ms(one.stage[1])}\u00a0ms` : null, ...(hasWords ? [one.text] : [])])),
      hasWords ? null : element("p", { class: "place" }, "The words of the searches are not recorded.")),
    reportOpener());
}

/** The days of a period, also those without a search. */
function everyDay(days) {
  const known = new Map(days.map((one) => [one.date, one]));
  const [first, last] = [days[0], days.at(-1)].map((one) => Date.parse(one?.date ?? 0) / 86_400_000);
  const dates = Array.from({ length: last - first + 1 }, (_, at) => new Date((first + at) * 86_400_000).toISOString().slice(0, 10));
  return dates.slice(-MOST_DAYS).map((date) => known.get(date) ?? { date, queries: 0, empty: 0, kept_p50: null, p95_ms: null });
}

/** Days that are drawn, the last ones. */
const MOST_DAYS = 90;

function range(bin) {
  if (bin.below === null) return `${bin.from}+`;
  return bin.below - bin.from <= 1 ? String(bin.from) : `${bin.from}–${bin.below - 1}`;
}

/** Judged entries from which on a share of them says something. */
const TELLING = 30;

/** What people said of results: how much, what was kept of it, and whether the probabilities came true. */
function judged({ searches, relevant, not_relevant: wrong, days, reliability: found }) {
  const heading = element("h2", {}, "Judgements");
  if (searches === 0) {
    return element("section", { class: "stack" }, heading, element("p", {}, "No result was judged yet. Judgements show here how good the kept lists are, and whether probabilities come true."));
  }
  let sum = 0;
  const compared = found?.bins.reduce((all, bin) => all + bin.count, 0) ?? 0;
  const isTelling = compared >= TELLING;
  const course = days.map((one) => ({ ...one, sum: sum += one.judgements }));
  const asked = days.filter((one) => one.searches > 0);
  const quality = ["precision", "recall", "f1"].map((name) => ({ name: capital(name), values: asked.map((one) => one[name]) }));
  return element("section", { class: "stack" },
    heading,
    element("p", {}, `${count(relevant + wrong, "result")} of ${count(searches, "search", "searches")} ${relevant + wrong === 1 ? "was" : "were"} judged, `
      + `${figure(relevant)} of them relevant.`),
    element("div", { class: "plots" },
      course.length > 1 ? lineChart("Judgements so far", course.map((one) => day(one.date, true)), [{ name: "judgements", values: course.map((one) => one.sum) }],
        { format: (value) => figure(Math.round(value)) }) : null,
      asked.length > 1 ? lineChart("Judged searches of a day", asked.map((one) => day(one.date, true)), quality, { format: percent, top: 1 }) : null,
      isTelling ? reliability("Probabilities that came true", found.bins) : null),
    isTelling ? element("p", { class: "place" }, `The calibration error is ${found.calibration_error.toFixed(3)} and the Brier score ${found.brier.toFixed(3)}. `
      + "People judge what they are shown, so bins of low probability hold few entries.")
      : element("p", { class: "place" }, `Whether probabilities come true shows here from ${TELLING} judged entries on. There ${compared === 1 ? "is" : "are"} ${figure(compared)}.`),
    days.length === 0 ? null : element("details", {}, element("summary", {}, "By day"), section("Judgements by day",
      ["Day", "Judgements", "Judged searches", "Precision", "Recall", "F1"],
      days.map((one) => [day(one.date), one.judgements, one.searches, percent(one.precision), percent(one.recall), percent(one.f1)]), "h3")));
}
