// What is done with the place of a result: it is copied, or opened in an editor.

import * as api from "./api.js";
import { element, say } from "./elements.js";

/** The addresses by which editors open a file, with its whole path and its line in their places. */
const EDITORS = {
  "VS Code": "vscode://file{path}:{line}", Cursor: "cursor://file{path}:{line}", Windsurf: "windsurf://file{path}:{line}", Zed: "zed://file{path}:{line}",
  "JetBrains IDEs": "idea://open?file={path}&line={line}", "Sublime Text": "subl://open?url=file://{path}&line={line}", TextMate: "txmt://open?url=file://{path}&line={line}",
};

/** Where this browser keeps the address. */
const KEY = "tamis.editor";

const stored = () => {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
};

/** The choice of an editor: one of those known, or an address of one's own. */
export function settings() {
  const input = element("input", { name: "editor", list: "editors", value: stored(), placeholder: "none, or vscode://file{path}:{line}", onchange: () => {
    try {
      localStorage.setItem(KEY, (EDITORS[input.value] ?? input.value).trim());
      input.value = stored();
    } catch {
      say("This browser stores no settings.", true);
    }
  } });
  return element("label", { class: "setting" }, "Open results in an editor: its name, or an address with {path} and {line}", input,
    element("datalist", { id: "editors" }, Object.keys(EDITORS).map((name) => element("option", { value: name }))));
}

/** The address that opens a place in the editor; null without one, and for what is no file. */
function opening({ namespace, path, start_line: line }, { root, sources = [] }) {
  const template = stored();
  if (!/^[a-z][a-z0-9+.-]*:/i.test(template) || /^(?:javascript|data|https?|file):/i.test(template) || /^(?:issue|pull|claim|fragment):/.test(path)) return null;
  const folder = (sources.find((one) => one.namespace === namespace)?.root ?? root).replaceAll("\\", "/").replace(/^(?!\/)/, "/");
  return template.replace("{path}", `${folder}/${path}`.split("/").map(encodeURIComponent).join("/")).replace("{line}", String(line));
}

/** Buttons for the place of a result. */
export function placeTools(hit) {
  const place = `${hit.path}:${hit.start_line}`;
  const open = stored() && element("button", { type: "button", class: "tool", title: `Open ${place} in the editor`, onclick: async () => {
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
