// Persona profiles: sliders that write their text, who is drawn from them, and how they differ.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { overflows, screenshot, startBrowser, visit as open } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

const NEWCOMER = "/projects/default/personas/newcomer";
const DIMENSIONS = { traits: 12, emotions: 5, attributes: 6 };

let server;
let browser;
let storageState;

before(async () => {
  server = await startServer({ n: 1, seed: 3 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
  await visit("/projects/default/personas", async (page) => {
    const rows = page.locator("table.documents tbody tr");
    const fill = page.getByRole("button", { name: "Load the demo documents" });
    await rows.first().or(fill).waitFor();
    if (await fill.isVisible()) {
      await fill.click();
      await rows.first().waitFor({ timeout: 60_000 });
    }
    await screenshot(page, "personas");
  });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

function visit(address, look, options = {}) {
  const ready = async (page) => {
    page.setDefaultTimeout(20_000);
    page.on("dialog", (dialog) => dialog.accept());
    await look(page);
  };
  return open(browser, `${server.url}${address}`, ready, { storageState, ...options });
}

/** Moves a slider, as a mouse does. */
async function slide(page, name, value) {
  const slider = page.getByRole("slider", { name, exact: true });
  await slider.waitFor();
  await slider.fill(`${value}`);
}

const source = async (page) => {
  await page.getByRole("tab", { name: "Source" }).click();
  const content = page.locator("#panel-source .cm-content");
  await content.waitFor();
  return content.innerText();
};

test("all dimensions can be set, and have their distributions", () =>
  visit(NEWCOMER, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    const plots = page.locator(".dimension svg.plot");
    assert.equal(await plots.count(), DIMENSIONS.traits + DIMENSIONS.emotions);
    assert.equal(await page.locator("fieldset.mixture").count(), DIMENSIONS.attributes);
    const patience = page.locator(".dimension", { has: page.getByRole("slider", { name: "patience", exact: true }) });
    assert.match(await patience.locator("svg").getAttribute("aria-label"), /^low 0 %, medium 50 %, high 50 %/);
    await screenshot(page, "persona");
  }));

test("a slider changes the text where the value stands, and nothing else", () =>
  visit(NEWCOMER, async (page) => {
    await slide(page, "patience", 0.25);
    await slide(page, "trust, from", 0.9);
    await page.getByRole("combobox", { name: "channel", exact: true }).selectOption("always phone transcript");
    await page.getByText("not saved").first().waitFor();
    const text = await source(page);
    assert.match(text, /^ {2}patience: 0\.25$/m);
    assert.match(text, /^ {2}trust: \[0\.9, 0\.9\]$/m);
    assert.match(text, /^ {2}channel: \{phone_transcript: 1\.0\}$/m);
    assert.match(text, /^# Base values in \[0, 1\]; each persona is drawn around them\.$/m);
    await page.getByText("No problems found.").waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("v2 is a draft").waitFor();
    await page.getByRole("tab", { name: "Profile" }).click();
    assert.equal(await page.getByRole("slider", { name: "patience", exact: true }).inputValue(), "0.25");
  }));

test("a user is drawn as the server draws it, and changes while a slider moves", () =>
  visit("/projects/default/personas/busy_professional", async (page) => {
    const sample = page.getByRole("complementary", { name: "A user drawn from it" });
    await sample.getByLabel("Seed").fill("7");
    await sample.getByLabel("Intent").selectOption("card_dispute");
    const address = "/api/v1/projects/default/personas/busy_professional/sample?seed=7&intent=card_dispute";
    const drawn = await page.evaluate(async (address) => (await fetch(address)).json(), address);
    const expected = { ...drawn.persona.traits, ...drawn.persona.emotions };
    const shown = await sample.locator(".numbers > div").evaluateAll((rows) =>
      Object.fromEntries(rows.map((row) => [row.children[0].textContent.replaceAll(" ", "_"), Number(row.children[1].textContent)])),
    );
    assert.deepEqual(shown, expected);
    const told = () => sample.locator(".guidance li").allInnerTexts();
    assert.deepEqual(await told(), drawn.guidance);
    await screenshot(page, "persona-sample");
    await slide(page, "politeness", 0);
    await sample.getByText("You skip greetings and thanks").waitFor();
    await sample.getByRole("button", { name: "Another" }).click();
    assert.equal(await sample.getByLabel("Seed").inputValue(), "8");
  }));

test("two profiles are compared side by side, and the address says which", () =>
  visit(`${NEWCOMER}?tab=compare`, async (page) => {
    await page.getByLabel("Compare with").selectOption("busy_professional");
    await page.waitForURL("**with=busy_professional*");
    const rows = page.locator("table.comparison tbody tr");
    await rows.first().waitFor();
    assert.equal(await rows.count(), DIMENSIONS.traits + DIMENSIONS.emotions + DIMENSIONS.attributes);
    assert.ok((await page.locator("table.comparison tr.far").count()) > 0);
    await screenshot(page, "persona-compare");
    await page.reload();
    await rows.first().waitFor();
  }));

test("a new profile begins in the middle of all dimensions", () =>
  visit("/projects/default/personas", async (page) => {
    await page.getByRole("button", { name: "New persona" }).click();
    const dialog = page.getByRole("dialog", { name: "New persona" });
    await dialog.getByLabel("Name").fill("night_owl");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/personas/night_owl");
    await slide(page, "patience", 0.9);
    await page.getByRole("button", { name: "Save and promote" }).click();
    await page.getByText("v2 is used", { exact: true }).waitFor();
  }));

test("a profile fits a narrow, dark screen", () =>
  visit(NEWCOMER, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    await screenshot(page, "persona-narrow");
    assert.equal(await overflows(page), false);
  }, { viewport: { width: 360, height: 740 }, colorScheme: "dark" }));
