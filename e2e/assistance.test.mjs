// The editor as the app uses it: what it offers and explains comes from the server's schema and the project's names, and
// each file is read in its own language.

import assert from "node:assert/strict";
import { test } from "node:test";

import { screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const SCENARIO = "dispute_duplicate_cafe";

const site = story({ demo: true });

const content = (page) => page.locator("#panel-source .cm-content");
const labels = (page) => page.locator(".cm-tooltip-autocomplete .cm-completionLabel");

/** Puts a text in place of what stands there and opens what may follow. */
async function offersAfter(page, typed) {
  await content(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(typed);
  await page.keyboard.press("Control+Space");
  await labels(page).first().waitFor();
  return labels(page).allInnerTexts();
}

for (const [kind, address, shape] of [
  ["scenario", `/scenarios/${SCENARIO}`, "scenario"],
  ["persona", "/personas/newcomer?tab=source", "persona"],
  ["judge", "/judges/default", "judge"],
  ["playbook", "/playbooks/retail_bank", "playbook"],
]) {
  test(`the fields of a ${kind} are completed from the server's schema, with what they mean`, async () => {
    const { properties } = await site.ask("GET", `/schemas/${shape}`);
    await site.visit(`${PROJECT}${address}`, async (page) => {
      await content(page).waitFor();
      await page.locator(".cm-line").first().waitFor();
      const offered = await offersAfter(page, "");
      assert.deepEqual([...offered].sort(), Object.keys(properties).sort());
      const [described, { description }] = Object.entries(properties).find(([, { description }]) => description);
      await offersAfter(page, described);
      const words = description.split(/\s+/).slice(0, 4).join(" ");
      await page.locator(".cm-completionInfo").getByText(words, { exact: false }).waitFor();
      await screenshot(page, `completion-${kind}`);
    });
  });
}

test("tools and intents that the playbook has are offered where a scenario names them", async () => {
  const { files } = await site.ask("GET", `${PROJECT}/playbooks/retail_bank`);
  const yaml = Object.entries(files).find(([name]) => name.endsWith("playbook.yaml"))[1];
  await site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await page.locator(".cm-line").first().waitFor();
    const intents = await offersAfter(page, "playbook: retail_bank\nintent: ");
    assert.ok(intents.includes("card_dispute") && /card_dispute/.test(yaml), `${intents}`);
    const typed = "playbook: retail_bank\nscript:\n  - calls:\n      - tool: ";
    const tools = await offersAfter(page, typed);
    assert.ok(tools.includes("open_dispute") && tools.includes("verify_identity"), `${tools}`);
    assert.ok(!tools.includes("card_dispute"), "an intent is no tool");
  });
});

test("a field of a scenario says what the schema says of it when it is pointed at", async () => {
  const { properties } = await site.ask("GET", "/schemas/scenario");
  await site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    const key = page.locator("#panel-source .cm-line span", { hasText: /^playbook$/ }).first();
    await key.hover();
    const help = page.locator(".cm-schema");
    await help.waitFor();
    const told = (await help.innerText()).replace(/\s+/g, " ");
    assert.ok(told.startsWith("playbook"), told);
    assert.ok(properties.playbook.description && told.includes(properties.playbook.description.replace(/\s+/g, " ").slice(0, 40)), told);
    await screenshot(page, "hover-scenario");
  });
});

test("each file of a playbook is read in the language of its ending", async () => {
  const { files } = await site.ask("GET", `${PROJECT}/playbooks/retail_bank`);
  const ending = (end) => Object.keys(files).find((name) => name.endsWith(end));
  await site.visit(`${PROJECT}/playbooks/retail_bank`, async (page) => {
    // Whoever leaves while the app is still loading is told by the console that its loading was aborted.
    await page.getByRole("textbox", { name: ending("playbook.yaml") }).waitFor();
    // What only that language takes for a word of its own, or for the name of a field.
    for (const [end, word] of [
      ["playbook.yaml", "name"],
      [".star", "def"],
      ["prompt.md.j2", "for"],
    ]) {
      await page.goto(`${PROJECT}/playbooks/retail_bank?file=${encodeURIComponent(ending(end))}`);
      await page.getByRole("textbox", { name: ending(end) }).waitFor();
      await page.locator("#panel-source .cm-line span[class]", { hasText: new RegExp(`^${word}$`) }).first().waitFor();
    }
  });
});
