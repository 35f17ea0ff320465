// From what was found to a corpus: previewed, selected, looked at, deleted; and what runs and corpora are like.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, WIDE, fits, screenshot } from "./support/browser.mjs";
import { called } from "./support/format.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { cells, figuresOf } from "./support/tables.mjs";

const PLANNED = 72;

const site = story({
  n: PLANNED,
  seed: 3,
  ...WIDE,
  // A second run of the project, to compare with.
  prepare: ({ server }) =>
    server.run("generate", "--playbook", "retail_bank", "--n", "40", "--seed", "9", "--out", "/tmp/gs-data-e2e.jsonl"),
});

const query = (page) => new URL(page.url()).searchParams;

// The tests below are one story: each begins where the one before ended.

test("without a corpus the list says what one is", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    await page.getByRole("heading", { name: "No corpus yet." }).waitFor();
    await page.getByRole("link", { name: "Explore conversations" }).click();
    await page.waitForURL("**/conversations");
  }));

test("what was explored is selected, with a funnel, a split and its proof as one goes", () =>
  site.visit(`${PROJECT}/conversations?complexity=simple&complexity=medium`, async (page) => {
    await page.getByRole("link", { name: "Make a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    assert.deepEqual(query(page).getAll("complexity"), ["simple", "medium"]);
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByText(/^\d+ conversations: \d+ train, \d+ golden$/).waitFor();
    const first = await preview.getByRole("status").innerText();
    await preview.getByRole("heading", { name: "Funnel" }).waitFor();
    await preview.getByText("Scenarios in both parts").waitFor();

    await page.getByLabel("The verifier found nothing wrong").check();
    await page.waitForURL(/verified=true/);
    await page.getByLabel("Overall score: at least").fill("5");
    await page.getByLabel("Overall score: at least").press("Tab");
    await page.waitForURL(/min_overall=5/);
    await page.getByLabel("Golden share, in %").fill("30");
    await page.getByLabel("Golden share, in %").press("Tab");
    await preview.getByText("of 30 % requested").waitFor();
    await page.getByRole("combobox", { name: /^Balance/ }).selectOption("scenario");
    await page.getByLabel("Maximum per group").fill("1");
    await page.getByLabel("Maximum per group").press("Tab");
    await preview.getByText("Balanced").first().waitFor();
    await page.waitForFunction((first) => {
      const said = document.querySelector(".preview [role=status]").textContent;
      return /^\d+ conv/.test(said) && said !== first;
    }, first);
    await screenshot(page, "corpus-new");

    await page.getByRole("textbox", { name: /^Name/ }).fill("Not a name");
    await page.getByText(/expected 1 to 64 lower-case letters/).waitFor();
    await page.getByRole("textbox", { name: /^Name/ }).fill("first");
    await page.getByRole("button", { name: "Make the corpus" }).click();
    await page.waitForURL(/corpora\/[0-9a-f-]{36}$/);
    await page.getByText("ready", { exact: true }).waitFor();
    await screenshot(page, "corpus");
  }));

test("what cannot be done stands beside the field", () =>
  site.visit(
    `${PROJECT}/corpora/new`,
    async (page) => {
      const preview = page.getByRole("region", { name: "Preview" });
      const funnel = preview.getByRole("heading", { name: "Funnel" });
      await funnel.waitFor();
      await page.getByLabel("Minimum resemblance to stay in one part").fill("0.1");
      await page.getByLabel("Minimum resemblance to stay in one part").press("Tab");
      await page.getByText("expected 0.3 to 1, found 0.1").first().waitFor();
      // What it would have been before is not shown for what it would be now.
      await funnel.waitFor({ state: "detached" });
      assert.equal(await preview.getByText(/^\d+ conversations: /).count(), 0);
      await page.getByLabel("Overall score: at least").fill("7.5");
      await page.getByLabel("Overall score: at least").press("Tab");
      await page.getByText("Use whole numbers up to 10.").waitFor();
      assert.equal(query(page).has("min_overall"), false);
    },
    { expected: [/status of 422/] },
  ));

test("what becomes of the conversations goes along when they are explored further, and comes back", () =>
  site.visit(`${PROJECT}/corpora/new?complexity=simple&golden=0.3&balance=scenario&seed=7`, async (page) => {
    await page.getByRole("link", { name: "Explore and filter further" }).click();
    await page.waitForURL("**/conversations?**");
    const { matching } = await site.ask("GET", `${PROJECT}/conversations/facets?complexity=simple`);
    await page.locator(".toolbar .count").getByText(new RegExp(`^${matching} of \\d+$`)).waitFor();
    const link = page.locator('[aria-rowindex="2"]').getByRole("link");
    assert.doesNotMatch(await link.getAttribute("href"), /golden|balance|seed/, "a list knows nothing of it");
    assert.equal(await page.getByRole("list", { name: "Filters" }).getByRole("listitem").count(), 1);
    await page.getByRole("checkbox", { name: /^medium/ }).check();
    await page.waitForURL(/complexity=medium/);
    await page.getByRole("link", { name: "Make a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    assert.deepEqual(query(page).getAll("complexity"), ["simple", "medium"]);
    assert.equal(await page.getByLabel("Golden share, in %").inputValue(), "30");
    assert.equal(await page.getByRole("combobox", { name: /^Balance/ }).inputValue(), "scenario");
    assert.equal(await page.getByLabel("Seed").inputValue(), "7");
  }));

test("a corpus that nothing fits says what to do, and is made again from there", () =>
  site.visit(
    `${PROJECT}/corpora/new?min_overall=10`,
    async (page) => {
      // The whole selection stands in the address.
      await page.getByLabel("Golden share, in %").fill("30");
      await page.getByLabel("Golden share, in %").press("Tab");
      await page.waitForURL(/golden=0\.3/);
      await page.getByRole("combobox", { name: /^Balance/ }).selectOption("scenario");
      await page.getByLabel("Maximum per group").fill("2");
      await page.getByLabel("Maximum per group").press("Tab");
      await page.getByLabel("Keep only the best of identical conversations").uncheck();
      await page.waitForURL(/duplicates=keep/);
      await page.getByLabel("Seed").fill("7");
      await page.getByLabel("Seed").press("Tab");
      await page.waitForURL(/seed=7/);
      await page.reload();
      await page.getByText("There is no pair to compare: one part is empty.").waitFor();
      await page.getByRole("textbox", { name: /^Name/ }).fill("strict");
      await page.getByRole("button", { name: "Make the corpus" }).click();
      await page.waitForURL(/corpora\/[0-9a-f-]{36}$/);
      const strict = page.url().split("/").at(-1);
      await page.locator("h1 .badge").getByText("failed").waitFor();
      const why = /^the filter finds none of the \d+ conversations that have ended; loosen it$/;
      await page.locator(".refusal").getByText(why).waitFor();
      await screenshot(page, "corpus-failed");

      await page.getByRole("link", { name: "New corpus with the same settings" }).click();
      await page.waitForURL(/corpora\/new\?.*min_overall=10/);
      assert.equal(await page.getByLabel("Golden share, in %").inputValue(), "30");
      assert.equal(await page.getByRole("combobox", { name: /^Balance/ }).inputValue(), "scenario");
      assert.equal(await page.getByLabel("Maximum per group").inputValue(), "2");
      assert.equal(await page.getByLabel("Seed").inputValue(), "7");
      assert.ok(!(await page.getByLabel("Keep only the best of identical conversations").isChecked()));
      await page.getByLabel("Overall score: at least").fill("5");
      await page.getByLabel("Overall score: at least").press("Tab");
      await page.waitForURL(/min_overall=5/);
      // What failed keeps its name until somebody deletes it.
      await page.getByRole("textbox", { name: /^Name/ }).fill("strict");
      await page.getByRole("button", { name: "Make the corpus" }).click();
      await page.getByText("there is a corpus strict already; choose another name").waitFor();
      await page.getByRole("textbox", { name: /^Name/ }).fill("loose");
      await page.getByRole("button", { name: "Make the corpus" }).click();
      await page.waitForURL(/corpora\/[0-9a-f-]{36}$/);
      await page.getByText("ready", { exact: true }).waitFor();
      const loose = page.url().split("/").at(-1);
      const { filter: strictly, ...rest } = (await site.ask("GET", `/corpora/${strict}`)).spec;
      const { filter: loosely, ...same } = (await site.ask("GET", `/corpora/${loose}`)).spec;
      assert.deepEqual([strictly.min_overall, loosely.min_overall, same], [10, 5, rest]);
      for (const id of [strict, loose]) await site.ask("DELETE", `/corpora/${id}`);
    },
    { expected: [/status of 409/] },
  ));

/** A matrix has these numbers, rounded, and a dash where there is none. */
async function holds(matrix, names, numbers) {
  const rows = await cells(matrix);
  assert.deepEqual(rows.map(([name]) => name), names.map(called));
  assert.deepEqual(await matrix.getByRole("columnheader").allTextContents(), names.map(called));
  for (const [a, [, ...shown]] of rows.entries()) {
    assert.equal(shown.length, names.length);
    for (const [b, text] of shown.entries()) {
      const number = numbers[a][b];
      if (typeof number !== "number") assert.equal(text, "–");
      else assert.ok(/^-?\d\.\d\d$/.test(text) && Math.abs(Number(text) - number) < 0.0051, `${text} is not ${number}`);
    }
  }
}

/** The corpus of the story, from the list. */
async function openFirst(page) {
  await page.getByRole("row").getByRole("link", { name: "first" }).click();
  await page.getByRole("tab", { name: "Selection" }).waitFor();
}

test("a corpus shows what it keeps, what it dropped and why, and what it is like", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    await openFirst(page);
    await page.getByText("Verifier: passed").waitFor();
    await page.getByRole("tab", { name: "Conversations" }).click();
    await page.waitForURL(/tab=conversations/);
    await page.locator('[aria-rowindex="2"]').getByRole("link").waitFor();
    await page.getByRole("combobox", { name: "Part", exact: true }).selectOption("golden");
    await page.waitForURL(/side=golden/);
    await page.locator('[aria-rowindex="2"]').getByText("golden").waitFor();
    await page.reload();
    await page.locator('[aria-rowindex="2"]').getByText("golden").waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Part", exact: true }).inputValue(), "golden");
    assert.equal(await page.getByRole("cell").getByText("train", { exact: true }).count(), 0);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has("side"));

    // Which of two conversations is dropped may be chance, so any row will do.
    const dropped = page.getByRole("row").getByText("Balance", { exact: true }).first();
    await page.getByRole("tab", { name: "Dropped" }).click();
    await dropped.waitFor();
    await page.getByLabel("Dropped by").selectOption("balance");
    await page.waitForURL(/dropped_by=balance/);
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const { items } = await site.ask("GET", `/corpora/${id}/dropped?dropped_by=balance&limit=200`);
    const steps = new Set((await site.ask("GET", `/corpora/${id}/dropped?limit=200`)).items.map((row) => row.dropped_by));
    assert.ok(items.length > 1 && steps.size > 1, `${[...steps]}`);
    await dropped.waitFor();
    assert.equal(await page.getByRole("table", { name: "Dropped conversations" }).getAttribute("aria-rowcount"), `${items.length + 1}`);
    // From one that was dropped to the next, and back to the list.
    await page.locator('[aria-rowindex="2"]').getByRole("link").click();
    await page.waitForURL(`**/conversations/${items[0].conversation}?*`);
    await page.getByRole("link", { name: "Next →" }).waitFor();
    await page.keyboard.press("n");
    await page.waitForURL(`**/conversations/${items[1].conversation}?*`);
    await page.getByRole("link", { name: "← Previous" }).waitFor();
    await page.keyboard.press("p");
    await page.waitForURL(`**/conversations/${items[0].conversation}?*`);
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await dropped.waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Manifest as CSV" }).click();
    assert.equal((await download).suggestedFilename(), "first-manifest.csv");

    await page.getByRole("tab", { name: "Analytics" }).click();
    await page.getByRole("heading", { name: "Correlation between scores" }).waitFor();
    await page.getByRole("heading", { name: "Training part (first) and golden part (second)" }).waitFor();
    await page.getByRole("img", { name: /^Overall score: Mean/ }).waitFor();
    await screenshot(page, "corpus-analytics");
    const { gaps } = await site.ask("GET", `/corpora/${new URL(page.url()).pathname.split("/").at(-1)}/analytics`);
    const gap = page.getByRole("region", { name: "Training part (first) and golden part (second)" });
    const scores = Object.keys(gaps).filter((name) => !["turns", "tool_calls"].includes(name));
    assert.ok(scores.includes("overall") && scores.length > 2, `${scores}`);
    const shown = await figuresOf(gap, "Scores");
    assert.deepEqual(shown.map(([name]) => name), scores.map(called));
    for (const [at, name] of scores.entries()) {
      const { one, one_n, other, other_n } = gaps[name];
      const [, train, golden] = shown[at].map((text) => /^(\S+) \(n (\d+)\)$/.exec(text)?.slice(1).map(Number));
      assert.deepEqual([train[1], golden[1]], [one_n, other_n]);
      assert.ok(Math.abs(train[0] - one) < 0.051 && Math.abs(golden[0] - other) < 0.051, `${name}: ${shown[at]}`);
    }
    await page.goBack();
    await dropped.waitFor();
  }));

test("a run's analytics stand beside those of another run", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    const link = page.locator("table.rows tbody tr").nth(1).getByRole("link");
    const address = new URL(await link.getAttribute("href"), site.url).pathname;
    const run = address.split("/").at(-1);
    // The scores of a script do not vary, so nothing correlates: the numbers are written into the answer on its way.
    const { scores, n } = (await site.ask("GET", `/runs/${run}/analytics`)).analytics.correlations;
    assert.ok(scores.length > 2, `${scores}`);
    const number = (a, b) => (a + b === 1 ? null : ((a + b) % 2 === 0 ? 1 : -1) / (1 + Math.abs(a - b)));
    const pearson = scores.map((_, a) => scores.map((_, b) => number(a, b)));
    const spearman = pearson.map((row) => row.map((number) => number && number / 3));
    await page.route(/\/api\/v1\/runs\/[^/]+\/analytics(\?|$)/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      Object.assign(json.analytics.correlations, { pearson, spearman });
      await route.fulfill({ response, json });
    });
    await page.goto(`${PROJECT}/conversations?run=${run}`);
    await page.locator(".toolbar .count").getByText("72 conversations").waitFor();
    await page.getByRole("link", { name: "Analytics of the run" }).click();
    await page.getByRole("heading", { name: "Outcomes and blame" }).waitFor();
    await page.getByText("Per accepted conversation").waitFor();
    await page.getByLabel("The other run").selectOption({ index: 1 });
    await page.waitForURL(/with=/);
    await page.getByRole("heading", { name: "Rates: the other run minus this one" }).waitFor();
    await page.getByRole("heading", { name: "Means: this run (first) and the other run (second)" }).waitFor();
    await screenshot(page, "run-analytics");
    await holds(page.getByRole("region", { name: /^Pearson's/ }), scores, pearson);
    const counts = page.locator("details", { hasText: "Of how many conversations" });
    await counts.locator("summary").click();
    const pairs = scores.flatMap((one, a) => scores.slice(a + 1).map((other, b) => [one, other, n[a][a + 1 + b]]));
    const counted = pairs.map(([one, other, n]) => [`${called(one)} with ${called(other)}`, `${n}`]);
    assert.deepEqual(await cells(counts), counted.slice(0, 50));
    await page.getByLabel(/^By ranks/).check();
    const ranks = page.getByRole("region", { name: /^Spearman's/ });
    await ranks.waitFor();
    await holds(ranks, scores, spearman);
    await page.waitForURL(/correlation=spearman/);
    await page.reload();
    await ranks.waitFor();
    await holds(ranks, scores, spearman);

    const { items } = await site.ask("GET", `/runs/${run}/conversations?limit=${PLANNED}`);
    const personas = new Set(items.map(({ persona }) => persona));
    assert.ok(personas.size > 2);
    const listed = await figuresOf(page.getByRole("region", { name: "Success by group" }), "By persona");
    assert.deepEqual(new Set(listed.map(([name]) => name)), personas);
    assert.equal(listed.length, personas.size);
    const figures = page.locator("figure", { has: page.getByRole("heading", { name: "Outcomes and blame" }) });
    await figures.getByText("Figures").click();
    await figures.getByRole("rowheader", { name: "accepted" }).waitFor();
  }));

test("on a narrow, dark screen everything fits", () =>
  site.visit(
    `${PROJECT}/corpora`,
    async (page) => {
      await openFirst(page);
      await fits(page);
      await screenshot(page, "corpus-narrow");
      await page.getByRole("tab", { name: "Analytics" }).click();
      await page.getByRole("heading", { name: "Correlation between scores" }).waitFor();
      await fits(page);
      await page.goto(`${PROJECT}/corpora/new`);
      await page.getByRole("heading", { name: "Funnel" }).waitFor();
      await fits(page);
      await screenshot(page, "corpus-new-narrow");
      for (const figures of await page.locator(".preview summary").all()) await figures.click();
      await fits(page, "the page with its figures");
    },
    NARROW_DARK,
  ));

test("a corpus is deleted after a question", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    await openFirst(page);
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete the corpus?" });
    await accessible(page);
    await dialog.getByRole("button", { name: "Delete the corpus" }).click();
    await page.getByText("The corpus was deleted.").waitFor();
    await page.getByRole("heading", { name: "No corpus yet." }).waitFor();
  }));
