// What the parts of the built web app weigh, as they are served.

import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

/** What everybody fetches first. */
export const FIRST = "app_bg.wasm";

/** `[name, bytes]` of each WebAssembly file of the app, gzipped, the heaviest first. */
export async function weights(dist) {
  const app = (await readdir(dist)).find((name) => name.startsWith("app-"));
  const files = (await readdir(path.join(dist, app))).filter((name) => name.endsWith(".wasm"));
  const weighed = async (name) => [name, gzipSync(await readFile(path.join(dist, app, name))).length];
  return (await Promise.all(files.map(weighed))).sort(([, a], [, b]) => b - a);
}
