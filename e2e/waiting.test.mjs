// What somebody waits for says so and can be cancelled; what is safe shows before the server has answered, and is put back
// if the server refuses.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const REFUSED = { type: "about:blank", title: "Conflict", status: 409, detail: "somebody else is at it; look again" };

let queue;
const site = story({
  n: 2,
  seed: 3,
  demo: true,
  async prepare(site) {
    const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    queue = (await site.ask("POST", `${PROJECT}/review-queues`, { name: "Held", run: run.id, n: 2 })).id;
    await site.ask("POST", "/users", { name: "otto" });
    await site.ask("PUT", `${PROJECT}/members/otto`, { role: "viewer" });
  },
});

/** Holds the answers to some requests back: `release()` lets them come, `refuse()` has the server say no. */
async function hold(page, method, url) {
  const held = [];
  let waiting;
  const some = new Promise((resolve) => (waiting = resolve));
  await page.route(url, (route) => {
    if (route.request().method() !== method) return route.fallback();
    held.push(route);
    waiting();
  });
  const answer = async (how) => {
    await Promise.all(held.splice(0).map(how));
    await page.unroute(url);
  };
  return {
    some,
    release: () => answer((route) => route.continue()),
    refuse: () =>
      answer((route) => route.fulfill({ status: 409, contentType: "application/problem+json", json: REFUSED })),
  };
}

/** Whether somebody waits, and for how long, stands there; Cancel breaks the request off. */
async function waitsAndCancels(page, within, url, says) {
  await within.getByText(says).waitFor();
  await within.getByText(/^[1-9]\d* s$/).waitFor();
  const broken = page.waitForEvent("requestfailed", (request) => url.test(request.url()));
  await within.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await broken).failure().errorText, "net::ERR_ABORTED");
  await within.getByText(says).waitFor({ state: "detached" });
}

test("a probe of a model says that it goes on, and is cancelled", async () => {
  // It takes whatever is asked, and says nothing.
  const silent = createServer(() => {});
  await once(silent.listen(0, "127.0.0.1"), "listening");
  try {
    const replicas = [`http://127.0.0.1:${silent.address().port}/v1`];
    await site.ask("PUT", "/models/silent", { replicas, model: "silent" });
    await site.visit("/models", async (page) => {
      const model = page.getByRole("region", { name: "silent", exact: true });
      await model.getByRole("button", { name: "Probe" }).click();
      await model.getByText(/^Asking its endpoints/).waitFor();
      await screenshot(page, "probe-waiting");
      await waitsAndCancels(page, model, /\/models\/silent\/probe$/, /^Asking its endpoints/);
      await model.getByText("The probe was cancelled", { exact: false }).waitFor();
      assert.equal(await model.getByRole("button", { name: "Probe" }).getAttribute("aria-disabled"), "false");
    });
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

test("a script that is played says that it goes on, is cancelled, and is played after all", () =>
  site.visit(`${PROJECT}/scenarios/dispute_duplicate_cafe?side=play`, async (page) => {
    const beside = page.getByRole("complementary", { name: "Beside the text" });
    const play = beside.getByRole("button", { name: "Play the script" });
    const held = await hold(page, "POST", /\/dispute_duplicate_cafe\/play$/);
    await play.click();
    await held.some;
    await waitsAndCancels(page, beside, /\/dispute_duplicate_cafe\/play$/, /^Playing/);
    assert.equal(await page.locator(".toast").count(), 0, "whoever cancels is told of no error");
    await page.unroute(/\/dispute_duplicate_cafe\/play$/);
    await play.click();
    await beside.getByText("reaches the expected outcome").waitFor();
  }));

/** The newest version of a scenario, as the server knows it. */
const newest = async () => (await site.ask("GET", `${PROJECT}/scenarios/help_card_abroad`)).saved;

/** Writes a line of a comment at the end of the text. */
async function write(page) {
  await page.locator("#panel-source .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n# one more line");
  await page.getByText("not saved", { exact: true }).waitFor();
}

test("a saving says that it goes on, and is cancelled: nothing is kept, and nothing that was written is lost", () =>
  site.visit(`${PROJECT}/scenarios/help_card_abroad`, async (page) => {
    const before = await newest();
    const head = page.locator("header.document-head");
    await write(page);
    const held = await hold(page, "PUT", /\/scenarios\/help_card_abroad$/);
    await page.getByRole("button", { name: "Save draft" }).click();
    await held.some;
    await waitsAndCancels(page, head, /\/scenarios\/help_card_abroad$/, /^Saving/);
    await page.getByText("Saving was cancelled. Your text is still here, but not saved.").waitFor();
    await page.getByText("not saved", { exact: true }).waitFor();
    assert.deepEqual(await newest(), before);
    await page.unroute(/\/scenarios\/help_card_abroad$/);
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText(`v${before.version + 1} is saved as a draft.`).waitFor();
    assert.equal((await newest()).version, before.version + 1);
  }));

test("what is being saved is saved though its page is left", () =>
  site.visit(`${PROJECT}/scenarios/help_card_abroad`, async (page) => {
    const before = await newest();
    await write(page);
    const held = await hold(page, "PUT", /\/scenarios\/help_card_abroad$/);
    await page.getByRole("button", { name: "Save draft" }).click();
    await held.some;
    await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Scenarios" }).click();
    await page.getByRole("heading", { name: "Scenarios", level: 1 }).waitFor();
    await held.release();
    await page.getByText(`v${before.version + 1} is saved as a draft.`).waitFor();
    assert.equal((await newest()).version, before.version + 1);
  }));

test("a queue is closed at once, and open again if the server refuses", () =>
  site.visit(
    `${PROJECT}/reviews/${queue}`,
    async (page) => {
      const url = new RegExp(`/review-queues/${queue}$`);
      const state = (name) => page.locator(".title .badge").getByText(name, { exact: true });
      await state("open").waitFor();
      let held = await hold(page, "PATCH", url);
      const close = page.getByRole("button", { name: "Close the queue" });
      await close.focus();
      await page.keyboard.press("Enter");
      await held.some;
      await state("closed").waitFor();
      await page.getByRole("link", { name: "Rate", exact: true }).waitFor({ state: "detached" });
      const again = page.getByRole("button", { name: "Open it again" });
      assert.ok(await again.evaluate((button) => button === document.activeElement), "the keyboard stays where it was");
      assert.equal((await site.ask("GET", `/review-queues/${queue}`)).state, "open", "nobody has asked the server yet");
      await held.refuse();
      await page.locator(".toast.bad").getByText("Somebody else is at it; look again.").waitFor();
      await state("open").waitFor();
      await close.waitFor();

      held = await hold(page, "PATCH", url);
      await close.click();
      await held.some;
      await state("closed").waitFor();
      await held.release();
      await page.getByText("The queue is closed.").waitFor();
      assert.equal((await site.ask("GET", `/review-queues/${queue}`)).state, "closed");
      await state("closed").waitFor();
    },
    { expected: [/status of 409/] },
  ));

test("a member's role changes at once, and is what it was if the server refuses", () =>
  site.visit(
    `${PROJECT}/members`,
    async (page) => {
      const role = page.getByLabel("Role of otto");
      const shows = (name) => page.waitForFunction(
        ([label, name]) => document.querySelector(`[aria-label="${label}"]`)?.value === name,
        ["Role of otto", name],
      );
      await shows("viewer");
      const held = await hold(page, "PUT", /\/members\/otto$/);
      await role.selectOption("author");
      await held.some;
      // One change at a time: what is chosen meanwhile does not hold.
      await role.evaluate((select) => {
        select.value = "admin";
        select.dispatchEvent(new Event("change", { bubbles: true }));
      });
      await shows("author");
      await held.refuse();
      await page.locator(".toast.bad").getByText("Somebody else is at it; look again.").waitFor();
      await shows("viewer");
      await role.selectOption("runner");
      await page.getByText("otto is now runner.").waitFor();
      await shows("runner");
      await page.reload();
      await shows("runner");
    },
    { expected: [/status of 409/] },
  ));
