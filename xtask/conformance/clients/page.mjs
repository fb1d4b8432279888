// Uses the page as a person would, in a browser: node page.mjs CHROMIUM URL OPEN_URL TOKEN [SCREENSHOTS]
//
// URL is a server with tokens, which TOKEN opens; OPEN_URL is one without. The last line is JSON: the number of checks that passed, and
// the failures.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [, , executablePath, url, openUrl, token, screenshots] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
let passed = 0;
const check = (what, holds, found = "") => {
  if (holds) passed += 1;
  else failures.push(`${what}${found === "" ? "" : `: ${found}`}`);
};

const browser = await chromium.launch({ executablePath, args: [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
] });

/** A page that reports what it should not do: fail, log an error, or ask anyone but its own server. */
async function opened(base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  page.on("pageerror", (error) => failures.push(`the page fails: ${error}`));
  page.on("dialog", (dialog) => { failures.push(`text of the index ran: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(base)) failures.push(`the page asks ${request.url()}`); });
  return page;
}

async function accessible(page, name) {
  await page.addScriptTag({ content: axe }).catch(async () => page.evaluate(axe));
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }));
  check(`axe finds nothing in ${name}`, found.violations.length === 0,
    found.violations.map((one) => `${one.id} at ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`).join("; "));
}

const results = (page) => page.locator(".results > li");
const search = async (page, base, query) => {
  await page.goto(`${base}/?query=${encodeURIComponent(query)}`);
  await page.locator(".reason").first().waitFor();
};

try {
  // A search, the keyboard, the cut, a document and the way back.
  const page = await opened(openUrl);
  await page.goto(openUrl);
  await page.locator("#query:focus").waitFor();
  await page.keyboard.type("when is a failed job tried again");
  await page.keyboard.press("Enter");
  await results(page).first().waitFor();
  check("the address carries the query", page.url().includes("query=when+is"), page.url());
  check("the answer gives its reason", /^Kept \d+ of \d+ candidates: /.test(await page.locator(".reason").first().textContent()));
  const kept = await results(page).count();
  check("words of the query are marked", await page.locator(".results mark").count() > 0);
  await accessible(page, "a search");
  if (screenshots) await page.screenshot({ path: `${screenshots}/page.png` });
  const curve = page.locator(".curve");
  const total = Number(await curve.getAttribute("aria-valuemax"));
  const box = await curve.boundingBox();
  await page.mouse.move(box.x + 12, box.y + 80);
  await page.locator(".pointed a").first().waitFor();
  check("pointing shows a passage", (await page.locator(".pointed").textContent()).startsWith("1. "));
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 80, { steps: 5 });
  await page.mouse.up();
  check("dragging shows what would come", await page.locator(".coming li").count() === total - kept, `${total} − ${kept}`);
  await curve.focus();
  await page.keyboard.press("Home");
  check("moving it to the start greys all results", await page.locator(".results > li.gone").count() === kept);
  await page.keyboard.press("Escape");
  check("Escape puts the cut back", await curve.getAttribute("aria-valuenow") === String(kept));
  await page.locator("h2").first().click();
  await page.keyboard.press("j");
  const name = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await page.locator(".lines .hit").first().waitFor();
  check("Enter opens the result", (await page.title()).endsWith("– Tamis") && name.length > 0, await page.title());
  await page.locator("aside h2").first().waitFor();
  await accessible(page, "a document");
  await page.goBack();
  await results(page).first().waitFor();
  check("back leads to the results", await results(page).count() === kept);
  await page.locator(".judging button").first().click();
  await page.locator("#said.shown").waitFor();
  check("a judgement is noted", (await page.locator("#said").textContent()).includes("is noted as relevant"));

  // Filters, an empty answer, and hostile text.
  await page.goto(`${openUrl}/?query=retry&languages=python`);
  await page.locator(".reason").first().waitFor();
  const places = await page.locator(".results .place a").allTextContents();
  check("a filter holds", places.every((place) => /\.py:\d+$/.test(place)), places.join(" "));
  await search(page, openUrl, "who won the football world cup");
  check("an empty answer says so", (await page.locator(".reason").first().textContent()).startsWith("Nothing is relevant"));
  check("and names what came nearest", await page.locator(".nearest li").count() > 0);
  await accessible(page, "an empty answer");
  await search(page, openUrl, "hostile kettle");
  check("hostile text is shown", (await page.locator(".results").textContent()).includes("<img src=x onerror=alert(1)>"));
  check("and is no markup", await page.locator(".results img, .results script, .results a[href^='javascript:']").count() === 0);

  // A document of many thousand lines shows those around the hit.
  await search(page, openUrl, "the tide table of 7777");
  await page.locator("a.hit").first().click();
  await page.locator(".lines .hit").first().waitFor();
  const rows = await page.locator(".lines tr").count();
  check("a long document is shown in part", rows > 1000 && rows <= 2001, rows);
  const earlier = page.getByText("Earlier lines");
  check("with links to the rest", await earlier.count() === 1 && await page.getByText("Later lines").count() === 1);
  await earlier.click();
  await page.locator(".lines tr").first().waitFor();

  // A server that has stopped answering.
  await page.route("**/v1/search", (route) => route.abort());
  await page.goto(`${openUrl}/?query=retry`);
  await page.locator(".warning").waitFor();
  check("a stopped server is named", (await page.locator(".warning").textContent()).includes("does not answer"));
  await page.unroute("**/v1/search");

  // The other views, in both themes and on small and large screens.
  for (const [name, path, sign] of [
    ["cuts side by side", "/?view=compare&query=retry&cut=auto&cut=background&cut=fixed:k%3D3", ".columns section"],
    ["insights", "/?view=insights", ".bars"], ["evidence", "/?view=evidence", ".claims li"], ["the index", "/?view=index", ".figures"],
    ["the search", "/?query=retry", ".results li"],
  ]) {
    for (const [width, colorScheme] of [[375, "dark"], [2560, "light"]]) {
      const other = await opened(openUrl, { viewport: { width, height: 900 }, colorScheme });
      await other.goto(openUrl + path);
      await other.locator(sign).first().waitFor();
      const wide = await other.evaluate(() => document.documentElement.scrollWidth);
      check(`${name} fits ${width} pixels`, wide <= width, wide);
      await accessible(other, `${name} at ${width}, ${colorScheme}`);
      if (screenshots) await other.screenshot({ path: `${screenshots}/${name.replaceAll(" ", "-")}-${width}.png` });
      await other.context().close();
    }
  }

  // A server with tokens.
  const guarded = await opened(url);
  await guarded.goto(url);
  await guarded.locator("#token").waitFor();
  await accessible(guarded, "signing in");
  await guarded.fill("#token", "not-the-token-of-this-server");
  await guarded.keyboard.press("Enter");
  await guarded.locator("#said.shown").waitFor();
  check("a wrong token is refused", (await guarded.locator("#said").textContent()).includes("does not know this token"));
  await guarded.fill("#token", token);
  await guarded.keyboard.press("Enter");
  await guarded.locator("#query").waitFor();
  check("no script can read the token", !(await guarded.evaluate(() => document.cookie + JSON.stringify(localStorage))).includes(token));
  await search(guarded, url, "retry");
  check("the cookie opens the index", await results(guarded).count() > 0);
  await guarded.locator("#leave").click();
  await guarded.locator("#token").waitFor();
  check("signing out ends it", await guarded.locator("#query").count() === 0);
} catch (error) {
  failures.push(String(error.stack).split("\n").filter((line) => !line.includes("node_modules")).slice(0, 6).join(" "));
}
await browser.close();
console.log(JSON.stringify({ passed, failures }));
