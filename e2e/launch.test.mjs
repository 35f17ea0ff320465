// Ordering a run, and following it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { overflows, screenshot, startBrowser, visit as open } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

let server;
let browser;
let storageState;

before(async () => {
  server = await startServer({ n: 6, seed: 3 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
  await visit("/", async (page) => {
    await change(page, "POST", "/projects/default/demo", {});
    await change(page, "PUT", "/models/house", { replicas: ["http://127.0.0.1:9/v1"], model: "small-model" });
  });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** An address, as the administrator sees it. */
function visit(address, look, options = {}) {
  const patient = (page) => {
    page.setDefaultTimeout(10_000);
    return look(page);
  };
  return open(browser, `${server.url}${address}`, patient, { storageState, ...options });
}

/** A change by REST, in the session of a page. */
function change(page, method, path, body) {
  return page.evaluate(
    async ([method, path, body]) => {
      const { csrf_token } = await (await fetch("/api/v1/session")).json();
      const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf_token };
      const answer = await fetch(`/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.status === 204 ? null : answer.json();
    },
    [method, path, body],
  );
}

const look = (page) => page.getByRole("complementary", { name: "What it will play" });
const rest = async (page) => {
  const details = look(page).locator("details");
  if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
  return details.locator("pre").innerText();
};

test("a run is ordered with a preview of what it will play, and started", () =>
  visit("/projects/default/runs", async (page) => {
    await page.getByRole("link", { name: "New run" }).click();
    await page.waitForURL("**/runs/new");
    await look(page).getByText("24 conversations").waitFor();
    await screenshot(page, "launch");

    await page.getByRole("group", { name: "Playbooks" }).getByLabel(/bank/i).first().check();
    await page.getByLabel(/Only some/).check();
    await look(page).getByRole("alert").waitFor({ state: "hidden" });
    await page.getByRole("searchbox", { name: "Search" }).fill("dispute");
    await page.getByRole("button", { name: /Choose these/ }).click();
    await page.getByLabel("Conversations", { exact: true }).fill("7");
    await page.getByLabel(/^Seed/).fill("11");
    await look(page).getByText("7 conversations").waitFor();
    const command = await rest(page);
    assert.match(command, /"n": 7/);
    assert.match(command, /"seed": 11/);
    assert.match(command, /Authorization: Bearer/);
    await screenshot(page, "launch-chosen");
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { name: "Run of retail_bank" }).waitFor();
  }));

test("what is wrong with an order stands beside the field", () =>
  visit(
    "/projects/default/runs/new",
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
  visit("/projects/default/runs/new", async (page) => {
    const agent = page.getByRole("group", { name: "agent", exact: true });
    await agent.getByText("asks no model").last().waitFor();
    await agent.getByRole("combobox").selectOption("house");
    await agent.getByLabel("Temperature").fill("0.3");
    await page.getByRole("group", { name: "judge", exact: true }).getByRole("combobox").selectOption("house");
    await page.getByText("The agent under test judges itself").waitFor();
    await page.getByRole("button", { name: "Add a fault" }).click();
    await page.getByRole("spinbutton", { name: "Probability" }).fill("0.2");
    await page.getByLabel("Tokens", { exact: false }).first().fill("50000");
    await page.waitForFunction(() => document.querySelector(".launch-look dl.pairs")?.innerText.includes("house"));
    const order = JSON.parse(/--data '(.*)'$/s.exec(await rest(page))[1]);
    assert.deepEqual(order.models, { agent: "house", judge: "house" });
    assert.deepEqual(order.temperatures, { agent: 0.3 });
    assert.deepEqual(order.faults, [{ kind: "timeout", probability: 0.2 }]);
  }));

test("the form fits a narrow, dark screen", () =>
  visit(
    "/projects/default/runs/new",
    async (page) => {
      await look(page).getByText("24 conversations").waitFor();
      await page.getByRole("button", { name: "Add a fault" }).click();
      await page.getByLabel(/Only some/).check();
      assert.equal(await overflows(page), false);
      await screenshot(page, "launch-narrow");
    },
    { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
  ));
