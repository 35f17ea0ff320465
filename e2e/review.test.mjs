// People rate: a queue is made, worked off by keyboard, looked at, closed; judges are set beside what people said.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW, fits, screenshot } from "./support/browser.mjs";
import { percent, words } from "./support/format.mjs";
import { choosePassword, signIn } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { cells, pairs } from "./support/tables.mjs";

const QUEUED = 3;
const REVIEWS = `${PROJECT}/reviews`;

let run;
const site = story({
  n: 6,
  seed: 3,
  async prepare(site) {
    [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  },
});

/** The queue that a test before made. */
async function queue() {
  const { items } = await site.ask("GET", `${PROJECT}/review-queues`);
  return items.at(-1).id;
}

test("a queue is made of a run", () =>
  site.visit(REVIEWS, async (page) => {
    await page.getByText("No review queues yet.").waitFor();
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
    await fits(page);
    await screenshot(page, "queue");
  }));

test("what is wrong with a queue is said beside the field", () =>
  site.visit(
    `${REVIEWS}/new`,
    async (page) => {
      await page.getByLabel("Name").fill("First look");
      await page.locator("form select").first().selectOption(run.id);
      await page.getByRole("button", { name: "Make the queue" }).click();
      await page.getByRole("alert").getByText("there is a review queue First look already", { exact: false }).waitFor();
    },
    { expected: [/status of 409/] },
  ));

test("conversations are rated by keyboard, one after the other, without a verdict in sight", async () => {
  await site.visit(`${REVIEWS}/${await queue()}/rate`, async (page) => {
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
    // What is said of a turn meanwhile is saved by itself, and the rating stays as it is.
    await page.getByRole("button", { name: "Annotate" }).first().click();
    await page.getByLabel("Annotation").fill("Rated while reading.");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Rated while reading.").waitFor();
    assert.equal(await page.locator(".title p").innerText(), title, "the next conversation has come");
    await page.getByText(`${QUEUED} left for you`, { exact: false }).waitFor();
    assert.equal(await page.getByLabel("Comment").inputValue(), "Fine.");
    await page.getByLabel("Comment").focus();
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction((title) => {
      const now = document.querySelector(".title p");
      return now && now.innerText !== title;
    }, title);
    await page.getByText(`${QUEUED - 1} left for you`, { exact: false }).waitFor();
    // What is begun is skipped only by whoever says so, and not by a letter at a slider.
    await page.keyboard.press("r");
    await page.keyboard.type("4");
    await page.keyboard.press("s");
    assert.equal(await page.getByRole("dialog", { name: "Skip this conversation?" }).count(), 0);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("s");
    const question = page.getByRole("dialog", { name: "Skip this conversation?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await page.locator(".criterion output").first().innerText(), "4");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("s");
    await question.getByRole("button", { name: "Skip it" }).click();
    await page.getByText(`${QUEUED - 2} left for you`, { exact: false }).waitFor();
    await page.getByLabel("no", { exact: true }).check();
    await page.getByRole("button", { name: "Save and next" }).click();
    await page.getByText("Nothing is left for you in this queue.").waitFor();
  });
});

test("a queue shows how far each rater is, and is closed and opened", async () => {
  const id = await queue();
  await site.visit(`${REVIEWS}/${id}`, async (page) => {
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
    await fits(page);
    await screenshot(page, "queue-agreement");
  });
});

test("a queue is made of what a list was filtered by", () =>
  site.visit(`${REVIEWS}/new?outcome=accepted&persona=newcomer`, async (page) => {
    const { matching } = await site.ask("GET", `${PROJECT}/conversations/facets?outcome=accepted`);
    await page.getByText("Also: persona newcomer.").waitFor();
    await page.getByRole("button", { name: "Remove these filters" }).click();
    await page.getByText(`${matching} of 6 conversations match.`).waitFor();
    await page.getByLabel("Name").fill("Accepted ones");
    await page.getByLabel("Blind", { exact: false }).uncheck();
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByRole("heading", { name: "Accepted ones", level: 1 }).waitFor();
    await page.locator("table.rows tbody tr").first().waitFor();
    assert.equal(await page.locator("table.rows tbody tr").count(), matching);
    // An admin gives a conversation to somebody, and takes it back.
    const nobodys = page.locator("tbody tr", { hasText: "nobody yet" }).first();
    const choice = nobodys.getByRole("combobox");
    assert.equal(await choice.locator("option").count(), 1, "names are there once somebody looks for one");
    await choice.focus();
    await choice.locator("option", { hasText: "mira" }).waitFor({ state: "attached" });
    await choice.selectOption("mira");
    const back = page.getByRole("button", { name: /^Take back from/ });
    await back.click();
    await back.waitFor({ state: "detached" });
  }));

test("what a queue is to be made of stands in the address", () =>
  site.visit(`${PROJECT}/reviews/new`, async (page) => {
    await page.getByLabel("that pass a filter").check();
    await page.getByLabel("Outcome").selectOption("Failed");
    await page.getByLabel("Scenario contains").fill("card & co");
    await page.waitForURL(({ searchParams }) => searchParams.get("search") === "card & co");
    assert.equal(new URL(page.url()).searchParams.get("outcome"), "failed");
    await page.getByLabel("Outcome").selectOption("Any");
    await page.waitForURL(({ searchParams }) => !searchParams.has("outcome"));
    await page.reload();
    assert.equal(await page.getByLabel("Scenario contains").inputValue(), "card & co");
    await page.getByText(/^0 of \d+ conversations match\.$/).waitFor();
  }));

test("all that a new queue is to be is there after loading it again", () =>
  site.visit(`${REVIEWS}/new`, async (page) => {
    await page.getByLabel("Name").fill("Long look");
    await page.locator("form select").first().selectOption(run.id);
    await page.getByLabel("People for each conversation").fill("2");
    await page.getByLabel("How many conversations").fill("4");
    await page.getByLabel("Blind", { exact: false }).uncheck();
    await page.waitForURL(({ searchParams }) => searchParams.get("blind") === "false");
    const asked = Object.fromEntries(new URL(page.url()).searchParams);
    assert.deepEqual(asked, { of_run: run.id, name: "Long look", n: "4", raters: "2", blind: "false" });
    await page.reload();
    await page.waitForFunction((id) => document.querySelector("form select")?.value === id, run.id);
    assert.equal(await page.getByLabel("Name").inputValue(), "Long look");
    assert.equal(await page.getByLabel("People for each conversation").inputValue(), "2");
    assert.equal(await page.getByLabel("How many conversations").inputValue(), "4");
    assert.equal(await page.getByLabel("Blind", { exact: false }).isChecked(), false);
    await page.getByLabel("of a corpus", { exact: true }).check();
    await page.waitForURL(({ searchParams }) => searchParams.get("from") === "corpus");
    await page.reload();
    assert.ok(await page.getByLabel("of a corpus", { exact: true }).isChecked());
  }));

test("what conversations are narrowed to is queued for review", () =>
  site.visit(`${PROJECT}/conversations?outcome=accepted&persona=nobody&persona=none&sort=overall`, async (page) => {
    await page.getByRole("link", { name: "Queue for review" }).click();
    await page.waitForURL(/\/reviews\/new\?/);
    const asked = new URL(page.url()).searchParams;
    assert.deepEqual([asked.get("outcome"), asked.getAll("persona"), asked.has("sort")], ["accepted", ["nobody", "none"], false]);
    assert.ok(await page.getByLabel("that pass a filter").isChecked());
    assert.equal(await page.getByLabel("Outcome").inputValue(), "accepted");
    await page.getByText("Also: persona nobody, persona none.").waitFor();
    await page.getByText(/^0 of \d+ conversations match\.$/).waitFor();
  }));

test("while a queue reads the list that it is made of, it can be cancelled, and nothing is made", () =>
  site.visit(`${PROJECT}/reviews/new?outcome=accepted`, async (page) => {
    const queues = async () => (await site.ask("GET", `${PROJECT}/review-queues`)).items.length;
    const before = await queues();
    await page.getByText(/conversations match\.$/).waitFor();
    await page.route(/\/conversations\?/, () => {});
    await page.getByLabel("Name").fill("Given up");
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByText(/Making the queue, reading the list: 0 of [1-6]/).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Making the queue, reading").waitFor({ state: "detached" });
    assert.equal(await queues(), before);
    await page.unroute(/\/conversations\?/);
    await page.getByRole("button", { name: "Make the queue" }).click();
    await page.getByRole("heading", { name: "Given up", level: 1 }).waitFor();
  }));

test("a judge is set beside what people rated", () =>
  site.visit(`${REVIEWS}?part=calibrations`, async (page) => {
    await page.getByText("No calibrations yet.").waitFor();
    await page.getByRole("form", { name: "Compare a judge with people" }).getByRole("combobox").selectOption(run.id);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL("**/calibrations/*");
    await page.getByRole("img", { name: /People .* the judge/ }).first().waitFor();
    await page.getByRole("heading", { name: "Goal achieved" }).waitFor();
    await fits(page);
    await screenshot(page, "calibration");
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    await page.locator("table.rows tbody tr").first().waitFor();
  }));

test("where people disagree is listed for the whole project", () =>
  site.visit(`${REVIEWS}?part=disagreements`, async (page) => {
    await page.getByText("No disagreements that large.", { exact: false }).waitFor();
    await page.getByText("One person rated 2 conversations.", { exact: false }).waitFor();
  }));

test("two who rate differently are listed with both scores, which lead to the conversation", async () => {
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations`);
  let rated;
  for (const { id } of items) {
    const { mine } = await site.ask("GET", `/conversations/${id}/ratings`);
    const [criterion] = Object.entries(mine?.scores ?? {}).find(([, score]) => score === 10) ?? [];
    if (criterion) rated = { id, criterion: criterion.replaceAll("_", " ") };
  }
  assert.ok(rated, "mira gave a 10");
  const link = (await site.server.run("users", "create", "noor", "--administrator", "--url", site.url)).trim();
  await site.stranger(link, async (page) => {
    await choosePassword(page, { password: "seven quiet lanterns" });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(`${PROJECT}/conversations/${rated.id}?panel=people`);
    await page.getByRole("button", { name: "Rate it" }).click();
    const criterion = page.locator(".criterion", { has: page.getByText(rated.criterion, { exact: true }) });
    await criterion.getByRole("slider").fill("3");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".rating", { hasText: "You" }).getByText(`${rated.criterion} 3`).waitFor();
  });
  await site.visit(`${REVIEWS}?part=disagreements`, async (page) => {
    await page.getByText("2 people rated 2 conversations.", { exact: false }).waitFor();
    const row = page.locator("table.rows tbody tr", { has: page.getByRole("cell", { name: rated.criterion, exact: true }) });
    await row.getByRole("cell", { name: "7", exact: true }).waitFor();
    assert.deepEqual((await row.locator(".scores-by li").allInnerTexts()).sort(), ["mira 10", "noor 3"]);
    await fits(page);
    await screenshot(page, "disagreements");
    await page.getByLabel("At least").fill("8");
    await page.getByLabel("At least").press("Enter");
    await page.getByText("No disagreements that large.", { exact: false }).waitFor();
    await page.getByLabel("At least").fill("7");
    await page.getByLabel("At least").press("Enter");
    await row.getByRole("link").click();
    await page.waitForURL(`**/conversations/${rated.id}?panel=people`);
    await page.locator(".rating", { hasText: "noor" }).getByText(`${rated.criterion} 3`).waitFor();
    await page.locator(".rating", { hasText: "You" }).getByText(`${rated.criterion} 10`).first().waitFor();
  });
});

test("a rating shows at once what it was blind to, and on the queue's page how far the queue is", async () => {
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations`);
  const ratings = await Promise.all(items.map(({ id }) => site.ask("GET", `/conversations/${id}/ratings`)));
  const { id } = items[ratings.findIndex(({ mine }) => !mine)];
  const made = { name: "Second look", conversations: [id], blind: true, raters_each: 1 };
  const second = await site.ask("POST", `${PROJECT}/review-queues`, made);
  // An admin is blind to what was given to them.
  await site.ask("POST", `/review-queues/${second.id}/next`, {});
  await site.visit(`${REVIEWS}/${second.id}?part=agreement`, async (queue) => {
    const progress = queue.getByRole("region", { name: "Progress" });
    await progress.getByText("0 of 1").first().waitFor();
    await queue.getByText("0 people rated 0 conversations.", { exact: false }).waitFor();
    await site.visit(`${PROJECT}/conversations/${id}`, async (page) => {
      await page.getByText("you see its verdict after you have rated it", { exact: false }).waitFor();
      assert.equal(await page.locator("table.scores").count(), 0);
      await page.getByRole("tab", { name: "Review" }).click();
      await page.getByRole("button", { name: "Rate it" }).click();
      await page.locator(".criterion").first().getByRole("slider").fill("6");
      await page.getByRole("button", { name: "Save" }).click();
      await page.locator(".rating", { hasText: "You" }).getByText(/ 6$/).waitFor();
      await page.getByRole("tab", { name: "Verdict" }).click();
      await page.locator("table.scores tbody tr").first().waitFor();
      assert.equal(await page.getByText("you see its verdict after", { exact: false }).count(), 0);
    });
    // Nobody has touched this page meanwhile.
    await progress.getByText("1 of 1").first().waitFor();
    await queue.getByText("One person rated one conversation.", { exact: false }).waitFor();
  });
});

/** Whether a number is told to so many digits; a dash stands for what could not be computed. */
function tells(text, value, digits = 2) {
  if (value === null || value === undefined) return assert.equal(text, "–");
  assert.ok(text !== "" && Math.abs(Number(text) - value) <= 0.501 / 10 ** digits, `${text} is not ${value}`);
}

test("agreement and calibration are the figures of the API, and what people and the judge gave comes to them", async () => {
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations`);
  const given = {
    mira: { tool_usage: [9, 7, 5, 8, 6, 10], overall: [8, 6, 7, 9, 4, 10] },
    noor: { tool_usage: [9, 6, 2, 8, 6, 9], overall: [8, 6, 7, 9, 4, 10] },
  };
  const rating = (who, i) => ({
    scores: Object.fromEntries(Object.entries(given[who]).map(([name, scores]) => [name, scores[i]])),
    goal_achieved: i !== 2,
  });
  for (const [i, { id }] of items.entries()) await site.ask("PUT", `/conversations/${id}/ratings`, rating("mira", i));
  await site.stranger("/sign-in", async (page) => {
    await signIn(page, { name: "noor", password: "seven quiet lanterns" });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    const { csrf_token } = await (await page.request.get("/api/v1/session")).json();
    for (const [i, { id }] of items.entries()) {
      const options = { headers: { "x-csrf-token": csrf_token }, data: rating("noor", i) };
      const answer = await page.request.put(`/api/v1/conversations/${id}/ratings`, options);
      assert.ok(answer.ok(), await answer.text());
    }
  });

  await site.visit(`${REVIEWS}?part=disagreements`, async (page) => {
    const about = `${PROJECT}/ratings/agreement`;
    const { criteria, raters, conversations } = await site.ask("GET", about);
    assert.deepEqual([raters, conversations], [2, 6]);
    await page.getByText("2 people rated 6 conversations.").waitFor();
    const rows = await cells(page.getByRole("region", { name: "Agreement by criterion" }));
    assert.deepEqual(rows.map(([name]) => name), criteria.map(({ criterion }) => words(criterion)));
    for (const [i, { conversations, alpha, exact, within_one }] of criteria.entries()) {
      const [, rated, told, equal, near] = rows[i];
      assert.deepEqual([rated, equal, near], [`${conversations}`, percent(exact), percent(within_one)]);
      tells(told, alpha);
    }
    // Of six, three are equal, and one is more than a point apart.
    const [, ...usage] = rows.find(([name]) => name === "tool usage");
    assert.deepEqual([usage[0], usage[2], usage[3]], ["6", "50 %", "83 %"]);
    const [, ...overall] = rows.find(([name]) => name === "overall");
    assert.deepEqual(overall, ["6", "1.00", "100 %", "100 %"]);
  });

  const [{ id, report }] = await site.ask("POST", `${PROJECT}/calibrations`, { run: run.id });
  await site.visit(`${PROJECT}/calibrations/${id}`, async (page) => {
    await page.getByText(`${report.conversations} conversations compared by mira`, { exact: false }).waitFor();
    const table = page.getByRole("region", { name: "Agreement by criterion" });
    const rows = await cells(table);
    assert.equal(rows.length, report.criteria.length);
    for (const [i, one] of report.criteria.entries()) {
      const [name, n, , bias, error, kappa, spearman, line] = rows[i];
      assert.deepEqual([name, n], [words(one.criterion), `${one.n}`]);
      assert.match(bias, /^[+-]/);
      tells(bias, one.bias);
      tells(error, one.mean_absolute_error);
      tells(kappa, one.weighted_kappa);
      tells(spearman, one.spearman);
      const [, intercept, slope] = /^(\S+) \+ (\S+) × judge$/.exec(line);
      tells(intercept, one.line.intercept);
      tells(slope, one.line.slope);
      const drawn = await table.getByRole("img").nth(i).getAttribute("aria-label");
      const [, people, judge] = /^People (\S+), the judge (\S+), of 10$/.exec(drawn);
      tells(people, one.human_mean, 1);
      tells(judge, one.judge_mean, 1);
      const bands = page.locator("table.bands", { has: page.locator("caption", { hasText: new RegExp(`^${name}$`) }) });
      assert.deepEqual((await cells(bands)).map(([, ...counted]) => counted.map(Number)), one.bands);
    }
    // People gave 44 points of 60 in all, and the judge what its verdicts say.
    const overall = report.criteria.find(({ criterion }) => criterion === "overall");
    assert.ok(Math.abs(overall.human_mean - 44 / 6) < 1e-9, `${overall.human_mean}`);
    const sum = items.reduce((sum, { overall }) => sum + overall, 0);
    assert.ok(Math.abs(overall.judge_mean - sum / items.length) < 1e-9, `${overall.judge_mean}`);
    tells(rows.find(([name]) => name === "overall")[3], sum / 6 - 44 / 6);

    const { agreed, kappa, confusion } = report.goal_achieved;
    const goal = await pairs(page.locator("section[aria-labelledby=goal]"));
    tells(goal.Kappa, kappa);
    assert.equal(goal["Identical"], percent(agreed));
    const four = ["Both say no", "Only the judge says yes", "Only people say yes", "Both say yes"].map((name) => Number(goal[name]));
    assert.deepEqual(four, confusion.flat());
    assert.equal(four.reduce((sum, n) => sum + n), 6);
    const between = await pairs(page.locator("section[aria-labelledby=between]"));
    assert.ok(report.between_raters.length > 0);
    for (const { criterion, kappa, pairs } of report.between_raters) {
      const [, told, many] = /^(\S+) \((\d+) pairs of raters\)$/.exec(between[words(criterion)]);
      tells(told, kappa);
      assert.equal(Number(many), pairs);
    }
    await screenshot(page, "calibration-figures");
  });
});

test("reviews fit a narrow screen", async () => {
  const id = await queue();
  await site.visit(
    REVIEWS,
    async (page) => {
      await page.locator("table.rows").waitFor();
      for (const below of ["", "/new", `/${id}`, "?part=calibrations"]) {
        await page.goto(`${REVIEWS}${below}`);
        await page.locator("h1").waitFor();
        await page.waitForLoadState("networkidle");
        await fits(page, below);
        await screenshot(page, `narrow-reviews${below.replace(id, "queue").replace(/\W+/g, "-")}`);
      }
    },
    // A page that is left has questions on their way.
    { ...NARROW, expected: [/Failed to fetch/] },
  );
});
