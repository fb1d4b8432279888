// Uses the page as a person would, in a browser: node page.mjs CHROMIUM URL OPEN_URL TOKEN REPORT [SCREENSHOTS]
//
// URL is a server with tokens, which TOKEN opens; OPEN_URL is one without; REPORT is a file that `tamis eval --json` wrote. The last line
// is JSON: the number of checks that passed, and the failures.
import { Browser } from "./page_browser.mjs";
import { limits } from "./page_limits.mjs";
import { views } from "./page_views.mjs";

const [, , executablePath, url, openUrl, token, report, screenshots] = process.argv;
const browser = await Browser.start(executablePath, screenshots);
const check = browser.check.bind(browser);
const { results, search } = browser;

try {
  // A search, the keyboard, the cut, a document and the way back.
  const page = await browser.opened(openUrl);
  await page.goto(openUrl);
  await page.locator("#query:focus").waitFor();
  await page.keyboard.type("when is a failed job tried again");
  await page.keyboard.press("Enter");
  await results(page).first().waitFor();
  check("the address carries the query", page.url().includes("query=when+is"), page.url());
  const reason = await page.locator(".reason").textContent();
  check("the answer says how much is relevant", /^\d+ of \d+ (?:looks? relevant|may be relevant)$/.test(reason), reason);
  check("and why the list ends", /^The next .*: <?[\d.]+% after >?[\d.]+%\.$/.test(await page.locator(".why").textContent()), await page.locator(".why").textContent());
  check("the line stands behind what is relevant", await page.locator(".cut + .row").count() === 1);
  const kept = await results(page).count();
  check("words of the query are marked", await page.locator(".results mark").count() > 0);
  await browser.accessible(page, "a search");
  await browser.photograph(page, "page");
  const curve = page.locator(".curve");
  const total = Number(await curve.getAttribute("aria-valuemax"));
  const box = await curve.boundingBox();
  await page.mouse.move(box.x + box.width * 0.03, box.y + 80);
  await page.locator(".pointed a").first().waitFor();
  check("pointing names an entry", (await page.locator(".pointed").textContent()).startsWith("1. "));
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 80, { steps: 5 });
  await page.mouse.up();
  const above = async () => page.locator(".results > .entry").evaluateAll((all) => all.filter((entry) => !entry.matches(".cut ~ .entry")).length);
  check("dragging puts the line behind all", await above() === total, `${await above()} of ${total}`);
  check("and what it takes in can be judged", await page.locator(".row .judging").first().isVisible());
  check("and the headline follows", (await page.locator(".reason").textContent()) .startsWith(`${total} of `));
  await curve.focus();
  await page.keyboard.press("Home");
  check("moving it to the start puts it before all", await above() === 0 && await page.locator(".why").textContent().then((why) => why.startsWith("You took away")));
  await page.keyboard.press("Escape");
  check("Escape puts it back", await curve.getAttribute("aria-valuenow") === String(kept) && await above() === kept);
  await page.locator(".reason").click();
  await page.keyboard.press("j");
  const name = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await page.locator("article .hit").first().waitFor();
  check("Enter opens the result", (await page.title()).endsWith("– Tamis") && name.length > 0, await page.title());
  await page.locator("aside h2").first().waitFor();
  await browser.accessible(page, "a document");
  await page.goBack();
  await results(page).first().waitFor();
  check("back leads to the results", await results(page).count() === kept);
  check("and to the one that was opened", await page.evaluate(() => document.activeElement.textContent) === name);
  await page.locator(".judging button").first().click();
  await page.locator("#said.shown").waitFor();
  check("a judgement is noted", (await page.locator("#said").textContent()).includes("is noted as relevant"));

  // An answer while one types, the place of a result, and the editor that opens it.
  await page.goto(openUrl);
  await page.locator("#query:focus").waitFor();
  await page.keyboard.type("when ");
  await page.waitForURL(/query=when$/);
  await page.keyboard.type("is a failed job tri", { delay: 30 });
  await results(page).first().waitFor();
  await page.keyboard.type("ed again", { delay: 30 });
  await page.waitForURL(/tried\+again$/);
  check("an answer comes while one types, and the field keeps the focus", await page.evaluate(() => document.activeElement.id === "query")
    && await page.locator("#query").inputValue() === "when is a failed job tried again");
  await page.locator(".judging").first().waitFor();
  check("once the keys rest, the answer can be judged", await page.locator("#query:focus").count() === 1);
  const lines = await page.locator("pre .line").evaluateAll((all) => all.map((line) => line.dataset.line));
  check("lines of code have their numbers", lines.length > 1 && Number(lines[1]) === Number(lines[0]) + 1, lines.join());
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = await page.locator(".results .place a").first().textContent();
  await page.locator(".tool").first().click();
  await page.locator("#said.shown", { hasText: "Copied" }).waitFor();
  check("the place of a result is copied", await page.evaluate(() => navigator.clipboard.readText()) === copied, copied);
  await page.locator("#help").click();
  await page.locator(".setting input").fill("VS Code");
  await page.locator(".setting input").press("Tab");
  check("an editor is known by its name", (await page.locator(".setting input").inputValue()).startsWith("vscode://file"));
  await browser.accessible(page, "the keys");
  await page.locator("#keys button").click();
  await page.keyboard.press("Control+k");
  check("Ctrl K leads to the field", await page.locator("#query:focus").count() === 1);
  await page.keyboard.press("Enter");
  await page.locator(".tool[title^=Open]").first().waitFor();
  await page.goBack();
  await page.locator(".home").waitFor();
  check("all that was typed is one step back", true);

  // Filters, an empty answer, and hostile text.
  await page.goto(`${openUrl}/?query=retry&languages=python`);
  await page.locator(".reason").first().waitFor();
  const places = await page.locator(".results .place a").allTextContents();
  check("a filter holds", places.every((place) => /(?:\.py:|^line )\d+$/.test(place)), places.join(" "));
  await page.locator(".chip.remove").click();
  await page.waitForURL((address) => !address.search.includes("languages"));
  await page.locator(".filters .choice", { hasText: "Rust" }).first().click();
  await page.waitForURL(/languages=rust/);
  await page.locator(".reason").waitFor();
  check("a choice filters, and its chip takes it away", await page.locator(".chip.remove").textContent() === "Rust");
  check("the other choices stay", await page.locator(".filters .choice", { hasText: "Python" }).count() > 0);
  await page.goto(openUrl);
  for (const title of ["Recent", "Try"]) await page.locator(".asked h2", { hasText: title }).waitFor();
  check("the first view names the index and its size", await page.locator("h1").textContent() === "mill"
    && /^[\d,]+ documents, [\d,]+ passages/.test(await page.locator(".size").textContent()), await page.locator(".size").textContent());
  check("and has questions to begin with", await page.locator(".asked li a").count() >= 3);
  const tries = await page.locator(".asked section:has(h2:text-is('Try')) a").allTextContents();
  check("which a person would ask", tries.every((one) => /\?$|^(?:how|why) |^where is .* defined$/i.test(one)), tries.join("; "));
  await browser.accessible(page, "the first view");
  const example = page.locator(".asked section", { hasText: "Try" }).locator("a").first();
  const question = await example.textContent();
  await example.click();
  await results(page).first().waitFor();
  check("an example has an answer", await page.locator("#query").inputValue() === question, question);
  await search(page, openUrl, "who won the football world cup");
  check("an empty answer says so", (await page.locator(".reason").first().textContent()).startsWith("Nothing clearly relevant"));
  check("and names what came nearest", await page.locator(".cut + .row").count() > 0);
  await browser.accessible(page, "an empty answer");
  await search(page, openUrl, "hostile kettle");
  const shown = await page.locator(".results").textContent();
  check("hostile text is shown", shown.includes("<img src=x onerror=alert(1)>"), shown.slice(0, 300));
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

  // A server that has stopped answering, and answers again.
  await search(page, openUrl, "retry");
  const listed = await page.locator(".results > .entry").count();
  await page.context().setOffline(true);
  await page.locator(".filters .choice").first().click();
  await page.locator(".offline", { hasText: "does not answer" }).waitFor();
  check("a stopped server leaves the list", await page.locator(".results > .entry").count() === listed);
  await page.context().setOffline(false);
  await page.locator(".chip.remove").waitFor();
  check("and the page goes on when it is back", await page.locator(".offline").count() === 0);

  // The other views, in both themes and on small and large screens.
  for (const [name, path, sign] of [
    ["cuts side by side", "/?view=compare&query=retry&cut=auto&cut=background&cut=fixed:k%3D3", ".matrix tbody tr"],
    ["insights", "/?view=insights", ".plot"], ["evidence", "/?view=evidence", ".claims li"], ["the index", "/?view=index", ".figures"],
    ["the search", "/?query=retry", ".results .entry"],
    ["the first view", "/", ".asked li"], ["an issue", "/?view=document&at=issue:12&from=11&to=11&query=put+aside", ".thread .hit"],
    ["a claim", "/?view=document&at=claim:c1", ".stance li"], ["a fragment", "/?view=document&at=fragment:f3", ".stance li"],
  ]) {
    for (const [width, colorScheme] of [[375, "dark"], [768, "light"], [1400, "dark"], [2560, "light"]]) {
      const other = await browser.opened(openUrl, { viewport: { width, height: 900 }, colorScheme });
      await other.goto(openUrl + path);
      await other.locator(sign).first().waitFor();
      const wide = await other.evaluate(() => document.documentElement.scrollWidth);
      check(`${name} fits ${width} pixels`, wide <= width, wide);
      await browser.accessible(other, `${name} at ${width}, ${colorScheme}`);
      await browser.photograph(other, `${name}-${width}`);
      await other.context().close();
    }
  }

  // A server with tokens.
  const guarded = await browser.opened(url);
  await guarded.goto(url);
  await guarded.locator("#token").waitFor();
  await browser.accessible(guarded, "signing in");
  await guarded.fill("#token", "not-the-token-of-this-server");
  await guarded.keyboard.press("Enter");
  await guarded.locator("#refused", { hasText: "does not know this token" }).waitFor();
  await guarded.fill("#token", token);
  await guarded.keyboard.press("Enter");
  await guarded.locator("#query").waitFor();
  check("no script can read the token", !(await guarded.evaluate(() => document.cookie + JSON.stringify(localStorage))).includes(token));
  await search(guarded, url, "retry");
  check("the cookie opens the index", await results(guarded).count() > 0);
  // A browser keeps a document for the way back, and another one can sign out meanwhile.
  const turn = (type) => guarded.evaluate((name) => { window.dispatchEvent(new PageTransitionEvent(name, { persisted: true })); }, type);
  await turn("pagehide");
  check("what the browser keeps of a guarded index is hidden", !await guarded.locator("main").isVisible());
  await turn("pageshow");
  await results(guarded).first().waitFor();
  await guarded.context().clearCookies();
  await turn("pageshow");
  await guarded.locator("#token").waitFor();
  check("and gone after signing out", await results(guarded).count() === 0);
  await guarded.fill("#token", token);
  await guarded.keyboard.press("Enter");
  await results(guarded).first().waitFor();
  await guarded.locator("#leave").click();
  await guarded.locator("#token").waitFor();
  check("signing out ends it", await guarded.locator("#query").count() === 0);

  await views(browser, openUrl, report);
  await limits(browser, openUrl);
} catch (error) {
  browser.failures.push(String(error.stack).split("\n").filter((line) => !line.includes("node_modules")).slice(0, 6).join(" "));
}
console.log(JSON.stringify(await browser.end()));
