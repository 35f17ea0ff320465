// The first start, in one go: the link that the server prints, a page that explains, a button, something to look at.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { fits, screenshot } from "./support/browser.mjs";
import { ADMINISTRATOR, choosePassword } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";

/** From the button to the first accepted conversation, on a busy machine, by a program that was not made fast. */
const SOON_MS = 30_000;
const DEMO = "24";

/** Nothing was ever played, and nobody was ever here. */
const site = story({ n: 0, administrated: false });

const figure = (page, name) => page.locator("dl.strip > div", { hasText: name }).locator("dd");

test("from the first link to a conversation that was played, within seconds", () =>
  site.stranger(site.server.link, async (page) => {
    await page.getByRole("heading", { name: "Welcome to Groundstate" }).waitFor();
    await choosePassword(page, ADMINISTRATOR);

    await page.waitForURL(`${site.url}${PROJECT}`);
    await page.getByRole("heading", { name: "No runs yet." }).waitFor();
    const picture = page.getByRole("img", { name: "From a scenario to training data" });
    await picture.waitFor();
    const words = await picture.locator("text").allTextContents();
    for (const word of [/scenario/i, /conversation/i, /world/i]) {
      assert.ok(words.some((text) => word.test(text)), `the picture says ${words}`);
    }
    assert.equal(await page.getByRole("main").getByRole("button").count(), 1, "there is one thing to do");
    await accessible(page);
    await fits(page);
    await screenshot(page, "first-start-empty");

    const begun = Date.now();
    await page.getByRole("button", { name: "Play the demo" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
    await figure(page, "Accepted").getByText(/^[1-9]/).waitFor();
    const took = Date.now() - begun;
    assert.ok(took < SOON_MS, `the first result was there after ${took} ms`);
    await figure(page, "Finished").getByText(`${DEMO} of ${DEMO}`).waitFor();
    await screenshot(page, "first-start-run");

    await page.getByRole("tab", { name: "Conversations" }).click();
    await page.locator("table.rows tbody a").first().click();
    await page.locator(".bubble.agent").first().waitFor();
    assert.ok((await page.locator("table.scores tbody tr").count()) > 0, "it is scored");
    await screenshot(page, "first-start-conversation");
  }));
