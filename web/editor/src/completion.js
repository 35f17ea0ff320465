// Completion of YAML from the schema, as CodeMirror wants it.

import { insertCompletionText, startCompletion } from "@codemirror/autocomplete";

import { describe } from "./describe.js";
import { help } from "./help.js";
import { isFor, suggest } from "./suggest.js";
import { treeOfChanged } from "./syntax.js";
import { write } from "./yaml_text.js";

export async function yamlCompletion(context) {
  const { state, pos, explicit } = context;
  const { schema, extra } = state.field(help);
  if (!schema && extra.length === 0) {
    return null;
  }
  const text = state.doc.toString();
  const parse = (changed) => treeOfChanged(state, changed, pos, () => context.aborted);
  const found = await suggest({ text, position: pos, schema, extra, parse });
  // On an empty line nobody has asked for anything yet.
  if (!found || (found.from === pos && !explicit)) {
    return null;
  }
  const fields = found.fields.map((field) => fieldOption(field, schema));
  const options = [...fields, ...found.values.map(valueOption), ...found.names];
  // The schema's order says more than the alphabet.
  const ordered = options.map((option, index) => ({ ...option, sortText: `${index}`.padStart(4, "0") }));
  if (found.names.length > 0) {
    return { from: found.from, to: found.to, options: ordered, validFor: /^[\w.]*$/ };
  }
  // Somebody who asks at a value that is none of those, such as a placeholder, wants to see them all.
  const typed = text.slice(found.from, pos);
  const filter = !explicit || ordered.some(({ label }) => fits(typed, label));
  const validFor = filter ? /^[^\s,[\]{}:"'#]*$/ : undefined;
  return { from: found.from, to: found.to, options: ordered, filter, validFor };
}

/** Whether what was typed may become a label: its letters stand in it, in their order. */
export function fits(typed, label) {
  let at = -1;
  return [...typed.toLowerCase()].every((letter) => (at = label.toLowerCase().indexOf(letter, at + 1)) >= 0);
}

/** Names that the app knows for the whole document; with a language, those that stand in its code. */
export function documentNames(state, language) {
  return state
    .field(help)
    .extra.filter(({ pointer, languages }) => pointer === "" && isFor(languages, language))
    .flatMap(({ options }) => options);
}

/** Names that the app knows, in languages that have no schema. */
export function namesCompletion(context) {
  const word = context.matchBefore(/[\w.]+$/);
  const names = documentNames(context.state);
  return names.length > 0 && (word || context.explicit) ? { from: word?.from ?? context.pos, options: names } : null;
}

function fieldOption({ name, schema, required, shape, column }, root) {
  const said = describe([schema], root);
  const indent = " ".repeat(column + 2);
  const follows = { mapping: `:\n${indent}`, sequence: `:\n${indent}- `, scalar: ": " }[shape] ?? "";
  return {
    label: name,
    type: "property",
    detail: required ? "required" : said?.type,
    info: said?.description,
    boost: required ? 1 : 0,
    apply: (view, _, from, to) => {
      view.dispatch(insertCompletionText(view.state, `${write(name)}${follows}`, from, to));
      if (follows) {
        startCompletion(view);
      }
    },
  };
}

function valueOption({ value, description, detail }) {
  return {
    label: `${value}`,
    type: "constant",
    detail,
    info: description,
    apply: (view, _, from, to) => view.dispatch(inserted(view.state, value, from, to)),
  };
}

/** Quotes that are there already are taken over. */
function inserted(state, value, from, to) {
  const quote = state.sliceDoc(from - 1, from);
  const isQuoted = from > 0 && /["']/.test(quote);
  if (!isQuoted) {
    const gap = state.sliceDoc(from - 1, from) === ":" ? " " : "";
    return insertCompletionText(state, `${gap}${write(value)}`, from, to);
  }
  const closed = state.sliceDoc(to, to + 1) === quote;
  return insertCompletionText(state, write(value), from - 1, closed ? to + 1 : to);
}
