// What takes long: an export of many conversations is watched, cancelled half-way, and built to the end.

import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { WIDE, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const PLANNED = 800;
/** A slow and busy machine builds the longest of it within this time. */
const BUILT_MS = 120_000;
/** A fast machine may have built it before anybody comes to cancel it. Then it is begun again. */
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

const ask = (address) => site.ask("GET", address);

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
 * `halfway`, and cancels it. Gives the address of what was cancelled.
 */
async function cancelHalfway(page, begin, halfway) {
  const ended = state(page, /^(ready|failed)$/);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const address = await begin(attempt);
    await page.locator(".progress").getByText(halfway).or(ended).waitFor({ timeout: BUILT_MS });
    // What has ended has no such button, and its state may be clicked.
    await page.getByRole("button", { name: "Cancel" }).or(ended).click();
    await page.locator(".toast").getByText(/ is built no further\.$/).or(ended).waitFor({ timeout: BUILT_MS });
    const found = (await ask(address)).state;
    if (found === "cancelled") {
      return address;
    }
    assert.equal(found, "ready");
    await site.ask("DELETE", address);
  }
  throw new Error(`${ATTEMPTS} of ${ATTEMPTS} were built before they could be cancelled`);
}

async function removeCancelled(page, address) {
  await goOn(page, `${PROJECT}${address}`);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the export?" });
  await dialog.getByRole("button", { name: "Delete the export" }).click();
  await page.getByText("The export was deleted.").waitFor();
}

// The tests below are one story: what is cancelled by the first is gone after the second.

const WRITING = ["Writing"];
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
    assert.ok(said.every(({ of }) => of === PLANNED), JSON.stringify(said));

    // Exports are built one after another: whoever built the cancelled one has left it by now.
    const left = await ask(cancelledExport);
    assert.deepEqual([left.state, left.bytes ?? null, left.hash ?? null], ["cancelled", null, null]);
    await assert.rejects(site.ask("GET", `${cancelledExport}/file`), /: 409 .*the export is cancelled/);
    const folder = path.join(site.server.files, "exports");
    const id = address.split("/").at(-1);
    assert.deepEqual(await readdir(folder), [id]);
    assert.equal((await stat(path.join(folder, id))).size, (await ask(address)).bytes);

    await goOn(page, `${PROJECT}/exports`);
    await page.getByRole("row").getByText("cancelled", { exact: true }).waitFor();
    await removeCancelled(page, cancelledExport);
    assert.deepEqual((await site.ask("GET", `${PROJECT}/exports`)).items.map(({ id }) => id), [id]);
  }));
