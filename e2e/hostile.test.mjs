// Texts that are there to break the pages: markup, a word of 200,000 letters, letters that run from right to left.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>{{7*7}}</p><style>*{display:none}</style>';
const RTL = "\u202eשלום \u202b<b>مرحبا بالعالم</b>\u202c 123 abc \u0000".replace("\u0000", "\u200f");
const WORD = "W".repeat(3_900);

let conversation;
let queue;

async function prepare(site) {
  const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  conversation = (await site.ask("GET", `/runs/${run.id}/conversations`)).items[0].id;
  const about = `/conversations/${conversation}`;
  const { seq } = (await site.ask("GET", about)).events.filter(({ event }) => event.agent_spoke).at(-1);
  for (const text of [MARKUP, RTL, WORD]) {
    await site.ask("POST", `${about}/annotations`, { seq, text, labels: ["x".repeat(40)] });
  }
  const content = `${MARKUP} ${RTL} ${"w".repeat(30_000)}`;
  await site.ask("POST", `${about}/corrections`, { seq, content, note: MARKUP + WORD.slice(0, 2_000) });
  const comment = MARKUP + RTL + WORD.slice(0, 3_000);
  await site.ask("PUT", `${about}/ratings`, { scores: { overall: 3 }, comment });
  const made = {
    name: `${MARKUP}${"N".repeat(60)}`,
    instructions: `${RTL}${MARKUP}${"I".repeat(9_000)}`,
    conversations: [conversation],
  };
  queue = (await site.ask("POST", `${PROJECT}/review-queues`, made)).id;
}

const site = story({ n: 2, seed: 5, prepare });

/** A page with hostile text on it: nothing runs, it does not scroll sideways, and it still reacts. */
async function harmless(page, says) {
  await page.getByText("onerror", { exact: false }).first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.evaluate(() => window.broken), undefined, "a script of the text ran");
  assert.equal(await page.locator('img[src="x"]').count(), 0, "the text became markup");
  await fits(page, says);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
}

for (const viewport of [{ width: 1280, height: 800 }, NARROW.viewport]) {
  const options = { viewport, expected: [/Failed to fetch/] };
  const visit = (below, look) => site.visit(`${PROJECT}${below}`, look, options);
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

  test(`hostile arguments of a call, keys and values of a world are text, ${wide}`, () =>
    visit(`/conversations/${conversation}?panel=world`, async (page) => {
      await page.locator(".bubble").first().waitFor();
      const value = { [RTL]: MARKUP, said: RTL };
      const path = `/${MARKUP.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const args = { [RTL]: MARKUP, said: RTL };
      await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        const answers = json.events.map(({ event }) => event.tool_answered).filter(Boolean);
        for (const answer of answers) answer.patch = [];
        answers.at(-1).patch = [{ op: "add", path, value }];
        for (const { event } of json.events) {
          for (const call of event.agent_spoke?.tool_calls ?? []) call.function.arguments = JSON.stringify(args);
        }
        await route.fulfill({ response, json });
      });
      await page.route(/\/api\/v1\/conversations\/[^/]+\/world/, async (route) => {
        const url = new URL(route.request().url());
        const version = Number(url.searchParams.get("version"));
        url.searchParams.set("version", "0");
        const response = await route.fetch({ url: url.href });
        const json = await response.json();
        if (version > 0) Object.assign(json.world, { [MARKUP]: value });
        await route.fulfill({ response, json });
      });
      await page.reload();
      await harmless(page, "world");
      const call = page.locator("article.call").last();
      const shown = await call.getByLabel("Arguments").textContent();
      assert.deepEqual(JSON.parse(shown), args);
      assert.equal(await call.locator(".patch li > code").first().textContent(), path);
      const row = page.getByRole("tree", { name: "World" }).locator(".tree-row.added");
      assert.equal(await row.locator("bdi.key").textContent(), MARKUP);
      await row.click();
      // Each key and each value runs in its own direction.
      const below = page.locator(".tree-row.added + .tree-row, .tree-row.added + .tree-row + .tree-row");
      await below.nth(1).waitFor();
      assert.deepEqual((await below.locator("bdi.key").allTextContents()).sort(), ["said", RTL].sort());
      assert.deepEqual((await below.locator("bdi.leaf").allTextContents()).sort(), [MARKUP, RTL].sort());
      await harmless(page, "unfolded world");
      await screenshot(page, `hostile-world-${viewport.width}`);
    }));

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
      await fits(page);
      await page.keyboard.press("j");
      await page.waitForURL(/turn=/);
    }));
}
