// What Jinja templates are templates of: Markdown, which prompts are written in. The build puts this in the place of
// @codemirror/lang-html, lang-jinja's own default: that one brings HTML, CSS and JavaScript, a quarter of the whole
// editor.

import { Language, LanguageSupport, defineLanguageFacet } from "@codemirror/language";
import { parser } from "@lezer/markdown";

const markdown = new Language(defineLanguageFacet(), parser, [], "markdown");

/** Named as lang-jinja imports it. */
export const html = () => new LanguageSupport(markdown);
