// What is typed over a selection. Left to the browser, the selection goes in the browser's own way: Chromium keeps the
// look of what it deletes in an inline style, which the content security policy forbids and the console tells of.

import { EditorView } from "@codemirror/view";

/** The editor's own change in the browser's place. What handles input, such as closing brackets, is asked as ever. */
export const overwrite = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    if (event.inputType !== "insertText" || event.data === null || empty || view.composing) {
      return false;
    }
    const insert = () =>
      view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    const handles = (handler) => handler(view, from, to, event.data, insert);
    if (!view.state.readOnly && !view.state.facet(EditorView.inputHandler).some(handles)) {
      view.dispatch(insert());
    }
    return true;
  },
  // What an input method composes cannot be prevented; its selection goes before it begins.
  compositionstart(_event, view) {
    if (!view.state.selection.main.empty && !view.state.readOnly) {
      view.dispatch(view.state.update(view.state.replaceSelection(""), { userEvent: "delete.selection" }));
    }
    return false;
  },
});
