// Calls of the JSON API of this server.

/** An answer that says why there is none: a problem document of the server, or the lack of an answer. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  const headers = { "Tamis-Page": "1", ...(options.body ? { "Content-Type": "application/json" } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  throw new Problem(response.status, detail ?? `The server answered ${response.status}.`);
}

async function call(path, options) {
  const response = await ask(path, options);
  return response.status === 204 ? null : response.json();
}

export const rights = () => call("/page/session");
export const signIn = (token) => call("/page/session", { method: "POST", body: JSON.stringify({ token }) });
export const signOut = () => call("/page/session", { method: "DELETE" });
export const search = (request, signal) =>
  call("/v1/search", { method: "POST", body: JSON.stringify({ explain: true, ...request }), signal });
export const read = (place, context = 0) =>
  call(`/v1/documents?path=${encodeURIComponent(place)}&context=${context}`);
export const related = (place) => call(`/v1/related?id=${encodeURIComponent(place)}&limit=8`);
/** Says whether a result answers; null takes back what was said. */
export const judge = (queryId, id, relevant) =>
  call("/v1/feedback", { method: "POST", body: JSON.stringify({ query_id: queryId, ids: [id], ...(relevant === null ? { take_back: true } : { relevant }) }) });
export const status = () => call("/v1/status");
export const files = (languages, limit) => call(`/v1/files?${new URLSearchParams({ languages, limit })}`);
export const outline = (path) => call(`/v1/outline?${new URLSearchParams({ path, limit: 40 })}`);
export const reindex = () => call("/v1/refresh", { method: "POST", body: "{}" });
/** Without a cache: a browser that could keep the answer lets a second tab wait until the first one's has ended. */
export const events = async (signal) => (await ask("/v1/events", { signal, cache: "no-store" })).body;
export const replay = (cuts) => call(`/v1/replay?${new URLSearchParams(cuts.map((cut) => ["cuts", cut]))}`);
export const stats = (since) => call(`/v1/stats${since ? `?since=${encodeURIComponent(since)}` : ""}`);
export const views = () => call("/v1/evidence/views");
export const viewRows = (view, { task, namespace, parameters = [] }) =>
  call(`/v1/evidence/views/${encodeURIComponent(view)}?${new URLSearchParams([
    ...Object.entries({ task, namespace }).filter(([, value]) => value), ...parameters.map((parameter) => ["parameters", parameter])])}`);
export const sql = (statement, { namespace, parameters = [] } = {}) => call("/v1/evidence/sql", {
  method: "POST", body: JSON.stringify({ sql: statement, parameters, ...(namespace ? { namespace } : {}) }) });

/** The status as it was when the page first asked for it. */
export const about = () => about.known ??= status().catch((problem) => {
  about.known = null;
  throw problem;
});

/** The rows of an answer about evidence, each as an object with the names of the columns. */
export const records = ({ columns, rows }) => rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
