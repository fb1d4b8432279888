// The curve of a search beside its list: what a bar stands for, and the line that can be moved.

import { curve, heightOf } from "./curve.js";
import { documentAddress } from "./document.js";
import { element, fill } from "./elements.js";
import { figure, percent, placeOf, titleOf } from "./words.js";

/** Bars that are drawn at least, and the probability from which an entry has one. A hundred bars without a height hide those with one. */
const FEWEST = 10, DRAWN = 0.01;

/** The least probability at the top of the axis, so that bars of next to nothing do not look like answers. */
const LEAST_TOP = 0.1;

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
