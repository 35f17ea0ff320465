// What a JSON Schema (draft 2020-12) says about a place in a document that is being written. Nothing is validated: a
// document is rarely valid while somebody types. Values come as outlines (structure.js).

import { segments } from "./pointer.js";

/**
 * The schemas of the place that `path` leads to: steps from the outermost container on, each `{ outline, segment }`,
 * the outline of the container telling which branch of a union it follows.
 */
export function along(schema, path) {
  let here = [schema];
  for (const { outline, segment } of path) {
    here = opened(here, schema, outline).flatMap((one) => below(one, segment));
  }
  return here;
}

/**
 * The same schemas without references and unions: each branch that the outline does not contradict. A schema comes
 * before what it refers to, so that what it says itself goes first.
 */
export function opened(schemas, root, outline) {
  return schemas.flatMap((schema) => open(schema, root, outline, new Set()));
}

/** The fields that schemas without unions know: name to `{ schema, required }`. */
export function fields(schemas) {
  const found = new Map();
  for (const { properties = {}, required = [] } of schemas) {
    for (const [name, schema] of Object.entries(properties)) {
      const known = found.get(name);
      found.set(name, {
        schema: known?.schema ?? schema,
        required: required.includes(name) || known?.required === true,
      });
    }
  }
  return found;
}

/** The values that schemas without unions list: `{ value, description }`. */
export function values(schemas) {
  const found = new Map();
  const add = (value, description) => found.has(value) || found.set(value, { value, description });
  for (const schema of schemas) {
    if ("const" in schema) {
      add(schema.const, schema.description);
    }
    for (const value of schema.enum ?? []) {
      add(value);
    }
    if (typesOf(schema).includes("boolean")) {
      add(true);
      add(false);
    }
  }
  return [...found.values()].filter(({ value }) => value !== null && typeof value !== "object");
}

export function typesOf(schema) {
  return schema.type === undefined ? [] : [schema.type].flat();
}

function open(schema, root, outline, seen) {
  // `true` and `false` say nothing of use; a schema that refers to itself was opened already.
  if (typeof schema !== "object" || schema === null || seen.has(schema)) {
    return [];
  }
  const deeper = new Set(seen).add(schema);
  const { $ref, allOf = [], anyOf = [], oneOf = [], if: test, then, else: otherwise, ...own } = schema;
  const chosen = [...allOf];
  if ($ref !== undefined) {
    chosen.push(resolve(root, $ref));
  }
  for (const union of [anyOf, oneOf]) {
    const fitting = union.filter((branch) => mayBe(branch, root, outline, deeper));
    // If none fits, the author is told of all.
    chosen.push(...(fitting.length > 0 ? fitting : union));
  }
  if (test !== undefined) {
    chosen.push(mayBe(test, root, outline, deeper) ? then : otherwise);
  }
  return [own, ...chosen.flatMap((one) => open(one, root, outline, deeper))];
}

/** Whether an outline can still become what a schema asks for. What is not written yet can become anything. */
function mayBe(schema, root, outline, seen) {
  if (!outline || outline.kind === "nothing" || typeof schema !== "object" || schema === null || seen.has(schema)) {
    return schema !== false;
  }
  const deeper = new Set(seen).add(schema);
  const also = [...(schema.allOf ?? []), ...(schema.$ref === undefined ? [] : [resolve(root, schema.$ref)])];
  const unions = [schema.anyOf, schema.oneOf].filter(Boolean);
  return (
    hasType(schema, outline) &&
    hasValue(schema, outline) &&
    hasFields(schema, root, outline) &&
    also.every((one) => mayBe(one, root, outline, deeper)) &&
    unions.every((union) => union.some((one) => mayBe(one, root, outline, deeper)))
  );
}

function hasType(schema, { kind, value }) {
  const types = typesOf(schema);
  if (types.length === 0) {
    return true;
  }
  const names = { mapping: ["object"], sequence: ["array"], scalar: scalarTypes(value) }[kind];
  return types.some((type) => names.includes(type));
}

function scalarTypes(value) {
  if (value === null) {
    return ["null"];
  }
  return typeof value === "number" ? ["number", ...(Number.isInteger(value) ? ["integer"] : [])] : [typeof value];
}

function hasValue(schema, { kind, value }) {
  const listed = "const" in schema ? [schema.const] : schema.enum;
  return listed === undefined || (kind === "scalar" && listed.includes(value));
}

/** Each field that is there must be known and may be what the schema says of it; those that are missing may come. */
function hasFields(schema, root, { kind, fields: present }) {
  if (kind !== "mapping") {
    return true;
  }
  return Object.entries(present).every(([name, outline]) => {
    const known = below(schema, name);
    const closed = schema.additionalProperties === false || schema.unevaluatedProperties === false;
    return known.length > 0
      ? known.every((one) => mayBe(one, root, outline, new Set()))
      : !closed || elsewhere(schema, root, name);
  });
}

/** Whether a closed schema knows a field by what it is put together from. */
function elsewhere(schema, root, name) {
  const { additionalProperties: _, unevaluatedProperties: __, ...rest } = schema;
  return open(rest, root, undefined, new Set()).some((one) => below(one, name).length > 0);
}

/** What a schema without unions says of a field or an item. */
function below(schema, segment) {
  const { properties = {}, patternProperties = {}, additionalProperties, prefixItems = [], items } = schema;
  if (Object.hasOwn(properties, segment)) {
    return [properties[segment]];
  }
  const patterns = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern, "u").test(segment));
  if (patterns.length > 0) {
    return patterns.map(([, one]) => one);
  }
  const index = /^\d+$/.test(segment);
  const item = index ? (prefixItems[segment] ?? items) : undefined;
  return [additionalProperties, item].filter((one) => typeof one === "object" && one !== null);
}

function resolve(root, reference) {
  // Only within the document: ours refer to nothing else.
  if (!reference.startsWith("#")) {
    return true;
  }
  return segments(decodeURIComponent(reference.slice(1))).reduce((at, segment) => at?.[segment], root) ?? true;
}
