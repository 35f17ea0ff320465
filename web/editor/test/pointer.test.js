import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, segments } from "../src/pointer.js";

test("a pointer is taken apart as RFC 6901 says", () => {
  assert.deepEqual(segments(""), []);
  assert.deepEqual(segments("/"), [""]);
  assert.deepEqual(segments("/a~1b/m~0n/~01"), ["a/b", "m~n", "~1"]);
});

test("a star stands for one segment, two for any number", () => {
  assert.ok(matches("/script/*/calls/*/tool", ["script", "3", "calls", "0", "tool"]));
  assert.ok(!matches("/script/*/tool", ["script", "3", "calls", "0", "tool"]));
  for (const place of [["tool"], ["a", "tool"], ["a", "b", "tool"]]) {
    assert.ok(matches("/**/tool", place), place);
  }
  assert.ok(!matches("/**/tool", ["tool", "name"]));
  assert.ok(matches("", []) && !matches("", ["a"]));
});
