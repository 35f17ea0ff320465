// What a schema says of a field, in words.

import { opened, typesOf, values } from "./schema.js";

const TYPES = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  array: "list",
  object: "fields",
  null: "nothing",
};
const MOST_VALUES = 12;

/** `{ title, description, chosen, type, values, fallback }`, each a text or undefined; null if nothing is said. */
export function describe(schemas, root, outline) {
  const all = opened(schemas, root, outline);
  // What is said of one value of many says nothing of the field.
  const ofField = all.filter((schema) => !("const" in schema));
  const said = (name) => ofField.map((schema) => schema[name]).find((text) => text !== undefined && text !== "");
  const known = values(opened(schemas, root));
  const listed = known.map(({ value }) => show(value));
  const types = [...new Set(all.flatMap(typesOf).map((type) => TYPES[type] ?? type))];
  const fallback = all.find((schema) => "default" in schema)?.default;
  const text = {
    title: said("title"),
    description: said("description"),
    chosen: outline?.kind === "scalar" ? known.find(({ value }) => value === outline.value)?.description : undefined,
    type: types.join(" or ") || undefined,
    values: listed.length > 0 && !types.includes(TYPES.boolean) ? shortened(listed) : undefined,
    // An empty list or text as default says no more than that the field may be left out.
    fallback: fallback === undefined || isEmpty(fallback) ? undefined : show(fallback),
  };
  return Object.values(text).some((one) => one !== undefined) ? text : null;
}

function shortened(listed) {
  const shown = listed.slice(0, MOST_VALUES).join(", ");
  return listed.length > MOST_VALUES ? `${shown}, and ${listed.length - MOST_VALUES} more` : shown;
}

function show(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isEmpty(value) {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}
