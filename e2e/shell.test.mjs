// The last run and one of its conversations, as a reader sees them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const PLANNED = 6;
const CRITERIA = 8;

const site = story({ n: PLANNED, seed: 3 });

/** The rows of the list, once they are there. */
async function listed(page) {
  const rows = page.locator("table.rows tbody tr");
  await rows.first().waitFor();
  return rows;
}

/** Opens the newest run, from the list of runs. */
async function openRun(page) {
  await (await listed(page)).first().getByRole("link").click();
  await page.waitForURL("**/runs/*");
  await page.getByRole("tab", { name: "Conversations" }).click();
  await page.getByRole("heading", { name: "Conversations" }).waitFor();
  return listed(page);
}

test("the first page leads to the project, its runs and their conversations", () =>
  site.visit("/", async (page) => {
    await page.waitForURL(`**${PROJECT}`);
    assert.equal(await (await listed(page)).count(), 1);
    const rows = await openRun(page);
    assert.equal(await rows.count(), PLANNED);
    const strip = await page.locator("dl.strip").innerText();
    assert.match(strip, /retail_bank/);
    assert.match(strip, new RegExp(`${PLANNED} of ${PLANNED}`));
    assert.equal(await page.title(), "Run of retail_bank · Groundstate");
    await screenshot(page, "run");
  }));

test("a conversation shows its bubbles, its tool calls and its scores", () =>
  site.visit("/", async (page) => {
    const rows = await openRun(page);
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
  site.visit("/", async (page) => {
    const rows = await openRun(page);
    await rows.first().getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/conversations/*");
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Run", exact: true }).press("Enter");
    await page.waitForURL("**/runs/*");
    await page.getByRole("tab", { name: "Conversations" }).waitFor();
    await page.goBack();
    await page.locator(".bubble").first().waitFor();
  }));

test("keys lead to the pages, and a question mark shows them", () =>
  site.visit("/", async (page) => {
    await listed(page);
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard" });
    await dialog.getByText("Go to: Runs").waitFor();
    await screenshot(page, "keyboard");
    // What stands behind it waits.
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await dialog.getByText("Go to: Runs").waitFor();
    assert.match(page.url(), /\/runs$/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  }));

test("the theme that is chosen is kept", () =>
  site.visit("/", async (page) => {
    await listed(page);
    const canvas = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await canvas();
    await page.getByLabel("Theme").selectOption("dark");
    await page.waitForFunction((light) => getComputedStyle(document.body).backgroundColor !== light, light);
    const dark = await canvas();
    await page.reload();
    await listed(page);
    assert.equal(await canvas(), dark);
  }));

test("a conversation has an address of its own, and fits a narrow, dark screen", async () => {
  let address;
  await site.visit("/", async (page) => {
    const rows = await openRun(page);
    address = await rows.first().getByRole("link").getAttribute("href");
  });
  await site.visit(
    `/conversations/${address.split("/").at(-1)}`,
    async (page) => {
      await page.locator(".bubble.user").first().waitFor();
      assert.equal(new URL(page.url()).pathname, address);
      await fits(page);
      await screenshot(page, "conversation-narrow");
      await page.getByRole("button", { name: "Menu" }).click();
      await accessible(page);
      await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Runs" }).click();
      await openRun(page);
      await fits(page);
      await screenshot(page, "run-narrow");
    },
    NARROW_DARK,
  );
});

test("an unknown conversation says what to do", () =>
  site.visit(
    `${PROJECT}/conversations/00000000-0000-7000-8000-000000000000`,
    async (page) => {
      const alert = page.getByRole("alert");
      await alert.waitFor();
      assert.match(await alert.innerText(), /choose from a list/);
      await alert.getByRole("button", { name: "Try again" }).waitFor();
      await screenshot(page, "conversation-missing");
    },
    // Chromium itself reports the answer 404.
    { expected: [/status of 404/] },
  ));

test("an address that leads nowhere says so", () =>
  site.visit("/nowhere", async (page) => {
    await page.getByRole("heading", { name: "There is no page at this address." }).waitFor();
  }));
