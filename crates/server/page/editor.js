// What is done with the place of a result: it is copied, or opened in an editor.

import * as api from "./api.js";
import { element, fill, say } from "./elements.js";

/** The addresses by which editors open a file, with its whole path and its line in their places. */
const EDITORS = {
  "VS Code": "vscode://file{path}:{line}", Cursor: "cursor://file{path}:{line}", Windsurf: "windsurf://file{path}:{line}", Zed: "zed://file{path}:{line}",
  "JetBrains IDEs": "idea://open?file={path}&line={line}", "Sublime Text": "subl://open?url=file://{path}&line={line}", TextMate: "txmt://open?url=file://{path}&line={line}",
};

/** Where this browser keeps the address. */
const KEY = "tamis.editor";

/** An address of an editor, and none that leads elsewhere. */
const isAddress = (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^(?:javascript|data|https?|file):/i.test(text);

const stored = () => {
  try {
    const kept = localStorage.getItem(KEY) ?? "";
    return isAddress(kept) ? kept : "";
  } catch {
    return "";
  }
};

/** The choice of an editor: one of those known, or an address of one's own. Enter takes it and closes the dialog around it. */
export function settings() {
  const wrong = element("p", { class: "warning", role: "alert", id: "no-editor", hidden: true });
  const input = element("input", { name: "editor", list: "editors", value: stored(), placeholder: "none, or vscode://file{path}:{line}",
    "aria-describedby": "no-editor", onchange: () => {
      const text = input.value.trim();
      const address = EDITORS[Object.keys(EDITORS).find((name) => name.toLowerCase() === text.toLowerCase())] ?? text;
      wrong.hidden = address === "" || isAddress(address);
      fill(wrong, wrong.hidden ? null : `“${text}” is neither a known editor nor an address such as vscode://file{path}:{line}.`);
      if (wrong.hidden) choose(address);
      input.value = wrong.hidden ? stored() : text;
    } });
  return element("form", { method: "dialog", class: "setting", onsubmit: (event) => wrong.hidden || event.preventDefault() },
    element("label", {}, "Open results in an editor: its name, or an address with {path} and {line}", input), wrong,
    element("datalist", { id: "editors" }, Object.keys(EDITORS).map((name) => element("option", { value: name }))));
}

/** Keeps the address of an editor; the results in sight have the button for it at once. */
function choose(address) {
  try {
    localStorage.setItem(KEY, address);
  } catch {
    say("This browser stores no settings.", true);
  }
  document.querySelectorAll(".tool.open").forEach((one) => { one.hidden = !stored(); });
}

/** The address that opens a place in the editor; null without one, and for what is no file. */
function opening({ namespace, path, start_line: line }, { root, sources = [] }) {
  const template = stored();
  if (!template || /^(?:issue|pull|claim|fragment):/.test(path)) return null;
  const folder = (sources.find((one) => one.namespace === namespace)?.root ?? root).replaceAll("\\", "/").replace(/^(?!\/)/, "/");
  return template.replace("{path}", `${folder}/${path}`.split("/").map(encodeURIComponent).join("/")).replace("{line}", String(line));
}

/** Buttons for the place of a result. */
export function placeTools(hit) {
  const place = `${hit.path}:${hit.start_line}`;
  const open = element("button", { type: "button", class: "tool open", hidden: !stored(), title: `Open ${place} in the editor`, onclick: async () => {
    const address = opening(hit, await api.about());
    if (address) location.href = address;
    else say(`No editor opens ${place}.`, true);
  } }, "Open");
  return element("span", { class: "tools" }, element("button", { type: "button", class: "tool", title: `Copy ${place}`, onclick: async () => {
    try {
      await navigator.clipboard.writeText(place);
      say(`Copied ${place}.`, true);
    } catch {
      say("This browser does not let the page copy.", true);
    }
  } }, "Copy"), open);
}
