// How far a new line of YAML is indented.

import { indentService } from "@codemirror/language";

const LINE = /^(\s*)((?:-\s+)*)(.*)$/;
/** A key that has its value below it: on lines of its own, or as a block of text. */
const OPENS = /:(?:\s+[|>][-+\d]*)?$/;
const FLOW = /[[{,]$/;

/** The column after a line that ends with `before`; undefined where the language knows better. */
export function columnAfter(before) {
  const [, indent, dashes, rest] = LINE.exec(before);
  const said = rest.replace(/\s+#.*$/, "").trimEnd();
  if (FLOW.test(said)) {
    return undefined;
  }
  return OPENS.test(said) ? indent.length + dashes.length + 2 : indent.length;
}

/** For the Enter key: what is pasted or moved stays as it is. */
export const yamlIndent = indentService.of((context, position) =>
  context.simulatedBreak === position ? columnAfter(context.lineAt(position, -1).text) : undefined,
);
