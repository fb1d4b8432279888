// The curve of a search beside its list: its scores, best first, what a bar stands for, and the line where relevance ends, which can be
// moved to see what would come and go.

import { documentAddress } from "./document.js";
import { element, fill } from "./elements.js";
import { figure, percent, placeOf, titleOf } from "./labels.js";

const WIDTH = 320, HEIGHT = 160, EDGE = 8, TOP = 8;

/** Bars that are drawn at least, and the probability from which an entry has one. A hundred bars without a height hide those with one. */
const FEWEST = 10, DRAWN = 0.01;

/** The least probability at the top of the axis, so that bars of next to nothing do not look like answers. */
const LEAST_TOP = 0.1;

/** Bars that are drawn. Of more entries, each bar has several and the height of the best of them. */
const MOST_BARS = 640;

/** What orders an entry: its probability, or its score where the cut gives none. */
const heightOf = (one) => one.probability ?? one.score;

/**
 * Draws the curve. `pool` has the entries with their scores, `floor` and `top` are the ends of the axis, `kept` is the number that the cut
 * kept, `now` where the line stands, and `background` the score of a passage that has nothing to do with the query, or null.
 * `pointed(place)` is called for the entry pointed at, and `moved(kept)` for another place of the line. Returns the element, and what moves
 * the line.
 */
function curve({ pool, floor, top, kept, now, background, pointed, moved }) {
  const scores = pool.map(heightOf);
  const step = (WIDTH - 2 * EDGE) / pool.length;
  const x = (place) => EDGE + step * place;
  const y = (score) => TOP + (HEIGHT - TOP) * (1 - (score - floor) / Math.max(top - floor, 1e-9));
  let shown = now;

  const each = Math.ceil(pool.length / MOST_BARS);
  const places = pool.map((_, place) => place).filter((place) => place % each === 0);
  const bars = places.map((place) => element("rect", {
    x: x(place).toFixed(2), width: Math.max(step * each - 0.6, 0.8).toFixed(2),
    y: Math.min(y(scores[place]), HEIGHT - 2).toFixed(2), height: Math.max(HEIGHT - y(scores[place]), 2).toFixed(2),
  }));
  const line = element("g", { class: "cut" }, element("line", { class: "grip", y1: 0, y2: 14 }),
    element("line", { y1: 0, y2: HEIGHT }));
  const base = background === null ? null : element("line", {
    class: "background", x1: EDGE, x2: WIDTH - EDGE, y1: y(background).toFixed(2), y2: y(background).toFixed(2),
  });
  const slider = element("svg", {
    class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "slider", tabindex: 0, "aria-label": "Where relevance ends",
    "aria-valuemin": 0, "aria-valuemax": pool.length, preserveAspectRatio: "none",
  }, bars, base, line);

  const draw = () => {
    bars.forEach((bar, at) => bar.setAttribute("class", places[at] < shown ? "kept" : "dropped"));
    line.setAttribute("transform", `translate(${x(shown).toFixed(2)} 0)`);
    slider.setAttribute("aria-valuenow", shown);
    slider.setAttribute("aria-valuetext", `${shown} of ${pool.length} kept`);
  };
  const move = (to) => {
    const next = Math.max(0, Math.min(pool.length, to));
    if (next === shown) return;
    shown = next;
    draw();
    moved(shown);
  };
  const placeAt = (event) => {
    const box = slider.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width * WIDTH - EDGE) / step;
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    move(Math.round(placeAt(event)));
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) move(Math.round(placeAt(event)));
    const place = Math.floor(placeAt(event));
    if (place >= 0 && place < pool.length) pointed(place);
  });
  slider.addEventListener("pointerleave", () => pointed(null));
  slider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    const to = { Home: 0, End: pool.length, Escape: kept }[event.key] ?? (by ? shown + by : null);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    move(to);
    pointed(Math.max(0, Math.min(pool.length, to) - 1));
  });
  draw();
  return { slider, move };
}

/** The curve with its axes. `moved(kept)` is called for another place of the line, `move(kept)` puts it somewhere, `say` repeats the headline. */
export function scores(found, candidates, now, query, moved) {
  const likely = candidates.every((one) => one.probability != null);
  const pool = likely ? candidates.slice(0, Math.max(FEWEST, 2 * found.cut.keep, now, candidates.findLastIndex((one) => one.probability >= DRAWN) + 2)) : candidates;
  // Probabilities have no background. Exact matches stand first, also before an entry with a higher score.
  const background = likely ? null : found.cut.diagnostics.background_mean ?? null;
  const heights = pool.map(heightOf);
  const floor = likely ? 0 : Math.min(background ?? Infinity, ...heights), top = Math.max(likely ? LEAST_TOP : floor, ...heights);
  const written = (value) => likely ? percent(value) : value.toFixed(2);
  const hint = "Drag the line, or move it with the arrow keys: the list follows.";
  const pointed = element("p", { class: "pointed" }, hint);
  const point = (place) => {
    if (place === null) return fill(pointed, hint);
    const one = pool[place];
    fill(pointed, element("span", { class: "number" }, `${place + 1}. `),
      element("a", { href: documentAddress({ ...one, end_line: one.start_line }, query) }, titleOf(one)),
      element("span", { class: "number" }, ` ${written(heightOf(one))}`),
      element("span", { class: "place" }, placeOf(one)));
  };
  const drawn = curve({ pool, floor, top, kept: found.cut.keep, now, background, pointed: point, moved });
  const echo = element("p", { class: "echo" }), above = element("span", { class: "kept" });
  const say = (headline, isMoved) => {
    fill(echo, headline);
    fill(above, isMoved ? "above the line" : "relevant");
  };
  const aside = element("aside", { class: "scores", "aria-label": "Scores" },
    element("h2", {}, likely ? "How likely each result is to answer" : "Scores"), echo,
    element("div", { class: "axes" },
      element("span", { class: "top" }, written(top)), element("span", { class: "floor" }, written(floor)), drawn.slider,
      element("span", { class: "first" }, "1"), element("span", { class: "last" }, `${pool.length < candidates.length ? `${figure(pool.length)} of ` : ""}${figure(candidates.length)} candidates`)),
    element("p", { class: "legend" }, above, " ", element("span", { class: "dropped" }, "below the line"),
      background === null ? "" : [" ", element("span", { class: "background" }, "unrelated text")]),
    pointed);
  return { aside, move: drawn.move, say };
}
