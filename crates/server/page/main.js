// The views of the page, their addresses, the place in each of them, and the keyboard.

import * as api from "./api.js";
import * as compare from "./compare.js";
import * as contents from "./contents.js";
import * as documents from "./document.js";
import { settings } from "./editor.js";
import { addressOf, element, fill, focusHeadline, say } from "./elements.js";
import * as evidence from "./evidence.js";
import * as home from "./home.js";
import * as insights from "./insights.js";
import { forgetQuestions } from "./recent.js";
import * as search from "./search.js";

/** What shows each view, by its name in the address. */
const VIEWS = { home: home.show, search: search.show, compare: compare.show, insights: insights.show, evidence: evidence.show, index: contents.show, document: documents.show };

/** The views that bring the search field themselves. */
const OWN_FIELD = new Set(["home", "compare"]);

/** Characters of an address that every server takes when the page is loaded again. */
const MOST_ADDRESS = 16_000;

/** How long a server that does not answer is left alone. */
const PAUSE_MS = 3000;

const view = document.getElementById("view");
let rights = { needs_token: false, signed_in: true, may_judge: false, may_refresh: false };
let shown = new AbortController();

/** The name of the view that an address means. */
function nameOf(parameters) {
  const name = parameters.get("view") ?? "search";
  if (name === "search" || !Object.hasOwn(VIEWS, name)) return parameters.get("query") ? "search" : "home";
  return name;
}

/** What is around the view: the search field and the place in the menu, where a question goes along to the cuts and back. */
function frame(name, parameters, keepsField = false) {
  const query = parameters.get("query");
  for (const link of document.querySelectorAll("nav a")) {
    const address = new URLSearchParams(link.dataset.view === "search" ? {} : { view: link.dataset.view });
    if (query && (link.dataset.view === "compare" || (link.dataset.view === "search" && name !== "search"))) address.set("query", query);
    link.href = `/?${address}`.replace(/\?$/, "");
    if (link.dataset.view === (name === "home" ? "search" : name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.dataset.view = rights.signed_in ? name : "sign-in";
  if (!keepsField) fill(document.getElementById("ask"), rights.signed_in && !OWN_FIELD.has(name) ? search.searchForm(parameters).form : null);
  document.getElementById("leave").hidden = !(rights.needs_token && rights.signed_in);
}

/**
 * Shows the view that the address names. What the last view still waits for is aborted, and what it draws later goes nowhere. While a
 * query is typed, the field and the list stay until there is a new answer: a quick one, or with `isRested` the full one.
 */
async function route({ isMove = true, isTyped = false, isRested = false } = {}) {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const parameters = asked();
  const name = nameOf(parameters);
  const { y, focus } = history.state ?? {};
  frame(name, parameters, isTyped && document.getElementById("ask").contains(document.activeElement));
  if (!rights.signed_in) return signIn();
  const place = element("div", { class: "place-of-view" });
  const before = [[...view.children].filter((node) => !node.matches(".offline")), window.scrollY];
  if (!isTyped) fill(view, place);
  if (!y) window.scrollTo(0, 0);
  try {
    const rested = isTyped && !isRested ? () => route({ isMove: false, isTyped, isRested: true }) : null;
    await VIEWS[name](place, parameters, rights, signal, rested);
    if (signal.aborted) return;
    if (isTyped) fill(view, place);
    if (focus) [...view.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
    if (isMove) focusHeadline(view, { preventScroll: true });
    if (y) window.scrollTo(0, y);
  } catch (problem) {
    if (signal.aborted) return;
    if (problem.status === 401) {
      rights = { ...rights, needs_token: true, signed_in: false };
      frame(name, parameters);
      return signIn();
    }
    if (problem.status === 0) return offline(problem, before, signal);
    fill(view, place);
    fill(place.querySelector(".answer") ?? place, element("p", { class: "warning", role: "alert" }, problem.message));
  }
}

/** What was there before stays while the server does not answer, and the view that was asked for comes when it answers again. */
async function offline(problem, [before, y], signal) {
  fill(view, element("p", { class: "warning offline", role: "alert" }, problem.message, " ", element("button", { type: "button", class: "small", onclick: () => route() }, "Try again")), before);
  window.scrollTo(0, y);
  do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  while (!signal.aborted && !await api.rights().then((known) => { rights = known; return true; }, () => false));
  if (!signal.aborted) route();
}

function signIn() {
  document.title = "Sign in – Tamis";
  const input = element("input", { type: "password", autocomplete: "current-password", required: true, id: "token", "aria-describedby": "refused" });
  const refused = element("p", { class: "warning", role: "alert", id: "refused", hidden: true });
  fill(view, element("form", { class: "token", onsubmit: async (event) => {
    event.preventDefault();
    try {
      rights = await api.signIn(input.value);
      start();
    } catch (problem) {
      refused.hidden = false;
      fill(refused, problem.status === 401 ? "The server does not know this token." : problem.message);
      input.select();
    }
  } }, element("label", { for: "token" }, "This server needs a token"), input, refused, element("button", { class: "primary" }, "Sign in")));
  input.focus();
}

/** Keeps where one is in a view, so that the way back leads there. */
function keepPlace(focus = history.state?.focus) {
  history.replaceState({ ...history.state, y: Math.round(window.scrollY), focus }, "");
}

/** The address of what is shown. One that is too long for the browser's address stands whole in the history. */
const here = () => history.state?.address ?? `${location.pathname}${location.search}`;

function asked() {
  return new URLSearchParams(here().replace(/^[^?]*/, ""));
}

/** Makes an address the one of what is shown: in a new step of the history, or with `replaceState` in this one. */
function enter(address, state, step = "pushState") {
  if (address.length <= MOST_ADDRESS) return history[step](state, "", address);
  const short = new URLSearchParams(address.slice(2));
  short.delete("query");
  history[step]({ ...state, address }, "", `/?${short}`.replace(/\?$/, ""));
}

function go(address, focus) {
  keepPlace(focus);
  if (address === here()) enter(address, { from: history.state?.from }, "replaceState");
  else enter(address, { from: here() });
  route();
}

/** Searches what stands in the field. All that is typed without a break is one step of the way back. */
function typed(form) {
  const address = addressOf(form), { value, selectionStart, selectionEnd } = form.elements.query;
  if (!form.isConnected || address === here()) return;
  if (history.state?.isTyped) enter(address, { from: history.state.from, isTyped: true }, "replaceState");
  else {
    keepPlace();
    enter(address, { from: here(), isTyped: true });
  }
  route({ isMove: false, isTyped: true });
  const field = document.getElementById("query");
  if (field === document.activeElement) return;
  // The address has no space at its end, and the next word needs one.
  field.value = value;
  field.focus();
  field.setSelectionRange(selectionStart, selectionEnd);
}

/** Shows the view, and the menu entry of what only some indexes have. */
function start() {
  route({ isMove: false });
  if (rights.signed_in) api.about().then(({ evidence: known = [] }) => {
    document.querySelector("nav [data-view=evidence]").hidden = !known.some((one) => one.claims + one.fragments > 0);
  }, () => {});
}

/** Another document of this browser may have signed out before the way back leads to this one, which the browser has kept as it was. */
window.addEventListener("pagehide", () => { document.body.hidden = rights.needs_token; });
window.addEventListener("pageshow", async (event) => {
  if (event.persisted && rights.needs_token) {
    rights = await api.rights().catch(() => ({ ...rights, signed_in: false }));
    if (!rights.signed_in) route();
  }
  document.body.hidden = false;
});

let scrolled = null;
history.scrollRestoration = "manual";
window.addEventListener("scroll", () => {
  clearTimeout(scrolled);
  scrolled = setTimeout(keepPlace, 150);
}, { passive: true });
window.addEventListener("go", (event) => go(event.detail));
window.addEventListener("typed", (event) => typed(event.detail));
window.addEventListener("popstate", () => {
  clearTimeout(scrolled);
  route();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (plain && link?.matches(".skip")) {
    event.preventDefault();
    focusHeadline(view);
  }
  if (!link || !plain || link.origin !== location.origin || link.pathname !== "/" || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  // The way back to where one came from leads to the place there, too.
  if (link.matches(".back") && link.getAttribute("href") === history.state?.from) history.back();
  else go(link.getAttribute("href"), link.getAttribute("href"));
});

document.addEventListener("keydown", (event) => {
  if (event.key === "k" && (event.metaKey || event.ctrlKey)) {
    event.preventDefault();
    return document.getElementById("query")?.select();
  }
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.target.matches("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const hits = [...view.querySelectorAll("a.hit")];
  const at = hits.indexOf(document.activeElement);
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (event.key === "/") document.getElementById("query")?.focus();
  else if (event.key === "?") document.getElementById("keys").showModal();
  else if (step && hits.length > 0) hits[Math.max(0, Math.min(hits.length - 1, at + step))].focus();
  else return;
  event.preventDefault();
});

fill(document.getElementById("keys"), element("h2", {}, "Keys"), home.keyList(), settings(),
  element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")));
document.getElementById("help").hidden = false;
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
document.getElementById("leave").addEventListener("click", async () => {
  await api.signOut();
  forgetQuestions();
  rights = await api.rights();
  route();
});

frame(nameOf(asked()), asked());
api.rights().then((known) => { rights = known; }, (problem) => say(problem.message, true)).then(start);
