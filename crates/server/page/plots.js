// Plots of figures. Each has a title, and a sentence or a table with the same figures for those who hear them.

import { element, table } from "./elements.js";
import { count, figure, percent } from "./labels.js";

const SIDE = 220, LEFT = 44, RIGHT = 20, TOP = 8, BOTTOM = 22;

function plot(title, width, height, sentence, drawn, ...below) {
  return element("figure", {}, element("figcaption", {}, title),
    element("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${sentence}` }, drawn), below);
}

/** Bars over a unit, each with a name, a height, a sentence, and the part of it that is drawn apart and called `apart`. */
export function bars(title, unit, rows, apart) {
  const top = niceTop(Math.max(...rows.map(([, height]) => height), 1));
  const width = 320, height = 150, floor = height - BOTTOM, step = (width - LEFT - 6) / Math.max(rows.length, 6);
  const x = (at) => LEFT + step * at, y = (value) => floor - (floor - TOP) * value / top;
  const rect = (kind, at, value) => element("rect", { class: kind, x: (x(at) + step * 0.12).toFixed(2), y: y(value).toFixed(2),
    width: (step * 0.76).toFixed(2), height: (floor - y(value)).toFixed(2) });
  const bar = ([name, value, sentence, part], at) => element("g", {}, rect("kept", at, value), part > 0 ? rect("apart", at, part) : null,
    element("title", {}, `${name}: ${sentence}`));
  const text = (left, down, content, anchor) => element("text", { x: left, y: down, "text-anchor": anchor }, content);
  const named = rows.length <= NAMED ? rows.map((_, at) => at) : [0, rows.length - 1];
  const anchor = (at) => rows.length <= NAMED ? "middle" : at === 0 ? "start" : "end";
  const under = (at) => rows.length <= NAMED ? x(at + 0.5) : at === 0 ? x(0) : x(rows.length);
  return plot(`${title}`, width, height, rows.map(([name, , sentence]) => `${name} ${sentence}`).join("; "), [
    [top, top / 2].map((value) => element("line", { class: "grid", x1: LEFT, x2: width - 6, y1: y(value), y2: y(value) })),
    [top, top / 2, 0].map((value) => text(LEFT - 5, y(value) + 4, figure(value), "end")),
    rows.map(bar), element("line", { class: "axis", x1: LEFT, x2: width - 6, y1: floor, y2: floor }),
    named.map((at) => text(under(at), height - 6, rows[at][0], anchor(at))),
  ], element("p", { class: "legend" }, element("span", { class: "kept" }, unit), apart ? [" ", element("span", { class: "apart-bar" }, apart)] : null));
}

/** Bars that have a name each. Of more, the first and the last have one. */
const NAMED = 9;

/** A round number that is not below a value, and even, so that its half is whole. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.max(2, [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value));
}

/** A square from 0 to 1 on both sides, with its axes and the diagonal. */
function square(across, up) {
  const x = (share) => LEFT + share * SIDE, y = (share) => TOP + (1 - share) * SIDE;
  const label = (attributes, text) => element("text", attributes, text);
  return { x, y, width: LEFT + SIDE + RIGHT, height: TOP + SIDE + 2 * BOTTOM, frame: [
    element("rect", { class: "frame", x: x(0), y: y(1), width: SIDE, height: SIDE }),
    element("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    [0, 0.5, 1].map((tick) => [
      label({ x: x(tick), y: y(0) + 15, "text-anchor": "middle" }, percent(tick)),
      tick > 0 ? label({ x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, percent(tick)) : null,
    ]),
    label({ x: x(0.5), y: y(0) + 2 * BOTTOM - 10, "text-anchor": "middle" }, across),
    label({ x: x(0) + 6, y: y(1) + 14 }, up),
  ] };
}

/** Probabilities against what came true: a dot for each bin, larger where it has more entries. On the diagonal they are right. */
export function reliability(title, bins) {
  const { x, y, width, height, frame } = square("predicted probability", "share that is relevant");
  const most = Math.log1p(Math.max(...bins.map((bin) => bin.count)));
  const line = element("polyline", { class: "line first", points: bins.map((bin) => `${x(bin.mean)},${y(bin.relevant)}`).join(" ") });
  const sentence = (bin) => `${percent(bin.mean)} predicted, ${percent(bin.relevant)} of ${count(bin.count, "entry", "entries")} relevant`;
  const dots = bins.map((bin) => element("circle", { class: "first", cx: x(bin.mean), cy: y(bin.relevant), r: 2 + 5 * Math.log1p(bin.count) / most },
    element("title", {}, sentence(bin))));
  return plot(title, width, height, bins.map(sentence).join("; "), [frame, line, dots],
    element("details", {}, element("summary", {}, "Figures"), table(["probability", "mean", "relevant", "entries"], bins.map((bin) => [
      `${percent(bin.low)} to ${percent(bin.high)}`, percent(bin.mean), percent(bin.relevant), bin.count.toLocaleString("en")]))));
}

/** Curves of right against wrong answers; each has a name and points of two shares. */
export function shares(title, across, up, curves) {
  const { x, y, width, height, frame } = square(across, up);
  const drawn = curves.map(({ points }, at) => element("polyline", {
    class: `line ${order(at)}`, points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
  return plot(title, width, height, curves.map(({ name }) => name).join("; "), [frame, drawn], legend(curves));
}

/** The colour and the dashes of the lines of a plot. */
const order = (at) => ["first", "second", "third", "fourth"][at % 4];

function legend(series) {
  return element("p", { class: "legend" }, series.map(({ name, isApart }, at) =>
    element("span", { class: `${order(at)}${isApart ? " apart" : ""}` }, name)));
}

/**
 * Lines over places with names. A value that is null leaves a gap, and a series that is apart has dots alone. `format` writes a value, and
 * `top` is the highest one drawn.
 */
export function lineChart(title, names, series, { format = (value) => String(value), top = null } = {}) {
  const width = 320, height = 170, right = width - RIGHT, floor = height - BOTTOM;
  const known = series.flatMap(({ values }) => values.filter((value) => Number.isFinite(value)));
  const most = Math.max(top ?? 0, ...known, 1e-9);
  const x = (at) => names.length === 1 ? (LEFT + right) / 2 : LEFT + (right - LEFT) * at / (names.length - 1);
  const y = (value) => floor - (floor - TOP) * value / most;
  const dot = (kind, name, radius) => (value, at) => Number.isFinite(value) ? element("circle",
    { class: kind, cx: x(at).toFixed(1), cy: y(value).toFixed(1), r: radius }, element("title", {}, `${names[at]}: ${name} ${format(value)}`)) : null;
  const line = ({ name, values, isApart }, at) => {
    const dots = names.length > MOST_DOTS && !isApart ? null : values.map(dot(order(at), name, isApart ? 4 : 2));
    const paths = isApart ? null : runs(values.map((value, place) => Number.isFinite(value) ? `${x(place).toFixed(1)},${y(value).toFixed(1)}` : null))
      .map((points) => element("polyline", { class: `line ${order(at)}`, points: points.join(" ") }));
    return [paths, dots];
  };
  const sentence = series.map(({ name, values }) => `${name}, at last ${format(values.findLast((value) => Number.isFinite(value)) ?? 0)}`).join("; ");
  const text = (left, down, content, anchor) => element("text", { x: left, y: down, "text-anchor": anchor }, content);
  return plot(title, width, height, sentence, [
    element("line", { class: "axis", x1: LEFT, x2: right, y1: floor, y2: floor }),
    text(LEFT - 5, floor + 4, format(0), "end"),
    text(LEFT - 5, TOP + 6, format(most), "end"),
    names.length > 1 ? text(LEFT, height - 6, names[0]) : text(x(0), height - 6, names[0], "middle"),
    names.length > 1 ? text(right, height - 6, names.at(-1), "end") : null,
    series.map(line),
  ], series.length > 1 ? legend(series) : null);
}

/** Places of a line that have a dot. More of them would hide it. */
const MOST_DOTS = 60;

/** The stretches of a list without a null. */
function runs(points) {
  const found = [[]];
  for (const point of points) {
    if (point === null) found.push([]);
    else found.at(-1).push(point);
  }
  return found.filter((run) => run.length > 1);
}

/** Differences with their intervals, each in a row with its name. */
export function intervals(title, rows) {
  const width = 340, names = 104, step = 22, height = rows.length * step + BOTTOM;
  const low = Math.min(0, ...rows.map((row) => row.low)), high = Math.max(0, ...rows.map((row) => row.high));
  const span = Math.max(high - low, 1e-9);
  const x = (value) => names + 10 + (width - names - 24) * (value - low) / span;
  const written = (value) => value.toFixed(3).replace("-", "−");
  const row = ({ name, estimate, low: from, high: to }, at) => element("g", {},
    element("text", { x: names, y: step * at + 15, "text-anchor": "end" }, name.length > 20 ? `${name.slice(0, 19)}…` : name),
    element("line", { class: "interval", x1: x(from), x2: x(to), y1: step * at + 11, y2: step * at + 11 }),
    element("circle", { class: "first", cx: x(estimate), cy: step * at + 11, r: 4 }),
    element("title", {}, `${name}: ${written(estimate)}, ${written(from)} to ${written(to)}`));
  return plot(title, width, height, rows.map((one) => `${one.name} ${written(one.estimate)}, from ${written(one.low)} to ${written(one.high)}`).join("; "), [
    element("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: rows.length * step }),
    rows.map(row),
    element("text", { x: x(low), y: height - 6 }, low < 0 ? written(low) : "0"),
    high > 0 ? element("text", { x: x(high), y: height - 6, "text-anchor": "end" }, written(high)) : null,
  ]);
}
