// Threads, claims, judgements in the insights, reports of evaluations, and the live index.
import { readFileSync } from "node:fs";

export async function views(browser, base, report) {
  const page = await browser.opened(base);
  await ways(browser, page, base);
  await threads(browser, page, base);
  await claims(browser, page, base);
  await judgements(browser, page, base);
  await reports(browser, page, base, report);
  await liveIndex(browser, page, base);
  await updating(browser, page, base);
  await small(browser, base);
  await outOfSight(browser, base);
  await widths(browser, page, base);
  await longQuestion(browser, page, base);
  await page.context().close();
}

/** The way from an entry far below the line and back, and what goes along. */
async function ways(browser, page, base) {
  const check = browser.check.bind(browser);
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await browser.search(page, base, "retry");
  await page.locator(".more").click();
  const entries = page.locator(".results > .entry");
  const shown = await entries.count();
  const last = entries.last().locator("a.hit");
  const name = await last.textContent();
  await last.click();
  await page.locator("article h1").waitFor();
  check("a document keeps the question", await page.locator("#query").inputValue() === "retry");
  await page.waitForFunction(() => document.activeElement.matches("h1"));
  await page.locator(".bar .back").click();
  await page.locator(".reason").waitFor();
  check("the way back leads to as many entries", await entries.count() === shown, `${await entries.count()} of ${shown}`);
  check("and to the one that was opened", await focused() === name, await focused());
  await page.locator(".filters .choice").first().click();
  await page.locator(".chip.remove").waitFor();
  await page.waitForFunction(() => document.activeElement.matches("h1"));
  await page.goto(`${base}/?query=retry&languages=cobol`);
  await page.locator(".why", { hasText: "“Cobol” leaves nothing" }).waitFor();
  check("a filter that leaves nothing leaves the others", await page.locator(".filters .choice").count() > 2);
}

async function threads(browser, page, base) {
  const check = browser.check.bind(browser);
  const texts = (selector) => page.locator(selector).allTextContents();
  await browser.search(page, base, "queue stands still after the mail service was down");
  await page.locator("a.hit[href*='issue%3A12']").first().click();
  await page.locator(".thread").waitFor();
  check("a thread has its title", await page.locator("h1").textContent() === "Queue stands still after the mail service was down");
  check("its state and labels", (await texts(".chip")).join() === "closed,queue", (await texts(".chip")).join());
  const said = await texts(".thread h2");
  check("each text has its author and date", said.join() === "ada wrote 2 Oct 2026, 08:00 UTC,grace commented 2 Oct 2026, 09:10 UTC,"
    + "ada commented 3 Oct 2026, 09:50 UTC", said.join());
  check("the hit is marked", await page.locator(".thread .prose .hit").count() > 0);
  const open = async (path) => {
    await page.goto(`${base}/?view=document&at=${path}`);
    await page.locator("h1").waitFor();
  };
  await open("issue:18");
  check("a hostile thread is text", (await page.locator("article").textContent()).includes("<script>alert(6)</script>")
    && await page.locator("article img, article svg, article script, article a[href^='javascript:']").count() === 0);
  check("with its code", (await texts(".thread .prose .code")).includes("hostile  code"));
  check("and an empty comment", (await texts(".thread li:last-child")).join().includes("No text."));
  await open("issue:19");
  check("a thread that quotes a heading shows its lines", await page.locator(".lines").count() === 1 && await page.locator(".thread").count() === 0);
}

async function claims(browser, page, base) {
  const check = browser.check.bind(browser);
  await browser.search(page, base, "waits that double keep a service up that comes back under load");
  await page.locator("a.hit[href*='claim%3Ac1']").first().click();
  await page.locator(".stance li").first().waitFor();
  const columns = await page.locator(".stance h2").allTextContents();
  check("a claim stands between its supports and refutations", columns.join() === "Supported by (1),Refuted by (1)", columns.join());
  await page.locator(".stance.refutes a").click();
  await page.locator(".stance.refutes li").first().waitFor();
  const refuted = await page.locator(".stance.refutes li > a").allTextContents();
  check("a fragment names the claims that it refutes", refuted.length === 2
    && refuted.includes("Waits that double keep a service up that comes back under load."), refuted.join());
  // The identifier is of digits, with zeros before it.
  await page.goto(`${base}/?view=document&at=claim:007`);
  await page.locator(".stance.neutral a").click();
  await page.locator(".stance.neutral li > a", { hasText: "Hostile claim" }).waitFor();
  check("hostile evidence is text", (await page.locator("h1").textContent()).includes("<script>alert(1)</script>")
    && await page.locator("article img, article script").count() === 0);
  await page.goto(`${base}/?view=evidence`);
  await page.locator(".claims a").first().click();
  await page.locator(".stance").first().waitFor();
}

async function judgements(browser, page, base) {
  const check = browser.check.bind(browser);
  const texts = (selector) => page.locator(selector).allTextContents();
  await browser.search(page, base, "how does the lock work");
  const buttons = page.locator(".judging").first().locator("button");
  await buttons.nth(1).click();
  await page.locator("#said.shown").waitFor();
  await page.locator("a.hit").first().click();
  await page.locator("article").waitFor();
  await page.goBack();
  await page.locator(".judging").first().waitFor();
  const below = (await texts(".cut ~ .row")).join();
  check("the same search shows below the line what was judged", below.includes("judged not relevant"), below);
  const judged = await page.locator(".cut ~ .row .judging button[aria-pressed=true]").first().elementHandle();
  for (const [said, isJudged] of [["is taken back", "false"], ["is noted as not relevant", "true"]]) {
    await judged.click();
    await page.locator("#said.shown", { hasText: said }).waitFor();
    check(`there it ${said}`, await judged.getAttribute("aria-pressed") === isJudged);
  }
  await page.goto(`${base}/?view=insights`);
  await page.getByText("Whether probabilities come true shows here").waitFor();
  check("insights count judgements", /^\d+ results of \d+ searches were judged, /.test(await page.locator("h2:text('Judgements') + p").textContent()));
}

async function reports(browser, page, base, report) {
  const check = browser.check.bind(browser);
  await page.goto(`${base}/?view=insights`);
  const sent = [];
  page.on("request", (request) => sent.push(request.url()));
  const open = async (name, text) => {
    await page.setInputFiles("#report", { name, mimeType: "application/json", buffer: Buffer.from(text) });
    await page.locator(".report > *").first().waitFor();
  };
  const text = readFileSync(report, "utf8");
  await page.locator("#report").waitFor();
  const asked = sent.length;
  await open("report.json", text);
  await page.locator(".report figcaption", { hasText: "Reliability of auto" }).waitFor();
  check("a report has its methods", (await page.locator(".report tbody th").allTextContents()).includes("auto"));
  check("with intervals", await page.locator(".report td", { hasText: / \([+−]\d/ }).count() > 0);
  await browser.accessible(page, "a report");
  await page.locator(".report").evaluate((shown) => shown.scrollIntoView());
  await browser.photograph(page, "report");
  for (const [width, height] of [[375, 900], [2560, 900]]) {
    await page.setViewportSize({ width, height });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`a report fits ${width} pixels`, wide <= width, wide);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const refused = async (name, content, reason) => {
    await open(name, content);
    const found = await page.locator(".report .warning").textContent();
    check(`${name} is refused`, found.includes(reason), found);
  };
  await refused("notes.txt", "no report", "it is not JSON");
  await refused("other.json", "{\"a\": 1}", "it is not a report of tamis eval --json");
  await refused("later.json", JSON.stringify({ ...JSON.parse(text), format: 2 }), "its format is 2");
  await refused("broken.json", JSON.stringify({ ...JSON.parse(text), overall: [{}] }), "a part of the report is missing");
  const hostile = "<img src=x onerror=alert(5)>";
  await open("hostile.json", JSON.stringify({ ...JSON.parse(text), collections: JSON.parse(text).collections.map((one) => ({ ...one, name: hostile })) }));
  await page.locator(".report h3", { hasText: hostile }).waitFor();
  check("a hostile report is text", await page.locator(".report img").count() === 0);
  await open("curve.json", JSON.stringify([{ collection: "a", queries: 9, points: [
    { judged: 0, relative_f1: 0.7, without: 0.7, error: 0, level: 0.6 }, { judged: 5, relative_f1: 0.75, without: 0.7, error: 0.01, level: 0.7 }] }]));
  await page.locator(".report figcaption", { hasText: "With judgements and without" }).waitFor();
  check("a report stays in the browser", sent.length === asked, sent.slice(asked).join());
}

const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** The events are made here, so that every phase is seen; what the real server sends is checked beside them. */
async function liveIndex(browser, page, base) {
  const check = browser.check.bind(browser);
  let asked = 0;
  const bodies = [
    `: alive\n\n${event("progress", { phase: "indexing", done: 3, total: 100 })}${event("index", { change: 17 })}`,
    `${event("progress", { phase: "embedding", done: 50, total: 200, model: "minilm" })}${event("index", { change: 18 })}`,
    `${event("progress", { phase: "failed", done: 0, total: 0, reason: "the disk is full <img src=x onerror=alert(1)>" })}`,
  ];
  await page.route("**/v1/events", (route) => route.fulfill({ contentType: "text/event-stream", body: bodies[Math.min(asked++, 2)] }));
  await page.route("**/page/session", async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), may_refresh: true } }));
  await page.route("**/v1/refresh", (route) => route.fulfill({ json: { phase: "indexing", done: 0, total: 0 } }));
  let figures = 0;
  page.on("request", (request) => { if (request.url().endsWith("/v1/status")) figures += 1; });
  await page.goto(`${base}/?view=index`);
  const job = page.locator(".job");
  await page.getByText("Reading files: 3 of 100.").first().waitFor();
  check("progress is a bar", await page.locator("progress").evaluate((bar) => bar.value / bar.max) === 0.03);
  await browser.accessible(page, "a running job");
  await page.locator(".figures").first().waitFor();
  const before = figures;
  await job.getByText("Embedding with minilm: 50 of 200.").waitFor();
  await page.waitForTimeout(300);
  check("the figures are read again when the index has changed", figures === before + 1, `${before} and ${figures}`);
  await job.getByText("The last run failed: the disk is full <img").waitFor();
  await page.getByRole("button", { name: "Index now" }).click();
  await job.getByText("Reading files.").waitFor();
  check("an unknown total has a bar without an end", await page.locator("progress:indeterminate").count() === 1);
  await page.locator("nav a").first().click();
  await page.locator("#query").waitFor();
  const then = asked;
  await page.waitForTimeout(3500);
  check("the view stops listening when it is left", asked === then, `${then} and ${asked}`);
  for (const path of ["events", "refresh"]) await page.unroute(`**/v1/${path}`);
  await page.unroute("**/page/session");
  // A server without events, and one without the right to index.
  await page.route("**/v1/events", (route) => route.fulfill({ status: 404, contentType: "application/problem+json", body: "{}" }));
  await page.goto(`${base}/?view=index`);
  await page.locator(".figures").first().waitFor();
  check("an older server shows its figures alone", await page.locator(".job").textContent() === "" && !await page.locator("progress").isVisible());
  await page.unroute("**/v1/events");
  // What this server sends.
  await page.goto(`${base}/?view=index`);
  if (process.env.READS_NO_TREE) {
    await job.getByText("This server does not watch the files.").waitFor();
    check("a server that reads no tree offers no reading", !await page.getByRole("button", { name: "Index now" }).isVisible());
    return;
  }
  const upToDate = () => job.getByText("The index is up to date.").waitFor().catch(() => {});
  await upToDate();
  // The run ends before the page has its answer.
  await page.route("**/v1/refresh", async (route) => {
    const response = await route.fetch();
    await page.waitForTimeout(1500);
    await route.fulfill({ response });
  });
  const answered = page.waitForResponse("**/v1/refresh");
  await page.getByRole("button", { name: "Index now" }).click();
  check("the tree is read at once", (await answered).ok());
  await page.unroute("**/v1/refresh");
  await upToDate();
  check("and the index is up to date", (await job.textContent()).startsWith("The index is up to date"), await job.textContent());
}

/** A search while files are read. The events and the warning are made here. */
async function updating(browser, page, base) {
  const check = browser.check.bind(browser);
  const notice = page.locator(".column .notice");
  const phases = [];
  await page.route("**/v1/events", (route) => route.fulfill({ contentType: "text/event-stream", body: event("progress", phases.shift() ?? { phase: "fresh", done: 0, total: 0 }) }));
  const during = async (change) => {
    phases.push({ phase: "indexing", done: 2, total: 5 });
    let isFirst = true;
    await page.route("**/v1/search", async (route) => {
      const answer = await (await route.fetch()).json();
      if (isFirst) change(answer);
      isFirst = false;
      await route.fulfill({ json: answer });
    });
    await browser.search(page, base, "retry");
    await notice.getByText("Files are being indexed: 40%. Results may be missing.").waitFor();
  };
  const warnings = ["the index is being updated (2 of 5 so far); new text may not be found yet"];
  await during((answer) => { answer.warnings = warnings; });
  check("what is missing is no error", await page.locator("main .warning").count() === 0);
  await browser.accessible(page, "a search while files are read");
  await notice.getByRole("button", { name: "Search again" }).click();
  await notice.waitFor({ state: "detached" });
  await browser.results(page).first().waitFor();
  check("the list can be asked for again", await notice.count() === 0);
  await page.unroute("**/v1/search");
  await during((answer) => Object.assign(answer, { warnings, results: [], nearest: [], pool: [], cut: { ...answer.cut, keep: 0, candidates: 0 } }));
  check("an empty list says that it may fill", await page.locator(".reason").textContent() === "Nothing found yet");
  await browser.results(page).first().waitFor();
  check("and does by itself", await notice.count() === 0);
  for (const path of ["events", "search"]) await page.unroute(`**/v1/${path}`);
}

/** What a small screen needs: the whole question in sight, and places that a finger hits. The place of a result has a title that leads there, too. */
async function small(browser, base) {
  const page = await browser.opened(base, { viewport: { width: 375, height: 812 } });
  let places = 0;
  const question = "when a job failed and is tried again, how long does the queue wait before it runs the next time and where is that set";
  for (const [name, path, sign] of [
    ["the first view", "/", ".asked li"], ["a search", `/?query=${encodeURIComponent(question)}`, ".reason"], ["a document", "/?view=document&at=src/retry.rs&from=8&to=9&query=retry", "aside li"],
    ["cuts side by side", `/?view=compare&query=${encodeURIComponent(question)}`, ".matrix tbody tr"], ["insights", "/?view=insights", ".plot"], ["the index", "/?view=index", ".figures"],
  ]) {
    await page.goto(base + path);
    await page.locator(sign).first().waitFor();
    const field = await page.locator("#query").evaluate((one) => [one.clientHeight, one.scrollHeight]);
    browser.check(`the question is whole in ${name}`, field[0] >= field[1], field.join(" of "));
    const low = await page.locator("a[href], button, input:not([type=checkbox]), select, textarea, summary, label.choice").evaluateAll((all) => all
      .filter((one) => one.checkVisibility() && !one.matches(".skip, .meta .place a") && one.getBoundingClientRect().height < 39.5).map((one) => `${one.tagName} ${one.textContent.slice(0, 30)}`));
    browser.check(`a finger hits all of ${name}`, low.length === 0, low.slice(0, 5).join("; "));
    const breaks = await page.locator("wbr").evaluateAll((all) => all.map((one) => getComputedStyle(one.parentElement).display));
    places += breaks.length;
    browser.check(`names stay whole in ${name}`, !breaks.some((display) => /flex|grid/.test(display)), [...new Set(breaks)].join());
  }
  browser.check("there are names that may break", places > 0);
  await page.context().close();
}

/** A tab out of sight does not listen, since all tabs share few connections, and no stream waits for that of another tab. */
async function outOfSight(browser, base) {
  const page = await browser.opened(base);
  await page.addInitScript(() => {
    const { fetch } = globalThis;
    globalThis.streams = [];
    globalThis.fetch = (address, options) => {
      if (address === "/v1/events") globalThis.streams.push(options);
      return fetch(address, options);
    };
  });
  const turn = (isHidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
  const open = () => page.evaluate(() => globalThis.streams.filter(({ signal }) => !signal.aborted).length);
  await page.goto(`${base}/?view=index`);
  await page.locator(".job:not(:empty)").waitFor();
  browser.check("a stream waits for no other", await page.evaluate(() => globalThis.streams.every(({ cache }) => cache === "no-store")));
  await turn(true);
  browser.check("a tab out of sight does not listen", await open() === 0, await open());
  await turn(false);
  await page.waitForFunction(() => globalThis.streams.length === 2);
  browser.check("and does when it is back", await open() === 1, await open());
  await page.context().close();
}

/** The filters stand beside the answers, or wait above them. */
async function widths(browser, page, base) {
  await browser.search(page, base, "retry");
  for (const [width, isOpen] of [[768, false], [1024, true], [768, false], [1280, true]]) {
    await page.setViewportSize({ width, height: 900 });
    const choice = page.locator(".filters .choice").first();
    await choice.waitFor({ state: isOpen ? "visible" : "hidden" }).catch(() => {});
    browser.check(`the filters are ${isOpen ? "open" : "closed"} at ${width} pixels`, await choice.isVisible() === isOpen);
  }
}

/** A question that no server would take in an address. */
async function longQuestion(browser, page, base) {
  const question = `retry ${"ö".repeat(7000)}`;
  await page.goto(base);
  await page.locator("#query").fill(question);
  await page.keyboard.press("Enter");
  await page.locator(".reason").waitFor();
  browser.check("a long question is not in the address", page.url().length < 20_000, page.url().length);
  await page.reload();
  await page.locator(".reason").waitFor();
  browser.check("and is there when the page is loaded again", await page.locator("#query").inputValue() === question);
}
