// What may stand at a place of a YAML text: the fields that are not there yet, the values that the schema lists, and
// names that the app knows. `parse(text)` promises the syntax tree of a text that differs from the editor's in one
// word, or null.

import { matches } from "./pointer.js";
import { along, fields, opened, typesOf, values } from "./schema.js";
import { entries, outline, steps, wordAt } from "./structure.js";

/** Put in place of what is being typed: the text around it can then be read, and its place be found. */
const MARK = "\uE000";
const BEFORE = /[^\s,[\]{}:"'#]*$/;
const AFTER = /^[^\s,[\]{}:"'#]*/;
const ONLY_INDENT = /^\s*(?:- +)*$/;

/**
 * `{ from, to, fields, values }`: the word that is being typed, and what may stand in its place; null if nothing is
 * known. Fields are `{ name, schema, required, shape, column }`, shape being "mapping", "sequence" or "scalar"; in
 * front of a colon or in flow style the shape is "scalar", and with a colon it is null. Values are `{ value,
 * description, detail }`.
 */
export async function suggest({ text, position, schema, extra = [], parse }) {
  const word = wordBeingTyped(text, position);
  const isField = word.startsLine && (word.endsLine || word.hasColon);
  const mark = isField && !word.hasColon ? `${MARK}:` : MARK;
  const marked = text.slice(0, word.from) + mark + text.slice(word.to);
  const read = (from, to) => marked.slice(from, to);
  const tree = await parse(marked);
  const here = tree && wordAt(tree, word.from, 1);
  // Within a comment, a block of text or a sentence the mark is no word of its own.
  if (!here || read(here.node.from, here.node.to).replace(/^(["'])(.*)\1$/, "$2") !== MARK) {
    return null;
  }
  const place = { here, read, schema, extra, word };
  const found = here.isKey ? fieldsAt(place) : { fields: [], values: valuesAt(place, steps(here.node, read)) };
  return found.fields.length + found.values.length > 0 ? { from: word.from, to: word.to, ...found } : null;
}

function wordBeingTyped(text, position) {
  const lineStart = text.lastIndexOf("\n", position - 1) + 1;
  const lineEnd = text.indexOf("\n", position);
  const before = text.slice(lineStart, position);
  const after = text.slice(position, lineEnd < 0 ? text.length : lineEnd);
  const from = position - BEFORE.exec(before)[0].length;
  const to = position + AFTER.exec(after)[0].length;
  const rest = after.slice(to - position);
  return {
    from,
    to,
    column: from - lineStart,
    startsLine: ONLY_INDENT.test(text.slice(lineStart, from)),
    endsLine: /^\s*(#|$)/.test(rest),
    hasColon: /^\s*:(\s|$)/.test(rest),
  };
}

function fieldsAt({ here, read, schema, extra, word }) {
  const pair = here.node.parent;
  const mapping = pair.parent;
  const path = steps(mapping, read);
  const schemas = along(schema, outlined(path, read));
  const others = entries(mapping, read)
    .filter(({ name }) => name !== MARK)
    .map(({ name }) => name);
  const known = fields(opened(schemas, schema, outline(mapping, read, { without: MARK })));
  const isBlock = mapping.name === "BlockMapping";
  const found = [...known]
    .filter(([name]) => !others.includes(name))
    .map(([name, field]) => ({ name, ...field, ...form(field.schema, { schema, word, isBlock }) }));
  // Alone in its place, it may become a value as well.
  const mayBeValue = isBlock && others.length === 0 && !word.hasColon && path.length > 0;
  return { fields: found, values: mayBeValue ? valuesAt({ read, schema, extra }, path) : [] };
}

function valuesAt({ read, schema, extra }, path) {
  const place = path.map(({ segment }) => segment);
  const schemas = along(schema, outlined(path, read));
  const named = extra.filter(({ pointer }) => matches(pointer, place)).flatMap(({ options }) => options);
  const own = named.map(({ label, detail, info }) => ({ value: label, detail, description: info }));
  return [...own, ...values(opened(schemas, schema))];
}

function outlined(path, read) {
  return path.map(({ container, segment }) => ({ segment, outline: outline(container, read, { without: MARK }) }));
}

/** How a field is written: what follows its name. */
function form(field, { schema, word, isBlock }) {
  const types = opened([field], schema).flatMap(typesOf);
  const only = (type) => types.includes(type) && types.every((one) => one === type || one === "null");
  const shape = !isBlock ? "scalar" : only("object") ? "mapping" : only("array") ? "sequence" : "scalar";
  return { shape: word.hasColon ? null : shape, column: word.column };
}
