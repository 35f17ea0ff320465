// One conversation: its turns by keyboard, its world through time, where values come from, notes and corrections.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW, fits, screenshot } from "./support/browser.mjs";
import { applied, lists } from "./support/changes.mjs";
import { startModel } from "./support/model.mjs";
import { choosePassword } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";

/** Conversations in the order of their run, and those of them that change the world. */
let all;
const changing = [];
/** One in which questions are answered, and one in which a booking is made and confirmed. */
let helped;
let booked;
const site = story({
  n: 8,
  seed: 3,
  demo: true,
  async prepare(site) {
    const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    all = (await site.ask("GET", `/runs/${run.id}/conversations`)).items.map(({ id }) => id);
    for (const id of all) {
      const { last_version } = await site.ask("GET", `/conversations/${id}/world`);
      if (last_version > 0) changing.push(id);
    }
    assert.ok(changing.length > 0, "some conversation changes the world");
    helped = await played(site, "retail_bank", "help_card_abroad");
    booked = await played(site, "crm_assistant", "book_board_meeting_with_coffee");
  },
});

/** The only conversation of another run. */
async function played(site, playbook, scenario) {
  const order = { playbooks: [playbook], scenarios: [scenario], n: 1, seed: 5 };
  const run = await site.ask("POST", `${PROJECT}/runs`, order);
  await site.until(`/runs/${run.id}`, ({ state }) => state === "finished");
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations`);
  return items[0].id;
}

const address = (id, query = "") => `${PROJECT}/conversations/${id}${query}`;

const turn = (page) => new URL(page.url()).searchParams.get("turn");

test("keys walk from turn to turn, and the address keeps the place", () =>
  site.visit(address(all[0]), async (page) => {
    await page.locator(".bubble.user").first().waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(/turn=/);
    const first = turn(page);
    await page.keyboard.press("j");
    await page.waitForFunction((first) => new URL(location.href).searchParams.get("turn") !== first, first);
    const second = turn(page);
    assert.equal(await page.locator(".turn.chosen").getAttribute("id"), `turn-${second}`);
    await page.keyboard.press("k");
    await page.locator(`#turn-${first}.chosen`).waitFor();
    // Tab leads on from the turn.
    await page.waitForFunction((id) => document.activeElement.id === id, `turn-${first}`);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".turn")?.id), `turn-${first}`);
    await page.reload();
    await page.locator(`#turn-${first}.chosen`).waitFor();
  }));

test("every panel has its keys, whatever else they begin or end with", () => {
  const id = changing.at(-1);
  return site.visit(address(id), async (page) => {
    const list = page.getByRole("navigation", { name: "Neighbours in the list" });
    // There is something that p alone leads to.
    await list.getByRole("link", { name: "Previous" }).waitFor();
    const shows = async (key, name) => {
      await page.keyboard.press("t");
      await page.keyboard.press(key);
      await page.locator(`#panel-${name}`).waitFor();
      assert.ok(new URL(page.url()).pathname.endsWith(id), page.url());
    };
    await shows("p", "people");
    await shows("r", "raw");
    await shows("v", "verdict");
    await shows("w", "world");
    // A slider takes no text.
    const slider = page.getByRole("slider", { name: /World version/ });
    await slider.focus();
    await shows("v", "verdict");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("t p", { exact: true }).waitFor();
  });
});

test("who leaves before everything is read asks for nothing of a conversation without a name", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    const rows = page.locator("table.rows tbody tr");
    await rows.first().waitFor();
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    let left = false;
    const held = [];
    await page.route(/\/conversations\/[^/]*\/(annotations|world)\b/, (route) => (left ? route.continue() : held.push(route)));
    await page.goto(address(changing[0], "?panel=world"));
    await page.locator(".bubble").first().waitFor();
    while (held.length < 2) await page.waitForTimeout(20);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Runs", exact: true }).click();
    await rows.first().waitFor();
    left = true;
    const answers = held.map((route) => page.waitForResponse((answer) => answer.request() === route.request()));
    await Promise.all(held.map((route) => route.continue()));
    await Promise.all(answers);
    await page.waitForLoadState("networkidle");
    assert.deepEqual(asked.filter((path) => path.includes("//")), []);
  }));

test("every item of the verifier stands there, with its rule, its result and why", async () => {
  const rules = new Set();
  for (const id of [changing[0], booked]) {
    const { verification } = await site.ask("GET", `/conversations/${id}`);
    await site.visit(address(id), async (page) => {
      const items = page.getByRole("region", { name: "Verifier" }).locator("ul.checks > li");
      await items.first().waitFor();
      const shown = await items.evaluateAll((all) =>
        all.map((item) => [item.querySelector(".badge").textContent, item.querySelector("strong").textContent, item.textContent]),
      );
      assert.equal(shown.length, verification.items.length);
      for (const [i, { rule, passed, detail }] of verification.items.entries()) {
        const [result, name, text] = shown[i];
        const words = { grounded: "grounded words" }[rule] ?? rule.replaceAll("_", " ");
        assert.deepEqual([result, name], [passed ? "passed" : "failed", words]);
        assert.ok(text.includes(detail.slice(0, 200)), `${text}: ${detail}`);
        rules.add(rule);
      }
    });
  }
  assert.ok(rules.size > 3, `${[...rules]}`);
});

test("the world can be looked at at any version, and what changed is marked", () =>
  site.visit(address(changing[0], "?panel=world"), async (page) => {
    const slider = page.getByRole("slider", { name: /World version/ });
    await slider.waitFor();
    await page.locator('[role="tree"] [role="treeitem"]').first().waitFor();
    await page.locator(".world .patch li").first().waitFor();
    assert.ok((await page.locator(".tree-row.changed, .tree-row.added").count()) > 0, "a change is marked");
    await screenshot(page, "world");
    await slider.focus();
    await page.keyboard.press("Home");
    await page.getByText("as it was at the start").waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".world .patch li").length === 0);
    assert.equal(turn(page), "0");
    await page.keyboard.press("ArrowRight");
    await page.locator(".world .patch li").first().waitFor();
    await page.locator(".turn.calls.chosen").waitFor();
  }));

test("each version says what it changed: what stood there before, and what is gone", async () => {
  const { events } = await site.ask("GET", `/conversations/${booked}`);
  const { world } = await site.ask("GET", `/conversations/${booked}/world?version=0`);
  const patches = events.map(({ event }) => event.tool_answered?.patch ?? []).filter((patch) => patch.length > 0);
  const versions = patches.map((patch) => applied(world, patch));
  const verbs = new Set(versions.flat().map(({ verb }) => verb));
  assert.deepEqual([...verbs].sort(), ["added", "changed", "removed"]);
  await site.visit(address(booked, "?panel=world"), async (page) => {
    const list = page.getByRole("region", { name: "What this version changed" });
    const slider = page.getByRole("slider", { name: /World version/ });
    await slider.focus();
    await page.keyboard.press("End");
    for (let at = versions.length; at > 0; at -= 1) {
      await page.getByText(`World version ${at} of ${versions.length}`).waitFor();
      await lists(list, versions[at - 1]);
      if (versions[at - 1].some(({ verb }) => verb === "removed")) await screenshot(page, "world-removed");
      await page.keyboard.press("ArrowLeft");
    }
    await page.getByText("as it was at the start").waitFor();
    await lists(list, []);
  });
});

test("what a tool answered is shown as it was answered", async () => {
  const { events } = await site.ask("GET", `/conversations/${changing[0]}`);
  const answers = events.filter(({ event }) => event.tool_answered?.content);
  assert.ok(answers.length > 0);
  const read = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  await site.visit(address(changing[0]), async (page) => {
    for (const { seq, event } of answers) {
      const answer = page.locator(`#turn-${seq}`).getByLabel("Answer", { exact: true });
      assert.deepEqual(read(await answer.textContent()), read(event.tool_answered.content));
    }
  });
});

test("a value says which call wrote it, and leads there", () =>
  site.visit(address(changing[0], "?panel=world"), async (page) => {
    await page.locator(".world .patch .pointer").first().click();
    const origin = page.getByRole("region", { name: "Where did this value come from?" });
    await origin.getByText("Written by").waitFor();
    await page.waitForURL(/at=/);
    const { last_version } = await site.ask("GET", `/conversations/${changing[0]}/world`);
    const asked = new URLSearchParams({ pointer: new URL(page.url()).searchParams.get("at"), version: last_version });
    const { written_by: by } = await site.ask("GET", `/conversations/${changing[0]}/provenance?${asked}`);
    await origin.getByText(`Written by ${by.tool} in event ${by.seq}.`).waitFor();
    await origin.getByRole("button", { name: "Show the call" }).click();
    await page.locator(`#turn-${by.seq}.calls.chosen`).waitFor();
    await accessible(page);
    await screenshot(page, "provenance");
    // At the start nobody had written it.
    await page.getByRole("slider", { name: /^World version/ }).focus();
    await page.keyboard.press("Home");
    await page.getByText("as it was at the start").waitFor();
    await origin.getByText("Written by").waitFor({ state: "detached" });
    await origin.getByText(/nothing is there in this version\.|It was there from the start\./).waitFor();
    // What was there from the start says so.
    const tree = page.getByRole("tree", { name: "World" });
    await page.getByRole("searchbox", { name: "Search in: World" }).fill("name");
    await tree.locator(".tree-row .leaf").first().click();
    await origin.getByText("It was there from the start.").waitFor();
  }));

test("the tree is walked by keyboard", () =>
  site.visit(address(all[0], "?panel=world"), async (page) => {
    const tree = page.getByRole("tree", { name: "World" });
    await tree.locator('[role="treeitem"][aria-expanded="false"]').first().waitFor();
    await tree.focus();
    await page.keyboard.press("Home");
    const rows = await tree.getByRole("treeitem").count();
    const active = async () => tree.getAttribute("aria-activedescendant");
    const first = await active();
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await active(), first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((rows) => document.querySelectorAll('[role="treeitem"]').length > rows, rows);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((rows) => document.querySelectorAll('[role="treeitem"]').length === rows, rows);
  }));

test("what an agent thought is folded away, and unfolded by keyboard", () =>
  site.visit(address(all[0]), async (page) => {
    const thought = "They ask for the balance; the tool knows it.";
    const bubble = page.locator(".bubble.agent").first();
    await bubble.waitFor();
    // A script thinks nothing: the thought is written into the answer on its way to the page.
    await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      for (const { event } of json.events) if (event.agent_spoke) event.agent_spoke.reasoning = thought;
      await route.fulfill({ response, json });
    });
    await page.reload();
    const text = bubble.getByText(thought);
    await bubble.locator("summary").focus();
    assert.equal(await text.isVisible(), false);
    await page.keyboard.press("Enter");
    await text.waitFor();
    await page.keyboard.press("Enter");
    await text.waitFor({ state: "hidden" });
  }));

test("each score stands with its rationale", async () => {
  const { verdict } = await site.ask("GET", `/conversations/${all[0]}`);
  assert.ok(verdict.scores.length > 1);
  await site.visit(address(all[0]), async (page) => {
    const table = page.locator("table.scores");
    for (const { criterion, score, rationale } of verdict.scores) {
      assert.notEqual(rationale.trim(), "");
      const name = criterion.replaceAll("_", " ");
      const row = table.locator("tbody tr", { has: page.getByRole("rowheader", { name, exact: true }) });
      await row.getByText(`${score}/10`).waitFor();
      assert.equal(await row.locator("td").last().locator("p").textContent(), rationale);
    }
    assert.equal(await table.locator("tbody tr").count(), verdict.scores.length);
  });
});

test("the copied link of a turn leads others to that turn", () =>
  site.visit(address(all[0], "?panel=people"), async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const last = page.locator(".turn[id]").last();
    const id = await last.getAttribute("id");
    await last.hover();
    await last.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, `${site.url}${address(all[0])}?turn=${id.replace("turn-", "")}`);
    await site.visit(copied, async (other) => {
      await other.locator(`#${id}.chosen`).waitFor();
      assert.equal(await other.locator(".turn.chosen").count(), 1);
      await other.waitForFunction((id) => {
        const { top, bottom } = document.getElementById(id).getBoundingClientRect();
        return top >= 0 && bottom <= window.innerHeight;
      }, id);
    });
  }));

test("of a long conversation a part is there, and whoever is led to a turn sees it", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      const spoke = json.events.find(({ event }) => event.user_spoke);
      const turn = (seq) => ({ ...spoke, seq, event: { user_spoke: { ...spoke.event.user_spoke, content: `This is ${seq}.` } } });
      json.events = Array.from({ length: 3_000 }, (_, seq) => turn(seq));
      await route.fulfill({ response, json });
    });
    await page.goto(address(all[0], "?turn=2000"));
    const turns = page.locator(".transcript .turn");
    const inSight = (seq) =>
      page.waitForFunction((id) => {
        const { top, bottom } = document.getElementById(id)?.getBoundingClientRect() ?? { top: -1 };
        return top >= 0 && bottom <= window.innerHeight;
      }, `turn-${seq}`);
    await page.locator("#turn-2000.chosen").waitFor();
    await inSight(2000);
    assert.equal(await turns.count(), 100);
    await page.getByText("Turns 51 to 2,000 are not on the page.").waitFor();
    await page.getByText("Turns 2,051 to 3,000 are not on the page.").waitFor();
    await screenshot(page, "long-conversation");
    // The turn before it is not there yet.
    await page.keyboard.press("k");
    await page.locator("#turn-1999.chosen").waitFor();
    await inSight(1999);
    const more = page.getByRole("button", { name: "More" });
    await more.first().click();
    await page.locator("#turn-99").waitFor();
    assert.ok(await more.first().evaluate((button) => button === document.activeElement), "the way on keeps the focus");
    await page.getByRole("button", { name: "To the end" }).last().click();
    await page.locator("#turn-2999").waitFor();
    assert.equal(await turns.count(), 250);
  }));

test("n and p follow the list that led here", async () => {
  const list = await site.ask("GET", `/conversations/${all[0]}/neighbours?sort=overall&order=desc`);
  const to = list.next ?? list.previous;
  await site.visit(address(all[0], "?sort=overall&order=desc&turn=2"), async (page) => {
    await page.getByRole("navigation", { name: "Neighbours in the list" }).getByRole("link").first().waitFor();
    await page.keyboard.press(list.next ? "n" : "p");
    await page.waitForURL(`**/conversations/${to}?*`);
    const query = new URL(page.url()).searchParams;
    assert.deepEqual([query.get("sort"), query.get("order"), query.get("turn")], ["overall", "desc", null]);
    await page.locator(".bubble.user").first().waitFor();
    await page.goBack();
    await page.waitForURL(`**/conversations/${all[0]}?*`);
  });
});

test("a turn is annotated, resolved, and the note deleted", () =>
  site.visit(address(all[1]), async (page) => {
    const first = page.locator(".turn.agent").first();
    await first.hover();
    await first.getByRole("button", { name: "Annotate" }).click();
    await accessible(page);
    await page.getByLabel("Annotation", { exact: true }).fill("Too many words.");
    await page.getByLabel("Labels").fill("style, wordy");
    await page.keyboard.press("Control+Enter");
    const remark = first.getByRole("complementary", { name: "Annotation" });
    await remark.getByText("Too many words.").waitFor();
    assert.match(await remark.innerText(), /wordy/);
    await remark.getByRole("button", { name: "Resolve" }).click();
    await remark.getByText("resolved by mira").waitFor();
    await page.getByRole("tab", { name: "Review" }).click();
    await page.getByRole("region", { name: "Annotations" }).getByText("Too many words.").waitFor();
    await screenshot(page, "annotated");
    await page.reload();
    await remark.getByText("Too many words.").waitFor();
    const [kept, ...others] = await site.ask("GET", `/conversations/${all[1]}/annotations`);
    assert.deepEqual(others, []);
    assert.deepEqual([kept.text, kept.labels, kept.author], ["Too many words.", ["style", "wordy"], "mira"]);
    await remark.getByRole("button", { name: "Delete" }).click();
    const question = remark.getByRole("dialog", { name: "Delete your annotation?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "hidden" });
    assert.equal((await site.ask("GET", `/conversations/${all[1]}/annotations`)).length, 1);
    await remark.getByRole("button", { name: "Delete" }).click();
    await question.getByRole("button", { name: "Delete it" }).click();
    await remark.waitFor({ state: "detached" });
    assert.deepEqual(await site.ask("GET", `/conversations/${all[1]}/annotations`), []);
  }));

test("what is written at a turn is there again when its form is, until it is cancelled", () =>
  site.visit(address(all[1]), async (page) => {
    const turn = page.locator(".turn.agent").first();
    await turn.hover();
    const open = (name) => turn.getByRole("button", { name, exact: true }).click();
    const annotation = turn.getByLabel("Annotation", { exact: true });
    await open("Annotate");
    await annotation.fill("Half a thought");
    await page.keyboard.press("Escape");
    await annotation.waitFor({ state: "detached" });
    await open("Correct");
    await turn.getByLabel("Why").fill("Because.");
    await open("Branch");
    await turn.getByLabel("What the agent says here instead").fill("Another way.");
    await open("Annotate");
    assert.equal(await annotation.inputValue(), "Half a thought");
    await open("Correct");
    assert.equal(await turn.getByLabel("Why").inputValue(), "Because.");
    await open("Branch");
    assert.equal(await turn.getByLabel("What the agent says here instead").inputValue(), "Another way.");
    await open("Cancel");
    await open("Branch");
    assert.equal(await turn.getByLabel("What the agent says here instead").inputValue(), "");
  }));

/** A conversation that no other test changes. */
const untouched = () => all.findLast((id) => ![...all.slice(0, 3), changing[0], changing.at(-1)].includes(id));

test("keys send the form in which they are pressed, and a rating that is begun is there wherever one comes back from", async () => {
  const id = untouched();
  await site.visit(address(id, "?panel=people"), async (page) => {
    const { pathname } = new URL(page.url());
    const first = page.locator(".criterion").first();
    await page.getByRole("button", { name: "Rate it" }).click();
    await first.getByRole("slider").focus();
    await page.keyboard.press("7");
    await page.getByLabel("Comment").fill("Begun.");
    await first.getByRole("slider").focus();
    // Letters that lead to other pages are none of a slider's.
    await page.keyboard.press("n");
    await page.keyboard.press("p");
    await page.keyboard.press("t");
    await page.keyboard.press("w");
    await page.locator("#panel-world").waitFor();
    assert.equal(new URL(page.url()).pathname, pathname);
    await page.getByRole("tab", { name: "Review" }).click();
    assert.equal(await first.locator("output").innerText(), "7");
    assert.equal(await page.getByLabel("Comment").inputValue(), "Begun.");

    await page.locator(".turn.agent").first().hover();
    await page.locator(".turn.agent").first().getByRole("button", { name: "Branch" }).click();
    await page.getByLabel("What the agent says here instead").fill("Let me have a look at it.");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL((url) => url.pathname !== pathname);
    assert.equal((await site.ask("GET", `/conversations/${id}/branches`)).length, 1);
    assert.ok(!(await site.ask("GET", `/conversations/${id}/ratings`)).mine, "the rating was not sent by it");
    await page.goBack();
    await first.waitFor();
    assert.equal(await first.locator("output").innerText(), "7");
    await page.getByText("Not sent yet.", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Start over" }).click();
    assert.equal(await first.locator("output").innerText(), "–");
    assert.equal(await page.getByLabel("Comment").inputValue(), "");
  });
});

test("a slider that is pressed where it stands counts, and the comment of a rating is kept", async () => {
  const id = untouched();
  await site.visit(address(id, "?panel=people"), async (page) => {
    const criterion = (nth) => page.locator(".criterion").nth(nth);
    await page.getByRole("button", { name: "Rate it" }).click();
    await criterion(0).getByRole("slider").click();
    assert.equal(await criterion(0).locator("output").innerText(), "5");
    await criterion(1).getByRole("slider").focus();
    await page.keyboard.press("Space");
    assert.equal(await criterion(1).locator("output").innerText(), "5");
    await page.getByLabel("Comment").fill("Neither good nor bad.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".rating", { hasText: "You" }).getByText("Neither good nor bad.").waitFor();
    const { mine } = await site.ask("GET", `/conversations/${id}/ratings`);
    assert.equal(mine.comment, "Neither good nor bad.");
    assert.deepEqual(Object.values(mine.scores), [5, 5]);
    await page.reload();
    await page.getByRole("button", { name: "Rate again" }).waitFor();
  });
});

test("what a sub-agent said is corrected, and no other way goes on from there", () =>
  site.visit(address(booked), async (page) => {
    const within = page.locator("details.branch").first();
    await within.getByRole("button", { name: "Correct" }).first().waitFor();
    assert.equal(await within.getByRole("button", { name: "Branch" }).count(), 0);
    assert.ok((await page.getByRole("button", { name: "Branch" }).count()) > 0);
  }));

test("an agent's turn is corrected, its difference shown, and withdrawn", () =>
  site.visit(address(all[1]), async (page) => {
    const last = page.locator(".turn.agent").last();
    await last.hover();
    await last.getByRole("button", { name: "Correct" }).click();
    await accessible(page);
    const text = page.getByLabel("What it should have said");
    await text.fill(`${await text.inputValue()} Thank you for waiting.`);
    await page.getByLabel("Why").fill("Politeness.");
    await page.getByRole("button", { name: "Save the correction" }).click();
    const corrected = last.getByRole("complementary", { name: "Correction" });
    await corrected.getByText("Corrected, version 1").waitFor();
    await accessible(page);
    assert.match(await corrected.locator("ins").first().innerText(), /waiting/);
    await screenshot(page, "corrected");
    await corrected.getByRole("button", { name: "Withdraw" }).click();
    await page.getByLabel("Why it is withdrawn").fill("It was fine.");
    await corrected.getByRole("button", { name: "Withdraw" }).click();
    await corrected.waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Review" }).click();
    await page.getByText("Version 2").waitFor();
  }));

test("calls and thoughts of a turn are corrected, each correction is another version with its author, and nothing is lost", async () => {
  const id = changing.at(-1);
  const corrections = () => site.ask("GET", `/conversations/${id}/corrections`);
  const { events } = await site.ask("GET", `/conversations/${id}`);
  const { seq } = events.find(({ event: { agent_spoke: spoke } }) => spoke?.reasoning && spoke.tool_calls?.length > 0);
  const turnOf = (page) => page.locator(`#turn-${seq}`);
  /** The turn as it reads now. */
  const reads = async () => {
    const messages = (await corrections()).agents.flatMap(({ messages }) => messages);
    return messages.find((message) => message.seq === seq).message;
  };
  await site.visit(address(id), async (page) => {
    const turn = turnOf(page);
    const played = await reads();
    const [{ id: call, function: made }] = played.tool_calls;
    await turn.getByRole("button", { name: "Correct" }).click();
    const form = page.getByRole("form", { name: "Correct" });
    const written = form.getByLabel(`Arguments of ${made.name}`).first();
    assert.deepEqual(JSON.parse(await written.inputValue()), JSON.parse(made.arguments));
    assert.equal(await form.getByLabel("What it should have thought").inputValue(), played.reasoning_content ?? "");
    await form.getByLabel("Why").fill("It takes what was asked for.");
    await written.fill("[1]");
    await form.getByRole("button", { name: "Save the correction" }).click();
    await form.getByRole("alert").getByText(`The arguments of ${made.name} are not a JSON object`).waitFor();
    // Calls must fit the tool: what the server refuses stays in the form.
    await written.fill(JSON.stringify({ ...JSON.parse(made.arguments), surely_unknown: 1 }));
    await form.getByRole("button", { name: "Save the correction" }).click();
    await form.locator(".wrong, [role=alert]").getByText(/surely_unknown/).first().waitFor();
    assert.match(await written.inputValue(), /surely_unknown/);
    assert.equal((await corrections()).last_version, 0);

    const [key, value] = Object.entries(JSON.parse(made.arguments)).find(([, value]) => typeof value === "string");
    const better = { ...JSON.parse(made.arguments), [key]: `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}` };
    await written.fill(JSON.stringify(better));
    await form.getByRole("button", { name: "Save the correction" }).click();
    const corrected = turn.getByRole("complementary", { name: "Correction" });
    await corrected.getByText("Corrected, version 1").waitFor();
    await corrected.getByText("mira", { exact: true }).waitFor();
    await corrected.getByText("It takes what was asked for.").waitFor();
    await corrected.getByRole("heading", { name: /tool calls/i }).waitFor();
    const { corrections: kept } = await corrections();
    assert.deepEqual([kept.length, kept[0].version, kept[0].author, kept[0].seq], [1, 1, "mira", seq]);
    const now = await reads();
    assert.deepEqual(now.tool_calls.map(({ id }) => id)[0], call, "its answer is still that of this call");
    assert.deepEqual(JSON.parse(now.tool_calls[0].function.arguments), better);
    assert.equal(now.reasoning_content, played.reasoning_content);
    await screenshot(page, "corrected-call");
  }, { expected: [/status of 422/] });

  const before = await reads();
  const link = (await site.server.run("users", "create", "noor", "--administrator", "--url", site.url)).trim();
  await site.stranger(link, async (page) => {
    await choosePassword(page, { password: "seven quiet lanterns" });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.goto(address(id, "?panel=people"));
    const turn = turnOf(page);
    await turn.getByRole("complementary", { name: "Correction" }).getByText("Corrected, version 1").waitFor();
    await turn.getByRole("button", { name: "Correct" }).click();
    const form = page.getByRole("form", { name: "Correct" });
    // It begins with the turn as it reads by now.
    const written = form.getByLabel(/^Arguments of/).first();
    assert.deepEqual(JSON.parse(await written.inputValue()), JSON.parse(before.tool_calls[0].function.arguments));
    await form.getByLabel("What it should have thought").fill("First I look it up.");
    await form.getByLabel("Why").fill("Says what it thinks.");
    await page.keyboard.press("Control+Enter");
    const corrected = turn.getByRole("complementary", { name: "Correction" });
    await corrected.getByText("Corrected, version 2").waitFor();
    await corrected.getByText("noor", { exact: true }).waitFor();
    await corrected.getByRole("heading", { name: /reasoning/i }).waitFor();
    const now = await reads();
    assert.equal(now.reasoning_content, "First I look it up.");
    assert.deepEqual(now.tool_calls, before.tool_calls, "what was corrected before stays");
    const versions = page.getByRole("region", { name: "Corrections" }).locator("ul.stack > li");
    await versions.nth(1).waitFor();
    const told = (await versions.allInnerTexts()).map((text) => /Version (\d)\s+(\w+)/.exec(text).slice(1));
    assert.deepEqual(told.sort(), [["1", "mira"], ["2", "noor"]]);
    await versions.filter({ hasText: "It takes what was asked for." }).waitFor();
    // What was played stays as it was.
    assert.deepEqual((await site.ask("GET", `/conversations/${id}`)).events, events);
  });
});

test("all that the API says can be seen and copied", () =>
  site.visit(address(all[0], "?panel=raw"), async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy JSON" }).click();
    await page.getByText("Copied.").waitFor();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    const said = await site.ask("GET", `/conversations/${all[0]}`);
    assert.deepEqual(copied, said);
    const keys = page.getByRole("tree", { name: "The conversation as JSON" }).locator(".key");
    assert.deepEqual((await keys.allInnerTexts()).sort(), Object.keys(said).sort());
    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "Open as JSON" }).click();
    const other = await opened;
    await other.waitForLoadState();
    assert.ok(other.url().endsWith(`/api/v1/conversations/${all[0]}`), other.url());
    assert.deepEqual(JSON.parse(await other.locator("pre").first().textContent()), said);
    await other.close();
    await page.bringToFront();
    await page.keyboard.press("y");
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) === location.href);
  }));

test("it fits a narrow screen with every panel", () =>
  site.visit(
    address(changing[0]),
    async (page) => {
      await page.locator(".bubble.user").first().waitFor();
      for (const name of ["World", "Review", "Raw JSON", "Verdict"]) {
        await page.getByRole("tab", { name }).click();
        await page.locator(`#panel-${{ World: "world", Review: "people", "Raw JSON": "raw", Verdict: "verdict" }[name]}`).waitFor();
        await page.waitForLoadState("networkidle");
        await fits(page, name);
        await screenshot(page, `conversation-narrow-${name.split(" ")[0].toLowerCase()}`);
      }
    },
    NARROW,
  ));

test("a conversation goes on differently from a turn, and both are kept", () =>
  site.visit(address(changing[0]), async (page) => {
    const words = "One moment please, I will look into it.";
    await page.locator(".bubble.agent").first().waitFor();
    const before = await page.locator(".bubble.user").first().innerText();
    await page.locator(".turn.agent").getByRole("button", { name: "Branch" }).first().click();
    const form = page.getByRole("form", { name: "Branch" });
    await form.getByLabel("What the agent says here instead").fill(words);
    await form.getByRole("button", { name: "Branch from here" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(changing[0]));
    await page.getByText(words).first().waitFor();
    assert.equal(await page.locator(".bubble.user").first().innerText(), before);
    const branches = await site.ask("GET", `/conversations/${changing[0]}/branches`);
    assert.equal(branches.length, 1);
    assert.ok(page.url().endsWith(branches[0].conversation));
    await screenshot(page, "branch");
  }));

test("a branch that takes its time says so, and what was written is there when it is cancelled", () =>
  site.visit(address(all[1]), async (page) => {
    const asked = [];
    await page.route(/\/branches$/, (route) => (route.request().method() === "POST" ? asked.push(route) : route.continue()));
    await page.locator(".turn.agent").getByRole("button", { name: "Branch" }).first().click();
    const form = page.getByRole("form", { name: "Branch" });
    const text = form.getByLabel("What the agent says here instead");
    await text.fill("In a moment.");
    await form.getByRole("button", { name: "Branch from here" }).click();
    await form.getByText("Making the branch …").waitFor();
    while (asked.length === 0) await page.waitForTimeout(20);
    // What is on its way is not closed over.
    await page.keyboard.press("Escape");
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("It was cancelled.", { exact: false }).waitFor();
    await form.getByText("Making the branch …").waitFor({ state: "detached" });
    assert.equal(await text.inputValue(), "In a moment.");
    assert.deepEqual(await site.ask("GET", `/conversations/${all[1]}/branches`), []);
  }));

test("it goes on differently from a turn of the user, too", () =>
  site.visit(address(changing[0]), async (page) => {
    const words = "Good morning. I need your help with something else.";
    const turn = page.locator(".turn.user").first();
    const seq = (await turn.getAttribute("id")).replace("turn-", "");
    await turn.getByRole("button", { name: "Branch" }).click();
    const form = page.getByRole("form", { name: "Branch" });
    await form.getByLabel("What the user says here instead").fill(words);
    await form.getByRole("button", { name: "Branch from here" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(changing[0]));
    await page.locator(".bubble.user").first().getByText(words).waitFor();
    const branch = new URL(page.url()).pathname.split("/").at(-1);
    const { branch_of } = await site.ask("GET", `/conversations/${branch}`);
    assert.deepEqual([branch_of.conversation, branch_of.seq], [changing[0], Number(seq)]);
    assert.ok(branch_of.edited_by);
    await page.goBack();
    await page.waitForURL(`**/conversations/${changing[0]}`);
  }));

test("another model goes on from a turn; both lead to each other, and become a preference pair", async () => {
  const words = "I can not say.";
  const model = await startModel(words);
  try {
    await site.ask("PUT", "/models/terse", { replicas: [model.url] });
    await site.visit(address(helped), async (page) => {
      const answer = page.locator(".turn.agent").last();
      const seq = (await answer.getAttribute("id")).replace("turn-", "");
      await answer.getByRole("button", { name: "Branch" }).click();
      const form = page.getByRole("form", { name: "Branch" });
      await form.getByLabel("Agent from here on").selectOption("terse");
      await form.getByRole("button", { name: "Branch from here" }).click();
      await page.waitForURL((url) => !url.pathname.endsWith(helped));
      await page.locator(".ending").waitFor();
      await page.locator(".bubble.agent").last().getByText(words).waitFor();
      const branch = new URL(page.url()).pathname.split("/").at(-1);
      const { models, branch_of } = await site.ask("GET", `/conversations/${branch}`);
      assert.deepEqual([models.agent, branch_of], ["terse", { conversation: helped, seq: Number(seq) }]);
      const pair = page.getByRole("link", { name: "Export as a preference pair" });
      await pair.waitFor();
      await screenshot(page, "branch-model");

      await page.getByRole("link", { name: `Go to the original conversation, at the turn where they differ (#${seq})` }).click();
      await page.waitForURL(`**/conversations/${helped}?turn=${seq}`);
      await page.locator(`#turn-${seq}.chosen`).waitFor();
      await page.getByRole("tab", { name: "Review" }).click();
      const branches = page.getByRole("region", { name: "Branches" });
      await branches.getByText("failed").waitFor();
      await branches.getByRole("link", { name: "Export as a preference pair" }).waitFor();
      await branches.getByRole("link", { name: `From #${seq}, by a model` }).click();
      await page.waitForURL(`**/conversations/${branch}`);

      await pair.click();
      await page.waitForURL(/exports\/new\?.*profile=trl_dpo/);
      const record = page.locator("pre.record");
      await record.waitFor();
      const { chosen, rejected } = JSON.parse(await record.innerText());
      assert.match(chosen[0].content, /1\.75/);
      assert.equal(rejected[0].content, words);
      await page.getByRole("button", { name: "Build the export" }).click();
      await page.waitForURL(/exports\/[0-9a-f-]{36}$/);
      await page.getByText("ready", { exact: true }).waitFor();
      const { rows } = await site.ask("GET", `/exports/${page.url().split("/").at(-1)}`);
      assert.equal(rows, 1);
    });
  } finally {
    model.stop();
  }
});

test("a branch that is being played is a pair once it has ended, without loading the page again", () =>
  site.visit(address(helped), async (page) => {
    let plays = "running";
    await page.route(/\/conversations\/[^/]+\/branches$/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      if (plays) for (const branch of json) Object.assign(branch, { run_state: plays, outcome: undefined });
      await route.fulfill({ response, json });
    });
    await page.getByRole("tab", { name: "Review" }).click();
    const branches = page.getByRole("region", { name: "Branches" });
    await branches.getByText("playing", { exact: true }).waitFor();
    assert.equal(await branches.getByRole("link", { name: "Export as a preference pair" }).count(), 0);
    // One that nobody plays any more is not asked for on and on.
    plays = "cancelled";
    await branches.getByText("cancelled", { exact: true }).waitFor();
    plays = null;
    await page.reload();
    await branches.getByText("failed", { exact: true }).waitFor();
    await branches.getByRole("link", { name: "Export as a preference pair" }).waitFor();
    assert.equal(await branches.getByText("playing", { exact: true }).count(), 0);
  }));

test("what somebody wrote in place of a turn becomes half of a preference pair", () =>
  site.visit(address(helped), async (page) => {
    const words = "That I do not know.";
    await page.locator(".turn.agent").last().getByRole("button", { name: "Branch" }).click();
    const form = page.getByRole("form", { name: "Branch" });
    await form.getByLabel("What the agent says here instead").fill(words);
    await form.getByRole("button", { name: "Branch from here" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(helped));
    await page.locator(".ending").waitFor();
    await page.getByText("A branch, written by mira.").waitFor();
    await page.getByRole("link", { name: "Export as a preference pair" }).click();
    const record = page.locator("pre.record");
    await record.waitFor();
    const { chosen, rejected } = JSON.parse(await record.innerText());
    assert.match(chosen[0].content, /1\.75/);
    assert.equal(rejected[0].content, words);
  }));

test("what is written below a call stays while the call is answered", () =>
  site.visit(address(changing[0]), async (page) => {
    await page.locator(".bubble").first().waitFor();
    // Until somebody writes, the server speaks of the time before the call was answered.
    let plays = true;
    await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      if (plays) {
        const answered = json.events.findIndex(({ event }) => event.tool_answered);
        Object.assign(json.summary, { outcome: null, finished_at: null });
        Object.assign(json, { events: json.events.slice(0, answered), verdict: null, verification: null });
      }
      await route.fulfill({ response, json });
    });
    await page.reload();
    const call = page.locator(".turn.calls").last();
    await call.getByText("no answer yet").waitFor();
    await call.hover();
    await call.getByRole("button", { name: "Annotate" }).click();
    const text = page.getByLabel("Annotation", { exact: true });
    await text.fill("Half a thou");
    plays = false;
    await page.locator(".ending").waitFor();
    const own = page.locator(".turn.calls", { has: text });
    await own.getByLabel("Answer", { exact: true }).waitFor();
    assert.equal(await text.inputValue(), "Half a thou");
    assert.ok(await text.evaluate((field) => field === document.activeElement), "it is written on");
    assert.equal(await own.getByText("no answer yet").count(), 0);
  }));

test("what is still being played is followed to its end, and nothing that was chosen or written is lost", () =>
  site.visit(address(all[2]), async (page) => {
    // It is played in no time: until the reader has looked around, the server speaks of its beginning.
    let plays = true;
    await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      if (plays && json.summary.id !== all[2]) {
        Object.assign(json.summary, { outcome: null, finished_at: null });
        Object.assign(json, { events: json.events.slice(0, 3), verdict: null, verification: null });
      }
      await route.fulfill({ response, json });
    });
    await page.locator(".turn.agent").getByRole("button", { name: "Branch" }).first().click();
    const form = page.getByRole("form", { name: "Branch" });
    await form.getByLabel("What the agent says here instead").fill("Let me see.");
    await form.getByRole("button", { name: "Branch from here" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(all[2]));
    await page.locator(".verdict").getByText("unfinished", { exact: true }).waitFor();
    await page.getByText("It will be judged when it has ended.").waitFor();
    const before = await page.locator(".turn").count();
    await page.locator(".turn").first().getByRole("button", { name: "Annotate" }).click();
    await page.getByLabel("Annotation", { exact: true }).fill("Half a thou");
    await page.locator(".turn").first().getByRole("button", { name: /^#/ }).click();
    await page.waitForURL(/turn=/);
    await page.getByRole("tab", { name: "Raw JSON" }).click();
    await page.waitForURL(/panel=raw/);
    const url = page.url();
    plays = false;
    await page.locator(".ending").waitFor();
    await page.locator(".verdict").getByText("unfinished", { exact: true }).waitFor({ state: "detached" });
    assert.ok((await page.locator(".turn").count()) > before);
    assert.equal(page.url(), url);
    await page.locator(`#turn-${turn(page)}.chosen`).waitFor();
    assert.equal(await page.getByLabel("Annotation", { exact: true }).inputValue(), "Half a thou");
    await page.getByRole("tab", { name: "Verdict" }).click();
    await page.locator("table.scores tbody tr").first().waitFor();
    // What has ended is not asked for again.
    let asked = 0;
    page.on("request", (request) => (asked += /\/conversations\/[^/]+$/.test(request.url()) ? 1 : 0));
    await page.waitForTimeout(3_000);
    assert.equal(asked, 0);
  }));
