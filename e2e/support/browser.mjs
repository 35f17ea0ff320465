// Chromium, and pages that remember what went wrong in them.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const ARTIFACTS = fileURLToPath(new URL("../artifacts/", import.meta.url));
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** The app lives for seconds in each test: compiling it a second time, for speed, does not pay. */
const SHORT_LIVED = ["--js-flags=--liftoff-only"];
/** A busy machine proves a scenario or compiles a project's documents within this time. */
const PATIENCE_MS = 60_000;

export const WIDE = { viewport: { width: 1400, height: 900 } };
export const NARROW = { viewport: { width: 360, height: 740 } };
export const NARROW_DARK = { ...NARROW, colorScheme: "dark" };

/** `flags`: none where speed is measured. */
export function startBrowser(flags = SHORT_LIVED) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

const MOST_SAID = 10_000;

/** A part of the app that is on its way when the page is left breaks off. Were it missed, the page itself would say so. */
const BROKEN_OFF = /^TypeError: (WebAssembly compilation aborted|Failed to fetch.*\/parts\.js)/s;
/** The same, where Chromium does not tell who asked. */
const UNTOLD = "TypeError: Failed to fetch";
/** A file of the app, and what Chromium says of a request whose page was left. */
const OF_THE_APP = /\/app-[0-9a-f]+\//;
const LEFT = "net::ERR_ABORTED";

/** A page in a fresh profile, and the list of errors that its console and its scripts report. */
export async function openPage(browser, options = {}) {
  // A colour on its way from one to the other is neither.
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  // Who leaves what is not saved yet is asked. A test that leaves it means to.
  context.on("dialog", (dialog) => dialog.accept());
  const page = await context.newPage();
  const errors = [];
  // A refusal tells its status alone; the place says of what.
  const told = (message) => errors.push(`${message.text()} (${message.location().url})`);
  const isError = (message) => message.type() === "error" && !BROKEN_OFF.test(message.text() + message.location().url);
  page.on("console", (message) => isError(message) && told(message));
  const excused = (error) => BROKEN_OFF.test(`${error}\n${error.stack}`);
  page.on("pageerror", (error) => excused(error) || errors.push(String(error)));
  // Excused only if a file of the app broke off, whichever of both is told first: what is asked of the API is never thrown.
  let leftEarly = false;
  const forgive = () => leftEarly && errors.splice(0, errors.length, ...errors.filter((error) => error !== UNTOLD));
  page.on("pageerror", forgive);
  page.on("requestfailed", (request) => {
    leftEarly ||= OF_THE_APP.test(request.url()) && request.failure()?.errorText === LEFT;
    forgive();
  });
  const close = async () => {
    // A request that a test answers itself may still be on its way.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
  };
  return { page, errors, close };
}

/**
 * Opens an address, runs `look`, and fails if the console told of an error that is not expected. What the page looked like
 * when it failed is kept as `failed.png`, and what the server `said` by then is told with the error.
 */
export async function visit(browser, url, look, { expected = [], said = () => "", ...options } = {}) {
  const { page, errors, close } = await openPage(browser, options);
  try {
    await page.goto(url);
    await look(page);
    const surprises = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    assert.deepEqual(surprises, [], "errors in the console");
  } catch (error) {
    await screenshot(page, "failed");
    console.error(said().slice(-MOST_SAID));
    throw error;
  } finally {
    await close();
  }
}

export async function screenshot(page, name) {
  await mkdir(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage: true });
}

/** The same for those who want to look at every page: they set PICTURES. It takes as long as loading the page. */
export async function picture(page, name) {
  if (process.env.PICTURES) await screenshot(page, name);
}

/** Waits until the page has all that it fetches. */
export async function settled(page) {
  await page.locator("main h1, main h2").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll("main .loading, main .awaited").length === 0);
}

/** Fails if the reader has to scroll sideways. */
export async function fits(page, what = "the page") {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  assert.ok(scrollWidth <= clientWidth, `${what} is ${scrollWidth} pixels wide on a screen of ${clientWidth}`);
}

/** A page with hostile text, which holds `<img src=x onerror="window.broken=1">`: it is shown as text, and the page still reacts. */
export async function unbroken(page, what) {
  assert.equal(await page.evaluate(() => window.broken), undefined, "a script of the text ran");
  assert.equal(await page.locator('img[src="x"]').count(), 0, "the text became markup");
  await fits(page, what);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
}
