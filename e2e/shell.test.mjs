// The last run and one of its conversations, as a reader sees them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openPage, overflows, screenshot, startBrowser } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

const PLANNED = 6;
const CRITERIA = 8;

let server;
let browser;
let storageState;

before(async () => {
  server = await startServer({ n: PLANNED, seed: 3 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens an address, runs `look`, and fails if the console told of an error that is not expected. */
async function visit(address, look, { expected = [], ...options } = {}) {
  const { page, errors, close } = await openPage(browser, { storageState, ...options });
  try {
    await page.goto(`${server.url}${address}`);
    await look(page);
    const surprises = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    assert.deepEqual(surprises, [], "errors in the console");
  } catch (error) {
    await screenshot(page, "failed");
    throw error;
  } finally {
    await close();
  }
}

/** The rows of the list, once they are there. */
async function listed(page) {
  const rows = page.locator("table.rows tbody tr");
  await rows.first().waitFor();
  return rows;
}

async function firstAddress(page) {
  const rows = await listed(page);
  return rows.first().getByRole("link").getAttribute("href");
}

test("the first page shows the last run and its conversations", () =>
  visit("/", async (page) => {
    const rows = await listed(page);
    assert.equal(await rows.count(), PLANNED);
    const strip = await page.locator("dl.strip").innerText();
    assert.match(strip, /retail_bank/);
    assert.match(strip, new RegExp(`${PLANNED} of ${PLANNED}`));
    assert.equal(await page.title(), "Last run · Groundstate");
    await screenshot(page, "run");
  }));

test("a conversation shows its bubbles, its tool calls and its scores", () =>
  visit("/", async (page) => {
    const rows = await listed(page);
    await rows.first().getByRole("link").click();
    await page.waitForURL("**/conversations/*");
    await page.locator(".bubble.user").first().waitFor();
    assert.ok((await page.locator(".bubble.agent").count()) > 0, "the agent says something");

    const call = page.locator("article.call").first();
    assert.notEqual(await call.locator("h3 code").innerText(), "");
    assert.notEqual(await call.locator(".badge").innerText(), "no answer yet");
    assert.equal(await page.locator(".ending").count(), 1);

    assert.equal(await page.locator("table.scores tbody tr").count(), CRITERIA);
    assert.equal(await page.getByRole("meter").count(), CRITERIA);
    assert.match(await page.locator(".checks li").first().innerText(), /passed|failed/);
    const models = page.getByRole("region", { name: "Models" });
    assert.match(await models.innerText(), /scripted: no model/);
    await screenshot(page, "conversation");
  }));

test("a conversation is one link away from the keyboard, and the way back is another", () =>
  visit("/", async (page) => {
    const rows = await listed(page);
    await rows.first().getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/conversations/*");
    await page.getByRole("link", { name: "Last run" }).press("Enter");
    await listed(page);
    await page.goBack();
    await page.locator(".bubble").first().waitFor();
  }));

test("a conversation has an address of its own, and fits a narrow, dark screen", async () => {
  let address;
  await visit("/", async (page) => (address = await firstAddress(page)));
  const narrow = { viewport: { width: 360, height: 740 }, colorScheme: "dark" };
  await visit(
    address,
    async (page) => {
      await page.locator(".bubble.user").first().waitFor();
      assert.equal(await overflows(page), false);
      await screenshot(page, "conversation-narrow");
      await page.getByRole("link", { name: "Last run" }).click();
      await listed(page);
      assert.equal(await overflows(page), false);
      await screenshot(page, "run-narrow");
    },
    narrow,
  );
});

test("an unknown conversation says what to do", () =>
  visit(
    "/conversations/00000000-0000-7000-8000-000000000000",
    async (page) => {
      const alert = page.getByRole("alert");
      await alert.waitFor();
      assert.match(await alert.innerText(), /choose a conversation from the last run/);
      await alert.getByRole("button", { name: "Try again" }).waitFor();
      await screenshot(page, "conversation-missing");
    },
    // Chromium itself reports the answer 404.
    { expected: [/status of 404/] },
  ));

test("an address that leads nowhere says so", () =>
  visit("/nowhere", async (page) => {
    await page.getByRole("heading", { name: "There is no page at this address." }).waitFor();
  }));
