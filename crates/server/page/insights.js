// How past searches were answered: kept and empty over time, what was judged, latencies, slow queries, and reports of evaluations.

import * as api from "./api.js";
import { count, element, fill, section } from "./elements.js";
import { bars, lineChart, percent, reliability } from "./plots.js";
import { reportOpener } from "./report.js";

export async function show(view, parameters, rights) {
  fill(view, element("p", { class: "busy" }, "Counting …"));
  document.title = "Insights – Tamis";
  const stats = await api.stats(parameters.get("since") ?? "");
  if (!stats.queries) {
    fill(view, element("h1", {}, "Insights"), element("p", {}, "No search was recorded yet. Search a little and come back."),
      reportOpener());
    return;
  }
  const day = (moment) => moment?.slice(0, 10);
  fill(view,
    element("h1", {}, "Insights"),
    element("p", {}, `${count(stats.queries, "search", "searches")} from ${day(stats.from)} to ${day(stats.to)}: `
      + `${Math.round(stats.empty_rate * 100)}% came back empty, and the median kept ${stats.kept.p50}.`),
    element("div", { class: "plots" },
      bars("Searches a day", stats.days.map((one) => [one.date, one.queries, `${one.queries} searches, ${one.empty} of them empty`, one.empty])),
      bars("Results kept", stats.kept.histogram.map((one) => [range(one), one.count, `${one.count} searches`, 0])),
      bars("Median kept a day", stats.days.map((one) => [one.date, one.kept_p50 ?? 0, `${one.kept_p50 ?? 0} kept`, 0])),
      bars("Slowest twentieth a day, ms", stats.days.map((one) => [
        one.date, one.p95_ms ?? 0, one.p95_ms === null ? "none" : `${one.p95_ms.toFixed(0)} ms`, 0]))),
    // A token that is limited to namespaces gets no judgements, which are others' too.
    rights.namespaces ? null : judged(stats.judgements),
    section("Time by stage, ms", ["stage", "median", "95%", "99%", "most"],
      stats.latency.map((one) => [one.stage, ...[one.p50_ms, one.p95_ms, one.p99_ms, one.max_ms].map((time) => time.toFixed(1))])),
    section("By cut", ["cut", "searches", "empty", "kept, mean"],
      stats.methods.map((one) => [one.name, one.queries, one.empty, one.mean_kept.toFixed(1)])),
    section("By way in", ["way in", "searches", "empty", "kept, mean"],
      stats.entry_points.map((one) => [one.name, one.queries, one.empty, one.mean_kept.toFixed(1)])),
    section("Slowest searches", ["when", "ms", "most of it in", "query"],
      stats.slowest.map((one) => [one.at.slice(0, 19).replace("T", " "), one.total_ms.toFixed(0),
        one.stage ? `${one.stage[0]} ${one.stage[1].toFixed(0)}` : null, one.text ?? "not recorded"])),
    reportOpener());
}

function range(bin) {
  if (bin.below === null) return `${bin.from}+`;
  return bin.below - bin.from <= 1 ? String(bin.from) : `${bin.from}–${bin.below - 1}`;
}

/** What people said of results: how much, what was kept of it, and whether the probabilities came true. */
function judged({ searches, relevant, not_relevant: wrong, days, reliability: found }) {
  const heading = element("h2", {}, "Judgements");
  if (searches === 0) {
    return [heading, element("p", {}, "No result was judged yet. Judgements show here how good the kept lists are, and whether probabilities come true.")];
  }
  let sum = 0;
  const course = days.map((day) => ({ ...day, sum: sum += day.judgements }));
  const asked = days.filter((day) => day.searches > 0);
  const quality = ["precision", "recall", "f1"].map((name) => ({ name: name === "f1" ? "F1" : name, values: asked.map((day) => day[name]) }));
  return [
    heading,
    element("p", {}, `${count(relevant + wrong, "result")} of ${count(searches, "search", "searches")} ${relevant + wrong === 1 ? "was" : "were"} judged, `
      + `${relevant.toLocaleString("en")} of them relevant.`),
    element("div", { class: "plots" },
      course.length > 1 ? lineChart("Judgements so far", course.map((day) => day.date), [{ name: "judgements", values: course.map((day) => day.sum) }],
        { format: (value) => Math.round(value).toLocaleString("en") }) : null,
      asked.length > 1 ? lineChart("Judged searches of a day", asked.map((day) => day.date), quality, { format: percent, top: 1 }) : null,
      found ? reliability("Probabilities that came true", found.bins) : null),
    found ? element("p", { class: "place" }, `The calibration error is ${found.calibration_error.toFixed(3)} and the Brier score ${found.brier.toFixed(3)}. `
      + "People judge what they are shown, so bins of low probability hold few entries.") : null,
    section("By day", ["day", "judgements", "judged searches", "precision", "recall", "F1"], days.map((day) => [
      day.date, day.judgements, day.searches, percent(day.precision), percent(day.recall), percent(day.f1)]), "h3"),
  ];
}
