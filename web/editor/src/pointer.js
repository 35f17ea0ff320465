// JSON pointers (RFC 6901), and patterns of them: `*` stands for one segment, `**` for any number of them.

/** `/tools/2/a~1b` as its segments. The whole document has none. */
export function segments(pointer) {
  return pointer === "" ? [] : pointer.slice(1).split("/").map(unescape);
}

/** Whether a pattern such as `/script/*\/calls/*\/tool` means the place with these segments. */
export function matches(pattern, place) {
  return matchFrom(segments(pattern), 0, place, 0);
}

function matchFrom(pattern, p, place, at) {
  if (p === pattern.length) {
    return at === place.length;
  }
  if (pattern[p] === "**") {
    return matchFrom(pattern, p + 1, place, at) || (at < place.length && matchFrom(pattern, p, place, at + 1));
  }
  const fits = at < place.length && (pattern[p] === "*" || pattern[p] === place[at]);
  return fits && matchFrom(pattern, p + 1, place, at + 1);
}

// The order matters: `~01` is `~1`, and no slash.
const unescape = (segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~");
