// Persona profiles: sliders that write their text, who is drawn from them, and how they differ.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const NEWCOMER = `${PROJECT}/personas/newcomer`;
const DIMENSIONS = { traits: 12, emotions: 5, attributes: 6 };

const site = story({ demo: true });

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
  site.visit(NEWCOMER, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    const plots = page.locator(".dimension svg.plot");
    assert.equal(await plots.count(), DIMENSIONS.traits + DIMENSIONS.emotions);
    const mixtures = page.locator("fieldset.mixture");
    assert.equal(await mixtures.count(), DIMENSIONS.attributes);
    assert.equal(await mixtures.locator("svg.plot.shares").count(), DIMENSIONS.attributes);
    const patience = page.locator(".dimension", { has: page.getByRole("slider", { name: "patience", exact: true }) });
    assert.match(await patience.locator("svg").getAttribute("aria-label"), /^low 0 %, medium 50 %, high 50 %/);
    await screenshot(page, "persona");
  }));

test("a slider changes the text where the value stands, and nothing else", () =>
  site.visit(NEWCOMER, async (page) => {
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

test("weights of an attribute are sliders: their shares are told, and what has none is left out of the text", () =>
  site.visit(NEWCOMER, async (page) => {
    const before = await source(page);
    await page.getByRole("tab", { name: "Profile" }).click();
    const channel = page.locator("fieldset.mixture", { hasText: /^channel/ });
    await channel.getByRole("combobox").selectOption("a mixture");
    const sliders = channel.getByRole("slider");
    const n = await sliders.count();
    assert.ok(n > 1);
    for (let i = 0; i < n; i += 1) await sliders.nth(i).fill(i === 0 ? "0.6" : i === 1 ? "0.2" : "0");
    await channel.getByText("75 %", { exact: true }).waitFor();
    await channel.getByText("25 %", { exact: true }).waitFor();
    const bar = channel.locator("svg.plot.shares");
    assert.equal(await bar.locator("rect").count(), 2);
    assert.match(await bar.getAttribute("aria-label"), /75 %.*25 %|25 %.*75 %/);
    const [first, second] = await sliders.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    const option = (label) => label.replace("Weight of ", "").replaceAll(" ", "_");
    const after = await source(page);
    const line = /^ {2}channel: \{(.*)\}$/m;
    const weights = [[option(first), "0.6"], [option(second), "0.2"]].sort().map(([name, weight]) => `${name}: ${weight}`);
    assert.equal(line.exec(after)[1].split(", ").sort().join(", "), weights.join(", "));
    assert.equal(after.replace(line, ""), before.replace(/^ {2}channel: .*$/m, ""), "nothing else has changed");
  }));

test("a user is drawn as the server draws it, and changes while a slider moves", () =>
  site.visit(`${PROJECT}/personas/busy_professional`, async (page) => {
    const sample = page.getByRole("complementary", { name: "A user drawn from it" });
    await sample.getByLabel("Seed").fill("7");
    await sample.getByLabel("Intent").selectOption("card_dispute");
    const drawn = await site.ask("GET", `${PROJECT}/personas/busy_professional/sample?seed=7&intent=card_dispute`);
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
    await page.waitForURL(/seed=8/);
    assert.equal(await sample.getByLabel("Seed").inputValue(), "8");
    // A link shows the same user.
    const shownNow = await told();
    await page.goto(page.url());
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    assert.equal(await sample.getByLabel("Intent").inputValue(), "card_dispute");
    assert.equal(await sample.getByLabel("Seed").inputValue(), "8");
    assert.deepEqual(await told(), shownNow, "of the draft, which the browser keeps");
  }));

test("two profiles are compared side by side, and the address says which", () =>
  site.visit(`${NEWCOMER}?tab=compare`, async (page) => {
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
  site.visit(`${PROJECT}/personas`, async (page) => {
    await page.locator("table.documents tbody tr").first().waitFor();
    await screenshot(page, "personas");
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
  site.visit(NEWCOMER, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    await screenshot(page, "persona-narrow");
    await fits(page);
  }, NARROW_DARK));
