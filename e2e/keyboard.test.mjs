// By keys alone: from the list of runs to a file for a trainer, and whether one sees where one is.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { WIDE, screenshot } from "./support/browser.mjs";
import { pressAt, tabTo } from "./support/keyboard.mjs";
import { PROJECT, story } from "./support/story.mjs";

const site = story({ n: 24, seed: 3, demo: true, ...WIDE });

const query = (page) => new URL(page.url()).searchParams;
const path = (page) => new URL(page.url()).pathname;

/** From the overview to a conversation of the newest run. */
async function toConversation(page) {
  await page.locator("table.rows tbody tr").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await pressAt(page, page.locator("table.rows tbody a").first());
  await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
  await pressAt(page, page.getByRole("tab", { name: "Overview" }), "ArrowRight");
  await page.waitForURL(/tab=conversations/);
  await pressAt(page, page.locator("table.rows tbody a").first());
  await page.waitForURL(/conversations\/[0-9a-f-]{36}$/);
  await page.locator(".bubble.user").first().waitFor();
}

/** To the next one and back, and through its turns. */
async function lookAround(page) {
  const first = path(page);
  await page.getByRole("link", { name: "Next →" }).waitFor();
  await page.keyboard.press("n");
  await page.waitForURL((url) => url.pathname !== first);
  await page.locator(".bubble.user").first().waitFor();
  await page.getByRole("link", { name: "← Previous" }).waitFor();
  await page.keyboard.press("p");
  await page.waitForURL(`**${first}`);
  await page.locator(".bubble.user").first().waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(/turn=/);
}

async function review(page) {
  await page.keyboard.press("t");
  await page.keyboard.press("p");
  await page.waitForURL(/panel=people/);
  await pressAt(page, page.getByRole("button", { name: "Rate it" }));
  await tabTo(page, page.getByRole("slider").first());
  // A score, the next criterion, another score.
  for (const key of ["8", "Enter", "6", "Control+Enter"]) {
    await page.keyboard.press(key);
  }
  const mine = page.locator(".rating", { hasText: "You" });
  await mine.waitFor();
  assert.match(await mine.innerText(), / 8 · .* 6$/);
}

/** From all conversations to a corpus of the accepted ones. */
async function select(page) {
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "Conversations", level: 1 }).waitFor();
  await pressAt(page, page.getByRole("checkbox", { name: "accepted" }), "Space");
  await page.waitForURL(/outcome=accepted/);
  // The list itself is one stop; arrows go through its rows.
  await page.locator("[aria-rowindex='2']").getByRole("link").waitFor();
  await pressAt(page, page.getByRole("table", { name: "Conversations" }), "ArrowDown");
  await page.waitForFunction(() => document.activeElement.closest("[aria-rowindex='2']"));
  await tabTo(page, page.getByRole("link", { name: "Make a corpus" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/corpora\/new\?/);
  await tabTo(page, page.getByRole("textbox", { name: /^Name/ }));
  await page.keyboard.type("by_keys");
  await page.keyboard.press("Enter");
  await page.waitForURL(/corpora\/[0-9a-f-]{36}$/);
  await page.locator("h1 .badge").getByText("ready", { exact: true }).waitFor();
}

/** From the corpus to a file on the disk. */
async function download(page) {
  await pressAt(page, page.getByRole("main").getByRole("link", { name: "Export", exact: true }));
  await page.waitForURL(/exports\/new\?corpus=/);
  await pressAt(page, page.getByRole("radio", { name: /^Hugging Face/ }), "ArrowDown");
  await page.waitForURL(/profile=canonical/);
  await page.locator("pre.record").waitFor();
  await pressAt(page, page.getByRole("button", { name: "Build the export" }));
  await page.waitForURL(/exports\/[0-9a-f-]{36}$/);
  const link = page.getByRole("link", { name: "Download" });
  await link.waitFor();
  const begun = page.waitForEvent("download");
  await pressAt(page, link);
  return readFile(await (await begun).path(), "utf8");
}

test("a whole way is gone by keys: runs, a conversation, its rating, a corpus, an export, its file", () =>
  site.visit(PROJECT, async (page) => {
    // Whoever touches the mouse fails.
    await page.addInitScript(() => {
      window.addEventListener("mousedown", () => console.error("a mouse was used"), true);
    });
    // A part of the program that is still on its way would be cut off, which is an error.
    await page.waitForLoadState("networkidle");
    await page.reload();
    await toConversation(page);
    await lookAround(page);
    await review(page);
    await select(page);
    const file = await download(page);
    const rows = file.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(rows.length > 0 && rows.every(({ messages }) => messages.length > 1), `${rows.length} rows`);
    assert.equal(query(page).toString(), "");
  }));

/** Leaves the element that was tabbed to last, and tells how it looked with and without the focus. Runs in the page. */
function left() {
  const kind = (element) => {
    const tag = element.tagName.toLowerCase();
    const what = element.getAttribute("role") ?? (tag === "input" ? element.type : "");
    return what ? `${tag} ${what}` : tag;
  };
  const drawn = (element) => {
    // A row is drawn around the link that opens it, a tree's row for the tree, an editor within its host.
    const within = element.querySelector(".active") ?? element.shadowRoot?.querySelector(".cm-editor");
    const all = [[element], [element, "::after"], ...(within ? [[within]] : [])];
    return all.map((one) => getComputedStyle(...one)).map((style) => [
      style.outlineStyle === "none" ? "" : `${style.outlineStyle} ${style.outlineWidth} ${style.outlineColor}`,
      style.boxShadow,
    ]);
  };
  const before = window.tabbed;
  const now = document.activeElement;
  window.tabbed = now && now !== document.body ? { element: now, kind: kind(now), focused: drawn(now) } : null;
  if (!before?.element.isConnected || before.element === now) return null;
  const { element, focused } = before;
  return { kind: before.kind, focused, unfocused: drawn(element), html: element.outerHTML.slice(0, 200) };
}

/** What is drawn around what has the focus: its colour. */
const colours = (drawn) => drawn.flat().flatMap((text) => text.match(/rgba?\([^)]*\)/g) ?? []);

/** How far two colours are from each other, by WCAG: 1 to 21. */
function contrast(one, other) {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
    const linear = [r, g, b].map((part) => part / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

/** Goes once around the page. Each stop must look different with the focus; gives the kinds of controls that there were. */
async function goAround(page, stops) {
  const kinds = new Set();
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  for (let at = 0; at < stops; at += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(left);
    if (!stop) continue;
    assert.notDeepEqual(stop.focused, stop.unfocused, `nobody sees the focus on ${stop.html}`);
    const seen = Math.max(...colours(stop.focused).map((colour) => contrast(colour, ground)));
    assert.ok(seen >= 3, `the focus on ${stop.html} has a contrast of ${seen}`);
    kinds.add(stop.kind);
  }
  return kinds;
}

/** Pages that together have every kind of control, and how many stops are worth going. */
const AROUND = [
  ["/runs/new", 120],
  ["/conversations", 130],
  ["/reviews/new", 50],
  ["/exports/new", 50],
  ["/personas/busy_professional", 90],
];
const KINDS = [
  "a",
  "button",
  "button tab",
  "div table",
  "div tree",
  "input checkbox",
  "input datetime-local",
  "input number",
  "input radio",
  "input range",
  "input search",
  "input text",
  "pre",
  "select",
  "summary",
  "textarea",
];

for (const colorScheme of ["light", "dark"]) {
  test(`whoever goes by keys sees where they are, on every kind of control, ${colorScheme}`, async () => {
    const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    const [{ id }] = (await site.ask("GET", `/runs/${run.id}/conversations`)).items;
    const kinds = new Set();
    for (const [below, stops] of [...AROUND, [`/conversations/${id}?panel=world`, 120]]) {
      const around = async (page) => {
        await page.locator("main h1").waitFor();
        await page.waitForFunction(() => document.querySelectorAll("main .loading").length === 0);
        for (const kind of await goAround(page, stops)) kinds.add(kind);
        await screenshot(page, `focus-${colorScheme}`);
      };
      await site.visit(`${PROJECT}${below}`, around, { colorScheme });
    }
    assert.deepEqual(KINDS.filter((kind) => !kinds.has(kind)), [], `there were ${[...kinds].sort()}`);
  });
}
