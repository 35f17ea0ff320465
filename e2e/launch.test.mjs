// Ordering a run, and following it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { count, duration, money, percent, words } from "./support/format.mjs";
import { startModel } from "./support/model.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { pairs } from "./support/tables.mjs";
import { terminal } from "./support/terminal.mjs";

const site = story({
  n: 6,
  seed: 3,
  demo: true,
  prepare: async (site) => {
    await site.ask("PUT", "/models/house", { replicas: ["http://127.0.0.1:9/v1"], model: "small-model" });
    await site.ask("PUT", "/models/second", { replicas: ["http://127.0.0.1:9/v1"], model: "another-model" });
  },
});

const look = (page) => page.getByRole("complementary", { name: "Preview" });
const rest = async (page) => {
  const details = look(page).locator("details");
  if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
  return details.locator("pre").innerText();
};

test("a run is ordered with a preview of what it will play, and started", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    await page.getByRole("link", { name: "New run" }).click();
    await page.waitForURL("**/runs/new");
    await look(page).getByText("24 conversations").waitFor();
    await screenshot(page, "launch");

    await page.getByRole("group", { name: "Playbooks" }).getByLabel(/bank/i).first().check();
    await page.getByLabel(/Only some/).check();
    await page.locator(".wrong").getByText("none is chosen: name at least one").waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("dispute");
    await page.getByRole("button", { name: /^Select the/ }).click();
    await look(page).getByRole("alert").waitFor({ state: "hidden" });
    await page.getByLabel("Conversations", { exact: true }).fill("7");
    await page.getByLabel(/^Seed/).fill("11");
    await look(page).getByText("7 conversations").waitFor();
    await page.getByRole("group", { name: "Persona profiles" }).getByLabel("newcomer").check();
    await look(page).getByText("Persona profiles: 1").waitFor();
    await page.getByLabel(/^Variant of the agent/).selectOption("orchestrator");
    await page.getByLabel(/^Model of finance/i).selectOption("scripted");
    const ordered = await rest(page);
    assert.match(ordered, /"variant": "orchestrator"/);
    assert.match(ordered, /"sub_agents": \{\s*"finance": "scripted"/);
    await page.getByLabel(/^Variant of the agent/).selectOption("");
    await page.getByLabel(/^Model of finance/i).selectOption("");
    const mix = page.getByRole("group", { name: "Complexity mix" });
    await mix.getByLabel("Vague").fill("0");
    await mix.locator(".wrong").getByText("must be a weight above 0").waitFor();
    await mix.getByLabel("Vague").fill("2.5");
    await mix.locator(".wrong").waitFor({ state: "detached" });
    const command = await rest(page);
    assert.match(command, /"complexity": \{\s*"vague": 2\.5\s*\}/);
    assert.match(command, /"n": 7/);
    assert.match(command, /"seed": 11/);
    assert.match(command, /"personas": \[\s*"newcomer"\s*\]/);
    const { secret } = await site.ask("POST", "/tokens", { name: "terminal", scopes: ["run"] });
    const shell = await terminal(site, { GROUNDSTATE_TOKEN: secret });
    const pasted = JSON.parse(await shell.paste(command)).id;
    await shell.close();
    await screenshot(page, "launch-chosen");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { name: "Run of retail_bank" }).waitFor();
    const { config } = await site.ask("GET", `/runs/${page.url().split("/").at(-1)}/config`);
    assert.deepEqual(config.personas, ["newcomer"]);
    const { scenarios } = JSON.parse(/--data '(.*)'$/s.exec(command)[1]);
    assert.ok(scenarios.length > 1 && scenarios.every((name) => name.includes("dispute")), `${scenarios}`);
    assert.deepEqual([...config.scenarios].sort(), [...scenarios].sort());
    await finished(page);
    const { items } = await site.ask("GET", `/runs/${page.url().split("/").at(-1)}/conversations`);
    assert.equal(items.length, 7);
    assert.ok(items.every(({ scenario, persona }) => scenarios.includes(scenario) && persona === "newcomer"));
    assert.deepEqual((await site.ask("GET", `/runs/${pasted}/config`)).config, config, "it is the same order");
  }, { expected: [/status of 422/] }));

/** Orders by the API and looks at the run's page. */
async function ordered(order, follow, options) {
  const { id } = await site.ask("POST", `${PROJECT}/runs`, order);
  const there = async (page) => {
    await page.locator("dl.strip").waitFor();
    await follow(page, id);
  };
  await site.visit(`${PROJECT}/runs/${id}`, there, options);
}

/** `given` is waited for until somebody calls `give`. */
function signal() {
  const made = {};
  made.given = new Promise((give) => Object.assign(made, { give }));
  return made;
}

const finished = (page) => page.locator("dl.strip dd").first().getByText("finished").waitFor();

test("a run is followed to its end without reloading: progress, yield, tokens, blame, forecast", () =>
  ordered({ playbooks: ["retail_bank"], n: 60, seed: 5, paused: true }, async (page) => {
    await page.locator("dl.strip").getByText("0 of 60").waitFor();
    const bar = page.getByRole("progressbar", { name: "Finished" });
    assert.equal(await bar.evaluate(({ value }) => value), 0);
    await page.getByRole("button", { name: "Resume" }).click();
    await finished(page);
    await page.locator("dl.strip").getByText("60 of 60").waitFor();
    assert.equal(await bar.evaluate(({ value }) => value), 1);
    const bars = page.locator("section[aria-labelledby=funnel] .bar");
    assert.equal(await bars.count(), 4);
    await page.waitForFunction(() =>
      [...document.querySelectorAll("section[aria-labelledby=funnel] .bar")].every((bar) => / ?\d/.test(bar.innerText)),
    );
    await page.locator("section[aria-labelledby=forecast]").getByText("95 % interval").waitFor();
    assert.match(await page.locator("section[aria-labelledby=spent]").innerText(), /scripted: no model/);
    await page.getByText("No model is asked").waitFor();
    await screenshot(page, "run-overview");
  }));

test("an endpoint that fails is shown to, and the other carries its calls", async () => {
  const [good, bad] = [await startModel("I can not say."), await startModel("", { status: 500 })];
  try {
    await site.ask("PUT", "/models/uneven", { replicas: [good.url, bad.url] });
    await ordered({ playbooks: ["retail_bank"], n: 24, seed: 4, models: { agent: "uneven" } }, async (page, id) => {
      const row = (url) => page.locator("section[aria-labelledby=endpoints] tbody tr", { hasText: url }).locator("td");
      await row(bad.url).first().getByText(/^(failing, not used|trying again)$/).waitFor();
      await finished(page);
      assert.equal(await row(good.url).first().innerText(), "healthy");
      const { replicas } = (await site.ask("GET", "/models")).find(({ name }) => name === "uneven");
      const [well, badly] = [good, bad].map(({ url }) => replicas.find((replica) => replica.url === url));
      assert.ok(well.ok > 0 && well.failed === 0 && badly.ok === 0 && badly.failed > 0, JSON.stringify(replicas));
      await row(good.url).nth(4).getByText(count(well.ok), { exact: true }).waitFor();
      await row(bad.url).nth(5).getByText(count(badly.failed), { exact: true }).waitFor();
      const { failures, finished: ended } = await site.ask("GET", `/runs/${id}`);
      assert.deepEqual([ended, failures.infrastructure ?? 0], [24, 0], JSON.stringify(failures));
      await screenshot(page, "run-failing-endpoint");
    });
  } finally {
    good.stop();
    bad.stop();
  }
});

test("who failed, what it cost, how its endpoints do and who its users were is as the API says", async () => {
  const model = await startModel("I can not say.");
  const personas = ["busy_professional", "newcomer"];
  const order = { playbooks: ["retail_bank"], n: 12, seed: 12, personas, models: { agent: "terse" }, paused: true };
  try {
    await site.ask("PUT", "/models/terse", { replicas: [model.url], price: { prompt: 2, completion: 8 } });
    await ordered(order, async (page, id) => {
      const blame = page.locator("section[aria-labelledby=blame]");
      const spent = page.locator("section[aria-labelledby=spent]");
      await blame.getByText("None.").waitFor();
      assert.equal(await spent.locator("tfoot td").last().innerText(), "0.00");
      await page.getByRole("button", { name: "Resume" }).click();
      await finished(page);

      const { failures, usage, planned, finished: ended, accepted } = await site.ask("GET", `/runs/${id}`);
      assert.ok(failures.agent > 0, JSON.stringify(failures));
      const { judged } = (await site.ask("GET", `/runs/${id}/judgings`)).find(({ original }) => original);
      for (const [name, n] of Object.entries({ Planned: planned, Finished: ended, Judged: judged, Accepted: accepted })) {
        const bar = page.locator("section[aria-labelledby=funnel] .bar", { has: page.locator("dt", { hasText: name }) });
        await bar.getByText(count(n), { exact: true }).waitFor();
      }
      for (const [who, n] of Object.entries(failures)) {
        const bar = blame.locator(".bar", { has: page.locator("dt", { hasText: words(who) }) });
        await bar.getByText(count(n), { exact: true }).waitFor();
      }
      assert.equal(await blame.locator(".bar").count(), Object.keys(failures).length);

      const agent = usage.find(({ role }) => role === "agent");
      assert.ok(agent.model === "terse" && agent.cost > 0, JSON.stringify(agent));
      const figures = spent.locator("tbody tr", { hasText: "terse" }).locator("td.number");
      await figures.last().getByText(money(agent.cost), { exact: true }).waitFor();
      const { calls, retries, prompt_tokens, completion_tokens } = agent;
      const told = (await figures.allInnerTexts()).filter((_, column) => column !== 3 && column !== 5);
      assert.deepEqual(told, [calls, retries, prompt_tokens, completion_tokens].map(count));
      const sum = usage.reduce((sum, { cost }) => sum + cost, 0);
      assert.equal(await spent.locator("tfoot td").last().innerText(), money(sum));

      const { replicas } = (await site.ask("GET", "/models")).find(({ name }) => name === "terse");
      const [{ health, in_flight, limit, ok, failed }] = replicas;
      assert.deepEqual([health, in_flight, failed], ["closed", 0, 0]);
      const endpoint = page.locator("section[aria-labelledby=endpoints] tbody tr", { hasText: model.url }).locator("td");
      await endpoint.nth(4).getByText(count(ok), { exact: true }).waitFor();
      const [healthy, carried, most, first, ...answered] = await endpoint.allInnerTexts();
      assert.deepEqual([healthy, carried, most, ...answered], ["healthy", "0", `${limit}`, count(ok), "0"]);
      assert.match(first, /^\d+ ms$/);
      await screenshot(page, "run-live-figures");

      await page.getByRole("tab", { name: "Conversations" }).click();
      const { items } = await site.ask("GET", `/runs/${id}/conversations`);
      const users = page.locator("table.rows tbody tr td:nth-child(3)");
      await users.nth(items.length - 1).waitFor();
      assert.deepEqual(await users.allInnerTexts(), items.map(({ persona }) => persona));
      assert.deepEqual([...new Set(items.map(({ persona }) => persona))].sort(), personas);
      await page.getByRole("tab", { name: "Configuration" }).click();
      const { config } = await site.ask("GET", `/runs/${id}/config`);
      const shown = await page.getByLabel("Configuration as JSON").innerText();
      assert.deepEqual(JSON.parse(shown).personas, config.personas);
    });
  } finally {
    model.stop();
  }
});

const state = (page) => page.locator("dl.strip dd").first();

/** Gives the run other caps, in the dialog. */
async function cap(page, fields) {
  await page.getByRole("button", { name: "Priority and caps" }).click();
  const dialog = page.getByRole("dialog", { name: "Priority and caps" });
  await dialog.getByText("At any of these caps the run pauses. Empty: no cap.").waitFor();
  const before = {};
  for (const [label, text] of Object.entries(fields)) {
    const field = dialog.getByLabel(label).first();
    before[label] = await field.inputValue();
    await field.fill(text);
  }
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  return before;
}

test("a run that has used up its tokens pauses, says so, and goes on once it may take more", async () => {
  const model = await startModel("I can not say.");
  const order = { playbooks: ["retail_bank"], n: 12, seed: 21, models: { agent: "capped" }, budget: { tokens: 3_000 } };
  try {
    await site.ask("PUT", "/models/capped", { replicas: [model.url] });
    await ordered(order, async (page, id) => {
      const pauses = () => state(page).getByText("the budget of tokens is used up").waitFor();
      await pauses();
      await state(page).getByText("paused", { exact: true }).waitFor();
      const { state: paused, finished: played, usage } = await site.ask("GET", `/runs/${id}`);
      const tokens = usage.reduce((sum, { prompt_tokens: read, completion_tokens: written }) => sum + read + written, 0);
      assert.equal(paused, "paused");
      assert.ok(tokens >= 3_000 && played < 12, `${tokens} tokens, ${played} of 12`);
      await accessible(page);
      await screenshot(page, "run-used-up");
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("alert").getByText("the budget of tokens is used up; raise that cap first").waitFor();
      assert.deepEqual(await cap(page, { Tokens: "" }), { Tokens: "3000" });
      await page.getByRole("button", { name: "Resume" }).click();
      await finished(page);
      await page.locator("dl.strip").getByText("12 of 12").waitFor();
      assert.equal(await state(page).getByText("is used up").count(), 0, "the reason is gone");
      assert.deepEqual((await site.ask("GET", `/runs/${id}/config`)).budget, {});
    }, { expected: [/status of 409/] });
  } finally {
    model.stop();
  }
});

test("a run that has begun all that it may is not resumed, which says why, until it may begin more", () =>
  ordered(
    { playbooks: ["retail_bank"], n: 12, seed: 22, budget: { conversations: 5 } },
    async (page, id) => {
      await state(page).getByText("the budget of conversations is used up").waitFor();
      await page.locator("dl.strip").getByText("5 of 12").waitFor();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("alert").getByText("all conversations that its budget allows have been played; raise that cap first").waitFor();
      await screenshot(page, "run-not-resumed");
      assert.equal((await site.ask("GET", `/runs/${id}`)).state, "paused");
      assert.deepEqual(await cap(page, { "Conversations started": "12" }), { "Conversations started": "5" });
      await page.getByRole("button", { name: "Resume" }).click();
      await finished(page);
      await page.locator("dl.strip").getByText("12 of 12").waitFor();
    },
    { expected: [/status of 409/] },
  ));

test("what a judge spoiled is played again on demand, and the spoiled attempts are told apart", async () => {
  const model = await startModel("This is no verdict.");
  const order = { playbooks: ["retail_bank"], n: 3, seed: 23, retries: 0, models: { judge: "mumbling" } };
  const again = (page) => page.getByRole("button", { name: "Play spoiled conversations again" });
  try {
    await site.ask("PUT", "/models/mumbling", { replicas: [model.url] });
    await ordered(order, async (page, id) => {
      await finished(page);
      const blame = page.locator("section[aria-labelledby=blame]");
      const bar = blame.locator(".bar", { has: page.locator("dt", { hasText: "judge" }) });
      await bar.getByText("3", { exact: true }).waitFor();
      assert.deepEqual((await site.ask("GET", `/runs/${id}`)).failures, { judge: 3 });
      await blame.getByText("Only failures of the agent are data; others are played again.").waitFor();
      await again(page).click();
      await page.getByText("The spoiled conversations are played again.").waitFor();
      await blame.getByText("3 spoiled attempts were played again and count nowhere else.").waitFor();
      await finished(page);
      const { failures, played_again, finished: ended } = await site.until(`/runs/${id}`, (run) => run.state === "finished");
      assert.deepEqual([failures, played_again, ended], [{ judge: 3 }, { judge: 3 }, 3]);
      await bar.getByText("3", { exact: true }).waitFor();
      await again(page).waitFor();
      await screenshot(page, "run-played-again");
    });
  } finally {
    model.stop();
  }
});

test("a run is paused, changed, resumed and cancelled, which asks first", () =>
  ordered({ n: 20000, seed: 6, max_in_flight: 2 }, async (page, id) => {
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator("dl.strip").getByText("paused").waitFor();
    // What was in flight comes to its end, and then nothing more is played.
    const ended = async () => (await site.ask("GET", `/runs/${id}`)).finished;
    await page.waitForTimeout(1_000);
    const played = await ended();
    await page.locator("dl.strip").getByText(`${count(played)} of 20,000`).waitFor();
    const bar = page.getByRole("progressbar", { name: "Finished" });
    assert.ok(Math.abs((await bar.evaluate(({ value }) => value)) - played / 20_000) < 1e-6);
    await page.waitForTimeout(1_000);
    assert.equal(await ended(), played);
    await page.getByRole("button", { name: "Priority and caps" }).click();
    const dialog = page.getByRole("dialog", { name: "Priority and caps" });
    await dialog.getByLabel(/^Priority/).fill("3");
    await dialog.getByLabel(/^Tokens/).fill("-1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.locator(".wrong").getByText("must be more than 0").waitFor();
    await accessible(page);
    await screenshot(page, "run-settings");
    await dialog.getByLabel(/^Tokens/).fill("1000000");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("tab", { name: "Configuration" }).click();
    await page.getByText("1,000,000 tokens").waitFor();
    await page.getByRole("tab", { name: "Overview" }).click();
    // Whoever changes one thing keeps the others, also those that somebody else has set meanwhile.
    await site.ask("PATCH", `/runs/${id}`, { budget: { tokens: 1_000_000, money: 50 } });
    await page.getByRole("button", { name: "Priority and caps" }).click();
    await dialog.getByLabel(/^Priority/).fill("4");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    assert.deepEqual((await site.ask("GET", `/runs/${id}/config`)).budget, { tokens: 1_000_000, money: 50 });
    assert.equal((await site.ask("GET", `/runs/${id}`)).priority, 4);

    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator("dl.strip").getByText("running").waitFor();
    await screenshot(page, "run-live");
    await page.getByRole("tab", { name: "Conversations" }).click();
    const newer = page.getByRole("button", { name: /more have ended/ });
    // What has ended by now is there when the list is read.
    await newer.click();
    await page.locator("table.rows tbody tr").first().waitFor();
    await newer.waitFor();
    const rows = await page.locator("table.rows tbody tr").count();
    await page.waitForTimeout(1500);
    assert.equal(await page.locator("table.rows tbody tr").count(), rows, "the list stays as it was read");

    await page.getByRole("button", { name: "Cancel …" }).click();
    const sure = page.getByRole("dialog", { name: "Cancel the run?" });
    await accessible(page);
    await sure.getByRole("button", { name: "Keep it" }).click();
    await sure.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Cancel …" }).click();
    await sure.getByRole("button", { name: "Cancel the run" }).click();
    await page.locator("dl.strip").getByText("cancelled").waitFor();
    const { state: cancelled, finished: inAll } = await site.ask("GET", `/runs/${id}`);
    assert.equal(cancelled, "cancelled");
    assert.ok(inAll < 20_000);
    assert.ok(page.url().includes(id) && page.url().endsWith("tab=conversations"), "the tab stands in the address");
  }, { expected: [/status of 422/] }));

test("a run is judged again, and the judging is followed", () =>
  ordered({ playbooks: ["retail_bank"], n: 8, seed: 7 }, async (page) => {
    await finished(page);
    await page.getByRole("tab", { name: "Judgings" }).click();
    await page.getByText("as the run was played").waitFor();
    await page.getByRole("button", { name: "Judge again" }).click();
    const again = page.locator(".judgings li", { hasText: "again by mira" });
    await again.getByText("finished").waitFor();
    await again.getByText("8 of 8").waitFor();
    await screenshot(page, "run-judgings");
  }));

test("a judging that is ordered while an older list of judgings is on its way is listed", () =>
  ordered({ playbooks: ["retail_bank"], n: 4, seed: 9 }, async (page) => {
    await finished(page);
    const [older, answered] = [signal(), signal()];
    let lists = 0;
    await page.route("**/judgings", async (route) => {
      if (route.request().method() === "POST") return route.continue();
      const response = await route.fetch();
      lists += 1;
      // The first list says that nothing goes on any more, and the page asks a last time.
      if (lists === 2) {
        older.give();
        await answered.given;
      }
      await route.fulfill({ response });
    });
    await page.getByRole("tab", { name: "Judgings" }).click();
    await older.given;
    await page.getByRole("button", { name: "Judge again" }).click();
    await page.getByText("The run is being judged again.").waitFor();
    answered.give();
    await page.locator(".judgings li", { hasText: "again by mira" }).getByText("4 of 4").waitFor();
  }));

test("where no events come through, the run is asked for", () =>
  ordered(
    { playbooks: ["retail_bank"], n: 4, seed: 8, paused: true },
    async (page) => {
      await page.route("**/progress", (route) => route.fulfill({ status: 502, body: "no" }));
      await page.reload();
      await page.getByRole("button", { name: "Resume" }).click();
      await finished(page);
    },
    { expected: [/status of 502/] },
  ));

test("a run's page fits a narrow, dark screen", () =>
  ordered(
    { playbooks: ["retail_bank"], n: 4, seed: 9 },
    async (page) => {
      await finished(page);
      for (const tab of ["Overview", "Conversations", "Judgings", "Configuration"]) {
        await page.getByRole("tab", { name: tab }).click();
        await fits(page, tab);
      }
      await page.getByRole("tab", { name: "Overview" }).click();
      await screenshot(page, "run-overview-narrow");
    },
    NARROW_DARK,
  ));

test("what is wrong with an order stands beside the field", () =>
  site.visit(
    `${PROJECT}/runs/new`,
    async (page) => {
      await look(page).getByText("24 conversations").waitFor();
      await page.getByLabel("Conversations", { exact: true }).fill("0");
      const field = page.locator("label.field", { hasText: /^Conversations/ }).first();
      await field.locator(".wrong").getByText("must be from 1 to").waitFor();
      await look(page).getByRole("alert").waitFor();
      await screenshot(page, "launch-wrong");
      await field.getByRole("spinbutton").fill("3");
      await look(page).getByText("3 conversations").waitFor();
      assert.equal(await page.locator(".wrong").count(), 0);
    },
    { expected: [/status of 422/] },
  ));

test("models of the registry play roles; whatever is scripted says so", () =>
  site.visit(`${PROJECT}/runs/new`, async (page) => {
    const agent = page.getByRole("group", { name: "agent", exact: true });
    await agent.getByText("asks no model").last().waitFor();
    await agent.getByRole("combobox").selectOption("house");
    await agent.getByLabel("Temperature").fill("0.3");
    await page.getByRole("group", { name: "judge", exact: true }).getByRole("combobox").selectOption("house");
    await look(page).getByText("the agent house judges itself", { exact: false }).waitFor();
    for (const role of ["simulated user", "tool simulator", "state manager"]) {
      await page.getByRole("group", { name: role, exact: true }).getByRole("combobox").selectOption("second");
    }
    const simulator = page.getByRole("group", { name: "tool simulator", exact: true });
    await simulator.getByLabel("Longest reply, tokens").fill("512");
    await page.getByLabel("Style of the agent").selectOption("react");
    await page.getByLabel("Style of the user").selectOption("json");
    await page.getByRole("button", { name: "Add a fault" }).click();
    await page.getByLabel("Tools", { exact: true }).fill("get_card, block_card");
    await page.getByRole("spinbutton", { name: "Probability" }).fill("0.2");
    await page.getByRole("region", { name: "Limits" }).getByLabel("Tokens").fill("50000");
    await page.waitForFunction(() => document.querySelector(".launch-look dl.pairs")?.innerText.includes("house"));
    const order = JSON.parse(/--data '(.*)'$/s.exec(await rest(page))[1]);
    const others = { simulated_user: "second", tool_simulator: "second", state_manager: "second" };
    assert.deepEqual(order.models, { agent: "house", judge: "house", ...others });
    assert.deepEqual(order.temperatures, { agent: 0.3 });
    assert.deepEqual(order.max_tokens, { tool_simulator: 512 });
    assert.deepEqual([order.agent_style, order.user_style], ["react", "json"]);
    assert.deepEqual(order.faults, [{ kind: "timeout", tools: ["get_card", "block_card"], probability: 0.2 }]);
  }));

test("a fault of the form is played, and named where it happened", () =>
  site.visit(`${PROJECT}/runs/new`, async (page) => {
    await page.getByRole("group", { name: "Playbooks" }).getByLabel(/bank/i).first().check();
    await page.getByLabel("Conversations", { exact: true }).fill("2");
    await page.getByRole("button", { name: "Add a fault" }).click();
    const fault = page.getByRole("group", { name: "A fault" });
    await fault.getByLabel("When").selectOption("calls");
    await fault.getByLabel("Which calls (1 is the first)").fill("1");
    await look(page).getByText("2 conversations").waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
    await finished(page);
    await page.getByRole("tab", { name: "Conversations" }).click();
    await page.locator("table.rows tbody tr a").first().click();
    await page.getByText(/planned fault: timeout/).first().waitFor();
  }));

test("what a run may take, its forecast and its judges are ordered as they were typed", () =>
  site.visit(`${PROJECT}/runs/new`, async (page) => {
    const order = async () => JSON.parse(/--data '(.*)'$/s.exec(await rest(page))[1]);
    await look(page).getByText("24 conversations").waitFor();
    const limits = page.getByRole("region", { name: "Limits" });
    const fields = [
      ["Tokens", "50000"],
      ["Money", "12.5"],
      ["Conversations started", "40"],
      ["Minutes", "1.5"],
      ["Priority", "7"],
      ["Conversations at once", "3"],
      ["Retries", "0"],
      ["Forecast after", "4"],
    ];
    for (const [label, text] of fields) await limits.getByLabel(label).first().fill(text);
    await page.getByLabel(/^Samples of each/).fill("3");
    await look(page).getByText("72 conversations").waitFor();
    const typed = await order();
    assert.equal(typed.samples, 3);
    assert.deepEqual(typed.budget, { conversations: 40, money: 12.5, seconds: 90, tokens: 50_000 });
    assert.deepEqual([typed.priority, typed.max_in_flight, typed.retries, typed.forecast], [7, 3, 0, 4]);
    const panel = page.getByRole("group", { name: "More judges" });
    await panel.getByLabel("second").check();
    await panel.getByText("`scripted` is not a model and cannot be on a panel").waitFor();
    await page.getByRole("group", { name: "judge", exact: true }).getByRole("combobox").selectOption("house");
    await panel.locator(".wrong").waitFor({ state: "detached" });
    await page.getByLabel("Ask judges about each criterion separately").check();
    const judged = await order();
    assert.deepEqual([judged.models, judged.panel, judged.criteria_apart], [{ judge: "house" }, ["second"], true]);
    await look(page).getByText("second").first().waitFor();
    await screenshot(page, "launch-limits");
  }, { expected: [/status of 422/] }));

test("a forecast plays a few, pauses, and says what the API says", () =>
  ordered({ playbooks: ["retail_bank"], n: 40, seed: 14, forecast: 6 }, async (page, id) => {
    await page.locator("dl.strip dd").first().getByText("paused").waitFor();
    const figures = page.locator("section[aria-labelledby=forecast] dl.pairs");
    await figures.waitFor();
    const run = await site.ask("GET", `/runs/${id}`);
    assert.ok(run.finished >= 6 && run.finished < 40, `${run.finished} were played`);
    const told = await site.ask("GET", `/runs/${id}/forecast`);
    const whole = (n) => count(Math.round(n));
    const some = (n, say) => (n === undefined || n === null ? "–" : say(n));
    assert.deepEqual(await pairs(figures), {
      "Accepted rows": `${whole(told.accepted_rows)} (${percent(told.accepted_share)})`,
      "95 % interval": `${percent(told.accepted_share_low)} to ${percent(told.accepted_share_high)}`,
      Tokens: whole(told.tokens),
      "Tokens per accepted row": some(told.tokens_per_accepted_row, whole),
      Cost: money(told.cost),
      "Cost per accepted row": some(told.cost_per_accepted_row, money),
      Time: duration(told.seconds),
    });
    await page.getByRole("button", { name: "Resume" }).click();
    await finished(page);
    await page.locator("dl.strip").getByText("40 of 40").waitFor();
  }));

test("the whole form stands in the address: a link, a reload and the way back know it", () =>
  site.visit(`${PROJECT}/runs/new`, async (page) => {
    const order = async () => JSON.parse(/--data '(.*)'$/s.exec(await rest(page))[1]);
    const asks = (name) => new URL(page.url()).searchParams.getAll(name);
    const amount = page.getByLabel("Conversations", { exact: true });
    const agent = page.getByRole("group", { name: "agent", exact: true });
    await look(page).getByText("24 conversations").waitFor();
    assert.equal(new URL(page.url()).search, "", "what is as usual does not stand there");

    await page.getByRole("group", { name: "Playbooks" }).getByLabel(/bank/i).first().check();
    await page.waitForURL(/playbook=retail_bank/);
    await page.getByLabel(/Only some/).check();
    await page.waitForURL(/every_scenario=false/);
    await page.getByRole("searchbox", { name: "Search" }).fill("dispute");
    await page.waitForURL(/search=dispute/);
    await page.getByRole("button", { name: /^Select the/ }).click();
    await page.waitForURL(/scenario=dispute/);
    await agent.getByRole("combobox").selectOption("house");
    await page.waitForURL(/model_agent=house/);
    await agent.getByLabel("Temperature").fill("0.3");
    await page.getByRole("group", { name: "Complexity mix" }).getByLabel("Vague").fill("2.5");
    await page.getByRole("button", { name: "Add a fault" }).click();
    const fault = page.getByRole("group", { name: "A fault" });
    await fault.getByLabel("Kind").selectOption("outage");
    await fault.getByLabel("When").selectOption("calls");
    await fault.getByLabel("Which calls (1 is the first)").fill("1, 2");
    await page.getByLabel("Start paused").check();
    await page.waitForURL(/paused=true/);
    await amount.fill("");
    await amount.pressSequentially("120");
    await page.waitForURL(/[?&]n=120/);
    const ordered = await order();
    assert.deepEqual([ordered.n, ordered.models, ordered.paused], [120, { agent: "house" }, true]);
    assert.deepEqual(ordered.faults, [{ kind: "outage", calls: [1, 2] }]);
    assert.deepEqual(ordered.scenarios, asks("scenario").sort());

    await page.reload();
    await page.waitForFunction(() => document.querySelector(".launch-look pre")?.textContent.includes('"n": 120'));
    assert.deepEqual(await order(), ordered);
    assert.equal(await agent.getByRole("combobox").inputValue(), "house");
    assert.equal(await agent.getByLabel("Temperature").inputValue(), "0.3");
    assert.equal(await fault.getByLabel("Kind").inputValue(), "outage");
    assert.equal(await fault.getByLabel("When").inputValue(), "calls");
    assert.equal(await fault.getByLabel("Which calls (1 is the first)").inputValue(), "1, 2");
    assert.ok(await page.getByLabel(/Only some/).isChecked());
    assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "dispute");

    // What was typed goes as a whole, what was chosen one by one.
    await page.goBack();
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("n"));
    await page.waitForFunction((field) => field.value === "24", await amount.elementHandle());
    assert.ok(await page.getByLabel("Start paused").isChecked());
    await page.goBack();
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("paused"));
    await page.waitForFunction((box) => !box.checked, await page.getByLabel("Start paused").elementHandle());
    assert.equal(await fault.getByLabel("Which calls (1 is the first)").inputValue(), "1, 2");
    await page.goForward();
    await page.goForward();
    await page.waitForFunction((field) => field.value === "120", await amount.elementHandle());
    assert.deepEqual(await order(), ordered);
  }, { expected: [/status of 422/] }));

test("what the order would play is asked again after the server was away", () =>
  site.visit(`${PROJECT}/runs/new`, async (page) => {
    await look(page).getByText("24 conversations").waitFor();
    await page.route("**/runs/preview", (route) => route.abort());
    await page.getByLabel("Conversations", { exact: true }).fill("7");
    await look(page).getByRole("alert").getByText("The server does not answer.").waitFor();
    await page.unroute("**/runs/preview");
    await look(page).getByRole("button", { name: "Try again" }).click();
    await look(page).getByText("7 conversations").waitFor();
    assert.equal(await look(page).getByRole("alert").count(), 0);
  }, { expected: [/Failed to load resource/] }));

test("the form fits a narrow, dark screen", () =>
  site.visit(
    `${PROJECT}/runs/new`,
    async (page) => {
      await look(page).getByText("24 conversations").waitFor();
      await page.getByRole("button", { name: "Add a fault" }).click();
      await page.getByLabel(/Only some/).check();
      await fits(page);
      await screenshot(page, "launch-narrow");
    },
    { ...NARROW_DARK, expected: [/status of 422/] },
  ));
