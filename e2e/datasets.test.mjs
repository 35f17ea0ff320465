// Datasets and indexes: a file is uploaded, its columns and rows are read, and what it holds is searched.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const site = story({ n: 4, seed: 3 });

const ROWS = 60;
const TOPICS = ["bridges", "rivers", "mountains"];
const article = (i) => ({
  id: `article-${i}`,
  title: `About ${TOPICS[i % 3]}`,
  text: i === 7 ? "The cathedral was built by masons." : `Something is said of ${TOPICS[i % 3]} here, number ${i}.`,
  words: i * i,
  topic: TOPICS[i % 3],
  url: `https://example.org/${i}`,
});
const lines = (articles) => Buffer.from(articles.map((one) => `${JSON.stringify(one)}\n`).join(""));
const FILE = {
  name: "Articles.jsonl",
  mimeType: "application/x-ndjson",
  buffer: lines(Array.from({ length: ROWS }, (_, i) => article(i))),
};

const badge = (page, text) => page.locator("h1 .badge").getByText(text, { exact: true }).waitFor();
const rowsOf = (page) => page.locator("table.dataset-rows tbody tr");
const rowButton = (page, position) => page.getByRole("button", { name: `Row ${position}`, exact: true });

// The tests below are one story: each begins where the one before ended.

test("without datasets and indexes the lists say what they are, and lead to the first", () =>
  site.visit(`${PROJECT}/indexes`, async (page) => {
    await page.getByRole("heading", { name: "No indexes yet." }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("heading", { name: "No datasets yet." }).waitFor();
    await page.getByRole("link", { name: "New dataset" }).click();
    await page.getByRole("heading", { name: "New dataset", level: 1 }).waitFor();
  }));

test("a file is uploaded and becomes a dataset", () =>
  site.visit(`${PROJECT}/datasets/new`, async (page) => {
    await page.getByLabel(/^File/).setInputFiles(FILE);
    assert.equal(await page.getByLabel(/^Name/).inputValue(), "articles");
    await page.getByLabel(/^Name/).fill("Articles!");
    await page.locator(".wrong").getByText("lower-case letters").waitFor();
    await page.getByLabel(/^Name/).fill("articles");
    await screenshot(page, "dataset-upload");
    await page.getByRole("button", { name: "Upload and make the dataset" }).click();
    await page.waitForURL(/datasets\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { name: "articles · version 1" }).waitFor();
    await badge(page, "ready");
    await page.locator(".strip").getByText(`${ROWS}`, { exact: true }).waitFor();
  }));

const PIECE = 8 * 1024 * 1024;
const PIECES = /\/datasets\/uploads\/[^/]+\?offset=/;

test("an upload that was cut off continues after the page is loaded again", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "groundstate-upload-"));
  // A real file: the browser knows it again by its time.
  const big = path.join(folder, "big.jsonl");
  const text = lines(Array.from({ length: 90_000 }, (_, i) => article(i + 100)));
  assert.ok(text.length > PIECE && text.length < 3 * PIECE, `${text.length}`);
  await writeFile(big, text);
  const look = async (page) => {
    const offset = (request) => Number(new URL(request.url()).searchParams.get("offset"));
    const send = async () => {
      await page.getByLabel(/^File/).setInputFiles(big);
      await page.getByRole("button", { name: "Upload and make the dataset" }).click();
    };
    // Only the first piece comes through.
    await page.route(PIECES, (route) => (offset(route.request()) === 0 ? route.continue() : route.abort()));
    await send();
    await page.getByText("Uploading big.jsonl: 8.0 MiB of").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("alert").getByText("choose the same file again").waitFor();
    const upload = page.getByRole("row", { name: /big\.jsonl/ });
    await upload.getByText("8.0 MiB of").waitFor();
    await page.unroute(PIECES);
    await page.reload();
    await upload.getByText("8.0 MiB of").waitFor();
    await screenshot(page, "dataset-uploads");
    const resumed = page.waitForRequest(PIECES);
    await send();
    assert.equal(offset(await resumed), PIECE, "what is there is not sent again");
    await page.waitForURL(/datasets\/[0-9a-f-]{36}$/);
    await badge(page, "ready");
    await page.locator(".strip").getByText("90,000", { exact: true }).waitFor();
  };
  try {
    await site.visit(`${PROJECT}/datasets/new`, look, { expected: [/Failed to load resource: net::ERR_FAILED/] });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("columns are shown with their most frequent values and distributions", () =>
  site.visit(`${PROJECT}/datasets`, async (page) => {
    await page.getByRole("link", { name: "articles", exact: true }).click();
    const column = (name) => page.locator(".dataset-columns > article").filter({ has: page.getByRole("heading", { name }) });
    await column(/^topic text/).getByText("Different values: 3").waitFor();
    await column(/^topic text/).locator(".bars li").first().waitFor();
    assert.equal(await column(/^topic text/).locator(".bars li").count(), 3);
    const words = column(/^words integer/);
    await words.getByText(`From 0 to ${((ROWS - 1) ** 2).toLocaleString("en")}, mean`).waitFor();
    await words.getByRole("img", { name: /^Values: From 0/ }).waitFor();
    assert.equal(await column(/^id text/).locator(".bars").count(), 0, "values that occur once are not counted up");
    await screenshot(page, "dataset-columns");
    await accessible(page);
  }));

test("rows are read from a position on, at random, and as a whole", () =>
  site.visit(`${PROJECT}/datasets`, async (page) => {
    await page.getByRole("link", { name: "articles", exact: true }).click();
    await page.getByRole("tab", { name: "Rows" }).click();
    await page.getByText(`0 to 19 of ${ROWS}`, { exact: true }).waitFor();
    assert.equal(await rowsOf(page).count(), 20);
    assert.ok(await page.getByRole("button", { name: "Previous" }).isDisabled());
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText(`20 to 39 of ${ROWS}`, { exact: true }).waitFor();
    const from = page.getByLabel("Position of the first row");
    await from.fill("55");
    await from.press("Enter");
    await page.getByText(`55 to 59 of ${ROWS}`, { exact: true }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Next" }).isDisabled());
    await from.fill(`${ROWS}`);
    await from.press("Enter");
    await page.locator(".bound .wrong").getByText(`up to ${ROWS - 1}`).waitFor();
    await from.fill("7");
    await from.press("Enter");
    await rowButton(page, 7).click();
    const whole = page.getByRole("tree", { name: "The whole row" });
    await whole.getByText("The cathedral was built by masons.").waitFor();
    await screenshot(page, "dataset-rows");
    await accessible(page);
    await rowButton(page, 7).click();
    await whole.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Random rows" }).click();
    await page.getByText(`20 of ${ROWS}, drawn with seed 1`, { exact: true }).waitFor();
    const positions = async () => page.locator("table.dataset-rows tbody th").allInnerTexts();
    const first = await positions();
    await page.getByRole("button", { name: "Random rows" }).click();
    await page.getByText(`20 of ${ROWS}, drawn with seed 2`, { exact: true }).waitFor();
    assert.notDeepEqual(await positions(), first);
  }));

test("an index is built over a dataset and searched", () =>
  site.visit(`${PROJECT}/datasets`, async (page) => {
    await page.getByRole("link", { name: "articles", exact: true }).click();
    await page.getByRole("tab", { name: "Search index" }).click();
    assert.equal(await page.getByLabel("Text, which is searched").inputValue(), "text");
    await page.getByLabel("Name").fill("encyclopaedia");
    await screenshot(page, "index-form");
    await page.getByRole("button", { name: "Build the index" }).click();
    await page.waitForURL(/indexes\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { name: "encyclopaedia" }).waitFor();
    await badge(page, "ready");
    await page.getByLabel("Words").fill("who built the cathedral?");
    await page.getByLabel("Words").press("Enter");
    const hits = page.locator(".hits > li");
    await hits.first().getByText("The cathedral was built by masons.").waitFor();
    assert.equal(await hits.first().getByRole("link").getAttribute("href"), "https://example.org/7");
    await screenshot(page, "index-search");
    await accessible(page);
    await page.getByLabel("Words").fill("zeppelins");
    await page.getByLabel("Words").press("Enter");
    await page.getByText("No document has one of these words.").waitFor();
  }));

test("a dataset is made of a run", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    await page.locator("table.rows").getByRole("link").first().click();
    await page.getByRole("link", { name: "Make a dataset" }).click();
    await page.waitForURL(/datasets\/new\?tab=played&run=/);
    const [{ id }] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    const source = page.getByLabel("Run, corpus or export");
    await source.locator(`option[value="run ${id}"]`).waitFor({ state: "attached" });
    assert.equal(await source.inputValue(), `run ${id}`);
    await page.getByLabel("Include conversations that were not accepted").check();
    await page.getByLabel(/^Name/).fill("articles");
    await page.getByRole("button", { name: "Make the dataset" }).click();
    await page.getByRole("heading", { name: "articles · version 2" }).waitFor();
    await badge(page, "ready");
    await page.getByRole("link", { name: "A run" }).waitFor();
    const dataset = await site.ask("GET", `/datasets/${page.url().split("/").at(-1)}`);
    assert.equal(dataset.source.run.all, true);
    assert.equal(dataset.rows, 4);
  }));

test("what is still being made can be cancelled, and made again", () =>
  site.visit(`${PROJECT}/datasets`, async (page) => {
    const { items } = await site.ask("GET", `${PROJECT}/datasets`);
    const { id } = items.find(({ name, version }) => name === "articles" && version === 2);
    let cancelled = false;
    // As if it had just begun.
    await page.route(`**/api/v1/datasets/${id}`, async (route) => {
      const response = await route.fetch();
      const dataset = { ...(await response.json()), rows: undefined, bytes: undefined };
      const doing = { step: "reading", done: 1, total: 4 };
      await route.fulfill({ response, json: { ...dataset, state: cancelled ? "cancelled" : "building", doing } });
    });
    await page.route(`**/api/v1/datasets/${id}/cancel`, async (route) => {
      cancelled = true;
      const dataset = items.find((one) => one.id === id);
      await route.fulfill({ json: { ...dataset, state: "cancelled" } });
    });
    await page.goto(`${PROJECT}/datasets/${id}`);
    await badge(page, "building");
    await page.getByText("Reading rows: 1 of 4").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The dataset is no longer being made.").waitFor();
    await badge(page, "cancelled");
    await page.getByRole("button", { name: "Make again" }).click();
    await page.getByRole("heading", { name: "articles · version 3" }).waitFor();
    await badge(page, "ready");
  }));

test("on a narrow, dark screen everything fits", () =>
  site.visit(
    `${PROJECT}/datasets`,
    async (page) => {
      await page.getByRole("link", { name: "articles", exact: true }).last().click();
      for (const tab of ["Columns", "Rows", "Search index"]) {
        await page.getByRole("tab", { name: tab }).click();
        await page.waitForFunction(() => document.querySelectorAll("main .loading").length === 0);
        await fits(page, tab);
      }
      await screenshot(page, "dataset-narrow");
    },
    NARROW_DARK,
  ));

test("a dataset is deleted after its index", () =>
  site.visit(
    `${PROJECT}/datasets`,
    async (page) => {
      const remove = async (what) => {
        await page.getByRole("button", { name: "Delete" }).click();
        const dialog = page.getByRole("dialog", { name: `Delete the ${what}?` });
        await dialog.getByRole("button", { name: `Delete the ${what}` }).click();
      };
      await page.getByRole("link", { name: "articles", exact: true }).last().click();
      await page.getByRole("heading", { name: "articles · version 1" }).waitFor();
      await badge(page, "ready");
      await remove("dataset");
      await page.getByText("The dataset has indexes; delete them first").waitFor();
      await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Indexes" }).click();
      await page.getByRole("link", { name: "encyclopaedia" }).click();
      await badge(page, "ready");
      await remove("index");
      await page.getByText("The index was deleted.").waitFor();
      await page.getByRole("heading", { name: "No indexes yet." }).waitFor();
      await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Datasets" }).click();
      await page.getByRole("link", { name: "articles", exact: true }).last().click();
      await page.getByRole("heading", { name: "articles · version 1" }).waitFor();
      await badge(page, "ready");
      await remove("dataset");
      await page.getByText("The dataset was deleted.").waitFor();
      const { items } = await site.ask("GET", `${PROJECT}/datasets`);
      assert.ok(!items.some(({ name, version }) => name === "articles" && version === 1));
    },
    { expected: [/Failed to load resource.*409/] },
  ));
