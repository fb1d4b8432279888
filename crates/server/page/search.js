// The search: one list of entries with the line where relevance ends, the reason for it, the filters and the curve beside it.

import * as api from "./api.js";
import { colouring, isProse } from "./highlight.js";
import { documentAddress } from "./document.js";
import { placeTools } from "./editor.js";
import { breakable, element, fill, flush, focusHeadline, marked, prose, say, snippet, submit } from "./elements.js";
import { chips, filters, FILTERS, inUse, requestOf } from "./filters.js";
import { whileReading } from "./events.js";
import { remember } from "./recent.js";
import { scores } from "./curve.js";
import { capital, count, day, figure, kindName, languageName, percent, placeOf, titleOf } from "./labels.js";

/** Entries that are drawn at a time, and those of them below the line. */
const PORTION = 100, BELOW = 5;

/** Further passages of an entry that are shown at once. */
const FURTHER = 2;

/** The last answers by their request, with the place of the line, so that the way back leads to the same list at once. */
const answers = new Map();
const MOST_ANSWERS = 8;

/** Delays after the last key: of the quick search, and of the full one. */
const TYPED_MS = 40, RESTED_MS = 900;

/** A field that shows all of a long question. Enter sends it. */
export function queryField(parameters, label, typed = null) {
  const field = element("textarea", {
    id: "query", name: "query", rows: 1, autocomplete: "off", spellcheck: "false", maxlength: 8000, enterkeyhint: "search",
    "aria-label": label, placeholder: label,
    oninput: typed,
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      field.form.requestSubmit();
    },
  }, parameters.get("query") ?? "");
  if (CSS.supports("field-sizing", "content")) return field;
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  };
  field.addEventListener("input", grow);
  let width = null;
  new ResizeObserver(() => {
    if (field.clientWidth !== width) grow();
    width = field.clientWidth;
  }).observe(field);
  return field;
}

/** The search field. What filters the answers goes with it. It answers while one types. */
export function searchForm(parameters) {
  let resting = null;
  const input = queryField(parameters, "What are you looking for?", () => {
    clearTimeout(resting);
    resting = setTimeout(() => input.value.trim().length > 1 && window.dispatchEvent(new CustomEvent("typed", { detail: form })), TYPED_MS);
  });
  const kept = parameters.get("view") ? [] : FILTERS.map((name) => [name, parameters.get(name)]).filter(([, value]) => value);
  const form = element("form", { role: "search", class: "ask", onsubmit: (event) => {
    clearTimeout(resting);
    submit("search")(event);
  } },
    input, kept.map(([name, value]) => element("input", { type: "hidden", name, value })), element("button", { class: "primary" },
    element("svg", { class: "glass", viewBox: "0 0 20 20", "aria-hidden": "true" }, element("circle", { cx: 8.5, cy: 8.5, r: 5.5 }), element("path", { d: "M13 13l5 5" })),
    element("span", {}, "Search")));
  return { form, input };
}

/** Shows the answer. With `rested`, the query is still being typed: shows its quick answer, and calls `rested` when no key follows. */
export async function show(view, parameters, rights, signal, rested) {
  const query = parameters.get("query");
  const answer = element("div", { class: "answer" }, element("p", { class: "busy" }, "Searching …"));
  fill(view, answer);
  document.title = `${query} – Tamis`;
  try {
    const quick = rested ? { fast: true, no_record: true } : {};
    const found = await answerOf(query, { ...requestOf(parameters), ...quick }, signal);
    // Filters that leave nothing stay, with what there is without them.
    const whole = found.cut.candidates === 0 && inUse(parameters).length > 0 ? await answerOf(query, quick, signal) : found;
    if (rested) setTimeout(() => signal.aborted || rested(), RESTED_MS);
    else remember(query);
    const again = () => {
      answers.clear();
      history.replaceState({ ...history.state, drawn: undefined }, "");
      show(view, parameters, rights, signal).catch((problem) => say(problem.message, true));
    };
    present(answer, found, whole, query, parameters, rights, noticesOf(found, signal, again));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (problem.status !== 400) throw problem;
    // A filter that the server refuses can be taken away.
    fill(answer, element("div", { class: "column" }, chips(parameters), element("p", { class: "warning", role: "alert" }, problem.message)));
  }
}

async function answerOf(query, filtered, signal) {
  const request = { query, limit: 100, context: 4, ...filtered };
  const key = JSON.stringify(request);
  const found = answers.get(key) ?? await api.search(request, signal);
  answers.delete(key);
  answers.set(key, found);
  if (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value);
  return found;
}

/** The warning of an answer that came while the server was reading files. */
const UPDATING = /^the index is being updated/;

/** What an answer lacks. While files are read, that follows the work; then an empty list is asked for again, and another one can be. */
function noticesOf({ warnings = [], fallback_reason: fallback, cut }, signal, again) {
  const remarks = warnings.filter((warning) => !UPDATING.test(warning)).map((warning) => `${capital(warning)}.`);
  const notices = [...remarks, fallback ? `Answered with less than asked for: ${fallback}.` : null].filter(Boolean).map((remark) => element("p", { class: "notice" }, remark));
  if (!warnings.some((warning) => UPDATING.test(warning))) return notices;
  const live = element("p", { class: "notice" });
  whileReading(signal, (progress) => fill(live, `${progress} Results may be missing.`), () => cut.keep === 0 ? again()
    : fill(live, "The index has changed. ", element("button", { type: "button", class: "small", onclick: again }, "Search again")));
  return [...notices, live];
}

const poolOf = ({ pool = [] }) => pool.filter((one) => Number.isFinite(one.score));

function present(answer, found, whole, query, parameters, rights, notices) {
  say(found.summary);
  const pool = poolOf(found);
  const entries = entriesOf(found, pool);
  const { keep, candidates } = found.cut;
  const headline = element("div", { class: "headline" });
  const list = element("ol", { class: "results" });
  const line = element("li", { class: "cut" });
  const more = element("button", { type: "button", class: "more", onclick: () => draw(list.querySelectorAll(":scope > .entry").length + PORTION, true) });
  let now = found.moved ?? keep;
  const curve = pool.length > 0 ? scores(found, pool, now, query, (to) => place(to)) : null;
  const draw = (to, focus) => {
    const drawn = [...list.querySelectorAll(":scope > .entry")];
    const added = entries.slice(drawn.length, to).map((one) => one.snippet === undefined ? row(one, found, query, rights) : full(one, found, query, rights));
    list.append(...added);
    // The way back finds as many entries as there were.
    history.replaceState({ ...history.state, drawn: drawn.length + added.length }, "");
    const rest = entries.length - drawn.length - added.length;
    more.hidden = rest === 0;
    const isBelow = drawn.length + added.length >= keep;
    fill(more, `Show ${figure(Math.min(PORTION, rest))} more${isBelow ? " below the line" : ` of ${figure(entries.length)}`}`);
    place(now);
    if (focus) added[0]?.querySelector("a.hit").focus();
  };
  /** Puts the line behind a number of entries: the headline, the list and the curve follow in place. */
  const place = (to) => {
    const isMoved = to !== now;
    now = to;
    found.moved = now === keep ? undefined : now;
    const drawn = list.querySelectorAll(":scope > .entry");
    if (isMoved && now > drawn.length) return draw(Math.min(now + BELOW, drawn.length + PORTION));
    list.insertBefore(line, drawn[now] ?? null);
    line.hidden = now >= entries.length || (now > drawn.length && drawn.length < keep);
    const next = pool[now]?.probability;
    fill(line, element("span", {}, now === keep ? keep > 0 ? "Relevance ends here" : "Nearest, but not relevant" : "Your line"),
      next == null || (now === 0 && keep === 0) ? null : element("span", { class: "place" }, `the next has ${percent(next)}`));
    fill(headline, now === keep ? itself(found) : [
      element("h1", { class: "reason" }, `${figure(now)} of ${figure(candidates)} by your line`),
      element("p", { class: "why" }, `${now < keep ? `You took away ${figure(keep - now)}` : `You added ${figure(now - keep)}`}. `
        + `Tamis itself keeps ${figure(keep)}. `, element("button", { type: "button", class: "small", onclick: () => { curve.move(keep); focusHeadline(headline); } }, "Put it back"))]);
    curve?.say(headline.querySelector("h1").textContent, now !== keep);
    const used = inUse(parameters);
    if (whole !== found) headline.append(element("p", { class: "why" },
      `${listed(used, "conjunction")} ${used.length === 1 ? "leaves" : "together leave"} nothing of ${count(whole.cut.candidates, "candidate")}.`));
  };
  fill(answer, filters(whole === found ? entries : poolOf(whole), parameters), element("div", { class: "column" }, headline, chips(parameters),
    notices, list, more), curve?.aside);
  draw(history.state?.drawn ?? Math.min(PORTION, Math.max(found.results.length, Math.min(keep, entries.length)) + BELOW));
}

const listed = (words, type) => new Intl.ListFormat("en-GB", { type }).format(words.map((word) => `“${word}”`));

/** The results, then what is below the line: the nearest first, and the others of the pool in their order. */
function entriesOf(found, pool) {
  const key = (one) => `${one.namespace}:${one.path}:${one.start_line}`;
  const known = new Map(pool.map((one) => [key(one), one]));
  const results = found.results.map((hit, at) => ({ ...hit, at }));
  const nearest = found.nearest.map((one) => ({ ...known.get(key(one)), ...one }));
  const taken = new Set(nearest.map(key));
  return [...results, ...pool.slice(0, found.cut.keep).slice(results.length), ...nearest, ...pool.slice(found.cut.keep).filter((one) => !taken.has(key(one)))];
}

/** The probabilities around the line, with a digit more if they would read the same. */
function change(last, next) {
  const written = percent(last) === percent(next) ? (share) => `${(share * 100).toFixed(1)}%` : percent;
  return written(last) === written(next) ? "" : `: ${written(next)} after ${written(last)}`;
}

/** What the search itself decided, and its reason in words. */
function itself({ summary, cut, pool, warnings = [], missing_words: missing = [] }) {
  if (cut.candidates === 0 && warnings.some((warning) => UPDATING.test(warning))) return element("h1", { class: "reason" }, "Nothing found yet");
  const refused = cut.diagnostics?.judged_not_relevant ?? 0;
  const head = summary.match(/^(.*?)(?: \(.*?\))?(?:[:;] .*|\.)?$/)[1];
  const [last, next] = [pool?.[cut.keep - 1]?.probability, pool?.[cut.keep]?.probability];
  const reason = capital(cut.reason.replace(/\.$/, ""));
  const why = cut.keep > 0 ? `${reason}${last != null && next != null ? change(last, next) : ""}.`
    : (next != null ? `The nearest has ${percent(next)}. ` : "")
      + (refused > 0 ? `${count(refused, "result was", "results were")} judged not relevant. ` : "") + (missing.length > 0 ? `No passage has ${listed(missing.slice(0, 3), "disjunction")}.` : "");
  return [element("h1", { class: "reason" }, head), why ? element("p", { class: "why" }, why) : null];
}

/** The name of an entry, as a link. */
const naming = (hit, query) => element("a", { href: documentAddress(hit, query), class: hit.symbol ? "hit symbol" : "hit" }, hit.symbol ? breakable(hit.symbol) : titleOf(hit));

/** Writes the probability of an entry, or what people said of it. */
function chance(one, place = element("span", { class: "chance" })) {
  const said = one.judged_relevant ?? null;
  place.title = said === null ? "Probability that it answers" : "";
  fill(place, said !== null ? (said ? "judged relevant" : "judged not relevant") : one.probability == null ? null : percent(one.probability));
  return place;
}

/** The most telling state of an issue or pull request, which has several. */
const stateOf = (states = []) => ["merged", "open", "closed"].find((state) => states.includes(state)) ?? states[0];

/** What the author of a passage did: not every passage of an issue is by the one who opened it. */
const deedOf = (kind) => kind === "issue" || kind === "pull_request" ? "opened" : kind.replaceAll("_", " ");

/** An entry below the line. One that was judged, or that the user's line takes in, can be judged anew. */
function row(one, found, query, rights) {
  const shown = chance(one), buttons = judging(one, found, rights, shown);
  return element("li", { class: "entry row" }, element("div", { class: "head" }, element("span", { class: "title" }, naming(one, query)),
    element("span", { class: "place" }, placeOf(one)), shown, buttons && element("div", { class: "actions" }, buttons)));
}

function full(hit, found, query, rights) {
  const issue = /^(?:issue|pull):\d+$/.test(hit.path);
  const state = stateOf(hit.attributes?.state);
  const said = issue ? [`${deedOf(hit.kind)}${hit.author ? ` by ${hit.author}` : ""}`]
    : [["lines", "claim", "fragment"].includes(hit.kind) ? null : kindName(hit.kind, hit.language), hit.language && languageName(hit.language), hit.author];
  const facts = [...said, hit.dated_at ? day(hit.dated_at) : null].filter(Boolean).join(" · ");
  const shown = chance(hit);
  return element("li", { class: "entry" },
    element("div", { class: "head" }, element("h2", { class: "title" }, naming(hit, query)), shown),
    element("div", { class: "meta" }, element("p", { class: "place" }, issue && state ? element("span", { class: `chip state-${state}` }, state) : null,
      element("a", { href: documentAddress(hit, query) }, breakable(placeOf(hit))), element("span", { class: "facts" }, facts),
      issue ? hit.attributes.label?.map((label) => element("span", { class: "chip" }, label)) : null),
      element("div", { class: "actions" }, placeTools(hit), judging(hit, found, rights, shown))),
    element("div", { class: "body" }, hit.kind === "claim" ? null : passage(hit, hit.snippet, query), further(hit, query),
      hit.copies.length > 0 ? element("p", { class: "place" }, `Also in ${hit.copies.map((copy) => copy.path).join(", ")}`) : null));
}

/** The best passage: code as in the document, prose as prose, without a first line that repeats the title. */
function passage(hit, text, query) {
  if (!isProse(hit.language, hit.collection, text)) return snippet(text, hit.snippet_line, query, colouring(hit.language));
  const [first, ...others] = flush(text).split("\n");
  const repeats = others.length > 0 && hit.title?.split(" > ").at(-1) === first.replace(/^#+ /, "");
  return prose(repeats ? flush(others.join("\n")) : flush(text), query);
}

/** The next passages of an entry, a line each, and the others behind their number. */
function further(hit, query) {
  const item = (passage) => element("li", {},
    element("a", { href: documentAddress({ ...hit, ...passage }, query) }, passage.symbol ?? (passage.author ? `${passage.kind} by ${passage.author}` : `line ${passage.start_line}`)), " ",
    element("span", { class: isProse(hit.language, hit.collection, passage.snippet) ? null : "symbol" }, marked(passage.snippet.trim(), query)));
  const [first, others] = [hit.passages.slice(0, FURTHER), hit.passages.slice(FURTHER)];
  return first.length === 0 ? null : element("div", { class: "further" }, element("ul", {}, first.map(item)), others.length === 0 ? null
    : element("details", {}, element("summary", {}, `and ${figure(others.length)} more`), element("ul", {}, others.map(item))));
}

/**
 * One click says whether a result answers the question, which the same question obeys from then on. Another click on the same button takes
 * it back. `shown` is where it says what is said of the result. Nothing if the server takes no judgements.
 */
function judging(hit, { query_id: queryId }, rights, shown) {
  if (!rights.may_judge || !queryId) return null;
  const press = () => buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(hit.judged_relevant === (at === 0))));
  const buttons = [["Relevant", true], ["Not relevant", false]].map(([label, relevant]) =>
    element("button", { type: "button", class: "small", onclick: async () => {
      const said = hit.judged_relevant === relevant ? null : relevant;
      try {
        await api.judge(queryId, hit.id, said);
        hit.judged_relevant = said;
        answers.clear();
        press();
        chance(hit, shown);
        say(said === null ? `The judgement of ${hit.path} is taken back.` : `${hit.path} is noted as ${label.toLowerCase()}.`, true);
      } catch (problem) {
        say(problem.message, true);
      }
    } }, label));
  press();
  return element("p", { class: "judging" }, buttons);
}
