// What the schema says of the field under the pointer.

import { hoverTooltip } from "@codemirror/view";

import { describe } from "./describe.js";
import { help } from "./help.js";
import { along } from "./schema.js";
import { entries, outline, steps, wordAt } from "./structure.js";
import { reader, treeTo } from "./syntax.js";

export const schemaHover = hoverTooltip((view, position, side) => {
  const { schema } = view.state.field(help);
  const tree = schema && treeTo(view.state, position);
  const word = tree && wordAt(tree, position, side);
  if (!word || word.node.to < position) {
    return null;
  }
  const said = sayOf(word, schema, reader(view.state));
  return said && { pos: word.node.from, end: word.node.to, above: true, create: () => ({ dom: written(said) }) };
});

function sayOf({ node, isKey }, schema, read) {
  const path = steps(node, read);
  const schemas = along(
    schema,
    path.map(({ container, segment }) => ({ segment, outline: outline(container, read) })),
  );
  if (schemas.length === 0) {
    return null;
  }
  const value = isKey ? valueOf(node) : node;
  return { name: path.at(-1)?.segment ?? "", ...describe(schemas, schema, value ? outline(value, read) : undefined) };
}

function valueOf(key) {
  const pair = key.parent;
  return entries(pair.parent, () => "").find((entry) => entry.key.from === key.from)?.value;
}

function written({ name, title, description, chosen, type, values, fallback }) {
  const dom = document.createElement("div");
  dom.className = "cm-schema";
  const heading = [name, type].filter(Boolean).join(": ");
  const lines = [
    ["strong", title && title !== name ? `${heading} (${title})` : heading],
    ["p", description],
    ["p", chosen],
    ["p", values && `One of: ${values}`],
    ["p", fallback && `Default: ${fallback}`],
  ];
  for (const [element, text] of lines.filter(([, text]) => text)) {
    dom.append(Object.assign(document.createElement(element), { textContent: text }));
  }
  return dom;
}
