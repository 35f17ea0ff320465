import assert from "node:assert/strict";
import { test } from "node:test";

import { describe } from "../src/describe.js";
import { along, fields, opened, values } from "../src/schema.js";
import { SCHEMA } from "./support.js";

const MAPPING = { kind: "mapping", fields: {} };
const path = (...segments) => segments.map((segment) => ({ segment, outline: MAPPING }));
const named = (present) => ({ kind: "mapping", fields: present });
const scalar = (value) => ({ kind: "scalar", value });
const names = (schemas, outline) => [...fields(opened(schemas, SCHEMA, outline)).keys()];

test("a place is found through references, items and additional fields", () => {
  assert.deepEqual(names(along(SCHEMA, path("limits"))), ["turns", "depth"]);
  assert.deepEqual(names(along(SCHEMA, path("worlds", "first"))), ["turns", "depth"]);
  assert.deepEqual(names(along(SCHEMA, path("after"))), ["call"]);
  assert.deepEqual(along(SCHEMA, path("limits", "nowhere")), []);
});

test("a union is told apart by what is there", () => {
  const tool = along(SCHEMA, path("tools", "0"));
  assert.deepEqual(names(tool), ["kind", "function", "then", "answer", "headers"]);
  assert.deepEqual(names(tool, named({ kind: scalar("constant") })), ["kind", "answer", "headers"]);
  assert.deepEqual(names(tool, named({ function: scalar("f") })), ["kind", "function", "then"]);
  assert.deepEqual(names(tool, named({ unknown: scalar(1) })), ["kind", "function", "then", "answer", "headers"]);
});

test("a union that a container has decided holds for its fields", () => {
  const code = { segment: "then", outline: named({ kind: scalar("code") }) };
  const constant = { segment: "then", outline: named({ kind: scalar("constant") }) };
  assert.equal(along(SCHEMA, [...path("tools", "0"), code]).length, 1);
  assert.equal(along(SCHEMA, [...path("tools", "0"), constant]).length, 0);
});

test("constants, enums and booleans are listed with what they mean", () => {
  const listed = (...segments) => values(opened(along(SCHEMA, path(...segments)), SCHEMA));
  assert.deepEqual(listed("agent"), [
    { value: "function_calling", description: "The endpoint's own calls." },
    { value: "react", description: "Thought and Action as text." },
  ]);
  assert.deepEqual(
    listed("strict").map(({ value }) => value),
    [true, false],
  );
  assert.deepEqual(
    listed("tags", "0").map(({ value }) => value),
    ["fee", "card", "12"],
  );
  assert.deepEqual(listed("name"), []);
});

test("conditions choose what holds", () => {
  const schema = {
    if: { properties: { kind: { const: "a" } } },
    then: { properties: { x: {} } },
    else: { properties: { y: {} } },
  };
  const known = (kind) => [...fields(opened([schema], schema, named({ kind: scalar(kind) }))).keys()];
  assert.deepEqual([known("a"), known("b")], [["x"], ["y"]]);
});

test("a schema that refers to itself, to nothing or to elsewhere ends", () => {
  const schema = { $ref: "#", anyOf: [{ $ref: "#/no/where" }, { $ref: "https://example.org" }], properties: { a: {} } };
  assert.deepEqual([...fields(opened([schema], schema, named({ a: scalar(1) }))).keys()], ["a"]);
});

test("a field is described by what it says of itself first", () => {
  const said = (field, outline) => describe(along(SCHEMA, path(field)), SCHEMA, outline);
  assert.equal(said("limits").description, "Where it stops.");
  assert.equal(said("limits").type, "fields");
  assert.deepEqual(said("agent", scalar("react")), {
    title: undefined,
    description: "How the agent calls tools.",
    chosen: "Thought and Action as text.",
    type: "text",
    values: "function_calling, react",
    fallback: "react",
  });
  assert.equal(said("after").type, "fields or nothing");
  assert.deepEqual([said("strict").values, said("strict").fallback], [undefined, "false"]);
  assert.equal(said("nowhere"), null);
});
