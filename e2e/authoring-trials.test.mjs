// What authors try before they save it: a script played, calls made, an interface read as a playbook.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { screenshot } from "./support/browser.mjs";
import { applied, lists } from "./support/changes.mjs";
import { PROJECT, story } from "./support/story.mjs";

const OPENAPI = `openapi: 3.0.3
info: {title: Orders, version: "1"}
paths:
  /orders/{order_id}:
    get:
      operationId: get_order
      summary: Returns an order.
      parameters:
        - {name: order_id, in: path, required: true, description: Number of the order, schema: {type: string}}
      responses:
        "200":
          description: The order.
          content: {application/json: {schema: {type: object, properties: {status: {type: string}}}}}
    head:
      responses: {"200": {description: It is there.}}
`;

const PLAYBOOK = "playbooks/retail_bank/playbook.yaml";

const site = story({ demo: true });

test("a script is played step by step, with the world after each step", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    await page.getByRole("button", { name: "Play the script" }).click();
    await page.getByText("reaches the expected outcome").waitFor();
    const steps = page.getByRole("group", { name: "Steps" });
    const last = Number(await steps.getByRole("slider").getAttribute("max"));
    const marked = page.getByRole("tree", { name: "The world after this step" }).getByRole("treeitem").filter({
      has: page.locator(".said"),
    });
    const written = [];
    for (let at = 0; at <= last; at += 1) {
      if (at > 0) await steps.getByRole("button", { name: "Next" }).click();
      await steps.getByText(`${at + 1} of ${last + 1}`, { exact: true }).waitFor();
      const stays = page.locator(".transcript .patch li").filter({ hasNot: page.getByText("remove", { exact: true }) });
      const pointers = await stays.locator("> code:not(.value)").allInnerTexts();
      const keys = pointers.map((pointer) => pointer.split("/").at(-1).replaceAll("~1", "/").replaceAll("~0", "~"));
      for (const key of keys) await marked.filter({ has: page.getByText(key, { exact: true }) }).first().waitFor();
      assert.equal(await marked.count(), new Set(pointers).size, `step ${at + 1} marks what it changed`);
      assert.equal(await page.getByText("This step changes nothing.").count(), keys.length === 0 ? 1 : 0);
      if (written.length === 0 && keys.length > 0) await screenshot(page, "scenario-play");
      written.push(...keys);
    }
    assert.ok(written.includes("verified_customer_id"), `${written}`);
    await page.locator(".beside-editor summary", { hasText: "agent" }).first().click();
    await page.locator(".beside-editor pre").first().waitFor({ state: "attached" });
  }));

test("what was played before the text was changed says so", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    const play = page.getByRole("button", { name: "Play the script" });
    const older = page.getByText("This was played before your last change.");
    await play.click();
    await page.getByText("reaches the expected outcome").waitFor();
    assert.equal(await older.count(), 0);
    await page.locator("#panel-source .cm-line", { hasText: "tags: [dispute, duplicate]" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type(" # later");
    await older.waitFor();
    await play.click();
    await older.waitFor({ state: "detached" });
    await page.getByText("reaches the expected outcome").waitFor();
  }));

test("each step says what it changed, sub-agents included: what stood there before, and what is gone", async () => {
  const scenario = `${PROJECT}/scenarios/book_board_meeting_with_coffee`;
  const { world, events } = await site.ask("POST", `${scenario}/play`, {});
  const operations = events.flatMap(({ event }) => event.tool_answered?.patch ?? []);
  await site.visit(`${scenario}?side=play`, async (page) => {
    await page.getByRole("button", { name: "Play the script" }).click();
    await page.getByText("reaches the expected outcome").waitFor();
    const steps = page.getByRole("group", { name: "Steps" });
    const last = Number(await steps.getByRole("slider").getAttribute("max"));
    const list = page.getByRole("region", { name: "What this step changed" });
    const marked = page.getByRole("tree", { name: "The world after this step" }).getByRole("treeitem").filter({
      has: page.locator(".said"),
    });
    const verbs = new Set();
    let bySubAgents = 0;
    for (let at = 0; at <= last; at += 1) {
      if (at > 0) await steps.getByRole("button", { name: "Next" }).click();
      await steps.getByText(`${at + 1} of ${last + 1}`, { exact: true }).waitFor();
      const shown = await page.locator(".transcript .patch > li").count();
      bySubAgents += await page.locator(".transcript .branch .patch > li").count();
      const changes = applied(world, operations.splice(0, shown));
      await lists(list, changes);
      const there = changes.filter(({ verb }) => verb !== "removed");
      assert.equal(await marked.count(), there.length, `step ${at + 1} marks what it changed`);
      for (const { verb } of changes) verbs.add(verb);
      if (changes.length > there.length) await screenshot(page, "scenario-play-removed");
    }
    assert.equal(operations.length, 0, "every change belongs to a step");
    assert.ok(bySubAgents > 0, "a sub-agent changes something");
    assert.deepEqual([...verbs].sort(), ["added", "changed", "removed"]);
  });
});

test("the step stands in the address: the way back leads to the one before, and a link shows it", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    await page.getByRole("button", { name: "Play the script" }).click();
    const steps = page.getByRole("group", { name: "Steps" });
    const slider = steps.getByRole("slider");
    await slider.waitFor();
    const all = Number(await slider.getAttribute("max")) + 1;
    const shows = async (step) => {
      await steps.getByText(`${step} of ${all}`, { exact: true }).waitFor();
      const named = new URL(page.url()).searchParams.get("step");
      assert.equal(named, step > 1 ? `${step}` : null);
    };
    await shows(1);
    await steps.getByRole("button", { name: "Next" }).click();
    await shows(2);
    await steps.getByRole("button", { name: "Next" }).click();
    await shows(3);
    await page.goBack();
    await shows(2);
    await page.goForward();
    await shows(3);
    // What somebody slides over is no place to come back to.
    await slider.fill(`${all - 2}`);
    await shows(all - 1);
    await slider.fill(`${all - 1}`);
    await shows(all);
    await page.goBack();
    await shows(2);

    await page.reload();
    await shows(2);
    await page.goto(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play&step=999`);
    await steps.getByText(`${all} of ${all}`, { exact: true }).waitFor();
  }));

/** Puts a text in place of what stands in an editor. */
async function write(panel, text) {
  await panel.locator(".cm-content").click();
  await panel.page().keyboard.press("Control+a");
  await panel.page().keyboard.insertText(text);
}

test("calls are tried one after the other", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=try`, async (page) => {
    await page.getByLabel("Tool").selectOption("verify_identity");
    await page.getByLabel("Scenario").fill("dispute_duplicate_cafe");
    const panel = page.getByRole("tabpanel", { name: "Try" });
    await write(panel, '{"customer_id": "cus_1002", "date_of_birth": "1994-11-03", "postcode": "61477"}');
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    const first = panel.locator("article", { hasText: "Call 1" });
    await first.getByText("answered", { exact: true }).waitFor();
    await screenshot(page, "playbook-try");
    const identity = { customer_id: "cus_1002", date_of_birth: "1994-11-03", postcode: "61477" };
    const call = { tool: "verify_identity", arguments: identity };
    const wanted = { scenario: "dispute_duplicate_cafe", calls: [call] };
    const { replies } = await site.ask("POST", `${PROJECT}/playbooks/retail_bank/try`, wanted);
    const [{ content, patch }] = replies;
    assert.ok(patch.length > 0 && content.includes("{"), content);
    assert.equal((await first.locator("pre").innerText()).trim(), content.trim(), "what the agent would read");
    const verbs = { add: "adds", replace: "sets", remove: "removes" };
    const changes = patch.map(({ op, path, value }) => [verbs[op], path, value === undefined ? undefined : JSON.stringify(value)]);
    const shown = await first.locator("> ul > li").evaluateAll((all) =>
      all.map((item) => [".badge", "code", "ins"].map((part) => item.querySelector(part)?.textContent)),
    );
    assert.deepEqual(shown, changes, "what it would change");

    // What is refused says so to the agent, and changes nothing.
    await write(panel, '{"customer_id": "cus_1002", "date_of_birth": "1994-11-04", "postcode": "61477"}');
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    const second = panel.locator("article", { hasText: "Call 2" });
    await second.locator("pre").waitFor();
    assert.equal(await second.locator("> ul > li").count(), 0);
    await panel.getByRole("button", { name: "Start over" }).click();
    await first.waitFor({ state: "detached" });
    await page.reload();
    await page.waitForURL(/tool=verify_identity/);
    await page.waitForFunction((select) => select.value === "verify_identity", await page.getByLabel("Tool").elementHandle());
    assert.equal(await page.getByLabel("Scenario").inputValue(), "dispute_duplicate_cafe");
  }));

test("an OpenAPI document becomes the draft of a playbook", () =>
  site.visit(`${PROJECT}/playbooks`, async (page) => {
    await page.getByRole("button", { name: "New playbook" }).click();
    const dialog = page.getByRole("dialog", { name: "New playbook" });
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByLabel("Start from").selectOption("An OpenAPI document");
    await dialog.getByRole("textbox", { name: /OpenAPI document/ }).fill(OPENAPI);
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("heading", { name: "Not imported" }).waitFor();
    const skipped = dialog.getByRole("listitem").filter({ hasText: "HEAD /orders/{order_id}" });
    assert.match(await skipped.innerText(), /answers nothing that an agent could use/);
    await accessible(page);
    await screenshot(page, "playbook-import-notes");
    await dialog.getByRole("link", { name: "Go to the playbook" }).click();
    await page.waitForURL("**/playbooks/orders");
    await page.getByRole("tab", { name: "Tools" }).click();
    await takes(page, "get_order", "order_id", "Number of the order");
    assert.equal(await page.getByRole("heading", { name: "orders", level: 1 }).count(), 1);
    await screenshot(page, "playbook-imported");
  }));

test("the tools of a playbook are told in tables", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=tools`, async (page) => {
    const tool = page.locator("details.tool", { hasText: "open_dispute" }).first();
    await tool.locator("summary").click();
    await tool.getByText("transaction_id").first().waitFor();
    await screenshot(page, "playbook-tools");
    await tool.getByRole("button", { name: "Edit open_dispute in the source" }).click();
    await page.locator("#panel-source .cm-line", { hasText: "open_dispute" }).first().waitFor();
  }));

/** The card of a tool. */
const card = (page, name) =>
  page.locator("details.tool", { has: page.locator("summary code", { hasText: new RegExp(`^${name}$`) }) });

/** Unfolds a tool, and looks for an argument with its meaning. */
async function takes(page, tool, argument, meaning) {
  await card(page, tool).locator("summary").click();
  const name = page.getByRole("rowheader", { name: argument, exact: true });
  const row = card(page, tool).locator("tr", { has: name }).first();
  await row.getByText(meaning, { exact: true }).waitFor();
  assert.match(await row.innerText(), /string\s+required/);
}

/** What stands before a tool in the source, the tool, and what stands behind it. */
function around(files, tool) {
  const text = files[PLAYBOOK];
  const from = text.indexOf(`\n  - name: ${tool}\n`) + 1;
  const to = text.indexOf("\n  - name: ", from) + 1;
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

test("a tool is edited as a form, which leaves the rest of the source as it is", async () => {
  const { files: before } = await site.ask("GET", `${PROJECT}/playbooks/retail_bank`);
  await site.visit(`${PROJECT}/playbooks/retail_bank?tab=tools`, async (page) => {
    const tool = card(page, "open_dispute");
    await tool.locator("summary").click();
    await tool.getByRole("button", { name: "Edit open_dispute", exact: true }).click();
    await tool.getByLabel("Description").fill("Opens a dispute of one booking.");
    await tool.getByLabel("Meaning of transaction_id").fill("Id of the booking");
    await tool.getByRole("button", { name: "Add an argument" }).click();
    const added = tool.getByRole("group", { name: "the new argument" });
    await added.getByLabel("Name of").fill("transaction_id");
    await tool.getByRole("button", { name: "Write into the source" }).click();
    await tool.getByRole("alert").getByText("transaction_id is there twice.").waitFor();
    const second = tool.getByRole("group", { name: "transaction_id" }).last();
    await second.getByLabel("Name of").fill("urgency");
    const urgency = tool.getByRole("group", { name: "urgency" });
    await urgency.getByLabel("Allowed values of urgency").fill("normal, high");
    await urgency.getByRole("checkbox", { name: "required" }).uncheck();
    await screenshot(page, "playbook-tool-form");
    await accessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "playbook-tool-form-narrow");
    await page.setViewportSize({ width: 1280, height: 900 });
    await tool.getByRole("button", { name: "Write into the source" }).click();
    // Told as it stands in the source now, and still unfolded.
    await tool.getByRole("rowheader", { name: "urgency" }).waitFor();
    await tool.getByText("Opens a dispute of one booking.").first().waitFor();

    await tool.getByRole("button", { name: "Edit open_dispute in the source" }).click();
    const source = page.locator("#panel-source");
    await source.locator(".cm-line", { hasText: "Opens a dispute of one booking." }).waitFor();
    await source.locator(".cm-line", { hasText: "urgency" }).first().waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("v2 is a draft").waitFor();
    await page.reload();
    await page.getByRole("tab", { name: "Tools" }).click();
    await card(page, "open_dispute").locator("summary").click();
    await card(page, "open_dispute").getByRole("rowheader", { name: "urgency" }).waitFor();
  });
  const { files: after } = await site.ask("GET", `${PROJECT}/playbooks/retail_bank`);
  assert.deepEqual({ ...after, [PLAYBOOK]: "" }, { ...before, [PLAYBOOK]: "" }, "no other file has changed");
  const [[above, was, below], [aboveNow, is, belowNow]] = [around(before, "open_dispute"), around(after, "open_dispute")];
  assert.equal(aboveNow, above);
  assert.equal(belowNow, below);
  const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const [had, has] = [lines(was), lines(is)];
  const gone = had.filter((line) => !has.includes(line));
  assert.ok(gone.every((line) => /^(description: >-|Opens a dispute|disputed\. For reason|transaction_id:)/.test(line)), gone.join("\n"));
  const fresh = has.filter((line) => !had.includes(line));
  assert.ok(fresh.every((line) => /^(description: |transaction_id:|urgency:|type: |enum: |- )/.test(line)), fresh.join("\n"));
  assert.ok(has.includes("required: [transaction_id, reason]") && has.includes("writes: [/disputes/+]"));
});

test("a form that is open stays as it is while other tools are added and taken out", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=tools`, async (page) => {
    const tool = card(page, "open_dispute");
    await tool.locator("summary").click();
    await tool.getByRole("button", { name: "Edit open_dispute", exact: true }).click();
    const description = tool.getByLabel("Description");
    await description.fill("Written before the others changed.");
    await page.getByRole("button", { name: "Add a tool" }).click();
    const fresh = card(page, "new_tool");
    await fresh.getByLabel("Description").fill("A second form.");
    // It stands before the one that is edited, whose place changes.
    const first = card(page, "verify_identity");
    await first.locator("summary").click();
    await first.getByRole("button", { name: "Remove verify_identity" }).click();
    await first.waitFor({ state: "detached" });
    assert.equal(await description.inputValue(), "Written before the others changed.");
    await fresh.getByRole("button", { name: "Write into the source" }).click();
    await fresh.getByText("A second form.").first().waitFor();
    assert.equal(await description.inputValue(), "Written before the others changed.");
    await tool.getByRole("button", { name: "Write into the source" }).click();
    await tool.locator("summary").getByText("Written before the others changed.").waitFor();
    await tool.getByRole("button", { name: "Edit open_dispute in the source" }).click();
    await page.locator("#panel-source .cm-line", { hasText: "Written before the others changed." }).waitFor();
  }));

test("a tool is added and taken out, and nothing is lost by giving up", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=tools`, async (page) => {
    await page.getByRole("button", { name: "Add a tool" }).click();
    const fresh = card(page, "new_tool");
    await fresh.getByLabel("Description").fill("Says the hours of a branch.");
    await fresh.locator("label.field", { hasText: "Name" }).first().locator("input").fill("branch_hours");
    await fresh.getByLabel("Answered by").selectOption("always the same answer");
    await fresh.getByRole("button", { name: "Write into the source" }).click();
    const tool = card(page, "branch_hours");
    await tool.getByText("Says the hours of a branch.").first().waitFor();
    await tool.getByRole("button", { name: "Edit branch_hours", exact: true }).click();
    await tool.getByLabel("Description").fill("Something else.");
    await tool.getByRole("button", { name: "Cancel" }).click();
    await tool.getByText("Says the hours of a branch.").first().waitFor();
    await tool.getByRole("button", { name: "Remove branch_hours" }).click();
    await page.getByText("branch_hours was removed from the source, which is not saved yet.").waitFor();
    await tool.waitFor({ state: "detached" });
  }));

/** Makes one call in the panel that is shown. */
async function call(page, tool, args) {
  const panel = page.getByRole("tabpanel", { name: "Try" });
  await panel.getByLabel("Tool").selectOption(tool);
  await write(panel, JSON.stringify(args));
  await panel.getByRole("button", { name: "Call", exact: true }).click();
}

/** Chooses a value of a tree by its key. */
async function pick(tree, search, key) {
  await tree.page().getByRole("searchbox", { name: /world after/i }).fill(search);
  await tree.getByRole("treeitem").filter({ hasText: key }).last().click();
}

test("each value of an answer tells where it comes from", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=try`, async (page) => {
    const identity = { customer_id: "cus_1901", date_of_birth: "1971-08-30", postcode: "77310" };
    await call(page, "verify_identity", identity);
    const first = page.locator("article", { hasText: "Call 1" });
    await first.getByText("answered", { exact: true }).waitFor();
    await call(page, "add_payee", { customer_id: "cus_1901", name: "Odo Pellwick", iban: "ZZ10HBLB0000002902" });
    const second = page.locator("article", { hasText: "Call 2" });
    await second.getByText("Where did these values come from?").click();
    await second.getByText("1 from the world, 2 from the call, 1 new").waitFor();
    const row = (name) => second.locator("tr", { has: page.getByRole("rowheader", { name, exact: true }) });
    await row("/payee_id").getByText("A new id, made from the seed.").waitFor();
    await row("/limit_today").getByText("It was there from the start.").waitFor();
    assert.match(await row("/limit_today").innerText(), /The world, .*overdraft_limit \(or another place that holds the same\)/);

    const tree = page.getByRole("tree", { name: "The world after the calls" });
    await pick(tree, "verified_customer_id", "verified_customer_id");
    const origin = page.getByRole("region", { name: "Where did this value come from?" });
    await origin.getByText("Written by verify_identity in call 1.").waitFor();
    // What was chosen stands in the address, and is chosen still when another call has been made.
    assert.match(new URL(page.url()).searchParams.get("at"), /verified_customer_id$/);
    await screenshot(page, "playbook-try-origin");
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "playbook-try-origin-narrow");
    await origin.getByRole("button", { name: "Show the call" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "call-1");
    await call(page, "verify_identity", identity);
    await page.locator("article", { hasText: "Call 3" }).waitFor();
    await origin.getByText(/Written by verify_identity in call \d\./).waitFor();
    await page.getByRole("button", { name: "Start over" }).click();
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("at"));
  }));

test("a value of the world tells which step of the script wrote it", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    await page.getByRole("button", { name: "Play the script" }).click();
    await page.getByText("reaches the expected outcome").waitFor();
    const range = page.getByRole("group", { name: "Steps" }).getByRole("slider");
    await range.fill(await range.getAttribute("max"));
    await pick(page.getByRole("tree", { name: "The world after this step" }), "verified_customer_id", "verified_customer_id");
    const origin = page.getByRole("region", { name: "Where did this value come from?" });
    await origin.getByText(/Written by verify_identity in step \d+\./).waitFor();
    await screenshot(page, "scenario-play-origin");
    await origin.getByRole("button", { name: "Show the step" }).click();
    await page.locator(".beside-editor").getByText("verify_identity").first().waitFor();
    await range.fill("0");
    await origin.getByText("nothing is there after this step.").waitFor();
    // A link to the value plays the script and says the same.
    assert.match(new URL(page.url()).searchParams.get("at"), /verified_customer_id$/);
    await range.fill(await range.getAttribute("max"));
    await origin.getByText(/Written by verify_identity in step \d+\./).waitFor();
    await page.reload();
    await origin.getByText(/Written by verify_identity in step \d+\./).waitFor();
  }));

test("the prompts of a playbook are rendered for a scenario", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=prompts`, async (page) => {
    const panel = page.getByRole("tabpanel", { name: "Prompts" });
    await panel.getByText("Harbourlight Bank").first().waitFor();
    await panel.getByLabel("Scenario").fill("help_card_abroad");
    await page.waitForURL("**scenario=help_card_abroad**");
    await panel.locator("summary", { hasText: "search_help" }).click();
    await panel.getByText("card payments and cash abroad").first().waitFor();
    await panel.locator("summary", { hasText: "finance" }).waitFor();
    await panel.getByText("Not asked in this scenario: state manager.").waitFor();
    await screenshot(page, "playbook-prompts");
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "playbook-prompts-narrow");
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.goto(`${PROJECT}/playbooks/retail_bank?file=playbooks/retail_bank/prompt.md.j2`);
    const source = page.locator("#panel-source .cm-content");
    await source.click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("{{ nobody }}\n");
    await page.getByRole("tab", { name: "Prompts" }).click();
    await panel.getByText(/`nobody` is undefined/).waitFor();
    await screenshot(page, "playbook-prompts-fault");
    await panel.getByRole("button", { name: /prompt.md.j2:1/ }).click();
    await page.locator("#panel-source .cm-line", { hasText: "{{ nobody }}" }).waitFor();
  }, { expected: [/status of 422/] }));

test("whatever becomes of a call is told: an answer, a refusal, what a model would read, an end", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=try`, async (page) => {
    const panel = page.getByRole("tabpanel", { name: "Try" });
    const calls = [];
    /** Makes one call more; gives its card and what the API says becomes of it. */
    const make = async (tool, args, says) => {
      calls.push({ tool, arguments: args });
      await call(page, tool, args);
      const article = panel.locator("article", { hasText: `Call ${calls.length}: ` });
      await article.locator(".badge").getByText(says, { exact: true }).first().waitFor();
      const { replies } = await site.ask("POST", `${PROJECT}/playbooks/retail_bank/try`, { calls });
      assert.equal(replies.length, calls.length);
      assert.equal(await article.getByLabel("What the agent reads").textContent(), replies.at(-1).content);
      return { article, reply: replies.at(-1) };
    };
    const asked = await make("search_help", { query: "card abroad" }, "a model answers; this is its prompt");
    assert.match(asked.reply.content, /search_help/);
    const hours = await make("get_opening_hours", {}, "answered");
    await hours.article.getByText("4 from the playbook").waitFor();
    // What another call follows has been answered: by the script, for no model is asked.
    await asked.article.getByText("answered", { exact: true }).waitFor();
    const refused = await make("list_accounts", {}, "refused: the agent reads an error");
    await refused.article.getByText(refused.reply.why, { exact: true }).waitFor();
    assert.match(await refused.article.innerText(), /"customer_id" is a required property/);
    assert.equal(await refused.article.locator("> ul > li").count(), 0);
    await accessible(page);
    const summary = { department: "security", summary: "Somebody stole the card." };
    const ended = await make("transfer_to_human", summary, "ends the conversation");
    assert.equal(ended.reply.content, "");
    await screenshot(page, "playbook-try-results");

    // What is no call is not made.
    await write(panel, "[1]");
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    await panel.getByRole("alert").getByText("is not a JSON object").waitFor();
    assert.equal(await panel.locator("article").count(), calls.length);
    // Nor is one after the end.
    await call(page, "get_opening_hours", {});
    await panel.getByRole("alert").getByText("The conversation is over: start over to call again.").waitFor();
    assert.equal(await panel.locator("article").count(), calls.length);
    await panel.getByRole("button", { name: "Start over" }).click();
    await panel.locator("article").first().waitFor({ state: "detached" });
    assert.equal(await panel.getByRole("alert").count(), 0);
  }));

test("a call that the playbook itself spoils says why, by the text as it is written now", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?file=playbooks/retail_bank/tools.star`, async (page) => {
    const panel = page.getByRole("tabpanel", { name: "Try" });
    await page.locator("#panel-source .cm-line", { hasText: "def _verified(world):" }).click();
    await page.keyboard.press("End");
    await page.keyboard.insertText("\n    1 // 0");
    await page.getByText("not saved", { exact: true }).first().waitFor();
    await page.getByRole("tab", { name: "Try" }).click();
    await call(page, "list_accounts", { customer_id: "cus_1901" });
    const broken = panel.locator("article", { hasText: "Call 1: " });
    await broken.getByText("the playbook has an error", { exact: true }).waitFor();
    const { files } = await site.ask("GET", `${PROJECT}/playbooks/retail_bank`);
    const name = "playbooks/retail_bank/tools.star";
    const drafts = { [name]: files[name].replace("def _verified(world):", "def _verified(world):\n    1 // 0") };
    const calls = [{ tool: "list_accounts", arguments: { customer_id: "cus_1901" } }];
    const { replies } = await site.ask("POST", `${PROJECT}/playbooks/retail_bank/try`, { drafts, calls });
    assert.equal(replies[0].result, "broken");
    assert.match(replies[0].why, /division by zero/);
    await broken.getByText(replies[0].why, { exact: true }).waitFor();
    assert.equal(await broken.getByLabel("What the agent reads").textContent(), replies[0].content);
    await screenshot(page, "playbook-try-broken");

    // Whoever goes to mend the source comes back to the calls, and to what was typed.
    await page.getByRole("tab", { name: "Source" }).click();
    await page.locator("#panel-source .cm-line", { hasText: "1 // 0" }).click();
    for (const key of ["Home", "Shift+End", "Delete"]) await page.keyboard.press(key);
    await page.locator("#panel-source .cm-line", { hasText: "1 // 0" }).waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Try" }).click();
    await broken.getByText("the playbook has an error", { exact: true }).waitFor();
    assert.match(await panel.locator(".cm-content").innerText(), /cus_1901/);
    assert.equal(await panel.getByLabel("Tool").inputValue(), "list_accounts");
    await panel.getByText("These answers were made before your last change.").waitFor();
    await panel.getByRole("button", { name: "Make the calls again" }).click();
    await broken.getByText("refused: the agent reads an error", { exact: true }).waitFor();
    assert.equal(await panel.getByText("These answers were made before your last change").count(), 0);
    // What is typed for one tool is kept apart from what is typed for another.
    await panel.getByLabel("Tool").selectOption("get_opening_hours");
    await panel.locator(".cm-content", { hasText: /^\{\}$/ }).waitFor();
    await panel.getByLabel("Tool").selectOption("list_accounts");
    await panel.locator(".cm-content", { hasText: "cus_1901" }).waitFor();
  }));

test("what the choice of a tool shows is what is called, and nobody waits after starting over", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=try&tool=renamed_since`, async (page) => {
    const panel = page.getByRole("tabpanel", { name: "Try" });
    const select = panel.getByLabel("Tool");
    await select.locator("option").first().waitFor({ state: "attached" });
    const shown = await select.inputValue();
    assert.ok(shown !== "" && shown !== "renamed_since", shown);
    await panel.locator(".cm-content").waitFor();
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    const article = panel.locator("article", { hasText: "Call 1: " });
    assert.equal(await article.locator("h2 code").innerText(), shown);
    await panel.getByRole("button", { name: "Start over" }).click();
    await article.waitFor({ state: "detached" });

    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(/\/try$/, async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    await panel.getByRole("progressbar", { name: "Calling" }).waitFor();
    await panel.getByRole("button", { name: "Start over" }).click();
    await panel.getByRole("progressbar").waitFor({ state: "detached" });
    answer();
    await page.unroute(/\/try$/);
    await panel.getByRole("button", { name: "Call", exact: true }).click();
    await article.waitFor();
    assert.equal(await panel.locator("article").count(), 1, "the call that nobody waited for is not among them");
  }));

test("a file is added to a playbook, saved with it, and taken out again", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=source`, async (page) => {
    const files = page.getByRole("navigation", { name: "Files" });
    const field = files.getByLabel("Add a file");
    const added = files.getByRole("button", { name: "templates/notes.md.j2" });
    const path = "playbooks/retail_bank/templates/notes.md.j2";
    const remove = page.getByRole("button", { name: "Remove this file" });
    /** The saved files, once the version that is made of what is written now is there. */
    const save = async () => {
      const { version } = (await site.ask("GET", `${PROJECT}/playbooks/retail_bank`)).saved;
      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText(`v${version + 1} is a draft`).waitFor();
      return (await site.ask("GET", `${PROJECT}/playbooks/retail_bank`)).files;
    };
    const add = async (name) => {
      await field.fill(name);
      await field.press("Enter");
    };
    await page.locator("#panel-source .cm-line").first().waitFor();
    assert.equal(await remove.count(), 0, "without playbook.yaml it is no playbook");
    await add("tools.star");
    await files.getByText("This file exists already.").waitFor();
    await add("../retail_bank.yaml");
    await files.getByText("Use letters, digits, _, - and .").waitFor();
    await page.getByText("not saved", { exact: true }).waitFor({ state: "detached" });

    await add("templates/notes.md.j2");
    await added.getByText("changed").waitFor();
    await page.waitForURL((url) => url.searchParams.get("file") === path);
    await page.locator(".filename").getByText(path).waitFor();
    await page.locator("#panel-source .cm-content").click();
    await page.keyboard.insertText("What a colleague should know.\n");
    assert.equal((await save())[path], "What a colleague should know.\n");
    await added.getByText("changed").waitFor({ state: "detached" });

    await page.reload();
    await page.locator("#panel-source .cm-line", { hasText: "What a colleague should know." }).waitFor();
    const question = page.getByRole("dialog", { name: "Remove a file" });
    await remove.click();
    await question.getByText(`${path} is removed from the document when you save it.`).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await added.waitFor();
    await remove.click();
    await question.getByRole("button", { name: "Remove" }).click();
    await added.waitFor({ state: "detached" });
    await page.locator(".filename").getByText("playbooks/retail_bank/playbook.yaml").waitFor();
    // Until that is saved it can be undone.
    await page.getByText("not saved", { exact: true }).first().waitFor();
    assert.ok(path in (await site.ask("GET", `${PROJECT}/playbooks/retail_bank`)).files);
    const left = await save();
    assert.ok(!(path in left) && "playbooks/retail_bank/tools.star" in left, Object.keys(left).join());
  }));

test("the prompts are those of the variant that is chosen, and the address knows which", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=prompts&scenario=help_card_abroad`, async (page) => {
    const panel = page.getByRole("tabpanel", { name: "Prompts" });
    const agent = panel.getByRole("combobox", { name: /^Agent/ });
    const told = panel.locator("details.prompt", { has: page.locator("summary", { hasText: /^agent/ }) });
    /** What the API says that the agent is told first, once the page says the same. */
    const shows = async (variant) => {
      const asked = { scenario: "help_card_abroad", ...(variant && { variant }) };
      const { prompts } = await site.ask("POST", `${PROJECT}/playbooks/retail_bank/prompts`, asked);
      const { messages, tools } = prompts.find(({ role, sub_agent }) => role === "agent" && !sub_agent);
      await told.getByText(`with ${tools} tools`).waitFor();
      // What is long is cut.
      const text = await told.getByLabel("System").textContent();
      assert.equal(text, messages[0].content.slice(0, text.length));
      assert.ok(text.includes("# Tools"), text);
      assert.equal(await agent.inputValue(), variant);
      assert.equal(new URL(page.url()).searchParams.get("variant") ?? "", variant);
      return messages[0].content;
    };
    const own = await shows("");
    await agent.selectOption("orchestrator");
    assert.notEqual(await shows("orchestrator"), own);
    await page.reload();
    await shows("orchestrator");
    await agent.selectOption("The playbook's own");
    await shows("");
    await page.goBack();
    await shows("orchestrator");
  }));

test("the tools that an MCP server lists become the draft of a playbook", () =>
  site.visit(`${PROJECT}/playbooks`, async (page) => {
    await page.getByRole("button", { name: "New playbook" }).click();
    const dialog = page.getByRole("dialog", { name: "New playbook" });
    await dialog.getByLabel("Name").fill("desk");
    await dialog.getByLabel("Start from").selectOption("The tools of an MCP server");
    await dialog.getByText("groundstate playbook import mcp").waitFor();
    const pasted = dialog.getByRole("textbox", { name: /Answer to tools\/list/ });
    await pasted.fill('{"tools": [');
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText(/Not valid JSON/).waitFor();
    await pasted.fill('{"tools": [{"name": 1}]}');
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText(/is not an MCP tool/).waitFor();
    await screenshot(page, "playbook-import-mcp");
    await page.setViewportSize({ width: 360, height: 740 });
    await screenshot(page, "playbook-import-mcp-narrow");
    assert.equal(await pasted.inputValue(), '{"tools": [{"name": 1}]}', "what was pasted is there still");
    const properties = { order_id: { type: "string", description: "Number of the order" } };
    const inputSchema = { type: "object", properties, required: ["order_id"] };
    const tool = { name: "get_order", description: "Reads an order.", inputSchema };
    await pasted.fill(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools: [tool] } }));
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("heading", { name: "Imported in another form" }).waitFor();
    await dialog.getByText("no outputSchema, so `returns` is any value").waitFor();
    await dialog.getByRole("link", { name: "Go to the playbook" }).click();
    await page.waitForURL("**/playbooks/desk");
    await page.getByRole("tab", { name: "Tools" }).click();
    await takes(page, "get_order", "order_id", "Number of the order");
  }, { expected: [/status of 422/] }));
