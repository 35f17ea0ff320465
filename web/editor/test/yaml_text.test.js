import assert from "node:assert/strict";
import { test } from "node:test";

import { root, scalar } from "../src/structure.js";
import { write } from "../src/yaml_text.js";
import { parseYaml, reading } from "./support.js";

test("what is plain stays plain", () => {
  for (const text of ["refund_fee", "two words", "2026-01-19", "a:b", "cus_1012", "yes", "1.2.3"]) {
    assert.equal(write(text), text);
  }
});

test("what would be read as something else is put into quotes", () => {
  for (const text of [
    "",
    "12",
    "-1e3",
    "true",
    "Null",
    "~",
    "0x1f",
    ".5",
    "a: b",
    "a #b",
    "- a",
    "*a",
    "a, b",
    "x:",
    " a",
    "a\nb",
  ]) {
    assert.equal(write(text), JSON.stringify(text));
  }
});

test("whatever is written is read again as it was", () => {
  for (const value of ["12", "x: y", "it's", 'say "a"', 12, 1.5, true, "word"]) {
    const text = write(value);
    assert.equal(scalar(root(parseYaml(text)), reading(text)), value);
  }
});
