// Starlark as tools are written in it: Python's grammar without what Starlark lacks, and the functions that tools get.

import { localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import { LanguageSupport } from "@codemirror/language";

/** Of Groundstate: engine/src/tools/code/builtins.rs. */
const OURS = {
  add_days: ["(start, days)", "The date so many days after an ISO date, or before it."],
  arithmetic: ["(expression)", "The value of an expression of numbers; a wrong one fails the call."],
  days_between: ["(start, end)", "Whole days from one ISO date to another."],
  fail: ["(text)", "Undoes the whole call; the agent reads the text."],
  format_number: ["(x, digits)", "A number as text with so many decimals."],
  fresh_id: ["(prefix)", "A new id such as dsp_5f2a91c3."],
  money: ["(x)", "A number as text with two decimals."],
  round: ["(x, digits=0)", "Rounds half away from zero, as money is rounded."],
  round_half_even: ["(x, digits=0)", "Rounds an exact half to the even neighbour."],
  tells: ["(text, fact)", "Whether a text states a fact, whatever its form."],
  weekday: ["(day)", "The day of the week of an ISO date: Monday to Sunday."],
};
const STANDARD =
  "abs all any bool dict dir enumerate float getattr hasattr hash int len list max min range repr reversed " +
  "sorted str struct tuple type zip";
const KEYWORDS = "and break continue def elif else for if in lambda load not or pass return True False None";

const options = [
  ...Object.entries(OURS).map(([label, [detail, info]]) => ({ label, detail, info, type: "function" })),
  ...STANDARD.split(" ").map((label) => ({ label, type: "function" })),
  ...KEYWORDS.split(" ").map((label) => ({ label, type: "keyword" })),
];

/** Not after a point: fields of values are unknown. Not in texts and comments. */
export function starlarkCompletion(context) {
  const word = context.matchBefore(/(?<![\w.])[A-Za-z_]\w*$/);
  const isText = context.tokenBefore(["String", "FormatString", "Comment"]);
  return isText || !(word || context.explicit) ? null : { from: word?.from ?? context.pos, options, validFor: /^\w*$/ };
}

export const starlark = () => new LanguageSupport(pythonLanguage);
export const starlarkSources = [starlarkCompletion, localCompletionSource];
