// One row a tool: a call that is answered, one whose answer is empty, and calls that are refused.

const has = (key, name) => (answer) => answer[key].length > 0 || `no ${key} of ${name}`;
const none = (key) => (answer) => answer[key].length === 0 || `${answer[key].length} ${key}`;
const holding = (part) => (answer) => JSON.stringify(answer).includes(part) || JSON.stringify(answer).slice(0, 300);

export const CALLS = [
  {
    tool: "search",
    good: { query: "when is a failed job tried again" },
    holds: has("results", "search"),
    empty: { query: "who won the football world cup" },
    isEmpty: none("results"),
    wrong: [
      [{ query: "x", limit: 0 }, /limit/],
      [{ query: "x", qeury: "y" }, /qeury/],
      [{}, /query/],
      [{ query: "x", namespace: "other" }, /other/],
      [{ query: { words: 7 } }, /query/],
    ],
  },
  {
    tool: "get",
    good: { id: "src/retry.rs" },
    holds: (answer) => answer.text.includes("pub fn backoff") || answer.text,
    wrong: [
      [{ id: "src/none.rs" }, /src\/none\.rs/],
      [{ id: "../../etc/passwd" }, /passwd/],
      [{ id: "src/retry.rs", max_chars: 1 }, /max_chars/],
    ],
  },
  {
    tool: "grep",
    good: { pattern: "fn backoff" },
    holds: holding("src/retry.rs"),
    wrong: [[{ pattern: "(" }, /pattern/]],
  },
  {
    tool: "files",
    good: { pattern: "*.rs" },
    holds: holding("src/retry.rs"),
    wrong: [],
  },
  {
    tool: "outline",
    good: { path: "src/retry.rs" },
    holds: holding("backoff"),
    wrong: [[{ path: "src/none.rs" }, /src\/none\.rs/]],
  },
  {
    tool: "pack",
    good: { query: "waits that double keep a service up", budget_tokens: 2000 },
    holds: holding("docs/design.md"),
    wrong: [[{ query: "x", budget_tokens: 0 }, /budget_tokens/]],
  },
  {
    tool: "related",
    good: { id: "src/retry.rs:12" },
    holds: (answer) => answer.similar.length + answer.references.length + answer.referenced_by.length > 0 || "nothing",
    wrong: [[{ id: "nothing" }, /nothing/], [{ id: "src/retry.rs:12", by: "taste" }, /by/]],
  },
  {
    tool: "troubleshoot",
    good: { title: "The queue does not move any more", details: "Since the mail service was down." },
    holds: has("matches", "troubleshoot"),
    empty: { title: "The printer is out of cyan ink" },
    isEmpty: none("matches"),
    wrong: [[{ details: "x" }, /title/], [{ title: "x", max_results: 99 }, /max_results/]],
  },
  {
    tool: "memory_search",
    good: { query: "how long are backups kept" },
    holds: has("results", "memory_search"),
    empty: { query: "how long are backups kept", until: "2020-01-01" },
    isEmpty: none("results"),
    wrong: [[{ query: "x", since: "some day" }, /since/]],
  },
  {
    tool: "remember",
    good: { text: "The conformance run was here, and the millstone was dressed.", topic: "Conformance" },
    holds: (answer) => answer.path.startsWith("memory/") || answer.path,
    wrong: [[{ text: "" }, /text/], [{ text: "x", where: "y" }, /where/]],
  },
  {
    tool: "vector_search",
    good: { query: "waits that double keep a service up", min_similarity: 0.3 },
    holds: has("matches", "vector_search"),
    empty: { query: "who won the football world cup", min_similarity: 0.95 },
    isEmpty: none("matches"),
    wrong: [
      [{ query: "x", top_k: 51 }, /top_k/],
      [{ query: "x", min_similarity: 2 }, /min_similarity/],
      [{ query: "x", target: "pages" }, /target/],
    ],
  },
  {
    tool: "query_sql",
    good: { sql: "SELECT relation, count(*) AS n FROM edges GROUP BY relation ORDER BY n DESC, relation" },
    holds: (answer) => answer.rows?.length === 4 || JSON.stringify(answer.rows),
    empty: { sql: "SELECT id FROM claims WHERE confidence > 2" },
    isEmpty: none("rows"),
    wrong: [
      [{ sql: "DELETE FROM claims" }, /./],
      [{ sql: "SELECT * FROM clams" }, /claims/],
      [{ sql: "SELECT 1", limit: 201 }, /limit/],
      [{ sql: "SELECT 1", timeout_ms: 0 }, /timeout_ms/],
    ],
  },
  {
    tool: "list_views",
    good: {},
    holds: (answer) => answer.results.length >= 17 || `${answer.results.length} views`,
    wrong: [[{ all: true }, /all/]],
  },
  {
    tool: "query_view",
    good: { view_name: "v_contradictions" },
    holds: (answer) => answer.rows?.length >= 1 || JSON.stringify(answer),
    empty: { view_name: "v_contradictions", task_id: "t2" },
    isEmpty: none("rows"),
    wrong: [[{ view_name: "v_contradiction" }, /v_contradictions/], [{ view_name: "v_contradictions", params: { nothing: "1" } }, /nothing/]],
  },
  {
    tool: "get_status",
    good: {},
    holds: (answer) => answer.passages > 0 || JSON.stringify(answer),
    wrong: [[{ namespace: "other" }, /other/]],
  },
  {
    tool: "explain_cut",
    good: { query: "when is a failed job tried again", cut: "kneedle" },
    holds: (answer) => answer.answer.pool.length > 0 && answer.other !== undefined || JSON.stringify(answer),
    empty: { query: "who won the football world cup" },
    isEmpty: (answer) => answer.answer.cut.keep === 0 || answer.answer.cut.keep,
    wrong: [[{ query: "x", cut: "guillotine" }, /guillotine/]],
  },
  {
    tool: "feedback",
    // Filled in with an answer of `search`.
    good: { query_id: "", ids: ["1"], relevant: true },
    holds: has("results", "feedback"),
    wrong: [[{ query_id: "zzzzzzzz", ids: ["1"], relevant: true }, /zzzzzzzz/], [{ query_id: "x", ids: [], relevant: true }, /ids/]],
  },
];
