// What is typed, told to the app once the author pauses: to copy a long text for every letter would be felt.

import { Annotation } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

const PAUSE_MS = 150;

/** Marks what the app itself put into the editor: it knows. */
export const fromApp = Annotation.define();

/** `{ extension, tell, forget }`: `tell` says at once what was not told yet, `forget` leaves it unsaid. */
export function changes(onChange) {
  let timer;
  let untold = null;
  const forget = () => {
    clearTimeout(timer);
    untold = null;
  };
  const tell = () => {
    const state = untold;
    forget();
    if (state) {
      onChange(state.doc.toString());
    }
  };
  const extension = [
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !update.transactions.some((one) => one.annotation(fromApp))) {
        clearTimeout(timer);
        untold = update.state;
        timer = setTimeout(tell, PAUSE_MS);
      }
    }),
    // Who leaves the editor is about to press a button, which must not act on an old text.
    EditorView.domEventHandlers({ blur: () => void tell() }),
  ];
  return { extension, tell, forget };
}
