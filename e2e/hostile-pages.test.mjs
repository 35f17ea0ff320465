// All pages when whatever the server says of people's, files' and models' words is there to break them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addresses } from "./support/addresses.mjs";
import { NARROW, WIDE, settled, unbroken } from "./support/browser.mjs";
import { story } from "./support/story.mjs";

const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>{{7*7}}</p><style>*{display:none}</style>';
const HOSTILE = `${MARKUP} \u202eשלום \u202b<b>مرحبا بالعالم</b>\u202c ${"W".repeat(3_900)}`;
/** Who did it and what it is about, in one word. */
const WORDS = new Set(["actor", "author", "created_by", "family", "labels", "message", "paused_because", "playbook", "rater", "reason", "tags", "title", "user"]);
/** What things in a list are called. On a page of one thing it is part of what the page asks for. */
const NAMES = new Set(["name", "scenario", "persona", "criterion", "model", "judge", "value", "file_name"]);
/**
 * Pages on which nobody's words stand: figures, numbers to move, and lists of nothing. All others show them. An environment is found
 * by its name in a list, where it has another one now: its page says that there is none, and environments.test.mjs breaks it.
 */
const OF_FIGURES = [
  "persona-model",
  "reviews-disagreements",
  "corpus-new",
  "storage",
  "workers",
  "no-member",
  "environment",
  "environment-edit",
];

/** One page is of what was deleted; things are asked for by names that they have not, and prompts made of changed texts. */
const EXPECTED = [/Failed to fetch/, /404.*(claim_wrong_date|%3Cimg)/, /422.*(\/(prompts|preview)|%3Cimg.*)\)$/];

let pages;
const site = story({
  n: 12,
  seed: 3,
  demo: true,
  prepare: async (site) => {
    pages = await addresses(site);
  },
});

/** The same answer, with all prose and such words replaced; texts of files say it where a reader of them looks. */
function hostile(value, { key = "", within = "", listed = false } = {}) {
  if (Array.isArray(value)) return value.map((one) => hostile(one, { key, within, listed: true }));
  if (value !== null && typeof value === "object") {
    const inner = ([name, one]) => [name, hostile(one, { key: name, within: key, listed })];
    return Object.fromEntries(Object.entries(value).map(inner));
  }
  if (typeof value !== "string") return value;
  if (within === "files") return value.replace(/^( *(?:title|description): ).*$/gm, `$1${JSON.stringify(HOSTILE)}`);
  return /\S \S/.test(value) || WORDS.has(key) || (listed && NAMES.has(key)) ? HOSTILE : value;
}

/** In the page itself: requests that pass through Playwright are never cached, and each page would be fetched and compiled anew. */
const REWRITING = `{
  const HOSTILE = ${JSON.stringify(HOSTILE)};
  const [WORDS, NAMES] = ${JSON.stringify([[...WORDS], [...NAMES]])}.map((words) => new Set(words));
  const hostile = ${hostile};
  const asked = window.fetch;
  window.fetch = async (...order) => {
    const request = new Request(...order);
    const { method, url } = request;
    const response = await asked(request);
    if (method !== "GET" || !/\\/api\\/v1\\//.test(url) || /\\/(session|schemas)\\b|\\/progress$/.test(url)) return response;
    if (!response.ok || !/json/.test(response.headers.get("content-type") ?? "")) return response;
    return new Response(JSON.stringify(hostile(await response.json())), response);
  };
}`;

test("no page breaks of hostile text, nor runs it, wide or narrow", async (t) => {
  await site.visit("/projects", async (page) => {
    await page.addInitScript(REWRITING);
    for (const [name, address] of pages) {
      await t.test(name, async () => {
        await page.setViewportSize(WIDE.viewport);
        await page.goto(address);
        await settled(page);
        const said = page.locator("main").getByText("onerror", { exact: false });
        if (OF_FIGURES.includes(name)) assert.equal(await said.count(), 0, "somebody's words stand there");
        else await said.first().waitFor({ state: "attached" });
        await unbroken(page, name);
        await page.setViewportSize(NARROW.viewport);
        await unbroken(page, name);
      });
    }
  }, { expected: EXPECTED });
});
