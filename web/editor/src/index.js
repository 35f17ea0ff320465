// The code editor of the web app. This is all that the app knows of it; web/src/components/code_editor.rs calls it.

import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { history } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, search } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  lineNumbers,
} from "@codemirror/view";

import { changes, fromApp } from "./changes.js";
import { frame } from "./frame.js";
import { giveHelp, help } from "./help.js";
import { schemaHover } from "./hover.js";
import { keys } from "./keys.js";
import { languageOf } from "./languages.js";
import { overwrite } from "./overwrite.js";
import { lineRange, placeOf } from "./places.js";
import { showProblems } from "./problems.js";
import { change } from "./replace.js";
import { whenRead } from "./syntax.js";
import { theme } from "./theme.js";

const INDENT = { yaml: 2, json: 2, jinja: 2, starlark: 4 };

/**
 * An editor at the end of `parent`.
 *
 * `language` is "yaml", "starlark", "jinja" or "json"; `label` names the editor to screen readers. `schema`, a JSON
 * Schema, and `completions`, `{ pointer, languages?, options: [{ label, detail?, info? }] }` with a pointer pattern,
 * help with YAML. With `languages`, the options are names within texts that the schema calls code of such a language
 * (`x-language`). `onChange(text)` is called when the author pauses, leaves or saves; `onSave()` after it, for Ctrl-S.
 */
export function create(parent, options) {
  const { text = "", language = "yaml", label, schema = null, completions = [], readOnly = false } = options;
  const { onChange = () => {}, onSave = () => {} } = options;
  const { support, sources } = languageOf(language);
  const { host, root, hint } = frame(parent);
  const changed = changes(onChange);
  const isReadOnly = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        support,
        indentUnit.of(" ".repeat(INDENT[language])),
        help.init(() => ({ schema, extra: completions })),
        autocompletion({ override: sources, icons: false }),
        schemaHover,
        looks(),
        keys(() => (changed.tell(), onSave())),
        overwrite,
        changed.extension,
        isReadOnly.of(EditorState.readOnly.of(readOnly)),
        // The text is a stop of the Tab key as it is; the attribute says so to tools that look for one in what scrolls.
        EditorView.contentAttributes.of({
          "aria-label": label,
          "aria-describedby": hint,
          spellcheck: "false",
          tabindex: "0",
        }),
        theme,
      ],
    }),
  });
  const waiting = { problems: () => {}, reveal: () => {} };
  return {
    text: () => view.state.doc.toString(),
    /** Takes a text of the app's over. Cursor and folds stay where it is the same, and undo brings the old one back. */
    replace(whole) {
      changed.forget();
      const one = change(view.state.doc.toString(), whole.replaceAll(/\r\n?/g, "\n"));
      if (one) {
        view.dispatch({ changes: one, annotations: fromApp.of(true) });
      }
    },
    /** All problems there are: `{ severity, message, pointer?, line?, column? }`. */
    problems(list) {
      waiting.problems();
      waiting.problems = showProblems(view, list);
    },
    schema: (given) => giveHelp(view, { schema: given }),
    completions: (extra) => giveHelp(view, { extra }),
    readOnly: (is) => view.dispatch({ effects: isReadOnly.reconfigure(EditorState.readOnly.of(is)) }),
    /** Shows a place, a JSON pointer or the number of a line, and puts the cursor there. */
    reveal(place) {
      waiting.reveal();
      waiting.reveal = reveal(view, place);
    },
    focus: () => view.focus(),
    /** Selects a range, by offsets. */
    select: (anchor, head = anchor) => view.dispatch({ selection: { anchor, head }, scrollIntoView: true }),
    destroy() {
      changed.tell();
      waiting.problems();
      waiting.reveal();
      view.destroy();
      host.remove();
    },
  };
}

function looks() {
  return [
    lineNumbers(),
    foldGutter(),
    codeFolding(),
    lintGutter(),
    history(),
    search({ top: true }),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    highlightSpecialChars(),
    EditorView.lineWrapping,
  ];
}

/** Gives what calls it off. */
function reveal(view, place) {
  const show = (range) =>
    range &&
    view.dispatch({
      selection: { anchor: range.from },
      effects: EditorView.scrollIntoView(range.from, { y: "center" }),
    });
  if (typeof place === "string") {
    return whenRead(view, (tree) => show(placeOf(tree, view.state.doc, place)));
  }
  show(lineRange(view.state.doc, place));
  return () => {};
}
