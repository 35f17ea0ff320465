// How the editor looks: in the colours, sizes and distances of web/style and in none of its own, so that it follows
// the app from light to dark by itself. Whatever CodeMirror colours for light or dark is named here.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const LINE = "1px solid var(--line)";
const FLOATING = {
  border: LINE,
  borderRadius: "var(--radius-s)",
  backgroundColor: "var(--surface)",
  color: "var(--ink)",
};
const CHOSEN = { backgroundColor: "var(--accent)", color: "var(--surface)" };
const SELECTED = "color-mix(in srgb, var(--accent) 30%, transparent)";
const FOUND = { backgroundColor: "var(--notable-soft)", outline: "1px solid var(--notable)" };
const wave = (color) => ({
  backgroundImage: "none",
  paddingBottom: 0,
  textDecoration: `underline wavy ${color} 1px`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "0.2em",
});
/** In the gutter; shapes tell the kinds apart as well as colours do. */
const mark = (color, shape) => ({ content: "normal", border: `2px solid ${color}`, ...shape });
const told = (color) => ({ borderLeft: `3px solid ${color}` });

const frame = EditorView.theme({
  "&": {
    maxHeight: "var(--editor-most, 70vh)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    fontSize: "var(--text-s)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-content, .cm-gutter": { minHeight: "var(--editor-least, 12rem)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: 1.5 },
  // A text may hold words without end, such as keys and hashes.
  ".cm-lineWrapping": { overflowWrap: "anywhere" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground": { background: SELECTED },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: SELECTED },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--ink) 4%, transparent)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-muted)", borderRight: LINE },
  ".cm-activeLineGutter": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
  ".cm-foldPlaceholder": { border: LINE, backgroundColor: "var(--sunken)", color: "var(--ink-muted)" },
  ".cm-specialChar": { color: "var(--bad)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-selectionMatch": { backgroundColor: "var(--notable-soft)" },
});

const help = EditorView.theme({
  ".cm-tooltip": { ...FLOATING, maxWidth: "min(32rem, 90vw)", overflowWrap: "anywhere" },
  ".cm-tooltip-section:not(:first-child)": { borderTop: LINE },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(32rem, 90vw)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": CHOSEN,
  ".cm-completionDetail": { marginLeft: "var(--space-2)", fontStyle: "normal", opacity: 0.75 },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: 700 },
  ".cm-tooltip.cm-completionInfo": { padding: "var(--space-2) var(--space-3)", maxWidth: "min(24rem, 90vw)" },
  ".cm-schema": { padding: "var(--space-2) var(--space-3)" },
  ".cm-schema strong": { fontFamily: "var(--mono)" },
  ".cm-schema p": { margin: "var(--space-1) 0 0", whiteSpace: "pre-line" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)", zIndex: 2 },
  ".cm-panels input, .cm-panels button, .cm-panels label": { font: "inherit", fontSize: "var(--text-s)" },
  ".cm-panels :focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-panels.cm-panels-top": { borderBottom: LINE },
  ".cm-panels.cm-panels-bottom": { borderTop: LINE },
  ".cm-panel.cm-search": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "var(--space-1)",
    padding: "var(--space-2)",
  },
  ".cm-panel.cm-search br": { flexBasis: "100%" },
  ".cm-textfield": { border: "1px solid var(--line-strong)", backgroundColor: "var(--canvas)", color: "var(--ink)" },
  ".cm-button": { ...FLOATING, backgroundImage: "none" },
  ".cm-button:active": { backgroundImage: "none", backgroundColor: "var(--accent-soft)" },
  ".cm-panel.cm-search [name=close], .cm-panel.cm-panel-lint [name=close]": { color: "var(--ink)" },
  ".cm-searchMatch": FOUND,
  ".cm-searchMatch-selected": { ...FOUND, backgroundColor: SELECTED },
});

const problems = EditorView.theme({
  ".cm-lintRange-error": wave("var(--bad)"),
  ".cm-lintRange-warning": wave("var(--notable)"),
  ".cm-lintRange-info": wave("var(--accent)"),
  ".cm-lint-marker": { width: "0.7em", height: "0.7em", margin: "0.35em auto" },
  ".cm-lint-marker-error": mark("var(--bad)", { borderRadius: "50%", backgroundColor: "var(--bad)" }),
  ".cm-lint-marker-warning": mark("var(--notable)", { transform: "rotate(45deg) scale(0.85)" }),
  ".cm-lint-marker-info": mark("var(--accent)", { borderRadius: "50%" }),
  ".cm-lintRange-active": { backgroundColor: "var(--notable-soft)" },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--bad)" },
  ".cm-lintPoint-warning:after": { borderBottomColor: "var(--notable)" },
  ".cm-lintPoint-info:after": { borderBottomColor: "var(--accent)" },
  ".cm-diagnostic-error": told("var(--bad)"),
  ".cm-diagnostic-warning": told("var(--notable)"),
  ".cm-diagnostic-info": told("var(--accent)"),
  ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--ink)" },
});

const words = HighlightStyle.define([
  { tag: [tags.comment, tags.meta], color: "var(--ink-muted)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.attributeName], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--notable)" },
  { tag: [tags.keyword, tags.modifier, tags.self, tags.operatorKeyword, tags.logicOperator], color: "var(--bad)" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.heading], fontWeight: 600 },
  { tag: tags.special(tags.variableName), color: "var(--notable)" },
  { tag: [tags.brace, tags.processingInstruction, tags.labelName, tags.typeName], color: "var(--ink-muted)" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strong, fontWeight: 700 },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export const theme = [frame, help, problems, syntaxHighlighting(words)];
