// A workflow: read, run over rows, and what the rows became.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { count, figure, money, percent, seconds, words } from "./support/format.mjs";
import { Held, startStream } from "./support/model.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { cells, pairs } from "./support/tables.mjs";

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

      // The name of a step above is completed within the expression; a step below is not offered.
      await editor.locator(".cm-line", { hasText: "length: {code:" }).first().click();
      await page.keyboard.press("End");
      for (let i = 0; i < ')"}'.length; i += 1) await page.keyboard.press("ArrowLeft");
      for (let i = 0; i < "answer".length; i += 1) await page.keyboard.press("Backspace");
      await page.keyboard.press("Control+Space");
      const offered = page.locator(".cm-tooltip-autocomplete li .cm-completionLabel");
      await offered.filter({ hasText: /^answer$/ }).waitFor();
      const names = await offered.allInnerTexts();
      assert.ok(["prompt", "draft", "all_hold"].every((name) => names.includes(name)), names.join());
      assert.ok(!names.includes("claims"), names.join());
      await screenshot(page, "workflow-completion");
      await page.keyboard.type("ans");
      // A list that has just come up takes no key yet.
      await page.waitForTimeout(150);
      await page.keyboard.press("Enter");
      await editor.locator(".cm-line", { hasText: 'length: {code: "len(answer)"}' }).waitFor();

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

const region = (page, name) => page.getByRole("region", { name, exact: true });
const bar = (within, name) => within.locator(".bar", { has: within.page().locator("dt", { hasText: new RegExp(`^${name}$`) }) });

/** What the app shows of a metric, of the rows that were accepted or of all. */
function metric({ mean, interval, boolean, ...rows }) {
  const shown = boolean ? percent : figure;
  const text = (value, show) => (value === undefined ? "–" : show(value));
  const between = ({ low, high }) => `${shown(low)} to ${shown(high)}`;
  return [text(mean, shown), text(interval, between), count(rows.count), count(rows.without_value)];
}

/** What the app shows of the times of rows. */
function stages(title, { total, processing, queueing, initialising }) {
  const all = (of, show) => ["p50", "p90", "p99"].map((name) => (of ? show(of[name]) : ""));
  const stage = (name, { seconds: took, share }) => [name, ...all(took, seconds), ...all(share, percent)];
  return [
    [title],
    stage("Whole", { seconds: total }),
    stage("Processing", processing),
    stage("Queueing", queueing),
    stage("Initialisation", initialising),
  ];
}

test("the funnel of a run grows while it is watched, and its figures are those of the API", async () => {
  // Pages that the model leaves out wait until they are let go.
  const held = new Held();
  const model = await startStream(async function* (prompt) {
    const leftOut = prompt.includes("Opening hours");
    if (leftOut) await held.wait();
    yield leftOut ? "No." : "Yes";
  });
  try {
    await site.ask("PUT", "/models/priced", { replicas: [model.url], price: { prompt: 1000, completion: 5000 } });
    const texts = ["Falling stones.", "Compound growth.", ...[1, 2, 3].map((n) => `Opening hours. Number ${n}.`)];
    const rows = texts.map((text) => ({ text, language_id_whole_page_fasttext: { en: 0.97 } }));
    const order = { rows, models: { classifier: "priced" } };
    const { id } = await site.ask("POST", `${PROJECT}/workflows/natural_reasoning/runs`, order);
    await site.visit(`${PROJECT}/runs/${id}`, async (page) => {
      await held.reached(3);
      const ended = (name, n) => bar(region(page, "Yield"), name).getByText(`${n}`, { exact: true }).waitFor();
      await ended("Accepted", 2);
      const endings = region(page, "Not accepted, by ending");
      const leftOut = (n) => bar(endings, "filter by classifier").getByText(`${n}`, { exact: true }).waitFor();
      await endings.getByText("None.").waitFor();
      await page.evaluate(() => (window.isStillThere = true));
      held.release(1);
      await leftOut(1);
      await ended("Ended", 3);
      held.release(2);
      await leftOut(3);
      await ended("Ended", 5);
      await site.until(`/runs/${id}`, ({ state }) => state === "finished");
      assert.equal(await page.evaluate(() => window.isStillThere), true, "the page was not loaded again");

      await page.reload();
      const run = await site.ask("GET", `/runs/${id}`);
      const [used, ...others] = run.usage.filter(({ model }) => model !== "scripted");
      assert.deepEqual([used.model, used.calls, others], ["priced", 5, []]);
      // Rows that end early are paid for by those that are kept: five calls of 900 and 12 tokens for two rows.
      const each = (5 * (900 * 1000 + 12 * 5000)) / 1e6 / 2;
      assert.ok(Math.abs(used.cost / run.accepted - each) < 1e-9, `${used.cost} for ${run.accepted}`);
      const kept = region(page, "Accepted rows").locator("dl.pairs");
      await kept.waitFor();
      assert.deepEqual(await pairs(kept), { "Cost of each": money(each), "Tokens for each": count((5 * 912) / 2) });

      const { metrics, time } = await site.ask("GET", `/runs/${id}/rows/summary`);
      const shown = region(page, "Metrics");
      await shown.waitFor();
      const figures = metrics.map(({ accepted, all }) => [...metric(accepted), ...metric(all)]);
      assert.deepEqual((await cells(shown)).map(([, ...found]) => found), figures);
      assert.deepEqual(metrics.map(({ name, accepted: { mean } }) => [name, mean]), [
        ["steps_of_answer", 1.5],
        ["has_extracted_answer", 0.5],
      ]);
      assert.ok(metrics.every(({ accepted: { interval } }) => interval.low < interval.high), JSON.stringify(metrics));
      const names = await shown.getByRole("rowheader").allTextContents();
      assert.ok(names.every((name, i) => name.startsWith(words(metrics[i].name))), names.join());

      const breakdown = region(page, "Time of a row");
      const heads = ["Stage", "P50", "P90", "P99", "Share, P50", "Share, P90", "Share, P99"];
      assert.deepEqual(await breakdown.locator("thead th").allTextContents(), heads);
      const all = stages(`All ${count(time.tasks)} rows`, time.all);
      assert.deepEqual(await cells(breakdown), [...all, ...stages("The slowest tenth", time.slowest)]);
      assert.ok(time.tasks === 5 && time.all.total.p50 > 0 && time.all.processing.share.p50 > 0, JSON.stringify(time));
      await screenshot(page, "workflow-run-figures");
    });
  } finally {
    model.stop();
  }
});

test("the timeline of a row shows what waited, when replies began, and what was asked early", async () => {
  // The model has one place. The queries of the first claim are asked for while the other one is still written, and wait for it.
  const [begins, goesOn] = [new Held(), new Held()];
  const model = await startStream(async function* (prompt) {
    if (!prompt.startsWith("List the claims")) {
      yield "old bridge\nage of the bridge\n";
      return;
    }
    await begins.wait();
    yield '[{"claim": "The first bridge is old."}, ';
    await goesOn.wait();
    yield '{"claim": "The second bridge is new."}]';
  });
  try {
    await site.ask("PUT", "/models/single", { replicas: [model.url], max_in_flight: 1 });
    const rows = [{ prompt: "What of the bridges?", response: "The first bridge is old. The second bridge is new." }];
    const order = { rows, models: { extractor: "single" } };
    const { id } = await site.ask("POST", `${PROJECT}/workflows/factool/runs`, order);
    await begins.reached(1);
    begins.release();
    await goesOn.reached(1);
    const waits = (models) => models.find(({ name }) => name === "single").waiting === 1;
    await site.until("/models", waits);
    goesOn.release();
    await site.until(`/runs/${id}`, ({ state }) => state === "finished");
    const { row, requests } = await site.ask("GET", `/runs/${id}/rows/0`);
    assert.ok(row.accepted, JSON.stringify(row));
    const timing = (step) => requests.find((request) => request.step === step).timing;
    const [claims, early] = [timing("claims"), timing("checked[0].queries")];
    assert.ok(early.early && !claims.early, "only what follows from the beginning of a reply is asked early");
    assert.ok(early.asked < claims.asked + claims.answered, "while that reply still came");
    assert.ok(early.asked + early.sent > claims.asked + claims.first_byte, "and it waited for the place");

    const from = Math.min(...requests.map(({ timing: { asked } }) => asked));
    const whole = Math.max(...requests.map(({ timing: { asked, answered } }) => asked + answered)) - from;
    /** Where a part of a request's bar begins, and how wide it is, in percent. */
    const drawn = ({ asked }, begin, end) => [asked + begin - from, end - begin].map((moment) => (moment * 100) / whole);
    await site.visit(`${PROJECT}/runs/${id}/rows/0`, async (page) => {
      const lines = region(page, "Timeline").last().locator("tbody tr");
      const line = (name) => lines.filter({ has: page.locator("th", { hasText: new RegExp(`^${name}$`) }) }).first();
      await line("claims").waitFor();
      const isDrawn = async (name, part, expected) => {
        const piece = line(name).locator(`.timeline-bar > .${part}`);
        assert.ok(await piece.isVisible(), `${name}: ${part}`);
        const found = await piece.evaluate(({ style }) => [style.left, style.width].map(Number.parseFloat));
        assert.ok(found.every((at, i) => Math.abs(at - expected[i]) < 0.01), `${name}: ${part} ${found} ${expected}`);
      };
      await isDrawn("claims", "began", drawn(claims, claims.sent, claims.first_byte));
      await isDrawn("claims", "came", drawn(claims, claims.first_byte, claims.answered));
      await isDrawn("queries", "waited", drawn(early, 0, early.sent));
      const answer = (name) => line(name).locator("td").last().textContent();
      assert.deepEqual([await answer("claims"), await answer("queries")], ["reply", "reply, asked early"]);
      const told = await line("queries").locator("td.number").allTextContents();
      const { sent, first_byte: began, answered } = early;
      const figures = [early.asked - from, sent, began, answered].map((micros) => seconds(micros / 1e6));
      assert.deepEqual(told, [...figures, "900", "12"]);
      await accessible(page);
      await screenshot(page, "workflow-row-early");
    });
  } finally {
    model.stop();
  }
});

test("a workflow that is used as an endpoint shows how long its answers took", async () => {
  const path = `${PROJECT}/workflows/factool/answers`;
  for (const prompt of ["Tell me about the Eiffel Tower.", "Hello!"]) {
    await site.ask("POST", path, { input: { prompt } });
  }
  const times = await site.ask("GET", path);
  assert.deepEqual([times.ended, times.accepted, times.in_progress], [2, 1, 0]);
  await site.visit(`${PROJECT}/workflows/factool?tab=runs`, async (page) => {
    await page.getByText("Use as an endpoint").click();
    const shown = page.locator("details", { has: page.getByText("Use as an endpoint") }).locator("dl.strip");
    await shown.waitFor();
    assert.deepEqual(await pairs(shown), {
      "Answers in 24 hours": "2",
      Accepted: "1",
      "In progress": "0",
      P50: seconds(times.p50_seconds),
      P90: seconds(times.p90_seconds),
      P99: seconds(times.p99_seconds),
    });
    await accessible(page);
    await screenshot(page, "workflow-endpoint");
  });
});
