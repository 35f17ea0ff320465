// Conversations, narrowed by facets, histograms and words, in a list of any length.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW_DARK, WIDE, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const PLANNED = 640;
const LIST = `${PROJECT}/conversations`;

const site = story({ n: PLANNED, seed: 3, ...WIDE });

const row = (page, place) => page.locator(`[aria-rowindex="${place + 1}"]`);
const counted = (page) => page.locator(".toolbar .count");
const query = (page) => new URL(page.url()).searchParams;

/** The list, once its first rows are there. */
async function listed(page) {
  await row(page, 1).getByRole("link").waitFor();
}

test("facets, with counts, narrow the list; the address and the way back know it", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    assert.equal(await counted(page).innerText(), `${PLANNED} conversations`);
    await screenshot(page, "explore");

    const complexity = page.getByRole("group", { name: "Complexity" });
    const vague = complexity.getByRole("checkbox", { name: "vague" });
    const count = Number(/\d+/.exec(await complexity.getByText("vague").locator("..").innerText())[0]);
    await vague.focus();
    await page.keyboard.press("Space");
    await counted(page).getByText(`${count} of ${PLANNED}`).waitFor();
    assert.equal(query(page).get("complexity"), "vague");
    assert.ok(await vague.evaluate((box) => box === document.activeElement), "the choice keeps the focus");
    await row(page, 1).getByText("vague").waitFor();
    // A facet is counted without its own filter: what else could be chosen.
    assert.ok((await complexity.getByRole("checkbox").count()) > 1);

    await page.getByRole("button", { name: "Remove the filter Complexity: vague" }).click();
    await counted(page).getByText(`${PLANNED} conversations`).waitFor();
    await page.goBack();
    await counted(page).getByText(`${count} of ${PLANNED}`).waitFor();
    assert.ok(await vague.isChecked());
  }));

test("a histogram narrows by dragging and by numbers", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const turns = page.getByRole("group", { name: "Turns" });
    const bars = turns.locator("svg");
    await bars.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await bars.boundingBox();
    const n = await turns.locator("rect").count();
    await page.mouse.move(x + (width * 2.5) / n, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + (width * 3.5) / n, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/min_turns=2/);
    assert.equal(query(page).get("max_turns"), "3");
    await page.getByRole("button", { name: "Remove the filter Turns ≥ 2" }).waitFor();
    await turns.getByLabel("Turns: at most").fill("4");
    await turns.getByLabel("Turns: at most").press("Enter");
    await page.waitForURL(/max_turns=4/);

    const overall = page.getByRole("group", { name: "Overall score" }).getByLabel("Overall score: at least");
    await overall.fill("7");
    await overall.press("Tab");
    await page.waitForURL(/min_overall=7/);
    await page.getByRole("button", { name: "Clear all" }).click();
    await counted(page).getByText(`${PLANNED} conversations`).waitFor();
    assert.equal(query(page).toString(), "");
  }));

test("what has no facet is written, kept in the address and taken away by its chip, by keyboard alone", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const panel = page.getByRole("complementary", { name: "Filters" });
    const chip = (says) => page.getByRole("button", { name: `Remove the filter ${says}` });
    const write = async (label, text) => {
      await panel.getByLabel(label).focus();
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };

    await write("Add a model", "scripted");
    await chip("Model scripted").waitFor();
    await write("Add a model", "judge:scripted");
    await chip("Model judge:scripted").waitFor();
    assert.deepEqual(query(page).getAll("model"), ["scripted", "judge:scripted"]);
    await counted(page).getByText(`${PLANNED} conversations`).waitFor();

    await panel.getByLabel("Finished from (UTC)").fill("2020-02-29T12:30");
    await chip("Finished from 2020-02-29 12:30 UTC").waitFor();
    assert.equal(query(page).get("finished_from"), "2020-02-29T12:30:00Z");
    await panel.getByLabel("Finished before (UTC)").fill("2020-03-01T00:00");
    await page.getByRole("heading", { name: "No conversation is like that." }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "No conversation is like that." }).waitFor();
    assert.equal(await panel.getByLabel("Finished before (UTC)").inputValue(), "2020-03-01T00:00");
    await chip("Finished before 2020-03-01 00:00 UTC").focus();
    await page.keyboard.press("Enter");
    await listed(page);

    const overall = panel.getByRole("group", { name: "Overall score" }).getByLabel("Overall score: at most");
    await overall.focus();
    await page.keyboard.type("9");
    await page.keyboard.press("Enter");
    await chip("Overall score ≤ 9").waitFor();
    const { matching } = await site.ask("GET", `${LIST}/facets?${query(page)}`);
    await counted(page).getByText(matching === PLANNED ? `${PLANNED} conversations` : `${matching} of ${PLANNED}`).waitFor();

    await write("Whose verdicts count", "latest");
    await chip("Judged: latest").waitFor();
    await write("Failed for", "no such reason");
    await chip("Failed for “no such reason”").waitFor();
    await page.getByRole("heading", { name: "No conversation is like that." }).waitFor();
    // A corpus is selected by all of it.
    await page.getByRole("link", { name: "Select into a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    await chip("Failed for “no such reason”").click();
    assert.deepEqual(
      [...query(page).keys()].sort(),
      ["finished_from", "judging", "max_overall", "model", "model"],
    );
    assert.equal(await page.getByLabel("Overall score: at most").inputValue(), "9");
    assert.equal(await page.getByLabel("Finished from (UTC)").inputValue(), "2020-02-29T12:30");
    assert.equal(await page.getByLabel("Whose verdicts count").inputValue(), "latest");
  }));

test("columns order the list, and a conversation keeps the question it was found by", () =>
  site.visit(`${LIST}?outcome=accepted`, async (page) => {
    await listed(page);
    await page.getByRole("columnheader", { name: "Score" }).getByRole("button").click();
    await page.waitForURL(/sort=overall/);
    await page.locator('[role="columnheader"][aria-sort="descending"]').waitFor();
    await page.getByRole("columnheader", { name: "Score" }).getByRole("button").click();
    await page.waitForURL(/order=asc/);
    await listed(page);
    await page.locator(".virtual").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const isSecond = (link) => link === document.activeElement;
    assert.ok(await row(page, 2).getByRole("link").evaluate(isSecond));
    // One key leads past the list, however long it is.
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".virtual")), null);
    await page.locator(".virtual").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    assert.ok(await row(page, 2).getByRole("link").evaluate(isSecond));
    await page.keyboard.press("Enter");
    await page.waitForURL("**/conversations/*-*");
    assert.deepEqual([query(page).get("outcome"), query(page).get("sort"), query(page).get("order")], ["accepted", "overall", "asc"]);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard" });
    await keys.getByText("Next turn").waitFor();
    assert.equal(await keys.getByText("Remove all filters").count(), 0, "the list that was left takes no keys");
  }));

test("the list holds what is in sight only, reaches its end, and is found again where it was", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    assert.ok((await page.locator(".virtual-body [role=row]").count()) < 60, "rows out of sight are not there");
    const list = page.locator(".virtual");
    assert.equal(await list.getAttribute("aria-rowcount"), `${PLANNED + 1}`);
    await list.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await row(page, PLANNED).getByRole("link").waitFor();
    const place = await list.evaluate((list) => list.scrollTop);
    await row(page, PLANNED).getByRole("link").click();
    await page.locator(".bubble").first().waitFor();
    await page.goBack();
    await row(page, PLANNED).getByRole("link").waitFor();
    assert.equal(await page.locator(".virtual").evaluate((list) => list.scrollTop), place);
  }));

test("a jump to the end reads what is there, and nothing on the way", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const asked = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith("/conversations")) asked.push(searchParams.get("skip"));
    });
    // At once, as a dragged scroll bar does: the End key glides.
    const scroll = (list, to) => list.evaluate((list, to) => list.scrollTo({ top: to, behavior: "instant" }), to);
    await scroll(page.locator(".virtual"), 1e9);
    await row(page, PLANNED).getByRole("link").waitFor();
    // The second page is known by its cursor: what is left of the way is passed over.
    assert.deepEqual(asked, ["400"]);
    assert.equal(await row(page, PLANNED).getByRole("cell").first().innerText(), `${PLANNED}`);
    await scroll(page.locator(".virtual"), 0);
    await row(page, 1).getByRole("link").waitFor();
    assert.equal(asked.length, 1, "what was read is still there");
  }));

test("words find scenarios, and nothing found says so", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    await page.keyboard.press("/");
    await page.keyboard.type("no such scenario");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No conversation is like that." }).waitFor();
    await page.getByRole("button", { name: "Remove all filters" }).click();
    await listed(page);
  }));

/** The scenarios of what is asked, and how many conversations there are. */
async function found(asked) {
  const { facets, matching } = await site.ask("GET", `${LIST}/facets?${asked}`);
  const { values } = facets.find(({ name }) => name === "scenario");
  return { scenarios: values.map(({ value }) => value).sort(), matching };
}

test("a search that is followed into a corpus keeps exactly what was seen", async () => {
  const { scenarios } = await found("");
  const [word] = scenarios[0].split("_");
  const seen = await found(`search=${word}`);
  assert.ok(seen.matching > 0 && seen.matching < PLANNED, `${word} tells scenarios apart`);
  await site.visit(`${LIST}?search=${word}`, async (page) => {
    await listed(page);
    await page.getByRole("link", { name: "Select into a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    assert.deepEqual([...new Set(query(page).keys())], ["scenario"]);
    assert.deepEqual(query(page).getAll("scenario").sort(), seen.scenarios);
    assert.equal((await found(query(page))).matching, seen.matching);
  });
  // Of scenarios that were chosen, those that were found.
  const other = scenarios.find((name) => !name.includes(word));
  const chosen = `scenario=${seen.scenarios[0]}&scenario=${other}`;
  await site.visit(`${LIST}?search=${word}&${chosen}`, async (page) => {
    await listed(page);
    await page.getByRole("link", { name: "Select into a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    assert.deepEqual(query(page).getAll("scenario"), [seen.scenarios[0]]);
  });
});

test("a search is not selected that finds nothing, or more than is listed, or that could not be counted", async () => {
  const [word] = (await found("")).scenarios[0].split("_");
  const facets = /\/api\/v1\/projects\/default\/conversations\/facets/;
  await site.visit(
    `${LIST}?search=no+such+scenario`,
    async (page) => {
      const cannot = async (why) => {
        await page.getByText(why).waitFor();
        assert.ok(await page.getByRole("button", { name: "Select into a corpus" }).isDisabled());
        assert.equal(await page.getByRole("link", { name: "Select into a corpus" }).count(), 0);
      };
      await cannot("The search finds nothing.");
      await screenshot(page, "explore-unselectable");

      await page.route(facets, async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        json.facets.find(({ name }) => name === "scenario").distinct += 1;
        await route.fulfill({ response, json });
      });
      await page.goto(`${LIST}?search=${word}`);
      await listed(page);
      await cannot("The search finds more scenarios than are listed: narrow it further.");

      await page.unroute(facets);
      await page.route(facets, (route) => route.abort());
      await page.getByRole("button", { name: "Refresh" }).click();
      await cannot("What the search finds could not be counted: try again first.");

      await page.unroute(facets);
      await page.getByRole("button", { name: "Refresh" }).click();
      await page.getByRole("link", { name: "Select into a corpus" }).waitFor();
    },
    { expected: [/net::ERR_FAILED/] },
  );
});

test("what the address asks wrongly is refused with the reason", () =>
  site.visit(
    `${LIST}?min_overall=70`,
    async (page) => {
      await page.getByRole("alert").first().waitFor();
      assert.match(await page.getByRole("alert").first().innerText(), /min_overall/);
    },
    { expected: [/status of 400/] },
  ));

test("on a narrow, dark screen filters are behind a button", () =>
  site.visit(
    LIST,
    async (page) => {
      await listed(page);
      await fits(page);
      await screenshot(page, "explore-narrow");
      await page.getByRole("button", { name: "Filters" }).click();
      await page.getByRole("checkbox", { name: "accepted" }).check();
      await page.waitForURL(/outcome=accepted/);
      await fits(page);
      await screenshot(page, "explore-narrow-filters");
    },
    NARROW_DARK,
  ));
