// The views of the page, their addresses and the keyboard.

import * as api from "./api.js";
import * as compare from "./compare.js";
import * as contents from "./contents.js";
import * as documents from "./document.js";
import { element, fill, say } from "./elements.js";
import * as evidence from "./evidence.js";
import * as insights from "./insights.js";
import * as search from "./search.js";

/** The views by the name in the address: their label in the menu, or null, and what shows them. */
const VIEWS = {
  search: ["Search", search.show],
  compare: ["Compare", compare.show],
  insights: ["Insights", insights.show],
  evidence: ["Evidence", evidence.show],
  index: ["Index", contents.show],
  document: [null, documents.show],
};
const KEYS = [
  ["/", "go to the search box"], ["↓ or j, ↑ or k", "next or previous result"], ["Enter", "open the result"],
  ["← →", "move the cut, when the scores have the focus"], ["Esc", "put the cut back; leave the search box"], ["?", "show these keys"],
];

const view = document.getElementById("view");
let rights = { needs_token: false, signed_in: true, may_judge: false, may_refresh: false };
let shown = new AbortController();

/** Shows the view that the address names. What the last view still waits for is aborted, and what it draws later goes nowhere. */
async function route() {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const parameters = new URLSearchParams(location.search);
  const name = parameters.get("view") ?? "search";
  const [, show] = VIEWS[name] ?? VIEWS.search;
  for (const link of document.querySelectorAll("nav a")) {
    link.toggleAttribute("aria-current", link.dataset.view === name);
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
  }
  document.getElementById("leave").hidden = !(rights.needs_token && rights.signed_in);
  if (!rights.signed_in) return signIn();
  const place = element("div");
  fill(view, place);
  try {
    await show(place, parameters, rights, signal);
  } catch (problem) {
    if (signal.aborted) return;
    if (problem.status === 401) {
      rights = { ...rights, needs_token: true, signed_in: false };
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
      route();
    } catch (problem) {
      say(problem.status === 401 ? "The server does not know this token." : problem.message, true);
      input.select();
    }
  } }, element("label", { for: "token" }, "This server needs a token"), input, element("button", {}, "Sign in")));
  input.focus();
}

function go(address) {
  history.pushState(null, "", address);
  window.scrollTo(0, 0);
  route();
}

window.addEventListener("go", (event) => go(event.detail));
window.addEventListener("popstate", route);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== location.origin || link.pathname !== "/" || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(link.getAttribute("href"));
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

fill(document.querySelector("nav"), Object.entries(VIEWS).filter(([, [label]]) => label).map(([name, [label]]) =>
  element("a", { href: name === "search" ? "/" : `/?view=${name}`, "data-view": name }, label)));
fill(document.getElementById("keys"), element("h2", {}, "Keys"),
  element("dl", {}, KEYS.map(([key, does]) => [element("dt", {}, key), element("dd", {}, does)])),
  element("form", { method: "dialog" }, element("button", {}, "Close")));
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
document.getElementById("leave").addEventListener("click", async () => {
  await api.signOut();
  rights = await api.rights();
  route();
});

api.rights().then((known) => { rights = known; }, (problem) => say(problem.message, true)).then(route);
