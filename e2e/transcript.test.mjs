// What happens beside the talk between user and agent: sub-agents, the user's own tools, planned faults.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fits, screenshot } from "./support/browser.mjs";
import { Site } from "./support/story.mjs";

/** Plays one scenario and looks at its conversation. */
async function conversation({ playbook, scenario }, look) {
  const site = new Site({ seed: 1, playbook, args: ["--scenario", scenario] });
  const first = async (page) => {
    await page.locator("table.rows tbody tr").first().getByRole("link").click();
    await page.getByRole("tab", { name: "Conversations" }).click();
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    await page.locator("table.rows tbody tr").first().getByRole("link").click();
    await page.locator(".bubble.user").first().waitFor();
    await look(page);
    await fits(page);
  };
  try {
    await site.start();
    await site.visit("/", first);
  } finally {
    await site.stop();
  }
}

test("what a sub-agent did stands within its call and can be folded away", () =>
  conversation({ playbook: "crm_assistant", scenario: "book_board_meeting_with_coffee" }, async (page) => {
    const branch = page.locator("details.branch").first();
    const inner = branch.locator("article.call").first();
    await inner.waitFor();
    assert.ok(await inner.isVisible());
    await screenshot(page, "sub-agent");
    await branch.locator("summary").first().press("Enter");
    assert.equal(await inner.isVisible(), false);
  }));

test("what the user did by itself is told from what the agent did", () =>
  conversation({ playbook: "telecom_support", scenario: "airplane_mode_after_flight" }, async (page) => {
    const users = page.locator("article.call", { hasText: "The user calls" });
    assert.ok((await users.count()) > 0, "the user calls its tools");
    await screenshot(page, "user-tools");
  }));

test("a planned fault is named where it happened", () =>
  conversation({ playbook: "telecom_support", scenario: "refuel_answer_cut_off" }, async (page) => {
    await page.getByText(/planned fault: /).first().waitFor();
    await screenshot(page, "fault");
  }));
