// What may stand at a place of a YAML text: the fields that are not there yet, the values that the schema lists, and
// names that the app knows, as values or within code. `parse(text)` promises the syntax tree of a text that differs
// from the editor's in one word, or null.

import { codeBefore, nameBefore } from "./code.js";
import { matches } from "./pointer.js";
import { along, fields, opened, typesOf, values } from "./schema.js";
import { entries, outline, steps, wordAt } from "./structure.js";

/** Put in place of what is being typed: the text around it can then be read, and its place be found. */
const MARK = "\uE000";
const BEFORE = /[^\s,[\]{}:"'#]*$/;
const AFTER = /^[^\s,[\]{}:"'#]*/;
const ONLY_INDENT = /^\s*(?:- +)*$/;

/**
 * `{ from, to, fields, values, names }`: the word that is being typed, and what may stand in its place; null if nothing
 * is known. Fields are `{ name, schema, required, shape, column }`, shape being "mapping", "sequence" or "scalar"; in
 * front of a colon or in flow style the shape is "scalar", and with a colon it is null. Values are `{ value,
 * description, detail }`. Names are options as the app gives them; they stand in code, and are never quoted.
 */
export async function suggest({ text, position, schema, extra = [], parse }) {
  const word = wordBeingTyped(text, position);
  const isField = word.startsLine && (word.endsLine || word.hasColon);
  const mark = isField && !word.hasColon ? `${MARK}:` : MARK;
  const marked = text.slice(0, word.from) + mark + text.slice(word.to);
  const read = (from, to) => marked.slice(from, to);
  const tree = await parse(marked);
  const here = tree && wordAt(tree, word.from, 1);
  if (!here) {
    return null;
  }
  const place = { here, read, schema, extra, word };
  // Within a comment, a block of text or a sentence the mark is no word of its own.
  if (read(here.node.from, here.node.to).replace(/^(["'])(.*)\1$/, "$2") === MARK) {
    const found = here.isKey ? fieldsAt(place) : { fields: [], values: valuesAt(place, steps(here.node, read)) };
    if (found.fields.length + found.values.length > 0) {
      return { from: word.from, to: word.to, names: [], ...found };
    }
  }
  return here.isKey ? null : namesAt(place, text, position);
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
    typed: text.slice(from, to),
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
  return { fields: found, values: mayBeValue ? valuesAt({ read, schema, extra, word }, path) : [] };
}

function valuesAt({ read, schema, extra, word }, path) {
  const schemas = along(schema, outlined(path, read));
  // A name that the document gives itself is known as far as it is typed.
  const named = optionsAt(extra, path).filter(({ label }) => label !== word.typed);
  const own = named.map(({ label, detail, info }) => ({ value: label, detail, description: info }));
  return [...own, ...values(opened(schemas, schema))];
}

/** Names within the code that a text is, if the cursor is where one can stand. */
function namesAt({ here, read, schema, extra }, text, position) {
  const path = steps(here.node, read);
  const language = codeLanguage(outlined(path, read), schema);
  const names = language ? optionsAt(extra, path, language) : [];
  if (names.length === 0) {
    return null;
  }
  const code = codeBefore(unquoted(text.slice(here.node.from, position).trimStart()), language);
  const name = code === null ? null : nameBefore(code);
  const to = position + /^\w*/.exec(text.slice(position))[0].length;
  return name === null ? null : { from: position - name.length, to, fields: [], values: [], names };
}

/** What the app knows for a place: whole values, or names in the code of a language. */
function optionsAt(extra, path, language) {
  const place = path.map(({ segment }) => segment);
  return extra
    .filter(({ pointer, languages }) => isFor(languages, language) && matches(pointer, place))
    .flatMap(({ options }) => options);
}

/** Whether options are meant for the code of a language; without one, whether they are whole values. */
export function isFor(languages = [], language) {
  return language ? languages.includes(language) : languages.length === 0;
}

/** The language of the code that texts at a place are, as the schema says of the place or of the field around it. */
function codeLanguage(path, schema) {
  for (let length = path.length; length > 0; length -= 1) {
    const schemas = opened(along(schema, path.slice(0, length)), schema);
    if (schemas.length > 0) {
      return schemas.map((one) => one["x-language"]).find(Boolean);
    }
  }
  return undefined;
}

/** The beginning of a scalar, without its quotation mark. */
function unquoted(start) {
  return start.startsWith("'") ? start.slice(1).replaceAll("''", "'") : start.replace(/^"/, "");
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
