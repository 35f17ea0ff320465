// What authors try before they save it: a script played, calls made, an interface read as a playbook.

import assert from "node:assert/strict";
import { test } from "node:test";

import { screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const OPENAPI = `openapi: 3.0.3
info: {title: Orders, version: "1"}
paths:
  /orders/{order_id}:
    get:
      operationId: get_order
      summary: Returns an order.
      parameters: [{name: order_id, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: The order.
          content: {application/json: {schema: {type: object, properties: {status: {type: string}}}}}
`;

const site = story({ demo: true });

test("a script is played step by step, with the world after each step", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    await page.getByRole("button", { name: "Play the script" }).click();
    await page.getByText("reaches what is expected").waitFor();
    const steps = page.getByRole("group", { name: "Steps" });
    const changed = page.getByRole("tree", { name: "The world after this step" }).locator(".said").first();
    while (!(await changed.isVisible()) && (await steps.getByRole("button", { name: "Next" }).isEnabled())) {
      await steps.getByRole("button", { name: "Next" }).click();
    }
    await screenshot(page, "scenario-play");
    await page.locator(".beside-editor summary", { hasText: "agent" }).first().click();
    await page.locator(".beside-editor pre").first().waitFor({ state: "attached" });
  }));

test("calls are tried one after the other", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=try`, async (page) => {
    await page.getByLabel("Tool").selectOption("verify_identity");
    await page.getByLabel("Scenario").fill("dispute_duplicate_cafe");
    const panel = page.getByRole("tabpanel", { name: "Try" });
    const content = panel.locator(".cm-content");
    await content.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{"customer_id": "cus_1002", "date_of_birth": "1994-11-03", "postcode": "61477"}');
    await panel.getByRole("button", { name: "Call" }).click();
    await panel.getByText("answered", { exact: true }).waitFor();
    await panel.getByText("verified_customer_id").first().waitFor();
    await screenshot(page, "playbook-try");
  }));

test("an OpenAPI document becomes the draft of a playbook", () =>
  site.visit(`${PROJECT}/playbooks`, async (page) => {
    await page.getByRole("button", { name: "New playbook" }).click();
    const dialog = page.getByRole("dialog", { name: "New playbook" });
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByLabel("Start from").selectOption("An OpenAPI document");
    await dialog.getByRole("textbox", { name: /OpenAPI document/ }).fill(OPENAPI);
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/playbooks/orders");
    await page.getByRole("tab", { name: "Tools" }).click();
    await page.getByRole("tabpanel", { name: "Tools" }).getByText("get_order", { exact: true }).first().waitFor();
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
