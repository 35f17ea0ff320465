// Environments: stored by a form, played by copied commands, and what their rewards come to.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, WIDE, fits, screenshot, unbroken } from "./support/browser.mjs";
import { percent } from "./support/format.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { terminal } from "./support/terminal.mjs";

const SCENARIO = "transfer_rent_to_payee";
const COPIES = { permissions: ["clipboard-read", "clipboard-write"] };
const REFUSED = { expected: [/status of 422/] };
/** What each tab says that no other one does. */
const TABS = {
  REST: "/episodes/$EPISODE/verify",
  Python: "from openai import OpenAI",
  TRL: "OpenRewardSpec(",
  OpenEnv: "/openenv/default/bank",
  verifiers: "--env.taskset.environment bank",
  MCP: "episode.mcp_url",
  "Your own agent": "--environment bank -n 24",
};

const site = story({ n: 1, seed: 3, demo: true, ...WIDE });

const region = (page, name) => page.getByRole("region", { name, exact: true });
const stored = async (name) => {
  const all = await site.ask("GET", `${PROJECT}/environments`);
  return all.find((one) => one.name === name)?.environment;
};

/** What the button beside a command puts into the clipboard. */
async function copied(page, label) {
  const command = page.locator(".copyable", { has: page.getByLabel(label, { exact: true }) });
  const text = await command.locator("code").textContent();
  await command.getByRole("button", { name: "Copy" }).click();
  await page.waitForFunction(async (text) => (await navigator.clipboard.readText().catch(() => "")) === text, text);
  return text;
}

// The tests below are one story: each begins where the one before ended.

/** A field of the form, and not the part of it that has the same name. */
const field = (page, label) => page.locator("input, textarea, select").and(page.getByLabel(label));

test("without environments the list says what they are, and leads to the form and to the playbooks", () =>
  site.visit(PROJECT, async (page) => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.getByRole("heading", { name: "Environments", level: 1 }).waitFor();
    await page.getByRole("heading", { name: "No environments yet." }).waitFor();
    await region(page, "Playbooks").getByRole("link", { name: "retail_bank" }).waitFor();
    await screenshot(page, "environments-none");
    await page.getByRole("main").getByRole("link", { name: "New environment" }).first().click();
    await page.getByRole("heading", { name: "New environment", level: 1 }).waitFor();
  }));

test("an environment is stored by a form, which says at each field what is wrong", () =>
  site.visit(`${PROJECT}/new-environment`, async (page) => {
    const save = page.getByRole("button", { name: "Save" });
    const wrong = (text) => page.locator(".field .wrong").getByText(text).waitFor();
    await page.getByRole("group", { name: "Playbooks" }).getByText("Retail bank customer service").click();
    await save.click();
    await wrong("Enter a name first.");
    await field(page, /^Name/).fill("env");
    await field(page, /^Scenarios/).fill(`${SCENARIO}\nno_such_scenario`);
    await save.click();
    await wrong("an environment is not called `env`");
    await field(page, /^Name/).fill("bank");
    await field(page, /^Tasks of each scenario/).fill("20000");
    await save.click();
    await wrong("must be from 1 to 10000");
    await wrong("no_such_scenario");
    await fits(page);
    await screenshot(page, "environment-refused");
    await accessible(page);
    await field(page, /^Scenarios/).fill(SCENARIO);
    await field(page, /^Tasks of each scenario/).fill("8");
    await field(page, /^As JSON/).fill('{"groups": 3}');
    await save.click();
    await wrong("the others have fields above");
    await field(page, /^As JSON/).fill('{"temperatures": {"simulated_user": 0.5}}');
    await save.click();
    await page.waitForURL(/\/environments\/bank$/);
    await page.getByRole("heading", { name: "bank", level: 1 }).waitFor();
    const expected = { playbooks: ["retail_bank"], scenarios: [SCENARIO], groups: 8, temperatures: { simulated_user: 0.5 } };
    assert.deepEqual(await stored("bank"), expected);
  }, REFUSED));

test("another environment does not take its place", () =>
  site.visit(`${PROJECT}/new-environment`, async (page) => {
    await field(page, /^Name/).fill("bank");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".field .wrong").getByText("exists already").waitFor();
    assert.equal((await stored("bank")).groups, 8);
  }));

test("the page says what is played, and each way to connect names the server and the environment", () =>
  site.visit(`${PROJECT}/environments/bank`, async (page) => {
    const facts = page.locator("main dl.strip");
    await facts.getByText("8, 8 of each scenario").waitFor();
    await facts.getByText("train and golden").waitFor();
    await region(page, "Episodes").getByText("No episodes yet.").waitFor();
    for (const [tab, says] of Object.entries(TABS)) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      const panel = page.getByRole("tabpanel");
      await panel.getByText(says).first().waitFor();
      assert.ok((await panel.innerText()).includes(site.url), `${tab} does not name the server`);
      await fits(page, tab);
    }
    await screenshot(page, "environment");
    await accessible(page);
    await page.getByRole("tab", { name: "Your own agent" }).press("ArrowRight");
    await page.getByRole("tabpanel", { name: "REST" }).waitFor();
    await region(page, "Connect").getByRole("link", { name: "Make a token" }).click();
    await page.getByRole("heading", { name: "Tokens", level: 1 }).waitFor();
  }));

test("copied commands open an episode, speak in it and end it, and the page shows the rewards", async () => {
  const { secret } = await site.ask("POST", "/tokens", { name: "trainer", scopes: ["run"] });
  const shell = await terminal(site, { GROUNDSTATE_TOKEN: secret });
  const look = async (page) => {
    const open = await copied(page, "Open an episode");
    const opened = async () => JSON.parse(await shell.paste(open))[0];
    const paste = async (label, { id }) => JSON.parse(await shell.paste(`EPISODE=${id}\n${await copied(page, label)}`));
    const spoken = await opened();
    assert.deepEqual([spoken.scenario, spoken.state], [SCENARIO, "waiting"]);
    const sent = await paste("Send a message of the agent", spoken);
    assert.equal(sent.messages[0].content, "Good day, how can I help?");
    const { reward } = (await paste("End the episode", spoken)).result;
    // One whose agent does nothing, one that it gives up, and one that stays open.
    const idle = await opened();
    const { result } = await paste("End the episode", idle);
    assert.equal(result.reward, 0, result.reason);
    const gone = await opened();
    await site.ask("DELETE", `/episodes/${gone.id}`);
    const { run } = await opened();
    await site.until(`/runs/${run}/groups/summary`, ({ groups, finished }) => groups === 4 && finished === 3);

    const scored = [reward, result.reward].filter((reward) => reward !== null);
    const solved = percent(scored.reduce((sum, reward) => sum + reward, 0) / scored.length);
    const episodes = region(page, "Episodes");
    await episodes.getByText("1 open, 3 ended").waitFor();
    await episodes.getByText(`${solved} solved, ${3 - scored.length} without a reward`).waitFor();
    await screenshot(page, "environment-episodes");
    await episodes.getByRole("link", { name: /^Run of/ }).click();

    const groups = page.locator(".groups > li");
    await groups.nth(3).getByText("no rewards yet").waitFor();
    await groups.nth(2).getByText("All samples failed through no fault of the agent. To blame: infrastructure.").waitFor();
    await page.getByLabel("Show").selectOption("Groups whose rewards are all the same, or that have none");
    await page.waitForFunction(() => document.querySelectorAll(".groups > li").length === 3);
    await screenshot(page, "environment-groups");
    await groups.nth(1).locator(".sample").click();

    await page.waitForURL(`**/conversations/${idle.id}`);
    const shown = region(page, "Reward");
    await shown.getByText("A check of the verifier does not hold.").waitFor();
    for (const rule of Object.keys(result.reward_components)) {
      const words = { grounded: "grounded words" }[rule] ?? rule.replaceAll("_", " ");
      await shown.locator("dt").getByText(words, { exact: true }).waitFor();
    }
    await shown.locator("dl.pairs > div", { hasText: "Malformed calls" }).getByText("0", { exact: true }).waitFor();
    await screenshot(page, "reward");
    await page.goto(`${PROJECT}/conversations/${gone.id}`);
    await shown.getByText("The failure is not the agent's. To blame: infrastructure.").waitFor();
  };
  try {
    await site.visit(`${PROJECT}/environments/bank`, look, COPIES);
  } finally {
    await shell.close();
  }
});

test("what is changed is changed, and what the form has no field for stays", () =>
  site.visit(`${PROJECT}/environments/bank`, async (page) => {
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByRole("heading", { name: "Edit bank" }).waitFor();
    await field(page, /^Part/).selectOption("train");
    await field(page, /^Scenarios/).fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(/\/environments\/bank$/);
    await page.locator("main dl.strip").getByText("train", { exact: true }).waitFor();
    const expected = { playbooks: ["retail_bank"], split: "train", groups: 8, temperatures: { simulated_user: 0.5 } };
    assert.deepEqual(await stored("bank"), expected);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Environments" }).click();
    await page.getByRole("cell", { name: /in both parts, 8 tasks of each$/ }).waitFor();
    await screenshot(page, "environments");
  }));

test("a playbook is an environment by itself, which nobody edits", () =>
  site.visit(`${PROJECT}/environments`, async (page) => {
    await region(page, "Playbooks").getByRole("link", { name: "retail_bank" }).click();
    await page.getByRole("heading", { name: "retail_bank", level: 1 }).waitFor();
    await page.getByText('{"name": "retail_bank"}').waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete …" }).count(), 0);
    await page.goto(`${PROJECT}/environments/nobody`);
    await page.getByRole("heading", { name: "There is no environment with this name." }).waitFor();
  }));

test("on a narrow, dark screen everything fits", () =>
  site.visit(
    `${PROJECT}/environments/bank`,
    async (page) => {
      for (const tab of Object.keys(TABS)) {
        await page.getByRole("tab", { name: tab, exact: true }).click();
        await fits(page, tab);
      }
      await screenshot(page, "environment-narrow");
      await page.goto(`${PROJECT}/environments/bank/edit`);
      await page.getByRole("button", { name: "Save" }).waitFor();
      await fits(page, "the form");
      await screenshot(page, "environment-form-narrow");
    },
    NARROW_DARK,
  ));

test("a hostile name is shown as text, and quoted in what is copied", async () => {
  const name = `<img src=x onerror="window.broken=1">'; new`;
  await site.ask("PUT", `${PROJECT}/environments/${encodeURIComponent(name)}`, { playbooks: ["retail_bank"] });
  await site.visit(`${PROJECT}/environments`, async (page) => {
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.getByText(`'\\''; new`).first().waitFor();
    await unbroken(page, "the page of the environment");
  });
});

test("an environment is deleted after a question", () =>
  site.visit(`${PROJECT}/environments/bank`, async (page) => {
    await page.getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog", { name: "Delete bank?" }).getByRole("button", { name: "Delete it" }).click();
    await page.getByText("The environment was deleted.").waitFor();
    await page.waitForURL(/\/environments$/);
    assert.equal(await stored("bank"), undefined);
  }));
