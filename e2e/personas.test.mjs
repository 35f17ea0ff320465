// Persona profiles: sliders that write their text, who is drawn from them, and how they differ.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const NEWCOMER = `${PROJECT}/personas/newcomer`;
const DIMENSIONS = { traits: 12, emotions: 5, attributes: 6 };
/** Of all attributes together: each has a weight. */
const OPTIONS = 23;

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

/** The lines of a saved profile. */
const saved = async (name) => {
  const { files } = await site.ask("GET", `${PROJECT}/personas/${name}`);
  return Object.values(files)[0].split("\n");
};

test("each slider moves its own number in the saved text, and its own curve", () =>
  site.visit(`${PROJECT}/personas/worried_parent`, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    const dimensions = page.locator(".dimensions");
    const all = dimensions.getByRole("slider");
    assert.equal(await all.count(), DIMENSIONS.traits + 2 * DIMENSIONS.emotions + OPTIONS);
    const traits = page.getByRole("region", { name: "Behaviour" }).getByRole("slider");
    const emotions = page.getByRole("region", { name: "Emotions" }).getByRole("slider");
    const weights = page.locator("fieldset.mixture").getByRole("slider");
    assert.deepEqual(
      [await traits.count(), await emotions.count(), await weights.count()],
      [DIMENSIONS.traits, 2 * DIMENSIONS.emotions, OPTIONS],
    );
    const curves = () =>
      page.locator(".dimension svg.plot path.first").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
    const labels = (sliders) => sliders.evaluateAll((inputs) => inputs.map((input) => input.getAttribute("aria-label")));
    const [before, drawn] = [await saved("worried_parent"), await curves()];
    assert.equal(drawn.length, DIMENSIONS.traits + DIMENSIONS.emotions);

    // No two numbers are the same, and the profile has none of them.
    const expected = new Map();
    const number = (first, i) => Number((first + 0.05 * i).toFixed(2));
    const key = (label) => label.replaceAll(" ", "_");
    for (const [i, label] of (await labels(traits)).entries()) {
      await slide(page, label, number(0.02, i));
      expected.set(key(label), `${number(0.02, i)}`);
    }
    const named = (await labels(emotions)).filter((label) => label.endsWith(", from")).map((label) => label.replace(", from", ""));
    for (const [i, label] of named.entries()) {
      await slide(page, `${label}, to`, number(0.71, i));
      await slide(page, `${label}, from`, number(0.03, i));
      expected.set(key(label), `[${number(0.03, i)}, ${number(0.71, i)}]`);
    }
    (await curves()).forEach((curve, i) => assert.notEqual(curve, drawn[i], `the curve of ${[...expected.keys()][i]}`));

    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("v2 is a draft").waitFor();
    const after = await saved("worried_parent");
    const line = /^ {2}(\w+): [\d[].*$/;
    const numbers = after.map((text) => line.exec(text)).filter(Boolean).map(([text, name]) => [name, text.split(": ")[1]]);
    assert.deepEqual(numbers.sort(), [...expected].sort());
    const rest = (lines) => lines.filter((text) => !line.test(text));
    assert.deepEqual(rest(after), rest(before), "nothing else has changed");
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

    // The last weight stays: somebody is drawn.
    await page.getByRole("tab", { name: "Profile" }).click();
    await sliders.nth(1).fill("0");
    assert.equal(await channel.getByRole("alert").count(), 0);
    await sliders.nth(0).fill("0");
    await channel.getByRole("alert").getByText("At least one option needs a weight above 0").waitFor();
    assert.equal(await sliders.nth(0).inputValue(), "0.6");
    await channel.getByText("100 %", { exact: true }).waitFor();
    await sliders.nth(1).fill("0.2");
    await channel.getByRole("alert").waitFor({ state: "detached" });
  }));

test("a user is drawn as the server draws it, and changes while a slider moves", () =>
  site.visit(`${PROJECT}/personas/busy_professional`, async (page) => {
    const sample = page.getByRole("complementary", { name: "Sample user" });
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
    // What is shown of both is what their texts say.
    const cells = async (name) => {
      const row = rows.filter({ has: page.getByRole("rowheader", { name, exact: true }) });
      return (await row.getByRole("cell").allInnerTexts()).slice(0, 3);
    };
    const says = async (profile, name) => {
      const line = (await saved(profile)).find((text) => text.startsWith(`  ${name}: `));
      return line.match(/[\d.]+/g).map(Number);
    };
    const [[ours], [theirs]] = [await says("newcomer", "assertiveness"), await says("busy_professional", "assertiveness")];
    const difference = ours - theirs;
    const signed = `${difference < 0 ? "-" : "+"}${Math.abs(difference).toFixed(2)}`;
    assert.deepEqual(await cells("assertiveness"), [ours.toFixed(2), theirs.toFixed(2), signed]);
    const range = async (profile) => (await says(profile, "confidence")).map((end) => end.toFixed(2)).join(" to ");
    assert.deepEqual((await cells("confidence")).slice(0, 2), [await range("newcomer"), await range("busy_professional")]);
    await screenshot(page, "persona-compare");
    await page.reload();
    await rows.first().waitFor();
  }));

test("a new profile begins in the middle of all dimensions", () =>
  site.visit(`${PROJECT}/personas`, async (page) => {
    await page.locator("table.documents tbody tr").first().waitFor();
    await screenshot(page, "personas");
    const model = page.locator("table.documents tbody tr", { hasText: "The persona model" });
    assert.equal(await model.getByRole("button").count(), 0, "no profile could be read without the model");
    assert.equal(await page.getByRole("button", { name: "Delete newcomer" }).count(), 1);
    await model.getByRole("link").click();
    await page.getByRole("button", { name: "Save draft" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
    await page.goBack();
    await page.getByRole("button", { name: "New persona" }).click();
    const dialog = page.getByRole("dialog", { name: "New persona" });
    await dialog.getByLabel("Name").fill("night_owl");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/personas/night_owl");
    await slide(page, "patience", 0.9);
    await page.getByRole("button", { name: "Save and promote" }).click();
    await page.getByText("v2 is promoted", { exact: true }).waitFor();
  }));

test("a project without a persona model gets one with its first profile, and takes the demo, too", async () => {
  await site.ask("POST", "/projects", { name: "bare" });
  await site.visit("/projects/bare/personas", async (page) => {
    await page.getByRole("button", { name: "New persona" }).click();
    const dialog = page.getByRole("dialog", { name: "New persona" });
    await dialog.getByLabel("Name").fill("night_owl");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/personas/night_owl");
    await slide(page, "patience", 0.9);
    await page.getByText("No problems found.").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Save and promote" }).click();
    await page.getByText("v2 is promoted", { exact: true }).waitFor();

    // What is offered to a project that has documents is done, and leaves them as they are.
    await page.goto("/projects/bare/scenarios");
    await page.getByRole("button", { name: "Load the demo documents" }).click();
    await page.locator("table.documents tbody tr").first().waitFor();
    const { files, saved } = await site.ask("GET", "/projects/bare/personas/night_owl");
    assert.equal(saved.version, 2);
    assert.match(Object.values(files)[0], /^ {2}patience: 0\.9$/m);
    await page.goto("/projects/bare");
    await page.getByRole("button", { name: "Play the demo" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
  }, { expected: [/status of 404/] });
});

test("a profile that waits for a persona model leads to one", async () => {
  await site.ask("POST", "/projects", { name: "lone" });
  const { files } = await site.ask("GET", `${PROJECT}/personas/careful_pensioner`);
  await site.ask("PUT", "/projects/lone/personas/careful_pensioner", { files });
  await site.visit("/projects/lone/personas/careful_pensioner", async (page) => {
    await page.getByText("The project has no persona model.").waitFor();
    await screenshot(page, "persona-no-model");
    await page.getByRole("button", { name: "Add the one that ships with Groundstate" }).click();
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    await site.ask("GET", "/projects/lone/personas/model");
  }, { expected: [/status of 404/] });
});

test("a profile fits a narrow, dark screen", () =>
  site.visit(NEWCOMER, async (page) => {
    await page.getByRole("heading", { name: "Behaviour" }).waitFor();
    await screenshot(page, "persona-narrow");
    await fits(page);
  }, NARROW_DARK));
