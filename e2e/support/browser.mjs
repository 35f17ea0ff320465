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

export function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

/** A page in a fresh profile, and the list of errors that its console and its scripts report. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  return { page, errors, close: () => context.close() };
}

/**
 * Opens an address, runs `look`, and fails if the console told of an error that is not expected. What the page looked like
 * when it failed is kept as `failed.png`.
 */
export async function visit(browser, url, look, { expected = [], ...options } = {}) {
  const { page, errors, close } = await openPage(browser, options);
  try {
    await page.goto(url);
    await look(page);
    const surprises = errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
    assert.deepEqual(surprises, [], "errors in the console");
  } catch (error) {
    await screenshot(page, "failed");
    throw error;
  } finally {
    await close();
  }
}

export async function screenshot(page, name) {
  await mkdir(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage: true });
}

/** Whether the reader would have to scroll sideways. */
export function overflows(page) {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}
