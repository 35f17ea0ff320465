// Code within a text: an expression as a whole, or what stands in the braces of a template.

/** The code that a text ends with; null outside of code, and in a quoted text within it. */
export function codeBefore(text, language) {
  const code = language === "template" ? tagBefore(text) : text;
  const isQuoted = code !== null && /["']/.test(code.replaceAll(/"[^"]*"|'[^']*'/g, ""));
  return isQuoted ? null : code;
}

/** The name that code ends with: empty where one may begin, null in a number and after a point that follows no name. */
export function nameBefore(code) {
  return /(?:^|[^\w.])([A-Za-z_][\w.]*|)$/.exec(code)?.[1] ?? null;
}

function tagBefore(text) {
  const last = (...braces) => Math.max(...braces.map((brace) => text.lastIndexOf(brace)));
  const opened = last("{{", "{%");
  return opened > last("}}", "%}") ? text.slice(opened + 2) : null;
}
