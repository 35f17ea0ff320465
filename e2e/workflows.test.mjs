// A workflow: read, run over rows, and what the rows became.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const site = story({ n: 2, seed: 3, demo: true });

test("a workflow is run from its page, and its rows are read", () =>
  site.visit(`${PROJECT}/workflows`, async (page) => {
    await page.getByRole("link", { name: "natural_reasoning" }).click();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.getByText("No runs yet.").waitFor();
    await page.getByText("New run").click();
    await page.getByLabel(/^Input rows/).fill("no json");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".wrong").getByText("line 1:").waitFor();
    await page.getByLabel(/^Input rows/).fill("");
    await screenshot(page, "workflow-run-form");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL("**/runs/*");
    await page.getByRole("heading", { name: "Run of natural_reasoning" }).waitFor();
    await page.getByRole("heading", { name: "Not accepted, by ending" }).waitFor();
    await page.locator(".strip").getByText("finished").waitFor();
    await page.getByRole("heading", { name: "Metrics" }).waitFor();
    await page.getByRole("region", { name: "Time of a row" }).getByText("Queueing").first().waitFor();
    await screenshot(page, "workflow-run");
    await page.getByRole("tab", { name: "Rows" }).click();
    const rows = page.locator(".output-rows > li");
    await rows.first().waitFor();
    assert.ok((await rows.count()) >= 3, "each sample has a row");
    await rows.first().locator("summary").click();
    await page.getByRole("tree", { name: "Input and output" }).first().waitFor();
    await screenshot(page, "workflow-rows");
    await accessible(page);
    await rows.first().getByRole("link", { name: "Timeline of row 1" }).click();
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    const lines = page.getByRole("region", { name: "Timeline" }).locator("tbody tr");
    await lines.first().waitFor();
    assert.ok(await lines.first().locator(".came").isVisible(), "a bar is drawn");
    await screenshot(page, "workflow-row");
    await accessible(page);
  }));

test("the steps of a workflow are drawn beside its source, and lead to it", () =>
  site.visit(
    `${PROJECT}/workflows/factool`,
    async (page) => {
      const drawing = page.getByRole("region", { name: "Drawing of the steps" });
      await drawing.getByRole("img", { name: /^The steps of the workflow/ }).waitFor();
      const named = (name) => page.locator("text.name", { hasText: new RegExp(`^${name}$`) });
      const box = (name) => drawing.locator(".step").filter({ has: named(name) });
      await box("draft").locator("text.about", { hasText: "ask writer" }).waitFor();
      await box("none").locator("text.about", { hasText: "ends as no_claims" }).waitFor();
      assert.match(await box("none").getAttribute("class"), /\bend\b/);
      // What is within a map stands within its frame, to any depth.
      const frame = await box("checked").locator("rect").boundingBox();
      for (const name of ["queries", "found", "docs", "verdict"]) {
        const inner = await box(name).locator("rect").boundingBox();
        assert.ok(inner.x > frame.x && inner.x + inner.width < frame.x + frame.width, name);
        assert.ok(inner.y > frame.y && inner.y + inner.height < frame.y + frame.height, name);
      }
      await screenshot(page, "workflow-graph");
      await page.getByText("As a list").click();
      const list = page.locator(".graph-list").first();
      await list.getByText("verdict: ask judge.", { exact: false }).first().waitFor();
      await accessible(page);
      await list.getByRole("button", { name: "docs", exact: true }).click();
      await page.locator("#panel-source .cm-focused").waitFor();

      // A draft is drawn as it is; one with errors is not, and the drawing before stays.
      const editor = page.locator("#panel-source .cm-content");
      const typed = async (after, text) => {
        await editor.locator(".cm-line", { hasText: after }).first().click();
        await page.keyboard.press("End");
        await page.keyboard.insertText(text);
      };
      await typed("answer: {code:", '\n  length: {code: "len(answer)"}');
      await box("length").waitFor();
      await typed("length: {code:", '\n  broken: {code: "nothing + 1"}');
      await page.getByText("The steps are drawn once the workflow has no errors.").waitFor();
      assert.equal(await box("length").count(), 1);
    },
    { viewport: { width: 1500, height: 950 }, expected: [/422.*\/graph\)$/] },
  ));

test("a workflow is completed, explained and read by the browser while it is typed, and kept in versions", () =>
  site.visit(
    `${PROJECT}/workflows/natural_reasoning`,
    async (page) => {
      const editor = page.locator("#panel-source .cm-content");
      const problems = page.locator(".problems button");
      const after = async (line) => {
        await editor.locator(".cm-line", { hasText: line }).first().click();
        await page.keyboard.press("End");
      };
      await page.locator(".cm-line span", { hasText: /^metrics$/ }).first().hover();
      await page.locator(".cm-schema", { hasText: "Figures over the rows of a run" }).waitFor();
      await after("steps:");
      await page.keyboard.insertText("\n  fresh:\n    ");
      await page.keyboard.press("Control+Space");
      const offered = page.locator(".cm-tooltip-autocomplete li .cm-completionLabel");
      await offered.filter({ hasText: /^ask$/ }).waitFor();
      const names = await offered.allInnerTexts();
      assert.ok(["ask", "code", "map", "loop", "search", "when"].every((name) => names.includes(name)), names.join());
      await page.keyboard.press("Escape");

      // What the browser reads by itself, and what only the server knows.
      await page.route(/\/(check|graph)$/, (route) => route.abort());
      await page.keyboard.insertText("cod: text");
      await problems.filter({ hasText: "did you mean `code`" }).waitFor();
      await page.locator("#panel-source .cm-lintRange-error").first().waitFor();
      await page.getByText("The server could not check it").waitFor();
      await page.unroute(/\/(check|graph)$/);
      await after("cod: text");
      for (let i = 0; i < "cod: text".length; i += 1) await page.keyboard.press("Backspace");
      await page.keyboard.insertText("code: txt.upper()");
      await problems.filter({ hasText: "did you mean `text`" }).waitFor();
      await screenshot(page, "workflow-problem");
      await accessible(page);
      await after("code: txt.upper()");
      for (let i = 0; i < "txt.upper()".length; i += 1) await page.keyboard.press("Backspace");
      await page.keyboard.insertText("text.upper()");
      await problems.first().waitFor({ state: "detached" });

      await page.getByRole("button", { name: "Save draft" }).click();
      await page.getByText("v2 is a draft").waitFor();
      await page.getByRole("tab", { name: "Versions" }).click();
      await page.locator(".unified .added", { hasText: "code: text.upper()" }).waitFor();
      await page.getByRole("button", { name: "Promote", exact: true }).click();
      await page.getByText("v2 is promoted", { exact: true }).waitFor();
    },
    { expected: [/net::ERR_FAILED/, /422.*\/graph\)$/] },
  ));

test("the drawing fits a narrow screen in the dark", () =>
  site.visit(
    `${PROJECT}/workflows/factool`,
    async (page) => {
      await page.getByRole("region", { name: "Drawing of the steps" }).waitFor();
      await fits(page);
      await accessible(page);
      await screenshot(page, "workflow-graph-narrow");
    },
    NARROW_DARK,
  ));

const MESSAGES = Array.from({ length: 12 }, (_, i) => ({ message: `Who built bridge ${i}?`, title: `Bridge ${i}`, text: `Masons built bridge ${i}.` }));
const FILE = {
  name: "bridges.jsonl",
  mimeType: "application/x-ndjson",
  buffer: Buffer.from(MESSAGES.map((row) => `${JSON.stringify(row)}\n`).join("")),
};

test("a run takes rows of a dataset, an index, models, limits and a forecast as they were typed", () =>
  site.visit(`${PROJECT}/datasets/new`, async (page) => {
    await page.getByLabel(/^File/).setInputFiles(FILE);
    await page.getByRole("button", { name: "Upload and make the dataset" }).click();
    await page.waitForURL(/datasets\/[0-9a-f-]{36}$/);
    const dataset = page.url().split("/").pop();
    await site.until(`/datasets/${dataset}`, (found) => found.state === "ready");
    const over = { name: "masons", dataset, columns: { text: "text", title: "title" } };
    const index = await site.ask("POST", `${PROJECT}/indexes`, over);
    await site.until(`/indexes/${index.id}`, (found) => found.state === "ready");

    await page.goto(`${PROJECT}/workflows/wikichat?tab=runs`);
    await page.getByText("New run").click();
    const fill = (label, text) => page.getByLabel(label).fill(text);
    await fill(/^Dataset/, "bridges");
    await fill(/^First row/, "4");
    await fill(/^Rows/, "5");
    await fill(/^wiki/, "masons");
    await fill(/^writer/, "nobody");
    await fill(/^Forecast after/, "2");
    await fill(/^Money/, "0.5");
    await fill(/^Priority/, "3");
    await fill(/^Retries/, "1");
    await fill(/^Seed/, "7");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("alert").getByText("nobody").waitFor();
    await fill(/^writer/, "scripted");
    await screenshot(page, "workflow-run-form-filled");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL("**/runs/*");
    const run = await site.until(`/runs/${page.url().split("/").pop()}`, (found) => found.state === "paused");
    const { seed, priority, planned } = run;
    assert.deepEqual({ seed, priority, planned }, { seed: 7, priority: 3, planned: 5 });
    const { budget } = await site.ask("GET", `/runs/${run.id}/config`);
    // A forecast is a cap on how many are played.
    assert.deepEqual(budget, { money: 0.5, conversations: 2 });
    await page.getByRole("heading", { name: "Forecast" }).waitFor();
    await screenshot(page, "workflow-run-forecast");
    await page.getByRole("button", { name: "Resume" }).click();
    await site.until(`/runs/${run.id}`, (found) => found.state === "finished");
    const rows = await site.ask("GET", `/runs/${run.id}/rows`);
    assert.deepEqual(rows.map((row) => row.input.message), MESSAGES.slice(4, 9).map(({ message }) => message));
    assert.match(JSON.stringify(rows), /Masons built bridge/, "the index of the project was searched");
  }, { expected: [/422.*\/wikichat\/runs\)$/] }));

test("a run that starts paused waits", () =>
  site.visit(`${PROJECT}/workflows/factool?tab=runs`, async (page) => {
    await page.getByText("New run").click();
    await page.getByLabel("Start paused").check();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL("**/runs/*");
    const run = await site.until(`/runs/${page.url().split("/").pop()}`, (found) => found.state === "paused");
    assert.equal(run.finished, 0);
    await page.getByRole("button", { name: "Resume" }).click();
    await site.until(`/runs/${run.id}`, (found) => found.state === "finished");
  }));

test("the pages fit a narrow screen in the dark", () =>
  site.visit(
    `${PROJECT}/workflows/factool?tab=runs`,
    async (page) => {
      await page.getByText("New run").click();
      await page.getByLabel(/^Input rows/).waitFor();
      await fits(page);
    },
    NARROW_DARK,
  ));
