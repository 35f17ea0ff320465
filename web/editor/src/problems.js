// Problems that others found, underlined where they stand.

import { setDiagnostics } from "@codemirror/lint";

import { lineRange, placeOf } from "./places.js";
import { whenRead } from "./syntax.js";

/**
 * Underlines all problems there are: `{ severity, message, pointer?, line?, column? }`, severity being "error",
 * "warning" or "info". The pointer says more than the line, because the text may have changed since the problem was
 * found. Gives what calls it off, for a later list while this one still waits for a long document to be read.
 */
export function showProblems(view, list) {
  return whenRead(view, (tree) => {
    const { doc } = view.state;
    const found = list.map((problem) => ({
      ...placed(problem, tree, doc),
      severity: problem.severity,
      message: problem.message,
    }));
    view.dispatch(setDiagnostics(view.state, found));
  });
}

/** A problem without a place is one of the whole document: it stands at its beginning. */
function placed({ pointer, line, column }, tree, doc) {
  const field = pointer ? placeOf(tree, doc, pointer, line) : null;
  return field ?? lineRange(doc, line || 1, column);
}
