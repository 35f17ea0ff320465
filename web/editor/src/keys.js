// What keys do. Tab indents, as authors expect; Escape and then Tab leaves the editor, as the keyboard alone must be
// able to.

import { closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, historyKeymap, indentWithTab } from "@codemirror/commands";
import { foldKeymap } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

/** `save` is called for Ctrl-S, and for Cmd-S on a Mac; the browser's own dialogue never comes. */
export function keys(save) {
  return keymap.of([
    { key: "Mod-s", preventDefault: true, run: () => (save(), true) },
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...lintKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]);
}
