// The first page of a project, and the pages for operators.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { choosePassword } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { cells } from "./support/tables.mjs";

const site = story();

const row = (page, text) => page.locator("table.rows tbody tr", { hasText: text });
const dialog = (page, name) => page.getByRole("dialog", { name, exact: true });

test("another project begins with one picture and the demonstration, which plays in seconds", () =>
  site.visit("/projects", async (page) => {
    await page.getByRole("button", { name: "Make a project" }).click();
    await dialog(page, "Make a project").getByLabel(/^Name/).fill("Not a name");
    await dialog(page, "Make a project").getByRole("button", { name: "Make the project" }).click();
    await dialog(page, "Make a project").locator(".wrong").first().waitFor();
    await accessible(page);
    await dialog(page, "Make a project").getByLabel(/^Name/).fill("shop");
    await dialog(page, "Make a project").getByLabel(/^Title/).fill("Web shop");
    await dialog(page, "Make a project").getByRole("button", { name: "Make the project" }).click();
    await page.waitForURL("**/projects/shop");
    await page.getByRole("heading", { name: "Web shop" }).waitFor();
    await page.getByRole("img", { name: "From a scenario to training data" }).waitFor();
    await screenshot(page, "first-start");
    await page.getByRole("button", { name: "Play the demo" }).click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
    await page.locator("dl.strip").getByText("24 of 24").waitFor();
    await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Newest runs" }).waitFor();
    assert.equal(await page.locator("table.rows tbody tr").count(), 1);
    await page.locator(".figures dd").getByText("24").first().waitFor();
    await page.locator(".figures dd").getByText("72").waitFor();
    await screenshot(page, "overview");
  }, { expected: [/status of 422/] }));

test("the picture fits a narrow, dark screen", () =>
  site.visit(
    "/projects",
    async (page) => {
      await page.getByRole("button", { name: "Make a project" }).click();
      await dialog(page, "Make a project").getByLabel(/^Name/).fill("empty");
      await dialog(page, "Make a project").getByRole("button", { name: "Make the project" }).click();
      await page.getByRole("img", { name: "From a scenario to training data" }).waitFor();
      await fits(page);
      await screenshot(page, "first-start-narrow");
    },
    NARROW_DARK,
  ));

/** The form begins with the newest model each time it opens, and stays as it is while somebody else changes the model. */
async function editedTwice(page, model, edit) {
  const [first, second] = ["http://127.0.0.1:9/v1", "http://127.0.0.1:11/v1"];
  const endpoints = edit.getByLabel(/^Endpoints/);
  const open = async (wanted) => {
    await model.getByRole("button", { name: "Edit" }).click();
    assert.equal(await endpoints.inputValue(), wanted.join("\n"));
  };
  await open([first]);
  await endpoints.fill(`${first}\n${second}`);
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "hidden" });
  await model.getByText(second).waitFor();
  await open([first, second]);
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "hidden" });
  const saved = async () => (await site.ask("GET", "/models")).find(({ name }) => name === "house");
  assert.deepEqual((await saved()).replicas.map(({ url }) => url), [first, second]);

  await open([first, second]);
  await edit.getByLabel(/^Or file/).fill("/run/secrets/mine");
  await site.ask("PUT", "/models/house", { replicas: [first], max_in_flight: 4, start_in_flight: 3, slow_after_seconds: 2.5 });
  await model.locator("dl.strip").getByText("4", { exact: true }).waitFor();
  assert.equal(await edit.getByLabel(/^Or file/).inputValue(), "/run/secrets/mine");
  await edit.getByRole("button", { name: "Cancel" }).click();
  await open([first]);
  assert.equal(await edit.getByLabel(/^Maximum in flight/).inputValue(), "4");
  assert.equal(await edit.getByLabel(/^In flight at the start/).inputValue(), "3");
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "hidden" });
  const { start_in_flight, slow_after_seconds } = await saved();
  assert.deepEqual([start_in_flight, slow_after_seconds], [3, 2.5], "what was set by the API is kept");
  await page.getByRole("button", { name: "Add a model" }).click();
  const form = dialog(page, "Add a model");
  await form.getByLabel(/^Name/).fill("house");
  await form.getByLabel(/^Endpoints/).fill(second);
  await form.getByRole("button", { name: "Save" }).click();
  await form.locator(".field .wrong").getByText("A model with this name exists already; edit it instead.").waitFor();
  assert.deepEqual((await saved()).replicas.map(({ url }) => url), [first]);
  await form.getByRole("button", { name: "Cancel" }).click();
  await form.waitFor({ state: "hidden" });
}

test("a dialog in which something is written asks before Escape or the cross closes it", () =>
  site.visit("/models", async (page) => {
    const form = dialog(page, "Add a model");
    const name = form.getByLabel(/^Name/);
    const lost = form.getByText("What you have written here is lost when you close this.");
    const open = () => page.getByRole("button", { name: "Add a model" }).click();
    await open();
    await name.waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });

    await open();
    await name.fill("half");
    await page.keyboard.press("Escape");
    await lost.waitFor();
    await accessible(page);
    await form.getByRole("button", { name: "Stay here" }).click();
    await lost.waitFor({ state: "detached" });
    assert.equal(await name.inputValue(), "half");
    assert.ok(await name.evaluate((field) => field === document.activeElement), "the reader goes on where they were");
    await form.getByRole("button", { name: "Close", exact: true }).click();
    await lost.waitFor();
    await form.getByRole("button", { name: "Close anyway" }).click();
    await form.waitFor({ state: "hidden" });

    await open();
    assert.equal(await name.inputValue(), "");
    await name.fill("half");
    await page.keyboard.press("Escape");
    await lost.waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });
  }));

test("a model is added, shown with its endpoints, changed and removed", () =>
  site.visit("/models", async (page) => {
    await page.getByText("No models yet.").waitFor();
    await page.getByRole("button", { name: "Add a model" }).click();
    const form = dialog(page, "Add a model");
    await accessible(page);
    await form.getByLabel(/^Name/).fill("house");
    await form.getByLabel(/^Endpoints/).fill("not an address");
    await form.getByRole("button", { name: "Save" }).click();
    await form.locator(".wrong").first().waitFor();
    await screenshot(page, "model-form");
    await form.getByLabel(/^Name/).fill("");
    await form.getByRole("button", { name: "Save" }).click();
    await form.locator(".field .wrong").getByText("Enter a name first.").waitFor();
    await form.getByLabel(/^Name/).fill("house");
    await form.getByLabel(/^Endpoints/).fill("http://127.0.0.1:9/v1\nhttp://127.0.0.1:10/v1");
    await form.getByLabel(/^Environment variable/).fill("HOUSE_API_KEY");
    await form.getByLabel(/tokens read/).fill("0.5");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "hidden" });
    const model = page.getByRole("region", { name: "house", exact: true });
    await model.getByText("http://127.0.0.1:10/v1").waitFor();
    await model.getByText("not found on this server").waitFor();
    assert.equal(await model.locator("table.grid tbody tr").count(), 2);
    await screenshot(page, "models");
    await model.getByRole("button", { name: "Probe" }).click();
    await page.getByText(/HOUSE_API_KEY, which must hold the key, is not set/).waitFor();

    await model.getByRole("button", { name: "Edit" }).click();
    const edit = dialog(page, "Edit house");
    assert.equal(await edit.getByLabel(/^Environment variable/).inputValue(), "HOUSE_API_KEY");
    await edit.getByLabel(/^Endpoints/).fill("http://127.0.0.1:9/v1");
    await edit.getByLabel(/^Environment variable/).fill("");
    await edit.getByRole("button", { name: "Save" }).click();
    await model.getByText("http://127.0.0.1:10/v1").waitFor({ state: "hidden" });
    await editedTwice(page, model, edit);
    await model.getByRole("button", { name: "Probe" }).click();
    const probed = model.getByRole("region", { name: "What http://127.0.0.1:9/v1 answered" });
    await probed.getByText(/cannot be reached/).first().waitFor();
    assert.equal(await probed.locator("tbody tr").count(), 14);
    assert.equal(await model.getByText("What the model supports").count(), 0, "nothing is known of it");
    await screenshot(page, "model-probed");
    await accessible(page);
    await page.setViewportSize(NARROW_DARK.viewport);
    await fits(page);
    await model.getByRole("button", { name: "Remove …" }).click();
    await dialog(page, "Remove house?").getByRole("button", { name: "Remove it" }).click();
    await page.getByText("No models yet.").waitFor();
  }, { expected: [/status of 422/, /status of 409/] }));

test("a model that answers is probed with what the API tells; a call that goes on counts as in flight", async () => {
  // Answers in words at once; who asks for a judging of the run waits until they are let go.
  const waiting = [];
  let holds = false;
  const message = { role: "assistant", content: "yes" };
  const usage = { prompt_tokens: 9, completion_tokens: 1 };
  const answer = { object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const end = () => response.end(JSON.stringify(answer));
    request.resume().on("end", () => (holds ? waiting.push(end) : end()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  try {
    await site.ask("PUT", "/models/answers", { replicas: [url], model: "says-yes" });
    await site.visit("/models", async (page) => {
      const model = page.getByRole("region", { name: "answers", exact: true });
      await model.getByRole("button", { name: "Probe" }).click();
      const probed = model.getByRole("region", { name: `What ${url} answered` });
      await probed.locator("tbody tr").first().waitFor();
      const { replicas } = await site.ask("GET", "/models/answers/probe");
      const [{ checks, features }] = replicas;
      const results = { passed: "ok", warning: "warning", failed: "failed", skipped: "skipped" };
      assert.ok(checks.some(({ outcome }) => outcome === "passed") && checks.some(({ outcome }) => outcome === "failed"));
      const rows = (await cells(probed)).map(([, result, , , said]) => [result, said]);
      assert.deepEqual(rows, checks.map(({ outcome, detail }) => [results[outcome], detail]));
      assert.equal(await probed.getByRole("rowheader").first().innerText(), "Reply");
      await model.getByText("What the model supports").waitFor();
      const used = (await model.locator("ul.features li").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
      assert.equal(used.length, features.length);
      for (const [i, { used: is, detail }] of features.entries()) {
        assert.ok(used[i].startsWith(is ? "used " : "not used ") && used[i].endsWith(detail), `${used[i]}: ${detail}`);
      }
      await screenshot(page, "model-probed-well");

      holds = true;
      const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
      const judging = await site.ask("POST", `/runs/${run.id}/judgings`, { models: ["answers"] });
      const figures = model.getByRole("region", { name: "Endpoints" }).locator("tbody tr td");
      await figures.nth(1).getByText("1", { exact: true }).waitFor();
      assert.equal(await figures.nth(0).innerText(), "healthy");
      assert.ok(waiting.length > 0);
      await screenshot(page, "model-in-flight");

      // On the run's page somebody ends it; verdicts so far stay.
      await page.goto(`${PROJECT}/runs/${run.id}?tab=judgings`);
      const again = page.locator(".judgings li", { hasText: "again by mira" });
      await again.getByText("running", { exact: true }).waitFor();
      await again.getByText("0 of 1").waitFor();
      await again.getByRole("button", { name: "Cancel" }).click();
      await page.getByText("The judging was cancelled. Verdicts so far are kept.").waitFor();
      await again.getByText("cancelled", { exact: true }).waitFor();
      await again.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
      const { state } = (await site.ask("GET", `/runs/${run.id}/judgings`)).find(({ id }) => id === judging.id);
      assert.equal(state, "cancelled");

      // Nobody waits for the call any more: its slot is free again.
      await page.goto("/models");
      await figures.nth(1).getByText("0", { exact: true }).waitFor();
    });
    await site.ask("DELETE", "/models/answers");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("workers tell that they live", () =>
  site.visit("/workers", async (page) => {
    await page.locator("table.grid tbody tr").first().getByText(/\d s ago/).waitFor();
    await page.locator("table.grid tbody tr").first().evaluate((row) => (row.dataset.seen = "yes"));
    await page.waitForTimeout(4500);
    assert.equal(await page.locator("table.grid tbody tr[data-seen]").count(), 1, "rows are not made anew");
    await screenshot(page, "workers");
  }));

/** An endpoint that somebody else runs: it serves one model, and says one word. */
async function endpoint(model) {
  const server = createServer((request, response) => {
    const message = { role: "assistant", content: "yes" };
    const answer = request.url.endsWith("/models")
      ? { object: "list", data: [{ id: model, object: "model" }] }
      : { object: "chat.completion", model, choices: [{ index: 0, message, finish_reason: "stop" }] };
    response.setHeader("content-type", "application/json");
    request.resume().on("end", () => response.end(JSON.stringify(answer)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

/** Once the model was asked, the worker's endpoint stands under it. */
async function servesItsModel(page, url) {
  await page.goto("/models");
  const endpoint = page.getByRole("region", { name: "tiny", exact: true }).getByRole("row", { name: url });
  await endpoint.getByText("worker", { exact: true }).waitFor();
  const mine = (await site.ask("GET", "/models")).find(({ name }) => name === "tiny").replicas;
  assert.deepEqual(mine.map(({ worker }) => worker), [true]);
}

async function withdrawsJoinToken(page, name) {
  await page.goto("/workers");
  await page.getByRole("button", { name: "Add a worker" }).click();
  const known = dialog(page, "Add a worker").getByRole("listitem").filter({ hasText: name });
  await known.getByRole("button", { name: `Delete ${name}` }).click();
  const question = dialog(page, `Delete ${name}?`);
  await question.waitFor();
  await accessible(page);
  await question.getByRole("button", { name: "Delete it" }).click();
  await page.getByText(`${name} was deleted.`).waitFor();
  await known.waitFor({ state: "detached" });
  assert.deepEqual((await site.ask("GET", "/join-tokens")).filter((token) => token.name === name), []);
}

test("a worker joins with a token that is shown once, and is drained after a question", async () => {
  const served = await endpoint("tiny");
  let worker;
  try {
    await site.visit("/workers", async (page) => {
      await page.getByText("No worker has joined.").waitFor();
      await page.getByRole("button", { name: "Add a worker" }).click();
      const form = dialog(page, "Add a worker");
      await form.getByRole("button", { name: "Make a join token" }).click();
      await form.locator(".wrong").first().waitFor();
      await form.getByLabel(/^Purpose/).fill("rack 7");
      await form.getByRole("button", { name: "Make a join token" }).click();
      const command = await form.getByLabel("Start a worker").innerText();
      const [, token] = command.match(/GROUNDSTATE_JOIN_TOKEN=(gsj_[0-9a-f]{64})/);
      assert.match(command, /groundstate worker --server http:/);
      await accessible(page);
      await form.getByRole("button", { name: "I have copied it" }).click();

      const url = `http://127.0.0.1:${served.address().port}/v1`;
      const args = ["worker", "--server", site.url, "--model", "tiny", "--name", "rack-7", "--engine", "external"];
      worker = spawn(process.env.GROUNDSTATE_BIN, [...args, "--url", url], {
        env: { ...process.env, GROUNDSTATE_JOIN_TOKEN: token },
        stdio: "ignore",
      });
      const ended = once(worker, "exit");
      const shown = page.getByRole("region", { name: /^rack-7/ });
      await shown.getByText("ready", { exact: true }).waitFor();
      await shown.getByText(url).waitFor();
      await screenshot(page, "worker");
      await accessible(page);
      await servesItsModel(page, url);
      await page.goto("/workers");
      await shown.getByText("ready", { exact: true }).waitFor();
      await page.setViewportSize(NARROW_DARK.viewport);
      await fits(page);
      await shown.getByRole("button", { name: "Drain …" }).click();
      await dialog(page, "Drain rack-7?").waitFor();
      await accessible(page);
      await dialog(page, "Drain rack-7?").getByRole("button", { name: "Drain it" }).click();
      await page.getByText("No worker has joined.").waitFor();
      assert.deepEqual(await ended, [0, null]);
      await withdrawsJoinToken(page, "rack 7");
      await page.goto("/models");
      await page.getByRole("region", { name: "tiny" }).waitFor();
      await site.ask("DELETE", "/models/tiny");
    }, { expected: [/status of 422/] });
  } finally {
    worker?.kill("SIGKILL");
    served.close();
  }
});

test("a token is made, its secret is shown once, and it is withdrawn after a question", () =>
  site.visit("/tokens", async (page) => {
    await page.getByRole("button", { name: "Make a token" }).click();
    const form = dialog(page, "Make a token");
    await form.getByLabel(/^Purpose/).fill("nightly run");
    await form.getByLabel(/^run/).check();
    await form.getByLabel(/^Projects/).selectOption("default");
    await screenshot(page, "token-form");
    await form.getByRole("button", { name: "Make the token" }).click();
    const secret = await form.locator("pre").innerText();
    assert.match(secret, /^gs_/);
    await screenshot(page, "token-made");
    await accessible(page);
    const headers = { Authorization: `Bearer ${secret.trim()}` };
    const status = async () => (await fetch(`${site.url}/api/v1${PROJECT}/runs`, { headers })).status;
    assert.equal(await status(), 200);
    await page.keyboard.press("Escape");
    await form.getByText("This is shown only now: you cannot look it up after you close this.").waitFor();
    await form.getByRole("button", { name: "Stay here" }).click();
    assert.equal(await form.locator("pre").innerText(), secret);
    await form.getByRole("button", { name: "I have copied it" }).click();
    await row(page, "nightly run").getByText("run", { exact: true }).waitFor();
    assert.equal((await page.content()).includes(secret.trim()), false);
    await row(page, "nightly run").getByRole("button", { name: "Delete nightly run" }).click();
    await dialog(page, "Delete nightly run?").getByRole("button", { name: "Delete it" }).click();
    await page.getByText("No tokens yet.").waitFor();
    assert.equal(await status(), 401);
  }));

test("somebody is invited, becomes a member, is disabled; the audit log has it all", async () => {
  let link;
  let renewed;
  await site.visit("/people", async (page) => {
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await dialog(page, "Invite somebody").getByLabel(/^Name/).fill("otto");
    await dialog(page, "Invite somebody").getByRole("button", { name: "Invite" }).click();
    link = (await dialog(page, "Invite somebody").locator("pre").innerText()).trim();
    await screenshot(page, "invited");
    await accessible(page);
    await dialog(page, "Invite somebody").getByRole("button", { name: "I have copied it" }).click();
    await row(page, "otto").getByText("invited").waitFor();
  });
  await site.visit(`${PROJECT}/members`, async (page) => {
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator(".field .wrong").getByText("Enter a name first.").waitFor();
    await page.getByLabel(/^Name/).fill("otto");
    await page.getByLabel(/^Role/).last().selectOption("viewer");
    await page.getByRole("button", { name: "Add" }).click();
    await row(page, "otto").getByLabel("Role of otto").selectOption("author");
    await page.getByText("otto is now author.").waitFor();
    await screenshot(page, "members");
  });
  await site.stranger(link, async (page) => {
    await choosePassword(page, { password: "a quiet green lamp" });
    await page.waitForURL(`**${PROJECT}`);
    assert.equal(await page.getByRole("link", { name: "New run" }).count(), 0, "authors start no runs");
    await page.goto("/people");
    await page.getByText("This page is for administrators.").waitFor();
  });
  await site.visit("/people", async (page) => {
    await row(page, "otto").getByRole("button", { name: "Disable …" }).click();
    await dialog(page, "Disable otto?").getByRole("button", { name: "Disable", exact: true }).click();
    await row(page, "otto").getByText("disabled").waitFor();
    await screenshot(page, "people");
    const otto = async () => (await site.ask("GET", "/users")).items.find(({ name }) => name === "otto");
    await row(page, "otto").getByRole("button", { name: "Enable" }).click();
    await page.getByText("The user was enabled and can sign in again.").waitFor();
    await row(page, "otto").getByRole("button", { name: "Make administrator" }).click();
    await page.getByText("This user is now an administrator.").waitFor();
    assert.deepEqual([(await otto()).disabled, (await otto()).administrator], [false, true]);
    await row(page, "otto").getByRole("button", { name: "Remove administrator …" }).click();
    const take = dialog(page, "Remove administrator rights from otto?");
    await take.getByText("They may then do only what their roles").waitFor();
    assert.equal((await otto()).administrator, true, "nothing is taken before the question is answered");
    await take.getByRole("button", { name: "Remove" }).click();
    await page.getByText("This user is no longer an administrator.").waitFor();
    assert.equal((await otto()).administrator, false);
    await row(page, "otto").getByRole("button", { name: "New link" }).click();
    const again = dialog(page, "A new link");
    renewed = (await again.locator("pre").innerText()).trim();
    assert.match(renewed, /\/welcome#[0-9a-f]{64}$/);
    await accessible(page);
    await again.getByRole("button", { name: "I have copied it" }).click();
    await row(page, "mira").getByRole("button", { name: "Remove administrator …" }).click();
    const own = dialog(page, "Remove administrator rights from mira?");
    await own.getByText("This is you").waitFor();
    await own.getByRole("button", { name: "Cancel" }).click();
  });
  await site.visit("/audit", async (page) => {
    const newest = page.locator("table.rows tbody tr").first();
    await newest.getByText("otto").first().waitFor();
    const [{ actor, action, subject }] = (await site.ask("GET", "/audit")).items;
    const [, who, did, to] = await newest.locator("td").allInnerTexts();
    assert.deepEqual([who, did, to].map((text) => text.trim()), [actor, action.replace("/api/v1", ""), subject]);
    await screenshot(page, "audit");
  });
  await site.visit(`${PROJECT}/audit`, async (page) => {
    await page.locator("table.rows tbody tr").first().getByText("otto").first().waitFor();
    await fits(page);
  }, NARROW_DARK);
  await site.stranger(renewed, async (page) => {
    await choosePassword(page, { password: "another quiet lamp" });
    await page.waitForURL(`**${PROJECT}`);
  });
});
