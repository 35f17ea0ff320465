// From one text to another by the smallest single change, so that cursor and folds stay where the text stays.

/** `{ from, to, insert }`, or null if both are the same. */
export function change(before, after) {
  if (before === after) {
    return null;
  }
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) {
    from += 1;
  }
  let same = 0;
  while (same < shorter - from && before[before.length - 1 - same] === after[after.length - 1 - same]) {
    same += 1;
  }
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}
