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

/** Waits until the list holds what the address asks for, in its order, and no more; gives what the API counts of it. */
async function agrees(page) {
  const asked = query(page);
  const which = [...asked].filter(([name]) => name !== "sort" && name !== "order");
  const found = await site.ask("GET", `${LIST}/facets?${new URLSearchParams(which)}`);
  const { matching } = found;
  await counted(page).getByText(matching === PLANNED ? `${PLANNED} conversations` : `${matching} of ${PLANNED}`).waitFor();
  const { items } = await site.ask("GET", `${LIST}?${asked}${asked.size > 0 ? "&" : ""}limit=6`);
  for (const [place, { id }] of items.entries()) {
    await row(page, place + 1).locator(`a[href*="/conversations/${id}"]`).waitFor();
  }
  await page.locator(`.virtual[aria-rowcount="${matching + 1}"]`).waitFor();
  return found;
}

const asks = (page, wanted) => page.waitForURL(({ searchParams }) => `${searchParams}` === `${new URLSearchParams(wanted)}`);
const facet = (page, name) => page.getByRole("group", { name, exact: true });
const value = (page, name, says) => facet(page, name).getByRole("checkbox", { name: new RegExp(`^${says}\\s*\\d`) });
const chip = (page, says) => page.getByRole("button", { name: `Remove the filter ${says}`, exact: true });
const pairsOf = (name, ...values) => values.map((value) => [name, value]);

test("several values of a facet widen, several facets narrow; a reload and the way back know each of them", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const [simple, vague] = ["simple", "vague"].map((says) => value(page, "Complexity", says));
    const parent = value(page, "Persona", "worried_parent");
    const one = pairsOf("complexity", "simple");
    const two = pairsOf("complexity", "simple", "vague");
    const three = [...two, ["persona", "worried_parent"]];

    await simple.check();
    await asks(page, one);
    const alone = await agrees(page);
    await vague.check();
    await asks(page, two);
    const both = await agrees(page);
    const { values } = alone.facets.find(({ name }) => name === "complexity");
    const counts = Object.fromEntries(values.map(({ value, count }) => [value, count]));
    assert.equal(both.matching, counts.simple + counts.vague, "either of the two");
    await parent.check();
    await asks(page, three);
    const narrowed = await agrees(page);
    assert.ok(narrowed.matching > 0 && narrowed.matching < both.matching, `${narrowed.matching} of ${both.matching}`);
    // Each value of a facet says what it would bring under the filters of the others.
    const { values: left } = narrowed.facets.find(({ name }) => name === "complexity");
    for (const { value: says, count } of left) {
      await facet(page, "Complexity").locator("li", { hasText: says }).getByText(`${count}`, { exact: true }).waitFor();
    }
    assert.ok(left.length > 2, "also those that were not chosen");

    await page.reload();
    await agrees(page);
    for (const box of [simple, vague, parent]) assert.ok(await box.isChecked());
    await page.goBack();
    await asks(page, two);
    await agrees(page);
    assert.equal(await parent.isChecked(), false);
    await page.goBack();
    await asks(page, one);
    await agrees(page);
    assert.deepEqual([await simple.isChecked(), await vague.isChecked()], [true, false]);
    await page.goForward();
    await page.goForward();
    await asks(page, three);
    await agrees(page);

    // One is taken away where it was chosen, one by its chip, the rest by one key.
    await simple.uncheck();
    await asks(page, three.slice(1));
    await agrees(page);
    await chip(page, "Persona: worried_parent").click();
    await asks(page, two.slice(1));
    await agrees(page);
    assert.equal(await parent.isChecked(), false);
    await parent.check();
    await asks(page, three.slice(1));
    await page.locator(".virtual").focus();
    await page.keyboard.press("x");
    await asks(page, []);
    await agrees(page);
    assert.deepEqual([await vague.isChecked(), await parent.isChecked()], [false, false]);
    assert.equal(await page.getByRole("list", { name: "Filters" }).getByRole("button").count(), 0);
  }));

test("of several tools one is enough, or all of them must have been called", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const tools = facet(page, "Tools called");
    const all = tools.getByRole("checkbox", { name: "All of these tools, not just one of them" });
    const [verify, cards] = ["verify_identity", "list_cards"];
    await value(page, "Tools called", cards).check();
    await asks(page, pairsOf("tool_any", cards));
    assert.equal(await all.count(), 0, "of one tool there is nothing to choose");
    await value(page, "Tools called", verify).check();
    await asks(page, pairsOf("tool_any", cards, verify));
    const either = await agrees(page);
    await all.check();
    await asks(page, pairsOf("tool_all", cards, verify));
    const both = await agrees(page);
    assert.ok(both.matching > 0 && both.matching < either.matching, `${both.matching} of ${either.matching}`);
    await chip(page, `Calls also ${cards}`).waitFor();
    // A third one must have been called, too.
    await value(page, "Tools called", "block_card").check();
    await asks(page, pairsOf("tool_all", cards, verify, "block_card"));
    assert.ok((await agrees(page)).matching <= both.matching);
    await page.reload();
    await agrees(page);
    assert.ok(await all.isChecked());
    await all.uncheck();
    await asks(page, pairsOf("tool_any", cards, verify, "block_card"));
    assert.ok((await agrees(page)).matching >= either.matching);
    await page.goBack();
    await asks(page, pairsOf("tool_all", cards, verify, "block_card"));
    await agrees(page);
    assert.ok(await all.isChecked());
  }));

test("of yes and no one is chosen; what is rare is unfolded, and stays once it is chosen", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const [achieved, missed] = ["achieved", "not achieved"].map((says) => value(page, "Goal", says));
    await achieved.check();
    await asks(page, { goal_achieved: "true" });
    const reached = await agrees(page);
    await missed.check();
    await asks(page, { goal_achieved: "false" });
    const failed = await agrees(page);
    assert.ok(failed.matching > 0 && reached.matching + failed.matching === PLANNED, "each has one or the other");
    assert.equal(await achieved.isChecked(), false);
    await missed.uncheck();
    await asks(page, []);

    const { facets } = await agrees(page);
    const scenarios = facets.find(({ name }) => name === "scenario").values.map(({ value }) => value);
    const shown = facet(page, "Scenario").getByRole("listitem");
    const few = await shown.count();
    assert.ok(few < scenarios.length);
    const last = value(page, "Scenario", scenarios.at(-1));
    assert.equal(await last.count(), 0);
    await facet(page, "Scenario").getByRole("button", { name: `All ${scenarios.length}` }).click();
    await last.check();
    await asks(page, { scenario: scenarios.at(-1) });
    await agrees(page);
    await facet(page, "Scenario").getByRole("button", { name: "Fewer" }).click();
    await page.waitForFunction(
      ([legend, rows]) => {
        const facets = [...document.querySelectorAll("fieldset.facet")];
        return facets.find((one) => one.querySelector("legend").textContent === legend).querySelectorAll("li").length === rows;
      },
      ["Scenario", few + 1],
    );
    assert.ok(await last.isChecked(), "it can be taken away");
  }));

test("the best share, the agreement of judges and the order are chosen, and kept by the address", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const best = page.getByLabel("Best by overall score");
    const agree = page.getByLabel("Minimum agreement of judges");
    const order = page.getByRole("combobox", { name: /^Order/ });
    await best.selectOption("Best quarter");
    await asks(page, { top: "0.25" });
    const quarter = await agrees(page);
    assert.ok(quarter.matching < PLANNED, `${quarter.matching} are a quarter`);
    await chip(page, "Best 25 % by overall score").waitFor();
    await agree.fill("0.5");
    await agree.press("Enter");
    await asks(page, { top: "0.25", min_agreement: "0.5" });
    await chip(page, "Agreement ≥ 0.5").click();
    await asks(page, { top: "0.25" });
    assert.equal(await agree.inputValue(), "");
    await order.selectOption("Tool usage");
    await asks(page, { top: "0.25", sort: "score:tool_usage" });
    await agrees(page);
    await page.locator('[role="columnheader"][aria-sort="descending"]', { hasText: "Tool usage" }).waitFor();
    await page.getByRole("button", { name: "Best first. Reverse the order." }).click();
    await page.getByRole("button", { name: "Worst first. Reverse the order." }).waitFor();
    await asks(page, { top: "0.25", sort: "score:tool_usage", order: "asc" });
    await agrees(page);
    await page.reload();
    await agrees(page);
    assert.deepEqual([await best.inputValue(), await order.inputValue()], ["0.25", "score:tool_usage"]);
    // What is asked is taken away; the order stays.
    await best.selectOption("All of them");
    await asks(page, { sort: "score:tool_usage", order: "asc" });
    await agrees(page);
    await page.goBack();
    await page.waitForFunction((select) => select.value === "0.25", await best.elementHandle());
  }));

test("a histogram narrows by dragging and by numbers", () =>
  site.visit(LIST, async (page) => {
    await listed(page);
    const turns = page.getByRole("group", { name: "Turns" });
    const bars = turns.locator("svg");
    await bars.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await bars.boundingBox();
    const n = await turns.locator("rect").count();
    const bins = (await agrees(page)).lengths.turns;
    assert.equal(n, bins.at(-1).value + 1, "each number has a bar of its own");
    const told = await turns.locator(".unseen").textContent();
    assert.equal(told, `Conversations of each: ${bins.map(({ value, count }) => `${value}: ${count}`).join(", ")}`);
    const { value: low, count: alone } = bins[0];
    const of = (value) => bins.find((bin) => bin.value === value)?.count ?? 0;
    assert.ok(low > 0 && low + 1 < n - 1, `from ${low} there is something on both sides`);
    await page.mouse.move(x + (width * (low + 0.5)) / n, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + (width * (low + 1.5)) / n, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await asks(page, { min_turns: `${low}`, max_turns: `${low + 1}` });
    await chip(page, `Turns ≥ ${low}`).waitFor();
    const dragged = await agrees(page);
    assert.equal(dragged.matching, alone + of(low + 1));
    assert.ok(dragged.matching < PLANNED, "and not all of them");

    const most = turns.getByLabel("Turns: at most");
    const write = async (field, text) => {
      await field.fill(text);
      await field.press("Enter");
    };
    await write(most, `${low + 2}`);
    await asks(page, { min_turns: `${low}`, max_turns: `${low + 2}` });
    // What is no bound changes nothing, and is said beside the field.
    await write(most, `${low + 1}.5`);
    await turns.getByText("Use whole numbers.").waitFor();
    await asks(page, { min_turns: `${low}`, max_turns: `${low + 2}` });
    await write(most, `${low + 1}`);
    await asks(page, { min_turns: `${low}`, max_turns: `${low + 1}` });
    await turns.getByText("Use whole numbers.").waitFor({ state: "detached" });

    const overall = page.getByRole("group", { name: "Overall score" }).getByLabel("Overall score: at least");
    await write(overall, "11");
    await page.getByText("Use whole numbers up to 10.").waitFor();
    assert.equal(query(page).has("min_overall"), false);
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

    await write("Filter by model", "scripted");
    await chip("Model scripted").waitFor();
    await write("Filter by model", "judge:scripted");
    await chip("Model judge:scripted").waitFor();
    assert.deepEqual(query(page).getAll("model"), ["scripted", "judge:scripted"]);
    await counted(page).getByText(`${PLANNED} conversations`).waitFor();

    await panel.getByLabel("Finished from (UTC)").fill("2020-02-29T12:30");
    await chip("Finished from 2020-02-29 12:30 UTC").waitFor();
    assert.equal(query(page).get("finished_from"), "2020-02-29T12:30:00Z");
    await panel.getByLabel("Finished before (UTC)").fill("2020-03-01T00:00");
    await page.getByRole("heading", { name: "No matches." }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "No matches." }).waitFor();
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

    await write("Judging", "latest");
    await chip("Judged: latest").waitFor();
    await write("Reason for the failure", "no such reason");
    await chip("Failed for “no such reason”").waitFor();
    await page.getByRole("heading", { name: "No matches." }).waitFor();
    // A corpus is selected by all of it.
    await page.getByRole("link", { name: "Make a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    await chip("Failed for “no such reason”").click();
    assert.deepEqual(
      [...query(page).keys()].sort(),
      ["finished_from", "judging", "max_overall", "model", "model"],
    );
    assert.equal(await page.getByLabel("Overall score: at most").inputValue(), "9");
    assert.equal(await page.getByLabel("Finished from (UTC)").inputValue(), "2020-02-29T12:30");
    assert.equal(await page.getByLabel("Judging").inputValue(), "latest");
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
    await page.getByRole("heading", { name: "No matches." }).waitFor();
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
    await page.getByRole("link", { name: "Make a corpus" }).click();
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
    await page.getByRole("link", { name: "Make a corpus" }).click();
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
        assert.ok(await page.getByRole("button", { name: "Make a corpus" }).isDisabled());
        assert.equal(await page.getByRole("link", { name: "Make a corpus" }).count(), 0);
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
      await cannot("The search finds more scenarios than can be listed. Narrow it further.");

      await page.unroute(facets);
      await page.route(facets, (route) => route.abort());
      await page.getByRole("button", { name: "Refresh" }).click();
      await cannot("The search results could not be counted. Try again first.");

      await page.unroute(facets);
      await page.getByRole("button", { name: "Refresh" }).click();
      await page.getByRole("link", { name: "Make a corpus" }).waitFor();
    },
    { expected: [/net::ERR_FAILED/] },
  );
});

test("what people rated is found again by its facet, and selected into a corpus", async () => {
  const { items } = await site.ask("GET", `${LIST}?limit=3`);
  for (const { id } of items.slice(1)) {
    await site.ask("PUT", `/conversations/${id}/ratings`, { scores: { overall: 6 } });
  }
  // Lists know of it within a second.
  await site.until(`${LIST}/facets?rated=true`, ({ matching }) => matching === 2);
  await site.visit(LIST, async (page) => {
    await listed(page);
    const [rated, not] = ["yes", "no"].map((says) => value(page, "Rated by people", says));
    await rated.check();
    await asks(page, { rated: "true" });
    assert.equal((await agrees(page)).matching, 2);
    await not.check();
    await asks(page, { rated: "false" });
    assert.equal((await agrees(page)).matching, PLANNED - 2);
    await chip(page, "Rated by people: no").click();
    assert.equal(await facet(page, "Corrected by people").count(), 0, "nobody did: there is nothing to choose");
    await rated.check();
    await asks(page, { rated: "true" });
    await page.getByRole("link", { name: "Make a corpus" }).click();
    await page.waitForURL("**/corpora/new?**");
    assert.ok(await page.getByRole("checkbox", { name: "Somebody rated it" }).isChecked());
  });
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
