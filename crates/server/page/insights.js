// How past searches were answered: kept and empty over time, latencies, and slow queries.

import * as api from "./api.js";
import { count, element, fill, section } from "./elements.js";

export async function show(view, parameters) {
  fill(view, element("p", { class: "busy" }, "Counting …"));
  document.title = "Insights – Tamis";
  const stats = await api.stats(parameters.get("since") ?? "");
  if (!stats.queries) {
    fill(view, element("h1", {}, "Insights"), element("p", {}, "No search was recorded yet. Search a little and come back."));
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
      bars("Median kept a day", stats.days.map((one) => [one.date, one.kept_p50 ?? 0, `${one.kept_p50} kept`, 0])),
      bars("Slowest twentieth a day, ms", stats.days.map((one) => [one.date, one.p95_ms, `${one.p95_ms.toFixed(0)} ms`, 0]))),
    section("Time by stage, ms", ["stage", "median", "95%", "99%", "most"],
      stats.latency.map((one) => [one.stage, ...[one.p50_ms, one.p95_ms, one.p99_ms, one.max_ms].map((time) => time.toFixed(1))])),
    section("By cut", ["cut", "searches", "empty", "kept, mean"],
      stats.methods.map((one) => [one.name, one.queries, one.empty, one.mean_kept.toFixed(1)])),
    section("By way in", ["way in", "searches", "empty", "kept, mean"],
      stats.entry_points.map((one) => [one.name, one.queries, one.empty, one.mean_kept.toFixed(1)])),
    section("Slowest searches", ["when", "ms", "most of it in", "query"],
      stats.slowest.map((one) => [one.at.slice(0, 19).replace("T", " "), one.total_ms.toFixed(0), `${one.stage[0]} ${one.stage[1].toFixed(0)}`, one.text ?? "not recorded"])));
}

function range(bin) {
  if (bin.below === null) return `${bin.from}+`;
  return bin.below - bin.from <= 1 ? String(bin.from) : `${bin.from}–${bin.below - 1}`;
}

/** Bars with a name, a height, a sentence, and the part of them that is empty answers. The figures stand in a table for those who hear. */
function bars(title, rows) {
  const shown = rows.slice(-60);
  const top = Math.max(...shown.map(([, height]) => height), 1e-9);
  const width = 300, height = 120, step = width / Math.max(shown.length, 6);
  const y = (value) => height - (height - 4) * value / top;
  const bar = ([name, value, sentence, part], at) => element("g", {},
    element("rect", { class: "kept", x: at * step, y: y(value), width: Math.max(step - 2, 1), height: height - y(value) }),
    part > 0 ? element("rect", { class: "dropped", x: at * step, y: y(part), width: Math.max(step - 2, 1), height: height - y(part) }) : null,
    element("title", {}, `${name}: ${sentence}`));
  return element("figure", {}, element("figcaption", {}, title),
    element("svg", { class: "bars", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${shown.map(([name, , sentence]) => `${name} ${sentence}`).join("; ")}` }, shown.map(bar)),
    element("p", { class: "place" }, shown.length > 1 ? `${shown[0][0]} to ${shown.at(-1)[0]}, at most ${Math.round(top * 10) / 10}` : shown.map(([name, , sentence]) => `${name}: ${sentence}`).join("")));
}
