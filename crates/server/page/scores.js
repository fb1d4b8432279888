// The scores beside the results: what a bar stands for, and what another cut would bring or take.

import * as api from "./api.js";
import { curve, heightOf } from "./curve.js";
import { documentAddress } from "./document.js";
import { count, element, fill, marked } from "./elements.js";

/** Entries that are listed of those that would come. */
const COMING = 100;

/** A link to an entry, with its place. */
export function placeOf(one, query) {
  return [element("a", { href: documentAddress({ ...one, end_line: one.start_line }, query) }, one.symbol ?? `${one.path}:${one.start_line}`),
    element("span", { class: "place" }, ` ${one.path}:${one.start_line}`)];
}

/** The curve of a search with its legend. `list` has the results drawn so far, and `moved` takes what would come. */
export function scores(found, pool, list, moved, query) {
  const kept = found.cut.keep;
  const likely = pool.every((one) => one.probability != null);
  // Probabilities have no background.
  const background = likely ? 0 : found.cut.diagnostics.background_mean ?? null;
  const figure = (one) => likely ? `${Math.round(100 * one.probability)}%` : heightOf(one).toFixed(3);
  const pointed = element("p", { class: "pointed place" }, "Point at a bar to see its passage. Move the line to see what would come and go.");
  const texts = new Map();
  let latest = null;
  const point = async (place) => {
    latest = place;
    if (place === null) return;
    const one = pool[place];
    const at = `${one.namespace}:${one.path}:${one.start_line}`;
    const describe = (text) => fill(pointed, element("strong", {}, `${place + 1}. `), placeOf(one, query), ` ${figure(one)}`,
      text ? element("code", {}, marked(text, query)) : null);
    describe(texts.get(at));
    if (texts.has(at)) return;
    try {
      const excerpt = await api.read(at, 2);
      texts.set(at, excerpt.text.trim().slice(0, 400));
    } catch {
      return;
    }
    if (latest === place) describe(texts.get(at));
  };
  let last = kept;
  const grey = () => [...list.children].forEach((item, place) => item.classList.toggle("gone", place >= last));
  list.addEventListener("more", grey);
  const move = (now) => {
    last = now;
    grey();
    const coming = pool.slice(kept, Math.min(now, kept + COMING));
    const rest = now - kept - coming.length;
    fill(moved,
      now === kept ? null : element("p", { class: "reason" }, now < kept
        ? `${count(kept - now, "result")} would go. The search itself keeps ${kept}.`
        : `${count(now - kept, "more entry", "more entries")} would come. The search itself keeps ${kept}.`),
      coming.length > 0 ? element("ul", { class: "coming" }, coming.map((one) => element("li", {}, placeOf(one, query)))) : null,
      rest > 0 ? element("p", { class: "place" }, `and ${rest.toLocaleString("en")} more`) : null);
  };
  return [
    element("h2", {}, likely ? "Probabilities" : "Scores"),
    curve({ pool, kept, background, pointed: point, moved: move }),
    element("p", { class: "legend" }, element("span", { class: "kept" }, "kept"), " ", element("span", { class: "dropped" }, "left out"),
      likely || background === null ? "" : [" ", element("span", { class: "background" }, "unrelated text")]),
    pointed,
  ];
}
