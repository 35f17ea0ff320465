// What takes long: a corpus, its preview and an export of many conversations are watched, cancelled half-way, and brought to
// their end.

import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { WIDE, screenshot } from "./support/browser.mjs";
import { slowly } from "./support/slow.mjs";
import { PROJECT, story } from "./support/story.mjs";

const PLANNED = 800;
/** A slow and busy machine builds the longest of it within this time. */
const BUILT_MS = 120_000;
/** A slow browser may come to cancel it when it is built. Then it is begun again. */
const ATTEMPTS = 10;
/** A cancel that comes too late is refused. */
const TOO_LATE = { expected: [/status of 409/] };

const site = story({ n: PLANNED, seed: 3, ...WIDE });

const state = (page, name) => page.locator("h1 .badge").getByText(name, { exact: true });
const shown = (n) => n.toLocaleString("en-GB");

/** Another address, once the page is there: what is broken off while it loads, the browser calls an error. */
async function goOn(page, address) {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goto(address);
}

/** A corpus or an export. */
async function ask(address) {
  const found = await site.ask("GET", address);
  return found.summary ?? found;
}

/** Has the page note what it says of progress, from its first to its last word. */
async function noting(page) {
  await page.addInitScript(() => {
    window.progress = [];
    const note = () => {
      const said = document.querySelector(".progress [role=status]")?.textContent;
      if (said && said !== window.progress.at(-1)) {
        window.progress.push(said);
      }
    };
    new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
  });
}

/** What was said: the step, and where it counts, how far it was of how many. Fails on anything else. */
async function noted(page, steps) {
  const said = await page.evaluate(() => window.progress);
  return said.map((text) => {
    const [, step, done, of] = /^(.+?)(?: …|: ([\d,]+) of ([\d,]+))$/.exec(text) ?? [];
    assert.ok(steps.includes(step), `progress says ${text}`);
    const number = (text) => text && Number(text.replaceAll(",", ""));
    return { at: steps.indexOf(step), done: number(done), of: number(of) };
  });
}

/** No step comes back, and no number falls. */
function assertOnward(said) {
  for (const [i, now] of said.entries()) {
    const before = said[i - 1];
    assert.ok(now.done === undefined || now.done <= now.of, `${now.done} of ${now.of}`);
    if (before) {
      assert.ok(before.at < now.at || (before.at === now.at && before.done < now.done), JSON.stringify(said));
    }
  }
}

/**
 * Begins it (`begin` ends on its page and gives its address in the API), waits until what the page says of progress is
 * `halfway`, and cancels it. Gives the address of what was cancelled. Events are read slowly meanwhile.
 */
const cancelHalfway = (...how) => slowly(site.server, () => beginAndCancel(...how));

async function beginAndCancel(page, begin, halfway) {
  const ended = state(page, /^(ready|failed)$/);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const address = await begin(attempt);
    await page.locator(".progress").getByText(halfway).or(ended).waitFor({ timeout: BUILT_MS });
    // What has ended has no such button, and its state may be clicked.
    await page.getByRole("button", { name: "Cancel" }).or(ended).click();
    await page.locator(".toast").getByText(/ is no longer being built\.$/).or(ended).waitFor({ timeout: BUILT_MS });
    const found = (await ask(address)).state;
    if (found === "cancelled") {
      return address;
    }
    assert.equal(found, "ready");
    await site.ask("DELETE", address);
  }
  throw new Error(`${ATTEMPTS} of ${ATTEMPTS} were built before they could be cancelled`);
}

async function remove(page, kind, address) {
  await goOn(page, `${PROJECT}${address}`);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: `Delete the ${kind}?` });
  await dialog.getByRole("button", { name: `Delete the ${kind}` }).click();
  await page.getByText(`The ${kind} was deleted.`).waitFor();
}

/**
 * The list's first look says that what stands first was only just begun, however fast the machine is. Called on a page
 * without that list: else its look may be the first.
 */
async function asIfJustBegun(page, kind, unbuilt) {
  let looks = 0;
  await page.route(new RegExp(`/api/v1/projects/default/${kind}(\\?|$)`), async (route) => {
    const response = await route.fetch();
    const list = await response.json();
    looks += 1;
    if (looks === 1) {
      Object.assign(list.items[0], { state: "building", ...unbuilt });
    }
    await route.fulfill({ response, json: list });
  });
}

// The tests below are two stories: what is cancelled by the first test of each is gone after the second.

const STEPS = ["waiting", "filter", "read", "select", "keep"].map((step) => `Selecting, ${step}`);
// Until the server says how far it is, there is no step.
const SELECTING = ["Selecting", ...STEPS];
let cancelledCorpus;

/** Asked for as a program does: the form would select it once more, for its preview. */
async function beginCorpus(page, name) {
  const { id } = await site.ask("POST", `${PROJECT}/corpora`, { name, spec: {} });
  await goOn(page, `${PROJECT}/corpora/${id}`);
  return `/corpora/${id}`;
}

test("a corpus that is being selected says how far it is, and is cancelled", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    const begin = (attempt) => beginCorpus(page, `halfway-${attempt}`);
    cancelledCorpus = await cancelHalfway(page, begin, /^Selecting, read: [1-9][\d,]* of [\d,]+$/);
    await state(page, "cancelled").waitFor();
    await page.locator(".progress").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "New corpus with the same settings" }).waitFor();
    await accessible(page);
    await page.getByRole("button", { name: "Delete" }).waitFor();
    await screenshot(page, "corpus-cancelled");
    await assert.rejects(site.ask("POST", `${cancelledCorpus}/cancel`), /: 409 .*the corpus is cancelled/);
  }, TOO_LATE));

test("what was cancelled kept nothing; another corpus is selected to its end", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    await noting(page);
    const address = await beginCorpus(page, "whole");
    await state(page, "ready").waitFor({ timeout: BUILT_MS });
    const said = await noted(page, SELECTING);
    assertOnward(said);
    const { summary, report } = await site.ask("GET", address);
    for (const { of } of said.filter(({ of }) => of !== undefined)) {
      assert.equal(of, report.found);
    }
    await page.locator("dl.strip").getByText(shown(summary.train), { exact: true }).waitFor();

    // Corpora are built one after another: whoever built the cancelled one has left it by now.
    const left = await ask(cancelledCorpus);
    assert.deepEqual([left.state, left.train, left.golden, left.manifest_hash ?? null], ["cancelled", 0, 0, null]);
    assert.deepEqual((await site.ask("GET", `${cancelledCorpus}/conversations`)).items, []);
    await assert.rejects(site.ask("GET", `${cancelledCorpus}/manifest`), /: 409 .*cancelled and has no manifest/);

    await goOn(page, `${PROJECT}/corpora`);
    await page.getByRole("row", { name: /^halfway-/ }).getByText("cancelled").waitFor();
    await page.getByRole("row", { name: /^whole/ }).getByText("ready").waitFor();
  }));

test("what was cancelled is made again from its page, by the same selection", () =>
  site.visit(`${PROJECT}${cancelledCorpus}`, async (page) => {
    await page.getByRole("button", { name: "Make again" }).click();
    await page.getByText("The corpus is made again, with the same settings.").waitFor();
    await state(page, "ready").waitFor({ timeout: BUILT_MS });
    const made = await ask(cancelledCorpus);
    const [whole] = (await site.ask("GET", `${PROJECT}/corpora`)).items.filter(({ name }) => name === "whole");
    assert.equal(made.manifest_hash, whole.manifest_hash);
    await page.locator("dl.strip").getByText(shown(made.train), { exact: true }).waitFor();
    await remove(page, "corpus", cancelledCorpus);
    assert.deepEqual((await site.ask("GET", `${PROJECT}/corpora`)).items.map(({ name }) => name), ["whole"]);
  }));

test("a list follows what is being selected", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    const { id } = await site.ask("POST", `${PROJECT}/corpora`, { name: "followed", spec: {} });
    await asIfJustBegun(page, "corpora", { train: 0, golden: 0 });
    await goOn(page, `${PROJECT}/corpora`);
    const row = page.getByRole("row", { name: /^followed/ });
    await row.getByText("building").waitFor();
    await row.getByText("ready").waitFor({ timeout: BUILT_MS });
    const { train } = await ask(`/corpora/${id}`);
    await row.getByRole("cell", { name: shown(train), exact: true }).first().waitFor();
    await site.ask("DELETE", `/corpora/${id}`);
  }));

test("a look that is never answered is not the last one", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    let looks = 0;
    await page.route(/\/api\/v1\/corpora\/[0-9a-f-]{36}$/, async (route) => {
      looks += 1;
      if (looks === 2) {
        return;
      }
      const response = await route.fetch();
      const corpus = await response.json();
      if (looks === 1) {
        corpus.summary.state = "building";
      }
      await route.fulfill({ response, json: corpus });
    });
    await page.getByRole("row", { name: /^whole/ }).getByRole("link").click();
    await state(page, "building").waitFor();
    await state(page, "ready").waitFor();
    assert.equal(looks, 3);
  }));

// What would be selected is looked at while somebody waits for it, and no longer.

const preview = (page) => page.getByRole("region", { name: "Preview" });
const previewed = (page) => preview(page).getByText(/^[\d,]+ conversations: [\d,]+ train, [\d,]+ golden$/);

test("a preview says how far it is and how long it takes, is cancelled, and is looked at again", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    const broken = [];
    page.on("requestfailed", (request) => broken.push(new URL(request.url()).pathname));
    const cancelled = preview(page).getByText("The preview is not complete.");
    await slowly(site.server, async () => {
      for (let attempt = 0; !(await cancelled.isVisible()); attempt += 1) {
        assert.ok(attempt < ATTEMPTS, `${ATTEMPTS} of ${ATTEMPTS} were there before they could be cancelled`);
        await goOn(page, `${PROJECT}/corpora/new?seed=${attempt}`);
        await preview(page).getByText(/^Selecting, read: [1-9][\d,]* of [\d,]+$/).or(previewed(page)).waitFor();
        assert.match(await preview(page).innerText(), /\d+ s\n|conversations: /);
        await preview(page).getByRole("button", { name: "Cancel" }).or(previewed(page)).click();
        await cancelled.or(previewed(page)).waitFor();
      }
    });
    assert.ok(broken.some((path) => path.endsWith("/corpora/preview")), "the server hears of it");
    await preview(page).locator(".progress").waitFor({ state: "detached" });
    await screenshot(page, "preview-cancelled");
    await preview(page).getByRole("button", { name: "Refresh the preview" }).click();
    await previewed(page).waitFor({ timeout: BUILT_MS });
    await cancelled.waitFor({ state: "detached" });
  }));

test("a preview goes on and on, to its report", () =>
  site.visit(`${PROJECT}/corpora`, async (page) => {
    await noting(page);
    await goOn(page, `${PROJECT}/corpora/new`);
    await previewed(page).waitFor({ timeout: BUILT_MS });
    assertOnward(await noted(page, SELECTING));
    await preview(page).getByRole("heading", { name: "Funnel" }).waitFor();
  }));

// The form reads the first record, for its preview; then the export is written.
const WRITING = ["Reading", "Writing"];
let cancelledExport;

async function beginExport(page) {
  const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  await goOn(page, `${PROJECT}/exports/new?run=${run.id}`);
  await page.getByRole("button", { name: "Build the export" }).click();
  await page.waitForURL(/exports\/[0-9a-f-]{36}$/);
  return `/exports/${page.url().split("/").at(-1)}`;
}

test("an export that is being built says how far it is, and is cancelled", () =>
  site.visit(`${PROJECT}/exports`, async (page) => {
    const halfway = new RegExp(`^Writing: [1-9][\\d,]* of ${shown(PLANNED)}$`);
    cancelledExport = await cancelHalfway(page, () => beginExport(page), halfway);
    await state(page, "cancelled").waitFor();
    await page.locator(".progress").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete" }).waitFor();
    await page.getByRole("link", { name: "Download" }).waitFor({ state: "detached" });
    await accessible(page);
    await screenshot(page, "export-cancelled");
    await assert.rejects(site.ask("POST", `${cancelledExport}/cancel`), /: 409 .*the export is cancelled/);
  }, TOO_LATE));

test("what was cancelled left no file; another export is built to its end", () =>
  site.visit(`${PROJECT}/exports`, async (page) => {
    await noting(page);
    const address = await beginExport(page);
    await state(page, "ready").waitFor({ timeout: BUILT_MS });
    const said = await noted(page, WRITING);
    assertOnward(said);
    assert.ok(said.every(({ at, of }) => at === 0 || of === PLANNED), JSON.stringify(said));

    // Exports are built one after another, too.
    const left = await ask(cancelledExport);
    assert.deepEqual([left.state, left.bytes ?? null, left.hash ?? null], ["cancelled", null, null]);
    await assert.rejects(site.ask("GET", `${cancelledExport}/file`), /: 409 .*the export is cancelled/);
    const folder = path.join(site.server.files, "exports");
    const id = address.split("/").at(-1);
    assert.deepEqual(await readdir(folder), [id]);
    assert.equal((await stat(path.join(folder, id))).size, (await ask(address)).bytes);

    await goOn(page, `${PROJECT}/exports`);
    await page.getByRole("row").getByText("cancelled", { exact: true }).waitFor();
    await remove(page, "export", cancelledExport);
    assert.deepEqual((await site.ask("GET", `${PROJECT}/exports`)).items.map(({ id }) => id), [id]);
  }));

test("the list of exports follows what is being built", () =>
  site.visit(`${PROJECT}/runs`, async (page) => {
    const [{ id, rows }] = (await site.ask("GET", `${PROJECT}/exports`)).items;
    await asIfJustBegun(page, "exports", { rows: null, bytes: null });
    await goOn(page, `${PROJECT}/exports`);
    const row = page.getByRole("row").filter({ has: page.locator(`a[href$="/exports/${id}"]`) });
    await row.getByText("building").waitFor();
    await row.getByText("ready").waitFor({ timeout: BUILT_MS });
    await row.getByRole("cell", { name: shown(rows), exact: true }).waitFor();
  }));
