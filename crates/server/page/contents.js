// What is indexed, and how fresh it is.

import * as api from "./api.js";
import { count, element, fill, section } from "./elements.js";

export async function show(view) {
  fill(view, element("p", { class: "busy" }, "Reading …"));
  const status = await api.status();
  document.title = "Index – Tamis";
  const counted = (list) => (list ?? []).map((one) => [one.name || "unknown", one.documents.toLocaleString("en"), one.passages.toLocaleString("en")]);
  const models = (status.models ?? []).map(({ model, coverage }) =>
    [model.id, `${coverage.embedded.toLocaleString("en")} of ${coverage.passages.toLocaleString("en")}`]);
  const waiting = Object.entries(status.pending ?? {}).map(([model, passages]) => [model, passages.toLocaleString("en")]);
  const skipped = Object.entries(status.skipped ?? {}).map(([reason, files]) => [reason.replaceAll("_", " "), files.toLocaleString("en")]);
  fill(view,
    element("h1", {}, "Index"),
    element("p", {}, `${count(status.documents, "document")} in ${count(status.passages, "passage")}. `,
      status.stale ? `${count(status.stale, "file")} changed since the last run.` : "Nothing has changed since the last run."),
    section("Namespaces", ["name", "documents", "passages"], counted(status.namespaces)),
    section("Collections", ["name", "documents", "passages"], counted(status.collections)),
    section("Languages", ["name", "documents", "passages"], counted(status.languages)),
    section("Models", ["name", "passages embedded"], models),
    section("Models that still embed", ["name", "passages left"], waiting),
    section("Files left out", ["reason", "files"], skipped),
    section("Documents without readable text", ["path", "reason"], (status.unread ?? []).map((one) => [one.path, one.reason])));
}
