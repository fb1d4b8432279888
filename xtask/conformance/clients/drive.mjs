// Drives every tool, the resources and the prompts by an official client library, which validates each structured answer
// against the tool's output schema.
//
//   node drive.mjs client|sdk VERSION|auto stdio|http BINARY PROJECT [URL]
//
// The last line is {"passed": N, "failures": [...]}.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CALLS } from "./calls.mjs";
import { connect, text } from "./libraries.mjs";

const [library, begins, transport, binary, project, url] = process.argv.slice(2);
const place = transport === "http" ? { url } : { binary, project };

let passed = 0;
const failures = [];

// Runs one check. It passes with `true` or `undefined`; anything else is what is wrong.
async function check(name, run) {
  try {
    const found = await run();
    if (found === true || found === undefined) {
      passed += 1;
      console.log(`ok      ${name}`);
      return;
    }
    failures.push(`${name}: ${found}`);
  } catch (error) {
    failures.push(`${name}: ${error?.stack ?? error}`);
  }
  console.log(`failed  ${failures.at(-1)}`);
}

// That a promise is refused, and how.
async function refused(promise, pattern) {
  try {
    const answer = await promise;
    return `was answered: ${JSON.stringify(answer).slice(0, 300)}`;
  } catch (error) {
    return pattern.test(String(error?.message ?? error)) || `was refused with: ${error?.message ?? error}`;
  }
}

// A call whose answer must be a good one: as data, and as a text that says something.
async function answered(call, tool, args, options) {
  const answer = await call(tool, args, options);
  if (answer.isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${text(answer)}`);
  if (answer.structuredContent === undefined) throw new Error(`${tool}: no structured content`);
  if (text(answer).trim() === "") throw new Error(`${tool}: no text`);
  return answer.structuredContent;
}

const { client, call } = await connect(library, begins, place);

await check("the server says who it is", () => {
  const { name } = client.getServerVersion();
  return name === "tamis" && client.getInstructions()?.length > 0;
});

const { tools } = await client.listTools();
await check("the tools are those that are documented", () => {
  const [listed, expected] = [tools.map((tool) => tool.name).sort(), CALLS.map((row) => row.tool).sort()];
  return JSON.stringify(listed) === JSON.stringify(expected) || `listed: ${listed}`;
});
await check("every tool has a title, a description, schemas and annotations", () => {
  const writes = ["remember", "feedback"];
  const odd = tools.filter((tool) => {
    const { title, description, inputSchema, outputSchema, annotations } = tool;
    const is_whole = title && description?.length > 40 && inputSchema && outputSchema?.type === "object";
    return !is_whole || annotations?.readOnlyHint !== !writes.includes(tool.name) || annotations.openWorldHint !== false;
  });
  return odd.length === 0 || odd.map((tool) => tool.name).join(", ");
});

for (const row of CALLS) {
  await check(`${row.tool}: a call`, async () => {
    const args = { ...row.good };
    if (row.tool === "feedback") args.query_id = (await answered(call, "search", CALLS[0].good)).query_id;
    return row.holds(await answered(call, row.tool, args));
  });
  if (row.empty) {
    // Nothing relevant is an answer like any other.
    await check(`${row.tool}: nothing found`, async () => row.isEmpty(await answered(call, row.tool, row.empty)));
  }
  for (const [args, told] of row.wrong) {
    await check(`${row.tool}: ${JSON.stringify(args)} is refused`, async () => {
      const answer = await call(row.tool, args);
      return (answer.isError === true && told.test(text(answer))) || JSON.stringify(answer).slice(0, 300);
    });
  }
}

await check("a tool that is none is refused", () => refused(call("no_such_tool", {}), /no_such_tool/));

// The texts of all pages of an answer.
async function pages(tool, args) {
  const texts = [];
  for (let offset = 0; offset !== undefined && texts.length < 200; ) {
    texts.push(text(await call(tool, { ...args, offset })));
    offset = /call again with offset = (\d+)\.\n$/.exec(texts.at(-1))?.[1];
    if (offset !== undefined) offset = Number(offset);
  }
  return texts;
}
await check("an answer goes on at its offset, and nothing comes twice", async () => {
  const args = { query: "jobs, queues, waits and what to do at night", want: "all", max_chars: 1500 };
  const texts = await pages("search", args);
  const ranks = texts.flatMap((page) => [...page.matchAll(/^(\d+)\.(?: \[.*\])?\n`{3,}$/gm)].map((match) => Number(match[1])));
  const { results } = await answered(call, "search", args);
  const expected = results.map((result) => result.rank);
  return (texts.length > 1 && JSON.stringify(ranks) === JSON.stringify(expected)) || `${ranks} of ${expected}`;
});
await check("a document is read on to its end", async () => {
  const args = { id: "docs/operations.md", max_chars: 1000 };
  const parts = (await pages("get", args)).map((page) => page.replace(/^`+\n.*\n/, "").replace(/\n`+\n[^`]*$/, "\n"));
  const once = await answered(call, "get", args);
  return parts.join("") === once.text || `${parts.join("").length} of ${once.text.length} characters`;
});

await check("many calls at once are all answered alike", async () => {
  const answers = await Promise.all(Array.from({ length: 24 }, () => answered(call, "search", CALLS[0].good)));
  const ids = new Set(answers.map((answer) => answer.results.map((result) => result.id).join()));
  return ids.size === 1 || `${ids.size} different answers`;
});

const forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n";
await check("a call that is cancelled ends, and the server answers on", async () => {
  const started = Date.now();
  const cancel = new AbortController();
  setTimeout(() => cancel.abort(new Error("enough")), 150);
  const told = await refused(call("query_sql", { sql: forever, timeout_ms: 2000 }, { signal: cancel.signal }), /enough|abort|cancel/i);
  if (told !== true) return told;
  await answered(call, "get_status", {});
  return Date.now() - started < 1500 || `after ${Date.now() - started} ms`;
});
await check("a statement that never ends is stopped in time", async () => {
  const started = Date.now();
  const answer = await call("query_sql", { sql: forever, timeout_ms: 500 });
  const took = Date.now() - started;
  return (answer.isError && took < 1500) || `after ${took} ms: ${JSON.stringify(answer).slice(0, 300)}`;
});

await check("resources are listed and each can be read", async () => {
  const resources = [];
  // One of the libraries follows the pages itself.
  for (let cursor, page; !page || cursor; cursor = page.nextCursor) {
    page = await client.listResources(cursor ? { cursor } : {});
    resources.push(...page.resources);
  }
  if (resources.length < 10) return `${resources.length} resources`;
  for (const resource of resources) {
    const { contents } = await client.readResource({ uri: resource.uri });
    if (contents.length !== 1 || contents[0].uri !== resource.uri || !contents[0].text || !contents[0].mimeType) {
      return `${resource.uri}: ${JSON.stringify(contents).slice(0, 200)}`;
    }
  }
  return resources.some((resource) => resource.uri.includes("issue")) || "no issue among the resources";
});
await check("there is a template for addresses", async () => {
  const { resourceTemplates } = await client.listResourceTemplates();
  return resourceTemplates.some((template) => template.uriTemplate.startsWith("tamis://"));
});
for (const uri of ["tamis://mill/src/none.rs", "tamis://mill/../../../etc/passwd", "tamis://mill/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "tamis://other/src/retry.rs", "file:///etc/passwd"]) {
  await check(`${uri} is not found`, () => refused(client.readResource({ uri }), /./));
}

await check("each prompt gives messages", async () => {
  const { prompts } = await client.listPrompts();
  const given = { troubleshoot: { title: "the queue stands still" }, review_evidence: { task_id: "t1" } };
  if (prompts.length !== 2) return `${prompts.length} prompts`;
  for (const prompt of prompts) {
    const { messages } = await client.getPrompt({ name: prompt.name, arguments: given[prompt.name] });
    const [argument] = Object.values(given[prompt.name]);
    if (!messages[0].content.text.includes(argument)) return `${prompt.name}: ${JSON.stringify(messages)}`;
  }
});
await check("a prompt that is none is refused", () => refused(client.getPrompt({ name: "sing" }), /sing/));
await check("a prompt without what it needs is refused", () => refused(client.getPrompt({ name: "troubleshoot" }), /title/));

await client.close();

if (transport === "stdio") {
  await check("while the index is made, a call tells how far it is and is answered", async () => {
    const fresh = join(project, "..", `fresh-${library}-${begins}`);
    mkdirSync(join(fresh, ".git"), { recursive: true });
    for (let number = 0; number < 400; number += 1) {
      const sections = Array.from({ length: 12 }, (_, part) => `## Part ${part}\n\nThe stone ${number} turns in mill ${part}.\n`);
      writeFileSync(join(fresh, `page-${number}.md`), `# Page ${number}\n\n${sections.join("\n")}`);
    }
    const other = await connect(library, begins, { binary, project: fresh });
    const told = [];
    const onprogress = (progress) => told.push(progress);
    const found = await answered(other.call, "search", { query: "stone turns in the mill" }, { onprogress });
    await other.client.close();
    if (told.length === 0) return "no progress was told";
    const rises = told.every((now, at) => at === 0 || now.progress > told[at - 1].progress);
    return (rises && found.results !== undefined) || JSON.stringify(told).slice(0, 300);
  });
}

console.log(JSON.stringify({ passed, failures }));
