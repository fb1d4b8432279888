// Calls a tool in a small project and prints the sessions for docs/mcp.md.
//
//   node sessions.mjs BINARY PROJECT

import { connect, text } from "./libraries.mjs";

// A call and the sentence before it.
const CALLS = [
  { tool: "search", says: "Relevant files, issues, sessions and notes, and the reason why there are no more. Each comes with its best passage, up to two more that are\nrelevant, and where else the same is said. `passages` set to true lists every relevant passage by itself.", args: { query: "when is a failed job tried again", limit: 1 } },
  { tool: "search", says: "When nothing is relevant, the answer has no results, says why, and lists the nearest passages.", args: { query: "who won the football world cup" } },
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
const parts = ["### search"];
for (const { tool, says, args } of CALLS) {
  const answer = await call(tool, args);
  parts.push(`${says}\n\n${fenced("json", JSON.stringify(args))}\n${fenced("text", text(answer))}`.trimEnd());
}
await client.close();
console.log(parts.join("\n\n"));
