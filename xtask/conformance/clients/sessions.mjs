// Calls each tool in a small project and prints the sessions for docs/mcp.md.
//
//   node sessions.mjs BINARY PROJECT

import { connect, text } from "./libraries.mjs";

// A call and the sentence before it. `data`: whether to show the answer as data too.
const CALLS = [
  { tool: "search", says: "Relevant files, issues, sessions and notes, and the reason why there are no more. Each comes with its best passage, up to two more that are\nrelevant, and where else the same is said. `passages` set to true lists every relevant passage by itself.", args: { query: "when is a failed job tried again" } },
  { tool: "search", says: "When nothing is relevant, the answer has no results, says why, and names the three nearest.", args: { query: "who won the football world cup" }, data: true },
  { tool: "search", says: "A wrong argument gets a message that helps to correct the call.", args: { query: "backoff", qeury: "backoff" } },
  { tool: "get", says: "The full text of a result.", args: { id: "src/retry.rs:8-15" } },
  { tool: "related", says: "Similar passages, the definitions that a passage uses, and the code that uses it.", args: { id: "src/retry.rs:12", limit: 2 } },
  { tool: "explain_cut", says: "Why an answer stops where it does, and what another cut would keep.", args: { query: "when is a failed job tried again", cut: "kneedle", around: 2 } },
  { tool: "troubleshoot", says: "Similar problems that were already solved.", args: { title: "The queue does not move any more", details: "Since the mail service was down for an hour." } },
  { tool: "memory_search", says: "Notes and past conversations.", args: { query: "how long are backups kept" } },
  { tool: "feedback", says: "Judgements of results, when the server runs with `--allow-feedback`.", args: (seen) => ({ query_id: seen.query_id, ids: ["1", "3"], relevant: true }) },
  { tool: "get_status", says: "The contents of the index.", args: {} },
  { tool: "vector_search", says: "Claims or fragments of the evidence by meaning alone.", args: { query: "waits that double keep a service up", target: "fragments", min_similarity: 0.4 } },
  { tool: "list_views", says: "Predefined questions about the evidence.", args: {} },
  { tool: "query_view", says: "The answer to one of them.", args: { view_name: "v_contradictions" } },
  { tool: "query_sql", says: "Any other question, over a connection that can only read.", args: { sql: "SELECT relation, count(*) AS n FROM edges GROUP BY relation ORDER BY n DESC, relation" }, data: true },
  { tool: "query_sql", says: "A statement that cannot run gets the nearest name.", args: { sql: "SELECT * FROM clams" } },
  { tool: "remember", says: "A new note, when the server runs with `--allow-remember`.", args: { text: "The second site is full in March; Grace asks for a third one.", topic: "Backups" } },
];

// A fence that the text cannot end.
function fenced(kind, body) {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${kind}\n${body.trimEnd()}\n${fence}\n`;
}

const [binary, project] = process.argv.slice(2);
const { client, call } = await connect("client", "2026-07-28", { binary, project });
await client.listTools();
const seen = {};
const parts = [];
let last;
for (const { tool, says, args, data } of CALLS) {
  const given = typeof args === "function" ? args(seen) : args;
  const answer = await call(tool, given);
  seen.query_id ??= answer.structuredContent?.query_id;
  if (tool !== last) parts.push(`### ${tool}`);
  last = tool;
  const error = answer.isError ? " The result is marked as an error." : "";
  parts.push(`${says}${error}\n\n${fenced("json", JSON.stringify(given))}\n${fenced("text", text(answer))}`.trimEnd());
  if (data) parts.push(`As data:\n\n${fenced("json", JSON.stringify(answer.structuredContent, null, 2))}`.trimEnd());
}
await client.close();
console.log(parts.join("\n\n"));
