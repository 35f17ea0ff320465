import assert from "node:assert/strict";
import { test } from "node:test";

import { change } from "../src/replace.js";

const applied = (before, { from, to, insert }) => before.slice(0, from) + insert + before.slice(to);

test("only what differs is replaced", () => {
  assert.equal(change("same", "same"), null);
  assert.deepEqual(change("a: 1\nb: 2\n", "a: 1\nb: 30\n"), { from: 8, to: 9, insert: "30" });
  assert.deepEqual(change("aa", "aaa"), { from: 2, to: 2, insert: "a" });
});

test("whatever is replaced becomes the other text", () => {
  const texts = ["", "a", "aa", "aba", "abab", "baab", "xaby", "a\nb\n"];
  for (const before of texts) {
    for (const after of texts.filter((text) => text !== before)) {
      assert.equal(applied(before, change(before, after)), after);
    }
  }
});
