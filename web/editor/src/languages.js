// The languages that documents are written in, each with what completes it.

import { jinja, jinjaCompletionSource } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";

import { codeBefore } from "./code.js";
import { documentNames, namesCompletion, yamlCompletion } from "./completion.js";
import { yamlIndent } from "./indent.js";
import { starlark, starlarkSources } from "./starlark.js";

const LANGUAGES = {
  yaml: () => ({ support: [yaml(), yamlIndent], sources: [yamlCompletion] }),
  json: () => ({ support: json(), sources: [] }),
  starlark: () => ({ support: starlark(), sources: [...starlarkSources, namesCompletion] }),
  jinja: () => ({ support: jinja(), sources: [templateCompletion, namesCompletion] }),
};
/** How far before the cursor the beginning of a tag is looked for. */
const LONGEST_TAG = 2000;

/** `{ support, sources }` of a language; an unknown one is an error of the app. */
export function languageOf(name) {
  if (!Object.hasOwn(LANGUAGES, name)) {
    throw new Error(`there is no language ${name}`);
  }
  return LANGUAGES[name]();
}

/** Words of Jinja, and the variables that the app knows; in the prose around tags nothing of it means anything. */
function templateCompletion(context) {
  const before = context.state.sliceDoc(Math.max(0, context.pos - LONGEST_TAG), context.pos);
  const variables = documentNames(context.state, "template");
  return codeBefore(before, "template") === null ? null : jinjaCompletionSource({ variables })(context);
}
