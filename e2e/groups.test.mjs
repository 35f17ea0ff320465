// Groups of a run: how their rewards are spread, and the best beside the worst.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW_DARK, WIDE, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const SCENARIO = "transfer_rent_to_payee";
const ENVIRONMENT = { playbooks: ["retail_bank"], scenarios: [SCENARIO], seed: 5 };

/** The run of a group whose agents come from outside: one does what the script says, one only ends, one is never heard of. */
async function prepare(site) {
  const scripted = await site.ask("POST", `${PROJECT}/runs`, { ...ENVIRONMENT, n: 1 });
  await site.until(`/runs/${scripted.id}`, (found) => found.state === "finished");
  const [played] = (await site.ask("GET", `/runs/${scripted.id}/conversations`)).items;
  const { events } = await site.ask("GET", `/conversations/${played.id}`);
  const words = events.map(({ event }) => event.agent_spoke).filter(Boolean);
  const order = { environment: ENVIRONMENT, scenario: SCENARIO, group: 0, samples: 3 };
  const [good, bad, gone] = await site.ask("POST", `${PROJECT}/episodes`, order);
  for (const { content, tool_calls } of words) {
    await site.ask("POST", `/episodes/${good.id}/messages`, { content, tool_calls });
  }
  await site.ask("POST", `/episodes/${bad.id}/verify`, {});
  await site.ask("DELETE", `/episodes/${gone.id}`);
  site.run = good.run;
}

const site = story({ demo: true, prepare, ...WIDE });

test("the samples of a group are told apart, and the best stands beside the worst", () =>
  site.visit(`${PROJECT}/runs/${site.run}?tab=groups`, async (page) => {
    const group = page.locator(".groups > li");
    await group.getByText("50 % solved").waitFor();
    assert.deepEqual(await group.locator(".sample").allInnerTexts(), ["1", "0", "–"]);
    await group.getByText("standard deviation of the rewards 0.71").waitFor();
    await page.getByText("Samples without a reward").waitFor();
    await fits(page);
    await screenshot(page, "groups");

    await page.getByLabel("Show").selectOption("Groups whose rewards are all the same, or that have none");
    await page.getByText("No groups.").waitFor();
    await page.getByLabel("Show").selectOption("Groups whose rewards differ, or may still differ");
    await group.getByText(SCENARIO).waitFor();

    // What was solved sometimes is played again: the form says so, and previews it.
    await page.getByRole("link", { name: "Play the scenarios that were solved sometimes" }).click();
    assert.equal(await page.getByLabel("In the run").inputValue(), site.run);
    assert.equal(await page.getByLabel("At most").inputValue(), "0.9");
    const preview = page.getByRole("complementary", { name: "Preview" });
    await preview.getByText("Scenarios: 1").waitFor();
    await preview.getByText(SCENARIO).waitFor();
    await page.getByLabel("At least").fill("0.8");
    await page.getByText("no scenario of the order has a solve rate from 0.8 to 0.9 in that run").first().waitFor();
    await fits(page);
    await screenshot(page, "solve-rates");
    // What was typed is a step of its own in the browser's history.
    await page.goBack();
    await page.waitForURL(/solved_from=0\.1/);
    await page.goBack();
    await group.getByText("50 % solved").waitFor();

    await page.getByRole("link", { name: "Compare the best with the worst" }).click();
    await page.getByText("They have the first turn in common").waitFor();
    const [one, other] = [0, 1].map((nth) => page.locator(".side-by-side > section").nth(nth));
    await one.getByText("every check holds").waitFor();
    await other.getByText("a check fails").waitFor();
    await other.getByText("The agent's program ended the episode.").waitFor();
    await fits(page);
    await screenshot(page, "compare");
    await page.getByRole("link", { name: "Groups", exact: true }).click();
    await group.getByText("50 % solved").waitFor();
  }, { expected: [/status of 422/] }));

test("groups and comparisons fit a narrow screen in the dark", () =>
  site.visit(
    `${PROJECT}/runs/${site.run}?tab=groups`,
    async (page) => {
      await page.locator(".groups > li").getByText("50 % solved").waitFor();
      await fits(page);
      await screenshot(page, "groups-narrow");
      await page.getByRole("link", { name: "Compare the best with the worst" }).click();
      await page.getByText("every check holds").waitFor();
      await fits(page);
    },
    NARROW_DARK,
  ));
