import assert from "node:assert/strict";
import { test } from "node:test";

import { fits } from "../src/completion.js";

test("a word that is begun fits, a placeholder does not", () => {
  assert.ok(fits("", "refund"));
  assert.ok(fits("rf", "refund"));
  assert.ok(fits("REF", "refund"));
  assert.ok(!fits("one_of_the_playbook", "lost_card"));
  assert.ok(!fits("ff", "fee"));
});
