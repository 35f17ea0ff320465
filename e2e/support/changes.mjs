// What became of a world: as a page lists it, and as operations on the world say.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

const LIMIT_MS = 10_000;

/** Applies operations to a world, and gives each change as `listed` does. Lists grow and shrink at their end only. */
export function applied(world, operations) {
  const changes = new Map();
  for (const { op, path, value } of operations) {
    const keys = path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = keys.pop();
    const parent = keys.reduce((at, key) => at[key], world);
    const was = changes.has(path) ? changes.get(path).was : structuredClone(parent[last]);
    changes.set(path, { was, is: value });
    if (op !== "remove") {
      parent[last] = structuredClone(value);
    } else if (Array.isArray(parent)) {
      parent.pop();
    } else {
      delete parent[last];
    }
  }
  const differ = [...changes].filter(([, { was, is }]) => !isDeepStrictEqual(was, is));
  return differ.map(([pointer, { was, is }]) => ({ verb: verb(was, is), pointer, ...told({ was, is }) }));
}

function verb(was, is) {
  if (was === undefined) return "added";
  return is === undefined ? "removed" : "changed";
}

/** Without what is not there. */
const told = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** What a list of changes says: of each place what became of it, and its value before and after. */
async function listed(list) {
  const rows = await list.locator("ul.patch > li").evaluateAll((rows) =>
    rows.map((row) => ({
      verb: row.querySelector(".verb").textContent,
      pointer: row.querySelector("code").textContent,
      was: row.querySelector("del")?.textContent,
      is: row.querySelector("ins")?.textContent,
    })),
  );
  const value = (text) => (text === undefined ? undefined : JSON.parse(text));
  return rows.map(({ verb, pointer, was, is }) => ({ verb, pointer, ...told({ was: value(was), is: value(is) }) }));
}

/** Waits until a list of changes says this, and fails with both if it does not come to that. */
export async function lists(list, changes) {
  const end = Date.now() + LIMIT_MS;
  let said = await listed(list);
  while (!isDeepStrictEqual(said, changes) && Date.now() < end) {
    await pause(50);
    said = await listed(list);
  }
  assert.deepEqual(said, changes);
}
