// What the app gives a document's author beside its text: the schema, and names that it knows.

import { StateEffect, StateField } from "@codemirror/state";

const setHelp = StateEffect.define();

/** `{ schema, extra }`: a JSON Schema or null; lists of options by pointer pattern. */
export const help = StateField.define({
  create: () => ({ schema: null, extra: [] }),
  update: (value, transaction) =>
    transaction.effects
      .filter((effect) => effect.is(setHelp))
      .reduce((all, effect) => ({ ...all, ...effect.value }), value),
});

export function giveHelp(view, part) {
  view.dispatch({ effects: setHelp.of(part) });
}
