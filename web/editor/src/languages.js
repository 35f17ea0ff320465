// The languages that documents are written in, each with what completes it.

import { jinja, jinjaCompletionSource } from "@codemirror/lang-jinja";
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";

import { namesCompletion, yamlCompletion } from "./completion.js";
import { yamlIndent } from "./indent.js";
import { starlark, starlarkSources } from "./starlark.js";

const LANGUAGES = {
  yaml: () => ({ support: [yaml(), yamlIndent], sources: [yamlCompletion] }),
  json: () => ({ support: json(), sources: [] }),
  starlark: () => ({ support: starlark(), sources: [...starlarkSources, namesCompletion] }),
  jinja: () => ({ support: jinja(), sources: [jinjaCompletionSource(), namesCompletion] }),
};

/** `{ support, sources }` of a language; an unknown one is an error of the app. */
export function languageOf(name) {
  if (!Object.hasOwn(LANGUAGES, name)) {
    throw new Error(`there is no language ${name}`);
  }
  return LANGUAGES[name]();
}
