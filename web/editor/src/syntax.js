// The editor's syntax tree, and trees of texts that differ from the editor's in one word.

import { ensureSyntaxTree, language, syntaxTree } from "@codemirror/language";
import { TreeFragment } from "@lezer/common";

import { change } from "./replace.js";

/** How long one step may take, in milliseconds: what takes longer would be felt while typing. */
const STEP_MS = 25;
/** Between two steps. */
const PAUSE_MS = 15;
/** After which help would come too late. */
const LONGEST_MS = 3000;
/** How far beyond a changed word is read: what follows it in a long document does not matter to it. */
const BEYOND = 20_000;

export const reader = (state) => (from, to) => state.sliceDoc(from, to);

/** The tree as far as a position, or null if it would take too long now. */
export function treeTo(state, position) {
  return ensureSyntaxTree(state, Math.min(position, state.doc.length), STEP_MS);
}

/** Calls `act(tree)` with the whole tree: now, or once a long document is read. Gives what calls it off. */
export function whenRead(view, act) {
  let timer;
  const attempt = () => {
    const tree = treeTo(view.state, view.state.doc.length);
    if (tree) {
      act(tree);
    } else {
      timer = setTimeout(attempt, PAUSE_MS);
    }
  };
  attempt();
  return () => clearTimeout(timer);
}

/** The tree of a text that is the editor's but for one change; null if it comes too late or is `unwanted()` by then. */
export async function treeOfChanged(state, text, position, unwanted) {
  const one = change(state.doc.toString(), text);
  const known = TreeFragment.addTree(treeTo(state, position) ?? syntaxTree(state));
  const same = one ? [{ fromA: one.from, toA: one.to, fromB: one.from, toB: one.from + one.insert.length }] : [];
  const parse = state.facet(language).parser.startParse(text, TreeFragment.applyChanges(known, same));
  parse.stopAt(Math.min(text.length, position + BEYOND));
  const end = performance.now() + LONGEST_MS;
  for (;;) {
    const pause = performance.now() + STEP_MS;
    while (performance.now() < pause) {
      const tree = parse.advance();
      if (tree) {
        return tree;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (unwanted() || performance.now() > end) {
      return null;
    }
  }
}
