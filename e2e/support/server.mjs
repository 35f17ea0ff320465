// The real program with a database of its own: plays a few conversations, then serves them.

import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

const PLAY_LIMIT_MS = 180_000;
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;
const LISTENS = /^Groundstate listens on (http:\/\/\S+)$/m;
/** What a server says that nobody can sign in to yet. */
export const FIRST_LINK = /^Open (http:\/\/\S+\/welcome#[0-9a-f]{64}) to become its administrator/m;

/**
 * Plays `n` conversations with the seed, if any, then serves them: at `url`, to whoever opens `link` first. `run()` runs
 * another command on the same data and gives what it prints. `data` is the folder of all its data, `files` the one in it
 * where the server keeps files. `said()` is what it printed so far. `stop()` ends everything and removes the data.
 */
export async function startServer({ n, seed, playbook = "retail_bank", args = [] }) {
  const binary = process.env.GROUNDSTATE_BIN;
  if (!binary) {
    throw new Error("GROUNDSTATE_BIN must name the groundstate binary");
  }
  const dir = await mkdtemp(path.join(os.tmpdir(), "groundstate-e2e-"));
  // Under root, PostgreSQL runs as another user and must be able to reach its files.
  await chmod(dir, 0o755);
  const remove = () => rm(dir, { recursive: true, force: true });
  try {
    const out = path.join(dir, "rows.jsonl");
    const dataDir = path.join(dir, "data");
    if (n > 0) {
      const play = ["--playbook", playbook, "--n", `${n}`, "--seed", `${seed}`, "--out", out, ...args];
      await succeed(start(binary, ["generate", ...play, "--data-dir", dataDir]), PLAY_LIMIT_MS);
    }
    const server = start(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", dataDir]);
    try {
      const link = await firstLink(server);
      const run = (...words) => succeed(start(binary, [...words, "--data-dir", dataDir]), PLAY_LIMIT_MS);
      const [, url] = LISTENS.exec(server.output);
      const files = path.join(dataDir, "files");
      const said = () => server.output;
      return { url, link, run, data: dataDir, files, said, stop: () => stop(server).finally(remove) };
    } catch (error) {
      server.child.kill("SIGKILL");
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A child whose output is kept, to be shown when something goes wrong. */
function start(binary, args) {
  const env = { ...process.env };
  // The tests bring their own database.
  delete env.DATABASE_URL;
  const child = spawn(binary, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const job = { name: `groundstate ${args[0]}`, child, output: "", printed: "", exit: null };
  child.stdout.setEncoding("utf8").on("data", (text) => (job.printed += text));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (job.output += text));
  }
  job.exit = new Promise((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? code));
    child.on("error", (error) => resolve(error.message));
  });
  return job;
}

/** What it printed. */
async function succeed(job, limit) {
  const result = await within(limit, job.exit);
  if (result !== 0) {
    job.child.kill("SIGKILL");
    throw failure(job, result === undefined ? "took too long" : `ended with ${result}`);
  }
  return job.printed;
}

/** The link by which the first administrator comes in. By then the server has said where it listens. */
async function firstLink(job) {
  const spoken = new Promise((resolve) => {
    job.child.stdout.on("data", () => FIRST_LINK.test(job.output) && resolve());
  });
  await within(START_LIMIT_MS, Promise.race([spoken, job.exit]));
  const found = FIRST_LINK.exec(job.output);
  if (!found) {
    throw failure(job, "did not say how its first administrator comes in");
  }
  return found[1];
}

async function stop(job) {
  job.child.kill("SIGTERM");
  const result = await within(STOP_LIMIT_MS, job.exit);
  if (result !== 0) {
    job.child.kill("SIGKILL");
    throw failure(job, result === undefined ? "did not stop on SIGTERM" : `stopped with ${result}`);
  }
}

/** The promise's value, or undefined once the limit has passed. */
async function within(limit, promise) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function failure(job, what) {
  return new Error(`${job.name} ${what}\n${job.output}`);
}
