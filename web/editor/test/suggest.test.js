import assert from "node:assert/strict";
import { test } from "node:test";

import { suggest } from "../src/suggest.js";
import { SCHEMA, cursor, parseYaml } from "./support.js";

const NAMES = [{ pointer: "/tools/*/function", options: [{ label: "refund", detail: "tool" }] }];

async function at(marked, extra = []) {
  const { text, position } = cursor(marked);
  const found = await suggest({ text, position, schema: SCHEMA, extra, parse: parseYaml });
  return found && { ...found, replaced: text.slice(found.from, found.to) };
}

const fieldsAt = async (marked) => (await at(marked))?.fields.map(({ name }) => name) ?? [];
const valuesAt = async (marked, extra) => (await at(marked, extra))?.values.map(({ value }) => value) ?? [];

test("fields that are not there yet", async () => {
  assert.deepEqual(await fieldsAt("|"), ["name", "agent", "strict", "limits", "tools", "after", "worlds", "tags"]);
  assert.deepEqual(await fieldsAt("name: a\ntools: []\n|"), ["agent", "strict", "limits", "after", "worlds", "tags"]);
  assert.deepEqual(await fieldsAt("limits:\n  tu|\nname: a"), ["turns", "depth"]);
  assert.deepEqual(await fieldsAt("limits:\n  depth: 1\n  |\nname: a"), ["turns"]);
  assert.deepEqual(await fieldsAt("limits:\n  |\n  depth: 1\n"), ["turns"]);
});

test("the word that is typed is replaced, and says nothing of the union", async () => {
  const found = await at("tools:\n  - kind: constant\n    ans|we # why\n");
  assert.deepEqual(
    found.fields.map(({ name }) => name),
    ["answer", "headers"],
  );
  assert.equal(found.replaced, "answe");
});

test("fields in items, in flow style, and in front of a colon", async () => {
  assert.deepEqual(await fieldsAt("tools:\n  - |"), ["kind", "function", "then", "answer", "headers"]);
  assert.deepEqual(await fieldsAt("tools:\n  - kind: code\n    function: f\n    then:\n      |"), [
    "kind",
    "function",
    "then",
    "answer",
    "headers",
  ]);
  assert.deepEqual(await fieldsAt("limits: {turns: 1, |}"), ["depth"]);
  assert.deepEqual(await fieldsAt("tools: [{kind: code, f|}]"), ["function", "then"]);
  assert.deepEqual(await fieldsAt("limits:\n  dep|: 3"), ["turns", "depth"]);
});

test("a field knows how it goes on", async () => {
  const shapes = Object.fromEntries((await at("|")).fields.map(({ name, shape }) => [name, shape]));
  assert.deepEqual(
    [shapes.limits, shapes.tools, shapes.after, shapes.name],
    ["mapping", "sequence", "mapping", "scalar"],
  );
  assert.deepEqual(
    (await at("limits: {|}")).fields.map(({ shape }) => shape),
    ["scalar", "scalar"],
  );
  assert.equal((await at("tools|: x")).fields.find(({ name }) => name === "tools").shape, null);
  assert.equal((await at("tools:\n  - |")).fields[0].column, 4);
});

test("values that the schema lists", async () => {
  assert.deepEqual(await valuesAt("agent: |"), ["function_calling", "react"]);
  assert.deepEqual(await valuesAt("agent: re|\nname: a"), ["function_calling", "react"]);
  assert.deepEqual(await valuesAt('agent: "re|"\nname: a'), ["function_calling", "react"]);
  assert.deepEqual(await valuesAt("agent:\n  |"), ["function_calling", "react"]);
  assert.deepEqual(await valuesAt("strict: |"), [true, false]);
  assert.deepEqual(await valuesAt("tags:\n  - fee\n  - |"), ["fee", "card", "12"]);
  assert.deepEqual(await valuesAt("tags: [fee, |]"), ["fee", "card", "12"]);
  assert.deepEqual(await valuesAt("tools:\n  - function: f\n    kind: |"), ["code"]);
});

test("names that the app knows, where it says so", async () => {
  assert.deepEqual(await valuesAt("tools:\n  - function: |", NAMES), ["refund"]);
  assert.deepEqual(await valuesAt("name: |", NAMES), []);
  const found = await suggest({ ...cursor("tools:\n  - function: r|"), schema: null, extra: NAMES, parse: parseYaml });
  assert.deepEqual(found.values, [{ value: "refund", detail: "tool", description: undefined }]);
});

const CODE = {
  type: "object",
  properties: {
    when: { type: "string", "x-language": "expression" },
    with: { type: "object", additionalProperties: true, "x-language": "expression" },
    prompt: { type: "string", "x-language": "template" },
    note: { type: "string" },
  },
};
const VISIBLE = [
  { pointer: "/**", languages: ["expression", "template"], options: [{ label: "checked" }, { label: "input.prompt" }] },
  { pointer: "/**", languages: ["expression"], options: [{ label: "letters" }] },
  { pointer: "/prompt", options: [{ label: "ask.md.j2" }] },
];

async function inCode(marked) {
  const { text, position } = cursor(marked);
  const found = await suggest({ text, position, schema: CODE, extra: VISIBLE, parse: parseYaml });
  return found && [text.slice(found.from, found.to), ...found.names.map(({ label }) => label)];
}

test("names in an expression, in its own words", async () => {
  for (const [marked, typed] of [
    ["when: che|", "che"],
    ["when: |", ""],
    ["when: len(che|", "che"],
    ["when: len(x) == | and y", ""],
    ['when: "not input.pro|"', "input.pro"],
    ["when: >-\n  x and\n  che|", "che"],
    ["with: {a: [che|]}", "che"],
    ["with:\n  a: not che|", "che"],
  ]) {
    assert.deepEqual(await inCode(marked), [typed, "checked", "input.prompt", "letters"], marked);
  }
});

test("names in the braces of a template", async () => {
  assert.deepEqual(await inCode("prompt: Hello {{ che|"), ["che", "checked", "input.prompt"]);
  assert.deepEqual(await inCode('prompt: "{% if | %}"'), ["", "checked", "input.prompt"]);
  assert.deepEqual(await inCode("prompt: >-\n  Hello\n  {{ che| }}"), ["che", "checked", "input.prompt"]);
});

test("no names of code outside of it, in quoted texts, and as fields", async () => {
  for (const marked of [
    "note: che|",
    "prompt: Hello che|",
    "prompt: Hello {{ name }} che|",
    "when: x == 'che|",
    "when: first(x).che|",
    "when: 12|",
    "with:\n  che|",
  ]) {
    assert.equal(await inCode(marked), null, marked);
  }
});

test("a value that is code may also be one of those that the app lists", async () => {
  const found = await suggest({ ...cursor("prompt: ask|"), schema: CODE, extra: VISIBLE, parse: parseYaml });
  assert.deepEqual([found.values.map(({ value }) => value), found.names], [["ask.md.j2"], []]);
});

test("a name that stands there already is not offered", async () => {
  const both = [{ pointer: "/name", options: [{ label: "refund" }, { label: "refund_fee" }] }];
  assert.deepEqual(await valuesAt("name: refund|", both), ["refund_fee"]);
});

test("nothing in comments, blocks of text, sentences and unknown places", async () => {
  for (const marked of [
    "# na|",
    "name: >-\n  na|\n",
    "name: two wo|",
    "name: |",
    "nowhere:\n  |",
    "name: a # na|",
    'name: "na| me"',
  ]) {
    assert.equal(await at(marked), null, marked);
  }
});

test("nothing when the text cannot be read in time", async () => {
  assert.equal(await suggest({ ...cursor("na|"), schema: SCHEMA, parse: () => null }), null);
});

test("a text that is broken elsewhere is read all the same", async () => {
  for (const broken of ["name: a: b", "name: ]", "  odd: 1"]) {
    assert.deepEqual(await fieldsAt(`${broken}\nlimits:\n  |`), ["turns", "depth"], broken);
  }
});
