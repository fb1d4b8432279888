// The browser of the checks: pages that report what they should not do, and the record of what was checked.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export class Browser {
  failures = [];
  passed = 0;

  static async start(executablePath, screenshots) {
    const browser = new Browser();
    browser.screenshots = screenshots;
    browser.chromium = await chromium.launch({ executablePath, args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ] });
    return browser;
  }

  check(what, holds, found = "") {
    if (holds) this.passed += 1;
    else this.failures.push(`${what}${found === "" ? "" : `: ${found}`}`);
  }

  /** A page that reports what it should not do: fail, run text of the index, or ask anyone but its own server. */
  async opened(base, options = {}) {
    const context = await this.chromium.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(10000);
    page.on("pageerror", (error) => this.failures.push(`the page fails: ${error}`));
    page.on("dialog", (dialog) => { this.failures.push(`text of the index ran: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => { if (!request.url().startsWith(base)) this.failures.push(`the page asks ${request.url()}`); });
    return page;
  }

  async accessible(page, name) {
    await page.evaluate(AXE);
    const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }));
    this.check(`axe finds nothing in ${name}`, found.violations.length === 0,
      found.violations.map((one) => `${one.id} at ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`).join("; "));
  }

  async photograph(page, name) {
    if (this.screenshots) await page.screenshot({ path: `${this.screenshots}/${name.replaceAll(" ", "-")}.png` });
  }

  results(page) {
    return page.locator(".results > .entry:not(.row)");
  }

  async search(page, base, query) {
    await page.goto(`${base}/?query=${encodeURIComponent(query)}`);
    await page.locator(".reason").first().waitFor();
  }

  async end() {
    await this.chromium.close();
    return { passed: this.passed, failures: this.failures };
  }
}
