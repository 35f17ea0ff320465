// Every page, light and dark, as axe sees it: nothing serious may be wrong with it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { call, until } from "./support/api.mjs";
import { overflows, screenshot, startBrowser, visit as open } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

const AXE = new URL(import.meta.resolve("axe-core/axe.min.js"));
/** What scrolls in the code editor: the keyboard does it from the text within, which axe does not look for in a shadow root. */
const EDITOR = 'class="cm-scroller"';
const GRAVE = new Set(["serious", "critical"]);

let server;
let browser;
let storageState;
let axe;
/** Name of a page -> its address. */
let pages;

before(async () => {
  server = await startServer({ n: 12, seed: 3 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
  axe = await readFile(AXE, "utf8");
  await open(browser, server.url, async (page) => {
    pages = await addresses(page);
  }, { storageState });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** One address of each page, of a project that has something of everything. */
async function addresses(page) {
  const project = "/projects/default";
  await call(page, "POST", `${project}/demo`, {});
  const runs = await call(page, "GET", `${project}/runs`);
  const run = runs.items[0].id;
  const conversations = await call(page, "GET", `/runs/${run}/conversations`);
  const conversation = conversations.items[0].id;
  const corpus = await call(page, "POST", `${project}/corpora`, { name: "all" });
  await until(page, `/corpora/${corpus.id}`, (found) => found.summary.state === "ready");
  const queue = await call(page, "POST", `${project}/review-queues`, { name: "first", conversations: [conversation] });
  const below = {
    overview: "",
    scenarios: "/scenarios",
    scenario: "/scenarios/help_card_abroad",
    "scenario-versions": "/scenarios/help_card_abroad?tab=versions",
    playbooks: "/playbooks",
    playbook: "/playbooks/retail_bank",
    personas: "/personas",
    persona: "/personas/busy_professional",
    judges: "/judges",
    judge: "/judges/default",
    runs: "/runs",
    launch: "/runs/new",
    run: `/runs/${run}`,
    "run-analytics": `/runs/${run}/analytics`,
    conversations: "/conversations",
    conversation: `/conversations/${conversation}`,
    reviews: "/reviews",
    queue: `/reviews/${queue.id}`,
    rate: `/reviews/${queue.id}/rate`,
    corpora: "/corpora",
    "corpus-new": "/corpora/new",
    corpus: `/corpora/${corpus.id}`,
    exports: "/exports",
    "export-new": `/exports/new?run=${run}`,
    members: "/members",
    "project-audit": "/audit",
  };
  const all = Object.entries(below).map(([name, path]) => [name, `${project}${path}`]);
  const installation = ["models", "workers", "tokens", "people", "audit"].map((name) => [name, `/${name}`]);
  return new Map([...all, ...installation]);
}

/** Pages fetch what they show; they are looked at when nothing is on its way any more. */
async function settled(page) {
  await page.locator("main h1, main h2").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll("main .loading").length === 0);
}

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious on any page, ${colorScheme}`, async (t) => {
    for (const [name, address] of pages) {
      await t.test(name, () =>
        open(
          browser,
          `${server.url}${address}`,
          async (page) => {
            await settled(page);
            assert.equal(await page.getByText("There is no page at this address.").count(), 0, address);
            await page.evaluate(axe);
            const { violations } = await page.evaluate(() => globalThis.axe.run(document));
            const grave = violations
              .filter(({ impact }) => GRAVE.has(impact))
              .map((violation) => ({ ...violation, nodes: violation.nodes.filter(({ html }) => !html.includes(EDITOR)) }))
              .filter(({ nodes }) => nodes.length > 0);
            const told = grave.map(({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map((node) => node.html.slice(0, 200)).join("\n  ")}`);
            assert.deepEqual(told, []);
            await screenshot(page, `${name}-${colorScheme}`);
          },
          { storageState, colorScheme },
        ),
      );
    }
  });
}

test("no page scrolls sideways on a narrow screen", async (t) => {
  for (const [name, address] of pages) {
    await t.test(name, () =>
      open(
        browser,
        `${server.url}${address}`,
        async (page) => {
          await settled(page);
          assert.equal(await overflows(page), false);
        },
        { storageState, viewport: { width: 360, height: 740 } },
      ),
    );
  }
});
