// A terminal of somebody who pastes what the app says.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const LIMIT_MS = 60_000;

/**
 * In a folder of its own, with `groundstate` in its path: the program on the data of the site. `paste` runs what a shell
 * reads, and gives what it prints; an error if it fails.
 */
export async function terminal(site, variables = {}) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "groundstate-terminal-"));
  const program = `#!/bin/sh\nexec '${process.env.GROUNDSTATE_BIN}' "$@" --data-dir '${site.server.data}'\n`;
  await writeFile(path.join(folder, "groundstate"), program, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, ...variables };
  // The site has a database of its own.
  delete env.DATABASE_URL;
  const file = (name) => path.join(folder, name);
  return {
    paste: async (command) => {
      const options = { cwd: folder, env, timeout: LIMIT_MS, maxBuffer: 1 << 26 };
      return (await promisify(execFile)("bash", ["-ec", command], options)).stdout;
    },
    read: (name) => readFile(file(name)),
    write: (name, bytes) => writeFile(file(name), bytes),
    remove: (name) => rm(file(name), { recursive: true }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
