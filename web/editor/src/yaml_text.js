// Values as YAML writes them.

/** What YAML 1.2 reads as null, a boolean or a number. */
const OTHER_TYPE = /^(~|null|true|false|[-+]?(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?|0o[0-7]+|0x[\da-f]+|[-+]?\.inf|\.nan)$/i;
const STARTS_ODDLY = /^[\s\-?:,[\]{}#&*!|>'"%@`]/;
const BREAKS_OFF = /: |:$| #|[\n\t,[\]{}]|\s$/;

/** A value as a scalar of one line; a text goes into quotes if it would be read as something else without. */
export function write(value) {
  const isPlain = (text) => text !== "" && ![OTHER_TYPE, STARTS_ODDLY, BREAKS_OFF].some((odd) => odd.test(text));
  return typeof value === "string" && isPlain(value) ? value : JSON.stringify(value);
}
