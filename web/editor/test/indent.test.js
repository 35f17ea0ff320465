import assert from "node:assert/strict";
import { test } from "node:test";

import { IndentContext, getIndentation } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { yaml } from "@codemirror/lang-yaml";

import { yamlIndent } from "../src/indent.js";

/** The column of the line that Enter makes at the end of a text. */
function after(text) {
  const state = EditorState.create({ doc: text, extensions: [yaml(), yamlIndent] });
  return getIndentation(new IndentContext(state, { simulateBreak: text.length }), text.length);
}

test("what belongs to a key stands below it", () => {
  for (const [text, column] of [
    ["expected_outcome:", 2],
    ["expected_outcome:\n  actions: ", 4],
    ["expected_outcome:\n  actions: # in order", 4],
    ["script:\n  - user:", 6],
    ["user_goal: >-", 2],
    ["  note: |+2", 4],
  ]) {
    assert.equal(after(text), column, text);
  }
});

test("what follows a value stands beside it", () => {
  for (const [text, column] of [
    ["name: a", 0],
    ["limits:\n  turns: 12", 2],
    ["script:\n  - user: Hello: there", 2],
    ["goal: >-\n  You want", 2],
    ["limits:\n  turns: 12\n  ", 2],
  ]) {
    assert.equal(after(text), column, text);
  }
});
