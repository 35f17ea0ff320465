// What axe says against a page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const AXE = await readFile(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const GRAVE = new Set(["serious", "critical"]);

/** Fails if something serious is wrong with the page as it stands. */
export async function accessible(page) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  // All that is in order would be megabytes.
  const only = { resultTypes: ["violations"] };
  const violations = await page.evaluate(async (only) => (await globalThis.axe.run(document, only)).violations, only);
  const grave = violations.filter(({ impact }) => GRAVE.has(impact));
  const told = grave.map(({ id, help, nodes }) => [`${id}: ${help}`, ...nodes.map(({ html }) => html.slice(0, 200))]);
  assert.deepEqual(told, []);
}
