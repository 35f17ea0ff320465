// People rate: a queue is made, worked off by keyboard, looked at, closed; judges are set beside what people said.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { overflows, screenshot, startBrowser, visit as open } from "./support/browser.mjs";
import { firstStart } from "./support/people.mjs";
import { startServer } from "./support/server.mjs";

const QUEUED = 3;

let server;
let browser;
let storageState;
let run;

before(async () => {
  server = await startServer({ n: 6, seed: 3 });
  browser = await startBrowser();
  storageState = await firstStart(browser, server);
  [run] = (await read("/api/v1/projects/default/runs")).items;
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** What the API answers to the administrator. */
async function read(path) {
  const cookie = storageState.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const response = await fetch(new URL(path, server.url), { headers: { cookie } });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

function visit(address, look, options = {}) {
  return open(browser, `${server.url}/projects/default${address}`, look, { storageState, ...options });
}

/** The queue that a test before made. */
async function queue() {
  const { items } = await read("/api/v1/projects/default/review-queues");
  return items.at(-1).id;
}

test("a queue is made of a run", () =>
  visit("/reviews", async (page) => {
    await page.getByText("There is no review queue yet.").waitFor();
    await page.getByRole("link", { name: "New queue" }).click();
    await page.getByLabel("Name").fill("First look");
    await page.getByLabel("Instructions").fill("Read it all. Be strict about wrong numbers.");
    await page.locator("form select").first().selectOption(run.id);
    await page.getByLabel("How many conversations").fill(`${QUEUED}`);
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByRole("heading", { name: "First look", level: 1 }).waitFor();
    await page.getByText(`0 of ${QUEUED}`).first().waitFor();
    await page.locator("table.rows tbody tr").first().waitFor();
    assert.equal(await page.locator("table.rows tbody tr").count(), QUEUED);
    assert.equal(await overflows(page), false);
    await screenshot(page, "queue");
  }));

test("what is wrong with a queue is said beside the field", () =>
  visit(
    "/reviews/new",
    async (page) => {
      await page.getByLabel("Name").fill("First look");
      await page.locator("form select").first().selectOption(run.id);
      await page.getByRole("button", { name: "Make the queue" }).click();
      await page.getByRole("alert").getByText("there is a review queue First look already", { exact: false }).waitFor();
    },
    { expected: [/status of 409/] },
  ));

test("conversations are rated by keyboard, one after the other, without a verdict in sight", async () => {
  await visit(`/reviews/${await queue()}/rate`, async (page) => {
    await page.locator(".bubble.user").first().waitFor();
    assert.equal(await page.locator("table.scores").count(), 0, "a blind queue shows no scores");
    await page.getByText(`${QUEUED} left for you`, { exact: false }).waitFor();
    await screenshot(page, "rate");
    const title = await page.locator(".title p").innerText();
    await page.keyboard.press("r");
    await page.keyboard.type("1");
    await page.keyboard.type("0");
    await page.keyboard.press("Enter");
    await page.keyboard.type("7");
    const values = await page.locator(".criterion output").allInnerTexts();
    assert.deepEqual(values.slice(0, 3), ["10", "7", "–"]);
    await page.getByLabel("yes", { exact: true }).check();
    await page.getByLabel("Comment").fill("Fine.");
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction((title) => {
      const now = document.querySelector(".title p");
      return now && now.innerText !== title;
    }, title);
    await page.getByText(`${QUEUED - 1} left for you`, { exact: false }).waitFor();
    await page.keyboard.press("s");
    await page.getByText(`${QUEUED - 2} left for you`, { exact: false }).waitFor();
    await page.getByLabel("no", { exact: true }).check();
    await page.getByRole("button", { name: "Save and next" }).click();
    await page.getByText("Nothing is left for you in this queue.").waitFor();
  });
});

test("a queue shows how far each rater is, and is closed and opened", async () => {
  const id = await queue();
  await visit(`/reviews/${id}`, async (page) => {
    const progress = page.getByRole("region", { name: "Progress" });
    await progress.getByText("mira").waitFor();
    assert.match(await progress.innerText(), /2 of 3/);
    await page.getByRole("button", { name: "Close the queue" }).click();
    await page.getByText("closed", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Open it again" }).click();
    await page.getByRole("link", { name: "Rate", exact: true }).waitFor();
    await page.getByRole("region", { name: "Instructions" }).getByRole("button", { name: "Change" }).click();
    await page.getByRole("textbox", { name: "Instructions" }).fill("Read it twice.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Read it twice.").waitFor();
    await page.getByRole("tab", { name: "Agreement" }).click();
    await page.getByText("One person rated 2 conversations.", { exact: false }).waitFor();
    assert.equal(await overflows(page), false);
    await screenshot(page, "queue-agreement");
  });
});

test("a queue is made of what a list was filtered by", () =>
  visit("/reviews/new?outcome=accepted&persona=newcomer", async (page) => {
    const { matching } = await read("/api/v1/projects/default/conversations/facets?outcome=accepted");
    await page.getByText("Also: persona newcomer.").waitFor();
    await page.getByRole("button", { name: "Leave these out" }).click();
    await page.getByText(`${matching} of 6 conversations match.`).waitFor();
    await page.getByLabel("Name").fill("Accepted ones");
    await page.getByLabel("Blind", { exact: false }).uncheck();
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByRole("heading", { name: "Accepted ones", level: 1 }).waitFor();
    await page.locator("table.rows tbody tr").first().waitFor();
    assert.equal(await page.locator("table.rows tbody tr").count(), matching);
    // An admin gives a conversation to somebody, and takes it back.
    const nobodys = page.locator("tbody tr", { hasText: "nobody yet" }).first();
    await nobodys.getByRole("combobox").selectOption("mira");
    const back = page.getByRole("button", { name: /^Take back from/ });
    await back.click();
    await back.waitFor({ state: "detached" });
  }));

test("a judge is set beside what people rated", () =>
  visit("/reviews?part=calibrations", async (page) => {
    await page.getByText("No judge was compared with people yet.").waitFor();
    await page.getByRole("form", { name: "Compare a judge with people" }).getByRole("combobox").selectOption(run.id);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL("**/calibrations/*");
    await page.getByRole("img", { name: /People .* the judge/ }).first().waitFor();
    await page.getByRole("heading", { name: "Goal achieved" }).waitFor();
    assert.equal(await overflows(page), false);
    await screenshot(page, "calibration");
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    await page.locator("table.rows tbody tr").first().waitFor();
  }));

test("where people disagree is listed for the whole project", () =>
  visit("/reviews?part=disagreements", async (page) => {
    await page.getByText("Nobody disagrees that far.", { exact: false }).waitFor();
    await page.getByText("One person rated 2 conversations.", { exact: false }).waitFor();
  }));

test("reviews fit a narrow screen", async () => {
  const id = await queue();
  await visit(
    "/reviews",
    async (page) => {
      await page.locator("table.rows").waitFor();
      for (const below of ["/reviews", "/reviews/new", `/reviews/${id}`, "/reviews?part=calibrations"]) {
        await page.goto(`${server.url}/projects/default${below}`);
        await page.locator("h1").waitFor();
        await page.waitForLoadState("networkidle");
        assert.equal(await overflows(page), false, below);
        await screenshot(page, `narrow${below.replace(id, "queue").replace(/\W+/g, "-")}`);
      }
    },
    // A page that is left has questions on their way.
    { viewport: { width: 360, height: 740 }, expected: [/Failed to fetch/] },
  );
});
