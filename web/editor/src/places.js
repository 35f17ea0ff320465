// Where in the text a problem stands that names a field by its JSON pointer, or a line.

import { segments } from "./pointer.js";
import { entries, items, kind, root } from "./structure.js";

/**
 * The range of the field at a pointer: its key, or a value that has no key. Of a field that is not there, the nearest
 * one around it. A name that is given twice is the one at `line`, if that is known. Null if the text holds nothing.
 */
export function placeOf(tree, doc, pointer, line) {
  const read = (from, to) => doc.sliceString(from, to);
  const isAt = ({ pair }) => doc.lineAt(pair.from).number <= line && line <= doc.lineAt(pair.to).number;
  let value = root(tree);
  let place = value;
  for (const segment of segments(pointer)) {
    if (kind(value) === "mapping") {
      const named = entries(value, read).filter(({ name }) => name === segment);
      const entry = named.find(isAt) ?? named[0];
      if (!entry) {
        break;
      }
      [place, value] = [entry.key, entry.value];
    } else if (kind(value) === "sequence") {
      const found = items(value)[segment];
      if (!found) {
        break;
      }
      place = value = found.value ?? found.item;
    } else {
      break;
    }
  }
  return place && firstLineOf((place.name === "BlockMapping" && place.getChild("Pair")) || place, doc);
}

/** The words of a line, counted from 1; from a column on (from 1) if one is known. */
export function lineRange(doc, line, column = 1) {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = text.length - text.trimStart().length;
  const start = Math.min(Math.max(indent, column - 1), text.trimEnd().length);
  return { from: from + start, to: from + Math.max(start, text.trimEnd().length) };
}

/** A field may be as long as the document; to underline its first line says as much. */
function firstLineOf({ from, to }, doc) {
  // Lezer begins some values with the white space before them.
  const start = from + doc.sliceString(from, Math.min(to, from + LONGEST_INDENT)).search(/\S|$/);
  const line = doc.lineAt(start);
  return { from: start, to: Math.max(start, Math.min(to, line.from + line.text.trimEnd().length)) };
}

const LONGEST_INDENT = 1000;
