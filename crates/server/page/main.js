// The views of the page, their addresses, the place in each of them, and the keyboard.

import * as api from "./api.js";
import * as compare from "./compare.js";
import * as contents from "./contents.js";
import * as documents from "./document.js";
import { element, fill, say } from "./elements.js";
import * as evidence from "./evidence.js";
import * as home from "./home.js";
import * as insights from "./insights.js";
import { forgetQuestions } from "./recent.js";
import * as search from "./search.js";

/** What shows each view, by its name in the address. */
const VIEWS = { home: home.show, search: search.show, compare: compare.show, insights: insights.show, evidence: evidence.show, index: contents.show, document: documents.show };

/** The views that bring the search field themselves. */
const OWN_FIELD = new Set(["home", "compare"]);

const view = document.getElementById("view");
let rights = { needs_token: false, signed_in: true, may_judge: false, may_refresh: false };
let shown = new AbortController();

/** The name of the view that an address means. */
function nameOf(parameters) {
  const name = parameters.get("view") ?? "search";
  if (name === "search" || !Object.hasOwn(VIEWS, name)) return parameters.get("query") ? "search" : "home";
  return name;
}

/** What is around the view: the search field and the place in the menu. */
function frame(name, parameters) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === (name === "home" ? "search" : name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.dataset.view = rights.signed_in ? name : "sign-in";
  fill(document.getElementById("ask"), rights.signed_in && !OWN_FIELD.has(name) ? search.searchForm(parameters).form : null);
  document.getElementById("leave").hidden = !(rights.needs_token && rights.signed_in);
}

/** Shows the view that the address names. What the last view still waits for is aborted, and what it draws later goes nowhere. */
async function route() {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const parameters = new URLSearchParams(location.search);
  const name = nameOf(parameters);
  const { y, focus } = history.state ?? {};
  frame(name, parameters);
  if (!rights.signed_in) return signIn();
  const place = element("div", { class: "place-of-view" });
  fill(view, place);
  if (!y) window.scrollTo(0, 0);
  try {
    await VIEWS[name](place, parameters, rights, signal);
    if (signal.aborted) return;
    if (focus) [...view.querySelectorAll("a.hit")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
    if (y) window.scrollTo(0, y);
  } catch (problem) {
    if (signal.aborted) return;
    if (problem.status === 401) {
      rights = { ...rights, needs_token: true, signed_in: false };
      frame(name, parameters);
      return signIn();
    }
    fill(place.querySelector(".answer") ?? place, element("p", { class: "warning", role: "alert" }, problem.message));
  }
}

function signIn() {
  document.title = "Sign in – Tamis";
  const input = element("input", { type: "password", autocomplete: "current-password", required: true, id: "token" });
  fill(view, element("form", { class: "token", onsubmit: async (event) => {
    event.preventDefault();
    try {
      rights = await api.signIn(input.value);
      start();
    } catch (problem) {
      say(problem.status === 401 ? "The server does not know this token." : problem.message, true);
      input.select();
    }
  } }, element("label", { for: "token" }, "This server needs a token"), input, element("button", { class: "primary" }, "Sign in")));
  input.focus();
}

/** Keeps where one is in a view, so that the way back leads there. */
function keepPlace(focus = history.state?.focus) {
  history.replaceState({ y: Math.round(window.scrollY), focus }, "");
}

function go(address, focus) {
  keepPlace(focus);
  history.pushState(null, "", address);
  route();
}

/** Shows the view, and the menu entry of what only some indexes have. */
function start() {
  route();
  if (rights.signed_in) api.about().then(({ evidence: known = [] }) => {
    document.querySelector("nav [data-view=evidence]").hidden = !known.some((one) => one.claims + one.fragments > 0);
  }, () => {});
}

let scrolled = null;
history.scrollRestoration = "manual";
window.addEventListener("scroll", () => {
  clearTimeout(scrolled);
  scrolled = setTimeout(keepPlace, 150);
}, { passive: true });
window.addEventListener("go", (event) => go(event.detail));
window.addEventListener("popstate", () => {
  clearTimeout(scrolled);
  route();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== location.origin || link.pathname !== "/" || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(link.getAttribute("href"), link.getAttribute("href"));
});

document.addEventListener("keydown", (event) => {
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

fill(document.getElementById("keys"), element("h2", {}, "Keys"), home.keyList(),
  element("form", { method: "dialog" }, element("button", {}, "Close")));
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
document.getElementById("leave").addEventListener("click", async () => {
  await api.signOut();
  forgetQuestions();
  rights = await api.rights();
  route();
});

frame(nameOf(new URLSearchParams(location.search)), new URLSearchParams(location.search));
api.rights().then((known) => { rights = known; }, (problem) => say(problem.message, true)).then(start);
