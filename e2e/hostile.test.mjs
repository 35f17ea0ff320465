// Texts that are there to break the pages: markup, a word of 200,000 letters, letters that run from right to left.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW, fits, screenshot, unbroken } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>{{7*7}}</p><style>*{display:none}</style>';
const RTL = "\u202eשלום \u202b<b>مرحبا بالعالم</b>\u202c 123 abc \u0000".replace("\u0000", "\u200f");
const WORD = "W".repeat(3_900);

let run;
let conversation;
let queue;
let toRate;

async function prepare(site) {
  run = (await site.ask("GET", `${PROJECT}/runs`)).items[0].id;
  const [first, second] = (await site.ask("GET", `/runs/${run}/conversations`)).items;
  conversation = first.id;
  const about = `/conversations/${conversation}`;
  const { seq } = (await site.ask("GET", about)).events.filter(({ event }) => event.agent_spoke).at(-1);
  for (const text of [MARKUP, RTL, WORD]) {
    await site.ask("POST", `${about}/annotations`, { seq, text, labels: ["x".repeat(40)] });
  }
  const content = `${MARKUP} ${RTL} ${"w".repeat(30_000)}`;
  await site.ask("POST", `${about}/corrections`, { seq, content, note: MARKUP + WORD.slice(0, 2_000) });
  const comment = MARKUP + RTL + WORD.slice(0, 3_000);
  await site.ask("PUT", `${about}/ratings`, { scores: { overall: 3 }, comment });
  const made = {
    name: `${MARKUP}${"N".repeat(60)}`,
    instructions: `${RTL}${MARKUP}${"I".repeat(9_000)}`,
    conversations: [conversation],
    // Whoever has opened a blind one to rate is shown no export of its run.
    blind: false,
  };
  queue = (await site.ask("POST", `${PROJECT}/review-queues`, made)).id;
  // One that is still to be rated.
  const unrated = { ...made, name: "To rate", conversations: [second.id] };
  toRate = (await site.ask("POST", `${PROJECT}/review-queues`, unrated)).id;
  await site.ask("POST", "/projects", { name: "hostile", title: MARKUP + RTL });
  await site.ask("POST", "/tokens", { name: MARKUP.slice(0, 60) + RTL.slice(0, 30), scopes: ["run"] });
  const { files, saved } = await site.ask("GET", `${PROJECT}/scenarios/help_card_abroad`);
  const [[path, text]] = Object.entries(files);
  const changed = { files: { [path]: `${text}\n# ${MARKUP}${RTL}\n` }, message: MARKUP + RTL + WORD.slice(0, 1_500) };
  await site.ask("PUT", `${PROJECT}/scenarios/help_card_abroad`, { ...changed, base_version: saved.version });
}

const site = story({ n: 2, seed: 5, demo: true, prepare });

/** What models say comes from the server: some of its answers are changed on their way to the page. */
async function rewrite(page, url, change) {
  await page.route(url, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    change(json);
    await route.fulfill({ response, json });
  });
}

/** Fails if a text on the page is longer than what is shown before somebody asks for the rest. */
async function cut(page, says) {
  const longest = await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let most = 0;
    while (texts.nextNode()) most = Math.max(most, texts.currentNode.length);
    return most;
  });
  assert.ok(longest < 10_000, `${says}: a text of ${longest} letters`);
}

/** A page with hostile text on it: nothing runs, it does not scroll sideways, and it still reacts. */
async function harmless(page, says) {
  await page.getByText("onerror", { exact: false }).filter({ visible: true }).first().waitFor();
  // A page that follows a run asks on and on, and may never be idle.
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {});
  await unbroken(page, says);
}

for (const viewport of [{ width: 1280, height: 800 }, NARROW.viewport]) {
  const options = { viewport, expected: [/Failed to fetch/] };
  const visit = (below, look) => site.visit(`${PROJECT}${below}`, look, options);
  const wide = `at ${viewport.width} pixels`;

  test(`hostile notes and corrections are text, ${wide}`, () =>
    visit(`/conversations/${conversation}?panel=people`, async (page) => {
      await harmless(page, "notes");
      assert.ok((await page.locator(".remark").count()) >= 4);
      await screenshot(page, `hostile-notes-${viewport.width}`);
    }));

  test(`hostile names and instructions of a queue are text, ${wide}`, async () => {
    await visit("/reviews", (page) => harmless(page, "queues"));
    await visit(`/reviews/${queue}`, async (page) => {
      await harmless(page, "queue");
      await screenshot(page, `hostile-queue-${viewport.width}`);
    });
  });

  test(`hostile arguments of a call, keys and values of a world are text, ${wide}`, () =>
    visit(`/conversations/${conversation}?panel=world`, async (page) => {
      await page.locator(".bubble").first().waitFor();
      const value = { [RTL]: MARKUP, said: RTL };
      const path = `/${MARKUP.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const args = { [RTL]: MARKUP, said: RTL };
      await page.route(/\/api\/v1\/conversations\/[^/]+$/, async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        const answers = json.events.map(({ event }) => event.tool_answered).filter(Boolean);
        for (const answer of answers) answer.patch = [];
        answers.at(-1).patch = [{ op: "add", path, value }];
        for (const { event } of json.events) {
          for (const call of event.agent_spoke?.tool_calls ?? []) call.function.arguments = JSON.stringify(args);
        }
        await route.fulfill({ response, json });
      });
      await page.route(/\/api\/v1\/conversations\/[^/]+\/world/, async (route) => {
        const url = new URL(route.request().url());
        const version = Number(url.searchParams.get("version"));
        url.searchParams.set("version", "0");
        const response = await route.fetch({ url: url.href });
        const json = await response.json();
        if (version > 0) Object.assign(json.world, { [MARKUP]: value });
        await route.fulfill({ response, json });
      });
      await page.reload();
      await harmless(page, "world");
      const call = page.locator("article.call").last();
      const shown = await call.getByLabel("Arguments").textContent();
      assert.deepEqual(JSON.parse(shown), args);
      assert.equal(await call.locator(".patch li > code").first().textContent(), path);
      const row = page.getByRole("tree", { name: "World" }).locator(".tree-row.added");
      assert.equal(await row.locator("bdi.key").textContent(), MARKUP);
      await row.click();
      // Each key and each value runs in its own direction.
      const below = page.locator(".tree-row.added + .tree-row, .tree-row.added + .tree-row + .tree-row");
      await below.nth(1).waitFor();
      assert.deepEqual((await below.locator("bdi.key").allTextContents()).sort(), ["said", RTL].sort());
      assert.deepEqual((await below.locator("bdi.leaf").allTextContents()).sort(), [MARKUP, RTL].sort());
      await harmless(page, "unfolded world");
      await screenshot(page, `hostile-world-${viewport.width}`);
    }));

  test(`hostile names of tools, scenarios and personas are text in lists and in a conversation, ${wide}`, async () => {
    const [named, ...others] = [MARKUP + RTL, RTL, WORD.slice(0, 400)];
    await visit("/conversations", async (page) => {
      await page.locator("[aria-rowindex='2']").getByRole("link").waitFor();
      const rename = (row, i) => {
        const name = [named, ...others][i % 3];
        Object.assign(row, { scenario: name, persona: name, tools: [MARKUP, RTL, WORD] });
      };
      await rewrite(page, /\/api\/v1\/projects\/default\/conversations\?/, ({ items }) => items.forEach(rename));
      await rewrite(page, /\/api\/v1\/projects\/default\/conversations\/facets/, ({ facets }) => {
        for (const { values } of facets) {
          if (values.length > 0) values[0].value = named;
          if (values.length > 1) values[1].value = WORD;
        }
      });
      await page.reload();
      await page.locator("[aria-rowindex='2']").getByRole("link").waitFor();
      await harmless(page, "conversations");
      assert.equal(await page.locator("[aria-rowindex='2']").getByRole("link").textContent(), named);
      await screenshot(page, `hostile-list-${viewport.width}`);
    });
    await visit(`/conversations/${conversation}`, async (page) => {
      await page.locator("article.call").first().waitFor();
      await rewrite(page, /\/api\/v1\/conversations\/[^/]+$/, ({ events }) => {
        for (const { event } of events) {
          for (const call of event.agent_spoke?.tool_calls ?? []) call.function.name = `${named}${WORD}`;
        }
      });
      await page.reload();
      await page.locator("article.call").first().waitFor();
      await harmless(page, "tools");
      // A name is cut; the panel with the raw JSON has all of it.
      const name = await page.locator("article.call h3 code").first().textContent();
      assert.ok(name.startsWith(named) && name.endsWith("…") && name.length < 250, name);
      await screenshot(page, `hostile-tools-${viewport.width}`);
    });
  });

  test(`a hostile first record and its card are text in the preview of an export, ${wide}`, () =>
    visit(`/exports/new?run=${run}`, async (page) => {
      await page.locator("pre.record").waitFor();
      const long = `${MARKUP}${RTL}${WORD}${"L".repeat(200_000)}`;
      await rewrite(page, /\/exports\/preview$/, (preview) => {
        preview.record.messages = [{ role: "user", content: long }];
        Object.assign(preview, { card: `# ${long}`, file_name: `${MARKUP}${WORD}.jsonl` });
      });
      await page.reload();
      await page.locator("pre.record").waitFor();
      await harmless(page, "preview");
      const shown = await page.locator("pre.record").textContent();
      assert.ok(shown.includes(JSON.stringify(MARKUP).slice(1, -1)), "the record shows its letters");
      await page.getByText("Shortened here; the copy is complete.").waitFor();
      await page.locator("section[aria-labelledby=card]").getByRole("button", { name: /^Show all 20\d,/ }).waitFor();
      assert.ok((await page.locator(".card-text pre").textContent()).includes(MARKUP));
      await screenshot(page, `hostile-export-${viewport.width}`);
    }));

  test(`hostile instructions, criteria and messages are text where people rate, ${wide}`, () =>
    visit(`/reviews/${toRate}/rate`, async (page) => {
      await page.locator(".bubble").first().waitFor();
      await rewrite(page, /\/review-queues\/[^/]+\/next$/, ({ task }) => {
        task.criteria = [MARKUP, RTL, WORD];
      });
      await rewrite(page, /\/api\/v1\/conversations\/[^/]+$/, ({ summary, events }) => {
        summary.scenario = `${MARKUP}${WORD}`;
        for (const { event } of events) {
          if (event.agent_spoke) event.agent_spoke.content = `${MARKUP}${RTL}${"L".repeat(200_000)}`;
        }
      });
      await page.reload();
      await page.locator(".bubble").first().waitFor();
      await harmless(page, "rating");
      assert.equal(await page.locator(".criterion").count(), 3);
      await page.keyboard.press("r");
      await page.keyboard.press("8");
      assert.equal(await page.locator(".criterion output").first().innerText(), "8");
      await screenshot(page, `hostile-rate-${viewport.width}`);
    }));

  test(`hostile names in a run that goes on are text, as they come, ${wide}`, async () => {
    const { id } = await site.ask("POST", `${PROJECT}/runs`, { n: 2, paused: true });
    const summary = await site.ask("GET", `/runs/${id}`);
    const forecast = await site.ask("GET", `/runs/${run}/forecast`);
    const usage = { calls: 1, retries: 0, prompt_tokens: 10, completion_tokens: 5, cost: 0.1 };
    const hostile = {
      playbook: `${MARKUP}${WORD.slice(0, 500)}`,
      paused_because: `${RTL}${MARKUP}${WORD}`,
      failures: { [MARKUP]: 3, [RTL]: 2, [WORD]: 1 },
      usage: [MARKUP, RTL, WORD].map((name) => ({ ...usage, role: name, model: name })),
    };
    const events = [6, 7, 8].map((finished) => ({ ...summary, ...hostile, state: "paused", finished, planned: 2_000 }));
    const body = events.map((told) => `event: progress\ndata: ${JSON.stringify(told)}\n\n`).join("");
    await visit(`/runs/${id}`, async (page) => {
      await page.locator("dl.strip").waitFor();
      await rewrite(page, new RegExp(`/api/v1/runs/${id}$`), (run) => Object.assign(run, hostile));
      await rewrite(page, new RegExp(`/api/v1/runs/${id}/config$`), (terms) => {
        terms.config.models = { agent: MARKUP, judge: RTL, simulated_user: WORD };
        terms.models = [MARKUP, RTL, WORD];
      });
      await page.route(`**/runs/${id}/progress`, (route) => route.fulfill({ contentType: "text/event-stream", body }));
      // The server knows of none that has ended, and would refuse to tell what all will take.
      await page.route(`**/runs/${id}/forecast`, (route) => route.fulfill({ json: forecast }));
      await page.reload();
      await page.locator("dl.strip").getByText("8 of 2,000").waitFor();
      await page.locator("section[aria-labelledby=endpoints] h3").first().waitFor();
      await harmless(page, "run");
      assert.ok((await page.getByRole("heading", { level: 1 }).textContent()).includes(MARKUP));
      assert.equal(await page.locator("section[aria-labelledby=blame] .bar").count(), 3);
      await screenshot(page, `hostile-run-${viewport.width}`);
      await page.getByRole("tab", { name: "Configuration" }).click();
      await harmless(page, "configuration");
    });
    await visit("/runs", async (page) => {
      await page.locator("table.rows tbody tr").first().waitFor();
      await rewrite(page, /\/api\/v1\/projects\/default\/runs/, ({ items }) => Object.assign(items[0], hostile));
      await page.reload();
      await harmless(page, "runs");
    });
  });

  test(`hostile names of projects, tokens and actors, and what is said of versions, are text, ${wide}`, async () => {
    const named = (page) => page.getByText("onerror", { exact: false }).filter({ visible: true }).first();
    await site.visit("/projects", (page) => harmless(page, "projects"), options);
    await site.visit("/projects/hostile/runs", (page) => page.locator("h1").waitFor().then(() => fits(page, "hostile")), options);
    await site.visit("/tokens", async (page) => {
      await harmless(page, "tokens");
      // The question before it is deleted names it, too.
      await page.getByRole("button", { name: /^Delete/ }).first().click();
      await page.getByRole("dialog").getByText("onerror", { exact: false }).first().waitFor();
      await fits(page, "a question");
      assert.equal(await page.evaluate(() => window.broken), undefined);
    }, options);
    await visit("/scenarios/help_card_abroad?tab=versions", async (page) => {
      await harmless(page, "versions");
      assert.ok((await page.locator(".unified .added").allTextContents()).join().includes(MARKUP));
      await screenshot(page, `hostile-versions-${viewport.width}`);
    });
    await site.visit("/audit", async (page) => {
      await page.locator("table.rows tbody tr").first().waitFor();
      await rewrite(page, /\/api\/v1\/audit/, ({ items }) => {
        for (const item of items) Object.assign(item, { actor: MARKUP + RTL, action: WORD });
      });
      await page.reload();
      await named(page).waitFor();
      await harmless(page, "audit");
    }, options);
  });

  test(`a message of 200,000 letters is cut, shown whole on demand, and the page reacts, ${wide}`, () =>
    visit(`/conversations/${conversation}`, async (page) => {
      await page.locator(".bubble").first().waitFor();
      // What a model said comes with the conversation: the answer is rewritten on its way to the page.
      const long = `${MARKUP}${RTL}${"L".repeat(200_000)}`;
      const outcome = { kind: "failed", blame: "agent", reason: long };
      const scores = [{ criterion: "goal", score: 5, rationale: long }];
      const verdict = { judge: "default", scores, overall: 5, rationale: long, goal_achieved: false, weighted_mean: 5 };
      await page.route("**/api/v1/conversations/*", async (route) => {
        const response = await route.fetch();
        const detail = await response.json();
        for (const { event } of detail.events) {
          if (event.agent_spoke) Object.assign(event.agent_spoke, { content: long, reasoning: long });
          if (event.user_spoke && !event.user_spoke.ended) event.user_spoke.content = long;
          if (event.tool_answered) event.tool_answered.content = long;
        }
        const last = detail.events.at(-1);
        const { usage } = detail.events.find(({ event }) => event.agent_spoke).event.agent_spoke;
        const refused = { role: "agent", reply: long, reason: long, usage };
        detail.events.push({ ...last, seq: last.seq + 1, event: { refused } });
        Object.assign(detail.summary, { scenario: MARKUP + "S".repeat(400), outcome });
        await route.fulfill({ response, json: { ...detail, verdict } });
      });
      await page.route(/\/api\/v1\/conversations\/[^/]+\/verdicts$/, (route) => {
        const by = { judging_id: "j", judge: "default", judge_version: "v", models: ["scripted"] };
        const of = { conversation_id: conversation, position: 0, created_at: "2026-01-01T00:00:00Z" };
        return route.fulfill({ json: [{ ...by, ...of, verdict, outcome }] });
      });
      await rewrite(page, /\/api\/v1\/conversations\/[^/]+\/corrections$/, ({ agents }) => {
        const messages = agents.flatMap(({ messages }) => messages).filter(({ corrected_by }) => corrected_by);
        const pieces = ["delete", "insert"].map((kind) => ({ kind, text: long }));
        for (const message of messages) message.diff = { content: pieces };
      });
      await page.reload();
      await page.locator(".remark.corrected .rest").first().waitFor();
      await page.locator("section[aria-labelledby=verdicts] summary").first().click();
      await page.locator("section[aria-labelledby=verdicts] .lines .rest").first().waitFor();
      await page.locator("details.refused > summary").click();
      assert.equal(await page.locator("details.refused .rest").count(), 2, "the reason and the reply");
      await page.locator(".title .verdict .rest").waitFor();
      await cut(page, "a conversation");
      await harmless(page, "long");
      const more = page.getByRole("button", { name: /^Show all 200,/ }).first();
      await more.click();
      await page.getByRole("button", { name: "Show less" }).first().waitFor();
      await fits(page);
      await page.keyboard.press("j");
      await page.waitForURL(/turn=/);
    }));

  test(`answers that are tried and prompts of 200,000 letters are text, and cut, ${wide}`, async () => {
    const long = `${MARKUP}${RTL}${"L".repeat(200_000)}`;
    await visit("/playbooks/retail_bank?tab=try", async (page) => {
      const panel = page.getByRole("tabpanel", { name: "Try" });
      await rewrite(page, /\/playbooks\/retail_bank\/try$/, ({ replies }) => {
        for (const reply of replies) Object.assign(reply, { content: long, why: long });
      });
      await panel.getByLabel("Tool").selectOption("verify_identity");
      await panel.getByRole("button", { name: "Call" }).click();
      const reply = panel.locator("article", { hasText: "Call 1" });
      await reply.locator(".rest").first().waitFor();
      assert.equal(await reply.locator(".rest").count(), 2);
      await cut(page, "a tried call");
      await harmless(page, "try");
    });
    await visit("/playbooks/retail_bank?tab=prompts", async (page) => {
      const panel = page.getByRole("tabpanel", { name: "Prompts" });
      await panel.locator("details.prompt[open] pre").first().waitFor();
      await rewrite(page, /\/playbooks\/retail_bank\/prompts$/, ({ prompts }) => {
        for (const { messages } of prompts) for (const message of messages) message.content = long;
      });
      await page.reload();
      await panel.locator("details.prompt[open] .rest").first().waitFor();
      await cut(page, "prompts");
      await harmless(page, "prompts");
    });
  });
}
