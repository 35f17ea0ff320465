// What the pages cost: sizes, the first view, a long list, a live run. Prints a table; asserts nothing, for time is the
// machine's too. `cargo xtask bench web` runs it on release builds; bench/README.md has the figures.

import { setTimeout as pause } from "node:timers/promises";

import { PROJECT, Site } from "./support/story.mjs";
import { FIRST, weights } from "./support/weights.mjs";

const CONVERSATIONS = Number(process.env.CONVERSATIONS ?? 100_000);
const VIEWPORT = { width: 1400, height: 900 };
const LOADS = 9;
/** How long a live run is looked at, and a list is scrolled. */
const LOOK_MS = 20_000;
const PLAY_LIMIT_MS = 900_000;

const tell = (what, measured) => console.log(`| ${what} | ${measured} |`);
const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const quantile = (numbers, share) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
const ms = (number) => `${Math.round(number)} ms`;

/** The app as it is served, gzipped: what everybody fetches first, and each part by itself. */
async function sizes(dist) {
  const all = await weights(dist);
  const told = (bytes) => `${(bytes / 1000).toFixed(0)} KB`;
  tell("wasm of the first view, gzipped", told(all.find(([name]) => name === FIRST)[1]));
  for (const [name, bytes] of all.filter(([name, bytes]) => name !== FIRST && bytes >= 10_000)) {
    tell(`wasm of a part, gzipped: ${name}`, told(bytes));
  }
  tell("all wasm, gzipped", told(all.reduce((sum, [, bytes]) => sum + bytes, 0)));
}

/** First contentful paint, and the moment when `ready` is there, each with a cold cache. `visit` opens a fresh browser. */
async function firstView(visit, what, ready) {
  const [paints, readies] = [[], []];
  for (let n = 0; n < LOADS; n += 1) {
    await visit(async (page) => {
      await page.locator(ready).first().waitFor();
      readies.push(await page.evaluate(() => performance.now()));
      // What was painted is told a little later.
      const painted = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      await page.waitForFunction(painted);
      paints.push(await page.evaluate(painted));
    });
  }
  const both = (share) => `${ms(quantile(paints, share))} / ${ms(quantile(readies, share))}`;
  tell(`${what}, cold cache, median: first contentful paint / ready`, both(0.5));
  tell(`${what}, cold cache, slowest of ${LOADS}`, both(1));
}

/** From now on the page notes when frames come and which tasks take long. */
async function watch(page) {
  await page.evaluate(() => {
    const seen = { frames: [], tasks: [] };
    let before = performance.now();
    const frame = (now) => {
      seen.frames.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((task) => task.duration))).observe({
      type: "longtask",
    });
    globalThis.seen = seen;
  });
}

async function smoothness(page, what) {
  const { frames, tasks } = await page.evaluate(() => globalThis.seen);
  const [half, most, worst] = [0.5, 0.99, 1].map((share) => quantile(frames, share));
  tell(`${what}: time from frame to frame, median / 99 % / worst`, `${ms(half)} / ${ms(most)} / ${ms(worst)}`);
  tell(`${what}: tasks over 50 ms, of ${frames.length} frames`, `${tasks.length}, longest ${ms(Math.max(0, ...tasks))}`);
}

/** A run is played while its page is looked at; gives its id. */
async function live(site, page) {
  const order = { playbooks: ["retail_bank"], n: CONVERSATIONS, seed: 5, max_in_flight: 256 };
  const { id } = await site.ask("POST", `${PROJECT}/runs`, order);
  const finished = async () => (await site.ask("GET", `/runs/${id}`)).finished;
  await page.goto(`${PROJECT}/runs/${id}`);
  await page.locator("dl.strip").waitFor();
  const [began, before] = [Date.now(), await finished()];
  await watch(page);
  await page.waitForTimeout(LOOK_MS);
  tell("live run: conversations a second", Math.round((((await finished()) - before) * 1000) / (Date.now() - began)));
  await smoothness(page, "live run");
  const clicked = Date.now();
  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.locator("#panel-configuration").waitFor();
  tell("live run: another tab, from click to view", ms(Date.now() - clicked));
  return id;
}

async function ended(site, id) {
  const end = Date.now() + PLAY_LIMIT_MS;
  while ((await site.ask("GET", `/runs/${id}`)).state !== "finished") {
    if (Date.now() > end) throw new Error("the run took too long");
    await pause(1000);
  }
}

/** Scrolls by the wheel, as fast as a hand does; then to the end by a key. */
async function scroll(page) {
  await page.goto(`${PROJECT}/conversations`);
  await page.locator('[aria-rowindex="2"]').getByRole("link").waitFor();
  const list = page.locator(".virtual");
  await list.hover();
  await watch(page);
  const end = Date.now() + LOOK_MS;
  let rows = 0;
  while (Date.now() < end) {
    await page.mouse.wheel(0, 400);
    rows += 10;
    await page.waitForTimeout(16);
  }
  await smoothness(page, `list of ${CONVERSATIONS.toLocaleString("en")}, ${rows} rows by the wheel`);
  const pressed = Date.now();
  await list.press("End");
  await page.locator(`[aria-rowindex="${CONVERSATIONS + 1}"]`).getByRole("link").waitFor();
  tell("list: to its end, from key to rows", ms(Date.now() - pressed));
}

const site = new Site({ n: 1, demo: true, flags: [], viewport: { width: 1400, height: 900 } });
try {
  console.log("| what | measured |\n| --- | --- |");
  await sizes(process.env.WEB_DIST);
  await site.start();
  await firstView((look) => site.stranger("/sign-in", look), "sign-in", "form button");
  await firstView((look) => site.visit(PROJECT, look), "overview", "main h1");
  await site.visit("/", async (page) => {
    page.setDefaultTimeout(PLAY_LIMIT_MS);
    await ended(site, await live(site, page));
    await scroll(page);
  });
} finally {
  await site.stop();
}
