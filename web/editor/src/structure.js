// What a syntax tree of YAML or JSON says about the document: mappings, sequences, scalars, and where they stand. The
// editor keeps the tree current while somebody types, at any size, so nothing here parses. `read(from, to)` gives text.

const MAPPINGS = new Set(["BlockMapping", "FlowMapping", "Object"]);
const SEQUENCES = new Set(["BlockSequence", "FlowSequence", "Array"]);
const PAIRS = new Set(["Pair", "Property"]);
const KEYS = new Set(["Key", "PropertyName"]);
/** Around a value: a YAML tag or anchor. */
const WRAPPERS = new Set(["Tagged", "Anchored"]);
const SCALARS = new Set(["Literal", "QuotedLiteral", "BlockLiteral", "String", "Number", "True", "False", "Null"]);

/** The value of the first document; null if there is none yet. */
export function root(tree) {
  const top = tree.topNode;
  return valueIn(top.getChild("Document") ?? top);
}

/** "mapping", "sequence", "scalar", or "nothing" for a value that is not written yet. */
export function kind(value) {
  if (!value) {
    return "nothing";
  }
  return MAPPINGS.has(value.name) ? "mapping" : SEQUENCES.has(value.name) ? "sequence" : "scalar";
}

/** The pairs of a mapping: `{ name, pair, key, value }`, the last three being nodes; the value may be null. */
export function entries(mapping, read) {
  return children(mapping)
    .filter((child) => PAIRS.has(child.name))
    .map((pair) => ({ name: nameOf(pair, read), pair, key: keyOf(pair), value: valueIn(pair) }));
}

/** The items of a sequence: `{ item, value }`, both nodes; the value may be null. */
export function items(sequence) {
  return children(sequence)
    .filter(isItem)
    .map((item) => ({ item, value: valueOfItem(item) }));
}

/** The value of a scalar as JSON has it. */
export function scalar(value, read) {
  const text = read(value.from, value.to);
  if (value.name === "QuotedLiteral" || value.name === "String") {
    return unquote(text);
  }
  return value.name === "BlockLiteral" ? text : plain(text);
}

/**
 * What a value is, as far as it tells the branches of a union apart: `{ kind, value, fields }`, the fields of fields
 * left out below `depth`. A field or a value that is `without`, the mark of what is being typed, is not there yet.
 */
export function outline(value, read, { depth = 2, without } = {}) {
  const is = kind(value);
  if (is === "scalar") {
    const known = scalar(value, read);
    return known === without ? { kind: "nothing" } : { kind: is, value: known };
  }
  if (is !== "mapping") {
    return { kind: is };
  }
  const named = depth > 0 ? entries(value, read).filter(({ name }) => name !== without) : [];
  const fields = named.map((entry) => [entry.name, outline(entry.value, read, { depth: depth - 1, without })]);
  return { kind: is, fields: Object.fromEntries(fields) };
}

/**
 * Where a node stands, from the outermost container on: `{ container, segment, pair }`, the last of pairs alone. The
 * segments joined are its JSON pointer.
 */
export function steps(node, read) {
  const found = [];
  for (let child = node; child.parent; child = child.parent) {
    const container = child.parent;
    if (PAIRS.has(child.name)) {
      found.unshift({ container, segment: nameOf(child, read), pair: child });
    } else if (SEQUENCES.has(container.name) && isItem(child)) {
      found.unshift({ container, segment: `${indexOf(child)}` });
    }
  }
  return found;
}

/** The key or scalar at a position: `{ node, isKey }`, or null between them. */
export function wordAt(tree, position, side = 0) {
  for (let node = tree.resolveInner(position, side); node; node = node.parent) {
    if (KEYS.has(node.name)) {
      return { node, isKey: true };
    }
    if (SCALARS.has(node.name) && !KEYS.has(node.parent?.name)) {
      return { node, isKey: false };
    }
  }
  return null;
}

function valueIn(parent) {
  const last = children(parent)
    .filter((child) => isValue(child) || WRAPPERS.has(child.name))
    .at(-1);
  return last && WRAPPERS.has(last.name) ? valueIn(last) : (last ?? null);
}

/** JSON's items are the values themselves; YAML's are nodes around them. */
function valueOfItem(item) {
  return item.name === "Item" ? valueIn(item) : item;
}

function isItem(node) {
  return node.name === "Item" || (node.parent.name === "Array" && isValue(node));
}

function isValue({ name }) {
  return MAPPINGS.has(name) || SEQUENCES.has(name) || SCALARS.has(name);
}

function indexOf(item) {
  let index = 0;
  for (let before = item.prevSibling; before; before = before.prevSibling) {
    index += isItem(before) ? 1 : 0;
  }
  return index;
}

function keyOf(pair) {
  return pair.getChild("Key") ?? pair.getChild("PropertyName");
}

function nameOf(pair, read) {
  const key = keyOf(pair);
  if (!key) {
    return "";
  }
  const text = read(key.from, key.to);
  return /^["']/.test(text) ? unquote(text) : text;
}

function unquote(text) {
  if (text.startsWith("'")) {
    return text.slice(1, -1).replaceAll("''", "'");
  }
  try {
    return JSON.parse(text);
  } catch {
    // Half a text, or one of YAML's own escapes.
    return text.replace(/^"|"$/g, "");
  }
}

function plain(text) {
  if (/^(true|false|null)$/.test(text)) {
    return JSON.parse(text);
  }
  if (text === "~" || text === "") {
    return null;
  }
  return /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text) ? Number(text) : text;
}

function children(node) {
  const all = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    all.push(child);
  }
  return all;
}
