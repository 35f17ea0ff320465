// Texts that are there to break the pages: markup, a word of 200,000 letters, letters that run from right to left.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { overflows, screenshot, startBrowser, visit as open } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>{{7*7}}</p><style>*{display:none}</style>';
const RTL = "\u202eשלום \u202b<b>مرحبا بالعالم</b>\u202c 123 abc \u0000".replace("\u0000", "\u200f");
const WORD = "W".repeat(3_900);

let server;
let browser;
let storageState;
let conversation;
let queue;

before(async () => {
  server = await startServer({ n: 2, seed: 5 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
  const [run] = (await ask("GET", "/projects/default/runs")).items;
  conversation = (await ask("GET", `/runs/${run.id}/conversations`)).items[0].id;
  const { events } = await ask("GET", `/conversations/${conversation}`);
  const spoke = events.filter(({ event }) => event.agent_spoke).at(-1);
  for (const text of [MARKUP, RTL, WORD]) {
    await ask("POST", `/conversations/${conversation}/annotations`, { seq: spoke.seq, text, labels: ["x".repeat(40)] });
  }
  const content = `${MARKUP} ${RTL} ${"w".repeat(30_000)}`;
  await ask("POST", `/conversations/${conversation}/corrections`, { seq: spoke.seq, content, note: MARKUP + WORD.slice(0, 2_000) });
  await ask("PUT", `/conversations/${conversation}/ratings`, { scores: { overall: 3 }, comment: MARKUP + RTL + WORD.slice(0, 3_000) });
  const made = { name: `${MARKUP}${"N".repeat(60)}`, instructions: `${RTL}${MARKUP}${"I".repeat(9_000)}`, conversations: [conversation] };
  queue = (await ask("POST", "/projects/default/review-queues", made)).id;
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

async function ask(method, path, body) {
  const cookie = storageState.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const url = (path) => new URL(`/api/v1${path}`, server.url);
  const { csrf_token } = await (await fetch(url("/session"), { headers: { cookie } })).json();
  const headers = { cookie, "content-type": "application/json", "x-csrf-token": csrf_token };
  const response = await fetch(url(path), { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, text);
  return JSON.parse(text);
}

/** A page with hostile text on it: nothing runs, it does not scroll sideways, and it still reacts. */
async function harmless(page, says) {
  await page.getByText("onerror", { exact: false }).first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.evaluate(() => window.broken), undefined, "a script of the text ran");
  assert.equal(await page.locator('img[src="x"]').count(), 0, "the text became markup");
  assert.equal(await overflows(page), false, says);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
}

for (const viewport of [{ width: 1280, height: 800 }, { width: 360, height: 740 }]) {
  const visit = (address, look) =>
    open(browser, `${server.url}/projects/default${address}`, look, { storageState, viewport, expected: [/Failed to fetch/] });
  const wide = `at ${viewport.width} pixels`;

  test(`hostile notes and corrections are text, ${wide}`, () =>
    visit(`/conversations/${conversation}?panel=people`, async (page) => {
      await harmless(page, "notes");
      assert.ok((await page.locator(".remark").count()) >= 4);
      await screenshot(page, `hostile-notes-${viewport.width}`);
    }));

  test(`hostile names and instructions of a queue are text, ${wide}`, async () => {
    await visit("/reviews", (page) => harmless(page, "queues"));
    await visit(`/reviews/${queue}`, async (page) => {
      await harmless(page, "queue");
      await screenshot(page, `hostile-queue-${viewport.width}`);
    });
  });

  test(`a message of 200,000 letters is cut, shown whole on demand, and the page reacts, ${wide}`, () =>
    visit(`/conversations/${conversation}`, async (page) => {
      await page.locator(".bubble").first().waitFor();
      // What a model said comes with the conversation: the answer is rewritten on its way to the page.
      const long = `${MARKUP}${RTL}${"L".repeat(200_000)}`;
      await page.route("**/api/v1/conversations/*", async (route) => {
        const response = await route.fetch();
        const detail = await response.json();
        for (const { event } of detail.events) {
          if (event.agent_spoke) Object.assign(event.agent_spoke, { content: long, reasoning: long });
          if (event.user_spoke && !event.user_spoke.ended) event.user_spoke.content = long;
          if (event.tool_answered) event.tool_answered.content = long;
        }
        detail.summary.scenario = MARKUP + "S".repeat(400);
        if (detail.verdict) detail.verdict.rationale = long;
        await route.fulfill({ response, json: detail });
      });
      await page.reload();
      await harmless(page, "long");
      const more = page.getByRole("button", { name: /^Show all 200,/ }).first();
      await more.click();
      await page.getByRole("button", { name: "Show less" }).first().waitFor();
      assert.equal(await overflows(page), false);
      await page.keyboard.press("j");
      await page.waitForURL(/turn=/);
    }));
}
