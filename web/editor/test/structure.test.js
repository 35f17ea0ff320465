import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { entries, items, kind, outline, root, scalar, steps, wordAt } from "../src/structure.js";
import { cursor, parseJson, parseYaml, reading } from "./support.js";

/** The JSON pointer of the word at the cursor, and whether it is a key. */
function at(marked, parse = parseYaml) {
  const { text, position } = cursor(marked);
  const word = wordAt(parse(text), position, 1);
  return (
    word && [
      steps(word.node, reading(text))
        .map(({ segment }) => segment)
        .join("/"),
      word.isKey ? "key" : "value",
    ]
  );
}

test("a word of YAML knows where it stands", () => {
  assert.deepEqual(at("a: 1\n|b: 2"), ["b", "key"]);
  assert.deepEqual(at("a:\n  - x: 1\n  - y: |2"), ["a/1/y", "value"]);
  assert.deepEqual(at("a: {b: [1, {c: |d}]}"), ["a/b/1/c", "value"]);
  assert.deepEqual(at('"a b":\n  - - |x'), ["a b/0/0", "value"]);
  assert.deepEqual(at("a: !t |x"), ["a", "value"]);
  assert.equal(at("a: 1 # |comment"), null);
});

test("so does a word of JSON", () => {
  assert.deepEqual(at('{"a": [1, {"b": |true}]}', parseJson), ["a/1/b", "value"]);
  assert.deepEqual(at('{"a": {|"b": 1}}', parseJson), ["a/b", "key"]);
});

test("scalars are what YAML 1.2 reads them as", () => {
  const read = (text) => scalar(root(parseYaml(text)), reading(text));
  for (const [text, value] of [
    ["12", 12],
    ["-1.5e3", -1500],
    ["true", true],
    ["~", null],
    ["yes", "yes"],
    ["1.2.3", "1.2.3"],
  ]) {
    assert.equal(read(text), value);
  }
  for (const [text, value] of [
    ['"12"', "12"],
    ["'it''s'", "it's"],
    ['"a\\nb"', "a\nb"],
  ]) {
    assert.equal(read(text), value);
  }
});

test("an outline tells what a union goes by, and leaves out what is being typed", () => {
  const text = "kind: code\nnested: {deep: {deeper: 1}}\nlist: [1]\nempty:\ntyping: x";
  assert.deepEqual(outline(root(parseYaml(text)), reading(text), { without: "typing" }), {
    kind: "mapping",
    fields: {
      kind: { kind: "scalar", value: "code" },
      nested: { kind: "mapping", fields: { deep: { kind: "mapping", fields: {} } } },
      list: { kind: "sequence" },
      empty: { kind: "nothing" },
    },
  });
});

test("every field of our own scenarios is found where it stands", async () => {
  const folder = new URL("../../../scenarios/retail_bank/", import.meta.url);
  let fields = 0;
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), "utf8");
    const check = (value, path) => {
      for (const [name, node, inner] of inside(value, reading(text))) {
        const place = [...path, name];
        assert.deepEqual(
          steps(node, reading(text)).map(({ segment }) => segment),
          place,
          file,
        );
        fields += 1;
        check(inner, place);
      }
    };
    check(root(parseYaml(text)), []);
  }
  assert.ok(fields > 1000, `${fields} fields`);
});

/** Name, node and value of whatever stands directly in a value. */
function inside(value, read) {
  if (kind(value) === "mapping") {
    return entries(value, read).map((entry) => [entry.name, entry.key, entry.value]);
  }
  return kind(value) === "sequence"
    ? items(value).map(({ item, value: inner }, index) => [`${index}`, item, inner])
    : [];
}
