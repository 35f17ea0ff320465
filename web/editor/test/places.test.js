import assert from "node:assert/strict";
import { test } from "node:test";

import { lineRange, placeOf } from "../src/places.js";
import { doc, parseJson, parseYaml } from "./support.js";

const YAML = `# A comment
name: shop
tools:
  - name: refund
    simulate: code
  - {name: pay, simulate: cod}
"a/b": 1
text: >-
  many
  lines
twice: 1
twice: 2
`;

/** The text that is underlined for a pointer. */
function marked(pointer, { text = YAML, line, parse = parseYaml } = {}) {
  const range = placeOf(parse(text), doc(text), pointer, line);
  return range && text.slice(range.from, range.to);
}

test("a field is underlined at its key", () => {
  assert.equal(marked("/name"), "name");
  assert.equal(marked("/tools/1/simulate"), "simulate");
  assert.equal(marked("/a~1b"), '"a/b"');
  assert.equal(marked("/text"), "text");
});

test("an item is underlined on its first line", () => {
  assert.equal(marked("/tools/0"), "name: refund");
  assert.equal(marked("/tools/1"), "{name: pay, simulate: cod}");
});

test("what is missing is underlined around the place", () => {
  assert.equal(marked("/tools/0/writes/3"), "name: refund");
  assert.equal(marked("/tools/7"), "tools");
  assert.equal(marked("/nothing"), "name: shop");
  assert.equal(marked("/name/deeper"), "name");
  assert.equal(marked("/name", { text: "# only a comment" }), null);
});

test("of a name that is given twice the line decides", () => {
  const at = (line) => placeOf(parseYaml(YAML), doc(YAML), "/twice", line).from;
  assert.equal(at(11), YAML.indexOf("twice: 1"));
  assert.equal(at(12), YAML.indexOf("twice: 2"));
});

test("JSON has the same places", () => {
  const json = { text: '{"tools": [{"name": "pay"}, 7]}', parse: parseJson };
  assert.equal(marked("/tools/0/name", json), '"name"');
  assert.equal(marked("/tools/1", json), "7");
});

test("a line is underlined from its first word to its last, or from a column on", () => {
  const text = doc("a:\n    b c  \n");
  const words = (line, column) => {
    const { from, to } = lineRange(text, line, column);
    return text.sliceString(from, to);
  };
  assert.equal(words(2), "b c");
  assert.equal(words(2, 7), "c");
  assert.equal(words(2, 99), "");
  assert.equal(words(0), "a:");
  assert.equal(words(99), "");
});
