// What the app may weigh: of sizes a test can be sure on any machine, of times it cannot (`budget.mjs` measures those).

import assert from "node:assert/strict";
import { test } from "node:test";

import { FIRST, weights } from "./support/weights.mjs";

const MOST = 900_000;
/** Each moment before the first view is one of nothing to see. */
const MOST_FIRST = 450_000;

test("the first view and every part that is fetched later are within the budget", async () => {
  const all = await weights(process.env.WEB_DIST);
  assert.ok(all.find(([name]) => name === FIRST)[1] < MOST_FIRST, `${FIRST} has grown`);
  assert.ok(all.length > 5, "the app is not split");
  for (const [name, bytes] of all) assert.ok(bytes < MOST, `${name} weighs ${bytes} bytes gzipped`);
});
