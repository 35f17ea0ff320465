// Long lists come a page at a time, also where the API answers in one piece, and where something is chosen from them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { screenshot } from "./support/browser.mjs";
import { choosePassword } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";

const PLAYED = 30;
/** More than a page holds. */
const MANY = 60;
const PAGE = 50;

const site = story({ n: PLAYED, seed: 3, demo: true });

const each = async (n, work) => {
  for (let i = 0; i < n; i += 1) await work(i);
};

const more = (page) => page.getByRole("main").getByRole("button", { name: "More" });

/** A list has a page of rows at first, and all of them once the reader has asked for more. */
async function growsTo(page, rows, all) {
  await more(page).waitFor();
  assert.equal(await rows.count(), PAGE);
  await more(page).click();
  await more(page).waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelectorAll("main .loading").length === 0);
  assert.equal(await rows.count(), all);
}

const rows = (page) => page.locator("table.rows tbody tr");

test("tokens come a page at a time", async () => {
  await each(MANY, (i) => site.ask("POST", "/tokens", { name: `token ${i}`, scopes: ["read"] }));
  await site.visit("/tokens", (page) => growsTo(page, rows(page), MANY));
});

test("members come a page at a time; who is removed is gone, and the others stay", async () => {
  await each(MANY, async (i) => {
    await site.ask("POST", "/users", { name: `person-${i}` });
    await site.ask("PUT", `${PROJECT}/members/person-${i}`, { role: "viewer" });
  });
  const members = await site.ask("GET", `${PROJECT}/members`);
  await site.visit(`${PROJECT}/members`, async (page) => {
    await growsTo(page, rows(page), members.length);
    const last = members.at(-1).user;
    await page.getByRole("button", { name: `Remove ${last}`, exact: true }).click();
    await page.getByRole("dialog", { name: `Remove ${last} from the project?` }).getByRole("button", { name: "Remove" }).click();
    await rows(page).getByText(last, { exact: true }).waitFor({ state: "detached" });
    assert.equal(await rows(page).count(), members.length - 1, "what was read stays");
  });
  await site.visit("/people", (page) => growsTo(page, rows(page), MANY + 1));
});

test("projects come a page at a time", async () => {
  await each(MANY, (i) => site.ask("POST", "/projects", { name: `project-${i}` }));
  await site.visit("/projects", (page) => growsTo(page, rows(page), MANY + 1));
});

test("models, which are asked for again and again, come a page at a time", async () => {
  await each(MANY, (i) => site.ask("PUT", `/models/many-${i}`, { replicas: ["http://127.0.0.1:9/v1"] }));
  const known = await site.ask("GET", "/models");
  await site.visit("/models", async (page) => {
    const models = page.locator("section.model");
    await growsTo(page, models, known.length);
    await site.ask("DELETE", "/models/many-0");
    await page.getByRole("region", { name: "many-0", exact: true }).waitFor({ state: "detached" });
    assert.equal(await models.count(), known.length - 1, "what was asked for stays");
  });
});

test("disagreements come a page at a time", async () => {
  const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations?limit=${PLAYED}`);
  const [criterion] = (await site.ask("GET", `/conversations/${items[0].id}/ratings`)).criteria;
  const rating = (score) => ({ scores: { overall: score, [criterion]: score } });
  for (const { id } of items) await site.ask("PUT", `/conversations/${id}/ratings`, rating(9));
  const link = await site.server.run("users", "create", "noor", "--administrator", "--url", site.url);
  await site.stranger(link.trim(), async (page) => {
    await choosePassword(page, { password: "seven quiet lanterns" });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    const ids = items.map(({ id }) => id);
    const refused = await page.evaluate(async ([ids, body]) => {
      const { csrf_token } = await (await fetch("/api/v1/session")).json();
      const headers = { "content-type": "application/json", "x-csrf-token": csrf_token };
      const rate = (id) => fetch(`/api/v1/conversations/${id}/ratings`, { method: "PUT", headers, body: JSON.stringify(body) });
      const answers = await Promise.all(ids.map(rate));
      return answers.filter(({ ok }) => !ok).length;
    }, [ids, rating(4)]);
    assert.equal(refused, 0);
  });
  await site.visit(`${PROJECT}/reviews?part=disagreements`, async (page) => {
    await growsTo(page, rows(page), 2 * PLAYED);
    await screenshot(page, "disagreements-all");
    await page.getByLabel("At least").fill("6");
    await page.getByLabel("At least").press("Enter");
    await page.waitForURL(/spread=6/);
    await page.getByText("No disagreements that large.", { exact: false }).waitFor();
    await page.goBack();
    await rows(page).first().waitFor();
    assert.equal(await page.getByLabel("At least").inputValue(), "2");
    await page.goForward();
    await page.getByText("No disagreements that large.", { exact: false }).waitFor();
    await page.reload();
    await page.getByText("No disagreements that large.", { exact: false }).waitFor();
    assert.equal(await page.getByLabel("At least").inputValue(), "6");
  });
});

test("every run can be chosen: for an export, beside another one, and for people to rate", async () => {
  const [first] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  await each(MANY, () => site.ask("POST", `${PROJECT}/runs`, { n: 1, paused: true }));
  const offers = (choice) => choice.locator(`option[value$="${first.id}"]`);
  const offered = async (page, choice) => {
    await more(page).waitFor();
    assert.equal(await offers(choice).count(), 0, "the first run is older than a page");
    await more(page).click();
    await offers(choice).waitFor({ state: "attached" });
    await choice.selectOption(await offers(choice).getAttribute("value"));
  };
  await site.visit(`${PROJECT}/exports/new`, async (page) => {
    await offered(page, page.getByLabel("Corpus or run"));
    await page.waitForURL((url) => url.searchParams.get("run") === first.id);
    await page.locator("pre.record").waitFor();
  });
  const [newest] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  await site.visit(`${PROJECT}/runs/${newest.id}/analytics`, async (page) => {
    await offered(page, page.getByLabel("The other run"));
    await page.waitForURL((url) => url.searchParams.get("with") === first.id);
  });
  await site.visit(`${PROJECT}/reviews/new`, async (page) => {
    await page.getByLabel("Name").fill("Of the first run");
    await offered(page, page.getByLabel(/^Run/));
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByRole("heading", { name: "Of the first run", level: 1 }).waitFor();
  });
});

test("the way back leads to where somebody was in a list, and a link to its beginning", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    const long = (n) => page.waitForFunction((n) => document.querySelectorAll("table.rows tbody tr").length === n, n);
    await more(page).click();
    await more(page).waitFor({ state: "detached" });
    await page.waitForFunction(() => document.querySelectorAll("main .loading").length === 0);
    const all = await rows(page).count();
    assert.ok(all > PAGE, `${all}`);
    await rows(page).last().scrollIntoViewIfNeeded();
    const top = await page.evaluate(() => window.scrollY);
    assert.ok(top > 0);
    await rows(page).last().getByRole("link").first().click();
    await page.waitForURL(/runs\/[0-9a-f-]{36}/);
    await page.getByRole("navigation", { name: "Breadcrumb" }).waitFor();
    await page.goBack();
    await long(all);
    await page.waitForFunction((top) => Math.abs(window.scrollY - top) < 2, top);
    await rows(page).last().getByRole("link").first().click();
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Runs", exact: true }).click();
    await more(page).waitFor();
    await long(PAGE);
    assert.equal(await page.evaluate(() => window.scrollY), 0);
  }));
