// The words of the product for what the API has by key: languages, collections, cuts, dates and figures.

/** Names that are more than their key with a capital. */
const LANGUAGES = {
  asciidoc: "AsciiDoc", cpp: "C++", csharp: "C#", css: "CSS", csv: "CSV", epub: "EPUB", fsharp: "F#", graphql: "GraphQL", hcl: "HCL", html: "HTML",
  ini: "INI", javascript: "JavaScript", json: "JSON", jsonl: "JSON Lines", jsx: "JSX", latex: "LaTeX", objectivec: "Objective-C",
  opendocument: "OpenDocument", pdf: "PDF", php: "PHP", powershell: "PowerShell", protobuf: "Protocol Buffers", restructuredtext: "reStructuredText",
  scss: "SCSS", sql: "SQL", toml: "TOML", tsx: "TSX", typescript: "TypeScript", vhdl: "VHDL", xml: "XML", yaml: "YAML",
};

/** What a trait is called by those who write the language; elsewhere it is an interface. */
const TRAITS = { rust: "Trait", scala: "Trait", groovy: "Trait", swift: "Protocol", elixir: "Protocol", objectivec: "Protocol", haskell: "Type class", cpp: "Concept", protobuf: "Service" };

const COLLECTIONS = { docs: "Documentation", sessions: "Conversations" };

/** The cuts that are offered, with their names and what they do. */
export const CUTS = {
  auto: ["Automatic", "by the evidence for each entry"],
  background: ["Background", "what stands out from unrelated text"],
  otsu: ["Otsu", "where scores fall into two groups"],
  max_gap: ["Largest gap", "before the largest drop"],
  kneedle: ["Knee", "where the curve bends"],
  top_score: ["Share of the top", "what comes near the best score"],
  "fixed:k=10": ["First ten", "always the same number"],
};

const WAYS = { http: "Page and API", mcp: "Agents", cli: "Command line", python: "Python" };

/** A key as words: with a capital, and without underscores. */
export const capital = (key) => `${key.charAt(0).toUpperCase()}${key.slice(1)}`.replaceAll("_", " ");
export const kindName = (key, language) => key === "trait" ? TRAITS[language] ?? "Interface" : capital(key);
export const languageName = (key) => key ? LANGUAGES[key] ?? capital(key) : "No language";
export const collectionName = (key) => COLLECTIONS[key] ?? capital(key);
export const cutName = (key) => key === "recorded" ? "As it was" : CUTS[key]?.[0] ?? key.replace(/^fixed:k=(\d+)$/, "First $1").replace(/^[a-z_]+$/, capital);
export const wayName = (key) => WAYS[key] ?? capital(key);

/** A document that is no file: its kind and what identifies it. */
const RECORD = /^(issue|pull|claim|fragment):(.+)$/s;
const recordName = ([, kind, id]) => kind === "issue" ? `Issue #${id}` : kind === "pull" ? `Pull request #${id}` : `${capital(kind)} ${id}`;

/** What an entry is called: its symbol, its headings from the outermost to the innermost, the words of a claim, or its file. */
export function titleOf({ symbol, title, path, kind, snippet }) {
  if (symbol || title) return symbol ?? title.replaceAll(" > ", " › ");
  const record = path.match(RECORD);
  return record ? kind === "claim" && snippet ? snippet.trim() : recordName(record) : path.split("/").at(-1);
}

/** Where an entry stands, without its title once more. */
export function placeOf(one) {
  const { symbol, title, path, start_line: line, kind, attributes } = one;
  const record = path.match(RECORD);
  if (record && titleOf(one) === recordName(record)) return "Evidence";
  if (record) return kind === "pull_request" || attributes?.type?.includes("pull_request") ? `Pull request #${record[2]}` : recordName(record);
  return symbol || title || path.includes("/") ? `${path}:${line}` : `line ${line}`;
}

export const figure = (number) => number.toLocaleString("en");

/** The number of a thing with its noun. */
export const count = (number, noun, plural = `${noun}s`) => `${figure(number)} ${number === 1 ? noun : plural}`;

/** A share as a whole percentage, which is 0% or 100% only if it is exactly that. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const whole = Math.round(share * 100);
  return whole === 0 && share > 0 ? "<1%" : whole === 100 && share < 1 ? ">99%" : `${whole}%`;
}

/** A number of bytes such as "12.5 MB". */
export const size = (bytes) => bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

/** A day such as "28 Nov 2026", without its year if `isShort`. */
export function day(moment, isShort = false) {
  const options = { day: "numeric", month: "short", timeZone: "UTC", ...(isShort ? {} : { year: "numeric" }) };
  return new Date(moment).toLocaleDateString("en-GB", options);
}

/** A moment such as "28 Nov 2026, 13:05", in UTC. */
export const moment = (at) => `${day(at)}, ${new Date(at).toISOString().slice(11, 16)}`;
