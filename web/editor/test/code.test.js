import assert from "node:assert/strict";
import { test } from "node:test";

import { codeBefore, nameBefore } from "../src/code.js";

test("a template is code within its braces", () => {
  const code = (text) => codeBefore(text, "template");
  assert.equal(code("Hello {{ na"), " na");
  assert.equal(code("{{ a }} {% if b"), " if b");
  for (const text of ["Hello na", "Hello {{ name }} na", "{% if b %}It's na", "{{ 'na"]) {
    assert.equal(code(text), null, text);
  }
});

test("an expression is code, but for the texts in it", () => {
  const code = (text) => codeBefore(text, "expression");
  assert.equal(code("x == 'yes' and na"), "x == 'yes' and na");
  assert.equal(code("x == 'na"), null);
  assert.equal(code(`x == "it's" and na`), `x == "it's" and na`);
});

test("a name ends code, or may begin after it", () => {
  for (const [code, name] of [
    ["", ""],
    ["len(", ""],
    ["len(che", "che"],
    ["a + input.pro", "input.pro"],
    ["12", null],
    ["first(x).te", null],
    ["x[0].te", null],
  ]) {
    assert.equal(nameBefore(code), name, code);
  }
});
